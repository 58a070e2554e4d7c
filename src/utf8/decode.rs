//! One character at a time: the definition the vector kernels must equal, and their way past ill-formed
//! input.

#[cfg(any(test, not(target_arch = "aarch64")))]
use super::Progress;

/// The first character of `bytes` and its length; U+FFFD and the length of the maximal subpart where the
/// bytes are ill-formed (Unicode 16, table 3-7: which second bytes a first byte allows).
///
/// `bytes` is not empty.
#[inline]
pub(super) fn decode(bytes: &[u8]) -> (char, usize) {
    debug_assert!(!bytes.is_empty());
    let first = bytes[0];
    let (len, second, bits) = match first {
        0x00..=0x7f => return (char::from(first), 1),
        0xc2..=0xdf => (2, 0x80..=0xbf, first & 0x1f),
        0xe0 => (3, 0xa0..=0xbf, 0),
        0xed => (3, 0x80..=0x9f, 0xd),
        0xe1..=0xef => (3, 0x80..=0xbf, first & 0xf),
        0xf0 => (4, 0x90..=0xbf, 0),
        0xf1..=0xf3 => (4, 0x80..=0xbf, first & 7),
        0xf4 => (4, 0x80..=0x8f, 4),
        _ => return (char::REPLACEMENT_CHARACTER, 1),
    };
    let mut code = u32::from(bits);
    for index in 1..len {
        match bytes.get(index) {
            Some(byte) if index == 1 && second.contains(byte) => code = code << 6 | u32::from(byte & 0x3f),
            Some(byte) if index > 1 && byte & 0xc0 == 0x80 => code = code << 6 | u32::from(byte & 0x3f),
            _ => return (char::REPLACEMENT_CHARACTER, index),
        }
    }
    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), len)
}

/// Whether `bytes` is well-formed UTF-8.
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn is_valid(bytes: &[u8]) -> bool {
    core::str::from_utf8(bytes).is_ok()
}

/// Transcodes the longest prefix of `bytes` that Latin-1 holds.
///
/// # Safety
/// `dst` is writable for `bytes.len()` bytes.
#[cfg(any(test, not(target_arch = "aarch64")))]
pub(super) unsafe fn latin1(bytes: &[u8], dst: *mut u8) -> Progress {
    let (mut read, mut written) = (0, 0);
    while read < bytes.len() {
        // SAFETY: a character has at least one byte, so `written <= read`, and `dst` has what is left of
        // `bytes`.
        unsafe {
            if let Some(eight) = ascii_eight(&bytes[read..]) {
                dst.add(written).cast::<[u8; 8]>().write_unaligned(eight);
                (read, written) = (read + 8, written + 8);
                continue;
            }
            let (character, len) = decode(&bytes[read..]);
            let Ok(byte) = u8::try_from(character) else { break };
            dst.add(written).write(byte);
            (read, written) = (read + len, written + 1);
        }
    }
    Progress { read, written }
}

/// Transcodes all of `bytes` to UTF-16, ill-formed sequences replaced.
///
/// # Safety
/// `dst` is writable for `bytes.len()` units.
#[cfg(any(test, not(target_arch = "aarch64")))]
pub(super) unsafe fn utf16(bytes: &[u8], dst: *mut u16) -> Progress {
    let (mut read, mut written) = (0, 0);
    while read < bytes.len() {
        // SAFETY: a character has no more units than bytes, so `written <= read`, and `dst` has what is left
        // of `bytes`.
        unsafe {
            if let Some(eight) = ascii_eight(&bytes[read..]) {
                dst.add(written).cast::<[u16; 8]>().write_unaligned(eight.map(u16::from));
                (read, written) = (read + 8, written + 8);
                continue;
            }
            let (character, len) = decode(&bytes[read..]);
            if let Ok(unit) = u16::try_from(u32::from(character)) {
                dst.add(written).write(unit);
                written += 1;
            } else {
                let mut pair = [0; 2];
                character.encode_utf16(&mut pair);
                dst.add(written).cast::<[u16; 2]>().write_unaligned(pair);
                written += 2;
            }
            read += len;
        }
    }
    Progress { read, written }
}

/// The first eight bytes, where there are as many and all are ASCII.
#[cfg(any(test, not(target_arch = "aarch64")))]
#[inline]
fn ascii_eight(bytes: &[u8]) -> Option<[u8; 8]> {
    let eight = *bytes.first_chunk()?;
    (u64::from_ne_bytes(eight) & 0x8080_8080_8080_8080 == 0).then_some(eight)
}
