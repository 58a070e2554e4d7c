//! Messages from JavaScript's arguments, as one `Buffer`.

use crate::batch::{self, Refusal};
use crate::converter::Converter;
use crate::cursor_reply::Spot;
use crate::js_error::INVALID_ARGUMENT;
use crate::kind::Kind;
use crate::message_pack::{self, BatchFailure, List, ObjectError, OnError, Options, Packer};
use crate::node::{Env, Failure, Result, Source, Value};

const SOURCE: &str = "source must be a Buffer or Uint8Array that is not detached, or an array of such";
const CURSOR: &str = "source must be a Buffer or Uint8Array that is not detached";

impl From<message_pack::Failure> for Failure {
    fn from(failure: message_pack::Failure) -> Self {
        match failure {
            message_pack::Failure::Bson(error) => Self::Bson(error),
            message_pack::Failure::TooLong => Self::TextTooLong,
        }
    }
}

/// How a message is written.
#[derive(Clone, Copy)]
pub struct Writing<'c> {
    /// The converter that was asked.
    pub converter: &'c Converter,
    /// How objects are converted.
    pub options: Options<'c>,
    /// What becomes of an object that cannot be.
    pub on_error: OnError,
}

impl Writing<'_> {
    /// A document or change, or an array of them.
    pub fn objects(self, env: Env, source: Value, kind: Kind) -> Result<Value> {
        self.message(env, |packer| match env.array_length(source) {
            Some(length) => {
                let mut list = packer.begin_list(length as usize, self.options)?;
                (0..length).try_for_each(|index| {
                    env.scope(|| {
                        self.element(env, env.element(source, index)?, index, kind, packer, &mut list)
                    })
                })?;
                packer.end_list(&list);
                Ok(())
            }
            None => {
                // SAFETY: the source is read to its end before JavaScript runs.
                let bytes = unsafe { env.source(source, SOURCE) }?;
                Ok(packer.write_one(bytes.bytes(), kind, self.options)?)
            }
        })
    }

    /// A cursor's document; by default, its objects are changes where it is a change stream's.
    pub fn batch(self, env: Env, cursor: Value, kind: Option<Kind>) -> Result<Value> {
        self.message(env, |packer| {
            // SAFETY: the source is read to its end before JavaScript runs.
            let source = unsafe { env.source(cursor, CURSOR) }?;
            match packer.write_batch(source.bytes(), kind, self.on_error, self.options) {
                Ok(()) => Ok(()),
                Err(BatchFailure::Reply(failure)) => Err(failure.into()),
                Err(BatchFailure::Object { failure, index, kind, spot }) => {
                    let refusal = Refusal::new(failure.into(), &spot, source.bytes(), index as usize, kind);
                    self.throw(env, refusal, index, cursor)
                }
            }
        })
    }

    /// The message that `write` writes. The packer is nobody else's meanwhile: to read an array may run JavaScript.
    fn message(self, env: Env, write: impl FnOnce(&mut Packer) -> Result<()>) -> Result<Value> {
        let cell = self.converter.packer();
        let mut packer = cell.take().unwrap_or_default();
        packer.begin();
        let message = write(&mut packer).and_then(|()| env.buffer(packer.message()));
        cell.set(Some(packer));
        message
    }

    /// An element of an array.
    fn element(
        self,
        env: Env,
        array: Value,
        index: u32,
        kind: Kind,
        packer: &mut Packer,
        list: &mut List,
    ) -> Result<()> {
        // SAFETY: the source is read to its end before JavaScript runs.
        let source = unsafe { env.source(array, SOURCE) };
        let bytes = source.as_ref().map_or(&[][..], Source::bytes);
        let failure = match &source {
            Ok(_) => match packer.write_object(bytes, kind, self.options, Some(list)) {
                Ok(()) => return Ok(()),
                Err(failure) => failure.into(),
            },
            Err(failure) => *failure,
        };
        match (self.on_error, failure) {
            (OnError::Write, Failure::Bson(error)) => {
                Ok(packer.write_failure(error, &Spot::Whole, bytes, kind, index, list)?)
            }
            (OnError::Write, Failure::Argument(message)) => {
                let error = ObjectError { code: INVALID_ARGUMENT, message, place: None, index, id: None };
                Ok(packer.write_error(error, list)?)
            }
            (OnError::Write | OnError::Fail, _) => {
                let refusal = Refusal::new(failure, &Spot::Whole, bytes, index as usize, kind);
                self.throw(env, refusal, index, array)
            }
        }
    }

    #[cold]
    fn throw(self, env: Env, refusal: Refusal, index: u32, source: Value) -> Result<()> {
        refusal.report(env, index as usize, self.converter, batch::OnError::Throw, source)
    }
}
