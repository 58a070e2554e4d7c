//! A part of a document's JSON, straight from the BSON: what SQLite's `->` and `->>` give for the text.
//!
//! The document is walked as its JSON would be written: an element that an object leaves out is none, and what JSON
//! has as an object of a regular expression, a code or a DBPointer has that object's labels. Of labels that stand
//! twice the first one counts, as for SQLite. What is not on the way is stepped over by its length.

use crate::datetime::DateRenderMode;
use crate::error::{ErrorKind, Result};
use crate::hex;
use crate::json::{self, uuid_of};
use crate::json_path::{JsonPath, Step};
use crate::reader::{Piece, Reader};
use crate::spec::{self, element_type};
use crate::text::{Tail, Text};
use crate::utf8;
use crate::walk::{read_type, skip};

/// A value of SQLite's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extracted<'t> {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// REAL.
    Real(f64),
    /// TEXT of ASCII bytes only.
    Ascii(&'t [u8]),
    /// TEXT in UTF-8, perhaps ill-formed.
    Text(&'t [u8]),
}

/// What is extracted of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Its JSON text: `->`.
    Json,
    /// Itself, but for objects and arrays: `->>`.
    Value,
}

/// A value in a document's JSON.
#[derive(Clone, Copy)]
enum Node<'a> {
    /// An element's, whose type stands at `start`.
    Element { element_type: u8, start: usize, value: Reader<'a> },
    /// A string.
    String(Piece<'a>),
    /// A string of an ObjectId's digits.
    ObjectId(&'a [u8; spec::OBJECT_ID]),
    /// `null`
    Null,
    /// `{}`
    Empty,
}

/// What is at a path in the JSON of the document that `source` begins with; `None` where nothing is.
///
/// The JSON is what a nested document of these bytes has. `text` is where it is written.
pub fn extract<'t>(
    source: &'t [u8],
    path: &JsonPath,
    form: Form,
    mode: DateRenderMode,
    text: &'t mut Text,
) -> Result<Option<Extracted<'t>>> {
    let mut document = Reader::new(source)?;
    let Some((first, rest)) = path.steps.split_first() else {
        return write_whole(&source[..=document.end()], mode, text).map(Some);
    };
    let mut node = match first {
        Step::Label(Some(label)) => find_label(&mut document, label, ErrorKind::ColumnType)?,
        _ => None,
    };
    for step in rest {
        let Some(inner) = node else { break };
        node = match step {
            Step::Label(Some(label)) => inner.label(label)?,
            Step::Label(None) => None,
            Step::Index(index) => inner.index(*index)?,
            Step::FromEnd(back) => match inner.length()?.checked_sub(*back) {
                Some(index) => inner.index(index)?,
                None => None,
            },
        };
    }
    node.map(|node| node.extract(form, mode, text)).transpose()
}

/// The JSON of a whole document: that of the same document in another.
fn write_whole<'t>(document: &[u8], mode: DateRenderMode, text: &'t mut Text) -> Result<Extracted<'t>> {
    let outer = [document, &[0]].concat();
    let mut tail = text.begin(document.len());
    // The last byte is a zero byte, so there is such a part.
    let mut reader =
        Reader::within(&outer).ok_or_else(|| ErrorKind::DocumentTerminator.at(document.len()))?;
    json::write_any(&mut reader, element_type::DOCUMENT, 0, mode, &mut tail)?;
    Ok(from_written(tail))
}

/// A text and the separator behind it.
fn from_written(tail: Tail<'_>) -> Extracted<'_> {
    let written = tail.commit_before_last();
    if written.ascii { Extracted::Ascii(written.bytes) } else { Extracted::Text(written.bytes) }
}

/// The first element of this name that an object does not leave out.
fn find_label<'a>(
    document: &mut Reader<'a>,
    label: &str,
    unknown: fn(u8) -> ErrorKind,
) -> Result<Option<Node<'a>>> {
    while let Some((element_type, start)) = read_type(document, unknown)? {
        let is_label = is_name(document.read_name()?.bytes(), label);
        let value = *document;
        skip(document, element_type, start, unknown)?;
        if is_label && !is_left_out(element_type, value)? {
            return Ok(Some(Node::Element { element_type, start, value }));
        }
    }
    Ok(None)
}

/// Whether a name is a label, once what is ill-formed in it is replaced.
fn is_name(name: &[u8], label: &str) -> bool {
    name == label.as_bytes()
        || label.contains(char::REPLACEMENT_CHARACTER)
            && !utf8::is_valid(name)
            && String::from_utf8_lossy(name) == label
}

fn is_left_out(element_type: u8, mut value: Reader<'_>) -> Result<bool> {
    Ok(match element_type {
        element_type::UNDEFINED => true,
        element_type::BINARY => uuid_of(value.read_binary()?).is_none(),
        _ => false,
    })
}

impl<'a> Node<'a> {
    /// The value of a label.
    fn label(self, label: &str) -> Result<Option<Self>> {
        let Self::Element { element_type, mut value, .. } = self else { return Ok(None) };
        Ok(match (element_type, label) {
            (element_type::DOCUMENT, _) => {
                return find_label(&mut value.read_document()?, label, ErrorKind::NestedType);
            }
            (element_type::REGEX, "pattern") => Some(Self::String(value.read_regex()?.0)),
            (element_type::REGEX, "options") => Some(Self::String(value.read_regex()?.1)),
            (element_type::CODE, "code") => Some(Self::String(value.read_string()?)),
            (element_type::CODE, "scope") => Some(Self::Null),
            (element_type::CODE_WITH_SCOPE, "code") => Some(Self::String(value.read_code_before_scope()?)),
            (element_type::CODE_WITH_SCOPE, "scope") => {
                let start = value.offset();
                value.read_code_before_scope()?;
                Some(Self::Element { element_type: element_type::DOCUMENT, start, value })
            }
            (element_type::DB_POINTER, _) => {
                let name = value.read_string()?;
                let (database, collection) = json::split_namespace(name);
                match label {
                    "collection" => Some(Self::String(collection)),
                    "oid" => Some(Self::ObjectId(value.read_array()?)),
                    "db" => database.map(Self::String),
                    "fields" => Some(Self::Empty),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    fn array(self) -> Result<Option<Reader<'a>>> {
        match self {
            Self::Element { element_type: element_type::ARRAY, mut value, .. } => {
                value.read_document().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// How many elements an array has; none where it is no array.
    fn length(self) -> Result<u64> {
        let Some(mut array) = self.array()? else { return Ok(0) };
        let mut length = 0;
        while let Some((element_type, start)) = read_type(&mut array, ErrorKind::NestedType)? {
            array.skip_name()?;
            skip(&mut array, element_type, start, ErrorKind::NestedType)?;
            length += 1;
        }
        Ok(length)
    }

    /// An element of an array.
    fn index(self, index: u64) -> Result<Option<Self>> {
        let Some(mut array) = self.array()? else { return Ok(None) };
        for position in 0.. {
            let Some((element_type, start)) = read_type(&mut array, ErrorKind::NestedType)? else { break };
            array.skip_name()?;
            if position == index {
                return Ok(Some(Self::Element { element_type, start, value: array }));
            }
            skip(&mut array, element_type, start, ErrorKind::NestedType)?;
        }
        Ok(None)
    }

    fn extract<'t>(self, form: Form, mode: DateRenderMode, text: &'t mut Text) -> Result<Extracted<'t>>
    where
        'a: 't,
    {
        if form == Form::Value {
            match self {
                Self::String(piece) => return Ok(Extracted::Text(piece.bytes())),
                Self::Element {
                    element_type: element_type::STRING | element_type::SYMBOL,
                    mut value,
                    ..
                } => {
                    return Ok(Extracted::Text(value.read_string()?.bytes()));
                }
                _ => {}
            }
        }
        let mut tail = text.begin(0);
        match self {
            Self::Element { element_type, start, mut value } => {
                json::write_any(&mut value, element_type, start, mode, &mut tail)?;
            }
            Self::String(piece) => tail.push_json_string(piece, b','),
            Self::ObjectId(id) => {
                tail.push(b'"');
                tail.push_array(hex::format_object_id(id));
                tail.push_array(*b"\",");
            }
            Self::Null => tail.push_array(*b"null,"),
            Self::Empty => tail.push_array(*b"{},"),
        }
        let json = from_written(tail);
        Ok(if form == Form::Value { value_of(json) } else { json })
    }
}

/// The value of a JSON text that is no string with escapes.
fn value_of(json: Extracted<'_>) -> Extracted<'_> {
    let Extracted::Ascii(text) = json else { return json };
    match text {
        b"null" => Extracted::Null,
        [b'"', inner @ .., b'"'] => Extracted::Ascii(inner),
        [b'{' | b'[', ..] => json,
        digits => number_of(digits).unwrap_or(json),
    }
}

/// An integer, if 64 bits hold it, and else a double.
fn number_of(digits: &[u8]) -> Option<Extracted<'static>> {
    let digits = str::from_utf8(digits).ok()?;
    match digits.parse() {
        Ok(integer) => Some(Extracted::Integer(integer)),
        Err(_) => digits.parse().ok().map(Extracted::Real),
    }
}

#[cfg(test)]
mod tests {
    use super::{Extracted, Form, extract};
    use crate::datetime::DateRenderMode;
    use crate::error::{Error, ErrorKind};
    use crate::json_path::JsonPath;
    use crate::text::Text;
    use bson::{
        Binary, Bson, DateTime, JavaScriptCodeWithScope, Regex, doc, oid::ObjectId, raw::cstr,
        spec::BinarySubtype,
    };

    /// The value in words.
    fn read(bytes: &[u8], path: &str, form: Form) -> Result<Option<String>, Error> {
        let (path, mut text) = (JsonPath::parse(path).expect(path), Text::default());
        let extracted = extract(bytes, &path, form, DateRenderMode::IsoSeconds, &mut text)?;
        Ok(extracted.map(|value| match value {
            Extracted::Null => "NULL".to_owned(),
            Extracted::Integer(number) => format!("integer {number}"),
            Extracted::Real(number) => format!("real {number:?}"),
            Extracted::Ascii(text) | Extracted::Text(text) => String::from_utf8_lossy(text).into_owned(),
        }))
    }

    #[track_caller]
    fn expect(bytes: &[u8], path: &str, json: &str, value: &str) {
        assert_eq!(read(bytes, path, Form::Json).unwrap().as_deref(), Some(json), "-> {path}");
        assert_eq!(read(bytes, path, Form::Value).unwrap().as_deref(), Some(value), "->> {path}");
    }

    #[track_caller]
    fn expect_nothing(bytes: &[u8], path: &str) {
        assert_eq!(read(bytes, path, Form::Json), Ok(None), "-> {path}");
        assert_eq!(read(bytes, path, Form::Value), Ok(None), "->> {path}");
    }

    #[test]
    fn labels_and_positions() {
        let bytes = doc! { "a": { "b": [1, { "c": "x" }, [2, 3]] }, "": 4, "a.b": 5, "n": Bson::Null }
            .to_vec()
            .unwrap();
        let whole = r#"{"a":{"b":[1,{"c":"x"},[2,3]]},"":4,"a.b":5,"n":null}"#;
        expect(&bytes, "$", whole, whole);
        expect(&bytes, "$.a", r#"{"b":[1,{"c":"x"},[2,3]]}"#, r#"{"b":[1,{"c":"x"},[2,3]]}"#);
        expect(&bytes, "$.a.b[0]", "1", "integer 1");
        expect(&bytes, "$.a.b[1].c", r#""x""#, "x");
        expect(&bytes, "$.a.b[#-1][#-2]", "2", "integer 2");
        expect(&bytes, r#"$."""#, "4", "integer 4");
        expect(&bytes, "a.b", "5", "integer 5");
        expect(&bytes, "$.n", "null", "NULL");
        for path in [
            "$.z",
            "$.a.b[3]",
            "$.a.b[#]",
            "$.a.b[#-4]",
            "$.a[0]",
            "$.a.b.c",
            "$.n.a",
            "$[0]",
            "$[#-1]",
            "$.a.b[0][0]",
        ] {
            expect_nothing(&bytes, path);
        }
    }

    #[test]
    fn values_are_those_of_their_json() {
        let bytes = doc! {
            "d": 2.5, "i": 3.0, "big": 4_611_686_018_427_387_904.0, "huge": 1e300, "zero": -0.0, "nan": f64::NAN,
            "min": i64::MIN, "t": bson::Timestamp { time: u32::MAX, increment: 1 }, "b": true,
            "date": DateTime::from_millis(0), "id": ObjectId::from_bytes([0xab; 12]), "s": "a\"\0é",
        }
        .to_vec()
        .unwrap();
        expect(&bytes, "$.d", "2.5", "real 2.5");
        expect(&bytes, "$.i", "3", "integer 3");
        expect(&bytes, "$.big", "4611686018427388000", "integer 4611686018427388000");
        expect(&bytes, "$.huge", "1e+300", "real 1e300");
        expect(&bytes, "$.zero", "0", "integer 0");
        expect(&bytes, "$.nan", "null", "NULL");
        expect(&bytes, "$.min", "-9223372036854775808", "integer -9223372036854775808");
        expect(&bytes, "$.t", "18446744069414584321", "real 1.8446744069414584e19");
        expect(&bytes, "$.b", "1", "integer 1");
        expect(&bytes, "$.date", r#""1970-01-01T00:00:00Z""#, "1970-01-01T00:00:00Z");
        expect(&bytes, "$.id", r#""abababababababababababab""#, "abababababababababababab");
        expect(&bytes, "$.s", r#""a\"\u0000é""#, "a\"\0é");
    }

    #[test]
    fn what_an_object_leaves_out_is_not_there() {
        let binary = Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: vec![1] });
        let uuid = Bson::Binary(Binary { subtype: BinarySubtype::Uuid, bytes: vec![0x11; 16] });
        let mut bytes = doc! {
            "u": Bson::Undefined, "b": binary.clone(), "x": [binary, Bson::Undefined, 7], "v": uuid, "w": 8,
        }
        .to_vec()
        .unwrap();
        expect_nothing(&bytes, "$.u");
        expect_nothing(&bytes, "$.b");
        expect(&bytes, "$.x", "[null,null,7]", "[null,null,7]");
        expect(&bytes, "$.x[0]", "null", "NULL");
        expect(&bytes, "$.x[1]", "null", "NULL");
        expect(&bytes, "$.x[2]", "7", "integer 7");
        let text = "11111111-1111-1111-1111-111111111111";
        expect(&bytes, "$.v", &format!("\"{text}\""), text);
        // So the first one that is there is a later one of that name.
        let at = bytes.windows(2).position(|window| window == *b"w\0").unwrap();
        bytes[at] = b'u';
        expect(&bytes, "$.u", "8", "integer 8");
    }

    #[test]
    fn the_first_of_labels_that_stand_twice_counts() {
        let mut bytes = doc! { "a": { "x": 1 }, "b": { "y": 2 } }.to_vec().unwrap();
        let at = bytes.windows(2).position(|window| window == *b"b\0").unwrap();
        bytes[at] = b'a';
        expect(&bytes, "$.a.x", "1", "integer 1");
        expect_nothing(&bytes, "$.a.y");
    }

    #[test]
    fn types_that_are_objects_in_json() {
        let id = ObjectId::from_bytes([0xab; 12]);
        let mut bytes = doc! {
            "r": Regex { pattern: cstr!("p\"").into(), options: cstr!("i").into() },
            "c": Bson::JavaScriptCode("f".into()),
            "s": JavaScriptCodeWithScope { code: "g".into(), scope: doc! { "h": [2] } },
            "p": "db.coll.x", "q": id, "o": "coll", "m": id,
        }
        .to_vec()
        .unwrap();
        // The bson crate makes no DBPointers: a string, and an ObjectId whose type and name are taken out.
        for (string, oid) in [("p", "q"), ("o", "m")] {
            let at = bytes.windows(3).position(|window| window == [0x02, string.as_bytes()[0], 0]).unwrap();
            bytes[at] = 0x0c;
            let at = bytes.windows(3).position(|window| window == [0x07, oid.as_bytes()[0], 0]).unwrap();
            bytes.drain(at..at + 3);
        }
        let length = bytes.len() as i32;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        expect(&bytes, "$.r.pattern", r#""p\"""#, "p\"");
        expect(&bytes, "$.r.options", r#""i""#, "i");
        expect(&bytes, "$.c.code", r#""f""#, "f");
        expect(&bytes, "$.c.scope", "null", "NULL");
        expect(&bytes, "$.s.code", r#""g""#, "g");
        expect(&bytes, "$.s.scope", r#"{"h":[2]}"#, r#"{"h":[2]}"#);
        expect(&bytes, "$.s.scope.h[0]", "2", "integer 2");
        expect(&bytes, "$.s", r#"{"code":"g","scope":{"h":[2]}}"#, r#"{"code":"g","scope":{"h":[2]}}"#);
        expect(&bytes, "$.p.db", r#""db""#, "db");
        expect(&bytes, "$.p.collection", r#""coll.x""#, "coll.x");
        expect(&bytes, "$.p.oid", r#""abababababababababababab""#, "abababababababababababab");
        expect(&bytes, "$.p.fields", "{}", "{}");
        expect(&bytes, "$.o.collection", r#""coll""#, "coll");
        for path in
            ["$.o.db", "$.p.x", "$.p.fields.x", "$.p.oid.x", "$.r.x", "$.c.scope.x", "$.s.scope[0]", "$.r[0]"]
        {
            expect_nothing(&bytes, path);
        }
    }

    #[test]
    fn names_that_are_ill_formed_are_read_with_replacement_characters() {
        let mut bytes = doc! { "aéb": 1 }.to_vec().unwrap();
        bytes[6..8].copy_from_slice(b"\xffx");
        expect(&bytes, "$.a\u{fffd}xb", "1", "integer 1");
        expect_nothing(&bytes, "$.aéb");
    }

    #[test]
    fn only_what_is_on_the_way_is_looked_at() {
        let good = doc! { "a": { "b": { "c": 1 } }, "d": 2, "e": 3 }.to_vec().unwrap();
        let at = |needle: &[u8]| good.windows(needle.len()).position(|window| window == needle).unwrap();
        let (inner, last) = (at(b"c\0") - 1, at(b"e\0") - 1);
        let mut bytes = good.clone();
        bytes[inner] = 0x99;
        bytes[last] = 0x98;
        expect(&bytes, "$.d", "2", "integer 2");
        expect_nothing(&bytes, "$.a.z");
        let nested = Error { kind: ErrorKind::NestedType(0x99), offset: inner };
        for path in ["$.a", "$.a.b", "$.a.b.c", "$.a.b.z"] {
            assert_eq!(read(&bytes, path, Form::Json), Err(nested), "{path}");
        }
        let top = Error { kind: ErrorKind::ColumnType(0x98), offset: last };
        assert_eq!(read(&bytes, "$.z", Form::Value), Err(top));
        assert_eq!(read(&[5, 0, 0, 0], "$.a", Form::Json).unwrap_err().kind, ErrorKind::DocumentLength);
    }
}
