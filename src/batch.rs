//! Many documents or events by one call: some are read, then made by one call of JavaScript, in a handle scope of
//! their own, so that handles stay bounded however many there are.
//!
//! Making objects runs JavaScript, which may write to a source or detach it. So a source is asked for its bytes again
//! for the next ones, and each object is read from its place in them as from any untrusted bytes.

use crate::builders::{Layout, MAX_OBJECTS, Objects};
use crate::converter::Converter;
use crate::cursor_reply::{Item, find_document_key};
use crate::error::ErrorKind;
use crate::identity::find_id;
use crate::js_error::ErrorPlace;
use crate::js_row::{Kind, Plan};
use crate::locate::path_to;
use crate::node::{Env, Failure, Result, Source, Value};
use crate::parts::Parts;
use crate::reader::Reader;
use crate::spec::element_type;

/// What becomes of an object that cannot be converted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// The whole call throws.
    Throw,
    /// Its error stands in its place.
    Return,
}

const CURSOR: &str = "cursor must be a Buffer or Uint8Array that is not detached";
const BUFFERS: &str = "buffers must be an array of Buffers or Uint8Arrays that are not detached";

/// Where an object stands.
struct Place<'s> {
    /// The array, and the sentence that refuses another value.
    source: Value,
    refusal: &'static str,
    /// Its bytes, where they are a copy.
    copy: Option<&'s Vec<u8>>,
    /// The element in it; all of it where there is none.
    item: Option<Item>,
    /// The field that the element is in.
    batch_name: &'static str,
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
    let kind = kind.unwrap_or(if batch.is_change_stream { Kind::Change } else { Kind::Document });
    // A copy is made once: for every object it would be a copy of all of them.
    let copy = match &source {
        Source::Copied(bytes) => Some(bytes),
        Source::Borrowed(_) | Source::Shared(_) => None,
    };
    let mut run =
        Run { env, converter, kind, on_error, results: env.array_of(0)?, objects: Objects::default() };
    let mut index = 0;
    while index < batch.items.len() {
        let places = batch.items[index..].iter().map(|item| Place {
            source: cursor,
            refusal: CURSOR,
            copy,
            item: Some(*item),
            batch_name: batch.name,
        });
        index += env.scope(|| run.convert(index, places))?;
    }
    env.set_property(reply, c"byteLength", env.number(byte_length as f64)?)?;
    let name = if kind == Kind::Change { c"changes" } else { c"documents" };
    env.set_property(reply, name, run.results)?;
    Ok(reply)
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
                item: None,
                batch_name: "",
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
        let mut parts = std::mem::take(&mut site.workshop.borrow_mut().parts);
        parts.clear();
        let last = self.read(places.clone(), &mut parts);
        let count = self.objects.len();
        // From here on, JavaScript may run.
        if count > 0
            && let Err(failure) =
                site.builders.make_many(env, self.results, &self.objects, &parts, site.workshop)
        {
            let made = env.array_length(self.results).map_or(0, |length| length as usize - index);
            self.refuse(index + made, places, made, failure)?;
            return Ok(made + 1);
        }
        match last {
            None => {
                site.workshop.borrow_mut().take_room(parts);
                return Ok(count);
            }
            Some(Ok(layout)) => {
                parts.keep_last();
                match Plan::of(layout, parts).make(site) {
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
        for place in places {
            if !self.objects.has_room(parts) {
                return None;
            }
            parts.begin();
            if current.as_ref().is_none_or(|(array, _)| *array != place.source) {
                // SAFETY: JavaScript does not run before the last object is read.
                match unsafe { place.source(self.env) } {
                    Ok(source) => current = Some((place.source, source)),
                    Err(failure) => return Some(Err(failure)),
                }
            }
            let (array, source) = current.as_ref()?;
            let layout = place.bytes(source.bytes()).and_then(|bytes| {
                self.converter.read_into(self.env, self.kind, *array, source, bytes, parts)
            });
            match layout {
                Ok(Layout::Compiled(shape)) if parts.elements.is_empty() => self.objects.push(shape, parts),
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
        let error = error_at(self.env, &place, index as u32, failure, self.converter, self.kind)?;
        match self.on_error {
            OnError::Return => self.env.set_element(self.results, index as u32, error),
            OnError::Throw => self.env.throw_value(error).map(drop),
        }
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

    /// The place in the whole source of an offset in the object. The path is found in the object alone: through the
    /// whole of a batch, it would take the square of the time.
    fn locate(&self, offset: usize, object: &[u8], index: u32) -> ErrorPlace {
        let path = path_to(object, offset);
        match self.item {
            None => ErrorPlace { offset, path },
            // That offset is in the whole source already.
            Some(item) if item.element_type != element_type::DOCUMENT => {
                ErrorPlace { offset, path: vec![self.batch_name.to_owned(), index.to_string()] }
            }
            Some(item) => {
                let outer = [self.batch_name.to_owned(), index.to_string()];
                ErrorPlace { offset: item.start + offset, path: outer.into_iter().chain(path).collect() }
            }
        }
    }

    /// The bytes of the object, which is a document.
    #[inline(always)]
    fn bytes<'b>(&self, source: &'b [u8]) -> Result<&'b [u8]> {
        match self.item {
            None => Ok(source),
            Some(Item { element_type: element_type::DOCUMENT, start, end, .. }) => {
                // The place was seen in these bytes; JavaScript may have shortened them since.
                source.get(start..end).ok_or(Failure::Argument(self.refusal))
            }
            Some(item) => Err(ErrorKind::NotADocument(item.element_type).at(item.type_at).into()),
        }
    }
}

/// The error of an object, with its place in the whole source, its index and, as far as it can be read, its `_id`.
#[cold]
fn error_at(
    env: Env,
    place: &Place<'_>,
    index: u32,
    failure: Failure,
    converter: &Converter,
    kind: Kind,
) -> Result<Value> {
    let (error_place, id) = {
        // SAFETY: the bytes are walked through in this block, where no JavaScript runs.
        let source = unsafe { place.source(env) };
        let bytes = source.as_ref().map_or(&[][..], Source::bytes);
        let object = place.bytes(bytes).unwrap_or(&[]);
        (failure.offset().map(|offset| place.locate(offset, object, index)), id_document(object, kind))
    };
    let error = env.error_object_of(failure, error_place)?;
    env.set_property(error, c"index", env.number(index.into())?)?;
    if let Some(document) = id {
        match converter.id(env, &document) {
            Ok(id) => env.set_property(error, c"_id", id)?,
            // An `_id` that has no value of its own; what the deserialiser threw is not what is reported.
            Err(failure) => drop(env.error_of(failure, None)?),
        }
    }
    Ok(error)
}

/// A document of the object's `_id` alone.
fn id_document(object: &[u8], kind: Kind) -> Option<Vec<u8>> {
    let document = Reader::new(object).ok()?;
    let mut key = match kind {
        Kind::Change => find_document_key(document)?,
        Kind::Document => document,
    };
    find_id(&mut key).ok()?.to_document().ok()
}
