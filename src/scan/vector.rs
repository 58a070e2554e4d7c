//! One vector of bytes: the operations the scanning kernels are written in, once for each instruction set.
//!
//! A kernel is a generic function over [`Vector`]; what differs from one processor to the next is here.
//! The methods are `inline(always)` so that they take on the target features of the function they end in.

/// A register of bytes. A mask has one bit a byte, the lowest bit for the lowest address.
///
/// # Safety
/// Every method asks for a processor that has the instruction set of the implementing type.
pub(crate) trait Vector: Copy {
    /// Bytes in the register; at most 64.
    const WIDTH: usize;

    /// # Safety
    /// `src` is readable for [`Self::WIDTH`] bytes.
    unsafe fn load(src: *const u8) -> Self;

    /// The `len` bytes at `src`, then zeros.
    ///
    /// # Safety
    /// `len < WIDTH` and `src` is readable for `len` bytes, no more.
    unsafe fn load_partial(src: *const u8, len: usize) -> Self;

    /// # Safety
    /// `dst` is writable for [`Self::WIDTH`] bytes.
    unsafe fn store(self, dst: *mut u8);

    /// The bytes ≥ 0x80.
    ///
    /// # Safety
    /// As the trait says.
    unsafe fn non_ascii(self) -> u64;

    /// The bytes that are 0.
    ///
    /// # Safety
    /// As the trait says.
    unsafe fn zeros(self) -> u64;

    /// The bytes that [`needs_escape`](super::needs_escape).
    ///
    /// Two compares do for three: flipping bit 1 moves `"` (0x22) to 0x20, right above the control bytes, and
    /// trades the other bytes from 0x20 on among themselves.
    ///
    /// # Safety
    /// As the trait says.
    unsafe fn escapes(self) -> u64;
}

/// The `len` bytes at `src` as the low bytes of a little-endian number, by two loads that overlap.
///
/// # Safety
/// `len < 16` and `src` is readable for `len` bytes.
#[inline(always)]
pub(crate) unsafe fn partial_16(src: *const u8, len: usize) -> [u64; 2] {
    debug_assert!(len < 16);
    // SAFETY: each load lies within the `len` bytes, by the arm it stands in.
    unsafe {
        if len >= 8 {
            let low = src.cast::<u64>().read_unaligned().to_le();
            let high = src.add(len - 8).cast::<u64>().read_unaligned().to_le();
            // Two shifts, since for len == 8 all of `high` was in `low` and a shift by 64 is not defined.
            [low, high >> 8 >> (8 * (15 - len))]
        } else if len >= 4 {
            let low = u64::from(src.cast::<u32>().read_unaligned().to_le());
            let high = u64::from(src.add(len - 4).cast::<u32>().read_unaligned().to_le());
            [low | high << (8 * (len - 4)), 0]
        } else if len > 0 {
            let first = u64::from(*src);
            let middle = u64::from(*src.add(len / 2));
            let last = u64::from(*src.add(len - 1));
            [first | middle << (8 * (len / 2)) | last << (8 * (len - 1)), 0]
        } else {
            [0, 0]
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Vector, partial_16};
    use core::arch::x86_64::*;

    /// SSE2, which every x86-64 has.
    impl Vector for __m128i {
        const WIDTH: usize = 16;

        #[inline(always)]
        unsafe fn load(src: *const u8) -> Self {
            // SAFETY: readable by contract; unaligned loads ask for no more.
            unsafe { _mm_loadu_si128(src.cast()) }
        }

        #[inline(always)]
        unsafe fn load_partial(src: *const u8, len: usize) -> Self {
            // SAFETY: the contract of `partial_16` is the one here.
            let [low, high] = unsafe { partial_16(src, len) };
            // SAFETY: SSE2 is part of x86-64.
            unsafe { _mm_set_epi64x(high as i64, low as i64) }
        }

        #[inline(always)]
        unsafe fn store(self, dst: *mut u8) {
            // SAFETY: writable by contract.
            unsafe { _mm_storeu_si128(dst.cast(), self) }
        }

        #[inline(always)]
        unsafe fn non_ascii(self) -> u64 {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { _mm_movemask_epi8(self) as u32 as u64 }
        }

        #[inline(always)]
        unsafe fn zeros(self) -> u64 {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self, _mm_setzero_si128())) as u32 as u64 }
        }

        #[inline(always)]
        unsafe fn escapes(self) -> u64 {
            // SAFETY: SSE2 is part of x86-64.
            unsafe {
                let flipped = _mm_xor_si128(self, _mm_set1_epi8(2));
                let low = _mm_cmpeq_epi8(_mm_min_epu8(flipped, _mm_set1_epi8(0x20)), flipped);
                let backslash = _mm_cmpeq_epi8(self, _mm_set1_epi8(0x5c));
                _mm_movemask_epi8(_mm_or_si128(low, backslash)) as u32 as u64
            }
        }
    }

    impl Vector for __m256i {
        const WIDTH: usize = 32;

        #[inline(always)]
        unsafe fn load(src: *const u8) -> Self {
            // SAFETY: readable by contract.
            unsafe { _mm256_loadu_si256(src.cast()) }
        }

        #[inline(always)]
        unsafe fn load_partial(src: *const u8, len: usize) -> Self {
            debug_assert!(len < 32);
            // SAFETY: both halves stay within the `len` bytes; the features are there by the trait's
            // contract.
            unsafe {
                if len >= 16 {
                    _mm256_set_m128i(__m128i::load_partial(src.add(16), len - 16), __m128i::load(src))
                } else {
                    _mm256_zextsi128_si256(__m128i::load_partial(src, len))
                }
            }
        }

        #[inline(always)]
        unsafe fn store(self, dst: *mut u8) {
            // SAFETY: writable by contract.
            unsafe { _mm256_storeu_si256(dst.cast(), self) }
        }

        #[inline(always)]
        unsafe fn non_ascii(self) -> u64 {
            // SAFETY: AVX2 by the trait's contract.
            unsafe { _mm256_movemask_epi8(self) as u32 as u64 }
        }

        #[inline(always)]
        unsafe fn zeros(self) -> u64 {
            // SAFETY: AVX2 by the trait's contract.
            unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi8(self, _mm256_setzero_si256())) as u32 as u64 }
        }

        #[inline(always)]
        unsafe fn escapes(self) -> u64 {
            // SAFETY: AVX2 by the trait's contract.
            unsafe {
                let flipped = _mm256_xor_si256(self, _mm256_set1_epi8(2));
                let low = _mm256_cmpeq_epi8(_mm256_min_epu8(flipped, _mm256_set1_epi8(0x20)), flipped);
                let backslash = _mm256_cmpeq_epi8(self, _mm256_set1_epi8(0x5c));
                _mm256_movemask_epi8(_mm256_or_si256(low, backslash)) as u32 as u64
            }
        }
    }

    /// AVX-512 F and BW.
    impl Vector for __m512i {
        const WIDTH: usize = 64;

        #[inline(always)]
        unsafe fn load(src: *const u8) -> Self {
            // SAFETY: readable by contract.
            unsafe { _mm512_loadu_si512(src.cast()) }
        }

        #[inline(always)]
        unsafe fn load_partial(src: *const u8, len: usize) -> Self {
            debug_assert!(len < 64);
            // SAFETY: a masked load touches only the bytes of its mask, which are the `len` readable ones.
            unsafe { _mm512_maskz_loadu_epi8(!(!0 << len), src.cast()) }
        }

        #[inline(always)]
        unsafe fn store(self, dst: *mut u8) {
            // SAFETY: writable by contract.
            unsafe { _mm512_storeu_si512(dst.cast(), self) }
        }

        #[inline(always)]
        unsafe fn non_ascii(self) -> u64 {
            // SAFETY: AVX-512 BW by the trait's contract.
            unsafe { _mm512_movepi8_mask(self) }
        }

        #[inline(always)]
        unsafe fn zeros(self) -> u64 {
            // SAFETY: AVX-512 BW by the trait's contract.
            unsafe { _mm512_testn_epi8_mask(self, self) }
        }

        #[inline(always)]
        unsafe fn escapes(self) -> u64 {
            // SAFETY: AVX-512 BW by the trait's contract.
            unsafe {
                let flipped = _mm512_xor_si512(self, _mm512_set1_epi8(2));
                _mm512_cmple_epu8_mask(flipped, _mm512_set1_epi8(0x20))
                    | _mm512_cmpeq_epi8_mask(self, _mm512_set1_epi8(0x5c))
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::{Vector, partial_16};
    use core::arch::aarch64::*;

    /// One bit a byte out of a vector of 0x00 and 0xff.
    ///
    /// # Safety
    /// NEON, which every aarch64 target with `std` has.
    #[inline(always)]
    unsafe fn bits(mask: uint8x16_t) -> u64 {
        const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
        // SAFETY: NEON is there; WEIGHTS is as long as the load.
        unsafe {
            let weighed = vandq_u8(mask, vld1q_u8(WEIGHTS.as_ptr()));
            let pairs = vpaddq_u8(weighed, weighed);
            let fours = vpaddq_u8(pairs, pairs);
            let eights = vpaddq_u8(fours, fours);
            u64::from(vgetq_lane_u16::<0>(vreinterpretq_u16_u8(eights)))
        }
    }

    /// NEON, which every aarch64 target with `std` has.
    impl Vector for uint8x16_t {
        const WIDTH: usize = 16;

        #[inline(always)]
        unsafe fn load(src: *const u8) -> Self {
            // SAFETY: readable by contract.
            unsafe { vld1q_u8(src) }
        }

        #[inline(always)]
        unsafe fn load_partial(src: *const u8, len: usize) -> Self {
            // SAFETY: the contract of `partial_16` is the one here.
            let [low, high] = unsafe { partial_16(src, len) };
            // SAFETY: NEON is there.
            unsafe { vcombine_u8(vcreate_u8(low), vcreate_u8(high)) }
        }

        #[inline(always)]
        unsafe fn store(self, dst: *mut u8) {
            // SAFETY: writable by contract.
            unsafe { vst1q_u8(dst, self) }
        }

        #[inline(always)]
        unsafe fn non_ascii(self) -> u64 {
            // SAFETY: NEON is there.
            unsafe { bits(vcgeq_u8(self, vdupq_n_u8(0x80))) }
        }

        #[inline(always)]
        unsafe fn zeros(self) -> u64 {
            // SAFETY: NEON is there.
            unsafe { bits(vceqzq_u8(self)) }
        }

        #[inline(always)]
        unsafe fn escapes(self) -> u64 {
            // SAFETY: NEON is there.
            unsafe {
                let low = vcleq_u8(veorq_u8(self, vdupq_n_u8(2)), vdupq_n_u8(0x20));
                bits(vorrq_u8(low, vceqq_u8(self, vdupq_n_u8(0x5c))))
            }
        }
    }
}
