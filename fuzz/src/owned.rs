//! A row that owns its memory, to be compared and looked at after the conversion.

use bsonrow::column::{Column, ColumnSink};
use bsonrow::datetime::DateRenderMode;
use bsonrow::error::Error;
use bsonrow::names::{Names, Sequence};
use bsonrow::reader::Reader;
use bsonrow::row::{RowOptions, RowSink, read_row};
use bsonrow::shape::{Mark, ShapeId, Shapes, Token};
use bsonrow::text::Text;
use bsonrow::unread::UnreadJson;

pub const MODES: [DateRenderMode; 3] =
    [DateRenderMode::LegacyMilliseconds, DateRenderMode::IsoMilliseconds, DateRenderMode::IsoSeconds];

/// A column value; a double by its bits, so that NaN equals itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Integer(i64),
    Unsigned(u64),
    Huge(u64),
    Real(u64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
    Unread(UnreadJson),
}

impl From<Column<'_>> for Value {
    fn from(column: Column<'_>) -> Self {
        match column {
            Column::Null => Self::Null,
            Column::Integer(number) => Self::Integer(number),
            Column::Unsigned(number) => Self::Unsigned(number),
            Column::Huge(number) => {
                assert!(number.is_finite() && number.trunc() == number);
                Self::Huge(number.to_bits())
            }
            Column::Real(number) => {
                assert!(!number.is_finite() || number.trunc() != number);
                Self::Real(number.to_bits())
            }
            Column::Ascii(text) => {
                assert!(text.is_ascii());
                Self::Text(text.to_vec())
            }
            Column::Text(text) => Self::Text(text.bytes().to_vec()),
            Column::Json(text) => Self::Text(text.to_vec()),
            Column::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }
}

#[derive(Default)]
struct Values(Vec<Value>);

impl ColumnSink for Values {
    type Error = Error;
    fn write_column(&mut self, column: Column<'_>) -> Result<(), Error> {
        self.0.push(column.into());
        Ok(())
    }
}

impl RowSink for Values {
    const TAKES_UNREAD: bool = true;

    fn write_unread(&mut self, json: UnreadJson) -> Result<(), Error> {
        self.0.push(Value::Unread(json));
        Ok(())
    }
}

/// Names and values of all elements, and a document of the first `_id` alone.
#[derive(Debug, PartialEq)]
pub struct Row {
    pub names: Vec<Vec<u8>>,
    pub values: Vec<Value>,
    pub id: Option<Vec<u8>>,
}

/// What a converter keeps from one document to the next.
#[derive(Default)]
pub struct State {
    shapes: Shapes,
    guess: Option<ShapeId>,
    text: Text,
}

/// A row is flat, so it is made of names only, and of marks of what is unread.
fn name_of(token: Token<'_>) -> Option<Vec<u8>> {
    match token {
        Token::Name(name) => Some(name.to_vec()),
        Token::Mark(Mark::Unread) => None,
        Token::Mark(mark) => panic!("{mark:?} in a row"),
    }
}

/// The row of the document that `source` begins with.
pub fn convert(source: &[u8], mode: DateRenderMode, state: &mut State) -> Result<Row, Error> {
    let row = convert_with(source, RowOptions { mode, projection: None, lazy_json: false }, state);
    assert!(row.iter().flat_map(|row| &row.values).all(|value| !matches!(value, Value::Unread(_))));
    row
}

/// The same with all options.
pub fn convert_with(source: &[u8], options: RowOptions<'_>, state: &mut State) -> Result<Row, Error> {
    let State { shapes, guess, text } = state;
    let mut reader = Reader::new(source)?;
    let mut names = Names::begin(shapes, *guess);
    let mut sink = Values::default();
    let mut id = None;
    read_row(&mut reader, options, &mut names, text, &mut sink, &mut id)?;
    assert_eq!(reader.offset(), reader.end());
    let names = names.end();
    let generation = shapes.generation();
    let shape = match names.find(shapes) {
        Sequence::Shape(shape) => Ok(shape),
        Sequence::New(new) => Err(new.tokens().filter_map(name_of).collect()),
    };
    if shapes.generation() != generation {
        *guess = None;
    }
    let names: Vec<_> = match shape {
        Ok(shape) => {
            *guess = Some(shape);
            shapes.get(shape).tokens().filter_map(name_of).collect()
        }
        Err(names) => names,
    };
    let id = id.map(|id| id.to_document().expect("it was stepped over"));
    assert_eq!(names.len(), sink.0.len());
    Ok(Row { names, values: sink.0, id })
}
