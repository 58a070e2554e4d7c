//! The kernels in plain Rust: what the others must equal, and what processors without vectors run.

use super::{CopyRun, needs_escape};

pub(crate) fn find_nul(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len())
}

pub(crate) fn ascii_len(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len())
}

pub(crate) fn find_escape(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| needs_escape(byte)).unwrap_or(bytes.len())
}

/// # Safety
/// As [`copy_json_run`](super::copy_json_run).
pub(crate) unsafe fn copy_json_run(src: *const u8, len: usize, dst: *mut u8) -> CopyRun {
    // SAFETY: `src` is readable for `len` bytes by contract.
    let bytes = unsafe { core::slice::from_raw_parts(src, len) };
    let run = &bytes[..find_escape(bytes)];
    // SAFETY: `dst` is writable for at least `len` bytes and does not overlap `src`, by contract.
    unsafe { core::ptr::copy_nonoverlapping(run.as_ptr(), dst, run.len()) };
    CopyRun { copied: run.len(), non_ascii: !run.is_ascii() }
}
