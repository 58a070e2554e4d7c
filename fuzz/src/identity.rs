//! The identity is the row's `_id`, and nothing of it is lost: read and written again by the `bson` crate, its
//! bytes are the same.

use bson::{Bson, Document, RawDocument};
use bsonrow::datetime::DateRenderMode;
use bsonrow::identity::find_id;
use bsonrow::reader::Reader;

use crate::owned::{State, convert};

/// # Panics
/// Where the property fails.
pub fn check(source: &[u8]) {
    let Ok(mut reader) = Reader::new(source) else { return };
    let found = find_id(&mut reader);
    if let Ok(row) = convert(source, DateRenderMode::IsoMilliseconds, &mut State::default()) {
        // The whole was read, so all up to the first `_id` can be.
        assert_eq!(found.ok().map(|id| id.to_document().expect("it was read")), row.id);
    }
    let Ok(id) = found else { return };
    if id.check().is_err() {
        return;
    }
    // An ObjectId is checked where it is read.
    let Ok(alone) = id.to_document() else { return };
    let again = find_id(&mut Reader::new(&alone).expect("a document")).expect("it has an _id");
    assert_eq!(again.to_document().as_ref(), Ok(&alone));
    assert_eq!(again.check(), Ok(()));
    check_nothing_lost(&alone);
}

fn check_nothing_lost(alone: &[u8]) {
    let document = RawDocument::from_bytes(alone).expect("a document");
    // An array's keys are ignored here, and must be well-formed there.
    let Ok(document) = Document::try_from(document) else { return };
    if !document.values().any(holds_array) {
        assert_eq!(document.to_vec().expect("it was read"), alone);
    }
}

/// An array's keys are ignored, so other ones may be written.
fn holds_array(value: &Bson) -> bool {
    match value {
        Bson::Array(_) => true,
        Bson::Document(document) => document.values().any(holds_array),
        Bson::JavaScriptCodeWithScope(code) => code.scope.values().any(holds_array),
        _ => false,
    }
}
