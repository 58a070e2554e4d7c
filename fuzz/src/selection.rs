//! Some columns of a row, by their names and by their paths, JSON that is left unread, and JSON that is extracted: each
//! is what the whole has. Where the whole row is an error, they may be one.

use bsonrow::datetime::DateRenderMode;
use bsonrow::json_extract::{Extracted, Form, extract};
use bsonrow::json_path::JsonPath;
use bsonrow::projection::Projection;
use bsonrow::row::RowOptions;
use bsonrow::text::Text;

use crate::owned::{Row, State, Value, convert, convert_with};

const MODE: DateRenderMode = DateRenderMode::IsoMilliseconds;

/// # Panics
/// Where the property fails.
pub fn check(source: &[u8]) {
    let whole = convert(source, MODE, &mut State::default());
    let names = whole.as_ref().map_or(&[][..], |row| &row.names);
    let mut selected: Vec<String> =
        names.iter().step_by(2).map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    selected.push("no column".to_owned());
    selected.sort();
    selected.dedup();
    check_names(source, &selected, whole.as_ref().ok());
    check_paths(source, &selected, whole.as_ref().ok());
    check_unread(source, whole.as_ref().ok());
    check_extracted(source, names);
}

fn options(projection: Option<&Projection>, lazy_json: bool) -> RowOptions<'_> {
    RowOptions { mode: MODE, projection, lazy_json }
}

fn check_names(source: &[u8], selected: &[String], whole: Option<&Row>) {
    let projection = Projection::of_names(selected.iter().map(String::as_str));
    let mut state = State::default();
    for _ in 0..3 {
        let row = convert_with(source, options(Some(&projection), false), &mut state);
        let Some(whole) = whole else { continue };
        let is_selected = |name: &[u8]| selected.iter().any(|other| *other == String::from_utf8_lossy(name));
        let (names, values) = whole
            .names
            .iter()
            .cloned()
            .zip(whole.values.iter().cloned())
            .filter(|(name, _)| is_selected(name))
            .unzip();
        assert_eq!(row, Ok(Row { names, values, id: whole.id.clone() }));
    }
}

fn check_paths(source: &[u8], selected: &[String], whole: Option<&Row>) {
    // A dot would make two segments of a name.
    let paths = selected.iter().filter(|name| !name.contains('.')).map(String::as_str);
    let paths: Vec<&str> = paths.collect();
    let projection = Projection::of_paths(paths.iter().map(|path| ("column", *path)));
    let row = convert_with(source, options(Some(&projection), false), &mut State::default());
    let Some(whole) = whole else { return };
    let row = row.expect("the whole row is none");
    assert_eq!(row.id, whole.id);
    assert_eq!(row.values.len(), paths.len());
    for (path, value) in paths.iter().zip(&row.values) {
        let last = whole.names.iter().rposition(|name| *path == String::from_utf8_lossy(name));
        assert_eq!(*value, last.map_or(Value::Null, |index| whole.values[index].clone()));
    }
}

fn check_unread(source: &[u8], whole: Option<&Row>) {
    let mut state = State::default();
    for _ in 0..3 {
        let Ok(row) = convert_with(source, options(None, true), &mut state) else {
            assert!(whole.is_none());
            continue;
        };
        let values: Result<Vec<_>, _> = row
            .values
            .iter()
            .map(|value| match value {
                Value::Unread(json) => {
                    let mut text = Text::default();
                    json.write(&source[json.start..=json.end], &mut text)
                        .map(|written| Value::Text(written.bytes.to_vec()))
                }
                value => Ok(value.clone()),
            })
            .collect();
        if let Some(whole) = whole {
            assert_eq!((row.names, values), (whole.names.clone(), Ok(whole.values.clone())));
        } else {
            assert!(values.is_err());
        }
    }
}

/// The JSON at a path, parsed; `None` where nothing is there, or nothing that can be read.
fn extracted(source: &[u8], path: &str) -> Option<serde_json::Value> {
    let (path, mut text) = (JsonPath::parse(path).expect("a path"), Text::default());
    match extract(source, &path, Form::Json, MODE, &mut text).ok()?? {
        Extracted::Ascii(json) | Extracted::Text(json) => {
            Some(serde_json::from_str(&String::from_utf8_lossy(json)).expect("JSON text"))
        }
        value => panic!("{value:?} is no JSON text"),
    }
}

fn check_extracted(source: &[u8], names: &[Vec<u8>]) {
    let whole = extracted(source, "$");
    for name in names {
        let name = String::from_utf8_lossy(name);
        let path = format!("$.{}", serde_json::to_string(&name).expect("a string"));
        let value = extracted(source, &path);
        // Of a label that stands twice, the parser takes another than SQLite.
        let is_unique = names.iter().filter(|other| String::from_utf8_lossy(other) == name).count() == 1;
        if let Some(whole) = &whole
            && is_unique
        {
            assert_eq!(value.as_ref(), whole.get(&*name));
        }
    }
}
