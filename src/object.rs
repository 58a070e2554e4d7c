//! A document or change event to the names and values of what is made of it.

use crate::change_event::{ChangeOptions, read_change};
use crate::datetime::DateRenderMode;
use crate::deserialize::{ValueSink, write_value};
use crate::error::{Error, ErrorKind};
use crate::identity::IdElement;
use crate::kind::Kind;
use crate::names::Names;
use crate::reader::Reader;
use crate::row::{RowOptions, RowSink, read_row};
use crate::shape::Mark;
use crate::strict;
use crate::text::Text;

/// How a document or change event is converted.
#[derive(Clone, Copy, Debug)]
pub struct ObjectOptions<'p> {
    /// How rows are made.
    pub row: RowOptions<'p>,
    /// Whether to refuse what the specification forbids though its meaning is clear.
    pub strict: bool,
    /// Whether a change's `updateDescription` is wanted.
    pub update_description: bool,
}

impl ObjectOptions<'_> {
    /// All columns, read at once, and nothing besides.
    #[must_use]
    pub const fn new(mode: DateRenderMode) -> Self {
        let row = RowOptions { mode, projection: None, lazy_json: false };
        Self { row, strict: false, update_description: false }
    }
}

/// Reads the document or event that `reader` stands at the beginning of: a document to its row and identity, an event
/// to its rows, its identity and its fields.
#[inline(always)]
pub fn read_object<'a, S>(
    kind: Kind,
    options: ObjectOptions<'a>,
    reader: &mut Reader<'a>,
    names: &mut Names<'a, '_>,
    text: &mut Text,
    sink: &mut S,
) -> Result<(), <S as ValueSink>::Error>
where
    S: ValueSink + RowSink<Error = <S as ValueSink>::Error>,
{
    let ObjectOptions { row, strict, update_description } = options;
    if strict {
        strict::check(reader.source(), kind)?;
    }
    match kind {
        Kind::Document => {
            names.add("row");
            names.mark(Mark::Enter);
            let mut id = None;
            read_row(reader, row, names, text, sink, &mut id)?;
            names.mark(Mark::Leave);
            let id = id.ok_or_else(|| -> Error { ErrorKind::NoId.at(0) })?;
            names.add("replicaId");
            write_id(&id, names, sink)
        }
        Kind::Change => read_change(reader, ChangeOptions { row, update_description }, names, text, sink),
    }
}

/// An identity, which must be told from every other.
#[inline(always)]
pub fn write_id<'a, S: ValueSink>(
    id: &IdElement<'a>,
    names: &mut Names<'a, '_>,
    sink: &mut S,
) -> Result<(), S::Error> {
    id.check()?;
    write_value(&mut id.value(), id.element_type(), names, sink)
}
