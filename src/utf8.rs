//! UTF-8: validity, replacement characters, and the two encodings that V8 takes strings in.
//!
//! V8's own decoder behind `napi_create_string_utf8` runs at a tenth of the speed of these on text that is
//! not ASCII, so the binding hands it Latin-1 or UTF-16 instead.
//!
//! Ill-formed input is decoded as the WHATWG decoder does it: each maximal subpart of a character becomes one
//! U+FFFD, and a byte order mark is kept.
//!
//! The kernels transcode and check in one pass, in blocks. A block with anything ill-formed they leave, and
//! the driver here takes it character by character (`decode`), which is also their plain twin, then calls
//! them again.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod decode;
mod kernel;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod lanes;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod lanes16;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod marks;
#[cfg(test)]
mod tests;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod validate;

use crate::scan;
use decode::decode;

/// Capacity, in bytes, that [`Scratch::shrink`] leaves to each buffer at most.
pub const SCRATCH_BOUND: usize = 1 << 20;

/// Units or bytes past what is left of the input that a kernel may overwrite at its destination, and the step
/// in which the driver goes past ill-formed input.
const BLOCK: usize = 64;

/// Shorter inputs are left to the standard library's validation. (validity_of_cyrillic: 8 bytes 5.2 ns there, 2.7 here;
/// validity_of_ascii: 2 bytes 2.4 there, 2.7 here)
const VECTOR_VALIDATION_FROM: usize = 4;

/// What a kernel did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Progress {
    /// Bytes of input, up to the begin of a character. Less than the input where, within the next [`BLOCK`]
    /// bytes or the character that goes on into them, the kernel met what it does not take.
    read: usize,
    /// Bytes or units of output; never more than `read`.
    written: usize,
}

/// Whether `bytes` is well-formed UTF-8: `core::str::from_utf8(bytes).is_ok()`.
#[inline]
pub fn is_valid(bytes: &[u8]) -> bool {
    if bytes.len() < VECTOR_VALIDATION_FROM {
        return core::str::from_utf8(bytes).is_ok();
    }
    kernel::is_valid(bytes)
}

/// Appends `bytes`, ill-formed sequences replaced: `out.extend(String::from_utf8_lossy(bytes).bytes())`.
#[cold]
pub fn push_lossy(bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}

/// The buffers that [`transcode`] writes into, kept from one string to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    latin1: Vec<u8>,
    utf16: Vec<u16>,
}

impl Scratch {
    /// Empty buffers; nothing is allocated before it is needed.
    pub const fn new() -> Self {
        Self { latin1: Vec::new(), utf16: Vec::new() }
    }

    /// Whether a buffer holds more than [`SCRATCH_BOUND`].
    #[inline]
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.latin1.capacity() > SCRATCH_BOUND || self.utf16.capacity() > SCRATCH_BOUND / size_of::<u16>()
    }

    /// Frees a buffer that holds more than [`SCRATCH_BOUND`], for after a string that was larger than usual.
    #[inline]
    pub fn shrink(&mut self) {
        if self.latin1.capacity() > SCRATCH_BOUND {
            self.latin1 = Vec::new();
        }
        if self.utf16.capacity() > SCRATCH_BOUND / size_of::<u16>() {
            self.utf16 = Vec::new();
        }
    }
}

/// A text in the narrowest encoding that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoded<'s> {
    /// The input is ASCII and so its own Latin-1.
    Ascii,
    /// One byte a character, all of them ≤ U+00FF.
    Latin1(&'s [u8]),
    /// UTF-16 code units.
    Utf16(&'s [u16]),
}

/// Replaces `out` by `bytes` in UTF-16, ill-formed sequences replaced:
/// `out.extend(String::from_utf8_lossy(bytes).encode_utf16())`.
pub fn to_utf16(bytes: &[u8], out: &mut Vec<u16>) {
    out.clear();
    push_utf16(bytes, out);
}

/// `bytes` in the narrowest encoding that holds it, ill-formed sequences replaced.
///
/// The first byte that is not ASCII tells most texts: only C2 and C3 lead to Latin-1. Where a later character
/// contradicts, what is done is widened and the rest goes on as UTF-16, so none of it is decoded twice.
pub fn transcode<'s>(bytes: &[u8], scratch: &'s mut Scratch) -> Encoded<'s> {
    let Scratch { latin1, utf16 } = scratch;
    match bytes.get(scan::ascii_len(bytes)) {
        None => return Encoded::Ascii,
        Some(0xc2 | 0xc3) => {}
        Some(_) => {
            to_utf16(bytes, utf16);
            return Encoded::Utf16(utf16);
        }
    }
    latin1.clear();
    let read = push_latin1(bytes, latin1);
    if read == bytes.len() {
        return Encoded::Latin1(latin1);
    }
    utf16.clear();
    utf16.reserve(latin1.len() + bytes.len() - read + BLOCK);
    utf16.extend(latin1.iter().map(|&byte| u16::from(byte)));
    push_utf16(&bytes[read..], utf16);
    Encoded::Utf16(utf16)
}

/// Appends the longest prefix of `bytes` that Latin-1 holds, or less by up to a block; the length in bytes of
/// input.
fn push_latin1(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    out.reserve(bytes.len() + BLOCK);
    let begin = out.len();
    // SAFETY: the reserved space is what the kernel asks for.
    let Progress { read, written } = unsafe { kernel::latin1(bytes, out.as_mut_ptr().add(begin)) };
    debug_assert!(written <= read && read <= bytes.len());
    // SAFETY: the kernel wrote `written` bytes, no more than were reserved.
    unsafe { out.set_len(begin + written) };
    read
}

/// Appends `bytes` in UTF-16, ill-formed sequences replaced.
fn push_utf16(bytes: &[u8], out: &mut Vec<u16>) {
    // No character has more units than bytes, and none of the maximal subparts is empty.
    out.reserve(bytes.len() + BLOCK);
    let mut at = 0;
    loop {
        let begin = out.len();
        debug_assert!(out.capacity() - begin >= bytes.len() - at + BLOCK);
        // SAFETY: at most `at` units came of the `at` bytes before, so what the kernel asks for is still
        // there.
        let Progress { read, written } = unsafe { kernel::utf16(&bytes[at..], out.as_mut_ptr().add(begin)) };
        debug_assert!(written <= read && read <= bytes.len() - at);
        // SAFETY: the kernel wrote `written` units, no more than were reserved.
        unsafe { out.set_len(begin + written) };
        at += read;
        if at == bytes.len() {
            return;
        }
        let end = bytes.len().min(at + BLOCK);
        while at < end {
            let (character, len) = decode(&bytes[at..]);
            out.extend_from_slice(character.encode_utf16(&mut [0; 2]));
            at += len;
        }
    }
}
