//! A document to its row: names found by comparing them with those of the last document, or by looking them up.

use std::hint::black_box;

use bson::oid::ObjectId;
use bson::{DateTime, doc};
use bsonrow::column::{Column, ColumnSink};
use bsonrow::datetime::DateRenderMode;
use bsonrow::error::Error;
use bsonrow::names::{Names, Sequence};
use bsonrow::reader::Reader;
use bsonrow::row::{RowOptions, RowSink, read_row};
use bsonrow::shape::{ShapeId, Shapes};
use bsonrow::text::Text;
use divan::Bencher;
use divan::counter::BytesCount;

/// A document of twelve columns and 963 bytes, as the benchmark from JavaScript has it.
fn customer() -> Vec<u8> {
    let with_notes = |notes: String| {
        let document = doc! {
            "_id": ObjectId::from_bytes(*b"twelve bytes"),
            "name": "wizards jumps",
            "email": "lazy.512@example.com",
            "active": true,
            "visits": 81_243,
            "points": 1_872_362_176_249_856_i64,
            "balance": 5612.07,
            "createdAt": DateTime::from_millis(1_500_000_000_123),
            "updatedAt": DateTime::from_millis(1_600_000_000_456),
            "address": {
                "street": "17 dim light",
                "city": "brown",
                "location": { "latitude": 48.2, "longitude": 16.37 },
                "verified": false,
            },
            "tags": ["quick", "fox", "box"],
            "notes": notes,
        };
        document.to_vec().expect("a document")
    };
    let document = with_notes("n".repeat(963 - with_notes(String::new()).len()));
    assert_eq!(document.len(), 963);
    document
}

fn numbers(columns: i32) -> Vec<u8> {
    let column = |number| (format!("column_{number}"), bson::Bson::Int32(number));
    (0..columns).map(column).collect::<bson::Document>().to_vec().expect("a document")
}

fn document_of(name: &str) -> (Vec<u8>, usize) {
    match name {
        "1 KB" => (customer(), 12),
        "100 columns" => (numbers(100), 100),
        _ => unreachable!("a document"),
    }
}

/// Keeps values as a sink for JavaScript does: numbers in slots, texts one after another.
#[derive(Default)]
struct Kept {
    slots: Vec<(i32, i32, u64)>,
    texts: Vec<u8>,
}

impl Kept {
    #[inline(always)]
    fn push_text(&mut self, text: &[u8]) {
        let start = self.texts.len() as i32;
        self.texts.extend_from_slice(text);
        self.slots.push((start, self.texts.len() as i32, 0));
    }
}

impl ColumnSink for Kept {
    type Error = Error;
    #[inline(always)]
    fn write_column(&mut self, column: Column<'_>) -> Result<(), Error> {
        match column {
            Column::Integer(number) => self.slots.push((-1, 0, number as u64)),
            Column::Real(number) => self.slots.push((-2, 0, number.to_bits())),
            Column::Ascii(text) => self.push_text(text),
            Column::Text(text) => self.push_text(text.bytes()),
            other => unreachable!("{other:?} is in no document here"),
        }
        Ok(())
    }
}

impl RowSink for Kept {}

/// Reads a document's row; gives its shape.
fn read(
    document: &[u8],
    shapes: &mut Shapes,
    guess: Option<ShapeId>,
    text: &mut Text,
    kept: &mut Kept,
) -> ShapeId {
    kept.slots.clear();
    kept.texts.clear();
    let mut reader = Reader::new(document).expect("a document");
    let mut names = Names::begin(shapes, guess);
    let options = RowOptions { mode: DateRenderMode::IsoMilliseconds, projection: None, lazy_json: false };
    read_row(&mut reader, options, &mut names, text, kept, &mut None).expect("a row");
    match names.end().find(shapes) {
        Sequence::Shape(shape) => shape,
        Sequence::New(_) => unreachable!("the first shapes are kept"),
    }
}

fn bench(bencher: Bencher<'_, '_>, name: &str, is_guessed: bool) {
    let (document, columns) = document_of(name);
    let (mut shapes, mut text, mut kept) = (Shapes::default(), Text::default(), Kept::default());
    let shape = read(&document, &mut shapes, None, &mut text, &mut kept);
    assert_eq!((shapes.get(shape).len(), kept.slots.len()), (columns, columns));
    if name == "1 KB" {
        let texts = std::str::from_utf8(&kept.texts).expect("text");
        assert!(texts.contains("2017-07-14T02:40:00.123Z"));
        assert!(texts.contains(
            r#""location":{"latitude":48.2,"longitude":16.37},"verified":0}["quick","fox","box"]nn"#
        ));
        assert_eq!(kept.slots[6], (-2, 0, 5612.07_f64.to_bits()));
    } else {
        assert_eq!(kept.slots[99], (-1, 0, 99));
    }
    let guess = is_guessed.then_some(shape);
    bencher.counter(BytesCount::of_slice(&document)).bench_local(|| {
        let found = read(black_box(&document), &mut shapes, guess, &mut text, &mut kept);
        assert!(found == shape);
        black_box(&kept.slots);
    });
}

#[divan::bench(args = ["1 KB", "100 columns"])]
fn row_of_names_guessed(bencher: Bencher<'_, '_>, name: &str) {
    bench(bencher, name, true);
}

#[divan::bench(args = ["1 KB", "100 columns"])]
fn row_of_names_looked_up(bencher: Bencher<'_, '_>, name: &str) {
    bench(bencher, name, false);
}
