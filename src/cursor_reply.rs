//! The `cursor` document of an `aggregate`, `getMore` or `find` reply: its fields, and where its events or documents
//! stand.

use crate::deserialize::{ValueSink, write_value};
use crate::error::{Error, ErrorKind};
use crate::identity::find_id;
use crate::kind::Kind;
use crate::locate::path_to;
use crate::names::Names;
use crate::reader::Reader;
use crate::spec::{self, element_type};

/// The fields that hold the events or documents: the first reply's, and all others'.
const BATCHES: [&str; 2] = ["firstBatch\0", "nextBatch\0"];

/// The field that only replies of change streams have.
const RESUME_TOKEN: &[u8] = b"postBatchResumeToken";

/// An element of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its type; a document, if all is well.
    pub element_type: u8,
    /// Where the element begins in the source: its type.
    pub type_at: usize,
    /// Where its value begins in the source.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// Where an object stands in its source.
#[derive(Clone, Copy, Debug)]
pub enum Spot {
    /// It is all of it.
    Whole,
    /// It is an element of a reply's batch.
    InBatch {
        /// The element.
        item: Item,
        /// The field that the batch is in.
        name: &'static str,
    },
}

impl Spot {
    /// The bytes of the object, which is a document; `None` where the source has become too short.
    #[inline(always)]
    pub fn bytes<'s>(&self, source: &'s [u8]) -> Result<Option<&'s [u8]>, Error> {
        match *self {
            Self::Whole => Ok(Some(source)),
            Self::InBatch { item: Item { element_type: element_type::DOCUMENT, start, end, .. }, .. } => {
                Ok(source.get(start..end))
            }
            Self::InBatch { item, .. } => Err(ErrorKind::NotADocument(item.element_type).at(item.type_at)),
        }
    }

    /// Where in the source the object begins.
    #[inline(always)]
    #[must_use]
    pub const fn start(&self) -> usize {
        match self {
            Self::Whole => 0,
            Self::InBatch { item, .. } => item.start,
        }
    }

    /// The offset in the whole source and the path of an offset in the object, which is the `index`th. The path is found
    /// in the object alone: through the whole of a batch, it would take the square of the time.
    #[must_use]
    pub fn locate(&self, offset: usize, object: &[u8], index: usize) -> (usize, Vec<String>) {
        let path = path_to(object, offset);
        match *self {
            Self::Whole => (offset, path),
            Self::InBatch { item, name } => {
                let outer = [name.to_owned(), index.to_string()];
                if item.element_type == element_type::DOCUMENT {
                    (item.start + offset, outer.into_iter().chain(path).collect())
                } else {
                    // That offset is in the whole source already.
                    (offset, outer.into())
                }
            }
        }
    }
}

/// A document of the `_id` alone that an object has, as far as it can be read.
#[must_use]
pub fn id_document(object: &[u8], kind: Kind) -> Option<Vec<u8>> {
    let document = Reader::new(object).ok()?;
    let mut key = match kind {
        Kind::Change => find_document_key(document)?,
        Kind::Document => document,
    };
    find_id(&mut key).ok()?.to_document().ok()
}

/// What a reply's batch is.
#[derive(Debug, PartialEq, Eq)]
pub struct Batch {
    /// The field that it is in.
    pub name: &'static str,
    /// The events or documents, in order.
    pub items: Vec<Item>,
    /// Whether the cursor is a change stream's.
    pub is_change_stream: bool,
}

impl Batch {
    /// Where its objects stand from one on, in order.
    pub fn spots_from(&self, index: usize) -> impl Iterator<Item = Spot> + Clone {
        // A slice: to skip those before would take their time for each that something begins from.
        let items = self.items.get(index..).unwrap_or(&[]);
        items.iter().map(|&item| Spot::InBatch { item, name: self.name })
    }

    /// What its objects are: what is wanted, or else changes where the cursor is a change stream's.
    #[must_use]
    pub fn kind(&self, wanted: Option<Kind>) -> Kind {
        wanted.unwrap_or(if self.is_change_stream { Kind::Change } else { Kind::Document })
    }
}

/// Reads the fields of the reply that `reader` stands at the beginning of: the batch is returned, all others go to
/// `names` and `sink`. What is inside the batch's documents is not looked at.
pub fn read_reply<'a, S: ValueSink>(
    reader: &mut Reader<'a>,
    names: &mut Names<'a, '_>,
    sink: &mut S,
) -> Result<Batch, S::Error> {
    let start = reader.offset() - spec::LENGTH;
    let (mut items, mut is_change_stream) = (None, false);
    loop {
        let element_type = reader.read_type();
        if element_type == 0 {
            if !reader.is_at_end() {
                return Err(reader.error(ErrorKind::ColumnType(0)).into());
            }
            let (name, items) = items.ok_or(ErrorKind::NoBatch.at(start))?;
            return Ok(Batch { name, items, is_change_stream });
        }
        if element_type == element_type::ARRAY
            && let Some(name) =
                BATCHES.into_iter().find(|name| reader.take_name_if(name.as_bytes()).is_some())
        {
            items = Some((name.trim_end_matches('\0'), read_items(reader)?));
            continue;
        }
        is_change_stream |= names.read(reader)?.bytes() == RESUME_TOKEN;
        write_value(reader, element_type, names, sink)?;
    }
}

fn read_items(reader: &mut Reader<'_>) -> Result<Vec<Item>, Error> {
    let mut batch = reader.read_document()?;
    let mut items = Vec::new();
    loop {
        let type_at = batch.offset();
        let element_type = batch.read_type();
        if element_type == 0 {
            if !batch.is_at_end() {
                return Err(batch.error(ErrorKind::NestedType(0)));
            }
            return Ok(items);
        }
        batch.skip_name()?;
        let start = batch.offset();
        batch.skip_value(element_type).map_err(ErrorKind::nested)?;
        items.push(Item { element_type, type_at, start, end: batch.offset() });
    }
}

/// The document by which a change event names the document it is about, if it does.
#[must_use]
pub fn find_document_key<'a>(mut event: Reader<'a>) -> Option<Reader<'a>> {
    loop {
        let element_type = event.read_type();
        if element_type == 0 {
            return None;
        }
        if element_type == element_type::DOCUMENT && event.take_name_if(b"documentKey\0").is_some() {
            return event.read_document().ok();
        }
        event.read_name().ok()?;
        event.skip_value(element_type).ok()?;
    }
}

#[cfg(test)]
mod tests {
    use super::{Batch, Item, find_document_key, read_reply};
    use crate::deserialize::{Value, ValueSink};
    use crate::error::{Error, ErrorKind};
    use crate::names::Names;
    use crate::reader::Reader;
    use crate::shape::Shapes;
    use bson::doc;

    struct Count(usize);

    impl ValueSink for Count {
        type Error = Error;
        fn write_value(&mut self, _: Value<'_>) -> Result<(), Error> {
            self.0 += 1;
            Ok(())
        }
        fn takes_object_id(&self) -> bool {
            true
        }
    }

    fn read(bytes: &[u8]) -> Result<(Batch, usize), Error> {
        let mut values = Count(0);
        let shapes = Shapes::default();
        let mut names = Names::begin(&shapes, None);
        let batch = read_reply(&mut Reader::new(bytes)?, &mut names, &mut values)?;
        Ok((batch, values.0))
    }

    #[test]
    fn the_batch_is_places_and_the_rest_values() {
        let inner = doc! { "a": 1 };
        let reply = doc! {
            "nextBatch": [inner.clone(), 5, {}], "postBatchResumeToken": { "_data": "8" }, "id": 7_i64, "ns": "d.c",
        };
        let bytes = reply.to_vec().unwrap();
        let (batch, values) = read(&bytes).unwrap();
        assert!(batch.is_change_stream);
        assert_eq!(batch.name, "nextBatch");
        assert_eq!(values, 3);
        let [first, second, third] = batch.items[..] else { panic!("three items") };
        assert_eq!(bytes[first.start..first.end], inner.to_vec().unwrap());
        assert_eq!(
            second,
            Item {
                element_type: 0x10,
                type_at: second.start - 3,
                start: second.start,
                end: second.start + 4
            }
        );
        assert_eq!(third.end - third.start, 5);
    }

    #[test]
    fn replies_without_a_batch_or_cut_short() {
        let bytes = doc! { "id": 7_i64, "ns": "d.c" }.to_vec().unwrap();
        assert_eq!(read(&bytes), Err(ErrorKind::NoBatch.at(0)));
        let mut bytes = doc! { "firstBatch": [{ "a": 1 }] }.to_vec().unwrap();
        let (batch, _) = read(&bytes).unwrap();
        assert!(!batch.is_change_stream);
        let Item { start, .. } = batch.items[0];
        bytes[start] += 1;
        assert_eq!(read(&bytes), Err(ErrorKind::DocumentLength.at(start)));
    }

    #[test]
    fn the_key_of_an_event() {
        let event =
            doc! { "fullDocument": { "documentKey": 1 }, "documentKey": { "_id": 5 } }.to_vec().unwrap();
        let key = find_document_key(Reader::new(&event).unwrap()).unwrap();
        assert_eq!(key.end(), event.len() - 2);
        let event = doc! { "documentKey": 5 }.to_vec().unwrap();
        assert!(find_document_key(Reader::new(&event).unwrap()).is_none());
    }
}
