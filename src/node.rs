//! Node-API, with each status checked and each raw pointer behind a type.
//!
//! The hot calls go straight to the C functions: a callback through napi-derive costs three times as much as the
//! whole crossing needs.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};

use napi::sys;

use crate::error::Error;
use crate::number::huge_words;

/// A JavaScript value, alive as long as the handle scope it was made in.
pub type Value = sys::napi_value;

/// Why a call from JavaScript gives no result.
#[derive(Clone, Copy, Debug)]
pub enum Failure {
    /// Malformed BSON.
    Bson(Error),
    /// The caller's deserialiser threw at the value at this byte; its exception is pending.
    Refused(usize),
    /// JavaScript threw while it made an object; its exception is pending.
    Thrown,
    /// A wrong argument: the sentence for a `TypeError`.
    Argument(&'static str),
    /// A text longer than any JavaScript string.
    TextTooLong,
    /// A call of Node-API failed. A pending exception need not be one: V8 may be stopping JavaScript, since its thread is
    /// terminated or it took longer than it may. It stays where it is, and nothing else is done: V8 would forget to stop.
    Status(sys::napi_status),
}

impl From<Error> for Failure {
    #[inline(always)]
    fn from(error: Error) -> Self {
        Self::Bson(error)
    }
}

impl Failure {
    /// The byte of the source that the failure is about.
    #[must_use]
    pub fn offset(self) -> Option<usize> {
        match self {
            Self::Bson(Error { offset, .. }) | Self::Refused(offset) => Some(offset),
            _ => None,
        }
    }
}

/// The result of everything that makes JavaScript values.
pub type Result<T> = std::result::Result<T, Failure>;

/// `napi_ok` or a failure.
#[inline(always)]
fn check(status: sys::napi_status) -> Result<()> {
    if status == sys::Status::napi_ok { Ok(()) } else { Err(Failure::Status(status)) }
}

/// A value that outlives its handle scope; it is released with the environment, or by [`Env::release`].
#[derive(Clone, Copy)]
pub struct Reference(sys::napi_ref);

/// Bytes that JavaScript gave.
pub enum Source<'a> {
    /// The memory of an ordinary ArrayBuffer: it does not change until JavaScript runs again, unless the caller left
    /// another thread writing to it, an unfinished `fs.read` for one; no addon is safe from that.
    Borrowed(&'a [u8]),
    /// A copy of shared memory, which other threads may write to at any time.
    Copied(Vec<u8>),
    /// Such a copy, made before.
    Shared(&'a [u8]),
}

impl Source<'_> {
    /// The bytes.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Copied(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// The memory of a `Uint8Array`, as long as JavaScript does not run.
struct View {
    buffer: Value,
    data: *const u8,
    length: usize,
}

/// One of the functions that create an error from its code and message.
pub type CreateError = unsafe extern "C" fn(sys::napi_env, Value, Value, *mut Value) -> sys::napi_status;

/// The environment of one JavaScript thread, during a call from it.
#[derive(Clone, Copy)]
pub struct Env(sys::napi_env);

/// Calls a function of Node-API that gives one value by its last argument.
macro_rules! get {
    ($function:ident($($argument:expr),*)) => {{
        let mut result = ptr::null_mut();
        check(sys::$function($($argument,)* &mut result)).map(|()| result)
    }};
}

impl Env {
    /// # Safety
    /// `env` is the environment of this thread, and JavaScript is calling.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn new(env: sys::napi_env) -> Self {
        Self(env)
    }

    /// The arguments of a call, `undefined` for those not given, and the data of the function.
    #[inline(always)]
    pub fn arguments<const N: usize>(
        self,
        info: sys::napi_callback_info,
    ) -> Result<([Value; N], *mut c_void)> {
        let (mut arguments, mut count, mut data) = ([ptr::null_mut(); N], N, ptr::null_mut());
        // SAFETY: `info` belongs to the call under way; `arguments` has room for `count` values.
        check(unsafe {
            sys::napi_get_cb_info(
                self.0,
                info,
                &mut count,
                arguments.as_mut_ptr(),
                ptr::null_mut(),
                &mut data,
            )
        })?;
        Ok((arguments, data))
    }

    /// The bytes of a `Uint8Array` of any kind; `refusal` is thrown for another value.
    ///
    /// # Safety
    /// The lifetime is the caller's word that JavaScript, which could detach or write to the memory, does not run
    /// while the bytes are in use.
    #[inline(always)]
    pub unsafe fn source<'a>(self, value: Value, refusal: &'static str) -> Result<Source<'a>> {
        let view = self.view_of(value, refusal)?;
        if view.length == 0 {
            return self.empty_source(view.buffer, refusal);
        }
        // SAFETY: all of the view, and the caller's promise.
        unsafe { self.bytes_of(view) }
    }

    /// Where the memory of a `Uint8Array` is.
    #[inline(always)]
    fn view_of(self, value: Value, refusal: &'static str) -> Result<View> {
        let (mut kind, mut length, mut data) = (0, 0, ptr::null_mut());
        let (mut buffer, mut offset) = (ptr::null_mut(), 0);
        // SAFETY: every pointer is to a local of the type asked for.
        let status = unsafe {
            sys::napi_get_typedarray_info(
                self.0,
                value,
                &mut kind,
                &mut length,
                &mut data,
                &mut buffer,
                &mut offset,
            )
        };
        if status != sys::Status::napi_ok || kind != sys::TypedarrayType::uint8_array {
            return Err(Failure::Argument(refusal));
        }
        Ok(View { buffer, data: data.cast(), length })
    }

    /// The bytes of a view, which are not none.
    ///
    /// # Safety
    /// As [`Env::source`]; the view is what [`Env::view_of`] gave in this call from JavaScript, or a part of it.
    #[inline(always)]
    unsafe fn bytes_of<'a>(self, View { buffer, data, length }: View) -> Result<Source<'a>> {
        let mut ordinary = false;
        // SAFETY: `buffer` is the array's buffer, which a shared one is not an ArrayBuffer to Node-API.
        check(unsafe { sys::napi_is_arraybuffer(self.0, buffer, &mut ordinary) })?;
        if !ordinary {
            // SAFETY: the memory is `length` bytes and outlives this call; other threads may write to it, so each
            // byte is read once and atomically.
            let shared = unsafe { std::slice::from_raw_parts(data.cast::<AtomicU8>(), length) };
            return Ok(Source::Copied(shared.iter().map(|byte| byte.load(Ordering::Relaxed)).collect()));
        }
        // SAFETY: `data` is `length` bytes of an ordinary ArrayBuffer, which stay as they are by the caller's word.
        Ok(Source::Borrowed(unsafe { std::slice::from_raw_parts(data, length) }))
    }

    /// The bytes of a `Uint8Array` of any kind from `start` to `end`, inclusive; `refusal` is thrown where there are
    /// none, or for another value.
    ///
    /// # Safety
    /// As [`Env::source`].
    pub unsafe fn source_part<'a>(
        self,
        value: Value,
        (start, end): (usize, usize),
        refusal: &'static str,
    ) -> Result<Source<'a>> {
        let view = self.view_of(value, refusal)?;
        if start > end || end >= view.length {
            return Err(Failure::Argument(refusal));
        }
        // SAFETY: the part is within the view.
        unsafe { self.bytes_of(View { data: view.data.add(start), length: end - start + 1, ..view }) }
    }

    /// An array without bytes is one that is empty, or one whose buffer was detached.
    #[cold]
    fn empty_source<'a>(self, buffer: Value, refusal: &'static str) -> Result<Source<'a>> {
        let mut detached = false;
        // SAFETY: both are values of this call.
        check(unsafe { sys::napi_is_detached_arraybuffer(self.0, buffer, &mut detached) })?;
        if detached { Err(Failure::Argument(refusal)) } else { Ok(Source::Borrowed(&[])) }
    }

    /// `null`.
    #[inline(always)]
    pub fn null(self) -> Result<Value> {
        // SAFETY: the environment is valid.
        unsafe { get!(napi_get_null(self.0)) }
    }

    /// `undefined`.
    #[inline(always)]
    pub fn undefined(self) -> Result<Value> {
        // SAFETY: the environment is valid.
        unsafe { get!(napi_get_undefined(self.0)) }
    }

    /// A number.
    #[inline(always)]
    pub fn number(self, number: f64) -> Result<Value> {
        // SAFETY: the environment is valid.
        unsafe { get!(napi_create_double(self.0, number)) }
    }

    /// Whether a value is `true`.
    pub fn is_true(self, value: Value) -> bool {
        let mut boolean = false;
        // SAFETY: `value` is a value of this environment.
        check(unsafe { sys::napi_get_value_bool(self.0, value, &mut boolean) }).is_ok() && boolean
    }

    /// An object without properties.
    pub fn object(self) -> Result<Value> {
        // SAFETY: the environment is valid.
        unsafe { get!(napi_create_object(self.0)) }
    }

    /// `true` or `false`.
    pub fn boolean(self, boolean: bool) -> Result<Value> {
        // SAFETY: the environment is valid.
        unsafe { get!(napi_get_boolean(self.0, boolean)) }
    }

    /// A `Date`.
    pub fn date(self, time_value: f64) -> Result<Value> {
        // SAFETY: the environment is valid.
        unsafe { get!(napi_create_date(self.0, time_value)) }
    }

    /// A bigint.
    #[inline(always)]
    pub fn bigint(self, number: i64) -> Result<Value> {
        // SAFETY: the environment is valid.
        unsafe { get!(napi_create_bigint_int64(self.0, number)) }
    }

    /// A bigint without a sign.
    pub fn bigint_unsigned(self, number: u64) -> Result<Value> {
        // SAFETY: the environment is valid.
        unsafe { get!(napi_create_bigint_uint64(self.0, number)) }
    }

    /// The bigint of the lowest word first.
    pub fn bigint_words(self, negative: bool, words: &[u64]) -> Result<Value> {
        // SAFETY: `words` is as long as it says.
        unsafe { get!(napi_create_bigint_words(self.0, negative.into(), words.len(), words.as_ptr())) }
    }

    /// The bigint of an integral double beyond an `i64`.
    #[cold]
    pub fn bigint_huge(self, number: f64) -> Result<Value> {
        self.bigint_words(number < 0.0, &huge_words(number))
    }

    /// A string of one byte a character.
    #[inline(always)]
    pub fn string_latin1(self, text: &[u8]) -> Result<Value> {
        // SAFETY: `text` is as long as it says.
        unsafe { get!(napi_create_string_latin1(self.0, text.as_ptr().cast(), text.len() as isize)) }
            .map_err(too_long)
    }

    /// A string of one byte a character over the memory of `owner`, an array that the string keeps alive.
    ///
    /// # Safety
    /// `text` is memory of `owner`'s ArrayBuffer, which is not written to and not detached as long as the string is
    /// alive: the promise of the caller who asked for it.
    pub unsafe fn external_latin1(self, text: &[u8], owner: Value) -> Result<Value> {
        let reference = self.keep(owner)?;
        let (mut string, mut copied) = (ptr::null_mut(), false);
        let data = text.as_ptr().cast_mut().cast();
        // SAFETY: `text` is as long as it says and outlives the string, as `release_owner` runs after that.
        let made = check(unsafe {
            node_api_create_external_string_latin1(
                self.0,
                data,
                text.len() as isize,
                Some(release_owner),
                reference.0.cast(),
                &mut string,
                &mut copied,
            )
        });
        if let Err(failure) = made {
            // Without a string nothing else would let the owner go.
            self.release(reference)?;
            return Err(too_long(failure));
        }
        Ok(string)
    }

    /// A string of one byte a character, which keeps the bytes as its own.
    pub fn string_of_bytes(self, bytes: Vec<u8>) -> Result<Value> {
        let (data, length) = (bytes.as_ptr().cast_mut().cast(), bytes.len() as isize);
        let owner = Box::into_raw(Box::new(bytes));
        let (mut string, mut copied) = (ptr::null_mut(), false);
        // SAFETY: the bytes are as many as said, and stay where they are until `drop_bytes` has run.
        let made = check(unsafe {
            node_api_create_external_string_latin1(
                self.0,
                data,
                length,
                Some(drop_bytes),
                owner.cast(),
                &mut string,
                &mut copied,
            )
        });
        if let Err(failure) = made {
            // SAFETY: there is no string whose end would drop them.
            drop(unsafe { Box::from_raw(owner) });
            return Err(too_long(failure));
        }
        Ok(string)
    }

    /// A string of UTF-16 code units.
    pub fn string_utf16(self, text: &[u16]) -> Result<Value> {
        // SAFETY: `text` is as long as it says.
        unsafe { get!(napi_create_string_utf16(self.0, text.as_ptr(), text.len() as isize)) }
            .map_err(too_long)
    }

    /// A `Uint8Array` with an ArrayBuffer of its own.
    pub fn uint8_array(self, bytes: &[u8]) -> Result<Value> {
        let (buffer, data) = self.array_buffer(bytes.len())?;
        // SAFETY: the new ArrayBuffer has room for the bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len()) };
        self.view(buffer, bytes.len())
    }

    /// A `Buffer` with an ArrayBuffer of its own.
    pub fn buffer(self, bytes: &[u8]) -> Result<Value> {
        let mut data = ptr::null_mut();
        // SAFETY: `data` takes the address of the memory.
        let buffer = unsafe { get!(napi_create_buffer(self.0, bytes.len(), &mut data)) }?;
        // SAFETY: the new Buffer has room for the bytes, which are not among its own.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), bytes.len()) };
        Ok(buffer)
    }

    /// An ArrayBuffer and its memory.
    pub fn array_buffer(self, length: usize) -> Result<(Value, *mut u8)> {
        let mut data = ptr::null_mut();
        // SAFETY: `data` takes the address of the memory.
        let buffer = unsafe { get!(napi_create_arraybuffer(self.0, length, &mut data)) }?;
        Ok((buffer, data.cast()))
    }

    /// A `Uint8Array` over a whole ArrayBuffer.
    pub fn view(self, buffer: Value, length: usize) -> Result<Value> {
        // SAFETY: `buffer` is an ArrayBuffer of `length` bytes.
        unsafe { get!(napi_create_typedarray(self.0, sys::TypedarrayType::uint8_array, length, buffer, 0)) }
    }

    /// An array of values.
    pub fn array(self, values: impl ExactSizeIterator<Item = Result<Value>>) -> Result<Value> {
        let array = self.array_of(values.len())?;
        for (index, value) in values.enumerate() {
            self.set_element(array, index as u32, value?)?;
        }
        Ok(array)
    }

    /// The length of an array; `None` where the value is none.
    pub fn array_length(self, value: Value) -> Option<u32> {
        let mut length = 0;
        // SAFETY: `value` is a value of this environment.
        check(unsafe { sys::napi_get_array_length(self.0, value, &mut length) }).is_ok().then_some(length)
    }

    /// An element of an array.
    pub fn element(self, array: Value, index: u32) -> Result<Value> {
        // SAFETY: `array` is a value of this environment.
        unsafe { get!(napi_get_element(self.0, array, index)) }
    }

    /// Sets an element of an array.
    pub fn set_element(self, array: Value, index: u32, value: Value) -> Result<()> {
        // SAFETY: both are values of this environment.
        check(unsafe { sys::napi_set_element(self.0, array, index, value) })
    }

    /// An array of `length` elements to be set.
    pub fn array_of(self, length: usize) -> Result<Value> {
        // SAFETY: the environment is valid.
        unsafe { get!(napi_create_array_with_length(self.0, length)) }
    }

    /// Runs `body` in a handle scope of its own: the values made in it are let go, whatever comes of it.
    pub fn scope<T>(self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        struct Scope(Env, sys::napi_handle_scope);
        impl Drop for Scope {
            fn drop(&mut self) {
                // SAFETY: the scope was opened below and is closed once, also where `body` panics: Node.js ends the
                // process where scopes stay open. It fails only for a scope that is none.
                unsafe { sys::napi_close_handle_scope(self.0.0, self.1) };
            }
        }
        // SAFETY: the environment is valid.
        let scope = unsafe { get!(napi_open_handle_scope(self.0)) }?;
        let _scope = Scope(self, scope);
        body()
    }

    /// A function of JavaScript's that calls `callback` with `data`.
    ///
    /// # Safety
    /// `data` is what `callback` takes it for, and stays so until the function is gone.
    pub unsafe fn function(
        self,
        name: &CStr,
        callback: unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> Value,
        data: *mut c_void,
    ) -> Result<Value> {
        let length = name.count_bytes() as isize;
        // SAFETY: `name` is as long as it says; the rest is the caller's promise.
        unsafe { get!(napi_create_function(self.0, name.as_ptr(), length, Some(callback), data)) }
    }

    /// Drops `owned` when `object` is collected.
    pub fn drop_with<T>(self, object: Value, owned: *mut T) -> Result<()> {
        unsafe extern "C" fn finalize<T>(_: sys::napi_env, data: *mut c_void, _: *mut c_void) {
            // SAFETY: `data` is the `owned` below, which came from a box, and this is called once.
            drop(unsafe { Box::from_raw(data.cast::<T>()) });
        }
        // SAFETY: `object` is an object of this environment.
        check(unsafe {
            sys::napi_add_finalizer(
                self.0,
                object,
                owned.cast(),
                Some(finalize::<T>),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        })
    }

    /// Lets `execute` run on another thread, then `complete` on this one, both with `data`; `work` becomes what
    /// [`Env::delete_work`] takes.
    ///
    /// # Safety
    /// Both take `data` for what it is, which stays in its place until `complete`; `work` is writable.
    pub unsafe fn queue_work(
        self,
        execute: unsafe extern "C" fn(sys::napi_env, *mut c_void),
        complete: unsafe extern "C" fn(sys::napi_env, sys::napi_status, *mut c_void),
        data: *mut c_void,
        work: *mut sys::napi_async_work,
    ) -> Result<()> {
        let name = self.string("bsonrow")?;
        // SAFETY: the caller's promise.
        check(unsafe {
            sys::napi_create_async_work(
                self.0,
                ptr::null_mut(),
                name,
                Some(execute),
                Some(complete),
                data,
                work,
            )
        })?;
        // SAFETY: the work was just made.
        let queued = check(unsafe { sys::napi_queue_async_work(self.0, *work) });
        if queued.is_err() {
            // SAFETY: as above, and it is not under way.
            self.delete_work(unsafe { *work })?;
        }
        queued
    }

    /// Ends what [`Env::queue_work`] made.
    pub fn delete_work(self, work: sys::napi_async_work) -> Result<()> {
        // SAFETY: the work was made in this environment and is not under way.
        check(unsafe { sys::napi_delete_async_work(self.0, work) })
    }

    /// Calls a function with `undefined` as `this`.
    #[inline(always)]
    pub fn call(self, function: Value, arguments: &[Value]) -> Result<Value> {
        let this = self.undefined()?;
        // SAFETY: the arguments are values of this environment and as many as said.
        unsafe { get!(napi_call_function(self.0, this, function, arguments.len(), arguments.as_ptr())) }
    }

    /// A property of an object.
    pub fn property(self, object: Value, name: &CStr) -> Result<Value> {
        // SAFETY: `object` is a value of this environment.
        unsafe { get!(napi_get_named_property(self.0, object, name.as_ptr())) }
    }

    /// Sets a property of an object.
    pub fn set_property(self, object: Value, name: &CStr, value: Value) -> Result<()> {
        // SAFETY: both are values of this environment.
        check(unsafe { sys::napi_set_named_property(self.0, object, name.as_ptr(), value) })
    }

    /// A number, if that is what a value is.
    pub fn to_f64(self, value: Value) -> Option<f64> {
        let mut number = 0.0;
        // SAFETY: `value` is a value of this environment.
        check(unsafe { sys::napi_get_value_double(self.0, value, &mut number) }).ok()?;
        Some(number)
    }

    /// A number that is an int32, if that is what a value is.
    pub fn to_i32(self, value: Value) -> Option<i32> {
        self.to_f64(value).filter(|&number| number as i32 as f64 == number).map(|number| number as i32)
    }

    /// The text of a string.
    pub fn text_of(self, value: Value) -> Result<String> {
        let mut length = 0;
        // SAFETY: `value` is a value of this environment; without a buffer only the length is asked for.
        check(unsafe { sys::napi_get_value_string_utf8(self.0, value, ptr::null_mut(), 0, &mut length) })?;
        let mut text = vec![0; length + 1];
        // SAFETY: the buffer has room for the text and the zero byte behind it.
        check(unsafe {
            sys::napi_get_value_string_utf8(self.0, value, text.as_mut_ptr().cast(), text.len(), &mut length)
        })?;
        text.truncate(length);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The texts of an array of strings.
    pub fn texts_of(self, array: Value) -> Result<Vec<String>> {
        let length = self.array_length(array).unwrap_or(0);
        (0..length).map(|index| self.element(array, index).and_then(|value| self.text_of(value))).collect()
    }

    /// Keeps a value beyond its handle scope.
    pub fn keep(self, value: Value) -> Result<Reference> {
        let mut reference = ptr::null_mut();
        // SAFETY: `value` is an object or function of this environment.
        check(unsafe { sys::napi_create_reference(self.0, value, 1, &mut reference) })?;
        Ok(Reference(reference))
    }

    /// A kept value.
    #[inline(always)]
    pub fn get(self, reference: Reference) -> Result<Value> {
        // SAFETY: the reference was made in this environment and is strong.
        unsafe { get!(napi_get_reference_value(self.0, reference.0)) }
    }

    /// Lets a kept value go.
    pub fn release(self, reference: Reference) -> Result<()> {
        // SAFETY: the reference was made in this environment; its owner gives it up.
        check(unsafe { sys::napi_delete_reference(self.0, reference.0) })
    }

    /// Throws a value; gives the failure that stands for a pending exception.
    pub fn throw_value(self, error: Value) -> Result<Value> {
        // SAFETY: the error is a value of this environment.
        check(unsafe { sys::napi_throw(self.0, error) })?;
        Err(Failure::Status(sys::Status::napi_pending_exception))
    }

    /// The exception that is pending, which JavaScript has thrown. It need not be an error.
    pub fn take_exception(self) -> Result<Value> {
        // SAFETY: the environment is valid.
        unsafe { get!(napi_get_and_clear_last_exception(self.0)) }
    }

    /// Runs `body`, and no JavaScript, after a failure: much of Node-API does nothing while an exception is pending, so
    /// that is thrown once more afterwards.
    #[cold]
    pub fn after<T>(self, failure: Failure, body: impl FnOnce() -> Result<T>) -> Result<T> {
        match failure {
            Failure::Thrown | Failure::Refused(_) => {}
            Failure::Status(sys::Status::napi_pending_exception) => return Err(failure),
            _ => return body(),
        }
        let exception = self.take_exception()?;
        let result = body();
        // What it gives is the failure that it is to bring about.
        let _ = self.throw_value(exception);
        result
    }

    /// What a value is.
    pub fn type_of(self, value: Value) -> Result<sys::napi_valuetype> {
        let mut kind = 0;
        // SAFETY: `value` is a value of this environment.
        check(unsafe { sys::napi_typeof(self.0, value, &mut kind) })?;
        Ok(kind)
    }

    /// An error of two strings.
    pub fn create_error(self, create: CreateError, code: Value, message: Value) -> Result<Value> {
        let mut error = ptr::null_mut();
        // SAFETY: both are strings of this environment.
        check(unsafe { create(self.0, code, message, &mut error) })?;
        Ok(error)
    }

    /// A string where speed does not count.
    pub fn string(self, text: &str) -> Result<Value> {
        self.string_utf16(&text.encode_utf16().collect::<Vec<_>>())
    }
}

unsafe extern "C" {
    /// In Node.js since 18.18 and 20.4, but not in the version of Node-API that napi-rs is asked for here.
    fn node_api_create_external_string_latin1(
        env: sys::napi_env,
        text: *mut c_char,
        length: isize,
        finalize: sys::napi_finalize,
        hint: *mut c_void,
        result: *mut Value,
        copied: *mut bool,
    ) -> sys::napi_status;
}

/// Drops the bytes of a string that was collected, or copied after all.
unsafe extern "C" fn drop_bytes(_: sys::napi_env, _: *mut c_void, owner: *mut c_void) {
    // SAFETY: it is the box that the string was made with, and this is called once.
    drop(unsafe { Box::from_raw(owner.cast::<Vec<u8>>()) });
}

/// Lets go the owner of a string that was collected, or copied after all.
unsafe extern "C" fn release_owner(env: sys::napi_env, _: *mut c_void, reference: *mut c_void) {
    // SAFETY: the reference was made in this environment for this string. There is nobody to tell of a failure.
    unsafe { sys::napi_delete_reference(env, reference.cast()) };
}

/// A string that Node-API would not make is longer than V8's limit.
#[cold]
fn too_long(failure: Failure) -> Failure {
    match failure {
        Failure::Status(sys::Status::napi_generic_failure | sys::Status::napi_invalid_arg) => {
            Failure::TextTooLong
        }
        _ => failure,
    }
}
