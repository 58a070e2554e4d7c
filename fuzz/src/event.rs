//! Change events and replies: any bytes give an error or values, the same whatever events came before; and what is said
//! to be an element of a batch is one.

use bsonrow::change_event::{ChangeOptions, read_change, read_event};
use bsonrow::column::{Column, ColumnSink};
use bsonrow::cursor_reply::{Item, find_document_key, read_reply};
use bsonrow::datetime::DateRenderMode;
use bsonrow::deserialize::{Value, ValueSink};
use bsonrow::error::Error;
use bsonrow::names::{Names, Sequence};
use bsonrow::object::ObjectOptions;
use bsonrow::reader::Reader;
use bsonrow::row::RowSink;
use bsonrow::shape::{Guess, Mark, Shapes, Token};
use bsonrow::spec::element_type;
use bsonrow::text::Text;

/// Values as they are printed: none of them is borrowed longer.
#[derive(Default)]
struct Printed(Vec<String>);

impl ColumnSink for Printed {
    type Error = Error;
    fn write_column(&mut self, column: Column<'_>) -> Result<(), Error> {
        self.0.push(format!("{column:?}"));
        Ok(())
    }
}

impl RowSink for Printed {}

impl ValueSink for Printed {
    type Error = Error;
    fn write_value(&mut self, value: Value<'_>) -> Result<(), Error> {
        self.0.push(format!("{value:?}"));
        Ok(())
    }
    fn takes_object_id(&self) -> bool {
        true
    }
}

/// What is kept from one event to the next.
#[derive(Default)]
struct State {
    shapes: Shapes,
    guess: Guess,
    text: Text,
}

type Read = for<'a> fn(&mut Reader<'a>, &mut Names<'a, '_>, &mut Text, &mut Printed) -> Result<(), Error>;

/// An event as it is, an event with rows, a reply.
const READS: [Read; 3] = [
    |reader, names, _, sink| read_event(reader, names, sink),
    |reader, names, text, sink| {
        let options = ChangeOptions {
            row: ObjectOptions::new(DateRenderMode::IsoMilliseconds).row,
            update_description: true,
        };
        read_change(reader, options, names, text, sink)
    },
    |reader, names, _, sink| read_reply(reader, names, sink).map(drop),
];

/// Names, marks and values, as they are printed.
type Object = (Vec<String>, Vec<String>);

fn read(source: &[u8], read: Read, state: &mut State) -> Result<Object, Error> {
    let State { shapes, guess, text } = state;
    let mut reader = Reader::new(source)?;
    let mut names = Names::begin(shapes, guess.shape(shapes));
    let mut sink = Printed::default();
    read(&mut reader, &mut names, text, &mut sink)?;
    assert!(reader.is_at_end());
    let printed = |token: Token<'_>| format!("{token:?}");
    let names = names.end();
    let tokens: Vec<_> = match names.find(shapes) {
        Sequence::Shape(shape) => {
            *guess = Guess::of(shape, shapes);
            check_values(shapes.get(shape).tokens(), sink.0.len());
            shapes.get(shape).tokens().map(printed).collect()
        }
        Sequence::New(sequence) => {
            check_values(sequence.tokens(), sink.0.len());
            sequence.tokens().map(printed).collect()
        }
    };
    Ok((tokens, sink.0))
}

/// Each name has one value, but for those of objects and for the identity where it is repeated; what is entered is left.
fn check_values<'t>(tokens: impl Iterator<Item = Token<'t>>, values: usize) {
    let (mut expected, mut level) = (0, 0_usize);
    for token in tokens {
        match token {
            Token::Name(_) => expected += 1,
            Token::Mark(Mark::Enter) => {
                expected -= 1;
                level += 1;
            }
            Token::Mark(Mark::Leave) => level = level.checked_sub(1).expect("it was entered"),
            Token::Mark(Mark::SameIdentity) => expected -= 1,
            Token::Mark(_) => {}
        }
    }
    assert_eq!((values, level), (expected, 0));
}

/// # Panics
/// Where the property fails.
pub fn check(source: &[u8]) {
    for how in READS {
        let fresh = read(source, how, &mut State::default());
        let mut state = State::default();
        // For the second time its names are a shape, and for the third that shape is the guess.
        for _ in 0..3 {
            assert_eq!(read(source, how, &mut state), fresh);
        }
        if let Err(error) = fresh {
            assert!(error.offset <= source.len());
        }
    }
    let Ok(mut reader) = Reader::new(source) else { return };
    if let Some(key) = find_document_key(reader) {
        assert!(key.end() < reader.end());
    }
    let shapes = Shapes::default();
    let mut names = Names::begin(&shapes, None);
    if let Ok(batch) = read_reply(&mut reader, &mut names, &mut Printed::default()) {
        check_batch(source, &batch.items);
    }
}

/// Elements stand one behind another, and a document is one.
fn check_batch(source: &[u8], items: &[Item]) {
    let mut end = 0;
    for item in items {
        assert!(end <= item.type_at && item.type_at < item.start && item.start <= item.end);
        assert_eq!(source[item.type_at], item.element_type);
        end = item.end;
        let value = &source[item.start..item.end];
        if item.element_type == element_type::DOCUMENT {
            assert_eq!(Reader::new(value).expect("a document").end() + 1, value.len());
        }
    }
}
