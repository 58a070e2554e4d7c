//! Many documents or events by one call: some are read, then made by one call of JavaScript, in a handle scope of
//! their own, so that handles stay bounded however many there are.
//!
//! Making objects runs JavaScript, which may write to a source or detach it. So a source is asked for its bytes again
//! for the next ones, and each object is read from its place in them as from any untrusted bytes.

use crate::builders::{Layout, MAX_OBJECTS, Objects};
use crate::converter::Converter;
use crate::cursor_reply::{Spot, id_document};
use crate::js_error::ErrorPlace;
use crate::js_row::Plan;
use crate::kind::Kind;
use crate::node::{Env, Failure, Result, Source, Value};
use crate::parts::Parts;

/// What becomes of an object that cannot be converted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// The whole call throws.
    Throw,
    /// Its error stands in its place.
    Return,
}

/// Refuses what is no cursor's document.
pub const CURSOR: &str = "cursor must be a Buffer or Uint8Array that is not detached";
/// Refuses what are no documents.
pub const BUFFERS: &str = "buffers must be an array of Buffers or Uint8Arrays that are not detached";

/// Where an object stands.
struct Place<'s> {
    /// The array, and the sentence that refuses another value.
    source: Value,
    refusal: &'static str,
    /// Its bytes, where they are a copy.
    copy: Option<&'s Vec<u8>>,
    /// The object in them.
    spot: Spot,
}

/// A cursor's document to its fields and its objects, which become the property `changes` or `documents`. `kind` is
/// what they are; by default, changes where the cursor is a change stream's.
pub fn convert_cursor(
    env: Env,
    cursor: Value,
    converter: &Converter,
    kind: Option<Kind>,
    on_error: OnError,
) -> Result<Value> {
    // SAFETY: the source is read to its end before JavaScript runs.
    let source = unsafe { env.source(cursor, CURSOR) }?;
    let byte_length = source.bytes().len();
    let (reply, batch) = converter.reply(env, source.bytes())?;
    let kind = batch.kind(kind);
    // A copy is made once: for every object it would be a copy of all of them.
    let copy = match &source {
        Source::Copied(bytes) => Some(bytes),
        Source::Borrowed(_) | Source::Shared(_) => None,
    };
    let mut run =
        Run { env, converter, kind, on_error, results: env.array_of(0)?, objects: Objects::default() };
    let mut index = 0;
    while index < batch.items.len() {
        let places =
            batch.spots_from(index).map(|spot| Place { source: cursor, refusal: CURSOR, copy, spot });
        index += env.scope(|| run.convert(index, places))?;
    }
    end_reply(env, reply, byte_length, kind, run.results)?;
    Ok(reply)
}

/// Gives a reply what it has besides its own fields: the size of its document, and its objects by the name of what they
/// are.
pub fn end_reply(env: Env, reply: Value, byte_length: usize, kind: Kind, results: Value) -> Result<()> {
    env.set_property(reply, c"byteLength", env.number(byte_length as f64)?)?;
    let name = if kind == Kind::Change { c"changes" } else { c"documents" };
    env.set_property(reply, name, results)
}

/// An array of documents to their rows and identities.
pub fn convert_documents(
    env: Env,
    buffers: Value,
    converter: &Converter,
    on_error: OnError,
) -> Result<Value> {
    let length = env.array_length(buffers).ok_or(Failure::Argument(BUFFERS))? as usize;
    let mut run = Run {
        env,
        converter,
        kind: Kind::Document,
        on_error,
        results: env.array_of(0)?,
        objects: Objects::default(),
    };
    let mut index = 0;
    while index < length {
        index += env.scope(|| {
            // All of them first: to take an element may run JavaScript.
            let sources =
                (index..length.min(index + MAX_OBJECTS)).map(|index| env.element(buffers, index as u32));
            let sources = sources.collect::<Result<Vec<_>>>()?;
            let places = sources.into_iter().map(|source| Place {
                source,
                refusal: BUFFERS,
                copy: None,
                spot: Spot::Whole,
            });
            run.convert(index, places)
        })?;
    }
    Ok(run.results)
}

/// A batch being converted.
struct Run<'c> {
    env: Env,
    converter: &'c Converter,
    kind: Kind,
    on_error: OnError,
    /// As many as were made.
    results: Value,
    /// What is made next.
    objects: Objects,
}

impl Run<'_> {
    /// Converts the objects at the first places, of which there is one at least; `index` is the first one's. Gives how
    /// many became results.
    fn convert<'s>(
        &mut self,
        index: usize,
        places: impl Iterator<Item = Place<'s>> + Clone,
    ) -> Result<usize> {
        let Self { env, converter, .. } = *self;
        let site = converter.site(env);
        let mut parts = site.workshop.borrow_mut().give_room();
        // What is made by itself does not pass with the others: it may be of more values than those have room for.
        let last =
            self.read(places.clone(), &mut parts).map(|read| read.map(|layout| (layout, parts.split_last())));
        let count = self.objects.len();
        // From here on, JavaScript may run.
        if count > 0
            && let Err(failure) =
                site.builders.make_many(env, self.results, &self.objects, &parts, &[], site.workshop)
        {
            let made = env.after(failure, || env.array_length(self.results).ok_or(failure))? as usize - index;
            self.refuse(index + made, places, made, failure)?;
            return Ok(made + 1);
        }
        match last {
            None => {
                site.workshop.borrow_mut().take_room(parts);
                return Ok(count);
            }
            Some(Ok((layout, last))) => {
                let given = places.clone().nth(count).and_then(|place| converter.given(place.source));
                match Plan::of(layout, given, last).make(site) {
                    Ok(object) => env.set_element(self.results, (index + count) as u32, object)?,
                    Err(failure) => self.refuse(index + count, places, count, failure)?,
                }
            }
            Some(Err(failure)) => self.refuse(index + count, places, count, failure)?,
        }
        Ok(count + 1)
    }

    /// Reads objects into `parts`, until those are full or one is not like the others: it fails, or is made by itself.
    fn read<'s>(
        &mut self,
        places: impl Iterator<Item = Place<'s>>,
        parts: &mut Parts<Value>,
    ) -> Option<Result<Layout>> {
        self.objects.clear();
        // Places of one source stand one after another, so it is asked for its bytes once.
        let mut current: Option<(Value, Source<'s>)> = None;
        let mut given = None;
        for place in places {
            if !self.objects.has_room(parts) {
                return None;
            }
            if current.as_ref().is_none_or(|(array, _)| *array != place.source) {
                // SAFETY: JavaScript does not run before the last object is read.
                match unsafe { place.source(self.env) } {
                    Ok(source) => current = Some((place.source, source)),
                    Err(failure) => return Some(Err(failure)),
                }
                given = self.converter.given(place.source).map(|array| parts.add_handle(array));
            }
            parts.begin();
            let (array, source) = current.as_ref()?;
            let layout = place.bytes(source.bytes()).and_then(|bytes| {
                let start = place.spot.start();
                self.converter.read_into(self.env, self.kind, *array, source, (bytes, start), parts)
            });
            match layout {
                Ok(Layout::Compiled(shape)) if parts.elements.is_empty() => {
                    self.objects.push(shape, parts.start, parts.texts(), given);
                }
                Ok(layout) => return Some(Ok(layout)),
                Err(failure) => {
                    parts.take_back();
                    return Some(Err(failure));
                }
            }
        }
        None
    }

    /// Puts the error of the object at the `skipped`th place where it belongs, or throws it.
    #[cold]
    fn refuse<'s>(
        &self,
        index: usize,
        mut places: impl Iterator<Item = Place<'s>>,
        skipped: usize,
        failure: Failure,
    ) -> Result<()> {
        let place = places.nth(skipped).ok_or(failure)?;
        let refusal = {
            // SAFETY: the bytes are walked through in this block, where no JavaScript runs.
            let source = unsafe { place.source(self.env) };
            let bytes = source.as_ref().map_or(&[][..], Source::bytes);
            Refusal::new(failure, &place.spot, bytes, index, self.kind)
        };
        refusal.report(self.env, index, self.converter, self.on_error, self.results)
    }
}

impl<'s> Place<'s> {
    /// The whole source.
    ///
    /// # Safety
    /// As [`Env::source`].
    #[inline(always)]
    unsafe fn source(&self, env: Env) -> Result<Source<'s>> {
        match self.copy {
            Some(bytes) => Ok(Source::Shared(bytes)),
            // SAFETY: the caller's promise.
            None => unsafe { env.source(self.source, self.refusal) },
        }
    }

    /// The object.
    #[inline(always)]
    fn bytes<'b>(&self, source: &'b [u8]) -> Result<&'b [u8]> {
        self.spot.bytes(source)?.ok_or(Failure::Argument(self.refusal))
    }
}

/// What is wrong with an object, all of it found in bytes that are as they were read.
pub struct Refusal {
    failure: Failure,
    place: Option<ErrorPlace>,
    /// A document of the object's `_id` alone.
    id: Option<Vec<u8>>,
}

impl Refusal {
    /// What is wrong with the object at a spot of the source.
    #[cold]
    pub fn new(failure: Failure, spot: &Spot, source: &[u8], index: usize, kind: Kind) -> Self {
        let object = spot.bytes(source).ok().flatten().unwrap_or(&[]);
        let place = failure.offset().map(|offset| {
            let (offset, path) = spot.locate(offset, object, index);
            ErrorPlace { offset, path }
        });
        Self { failure, place, id: id_document(object, kind) }
    }

    /// What is wrong, of an object whose bytes are not at hand.
    #[must_use]
    pub const fn without_place(failure: Failure) -> Self {
        Self { failure, place: None, id: None }
    }

    /// Throws the error of it.
    #[cold]
    pub fn throw(self, env: Env) -> Result<Value> {
        let error = env.error_of(self.failure, self.place)?;
        env.throw_value(error)
    }

    /// The error of it, with its index and, as far as it can be read, its `_id`: in its place, or thrown.
    #[cold]
    pub fn report(
        self,
        env: Env,
        index: usize,
        converter: &Converter,
        on_error: OnError,
        results: Value,
    ) -> Result<()> {
        let error = env.error_object_of(self.failure, self.place)?;
        env.set_property(error, c"index", env.number(index as f64)?)?;
        if let Some(document) = self.id {
            match converter.id(env, &document) {
                Ok(id) => env.set_property(error, c"_id", id)?,
                // An `_id` that has no value of its own; what the deserialiser threw is not what is reported.
                Err(failure) => drop(env.error_of(failure, None)?),
            }
        }
        match on_error {
            OnError::Return => env.set_element(results, index as u32, error),
            OnError::Throw => env.throw_value(error).map(drop),
        }
    }
}
