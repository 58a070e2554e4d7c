//! JavaScript functions that make objects.
//!
//! One call of a function, compiled once for the names of a document, makes the whole object: for 12 columns a tenth
//! of what setting 12 properties costs, and V8 keeps such objects in fast mode. Where such a function is reading the
//! shared memory, or names are not worth compiling, one that takes names and values by themselves makes it.

use std::cell::{Cell, RefCell};
use std::mem::offset_of;

use crate::node::{Env, Failure, Reference, Result, Value};
use crate::parts::{Element, MAX_OBJECT_IDS, Parts};
use crate::shape::{MAX_TOKENS, ShapeId, Shapes, Token};
use crate::spec;
use crate::text::Text;
use crate::utf8::{self, Encoded};

/// Documents of at most so many bytes do without large buffers.
const SMALL: usize = 512 << 10;
/// After so many of them, large buffers that one before needed are given back. Not at once: memory that is new for
/// every document of a run of large ones costs page faults.
const PATIENCE: u32 = 64;
/// Values whose room is kept from one document to the next.
const KEPT_SLOTS: usize = 4096;

/// What one JavaScript thread uses again and again.
#[derive(Default)]
pub struct Workshop {
    /// The layouts that were seen.
    pub shapes: Shapes,
    /// JSON text is written here.
    pub text: Text,
    /// Text becomes UTF-16 or Latin-1 here.
    pub scratch: utf8::Scratch,
    /// Room for an object's values.
    pub parts: Parts,
    arguments: Vec<Value>,
    small_since_large: u32,
}

impl Workshop {
    /// Gives large buffers back after a number of documents that did without them; `length` is the last one's.
    #[inline(always)]
    pub fn rest(&mut self, length: usize) {
        if self.text.is_large() || self.scratch.is_large() {
            self.small_since_large = if length > SMALL { 0 } else { self.small_since_large + 1 };
            if self.small_since_large >= PATIENCE {
                self.text.shrink();
                self.scratch.shrink();
                self.small_since_large = 0;
            }
        }
    }
}

/// What the object of a document is to be made of.
pub struct Plan {
    /// Its names.
    pub layout: Layout,
    /// A value that the making function is given besides: the source, for views of it.
    pub given: Option<Value>,
    /// Its values.
    pub parts: Parts,
}

/// The names and marks of an object.
pub enum Layout {
    /// Those of a shape.
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

/// The shape of the last document, and the generation of shapes it is of.
#[derive(Clone, Copy, Default)]
pub struct Guess(Option<(u32, ShapeId)>);

impl Guess {
    /// The shape, if it has not been forgotten.
    #[inline(always)]
    #[must_use]
    pub fn shape(self, shapes: &Shapes) -> Option<ShapeId> {
        self.0.and_then(|(generation, shape)| (generation == shapes.generation()).then_some(shape))
    }

    /// The shape of this document, for the next one.
    #[inline(always)]
    #[must_use]
    pub fn of(shape: ShapeId, shapes: &Shapes) -> Self {
        Self(Some((shapes.generation(), shape)))
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

    /// Follows the shapes: all compiled functions go when theirs are forgotten.
    #[inline(always)]
    pub fn follow(&self, env: Env, shapes: &Shapes) -> Result<()> {
        let generation = shapes.generation();
        if self.generation.get() == generation { Ok(()) } else { self.forget(env, generation) }
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
    pub fn make(&self, env: Env, plan: Plan, workshop: &RefCell<Workshop>) -> Result<Value> {
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
pub fn tokens<'t>(
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
pub fn string(env: Env, text: &[u8], scratch: &mut utf8::Scratch) -> Result<Value> {
    match utf8::transcode(text, scratch) {
        Encoded::Ascii => env.string_latin1(text),
        Encoded::Latin1(text) => env.string_latin1(text),
        Encoded::Utf16(text) => env.string_utf16(text),
    }
}
