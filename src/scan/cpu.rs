//! Which instruction sets the processor has, asked once.

use core::sync::atomic::{AtomicU8, Ordering};

/// Instruction sets in the groups that processors came with them. Each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Level {
    /// SSE2, which every x86-64 has.
    Sse2 = 1,
    /// SSSE3 (byte shuffles), SSE4.1, POPCNT.
    Ssse3,
    /// AVX2, BMI1, BMI2, LZCNT.
    Avx2,
    /// AVX-512 F, BW, VL, VBMI and VBMI2 (Ice Lake, Zen 4, and later). The first AVX-512 processors, which
    /// lack the last two and slow down under wide registers, stay with AVX2.
    Avx512,
}

/// The level of this processor.
#[inline]
pub(crate) fn level() -> Level {
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    // Relaxed: the value depends on nothing else, and two threads that ask at once find the same.
    match KNOWN.load(Ordering::Relaxed) {
        1 => Level::Sse2,
        2 => Level::Ssse3,
        3 => Level::Avx2,
        4 => Level::Avx512,
        _ => {
            let found = detect();
            KNOWN.store(found as u8, Ordering::Relaxed);
            found
        }
    }
}

#[cold]
fn detect() -> Level {
    let ssse3 = is_x86_feature_detected!("ssse3")
        && is_x86_feature_detected!("sse4.1")
        && is_x86_feature_detected!("popcnt");
    let avx2 = ssse3
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2");
    match (ssse3, avx2, avx512) {
        (_, _, true) => Level::Avx512,
        (_, true, _) => Level::Avx2,
        (true, _, _) => Level::Ssse3,
        _ => Level::Sse2,
    }
}

/// Every level of this processor, for the tests of each kernel.
#[cfg(test)]
pub(crate) fn levels() -> impl Iterator<Item = Level> {
    let highest = level();
    [Level::Sse2, Level::Ssse3, Level::Avx2, Level::Avx512].into_iter().filter(move |&one| one <= highest)
}
