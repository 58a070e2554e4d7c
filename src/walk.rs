//! The elements of a document one by one, as its conversion reads them: what is wrong has the same kind and place.

use crate::error::{Error, ErrorKind, Result};
use crate::reader::Reader;

/// The next element's type and where that stands; `None` behind the last. `unknown` is the kind of a type that is none.
#[inline(always)]
pub fn read_type(reader: &mut Reader<'_>, unknown: fn(u8) -> ErrorKind) -> Result<Option<(u8, usize)>> {
    let start = reader.offset();
    match reader.read_type() {
        0 if reader.is_at_end() => Ok(None),
        0 => Err(unknown(0).at(start)),
        element_type => Ok(Some((element_type, start))),
    }
}

/// Steps over the value of an element whose type stands at `start`.
#[inline(always)]
pub fn skip(
    reader: &mut Reader<'_>,
    element_type: u8,
    start: usize,
    unknown: fn(u8) -> ErrorKind,
) -> Result<()> {
    reader.skip_value(element_type).map_err(|error| match error {
        Error { kind: ErrorKind::ColumnType(element_type), .. } => unknown(element_type).at(start),
        error => error,
    })
}
