//! Elements out of untrusted bytes. Every bound is proved here, once; nobody below checks again.
//!
//! A [`Reader`] stands inside one document of a source. What it rests on is a sentinel: the byte at the
//! document's end is known to be zero, so a search for a zero byte needs no bound of its own, and a zero element
//! type is the end (json_of_order 500: 45.7 µs with both compared with the end, 42.3 so; row_of_names_guessed 100 columns:
//! 300 and 278 ns). Lengths come from the wire as int32, are widened, and are compared with what is left.

use std::fmt;

use crate::chunk::{CHUNK, Chunk};
use crate::error::{Error, ErrorKind, Result};
use crate::spec::{self, element_type};
use crate::utf8;

/// A place inside a document.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    source: &'a [u8],
    /// INVARIANT: `at <= end`.
    at: usize,
    /// The document's terminator. INVARIANT: `end < source.len()` and `source[end] == 0`.
    end: usize,
}

/// A document that a [`Reader`] has left for one inside it, to [`Reader::leave`] to: where it ends, which an int32 in
/// the document itself says.
#[derive(Clone, Copy, Default)]
pub struct Outer {
    end: u32,
}

/// A piece of the source that may be looked past: the load of a whole [`Chunk`] from its start is allowed where
/// the source is long enough.
#[derive(Clone, Copy)]
pub struct Piece<'a> {
    source: &'a [u8],
    /// INVARIANT: `start + len <= source.len()`.
    start: usize,
    len: usize,
}

/// A binary's subtype and data, without the inner length of subtype 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binary<'a> {
    /// The subtype byte.
    pub subtype: u8,
    /// The data.
    pub data: &'a [u8],
}

/// Texts of at most so many bytes are looked at by chunks before a kernel for long ones is called: most names, and resume
/// tokens. (without, reply of 1,000 insert events takes 1.04 times as long)
const SHORT: usize = 256;

impl<'a> Piece<'a> {
    /// A whole slice as a piece.
    #[must_use]
    pub const fn whole(source: &'a [u8]) -> Self {
        Self { source, start: 0, len: source.len() }
    }

    /// The bytes.
    #[inline(always)]
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        // SAFETY: the invariant of `start` and `len`.
        unsafe { self.source.get_unchecked(self.start..self.start + self.len) }
    }

    /// The piece, whose bytes must be well-formed UTF-8; where they are not, that is an error of this kind at `at`.
    #[inline]
    pub fn well_formed(self, kind: ErrorKind, at: usize) -> Result<Self> {
        if self.is_known_ascii() || utf8::is_valid(self.bytes()) { Ok(self) } else { Err(kind.at(at)) }
    }

    /// Whether there are few bytes, all of them ASCII; of many, and near the end of the source, it is not known.
    #[inline(always)]
    fn is_known_ascii(self) -> bool {
        if self.len > SHORT {
            return false;
        }
        let mut at = 0;
        while at < self.len {
            match load_chunk(self.source, self.start + at) {
                Some(chunk) if !chunk.non_ascii().any_below((self.len - at).min(CHUNK)) => at += CHUNK,
                _ => return false,
            }
        }
        true
    }

    /// The first `len` bytes of this piece.
    #[must_use]
    pub fn first(self, len: usize) -> Self {
        Self { len: len.min(self.len), ..self }
    }

    /// All but the first `len` bytes.
    #[must_use]
    pub fn from(self, len: usize) -> Self {
        let len = len.min(self.len);
        Self { start: self.start + len, len: self.len - len, ..self }
    }

    /// Length in bytes.
    #[inline(always)]
    #[must_use]
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Sixteen bytes from the start, whatever stands behind the piece; `None` near the end of the source.
    #[inline(always)]
    #[must_use]
    pub fn first_chunk(self) -> Option<Chunk> {
        load_chunk(self.source, self.start)
    }

    /// Appends the bytes to `to` while it looks at them: `to.extend(bytes)` where they are ASCII. Where they are not, or
    /// stand near the end of the source, nothing is appended, and that is `false`.
    #[inline(always)]
    #[must_use]
    pub fn append_ascii(self, to: &mut Vec<u8>) -> bool {
        let before = to.len();
        let mut at = 0;
        while at < self.len {
            let chunk = load_chunk(self.source, self.start + at);
            let Some(chunk) = chunk.filter(|chunk| !chunk.non_ascii().any_below((self.len - at).min(CHUNK)))
            else {
                to.truncate(before);
                return false;
            };
            to.extend_from_slice(&chunk.bytes());
            at += CHUNK;
        }
        to.truncate(before + self.len);
        true
    }
}

impl PartialEq for Piece<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl fmt::Debug for Piece<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().fmt(formatter)
    }
}

/// The chunk at `at`, where the source has one.
#[inline(always)]
fn load_chunk(source: &[u8], at: usize) -> Option<Chunk> {
    debug_assert!(at <= source.len());
    if source.len() - at < CHUNK {
        return None;
    }
    // SAFETY: at least `CHUNK` bytes follow `at`.
    Some(Chunk::load(unsafe { &*source.as_ptr().add(at).cast::<[u8; CHUNK]>() }))
}

/// The int32 at `at`, as a length: negative ones become larger than any source.
///
/// # Safety
/// `at + spec::LENGTH <= source.len()`.
#[inline(always)]
unsafe fn load_length(source: &[u8], at: usize) -> usize {
    debug_assert!(at + spec::LENGTH <= source.len());
    // SAFETY: the caller's promise; the read asks for no alignment.
    let length = i32::from_le(unsafe { source.as_ptr().add(at).cast::<i32>().read_unaligned() });
    length as isize as usize
}

impl<'a> Reader<'a> {
    /// Stands at the first element of the document that `source` begins with. Bytes after it are ignored.
    #[inline]
    pub fn new(source: &'a [u8]) -> Result<Self> {
        Self::at(source, 0, source.len())
    }

    /// Stands at the first byte of a part of a document, which ends with that document's terminator; `None` where it
    /// does not.
    #[must_use]
    pub fn within(part: &'a [u8]) -> Option<Self> {
        let (&0, before) = part.split_last()? else { return None };
        Some(Self { source: part, at: 0, end: before.len() })
    }

    /// Stands at the first element of the document at `start`, which must end at or before `limit`.
    #[inline(always)]
    fn at(source: &'a [u8], start: usize, limit: usize) -> Result<Self> {
        debug_assert!(start <= limit && limit <= source.len());
        if limit - start < spec::LENGTH {
            return Err(ErrorKind::DocumentLength.at(start));
        }
        // SAFETY: four bytes stand between `start` and `limit`, as was just seen.
        let length = unsafe { load_length(source, start) };
        if length < spec::MIN_DOCUMENT || length > limit - start {
            return Err(ErrorKind::DocumentLength.at(start));
        }
        let end = start + length - 1;
        if source[end] != 0 {
            return Err(ErrorKind::DocumentTerminator.at(end));
        }
        Ok(Self { source, at: start + spec::LENGTH, end })
    }

    /// Where in the source this reader stands.
    #[inline(always)]
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.at
    }

    /// Where in the source this document's terminator stands.
    #[must_use]
    pub const fn end(&self) -> usize {
        self.end
    }

    /// A reader of the same document, at a place that this one has stepped over.
    #[inline(always)]
    #[must_use]
    pub fn back_at(&self, offset: usize) -> Self {
        Self { at: offset.min(self.at), ..*self }
    }

    /// The source.
    #[inline(always)]
    #[must_use]
    pub const fn source(&self) -> &'a [u8] {
        self.source
    }

    /// The error of a kind, here.
    #[cold]
    #[must_use]
    pub const fn error(self, kind: ErrorKind) -> Error {
        kind.at(self.at)
    }

    /// The next element's type and the step over it; 0 is the end of the document, which is not stepped over.
    ///
    /// A zero byte elsewhere is no type: [`Reader::is_at_end`] tells.
    #[inline(always)]
    pub fn read_type(&mut self) -> u8 {
        let element_type = self.peek();
        if element_type != 0 {
            // A byte that is not zero is not the terminator, so one more stands behind it.
            self.at += 1;
        }
        element_type
    }

    /// Whether this is the document's terminator.
    #[inline(always)]
    #[must_use]
    pub const fn is_at_end(&self) -> bool {
        self.at == self.end
    }

    /// The byte here.
    #[inline(always)]
    #[must_use]
    pub fn peek(&self) -> u8 {
        // SAFETY: `at <= end < source.len()`.
        unsafe { *self.source.get_unchecked(self.at) }
    }

    /// The chunk from here on, where the source has one.
    #[inline(always)]
    #[must_use]
    pub fn peek_chunk(&self) -> Option<Chunk> {
        load_chunk(self.source, self.at)
    }

    /// What is left of the document, without its terminator.
    #[inline(always)]
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        // SAFETY: `at <= end < source.len()`.
        unsafe { self.source.get_unchecked(self.at..self.end) }
    }

    /// Steps over the first `len` bytes of the rest.
    #[inline(always)]
    pub fn advance(&mut self, len: usize) {
        self.at += len.min(self.end - self.at);
    }

    /// Steps over a name of `len` bytes and its zero byte, which the caller has seen; returns the name.
    #[inline(always)]
    pub fn take_name(&mut self, len: usize) -> Result<Piece<'a>> {
        let nul = self.at + len;
        // The sentinel stops every search; a name that only ended there has no end of its own.
        if nul >= self.end {
            return Err(ErrorKind::CstringTerminator.at(self.end));
        }
        let name = Piece { source: self.source, start: self.at, len };
        self.at = nul + 1;
        Ok(name)
    }

    /// The length of the zero-terminated text that starts here.
    #[inline(always)]
    fn find_nul(&self) -> usize {
        match self.peek_chunk().and_then(|chunk| chunk.zeros().first()) {
            Some(len) => len,
            None => self.find_nul_far(),
        }
    }

    #[inline(never)]
    fn find_nul_far(self) -> usize {
        // The sentinel is within the slice, so there is a zero byte.
        crate::scan::find_nul(&self.source[self.at..=self.end]).unwrap_or(self.end - self.at)
    }

    /// The element name, and the step over it.
    #[inline(always)]
    pub fn read_name(&mut self) -> Result<Piece<'a>> {
        self.take_name(self.find_nul())
    }

    /// Steps over an array's key, whatever it says.
    #[inline(always)]
    pub fn skip_name(&mut self) -> Result<()> {
        self.take_name(self.find_nul()).map(drop)
    }

    /// Whether `name`, which ends with its zero byte, stands here; if so, the step over it.
    #[inline(always)]
    pub(crate) fn take_name_if(&mut self, name: &[u8]) -> Option<Piece<'a>> {
        debug_assert!(name.last() == Some(&0));
        if self.end - self.at < name.len() {
            return None;
        }
        // SAFETY: `name.len()` bytes stand between `at` and `end`.
        let here = unsafe { self.source.get_unchecked(self.at..self.at + name.len()) };
        if here != name {
            return None;
        }
        let piece = Piece { source: self.source, start: self.at, len: name.len() - 1 };
        self.at += name.len();
        Some(piece)
    }

    /// The next `N` bytes and the step over them.
    #[inline(always)]
    pub fn read_array<const N: usize>(&mut self) -> Result<&'a [u8; N]> {
        if self.end - self.at < N {
            return Err(self.error(ErrorKind::ElementLength));
        }
        // SAFETY: `N` bytes stand between `at` and `end`.
        let bytes = unsafe { &*self.source.as_ptr().add(self.at).cast::<[u8; N]>() };
        self.at += N;
        Ok(bytes)
    }

    /// A double.
    #[inline(always)]
    pub fn read_f64(&mut self) -> Result<f64> {
        self.read_array().map(|bytes| f64::from_le_bytes(*bytes))
    }

    /// An int64, a datetime.
    #[inline(always)]
    pub fn read_i64(&mut self) -> Result<i64> {
        self.read_array().map(|bytes| i64::from_le_bytes(*bytes))
    }

    /// A timestamp.
    #[inline(always)]
    pub fn read_u64(&mut self) -> Result<u64> {
        self.read_array().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// An int32.
    #[inline(always)]
    pub fn read_i32(&mut self) -> Result<i32> {
        self.read_array().map(|bytes| i32::from_le_bytes(*bytes))
    }

    /// A string, without its zero byte.
    #[inline(always)]
    pub fn read_string(&mut self) -> Result<Piece<'a>> {
        let left = self.end - self.at;
        if left < spec::LENGTH {
            return Err(self.error(ErrorKind::StringLength));
        }
        // SAFETY: four bytes stand between `at` and `end`.
        let length = unsafe { load_length(self.source, self.at) };
        if length == 0 || length > left - spec::LENGTH {
            return Err(self.error(ErrorKind::StringLength));
        }
        let start = self.at + spec::LENGTH;
        let nul = start + length - 1;
        // SAFETY: `nul < end`, by the comparison of the length.
        if unsafe { *self.source.get_unchecked(nul) } != 0 {
            return Err(ErrorKind::StringTerminator.at(nul));
        }
        self.at = nul + 1;
        Ok(Piece { source: self.source, start, len: length - 1 })
    }

    /// A regular expression's pattern and options.
    #[inline]
    pub fn read_regex(&mut self) -> Result<(Piece<'a>, Piece<'a>)> {
        let start = self.at;
        let mut part = || self.take_name(self.find_nul()).map_err(|_| ErrorKind::Regex.at(start));
        Ok((part()?, part()?))
    }

    /// A binary.
    #[inline]
    pub fn read_binary(&mut self) -> Result<Binary<'a>> {
        const HEADER: usize = spec::LENGTH + 1;
        let left = self.end - self.at;
        if left < HEADER {
            return Err(self.error(ErrorKind::BinaryLength));
        }
        // SAFETY: four bytes stand between `at` and `end`.
        let length = unsafe { load_length(self.source, self.at) };
        if length > left - HEADER {
            return Err(self.error(ErrorKind::BinaryLength));
        }
        let subtype = self.source[self.at + spec::LENGTH];
        let start = self.at + HEADER;
        let mut data = &self.source[start..start + length];
        if subtype == spec::subtype::LEGACY_BINARY {
            let inner = data.first_chunk().map(|bytes| i32::from_le_bytes(*bytes) as isize as usize);
            data = match inner {
                Some(inner) if inner <= length - spec::LENGTH => &data[spec::LENGTH..][..inner],
                _ => return Err(ErrorKind::LegacyBinaryLength.at(start)),
            };
        }
        self.at = start + length;
        Ok(Binary { subtype, data })
    }

    /// A binary that has no spare bytes: subtype 2's inner length is the outer one less its own size.
    pub fn read_binary_strict(&mut self) -> Result<Binary<'a>> {
        let start = self.at;
        let binary = self.read_binary()?;
        let header =
            if binary.subtype == spec::subtype::LEGACY_BINARY { 2 * spec::LENGTH } else { spec::LENGTH };
        if self.at - start != header + 1 + binary.data.len() {
            return Err(ErrorKind::LegacyBinaryLength.at(start));
        }
        Ok(binary)
    }

    /// A document or array: a reader of its own, and the step over it.
    #[inline]
    pub fn read_document(&mut self) -> Result<Reader<'a>> {
        let inner = Self::at(self.source, self.at, self.end)?;
        self.at = inner.end + 1;
        Ok(inner)
    }

    /// The length that the document here claims, no more than what is left: to reserve room by.
    #[must_use]
    pub fn peek_length(&self) -> usize {
        let left = self.end - self.at;
        if left < spec::LENGTH {
            return left;
        }
        // SAFETY: four bytes stand between `at` and `end`.
        unsafe { load_length(self.source, self.at) }.min(left)
    }

    /// Goes into the document or array that stands here.
    #[inline(always)]
    pub fn enter(&mut self) -> Result<Outer> {
        let outer = Outer { end: self.end as u32 };
        *self = Self::at(self.source, self.at, self.end)?;
        Ok(outer)
    }

    /// Goes on behind this document, in the one that was left for it.
    ///
    /// # Panics
    /// Where `outer` is not what `enter` gave for this document.
    #[inline(always)]
    pub fn leave(&mut self, outer: Outer) {
        let end = outer.end as usize;
        assert!(self.end < end && self.source.get(end) == Some(&0));
        self.at = self.end + 1;
        self.end = end;
    }

    /// The code of a code with scope; then the scope stands here, which must end where the whole does.
    #[inline]
    pub fn read_code_before_scope(&mut self) -> Result<Piece<'a>> {
        let start = self.at;
        let left = self.end - start;
        if left < spec::LENGTH {
            return Err(self.error(ErrorKind::CodeWithScopeLength));
        }
        // SAFETY: four bytes stand between `at` and `end`.
        let length = unsafe { load_length(self.source, start) };
        if length < spec::MIN_CODE_WITH_SCOPE || length > left {
            return Err(self.error(ErrorKind::CodeWithScopeLength));
        }
        self.at += spec::LENGTH;
        let code = self.read_string()?;
        let scope = Self::at(self.source, self.at, self.end)?;
        if scope.end + 1 != start + length {
            return Err(ErrorKind::CodeWithScopeLength.at(start));
        }
        Ok(code)
    }

    /// Steps over the value of an element, by its length. What is inside a document is not looked at.
    #[inline]
    pub fn skip_value(&mut self, element_type: u8) -> Result<()> {
        let width = match element_type {
            element_type::UNDEFINED | element_type::NULL | element_type::MIN_KEY | element_type::MAX_KEY => 0,
            element_type::BOOLEAN => 1,
            element_type::INT32 => 4,
            element_type::DOUBLE | element_type::DATETIME | element_type::TIMESTAMP | element_type::INT64 => {
                8
            }
            element_type::OBJECT_ID => spec::OBJECT_ID,
            element_type::DECIMAL128 => spec::DECIMAL128,
            element_type::STRING | element_type::CODE | element_type::SYMBOL => {
                return self.read_string().map(drop);
            }
            element_type::DOCUMENT | element_type::ARRAY => return self.read_document().map(drop),
            element_type::BINARY => return self.read_binary().map(drop),
            element_type::REGEX => return self.read_regex().map(drop),
            element_type::DB_POINTER => {
                self.read_string()?;
                spec::OBJECT_ID
            }
            element_type::CODE_WITH_SCOPE => {
                self.read_code_before_scope()?;
                return self.read_document().map(drop);
            }
            unknown => return Err(ErrorKind::ColumnType(unknown).at(self.at)),
        };
        if self.end - self.at < width {
            return Err(self.error(ErrorKind::ElementLength));
        }
        self.at += width;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, SHORT};
    use crate::error::ErrorKind;

    #[test]
    fn well_formed_is_what_the_standard_library_takes() {
        for len in (0..=SHORT + 20).step_by(if cfg!(miri) { 43 } else { 1 }) {
            for behind in [0, 40] {
                // Ill-formed wherever it stands, but where the text ends before it.
                for place in (0..=len).step_by(if cfg!(miri) { 37 } else { 1 }) {
                    let mut source = [vec![b'x'; len], vec![0xff; behind]].concat();
                    if let Some(byte) = source.get_mut(place) {
                        *byte = 0x80;
                    }
                    let is_well_formed = Piece::whole(&source).first(len).well_formed(ErrorKind::Utf8, 7);
                    let expected = std::str::from_utf8(&source[..len]).map_err(|_| ErrorKind::Utf8.at(7));
                    assert_eq!(
                        is_well_formed.map(Piece::bytes).ok(),
                        expected.ok().map(str::as_bytes),
                        "{len} {place}"
                    );
                }
            }
        }
    }

    #[test]
    fn ascii_is_appended_and_nothing_else() {
        let longest = if cfg!(miri) { 35 } else { 70 };
        for len in 0..=longest {
            // What stands behind a text is not ASCII, or nothing.
            for behind in [0, 40] {
                let text = [vec![b'x'; len], vec![0xff; behind]].concat();
                for place in 0..=len {
                    let mut source = text.clone();
                    if place < len {
                        source[place] = 0x80;
                    }
                    let mut to = b"before".to_vec();
                    let appended = Piece::whole(&source).first(len).append_ascii(&mut to);
                    let whole_chunks = len.div_ceil(16) * 16 <= source.len();
                    assert_eq!(appended, place == len && whole_chunks, "{len} {behind} {place}");
                    let expected =
                        if appended { [b"before", &source[..len]].concat() } else { b"before".to_vec() };
                    assert_eq!(to, expected);
                }
            }
        }
    }
}
