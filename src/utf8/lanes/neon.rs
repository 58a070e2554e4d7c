//! aarch64: 16 bytes.

use super::{Lanes, Lanes16};
use core::arch::aarch64::*;

impl Lanes for uint8x16_t {
    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { vdupq_n_u8(byte) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { vandq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { vorrq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { veorq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn saturating_sub(self, other: Self) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { vqsubq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn high_nibbles(self) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { vshrq_n_u8::<4>(self) }
    }

    #[inline(always)]
    unsafe fn look_up(self, table: &[u8; 16]) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON; the table is as long as the load.
        unsafe { vqtbl1q_u8(vld1q_u8(table.as_ptr()), self) }
    }

    #[inline(always)]
    unsafe fn before(self, last: Self) -> [Self; 3] {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { [vextq_u8::<15>(last, self), vextq_u8::<14>(last, self), vextq_u8::<13>(last, self)] }
    }
}

impl Lanes16 for uint8x16_t {
    #[inline(always)]
    unsafe fn at_least(self, bound: u8) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { vcgeq_u8(self, vdupq_n_u8(bound)) }
    }

    #[inline(always)]
    unsafe fn equals(self, other: Self) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { vceqq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn wrapping_add(self, other: Self) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { vaddq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn shift_left<const N: i32>(self) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { vshlq_n_u8::<N>(self) }
    }

    #[inline(always)]
    unsafe fn shift_right<const N: i32>(self) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { vshrq_n_u8::<N>(self) }
    }

    #[inline(always)]
    unsafe fn interleave(self, high: Self) -> [Self; 2] {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { [vzip1q_u8(self, high), vzip2q_u8(self, high)] }
    }

    #[inline(always)]
    unsafe fn permute(self, order: &[u8; 16]) -> Self {
        // SAFETY: every aarch64 target with `std` has NEON; the order is as long as the load.
        unsafe { vqtbl1q_u8(self, vld1q_u8(order.as_ptr())) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, first: (&[u8; 8], *mut u8), second: (&[u8; 8], *mut u8)) {
        // SAFETY: every aarch64 target with `std` has NEON; the orders and the destinations are as long
        // as the accesses.
        unsafe {
            let both = vcombine_u8(vld1_u8(first.0.as_ptr()), vld1_u8(second.0.as_ptr()));
            let places = vaddq_u8(both, vcombine_u8(vdup_n_u8(0), vdup_n_u8(8)));
            let kept = vqtbl1q_u8(self, places);
            vst1_u8(first.1, vget_low_u8(kept));
            vst1_u8(second.1, vget_high_u8(kept));
        }
    }
}
