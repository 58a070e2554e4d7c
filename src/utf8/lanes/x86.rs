//! x86-64: 16 bytes (SSSE3), 32 bytes (AVX2), 64 bytes (AVX-512 F and BW).

use super::{Lanes, Lanes16};
use core::arch::x86_64::*;

impl Lanes for __m128i {
    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_set1_epi8(byte as i8) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_and_si128(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_or_si128(self, other) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_xor_si128(self, other) }
    }

    #[inline(always)]
    unsafe fn saturating_sub(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_subs_epu8(self, other) }
    }

    #[inline(always)]
    unsafe fn high_nibbles(self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_and_si128(_mm_srli_epi16::<4>(self), _mm_set1_epi8(0xf)) }
    }

    #[inline(always)]
    unsafe fn look_up(self, table: &[u8; 16]) -> Self {
        // SAFETY: SSSE3 by the trait's contract; the table is as long as the load.
        unsafe { _mm_shuffle_epi8(_mm_loadu_si128(table.as_ptr().cast()), self) }
    }

    #[inline(always)]
    unsafe fn before(self, last: Self) -> [Self; 3] {
        // SAFETY: SSSE3 by the trait's contract.
        unsafe {
            [
                _mm_alignr_epi8::<15>(self, last),
                _mm_alignr_epi8::<14>(self, last),
                _mm_alignr_epi8::<13>(self, last),
            ]
        }
    }
}

impl Lanes16 for __m128i {
    #[inline(always)]
    unsafe fn at_least(self, bound: u8) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_cmpeq_epi8(_mm_max_epu8(self, _mm_set1_epi8(bound as i8)), self) }
    }

    #[inline(always)]
    unsafe fn equals(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_cmpeq_epi8(self, other) }
    }

    #[inline(always)]
    unsafe fn wrapping_add(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_add_epi8(self, other) }
    }

    #[inline(always)]
    unsafe fn shift_left<const N: i32>(self) -> Self {
        // SAFETY: SSE2 is part of x86-64. There is no shift of bytes: what comes over from the neighbour
        // is masked away.
        unsafe { _mm_and_si128(_mm_slli_epi16::<N>(self), _mm_set1_epi8((0xff << N) as i8)) }
    }

    #[inline(always)]
    unsafe fn shift_right<const N: i32>(self) -> Self {
        // SAFETY: as for `shift_left`.
        unsafe { _mm_and_si128(_mm_srli_epi16::<N>(self), _mm_set1_epi8((0xff >> N) as i8)) }
    }

    #[inline(always)]
    unsafe fn interleave(self, high: Self) -> [Self; 2] {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { [_mm_unpacklo_epi8(self, high), _mm_unpackhi_epi8(self, high)] }
    }

    #[inline(always)]
    unsafe fn permute(self, order: &[u8; 16]) -> Self {
        // SAFETY: SSSE3 by the trait's contract; the order is as long as the load.
        unsafe { _mm_shuffle_epi8(self, _mm_loadu_si128(order.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, first: (&[u8; 8], *mut u8), second: (&[u8; 8], *mut u8)) {
        // SAFETY: SSSE3 by the trait's contract; the orders and the destinations are as long as the
        // accesses.
        unsafe {
            let low = _mm_shuffle_epi8(self, _mm_loadl_epi64(first.0.as_ptr().cast()));
            _mm_storel_epi64(first.1.cast(), low);
            let upper = _mm_unpackhi_epi64(self, self);
            let high = _mm_shuffle_epi8(upper, _mm_loadl_epi64(second.0.as_ptr().cast()));
            _mm_storel_epi64(second.1.cast(), high);
        }
    }
}

impl Lanes for __m256i {
    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: AVX2 by the trait's contract.
        unsafe { _mm256_set1_epi8(byte as i8) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: AVX2 by the trait's contract.
        unsafe { _mm256_and_si256(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: AVX2 by the trait's contract.
        unsafe { _mm256_or_si256(self, other) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: AVX2 by the trait's contract.
        unsafe { _mm256_xor_si256(self, other) }
    }

    #[inline(always)]
    unsafe fn saturating_sub(self, other: Self) -> Self {
        // SAFETY: AVX2 by the trait's contract.
        unsafe { _mm256_subs_epu8(self, other) }
    }

    #[inline(always)]
    unsafe fn high_nibbles(self) -> Self {
        // SAFETY: AVX2 by the trait's contract.
        unsafe { _mm256_and_si256(_mm256_srli_epi16::<4>(self), _mm256_set1_epi8(0xf)) }
    }

    #[inline(always)]
    unsafe fn look_up(self, table: &[u8; 16]) -> Self {
        // SAFETY: AVX2 by the trait's contract; the table is as long as the load. The shuffle works
        // within each 16 bytes, so each gets the table.
        unsafe {
            let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
            _mm256_shuffle_epi8(table, self)
        }
    }

    #[inline(always)]
    unsafe fn before(self, last: Self) -> [Self; 3] {
        // SAFETY: AVX2 by the trait's contract.
        unsafe {
            // 16 bytes back: the last half of `last`, the first of `self`. Then within each 16 bytes.
            let back = _mm256_permute2x128_si256::<0x21>(last, self);
            [
                _mm256_alignr_epi8::<15>(self, back),
                _mm256_alignr_epi8::<14>(self, back),
                _mm256_alignr_epi8::<13>(self, back),
            ]
        }
    }
}

impl Lanes for __m512i {
    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: AVX-512 F by the trait's contract.
        unsafe { _mm512_set1_epi8(byte as i8) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: AVX-512 F by the trait's contract.
        unsafe { _mm512_and_si512(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: AVX-512 F by the trait's contract.
        unsafe { _mm512_or_si512(self, other) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: AVX-512 F by the trait's contract.
        unsafe { _mm512_xor_si512(self, other) }
    }

    #[inline(always)]
    unsafe fn saturating_sub(self, other: Self) -> Self {
        // SAFETY: AVX-512 BW by the trait's contract.
        unsafe { _mm512_subs_epu8(self, other) }
    }

    #[inline(always)]
    unsafe fn high_nibbles(self) -> Self {
        // SAFETY: AVX-512 BW by the trait's contract.
        unsafe { _mm512_and_si512(_mm512_srli_epi16::<4>(self), _mm512_set1_epi8(0xf)) }
    }

    #[inline(always)]
    unsafe fn look_up(self, table: &[u8; 16]) -> Self {
        // SAFETY: AVX-512 BW by the trait's contract; the table is as long as the load. The shuffle works
        // within each 16 bytes, so each gets the table.
        unsafe {
            let table = _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast()));
            _mm512_shuffle_epi8(table, self)
        }
    }

    #[inline(always)]
    unsafe fn before(self, last: Self) -> [Self; 3] {
        // SAFETY: AVX-512 F and BW by the trait's contract.
        unsafe {
            // 16 bytes back: the last quarter of `last`, three of `self`. Then within each 16 bytes.
            let back = _mm512_alignr_epi64::<6>(self, last);
            [
                _mm512_alignr_epi8::<15>(self, back),
                _mm512_alignr_epi8::<14>(self, back),
                _mm512_alignr_epi8::<13>(self, back),
            ]
        }
    }
}
