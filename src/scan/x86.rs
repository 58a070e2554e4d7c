//! x86-64: SSE2 inlined for short inputs, the widest vector the processor has for the others.

use super::cpu::{Level, level};
use super::kernel::{NonAscii, Nul, Wanted, copy, find};
use super::{CopyRun, WIDE_FROM};
use core::arch::x86_64::{__m128i, __m256i, __m512i};

#[inline]
pub(super) fn find_nul(bytes: &[u8]) -> usize {
    find_any::<Nul>(bytes)
}

#[inline]
pub(super) fn ascii_len(bytes: &[u8]) -> usize {
    find_any::<NonAscii>(bytes)
}

#[inline(always)]
fn find_any<W: Wanted>(bytes: &[u8]) -> usize {
    if bytes.len() < WIDE_FROM {
        // SAFETY: SSE2 is part of x86-64.
        return unsafe { find::<__m128i, W>(bytes) };
    }
    // SAFETY: `level` asked the processor.
    unsafe { find_at::<W>(level(), bytes) }
}

/// # Safety
/// The processor has `level`.
#[inline(never)]
pub(super) unsafe fn find_at<W: Wanted>(level: Level, bytes: &[u8]) -> usize {
    match level {
        // SAFETY: the level includes the features.
        Level::Avx512 => unsafe { find_avx512::<W>(bytes) },
        // SAFETY: the level includes the feature.
        Level::Avx2 => unsafe { find_avx2::<W>(bytes) },
        // SAFETY: SSE2 is part of x86-64.
        Level::Ssse3 | Level::Sse2 => unsafe { find::<__m128i, W>(bytes) },
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn find_avx2<W: Wanted>(bytes: &[u8]) -> usize {
    // SAFETY: AVX2 is enabled here.
    unsafe { find::<__m256i, W>(bytes) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,bmi1,bmi2,lzcnt")]
fn find_avx512<W: Wanted>(bytes: &[u8]) -> usize {
    // SAFETY: AVX-512 F and BW are enabled here.
    unsafe { find::<__m512i, W>(bytes) }
}

/// # Safety
/// As [`copy_json_run`](super::copy_json_run).
#[inline]
pub(super) unsafe fn copy_json_run(src: *const u8, len: usize, dst: *mut u8) -> CopyRun {
    if len < WIDE_FROM {
        // SAFETY: SSE2 is part of x86-64; the rest is the caller's contract.
        return unsafe { copy::<__m128i>(src, len, dst) };
    }
    // SAFETY: `level` asked the processor; the rest is the caller's contract.
    unsafe { copy_at(level(), src, len, dst) }
}

/// # Safety
/// As [`copy_json_run`](super::copy_json_run), and the processor has `level`.
#[inline(never)]
pub(super) unsafe fn copy_at(level: Level, src: *const u8, len: usize, dst: *mut u8) -> CopyRun {
    match level {
        // SAFETY: the level includes the features; the rest is the caller's contract.
        Level::Avx512 => unsafe { copy_avx512(src, len, dst) },
        // SAFETY: the level includes the feature; the rest is the caller's contract.
        Level::Avx2 => unsafe { copy_avx2(src, len, dst) },
        // SAFETY: SSE2 is part of x86-64; the rest is the caller's contract.
        Level::Ssse3 | Level::Sse2 => unsafe { copy::<__m128i>(src, len, dst) },
    }
}

/// # Safety
/// As [`copy_json_run`](super::copy_json_run).
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
unsafe fn copy_avx2(src: *const u8, len: usize, dst: *mut u8) -> CopyRun {
    // SAFETY: AVX2 is enabled here; the rest is the caller's contract.
    unsafe { copy::<__m256i>(src, len, dst) }
}

/// # Safety
/// As [`copy_json_run`](super::copy_json_run).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,bmi1,bmi2,lzcnt")]
unsafe fn copy_avx512(src: *const u8, len: usize, dst: *mut u8) -> CopyRun {
    // SAFETY: AVX-512 F and BW are enabled here; the rest is the caller's contract.
    unsafe { copy::<__m512i>(src, len, dst) }
}
