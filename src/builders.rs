//! JavaScript functions that make objects.
//!
//! One call of a function, compiled once for the names of a document, makes the whole object: for 12 columns a tenth
//! of what setting 12 properties costs, and V8 keeps such objects in fast mode. It takes its values out of memory
//! that is shared with it. An object with at most one value of Node-API's is left to the calling JavaScript to make,
//! which saves the call; objects of a batch are made many by a call. Where such a function is reading the shared
//! memory, or names are not worth compiling, one that takes names and values by themselves makes the object.

use std::cell::{Cell, RefCell};
use std::mem::offset_of;
use std::ops::Range;
use std::ptr;

use crate::node::{Env, Failure, Reference, Result, Value};
use crate::parts::{MAX_OBJECT_IDS, Parts, Slot, SlotKind, Start};
use crate::patience::Patience;
use crate::shape::{MAX_TOKENS, ShapeId, Shapes, Token};
use crate::spec;
use crate::text::Text;
use crate::utf8::{self, Encoded};

/// Values whose room is kept from one document to the next.
const KEPT_SLOTS: usize = 4096;

/// Objects made by one call at most. (reply of 1,000 insert events, an event: 8 objects 912 ns, 16 772, 32 761, 64 767,
/// 128 754)
pub const MAX_OBJECTS: usize = 32;
/// Values of objects that one call makes.
pub const MAX_SLOTS: usize = 4 * MAX_TOKENS;
/// Values of Node-API's that one call takes, beside one for each object's texts.
pub const MAX_HANDLES: usize = 128;

/// What one JavaScript thread uses again and again.
#[derive(Default)]
pub struct Workshop {
    /// The layouts that were seen.
    pub shapes: Shapes,
    /// JSON text is written here.
    pub text: Text,
    /// Text becomes UTF-16 or Latin-1 here.
    pub scratch: utf8::Scratch,
    /// Room for the values of objects, while none are on their way. Boxed: a move of all its fields waits until the stores
    /// of each are over. (where they are moved, datasets/covers takes 1.19 times as long, row of a 1 KB document 1.06)
    parts: Option<Box<Parts<Value>>>,
    arguments: Vec<Value>,
    patience: Patience,
}

impl Workshop {
    /// Gives large buffers back after a number of documents that did without them; `length` is the last one's.
    #[inline(always)]
    pub fn rest(&mut self, length: usize) {
        if (self.text.is_large() || self.scratch.is_large()) && self.patience.is_over(length) {
            self.text.shrink();
            self.scratch.shrink();
        }
    }

    /// Gives room for the values of objects.
    #[inline(always)]
    pub fn give_room(&mut self) -> Box<Parts<Value>> {
        let mut parts = self.parts.take().unwrap_or_default();
        parts.clear();
        parts
    }

    /// Takes it back for the next objects; that of a wide one does not stay for ever.
    #[inline(always)]
    pub fn take_room(&mut self, parts: Box<Parts<Value>>) {
        if parts.slots.capacity() <= KEPT_SLOTS {
            self.parts = Some(parts);
        }
    }
}

/// The names and marks of an object.
pub enum Layout {
    /// Those of a shape that a function is compiled for.
    Compiled(ShapeId),
    /// Those of a shape, for which it is worth compiling one.
    Known {
        /// The shape.
        shape: ShapeId,
        /// The generation of shapes that it is of.
        generation: u32,
        /// As strings and numbers.
        tokens: Vec<Value>,
    },
    /// As strings and numbers.
    Any(Vec<Value>),
}

/// JavaScript functions that make objects, with the classes of one implementation of BSON.
pub struct Builders {
    functions: Functions,
    /// Memory that the functions read; `_keep_shared` keeps it alive.
    shared: *mut Shared,
    _keep_shared: Reference,
    /// An array of JavaScript's, whose element is the value that is left with an object.
    left: Reference,
    /// For which shapes a function was compiled, in this generation of shapes.
    compiled: RefCell<Vec<bool>>,
    generation: Cell<u32>,
}

/// The functions of lib/builders.js.
struct Functions {
    /// `(tokens, shape) => function`, which becomes the shape's
    compile: Reference,
    /// Lets all functions go.
    forget: Reference,
    /// The function of a shape.
    function_of: Reference,
    /// `(given, together, ...handles) => object`, for the shape in the shared memory
    make: Reference,
    /// `(function, given, together, ...handles) => object`
    make_by: Reference,
    /// `(results, count, textsAt, ...handles) => void`: texts stand behind the other handles
    make_many: Reference,
    /// `(given, tokensAt, together, ...handles) => object`: the tokens stand behind the other handles
    make_new: Reference,
    /// `(tokens, given, values, objectIds) => object`
    assemble: Reference,
    /// `(document) => value`: the value of the only element
    deserialize_element: Reference,
    /// The same, with documents left as `Buffer`s
    deserialize_raw_element: Reference,
}

/// Memory that passes values to JavaScript: the arrays of lib/builders.js.
#[repr(C)]
struct Shared {
    /// The shape of the object that the calling JavaScript is left to make, or [`MADE`].
    shape: i32,
    /// Whether a function is reading this memory. What it calls may convert again, and must not write here.
    is_busy: i32,
    /// Whether the exception that is pending is one that a function has thrown, or let pass.
    has_thrown: i32,
    objects: [[i32; 5]; MAX_OBJECTS],
    slots: [Slot; MAX_SLOTS],
    object_ids: [[u8; spec::OBJECT_ID]; MAX_OBJECTS * MAX_OBJECT_IDS],
}

/// No shape: the object is made.
const MADE: i32 = -1;

impl Builders {
    /// Takes the functions from an object, and gives the shared memory to its `setShared`.
    pub fn from_object(env: Env, object: Value) -> Result<Self> {
        let keep = |name| env.property(object, name).and_then(|function| env.keep(function));
        let (buffer, shared) = env.array_buffer(size_of::<Shared>())?;
        let offset = |bytes: usize| env.number(bytes as f64);
        let arguments = [
            buffer,
            offset(offset_of!(Shared, objects))?,
            offset(offset_of!(Shared, slots))?,
            offset(offset_of!(Shared, object_ids))?,
        ];
        env.call(env.property(object, c"setShared")?, &arguments)?;
        let functions = Functions {
            compile: keep(c"compile")?,
            forget: keep(c"forget")?,
            function_of: keep(c"functionOf")?,
            make: keep(c"make")?,
            make_by: keep(c"makeBy")?,
            make_many: keep(c"makeMany")?,
            make_new: keep(c"makeNew")?,
            assemble: keep(c"assemble")?,
            deserialize_element: keep(c"deserializeElement")?,
            deserialize_raw_element: keep(c"deserializeRawElement")?,
        };
        Ok(Self {
            functions,
            shared: shared.cast(),
            _keep_shared: env.keep(buffer)?,
            left: keep(c"left")?,
            compiled: RefCell::default(),
            generation: Cell::default(),
        })
    }

    /// Whether a function for a shape was compiled.
    #[inline(always)]
    #[must_use]
    pub fn is_compiled(&self, shape: ShapeId, workshop: &Workshop) -> bool {
        self.generation.get() == workshop.shapes.generation()
            && self.compiled.borrow().get(shape.0 as usize).copied().unwrap_or(false)
    }

    /// Compiles a function for a shape, if there is none: runs JavaScript.
    pub fn compile_shape(&self, env: Env, shape: ShapeId, workshop: &RefCell<Workshop>) -> Result<()> {
        let (generation, tokens) = {
            let workshop = &mut *workshop.borrow_mut();
            if self.is_compiled(shape, workshop) {
                return Ok(());
            }
            let Workshop { shapes, scratch, .. } = workshop;
            (shapes.generation(), tokens(env, shapes.get(shape).tokens(), scratch)?)
        };
        self.compile(env, shape, generation, &tokens, workshop).map(drop)
    }

    /// How objects of a shape are made now. JavaScript does not run.
    #[inline(always)]
    pub fn layout(&self, env: Env, shape: ShapeId, workshop: &mut Workshop) -> Result<Layout> {
        let is_busy = self.is_busy();
        if self.is_compiled(shape, workshop) && !is_busy {
            return Ok(Layout::Compiled(shape));
        }
        let Workshop { shapes, scratch, .. } = workshop;
        let generation = shapes.generation();
        let tokens = tokens(env, shapes.get(shape).tokens(), scratch)?;
        Ok(if is_busy { Layout::Any(tokens) } else { Layout::Known { shape, generation, tokens } })
    }

    /// Takes back what was left: V8 may have stopped JavaScript before it made that.
    #[inline(always)]
    pub fn leave_nothing(&self) {
        self.set_shape(MADE);
    }

    /// Leaves the object to the calling JavaScript to make, where that can: what is returned is a string of its texts
    /// then, and else the object. One value of Node-API's may be left with it. (row of five columns, one text not
    /// Latin-1, by a call and left, Node.js 20: 246 and 223 ns, 24: 270 and 190, 26: 209 and 198; two such texts, 24:
    /// 290 and 240, but 26: 227 and 251)
    #[inline(always)]
    pub fn leave_or_make(
        &self,
        env: Env,
        layout: Layout,
        given: Option<Value>,
        parts: Box<Parts<Value>>,
        workshop: &RefCell<Workshop>,
    ) -> Result<Value> {
        self.leave_nothing();
        match layout {
            Layout::Compiled(shape) if parts.handles.len() <= 1 && parts.elements.is_empty() => {
                if let Some(&handle) = parts.handles.first() {
                    env.set_element(env.get(self.left)?, 0, handle)?;
                }
                // What is no value becomes `undefined`.
                let together =
                    if parts.has_text { env.string_latin1(&parts.together)? } else { ptr::null_mut() };
                self.pass(&parts);
                self.set_shape(shape.0 as i32);
                workshop.borrow_mut().take_room(parts);
                Ok(together)
            }
            layout => self.make(env, layout, given, parts, workshop),
        }
    }

    /// Makes the object: runs JavaScript.
    #[inline(never)]
    pub fn make(
        &self,
        env: Env,
        layout: Layout,
        given: Option<Value>,
        mut parts: Box<Parts<Value>>,
        workshop: &RefCell<Workshop>,
    ) -> Result<Value> {
        let given = given.map_or_else(|| env.undefined(), Ok)?;
        let object = match layout {
            Layout::Compiled(shape) if parts.elements.is_empty() => {
                self.set_shape(shape.0 as i32);
                let object = self.call(env, self.functions.make, &[given], &parts, workshop);
                self.leave_nothing();
                object
            }
            Layout::Compiled(shape) => {
                // First the function: what JavaScript does then may make all shapes forgotten.
                let shape = env.number(shape.0.into())?;
                let function = self.run(env, self.functions.function_of, &[shape])?;
                self.deserialize_all(env, &mut parts)?;
                self.call(env, self.functions.make_by, &[function, given], &parts, workshop)
            }
            Layout::Known { shape, generation, tokens } => {
                let function = self.compile(env, shape, generation, &tokens, workshop)?;
                self.deserialize_all(env, &mut parts)?;
                self.call(env, self.functions.make_by, &[function, given], &parts, workshop)
            }
            Layout::Any(tokens) if self.has_room(&parts, &tokens) => {
                self.deserialize_all(env, &mut parts)?;
                let tokens_at = env.number(parts.handles.len() as f64)?;
                parts.handles.extend(tokens);
                self.call(env, self.functions.make_new, &[given, tokens_at], &parts, workshop)
            }
            Layout::Any(tokens) => {
                self.deserialize_all(env, &mut parts)?;
                let tokens = array_of(env, &tokens)?;
                let values = env.array(parts.slots.iter().map(|slot| value_of(env, slot, &parts)))?;
                let object_ids = env.uint8_array(parts.object_ids.as_flattened())?;
                self.run(env, self.functions.assemble, &[tokens, given, values, object_ids])
            }
        };
        workshop.borrow_mut().take_room(parts);
        object
    }

    /// Whether the values of an object may pass in the shared memory, and its names as arguments.
    fn has_room(&self, parts: &Parts<Value>, tokens: &[Value]) -> bool {
        !self.is_busy() && parts.slots.len() <= MAX_SLOTS && tokens.len() <= MAX_SLOTS
    }

    /// Whether a function is reading the shared memory.
    #[inline(always)]
    fn is_busy(&self) -> bool {
        // SAFETY: the memory is an ArrayBuffer's of this size, which `_keep_shared` keeps alive and which is not given
        // to anyone who could detach it.
        unsafe { (&raw const (*self.shared).is_busy).read() != 0 }
    }

    #[cold]
    fn compile(
        &self,
        env: Env,
        shape: ShapeId,
        generation: u32,
        tokens: &[Value],
        workshop: &RefCell<Workshop>,
    ) -> Result<Value> {
        self.follow(env, generation)?;
        let arguments = [array_of(env, tokens)?, env.number(shape.0.into())?];
        let function = self.run(env, self.functions.compile, &arguments)?;
        // JavaScript ran, and the shape's number may be another's by now.
        if workshop.borrow().shapes.generation() == generation && self.generation.get() == generation {
            let mut compiled = self.compiled.borrow_mut();
            let index = shape.0 as usize;
            if compiled.len() <= index {
                compiled.resize(index + 1, false);
            }
            compiled[index] = true;
        }
        Ok(function)
    }

    /// Follows the shapes: all compiled functions go when theirs are forgotten.
    fn follow(&self, env: Env, generation: u32) -> Result<()> {
        if self.generation.replace(generation) != generation {
            self.compiled.borrow_mut().clear();
            self.run(env, self.functions.forget, &[])?;
        }
        Ok(())
    }

    /// Calls a function that takes texts, handles and what passes in shared memory behind its first arguments.
    #[inline(always)]
    fn call(
        &self,
        env: Env,
        function: Reference,
        first: &[Value],
        parts: &Parts<Value>,
        workshop: &RefCell<Workshop>,
    ) -> Result<Value> {
        let together = if parts.has_text { env.string_latin1(&parts.together)? } else { env.undefined()? };
        let mut arguments = std::mem::take(&mut workshop.borrow_mut().arguments);
        arguments.clear();
        arguments.extend_from_slice(first);
        arguments.push(together);
        arguments.extend_from_slice(&parts.handles);
        self.pass(parts);
        let object = self.run(env, function, &arguments);
        workshop.borrow_mut().arguments = arguments;
        object
    }

    /// Runs one of the functions, and tells what it threw from V8 stopping it.
    #[inline(always)]
    fn run(&self, env: Env, function: Reference, arguments: &[Value]) -> Result<Value> {
        env.call(env.get(function)?, arguments).map_err(|failure| self.failure(failure))
    }

    #[cold]
    fn failure(&self, failure: Failure) -> Failure {
        // SAFETY: the memory is as in `is_busy`.
        let has_thrown = unsafe { (&raw mut (*self.shared).has_thrown).replace(0) } != 0;
        if has_thrown { Failure::Thrown } else { failure }
    }

    /// Puts values where the JavaScript functions read them.
    #[inline(always)]
    fn pass(&self, parts: &Parts<Value>) {
        let Parts { slots, object_ids, .. } = parts;
        assert!(slots.len() <= MAX_SLOTS && object_ids.len() <= MAX_OBJECTS * MAX_OBJECT_IDS);
        // SAFETY: the memory is as in `is_busy`, and has room for as many values; they are no part of it.
        unsafe {
            ptr::copy_nonoverlapping(slots.as_ptr(), (&raw mut (*self.shared).slots).cast(), slots.len());
            ptr::copy_nonoverlapping(
                object_ids.as_ptr(),
                (&raw mut (*self.shared).object_ids).cast(),
                object_ids.len(),
            );
        }
    }

    #[inline(always)]
    fn set_shape(&self, shape: i32) {
        // SAFETY: the memory is as in `is_busy`.
        unsafe { (&raw mut (*self.shared).shape).write(shape) };
    }

    #[inline(always)]
    fn deserialize_all(&self, env: Env, parts: &mut Parts<Value>) -> Result<()> {
        for element in &parts.elements {
            let function = if element.raw {
                self.functions.deserialize_raw_element
            } else {
                self.functions.deserialize_element
            };
            let value = self.run(env, function, &[parts.handles[element.handle]]);
            parts.handles[element.handle] = value.map_err(|failure| match failure {
                Failure::Thrown => Failure::Refused(element.offset),
                _ => failure,
            })?;
        }
        Ok(())
    }
}

/// The value of a slot by itself.
fn value_of(env: Env, slot: &Slot, parts: &Parts<Value>) -> Result<Value> {
    let Slot { place, bits } = *slot;
    match place {
        [kind, handle] if kind == SlotKind::Handle as i32 => Ok(parts.handles[handle as usize]),
        [kind, _] if kind == SlotKind::Bigint as i32 => env.bigint(bits as i64),
        [kind, _] if kind == SlotKind::Double as i32 => env.number(f64::from_bits(bits)),
        [kind, _] if kind == SlotKind::Undefined as i32 => env.undefined(),
        [kind, _] if kind == SlotKind::False as i32 => env.boolean(false),
        [kind, _] if kind == SlotKind::True as i32 => env.boolean(true),
        [kind, _] if kind == SlotKind::Date as i32 => env.date(f64::from_bits(bits)),
        [start, end] if start >= 0 => env.string_latin1(&parts.together[start as usize..end as usize]),
        _ => env.null(),
    }
}

/// Objects that one call makes: all with compiled functions, and without values of the deserialiser's.
#[derive(Default)]
pub struct Objects {
    /// What JavaScript reads of each: shape, first slot, first ObjectId, which of the strings is its texts', and which
    /// of the handles it is given besides.
    all: Vec<[i32; 5]>,
    /// Where the texts stand of those that have some.
    texts: Vec<Range<usize>>,
}

impl Objects {
    /// Lets all go.
    pub fn clear(&mut self) {
        self.all.clear();
        self.texts.clear();
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Adds an object, by where its parts begin and its texts stand, if it has some; `given` is the place of the handle
    /// that it is given besides.
    #[inline(always)]
    pub fn push(&mut self, shape: ShapeId, start: Start, texts: Option<Range<usize>>, given: Option<usize>) {
        let text = texts.as_ref().map(|_| self.texts.len() as u32);
        self.texts.extend(texts);
        let first = [start.slot, start.object_id].map(|number| number as u32);
        self.push_with(shape, first, text, given.map(|place| place as u32));
    }

    /// The same, by its first slot and ObjectId, with its texts in that of the strings.
    #[inline(always)]
    pub fn push_with(&mut self, shape: ShapeId, first: [u32; 2], text: Option<u32>, given: Option<u32>) {
        let [slot, object_id] = first.map(|number| number as i32);
        let [text, given] = [text, given].map(|place| place.map_or(-1, |place| place as i32));
        self.all.push([shape.0 as i32, slot, object_id, text, given]);
    }

    /// Whether there is room for one more, whatever it is.
    #[inline(always)]
    #[must_use]
    pub fn has_room(&self, parts: &Parts<Value>) -> bool {
        self.all.len() < MAX_OBJECTS
            && parts.slots.len() + MAX_TOKENS <= MAX_SLOTS
            && parts.handles.len() < MAX_HANDLES
    }
}

impl Builders {
    /// Makes objects and adds them to the array `results`: runs JavaScript. Where it throws, those before are there.
    /// `strings` are those of their texts, besides those that the objects have ranges for.
    pub fn make_many(
        &self,
        env: Env,
        results: Value,
        objects: &Objects,
        parts: &Parts<Value>,
        strings: &[Value],
        workshop: &RefCell<Workshop>,
    ) -> Result<()> {
        let mut arguments = std::mem::take(&mut workshop.borrow_mut().arguments);
        arguments.clear();
        arguments.extend([
            results,
            env.number(objects.len() as f64)?,
            env.number(parts.handles.len() as f64)?,
        ]);
        arguments.extend_from_slice(&parts.handles);
        arguments.extend_from_slice(strings);
        for texts in &objects.texts {
            arguments.push(env.string_latin1(&parts.together[texts.clone()])?);
        }
        self.pass(parts);
        assert!(objects.len() <= MAX_OBJECTS);
        // SAFETY: the memory is as in `is_busy`, and has room for as many objects.
        unsafe {
            let shared = (&raw mut (*self.shared).objects).cast();
            ptr::copy_nonoverlapping(objects.all.as_ptr(), shared, objects.len());
        }
        let made = self.run(env, self.functions.make_many, &arguments);
        workshop.borrow_mut().arguments = arguments;
        made.map(drop)
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
