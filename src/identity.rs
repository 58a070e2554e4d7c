//! The identity of a document: its first `_id`.
//!
//! An `_id` is handed to JavaScript as values that have lost some of what the bytes said. Where that loss could
//! make two ids one, it is an error here: [`IdElement::check`] looks for ill-formed UTF-8, for names that stand
//! twice in one document or in an order that a JavaScript object does not keep, for dates that no `Date` can hold,
//! for regular expressions that a `RegExp` does not keep, and for bytes that say the same in two ways: booleans
//! above 1, spare bytes in a binary of subtype 2.

use crate::error::{ErrorKind, Result};
use crate::reader::Reader;
use crate::spec::{self, MAX_DEPTH, MAX_TIME_VALUE, element_type};

/// The element `_id`.
#[derive(Clone, Copy)]
pub struct IdElement<'a> {
    element_type: u8,
    /// Stands at the value.
    value: Reader<'a>,
}

impl<'a> IdElement<'a> {
    /// The element of this type whose value stands at `value`.
    #[inline(always)]
    #[must_use]
    pub const fn new(element_type: u8, value: Reader<'a>) -> Self {
        Self { element_type, value }
    }

    /// The bytes of the value.
    fn value_bytes(&self) -> Result<&'a [u8]> {
        let mut value = self.value;
        let start = value.offset();
        value.skip_value(self.element_type)?;
        Ok(&value.source()[start..value.offset()])
    }

    /// The element's type.
    #[inline(always)]
    #[must_use]
    pub const fn element_type(&self) -> u8 {
        self.element_type
    }

    /// A reader at the value.
    #[inline(always)]
    #[must_use]
    pub const fn value(&self) -> Reader<'a> {
        self.value
    }

    /// Refuses what could not be told from another `_id`, once deserialised.
    #[inline(always)]
    pub fn check(&self) -> Result<()> {
        let mut value = self.value;
        if self.element_type == element_type::OBJECT_ID {
            return Ok(());
        }
        check_value(&mut value, self.element_type, 0)
    }

    /// A complete document that holds only this element.
    pub fn to_document(&self) -> Result<Vec<u8>> {
        document_of(self.element_type, self.value_bytes()?)
    }
}

/// A complete document of one element `_id`.
pub fn document_of(element_type: u8, value: &[u8]) -> Result<Vec<u8>> {
    const NAME: &[u8] = b"_id\0";
    let len = spec::LENGTH + 1 + NAME.len() + value.len() + 1;
    let length = i32::try_from(len).map_err(|_| ErrorKind::DocumentLength.at(0))?;
    let mut document = Vec::with_capacity(len);
    document.extend_from_slice(&length.to_le_bytes());
    document.push(element_type);
    document.extend_from_slice(NAME);
    document.extend_from_slice(value);
    document.push(0);
    Ok(document)
}

/// The first `_id` of a document; what stands behind it is not looked at.
pub fn find_id<'a>(reader: &mut Reader<'a>) -> Result<IdElement<'a>> {
    let start = reader.offset() - spec::LENGTH;
    loop {
        let type_at = reader.offset();
        let element_type = reader.read_type();
        if element_type == 0 {
            if reader.is_at_end() {
                return Err(ErrorKind::NoId.at(start));
            }
            return Err(ErrorKind::ColumnType(0).at(type_at));
        }
        if reader.read_name()?.bytes() == b"_id" {
            return Ok(IdElement::new(element_type, *reader));
        }
        reader.skip_value(element_type)?;
    }
}

/// Whether a `RegExp` made of a regular expression tells it from all others. It drops options that it lacks and
/// sorts the rest; and its source says the same of an empty pattern and `(?:)`, and of a line terminator or slash and
/// its escape, but for a slash in a class, which it leaves (ECMAScript's EscapeRegExpPattern, as V8 does it).
fn is_kept_by_regexp(pattern: &[u8], options: &[u8]) -> bool {
    const KEPT_OPTIONS: &[u8] = b"ims";
    let line_terminator = |bytes: &[u8]| matches!(bytes, [0xe2, 0x80, 0xa8 | 0xa9]);
    !pattern.is_empty()
        && !has_bare_slash(pattern)
        && !pattern.iter().any(|byte| matches!(byte, b'\n' | b'\r'))
        && !pattern.windows(3).any(line_terminator)
        && options.iter().all(|option| KEPT_OPTIONS.contains(option))
        && options.is_sorted_by(|left, right| left < right)
}

/// Whether a pattern has a slash that is neither escaped nor in a class.
fn has_bare_slash(pattern: &[u8]) -> bool {
    let mut in_class = false;
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return true,
            _ => {}
        }
    }
    false
}

/// Refuses a document that could not be told from another, once deserialised: a `documentKey`.
///
/// Most are told by their first bytes. (where each is read for that, update event, 1 KB document, convertChange takes 1.05
/// times as long)
#[inline(always)]
pub fn check_document(value: Reader<'_>) -> Result<()> {
    if is_object_id_alone(value) { Ok(()) } else { check_any_document(value) }
}

#[inline(never)]
fn check_any_document(mut value: Reader<'_>) -> Result<()> {
    check_value(&mut value, element_type::DOCUMENT, 0)
}

/// Whether the document that stands at `value` is `{ _id: ObjectId }`, as most keys are.
#[inline(always)]
fn is_object_id_alone(value: Reader<'_>) -> bool {
    const BEFORE: &[u8; 9] = b"\x16\0\0\0\x07_id\0";
    const _: () = assert!(BEFORE[0] as usize == BEFORE.len() + spec::OBJECT_ID + 1);
    const _: () = assert!(BEFORE[spec::LENGTH] == element_type::OBJECT_ID);
    let rest = value.rest();
    rest.first_chunk() == Some(BEFORE) && rest.get(BEFORE.len() + spec::OBJECT_ID) == Some(&0)
}

fn check_value(reader: &mut Reader<'_>, element_type: u8, depth: usize) -> Result<()> {
    let at = reader.offset();
    match element_type {
        element_type::STRING | element_type::SYMBOL | element_type::CODE => {
            reader.read_string()?.well_formed(ErrorKind::IdUtf8, at).map(drop)
        }
        element_type::DOCUMENT => check_names(&mut reader.read_document()?, true, depth),
        element_type::ARRAY => check_names(&mut reader.read_document()?, false, depth),
        element_type::CODE_WITH_SCOPE => {
            reader.read_code_before_scope()?.well_formed(ErrorKind::IdUtf8, at)?;
            check_names(&mut reader.read_document()?, true, depth)
        }
        element_type::REGEX => {
            let (pattern, options) = reader.read_regex()?;
            let pattern = pattern.well_formed(ErrorKind::IdUtf8, at)?.bytes();
            if is_kept_by_regexp(pattern, options.bytes()) { Ok(()) } else { Err(ErrorKind::IdRegex.at(at)) }
        }
        element_type::DB_POINTER => {
            reader.read_string()?.well_formed(ErrorKind::IdUtf8, at)?;
            reader.read_array::<{ spec::OBJECT_ID }>().map(drop)
        }
        element_type::BOOLEAN => match *reader.read_array()? {
            [0 | 1] => Ok(()),
            [byte] => Err(ErrorKind::Boolean(byte).at(at)),
        },
        element_type::BINARY => reader.read_binary_strict().map(drop),
        element_type::DATETIME => {
            if reader.read_i64()?.unsigned_abs() > MAX_TIME_VALUE as u64 {
                return Err(ErrorKind::TimeValue.at(at));
            }
            Ok(())
        }
        _ => reader.skip_value(element_type),
    }
}

/// The elements of a document, whose names must differ; those of an array, whose names count for nothing.
fn check_names(reader: &mut Reader<'_>, named: bool, depth: usize) -> Result<()> {
    let start = reader.offset() - spec::LENGTH;
    if depth > MAX_DEPTH {
        return Err(ErrorKind::Depth.at(start));
    }
    // One name is in order by itself, and most documents here have no other: only a second one takes memory.
    // (check_of_identity: 43.6 ns where the first takes memory, 39.8 so)
    let (mut first, mut names) = (None, Vec::new());
    loop {
        let at = reader.offset();
        let element_type = reader.read_type();
        if element_type == 0 {
            if !reader.is_at_end() {
                return Err(ErrorKind::NestedType(0).at(at));
            }
            return if !is_kept_order(&names) {
                Err(ErrorKind::IdNameOrder.at(start))
            } else if !no_repeats(names) {
                Err(ErrorKind::IdDuplicateName.at(start))
            } else {
                Ok(())
            };
        }
        let name = reader.read_name()?;
        if named {
            let name = name.well_formed(ErrorKind::IdUtf8, at)?.bytes();
            match first {
                None => first = Some(name),
                Some(first) => {
                    if names.is_empty() {
                        names.push(first);
                    }
                    names.push(name);
                }
            }
        }
        check_value(reader, element_type, depth + 1).map_err(ErrorKind::nested)?;
    }
}

/// Whether an object keeps names in this order: those that are array indices come first, and ascend
/// (<https://tc39.es/ecma262/#sec-ordinaryownpropertykeys>).
fn is_kept_order(names: &[&[u8]]) -> bool {
    // An index sorts before the next one, and before what is none.
    let rank = |name: &[u8]| array_index(name).map_or(u64::MAX, u64::from);
    names.is_sorted_by_key(|name| rank(name))
}

/// The array index that a name is: digits without a leading zero, below 2^32 - 1.
fn array_index(name: &[u8]) -> Option<u32> {
    let digits =
        std::str::from_utf8(name).ok().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))?;
    let index = digits.parse().ok().filter(|&index| index != u32::MAX)?;
    (digits == "0" || !digits.starts_with('0')).then_some(index)
}

fn no_repeats<T: Ord>(mut items: Vec<T>) -> bool {
    items.sort_unstable();
    items.windows(2).all(|pair| pair[0] != pair[1])
}

#[cfg(test)]
mod tests {
    use super::{check_any_document, document_of, find_id, is_object_id_alone};
    use crate::error::ErrorKind;
    use crate::reader::Reader;
    use bson::{Bson, DateTime, Regex, doc, oid::ObjectId, raw::cstr};

    fn bytes(document: bson::Document) -> Vec<u8> {
        document.to_vec().unwrap()
    }

    /// Type and bytes of the `_id`.
    fn read(document: &[u8]) -> Result<(u8, &[u8]), ErrorKind> {
        let id = find_id(&mut Reader::new(document).unwrap());
        let checked = id.and_then(|id| {
            id.check().and_then(|()| id.value_bytes()).map(|bytes| (id.element_type(), bytes))
        });
        checked.map_err(|error| error.kind)
    }

    #[test]
    fn a_key_of_an_object_id_alone_is_known_by_its_bytes() {
        let check = |document: &[u8]| {
            let event = [&[0; 4], &[0x03, b'k', 0][..], document, &[0]].concat();
            let event = [&(event.len() as i32).to_le_bytes(), &event[4..]].concat();
            let mut reader = Reader::new(&event).unwrap();
            reader.read_type();
            reader.read_name().unwrap();
            let is_alone = is_object_id_alone(reader);
            assert!(!is_alone || check_any_document(reader).is_ok(), "{document:?}");
            is_alone
        };
        let document = bytes(doc! { "_id": ObjectId::from_bytes([7; 12]) });
        assert!(check(&document));
        for place in 0..document.len() {
            let mut other = document.clone();
            other[place] ^= 1;
            // What the id is does not matter.
            assert_eq!(check(&other), (9..21).contains(&place), "{place}");
        }
        assert!(!check(&document[..document.len() - 1]));
        assert!(!check(&bytes(doc! { "_id": ObjectId::from_bytes([7; 12]), "a": 1 })));
    }

    #[test]
    fn ids_are_found_where_they_stand() {
        let id = ObjectId::from_bytes(*b"twelve bytes");
        let document = bytes(doc! { "a": 1, "b": { "_id": 2 }, "_id": id, "c": 3 });
        assert_eq!(read(&document), Ok((0x07, &b"twelve bytes"[..])));
        assert_eq!(read(&bytes(doc! { "_id": -3 })), Ok((0x10, &[0xfd, 0xff, 0xff, 0xff][..])));
        assert_eq!(read(&bytes(doc! { "_id": true })), Ok((0x08, &[1][..])));
        assert_eq!(read(&bytes(doc! { "id": { "_id": 2 } })), Err(ErrorKind::NoId));
    }

    #[test]
    fn a_document_of_the_id_alone() {
        let whole = bytes(doc! { "a": 1, "_id": { "b": "c" }, "d": 2 });
        let id = find_id(&mut Reader::new(&whole).unwrap()).unwrap();
        assert_eq!(id.to_document().unwrap(), bytes(doc! { "_id": { "b": "c" } }));
        assert_eq!(document_of(0x0a, &[]).unwrap(), bytes(doc! { "_id": Bson::Null }));
    }

    #[test]
    fn ids_that_would_become_another_are_refused() {
        let mut document = bytes(doc! { "_id": "abc" });
        document[13] = 0xff;
        assert_eq!(read(&document), Err(ErrorKind::IdUtf8));
        // {"_id": {"a": 1, "b": 2}}, then with one name twice, then with one ill-formed.
        let mut document = bytes(doc! { "_id": { "a": 1, "b": 2 } });
        assert!(matches!(read(&document), Ok((0x03, _))));
        let second = document.iter().position(|&byte| byte == b'b').unwrap();
        document[second] = b'a';
        assert_eq!(read(&document), Err(ErrorKind::IdDuplicateName));
        document[second] = 0xe9;
        assert_eq!(read(&document), Err(ErrorKind::IdUtf8));
        for (names, kept) in [
            (["9", "10"], true),
            (["10", "9"], false),
            (["1", "a"], true),
            (["a", "1"], false),
            (["a", "01"], true),
            (["b", "a"], true),
            (["4294967295", "1"], false),
            (["a", "4294967295"], true),
        ] {
            let document = bytes(doc! { "_id": { names[0]: 1, names[1]: 2 } });
            assert_eq!(read(&document).err(), (!kept).then_some(ErrorKind::IdNameOrder), "{names:?}");
        }
        let array = bytes(doc! { "_id": [DateTime::from_millis(i64::MAX)] });
        assert_eq!(read(&array), Err(ErrorKind::TimeValue));
        let regex = |options| Regex { pattern: cstr!("a").into(), options };
        assert!(read(&bytes(doc! { "_id": { "r": regex(cstr!("im").into()) } })).is_ok());
        let extended = bytes(doc! { "_id": { "r": regex(cstr!("x").into()) } });
        assert_eq!(read(&extended), Err(ErrorKind::IdRegex));
        for (pattern, kept) in [
            (cstr!("a\\/b"), true),
            (cstr!("[/]"), true),
            (cstr!("[\\]/]"), true),
            (cstr!("\\\\\\/"), true),
            (cstr!(""), false),
            (cstr!("a/b"), false),
            (cstr!("\\\\/"), false),
            (cstr!("[a]/"), false),
            (cstr!("\\[/"), false),
            (cstr!("[\n]"), false),
            (cstr!("\\\r"), false),
            (cstr!("\u{2028}"), false),
        ] {
            let regex = Regex { pattern: pattern.into(), options: cstr!("").into() };
            let document = bytes(doc! { "_id": { "r": regex } });
            assert_eq!(read(&document).err(), (!kept).then_some(ErrorKind::IdRegex), "{pattern:?}");
        }
    }
}
