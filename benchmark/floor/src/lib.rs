//! The least that a Node.js addon must do for an answer: it takes the source's bytes, does not look at them, and makes
//! the values of the answer from constants, with as few calls as are known to be enough, and the same bytes copied.
//!
//! `createFloor(memory, answers)` gives `convert(source)`, which gives the answers in turn, whatever the source is.
//! `memory` is a `Uint8Array` that the functions of the answers read numbers from. An answer is `{ build, image, handles,
//! parts }`:
//!
//! - `image`: bytes put at the beginning of `memory`
//! - `handles`: values, `[kind, bytes]` or `[kind, start, length]` each: see [`Handle`]
//! - `build`: the function that makes the answer of these values; `null`: `convert` returns the only value, and whoever
//!   called makes the answer
//! - `parts`: answers made before, which `build` collects

mod convert;
mod prepare;

use std::ptr;

use napi_sys as sys;

/// A JavaScript value.
type Value = sys::napi_value;
/// The result of calls of Node-API.
type Result<T> = std::result::Result<T, sys::napi_status>;

fn check(status: sys::napi_status) -> Result<()> {
    if status == sys::Status::napi_ok { Ok(()) } else { Err(status) }
}

/// Calls a function of Node-API that gives one value by its last argument.
macro_rules! get {
    ($function:ident($($argument:expr),*)) => {{
        let mut result = std::ptr::null_mut();
        crate::check(napi_sys::$function($($argument,)* &mut result)).map(|()| result)
    }};
}
use get;

/// A place among the constants, in bytes.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    length: usize,
}

/// What is made for an argument.
#[derive(Clone, Copy)]
enum Handle {
    /// 0: nothing, the function does not look at it.
    Absent,
    /// 1: a string of one byte a character.
    Latin1(Place),
    /// 2: a string of UTF-16 code units.
    Utf16(Place),
    /// 3: a `Uint8Array` of its own memory.
    Bytes(Place),
    /// 4: a string over the memory of the source.
    External(Place),
}

/// An answer.
struct Answer {
    build: Option<sys::napi_ref>,
    image: Place,
    handles: Vec<Handle>,
    parts: Vec<Answer>,
}

/// All answers.
struct Floor {
    /// In units of UTF-16, so that each text of it is aligned.
    constants: Vec<u16>,
    memory: *mut u8,
    memory_length: usize,
    answers: Vec<Answer>,
    /// The answer of the next call.
    next: usize,
    arguments: Vec<Value>,
}

/// Throws an error where no exception is pending.
fn throw(env: sys::napi_env, status: sys::napi_status) -> Value {
    let message = std::ffi::CString::new(format!("Node-API failed with status {status}")).unwrap_or_default();
    // SAFETY: the environment is of the call under way; with an exception pending this does nothing.
    unsafe { sys::napi_throw_error(env, ptr::null(), message.as_ptr()) };
    ptr::null_mut()
}

/// Registers the addon.
///
/// # Safety
/// Called by Node.js.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn napi_register_module_v1(env: sys::napi_env, exports: Value) -> Value {
    let name = c"createFloor";
    let length = name.count_bytes() as isize;
    let create = Some(prepare::create_floor as unsafe extern "C" fn(_, _) -> _);
    // SAFETY: the environment is valid, and `name` is as long as it says.
    let set = unsafe {
        get!(napi_create_function(env, name.as_ptr(), length, create, ptr::null_mut()))
            .and_then(|function| check(sys::napi_set_named_property(env, exports, name.as_ptr(), function)))
    };
    match set {
        Ok(()) => exports,
        Err(status) => throw(env, status),
    }
}

/// The version of Node-API that is used.
#[unsafe(no_mangle)]
pub extern "C" fn node_api_module_get_api_version_v1() -> i32 {
    9
}
