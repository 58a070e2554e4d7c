//! What `strict` accepts, the `bson` crate reads too, and the row holds what it reads.

use bson::RawDocument;
use bsonrow::error::ErrorKind;
use bsonrow::kind::Kind;
use bsonrow::strict;

use crate::owned::{MODES, State, Value, convert};
use crate::reference::{Expected, column};

/// # Panics
/// Where the property fails.
pub fn check(source: &[u8]) {
    if let Err(error) = strict::check(source, Kind::Document) {
        assert!(error.offset <= source.len());
        return;
    }
    let document = RawDocument::from_bytes(source).expect("strict is stricter");
    for mode in MODES {
        let row = match convert(source, mode, &mut State::default()) {
            Ok(row) => row,
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::TimeValue);
                return;
            }
        };
        assert_eq!(document.iter().count(), row.names.len());
        for ((element, name), value) in document.iter().zip(&row.names).zip(&row.values) {
            let (expected_name, expected) = element.expect("strict is stricter");
            assert_eq!(name, expected_name.as_str().as_bytes());
            match column(expected, mode).expect("its datetimes were converted") {
                Expected::Exactly(expected) => assert_eq!(value, &expected),
                Expected::Json(expected) => {
                    let Value::Text(json) = value else { panic!("JSON text, not {value:?}") };
                    let json: serde_json::Value = serde_json::from_slice(json).expect("JSON text");
                    assert_eq!(json, expected);
                }
            }
        }
    }
}
