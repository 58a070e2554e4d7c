//! Failures to JavaScript errors.

use std::ptr;

use napi::sys;

use crate::error::ErrorKind;
use crate::node::{CreateError, Env, Failure, Result, Value};

/// Where in a source a failure is: found while its bytes are as they were read, since making an error runs JavaScript
/// where `Error.prototype` has setters.
#[derive(Debug)]
pub struct ErrorPlace {
    /// The byte.
    pub offset: usize,
    /// The names of the elements around it.
    pub path: Vec<String>,
}

/// The code of a wrong argument.
pub const INVALID_ARGUMENT: &str = "BSONROW_INVALID_ARGUMENT";

impl Env {
    /// Throws what a failure stands for; gives what a callback then returns.
    #[cold]
    pub fn throw(self, failure: Failure, place: Option<ErrorPlace>) -> Value {
        match failure {
            Failure::Thrown | Failure::Status(sys::Status::napi_pending_exception) => {}
            // Where throwing fails there is nothing left to do: JavaScript sees the failure of that.
            _ => drop(self.error_of(failure, place).and_then(|error| self.throw_value(error))),
        }
        ptr::null_mut()
    }

    /// The error that a failure stands for; of what JavaScript threw, that.
    #[cold]
    pub fn error_of(self, failure: Failure, place: Option<ErrorPlace>) -> Result<Value> {
        match failure {
            Failure::Bson(error) => {
                let create = if error.kind.is_range_error() {
                    sys::napi_create_range_error
                } else {
                    sys::napi_create_error
                };
                let message = self.string(&error.kind.to_string())?;
                self.error(create, error.kind.code(), message, place)
            }
            Failure::Refused(_) => self.refusal(place),
            Failure::Argument(sentence) => {
                let message = self.string(sentence)?;
                self.error(sys::napi_create_type_error, INVALID_ARGUMENT, message, None)
            }
            Failure::TextTooLong => {
                let message = self.string("A text is longer than a JavaScript string can be")?;
                self.error(sys::napi_create_range_error, "BSONROW_TEXT_TOO_LONG", message, None)
            }
            Failure::Thrown => self.take_exception(),
            Failure::Status(sys::Status::napi_pending_exception) => Err(failure),
            Failure::Status(status) => {
                let message = self.string(&format!("Node-API failed with status {status}"))?;
                self.error(sys::napi_create_error, "BSONROW_NODE_API", message, None)
            }
        }
    }

    fn is_object(self, value: Value) -> Result<bool> {
        Ok(matches!(self.type_of(value)?, sys::ValueType::napi_object | sys::ValueType::napi_function))
    }

    /// The same as [`Env::error_of`], but always an object that properties can be set of: what is none becomes the
    /// cause of an error.
    #[cold]
    pub fn error_object_of(self, failure: Failure, place: Option<ErrorPlace>) -> Result<Value> {
        let thrown = self.error_of(failure, place)?;
        if self.is_object(thrown)? {
            return Ok(thrown);
        }
        let kind = ErrorKind::Deserialize;
        let message = self.string(&kind.to_string())?;
        let error = self.error(sys::napi_create_error, kind.code(), message, None)?;
        self.set_property(error, c"cause", thrown)?;
        Ok(error)
    }

    /// In place of the exception that is pending, an error of its message and of a place in the source.
    fn refusal(self, place: Option<ErrorPlace>) -> Result<Value> {
        let kind = ErrorKind::Deserialize;
        let cause = self.take_exception()?;
        // What was thrown need not be an error.
        let message = if self.is_object(cause)? { self.property(cause, c"message")? } else { cause };
        let message = if self.type_of(message)? == sys::ValueType::napi_string {
            message
        } else {
            self.string(&kind.to_string())?
        };
        let error = self.error(sys::napi_create_error, kind.code(), message, place)?;
        self.set_property(error, c"cause", cause)?;
        Ok(error)
    }

    /// An error; with a place, one of a source.
    fn error(
        self,
        create: CreateError,
        code: &str,
        message: Value,
        place: Option<ErrorPlace>,
    ) -> Result<Value> {
        let code = self.string(code)?;
        let error = self.create_error(create, code, message)?;
        if let Some(ErrorPlace { offset, path }) = place {
            let path = self.array(path.iter().map(|name| self.string(name)))?;
            self.set_property(error, c"offset", self.number(offset as f64)?)?;
            self.set_property(error, c"path", path)?;
        }
        Ok(error)
    }
}
