//! BSON values as `bson.deserialize` gives them, for the few small documents that are wanted so: identities, and the
//! fields of change events.
//!
//! What a JavaScript engine makes without a class of the caller's goes to the sink as it is, with the [`Mark`]s that
//! ObjectIds and timestamps take; all other types go as an element of their own, for the caller's deserialiser.

use crate::error::{ErrorKind, Result};
use crate::names::Names;
use crate::reader::{Binary, Piece, Reader};
use crate::shape::Mark;
use crate::spec::{self, element_type, subtype};

/// A value of a JavaScript object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// `undefined`
    Undefined,
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A number.
    Number(f64),
    /// A `bigint`.
    Int64(i64),
    /// A string, perhaps ill-formed.
    Text(Piece<'a>),
    /// A `Date`, in milliseconds.
    Date(i64),
    /// An ObjectId, marked so.
    ObjectId(&'a [u8; spec::OBJECT_ID]),
    /// A timestamp, marked so.
    Timestamp(u64),
    /// A binary, marked so.
    Binary(Binary<'a>),
    /// The place of a document that stays BSON, marked so.
    View {
        /// Its first byte.
        start: usize,
        /// The byte behind its last.
        end: usize,
    },
    /// A document that stays BSON, marked as a `Buffer` of its own.
    Document(&'a [u8]),
    /// A value for the deserialiser.
    Element {
        /// The element's type.
        element_type: u8,
        /// The bytes of the value.
        bytes: &'a [u8],
        /// Where in the source they stand.
        offset: usize,
        /// Whether documents in it stay BSON.
        raw: bool,
    },
}

/// Takes the values of an object, in the order of its names.
pub trait ValueSink {
    /// What may go wrong, besides malformed BSON.
    type Error: From<crate::error::Error>;
    /// Takes the next value. It is borrowed: what a sink keeps, it copies.
    fn write_value(&mut self, value: Value<'_>) -> std::result::Result<(), Self::Error>;
    /// Whether one more ObjectId can pass beside the values.
    fn takes_object_id(&self) -> bool;
    /// Whether an object may have a property of this name. A document with another is an element for the deserialiser.
    #[inline(always)]
    fn takes_name(&self, _: &[u8]) -> bool {
        true
    }
}

/// Levels of documents that are read here; deeper ones are the deserialiser's. (update event, 1 KB document,
/// convertChange: no level 2,973 ns, one 982, eight 938)
const MAX_LEVELS: usize = 8;

/// The value at `reader`, with the strictness of an identity: text must be well-formed.
#[inline(always)]
pub fn write_value<'a, S: ValueSink>(
    reader: &mut Reader<'a>,
    element_type: u8,
    names: &mut Names<'a, '_>,
    sink: &mut S,
) -> std::result::Result<(), S::Error> {
    write_at(reader, element_type, MAX_LEVELS, names, sink)
}

fn write_at<'a, S: ValueSink>(
    reader: &mut Reader<'a>,
    element_type: u8,
    levels: usize,
    names: &mut Names<'a, '_>,
    sink: &mut S,
) -> std::result::Result<(), S::Error> {
    let offset = reader.offset();
    let value = match element_type {
        element_type::OBJECT_ID if sink.takes_object_id() => {
            names.mark(Mark::ObjectId);
            Value::ObjectId(reader.read_array()?)
        }
        element_type::STRING => Value::Text(reader.read_string()?.well_formed(ErrorKind::Utf8, offset)?),
        element_type::INT32 => Value::Number(reader.read_i32()?.into()),
        element_type::INT64 => Value::Int64(reader.read_i64()?),
        element_type::DOUBLE => Value::Number(reader.read_f64()?),
        element_type::NULL => Value::Null,
        element_type::DATETIME => Value::Date(reader.read_i64()?),
        element_type::TIMESTAMP => {
            names.mark(Mark::Timestamp);
            Value::Timestamp(reader.read_u64()?)
        }
        element_type::BOOLEAN => match *reader.read_array()? {
            [byte @ (0 | 1)] => Value::Boolean(byte == 1),
            [byte] => return Err(ErrorKind::Boolean(byte).at(offset).into()),
        },
        element_type::BINARY => {
            let mut after = *reader;
            let binary = after.read_binary()?;
            if binary.subtype == subtype::LEGACY_BINARY {
                // js-bson has a rule of its own for its inner length.
                return write_element(reader, element_type, false, sink);
            }
            *reader = after;
            names.mark(Mark::Binary);
            Value::Binary(binary)
        }
        element_type::DOCUMENT if levels > 0 && !is_special(*reader, sink)? => {
            let mut inner = reader.read_document()?;
            names.mark(Mark::Enter);
            loop {
                let element_type = inner.read_type();
                if element_type == 0 {
                    if !inner.is_at_end() {
                        return Err(inner.error(ErrorKind::NestedType(0)).into());
                    }
                    names.mark(Mark::Leave);
                    return Ok(());
                }
                names.read(&mut inner)?;
                write_at(&mut inner, element_type, levels - 1, names, sink)?;
            }
        }
        _ => return write_element(reader, element_type, false, sink),
    };
    sink.write_value(value)
}

/// The value at `reader` as an element for the deserialiser.
#[inline(never)]
pub fn write_element<S: ValueSink>(
    reader: &mut Reader<'_>,
    element_type: u8,
    raw: bool,
    sink: &mut S,
) -> std::result::Result<(), S::Error> {
    let offset = reader.offset();
    reader.skip_value(element_type)?;
    let bytes = &reader.source()[offset..reader.offset()];
    sink.write_value(Value::Element { element_type, bytes, offset, raw })
}

/// Whether the document at `reader` may be a DBRef, for which js-bson has a class (a name begins with `$`), or has a
/// name that the sink does not take.
fn is_special<S: ValueSink>(mut reader: Reader<'_>, sink: &S) -> Result<bool> {
    let mut document = reader.read_document()?;
    loop {
        let element_type = document.read_type();
        if element_type == 0 {
            return Ok(false);
        }
        let name = document.read_name()?.bytes();
        if name.first() == Some(&b'$') || !sink.takes_name(name) {
            return Ok(true);
        }
        document.skip_value(element_type).map_err(ErrorKind::nested)?;
    }
}
