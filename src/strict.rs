//! What the BSON specification forbids although its meaning is clear: refused before the conversion, where the
//! caller asked for that.

use crate::error::{ErrorKind, Result};
use crate::kind::Kind;
use crate::reader::Reader;
use crate::spec::{self, MAX_DEPTH, element_type};

/// Refuses a source that is not exactly one well-formed document.
pub fn check(source: &[u8], kind: Kind) -> Result<()> {
    let mut reader = Reader::new(source)?;
    if reader.end() + 1 != source.len() {
        return Err(ErrorKind::TrailingBytes.at(reader.end() + 1));
    }
    // The document itself stands one level above its columns' values, which are level 0; an event one more.
    let deepest = MAX_DEPTH + usize::from(kind == Kind::Change);
    check_elements(&mut reader, 0, deepest)
}

/// The elements of a document whose values stand at `level`.
fn check_elements(reader: &mut Reader<'_>, level: usize, deepest: usize) -> Result<()> {
    loop {
        let at = reader.offset();
        let element_type = reader.read_type();
        if element_type == 0 {
            return if reader.is_at_end() { Ok(()) } else { Err(unknown(0, level).at(at)) };
        }
        reader.read_name()?.well_formed(ErrorKind::Utf8, at)?;
        check_value(reader, element_type, (level, deepest), at)?;
    }
}

fn unknown(element_type: u8, level: usize) -> ErrorKind {
    if level == 0 { ErrorKind::ColumnType(element_type) } else { ErrorKind::NestedType(element_type) }
}

fn check_value(
    reader: &mut Reader<'_>,
    element_type: u8,
    (level, deepest): (usize, usize),
    type_at: usize,
) -> Result<()> {
    let at = reader.offset();
    match element_type {
        element_type::STRING | element_type::SYMBOL | element_type::CODE => {
            reader.read_string()?.well_formed(ErrorKind::Utf8, at).map(drop)
        }
        element_type::DOCUMENT | element_type::ARRAY => check_document(reader, level, deepest, type_at),
        element_type::CODE_WITH_SCOPE => {
            reader.read_code_before_scope()?.well_formed(ErrorKind::Utf8, at)?;
            check_document(reader, level.max(1), deepest, type_at)
        }
        element_type::REGEX => {
            let (pattern, options) = reader.read_regex()?;
            pattern.well_formed(ErrorKind::Utf8, at)?;
            options.well_formed(ErrorKind::Utf8, at).map(drop)
        }
        element_type::DB_POINTER => {
            reader.read_string()?.well_formed(ErrorKind::Utf8, at)?;
            reader.read_array::<{ spec::OBJECT_ID }>().map(drop)
        }
        element_type::BOOLEAN => match *reader.read_array()? {
            [0 | 1] => Ok(()),
            [byte] => Err(ErrorKind::Boolean(byte).at(at)),
        },
        element_type::BINARY => reader.read_binary_strict().map(drop),
        _ => reader.skip_value(element_type).map_err(|error| match error.kind {
            ErrorKind::ColumnType(element_type) => unknown(element_type, level).at(type_at),
            _ => error,
        }),
    }
}

fn check_document(reader: &mut Reader<'_>, level: usize, deepest: usize, type_at: usize) -> Result<()> {
    if level > deepest {
        return Err(ErrorKind::Depth.at(type_at));
    }
    check_elements(&mut reader.read_document()?, level + 1, deepest)
}

#[cfg(test)]
mod tests {
    use super::check as check_kind;
    use crate::error::ErrorKind;
    use crate::kind::Kind;
    use bson::{Binary, doc, spec::BinarySubtype};

    fn check(source: &[u8]) -> crate::error::Result<()> {
        check_kind(source, Kind::Document)
    }

    #[test]
    fn an_event_may_be_one_level_deeper() {
        let mut document = doc! {};
        for _ in 0..22 {
            document = doc! { "d": document };
        }
        let bytes = document.to_vec().unwrap();
        assert_eq!(check(&bytes).unwrap_err().kind, ErrorKind::Depth);
        assert_eq!(check_kind(&bytes, Kind::Change), Ok(()));
        let bytes = doc! { "d": document }.to_vec().unwrap();
        assert_eq!(check_kind(&bytes, Kind::Change).unwrap_err().kind, ErrorKind::Depth);
    }

    #[test]
    fn what_is_forbidden_though_clear() {
        let good = doc! { "b": true, "s": "é", "d": { "a": [1, false] } }.to_vec().unwrap();
        assert_eq!(check(&good), Ok(()));
        let kind = |bytes: &[u8]| check(bytes).unwrap_err().kind;
        assert_eq!(kind(&[good.clone(), vec![0]].concat()), ErrorKind::TrailingBytes);
        let mut bytes = good.clone();
        bytes[7] = 2;
        assert_eq!(kind(&bytes), ErrorKind::Boolean(2));
        let mut bytes = good.clone();
        let accent = bytes.iter().position(|&byte| byte == 0xc3).unwrap();
        bytes[accent] = b'a';
        assert_eq!(kind(&bytes), ErrorKind::Utf8);
        let mut bytes = good;
        bytes[5] = 0xe9;
        assert_eq!(kind(&bytes), ErrorKind::Utf8);
    }

    #[test]
    fn the_inner_length_of_subtype_2_is_the_outer_less_its_own_size() {
        let binary = Binary { subtype: BinarySubtype::BinaryOld, bytes: vec![1, 2, 3] };
        let mut bytes = doc! { "b": binary }.to_vec().unwrap();
        assert_eq!(check(&bytes), Ok(()));
        assert_eq!(bytes[12], 3);
        bytes[12] = 2;
        assert_eq!(check(&bytes).unwrap_err().kind, ErrorKind::LegacyBinaryLength);
    }
}
