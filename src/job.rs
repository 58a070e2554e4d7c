//! Batches that are read on another thread: `convertBatchAsync` and `convertDocumentsAsync`.
//!
//! A job has three parts: what it is given, here; reading, on a thread of libuv's pool; and making its objects, here
//! again, some at a time.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use napi::sys;

use crate::batch::{OnError, Refusal};
use crate::builders::{Layout, Objects, tokens};
use crate::converter::Converter;
use crate::cursor_reply::{Batch, Kind, Spot, read_reply};
use crate::js_row::{Conversion, Plan, Site};
use crate::node::{Env, Failure, Reference, Result, Source, Value};
use crate::object::read_object;
use crate::parts::Parts;
use crate::record::{Arena, Chunk, Entries, Later, Numbered, Place, Recorded, RecordedObject, Recorder};
use crate::shape::{Guess, ReadNames, ShapeId, Token};

/// Bytes that another thread reads.
enum Bytes {
    /// The memory of an array that the job keeps alive.
    Kept(*const u8, usize),
    /// A copy of shared memory.
    Copied(Vec<u8>),
}

// SAFETY: the memory stays where it is, as the array is kept alive; the caller of the job has promised that it is
// neither written to nor transferred meanwhile.
unsafe impl Send for Bytes {}

impl Bytes {
    fn of(source: Source<'_>) -> Self {
        match source {
            Source::Borrowed(bytes) | Source::Shared(bytes) => Self::Kept(bytes.as_ptr(), bytes.len()),
            Source::Copied(bytes) => Self::Copied(bytes),
        }
    }

    fn get(&self) -> &[u8] {
        match self {
            // SAFETY: as above; a length of 0 has an address, too.
            Self::Kept(data, length) => unsafe { std::slice::from_raw_parts(*data, *length) },
            Self::Copied(bytes) => bytes,
        }
    }
}

/// What a job reads.
enum Input {
    /// The objects of a cursor's document.
    Cursor(Bytes, Option<Kind>),
    /// Documents.
    Documents(Vec<std::result::Result<Bytes, Failure>>),
}

/// What is done on another thread.
struct Task {
    input: Input,
    conversion: Conversion,
    is_aborted: Arc<AtomicBool>,
    reading: Option<Reading>,
}

const fn is_send<T: Send>() {}
const _: () = is_send::<Task>();

/// What was read.
#[derive(Default)]
struct Reading {
    /// The reply's own fields.
    reply: Option<(std::result::Result<Recorded, Refusal>, Chunk)>,
    kind: Option<Kind>,
    chunks: Vec<Chunk>,
    sequences: Vec<Entries>,
    byte_length: usize,
}

impl Task {
    /// Reads all objects, unless the job is aborted. Runs on any thread.
    fn read(&mut self) {
        let mut recorder = Recorder::default();
        let mut reading = Reading::default();
        match &self.input {
            Input::Cursor(bytes, kind) => {
                let bytes = bytes.get();
                reading.byte_length = bytes.len();
                let mut chunk = Chunk::default();
                let mut batch = None;
                let source = Numbered { number: 0, bytes };
                chunk.begin();
                let reply = recorder.read(source, bytes, &mut chunk, |reader, names, _, sink| {
                    batch = Some(read_reply(reader, names, sink)?);
                    Ok(())
                });
                match (reply, batch) {
                    (Ok(reply), Some(Batch { name, items, is_change_stream })) => {
                        let default = if is_change_stream { Kind::Change } else { Kind::Document };
                        let kind = kind.unwrap_or(default);
                        reading.kind = Some(kind);
                        reading.reply = Some((Ok(reply), chunk));
                        let places = items.iter().map(|&item| (Ok(source), Spot::InBatch { item, name }));
                        self.read_objects(kind, places, &mut recorder, &mut reading);
                    }
                    (Err(failure), _) => {
                        let refusal = Refusal::new(failure, &Spot::Whole, bytes, 0, Kind::Document);
                        reading.reply = Some((Err(refusal), chunk));
                    }
                    (Ok(_), None) => {}
                }
            }
            Input::Documents(documents) => {
                let places = documents.iter().enumerate().map(|(number, document)| {
                    let source = document.as_ref().map(|bytes| Numbered { number, bytes: bytes.get() });
                    (source.map_err(|&failure| failure), Spot::Whole)
                });
                self.read_objects(Kind::Document, places, &mut recorder, &mut reading);
            }
        }
        reading.sequences = recorder.sequences;
        self.reading = Some(reading);
    }

    fn read_objects<'s>(
        &self,
        kind: Kind,
        places: impl Iterator<Item = (Result<Numbered<'s>>, Spot)>,
        recorder: &mut Recorder,
        reading: &mut Reading,
    ) {
        let mut chunk = Chunk::default();
        for (index, (source, spot)) in places.enumerate() {
            if self.is_aborted.load(Ordering::Relaxed) {
                return;
            }
            if chunk.last.is_some() || !chunk.has_room() {
                reading.chunks.push(std::mem::take(&mut chunk));
            }
            chunk.begin();
            let recorded = source.and_then(|source| {
                if self.conversion.lazy_json {
                    chunk.give(source.number);
                }
                // A kept source does not become shorter.
                let object = spot.bytes(source.bytes)?.unwrap_or(&[]);
                recorder.read(source, object, &mut chunk, |reader, names, text, sink| {
                    read_object(kind, self.conversion.options(), reader, names, text, sink)
                })
            });
            match recorded {
                Ok(recorded) => chunk.take(recorded, spot),
                Err(failure) => {
                    chunk.parts.take_back();
                    let bytes = source.map_or(&[][..], |source| source.bytes);
                    let refusal = Refusal::new(failure, &spot, bytes, index, kind);
                    chunk.last = Some(Err(refusal));
                }
            }
        }
        reading.chunks.push(chunk);
    }
}

/// A job, in the thread of its JavaScript.
pub struct Job {
    converter: Rc<Converter>,
    on_error: OnError,
    is_aborted: Arc<AtomicBool>,
    /// An array of the sources, until they are let go.
    sources: Cell<Option<Reference>>,
    /// What JavaScript is to be told when all is read.
    on_read: Cell<Option<Reference>>,
    reading: RefCell<Option<Reading>>,
    /// The shapes that its sequences are here.
    numbers: RefCell<Vec<Guess>>,
    /// Chunks that were made.
    made: Cell<usize>,
}

/// What passes through libuv.
struct Work {
    work: sys::napi_async_work,
    task: Task,
    /// Not touched by the other thread.
    job: Rc<Job>,
}

const CURSOR: &str = "cursor must be a Buffer or Uint8Array that is not detached";
const BUFFERS: &str = "buffers must be an array of Buffers or Uint8Arrays that are not detached";

impl Job {
    /// Begins to read a cursor's document.
    pub fn of_cursor(
        env: Env,
        converter: &Rc<Converter>,
        cursor: Value,
        kind: Option<Kind>,
        on_error: OnError,
        on_read: Value,
    ) -> Result<Rc<Self>> {
        // SAFETY: see `Bytes`.
        let bytes = Bytes::of(unsafe { env.source(cursor, CURSOR) }?);
        let sources = env.array([Ok(cursor)].into_iter())?;
        Self::begin(env, converter, Input::Cursor(bytes, kind), sources, on_error, on_read)
    }

    /// Begins to read documents; `buffers` is an array that nobody else has.
    pub fn of_documents(
        env: Env,
        converter: &Rc<Converter>,
        buffers: Value,
        on_error: OnError,
        on_read: Value,
    ) -> Result<Rc<Self>> {
        let length = env.array_length(buffers).ok_or(Failure::Argument(BUFFERS))?;
        let mut documents = Vec::with_capacity(length as usize);
        for index in 0..length {
            documents.push(env.scope(|| {
                let buffer = env.element(buffers, index)?;
                // SAFETY: see `Bytes`.
                Ok(unsafe { env.source(buffer, BUFFERS) }.map(Bytes::of))
            })?);
        }
        Self::begin(env, converter, Input::Documents(documents), buffers, on_error, on_read)
    }

    fn begin(
        env: Env,
        converter: &Rc<Converter>,
        input: Input,
        sources: Value,
        on_error: OnError,
        on_read: Value,
    ) -> Result<Rc<Self>> {
        let is_aborted = Arc::new(AtomicBool::new(false));
        let conversion = converter.conversion().clone();
        let job = Rc::new(Self {
            converter: converter.clone(),
            on_error,
            is_aborted: is_aborted.clone(),
            sources: Cell::new(Some(env.keep(sources)?)),
            on_read: Cell::new(Some(env.keep(on_read)?)),
            reading: RefCell::default(),
            numbers: RefCell::default(),
            made: Cell::default(),
        });
        let task = Task { input, conversion, is_aborted, reading: None };
        let work = Box::into_raw(Box::new(Work { work: ptr::null_mut(), task, job: job.clone() }));
        // SAFETY: the work stays where it is until `complete` has it.
        let queued = unsafe { env.queue_work(execute, complete, work.cast(), &raw mut (*work).work) };
        if let Err(failure) = queued {
            // SAFETY: nobody else has it.
            drop(unsafe { Box::from_raw(work) });
            return Err(failure);
        }
        Ok(job)
    }

    /// Lets the reading end early.
    pub fn abort(&self) {
        self.is_aborted.store(true, Ordering::Relaxed);
    }

    /// Lets the sources go, when nobody reads them any more.
    pub fn end(&self, env: Env) -> Result<()> {
        self.reading.take();
        self.sources.take().map_or(Ok(()), |sources| env.release(sources))
    }

    /// A source.
    fn source(&self, env: Env, number: usize) -> Result<Value> {
        let sources = self.sources.get().ok_or(Failure::Argument(BUFFERS))?;
        env.element(env.get(sources)?, number as u32)
    }

    /// Makes the object of the reply's own fields and `results`; `undefined` where there is no reply.
    pub fn make_reply(&self, env: Env, results: Value) -> Result<Value> {
        let (reply, byte_length, kind) = match self.reading.borrow_mut().as_mut() {
            Some(reading) => (reading.reply.take(), reading.byte_length, reading.kind),
            None => (None, 0, None),
        };
        let Some((recorded, chunk)) = reply else { return env.undefined() };
        let recorded = match recorded {
            Ok(recorded) => recorded,
            Err(refusal) => return refusal.throw(env),
        };
        let parts = self.values(env, chunk.parts, &chunk.arena)?;
        let object = match self.make_alone(env, recorded, None, parts) {
            Ok(object) => object,
            Err(failure) => return self.refusal(env, failure, Some(Spot::Whole), 0).throw(env),
        };
        env.set_property(object, c"byteLength", env.number(byte_length as f64)?)?;
        let name = if kind == Some(Kind::Change) { c"changes" } else { c"documents" };
        env.set_property(object, name, results)?;
        Ok(object)
    }

    /// Makes objects and adds them to the array `results`, for about the given time; whether all are made.
    pub fn make_some(&self, env: Env, results: Value, time: Duration) -> Result<bool> {
        let begin = Instant::now();
        loop {
            let index = self.made.get();
            let chunk = self
                .reading
                .borrow_mut()
                .as_mut()
                .and_then(|reading| reading.chunks.get_mut(index).map(std::mem::take));
            let Some(chunk) = chunk else { return Ok(true) };
            self.made.set(index + 1);
            env.scope(|| self.make_chunk(env, results, chunk))?;
            if begin.elapsed() >= time {
                return Ok(false);
            }
        }
    }

    fn make_chunk(&self, env: Env, results: Value, chunk: Chunk) -> Result<()> {
        let Chunk { parts, arena, objects, last, last_spot, given } = chunk;
        let mut parts = self.values(env, parts, &arena)?;
        let alone = if matches!(last, Some(Ok(_))) { parts.split_last() } else { Parts::default() };
        // The texts stay where the other thread has written them.
        let texts = match std::mem::take(&mut parts.together) {
            texts if texts.is_empty() => env.string_latin1(&texts)?,
            texts => env.string_of_bytes(texts)?,
        };
        let site = self.converter.site(env);
        let mut index = env.array_length(results).unwrap_or(0) as usize;
        let mut left = &objects[..];
        while !left.is_empty() {
            let shapes = self.shapes(env, left)?;
            let mut together = Objects::default();
            for (object, shape) in left.iter().zip(shapes) {
                together.push_with(shape, object.start, object.has_text.then_some(0), object.given);
            }
            let mut count = left.len();
            if let Err(failure) =
                site.builders.make_many(env, results, &together, &parts, &[texts], site.workshop)
            {
                // The objects before are made, and those behind can be.
                count = env.after(failure, || env.array_length(results).ok_or(failure))? as usize - index;
                let refusal = Refusal::without_place(failure);
                refusal.report(env, index + count, &self.converter, self.on_error, results)?;
                count += 1;
            }
            left = &left[count..];
            index += count;
        }
        let failed = match last {
            None => return Ok(()),
            Some(Err(refusal)) => refusal,
            Some(Ok(recorded)) => {
                match self.make_alone(env, recorded, given.map(|(number, _)| number), alone) {
                    Ok(object) => return env.set_element(results, index as u32, object),
                    Err(failure) => self.refusal(env, failure, last_spot, index),
                }
            }
        };
        failed.report(env, index, &self.converter, self.on_error, results)
    }

    /// What is wrong with an object that was read, but could not be made.
    #[cold]
    fn refusal(&self, env: Env, failure: Failure, spot: Option<Spot>, index: usize) -> Refusal {
        let number = if matches!(spot, Some(Spot::Whole)) { index } else { 0 };
        let source = self.source(env, number);
        // SAFETY: the bytes are walked through here, where no JavaScript runs.
        let source = source.and_then(|source| unsafe { env.source(source, BUFFERS) });
        match (spot, &source) {
            (Some(spot), Ok(source)) => {
                let kind = self.reading.borrow().as_ref().and_then(|reading| reading.kind);
                Refusal::new(failure, &spot, source.bytes(), index, kind.unwrap_or(Kind::Document))
            }
            _ => Refusal::without_place(failure),
        }
    }

    /// An object by itself, of the first parts.
    fn make_alone(
        &self,
        env: Env,
        recorded: Recorded,
        given: Option<usize>,
        parts: Parts<Value>,
    ) -> Result<Value> {
        let site = self.converter.site(env);
        let layout = match recorded {
            Recorded::Known(sequence) => {
                let shape = self.shape(sequence, site);
                site.builders.layout(env, shape, &mut site.workshop.borrow_mut())?
            }
            Recorded::New(entries) => {
                let scratch = &mut site.workshop.borrow_mut().scratch;
                Layout::Any(tokens(env, entries.iter().map(|entry| Token::from_entry(entry)), scratch)?)
            }
        };
        let given = given.map(|number| self.source(env, number)).transpose()?;
        Plan::of(layout, given, parts).make(site)
    }

    /// The shapes of objects, all of which have a compiled function. No JavaScript has run since.
    fn shapes(&self, env: Env, objects: &[RecordedObject]) -> Result<Vec<ShapeId>> {
        let site = self.converter.site(env);
        // Another turn is needed where all shapes were forgotten among these: then there is room for all of them.
        for _ in 0..TURNS {
            for object in objects {
                site.builders.compile_shape(env, self.shape(object.sequence, site), site.workshop)?;
            }
            let shapes = objects.iter().map(|object| self.shape(object.sequence, site)).collect::<Vec<_>>();
            if shapes.iter().all(|&shape| site.builders.is_compiled(shape, &site.workshop.borrow())) {
                return Ok(shapes);
            }
        }
        Err(Failure::Status(sys::Status::napi_generic_failure))
    }

    /// The shape of a sequence, as it is numbered now.
    fn shape(&self, sequence: usize, site: Site<'_>) -> ShapeId {
        let reading = self.reading.borrow();
        let mut workshop = site.workshop.borrow_mut();
        let mut numbers = self.numbers.borrow_mut();
        if numbers.len() <= sequence {
            numbers.resize(sequence + 1, Guess::default());
        }
        if let Some(shape) = numbers[sequence].shape(&workshop.shapes) {
            return shape;
        }
        let entries = reading.as_ref().map_or(&[][..], |reading| &reading.sequences[sequence]);
        let shape = ReadNames::of(entries).shape(&mut workshop.shapes);
        numbers[sequence] = Guess::of(shape, &workshop.shapes);
        shape
    }

    /// Parts whose values are made.
    fn values(&self, env: Env, parts: Parts<Later>, arena: &Arena) -> Result<Parts<Value>> {
        let Parts { slots, together, handles, object_ids, elements, start, text_base, has_text } = parts;
        let handles = handles.into_iter().map(|later| match later {
            Later::Latin1(place) => env.string_latin1(&arena.bytes[place.range()]),
            Later::OfSource(number, place) => self.text_of_source(env, number, place),
            Later::Source(number) => self.source(env, number),
            Later::Utf16(place) => env.string_utf16(&arena.units[place.range()]),
            Later::Bytes(place) => env.uint8_array(&arena.bytes[place.range()]),
            Later::Unsigned(number) => env.bigint_unsigned(number),
            Later::Huge(number) => env.bigint_huge(number),
        });
        let handles = handles.collect::<Result<Vec<_>>>()?;
        Ok(Parts { slots, together, handles, object_ids, elements, start, text_base, has_text })
    }

    /// A long text that was not copied.
    fn text_of_source(&self, env: Env, number: usize, place: Place) -> Result<Value> {
        let array = self.source(env, number)?;
        // SAFETY: JavaScript does not run before the text is copied.
        let source = unsafe { env.source(array, BUFFERS) }?;
        let text = source.bytes().get(place.range()).ok_or(Failure::Argument(BUFFERS))?;
        if self.converter.conversion().zero_copy && matches!(source, Source::Borrowed(_)) {
            // SAFETY: the caller chose `zeroCopy`, and with it not to write there again.
            unsafe { env.external_latin1(text, array) }
        } else {
            env.string_latin1(text)
        }
    }
}

/// How often shapes are looked up again for a chunk: once is enough but where JavaScript converts meanwhile.
const TURNS: usize = 8;

impl Drop for Job {
    fn drop(&mut self) {
        self.abort();
    }
}

unsafe extern "C" fn execute(_: sys::napi_env, data: *mut c_void) {
    // SAFETY: it is the `Work` that was queued, whose task nobody else touches until `complete`.
    let task = unsafe { &mut (*data.cast::<Work>()).task };
    // A panic would end the process; what was not read then is not there.
    let _ = catch_unwind(AssertUnwindSafe(|| task.read()));
}

unsafe extern "C" fn complete(env: sys::napi_env, _: sys::napi_status, data: *mut c_void) {
    // SAFETY: it is the `Work` that was queued; this is called once, in its JavaScript thread.
    let (work, env) = unsafe { (Box::from_raw(data.cast::<Work>()), Env::new(env)) };
    let Work { work, task, job } = *work;
    job.reading.replace(task.reading);
    // Where the environment is ending there is nobody left to tell, or to be told of a failure.
    let _ = env.delete_work(work);
    if let Some(on_read) = job.on_read.take() {
        let _ = env.get(on_read).and_then(|function| env.call(function, &[]));
        let _ = env.release(on_read);
    }
}
