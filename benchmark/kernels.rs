//! The core without JavaScript: `cargo bench`.
//!
//! Nested JSON beside the `bson` crate's raw document through `serde_json`, text to UTF-16 beside the standard
//! library, rows (`kernels/row.rs`), and values of one type (`kernels/values.rs`). Each answer is checked before it is
//! timed. Comments of the core name these when they say what a trick pays.

#[path = "kernels/row.rs"]
mod row;
#[path = "kernels/values.rs"]
mod values;

use std::hint::black_box;

use bson::oid::ObjectId;
use bson::{Bson, DateTime, RawDocumentBuf, doc};
use bsonrow::column::{Column, ColumnSink, read_column};
use bsonrow::datetime::DateRenderMode;
use bsonrow::error::Error;
use bsonrow::reader::Reader;
use bsonrow::text::Text;
use bsonrow::utf8::{self, Encoded};
use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

/// A sink that looks at a value and lets it go.
struct Check<F>(F);

impl<F: FnMut(Column<'_>)> ColumnSink for Check<F> {
    type Error = Error;
    fn write_column(&mut self, column: Column<'_>) -> Result<(), Error> {
        (self.0)(column);
        Ok(())
    }
}

/// The value of a document's only column.
fn read(document: &[u8], text: &mut Text, check: impl FnMut(Column<'_>)) {
    let mut reader = Reader::new(document).expect("a document");
    let element_type = reader.read_type();
    reader.read_name().expect("a name");
    let mode = DateRenderMode::IsoMilliseconds;
    read_column(&mut reader, element_type, 4, mode, text, &mut Check(check)).expect("a value");
}

/// The same, as ASCII text.
fn read_ascii(document: &[u8], text: &mut Text, mut check: impl FnMut(&[u8])) {
    read(document, text, |column| {
        let Column::Ascii(ascii) = column else { panic!("ASCII text, not {column:?}") };
        check(ascii);
    });
}

/// An order of 500 items, as the benchmark from JavaScript has it: 86 KB.
fn order(items: i32) -> Vec<u8> {
    let item = |number: i32| {
        Bson::Document(doc! {
            "sku": format!("SKU-{number:05}"),
            "name": "Wireless mouse with two buttons",
            "quantity": number % 7 + 1,
            "price": 19.99 + f64::from(number),
            "taxRate": 0.07,
            "giftWrap": number % 2 == 0,
            "addedAt": DateTime::from_millis(1_700_000_000_000 + i64::from(number)),
            "productId": ObjectId::from_bytes([number as u8; 12]),
            "options": { "colour": "black", "size": "M" },
        })
    };
    doc! { "items": (0..items).map(item).collect::<Vec<_>>() }.to_vec().expect("a document")
}

/// The length of the JSON text, checked to be JSON of the same items.
fn checked_json(document: &[u8], items: usize) {
    read_ascii(document, &mut Text::default(), |json| {
        let value: serde_json::Value = serde_json::from_slice(json).expect("JSON");
        let last = &value[items - 1];
        assert_eq!(value.as_array().map(Vec::len), Some(items));
        assert_eq!(last["options"]["colour"], "black");
        assert_eq!(last["price"], 19.99 + (items - 1) as f64);
        assert_eq!(last["productId"], ObjectId::from_bytes([(items - 1) as u8; 12]).to_hex());
    });
}

#[divan::bench(args = [10, 500])]
fn json_of_order(bencher: Bencher<'_, '_>, items: i32) {
    let document = order(items);
    checked_json(&document, items as usize);
    let mut text = Text::default();
    bencher.counter(BytesCount::of_slice(&document)).bench_local(|| {
        read(black_box(&document), &mut text, |column| {
            black_box(column);
        })
    });
}

#[divan::bench(args = [10, 500])]
fn json_of_order_by_bson_and_serde_json(bencher: Bencher<'_, '_>, items: i32) {
    let document = order(items);
    let raw = RawDocumentBuf::from_bytes(document.clone()).expect("a document");
    let items_of =
        |raw: &RawDocumentBuf| serde_json::to_string(&raw.get_array("items").expect("items")).expect("JSON");
    assert!(items_of(&raw).contains("\"colour\":\"black\""));
    bencher.counter(BytesCount::of_slice(&document)).bench_local(|| items_of(black_box(&raw)));
}

#[divan::bench(args = [10, 100, 1_000])]
fn json_of_object_ids(bencher: Bencher<'_, '_>, count: u16) {
    let ids = (0..count).map(|number| Bson::ObjectId(ObjectId::from_bytes([number as u8; 12])));
    let document = doc! { "ids": ids.collect::<Vec<_>>() }.to_vec().expect("a document");
    let mut text = Text::default();
    read_ascii(&document, &mut text, |json| {
        let ids: Vec<String> = serde_json::from_slice(json).expect("JSON");
        assert_eq!(ids.last(), Some(&ObjectId::from_bytes([(count - 1) as u8; 12]).to_hex()));
    });
    bencher.counter(BytesCount::of_slice(&document)).bench_local(|| {
        read(black_box(&document), &mut text, |column| {
            black_box(column);
        })
    });
}

const TEXTS: [(&str, &str); 4] = [
    ("Cyrillic", "Съешь же ещё этих мягких французских булок "),
    ("Chinese", "天地玄黄宇宙洪荒日月盈昃辰宿列张"),
    ("accented", "Voix ambiguë d’un cœur qui préfère les jattes de kiwis "),
    ("emoji", "ship it 🚀 today 🎉 "),
];

fn text_of(name: &str) -> String {
    let (_, piece) = TEXTS.into_iter().find(|(known, _)| *known == name).expect("a text");
    piece.repeat(100 << 10).chars().take(40 << 10).collect()
}

#[divan::bench(args = ["Cyrillic", "Chinese", "accented", "emoji"])]
fn utf16_of(bencher: Bencher<'_, '_>, name: &str) {
    let text = text_of(name);
    let mut scratch = utf8::Scratch::default();
    match utf8::transcode(text.as_bytes(), &mut scratch) {
        Encoded::Utf16(units) => assert_eq!(units, text.encode_utf16().collect::<Vec<_>>()),
        Encoded::Latin1(bytes) => assert!(bytes.iter().map(|&byte| char::from(byte)).eq(text.chars())),
        Encoded::Ascii => panic!("no ASCII"),
    }
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        black_box(utf8::transcode(black_box(text.as_bytes()), &mut scratch));
    });
}

#[divan::bench(args = ["Cyrillic", "Chinese", "accented", "emoji"])]
fn utf16_by_std(bencher: Bencher<'_, '_>, name: &str) {
    let text = text_of(name);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| black_box(&text).encode_utf16().collect::<Vec<_>>());
}
