//! Nested values of one type to JSON text, and what is checked of text and of identities.

use std::hint::black_box;

use bson::oid::ObjectId;
use bson::{Binary, Bson, DateTime, Uuid, doc};
use bsonrow::identity::find_id;
use bsonrow::reader::Reader;
use bsonrow::text::Text;
use bsonrow::utf8;
use divan::Bencher;
use divan::counter::ItemsCount;

use crate::read_ascii;

/// Values in an array or object.
const COUNT: u32 = 100;

/// One of the values of a kind, and its JSON text.
fn value_of(kind: &str, number: u32) -> (Bson, String) {
    match kind {
        "dates" => {
            // Milliseconds that end in a zero would be written shorter by the crate.
            let date = DateTime::from_millis(1_700_000_000_123 + 86_400_010 * i64::from(number));
            (date.into(), format!("\"{}\"", date.try_to_rfc3339_string().expect("a date")))
        }
        "prices" => {
            let price = f64::from(1999 + 137 * number) / 100.0;
            (price.into(), price.to_string())
        }
        "fractions" => {
            let fraction = 1.0 / f64::from(number + 3);
            (fraction.into(), fraction.to_string())
        }
        "integers" => {
            let integer = 7_i32.pow(number % 11);
            (integer.into(), integer.to_string())
        }
        "long integers" => {
            let integer = 1_700_000_000_000_i64 + i64::from(number);
            (integer.into(), integer.to_string())
        }
        "UUIDs" => {
            let uuid = Uuid::from_bytes([number as u8 ^ 0xa5; 16]);
            (Binary::from(uuid).into(), format!("\"{uuid}\""))
        }
        "ObjectIds" => {
            let id = ObjectId::from_bytes([number as u8 ^ 0xa5; 12]);
            (id.into(), format!("\"{id}\""))
        }
        _ => unreachable!("a kind of values"),
    }
}

fn bench(bencher: Bencher<'_, '_>, document: &[u8], expected: &str) {
    let mut text = Text::default();
    read_ascii(document, &mut text, |json| assert_eq!(std::str::from_utf8(json), Ok(expected)));
    bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
        read_ascii(black_box(document), &mut text, |json| {
            black_box(json);
        })
    });
}

#[divan::bench(args = ["dates", "prices", "fractions", "integers", "long integers", "UUIDs"])]
fn json_of_array(bencher: Bencher<'_, '_>, kind: &str) {
    let (values, texts): (Vec<_>, Vec<_>) = (0..COUNT).map(|number| value_of(kind, number)).unzip();
    let document = doc! { "values": values }.to_vec().expect("a document");
    bench(bencher, &document, &format!("[{}]", texts.join(",")));
}

#[divan::bench(args = ["dates", "prices", "integers", "ObjectIds"])]
fn json_of_object(bencher: Bencher<'_, '_>, kind: &str) {
    let (mut object, mut texts) = (doc! {}, Vec::new());
    for number in 0..COUNT {
        let (value, text) = value_of(kind, number);
        texts.push(format!("\"column_{number}\":{text}"));
        object.insert(format!("column_{number}"), value);
    }
    let document = doc! { "values": object }.to_vec().expect("a document");
    bench(bencher, &document, &format!("{{{}}}", texts.join(",")));
}

#[divan::bench(args = [8, 16, 24, 48, 64, 96, 128, 1_024])]
fn json_of_strings(bencher: Bencher<'_, '_>, length: usize) {
    let string = "lorem ipsum ".repeat(length).chars().take(length).collect::<String>();
    let document = doc! { "values": vec![string.clone(); COUNT as usize] }.to_vec().expect("a document");
    let texts = vec![format!("\"{string}\""); COUNT as usize];
    bench(bencher, &document, &format!("[{}]", texts.join(",")));
}

fn bench_validity(bencher: Bencher<'_, '_>, piece: &str, length: usize) {
    let text = piece.repeat(length / piece.len());
    assert_eq!(text.len(), length);
    assert!(utf8::is_valid(text.as_bytes()));
    let mut ill_formed = text.clone().into_bytes();
    ill_formed[length - 1] = 0xd0;
    assert!(!utf8::is_valid(&ill_formed));
    bencher.bench_local(|| utf8::is_valid(black_box(text.as_bytes())));
}

#[divan::bench(args = [2, 4, 8, 12, 16, 24, 32, 64])]
fn validity_of_ascii(bencher: Bencher<'_, '_>, length: usize) {
    bench_validity(bencher, "n", length);
}

#[divan::bench(args = [2, 4, 8, 12, 16, 24, 32, 64])]
fn validity_of_cyrillic(bencher: Bencher<'_, '_>, length: usize) {
    bench_validity(bencher, "ж", length);
}

#[divan::bench]
fn check_of_identity(bencher: Bencher<'_, '_>) {
    let check = |document: &[u8]| {
        let mut reader = Reader::new(document).expect("a document");
        find_id(&mut reader).and_then(|id| id.check())
    };
    let good = doc! { "_id": { "number": 7 } }.to_vec().expect("a document");
    assert_eq!(check(&good), Ok(()));
    let mut bad = good.clone();
    let at = bad.windows(6).position(|name| name == b"number").expect("the name");
    bad[at] = 0xff;
    assert!(check(&bad).is_err());
    bencher.bench_local(|| check(black_box(&good)));
}
