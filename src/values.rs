//! The sink that collects the values of objects for JavaScript.

use crate::column::{Column, ColumnSink};
use crate::deserialize::{self, ValueSink};
use crate::identity::document_of;
use crate::node::{Failure, Result};
use crate::parts::{Element, MAX_OBJECT_IDS, Make, Parts, SlotKind};
use crate::reader::Piece;
use crate::row::RowSink;
use crate::scan;
use crate::unread::UnreadJson;
use crate::utf8::{self, Encoded};

/// Texts of at least so many bytes are worth standing over the source's memory. An external string has a reference and
/// a finalizer to pay for. (row of two columns, one a string, copied and external: 2 KiB 361 and 406 ns, 4 KiB 436 and
/// 435, 8 KiB 582 and 499, 16 KiB 946 and 570, 64 KiB 3,141 and 1,074)
pub const LONG: usize = 8 << 10;

/// Collects values.
pub struct Values<'w, M: Make> {
    /// Makes those that pass by themselves.
    pub make: &'w mut M,
    /// Text becomes UTF-16 or Latin-1 here.
    pub scratch: &'w mut utf8::Scratch,
    /// All of them.
    pub parts: &'w mut Parts<M::Handle>,
    /// Where in their source the bytes that are read begin.
    pub start: usize,
}

impl<M: Make> Values<'_, M> {
    /// A text of one byte a character.
    #[inline(always)]
    fn push_latin1(&mut self, text: &[u8]) -> Result<()> {
        if self.parts.has_room(text.len()) {
            self.parts.push_together(text);
        } else {
            self.parts.push_handle(self.make.latin1(text)?);
        }
        Ok(())
    }

    #[inline(always)]
    fn push_text(&mut self, text: Piece<'_>) -> Result<()> {
        if self.parts.push_short(text) {
            return Ok(());
        }
        self.push_other(text.bytes())
    }

    #[inline(never)]
    fn push_other(&mut self, text: &[u8]) -> Result<()> {
        if text.len() >= LONG && scan::ascii_len(text) == text.len() {
            self.parts.push_handle(self.make.ascii_of_source(text)?);
            return Ok(());
        }
        self.push_transcoded(text)
    }

    fn push_transcoded(&mut self, text: &[u8]) -> Result<()> {
        let Self { make, scratch, parts, .. } = self;
        match utf8::transcode(text, scratch) {
            Encoded::Utf16(text) => parts.push_handle(make.utf16(text)?),
            Encoded::Ascii if parts.has_room(text.len()) => parts.push_together(text),
            Encoded::Latin1(text) if parts.has_room(text.len()) => parts.push_together(text),
            Encoded::Ascii => parts.push_handle(make.latin1(text)?),
            Encoded::Latin1(text) => parts.push_handle(make.latin1(text)?),
        }
        Ok(())
    }
}

impl<M: Make> ColumnSink for Values<'_, M> {
    type Error = Failure;

    #[inline(always)]
    fn write_column(&mut self, column: Column<'_>) -> Result<()> {
        match column {
            Column::Null => self.parts.push_constant(SlotKind::Null),
            Column::Integer(number) => self.parts.push_bigint(number),
            Column::Real(number) => self.parts.push_double(SlotKind::Double, number),
            Column::Ascii(text) => self.push_latin1(text)?,
            Column::Text(text) => self.push_text(text)?,
            Column::Json(text) => self.push_transcoded(text)?,
            Column::Blob(bytes) => self.parts.push_handle(self.make.bytes(bytes)?),
            Column::Unsigned(number) => match i64::try_from(number) {
                Ok(number) => self.parts.push_bigint(number),
                Err(_) => self.parts.push_handle(self.make.unsigned(number)?),
            },
            Column::Huge(number) => self.parts.push_handle(self.make.huge(number)?),
        }
        Ok(())
    }

    #[inline(always)]
    fn write_ascii<const N: usize>(
        &mut self,
        write: impl FnOnce(&mut [u8; N]) -> crate::error::Result<usize>,
    ) -> Result<()> {
        if self.parts.has_room(N) {
            return Ok(self.parts.push_written(write)?);
        }
        let mut room = [0; N];
        let len = write(&mut room)?;
        self.push_latin1(&room[..len])
    }
}

impl<M: Make> RowSink for Values<'_, M> {
    const TAKES_UNREAD: bool = true;

    fn write_unread(&mut self, json: UnreadJson) -> Result<()> {
        let json = UnreadJson { start: self.start + json.start, end: self.start + json.end, ..json };
        json.to_numbers().into_iter().for_each(|number| self.parts.push_double(SlotKind::Double, number));
        Ok(())
    }
}

impl<M: Make> ValueSink for Values<'_, M> {
    type Error = Failure;

    #[inline(always)]
    fn takes_object_id(&self) -> bool {
        self.parts.object_ids.len() - self.parts.start.object_id < MAX_OBJECT_IDS
    }

    #[inline(always)]
    fn write_value(&mut self, value: deserialize::Value<'_>) -> Result<()> {
        use deserialize::Value;
        match value {
            Value::Undefined => self.parts.push_constant(SlotKind::Undefined),
            Value::Null => self.parts.push_constant(SlotKind::Null),
            Value::Boolean(false) => self.parts.push_constant(SlotKind::False),
            Value::Boolean(true) => self.parts.push_constant(SlotKind::True),
            Value::Number(number) => self.parts.push_double(SlotKind::Double, number),
            Value::Int64(number) => self.parts.push_bigint(number),
            Value::Text(text) => self.push_text(text)?,
            Value::Date(time_value) => self.parts.push_double(SlotKind::Date, time_value as f64),
            Value::ObjectId(id) => self.parts.object_ids.push(*id),
            Value::Timestamp(timestamp) => {
                self.parts.push_double(SlotKind::Double, (timestamp >> 32) as f64);
                self.parts.push_double(SlotKind::Double, f64::from(timestamp as u32));
            }
            Value::Binary(binary) => {
                // Latin-1 is bytes as they are.
                self.push_latin1(binary.data)?;
                self.parts.push_double(SlotKind::Double, f64::from(binary.subtype));
            }
            Value::View { start, end } => {
                self.parts.push_double(SlotKind::Double, start as f64);
                self.parts.push_double(SlotKind::Double, end as f64);
            }
            Value::Document(bytes) => self.parts.push_handle(self.make.bytes(bytes)?),
            Value::Element { element_type, bytes, offset, raw } => {
                let document = self.make.bytes(&document_of(element_type, bytes)?)?;
                self.parts.elements.push(Element { handle: self.parts.handles.len(), raw, offset });
                self.parts.push_handle(document);
            }
        }
        Ok(())
    }
}
