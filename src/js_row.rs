//! The sinks that make JavaScript objects: rows, identities, change events.
//!
//! Every conversion has two phases: reading, in which JavaScript does not run and the source stays as it is, and
//! making, in which JavaScript may run and the source is not looked at. What passes between them is a [`Plan`].

use std::cell::RefCell;
use std::sync::Arc;

use crate::builders::{Builders, Layout, Workshop, string, tokens};
use crate::change_event::read_event;
use crate::column::{Column, ColumnSink};
use crate::cursor_reply::{Batch, read_reply};
use crate::datetime::DateRenderMode;
use crate::error::ErrorKind;
use crate::json_extract::{Extracted, Form, extract};
use crate::json_path::JsonPath;
use crate::kind::Kind;
use crate::names::{Names, Sequence};
use crate::node::{Env, Failure, Result, Value};
use crate::object::{self, ObjectOptions, write_id};
use crate::parts::{Make, Parts};
use crate::projection::Projection;
use crate::reader::Reader;
use crate::row::{RowOptions, read_row};
use crate::shape::{Guess, ShapeId};
use crate::text::Text;
use crate::unread::UnreadJson;
use crate::values::Values;

const UNREAD: &str = "The source of a column that was not read yet must be a Buffer or Uint8Array that is not detached or shortened";

/// Makes values at once.
struct Direct {
    env: Env,
    /// The array over whose memory long strings may stand.
    owner: Option<Value>,
}

impl Make for Direct {
    type Handle = Value;

    #[inline(always)]
    fn latin1(&mut self, text: &[u8]) -> Result<Value> {
        self.env.string_latin1(text)
    }

    fn ascii_of_source(&mut self, text: &[u8]) -> Result<Value> {
        match self.owner {
            // SAFETY: the text is the source's, which is this array's memory; the caller chose `zeroCopy` and with it
            // not to write there again.
            Some(owner) => unsafe { self.env.external_latin1(text, owner) },
            None => self.env.string_latin1(text),
        }
    }

    fn utf16(&mut self, text: &[u16]) -> Result<Value> {
        self.env.string_utf16(text)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<Value> {
        self.env.uint8_array(bytes)
    }

    fn unsigned(&mut self, number: u64) -> Result<Value> {
        self.env.bigint_unsigned(number)
    }

    fn huge(&mut self, number: f64) -> Result<Value> {
        self.env.bigint_huge(number)
    }
}

/// JSON text that was left unread in an array.
pub fn read_json(env: Env, source: Value, json: UnreadJson, workshop: &RefCell<Workshop>) -> Result<Value> {
    let mut borrowed = workshop.borrow_mut();
    let Workshop { text, scratch, .. } = &mut *borrowed;
    // SAFETY: the part is read to its end before JavaScript runs.
    let part = unsafe { env.source_part(source, (json.start, json.end), UNREAD) }?;
    let made = json.write(part.bytes(), text).map_err(Failure::from).and_then(|written| {
        if written.ascii { env.string_latin1(written.bytes) } else { string(env, written.bytes, scratch) }
    });
    borrowed.rest(part.bytes().len());
    made
}

/// What is at a path in the JSON of a document.
pub fn extract_json(
    env: Env,
    source: &[u8],
    path: &JsonPath,
    form: Form,
    mode: DateRenderMode,
    workshop: &RefCell<Workshop>,
) -> Result<Value> {
    let mut borrowed = workshop.borrow_mut();
    let Workshop { text, scratch, .. } = &mut *borrowed;
    let made = match extract(source, path, form, mode, text) {
        Ok(None | Some(Extracted::Null)) => env.null(),
        Ok(Some(Extracted::Integer(number))) => env.bigint(number),
        Ok(Some(Extracted::Real(number))) => env.number(number),
        Ok(Some(Extracted::Ascii(text))) => env.string_latin1(text),
        Ok(Some(Extracted::Text(text))) => string(env, text, scratch),
        Err(error) => Err(error.into()),
    };
    borrowed.rest(source.len());
    made
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
    /// A value that the making function is given besides: the source, for views of it and for what is read later.
    given: Option<Value>,
    parts: Box<Parts<Value>>,
}

impl Plan {
    /// The object of the only or last parts.
    pub fn of(layout: Layout, given: Option<Value>, parts: Parts<Value>) -> Self {
        Self { layout, given, parts: Box::new(parts) }
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
    /// Where in the array they begin.
    pub start: usize,
    /// The array, where strings may stand over its memory.
    pub owner: Option<Value>,
    /// The array, where something is read later.
    pub given: Option<Value>,
}

impl<'a> Input<'a> {
    /// All bytes of an array, which is used for nothing else.
    const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, start: 0, owner: None, given: None }
    }
}

/// How a document is converted.
#[derive(Clone)]
pub struct Conversion {
    /// How dates are rendered.
    pub mode: DateRenderMode,
    /// The columns that are wanted; all where there is none.
    pub projection: Option<Arc<Projection>>,
    /// Whether JSON text is left unread.
    pub lazy_json: bool,
    /// Whether to refuse what the specification forbids though its meaning is clear.
    pub strict: bool,
    /// Whether a change's `updateDescription` is wanted.
    pub update_description: bool,
    /// Whether long strings may stand over the source's memory.
    pub zero_copy: bool,
}

impl Conversion {
    /// As the core takes them.
    #[inline(always)]
    #[must_use]
    pub fn options(&self) -> ObjectOptions<'_> {
        let Self { mode, lazy_json, strict, update_description, .. } = *self;
        let row = RowOptions { mode, projection: self.projection.as_deref(), lazy_json };
        ObjectOptions { row, strict, update_description }
    }
}

/// Reads a document: `read` writes its names and values, these behind those that `parts` has.
#[inline(always)]
fn read_object<'a>(
    site: Site<'_>,
    input: Input<'a>,
    guess: &mut Guess,
    parts: &mut Parts<Value>,
    read: impl FnOnce(&mut Reader<'a>, &mut Names<'a, '_>, &mut Text, &mut Values<'_, Direct>) -> Result<()>,
) -> Result<Layout> {
    let Site { env, builders, workshop } = site;
    let workshop = &mut *workshop.borrow_mut();
    let Workshop { shapes, text, scratch, .. } = workshop;
    let Input { bytes, start, owner, .. } = input;
    let mut reader = Reader::new(bytes)?;
    let mut names = Names::begin(shapes, guess.shape(shapes));
    let sink = &mut Values { make: &mut Direct { env, owner }, scratch, parts, start };
    let result = read(&mut reader, &mut names, text, sink);
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

/// Reads a document or change event behind what `parts` has.
#[inline(always)]
pub fn read_into(
    site: Site<'_>,
    kind: Kind,
    input: Input<'_>,
    conversion: &Conversion,
    guess: &mut Guess,
    parts: &mut Parts<Value>,
) -> Result<Layout> {
    read_object(site, input, guess, parts, |reader, names, text, sink| {
        object::read_object(kind, conversion.options(), reader, names, text, sink)
    })
}

/// Reads a document or change event.
#[inline(always)]
pub fn read(
    site: Site<'_>,
    kind: Kind,
    input: Input<'_>,
    conversion: &Conversion,
    guess: &mut Guess,
) -> Result<Plan> {
    plan(site, input.given, |parts| read_into(site, kind, input, conversion, guess, parts))
}

/// A plan of one object.
#[inline(always)]
fn plan(
    site: Site<'_>,
    given: Option<Value>,
    read: impl FnOnce(&mut Parts<Value>) -> Result<Layout>,
) -> Result<Plan> {
    let mut parts = site.workshop.borrow_mut().give_room();
    match read(&mut parts) {
        Ok(layout) => Ok(Plan { layout, given, parts }),
        Err(failure) => {
            site.workshop.borrow_mut().take_room(parts);
            site.builders.leave_nothing();
            Err(failure)
        }
    }
}

/// Reads a document to its row.
pub fn read_plain_row(site: Site<'_>, bytes: &[u8], mode: DateRenderMode, guess: &mut Guess) -> Result<Plan> {
    plan(site, None, |parts| {
        read_object(site, Input::new(bytes), guess, parts, |reader, names, text, sink| {
            let options = RowOptions { mode, projection: None, lazy_json: false };
            read_row(reader, options, names, text, sink, &mut None)
        })
    })
}

/// Reads a document's identity as a value and as a document of it alone: `{ id, idBuffer }`.
pub fn read_identity(site: Site<'_>, bytes: &[u8], guess: &mut Guess) -> Result<Plan> {
    plan(site, None, |parts| {
        read_object(site, Input::new(bytes), guess, parts, |reader, names, _, sink| {
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
        read_object(site, Input::new(bytes), guess, parts, |reader, names, _, sink| {
            read_event(reader, names, sink)
        })
    })
}

/// Reads the fields of a cursor's document, and where its batch stands.
pub fn read_cursor(site: Site<'_>, bytes: &[u8], guess: &mut Guess) -> Result<(Plan, Batch)> {
    let mut batch = None;
    let plan = plan(site, None, |parts| {
        read_object(site, Input::new(bytes), guess, parts, |reader, names, _, sink| {
            batch = Some(read_reply(reader, names, sink)?);
            Ok(())
        })
    })?;
    let batch = batch.ok_or(ErrorKind::NoBatch.at(0))?;
    Ok((plan, batch))
}
