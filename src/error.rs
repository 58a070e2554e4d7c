//! What can be wrong with the bytes: a kind, and the byte at which reading stopped.
//!
//! An error is built in a cold constructor and carries no text. The sentence is made by `Display`, the stable
//! word by [`ErrorKind::code`], and the path of names by the module `locate`, which walks the document a second
//! time: the hot loops keep no record of where they are.

use std::fmt;

use crate::spec::MAX_DEPTH;

/// Why a document could not be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A document's length is below the smallest, or reaches past what encloses it.
    DocumentLength,
    /// A document does not end with a zero byte.
    DocumentTerminator,
    /// An element of fixed width reaches past the end of its document.
    ElementLength,
    /// A string's length is below 1, or reaches past the end of its document.
    StringLength,
    /// A string does not end with a zero byte.
    StringTerminator,
    /// An element name does not end within its document.
    CstringTerminator,
    /// A regular expression's pattern or options do not end within its document.
    Regex,
    /// A binary's length is negative, or reaches past the end of its document.
    BinaryLength,
    /// A subtype-2 binary's inner length is negative, or more than its data.
    LegacyBinaryLength,
    /// A code with scope's length is not that of its parts.
    CodeWithScopeLength,
    /// No such element type, inside a document or array.
    NestedType(u8),
    /// No such element type, at top level.
    ColumnType(u8),
    /// Containers deeper than [`MAX_DEPTH`] below a column.
    Depth,
    /// A datetime beyond [`crate::spec::MAX_TIME_VALUE`].
    TimeValue,
    /// A document without `_id`, where its identity was asked for.
    NoId,
    /// A cursor's document without `firstBatch` and `nextBatch`.
    NoBatch,
    /// An element of a batch that is no document.
    NotADocument(u8),
    /// An `_id` that deserialisation would make equal to another: ill-formed UTF-8.
    IdUtf8,
    /// An `_id` that deserialisation would make equal to another: a name twice in one document.
    IdDuplicateName,
    /// An `_id` that deserialisation would make equal to another: names that an object would bring in another order.
    IdNameOrder,
    /// An `_id` that deserialisation would make equal to another: a regular expression.
    IdRegex,
    /// A value that the implementation of BSON, which it was given to, refused with a message of its own.
    Deserialize,
    /// Strict: bytes after the document.
    TrailingBytes,
    /// In an `_id`, or strict: a boolean that is neither 0 nor 1.
    Boolean(u8),
    /// Ill-formed UTF-8: strict, or in a document of an event that is deserialised.
    Utf8,
}

impl ErrorKind {
    /// The stable word for programs.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::DocumentLength => "BSONROW_DOCUMENT_LENGTH",
            Self::DocumentTerminator => "BSONROW_DOCUMENT_TERMINATOR",
            Self::ElementLength => "BSONROW_ELEMENT_LENGTH",
            Self::StringLength => "BSONROW_STRING_LENGTH",
            Self::StringTerminator => "BSONROW_STRING_TERMINATOR",
            Self::CstringTerminator => "BSONROW_CSTRING_TERMINATOR",
            Self::Regex => "BSONROW_REGEX",
            Self::BinaryLength => "BSONROW_BINARY_LENGTH",
            Self::LegacyBinaryLength => "BSONROW_LEGACY_BINARY_LENGTH",
            Self::CodeWithScopeLength => "BSONROW_CODE_WITH_SCOPE_LENGTH",
            Self::NestedType(_) => "BSONROW_NESTED_TYPE",
            Self::ColumnType(_) => "BSONROW_COLUMN_TYPE",
            Self::Depth => "BSONROW_DEPTH",
            Self::TimeValue => "BSONROW_TIME_VALUE",
            Self::NoId => "BSONROW_NO_ID",
            Self::NoBatch => "BSONROW_NO_BATCH",
            Self::NotADocument(_) => "BSONROW_NOT_A_DOCUMENT",
            Self::IdUtf8 => "BSONROW_ID_UTF8",
            Self::IdDuplicateName => "BSONROW_ID_DUPLICATE_NAME",
            Self::IdNameOrder => "BSONROW_ID_NAME_ORDER",
            Self::IdRegex => "BSONROW_ID_REGEX",
            Self::Deserialize => "BSONROW_DESERIALIZE",
            Self::TrailingBytes => "BSONROW_TRAILING_BYTES",
            Self::Boolean(_) => "BSONROW_BOOLEAN",
            Self::Utf8 => "BSONROW_UTF8",
        }
    }

    /// Whether JavaScript knows this as a `RangeError`.
    #[must_use]
    pub const fn is_range_error(self) -> bool {
        matches!(self, Self::TimeValue)
    }

    /// An unknown type that was found by stepping over the elements of a document inside another.
    #[must_use]
    pub const fn nested(error: Error) -> Error {
        match error.kind {
            Self::ColumnType(element_type) => Self::NestedType(element_type).at(error.offset),
            _ => error,
        }
    }

    /// The error of this kind at a byte of the source.
    #[cold]
    #[must_use]
    pub const fn at(self, offset: usize) -> Error {
        Error { kind: self, offset }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DocumentLength => f.write_str("Invalid BSON document length"),
            Self::DocumentTerminator => f.write_str("Invalid BSON document terminator"),
            Self::ElementLength => f.write_str("Invalid BSON: element exceeds its document"),
            Self::StringLength => f.write_str("Invalid BSON string length"),
            Self::StringTerminator => f.write_str("Invalid BSON string terminator"),
            Self::CstringTerminator => f.write_str("Invalid BSON: missing cstring terminator"),
            Self::Regex => f.write_str("Invalid BSON regex"),
            Self::BinaryLength => f.write_str("Invalid BSON binary length"),
            Self::LegacyBinaryLength => f.write_str("Invalid BSON legacy binary length"),
            Self::CodeWithScopeLength => f.write_str("Invalid BSON code with scope length"),
            Self::NestedType(byte) => write!(f, "Unsupported BSON nested type: 0x{byte:x}"),
            Self::ColumnType(byte) => write!(f, "Unsupported BSON type for skip: 0x{byte:x}"),
            Self::Depth => write!(f, "json nested object depth exceeds the limit of {MAX_DEPTH}"),
            Self::TimeValue => f.write_str("Invalid time value"),
            Self::NoId => f.write_str("Attempt to parse document without _id"),
            Self::NoBatch => f.write_str("Cursor document without firstBatch and nextBatch"),
            Self::NotADocument(byte) => write!(f, "Batch element is no document but of type 0x{byte:x}"),
            Self::IdUtf8 => f.write_str("Invalid UTF-8 in _id: it could not be told from another _id"),
            Self::IdDuplicateName => {
                f.write_str("A name twice in _id: it could not be told from another _id")
            }
            Self::IdNameOrder => {
                f.write_str("Names in _id that JavaScript reorders: it could not be told from another _id")
            }
            Self::IdRegex => {
                f.write_str("Regex in _id that a RegExp does not keep: it could not be told from another _id")
            }
            Self::Deserialize => f.write_str("Value refused by the BSON implementation"),
            Self::TrailingBytes => f.write_str("Invalid BSON: bytes after the document"),
            Self::Boolean(byte) => write!(f, "Invalid BSON boolean: 0x{byte:x}"),
            Self::Utf8 => f.write_str("Invalid UTF-8 string in BSON document"),
        }
    }
}

/// A kind, and where in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What went wrong.
    pub kind: ErrorKind,
    /// The byte of the source at which reading stopped.
    pub offset: usize,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl std::error::Error for Error {}

/// The result of everything that reads BSON.
pub type Result<T> = std::result::Result<T, Error>;
