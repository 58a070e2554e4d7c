//! Any bytes, as documents one after another: an error or a row, the same with and without what was learnt from
//! earlier documents, and JSON text that is JSON.

use bsonrow::error::Error;
use bsonrow::locate;
use bsonrow::reader::Reader;
use bsonrow::spec::element_type;

use crate::owned::{MODES, Row, State, Value, convert};

/// Documents of one input that are looked at.
const MAX_DOCUMENTS: usize = 64;

/// # Panics
/// Where the property fails.
pub fn check(source: &[u8]) {
    for mode in MODES {
        let mut state = State::default();
        let mut rest = source;
        for _ in 0..MAX_DOCUMENTS {
            let fresh = convert(rest, mode, &mut State::default());
            // For the second time its names are a shape, and for the third that shape is the guess.
            for _ in 0..3 {
                assert_eq!(convert(rest, mode, &mut state), fresh);
            }
            match fresh {
                Ok(row) => check_row(rest, &row),
                Err(error) => check_error(rest, error),
            }
            let Ok(reader) = Reader::new(rest) else { break };
            rest = &rest[reader.end() + 1..];
        }
    }
}

fn check_error(source: &[u8], error: Error) {
    assert!(error.offset <= source.len());
    assert!(error.kind.code().starts_with("BSONROW_"));
    // Each level of a path is an element, which has bytes of its own.
    assert!(locate::path_to(source, error.offset).len() <= source.len());
}

/// Walks the elements once more, by their lengths only.
fn check_row(source: &[u8], row: &Row) {
    let mut reader = Reader::new(source).expect("it was converted");
    for (name, value) in row.names.iter().zip(&row.values) {
        let element_type = reader.read_type();
        assert_eq!(reader.read_name().expect("it was converted").bytes(), name);
        reader.skip_value(element_type).expect("it was converted");
        check_value(element_type, value);
    }
    assert!(reader.is_at_end());
}

fn check_value(element_type: u8, value: &Value) {
    match (element_type, value) {
        (
            element_type::DOCUMENT
            | element_type::ARRAY
            | element_type::REGEX
            | element_type::DB_POINTER
            | element_type::CODE
            | element_type::CODE_WITH_SCOPE,
            Value::Text(json),
        ) => {
            let json: serde_json::Value =
                serde_json::from_str(&String::from_utf8_lossy(json)).expect("JSON text");
            assert_eq!(json.is_array(), element_type == element_type::ARRAY);
        }
        (
            element_type::STRING
            | element_type::SYMBOL
            | element_type::OBJECT_ID
            | element_type::DATETIME
            | element_type::DECIMAL128
            | element_type::BINARY,
            Value::Text(_),
        )
        | (element_type::BINARY, Value::Blob(_))
        | (element_type::DOUBLE, Value::Integer(_) | Value::Huge(_) | Value::Real(_))
        | (element_type::BOOLEAN, Value::Integer(0 | 1))
        | (element_type::INT32 | element_type::INT64, Value::Integer(_))
        | (element_type::TIMESTAMP, Value::Unsigned(_))
        | (
            element_type::NULL | element_type::UNDEFINED | element_type::MIN_KEY | element_type::MAX_KEY,
            Value::Null,
        ) => {}
        unexpected => panic!("element type and value: {unexpected:?}"),
    }
}
