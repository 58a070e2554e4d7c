//! The sinks that make JavaScript objects: rows, identities, change events.
//!
//! Every conversion has two phases: reading, in which JavaScript does not run and the source stays as it is, and
//! making, in which JavaScript may run and the source is not looked at. What passes between them is a [`Plan`].

use std::cell::RefCell;

use crate::builders::{Builders, Guess, Layout, Plan, Workshop, string, tokens};
use crate::change_event::{ChangeOptions, read_change, read_event};
use crate::column::{Column, ColumnSink};
use crate::cursor_reply::{Batch, read_reply};
use crate::datetime::DateRenderMode;
use crate::deserialize::{self, ValueSink, write_value};
use crate::error::ErrorKind;
use crate::identity::{IdElement, document_of};
use crate::node::{Env, Failure, Result, Value};
use crate::parts::{Element, MAX_OBJECT_IDS, MAX_SHORT, Parts};
use crate::reader::Reader;
use crate::row::read_row;
use crate::shape::{Mark, Names, Sequence};
use crate::strict;
use crate::text::Text;
use crate::utf8::{self, Encoded};

/// Strings of at least so many bytes stand over the source's memory, where that was asked for. An external string has
/// a reference and a finalizer to pay for; where copying becomes dearer than those has not been measured.
const MIN_EXTERNAL: usize = 16 << 10;

/// Collects values.
struct Values<'w> {
    env: Env,
    scratch: &'w mut utf8::Scratch,
    parts: &'w mut Parts,
    /// The array over whose memory long strings may stand.
    owner: Option<Value>,
}

impl Values<'_> {
    /// A text of one byte a character.
    #[inline(always)]
    fn push_latin1(&mut self, text: &[u8]) -> Result<()> {
        if !self.parts.push_short(text) {
            self.parts.push_handle(self.env.string_latin1(text)?);
        }
        Ok(())
    }

    #[inline(always)]
    fn push_text(&mut self, text: &[u8]) -> Result<()> {
        if text.len() <= MAX_SHORT && text.is_ascii() && self.parts.push_short(text) {
            return Ok(());
        }
        if let Some(owner) = self.owner
            && text.len() >= MIN_EXTERNAL
            && text.is_ascii()
        {
            // SAFETY: the text is the source's, which is this array's memory; the caller chose `zeroCopy` and with
            // it not to write there again.
            let string = unsafe { self.env.external_latin1(text, owner) }?;
            self.parts.push_handle(string);
            return Ok(());
        }
        match utf8::transcode(text, self.scratch) {
            Encoded::Ascii => self.parts.push_handle(self.env.string_latin1(text)?),
            Encoded::Utf16(text) => self.parts.push_handle(self.env.string_utf16(text)?),
            Encoded::Latin1(text) if self.parts.push_short(text) => {}
            Encoded::Latin1(text) => self.parts.push_handle(self.env.string_latin1(text)?),
        }
        Ok(())
    }
}

impl ColumnSink for Values<'_> {
    type Error = Failure;

    #[inline(always)]
    fn write_column(&mut self, column: Column<'_>) -> Result<()> {
        let env = self.env;
        match column {
            Column::Null => self.parts.push_null(),
            Column::Integer(number) => self.parts.push_bigint(number),
            Column::Real(number) => self.parts.push_double(number),
            Column::Ascii(text) => self.push_latin1(text)?,
            Column::Text(text) => self.push_text(text)?,
            Column::Json(text) => self.parts.push_handle(string(env, text, self.scratch)?),
            Column::Blob(bytes) => self.parts.push_handle(env.uint8_array(bytes)?),
            Column::Unsigned(number) => self.parts.push_handle(env.bigint_unsigned(number)?),
            Column::Huge(number) => self.parts.push_handle(huge(env, number)?),
        }
        Ok(())
    }
}

impl ValueSink for Values<'_> {
    type Error = Failure;

    #[inline(always)]
    fn takes_object_id(&self) -> bool {
        self.parts.object_ids.len() < MAX_OBJECT_IDS
    }

    #[inline(always)]
    fn write_value(&mut self, value: deserialize::Value<'_>) -> Result<()> {
        use deserialize::Value;
        let env = self.env;
        match value {
            Value::Undefined => self.parts.push_handle(env.undefined()?),
            Value::Null => self.parts.push_null(),
            Value::Boolean(boolean) => self.parts.push_handle(env.boolean(boolean)?),
            Value::Number(number) => self.parts.push_double(number),
            Value::Int64(number) => self.parts.push_bigint(number),
            Value::Text(text) => self.push_text(text)?,
            Value::Date(time_value) => self.parts.push_handle(env.date(time_value as f64)?),
            Value::ObjectId(id) => self.parts.object_ids.push(*id),
            Value::Timestamp(timestamp) => {
                self.parts.push_double((timestamp >> 32) as f64);
                self.parts.push_double(f64::from(timestamp as u32));
            }
            Value::Binary(binary) => {
                // Latin-1 is bytes as they are.
                self.push_latin1(binary.data)?;
                self.parts.push_double(f64::from(binary.subtype));
            }
            Value::View { start, end } => {
                self.parts.push_double(start as f64);
                self.parts.push_double(end as f64);
            }
            Value::Document(bytes) => self.parts.push_handle(env.uint8_array(bytes)?),
            Value::Element { element_type, bytes, offset, raw } => {
                let document = env.uint8_array(&document_of(element_type, bytes)?)?;
                self.parts.elements.push(Element { index: self.parts.slots.len(), document, raw, offset });
                self.parts.push_handle(document);
            }
        }
        Ok(())
    }
}

/// The bigint of an integral double of any size: its 53 bits, shifted.
#[cold]
fn huge(env: Env, number: f64) -> Result<Value> {
    const MANTISSA_BITS: u64 = f64::MANTISSA_DIGITS as u64 - 1;
    /// Words of 2^1024, which is above all doubles.
    const WORDS: usize = 1024 / 64;
    let bits = number.to_bits();
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1) | 1 << MANTISSA_BITS;
    let exponent = (bits >> MANTISSA_BITS & 0x7ff) - 1023 - MANTISSA_BITS;
    let (word, shift) = ((exponent / 64) as usize, exponent % 64);
    let mut words = [0; WORDS];
    let shifted = u128::from(mantissa) << shift;
    words[word] = shifted as u64;
    if let Some(next) = words.get_mut(word + 1) {
        *next = (shifted >> 64) as u64;
    }
    env.bigint_words(number < 0.0, &words)
}

/// Bytes to be read, and what the array that they are of is used for.
struct Input<'a> {
    bytes: &'a [u8],
    /// The array, for views of it.
    given: Option<Value>,
    /// The array, for strings over its memory.
    owner: Option<Value>,
}

/// Makes an object of a document: `read` writes its names and values.
#[inline(always)]
fn convert<'a>(
    env: Env,
    input: Input<'a>,
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    guess: &mut Guess,
    read: impl FnOnce(&mut Reader<'a>, &mut Names<'a, '_>, &mut Text, &mut Values<'_>) -> Result<()>,
) -> Result<Value> {
    let plan = {
        let mut borrowed = workshop.borrow_mut();
        let Workshop { shapes, text, scratch, parts, .. } = &mut *borrowed;
        parts.clear();
        let Input { bytes, given, owner } = input;
        let mut reader = Reader::new(bytes)?;
        let mut names = Names::begin(shapes, guess.shape(shapes));
        let result = read(&mut reader, &mut names, text, &mut Values { env, scratch, parts, owner });
        let names = names.end();
        borrowed.rest(bytes.len());
        result?;
        let Workshop { shapes, scratch, parts, .. } = &mut *borrowed;
        let layout = match names.find(shapes) {
            Sequence::Shape(shape) => Layout::Shape(shape),
            Sequence::New(sequence) => Layout::New(tokens(env, sequence.tokens(), scratch)?),
        };
        if let Layout::Shape(shape) = layout {
            *guess = Guess::of(shape, shapes);
            builders.follow(env, shapes)?;
        }
        Plan { layout, given, parts: std::mem::take(parts) }
    };
    builders.make(env, plan, workshop)
}

/// How a document is converted.
#[derive(Clone, Copy)]
pub struct Conversion {
    /// How dates are rendered.
    pub mode: DateRenderMode,
    /// Whether to refuse what the specification forbids though its meaning is clear.
    pub strict: bool,
    /// Whether a change's `updateDescription` is wanted.
    pub update_description: bool,
    /// Whether long strings may stand over the source's memory.
    pub zero_copy: bool,
}

/// A document to its row and identity: `{ row, replicaId }`. `owner` is the array whose memory `source` is, where
/// strings may stand over it.
#[inline(always)]
pub fn identified_row(
    env: Env,
    source: &[u8],
    owner: Option<Value>,
    conversion: Conversion,
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    guess: &mut Guess,
) -> Result<Value> {
    if conversion.strict {
        strict::check(source, strict::Kind::Document)?;
    }
    convert(
        env,
        Input { bytes: source, given: None, owner },
        builders,
        workshop,
        guess,
        |reader, names, text, sink| {
            names.add("row");
            names.mark(Mark::Enter);
            let id = read_row(reader, conversion.mode, names, text, sink)?;
            names.mark(Mark::Leave);
            let id = id.ok_or(ErrorKind::NoId.at(0))?;
            names.add("replicaId");
            write_id(&id, names, sink)
        },
    )
}

/// A document to its row.
pub fn row(
    env: Env,
    source: &[u8],
    mode: DateRenderMode,
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    guess: &mut Guess,
) -> Result<Value> {
    convert(
        env,
        Input { bytes: source, given: None, owner: None },
        builders,
        workshop,
        guess,
        |reader, names, text, sink| read_row(reader, mode, names, text, sink).map(drop),
    )
}

/// An identity, which must be told from every other.
#[inline(always)]
fn write_id<'a>(id: &IdElement<'a>, names: &mut Names<'a, '_>, sink: &mut Values<'_>) -> Result<()> {
    id.check()?;
    write_value(&mut id.value(), id.element_type(), names, sink)
}

/// A document's identity as a value and as a document of it alone: `{ id, idBuffer }`.
pub fn identity(
    env: Env,
    source: &[u8],
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    guess: &mut Guess,
) -> Result<Value> {
    convert(
        env,
        Input { bytes: source, given: None, owner: None },
        builders,
        workshop,
        guess,
        |reader, names, _, sink| {
            let id = crate::identity::find_id(reader)?;
            names.add("id");
            write_id(&id, names, sink)?;
            names.add("idBuffer");
            sink.write_column(Column::Blob(&id.to_document()?))
        },
    )
}

/// A change event with its fields deserialised and its documents left as `Buffer`s over `event`, the array whose
/// bytes `source` is.
pub fn change_event(
    env: Env,
    event: Value,
    source: &[u8],
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    guess: &mut Guess,
) -> Result<Value> {
    convert(
        env,
        Input { bytes: source, given: Some(event), owner: None },
        builders,
        workshop,
        guess,
        |reader, names, _, sink| read_event(reader, names, sink),
    )
}

/// The fields of a cursor's document, and where its batch stands.
pub fn cursor_reply(
    env: Env,
    source: &[u8],
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    guess: &mut Guess,
) -> Result<(Value, Batch)> {
    let mut batch = None;
    let reply = convert(
        env,
        Input { bytes: source, given: None, owner: None },
        builders,
        workshop,
        guess,
        |reader, names, _, sink| {
            batch = Some(read_reply(reader, names, sink)?);
            Ok(())
        },
    )?;
    let batch = batch.ok_or(ErrorKind::NoBatch.at(0))?;
    Ok((reply, batch))
}

/// A change event to its rows and identity. `owner` as above.
#[inline(always)]
pub fn change(
    env: Env,
    source: &[u8],
    owner: Option<Value>,
    conversion: Conversion,
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    guess: &mut Guess,
) -> Result<Value> {
    if conversion.strict {
        strict::check(source, strict::Kind::Event)?;
    }
    let options = ChangeOptions { mode: conversion.mode, update_description: conversion.update_description };
    convert(
        env,
        Input { bytes: source, given: None, owner },
        builders,
        workshop,
        guess,
        |reader, names, text, sink| read_change(reader, options, names, text, sink),
    )
}
