//! The sink that makes JavaScript objects: rows, identities, change events.
//!
//! One call of a JavaScript function, compiled once for the document's names, makes the whole object: for 12 columns
//! a tenth of what setting 12 properties costs, and V8 keeps such objects in fast mode. Most values do not cross one
//! by one either: a call of Node-API costs 15 to 20 ns each time, compiled JavaScript a few to take a bigint or a
//! double out of shared memory or a short string out of a longer one. So numbers pass in shared memory, and short
//! ASCII texts together as one string, of at most [`MAX_TOGETHER`] bytes: a slice of it keeps all of it alive.
//!
//! Every conversion has two phases: reading, in which JavaScript does not run and the source stays as it is, and
//! making, in which JavaScript may run and the source is not looked at. What passes between them is a [`Plan`].

use std::cell::{Cell, RefCell};
use std::mem::offset_of;
use std::ptr;

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
use crate::shape::{MAX_TOKENS, Mark, Names, Sequence, ShapeId, Shapes, Token};
use crate::spec;
use crate::strict;
use crate::text::Text;
use crate::utf8::{self, Encoded};

/// ObjectIds that can pass beside the values of one object.
const MAX_OBJECT_IDS: usize = 16;
/// Strings of at least so many bytes stand over the source's memory, where that was asked for. An external string
/// costs about as much as copying so many bytes.
const MIN_EXTERNAL: usize = 16 << 10;
/// Documents of at most so many bytes do without large buffers.
const SMALL: usize = 512 << 10;
/// After so many of them, large buffers that one before needed are given back. Not at once: memory that is new for
/// every document of a run of large ones costs as much as what is written to it.
const PATIENCE: u32 = 64;
/// Values whose room is kept from one document to the next.
const KEPT_SLOTS: usize = 4096;
/// Texts of at most so many bytes pass together with others.
const MAX_SHORT: usize = 64;
/// Bytes of the texts of one object that pass together.
const MAX_TOGETHER: usize = 1024;

/// What one JavaScript thread uses again and again.
#[derive(Default)]
pub struct Workshop {
    shapes: Shapes,
    text: Text,
    scratch: utf8::Scratch,
    parts: Parts,
    arguments: Vec<Value>,
    small_since_large: u32,
}

/// What the object of a document is to be made of.
struct Plan {
    layout: Layout,
    /// A value that the making function is given besides: the source, for views of it.
    given: Option<Value>,
    parts: Parts,
}

/// The values of an object, in the order of its names, and what passes beside them.
#[derive(Default)]
struct Parts {
    slots: Vec<Slot>,
    /// Short texts of one byte a character, one after another.
    together: Vec<u8>,
    has_short: bool,
    object_ids: Vec<[u8; spec::OBJECT_ID]>,
    elements: Vec<Element>,
}

/// A value.
#[derive(Clone, Copy)]
struct Slot {
    /// Where a text stands among those that pass together, from its first byte to behind its last; or a negative
    /// number that says what the slot is.
    place: [i32; 2],
    /// The bits of a bigint or a double.
    bits: u64,
    /// Any other value.
    handle: Value,
}

/// What a slot is, where it is no text: the numbers of lib/row-functions.js.
#[derive(Clone, Copy)]
#[repr(i32)]
enum SlotKind {
    Handle = -1,
    Bigint = -2,
    Double = -3,
    Null = -4,
}

impl Parts {
    fn clear(&mut self) {
        self.slots.clear();
        self.together.clear();
        self.has_short = false;
        self.object_ids.clear();
        self.elements.clear();
    }

    #[inline(always)]
    fn push(&mut self, kind: SlotKind, bits: u64, handle: Value) {
        self.slots.push(Slot { place: [kind as i32, 0], bits, handle });
    }

    #[inline(always)]
    fn push_handle(&mut self, handle: Value) {
        self.push(SlotKind::Handle, 0, handle);
    }

    #[inline(always)]
    fn push_double(&mut self, number: f64) {
        self.push(SlotKind::Double, number.to_bits(), ptr::null_mut());
    }

    #[inline(always)]
    fn push_bigint(&mut self, number: i64) {
        self.push(SlotKind::Bigint, number as u64, ptr::null_mut());
    }

    #[inline(always)]
    fn push_null(&mut self) {
        self.push(SlotKind::Null, 0, ptr::null_mut());
    }

    /// Puts a text with the others, if it is short and there is room.
    #[inline(always)]
    fn push_short(&mut self, latin1: &[u8]) -> bool {
        let start = self.together.len();
        let end = start + latin1.len();
        if latin1.len() > MAX_SHORT || end > MAX_TOGETHER {
            return false;
        }
        self.has_short = true;
        self.together.extend_from_slice(latin1);
        self.slots.push(Slot { place: [start as i32, end as i32], bits: 0, handle: ptr::null_mut() });
        true
    }

    /// The value of a slot by itself.
    fn value(&self, env: Env, slot: &Slot) -> Result<Value> {
        match slot.place {
            [kind, _] if kind == SlotKind::Handle as i32 => Ok(slot.handle),
            [kind, _] if kind == SlotKind::Bigint as i32 => env.bigint(slot.bits as i64),
            [kind, _] if kind == SlotKind::Double as i32 => env.number(f64::from_bits(slot.bits)),
            [start, end] if start >= 0 => env.string_latin1(&self.together[start as usize..end as usize]),
            _ => env.null(),
        }
    }
}

/// The names and marks of an object.
enum Layout {
    Shape(ShapeId),
    /// As strings and numbers.
    New(Vec<Value>),
}

/// What makes the object.
enum Maker {
    /// A function compiled for its names.
    Compiled(Value),
    /// The one that takes any names.
    Tokens(Vec<Value>),
}

/// A value that the deserialiser makes.
struct Element {
    /// Its slot.
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
    /// `(tokens) => (given, together, ...values) => object`
    compile: Reference,
    /// `(tokens, given, values, objectIds) => object`
    assemble: Reference,
    /// `(document) => value`: the value of the only element
    deserialize_element: Reference,
    /// The same, with documents left as `Buffer`s
    deserialize_raw_element: Reference,
    /// Memory that the functions above read; `_keep_shared` keeps it alive.
    shared: *mut Shared,
    _keep_shared: Reference,
    /// Whether a function is reading the shared memory. What it calls may convert again, and must not write there.
    is_busy: Cell<bool>,
    /// What was compiled for each shape, in this generation of shapes.
    compiled: RefCell<Vec<Option<Reference>>>,
    generation: Cell<u32>,
}

/// Memory that passes values to JavaScript: the arrays of lib/builders.js.
#[repr(C)]
struct Shared {
    bits: [u64; MAX_TOKENS],
    places: [[i32; 2]; MAX_TOKENS],
    object_ids: [[u8; spec::OBJECT_ID]; MAX_OBJECT_IDS],
}

impl Builders {
    /// Takes the functions from an object, and gives the shared memory to its `setShared`.
    pub fn from_object(env: Env, object: Value) -> Result<Self> {
        let keep = |name| env.property(object, name).and_then(|function| env.keep(function));
        let (buffer, shared) = env.array_buffer(size_of::<Shared>())?;
        let offset = |bytes: usize| env.number(bytes as f64);
        let arguments =
            [buffer, offset(offset_of!(Shared, places))?, offset(offset_of!(Shared, object_ids))?];
        env.call(env.property(object, c"setShared")?, &arguments)?;
        Ok(Self {
            compile: keep(c"compile")?,
            assemble: keep(c"assemble")?,
            deserialize_element: keep(c"deserializeElement")?,
            deserialize_raw_element: keep(c"deserializeRawElement")?,
            shared: shared.cast(),
            _keep_shared: env.keep(buffer)?,
            is_busy: Cell::default(),
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
        let (tokens, generation) = {
            let Workshop { shapes, scratch, .. } = &mut *workshop.borrow_mut();
            (tokens(env, shapes.get(shape).tokens(), scratch)?, shapes.generation())
        };
        let function = env.call(env.get(self.compile)?, &[array_of(env, &tokens)?])?;
        if workshop.borrow().shapes.generation() != generation || self.generation.get() != generation {
            // JavaScript ran, and the shape's number may be another's by now.
            return Ok(function);
        }
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
    fn make(&self, env: Env, plan: Plan, workshop: &RefCell<Workshop>) -> Result<Value> {
        let Plan { layout, given, mut parts } = plan;
        // First the function: what JavaScript does then may make all shapes forgotten.
        let maker = match layout {
            Layout::Shape(shape) if !self.is_busy.get() => {
                Maker::Compiled(self.function(env, shape, workshop)?)
            }
            Layout::Shape(shape) => {
                let Workshop { shapes, scratch, .. } = &mut *workshop.borrow_mut();
                Maker::Tokens(tokens(env, shapes.get(shape).tokens(), scratch)?)
            }
            Layout::New(tokens) => Maker::Tokens(tokens),
        };
        for element in &parts.elements {
            parts.slots[element.index].handle = self.deserialize(env, element)?;
        }
        let undefined = env.undefined()?;
        let given = given.unwrap_or(undefined);
        let object = match maker {
            Maker::Compiled(function) => self.call(env, function, given, undefined, &parts, workshop),
            Maker::Tokens(tokens) => {
                let tokens = array_of(env, &tokens)?;
                let values = env.array(parts.slots.iter().map(|slot| parts.value(env, slot)))?;
                let object_ids = env.uint8_array(parts.object_ids.as_flattened())?;
                env.call(env.get(self.assemble)?, &[tokens, given, values, object_ids])
            }
        };
        // The room goes back for the next document; a wide one's does not stay for ever.
        if parts.slots.capacity() <= KEPT_SLOTS {
            workshop.borrow_mut().parts = parts;
        }
        object
    }

    /// Calls a compiled function with values that pass in shared memory.
    #[inline(always)]
    fn call(
        &self,
        env: Env,
        function: Value,
        given: Value,
        undefined: Value,
        parts: &Parts,
        workshop: &RefCell<Workshop>,
    ) -> Result<Value> {
        let together = if parts.has_short { env.string_latin1(&parts.together)? } else { undefined };
        let mut arguments = std::mem::take(&mut workshop.borrow_mut().arguments);
        arguments.clear();
        arguments.extend([given, together]);
        self.pass(parts, undefined, &mut arguments);
        self.is_busy.set(true);
        let object = env.call_with(undefined, function, &arguments);
        self.is_busy.set(false);
        workshop.borrow_mut().arguments = arguments;
        object
    }

    /// Puts values where the JavaScript functions read them, and handles among their arguments.
    #[inline(always)]
    fn pass(&self, parts: &Parts, undefined: Value, arguments: &mut Vec<Value>) {
        assert!(parts.slots.len() <= MAX_TOKENS);
        for (index, slot) in parts.slots.iter().enumerate() {
            // SAFETY: the memory is an ArrayBuffer's of this size, which `_keep_shared` keeps alive and which is not
            // given to anyone who could detach it; the index is below `MAX_TOKENS`.
            unsafe {
                (&raw mut (*self.shared).places[index]).write(slot.place);
                (&raw mut (*self.shared).bits[index]).write(slot.bits);
            }
            arguments.push(if slot.handle.is_null() { undefined } else { slot.handle });
        }
        assert!(parts.object_ids.len() <= MAX_OBJECT_IDS);
        for (index, id) in parts.object_ids.iter().enumerate() {
            // SAFETY: as above; the index is below `MAX_OBJECT_IDS`.
            unsafe { (&raw mut (*self.shared).object_ids[index]).write(*id) };
        }
    }

    #[inline(never)]
    fn deserialize(&self, env: Env, element: &Element) -> Result<Value> {
        let function = if element.raw { self.deserialize_raw_element } else { self.deserialize_element };
        let value = env.call(env.get(function)?, &[element.document]);
        value.map_err(|_| Failure::Refused(element.offset))
    }
}

/// Names and marks as JavaScript takes them: strings and numbers. An array of them is made by [`array_of`] where
/// nothing is borrowed: filling an array runs JavaScript where `Array.prototype` has setters.
fn tokens<'t>(
    env: Env,
    tokens: impl Iterator<Item = Token<'t>>,
    scratch: &mut utf8::Scratch,
) -> Result<Vec<Value>> {
    let tokens = tokens.map(|token| match token {
        Token::Name(name) => string(env, name, scratch),
        Token::Mark(mark) => env.number(f64::from(mark as u8)),
    });
    tokens.collect()
}

fn array_of(env: Env, values: &[Value]) -> Result<Value> {
    env.array(values.iter().copied().map(Ok))
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
        let Workshop { shapes, text, scratch, parts, small_since_large, .. } = &mut *workshop.borrow_mut();
        parts.clear();
        let Input { bytes, given, owner } = input;
        let mut reader = Reader::new(bytes)?;
        let mut names = Names::begin(shapes, guess.shape(shapes));
        let result = read(&mut reader, &mut names, text, &mut Values { env, scratch, parts, owner });
        if text.is_large() || scratch.is_large() {
            *small_since_large = if bytes.len() > SMALL { 0 } else { *small_since_large + 1 };
            if *small_since_large >= PATIENCE {
                text.shrink();
                scratch.shrink();
                *small_since_large = 0;
            }
        }
        result?;
        let names = names.end();
        let layout = match names.find(shapes) {
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
