//! The sink that makes JavaScript objects: rows, identities, change events.
//!
//! Values become handles, one after another; then one call of a JavaScript function, compiled once for the
//! document's names, makes the whole object: for 12 columns a tenth of what setting 12 properties costs, and V8
//! keeps such objects in fast mode.
//!
//! Every conversion has two phases: reading, in which JavaScript does not run and the source stays as it is, and
//! making, in which JavaScript may run and the source is not looked at. What passes between them is a [`Plan`].

use std::cell::{Cell, RefCell};

use crate::change_event::{ChangeOptions, read_change, read_event};
use crate::column::{Column, ColumnSink};
use crate::cursor_reply::{Batch, read_reply};
use crate::datetime::DateRenderMode;
use crate::deserialize::{self, ValueSink, write_value};
use crate::error::ErrorKind;
use crate::identity::{IdElement, document_of};
use crate::node::{Env, Failure, Reference, Result, Value};
use crate::reader::Reader;
use crate::row::read_row;
use crate::shape::{Mark, Names, Sequence, ShapeId, Shapes, Token};
use crate::spec;
use crate::text::Text;
use crate::utf8::{self, Encoded};

/// ObjectIds that can pass beside the values of one object.
const MAX_OBJECT_IDS: usize = 16;
/// Handles whose room is kept from one document to the next.
const KEPT_VALUES: usize = 4096;

/// What one JavaScript thread uses again and again.
#[derive(Default)]
pub struct Workshop {
    shapes: Shapes,
    text: Text,
    scratch: utf8::Scratch,
    values: Vec<Value>,
}

/// What the object of a document is to be made of.
struct Plan {
    layout: Layout,
    /// The first is a value that the making function is given besides: the source, for views of it.
    values: Vec<Value>,
    object_ids: ObjectIds,
    elements: Vec<Element>,
}

/// The names and marks of an object.
enum Layout {
    Shape(ShapeId),
    /// As strings and numbers.
    New(Value),
}

/// ObjectIds, which JavaScript reads from shared memory in the order of their marks.
#[derive(Clone, Copy, Default)]
struct ObjectIds {
    ids: [[u8; spec::OBJECT_ID]; MAX_OBJECT_IDS],
    count: usize,
}

/// A value that the deserialiser makes.
struct Element {
    /// Its place among the values.
    index: usize,
    /// A document of the element alone, named `_id`.
    document: Value,
    raw: bool,
    offset: usize,
}

/// The shape of the last document, and the generation of shapes it is of.
#[derive(Clone, Copy, Default)]
pub struct Guess(Option<(u32, ShapeId)>);

impl Guess {
    #[inline(always)]
    fn shape(self, shapes: &Shapes) -> Option<ShapeId> {
        self.0.and_then(|(generation, shape)| (generation == shapes.generation()).then_some(shape))
    }
}

/// JavaScript functions that make objects, with the classes of one implementation of BSON.
pub struct Builders {
    /// `(tokens) => (given, ...values) => object`
    compile: Reference,
    /// `(tokens, values) => object`
    assemble: Reference,
    /// `(document) => value`: the value of the only element
    deserialize_element: Reference,
    /// The same, with documents left as `Buffer`s
    deserialize_raw_element: Reference,
    /// Memory of a `Uint8Array` in which the functions above find ObjectIds; `_keep_object_ids` keeps it alive.
    object_ids: *mut [u8; spec::OBJECT_ID],
    _keep_object_ids: Reference,
    /// What was compiled for each shape, in this generation of shapes.
    compiled: RefCell<Vec<Option<Reference>>>,
    generation: Cell<u32>,
}

impl Builders {
    /// Takes the functions from an object, and gives the array of ObjectIds to its `setObjectIds`.
    pub fn from_object(env: Env, object: Value) -> Result<Self> {
        let keep = |name| env.property(object, name).and_then(|function| env.keep(function));
        let (buffer, object_ids) = env.array_buffer(MAX_OBJECT_IDS * spec::OBJECT_ID)?;
        let view = env.view(buffer, MAX_OBJECT_IDS * spec::OBJECT_ID)?;
        env.call(env.property(object, c"setObjectIds")?, &[view])?;
        Ok(Self {
            compile: keep(c"compile")?,
            assemble: keep(c"assemble")?,
            deserialize_element: keep(c"deserializeElement")?,
            deserialize_raw_element: keep(c"deserializeRawElement")?,
            object_ids: object_ids.cast(),
            _keep_object_ids: env.keep(view)?,
            compiled: RefCell::default(),
            generation: Cell::default(),
        })
    }

    /// The function that makes objects of a shape, compiled where it is wanted for the first time.
    #[inline(always)]
    fn function(&self, env: Env, shape: ShapeId, workshop: &RefCell<Workshop>) -> Result<Value> {
        let known = self.compiled.borrow().get(shape.0 as usize).copied().flatten();
        match known {
            Some(function) => env.get(function),
            None => self.compile(env, shape, workshop),
        }
    }

    #[cold]
    fn compile(&self, env: Env, shape: ShapeId, workshop: &RefCell<Workshop>) -> Result<Value> {
        let tokens = {
            let Workshop { shapes, scratch, .. } = &mut *workshop.borrow_mut();
            tokens(env, shapes.get(shape).tokens(), scratch)?
        };
        let function = env.call(env.get(self.compile)?, &[tokens])?;
        let reference = env.keep(function)?;
        let mut compiled = self.compiled.borrow_mut();
        let index = shape.0 as usize;
        if compiled.len() <= index {
            compiled.resize(index + 1, None);
        }
        if let Some(replaced) = compiled[index].replace(reference) {
            env.release(replaced)?;
        }
        Ok(function)
    }

    /// Lets all compiled functions go when the shapes they were compiled for are forgotten.
    #[cold]
    fn forget(&self, env: Env, generation: u32) -> Result<()> {
        self.generation.set(generation);
        let compiled = self.compiled.take();
        compiled.into_iter().flatten().try_for_each(|function| env.release(function))
    }

    /// Makes the object: runs JavaScript.
    #[inline(always)]
    fn make(&self, env: Env, mut plan: Plan, workshop: &RefCell<Workshop>) -> Result<Value> {
        for element in &plan.elements {
            plan.values[element.index] = self.deserialize(env, element)?;
        }
        let object = match plan.layout {
            Layout::Shape(shape) => {
                let function = self.function(env, shape, workshop)?;
                self.pass(&plan.object_ids);
                env.call(function, &plan.values)
            }
            Layout::New(tokens) => {
                let values = env.array(plan.values.iter().copied().map(Ok))?;
                self.pass(&plan.object_ids);
                env.call(env.get(self.assemble)?, &[tokens, values])
            }
        };
        // The vector goes back for the next document; a wide one's does not stay for ever.
        if plan.values.capacity() <= KEPT_VALUES {
            workshop.borrow_mut().values = plan.values;
        }
        object
    }

    /// Puts ObjectIds where the JavaScript functions read them.
    #[inline(always)]
    fn pass(&self, object_ids: &ObjectIds) {
        for (index, id) in object_ids.ids[..object_ids.count].iter().enumerate() {
            // SAFETY: the memory is an ArrayBuffer's of `MAX_OBJECT_IDS`, which `_keep_object_ids` keeps alive and
            // which is not given to anyone who could detach it.
            unsafe { self.object_ids.add(index).write(*id) };
        }
    }

    #[inline(never)]
    fn deserialize(&self, env: Env, element: &Element) -> Result<Value> {
        let function = if element.raw { self.deserialize_raw_element } else { self.deserialize_element };
        let value = env.call(env.get(function)?, &[element.document]);
        value.map_err(|_| Failure::Refused(element.offset))
    }
}

/// Names and marks as JavaScript takes them: strings and numbers.
fn tokens<'t>(
    env: Env,
    tokens: impl Iterator<Item = Token<'t>>,
    scratch: &mut utf8::Scratch,
) -> Result<Value> {
    let tokens = tokens.map(|token| match token {
        Token::Name(name) => string(env, name, scratch),
        Token::Mark(mark) => env.number(f64::from(mark as u8)),
    });
    env.array(tokens.collect::<Vec<_>>().into_iter())
}

/// A string of UTF-8 that may be ill-formed.
#[inline(always)]
fn string(env: Env, text: &[u8], scratch: &mut utf8::Scratch) -> Result<Value> {
    match utf8::transcode(text, scratch) {
        Encoded::Ascii => env.string_latin1(text),
        Encoded::Latin1(text) => env.string_latin1(text),
        Encoded::Utf16(text) => env.string_utf16(text),
    }
}

/// Collects values as handles.
struct Values<'w> {
    env: Env,
    scratch: &'w mut utf8::Scratch,
    values: &'w mut Vec<Value>,
    object_ids: ObjectIds,
    elements: Vec<Element>,
}

impl ColumnSink for Values<'_> {
    type Error = Failure;

    #[inline(always)]
    fn write_column(&mut self, column: Column<'_>) -> Result<()> {
        let env = self.env;
        let value = match column {
            Column::Null => env.null()?,
            Column::Integer(number) => env.bigint(number)?,
            Column::Real(number) => env.number(number)?,
            Column::Ascii(text) => env.string_latin1(text)?,
            Column::Text(text) => string(env, text, self.scratch)?,
            Column::Blob(bytes) => env.uint8_array(bytes)?,
            Column::Unsigned(number) => env.bigint_unsigned(number)?,
            Column::Huge(number) => huge(env, number)?,
        };
        self.values.push(value);
        Ok(())
    }
}

impl ValueSink for Values<'_> {
    type Error = Failure;

    #[inline(always)]
    fn takes_object_id(&self) -> bool {
        self.object_ids.count < MAX_OBJECT_IDS
    }

    #[inline(always)]
    fn write_value(&mut self, value: deserialize::Value<'_>) -> Result<()> {
        use deserialize::Value;
        let env = self.env;
        let value = match value {
            Value::Undefined => env.undefined()?,
            Value::Null => env.null()?,
            Value::Boolean(boolean) => env.boolean(boolean)?,
            Value::Number(number) => env.number(number)?,
            Value::Int64(number) => env.bigint(number)?,
            Value::Text(text) => string(env, text, self.scratch)?,
            Value::Date(time_value) => env.date(time_value as f64)?,
            Value::ObjectId(id) => {
                self.object_ids.ids[self.object_ids.count] = *id;
                self.object_ids.count += 1;
                return Ok(());
            }
            Value::Timestamp(timestamp) => {
                self.values.push(env.number((timestamp >> 32) as f64)?);
                env.number(f64::from(timestamp as u32))?
            }
            Value::View { start, end } => {
                self.values.push(env.number(start as f64)?);
                env.number(end as f64)?
            }
            Value::Document(bytes) => env.uint8_array(bytes)?,
            Value::Element { element_type, bytes, offset, raw } => {
                let document = env.uint8_array(&document_of(element_type, bytes)?)?;
                self.elements.push(Element { index: self.values.len(), document, raw, offset });
                document
            }
        };
        self.values.push(value);
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

/// Makes an object of a document: `read` writes its names and values.
#[inline(always)]
fn convert<'a>(
    env: Env,
    source: &'a [u8],
    given: Option<Value>,
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    guess: &mut Guess,
    read: impl FnOnce(&mut Reader<'a>, &Shapes, &mut Names<'a>, &mut Text, &mut Values<'_>) -> Result<()>,
) -> Result<Value> {
    let plan = {
        let Workshop { shapes, text, scratch, values } = &mut *workshop.borrow_mut();
        values.clear();
        values.push(match given {
            Some(given) => given,
            None => env.undefined()?,
        });
        let mut reader = Reader::new(source)?;
        let mut names = Names::begin(guess.shape(shapes));
        let (object_ids, elements) = (ObjectIds::default(), Vec::new());
        let mut sink = Values { env, scratch, values, object_ids, elements };
        read(&mut reader, shapes, &mut names, text, &mut sink)?;
        let Values { object_ids, elements, .. } = sink;
        let layout = match names.end(shapes) {
            Sequence::Shape(shape) => Layout::Shape(shape),
            Sequence::New(sequence) => Layout::New(tokens(env, sequence.tokens(), scratch)?),
        };
        if let Layout::Shape(shape) = layout {
            let generation = shapes.generation();
            *guess = Guess(Some((generation, shape)));
            if builders.generation.get() != generation {
                builders.forget(env, generation)?;
            }
        }
        text.shrink();
        scratch.shrink();
        Plan { layout, values: std::mem::take(values), object_ids, elements }
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
}

/// A document to its row and identity: `{ row, replicaId }`.
#[inline(always)]
pub fn identified_row(
    env: Env,
    source: &[u8],
    conversion: Conversion,
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    guess: &mut Guess,
) -> Result<Value> {
    if conversion.strict {
        crate::strict::check(source)?;
    }
    convert(env, source, None, builders, workshop, guess, |reader, shapes, names, text, sink| {
        names.add(shapes, "row");
        names.mark(shapes, Mark::Enter);
        let id = read_row(reader, conversion.mode, shapes, names, text, sink)?;
        names.mark(shapes, Mark::Leave);
        let id = id.ok_or(ErrorKind::NoId.at(0))?;
        names.add(shapes, "replicaId");
        write_id(&id, shapes, names, sink)
    })
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
    convert(env, source, None, builders, workshop, guess, |reader, shapes, names, text, sink| {
        read_row(reader, mode, shapes, names, text, sink).map(drop)
    })
}

/// An identity, which must be told from every other.
#[inline(always)]
fn write_id<'a>(
    id: &IdElement<'a>,
    shapes: &Shapes,
    names: &mut Names<'a>,
    sink: &mut Values<'_>,
) -> Result<()> {
    id.check()?;
    write_value(&mut id.value(), id.element_type(), shapes, names, sink)
}

/// A document's identity as a value and as a document of it alone: `{ id, idBuffer }`.
pub fn identity(
    env: Env,
    source: &[u8],
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    guess: &mut Guess,
) -> Result<Value> {
    convert(env, source, None, builders, workshop, guess, |reader, shapes, names, _, sink| {
        let id = crate::identity::find_id(reader)?;
        names.add(shapes, "id");
        write_id(&id, shapes, names, sink)?;
        names.add(shapes, "idBuffer");
        sink.write_column(Column::Blob(&id.to_document()?))
    })
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
    convert(env, source, Some(event), builders, workshop, guess, |reader, shapes, names, _, sink| {
        read_event(reader, shapes, names, sink)
    })
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
    let reply = convert(env, source, None, builders, workshop, guess, |reader, shapes, names, _, sink| {
        batch = Some(read_reply(reader, shapes, names, sink)?);
        Ok(())
    })?;
    let batch = batch.ok_or(ErrorKind::NoBatch.at(0))?;
    Ok((reply, batch))
}

/// A change event to its rows and identity.
#[inline(always)]
pub fn change(
    env: Env,
    source: &[u8],
    conversion: Conversion,
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    guess: &mut Guess,
) -> Result<Value> {
    if conversion.strict {
        crate::strict::check(source)?;
    }
    let options = ChangeOptions { mode: conversion.mode, update_description: conversion.update_description };
    convert(env, source, None, builders, workshop, guess, |reader, shapes, names, text, sink| {
        read_change(reader, options, shapes, names, text, sink)
    })
}
