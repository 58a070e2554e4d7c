//! The exports: arguments in, values or exceptions out. `lib/` makes the public interface of them.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use napi::bindgen_prelude::{JsValue, Object};
use napi::sys;
use napi_derive::napi;

use crate::datetime::DateRenderMode;
use crate::identity::find_id;
use crate::js_row::{self, Builders, Conversion, Guess, Workshop};
use crate::node::{Env, Failure, Result, Source, Value};
use crate::reader::Reader;

const SOURCE: &str = "source must be a Buffer or Uint8Array that is not detached";
const BYTES: &str = "bytes must be a Buffer or Uint8Array that is not detached";
const EVENT: &str = "event must be a Buffer or Uint8Array that is not detached";
const MODE: &str = "mode must be a DateRenderMode: 0, 1 or 2";
const BUILDERS: &str = "builders must be what createBuilders gave";

/// The addon in one JavaScript thread.
#[derive(Default)]
struct Addon {
    workshop: RefCell<Workshop>,
    builders: RefCell<Vec<Rc<Builders>>>,
}

impl Addon {
    fn builders(&self, env: Env, index: Value) -> Result<Rc<Builders>> {
        let index = env.to_i32(index).and_then(|index| usize::try_from(index).ok());
        let builders = index.and_then(|index| self.builders.borrow().get(index).cloned());
        builders.ok_or(Failure::Argument(BUILDERS))
    }
}

/// What belongs to a function that converts documents with fixed options.
struct Converter {
    addon: Rc<Addon>,
    builders: Rc<Builders>,
    conversion: Conversion,
    guess: Cell<Guess>,
}

/// Runs a callback's body and turns what goes wrong into an exception. The body gets the function's data, and a
/// place for its source, which the path of an error is found in.
#[inline(always)]
fn call<T, const N: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    body: impl FnOnce(Env, &T, [Value; N], &mut Option<Source<'_>>) -> Result<Value>,
) -> Value {
    // SAFETY: JavaScript is calling, and `env` is what Node-API gave for that.
    let env = unsafe { Env::new(env) };
    let mut source = None;
    let result = catch_unwind(AssertUnwindSafe(|| {
        let (arguments, data) = env.arguments(info)?;
        // SAFETY: every function is made by `export`, with data of the type its callback is made for.
        let data = unsafe { &*data.cast::<T>() };
        body(env, data, arguments, &mut source)
    }));
    match result {
        Ok(Ok(value)) => value,
        Ok(Err(failure)) => env.throw(failure, source.as_ref().map_or(&[], Source::bytes)),
        Err(_) => env.throw(Failure::Status(sys::Status::napi_generic_failure), &[]),
    }
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

/// `source` of an argument, kept where an error can see it.
///
/// # Safety
/// As [`Env::source`]: JavaScript does not run while the bytes are in use. All callbacks read their source to the
/// end before they call JavaScript.
#[inline(always)]
unsafe fn take_source<'a, 's>(
    env: Env,
    value: Value,
    refusal: &'static str,
    place: &'a mut Option<Source<'s>>,
) -> Result<&'a [u8]> {
    // SAFETY: the caller's promise.
    Ok(place.insert(unsafe { env.source(value, refusal) }?).bytes())
}

/// `(source) => { row, replicaId }`
unsafe extern "C" fn convert(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, converter: &Converter, [source], place| {
        // SAFETY: `convert` reads the source to its end before it calls JavaScript.
        let source = unsafe { take_source(env, source, SOURCE, place) }?;
        let Converter { addon, builders, conversion, .. } = converter;
        let mut guess = converter.guess.get();
        let row = js_row::convert(env, source, *conversion, builders, &addon.workshop, &mut guess);
        converter.guess.set(guess);
        row
    })
}

/// `(builders, mode, strict) => ((source) => { row, replicaId })`
unsafe extern "C" fn create_converter(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, addon: &Rc<Addon>, [builders, mode, strict], _| {
        let builders = addon.builders(env, builders)?;
        let conversion =
            Conversion { mode: read_mode(env, mode)?, strict: env.to_i32(strict) == Some(1), identify: true };
        let converter = Converter { addon: addon.clone(), builders, conversion, guess: Cell::default() };
        export(env, c"convert", convert, converter)
    })
}

/// `(object) => number`: see [`Builders`].
unsafe extern "C" fn create_builders(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, addon: &Rc<Addon>, [object], _| {
        let builders = Builders::from_object(env, object)?;
        let mut all = addon.builders.borrow_mut();
        all.push(Rc::new(builders));
        env.number((all.len() - 1) as f64)
    })
}

/// `(bytes, mode, builders) => row`
unsafe extern "C" fn buffer_to_sqlite(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, addon: &Rc<Addon>, [bytes, mode, builders], place| {
        let builders = addon.builders(env, builders)?;
        let conversion = Conversion { mode: read_mode(env, mode)?, strict: false, identify: false };
        // SAFETY: `convert` reads the source to its end before it calls JavaScript.
        let source = unsafe { take_source(env, bytes, BYTES, place) }?;
        js_row::convert(env, source, conversion, &builders, &addon.workshop, &mut Guess::default())
    })
}

/// `(bytes, builders) => [id, document]`
unsafe extern "C" fn parse_document_id(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, addon: &Rc<Addon>, [bytes, builders], place| {
        let builders = addon.builders(env, builders)?;
        // SAFETY: the identity is copied before JavaScript is called.
        let source = unsafe { take_source(env, bytes, BYTES, place) }?;
        let id = find_id(&mut Reader::new(source)?)?;
        let (id, document) = js_row::identity(env, id, &builders, &addon.workshop)?;
        env.array([id, document].into_iter().map(Ok))
    })
}

/// `(event, builders) => object`
unsafe extern "C" fn parse_change_document(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    call(env, info, |env, addon: &Rc<Addon>, [event, builders], place| {
        let builders = addon.builders(env, builders)?;
        // SAFETY: the fields are read, and copied where JavaScript is to see them, before it is called.
        let source = unsafe { take_source(env, event, EVENT, place) }?;
        js_row::change_event(env, event, source, &builders, &addon.workshop, &mut Guess::default())
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
        set(c"bufferToSqlite", buffer_to_sqlite)?;
        set(c"parseDocumentId", parse_document_id)?;
        set(c"parseChangeDocument", parse_change_document)
    };
    all().map_err(|failure| napi::Error::from_reason(format!("{failure:?}")))
}
