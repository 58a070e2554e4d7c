//! The path to an error: the names of the elements around a byte of the source.
//!
//! Found by walking the document again, when there is an error to report. The walk takes the same steps as the
//! one that failed, so it reaches the element at fault, and stops at the first thing it cannot read.

use crate::reader::Reader;
use crate::spec::element_type;

/// A path no longer than this many levels is reported.
const MAX_PATH: usize = 64;

/// The name of the column, then the names and array positions below it, of the element that holds the byte at
/// `offset`. Empty where that byte is the document's own.
#[must_use]
pub fn path_to(source: &[u8], offset: usize) -> Vec<String> {
    let mut path = Vec::new();
    let Ok(mut reader) = Reader::new(source) else { return path };
    let mut is_array = false;
    // The byte of a document's length is the document's own, that is, the element's that holds it.
    while path.len() < MAX_PATH && offset >= reader.offset() {
        let Some((name, element_type, value)) = find_element(reader, offset, is_array) else { break };
        path.push(name);
        let mut inner = value;
        match element_type {
            element_type::DOCUMENT | element_type::ARRAY => {}
            element_type::CODE_WITH_SCOPE if inner.read_code_before_scope().is_ok() => {
                if offset < inner.offset() {
                    break;
                }
                path.push("scope".to_owned());
            }
            _ => break,
        }
        is_array = element_type == element_type::ARRAY;
        let Ok(document) = inner.read_document() else { break };
        reader = document;
    }
    path
}

/// The element of this document whose bytes include the one at `offset`, or the first that cannot be read.
fn find_element<'a>(
    mut reader: Reader<'a>,
    offset: usize,
    is_array: bool,
) -> Option<(String, u8, Reader<'a>)> {
    for position in 0.. {
        let element_type = reader.read_type();
        if element_type == 0 {
            return None;
        }
        let name = reader.read_name().ok()?;
        let value = reader;
        let readable = reader.skip_value(element_type).is_ok();
        if !readable || offset < reader.offset() {
            let name = if is_array {
                position.to_string()
            } else {
                String::from_utf8_lossy(name.bytes()).into_owned()
            };
            return Some((name, element_type, value));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::path_to;
    use bson::{Bson, JavaScriptCodeWithScope, doc};

    #[test]
    fn every_byte_belongs_to_the_innermost_element_around_it() {
        let code = JavaScriptCodeWithScope { code: "f".into(), scope: doc! { "s": 7 } };
        let bytes =
            doc! { "a": 1, "b": { "c": ["x", { "d": 2 }] }, "e": code, "f": Bson::Null }.to_vec().unwrap();
        let at = |needle: &[u8]| bytes.windows(needle.len()).position(|window| window == needle).unwrap();
        for (offset, path) in [
            (0, vec![]),
            (at(b"a\0\x01"), vec!["a"]),
            (at(b"b\0") + 2, vec!["b"]),
            (at(b"b\0"), vec!["b"]),
            (at(b"c\0"), vec!["b", "c"]),
            (at(b"x\0"), vec!["b", "c", "0"]),
            (at(b"d\0") + 2, vec!["b", "c", "1", "d"]),
            (at(b"f\0"), vec!["e"]),
            (at(b"s\0\x07"), vec!["e", "scope", "s"]),
            (bytes.len() - 2, vec!["f"]),
            (bytes.len() - 1, vec![]),
        ] {
            assert_eq!(path_to(&bytes, offset), path, "{offset}");
        }
    }
}
