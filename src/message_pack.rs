//! Rows, changes and batches in MessagePack, straight from BSON: no JavaScript value is made.
//!
//! What the bytes mean is told in `docs/message-pack.md`. A [`Packer`] writes one message at a time: an object, or a list
//! of them. An object is written by the same readers as a JavaScript object is; its names become a [`layout`], by which
//! the next object of the same names is written in one go.

mod format;
mod layout;
mod list;
#[cfg(test)]
mod tests;
mod values;

use std::ops::Range;

use crate::cursor_reply::{Batch, Spot, id_document, read_reply};
use crate::deserialize::{Value, ValueSink};
use crate::error::{Error, ErrorKind};
use crate::identity::find_id;
use crate::kind::Kind;
use crate::names::{Names, Sequence};
use crate::object::{ObjectOptions, read_object, write_id};
use crate::patience::Patience;
use crate::reader::{Piece, Reader};
use crate::shape::{Guess, Mark, Shapes};
use crate::spec::MIN_DOCUMENT;
use crate::text::{KEEP, Text};

use layout::{Layout, Layouts, Style};
pub use list::List;
use values::Values;

/// The extension types of what MessagePack has no type for.
pub mod extension {
    /// `undefined`, as msgpackr writes it: one byte that says nothing.
    pub const UNDEFINED: i8 = 0;
    /// An ObjectId: its 12 bytes.
    pub const OBJECT_ID: i8 = 1;
    /// A BSON value: its element type and its bytes.
    pub const BSON: i8 = 2;
    /// The same, of which documents stay BSON.
    pub const BSON_OF_DOCUMENTS: i8 = 3;
    /// An integer of any size, as msgpackr writes it: two's complement from the highest byte on.
    pub const BIGINT: i8 = 0x42;
}

/// A text, a binary or a list that is longer than MessagePack can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Why an object could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Malformed BSON.
    Bson(Error),
    /// Too long for MessagePack.
    TooLong,
}

impl From<Error> for Failure {
    #[inline(always)]
    fn from(error: Error) -> Self {
        Self::Bson(error)
    }
}

impl From<TooLong> for Failure {
    #[cold]
    fn from(_: TooLong) -> Self {
        Self::TooLong
    }
}

/// The result of everything that writes an object.
pub type Result<T> = std::result::Result<T, Failure>;

/// How objects are converted.
#[derive(Clone, Copy, Debug)]
pub struct Options<'p> {
    /// What of each is wanted. JSON text is never left unread.
    pub object: ObjectOptions<'p>,
    /// Whether lists are tables.
    pub table: bool,
}

/// What becomes of an object of a batch that cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// The whole batch fails.
    Fail,
    /// Its error stands in its place.
    Write,
}

/// Why a batch could not be written.
#[derive(Debug)]
pub enum BatchFailure {
    /// The reply itself is at fault.
    Reply(Failure),
    /// One of its objects is.
    Object {
        /// What with.
        failure: Failure,
        /// Which of them.
        index: u32,
        /// What it was to be.
        kind: Kind,
        /// Where it stands.
        spot: Spot,
    },
}

/// What is written of an object that could not be converted.
#[derive(Clone, Copy)]
pub struct ObjectError<'e> {
    /// The stable word.
    pub code: &'e str,
    /// The sentence.
    pub message: &'e str,
    /// The byte of the source, and the names of the elements around it.
    pub place: Option<(usize, &'e [String])>,
    /// Which object.
    pub index: u32,
    /// A document of its `_id` alone.
    pub id: Option<&'e [u8]>,
}

/// What the guesses are for.
#[derive(Clone, Copy)]
enum Object {
    Document,
    Change,
    Reply,
    Error,
}

impl Object {
    const COUNT: usize = 4;

    const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Document => Self::Document,
            Kind::Change => Self::Change,
        }
    }
}

/// Writes messages.
#[derive(Default)]
pub struct Packer {
    shapes: Shapes,
    layouts: Layouts,
    guesses: [Guess; Object::COUNT],
    text: Text,
    /// The message.
    out: Vec<u8>,
    /// Where the values of the last object stand in it.
    slots: Vec<Range<usize>>,
    /// Where an object is put together whose names were not expected.
    spare: Vec<u8>,
    patience: Patience,
}

impl Packer {
    /// The message.
    #[must_use]
    pub fn message(&self) -> &[u8] {
        &self.out
    }

    /// Begins a message. Large buffers are given back after a number of messages that did without them.
    pub fn begin(&mut self) {
        let is_large = self.out.capacity() > KEEP || self.spare.capacity() > KEEP || self.text.is_large();
        if is_large && self.patience.is_over(self.out.len()) {
            self.text.shrink();
            (self.out, self.spare) = (Vec::new(), Vec::new());
        }
        self.out.clear();
    }

    /// A document or change as the whole message, or, in a table, as the only one of a list.
    pub fn write_one(&mut self, source: &[u8], kind: Kind, options: Options<'_>) -> Result<()> {
        if !options.table {
            return self.write_object(source, kind, options, None);
        }
        let mut list = self.begin_list(1, options)?;
        self.write_object(source, kind, options, Some(&mut list))?;
        self.end_list(&list);
        Ok(())
    }

    /// A list of `len` objects or errors, which follow.
    pub fn begin_list(&mut self, len: usize, options: Options<'_>) -> Result<List> {
        Ok(List::begin(len, options.table, &mut self.out)?)
    }

    /// Ends a list.
    pub fn end_list(&mut self, list: &List) {
        list.end(&mut self.out);
    }

    /// A document or change, in a list if there is one. Where it fails, the message is as it was before.
    #[inline]
    pub fn write_object(
        &mut self,
        source: &[u8],
        kind: Kind,
        options: Options<'_>,
        list: Option<&mut List>,
    ) -> Result<()> {
        let style = if options.table { Style::Array } else { Style::Map };
        self.write(source, Object::of(kind), style, list, |reader, names, text, values| {
            read_object(kind, options.object, reader, names, text, values)
        })
    }

    /// An error in place of an object, in a list.
    pub fn write_error(&mut self, error: ObjectError<'_>, list: &mut List) -> Result<()> {
        list.interrupt(&mut self.out);
        // An `_id` that has no value of its own is left out.
        self.write_error_object(error).or_else(|_| self.write_error_object(ObjectError { id: None, ..error }))
    }

    fn write_error_object(&mut self, error: ObjectError<'_>) -> Result<()> {
        const EMPTY: [u8; MIN_DOCUMENT] = [MIN_DOCUMENT as u8, 0, 0, 0, 0];
        let source = error.id.unwrap_or(&EMPTY);
        self.write(source, Object::Error, Style::Map, None, |reader, names, _, values| {
            names.add("error");
            names.mark(Mark::Enter);
            names.add("code");
            values.write_value(Value::Text(Piece::whole(error.code.as_bytes())))?;
            names.add("message");
            values.write_value(Value::Text(Piece::whole(error.message.as_bytes())))?;
            if let Some((offset, path)) = error.place {
                names.add("offset");
                values.write_value(Value::Number(offset as f64))?;
                names.add("path");
                values.write_with(|out| {
                    format::push_array_header(path.len(), out)?;
                    path.iter().try_for_each(|name| format::push_str(name.as_bytes(), out))
                })?;
            }
            names.add("index");
            values.write_value(Value::Number(error.index.into()))?;
            if error.id.is_some() {
                let id = find_id(reader)?;
                names.add("_id");
                write_id(&id, names, values)?;
            }
            names.mark(Mark::Leave);
            Ok(())
        })
    }

    /// A cursor's document, with its objects as `changes` or `documents`. `kind` is what they are; by default, changes
    /// where the cursor is a change stream's.
    pub fn write_batch(
        &mut self,
        source: &[u8],
        kind: Option<Kind>,
        on_error: OnError,
        options: Options<'_>,
    ) -> std::result::Result<(), BatchFailure> {
        let (batch, kind, mut list) = self.write_reply(source, kind, options).map_err(BatchFailure::Reply)?;
        for (index, spot) in (0..).zip(batch.spots_from(0)) {
            let result = match spot.bytes(source) {
                Ok(object) => self.write_object(object.unwrap_or(&[]), kind, options, Some(&mut list)),
                Err(error) => Err(error.into()),
            };
            match (result, on_error) {
                (Ok(()), _) => {}
                (Err(failure), OnError::Fail) => {
                    return Err(BatchFailure::Object { failure, index, kind, spot });
                }
                (Err(Failure::TooLong), OnError::Write) => {
                    return Err(BatchFailure::Reply(Failure::TooLong));
                }
                (Err(Failure::Bson(error)), OnError::Write) => self
                    .write_failure(error, &spot, source, kind, index, &mut list)
                    .map_err(BatchFailure::Reply)?,
            }
        }
        self.end_list(&list);
        Ok(())
    }

    /// The fields of a cursor's document, the last of which is the list of its objects.
    fn write_reply(
        &mut self,
        source: &[u8],
        kind: Option<Kind>,
        options: Options<'_>,
    ) -> Result<(Batch, Kind, List)> {
        let mut reply = None;
        self.write(source, Object::Reply, Style::OpenMap, None, |reader, names, _, values| {
            let batch = read_reply(reader, names, values)?;
            let kind = batch.kind(kind);
            names.add("byteLength");
            values.write_value(Value::Number(source.len() as f64))?;
            names.add(if kind == Kind::Change { "changes" } else { "documents" });
            values.write_with(|_| Ok(()))?;
            reply = Some((batch, kind));
            Ok(())
        })?;
        let (batch, kind) = reply.ok_or(ErrorKind::NoBatch.at(0))?;
        let list = self.begin_list(batch.items.len(), options)?;
        Ok((batch, kind, list))
    }

    /// What [`Packer::write_object`] failed with, in its place: of the object at a spot of the source.
    #[cold]
    pub fn write_failure(
        &mut self,
        error: Error,
        spot: &Spot,
        source: &[u8],
        kind: Kind,
        index: u32,
        list: &mut List,
    ) -> Result<()> {
        let object = spot.bytes(source).ok().flatten().unwrap_or(&[]);
        let (offset, path) = spot.locate(error.offset, object, index as usize);
        let (message, id) = (error.kind.to_string(), id_document(object, kind));
        let error = ObjectError {
            code: error.kind.code(),
            message: &message,
            place: Some((offset, &path)),
            index,
            id: id.as_deref(),
        };
        self.write_error(error, list)
    }

    /// An object, of which `read` writes the names and values. Where it fails, the message is as it was before.
    #[inline(always)]
    fn write<'a>(
        &mut self,
        source: &'a [u8],
        object: Object,
        style: Style,
        list: Option<&mut List>,
        read: impl FnOnce(&mut Reader<'a>, &mut Names<'a, '_>, &mut Text, &mut Values<'_>) -> Result<()>,
    ) -> Result<()> {
        let start = self.out.len();
        let result = self.write_from(start, source, object, style, list, read);
        if result.is_err() {
            self.out.truncate(start);
        }
        result
    }

    #[inline(always)]
    fn write_from<'a>(
        &mut self,
        start: usize,
        source: &'a [u8],
        object: Object,
        style: Style,
        list: Option<&mut List>,
        read: impl FnOnce(&mut Reader<'a>, &mut Names<'a, '_>, &mut Text, &mut Values<'_>) -> Result<()>,
    ) -> Result<()> {
        let Self { shapes, layouts, guesses, text, out, slots, spare, .. } = self;
        let guess = &mut guesses[object as usize];
        let mut reader = Reader::new(source)?;
        slots.clear();
        let expected = guess.shape(shapes);
        let steps = expected.and_then(|shape| layouts.get(shape, shapes, style)).map(Layout::in_order);
        let steps = steps.unwrap_or(&[]);
        let is_in_order = !steps.is_empty();
        let mut names = Names::begin(shapes, expected);
        read(&mut reader, &mut names, text, &mut Values { out, slots, steps, source })?;
        let names = names.end();
        let generation = shapes.generation();
        let (made, layout);
        match names.find(shapes) {
            Sequence::Shape(shape) => {
                let as_expected = expected == Some(shape) && generation == shapes.generation();
                *guess = Guess::of(shape, shapes);
                layout = layouts.of(shape, shapes, style)?;
                if is_in_order && as_expected {
                    layout.end(slots, out);
                    return Ok(list.map_or(Ok(()), |list| list.add(start, layout.names(), out))?);
                }
            }
            Sequence::New(sequence) => {
                made = Layout::new(sequence.tokens(), style)?;
                layout = &made;
            }
        }
        spare.clear();
        layout.assemble(slots, out, spare);
        out.truncate(start);
        out.extend_from_slice(spare);
        Ok(list.map_or(Ok(()), |list| list.add(start, layout.names(), out))?)
    }
}
