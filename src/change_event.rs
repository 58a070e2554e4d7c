//! The top-level fields of a change event
//! (<https://www.mongodb.com/docs/manual/reference/change-events/>).

use crate::error::{ErrorKind, Result};
use crate::identity;
use crate::reader::Reader;
use crate::shape::{Names, Shapes};
use crate::spec::element_type;

/// Fields, besides `documentKey`, whose documents are small, wanted by everyone and so deserialised. All other documents stay BSON.
const DESERIALISED: [&[u8]; 5] = [b"_id", b"ns", b"to", b"lsid", b"splitEvent"];

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Field<'a> {
    /// A string, perhaps ill-formed.
    Text(&'a [u8]),
    /// A JavaScript number.
    Number(f64),
    /// A `bigint`.
    Int64(i64),
    /// `null`.
    Null,
    /// A document to be deserialised.
    Document(&'a [u8]),
    /// A document that stays BSON: where it begins and ends in the source.
    RawDocument {
        /// Its first byte.
        start: usize,
        /// The byte behind its last.
        end: usize,
    },
    /// A value of another type: the type and the value's bytes.
    Other(u8, &'a [u8]),
}

/// The next field's value, whose name goes to `names`; `None` behind the last.
pub fn read_field<'a>(
    reader: &mut Reader<'a>,
    shapes: &Shapes,
    names: &mut Names<'a>,
) -> Result<Option<Field<'a>>> {
    let type_at = reader.offset();
    let element_type = reader.read_type();
    if element_type == 0 {
        return if reader.is_at_end() { Ok(None) } else { Err(ErrorKind::ColumnType(0).at(type_at)) };
    }
    let name = names.read(shapes, reader)?;
    let field = match element_type {
        element_type::STRING => Field::Text(reader.read_string()?.bytes()),
        element_type::INT32 => Field::Number(reader.read_i32()?.into()),
        element_type::DOUBLE => Field::Number(reader.read_f64()?),
        element_type::INT64 => Field::Int64(reader.read_i64()?),
        element_type::NULL => Field::Null,
        _ => {
            let start = reader.offset();
            reader.skip_value(element_type)?;
            let end = reader.offset();
            let bytes = &reader.source()[start..end];
            if element_type != element_type::DOCUMENT {
                Field::Other(element_type, bytes)
            } else if name.bytes() == b"documentKey" {
                // It names a document as an `_id` does.
                identity::check_document(bytes, start)?;
                Field::Document(bytes)
            } else if DESERIALISED.contains(&name.bytes()) {
                Field::Document(bytes)
            } else {
                Field::RawDocument { start, end }
            }
        }
    };
    Ok(Some(field))
}

#[cfg(test)]
mod tests {
    use super::{Field, read_field};
    use crate::reader::Reader;
    use crate::shape::{Names, Shapes};
    use bson::{Bson, doc};

    #[test]
    fn fields_by_type_and_name() {
        let inner = doc! { "x": 1 };
        let event = doc! {
            "_id": inner.clone(), "operationType": "insert", "fullDocument": inner.clone(),
            "wallTime": bson::DateTime::from_millis(1), "n": 1.5, "i": 7, "txnNumber": 9_i64, "z": Bson::Null,
        };
        let bytes = event.to_vec().unwrap();
        let inner = inner.to_vec().unwrap();
        let (shapes, mut names) = (Shapes::default(), Names::begin(None));
        let mut reader = Reader::new(&bytes).unwrap();
        let mut fields = Vec::new();
        while let Some(field) = read_field(&mut reader, &shapes, &mut names).unwrap() {
            fields.push(field);
        }
        let full = fields[2];
        assert_eq!(fields[0], Field::Document(&inner));
        assert_eq!(fields[1], Field::Text(b"insert"));
        assert!(matches!(full, Field::RawDocument { start, end } if bytes[start..end] == inner));
        assert_eq!(fields[3], Field::Other(0x09, &[1, 0, 0, 0, 0, 0, 0, 0]));
        assert_eq!(fields[4..], [Field::Number(1.5), Field::Number(7.0), Field::Int64(9), Field::Null]);
    }
}
