//! Byte scanning: the end of a name, the first byte to escape, the first byte that is not ASCII.
//!
//! Each function documents the naive expression it equals. The kernels are generic over a vector
//! (`vector::Vector`): 16 bytes (SSE2, NEON) for short inputs, inlined at the caller, since a call through
//! dispatch costs as much as the work; the widest the processor has for inputs of `WIDE_FROM` bytes on.
//! Their plain twins are in `portable`.

#[cfg(target_arch = "x86_64")]
pub(crate) mod cpu;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod kernel;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod portable;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
use neon as chosen;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use portable as chosen;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use vector::Vector;
#[cfg(target_arch = "x86_64")]
use x86 as chosen;

/// Bytes past the copied ones that [`copy_json_run`] may overwrite at its destination.
pub const SLACK: usize = 64;

/// From this length on the wide vectors are worth their call. (json_of_strings, with and without them: 48 bytes 743 and
/// 653 ns, 64 bytes 668 and 698, 128 bytes 716 and 896, 1,024 bytes 1,861 and 3,774)
#[cfg(target_arch = "x86_64")]
const WIDE_FROM: usize = 64;

/// What [`copy_json_run`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyRun {
    /// Bytes copied: all of them, or those before the first byte to escape.
    pub copied: usize,
    /// Whether a copied byte is ≥ 0x80.
    pub non_ascii: bool,
}

/// Whether JSON text must escape `byte`: `"`, `\` and the control bytes below 0x20.
#[inline]
pub const fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The first 0 byte: `bytes.iter().position(|&byte| byte == 0)`.
#[inline]
pub fn find_nul(bytes: &[u8]) -> Option<usize> {
    let at = chosen::find_nul(bytes);
    (at < bytes.len()).then_some(at)
}

/// Length of the ASCII prefix: `bytes.iter().take_while(|byte| byte.is_ascii()).count()`.
#[inline]
pub fn ascii_len(bytes: &[u8]) -> usize {
    chosen::ascii_len(bytes)
}

/// Copies the bytes before the first that [`needs_escape`] while it looks for it:
/// `dst[..n].copy_from_slice(&src[..n])` with `n = src.iter().take_while(|&&byte| !needs_escape(byte)).count()`.
///
/// # Safety
/// `src` is readable for `len` bytes, `dst` writable for `len + SLACK`, and the two do not overlap. What
/// stood at `dst` up to [`SLACK`] bytes past the copied ones is lost.
#[inline]
pub unsafe fn copy_json_run(src: *const u8, len: usize, dst: *mut u8) -> CopyRun {
    // SAFETY: the contract is the caller's.
    unsafe { chosen::copy_json_run(src, len, dst) }
}
