//! The top-level fields of a change event
//! (<https://www.mongodb.com/docs/manual/reference/change-events/>).

use crate::deserialize::{self, Value, ValueSink};
use crate::error::ErrorKind;
use crate::identity;
use crate::reader::Reader;
use crate::shape::{Mark, Names, Shapes};
use crate::spec::element_type;

/// The field that names a document as an `_id` does.
const DOCUMENT_KEY: &[u8] = b"documentKey";

/// Fields, besides that one, whose documents are small, wanted by everyone and so deserialised.
const DESERIALISED: [&[u8]; 5] = [b"_id", b"ns", b"to", b"lsid", b"splitEvent"];

/// Reads all fields of the event that `reader` stands at the beginning of: their names into `names`, their values
/// into `sink`. Documents that are not deserialised stay BSON.
pub fn read_event<'a, S: ValueSink>(
    reader: &mut Reader<'a>,
    shapes: &Shapes,
    names: &mut Names<'a>,
    sink: &mut S,
) -> Result<(), S::Error> {
    loop {
        let start = reader.offset();
        let element_type = reader.read_type();
        if element_type == 0 {
            return if reader.is_at_end() { Ok(()) } else { Err(ErrorKind::ColumnType(0).at(start).into()) };
        }
        let name = names.read(shapes, reader)?.bytes();
        match element_type {
            element_type::DOCUMENT if name == DOCUMENT_KEY => {
                identity::check_document(*reader)?;
                deserialize::write_value(reader, element_type, shapes, names, sink)?;
            }
            element_type::DOCUMENT if !DESERIALISED.contains(&name) => {
                let start = reader.offset();
                reader.read_document()?;
                names.mark(shapes, Mark::View);
                sink.write_value(Value::View { start, end: reader.offset() })?;
            }
            // A string of the event's own is read as a row's is: what is ill-formed is replaced.
            element_type::STRING => sink.write_value(Value::Text(reader.read_string()?.bytes()))?,
            element_type::ARRAY => deserialize::write_element(reader, element_type, true, sink)?,
            _ => deserialize::write_value(reader, element_type, shapes, names, sink)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read_event;
    use crate::deserialize::{Value, ValueSink};
    use crate::error::{Error, ErrorKind};
    use crate::reader::Reader;
    use crate::shape::{Names, Sequence, Shapes};
    use bson::{Bson, DateTime, Timestamp, doc, oid::ObjectId};

    #[derive(Default)]
    struct Debug(Vec<String>);

    impl ValueSink for Debug {
        type Error = Error;
        fn write_value(&mut self, value: Value<'_>) -> Result<(), Error> {
            self.0.push(match value {
                Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
                value => format!("{value:?}"),
            });
            Ok(())
        }
        fn takes_object_id(&self) -> bool {
            true
        }
    }

    fn read(bytes: &[u8]) -> Result<(String, String), Error> {
        let (mut shapes, mut names, mut values) = (Shapes::default(), Names::begin(None), Debug::default());
        read_event(&mut Reader::new(bytes)?, &shapes, &mut names, &mut values)?;
        let Sequence::Shape(shape) = names.end(&mut shapes) else { panic!("a short sequence has a shape") };
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
