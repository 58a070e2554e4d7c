//! aarch64: NEON, for inputs of any length.

use super::CopyRun;
use super::kernel::{NonAscii, Nul, copy, find};
use core::arch::aarch64::uint8x16_t;

#[inline]
pub(super) fn find_nul(bytes: &[u8]) -> usize {
    // SAFETY: every aarch64 target with `std` has NEON.
    unsafe { find::<uint8x16_t, Nul>(bytes) }
}

#[inline]
pub(super) fn ascii_len(bytes: &[u8]) -> usize {
    // SAFETY: every aarch64 target with `std` has NEON.
    unsafe { find::<uint8x16_t, NonAscii>(bytes) }
}

/// # Safety
/// As [`copy_json_run`](super::copy_json_run).
#[inline]
pub(super) unsafe fn copy_json_run(src: *const u8, len: usize, dst: *mut u8) -> CopyRun {
    // SAFETY: every aarch64 target with `std` has NEON; the rest is the caller's contract.
    unsafe { copy::<uint8x16_t>(src, len, dst) }
}
