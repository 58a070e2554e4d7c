//! A document to a row: the only loop over top-level elements, and what a [`Projection`] makes of it.

use crate::column::{Column, ColumnSink, read_column};
use crate::datetime::DateRenderMode;
use crate::error::ErrorKind;
use crate::identity::IdElement;
use crate::names::Names;
use crate::projection::{Found, NameSet, PathSet, Projection};
use crate::reader::Reader;
use crate::shape::Mark;
use crate::text::Text;
use crate::unread::{UnreadJson, is_json};
use crate::walk::skip;

/// How a row is made of a document.
#[derive(Clone, Copy, Debug)]
pub struct RowOptions<'p> {
    /// How dates are rendered.
    pub mode: DateRenderMode,
    /// The columns that are wanted; all where there is none.
    pub projection: Option<&'p Projection>,
    /// Whether JSON text is left unread.
    pub lazy_json: bool,
}

/// Takes the values of a row.
pub trait RowSink: ColumnSink {
    /// Whether it takes values that are left unread.
    const TAKES_UNREAD: bool = false;

    /// Takes such a value, marked so.
    fn write_unread(&mut self, _json: UnreadJson) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Reads the document that `reader` stands at the beginning of: the columns' names into `names`, their values into
/// `sink`, in order; and into `id`, which is `None` before, the first `_id`, whether that is a column or not.
///
/// `id` is not returned: the copy of a result waits until the stores of its parts are over. (where it is returned, row of a
/// 1 KB document takes 1.04 times as long)
#[inline(always)]
pub fn read_row<'a, S: RowSink>(
    reader: &mut Reader<'a>,
    options: RowOptions<'a>,
    names: &mut Names<'a, '_>,
    text: &mut Text,
    sink: &mut S,
    id: &mut Option<IdElement<'a>>,
) -> Result<(), S::Error> {
    debug_assert!(id.is_none());
    if let Some(projection) = options.projection {
        return match projection {
            Projection::Names(set) => read_names(reader, set, options, names, text, sink, id),
            Projection::Paths(set) => read_paths(reader, set, options, names, text, sink, id),
        };
    }
    // No value stands at 0.
    let (mut id_type, mut id_at) = (0, 0);
    loop {
        let start = reader.offset();
        let element_type = reader.read_type();
        if element_type == 0 && reader.is_at_end() {
            *id = (id_at > 0).then(|| IdElement::new(id_type, reader.back_at(id_at)));
            return Ok(());
        }
        let name = names.read(reader)?;
        if id_at == 0 && name.bytes() == b"_id" {
            (id_type, id_at) = (element_type, reader.offset());
        }
        read_value(reader, element_type, start, options, names, text, sink)?;
    }
}

/// The value of the name before.
#[inline(always)]
fn read_value<'a, S: RowSink>(
    reader: &mut Reader<'a>,
    element_type: u8,
    start: usize,
    RowOptions { mode, lazy_json, .. }: RowOptions<'a>,
    names: &mut Names<'a, '_>,
    text: &mut Text,
    sink: &mut S,
) -> Result<(), S::Error> {
    if S::TAKES_UNREAD && lazy_json && is_json(element_type) {
        names.mark(Mark::Unread);
        return sink.write_unread(UnreadJson::skip(reader, element_type, mode)?);
    }
    read_column(reader, element_type, start, mode, text, sink)
}

/// The columns of some names, in the document's order.
#[inline(never)]
fn read_names<'a, S: RowSink>(
    reader: &mut Reader<'a>,
    set: &NameSet,
    options: RowOptions<'a>,
    names: &mut Names<'a, '_>,
    text: &mut Text,
    sink: &mut S,
    id: &mut Option<IdElement<'a>>,
) -> Result<(), S::Error> {
    let mut next = 0;
    loop {
        let start = reader.offset();
        let element_type = reader.read_type();
        if element_type == 0 && reader.is_at_end() {
            return Ok(());
        }
        let mut value = *reader;
        let name = value.read_name()?;
        if id.is_none() && name.bytes() == b"_id" {
            *id = Some(IdElement::new(element_type, value));
        }
        if let Some(index) = set.find(name, next) {
            next = index + 1;
            // Read again with the shape that is expected.
            names.read(reader)?;
            read_value(reader, element_type, start, options, names, text, sink)?;
        } else {
            *reader = value;
            skip(reader, element_type, start, ErrorKind::ColumnType)?;
        }
    }
}

/// The columns of some paths, in the order of those.
#[inline(never)]
fn read_paths<'a, S: RowSink>(
    reader: &mut Reader<'a>,
    set: &'a PathSet,
    options: RowOptions<'a>,
    names: &mut Names<'a, '_>,
    text: &mut Text,
    sink: &mut S,
    id: &mut Option<IdElement<'a>>,
) -> Result<(), S::Error> {
    let columns;
    (columns, *id) = set.find(reader)?;
    for (column, found) in columns {
        names.add(column);
        match found {
            Some(Found { element_type, start, mut value }) => {
                read_value(&mut value, element_type, start, options, names, text, sink)?;
            }
            None => sink.write_column(Column::Null)?,
        }
    }
    Ok(())
}
