//! The columns that a caller wants of each document: some of its elements by their names, or elements anywhere in it
//! by their paths.
//!
//! What is not wanted is stepped over by its length, and what is inside it is not looked at. A name is found before it
//! is compared, and compared first with the one that is next in the list: documents mostly have their names in the
//! order in which a caller knows them. Paths are a trie, compiled once; of each document on the way to a wanted element
//! the elements are walked through once, whatever the number of paths.

use crate::chunk::{CHUNK, Chunk};
use crate::error::{ErrorKind, Result};
use crate::identity::IdElement;
use crate::reader::{Piece, Reader};
use crate::spec::element_type;
use crate::utf8;
use crate::walk::{read_type, skip};

/// What is wanted of a document.
#[derive(Debug)]
pub enum Projection {
    /// Elements of these names, as the document has them.
    Names(NameSet),
    /// An element for each path, whether the document has it or not.
    Paths(PathSet),
}

impl Projection {
    /// The columns of these names, no two the same.
    #[must_use]
    pub fn of_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut set = NameSet::default();
        for name in names {
            set.insert(name.as_bytes());
        }
        Self::Names(set)
    }

    /// Columns and their paths: names and array positions from the outermost on, separated by dots.
    #[must_use]
    pub fn of_paths<'n>(columns: impl IntoIterator<Item = (&'n str, &'n str)>) -> Self {
        let mut set = PathSet { nodes: vec![Node::default()], columns: Vec::new() };
        columns.into_iter().for_each(|(column, path)| set.insert(column, path));
        Self::Paths(set)
    }
}

/// Lists no longer than this are searched one by one.
const FEW: usize = 8;

/// Names to be found again.
#[derive(Debug, Default)]
pub struct NameSet {
    names: Vec<Name>,
    /// Their indexes, in the order of [`Name::key`].
    sorted: Vec<u32>,
    /// Whether one has the replacement character, which ill-formed names are read with.
    has_replacement: bool,
}

#[derive(Debug)]
struct Name {
    /// The first bytes, as far as they fit: what one load compares a source with.
    head: [u8; CHUNK],
    bytes: Box<[u8]>,
}

impl Name {
    fn new(bytes: &[u8]) -> Self {
        let mut head = [0; CHUNK];
        let fitting = bytes.len().min(CHUNK);
        head[..fitting].copy_from_slice(&bytes[..fitting]);
        Self { head, bytes: bytes.into() }
    }

    #[inline(always)]
    fn is(&self, name: Piece<'_>) -> bool {
        let len = self.bytes.len();
        if name.len() != len {
            return false;
        }
        match name.first_chunk() {
            Some(chunk) if len <= CHUNK => chunk.equals_below(Chunk::load(&self.head), len),
            _ => name.bytes() == &*self.bytes,
        }
    }

    /// Lengths are compared before bytes: most names differ in that.
    fn key(&self) -> (usize, &[u8]) {
        (self.bytes.len(), &self.bytes)
    }
}

impl NameSet {
    /// The index of a name, which becomes the last one where it is new.
    fn insert(&mut self, bytes: &[u8]) -> usize {
        let name = Name::new(bytes);
        match self.sorted.binary_search_by(|&index| self.names[index as usize].key().cmp(&name.key())) {
            Ok(at) => self.sorted[at] as usize,
            Err(at) => {
                self.has_replacement |= String::from_utf8_lossy(bytes).contains(char::REPLACEMENT_CHARACTER);
                self.sorted.insert(at, self.names.len() as u32);
                self.names.push(name);
                self.names.len() - 1
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The index of a name, which is probably `next`.
    #[inline(always)]
    #[must_use]
    pub fn find(&self, name: Piece<'_>, next: usize) -> Option<usize> {
        if self.names.get(next).is_some_and(|expected| expected.is(name)) {
            return Some(next);
        }
        if self.names.len() <= FEW && !self.has_replacement {
            return self.names.iter().position(|known| known.is(name));
        }
        self.search(name.bytes())
    }

    #[inline(never)]
    fn search(&self, name: &[u8]) -> Option<usize> {
        let key = (name.len(), name);
        let found = self.sorted.binary_search_by(|&index| self.names[index as usize].key().cmp(&key));
        match found {
            Ok(at) => Some(self.sorted[at] as usize),
            Err(_) if self.has_replacement && !utf8::is_valid(name) => {
                self.search(String::from_utf8_lossy(name).as_bytes())
            }
            Err(_) => None,
        }
    }
}

/// Columns and where in a document they are found.
#[derive(Debug)]
pub struct PathSet {
    /// Parents stand before their children; the first is the document itself.
    nodes: Vec<Node>,
    columns: Vec<(Box<str>, usize)>,
}

/// A document or array on the way to what is wanted, or what is wanted itself.
#[derive(Debug, Default)]
struct Node {
    names: NameSet,
    /// The node of each name.
    children: Vec<usize>,
    /// Names that are array positions, and their nodes; in order.
    positions: Vec<(u32, usize)>,
}

/// An element that was found.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// Its type.
    pub element_type: u8,
    /// Where its type stands.
    pub start: usize,
    /// Stands at its value.
    pub value: Reader<'a>,
}

/// A column's name, and its element where the document has one.
pub type FoundColumn<'s, 'a> = (&'s str, Option<Found<'a>>);

impl PathSet {
    fn insert(&mut self, column: &str, path: &str) {
        let mut node = 0;
        for segment in path.split('.') {
            let new = self.nodes.len();
            let Node { names, children, positions } = &mut self.nodes[node];
            let index = names.insert(segment.as_bytes());
            if index == children.len() {
                children.push(new);
                if let Some(position) = position_of(segment) {
                    let at = positions.partition_point(|&(other, _)| other < position);
                    positions.insert(at, (position, new));
                }
                node = new;
                self.nodes.push(Node::default());
            } else {
                node = children[index];
            }
        }
        self.columns.push((column.into(), node));
    }

    /// The element of each column, in the columns' order, and the first `_id` of the document that `reader` stands at
    /// the beginning of.
    ///
    /// Of elements of one name in one document the last one counts: as in a row, and as for whoever parses its JSON.
    #[expect(clippy::type_complexity)]
    pub fn find<'s, 'a>(
        &'s self,
        reader: &mut Reader<'a>,
    ) -> Result<(impl Iterator<Item = (&'s str, Option<Found<'a>>)> + use<'s, 'a>, Option<IdElement<'a>>)>
    {
        let mut found = vec![None; self.nodes.len()];
        let mut id = None;
        let [document, inner @ ..] = &*self.nodes else { unreachable!("the document is a node") };
        document.find_names(reader, ErrorKind::ColumnType, &mut found, |element| {
            if id.is_none() {
                id = Some(element);
            }
        })?;
        for (index, node) in (1..).zip(inner) {
            if node.names.is_empty() {
                continue;
            }
            match found[index] {
                Some(Found { element_type: element_type::DOCUMENT, mut value, .. }) => {
                    node.find_names(&mut value.read_document()?, ErrorKind::NestedType, &mut found, drop)?;
                }
                Some(Found { element_type: element_type::ARRAY, mut value, .. }) => {
                    node.find_positions(&mut value.read_document()?, &mut found)?;
                }
                _ => {}
            }
        }
        Ok((self.columns.iter().map(move |(column, node)| (&**column, found[*node])), id))
    }
}

impl Node {
    /// Looks for the children of this node among the elements of a document.
    fn find_names<'a>(
        &self,
        reader: &mut Reader<'a>,
        unknown: fn(u8) -> ErrorKind,
        found: &mut [Option<Found<'a>>],
        mut take_id: impl FnMut(IdElement<'a>),
    ) -> Result<()> {
        let mut next = 0;
        while let Some((element_type, start)) = read_type(reader, unknown)? {
            let name = reader.read_name()?;
            if name.bytes() == b"_id" {
                take_id(IdElement::new(element_type, *reader));
            }
            if let Some(index) = self.names.find(name, next) {
                next = index + 1;
                found[self.children[index]] = Some(Found { element_type, start, value: *reader });
            }
            skip(reader, element_type, start, unknown)?;
        }
        Ok(())
    }

    /// The same in an array, as far as something is wanted of it. Its keys say nothing: the order is that of the bytes.
    fn find_positions<'a>(&self, reader: &mut Reader<'a>, found: &mut [Option<Found<'a>>]) -> Result<()> {
        let mut wanted = self.positions.iter().copied().peekable();
        for position in 0.. {
            let Some(&(next, child)) = wanted.peek() else { break };
            let Some((element_type, start)) = read_type(reader, ErrorKind::NestedType)? else { break };
            reader.skip_name()?;
            if position == next {
                found[child] = Some(Found { element_type, start, value: *reader });
                wanted.next();
            }
            skip(reader, element_type, start, ErrorKind::NestedType)?;
        }
        Ok(())
    }
}

/// A position of an array, where a segment is one as such positions are written.
fn position_of(segment: &str) -> Option<u32> {
    let is_written_so = segment == "0"
        || !segment.starts_with('0')
            && !segment.is_empty()
            && segment.bytes().all(|byte| byte.is_ascii_digit());
    if is_written_so { segment.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::{Projection, position_of};
    use crate::error::{Error, ErrorKind};
    use crate::reader::Reader;
    use bson::{Bson, doc, oid::ObjectId};

    /// An element: type, and bytes of the value.
    type Value<'a> = Option<(u8, &'a [u8])>;

    /// The paths' elements.
    fn find<'a>(paths: &[(&str, &str)], bytes: &'a [u8]) -> Result<Vec<Value<'a>>, Error> {
        let Projection::Paths(set) = Projection::of_paths(paths.iter().copied()) else { unreachable!() };
        let (columns, _) = set.find(&mut Reader::new(bytes)?)?;
        let columns = columns.zip(paths).map(|((name, found), (column, _))| {
            assert_eq!(name, *column);
            found.map(|found| {
                let mut value = found.value;
                let start = value.offset();
                assert_eq!(bytes[found.start], found.element_type);
                value.skip_value(found.element_type).unwrap();
                (found.element_type, &bytes[start..value.offset()])
            })
        });
        Ok(columns.collect())
    }

    fn int32(number: i32) -> Option<(u8, [u8; 4])> {
        Some((0x10, number.to_le_bytes()))
    }

    #[track_caller]
    fn expect(path: &str, bytes: &[u8], expected: Option<(u8, [u8; 4])>) {
        let found = find(&[("c", path)], bytes).unwrap()[0];
        assert_eq!(
            found,
            expected.as_ref().map(|(element_type, bytes)| (*element_type, &bytes[..])),
            "{path}"
        );
    }

    #[test]
    fn a_path_goes_through_documents_by_name_and_through_arrays_by_position() {
        let bytes = doc! {
            "a": 1, "b": { "c": 2, "d": { "e": 3 }, "0": 4 }, "f": [5, [6, 7], { "g": 8 }], "": { "": 9 }, "0": 10,
            "s": "text", "n": Bson::Null,
        }
        .to_vec()
        .unwrap();
        for (path, number) in [
            ("a", 1),
            ("b.c", 2),
            ("b.d.e", 3),
            ("b.0", 4),
            ("f.0", 5),
            ("f.1.0", 6),
            ("f.1.1", 7),
            ("f.2.g", 8),
            (".", 9),
            ("0", 10),
        ] {
            expect(path, &bytes, int32(number));
        }
        for path in [
            "z", "a.b", "b.z", "b.d.e.f", "f.3", "f.01", "f.-1", "f.g", "f.1.2", "s.0", "n.a", "b.c.0", "A",
            "f.",
        ] {
            expect(path, &bytes, None);
        }
    }

    #[test]
    fn many_paths_are_found_together_in_the_order_given() {
        let bytes = doc! { "a": { "b": 1, "c": [2, 3] }, "d": 4 }.to_vec().unwrap();
        let paths = [
            ("p", "d"),
            ("q", "a.c.1"),
            ("r", "a.b"),
            ("s", "a.c.0"),
            ("t", "a.z"),
            ("u", "d"),
            ("v", "a.c"),
        ];
        let found = find(&paths, &bytes).unwrap();
        let numbers = [int32(4), int32(3), int32(1), int32(2), None, int32(4)];
        for (found, expected) in found.iter().zip(&numbers) {
            assert_eq!(*found, expected.as_ref().map(|(element_type, bytes)| (*element_type, &bytes[..])));
        }
        assert_eq!(found[6].unwrap().0, 0x04);
    }

    #[test]
    fn an_arrays_keys_are_ignored() {
        let mut bytes = doc! { "a": [1, 2, 3] }.to_vec().unwrap();
        for key in [b'0', b'1', b'2'] {
            let at = bytes.windows(2).position(|window| window == [key, 0]).unwrap();
            bytes[at] = b'1';
        }
        expect("a.0", &bytes, int32(1));
        expect("a.2", &bytes, int32(3));
    }

    #[test]
    fn of_elements_of_one_name_the_last_one_counts() {
        let mut bytes = doc! { "a": { "x": 1, "y": 2 }, "b": { "z": 3 }, "c": 4 }.to_vec().unwrap();
        let second = bytes.windows(2).position(|window| window == *b"b\0").unwrap();
        let inner = bytes.windows(2).position(|window| window == *b"y\0").unwrap();
        bytes[inner] = b'x';
        expect("a.x", &bytes, int32(2));
        bytes[second] = b'a';
        expect("a.x", &bytes, None);
        expect("a.z", &bytes, int32(3));
        let third = bytes.windows(2).position(|window| window == *b"c\0").unwrap();
        bytes[third] = b'a';
        expect("a.z", &bytes, None);
        expect("a", &bytes, int32(4));
    }

    #[test]
    fn the_identity_is_the_first_one_whether_wanted_or_not() {
        let id = ObjectId::from_bytes(*b"twelve bytes");
        let mut bytes = doc! { "a": { "_id": 1 }, "_id": id, "_ix": 2 }.to_vec().unwrap();
        let second = bytes.windows(4).position(|window| window == *b"_ix\0").unwrap();
        bytes[second + 2] = b'd';
        for path in ["a", "a._id", "_id"] {
            let Projection::Paths(set) = Projection::of_paths([("c", path)]) else { unreachable!() };
            let (_, found) = set.find(&mut Reader::new(&bytes).unwrap()).unwrap();
            assert_eq!(found.unwrap().element_type(), 0x07);
        }
    }

    #[test]
    fn what_is_not_wanted_is_stepped_over_by_its_length() {
        let good = doc! { "a": { "b": "text", "c": { "d": 1 } }, "e": [1, 2], "f": 3 }.to_vec().unwrap();
        let at = |needle: &[u8]| good.windows(needle.len()).position(|window| window == needle).unwrap();
        let mut bytes = good.clone();
        bytes[at(b"d\0") - 1] = 0x99;
        expect("f", &bytes, int32(3));
        expect("e.1", &bytes, int32(2));
        assert_eq!(find(&[("c", "a.z")], &bytes), Ok(vec![None]));
        let unknown = Error { kind: ErrorKind::NestedType(0x99), offset: at(b"d\0") - 1 };
        assert_eq!(find(&[("c", "a.c.z")], &bytes), Err(unknown));
        bytes[at(b"f\0") - 1] = 0x98;
        let unknown = Error { kind: ErrorKind::ColumnType(0x98), offset: at(b"f\0") - 1 };
        assert_eq!(find(&[("c", "a")], &bytes), Err(unknown));
        // An array is walked through no further than to the last position that is wanted.
        let mut bytes = good.clone();
        bytes[at(b"1\0\x02") - 1] = 0x99;
        expect("e.0", &bytes, int32(1));
        let unknown = Error { kind: ErrorKind::NestedType(0x99), offset: at(b"1\0\x02") - 1 };
        assert_eq!(find(&[("c", "e.1")], &bytes), Err(unknown));
        // Lengths are looked at wherever they stand.
        let mut bytes = good;
        let length_at = bytes.windows(2).position(|window| window == *b"b\0").unwrap() + 2;
        bytes[length_at] = 0xff;
        let length = Error { kind: ErrorKind::StringLength, offset: length_at };
        assert_eq!(find(&[("c", "a.z")], &bytes), Err(length));
    }

    #[test]
    fn names_are_found_in_lists_of_any_length_and_order() {
        let counts = if cfg!(miri) { &[2, 9, 20][..] } else { &[1, 2, 8, 9, 60, 100] };
        let names: Vec<String> = (0..counts[counts.len() - 1])
            .map(|number| format!("{}{number}", "name ".repeat(number % 5)))
            .collect();
        let document: bson::Document = names.iter().map(|name| (name.clone(), Bson::Int32(1))).collect();
        let bytes = document.to_vec().unwrap();
        for &count in counts {
            let wanted: Vec<&str> = names.iter().rev().take(count).map(String::as_str).collect();
            let Projection::Names(set) = Projection::of_names(wanted.iter().copied()) else { unreachable!() };
            let mut reader = Reader::new(&bytes).unwrap();
            for (index, name) in names.iter().enumerate() {
                reader.read_type();
                let piece = reader.read_name().unwrap();
                reader.skip_value(0x10).unwrap();
                for next in [0, 1, count - 1, count, usize::MAX] {
                    let expected = (index >= names.len() - count).then(|| names.len() - 1 - index);
                    assert_eq!(set.find(piece, next), expected, "{name} of {count}");
                }
            }
        }
    }

    #[test]
    fn an_ill_formed_name_is_what_it_is_read_as() {
        let mut bytes = doc! { "a\u{e9}b": 1, "c": 2 }.to_vec().unwrap();
        bytes[6..8].copy_from_slice(b"\xffx");
        expect("a\u{fffd}xb", &bytes, int32(1));
        expect("a\u{e9}b", &bytes, None);
        expect("c", &bytes, int32(2));
    }

    #[test]
    fn positions_are_written_without_zeros_in_front() {
        for (segment, position) in [
            ("0", Some(0)),
            ("7", Some(7)),
            ("10", Some(10)),
            ("4294967295", Some(u32::MAX)),
            ("4294967296", None),
            ("00", None),
            ("01", None),
            ("-1", None),
            ("+1", None),
            ("1a", None),
            ("", None),
            ("٣", None),
        ] {
            assert_eq!(position_of(segment), position, "{segment}");
        }
    }
}
