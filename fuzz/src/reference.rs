//! What a column must be, from the `bson` crate's reading of the same bytes: plain and slow.

use bson::Bson;
use bson::raw::RawBsonRef;
use bson::spec::BinarySubtype;
use bsonrow::column::Column;
use bsonrow::datetime::{self, DateRenderMode};
use bsonrow::decimal128;
use serde_json::{Value, json};

use crate::owned;

/// The value that `json`, the text of a column, or the column itself must be equal to.
pub enum Expected {
    /// Equal as JSON: the layout of numbers is another target's.
    Json(Value),
    Exactly(owned::Value),
}

/// `None` where a datetime is out of range.
pub fn column(value: RawBsonRef<'_>, mode: DateRenderMode) -> Option<Expected> {
    let text = |text: &str| owned::Value::Text(text.as_bytes().to_vec());
    let exactly = match value {
        RawBsonRef::Double(number) => Column::from_f64(number).into(),
        RawBsonRef::String(string) | RawBsonRef::Symbol(string) => text(string),
        RawBsonRef::Boolean(boolean) => owned::Value::Integer(boolean.into()),
        RawBsonRef::Null | RawBsonRef::Undefined | RawBsonRef::MinKey | RawBsonRef::MaxKey => {
            owned::Value::Null
        }
        RawBsonRef::Int32(number) => owned::Value::Integer(number.into()),
        RawBsonRef::Int64(number) => owned::Value::Integer(number),
        RawBsonRef::Timestamp(stamp) => {
            owned::Value::Unsigned(u64::from(stamp.time) << 32 | u64::from(stamp.increment))
        }
        RawBsonRef::Binary(binary) => match uuid(binary.subtype, binary.bytes) {
            Some(uuid) => text(&uuid),
            None => owned::Value::Blob(binary.bytes.to_vec()),
        },
        RawBsonRef::ObjectId(_) | RawBsonRef::DateTime(_) | RawBsonRef::Decimal128(_) => {
            text(json_of(value, mode)??.as_str()?)
        }
        _ => return Some(Expected::Json(json_of(value, mode)??)),
    };
    Some(Expected::Exactly(exactly))
}

/// The outer `None`: a datetime is out of range. The inner: an object leaves the element out.
fn json_of(value: RawBsonRef<'_>, mode: DateRenderMode) -> Option<Option<Value>> {
    Some(Some(match value {
        RawBsonRef::Double(number) => double(number),
        RawBsonRef::String(string) | RawBsonRef::Symbol(string) => json!(string),
        RawBsonRef::Document(document) => object(document, mode)?,
        RawBsonRef::Array(array) => {
            let mut values = Vec::new();
            for value in array {
                values.push(json_of(value.expect("strict"), mode)?.unwrap_or(Value::Null));
            }
            Value::Array(values)
        }
        RawBsonRef::Boolean(boolean) => json!(u8::from(boolean)),
        RawBsonRef::Null | RawBsonRef::MinKey | RawBsonRef::MaxKey => Value::Null,
        RawBsonRef::Undefined => return Some(None),
        RawBsonRef::RegularExpression(regex) => {
            json!({ "pattern": regex.pattern.as_str(), "options": regex.options.as_str() })
        }
        RawBsonRef::JavaScriptCode(code) => json!({ "code": code, "scope": null }),
        RawBsonRef::JavaScriptCodeWithScope(code) => {
            json!({ "code": code.code, "scope": object(code.scope, mode)? })
        }
        RawBsonRef::Int32(number) => json!(number),
        RawBsonRef::Int64(number) => json!(number),
        RawBsonRef::Timestamp(stamp) => json!(u64::from(stamp.time) << 32 | u64::from(stamp.increment)),
        RawBsonRef::Binary(binary) => return Some(uuid(binary.subtype, binary.bytes).map(Value::String)),
        RawBsonRef::ObjectId(id) => json!(id.to_hex()),
        RawBsonRef::DateTime(time) => {
            let mut text = [0; datetime::ROOM];
            let len = datetime::write(time.timestamp_millis(), mode, &mut text).ok()?;
            json!(str::from_utf8(&text[..len]).expect("ASCII"))
        }
        RawBsonRef::Decimal128(decimal) => json!(decimal_text(decimal)),
        RawBsonRef::DbPointer(_) => db_pointer(value),
    }))
}

/// A coefficient of more than 34 digits is zero to the `bson` crate, as IEEE 754 has it, and its digits to js-bson,
/// which the contract follows.
fn decimal_text(decimal: bson::Decimal128) -> String {
    const LIMIT: u128 = 10_u128.pow(34);
    let bytes = decimal.bytes();
    let bits = u128::from_le_bytes(bytes);
    let is_long_form = bits >> 125 & 0b11 == 0b11;
    let is_finite = bits >> 123 & 0b1111 != 0b1111;
    let coefficient = bits & ((1 << 113) - 1);
    if is_finite && (is_long_form || coefficient >= LIMIT) {
        let (text, len) = decimal128::format(&bytes);
        return String::from_utf8(text[..len].to_vec()).expect("ASCII");
    }
    decimal.to_string()
}

fn object(document: &bson::RawDocument, mode: DateRenderMode) -> Option<Value> {
    let mut object = serde_json::Map::new();
    for element in document {
        let (name, value) = element.expect("strict");
        if let Some(value) = json_of(value, mode)? {
            object.insert(name.as_str().to_owned(), value);
        }
    }
    Some(Value::Object(object))
}

/// As the text of it is parsed: integral ones are integers, -0 is 0.
fn double(number: f64) -> Value {
    if !number.is_finite() {
        return Value::Null;
    }
    let number = if number == 0.0 { 0.0 } else { number };
    let text = if number.abs() < 1e21 { format!("{number}") } else { format!("{number:e}") };
    serde_json::from_str(&text).expect("a number")
}

fn uuid(subtype: BinarySubtype, bytes: &[u8]) -> Option<String> {
    let bytes: &[u8; 16] = bytes.try_into().ok()?;
    (subtype == BinarySubtype::Uuid).then(|| bson::Uuid::from_bytes(*bytes).to_string())
}

/// Its parts are private, but for extended JSON.
fn db_pointer(value: RawBsonRef<'_>) -> Value {
    let extended = Value::from(Bson::try_from(value).expect("strict"));
    let pointer = &extended["$dbPointer"];
    let name = pointer["$ref"].as_str().expect("a string");
    let id = &pointer["$id"]["$oid"];
    match name.split_once('.') {
        Some((db, collection)) => json!({ "collection": collection, "oid": id, "db": db, "fields": {} }),
        None => json!({ "collection": name, "oid": id, "fields": {} }),
    }
}
