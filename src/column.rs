//! One top-level element to one column value: the type table of the conversion contract.

use crate::datetime::{self, DateRenderMode};
use crate::decimal128;
use crate::error::{ErrorKind, Result};
use crate::hex;
use crate::json;
use crate::reader::{Piece, Reader};
use crate::spec::element_type;
use crate::text::{Text, Written};

/// A value of one of SQLite's storage classes, with the integers that SQLite has no room for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Column<'a> {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// An integer of 64 bits without a sign: a timestamp.
    Unsigned(u64),
    /// An integral double that an `i64` cannot hold; finite.
    Huge(f64),
    /// REAL: a double that is not integral, NaN or an infinity.
    Real(f64),
    /// TEXT of ASCII bytes only.
    Ascii(&'a [u8]),
    /// TEXT of the source in UTF-8, perhaps ill-formed: each maximal subpart of an ill-formed sequence stands for
    /// U+FFFD.
    Text(Piece<'a>),
    /// TEXT that was written, likewise; not ASCII.
    Json(&'a [u8]),
    /// BLOB.
    Blob(&'a [u8]),
}

/// Takes the value of one column.
pub trait ColumnSink {
    /// What may go wrong, besides malformed BSON.
    type Error: From<crate::error::Error>;
    /// Takes the next value. It is borrowed: what a sink keeps, it copies.
    fn write_column(&mut self, column: Column<'_>) -> std::result::Result<(), Self::Error>;
    /// Takes the next value, TEXT of ASCII bytes: `write` puts them into room and returns how many there are. A sink may
    /// have the room where they stay. (where they are formed elsewhere and copied, datasets/covers takes 1.21 times as long)
    #[inline(always)]
    fn write_ascii<const N: usize>(
        &mut self,
        write: impl FnOnce(&mut [u8; N]) -> Result<usize>,
    ) -> std::result::Result<(), Self::Error> {
        let mut room = [0; N];
        let len = write(&mut room)?;
        self.write_column(Column::Ascii(&room[..len]))
    }
}

impl<'a> Column<'a> {
    /// A double: integral ones are integers, whatever their size, and -0 is 0.
    #[inline(always)]
    #[must_use]
    pub fn from_f64(number: f64) -> Self {
        // The cast saturates; only a double that is an `i64` comes back unchanged, and 2^63, which saturates to
        // the largest `i64`, comes back as itself.
        let integer = number as i64;
        if integer as f64 == number && integer != i64::MAX {
            Self::Integer(integer)
        } else if number.is_finite() && number.abs() >= BEYOND_I64 {
            Self::Huge(number)
        } else {
            Self::Real(number)
        }
    }

    /// A text that was written.
    #[must_use]
    pub fn from_written(written: Written<'a>) -> Self {
        if written.ascii { Self::Ascii(written.bytes) } else { Self::Json(written.bytes) }
    }
}

/// 2^63. All doubles from here on are integral; to truncate them is a call of the C library without SSE4.1.
const BEYOND_I64: f64 = -(i64::MIN as f64);

/// JSON text is longer than its BSON by this factor at the beginning; the buffer grows where it is more.
const EXPECTED_GROWTH: usize = 2;

/// Reads the value that stands at `reader` and gives it to `sink`; leaves `reader` behind it.
///
/// `start` is where the element's type stands, for errors; `text` is where JSON is written.
#[inline(always)]
pub fn read_column<S: ColumnSink>(
    reader: &mut Reader<'_>,
    element_type: u8,
    start: usize,
    mode: DateRenderMode,
    text: &mut Text,
    sink: &mut S,
) -> std::result::Result<(), S::Error> {
    match element_type {
        element_type::STRING | element_type::SYMBOL => sink.write_column(Column::Text(reader.read_string()?)),
        element_type::INT32 => sink.write_column(Column::Integer(reader.read_i32()?.into())),
        element_type::INT64 => sink.write_column(Column::Integer(reader.read_i64()?)),
        element_type::DOUBLE => sink.write_column(Column::from_f64(reader.read_f64()?)),
        element_type::BOOLEAN => {
            let [byte] = *reader.read_array()?;
            sink.write_column(Column::Integer((byte != 0).into()))
        }
        element_type::OBJECT_ID => {
            let id = reader.read_array()?;
            sink.write_ascii(|room| {
                *room = hex::digits_of_object_id(id);
                Ok(hex::OBJECT_ID_TEXT)
            })
        }
        element_type::DATETIME => {
            let at = reader.offset();
            let time_value = reader.read_i64()?;
            sink.write_ascii(|room| datetime::write(time_value, mode, room).map_err(|kind| kind.at(at)))
        }
        element_type::NULL | element_type::UNDEFINED | element_type::MIN_KEY | element_type::MAX_KEY => {
            sink.write_column(Column::Null)
        }
        element_type::BINARY => {
            let binary = reader.read_binary()?;
            match json::uuid_of(binary) {
                Some(uuid) => sink.write_column(Column::Ascii(&hex::format_uuid(uuid))),
                None => sink.write_column(Column::Blob(binary.data)),
            }
        }
        element_type::TIMESTAMP => sink.write_column(Column::Unsigned(reader.read_u64()?)),
        element_type::DECIMAL128 => {
            let (text, len) = decimal128::format(reader.read_array()?);
            sink.write_column(Column::Ascii(&text[..len]))
        }
        _ => {
            let written = write_json(reader, element_type, start, mode, text)?;
            sink.write_column(Column::from_written(written))
        }
    }
}

/// The value of a type whose column is JSON text; leaves `reader` behind it.
#[inline(never)]
pub fn write_json<'t>(
    reader: &mut Reader<'_>,
    element_type: u8,
    start: usize,
    mode: DateRenderMode,
    text: &'t mut Text,
) -> Result<Written<'t>> {
    let mut tail = text.begin(EXPECTED_GROWTH * reader.peek_length());
    match element_type {
        element_type::DOCUMENT | element_type::ARRAY => {
            json::write_container(reader, element_type, mode, &mut tail)?;
        }
        element_type::CODE_WITH_SCOPE => json::write_code_with_scope(reader, mode, &mut tail)?,
        element_type::REGEX | element_type::DB_POINTER | element_type::CODE => {
            json::write_object_of_parts(reader, element_type, &mut tail)?;
        }
        unknown => return Err(ErrorKind::ColumnType(unknown).at(start)),
    }
    Ok(tail.commit_before_last())
}

#[cfg(test)]
mod tests {
    use super::Column;

    #[test]
    fn doubles() {
        for (number, expected) in [
            (1.0, Column::Integer(1)),
            (-0.0, Column::Integer(0)),
            (2.5, Column::Real(2.5)),
            (-9_223_372_036_854_775_808.0, Column::Integer(i64::MIN)),
            (9_223_372_036_854_774_784.0, Column::Integer(9_223_372_036_854_774_784)),
            (9_223_372_036_854_775_808.0, Column::Huge(9_223_372_036_854_775_808.0)),
            (-9_223_372_036_854_777_856.0, Column::Huge(-9_223_372_036_854_777_856.0)),
            (1e300, Column::Huge(1e300)),
            (f64::INFINITY, Column::Real(f64::INFINITY)),
            (f64::NEG_INFINITY, Column::Real(f64::NEG_INFINITY)),
            (5e-324, Column::Real(5e-324)),
        ] {
            assert_eq!(Column::from_f64(number), expected, "{number}");
        }
        assert!(matches!(Column::from_f64(f64::NAN), Column::Real(number) if number.is_nan()));
    }
}
