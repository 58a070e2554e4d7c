//! Many documents or events by one call, each in a handle scope of its own: handles stay bounded however many there
//! are.
//!
//! Making an object may run JavaScript, which may write to a source or detach it. So a source is asked for its bytes
//! again for every object, and each object is read from its place in them as from any untrusted bytes.

use crate::converter::Converter;
use crate::cursor_reply::{Item, find_document_key};
use crate::error::ErrorKind;
use crate::identity::find_id;
use crate::js_error::ErrorPlace;
use crate::locate::path_to;
use crate::node::{Env, Failure, Result, Source, Value};
use crate::reader::Reader;
use crate::spec::element_type;

/// What the objects of a batch are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Change events.
    Changes,
    /// Documents.
    Documents,
}

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
    let kind = kind.unwrap_or(if batch.is_change_stream { Kind::Changes } else { Kind::Documents });
    let results = env.array_of(batch.items.len())?;
    // A copy is made once: for every object it would be a copy of all of them.
    let copy = match &source {
        Source::Copied(bytes) => Some(bytes),
        Source::Borrowed(_) | Source::Shared(_) => None,
    };
    for (index, item) in (0..).zip(&batch.items) {
        let place =
            Place { source: cursor, refusal: CURSOR, copy, item: Some(*item), batch_name: batch.name };
        env.scope(|| {
            let result = convert_place(env, &place, index, converter, kind, on_error)?;
            env.set_element(results, index, result)
        })?;
    }
    env.set_property(reply, c"byteLength", env.number(byte_length as f64)?)?;
    let name = if kind == Kind::Changes { c"changes" } else { c"documents" };
    env.set_property(reply, name, results)?;
    Ok(reply)
}

/// An array of documents to their rows and identities.
pub fn convert_documents(
    env: Env,
    buffers: Value,
    converter: &Converter,
    on_error: OnError,
) -> Result<Value> {
    let length = env.array_length(buffers).ok_or(Failure::Argument(BUFFERS))?;
    let results = env.array_of(length as usize)?;
    for index in 0..length {
        env.scope(|| {
            let source = env.element(buffers, index)?;
            let place = Place { source, refusal: BUFFERS, copy: None, item: None, batch_name: "" };
            let result = convert_place(env, &place, index, converter, Kind::Documents, on_error)?;
            env.set_element(results, index, result)
        })?;
    }
    Ok(results)
}

/// The object at a place, or the error in its place.
#[inline(always)]
fn convert_place(
    env: Env,
    place: &Place<'_>,
    index: u32,
    converter: &Converter,
    kind: Kind,
    on_error: OnError,
) -> Result<Value> {
    let convert = || {
        // SAFETY: the source is read to its end before JavaScript runs.
        let source = unsafe { place.source(env) }?;
        let bytes = place.bytes(source.bytes())?;
        match kind {
            Kind::Changes => converter.change(env, place.source, &source, bytes),
            Kind::Documents => converter.row(env, place.source, &source, bytes),
        }
    };
    convert().or_else(|failure| {
        let error = error_at(env, place, index, failure, converter, kind)?;
        match on_error {
            OnError::Return => Ok(error),
            OnError::Throw => env.throw_value(error),
        }
    })
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
        Kind::Changes => find_document_key(document)?,
        Kind::Documents => document,
    };
    find_id(&mut key).ok()?.to_document().ok()
}
