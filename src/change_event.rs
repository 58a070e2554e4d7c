//! The top-level fields of a change event
//! (<https://www.mongodb.com/docs/manual/reference/change-events/>): as they are, or with their documents as rows.

use crate::deserialize::{self, Value, ValueSink};
use crate::error::ErrorKind;
use crate::identity::{self, IdElement};
use crate::names::Names;
use crate::reader::Reader;
use crate::row::{RowOptions, RowSink, read_row};
use crate::shape::Mark;
use crate::spec::element_type;
use crate::text::Text;
use crate::walk::read_type;

/// The field that names a document as an `_id` does.
const DOCUMENT_KEY: &[u8] = b"documentKey";

/// Fields, besides that one, whose documents are small, wanted by everyone and so deserialised.
const DESERIALISED: [&[u8]; 5] = [b"_id", b"ns", b"to", b"lsid", b"splitEvent"];

/// Reads all fields of the event that `reader` stands at the beginning of: their names into `names`, their values
/// into `sink`. Documents that are not deserialised stay BSON, as views of the event.
pub fn read_event<'a, S: ValueSink>(
    reader: &mut Reader<'a>,
    names: &mut Names<'a, '_>,
    sink: &mut S,
) -> Result<(), S::Error> {
    while let Some((element_type, _)) = read_type(reader, ErrorKind::ColumnType)? {
        let name = names.read(reader)?.bytes();
        match element_type {
            element_type::DOCUMENT if name == DOCUMENT_KEY => {
                identity::check_document(*reader)?;
                deserialize::write_value(reader, element_type, names, sink)?;
            }
            element_type::DOCUMENT if !DESERIALISED.contains(&name) => {
                let start = reader.offset();
                reader.read_document()?;
                names.mark(Mark::View);
                sink.write_value(Value::View { start, end: reader.offset() })?;
            }
            _ => write_field(reader, element_type, names, sink)?,
        }
    }
    Ok(())
}

/// A field that is no document, or one that is deserialised.
#[inline(always)]
fn write_field<'a, S: ValueSink>(
    reader: &mut Reader<'a>,
    element_type: u8,
    names: &mut Names<'a, '_>,
    sink: &mut S,
) -> Result<(), S::Error> {
    match element_type {
        // A string of the event's own is read as a row's is: what is ill-formed is replaced.
        element_type::STRING => sink.write_value(Value::Text(reader.read_string()?)),
        // And so is a text within its other values.
        element_type::ARRAY
        | element_type::SYMBOL
        | element_type::CODE
        | element_type::CODE_WITH_SCOPE
        | element_type::DB_POINTER => deserialize::write_element(reader, element_type, true, sink),
        _ => deserialize::write_value(reader, element_type, names, sink),
    }
}

/// What is made of an event's documents.
#[derive(Clone, Copy, Debug)]
pub struct ChangeOptions<'p> {
    /// How their rows are made.
    pub row: RowOptions<'p>,
    /// Whether `updateDescription` is wanted.
    pub update_description: bool,
}

/// Reads an event as [`read_event`] does, but for its documents: `fullDocument` becomes `row`,
/// `fullDocumentBeforeChange` becomes `rowBefore`, and those that stay BSON are copies. `row` is null where there is
/// no such document, and `replicaId` is the identity: that of `documentKey`, else that of the document itself.
pub fn read_change<'a, S>(
    reader: &mut Reader<'a>,
    options: ChangeOptions<'a>,
    names: &mut Names<'a, '_>,
    text: &mut Text,
    sink: &mut S,
) -> Result<(), <S as ValueSink>::Error>
where
    S: ValueSink + RowSink<Error = <S as ValueSink>::Error>,
{
    let (mut has_row, mut has_key) = (false, false);
    // The document of the row, and its `_id`.
    let (mut document_at, mut id) = (None, None::<IdElement<'a>>);
    while let Some((element_type, _)) = read_type(reader, ErrorKind::ColumnType)? {
        // Few names begin like those that are treated apart.
        match reader.peek() {
            b'f' if matches!(element_type, element_type::DOCUMENT | element_type::NULL) => {
                if let Some(name) = take_row_name(reader) {
                    names.add(name);
                    let start = reader.offset();
                    let mut found = None;
                    write_row(reader, element_type, options.row, names, text, sink, &mut found)?;
                    if name == ROW {
                        has_row = true;
                        document_at = (element_type == element_type::DOCUMENT).then_some(start);
                        id = found;
                    }
                    continue;
                }
            }
            b'u' if !options.update_description && reader.take_name_if(b"updateDescription\0").is_some() => {
                reader.skip_value(element_type)?;
                continue;
            }
            // A field of the event's own of such a name gives way to what is made here.
            b'r' if OWN_NAMES.iter().any(|name| reader.take_name_if(name).is_some()) => {
                reader.skip_value(element_type)?;
                continue;
            }
            _ => {}
        }
        let name = names.read(reader)?.bytes();
        match element_type {
            element_type::DOCUMENT if name == DOCUMENT_KEY => {
                identity::check_document(*reader)?;
                has_key = write_document_key(reader, names, sink)?;
            }
            element_type::DOCUMENT if !DESERIALISED.contains(&name) => {
                let start = reader.offset();
                reader.read_document()?;
                names.mark(Mark::Buffer);
                sink.write_value(Value::Document(&reader.source()[start..reader.offset()]))?;
            }
            _ => {
                has_key &= name != DOCUMENT_KEY;
                write_field(reader, element_type, names, sink)?;
            }
        }
    }
    if !has_row {
        names.add(ROW);
        sink.write_value(Value::Null)?;
    }
    names.add("replicaId");
    if has_key {
        names.mark(Mark::SameIdentity);
        Ok(())
    } else if let Some(id) = id {
        id.check()?;
        deserialize::write_value(&mut id.value(), id.element_type(), names, sink)
    } else if let Some(start) = document_at {
        Err(ErrorKind::NoId.at(start).into())
    } else {
        sink.write_value(Value::Undefined)
    }
}

const ROW: &str = "row";
/// The names of what is made of an event.
const OWN_NAMES: [&[u8]; 3] = [b"row\0", b"rowBefore\0", b"replicaId\0"];

/// Steps over the name of a document that becomes a row; the name that the row has.
#[inline(always)]
fn take_row_name(reader: &mut Reader<'_>) -> Option<&'static str> {
    if reader.take_name_if(b"fullDocument\0").is_some() {
        Some(ROW)
    } else {
        reader.take_name_if(b"fullDocumentBeforeChange\0").map(|_| "rowBefore")
    }
}

/// The row of a document that stands at `reader`, or null; and the document's `_id` into `id`.
#[inline(always)]
fn write_row<'a, S>(
    reader: &mut Reader<'a>,
    element_type: u8,
    options: RowOptions<'a>,
    names: &mut Names<'a, '_>,
    text: &mut Text,
    sink: &mut S,
    id: &mut Option<IdElement<'a>>,
) -> Result<(), <S as ValueSink>::Error>
where
    S: ValueSink + RowSink<Error = <S as ValueSink>::Error>,
{
    if element_type == element_type::NULL {
        return sink.write_value(Value::Null);
    }
    names.mark(Mark::Enter);
    read_row(&mut reader.read_document()?, options, names, text, sink, id)?;
    names.mark(Mark::Leave);
    Ok(())
}

/// The fields of `documentKey`, whose `_id` is marked as the identity; whether there is one.
#[inline(always)]
fn write_document_key<'a, S: ValueSink>(
    reader: &mut Reader<'a>,
    names: &mut Names<'a, '_>,
    sink: &mut S,
) -> Result<bool, S::Error> {
    let mut key = reader.read_document()?;
    let mut has_id = false;
    names.mark(Mark::Enter);
    while let Some((element_type, _)) = read_type(&mut key, ErrorKind::ColumnType)? {
        if names.read(&mut key)?.bytes() == b"_id" {
            has_id = true;
            names.mark(Mark::Identity);
        }
        deserialize::write_value(&mut key, element_type, names, sink)?;
    }
    names.mark(Mark::Leave);
    Ok(has_id)
}

#[cfg(test)]
mod tests {
    use super::read_event;
    use crate::deserialize::{Value, ValueSink};
    use crate::error::{Error, ErrorKind};
    use crate::names::{Names, Sequence};
    use crate::reader::Reader;
    use crate::shape::Shapes;
    use bson::{Bson, DateTime, Timestamp, doc, oid::ObjectId};

    #[derive(Default)]
    struct Debug(Vec<String>);

    impl ValueSink for Debug {
        type Error = Error;
        fn write_value(&mut self, value: Value<'_>) -> Result<(), Error> {
            self.0.push(match value {
                Value::Text(text) => String::from_utf8_lossy(text.bytes()).into_owned(),
                value => format!("{value:?}"),
            });
            Ok(())
        }
        fn takes_object_id(&self) -> bool {
            true
        }
    }

    fn read(bytes: &[u8]) -> Result<(String, String), Error> {
        let (mut shapes, mut values) = (Shapes::default(), Debug::default());
        let mut names = Names::begin(&shapes, None);
        read_event(&mut Reader::new(bytes)?, &mut names, &mut values)?;
        let names = names.end();
        let Sequence::Shape(shape) = names.find(&mut shapes) else { panic!("a short sequence has a shape") };
        let tokens = shapes.get(shape).tokens().map(|token| match token {
            crate::shape::Token::Name(name) => String::from_utf8_lossy(name).into_owned(),
            crate::shape::Token::Mark(mark) => format!("<{mark:?}>"),
        });
        Ok((tokens.collect::<Vec<_>>().join(" "), values.0.join(" ")))
    }

    #[test]
    fn fields_by_type_and_name() {
        let event = doc! {
            "_id": { "_data": "82" },
            "operationType": "insert",
            "clusterTime": Timestamp { time: 7, increment: 2 },
            "wallTime": DateTime::from_millis(5),
            "fullDocument": { "x": 1 },
            "ns": { "db": "d", "coll": "c" },
            "documentKey": { "shard": { "a": true }, "_id": ObjectId::from_bytes([1; 12]) },
            "n": [1.5],
            "txnNumber": 9_i64,
            "none": Bson::Null,
        };
        let bytes = event.to_vec().unwrap();
        assert_eq!(bytes[107..119], doc! { "x": 1 }.to_vec().unwrap());
        let (tokens, values) = read(&bytes).unwrap();
        assert_eq!(
            tokens,
            "_id <Enter> _data <Leave> operationType clusterTime <Timestamp> wallTime fullDocument <View> \
             ns <Enter> db coll <Leave> documentKey <Enter> shard <Enter> a <Leave> _id <ObjectId> <Leave> n \
             txnNumber none"
        );
        assert_eq!(
            values,
            "82 insert Timestamp(30064771074) Date(5) View { start: 107, end: 119 } d c Boolean(true) \
             ObjectId([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]) Element { element_type: 4, bytes: [16, 0, 0, 0, 1, 48, \
             0, 0, 0, 0, 0, 0, 0, 248, 63, 0], offset: 204, raw: true } Int64(9) Null"
        );
    }

    #[test]
    fn references_are_the_deserialisers() {
        let event = doc! { "_id": { "$ref": "c", "$id": 1 } };
        let (tokens, values) = read(&event.to_vec().unwrap()).unwrap();
        assert_eq!(tokens, "_id");
        assert!(values.starts_with("Element { element_type: 3,"), "{values}");
    }

    #[test]
    fn a_document_key_is_an_identity() {
        let mut bytes = doc! { "documentKey": { "_id": "abc" } }.to_vec().unwrap();
        let accent = bytes.iter().position(|&byte| byte == b'b').unwrap();
        bytes[accent] = 0xe9;
        let error = read(&bytes).unwrap_err();
        assert_eq!((error.kind, error.offset), (ErrorKind::IdUtf8, accent - 5));
    }
}
