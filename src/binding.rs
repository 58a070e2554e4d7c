//! The exports: arguments in, values or exceptions out. `lib/` makes the public interface of them.

use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::{JsValue, Object};
use napi::sys;
use napi_derive::napi;

use crate::batch::{self, OnError};
use crate::builders::Builders;
use crate::converter::{Addon, Converter, with_guess};
use crate::datetime::DateRenderMode;
use crate::job::Job;
use crate::js_error::ErrorPlace;
use crate::js_message_pack::Writing;
use crate::js_row::{self, Conversion, Site};
use crate::json_extract::Form;
use crate::json_path::JsonPath;
use crate::kind::Kind;
use crate::locate::path_to;
use crate::message_pack;
use crate::node::{Env, Failure, Result, Source, Value};
use crate::projection::Projection;
use crate::unread::UnreadJson;

const SOURCE: &str = "source must be a Buffer or Uint8Array that is not detached";
const BYTES: &str = "bytes must be a Buffer or Uint8Array that is not detached";
const EVENT: &str = "event must be a Buffer or Uint8Array that is not detached";
const MODE: &str = "mode must be a DateRenderMode: 0, 1 or 2";
const UNREAD: &str = "start and rest must be the numbers of a value that was left unread";
const BUILDERS: &str = "builders must be what createBuilders gave";

fn builders_of(addon: &Addon, env: Env, index: Value) -> Result<Rc<Builders>> {
    let index = env.to_i32(index).and_then(|index| usize::try_from(index).ok());
    let builders = index.and_then(|index| addon.builders.borrow().get(index).cloned());
    builders.ok_or(Failure::Argument(BUILDERS))
}

/// Runs a callback's body, which gets the function's data and its arguments, and turns what goes wrong into an
/// exception. A function that reads a source has it as its first argument.
#[inline(always)]
fn call<T, const N: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    body: impl FnOnce(Env, &T, [Value; N]) -> Result<Value>,
) -> Value {
    // SAFETY: JavaScript is calling, and `env` is what Node-API gave for that.
    let env = unsafe { Env::new(env) };
    let (arguments, data) = match env.arguments::<N>(info) {
        Ok(arguments) => arguments,
        Err(failure) => return env.throw(failure, None),
    };
    // SAFETY: every function is made by `export`, with data of the type its callback is made for.
    let data = unsafe { &*data.cast::<T>() };
    // One pointer is given back through memory: of a `Result`, written in parts and read as a whole, the reading would
    // wait until all stores before it are over.
    let result = catch_unwind(AssertUnwindSafe(|| match body(env, data, arguments) {
        Ok(value) => value,
        Err(failure) => throw(env, failure, arguments[0]),
    }));
    result.unwrap_or_else(|_| env.throw(Failure::Status(sys::Status::napi_generic_failure), None))
}

/// Throws, with the path that a place in the source has. JavaScript may have run since the source was read: so it is
/// asked for its bytes again.
#[cold]
fn throw(env: Env, failure: Failure, source: Value) -> Value {
    let place = failure.offset().map(|offset| {
        // SAFETY: the bytes are walked through here, where no JavaScript runs.
        let source = unsafe { env.source(source, SOURCE) };
        ErrorPlace { offset, path: path_to(source.as_ref().map_or(&[], Source::bytes), offset) }
    });
    env.throw(failure, place)
}

/// A function with data of its own, which are dropped with it.
fn export<T>(
    env: Env,
    name: &CStr,
    callback: unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> Value,
    data: T,
) -> Result<Value> {
    let data = Box::into_raw(Box::new(data));
    // SAFETY: the data live until the function is collected. Each callback below is exported with its type.
    let function = unsafe { env.function(name, callback, data.cast::<c_void>()) }?;
    env.drop_with(function, data)?;
    Ok(function)
}

/// `(source) => { row, replicaId }`, left to `finish` of lib/builders.js
unsafe extern "C" fn convert_row(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, converter: &Rc<Converter>, [source]| {
        // SAFETY: the source is read to its end before JavaScript runs.
        let bytes = unsafe { env.source(source, SOURCE) }?;
        converter.leave_or_make(env, Kind::Document, source, &bytes)
    })
}

/// `(event) => change`, likewise
unsafe extern "C" fn convert_change(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, converter: &Rc<Converter>, [event]| {
        // SAFETY: the source is read to its end before JavaScript runs.
        let bytes = unsafe { env.source(event, EVENT) }?;
        converter.leave_or_make(env, Kind::Change, event, &bytes)
    })
}

/// `(cursor, kind, returnsErrors) => reply`: `kind` is 0 for changes, 1 for documents, else told by the reply
unsafe extern "C" fn convert_batch(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, converter: &Rc<Converter>, [cursor, kind, returns_errors]| {
        let kind = read_kind(env, kind);
        batch::convert_cursor(env, cursor, converter, kind, on_error(env, returns_errors))
    })
}

/// `(buffers, returnsErrors) => { row, replicaId }[]`
unsafe extern "C" fn convert_documents(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, converter: &Rc<Converter>, [buffers, returns_errors]| {
        batch::convert_documents(env, buffers, converter, on_error(env, returns_errors))
    })
}

/// `(source, kind, isBatch, isTable, returnsErrors) => Buffer`: `kind` as above
unsafe extern "C" fn to_message_pack(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, converter: &Rc<Converter>, [source, kind, is_batch, is_table, returns_errors]| {
        let writing = Writing {
            converter,
            options: converter.message_options(env.is_true(is_table)),
            on_error: if env.is_true(returns_errors) {
                message_pack::OnError::Write
            } else {
                message_pack::OnError::Fail
            },
        };
        let kind = read_kind(env, kind);
        if env.is_true(is_batch) {
            writing.batch(env, source, kind)
        } else {
            writing.objects(env, source, kind.unwrap_or(Kind::Document))
        }
    })
}

/// `(cursor, kind, returnsErrors, onRead) => job`
unsafe extern "C" fn start_batch(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, converter: &Rc<Converter>, [cursor, kind, returns_errors, on_read]| {
        let (kind, on_error) = (read_kind(env, kind), on_error(env, returns_errors));
        export_job(env, Job::of_cursor(env, converter, cursor, kind, on_error, on_read)?)
    })
}

/// `(buffers, returnsErrors, onRead) => job`
unsafe extern "C" fn start_documents(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, converter: &Rc<Converter>, [buffers, returns_errors, on_read]| {
        let on_error = on_error(env, returns_errors);
        export_job(env, Job::of_documents(env, converter, buffers, on_error, on_read)?)
    })
}

fn export_job(env: Env, job: Rc<Job>) -> Result<Value> {
    let functions = env.object()?;
    let set =
        |name: &CStr, callback| env.set_property(functions, name, export(env, name, callback, job.clone())?);
    set(c"makeReply", make_reply)?;
    set(c"makeSome", make_some)?;
    set(c"abort", abort)?;
    set(c"end", end)?;
    Ok(functions)
}

/// `(results) => reply`
unsafe extern "C" fn make_reply(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, job: &Rc<Job>, [results]| job.make_reply(env, results))
}

/// `(results, milliseconds) => boolean`: whether all are made
unsafe extern "C" fn make_some(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, job: &Rc<Job>, [results, milliseconds]| {
        let milliseconds = env.to_i32(milliseconds).and_then(|number| u64::try_from(number).ok());
        let all = job.make_some(env, results, Duration::from_millis(milliseconds.unwrap_or(0)))?;
        env.boolean(all)
    })
}

/// `() => void`
unsafe extern "C" fn abort(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, job: &Rc<Job>, [_]| {
        job.abort();
        env.undefined()
    })
}

/// `() => void`
unsafe extern "C" fn end(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, job: &Rc<Job>, [_]| {
        job.end(env)?;
        env.undefined()
    })
}

fn read_kind(env: Env, kind: Value) -> Option<Kind> {
    match env.to_i32(kind) {
        Some(0) => Some(Kind::Change),
        Some(1) => Some(Kind::Document),
        _ => None,
    }
}

fn on_error(env: Env, returns_errors: Value) -> OnError {
    if env.is_true(returns_errors) { OnError::Return } else { OnError::Throw }
}

/// `(builders, mode, isStrict, wantsUpdateDescription, isZeroCopy, isLazyJson, columns, paths) => { convertRow, … }`:
/// `columns` is undefined for all of them, `paths` where they are the documents' own
unsafe extern "C" fn create_converter(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, addon: &Rc<Addon>, arguments| {
        let [builders, mode, strict, update_description, zero_copy, lazy_json, columns, paths] = arguments;
        let conversion = Conversion {
            mode: read_mode(env, mode)?,
            projection: read_projection(env, columns, paths)?,
            lazy_json: env.is_true(lazy_json),
            strict: env.is_true(strict),
            update_description: env.is_true(update_description),
            zero_copy: env.is_true(zero_copy),
        };
        let builders = builders_of(addon, env, builders)?;
        let converter = Rc::new(Converter::new(addon.clone(), builders, conversion));
        let functions = env.object()?;
        let set = |name: &CStr, callback| {
            env.set_property(functions, name, export(env, name, callback, converter.clone())?)
        };
        set(c"convertRow", convert_row)?;
        set(c"convertChange", convert_change)?;
        set(c"convertBatch", convert_batch)?;
        set(c"convertDocuments", convert_documents)?;
        set(c"startBatch", start_batch)?;
        set(c"startDocuments", start_documents)?;
        set(c"toMessagePack", to_message_pack)?;
        Ok(functions)
    })
}

/// What is wanted of documents, of two arrays of strings.
fn read_projection(env: Env, columns: Value, paths: Value) -> Result<Option<Arc<Projection>>> {
    if env.array_length(columns).is_none() {
        return Ok(None);
    }
    let columns = env.texts_of(columns)?;
    if env.array_length(paths).is_none() {
        return Ok(Some(Arc::new(Projection::of_names(columns.iter().map(String::as_str)))));
    }
    let paths = env.texts_of(paths)?;
    let pairs = columns.iter().map(String::as_str).zip(paths.iter().map(String::as_str));
    Ok(Some(Arc::new(Projection::of_paths(pairs))))
}

/// `(source, start, rest) => string`: JSON text that was left unread; see [`UnreadJson`]
unsafe extern "C" fn read_json(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, addon: &Rc<Addon>, [source, start, rest]| {
        let number = |value| env.to_f64(value).unwrap_or(f64::NAN);
        let json =
            UnreadJson::from_numbers([number(start), number(rest)]).ok_or(Failure::Argument(UNREAD))?;
        js_row::read_json(env, source, json, &addon.workshop)
    })
}

/// `(source, path, isValue, mode) => value`: what is at a path in the document's JSON; undefined where that is malformed
unsafe extern "C" fn json_extract(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, addon: &Rc<Addon>, [source, path, is_value, mode]| {
        let mode = read_mode(env, mode)?;
        let form = if env.is_true(is_value) { Form::Value } else { Form::Json };
        let path = env.text_of(path)?;
        // SAFETY: the source is read to its end before JavaScript runs.
        let source = unsafe { env.source(source, SOURCE) }?;
        match JsonPath::parse(&path) {
            Some(path) => js_row::extract_json(env, source.bytes(), &path, form, mode, &addon.workshop),
            None => env.undefined(),
        }
    })
}

/// `(object) => number`: see [`Builders`].
unsafe extern "C" fn create_builders(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, addon: &Rc<Addon>, [object]| {
        let builders = Builders::from_object(env, object)?;
        let mut all = addon.builders.borrow_mut();
        all.push(Rc::new(builders));
        env.number((all.len() - 1) as f64)
    })
}

/// `(bytes, mode, builders) => row`, likewise
unsafe extern "C" fn buffer_to_sqlite(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, addon: &Rc<Addon>, [bytes, mode, builders]| {
        let builders = builders_of(addon, env, builders)?;
        let mode = read_mode(env, mode)?;
        // SAFETY: the source is read to its end before JavaScript runs.
        let source = unsafe { env.source(bytes, BYTES) }?;
        let site = Site { env, builders: &builders, workshop: &addon.workshop };
        with_guess(&addon.row_guess, |guess| js_row::read_plain_row(site, source.bytes(), mode, guess))?
            .leave_or_make(site)
    })
}

/// `(bytes, builders) => { id, idBuffer }`, with a `Uint8Array`, likewise
unsafe extern "C" fn parse_document_id(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, addon: &Rc<Addon>, [bytes, builders]| {
        let builders = builders_of(addon, env, builders)?;
        // SAFETY: the source is read to its end before JavaScript runs.
        let source = unsafe { env.source(bytes, BYTES) }?;
        let site = Site { env, builders: &builders, workshop: &addon.workshop };
        with_guess(&addon.id_guess, |guess| js_row::read_identity(site, source.bytes(), guess))?
            .leave_or_make(site)
    })
}

/// `(event, builders) => object`, likewise
unsafe extern "C" fn parse_change_document(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, addon: &Rc<Addon>, [event, builders]| {
        let builders = builders_of(addon, env, builders)?;
        // SAFETY: the source is read to its end before JavaScript runs.
        let source = unsafe { env.source(event, EVENT) }?;
        let site = Site { env, builders: &builders, workshop: &addon.workshop };
        with_guess(&addon.event_guess, |guess| js_row::read_event_fields(site, event, source.bytes(), guess))?
            .leave_or_make(site)
    })
}

fn read_mode(env: Env, value: Value) -> Result<DateRenderMode> {
    env.to_i32(value).and_then(DateRenderMode::from_number).ok_or(Failure::Argument(MODE))
}

/// Called once for each JavaScript thread that loads the addon.
#[napi(module_exports)]
pub fn init(exports: Object<'_>, env: napi::Env) -> napi::Result<()> {
    // SAFETY: JavaScript is loading the addon.
    let env = unsafe { Env::new(env.raw()) };
    let addon = Rc::new(Addon::default());
    let set = |name: &CStr, callback| {
        let function = export(env, name, callback, addon.clone())?;
        env.set_property(exports.raw(), name, function)
    };
    let all = || {
        set(c"createBuilders", create_builders)?;
        set(c"createConverter", create_converter)?;
        set(c"readJson", read_json)?;
        set(c"jsonExtract", json_extract)?;
        set(c"bufferToSqlite", buffer_to_sqlite)?;
        set(c"parseDocumentId", parse_document_id)?;
        set(c"parseChangeDocument", parse_change_document)
    };
    all().map_err(|failure| napi::Error::from_reason(format!("{failure:?}")))
}
