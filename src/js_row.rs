//! The sinks that make JavaScript objects: rows, identities, change events.
//!
//! Every conversion has two phases: reading, in which JavaScript does not run and the source stays as it is, and
//! making, in which JavaScript may run and the source is not looked at. What passes between them is a [`Plan`].

use std::cell::RefCell;

use crate::builders::{Builders, Guess, Layout, Workshop, tokens};
use crate::change_event::{ChangeOptions, read_change, read_event};
use crate::column::{Column, ColumnSink};
use crate::cursor_reply::{Batch, read_reply};
use crate::datetime::DateRenderMode;
use crate::deserialize::{self, ValueSink, write_value};
use crate::error::ErrorKind;
use crate::identity::{IdElement, document_of};
use crate::node::{Env, Failure, Result, Value};
use crate::parts::{Element, MAX_OBJECT_IDS, Parts, SlotKind};
use crate::reader::Reader;
use crate::row::read_row;
use crate::scan;
use crate::shape::{Mark, Names, Sequence, ShapeId};
use crate::strict;
use crate::text::Text;
use crate::utf8::{self, Encoded};

/// Strings of at least so many bytes stand over the source's memory, where that was asked for. An external string has
/// a reference and a finalizer to pay for; where copying becomes dearer than those has not been measured.
const MIN_EXTERNAL: usize = 16 << 10;
/// Up to so many bytes, to look whether a text is ASCII costs less than to set a kernel up for it.
const SHORT: usize = 64;

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
        if self.parts.has_room(text.len()) {
            self.parts.push_together(text);
        } else {
            self.parts.push_handle(self.env.string_latin1(text)?);
        }
        Ok(())
    }

    #[inline(always)]
    fn push_text(&mut self, text: &[u8]) -> Result<()> {
        if text.len() <= SHORT && text.is_ascii() {
            return self.push_latin1(text);
        }
        if let Some(owner) = self.owner
            && text.len() >= MIN_EXTERNAL
            && scan::is_ascii(text)
        {
            // SAFETY: the text is the source's, which is this array's memory; the caller chose `zeroCopy` and with
            // it not to write there again.
            let string = unsafe { self.env.external_latin1(text, owner) }?;
            self.parts.push_handle(string);
            return Ok(());
        }
        self.push_transcoded(text)
    }

    fn push_transcoded(&mut self, text: &[u8]) -> Result<()> {
        let Self { env, scratch, parts, .. } = self;
        match utf8::transcode(text, scratch) {
            Encoded::Utf16(text) => parts.push_handle(env.string_utf16(text)?),
            Encoded::Ascii if parts.has_room(text.len()) => parts.push_together(text),
            Encoded::Latin1(text) if parts.has_room(text.len()) => parts.push_together(text),
            Encoded::Ascii => parts.push_handle(env.string_latin1(text)?),
            Encoded::Latin1(text) => parts.push_handle(env.string_latin1(text)?),
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
            Column::Null => self.parts.push_constant(SlotKind::Null),
            Column::Integer(number) => self.parts.push_bigint(number),
            Column::Real(number) => self.parts.push_double(SlotKind::Double, number),
            Column::Ascii(text) => self.push_latin1(text)?,
            Column::Text(text) => self.push_text(text)?,
            Column::Json(text) => self.push_transcoded(text)?,
            Column::Blob(bytes) => self.parts.push_handle(env.uint8_array(bytes)?),
            Column::Unsigned(number) => match i64::try_from(number) {
                Ok(number) => self.parts.push_bigint(number),
                Err(_) => self.parts.push_handle(env.bigint_unsigned(number)?),
            },
            Column::Huge(number) => self.parts.push_handle(huge(env, number)?),
        }
        Ok(())
    }
}

impl ValueSink for Values<'_> {
    type Error = Failure;

    #[inline(always)]
    fn takes_object_id(&self) -> bool {
        self.parts.object_ids.len() - self.parts.start.object_id < MAX_OBJECT_IDS
    }

    #[inline(always)]
    fn write_value(&mut self, value: deserialize::Value<'_>) -> Result<()> {
        use deserialize::Value;
        let env = self.env;
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
            Value::Document(bytes) => self.parts.push_handle(env.uint8_array(bytes)?),
            Value::Element { element_type, bytes, offset, raw } => {
                let document = env.uint8_array(&document_of(element_type, bytes)?)?;
                self.parts.elements.push(Element { handle: self.parts.handles.len(), document, raw, offset });
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

/// Where objects are made.
#[derive(Clone, Copy)]
pub struct Site<'s> {
    /// The environment.
    pub env: Env,
    /// What makes them.
    pub builders: &'s Builders,
    /// What is used for that.
    pub workshop: &'s RefCell<Workshop>,
}

/// What the object of a document is to be made of.
pub struct Plan {
    layout: Layout,
    /// A value that the making function is given besides: the source, for views of it.
    given: Option<Value>,
    parts: Parts,
}

impl Plan {
    /// The object of the only or last parts.
    pub fn of(layout: Layout, parts: Parts) -> Self {
        Self { layout, given: None, parts }
    }

    /// The object.
    pub fn make(self, site: Site<'_>) -> Result<Value> {
        site.builders.make(site.env, self.layout, self.given, self.parts, site.workshop)
    }

    /// The object, or what the calling JavaScript makes it of.
    #[inline(always)]
    pub fn leave_or_make(self, site: Site<'_>) -> Result<Value> {
        site.builders.leave_or_make(site.env, self.layout, self.given, self.parts, site.workshop)
    }
}

/// Bytes to be read, and what the array that they are of is used for.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// The array over whose memory strings may stand.
    pub owner: Option<Value>,
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

/// Reads a document: `read` writes its names and values, these behind those that `parts` has.
#[inline(always)]
fn read_object<'a>(
    site: Site<'_>,
    input: Input<'a>,
    guess: &mut Guess,
    parts: &mut Parts,
    read: impl FnOnce(&mut Reader<'a>, &mut Names<'a, '_>, &mut Text, &mut Values<'_>) -> Result<()>,
) -> Result<Layout> {
    let Site { env, builders, workshop } = site;
    let workshop = &mut *workshop.borrow_mut();
    let Workshop { shapes, text, scratch, .. } = workshop;
    let Input { bytes, owner } = input;
    let mut reader = Reader::new(bytes)?;
    let mut names = Names::begin(shapes, guess.shape(shapes));
    let result = read(&mut reader, &mut names, text, &mut Values { env, scratch, parts, owner });
    let names = names.end();
    workshop.rest(bytes.len());
    result?;
    let Workshop { shapes, scratch, .. } = workshop;
    let shape: ShapeId = match names.find(shapes) {
        Sequence::Shape(shape) => shape,
        Sequence::New(sequence) => return Ok(Layout::Any(tokens(env, sequence.tokens(), scratch)?)),
    };
    *guess = Guess::of(shape, shapes);
    builders.layout(env, shape, workshop)
}

/// What an object is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A document, to its row and identity.
    Document,
    /// A change event, to its rows and identity.
    Change,
}

/// Reads a document or change event behind what `parts` has.
#[inline(always)]
pub fn read_into(
    site: Site<'_>,
    kind: Kind,
    input: Input<'_>,
    conversion: Conversion,
    guess: &mut Guess,
    parts: &mut Parts,
) -> Result<Layout> {
    let Conversion { mode, update_description, .. } = conversion;
    match kind {
        Kind::Document => {
            if conversion.strict {
                strict::check(input.bytes, strict::Kind::Document)?;
            }
            read_object(site, input, guess, parts, |reader, names, text, sink| {
                names.add("row");
                names.mark(Mark::Enter);
                let id = read_row(reader, mode, names, text, sink)?;
                names.mark(Mark::Leave);
                let id = id.ok_or(ErrorKind::NoId.at(0))?;
                names.add("replicaId");
                write_id(&id, names, sink)
            })
        }
        Kind::Change => {
            if conversion.strict {
                strict::check(input.bytes, strict::Kind::Event)?;
            }
            let options = ChangeOptions { mode, update_description };
            read_object(site, input, guess, parts, |reader, names, text, sink| {
                read_change(reader, options, names, text, sink)
            })
        }
    }
}

/// Reads a document or change event.
#[inline(always)]
pub fn read(
    site: Site<'_>,
    kind: Kind,
    input: Input<'_>,
    conversion: Conversion,
    guess: &mut Guess,
) -> Result<Plan> {
    plan(site, None, |parts| read_into(site, kind, input, conversion, guess, parts))
}

/// A plan of one object.
#[inline(always)]
fn plan(
    site: Site<'_>,
    given: Option<Value>,
    read: impl FnOnce(&mut Parts) -> Result<Layout>,
) -> Result<Plan> {
    let mut parts = std::mem::take(&mut site.workshop.borrow_mut().parts);
    parts.clear();
    match read(&mut parts) {
        Ok(layout) => Ok(Plan { layout, given, parts }),
        Err(failure) => {
            site.workshop.borrow_mut().take_room(parts);
            Err(failure)
        }
    }
}

/// Reads a document to its row.
pub fn read_plain_row(site: Site<'_>, bytes: &[u8], mode: DateRenderMode, guess: &mut Guess) -> Result<Plan> {
    plan(site, None, |parts| {
        read_object(site, Input { bytes, owner: None }, guess, parts, |reader, names, text, sink| {
            read_row(reader, mode, names, text, sink).map(drop)
        })
    })
}

/// An identity, which must be told from every other.
#[inline(always)]
fn write_id<'a>(id: &IdElement<'a>, names: &mut Names<'a, '_>, sink: &mut Values<'_>) -> Result<()> {
    id.check()?;
    write_value(&mut id.value(), id.element_type(), names, sink)
}

/// Reads a document's identity as a value and as a document of it alone: `{ id, idBuffer }`.
pub fn read_identity(site: Site<'_>, bytes: &[u8], guess: &mut Guess) -> Result<Plan> {
    plan(site, None, |parts| {
        read_object(site, Input { bytes, owner: None }, guess, parts, |reader, names, _, sink| {
            let id = crate::identity::find_id(reader)?;
            names.add("id");
            write_id(&id, names, sink)?;
            names.add("idBuffer");
            sink.write_column(Column::Blob(&id.to_document()?))
        })
    })
}

/// Reads a change event, with its fields deserialised and its documents left as `Buffer`s over `event`, the array
/// whose bytes these are.
pub fn read_event_fields(site: Site<'_>, event: Value, bytes: &[u8], guess: &mut Guess) -> Result<Plan> {
    plan(site, Some(event), |parts| {
        read_object(site, Input { bytes, owner: None }, guess, parts, |reader, names, _, sink| {
            read_event(reader, names, sink)
        })
    })
}

/// Reads the fields of a cursor's document, and where its batch stands.
pub fn read_cursor(site: Site<'_>, bytes: &[u8], guess: &mut Guess) -> Result<(Plan, Batch)> {
    let mut batch = None;
    let plan = plan(site, None, |parts| {
        read_object(site, Input { bytes, owner: None }, guess, parts, |reader, names, _, sink| {
            batch = Some(read_reply(reader, names, sink)?);
            Ok(())
        })
    })?;
    let batch = batch.ok_or(ErrorKind::NoBatch.at(0))?;
    Ok((plan, batch))
}
