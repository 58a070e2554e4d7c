//! Batches that are read on another thread: `convertBatchAsync` and `convertDocumentsAsync`.
//!
//! A job has three parts: what it is given, here; reading, on a thread of libuv's pool; and making its objects, here
//! again, some at a time.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::hint::black_box;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use napi::sys;

use crate::batch::{BUFFERS, CURSOR, OnError, Refusal, end_reply};
use crate::builders::{Layout, Objects, Workshop, tokens};
use crate::converter::Converter;
use crate::cursor_reply::{Batch, Spot, read_reply};
use crate::js_row::{Conversion, Plan, Site};
use crate::kind::Kind;
use crate::names::{ReadNames, Sequence};
use crate::node::{Env, Failure, Reference, Result, Source, Value};
use crate::object::read_object;
use crate::parts::Parts;
use crate::record::{Arena, Chunk, Entries, Later, Numbered, Place, Recorded, RecordedObject, Recorder};
use crate::shape::{Guess, ShapeId};

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
    Documents(Vec<Result<Bytes>>),
}

impl Input {
    /// The bytes of a source.
    fn bytes(&self, number: usize) -> Result<&Bytes> {
        match self {
            Self::Cursor(bytes, _) => Ok(bytes),
            Self::Documents(documents) => documents[number].as_ref().map_err(|&failure| failure),
        }
    }

    /// The source of an object.
    const fn number_of(&self, index: usize) -> usize {
        match self {
            Self::Cursor(..) => 0,
            Self::Documents(_) => index,
        }
    }

    /// The sentence for a source that cannot be read any more.
    const fn refusal(&self) -> &'static str {
        match self {
            Self::Cursor(..) => CURSOR,
            Self::Documents(_) => BUFFERS,
        }
    }
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
    /// The objects of a reply. Without one, each is a whole source.
    batch: Option<Batch>,
}

impl Reading {
    /// Where an object stands.
    fn spot(&self, index: usize) -> Option<Spot> {
        match &self.batch {
            None => Some(Spot::Whole),
            Some(batch) => batch.spots_from(index).next(),
        }
    }
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
                    (Ok(reply), Some(batch)) => {
                        let kind = batch.kind(*kind);
                        reading.kind = Some(kind);
                        reading.reply = Some((Ok(reply), chunk));
                        let places = batch.spots_from(0).map(|spot| (Ok(source), spot));
                        self.read_objects(kind, places, &mut recorder, &mut reading);
                        reading.batch = Some(batch);
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
                chunk.finish();
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
                Ok(recorded) => chunk.take(recorded),
                Err(failure) => {
                    chunk.parts.take_back();
                    let bytes = source.map_or(&[][..], |source| source.bytes);
                    let refusal = Refusal::new(failure, &spot, bytes, index, kind);
                    chunk.last = Some(Err(refusal));
                }
            }
        }
        chunk.finish();
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
    /// What the other thread was given, when it has read that.
    input: RefCell<Option<Input>>,
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
        let mut documents = Vec::new();
        for index in 0..length {
            let document = env.scope(|| {
                let buffer = env.element(buffers, index)?;
                // SAFETY: see `Bytes`.
                Ok(unsafe { env.source(buffer, BUFFERS) }.map(Bytes::of))
            })?;
            let is_last = document.is_err() && on_error == OnError::Throw;
            documents.push(document);
            // Those behind will not be made, be it four thousand million holes.
            if is_last {
                break;
            }
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
            on_read: Cell::default(),
            input: RefCell::default(),
            reading: RefCell::default(),
            numbers: RefCell::default(),
            made: Cell::default(),
        });
        let queued = env.keep(on_read).and_then(|on_read| {
            job.on_read.set(Some(on_read));
            job.queue(env, Task { input, conversion, is_aborted, reading: None })
        });
        if let Err(failure) = queued {
            // Nothing of it is under way that would let them go.
            for kept in [job.sources.take(), job.on_read.take()].into_iter().flatten() {
                env.release(kept)?;
            }
            return Err(failure);
        }
        Ok(job)
    }

    /// Has a task done on another thread.
    fn queue(self: &Rc<Self>, env: Env, task: Task) -> Result<()> {
        let work = Box::into_raw(Box::new(Work { work: ptr::null_mut(), task, job: self.clone() }));
        // SAFETY: the work stays where it is until `complete` has it.
        let queued = unsafe { env.queue_work(execute, complete, work.cast(), &raw mut (*work).work) };
        if queued.is_err() {
            // SAFETY: nobody else has it.
            drop(unsafe { Box::from_raw(work) });
        }
        queued
    }

    /// Lets the reading end early.
    pub fn abort(&self) {
        self.is_aborted.store(true, Ordering::Relaxed);
    }

    /// Lets the sources go, when nobody reads them any more.
    pub fn end(&self, env: Env) -> Result<()> {
        self.reading.take();
        self.input.take();
        self.sources.take().map_or(Ok(()), |sources| env.release(sources))
    }

    /// A source, as it was given.
    fn source(&self, env: Env, number: usize) -> Result<Value> {
        let sources = self.sources.get().ok_or(Failure::Argument(BUFFERS))?;
        env.element(env.get(sources)?, number as u32)
    }

    /// Lends the bytes of a source, which may have been detached since, to `body`, in which no JavaScript runs; and the
    /// array over whose memory strings may stand, where they are no copy. The last is the sentence for bytes that are
    /// not there any more.
    fn with_source<T>(
        &self,
        env: Env,
        number: usize,
        body: impl FnOnce(&[u8], Option<Value>, &'static str) -> Result<T>,
    ) -> Result<T> {
        let input = self.input.borrow();
        let input = input.as_ref().ok_or(Failure::Argument(BUFFERS))?;
        match input.bytes(number)? {
            Bytes::Copied(bytes) => body(bytes, None, input.refusal()),
            Bytes::Kept(..) => {
                let array = self.source(env, number)?;
                // SAFETY: no JavaScript runs before `body` has returned.
                let source = unsafe { env.source(array, input.refusal()) }?;
                body(source.bytes(), Some(array), input.refusal())
            }
        }
    }

    /// Makes the object of the reply's own fields and `results`; `undefined` where there is no reply.
    pub fn make_reply(&self, env: Env, results: Value) -> Result<Value> {
        let (reply, byte_length, kind) = {
            let mut reading = self.reading.borrow_mut();
            // Nothing was read where the other thread has panicked.
            let reading = reading.as_mut().ok_or(Failure::Status(sys::Status::napi_generic_failure))?;
            (reading.reply.take(), reading.byte_length, reading.kind)
        };
        let Some((recorded, chunk)) = reply else { return env.undefined() };
        let recorded = match recorded {
            Ok(recorded) => recorded,
            Err(refusal) => return refusal.throw(env),
        };
        let (parts, failures) = self.values(env, chunk.parts, chunk.arena)?;
        let made =
            failures.of(0..usize::MAX).map_or_else(|| self.make_alone(env, recorded, None, parts), Err);
        let object = match made {
            Ok(object) => object,
            Err(failure) => return self.refusal(env, failure, 0, Some(Spot::Whole)).throw(env),
        };
        end_reply(env, object, byte_length, kind.unwrap_or(Kind::Document), results)?;
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
        let Chunk { parts, arena, objects, last, given, short_texts, .. } = chunk;
        let (mut parts, failures) = self.values(env, parts, arena)?;
        let alone = if matches!(last, Some(Ok(_))) { parts.split_last() } else { Parts::default() };
        fetch(parts.together.get(short_texts..).unwrap_or(&[]));
        // The texts stay where the other thread has written them.
        let texts = match std::mem::take(&mut parts.together) {
            texts if texts.is_empty() => env.string_latin1(&texts)?,
            texts => env.string_of_bytes(texts)?,
        };
        let begin = env.array_length(results).unwrap_or(0) as usize;
        let mut at = 0;
        while at < objects.len() {
            let until = (at..objects.len())
                .find(|&object| failures.of(object_handles(&objects, object, &parts)).is_some())
                .unwrap_or(objects.len());
            let made = self.make_many(env, results, &objects[at..until], &parts, texts);
            let failure = match made {
                Ok(()) if until == objects.len() => break,
                Ok(()) => failures.of(object_handles(&objects, until, &parts)),
                Err(failure) => Some(failure),
            };
            // The objects before are made, and those behind can be.
            let Some(failure) = failure else { break };
            let length = env.after(failure, || env.array_length(results).ok_or(failure))? as usize;
            self.refuse(env, failure, length, results)?;
            at = length + 1 - begin;
        }
        let index = begin + objects.len();
        match last {
            None => Ok(()),
            Some(Err(refusal)) => refusal.report(env, index, &self.converter, self.on_error, results),
            Some(Ok(recorded)) => {
                let made = match failures.of(parts.handles.len()..usize::MAX) {
                    None => self.make_alone(env, recorded, given.map(|(number, _)| number), alone),
                    Some(failure) => Err(failure),
                };
                match made {
                    Ok(object) => env.set_element(results, index as u32, object),
                    Err(failure) => self.refuse(env, failure, index, results),
                }
            }
        }
    }

    /// Makes objects that stand one behind another in a chunk, by one call.
    fn make_many(
        &self,
        env: Env,
        results: Value,
        objects: &[RecordedObject],
        parts: &Parts<Value>,
        texts: Value,
    ) -> Result<()> {
        if objects.is_empty() {
            return Ok(());
        }
        let shapes = self.shapes(env, objects)?;
        let mut together = Objects::default();
        for (object, shape) in objects.iter().zip(shapes) {
            let RecordedObject { slot, object_id, given, has_text, .. } = *object;
            together.push_with(shape, [slot, object_id], has_text.then_some(0), given);
        }
        let site = self.converter.site(env);
        site.builders.make_many(env, results, &together, parts, &[texts], site.workshop)
    }

    /// Puts the error of an object that was read, but could not be made, where it belongs, or throws it.
    #[cold]
    fn refuse(&self, env: Env, failure: Failure, index: usize, results: Value) -> Result<()> {
        let spot = self.reading.borrow().as_ref().and_then(|reading| reading.spot(index));
        let refusal = self.refusal(env, failure, index, spot);
        refusal.report(env, index, &self.converter, self.on_error, results)
    }

    /// What is wrong with what was read, but could not be made; its place is found as long as the source can be read.
    fn refusal(&self, env: Env, failure: Failure, index: usize, spot: Option<Spot>) -> Refusal {
        let number = self.input.borrow().as_ref().map_or(0, |input| input.number_of(index));
        let kind = self.reading.borrow().as_ref().and_then(|reading| reading.kind);
        let refusal = env.after(failure, || {
            let spot = spot.ok_or(failure)?;
            self.with_source(env, number, |bytes, _, _| {
                Ok(Refusal::new(failure, &spot, bytes, index, kind.unwrap_or(Kind::Document)))
            })
        });
        refusal.unwrap_or(Refusal::without_place(failure))
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
                let workshop = &mut *site.workshop.borrow_mut();
                let Workshop { shapes, scratch, .. } = workshop;
                // What is new to the other thread may well be known here.
                let names = ReadNames::of(&entries);
                let shape = match names.find(shapes) {
                    Sequence::Shape(shape) => Ok(shape),
                    Sequence::New(sequence) => Err(tokens(env, sequence.tokens(), scratch)?),
                };
                match shape {
                    Ok(shape) => site.builders.layout(env, shape, workshop)?,
                    Err(tokens) => Layout::Any(tokens),
                }
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
                let shape = self.shape(object.sequence as usize, site);
                site.builders.compile_shape(env, shape, site.workshop)?;
            }
            let shapes =
                objects.iter().map(|object| self.shape(object.sequence as usize, site)).collect::<Vec<_>>();
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

    /// Parts whose values are made, and what could not be: a text that is too long, or whose source was detached.
    fn values(&self, env: Env, parts: Parts<Later>, mut arena: Arena) -> Result<(Parts<Value>, Failures)> {
        let Parts { slots, together, handles, object_ids, elements, start, text_base, has_text } = parts;
        let mut failures = Failures::default();
        let mut make = |later| match later {
            Later::Latin1(place) => env.string_latin1(&arena.bytes[place.range()]),
            Later::Long(text) => env.string_of_bytes(std::mem::take(&mut arena.long[text])),
            Later::OfSource(number, place) => self.text_of_source(env, number, place),
            Later::Source(number) => self.source(env, number),
            Later::Utf16(place) => env.string_utf16(&arena.units[place.range()]),
            Later::Bytes(place) => env.uint8_array(&arena.bytes[place.range()]),
            Later::Unsigned(number) => env.bigint_unsigned(number),
            Later::Huge(number) => env.bigint_huge(number),
        };
        let handles = handles.into_iter().enumerate().map(|(handle, later)| {
            make(later).or_else(|failure| {
                failures.0.push((handle, failure));
                env.undefined()
            })
        });
        let handles = handles.collect::<Result<Vec<_>>>()?;
        Ok((Parts { slots, together, handles, object_ids, elements, start, text_base, has_text }, failures))
    }

    /// A long text that was not copied.
    fn text_of_source(&self, env: Env, number: usize, place: Place) -> Result<Value> {
        let zero_copy = self.converter.conversion().zero_copy;
        self.with_source(env, number, |bytes, array, refusal| {
            let text = bytes.get(place.range()).ok_or(Failure::Argument(refusal))?;
            match array {
                // SAFETY: the caller chose `zeroCopy`, and with it not to write there again.
                Some(array) if zero_copy => unsafe { env.external_latin1(text, array) },
                _ => env.string_latin1(text),
            }
        })
    }
}

/// Reads a byte of each cache line of texts that another thread has written. So several lines come at a time; where
/// JavaScript copies the texts, it would wait for one after the other. (main thread, an event of 1 KB: 211 ns with all texts
/// fetched, 150 with the short ones alone, which stand side by side)
fn fetch(bytes: &[u8]) {
    const CACHE_LINE: usize = 64;
    black_box(bytes.iter().step_by(CACHE_LINE).fold(0, |all, byte| all ^ byte));
}

/// Values that could not be made, by their place among the handles.
#[derive(Default)]
struct Failures(Vec<(usize, Failure)>);

impl Failures {
    /// The first of some handles'.
    fn of(&self, handles: Range<usize>) -> Option<Failure> {
        self.0.iter().find(|(handle, _)| handles.contains(handle)).map(|&(_, failure)| failure)
    }
}

/// The handles of one of the objects that all of the parts are of.
fn object_handles(objects: &[RecordedObject], object: usize, parts: &Parts<Value>) -> Range<usize> {
    let end = objects.get(object + 1).map_or(parts.handles.len(), |next| next.handle as usize);
    objects[object].handle as usize..end
}

/// How often shapes are looked up again for a chunk: once is enough but where JavaScript converts meanwhile.
const TURNS: usize = 8;

unsafe extern "C" fn execute(_: sys::napi_env, data: *mut c_void) {
    // SAFETY: it is the `Work` that was queued, whose task nobody else touches until `complete`.
    let task = unsafe { &mut (*data.cast::<Work>()).task };
    // A panic would end the process; without a reading, `make_reply` fails.
    let _ = catch_unwind(AssertUnwindSafe(|| task.read()));
}

unsafe extern "C" fn complete(env: sys::napi_env, _: sys::napi_status, data: *mut c_void) {
    // SAFETY: it is the `Work` that was queued; this is called once, in its JavaScript thread.
    let (work, env) = unsafe { (Box::from_raw(data.cast::<Work>()), Env::new(env)) };
    let Work { work, task, job } = *work;
    job.input.replace(Some(task.input));
    job.reading.replace(task.reading);
    // Where the environment is ending there is nobody left to tell, or to be told of a failure.
    let _ = env.delete_work(work);
    if let Some(on_read) = job.on_read.take() {
        let _ = env.get(on_read).and_then(|function| env.call(function, &[]));
        let _ = env.release(on_read);
    }
}
