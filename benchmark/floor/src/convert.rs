//! The timed part: an answer from constants.

use std::ffi::{c_char, c_void};
use std::ptr;

use napi_sys as sys;

use crate::{Answer, Floor, Handle, Place, Result, Value, check, get, throw};

/// `convert(source)`
///
/// # Safety
/// Called by Node.js, as a function whose data is a [`Floor`].
pub unsafe extern "C" fn convert(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let (mut source, mut count, mut data) = (ptr::null_mut(), 1, ptr::null_mut());
    // SAFETY: there is room for one argument; the data is the floor that this function was created with, which is never
    // freed, and no answer's function calls `convert`.
    let answer = unsafe {
        check(sys::napi_get_cb_info(env, info, &mut count, &mut source, ptr::null_mut(), &mut data))
            .and_then(|()| next_answer(env, source, &mut *data.cast::<Floor>()))
    };
    answer.unwrap_or_else(|status| throw(env, status))
}

fn next_answer(env: sys::napi_env, source: Value, floor: &mut Floor) -> Result<Value> {
    let (mut kind, mut length, mut bytes) = (0, 0, ptr::null_mut());
    // SAFETY: every pointer is to a local of the type asked for, or null for what is not wanted.
    check(unsafe {
        sys::napi_get_typedarray_info(
            env,
            source,
            &mut kind,
            &mut length,
            &mut bytes,
            ptr::null_mut(),
            ptr::null_mut(),
        )
    })?;
    let input = Input { value: source, bytes: bytes.cast(), length };
    let Floor { constants, memory, answers, next, arguments, .. } = floor;
    let Some(answer) = answers.get(*next) else { return Err(sys::Status::napi_invalid_arg) };
    *next = if *next + 1 == answers.len() { 0 } else { *next + 1 };
    make(env, answer, &input, constants, *memory, arguments)
}

struct Input {
    value: Value,
    bytes: *mut c_char,
    length: usize,
}

fn make(
    env: sys::napi_env,
    answer: &Answer,
    source: &Input,
    constants: &[u16],
    memory: *mut u8,
    arguments: &mut Vec<Value>,
) -> Result<Value> {
    for part in &answer.parts {
        // SAFETY: a scope is closed in the order in which it was opened.
        let scope = unsafe { get!(napi_open_handle_scope(env)) }?;
        let made = make(env, part, source, constants, memory, arguments);
        // SAFETY: as above.
        check(unsafe { sys::napi_close_handle_scope(env, scope) })?;
        made?;
    }
    let image = bytes_of(constants, answer.image);
    // SAFETY: the memory has room for every image (checked when the answer was read), and nobody reads it now.
    unsafe { ptr::copy_nonoverlapping(image.as_ptr(), memory, image.len()) };
    arguments.clear();
    for handle in &answer.handles {
        arguments.push(match *handle {
            // Any value will do: it costs nothing.
            Handle::Absent => source.value,
            Handle::Latin1(place) => latin1(env, bytes_of(constants, place))?,
            Handle::Utf16(place) => {
                let text = &constants[place.start / 2..][..place.length / 2];
                // SAFETY: the text is as long as it says.
                unsafe { get!(napi_create_string_utf16(env, text.as_ptr(), text.len() as isize)) }?
            }
            Handle::Bytes(place) => uint8_array(env, bytes_of(constants, place))?,
            Handle::External(place) => external(env, source, place)?,
        });
    }
    let Some(build) = answer.build else {
        return arguments.first().copied().ok_or(sys::Status::napi_invalid_arg);
    };
    // SAFETY: the reference is of this environment and not deleted; the arguments are as many as it says.
    unsafe {
        let build = get!(napi_get_reference_value(env, build))?;
        get!(napi_call_function(env, source.value, build, arguments.len(), arguments.as_ptr()))
    }
}

fn bytes_of(constants: &[u16], Place { start, length }: Place) -> &[u8] {
    // SAFETY: the same memory as bytes, which need no alignment and have no invalid values.
    let bytes = unsafe { std::slice::from_raw_parts(constants.as_ptr().cast::<u8>(), constants.len() * 2) };
    &bytes[start..start + length]
}

fn latin1(env: sys::napi_env, text: &[u8]) -> Result<Value> {
    // SAFETY: the text is as long as it says.
    unsafe { get!(napi_create_string_latin1(env, text.as_ptr().cast(), text.len() as isize)) }
}

fn uint8_array(env: sys::napi_env, bytes: &[u8]) -> Result<Value> {
    let mut data = ptr::null_mut();
    // SAFETY: the new ArrayBuffer has room for the bytes.
    unsafe {
        let buffer = get!(napi_create_arraybuffer(env, bytes.len(), &mut data))?;
        ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), bytes.len());
        get!(napi_create_typedarray(env, sys::TypedarrayType::uint8_array, bytes.len(), buffer, 0))
    }
}

/// A string over the source's memory, which a reference keeps alive as long as the string. Whether the text may stand
/// there is in its bytes alone: each is read.
fn external(env: sys::napi_env, source: &Input, Place { start, length }: Place) -> Result<Value> {
    if start + length > source.length {
        return Err(sys::Status::napi_invalid_arg);
    }
    // SAFETY: the text is within the source's memory, which does not change until JavaScript runs.
    let text = unsafe { std::slice::from_raw_parts(source.bytes.add(start).cast::<u8>(), length) };
    if !is_ascii(text) {
        return Err(sys::Status::napi_invalid_arg);
    }
    let mut reference = ptr::null_mut();
    let (mut string, mut copied) = (ptr::null_mut(), false);
    // SAFETY: the text is within the source's memory, which the reference keeps until the string is collected.
    unsafe {
        check(sys::napi_create_reference(env, source.value, 1, &mut reference))?;
        check(node_api_create_external_string_latin1(
            env,
            source.bytes.add(start),
            length as isize,
            Some(release),
            reference.cast(),
            &mut string,
            &mut copied,
        ))?;
    }
    Ok(string)
}

fn is_ascii(text: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions.
        return unsafe { is_ascii_avx2(text) };
    }
    has_no_high_bit(text)
}

/// The same with registers twice as wide.
///
/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn is_ascii_avx2(text: &[u8]) -> bool {
    has_no_high_bit(text)
}

/// A loop that the compiler turns into the widest registers that it may use.
#[inline(always)]
fn has_no_high_bit(text: &[u8]) -> bool {
    text.iter().fold(0, |all, byte| all | byte) < 0x80
}

unsafe extern "C" {
    /// In Node.js since 18.18 and 20.4, but not among the functions of Node-API 9 that napi-sys declares.
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

unsafe extern "C" fn release(env: sys::napi_env, _: *mut c_void, reference: *mut c_void) {
    // SAFETY: the reference was created for this string.
    unsafe { sys::napi_delete_reference(env, reference.cast()) };
}
