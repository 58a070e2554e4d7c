//! Sixteen bytes in one register: what the hot loops load, look at and store.
//!
//! Element names and most strings are shorter than a [`Chunk`], so one load finds the end of a name, another its first
//! byte to escape, and one store copies it (json_of_order 500: 82.2 µs without chunks, 63.1 with them for names only,
//! 43.5 for strings, too). SSE2 and NEON are part of their architectures'
//! baselines: no dispatch. Elsewhere the plain twin serves, which the tests compare the others with.

/// Bytes in a chunk.
pub const CHUNK: usize = 16;

#[cfg(target_arch = "aarch64")]
pub use neon::Chunk;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use plain::Chunk;
#[cfg(target_arch = "x86_64")]
pub use sse2::Chunk;

/// Which bytes of a chunk fit a question: `LANE` bits for each, the first byte lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask<const LANE: u32>(u64);

impl<const LANE: u32> Mask<LANE> {
    /// The first byte that fits, if one does.
    #[inline(always)]
    #[must_use]
    pub fn first(self) -> Option<usize> {
        if self.0 == 0 { None } else { Some((self.0.trailing_zeros() / LANE) as usize) }
    }

    /// Whether one of the first `count` bytes fits; `count` is at most [`CHUNK`].
    #[inline(always)]
    #[must_use]
    pub fn any_below(self, count: usize) -> bool {
        debug_assert!(count <= CHUNK);
        // LANE is 1 or 4: the shift is 64 only for a whole chunk of four-bit lanes.
        let below = 1u64.checked_shl(count as u32 * LANE).unwrap_or(0).wrapping_sub(1);
        self.0 & below != 0
    }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use super::{CHUNK, Mask};
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8, _mm_setzero_si128,
    };
    use std::mem::transmute;

    /// Sixteen bytes.
    #[derive(Clone, Copy)]
    pub struct Chunk(__m128i);

    impl Chunk {
        /// Loads sixteen bytes.
        #[inline(always)]
        #[must_use]
        pub fn load(bytes: &[u8; CHUNK]) -> Self {
            // SAFETY: the reference is to sixteen readable bytes; the load asks for no alignment.
            Self(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
        }

        /// The sixteen bytes.
        #[inline(always)]
        #[must_use]
        pub fn bytes(self) -> [u8; CHUNK] {
            // SAFETY: both are sixteen bytes, and any are valid for either.
            unsafe { transmute(self.0) }
        }

        /// Which bytes are zero.
        #[inline(always)]
        #[must_use]
        pub fn zeros(self) -> Mask<1> {
            // SAFETY: SSE2 is in the baseline of x86-64.
            Mask(u64::from(unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.0, _mm_setzero_si128())) } as u32))
        }

        /// Whether the first `len` bytes are those of another chunk.
        #[inline(always)]
        #[must_use]
        pub fn equals_below(self, other: Self, len: usize) -> bool {
            // SAFETY: SSE2 is in the baseline of x86-64.
            let equal = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.0, other.0)) };
            !Mask::<1>(u64::from(!equal as u32 & 0xffff)).any_below(len)
        }

        /// Which bytes JSON text must escape: [`needs_escape`](crate::scan::needs_escape).
        #[inline(always)]
        #[must_use]
        pub fn escapes(self) -> Mask<1> {
            // SAFETY: SSE2 is in the baseline of x86-64.
            let bits = unsafe {
                // Unsigned `byte <= 0x1f`, which SSE2 lacks, is `min(byte, 0x1f) == byte`.
                let control = _mm_cmpeq_epi8(_mm_min_epu8(self.0, _mm_set1_epi8(0x1f)), self.0);
                let quote = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b'"' as i8));
                let backslash = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b'\\' as i8));
                _mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash)))
            };
            Mask(u64::from(bits as u32))
        }

        /// Which bytes are not ASCII.
        #[inline(always)]
        #[must_use]
        pub fn non_ascii(self) -> Mask<1> {
            // SAFETY: SSE2 is in the baseline of x86-64.
            Mask(u64::from(unsafe { _mm_movemask_epi8(self.0) } as u32))
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::{CHUNK, Mask};
    use std::arch::aarch64::{
        uint8x16_t, vceqq_u8, vcgeq_u8, vcltq_u8, vdupq_n_u8, vget_lane_u64, vld1q_u8, vmvnq_u8, vorrq_u8,
        vreinterpret_u64_u8, vreinterpretq_u16_u8, vshrn_n_u16,
    };
    use std::mem::transmute;

    /// Sixteen bytes.
    #[derive(Clone, Copy)]
    pub struct Chunk(uint8x16_t);

    /// NEON has no movemask: a narrowing shift by four leaves four bits of each byte.
    #[inline(always)]
    fn mask(lanes: uint8x16_t) -> Mask<4> {
        // SAFETY: NEON is in the baseline of aarch64.
        Mask(unsafe {
            vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(vreinterpretq_u16_u8(lanes))))
        })
    }

    impl Chunk {
        /// Loads sixteen bytes.
        #[inline(always)]
        #[must_use]
        pub fn load(bytes: &[u8; CHUNK]) -> Self {
            // SAFETY: the reference is to sixteen readable bytes.
            Self(unsafe { vld1q_u8(bytes.as_ptr()) })
        }

        /// The sixteen bytes.
        #[inline(always)]
        #[must_use]
        pub fn bytes(self) -> [u8; CHUNK] {
            // SAFETY: both are sixteen bytes, and any are valid for either.
            unsafe { transmute(self.0) }
        }

        /// Which bytes are zero.
        #[inline(always)]
        #[must_use]
        pub fn zeros(self) -> Mask<4> {
            // SAFETY: NEON is in the baseline of aarch64.
            mask(unsafe { vceqq_u8(self.0, vdupq_n_u8(0)) })
        }

        /// Whether the first `len` bytes are those of another chunk.
        #[inline(always)]
        #[must_use]
        pub fn equals_below(self, other: Self, len: usize) -> bool {
            // SAFETY: NEON is in the baseline of aarch64.
            !mask(unsafe { vmvnq_u8(vceqq_u8(self.0, other.0)) }).any_below(len)
        }

        /// Which bytes JSON text must escape: [`needs_escape`](crate::scan::needs_escape).
        #[inline(always)]
        #[must_use]
        pub fn escapes(self) -> Mask<4> {
            // SAFETY: NEON is in the baseline of aarch64.
            mask(unsafe {
                let control = vcltq_u8(self.0, vdupq_n_u8(0x20));
                let quote = vceqq_u8(self.0, vdupq_n_u8(b'"'));
                let backslash = vceqq_u8(self.0, vdupq_n_u8(b'\\'));
                vorrq_u8(control, vorrq_u8(quote, backslash))
            })
        }

        /// Which bytes are not ASCII.
        #[inline(always)]
        #[must_use]
        pub fn non_ascii(self) -> Mask<4> {
            // SAFETY: NEON is in the baseline of aarch64.
            mask(unsafe { vcgeq_u8(self.0, vdupq_n_u8(0x80)) })
        }
    }
}

/// The twin without intrinsics.
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod plain {
    use super::{CHUNK, Mask};
    use crate::scan::needs_escape;

    /// Sixteen bytes.
    #[derive(Clone, Copy)]
    pub struct Chunk([u8; CHUNK]);

    impl Chunk {
        /// Loads sixteen bytes.
        #[must_use]
        pub fn load(bytes: &[u8; CHUNK]) -> Self {
            Self(*bytes)
        }

        /// The sixteen bytes.
        #[must_use]
        pub fn bytes(self) -> [u8; CHUNK] {
            self.0
        }

        fn mask(self, fits: impl Fn(u8) -> bool) -> Mask<1> {
            Mask(self.0.iter().rev().fold(0, |bits, &byte| bits << 1 | u64::from(fits(byte))))
        }

        /// Which bytes are zero.
        #[must_use]
        pub fn zeros(self) -> Mask<1> {
            self.mask(|byte| byte == 0)
        }

        /// Whether the first `len` bytes are those of another chunk.
        #[must_use]
        pub fn equals_below(self, other: Self, len: usize) -> bool {
            self.0[..len] == other.0[..len]
        }

        /// Which bytes JSON text must escape: [`needs_escape`](crate::scan::needs_escape).
        #[must_use]
        pub fn escapes(self) -> Mask<1> {
            self.mask(needs_escape)
        }

        /// Which bytes are not ASCII.
        #[must_use]
        pub fn non_ascii(self) -> Mask<1> {
            self.mask(|byte| !byte.is_ascii())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Chunk, plain};

    fn check(bytes: &[u8; CHUNK]) {
        let (fast, slow) = (Chunk::load(bytes), plain::Chunk::load(bytes));
        assert_eq!(fast.zeros().first(), slow.zeros().first(), "{bytes:?}");
        assert_eq!(fast.escapes().first(), slow.escapes().first(), "{bytes:?}");
        assert_eq!(fast.non_ascii().first(), slow.non_ascii().first(), "{bytes:?}");
        for count in 0..=CHUNK {
            assert_eq!(fast.escapes().any_below(count), slow.escapes().any_below(count), "{bytes:?} {count}");
        }
        let other = [bytes[0]; CHUNK];
        for len in 0..=CHUNK {
            let equal = fast.equals_below(Chunk::load(&other), len);
            assert_eq!(equal, slow.equals_below(plain::Chunk::load(&other), len), "{bytes:?} {len}");
        }
        assert_eq!(&fast.bytes(), bytes);
        assert_eq!(&slow.bytes(), bytes);
    }

    #[test]
    fn every_byte_at_every_place_answers_as_the_plain_twin() {
        for place in 0..CHUNK {
            for byte in (0..=u8::MAX).step_by(if cfg!(miri) { 37 } else { 1 }) {
                for filler in [b'a', 0x00, 0xff, b'"'] {
                    let mut bytes = [filler; CHUNK];
                    bytes[place] = byte;
                    check(&bytes);
                }
            }
        }
    }

    #[test]
    fn random_chunks_answer_as_the_plain_twin() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..if cfg!(miri) { 50 } else { 20_000 } {
            let bytes = std::array::from_fn(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                // Few values, so that chunks have much in common.
                *b"\0\x1f \"\\a\x7f\x80\xff".get(state as usize % 16).unwrap_or(&b'x')
            });
            check(&bytes);
        }
    }

    #[test]
    fn the_plain_twin_answers_as_written_here() {
        let chunk = plain::Chunk::load(b"abc\"def\0\x1f\\\x80~~~~ ");
        assert_eq!(chunk.zeros().first(), Some(7));
        assert_eq!(chunk.escapes().first(), Some(3));
        assert_eq!(chunk.non_ascii().first(), Some(10));
        assert!(!chunk.escapes().any_below(3) && chunk.escapes().any_below(4));
        assert_eq!(plain::Chunk::load(&[b' '; CHUNK]).escapes().first(), None);
    }
}
