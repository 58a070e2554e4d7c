//! The properties over documents of all types, cut and changed at every byte, and over the fuzzer's own corpus
//! where it is: a check without the fuzzer, and the examples that must never fail again.

use std::fs;
use std::path::Path;

use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, Decimal128, JavaScriptCodeWithScope, Regex, Timestamp, doc, raw::cstr};
use bsonrow_fuzz::TARGETS;

/// What a byte is changed to: ends, lengths, element types, the beginnings of UTF-8 sequences.
const CHANGES: [u8; 12] = [0x00, 0x01, 0x02, 0x05, 0x0f, 0x12, 0x22, 0x5c, 0x7f, 0x80, 0xe2, 0xff];

fn check_all(bytes: &[u8]) {
    for (_, check) in TARGETS {
        check(bytes);
    }
}

fn documents() -> Vec<Vec<u8>> {
    let binary = |subtype, bytes: &[u8]| Binary { subtype, bytes: bytes.to_vec() };
    let values = doc! {
        "double": 1.5, "huge": 1e300, "string": "a\"\\\u{1}\u{2028}é\u{1f600}", "document": { "": { "a": [1] } },
        "generic": binary(BinarySubtype::Generic, b"\xff\x00"), "old": binary(BinarySubtype::BinaryOld, b"abc"),
        "uuid": binary(BinarySubtype::Uuid, b"sixteen bytes id"), "undefined": Bson::Undefined,
        "id": ObjectId::from_bytes(*b"twelve bytes"), "true": true, "date": DateTime::from_millis(-1),
        "null": Bson::Null, "regex": Regex { pattern: cstr!("a/b").into(), options: cstr!("im").into() },
        "code": Bson::JavaScriptCode("f".into()), "symbol": Bson::Symbol("s".into()),
        "scope": JavaScriptCodeWithScope { code: "f".into(), scope: doc! { "x": { "y": Bson::Undefined } } },
        "int32": -7, "timestamp": Timestamp { time: u32::MAX, increment: 1 }, "int64": i64::MIN,
        "decimal": "1.50E+30".parse::<Decimal128>().expect("a decimal"), "min": Bson::MinKey, "max": Bson::MaxKey,
    };
    let array = Bson::Array(values.values().cloned().collect());
    let mut top = doc! { "_id": { "a": "é", "b": 2 } };
    top.extend(values.clone());
    let event = doc! {
        "_id": { "_data": "82" }, "operationType": "update", "clusterTime": Timestamp { time: 1, increment: 1 },
        "fullDocument": { "_id": 1, "a": "b" }, "fullDocumentBeforeChange": Bson::Null, "ns": { "db": "d", "coll": "c" },
        "documentKey": { "key": "k", "_id": ObjectId::from_bytes(*b"twelve bytes") },
        "updateDescription": { "updatedFields": { "a": "b" } }, "other": [{ "a": 1 }], "lsid": { "id": values["uuid"].clone() },
    };
    let reply = doc! {
        "nextBatch": [event.clone(), { "_id": 1 }, 5], "id": 7_i64, "ns": "d.c", "postBatchResumeToken": { "_data": "82" },
    };
    let nested = doc! { "_id": 1, "values": values, "array": array };
    [doc! {}, doc! { "_id": "x" }, top, nested, event, reply]
        .iter()
        .map(|document| document.to_vec().expect("a document"))
        .collect()
}

#[test]
fn documents_cut_and_changed_at_every_byte() {
    for document in documents() {
        check_all(&document);
        check_all(&[&document[..], &document[..]].concat());
        for len in 0..document.len() {
            check_all(&document[..len]);
            let mut changed = document.clone();
            for byte in CHANGES {
                changed[len] = byte;
                check_all(&changed);
            }
        }
    }
}

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (target, check) in TARGETS {
        let Ok(files) = fs::read_dir(folder.join(target)) else {
            println!("skipped: no corpus of {target}; node fuzz/seeds.mjs makes one");
            continue;
        };
        for file in files {
            let file = file.expect("a readable folder").path();
            check(&fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())));
        }
    }
}
