//! Messages: any bytes give an error or one value of MessagePack, the same whatever was written before; that of a document
//! holds its row.

use bsonrow::datetime::DateRenderMode;
use bsonrow::kind::Kind;
use bsonrow::message_pack::{BatchFailure, Failure, OnError, Options, Packer};
use bsonrow::object::ObjectOptions;

use crate::decoded::{Decoded, decode};
use crate::owned::{State, Value, convert};

const MODE: DateRenderMode = DateRenderMode::IsoMilliseconds;

/// # Panics
/// Where the property fails.
pub fn check(source: &[u8]) {
    for table in [false, true] {
        let object = ObjectOptions { update_description: true, ..ObjectOptions::new(MODE) };
        let options = Options { object, table };
        for kind in [Kind::Document, Kind::Change] {
            check_object(source, kind, options);
        }
        for on_error in [OnError::Fail, OnError::Write] {
            check_batch(source, on_error, options);
        }
    }
}

fn check_object(source: &[u8], kind: Kind, options: Options<'_>) {
    let mut packer = Packer::default();
    let mut write = || {
        packer.begin();
        let result = packer.write_one(source, kind, options);
        // What has failed may have begun a table.
        result.map(|()| decode(packer.message()))
    };
    let fresh = write();
    // For the second time its names are a shape, and for the third its layout is expected.
    for _ in 0..2 {
        assert_eq!(write(), fresh);
    }
    match fresh {
        Ok(message) if kind == Kind::Document && !options.table => check_row(source, message),
        Ok(_) => {}
        Err(Failure::Bson(error)) => assert!(error.offset <= source.len()),
        Err(Failure::TooLong) => panic!("an input is short"),
    }
}

/// The row of a document that can have been written: with repeated names, which it has once.
fn check_row(source: &[u8], message: Decoded) {
    let Decoded::Map(fields) = message else { panic!("a map") };
    let [(row_name, Decoded::Map(row)), (id_name, _)] = &fields[..] else { panic!("a row and an identity") };
    assert_eq!((row_name.as_str(), id_name.as_str()), ("row", "replicaId"));
    let expected = convert(source, MODE, &mut State::default()).expect("it was converted");
    let mut names: Vec<String> = Vec::new();
    for (name, value) in expected.names.iter().zip(&expected.values) {
        let name = String::from_utf8_lossy(name).into_owned();
        let is_last =
            expected.names.iter().rposition(|other| String::from_utf8_lossy(other) == name.as_str());
        let written = &row.iter().find(|(written, _)| *written == name).expect("its column").1;
        if is_last.is_some_and(|at| std::ptr::eq(&expected.values[at], value)) {
            check_value(written, value);
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    assert_eq!(row.iter().map(|(name, _)| name).collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
}

fn check_value(written: &Decoded, value: &Value) {
    match (written, value) {
        (Decoded::Nil, Value::Null) => {}
        (Decoded::Int64(written), Value::Integer(number)) => assert_eq!(written, number),
        (Decoded::Int64(written), Value::Unsigned(number)) => {
            assert_eq!(u64::try_from(*written), Ok(*number))
        }
        (Decoded::Uint64(written), Value::Unsigned(number)) => {
            assert_eq!(written, number);
            assert!(*number > i64::MAX as u64);
        }
        (Decoded::Ext(0x42, bytes), Value::Huge(bits)) => check_huge(bytes, f64::from_bits(*bits)),
        (Decoded::Float64(written), Value::Real(bits)) => assert_eq!(written, bits),
        (Decoded::Str(written), Value::Text(text)) => assert_eq!(written, &*String::from_utf8_lossy(text)),
        (Decoded::Bin(written), Value::Blob(bytes)) => assert_eq!(written, bytes),
        unexpected => panic!("{unexpected:?}"),
    }
}

/// Two's complement, the highest byte first: as a double, which is exact as all bits below the number's are zero.
fn check_huge(bytes: &[u8], number: f64) {
    let is_negative = bytes[0] & 0x80 != 0;
    let magnitude = bytes.iter().fold(0.0, |sum: f64, &byte| {
        let byte = if is_negative { !byte } else { byte };
        sum * 256.0 + f64::from(byte)
    });
    // The complement is one less.
    assert_eq!(if is_negative { -(magnitude + 1.0) } else { magnitude }, number);
}

fn check_batch(source: &[u8], on_error: OnError, options: Options<'_>) {
    let mut packer = Packer::default();
    let mut write = || {
        packer.begin();
        packer.write_batch(source, None, on_error, options).map(|()| decode(packer.message()))
    };
    match write() {
        Ok(message) => {
            assert!(matches!(message, Decoded::Map(_)));
            assert_eq!(write().ok(), Some(message));
        }
        Err(BatchFailure::Reply(Failure::Bson(error))) => assert!(error.offset <= source.len()),
        Err(BatchFailure::Object { failure: Failure::Bson(error), .. }) if on_error == OnError::Fail => {
            assert!(error.offset <= source.len());
        }
        Err(unexpected) => panic!("{unexpected:?}"),
    }
}
