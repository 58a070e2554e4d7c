//! Messages read again by a plain reader, each object in every way in which it can come to be written.

mod decoded;

use super::{BatchFailure, Failure, Kind, ObjectError, OnError, Options, Packer};
use crate::cursor_reply::Spot;
use crate::datetime::DateRenderMode;
use crate::error::ErrorKind;
use crate::object::ObjectOptions;
use crate::text::KEEP;
use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, Decimal128, Document, Regex, Timestamp, doc, raw::cstr};
use decoded::{Decoded, decode};

const OPTIONS: Options<'_> =
    Options { object: ObjectOptions::new(DateRenderMode::IsoMilliseconds), table: false };
const TABLE: Options<'_> = Options { table: true, ..OPTIONS };

fn bytes(document: Document) -> Vec<u8> {
    document.to_vec().unwrap()
}

/// What a packer writes of a source: names that are new, then known, then expected.
fn write(source: &[u8], kind: Kind, options: Options<'_>) -> Result<Decoded, ErrorKind> {
    let mut packer = Packer::default();
    let mut write = || {
        packer.begin();
        match packer.write_one(source, kind, options) {
            Ok(()) => Ok(decode(packer.message())),
            Err(Failure::Bson(error)) => Err(error.kind),
            Err(Failure::TooLong) => panic!("nothing here is too long"),
        }
    };
    let first = write();
    assert_eq!(first, write());
    assert_eq!(first, write());
    first
}

fn printed(source: Document, kind: Kind, options: Options<'_>) -> String {
    format!("{:?}", write(&bytes(source), kind, options).unwrap())
}

fn document(source: Document) -> String {
    printed(source, Kind::Document, OPTIONS)
}

fn change(source: Document) -> String {
    printed(source, Kind::Change, OPTIONS)
}

/// `replicaId` of an `_id`.
fn id(id: impl Into<Bson>) -> String {
    let source = bytes(doc! { "_id": id });
    let Ok(Decoded::Map(entries)) = write(&source, Kind::Document, OPTIONS) else { panic!("a map") };
    let [_, (name, value)] = &entries[..] else { panic!("two entries") };
    assert_eq!(name, "replicaId");
    format!("{value:?}")
}

/// The column `v`.
fn column(value: impl Into<Bson>) -> String {
    let text = document(doc! { "_id": 7, "v": value });
    let value = text.strip_prefix(r#"{"row": {"_id": 7i64, "v": "#).unwrap();
    value.strip_suffix(r#"}, "replicaId": 7}"#).unwrap().to_owned()
}

#[test]
fn columns() {
    let binary = |subtype, bytes: &[u8]| Binary { subtype, bytes: bytes.to_vec() };
    for (value, expected) in [
        (Bson::Null, "nil"),
        (1.into(), "1i64"),
        (i64::MIN.into(), "-9223372036854775808i64"),
        (1.0.into(), "1i64"),
        ((-0.0).into(), "0i64"),
        (1.5.into(), "1.5f64"),
        (f64::NEG_INFINITY.into(), "-inff64"),
        (true.into(), "1i64"),
        ("".into(), r#""""#),
        ("é\u{1f600}".into(), r#""é😀""#),
        (Bson::Timestamp(Timestamp { time: 1, increment: 2 }), "4294967298i64"),
        (Bson::Timestamp(Timestamp { time: u32::MAX, increment: 0 }), "18446744069414584320u64"),
        (Bson::ObjectId(ObjectId::from_bytes(*b"twelve bytes")), r#""7477656c7665206279746573""#),
        (DateTime::from_millis(0).into(), r#""1970-01-01T00:00:00.000Z""#),
        (Bson::Binary(binary(BinarySubtype::Generic, b"\x01\x02")), "bin[01, 02]"),
        (
            Bson::Binary(binary(BinarySubtype::Uuid, b"sixteen bytes id")),
            r#""73697874-6565-6e20-6279-746573206964""#,
        ),
        (
            Bson::Decimal128(Decimal128::from_bytes([
                150, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3c, 0x30,
            ])),
            r#""1.50""#,
        ),
        (doc! { "a": [1, "é"] }.into(), r#""{\"a\":[1,\"é\"]}""#),
    ] {
        assert_eq!(column(value.clone()), expected, "{value}");
    }
    assert!(column(f64::NAN).starts_with("NaN"));
    assert_eq!(column("x".repeat(70_000)).len(), 70_002);
}

#[test]
fn integers_beyond_64_bits() {
    for (number, hex) in [
        (9_223_372_036_854_775_808.0, "00000000000000008000000000000000"),
        (-9_223_372_036_854_777_856.0, "ffffffffffffffff7ffffffffffff800"),
        (18_446_744_073_709_551_616.0, "00000000000000010000000000000000"),
        (-18_446_744_073_709_551_616.0, "ffffffffffffffff0000000000000000"),
        (
            170_141_183_460_469_231_731_687_303_715_884_105_728.0,
            "000000000000000080000000000000000000000000000000",
        ),
        // The sign takes no word of its own.
        (-170_141_183_460_469_231_731_687_303_715_884_105_728.0, "80000000000000000000000000000000"),
    ] {
        let source = bytes(doc! { "_id": 7, "v": number });
        let Ok(Decoded::Map(entries)) = write(&source, Kind::Document, OPTIONS) else { panic!("a map") };
        let Decoded::Map(row) = &entries[0].1 else { panic!("a map") };
        let Decoded::Ext(0x42, bytes) = &row[1].1 else { panic!("a bigint") };
        assert_eq!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), hex, "{number}");
    }
    assert_eq!(column(f64::MAX).matches(',').count() + 1, 136);
    assert_eq!(column(f64::MIN).matches(',').count() + 1, 136);
}

#[test]
fn ill_formed_text_is_replaced() {
    let source = bytes(doc! { "_id": 7, "long enough": "a long enough text", "v": { "w": "abcd" } })
        .with(b"long enough\0", b"\xff")
        .with(b"a long", b"\x80")
        .with(b"bcd", b"\xe2");
    assert_eq!(
        format!("{:?}", write(&source, Kind::Document, OPTIONS).unwrap()),
        "{\"row\": {\"_id\": 7i64, \"\u{fffd}ong enough\": \"\u{fffd} long enough text\", \
         \"v\": \"{\\\"w\\\":\\\"a\u{fffd}cd\\\"}\"}, \"replicaId\": 7}"
    );
}

#[test]
fn identities() {
    let object_id = ObjectId::from_bytes(*b"twelve bytes");
    let regex = Regex { pattern: cstr!("a").into(), options: cstr!("i").into() };
    let binary = |subtype, bytes: &[u8]| Binary { subtype, bytes: bytes.to_vec() };
    for (value, expected) in [
        (Bson::ObjectId(object_id), "ext 1[74, 77, 65, 6c, 76, 65, 20, 62, 79, 74, 65, 73]"),
        ("7477656c7665206279746573".into(), r#""7477656c7665206279746573""#),
        (1.into(), "1"),
        (1_i64.into(), "1i64"),
        (1.0.into(), "1"),
        ((-0.0).into(), "-0.0f64"),
        (1e10.into(), "10000000000.0f64"),
        ((-70_000).into(), "-70000"),
        ("1".into(), r#""1""#),
        (true.into(), "true"),
        (Bson::Null, "nil"),
        (Bson::Undefined, "ext 2[06]"),
        (Bson::MinKey, "ext 2[ff]"),
        (DateTime::from_millis(1000).into(), "ext -1[00, 00, 00, 01]"),
        (Bson::Timestamp(Timestamp { time: 1, increment: 2 }), "ext 2[11, 02, 00, 00, 00, 01, 00, 00, 00]"),
        (
            Bson::Binary(binary(BinarySubtype::UserDefined(0x80), b"ab")),
            "ext 2[05, 02, 00, 00, 00, 80, 61, 62]",
        ),
        (
            Bson::Binary(binary(BinarySubtype::BinaryOld, b"a")),
            "ext 2[05, 05, 00, 00, 00, 02, 01, 00, 00, 00, 61]",
        ),
        (Bson::RegularExpression(regex), "ext 2[0b, 61, 00, 69, 00]"),
        (Bson::Array(vec![]), "ext 2[04, 05, 00, 00, 00, 00]"),
        (doc! { "a": 1, "b": { "c": 2_i64, "d": {} } }.into(), r#"{"a": 1, "b": {"c": 2i64, "d": {}}}"#),
        // js-bson has a class for what may be a DBRef; and no decoder takes this name for what it is.
        (doc! { "$a": 1 }.into(), "ext 2[03, 0d, 00, 00, 00, 10, 24, 61, 00, 01, 00, 00, 00, 00]"),
        (
            doc! { "__proto__": 1 }.into(),
            "ext 2[03, 14, 00, 00, 00, 10, 5f, 5f, 70, 72, 6f, 74, 6f, 5f, 5f, 00, 01, 00, 00, 00, 00]",
        ),
    ] {
        assert_eq!(id(value.clone()), expected, "{value}");
    }
    assert_eq!(write(&bytes(doc! { "a": 1 }), Kind::Document, OPTIONS), Err(ErrorKind::NoId));
    let repeated = bytes(doc! { "_id": { "a": 1, "b": 2 } }).with(b"b\0", b"a\0");
    assert_eq!(write(&repeated, Kind::Document, OPTIONS), Err(ErrorKind::IdDuplicateName));
}

trait With {
    /// The same with the bytes that `from` begins at replaced.
    fn with(self, from: &[u8], to: &[u8]) -> Self;
}

impl With for Vec<u8> {
    fn with(mut self, from: &[u8], to: &[u8]) -> Self {
        let at = self.windows(from.len()).position(|window| window == from).unwrap();
        self[at..at + to.len()].copy_from_slice(to);
        self
    }
}

#[test]
fn a_repeated_name_keeps_its_place_and_takes_its_last_value() {
    let source = bytes(doc! { "_id": 7, "a": 1, "b": 2, "c": 3 }).with(b"c\0", b"a\0");
    assert_eq!(
        format!("{:?}", write(&source, Kind::Document, OPTIONS).unwrap()),
        r#"{"row": {"_id": 7i64, "a": 3i64, "b": 2i64}, "replicaId": 7}"#
    );
    assert_eq!(
        format!("{:?}", write(&source, Kind::Document, TABLE).unwrap()),
        r#"[{"names": ["row", ["_id", "a", "b"], "replicaId"], "rows": [[[7i64, 3i64, 2i64], 7]]}]"#
    );
}

#[test]
fn names_of_any_length() {
    for len in [0, 1, 25, 26, 27, 28, 29, 30, 31, 32, 33, 300] {
        let name = "n".repeat(len);
        let expected = format!(r#"{{"row": {{"_id": 7i64, "{name}": 1i64}}, "replicaId": 7}}"#);
        assert_eq!(document(doc! { "_id": 7, &name: 1 }), expected);
    }
}

#[test]
fn changes() {
    let event = doc! {
        "_id": { "_data": "82" }, "operationType": "update", "clusterTime": Timestamp { time: 1, increment: 2 },
        "fullDocument": { "_id": 5, "a": "x" }, "ns": { "db": "d", "coll": "c" },
        "documentKey": { "region": "eu", "_id": { "k": 5 } }, "updateDescription": { "updatedFields": {} },
        "other": [1, { "a": 2 }], "some": { "b": 1 },
    };
    let expected = |description: &str| {
        format!(
            "{{\"_id\": {{\"_data\": \"82\"}}, \"operationType\": \"update\", \
             \"clusterTime\": ext 2[11, 02, 00, 00, 00, 01, 00, 00, 00], \"row\": {{\"_id\": 5i64, \"a\": \"x\"}}, \
             \"ns\": {{\"db\": \"d\", \"coll\": \"c\"}}, \
             \"documentKey\": {{\"region\": \"eu\", \"_id\": {{\"k\": 5}}}}, {description}\
             \"other\": ext 3[04, 1b, 00, 00, 00, 10, 30, 00, 01, 00, 00, 00, 03, 31, 00, 0c, 00, 00, 00, 10, 61, \
             00, 02, 00, 00, 00, 00, 00], \"some\": bin[0c, 00, 00, 00, 10, 62, 00, 01, 00, 00, 00, 00], \
             \"replicaId\": {{\"k\": 5}}}}"
        )
    };
    assert_eq!(change(event.clone()), expected(""));
    let with_description =
        Options { object: ObjectOptions { update_description: true, ..OPTIONS.object }, ..OPTIONS };
    let description = format!("\"updateDescription\": bin{:02x?}, ", bytes(doc! { "updatedFields": {} }));
    assert_eq!(printed(event, Kind::Change, with_description), expected(&description));
    assert_eq!(
        change(doc! { "operationType": "drop" }),
        r#"{"operationType": "drop", "row": nil, "replicaId": ext 0[00]}"#
    );
    assert_eq!(
        change(doc! { "fullDocument": { "_id": 1_i64 }, "fullDocumentBeforeChange": {} }),
        r#"{"row": {"_id": 1i64}, "rowBefore": {}, "replicaId": 1i64}"#
    );
    assert_eq!(
        printed(doc! { "documentKey": { "_id": { "k": 5 } }, "fullDocument": {} }, Kind::Change, TABLE),
        r#"[{"names": ["documentKey", ["_id", ["k"]], "row", [], "replicaId", ["k"]], "rows": [[[[5]], [], [5]]]}]"#
    );
}

#[test]
fn a_date_that_none_can_hold_stays_invalid() {
    for time_value in [i64::MIN, i64::MAX, 8_640_000_000_000_001] {
        let text = change(doc! { "wallTime": DateTime::from_millis(time_value) });
        let expected = if time_value > 0 {
            // 8,640,000,000,000 seconds and 1,000,000 nanoseconds
            "ext -1[00, 0f, 42, 40, 00, 00, 07, db, a8, 21, 80, 00]"
        } else {
            "ext -1[3b, 8b, 87, c0, ff, ff, f8, 24, 57, de, 7f, ff]"
        };
        assert_eq!(text, format!(r#"{{"wallTime": {expected}, "row": nil, "replicaId": ext 0[00]}}"#));
    }
}

fn list(sources: &[Document], options: Options<'_>) -> String {
    let mut packer = Packer::default();
    let mut write = || {
        packer.begin();
        let mut list = packer.begin_list(sources.len(), options).unwrap();
        for source in sources {
            packer.write_object(&bytes(source.clone()), Kind::Document, options, Some(&mut list)).unwrap();
        }
        packer.end_list(&list);
        format!("{:?}", decode(packer.message()))
    };
    let first = write();
    assert_eq!(first, write());
    first
}

#[test]
fn lists() {
    assert_eq!(list(&[], OPTIONS), "[]");
    assert_eq!(list(&[], TABLE), "[]");
    let sources = [
        doc! { "_id": 1, "a": 1 },
        doc! { "_id": 2, "a": 2 },
        doc! { "_id": 3, "b": 3 },
        doc! { "_id": 4, "a": 4 },
    ];
    assert_eq!(
        list(&sources[1..3], OPTIONS),
        r#"[{"row": {"_id": 2i64, "a": 2i64}, "replicaId": 2}, {"row": {"_id": 3i64, "b": 3i64}, "replicaId": 3}]"#
    );
    assert_eq!(
        list(&sources, TABLE),
        r#"[{"names": ["row", ["_id", "a"], "replicaId"], "rows": [[[1i64, 1i64], 1], [[2i64, 2i64], 2]]}, {"names": ["row", ["_id", "b"], "replicaId"], "rows": [[[3i64, 3i64], 3]]}, {"names": ["row", ["_id", "a"], "replicaId"], "rows": [[[4i64, 4i64], 4]]}]"#
    );
}

#[test]
fn batches() {
    let reply = bytes(doc! {
        "nextBatch": [{ "_id": 1, "a": 1 }, 5, { "a": 2 }, { "_id": 3, "a": 3 }, { "_id": 4, "a": 4 }], "id": 7_i64, "ns": "d.c",
    });
    let mut packer = Packer::default();
    let mut write = |options| {
        packer.begin();
        packer.write_batch(&reply, None, OnError::Write, options).unwrap();
        format!("{:?}", decode(packer.message()))
    };
    let length = reply.len();
    let at = reply.iter().position(|&byte| byte == 5).unwrap() - 3;
    let errors = [
        format!(
            r#"{{"error": {{"code": "BSONROW_NOT_A_DOCUMENT", "message": "Batch element is no document but of type 0x10", "offset": {at}, "path": ["nextBatch", "1"], "index": 1}}}}"#
        ),
        format!(
            r#"{{"error": {{"code": "BSONROW_NO_ID", "message": "Attempt to parse document without _id", "offset": {}, "path": ["nextBatch", "2"], "index": 2}}}}"#,
            at + 7 + 3
        ),
    ];
    assert_eq!(
        write(OPTIONS),
        format!(
            r#"{{"id": 7i64, "ns": "d.c", "byteLength": {length}, "documents": [{{"row": {{"_id": 1i64, "a": 1i64}}, "replicaId": 1}}, {}, {}, {{"row": {{"_id": 3i64, "a": 3i64}}, "replicaId": 3}}, {{"row": {{"_id": 4i64, "a": 4i64}}, "replicaId": 4}}]}}"#,
            errors[0], errors[1]
        )
    );
    let names = r#""names": ["row", ["_id", "a"], "replicaId"]"#;
    assert_eq!(
        write(TABLE),
        format!(
            r#"{{"id": 7i64, "ns": "d.c", "byteLength": {length}, "documents": [{{{names}, "rows": [[[1i64, 1i64], 1]]}}, {}, {}, {{{names}, "rows": [[[3i64, 3i64], 3], [[4i64, 4i64], 4]]}}]}}"#,
            errors[0], errors[1]
        )
    );
    let mut packer = Packer::default();
    let failure = packer.write_batch(&reply, Some(Kind::Change), OnError::Fail, OPTIONS).unwrap_err();
    let BatchFailure::Object { failure: Failure::Bson(error), index: 1, spot, .. } = failure else {
        panic!("{failure:?}")
    };
    assert_eq!(error.kind, ErrorKind::NotADocument(0x10));
    assert!(matches!(spot, Spot::InBatch { name: "nextBatch", .. }));
    let failure = packer.write_batch(&bytes(doc! {}), None, OnError::Write, OPTIONS).unwrap_err();
    assert!(matches!(failure, BatchFailure::Reply(Failure::Bson(error)) if error.kind == ErrorKind::NoBatch));
}

#[test]
fn change_streams() {
    let reply = bytes(doc! {
        "firstBatch": [{ "documentKey": { "_id": 1 } }], "postBatchResumeToken": { "_data": "82" }, "id": 0_i64,
        "ns": "d.c", "changes": 5,
    });
    let mut packer = Packer::default();
    packer.write_batch(&reply, None, OnError::Fail, OPTIONS).unwrap();
    assert_eq!(
        format!("{:?}", decode(packer.message())),
        format!(
            r#"{{"postBatchResumeToken": {{"_data": "82"}}, "id": 0i64, "ns": "d.c", "byteLength": {}, "changes": [{{"documentKey": {{"_id": 1}}, "row": nil, "replicaId": 1}}]}}"#,
            reply.len()
        )
    );
}

#[test]
fn errors_with_and_without_an_identity() {
    let mut packer = Packer::default();
    let mut write = |id: Option<Document>| {
        packer.begin();
        let id = id.map(bytes);
        let error =
            ObjectError { code: "CODE", message: "message", place: None, index: 300, id: id.as_deref() };
        let mut list = packer.begin_list(1, TABLE).unwrap();
        packer.write_error(error, &mut list).unwrap();
        packer.end_list(&list);
        format!("{:?}", decode(packer.message()))
    };
    let expected =
        |id: &str| format!(r#"[{{"error": {{"code": "CODE", "message": "message", "index": 300{id}}}}}]"#);
    assert_eq!(write(None), expected(""));
    assert_eq!(write(Some(doc! { "_id": "x" })), expected(r#", "_id": "x""#));
    // An identity that could not be told from another.
    let regex = Regex { pattern: cstr!("").into(), options: cstr!("").into() };
    assert_eq!(write(Some(doc! { "_id": regex })), expected(""));
}

#[test]
fn large_buffers_are_given_back() {
    let mut packer = Packer::default();
    let large = bytes(doc! { "_id": 1, "text": "x".repeat(KEEP) });
    packer.begin();
    packer.write_one(&large, Kind::Document, OPTIONS).unwrap();
    assert!(packer.out.capacity() > KEEP);
    let small = bytes(doc! { "_id": 1 });
    for _ in 0..crate::patience::PATIENCE {
        assert!(packer.out.capacity() > KEEP);
        packer.begin();
        packer.write_one(&small, Kind::Document, OPTIONS).unwrap();
    }
    packer.begin();
    packer.write_one(&small, Kind::Document, OPTIONS).unwrap();
    assert!(packer.out.capacity() <= KEEP);
}
