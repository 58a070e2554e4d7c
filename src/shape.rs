//! Layouts of objects: the sequences of names and of marks that were seen.
//!
//! Documents of a collection mostly have the same names in the same order, and a sink can prepare for a sequence
//! that it has seen: a compiled object literal, a header. A [`Mark`] says what a name does not: where an object in the
//! object begins and ends, what is made of the values that follow.
//!
//! A new sequence becomes a [`Shape`] at once as long as there is credit, which documents of known shapes earn;
//! without credit, when it is seen for the second time. So documents with ever-new names soon cost no shapes. There
//! are at most [`MAX_SHAPES`], after which all are forgotten.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::chunk::{CHUNK, Chunk};
use crate::reader::{Piece, Reader};

/// Shapes kept at most.
pub const MAX_SHAPES: usize = 1024;
/// Names and marks of a shape at most; a sink's prepared ways need not work for more.
pub const MAX_TOKENS: usize = 400;
/// Bytes of a shape's names at most.
const MAX_NAME_BYTES: usize = 16 << 10;
/// Shapes that may take over from one. (32 sets of columns, mixed: 1 branch 689 ns, 16 612, 32 430, 64 422, 128 419)
const MAX_BRANCHES: usize = 64;
/// Sequences remembered as seen once.
const SEEN: usize = 1024;
/// Shapes that may be made at first sight, so that objects of few layouts are all made alike. It is not for speed: 32
/// sets of columns, mixed, take 580 ns with none and 579 with these.
pub const MAX_CREDIT: u32 = 128;
/// What a shape at first sight costs, in documents that were looked up and known. (ever-new column names: 1 9.9 µs, 8 9.4,
/// 32 9.8, which is noise)
const COST: u32 = 8;

/// Which shape: its place in [`Shapes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeId(pub u32);

/// The shape of the last document, and the generation of shapes it is of.
#[derive(Clone, Copy, Default)]
pub struct Guess(Option<(u32, ShapeId)>);

impl Guess {
    /// The shape, if it has not been forgotten.
    #[inline(always)]
    #[must_use]
    pub fn shape(self, shapes: &Shapes) -> Option<ShapeId> {
        self.0.and_then(|(generation, shape)| (generation == shapes.generation()).then_some(shape))
    }

    /// The shape of this document, for the next one.
    #[inline(always)]
    #[must_use]
    pub fn of(shape: ShapeId, shapes: &Shapes) -> Self {
        Self(Some((shapes.generation(), shape)))
    }
}

/// What stands between names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mark {
    /// The value of the name before is an object, whose names follow.
    Enter = 1,
    /// Such an object ends.
    Leave = 2,
    /// The value of the name before is an ObjectId, which passes beside the values.
    ObjectId = 3,
    /// The value of the name before is a timestamp of two values: seconds and increment.
    Timestamp = 4,
    /// The value of the name before is a view of the source between two values: start and end.
    View = 5,
    /// The value of the name before is a `Buffer` over the memory of one value, an array.
    Buffer = 6,
    /// The value of the name before, with marks of its own, is the identity.
    Identity = 7,
    /// The value of the name before is the identity that was marked before.
    SameIdentity = 8,
    /// The value of the name before is a binary of two values: its bytes as a string, and its subtype.
    Binary = 9,
    /// The value of the name before is JSON text that is not written yet, of two values.
    Unread = 10,
}

impl Mark {
    const ALL: [Self; 10] = [
        Self::Enter,
        Self::Leave,
        Self::ObjectId,
        Self::Timestamp,
        Self::View,
        Self::Buffer,
        Self::Identity,
        Self::SameIdentity,
        Self::Binary,
        Self::Unread,
    ];

    /// A mark as an entry of a sequence: no name begins with a zero byte.
    pub const fn entry(self) -> &'static [u8; 2] {
        const ENTRIES: [[u8; 2]; Mark::ALL.len()] = {
            let mut entries = [[0; 2]; Mark::ALL.len()];
            let mut index = 0;
            while index < entries.len() {
                entries[index][1] = Mark::ALL[index] as u8;
                index += 1;
            }
            entries
        };
        &ENTRIES[self as usize - 1]
    }
}

/// An entry of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'n> {
    /// A name.
    Name(&'n [u8]),
    /// What is made of values.
    Mark(Mark),
}

impl<'n> Token<'n> {
    /// Of an entry as [`Shape::entries`] gives it.
    pub fn from_entry(entry: &'n [u8]) -> Self {
        match entry {
            [0, number] => {
                let mark = Mark::ALL.into_iter().find(|&mark| mark as u8 == *number);
                mark.map_or(Self::Name(entry), Self::Mark)
            }
            name => Self::Name(name),
        }
    }
}

/// A name or mark of a shape.
struct Entry {
    /// Its first bytes and its zero byte, as far as they fit: what one load compares a source with.
    head: [u8; CHUNK],
    /// All of its bytes and the zero byte.
    bytes: Box<[u8]>,
    is_mark: bool,
}

impl Entry {
    fn new(bytes: &[u8]) -> Self {
        let bytes = [bytes, &[0]].concat().into_boxed_slice();
        let mut head = [0; CHUNK];
        let fitting = bytes.len().min(CHUNK);
        head[..fitting].copy_from_slice(&bytes[..fitting]);
        Self { head, is_mark: bytes[0] == 0 && bytes.len() > 1, bytes }
    }

    /// Without the zero byte.
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - 1]
    }
}

/// A sequence of names and marks.
pub struct Shape {
    entries: Vec<Entry>,
    /// Shapes that begin with the same entries, and the first one at which they differ.
    branches: Vec<(u32, ShapeId)>,
}

impl Shape {
    /// Of entries.
    pub fn new<'n>(entries: impl Iterator<Item = &'n [u8]>) -> Self {
        Self { entries: entries.map(Entry::new).collect(), branches: Vec::new() }
    }

    /// How many names and marks.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The names and marks.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = Token<'_>> {
        self.entries().map(Token::from_entry)
    }

    /// The same as bytes: a mark is a zero byte and its number.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        self.entries.iter().map(Entry::bytes)
    }

    /// Steps over the name at `index`, if it is what stands at `reader`.
    #[inline(always)]
    pub fn take_name<'a>(&self, index: usize, reader: &mut Reader<'a>) -> Option<Piece<'a>> {
        let entry = self.entries.get(index)?;
        let len = entry.bytes.len();
        if entry.is_mark {
            // Bytes like these are no name.
            return None;
        }
        if len <= CHUNK
            && let Some(here) = reader.peek_chunk()
        {
            if !here.equals_below(Chunk::load(&entry.head), len) {
                return None;
            }
            // Its zero byte equals, too, so the name ends there; within the document or not, `take_name` tells.
            return reader.take_name(len - 1).ok();
        }
        reader.take_name_if(&entry.bytes)
    }

    /// The shapes that differ from this one from an entry on.
    pub fn branches_at(&self, index: usize) -> impl Iterator<Item = ShapeId> {
        self.branches.iter().filter(move |(at, _)| *at as usize == index).map(|&(_, branch)| branch)
    }

    /// Whether this is the entry at `index`.
    #[inline(always)]
    pub fn has(&self, index: usize, entry: &[u8]) -> bool {
        self.entries.get(index).is_some_and(|known| known.bytes() == entry)
    }

    /// Whether this is the mark at `index`.
    #[inline(always)]
    pub fn has_mark(&self, index: usize, mark: Mark) -> bool {
        self.entries.get(index).is_some_and(|known| known.is_mark && known.head[1] == mark as u8)
    }
}

/// The hash of names is a hash already.
#[derive(Default)]
struct Unhashed(u64);

impl Hasher for Unhashed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("only hashes are hashed")
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// All shapes that were seen.
pub struct Shapes {
    shapes: Vec<Shape>,
    by_hash: HashMap<u64, Vec<ShapeId>, BuildHasherDefault<Unhashed>>,
    seen: Box<[u64; SEEN]>,
    /// Counts how often all shapes were forgotten.
    generation: u32,
    /// In looked-up documents, up to [`MAX_CREDIT`] times [`COST`].
    credit: u32,
}

impl Default for Shapes {
    fn default() -> Self {
        Self {
            shapes: Vec::new(),
            by_hash: HashMap::default(),
            seen: Box::new([0; SEEN]),
            generation: 0,
            credit: MAX_CREDIT * COST,
        }
    }
}

/// What is known of a sequence; of one without a shape, its hash.
pub enum Found {
    /// It is that of a shape.
    Shape(ShapeId),
    /// It was seen before.
    Again(u64),
    /// It was not, as far as that is remembered.
    New(u64),
    /// It is longer than a shape's.
    TooLarge,
}

impl Shapes {
    /// No shapes, and none at first sight before documents have earned it.
    #[must_use]
    pub fn without_credit() -> Self {
        Self { credit: 0, ..Self::default() }
    }

    /// A shape.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.0 as usize]
    }

    /// Changes when all shapes are forgotten: then no [`ShapeId`] from before is valid.
    #[must_use]
    pub const fn generation(&self) -> u32 {
        self.generation
    }

    fn forget(&mut self) {
        self.shapes.clear();
        self.by_hash.clear();
        self.generation += 1;
    }

    /// Adds the shape of a sequence that was looked up.
    pub fn add(&mut self, hash: u64, shape: Shape) -> ShapeId {
        if self.shapes.len() == MAX_SHAPES {
            self.forget();
        }
        let id = ShapeId(self.shapes.len() as u32);
        self.shapes.push(shape);
        self.by_hash.entry(hash).or_default().push(id);
        id
    }

    /// Shape `to` begins with the first entries of `from`, so many, and then differs.
    pub fn add_branch(&mut self, from: ShapeId, entries: usize, to: ShapeId) {
        let branches = &mut self.shapes[from.0 as usize].branches;
        if branches.len() == MAX_BRANCHES {
            branches.remove(0);
        }
        branches.push((entries as u32, to));
    }

    /// Remembers that a sequence was seen.
    pub fn remember(&mut self, hash: u64) {
        self.seen[hash as usize % SEEN] = hash;
    }

    /// Credit for a document that was looked up and known.
    pub fn earn(&mut self) {
        self.credit = (self.credit + 1).min(MAX_CREDIT * COST);
    }

    /// Takes the credit that a shape at first sight costs, if there is as much.
    pub fn spend(&mut self) -> bool {
        let left = self.credit.checked_sub(COST);
        self.credit = left.unwrap_or(self.credit);
        left.is_some()
    }

    /// How many shapes there are.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.shapes.len()
    }

    /// What is known of a sequence.
    pub fn look_up<'n>(&self, entries: impl Iterator<Item = &'n [u8]> + Clone) -> Found {
        let (mut hash, mut tokens, mut bytes) = (0, 0, 0);
        for entry in entries.clone() {
            tokens += 1;
            bytes += entry.len() + 1;
            if tokens > MAX_TOKENS || bytes > MAX_NAME_BYTES {
                return Found::TooLarge;
            }
            hash = hash_entry(hash, entry);
        }
        let same = |id: &&ShapeId| self.get(**id).entries().eq(entries.clone());
        if let Some(&id) = self.by_hash.get(&hash).and_then(|ids| ids.iter().find(same)) {
            return Found::Shape(id);
        }
        if self.seen[hash as usize % SEEN] == hash { Found::Again(hash) } else { Found::New(hash) }
    }
}

/// Multiplies and folds eight bytes at a time. A collision costs a comparison, and shapes are bounded.
fn hash_entry(mut hash: u64, entry: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut fold = |word: u64| {
        let product = u128::from(hash ^ word) * u128::from(FACTOR);
        hash = (product as u64) ^ (product >> 64) as u64;
    };
    let (words, rest) = entry.as_chunks::<8>();
    for word in words {
        fold(u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(u64::from_le_bytes(last));
    fold(entry.len() as u64);
    hash
}
