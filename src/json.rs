//! A nested document or array to JSON text.
//!
//! One loop over all levels: what recursion would keep on the stack is an array of at most [`MAX_DEPTH`]
//! enclosing documents, so the depth of an input costs nothing but the error it gets. Each value is followed by
//! a comma, and a closing bracket takes the place of the last one: nothing has to know whether it is the first.

use crate::datetime::{self, DateRenderMode};
use crate::decimal128;
use crate::error::{ErrorKind, Result};
use crate::hex;
use crate::number;
use crate::object_ids;
use crate::reader::{Binary, Outer, Piece, Reader};
use crate::spec::{self, MAX_DEPTH, element_type, subtype};
use crate::text::Tail;

/// `null` and the comma behind it.
const NULL: &[u8; 5] = b"null,";

/// What a level is, and so how its elements are named and how it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// `{"name":value,…}`
    Document = 0,
    /// `[value,…]`
    Array = 1,
    /// The scope of a code, a document inside an object of its own: `{"code":…,"scope":{…}}`
    Scope = 2,
}

/// The levels around the one that is being written. Small, because it is made anew for every column.
#[derive(Default)]
struct Enclosing {
    outers: [Outer; MAX_DEPTH + 1],
    /// Two bits a level, the innermost lowest.
    levels: u64,
}

impl Enclosing {
    #[inline(always)]
    fn push(&mut self, depth: usize, level: Level, outer: Outer) {
        self.outers[depth] = outer;
        self.levels = self.levels << 2 | level as u64;
    }

    #[inline(always)]
    fn pop(&mut self, depth: usize) -> (Level, Outer) {
        let level = match self.levels & 3 {
            0 => Level::Document,
            1 => Level::Array,
            _ => Level::Scope,
        };
        self.levels >>= 2;
        (level, self.outers[depth])
    }
}

const _: () = assert!(2 * (MAX_DEPTH + 1) <= u64::BITS as usize);

/// Writes the document or array that stands at `reader` and a comma; leaves `reader` behind it.
pub fn write_container(
    reader: &mut Reader<'_>,
    element_type: u8,
    mode: DateRenderMode,
    tail: &mut Tail<'_>,
) -> Result<()> {
    let (level, open) =
        if element_type == element_type::ARRAY { (Level::Array, b'[') } else { (Level::Document, b'{') };
    tail.push(open);
    write_levels(reader, level, 0, mode, tail)
}

/// Writes the code with scope that stands at `reader` and a comma; leaves `reader` behind it.
pub fn write_code_with_scope(
    reader: &mut Reader<'_>,
    mode: DateRenderMode,
    tail: &mut Tail<'_>,
) -> Result<()> {
    open_scope(reader, tail)?;
    // The column is the object around the scope.
    write_levels(reader, Level::Scope, 1, mode, tail)
}

/// Writes the value of any type that stands at `reader`, as an array has it, and a comma; leaves `reader` behind it.
/// `start` is where its type stands, for errors.
#[inline(never)]
pub fn write_any(
    reader: &mut Reader<'_>,
    element_type: u8,
    start: usize,
    mode: DateRenderMode,
    tail: &mut Tail<'_>,
) -> Result<()> {
    // Not as a level of an array, whose elements of one type are written together.
    match write_value(reader, element_type, Level::Document, start, mode, tail)? {
        Some(level) => write_levels(reader, level, usize::from(level == Level::Scope), mode, tail),
        None => Ok(()),
    }
}

#[inline(never)]
fn write_levels(
    reader: &mut Reader<'_>,
    mut level: Level,
    depth_of_first: usize,
    mode: DateRenderMode,
    tail: &mut Tail<'_>,
) -> Result<()> {
    let mut enclosing = Enclosing::default();
    let mut depth = depth_of_first;
    enclosing.push(depth, level, reader.enter()?);
    loop {
        let start = reader.offset();
        let element_type = reader.read_type();
        if element_type == 0 {
            if !reader.is_at_end() {
                return Err(reader.error(ErrorKind::NestedType(0)));
            }
            match level {
                Level::Document => tail.push_close(b'}'),
                Level::Array => tail.push_close(b']'),
                Level::Scope => {
                    tail.push_close(b'}');
                    tail.push(b'}');
                }
            }
            tail.push(b',');
            let (outer_level, outer) = enclosing.pop(depth);
            reader.leave(outer);
            if depth == depth_of_first {
                return Ok(());
            }
            depth -= 1;
            level = outer_level;
            continue;
        }

        if level == Level::Array {
            reader.skip_name()?;
        } else if matches!(element_type, element_type::UNDEFINED | element_type::BINARY) {
            let name = reader.read_name()?;
            write_optional(reader, element_type, name, tail)?;
            continue;
        } else {
            tail.push_json_string(reader.read_name()?, b':');
        }

        let Some(inner) = write_value(reader, element_type, level, start, mode, tail)? else { continue };
        depth += 1;
        if depth > MAX_DEPTH {
            return Err(ErrorKind::Depth.at(start));
        }
        enclosing.push(depth, level, reader.enter()?);
        level = inner;
    }
}

/// A text formed in place, and a comma.
#[inline(always)]
fn push_digits(tail: &mut Tail<'_>, write: impl FnOnce(&mut [u8; number::INTEGER_ROOM]) -> usize) {
    tail.write::<{ number::INTEGER_ROOM }>(|room| {
        let len = write(room);
        room[len] = b',';
        len + 1
    });
}

/// `"…",` around an ASCII text that needs no escape.
#[inline(always)]
fn push_quoted(text: &[u8], tail: &mut Tail<'_>) {
    tail.push(b'"');
    tail.push_ascii(text);
    tail.push_array(*b"\",");
}

/// What an object leaves out, and an array writes as `null`: undefined, and binaries that are not UUIDs.
fn write_optional(
    reader: &mut Reader<'_>,
    element_type: u8,
    name: Piece<'_>,
    tail: &mut Tail<'_>,
) -> Result<()> {
    if element_type == element_type::BINARY
        && let Some(uuid) = uuid_of(reader.read_binary()?)
    {
        tail.push_json_string(name, b':');
        push_uuid(uuid, tail);
    }
    Ok(())
}

/// The bytes of a binary that is a UUID.
#[inline]
#[must_use]
pub fn uuid_of(binary: Binary<'_>) -> Option<&[u8; spec::UUID]> {
    if binary.subtype == subtype::UUID { binary.data.try_into().ok() } else { None }
}

fn push_uuid(uuid: &[u8; spec::UUID], tail: &mut Tail<'_>) {
    push_quoted(&hex::format_uuid(uuid), tail);
}

/// `"…",` around an ObjectId's digits.
#[inline(always)]
fn push_object_id(id: &[u8; spec::OBJECT_ID], tail: &mut Tail<'_>) {
    const QUOTED: usize = hex::OBJECT_ID_TEXT + 3;
    // The digits come in whole registers; what closes them overwrites the last eight.
    tail.write::<{ 1 + hex::ROOM }>(|room| {
        room[0] = b'"';
        room[1..].copy_from_slice(&hex::digits_of_object_id(id));
        room[QUOTED - 2..QUOTED].copy_from_slice(b"\",");
        QUOTED
    });
}

/// An integer and a comma.
#[inline(always)]
fn push_integer(number: i64, tail: &mut Tail<'_>) {
    push_digits(tail, |room| number::write_i64(number, room));
}

/// A double and a comma; `null` where JSON has no such number.
#[inline(always)]
fn push_double(number: f64, tail: &mut Tail<'_>) {
    tail.write::<{ number::DOUBLE_ROOM }>(|room| match number::write_f64(number, room) {
        Some(len) => {
            room[len] = b',';
            len + 1
        }
        None => {
            room[..NULL.len()].copy_from_slice(NULL);
            NULL.len()
        }
    });
}

/// The ObjectIds that follow one in an array. Arrays of references are long: the next one is not worth a dispatch.
/// (json_of_object_ids 1,000: 4.06 µs by the outer loop, 3.69 by this one, 0.61 by whole runs)
#[inline(always)]
fn push_next_object_ids(reader: &mut Reader<'_>, tail: &mut Tail<'_>) -> Result<()> {
    while reader.peek() == element_type::OBJECT_ID {
        let rest = reader.rest();
        if rest.len() >= object_ids::WIDTH {
            let read = tail.push_object_ids(rest);
            if read > 0 {
                reader.advance(read);
                continue;
            }
        }
        reader.read_type();
        reader.skip_name()?;
        push_object_id(reader.read_array()?, tail);
    }
    Ok(())
}

/// `"…",` around a date's text.
#[inline(always)]
fn push_date(reader: &mut Reader<'_>, mode: DateRenderMode, tail: &mut Tail<'_>) -> Result<()> {
    let at = reader.offset();
    let time_value = reader.read_i64()?;
    tail.push(b'"');
    let mut written = Ok(0);
    tail.write::<{ datetime::ROOM }>(|room| {
        written = datetime::write(time_value, mode, room);
        written.unwrap_or(0)
    });
    written.map_err(|kind| kind.at(at))?;
    tail.push_array(*b"\",");
    Ok(())
}

/// A value and a comma; or the beginning of a level, which is returned, and stands at `reader`.
#[inline(always)]
fn write_value(
    reader: &mut Reader<'_>,
    element_type: u8,
    level: Level,
    start: usize,
    mode: DateRenderMode,
    tail: &mut Tail<'_>,
) -> Result<Option<Level>> {
    match element_type {
        element_type::STRING | element_type::SYMBOL => tail.push_json_string(reader.read_string()?, b','),
        element_type::INT32 => push_integer(reader.read_i32()?.into(), tail),
        element_type::DOUBLE => push_double(reader.read_f64()?, tail),
        element_type::INT64 => push_integer(reader.read_i64()?, tail),
        element_type::OBJECT_ID => {
            push_object_id(reader.read_array()?, tail);
            if level == Level::Array {
                push_next_object_ids(reader, tail)?;
            }
        }
        element_type::DATETIME => push_date(reader, mode, tail)?,
        element_type::BOOLEAN => {
            let [byte] = *reader.read_array()?;
            tail.push_array([b'0' + u8::from(byte != 0), b',']);
        }
        // In an array: an object has left it out before its name was written.
        element_type::NULL | element_type::MIN_KEY | element_type::MAX_KEY | element_type::UNDEFINED => {
            tail.push_array(*NULL);
        }
        element_type::BINARY => match uuid_of(reader.read_binary()?) {
            Some(uuid) => push_uuid(uuid, tail),
            None => tail.push_array(*NULL),
        },
        element_type::TIMESTAMP => {
            let number = reader.read_u64()?;
            push_digits(tail, |room| number::write_u64(number, room));
        }
        element_type::DECIMAL128 => {
            let (text, len) = decimal128::format(reader.read_array()?);
            push_quoted(&text[..len], tail);
        }
        element_type::REGEX | element_type::DB_POINTER | element_type::CODE => {
            write_object_of_parts(reader, element_type, tail)?;
        }
        element_type::DOCUMENT => {
            tail.push(b'{');
            return Ok(Some(Level::Document));
        }
        element_type::ARRAY => {
            tail.push(b'[');
            return Ok(Some(Level::Array));
        }
        element_type::CODE_WITH_SCOPE => {
            open_scope(reader, tail)?;
            return Ok(Some(Level::Scope));
        }
        unknown => return Err(ErrorKind::NestedType(unknown).at(start)),
    }
    Ok(None)
}

/// The types that become an object of their parts: regex, DBPointer, code; and a comma.
#[inline(never)]
pub fn write_object_of_parts(reader: &mut Reader<'_>, element_type: u8, tail: &mut Tail<'_>) -> Result<()> {
    match element_type {
        element_type::REGEX => {
            let (pattern, options) = reader.read_regex()?;
            tail.push_ascii(b"{\"pattern\":");
            tail.push_json_string(pattern, b',');
            tail.push_ascii(b"\"options\":");
            tail.push_json_string(options, b'}');
        }
        element_type::CODE => {
            tail.push_ascii(b"{\"code\":");
            tail.push_json_string(reader.read_string()?, b',');
            tail.push_ascii(b"\"scope\":null}");
        }
        _ => {
            debug_assert_eq!(element_type, element_type::DB_POINTER);
            let name = reader.read_string()?;
            let id = hex::format_object_id(reader.read_array()?);
            let (database, collection) = split_namespace(name);
            tail.push_ascii(b"{\"collection\":");
            tail.push_json_string(collection, b',');
            tail.push_ascii(b"\"oid\":\"");
            tail.push_array(id);
            tail.push_ascii(b"\",");
            if let Some(database) = database {
                tail.push_ascii(b"\"db\":");
                tail.push_json_string(database, b',');
            }
            tail.push_ascii(b"\"fields\":{}}");
        }
    }
    tail.push(b',');
    Ok(())
}

/// `database.collection`, split at the first dot; without one, all of it is the collection.
#[must_use]
pub fn split_namespace(name: Piece<'_>) -> (Option<Piece<'_>>, Piece<'_>) {
    match name.bytes().iter().position(|&byte| byte == b'.') {
        Some(dot) => (Some(name.first(dot)), name.from(dot + 1)),
        None => (None, name),
    }
}

/// `{"code":…,"scope":{`, and the scope document stands at `reader`.
#[inline(never)]
fn open_scope(reader: &mut Reader<'_>, tail: &mut Tail<'_>) -> Result<()> {
    let code = reader.read_code_before_scope()?;
    tail.push_ascii(b"{\"code\":");
    tail.push_json_string(code, b',');
    tail.push_ascii(b"\"scope\":{");
    Ok(())
}
