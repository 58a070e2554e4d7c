//! The output buffer of JSON text.
//!
//! [`Tail`] is where text is written: two pointers into the buffer's room, which the compiler keeps in registers
//! (json_of_order 500: 45.0 µs where they must be in memory, 43.7 so).
//! Each push proves its room with one comparison and then stores a whole register or array, of which a part counts:
//! the rest is overwritten by the next push. Digits are formed in the room itself: formed elsewhere and copied, they
//! would be loaded before their single bytes have left the store buffer (json_of_order 500: 47.0 µs and 43.7;
//! json_of_array integers: 909 ns and 586).
//!
//! All room is initialised, so that no byte that was not written can ever be seen.
//!
//! The text is BSON's bytes, copied: where those are ill-formed UTF-8, so is it. Every piece of a source ends at
//! an ASCII byte of the JSON around it, so decoding the whole, with replacement characters, equals decoding each
//! piece; it is decoded once, by the sink.

use std::ops::Range;

use crate::chunk::{CHUNK, Chunk};
use crate::object_ids;
use crate::reader::Piece;
use crate::scan::{self, needs_escape};

/// Room that is kept in any case; more is given back by [`Text::shrink`].
pub const KEEP: usize = 1 << 20;

/// A buffer of text, used again and again.
#[derive(Default)]
pub struct Text {
    /// The room, all of it initialised; its length says nothing about a text's.
    room: Vec<u8>,
}

/// A text that was written: valid until the buffer is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written<'t> {
    /// The bytes.
    pub bytes: &'t [u8],
    /// Whether all of them are ASCII.
    pub ascii: bool,
}

impl Text {
    /// An empty text's end, to write at; `expected` bytes of room to begin with.
    pub fn begin(&mut self, expected: usize) -> Tail<'_> {
        if self.room.len() < expected {
            // Zeroed by the allocator, which has large room zeroed already.
            self.room = vec![0; expected];
        }
        let Range { start, end } = self.room.as_mut_ptr_range();
        Tail { at: start, limit: end, non_ascii: false, room: &mut self.room }
    }

    /// Whether there is more room than [`KEEP`].
    #[inline(always)]
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.room.len() > KEEP
    }

    /// Gives room back, if there is more than [`KEEP`].
    pub fn shrink(&mut self) {
        if self.is_large() {
            self.room = Vec::new();
        }
    }
}

/// The end of a text that is being written.
pub struct Tail<'t> {
    room: &'t mut Vec<u8>,
    /// INVARIANT: `start <= at <= limit`, where `start..limit` is `room`.
    at: *mut u8,
    limit: *mut u8,
    non_ascii: bool,
}

/// The eight escapes that ECMAScript writes as two characters, by byte; 0 elsewhere.
const SHORT_ESCAPES: [u8; 128] = {
    let mut table = [0; 128];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[0x08] = b'b';
    table[b'\t' as usize] = b't';
    table[b'\n' as usize] = b'n';
    table[0x0c] = b'f';
    table[b'\r' as usize] = b'r';
    table
};

/// Makes room for `additional` bytes after `at`. By value, so that [`Tail`] need not live in memory.
#[cold]
#[inline(never)]
fn grow(room: &mut Vec<u8>, at: *mut u8, additional: usize) -> (*mut u8, *mut u8) {
    let len = at as usize - room.as_ptr() as usize;
    room.resize((len + additional).max(2 * room.len()), 0);
    let Range { start, end } = room.as_mut_ptr_range();
    // SAFETY: `len` is no more than the room was long, and it has only grown.
    (unsafe { start.add(len) }, end)
}

impl<'t> Tail<'t> {
    /// Proves that `additional` bytes have room after `at`.
    #[inline(always)]
    fn reserve(&mut self, additional: usize) {
        if (self.limit as usize) - (self.at as usize) < additional {
            (self.at, self.limit) = grow(self.room, self.at, additional);
        }
    }

    /// Gives the next `N` bytes of room to `write`, which says how many of them it wrote.
    #[inline(always)]
    pub fn write<const N: usize>(&mut self, write: impl FnOnce(&mut [u8; N]) -> usize) {
        self.reserve(N);
        // SAFETY: `N` bytes of room follow `at`; they are initialised and nobody else's.
        let len = write(unsafe { &mut *self.at.cast::<[u8; N]>() });
        assert!(len <= N);
        // SAFETY: `len <= N`.
        self.at = unsafe { self.at.add(len) };
    }

    /// One byte.
    #[inline(always)]
    pub fn push(&mut self, byte: u8) {
        self.push_array([byte]);
    }

    /// `N` bytes.
    #[inline(always)]
    pub fn push_array<const N: usize>(&mut self, bytes: [u8; N]) {
        self.write::<N>(|room| {
            *room = bytes;
            N
        });
    }

    /// Bytes as they are, which must be ASCII.
    #[inline]
    pub fn push_ascii(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.is_ascii());
        self.reserve(bytes.len());
        // SAFETY: there is room for the bytes; a text never overlaps its own room.
        unsafe {
            self.at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.at = self.at.add(bytes.len());
        }
    }

    /// The first elements of an array, as [`object_ids::write_run`] takes them; the number of their bytes.
    #[inline(never)]
    pub fn push_object_ids(&mut self, elements: &[u8]) -> usize {
        self.reserve(object_ids::ROOM);
        // SAFETY: there is as much room as is asked for.
        let run = unsafe { object_ids::write_run(elements, self.at) };
        // SAFETY: so many bytes were written, all of them ASCII.
        self.at = unsafe { self.at.add(run.written) };
        run.read
    }

    /// Ends a container: `close` takes the place of the comma after its last element, if it has one.
    #[inline(always)]
    pub(crate) fn push_close(&mut self, close: u8) {
        debug_assert!(self.at as usize > self.room.as_ptr() as usize, "a container was opened");
        // SAFETY: an opening byte was written before, so `at` is past `start`.
        unsafe {
            let last = self.at.sub(1);
            if *last == b',' {
                *last = close;
                return;
            }
        }
        self.push(close);
    }

    /// A JSON string, quoted and escaped, and `after` behind it: `","` in a container, `":"` after a name.
    #[inline(always)]
    pub fn push_json_string(&mut self, piece: Piece<'_>, after: u8) {
        let len = piece.len();
        if len <= CHUNK
            && let Some(chunk) = piece.first_chunk()
            && !chunk.escapes().any_below(len)
        {
            return self.push_json_chunk(chunk, len, after);
        }
        self.push_json_string_far(piece.bytes(), after);
    }

    /// A JSON string of the first `len` bytes of a chunk, none of which needs an escape.
    #[inline(always)]
    fn push_json_chunk(&mut self, chunk: Chunk, len: usize, after: u8) {
        assert!(len <= CHUNK);
        self.non_ascii |= chunk.non_ascii().any_below(len);
        self.reserve(1 + CHUNK + 2);
        // SAFETY: the room is an opening quote, a chunk, of which the first `len` bytes stay, and the two bytes
        // behind those.
        unsafe {
            self.at.write(b'"');
            self.at.add(1).cast::<[u8; CHUNK]>().write(chunk.bytes());
            self.at.add(1 + len).cast::<[u8; 2]>().write_unaligned([b'"', after]);
            self.at = self.at.add(1 + len + 2);
        }
    }

    /// Strings of more than a chunk, or with escapes. Not inlined, and the state of `self` goes through memory.
    #[inline(never)]
    fn push_json_string_far(&mut self, bytes: &[u8], after: u8) {
        self.push(b'"');
        let mut rest = bytes;
        loop {
            self.reserve(rest.len() + scan::SLACK);
            // SAFETY: there is room for all of `rest`, and for what a kernel may write past it.
            let run = unsafe { scan::copy_json_run(rest.as_ptr(), rest.len(), self.at) };
            debug_assert!(run.copied <= rest.len());
            self.non_ascii |= run.non_ascii;
            // SAFETY: so many bytes were written.
            self.at = unsafe { self.at.add(run.copied) };
            let Some(&byte) = rest.get(run.copied) else { break };
            self.push_escape(byte);
            rest = &rest[run.copied + 1..];
            // Escapes come in groups; a run of none is not worth a kernel's start.
            while let Some((&byte, behind)) = rest.split_first()
                && needs_escape(byte)
            {
                self.push_escape(byte);
                rest = behind;
            }
        }
        self.push_array([b'"', after]);
    }

    fn push_escape(&mut self, byte: u8) {
        debug_assert!(needs_escape(byte));
        let short = SHORT_ESCAPES[usize::from(byte & 0x7f)];
        if short != 0 {
            self.push_array([b'\\', short]);
        } else {
            let [high, low] = crate::hex::DIGITS[usize::from(byte)];
            self.push_array([b'\\', b'u', b'0', b'0', high, low]);
        }
    }

    /// Ends the text at the byte before this end, which is a separator.
    pub(crate) fn commit_before_last(mut self) -> Written<'t> {
        debug_assert!(self.at as usize > self.room.as_ptr() as usize);
        // SAFETY: a byte was written before.
        self.at = unsafe { self.at.sub(1) };
        self.commit()
    }

    /// Ends the text here.
    pub fn commit(self) -> Written<'t> {
        let len = self.at as usize - self.room.as_ptr() as usize;
        Written { bytes: &self.room[..len], ascii: !self.non_ascii }
    }
}

#[cfg(test)]
mod tests {
    use super::{KEEP, Text};
    use crate::reader::Piece;

    fn json(bytes: &[u8]) -> (Vec<u8>, bool) {
        let mut text = Text::default();
        let mut tail = text.begin(0);
        tail.push_json_string(Piece::whole(bytes), b',');
        let written = tail.commit_before_last();
        (written.bytes.to_vec(), written.ascii)
    }

    fn naive(bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![b'"'];
        for &byte in bytes {
            match byte {
                b'"' => out.extend(b"\\\""),
                b'\\' => out.extend(b"\\\\"),
                0x08 => out.extend(b"\\b"),
                0x09 => out.extend(b"\\t"),
                0x0a => out.extend(b"\\n"),
                0x0c => out.extend(b"\\f"),
                0x0d => out.extend(b"\\r"),
                0..=0x1f => out.extend(format!("\\u{byte:04x}").bytes()),
                _ => out.push(byte),
            }
        }
        out.push(b'"');
        out
    }

    #[test]
    fn every_byte_at_every_place_of_every_short_string() {
        for len in 1..=if cfg!(miri) { 18 } else { 70 } {
            for place in 0..len {
                for byte in (0..=u8::MAX).step_by(if cfg!(miri) { 17 } else { 1 }) {
                    let mut bytes = vec![b'x'; len];
                    bytes[place] = byte;
                    // Behind the string stands what must not be looked at, or nothing at all.
                    let expected = (naive(&bytes), byte.is_ascii());
                    assert_eq!(json(&bytes), expected);
                    bytes.extend([b'"', 0xff].repeat(16));
                    let mut text = Text::default();
                    let mut tail = text.begin(0);
                    tail.push_json_string(Piece::whole(&bytes).first(len), b',');
                    let written = tail.commit_before_last();
                    assert_eq!((written.bytes.to_vec(), written.ascii), expected);
                }
            }
        }
    }

    #[test]
    fn escapes_alone_grow_the_buffer_sixfold() {
        let bytes = vec![0x01; if cfg!(miri) { 400 } else { 400_000 }];
        assert_eq!(json(&bytes).0, naive(&bytes));
    }

    #[test]
    fn a_close_takes_the_place_of_a_comma_only() {
        let mut text = Text::default();
        let mut tail = text.begin(0);
        tail.push(b'[');
        tail.push_close(b']');
        tail.push(b',');
        tail.push_close(b'}');
        assert_eq!(tail.commit().bytes, b"[]}");
    }

    #[test]
    fn a_large_buffer_is_given_back() {
        let mut text = Text::default();
        let mut tail = text.begin(4 * KEEP);
        tail.write::<3>(|room| {
            *room = *b"abc";
            2
        });
        assert_eq!(tail.commit().bytes, b"ab");
        assert!(text.is_large());
        text.shrink();
        assert!(text.room.capacity() <= KEEP && !text.is_large());
    }
}
