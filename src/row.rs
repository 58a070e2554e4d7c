//! A document to a row: the only loop over top-level elements.

use crate::column::{ColumnSink, read_column};
use crate::datetime::DateRenderMode;
use crate::identity::IdElement;
use crate::reader::Reader;
use crate::shape::Names;
use crate::text::Text;

/// Reads all elements of the document that `reader` stands at the beginning of: their names into `names`, their
/// values into `sink`, in order. Returns the first `_id`.
#[inline(always)]
pub fn read_row<'a, S: ColumnSink>(
    reader: &mut Reader<'a>,
    mode: DateRenderMode,
    names: &mut Names<'a, '_>,
    text: &mut Text,
    sink: &mut S,
) -> Result<Option<IdElement<'a>>, S::Error> {
    let mut id = None;
    loop {
        let start = reader.offset();
        let element_type = reader.read_type();
        if element_type == 0 && reader.is_at_end() {
            return Ok(id);
        }
        let name = names.read(reader)?;
        if id.is_none() && name.bytes() == b"_id" {
            id = Some(IdElement::new(element_type, *reader));
        }
        read_column(reader, element_type, start, mode, text, sink)?;
    }
}
