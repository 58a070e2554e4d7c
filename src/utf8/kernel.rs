//! The choice of the kernels.

#[cfg(target_arch = "x86_64")]
pub(super) use x86::*;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::scan::cpu::{Level, level};
    use crate::utf8::{Progress, avx512, decode, lanes16, validate};
    use core::arch::x86_64::{__m128i, __m256i, __m512i};

    pub(in crate::utf8) fn is_valid(bytes: &[u8]) -> bool {
        // SAFETY: `level` asked the processor.
        unsafe { is_valid_at(level(), bytes) }
    }

    /// # Safety
    /// As [`latin1_at`], at the level of the processor.
    pub(in crate::utf8) unsafe fn latin1(bytes: &[u8], dst: *mut u8) -> Progress {
        // SAFETY: `level` asked the processor; the rest is the caller's contract.
        unsafe { latin1_at(level(), bytes, dst) }
    }

    /// # Safety
    /// As [`utf16_at`], at the level of the processor.
    pub(in crate::utf8) unsafe fn utf16(bytes: &[u8], dst: *mut u16) -> Progress {
        // SAFETY: `level` asked the processor; the rest is the caller's contract.
        unsafe { utf16_at(level(), bytes, dst) }
    }

    /// # Safety
    /// The processor has `level`.
    pub(in crate::utf8) unsafe fn is_valid_at(level: Level, bytes: &[u8]) -> bool {
        #[target_feature(enable = "ssse3,sse4.1")]
        fn ssse3(bytes: &[u8]) -> bool {
            // SAFETY: SSSE3 is enabled here.
            unsafe { validate::is_valid::<__m128i>(bytes) }
        }

        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn avx2(bytes: &[u8]) -> bool {
            // SAFETY: AVX2 is enabled here.
            unsafe { validate::is_valid::<__m256i>(bytes) }
        }

        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,bmi1,bmi2")]
        fn avx512(bytes: &[u8]) -> bool {
            // SAFETY: AVX-512 F and BW are enabled here.
            unsafe { validate::is_valid::<__m512i>(bytes) }
        }

        match level {
            // SAFETY: the level includes the features.
            Level::Avx512 => unsafe { avx512(bytes) },
            // SAFETY: the level includes the features.
            Level::Avx2 => unsafe { avx2(bytes) },
            // SAFETY: the level includes the features.
            Level::Ssse3 => unsafe { ssse3(bytes) },
            Level::Sse2 => core::str::from_utf8(bytes).is_ok(),
        }
    }

    /// # Safety
    /// The processor has `level`, and `dst` is writable for `bytes.len() + BLOCK` bytes.
    pub(in crate::utf8) unsafe fn latin1_at(level: Level, bytes: &[u8], dst: *mut u8) -> Progress {
        #[target_feature(enable = "ssse3,sse4.1,popcnt")]
        unsafe fn ssse3(bytes: &[u8], dst: *mut u8) -> Progress {
            // SAFETY: SSSE3 is enabled here; the rest is the caller's contract.
            unsafe { lanes16::latin1::<__m128i>(bytes, dst) }
        }

        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        unsafe fn avx2(bytes: &[u8], dst: *mut u8) -> Progress {
            // SAFETY: SSSE3 is part of AVX2; the rest is the caller's contract.
            unsafe { lanes16::latin1::<__m128i>(bytes, dst) }
        }

        match level {
            // SAFETY: the level includes the features; the rest is the caller's contract.
            Level::Avx512 => unsafe { avx512::latin1(bytes, dst) },
            // SAFETY: the level includes the features; the rest is the caller's contract.
            Level::Avx2 => unsafe { avx2(bytes, dst) },
            // SAFETY: the level includes the features; the rest is the caller's contract.
            Level::Ssse3 => unsafe { ssse3(bytes, dst) },
            // SAFETY: the contract is the caller's.
            Level::Sse2 => unsafe { decode::latin1(bytes, dst) },
        }
    }

    /// # Safety
    /// The processor has `level`, and `dst` is writable for `bytes.len() + BLOCK` units.
    pub(in crate::utf8) unsafe fn utf16_at(level: Level, bytes: &[u8], dst: *mut u16) -> Progress {
        #[target_feature(enable = "ssse3,sse4.1,popcnt")]
        unsafe fn ssse3(bytes: &[u8], dst: *mut u16) -> Progress {
            // SAFETY: SSSE3 is enabled here; the rest is the caller's contract.
            unsafe { lanes16::utf16::<__m128i>(bytes, dst) }
        }

        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        unsafe fn avx2(bytes: &[u8], dst: *mut u16) -> Progress {
            // SAFETY: SSSE3 is part of AVX2; the rest is the caller's contract.
            unsafe { lanes16::utf16::<__m128i>(bytes, dst) }
        }

        match level {
            // SAFETY: the level includes the features; the rest is the caller's contract.
            Level::Avx512 => unsafe { avx512::utf16(bytes, dst) },
            // SAFETY: the level includes the features; the rest is the caller's contract.
            Level::Avx2 => unsafe { avx2(bytes, dst) },
            // SAFETY: the level includes the features; the rest is the caller's contract.
            Level::Ssse3 => unsafe { ssse3(bytes, dst) },
            // SAFETY: the contract is the caller's.
            Level::Sse2 => unsafe { decode::utf16(bytes, dst) },
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use crate::utf8::{Progress, lanes16, validate};
    use core::arch::aarch64::uint8x16_t;

    pub(in crate::utf8) fn is_valid(bytes: &[u8]) -> bool {
        // SAFETY: every aarch64 target with `std` has NEON.
        unsafe { validate::is_valid::<uint8x16_t>(bytes) }
    }

    /// # Safety
    /// `dst` is writable for `bytes.len() + BLOCK` bytes.
    pub(in crate::utf8) unsafe fn latin1(bytes: &[u8], dst: *mut u8) -> Progress {
        // SAFETY: every aarch64 target with `std` has NEON; the rest is the caller's contract.
        unsafe { lanes16::latin1::<uint8x16_t>(bytes, dst) }
    }

    /// # Safety
    /// `dst` is writable for `bytes.len() + BLOCK` units.
    pub(in crate::utf8) unsafe fn utf16(bytes: &[u8], dst: *mut u16) -> Progress {
        // SAFETY: every aarch64 target with `std` has NEON; the rest is the caller's contract.
        unsafe { lanes16::utf16::<uint8x16_t>(bytes, dst) }
    }
}

#[cfg(target_arch = "aarch64")]
pub(super) use neon::*;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use super::decode::{is_valid, latin1, utf16};
