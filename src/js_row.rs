//! The sink that makes JavaScript rows.
//!
//! Values become handles, one after another; then one call of a JavaScript function, compiled once for the
//! document's sequence of names, makes the object: for 12 columns a tenth of what setting 12 properties costs,
//! and V8 keeps such objects in fast mode. Rows without such a function (new names, too many) are filled by a
//! function that takes names and values in turn.
//!
//! Every conversion has two phases: reading, in which JavaScript does not run and the source stays as it is, and
//! making, in which JavaScript may run and the source is not looked at. What passes between them is handles.

use std::cell::RefCell;

use crate::change_event::{self, Field};
use crate::column::{Column, ColumnSink};
use crate::datetime::DateRenderMode;
use crate::error::ErrorKind;
use crate::identity::{Id, IdElement, document_of};
use crate::node::{Env, Failure, Reference, Result, Value};
use crate::reader::Reader;
use crate::row::read_row;
use crate::shape::{Names, Sequence, ShapeId, Shapes};
use crate::spec;
use crate::text::Text;
use crate::utf8::{self, Encoded};

/// Names and values given to one call that fills a row.
const PAIRS_PER_CALL: usize = 64;
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

/// JavaScript functions that make rows, and identities of one implementation of BSON.
pub struct Builders {
    /// `(names) => (...columns) => row`, `(names) => (id, ...columns) => ({ row, replicaId })`, and
    /// `(names) => (...columns) => ({ row, replicaId })` with the ObjectId of the bytes in `object_id_bytes`:
    /// by [`Maker`].
    compile: [Reference; 3],
    /// `(row | undefined, name, value, …) => row`
    fill: Reference,
    /// `(row, id) => ({ row, replicaId })`
    identify: Reference,
    /// `() => ObjectId`
    object_id: Reference,
    /// `(array, start, end) => Buffer`, over the array's memory
    view: Reference,
    /// `(document) => object`
    deserialize: Reference,
    /// `(document) => value`: the value of the only element
    deserialize_element: Reference,
    /// The same, with documents left as `Buffer`s
    deserialize_raw_element: Reference,
    /// Memory of a `Uint8Array` that the functions above read; `_keep_bytes` keeps it alive.
    object_id_bytes: *mut [u8; spec::OBJECT_ID],
    _keep_bytes: Reference,
    compiled: RefCell<Compiled>,
}

/// Which function makes an object.
#[derive(Clone, Copy)]
enum Maker {
    Row,
    Identified,
    ObjectId,
}

/// The functions compiled for each shape, by [`Maker`].
#[derive(Default)]
struct Compiled {
    generation: u32,
    functions: [Vec<Option<Reference>>; 3],
}

/// What an object's names are.
enum ObjectNames {
    Shape(ShapeId),
    New(Vec<Value>),
}

/// An identity, independent of the source.
enum OwnId {
    ObjectId([u8; spec::OBJECT_ID]),
    Value(Value),
    /// A document to be deserialised, and where the value stands in the source.
    Document(Value, usize),
}

impl Builders {
    /// Takes the functions from an object, and gives the array through which ObjectIds pass to its `setBytes`.
    pub fn from_object(env: Env, object: Value) -> Result<Self> {
        let keep = |name| env.property(object, name).and_then(|function| env.keep(function));
        let (buffer, bytes) = env.array_buffer(spec::OBJECT_ID)?;
        let view = env.view(buffer, spec::OBJECT_ID)?;
        env.call(env.property(object, c"setBytes")?, &[view])?;
        Ok(Self {
            compile: [keep(c"compileRow")?, keep(c"compileIdentifiedRow")?, keep(c"compileObjectIdRow")?],
            fill: keep(c"fill")?,
            identify: keep(c"identify")?,
            object_id: keep(c"objectId")?,
            view: keep(c"view")?,
            deserialize: keep(c"deserialize")?,
            deserialize_element: keep(c"deserializeElement")?,
            deserialize_raw_element: keep(c"deserializeRawElement")?,
            object_id_bytes: bytes.cast(),
            _keep_bytes: env.keep(view)?,
            compiled: RefCell::default(),
        })
    }

    /// The function that makes objects of a shape, compiled where it is wanted for the first time.
    #[inline(always)]
    fn function(
        &self,
        env: Env,
        maker: Maker,
        shape: ShapeId,
        workshop: &RefCell<Workshop>,
    ) -> Result<Value> {
        let known = {
            let compiled = self.compiled.borrow();
            compiled.functions[maker as usize].get(shape.0 as usize).copied().flatten()
        };
        match known {
            Some(function) => env.get(function),
            None => self.compile(env, maker, shape, workshop),
        }
    }

    #[cold]
    fn compile(&self, env: Env, maker: Maker, shape: ShapeId, workshop: &RefCell<Workshop>) -> Result<Value> {
        let names = {
            let Workshop { shapes, scratch, .. } = &mut *workshop.borrow_mut();
            env.array(shapes.get(shape).names().map(|name| string(env, name, scratch)))?
        };
        let function = env.call(env.get(self.compile[maker as usize])?, &[names])?;
        let reference = env.keep(function)?;
        let mut compiled = self.compiled.borrow_mut();
        let functions = &mut compiled.functions[maker as usize];
        let index = shape.0 as usize;
        if functions.len() <= index {
            functions.resize(index + 1, None);
        }
        if let Some(replaced) = functions[index].replace(reference) {
            env.release(replaced)?;
        }
        Ok(function)
    }

    /// Lets all compiled functions go when the shapes they were compiled for are forgotten.
    #[inline(always)]
    fn follow(&self, env: Env, generation: u32) -> Result<()> {
        if self.compiled.borrow().generation == generation { Ok(()) } else { self.forget(env, generation) }
    }

    #[cold]
    fn forget(&self, env: Env, generation: u32) -> Result<()> {
        let old = self.compiled.replace(Compiled { generation, ..Compiled::default() });
        old.functions.into_iter().flatten().flatten().try_for_each(|function| env.release(function))
    }

    /// Puts an ObjectId where the JavaScript functions read it.
    #[inline(always)]
    fn set_object_id(&self, id: &[u8; spec::OBJECT_ID]) {
        // SAFETY: the memory is an ArrayBuffer's of this size, which `_keep_bytes` keeps alive and which is not
        // given to anyone who could detach it.
        unsafe { self.object_id_bytes.write(*id) };
    }

    /// An identity as a value of its own.
    fn id_value(&self, env: Env, id: OwnId) -> Result<Value> {
        match id {
            OwnId::ObjectId(bytes) => {
                self.set_object_id(&bytes);
                env.call(env.get(self.object_id)?, &[])
            }
            OwnId::Value(value) => Ok(value),
            OwnId::Document(document, offset) => {
                let value = env.call(env.get(self.deserialize_element)?, &[document]);
                value.or_else(|_| env.rethrow_at(ErrorKind::Deserialize, offset, &[env.string("_id")?]))
            }
        }
    }
}

impl OwnId {
    #[inline(always)]
    fn new(env: Env, element: &IdElement<'_>, scratch: &mut utf8::Scratch) -> Result<Self> {
        Ok(match element.read()? {
            Id::ObjectId(bytes) => Self::ObjectId(*bytes),
            Id::String(text) => Self::Value(string(env, text, scratch)?),
            Id::Number(number) => Self::Value(env.number(number)?),
            Id::Int64(number) => Self::Value(env.bigint(number)?),
            Id::Other(element_type, value) => {
                let document = env.uint8_array(&document_of(element_type, value)?)?;
                Self::Document(document, element.offset())
            }
        })
    }
}

/// A string of UTF-8 that may be ill-formed.
#[inline(always)]
pub fn string(env: Env, text: &[u8], scratch: &mut utf8::Scratch) -> Result<Value> {
    match utf8::transcode(text, scratch) {
        Encoded::Ascii => env.string_latin1(text),
        Encoded::Latin1(text) => env.string_latin1(text),
        Encoded::Utf16(text) => env.string_utf16(text),
    }
}

/// Collects handles.
struct Values<'w> {
    env: Env,
    scratch: &'w mut utf8::Scratch,
    values: &'w mut Vec<Value>,
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

/// How a document is converted.
#[derive(Clone, Copy)]
pub struct Conversion {
    /// How dates are rendered.
    pub mode: DateRenderMode,
    /// Whether to refuse what the specification forbids though its meaning is clear.
    pub strict: bool,
    /// Whether to give `{ row, replicaId }` or the row alone.
    pub identify: bool,
}

/// The shape of the last document, and the generation of shapes it is of.
#[derive(Clone, Copy, Default)]
pub struct Guess(Option<(u32, ShapeId)>);

impl Guess {
    #[inline(always)]
    fn shape(self, generation: u32) -> Option<ShapeId> {
        self.0.and_then(|(of, shape)| (of == generation).then_some(shape))
    }
}

/// One document to its row.
#[inline(always)]
pub fn convert(
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
    let (values, names, id) = {
        let mut borrowed = workshop.borrow_mut();
        let Workshop { shapes, text, scratch, values } = &mut *borrowed;
        values.clear();
        // The place for an identity before the columns, for the functions that take one.
        values.push(env.undefined()?);
        let mut reader = Reader::new(source)?;
        let mut names = Names::begin(guess.shape(shapes.generation()));
        let mut sink = Values { env, scratch, values };
        let id = read_row(&mut reader, conversion.mode, shapes, &mut names, text, &mut sink)?;
        let id = match id {
            Some(id) if conversion.identify => Some(OwnId::new(env, &id, scratch)?),
            None if conversion.identify => return Err(ErrorKind::NoId.at(0).into()),
            _ => None,
        };
        let names = end_names(env, &mut names, shapes, scratch, guess)?;
        text.shrink();
        scratch.shrink();
        (std::mem::take(values), names, id)
    };
    make(env, builders, workshop, names, values, id)
}

/// Finds the shape of the names that were read; new names become strings.
#[inline(always)]
fn end_names(
    env: Env,
    names: &mut Names<'_>,
    shapes: &mut Shapes,
    scratch: &mut utf8::Scratch,
    guess: &mut Guess,
) -> Result<ObjectNames> {
    match names.end(shapes) {
        Sequence::Shape(shape) => {
            *guess = Guess(Some((shapes.generation(), shape)));
            Ok(ObjectNames::Shape(shape))
        }
        Sequence::New(names) => {
            let names = names.iter().map(|name| string(env, name, scratch)).collect::<Result<_>>()?;
            Ok(ObjectNames::New(names))
        }
    }
}

/// The object of names and of values, of which the first is a place for an identity.
#[inline(always)]
fn make(
    env: Env,
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    names: ObjectNames,
    mut values: Vec<Value>,
    id: Option<OwnId>,
) -> Result<Value> {
    let object = match names {
        ObjectNames::Shape(shape) => make_shaped(env, builders, workshop, shape, &mut values, id),
        ObjectNames::New(names) => make_new(env, builders, &names, &values[1..], id),
    };
    // The vector goes back for the next document; a wide one's does not stay for ever.
    if values.capacity() <= KEPT_VALUES {
        workshop.borrow_mut().values = values;
    }
    object
}

/// The object of a shape: one call.
#[inline(always)]
fn make_shaped(
    env: Env,
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    shape: ShapeId,
    values: &mut [Value],
    id: Option<OwnId>,
) -> Result<Value> {
    let generation = workshop.borrow().shapes.generation();
    builders.follow(env, generation)?;
    match id {
        None => env.call(builders.function(env, Maker::Row, shape, workshop)?, &values[1..]),
        Some(OwnId::ObjectId(bytes)) => {
            let function = builders.function(env, Maker::ObjectId, shape, workshop)?;
            builders.set_object_id(&bytes);
            env.call(function, &values[1..])
        }
        Some(id) => {
            // First the function: making the id may run JavaScript that converts and so forgets shapes.
            let function = builders.function(env, Maker::Identified, shape, workshop)?;
            values[0] = builders.id_value(env, id)?;
            env.call(function, values)
        }
    }
}

/// An object of any names and any number of them, filled a few at a time.
#[inline(never)]
fn make_new(
    env: Env,
    builders: &Builders,
    names: &[Value],
    values: &[Value],
    id: Option<OwnId>,
) -> Result<Value> {
    let fill = env.get(builders.fill)?;
    let mut row = env.undefined()?;
    let mut arguments = Vec::with_capacity(1 + 2 * PAIRS_PER_CALL);
    let mut rest = names.iter().zip(values);
    loop {
        arguments.clear();
        arguments.push(row);
        arguments.extend(rest.by_ref().take(PAIRS_PER_CALL).flat_map(|(&name, &value)| [name, value]));
        row = env.call(fill, &arguments)?;
        if rest.len() == 0 {
            break;
        }
    }
    match id {
        Some(id) => {
            let id = builders.id_value(env, id)?;
            env.call(env.get(builders.identify)?, &[row, id])
        }
        None => Ok(row),
    }
}

/// An `_id` as a value, and as the document of it alone: what `parseDocumentId` gives.
pub fn identity(
    env: Env,
    id: IdElement<'_>,
    builders: &Builders,
    workshop: &RefCell<Workshop>,
) -> Result<(Value, Value)> {
    let own = OwnId::new(env, &id, &mut workshop.borrow_mut().scratch)?;
    let document = env.uint8_array(&id.to_document()?)?;
    Ok((builders.id_value(env, own)?, document))
}

/// A field of a change event, independent of the source.
enum OwnField {
    Value(Value),
    /// A document to be deserialised.
    Document(Value),
    /// A document that stays a `Buffer` over the event's memory.
    View(usize, usize),
    /// A document of one element, whose value is to be deserialised.
    Element(Value),
}

/// A change event with its fields deserialised and its documents left as `Buffer`s over `event`, the array whose
/// bytes `source` is: what `parseChangeDocument` gives.
pub fn change_event(
    env: Env,
    event: Value,
    source: &[u8],
    builders: &Builders,
    workshop: &RefCell<Workshop>,
    guess: &mut Guess,
) -> Result<Value> {
    let (fields, names) = {
        let mut borrowed = workshop.borrow_mut();
        let Workshop { shapes, scratch, .. } = &mut *borrowed;
        let mut reader = Reader::new(source)?;
        let mut names = Names::begin(guess.shape(shapes.generation()));
        let mut fields = Vec::new();
        loop {
            let offset = reader.offset();
            let Some(field) = change_event::read_field(&mut reader, shapes, &mut names)? else { break };
            fields.push((OwnField::new(env, field, scratch)?, offset));
        }
        let names = end_names(env, &mut names, shapes, scratch, guess)?;
        scratch.shrink();
        (fields, names)
    };
    let mut values = Vec::with_capacity(1 + fields.len());
    values.push(env.undefined()?);
    for (index, (field, offset)) in fields.into_iter().enumerate() {
        let value =
            field.make(env, event, builders).or_else(|failure| match names.get(env, index, workshop)? {
                Some(name) => env.rethrow_at(ErrorKind::Deserialize, offset, &[name]),
                None => Err(failure),
            });
        values.push(value?);
    }
    make(env, builders, workshop, names, values, None)
}

impl ObjectNames {
    /// A name, for an error; `None` where its shape has been forgotten meanwhile.
    #[cold]
    fn get(&self, env: Env, index: usize, workshop: &RefCell<Workshop>) -> Result<Option<Value>> {
        match self {
            Self::New(names) => Ok(names.get(index).copied()),
            Self::Shape(shape) => {
                let Workshop { shapes, scratch, .. } = &mut *workshop.borrow_mut();
                let name = shapes.try_get(*shape).and_then(|shape| shape.names().nth(index));
                name.map(|name| string(env, name, scratch)).transpose()
            }
        }
    }
}

impl OwnField {
    fn new(env: Env, field: Field<'_>, scratch: &mut utf8::Scratch) -> Result<Self> {
        Ok(match field {
            Field::Text(text) => Self::Value(string(env, text, scratch)?),
            Field::Number(number) => Self::Value(env.number(number)?),
            Field::Int64(number) => Self::Value(env.bigint(number)?),
            Field::Null => Self::Value(env.null()?),
            Field::Document(bytes) => Self::Document(env.uint8_array(bytes)?),
            Field::RawDocument { start, end } => Self::View(start, end),
            Field::Other(element_type, value) => {
                Self::Element(env.uint8_array(&document_of(element_type, value)?)?)
            }
        })
    }

    fn make(self, env: Env, event: Value, builders: &Builders) -> Result<Value> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Document(document) => env.call(env.get(builders.deserialize)?, &[document]),
            Self::View(start, end) => {
                let arguments = [event, env.number(start as f64)?, env.number(end as f64)?];
                env.call(env.get(builders.view)?, &arguments)
            }
            Self::Element(document) => env.call(env.get(builders.deserialize_raw_element)?, &[document]),
        }
    }
}
