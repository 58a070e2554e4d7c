//! The sink of values: each is written behind what the layout of the last such object has before it.

use std::ops::Range;

use super::format;
use super::layout::Step;
use super::{Failure, TooLong, extension};
use crate::column::{Column, ColumnSink};
use crate::deserialize::{self, ValueSink};
use crate::number::huge_words;
use crate::reader::Binary;
use crate::row::RowSink;
use crate::spec::{MAX_TIME_VALUE, element_type};
use crate::utf8;

/// Writes the values of one object.
pub struct Values<'o> {
    pub out: &'o mut Vec<u8>,
    /// Where each value stands in `out`.
    pub slots: &'o mut Vec<Range<usize>>,
    /// What is expected before each value; nothing where there is no expectation.
    pub steps: &'o [Step],
    /// The bytes of the document.
    pub source: &'o [u8],
}

impl Values<'_> {
    /// Where the next value begins.
    #[inline(always)]
    fn begin(&mut self) -> usize {
        if let Some(step) = self.steps.get(self.slots.len()) {
            step.prefix.push(self.out);
        }
        self.out.len()
    }

    #[inline(always)]
    fn end(&mut self, start: usize) {
        self.slots.push(start..self.out.len());
    }

    /// A value that is written by hand.
    pub fn write_with(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), TooLong>,
    ) -> Result<(), Failure> {
        let start = self.begin();
        write(self.out)?;
        self.end(start);
        Ok(())
    }
}

impl ColumnSink for Values<'_> {
    type Error = Failure;

    #[inline(always)]
    fn write_column(&mut self, column: Column<'_>) -> Result<(), Failure> {
        let start = self.begin();
        let out = &mut *self.out;
        match column {
            Column::Null => format::push_nil(out),
            Column::Integer(number) => format::push_int64(number, out),
            Column::Real(number) => format::push_float64(number, out),
            Column::Ascii(text) => format::push_str(text, out)?,
            Column::Text(text) => push_text(text.bytes(), out)?,
            Column::Json(text) => push_text(text, out)?,
            Column::Blob(bytes) => format::push_bin(bytes, out)?,
            Column::Unsigned(number) => push_unsigned(number, out),
            Column::Huge(number) => push_huge(number, out)?,
        }
        self.end(start);
        Ok(())
    }
}

impl RowSink for Values<'_> {}

impl ValueSink for Values<'_> {
    type Error = Failure;

    fn takes_object_id(&self) -> bool {
        true
    }

    /// Decoders into JavaScript objects rename or refuse this one.
    fn takes_name(&self, name: &[u8]) -> bool {
        name != b"__proto__"
    }

    fn write_value(&mut self, value: deserialize::Value<'_>) -> Result<(), Failure> {
        use deserialize::Value;
        let start = self.begin();
        let out = &mut *self.out;
        match value {
            Value::Undefined => push_ext(extension::UNDEFINED, &[0], out)?,
            Value::Null => format::push_nil(out),
            Value::Boolean(boolean) => format::push_bool(boolean, out),
            Value::Number(number) => format::push_number(number, out),
            Value::Int64(number) => format::push_int64(number, out),
            Value::Text(text) => push_text(text.bytes(), out)?,
            Value::Date(time_value) => push_date(time_value, out)?,
            Value::ObjectId(id) => push_ext(extension::OBJECT_ID, id, out)?,
            Value::Timestamp(timestamp) => {
                push_bson(extension::BSON, element_type::TIMESTAMP, &[&timestamp.to_le_bytes()], out)?;
            }
            Value::Binary(Binary { subtype, data }) => {
                // No more than an int32, which it came from.
                let length = (data.len() as i32).to_le_bytes();
                push_bson(extension::BSON, element_type::BINARY, &[&length, &[subtype], data], out)?;
            }
            Value::View { start, end } => format::push_bin(&self.source[start..end], out)?,
            Value::Document(bytes) => format::push_bin(bytes, out)?,
            Value::Element { element_type, bytes, raw, .. } => {
                let kind = if raw { extension::BSON_OF_DOCUMENTS } else { extension::BSON };
                push_bson(kind, element_type, &[bytes], out)?;
            }
        }
        self.end(start);
        Ok(())
    }
}

/// A text, with what is ill-formed replaced.
#[inline(always)]
pub fn push_text(text: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
    if utf8::is_valid(text) { format::push_str(text, out) } else { push_lossy(text, out) }
}

#[cold]
fn push_lossy(text: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
    let mut lossy = Vec::with_capacity(text.len());
    utf8::push_lossy(text, &mut lossy);
    format::push_str(&lossy, out)
}

fn push_unsigned(number: u64, out: &mut Vec<u8>) {
    match i64::try_from(number) {
        Ok(number) => format::push_int64(number, out),
        Err(_) => format::push_uint64(number, out),
    }
}

/// A time value that no `Date` can hold stays one, but in the bits that libraries read.
fn push_date(time_value: i64, out: &mut Vec<u8>) -> Result<(), TooLong> {
    format::push_timestamp(time_value.clamp(-MAX_TIME_VALUE - 1, MAX_TIME_VALUE + 1), out)
}

fn push_ext(ext_type: i8, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
    format::push_ext_header(ext_type, bytes.len(), out)?;
    out.extend_from_slice(bytes);
    Ok(())
}

/// A BSON value in its parts.
fn push_bson(ext_type: i8, element_type: u8, parts: &[&[u8]], out: &mut Vec<u8>) -> Result<(), TooLong> {
    let len = parts.iter().map(|part| part.len()).sum::<usize>();
    format::push_ext_header(ext_type, 1 + len, out)?;
    out.push(element_type);
    parts.iter().for_each(|part| out.extend_from_slice(part));
    Ok(())
}

/// An integral double of any size: its 53 bits, shifted, as msgpackr's extension has it, in two's complement from the
/// highest byte on, in whole words.
#[cold]
fn push_huge(number: f64, out: &mut Vec<u8>) -> Result<(), TooLong> {
    const WORD: usize = size_of::<u64>();
    let mut words = huge_words(number);
    let is_negative = number.is_sign_negative();
    if is_negative {
        let mut carry = true;
        for word in &mut words {
            (*word, carry) = (!*word).overflowing_add(carry.into());
        }
    }
    let sign = if is_negative { u64::MAX } else { 0 };
    let has_sign = |word: u64| (word ^ sign) >> 63 == 0;
    // The highest word that says more than the sign, and as many as that and the sign need.
    let highest = words.iter().rposition(|&word| word != sign).unwrap_or(0);
    let len = if has_sign(words[highest]) { highest + 1 } else { highest + 2 };
    format::push_ext_header(extension::BIGINT, len * WORD, out)?;
    words[..len].iter().rev().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
    Ok(())
}
