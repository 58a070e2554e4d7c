//! The numbers of the BSON specification (<https://bsonspec.org/spec.html>), once.

/// Element types: the byte that opens an element.
pub mod element_type {
    #![allow(missing_docs)]
    pub const DOUBLE: u8 = 0x01;
    pub const STRING: u8 = 0x02;
    pub const DOCUMENT: u8 = 0x03;
    pub const ARRAY: u8 = 0x04;
    pub const BINARY: u8 = 0x05;
    pub const UNDEFINED: u8 = 0x06;
    pub const OBJECT_ID: u8 = 0x07;
    pub const BOOLEAN: u8 = 0x08;
    pub const DATETIME: u8 = 0x09;
    pub const NULL: u8 = 0x0a;
    pub const REGEX: u8 = 0x0b;
    pub const DB_POINTER: u8 = 0x0c;
    pub const CODE: u8 = 0x0d;
    pub const SYMBOL: u8 = 0x0e;
    pub const CODE_WITH_SCOPE: u8 = 0x0f;
    pub const INT32: u8 = 0x10;
    pub const TIMESTAMP: u8 = 0x11;
    pub const INT64: u8 = 0x12;
    pub const DECIMAL128: u8 = 0x13;
    pub const MAX_KEY: u8 = 0x7f;
    pub const MIN_KEY: u8 = 0xff;
}

/// Binary subtypes with a meaning of their own here.
pub mod subtype {
    /// The old generic subtype: its data begin with a second length.
    pub const LEGACY_BINARY: u8 = 0x02;
    /// A UUID in the byte order of RFC 4122.
    pub const UUID: u8 = 0x04;
}

/// Bytes of an int32, which every length in BSON is.
pub const LENGTH: usize = size_of::<i32>();
/// Bytes of an ObjectId.
pub const OBJECT_ID: usize = 12;
/// Bytes of a UUID.
pub const UUID: usize = 16;
/// Bytes of a decimal128.
pub const DECIMAL128: usize = 16;
/// The smallest document: its length and its terminator.
pub const MIN_DOCUMENT: usize = LENGTH + 1;
/// The smallest code with scope: its length, an empty string, an empty document.
pub const MIN_CODE_WITH_SCOPE: usize = LENGTH + (LENGTH + 1) + MIN_DOCUMENT;

const _: () = assert!(MIN_CODE_WITH_SCOPE == 14);

/// Levels of documents and arrays below a column's own, which is level 0: the converter's limit, not BSON's.
pub const MAX_DEPTH: usize = 20;

/// The largest time value of ECMAScript, in milliseconds from the epoch on either side: 100 million days
/// (<https://tc39.es/ecma262/#sec-time-values-and-time-range>).
pub const MAX_TIME_VALUE: i64 = 8_640_000_000_000_000;
