//! Reads answers as JavaScript gives them, before anything is timed.

use std::ffi::CStr;
use std::ptr;

use napi_sys as sys;

use crate::convert::convert;
use crate::{Answer, Floor, Handle, Place, Result, Value, check, get, throw};

/// `createFloor(memory, answers)`
///
/// # Safety
/// Called by Node.js.
pub unsafe extern "C" fn create_floor(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let (mut arguments, mut count) = ([ptr::null_mut(); 2], 2);
    // SAFETY: there is room for two arguments.
    let read = check(unsafe {
        sys::napi_get_cb_info(env, info, &mut count, arguments.as_mut_ptr(), ptr::null_mut(), ptr::null_mut())
    });
    let [memory, answers] = arguments;
    read.and_then(|()| floor(Env(env), memory, answers)).unwrap_or_else(|status| throw(env, status))
}

/// The function of a floor, both of which stay until the process ends.
fn floor(env: Env, memory: Value, answers: Value) -> Result<Value> {
    let (data, length) = env.bytes(memory)?;
    env.keep(memory)?;
    let mut floor = Floor {
        constants: Vec::new(),
        memory: data,
        memory_length: length,
        answers: Vec::new(),
        next: 0,
        arguments: Vec::new(),
    };
    floor.answers =
        env.list(answers)?.into_iter().map(|answer| floor.read(env, answer)).collect::<Result<_>>()?;
    let (name, data) = (c"convert", Box::into_raw(Box::new(floor)));
    // SAFETY: the name is as long as it says; the data is what `convert` takes it for.
    unsafe {
        get!(napi_create_function(
            env.0,
            name.as_ptr(),
            name.count_bytes() as isize,
            Some(convert as unsafe extern "C" fn(_, _) -> _),
            data.cast()
        ))
    }
}

impl Floor {
    fn read(&mut self, env: Env, answer: Value) -> Result<Answer> {
        let property = |name| env.property(answer, name);
        let parts = env.list(property(c"parts")?)?;
        let parts = parts.into_iter().map(|part| self.read(env, part)).collect::<Result<_>>()?;
        let image = self.constant(env, property(c"image")?)?;
        if image.length > self.memory_length {
            return Err(sys::Status::napi_invalid_arg);
        }
        let handles = env.list(property(c"handles")?)?;
        let handles = handles.into_iter().map(|handle| self.handle(env, handle)).collect::<Result<_>>()?;
        let build = property(c"build")?;
        let build = if env.is_null(build)? { None } else { Some(env.keep(build)?) };
        Ok(Answer { build, image, handles, parts })
    }

    fn handle(&mut self, env: Env, handle: Value) -> Result<Handle> {
        let parts = env.list(handle)?;
        let [kind, parts @ ..] = parts.as_slice() else { return Err(sys::Status::napi_invalid_arg) };
        Ok(match (env.number(*kind)?, parts) {
            (0, []) => Handle::Absent,
            (1, &[text]) => Handle::Latin1(self.constant(env, text)?),
            (2, &[text]) => Handle::Utf16(self.constant(env, text)?),
            (3, &[bytes]) => Handle::Bytes(self.constant(env, bytes)?),
            (4, &[start, length]) => {
                Handle::External(Place { start: env.number(start)?, length: env.number(length)? })
            }
            _ => return Err(sys::Status::napi_invalid_arg),
        })
    }

    /// Bytes of a `Uint8Array`, put among the constants.
    fn constant(&mut self, env: Env, bytes: Value) -> Result<Place> {
        let (data, length) = env.bytes(bytes)?;
        let start = self.constants.len();
        self.constants.resize(start + length.div_ceil(2), 0);
        // SAFETY: there is room for the bytes in the new units; both are apart.
        unsafe { ptr::copy_nonoverlapping(data, self.constants[start..].as_mut_ptr().cast(), length) };
        Ok(Place { start: start * 2, length })
    }
}

/// The environment, while JavaScript calls.
#[derive(Clone, Copy)]
struct Env(sys::napi_env);

impl Env {
    fn property(self, object: Value, name: &CStr) -> Result<Value> {
        // SAFETY: `object` is a value of this environment.
        unsafe { get!(napi_get_named_property(self.0, object, name.as_ptr())) }
    }

    fn list(self, array: Value) -> Result<Vec<Value>> {
        let mut length = 0;
        // SAFETY: `array` is a value of this environment.
        check(unsafe { sys::napi_get_array_length(self.0, array, &mut length) })?;
        // SAFETY: as above.
        (0..length).map(|index| unsafe { get!(napi_get_element(self.0, array, index)) }).collect()
    }

    fn number(self, value: Value) -> Result<usize> {
        let mut number = 0;
        // SAFETY: `value` is a value of this environment.
        check(unsafe { sys::napi_get_value_uint32(self.0, value, &mut number) })?;
        Ok(number as usize)
    }

    fn is_null(self, value: Value) -> Result<bool> {
        let mut kind = 0;
        // SAFETY: `value` is a value of this environment.
        check(unsafe { sys::napi_typeof(self.0, value, &mut kind) })?;
        Ok(kind == sys::ValueType::napi_null)
    }

    fn bytes(self, array: Value) -> Result<(*mut u8, usize)> {
        let (mut kind, mut length, mut data) = (0, 0, ptr::null_mut());
        // SAFETY: every pointer is to a local of the type asked for, or null for what is not wanted.
        check(unsafe {
            sys::napi_get_typedarray_info(
                self.0,
                array,
                &mut kind,
                &mut length,
                &mut data,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        })?;
        Ok((data.cast(), length))
    }

    /// Keeps a value until the environment ends.
    fn keep(self, value: Value) -> Result<sys::napi_ref> {
        // SAFETY: `value` is a value of this environment.
        unsafe { get!(napi_create_reference(self.0, value, 1)) }
    }
}
