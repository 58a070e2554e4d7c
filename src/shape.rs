//! Layouts of objects: sequences of names and of marks, and the guess that a document has those of the last one.
//!
//! Documents of a collection mostly have the same names in the same order, and a sink can prepare for a sequence
//! that it has seen: a compiled object literal, a header. So names are compared with the expected ones, which is
//! one load each, instead of being found and hashed (row_of_names_guessed and row_of_names_looked_up: 1 KB 160 and
//! 332 ns, 100 columns 289 and 1,566). Where the guess fails, the shapes that once took over at
//! that very place are tried; where those fail too, the sequence is looked up whole. A [`Mark`] says what a name
//! does not: where an object in the object begins and ends, what is made of the values that follow.
//!
//! A new sequence becomes a [`Shape`] at once as long as there is credit, which documents of known shapes earn;
//! without credit, when it is seen for the second time. So documents with ever-new names soon cost no shapes. There
//! are at most [`MAX_SHAPES`], after which all are forgotten.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::chunk::{CHUNK, Chunk};
use crate::error::Result;
use crate::reader::{Piece, Reader};

/// Shapes kept at most.
pub const MAX_SHAPES: usize = 1024;
/// Names and marks of a shape at most; a sink's prepared ways need not work for more.
pub const MAX_TOKENS: usize = 400;
/// Bytes of a shape's names at most.
const MAX_NAME_BYTES: usize = 16 << 10;
/// Shapes that may take over from one.
const MAX_BRANCHES: usize = 16;
/// Sequences remembered as seen once.
const SEEN: usize = 1024;
/// Shapes that may be made at first sight.
const MAX_CREDIT: u32 = 128;
/// What a shape at first sight costs, in documents that were looked up and known.
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
    const fn entry(self) -> &'static [u8; 2] {
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
    fn from_entry(entry: &'n [u8]) -> Self {
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
    fn new<'n>(entries: impl Iterator<Item = &'n [u8]>) -> Self {
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

    /// As [`ReadNames::of`] takes them.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.entries.iter().map(Entry::bytes)
    }

    /// Steps over the name at `index`, if it is what stands at `reader`.
    #[inline(always)]
    fn take_name<'a>(&self, index: usize, reader: &mut Reader<'a>) -> Option<Piece<'a>> {
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
    fn branches_at(&self, index: usize) -> impl Iterator<Item = ShapeId> {
        self.branches.iter().filter(move |(at, _)| *at as usize == index).map(|&(_, branch)| branch)
    }

    /// Whether this is the entry at `index`.
    #[inline(always)]
    fn has(&self, index: usize, entry: &[u8]) -> bool {
        self.entries.get(index).is_some_and(|known| known.bytes() == entry)
    }

    /// Whether this is the mark at `index`.
    #[inline(always)]
    fn has_mark(&self, index: usize, mark: Mark) -> bool {
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

/// The sequence of the document that is being read, as far as it has been.
pub struct Names<'a, 's> {
    shapes: &'s Shapes,
    /// The shape that all entries are those of, so far; none once an entry was of no shape.
    current: Option<&'s Shape>,
    read: ReadNames<'a>,
}

/// The same without the shapes, which can change at the end.
#[derive(Default)]
pub struct ReadNames<'a> {
    /// The shape that the first `matched` entries are those of.
    guess: Option<ShapeId>,
    matched: usize,
    /// The entries behind those.
    rest: Vec<Piece<'a>>,
}

/// What a document's sequence turned out to be.
pub enum Sequence<'n, 'a> {
    /// That of a shape.
    Shape(ShapeId),
    /// A new one: some entries of a shape's, and then others.
    New(NewSequence<'n, 'a>),
}

/// A sequence without a shape.
#[derive(Clone, Copy)]
pub struct NewSequence<'n, 'a> {
    known: Option<(&'n Shape, usize)>,
    rest: &'n [Piece<'a>],
}

impl<'n, 'a> NewSequence<'n, 'a>
where
    'a: 'n,
{
    /// The names and marks.
    pub fn tokens(self) -> impl Iterator<Item = Token<'n>> {
        self.entries().map(Token::from_entry)
    }

    /// As [`ReadNames::of`] takes them.
    pub fn entries(self) -> impl Iterator<Item = &'n [u8]> {
        let known = self.known.into_iter().flat_map(|(shape, matched)| shape.entries().take(matched));
        known.chain(self.rest.iter().map(|entry| entry.bytes()))
    }

    /// How many.
    #[must_use]
    pub fn len(self) -> usize {
        self.known.map_or(0, |(_, matched)| matched) + self.rest.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl<'a, 's> Names<'a, 's> {
    /// Begins a document, guessing that it has the names of `guess`.
    #[inline(always)]
    #[must_use]
    pub fn begin(shapes: &'s Shapes, guess: Option<ShapeId>) -> Self {
        let read = ReadNames { guess, matched: 0, rest: Vec::new() };
        Self { shapes, current: guess.map(|guess| shapes.get(guess)), read }
    }

    /// The next name, and the step over it.
    #[inline(always)]
    pub fn read(&mut self, reader: &mut Reader<'a>) -> Result<Piece<'a>> {
        if let Some(shape) = self.current
            && let Some(name) = shape.take_name(self.read.matched, reader)
        {
            self.read.matched += 1;
            return Ok(name);
        }
        self.read_other(reader)
    }

    /// The next entry is a mark.
    #[inline(always)]
    pub fn mark(&mut self, mark: Mark) {
        if self.current.is_some_and(|shape| shape.has_mark(self.read.matched, mark)) {
            self.read.matched += 1;
        } else {
            self.add_other(mark.entry());
        }
    }

    /// The next entry is a name that is not the source's.
    #[inline(always)]
    pub fn add(&mut self, name: &'a str) {
        if self.current.is_some_and(|shape| shape.has(self.read.matched, name.as_bytes())) {
            self.read.matched += 1;
        } else {
            self.add_other(name.as_bytes());
        }
    }

    /// Ends the document.
    #[inline(always)]
    #[must_use]
    pub fn end(self) -> ReadNames<'a> {
        self.read
    }

    #[inline(never)]
    fn add_other(&mut self, entry: &'a [u8]) {
        let at = self.read.matched;
        if self.branch_off(|shape| shape.has(at, entry).then_some(())).is_none() {
            self.read.rest.push(Piece::whole(entry));
        }
    }

    #[inline(never)]
    fn read_other(&mut self, reader: &mut Reader<'a>) -> Result<Piece<'a>> {
        let at = self.read.matched;
        if let Some(name) = self.branch_off(|shape| shape.take_name(at, reader)) {
            return Ok(name);
        }
        let name = reader.read_name()?;
        self.read.rest.push(name);
        Ok(name)
    }

    /// Goes over to a shape that differs from the guess from here on, and has what is here.
    fn branch_off<T>(&mut self, mut has: impl FnMut(&Shape) -> Option<T>) -> Option<T> {
        for branch in self.current.take()?.branches_at(self.read.matched) {
            let shape = self.shapes.get(branch);
            if let Some(found) = has(shape) {
                self.current = Some(shape);
                self.read.guess = Some(branch);
                self.read.matched += 1;
                return Some(found);
            }
        }
        None
    }
}

impl<'a> ReadNames<'a> {
    /// The names and marks of a sequence that was read elsewhere.
    #[must_use]
    pub fn of(entries: &'a [Box<[u8]>]) -> Self {
        Self { guess: None, matched: 0, rest: entries.iter().map(|entry| Piece::whole(entry)).collect() }
    }

    /// The shape of the sequence, whether or not it is worth one. A longer sequence than a shape can be is none's.
    #[must_use]
    pub fn shape(&self, shapes: &mut Shapes) -> ShapeId {
        match shapes.look_up(self.sequence(shapes)) {
            Found::Shape(id) => id,
            Found::Again(hash) | Found::New(hash) => self.make(hash, shapes),
            Found::TooLarge => self.make(0, shapes),
        }
    }

    fn sequence<'n>(&'n self, shapes: &'n Shapes) -> NewSequence<'n, 'a> {
        NewSequence { known: self.guess.map(|guess| (shapes.get(guess), self.matched)), rest: &self.rest }
    }

    /// Finds the shape of the sequence, or makes it one.
    #[inline(always)]
    pub fn find<'n>(&'n self, shapes: &'n mut Shapes) -> Sequence<'n, 'a> {
        if self.rest.is_empty()
            && let Some(guess) = self.guess
            && shapes.get(guess).len() == self.matched
        {
            return Sequence::Shape(guess);
        }
        self.look_up(shapes)
    }

    #[inline(never)]
    fn look_up<'n>(&'n self, shapes: &'n mut Shapes) -> Sequence<'n, 'a> {
        if self.rest.is_empty()
            && let Some(guess) = self.guess
        {
            // A document that ends early.
            for branch in shapes.get(guess).branches_at(self.matched) {
                if shapes.get(branch).len() == self.matched {
                    return Sequence::Shape(branch);
                }
            }
        }
        match shapes.look_up(self.sequence(shapes)) {
            Found::Shape(id) => {
                shapes.credit = (shapes.credit + 1).min(MAX_CREDIT * COST);
                if let Some(guess) = self.guess {
                    shapes.add_branch(guess, self.matched, id);
                }
                Sequence::Shape(id)
            }
            Found::Again(hash) => Sequence::Shape(self.make(hash, shapes)),
            Found::New(hash) if shapes.credit >= COST => {
                shapes.credit -= COST;
                Sequence::Shape(self.make(hash, shapes))
            }
            Found::New(hash) => {
                shapes.seen[hash as usize % SEEN] = hash;
                Sequence::New(self.sequence(shapes))
            }
            Found::TooLarge => Sequence::New(self.sequence(shapes)),
        }
    }

    fn make(&self, hash: u64, shapes: &mut Shapes) -> ShapeId {
        let shape = Shape::new(self.sequence(shapes).entries());
        let full = shapes.shapes.len() == MAX_SHAPES;
        if full {
            shapes.forget();
        }
        let id = ShapeId(shapes.shapes.len() as u32);
        shapes.shapes.push(shape);
        shapes.by_hash.entry(hash).or_default().push(id);
        if !full && let Some(guess) = self.guess {
            shapes.add_branch(guess, self.matched, id);
        }
        id
    }
}

enum Found {
    Shape(ShapeId),
    /// No shape, but seen before.
    Again(u64),
    New(u64),
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

    fn add_branch(&mut self, from: ShapeId, column: usize, to: ShapeId) {
        let branches = &mut self.shapes[from.0 as usize].branches;
        if branches.len() == MAX_BRANCHES {
            branches.remove(0);
        }
        branches.push((column as u32, to));
    }

    fn look_up(&self, sequence: NewSequence<'_, '_>) -> Found {
        if sequence.len() > MAX_TOKENS {
            return Found::TooLarge;
        }
        let (mut hash, mut bytes) = (sequence.len() as u64, 0);
        for entry in sequence.entries() {
            bytes += entry.len() + 1;
            hash = hash_entry(hash, entry);
        }
        if bytes > MAX_NAME_BYTES {
            return Found::TooLarge;
        }
        let same = |id: &&ShapeId| self.get(**id).entries().eq(sequence.entries());
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

#[cfg(test)]
mod tests {
    use super::{MAX_CREDIT, MAX_SHAPES, Mark, Names, Sequence, ShapeId, Shapes, Token};
    use crate::reader::Reader;

    /// Reads a document's names, with marks around them, as a sink does; its tokens, and its shape if it has one.
    fn read(shapes: &mut Shapes, guess: Option<ShapeId>, names: &[&str]) -> (Vec<String>, Option<ShapeId>) {
        let mut document = vec![0; 4];
        for name in names {
            document.push(0x0a);
            document.extend(name.bytes());
            document.push(0);
        }
        document.push(0);
        let length = document.len() as i32;
        document[..4].copy_from_slice(&length.to_le_bytes());
        let mut reader = Reader::new(&document).unwrap();
        let mut names = Names::begin(shapes, guess);
        names.add("row");
        names.mark(Mark::Enter);
        while reader.read_type() != 0 {
            names.read(&mut reader).unwrap();
        }
        names.mark(Mark::Leave);
        let names = names.end();
        let text = |token: Token<'_>| match token {
            Token::Name(name) => String::from_utf8(name.to_vec()).unwrap(),
            Token::Mark(mark) => format!("<{mark:?}>"),
        };
        let (tokens, id) = match names.find(shapes) {
            Sequence::Shape(id) => (None, Some(id)),
            Sequence::New(new) => {
                let tokens = new.tokens().map(text).collect::<Vec<_>>();
                assert_eq!(tokens.len(), new.len());
                (Some(tokens), None)
            }
        };
        let tokens = tokens.unwrap_or_else(|| shapes.get(id.unwrap()).tokens().map(text).collect());
        (tokens, id)
    }

    fn expected(names: &[&str]) -> Vec<String> {
        [&["row", "<Enter>"], names, &["<Leave>"]].concat().into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn whatever_is_guessed_the_tokens_are_those_of_the_document() {
        let documents: [&[&str]; 9] = [
            &["a", "b", "c"],
            &["a", "b"],
            &["a", "b", "d"],
            &["a", "", "c"],
            &[],
            &["\u{2}"],
            &["a name of more than sixteen bytes", "c"],
            &["a name of more than sixteen bytes", "d"],
            &["a", "a"],
        ];
        let mut shapes = Shapes::default();
        let mut guesses = vec![None];
        for _ in 0..3 {
            for names in documents {
                for guess in guesses.clone() {
                    let (tokens, id) = read(&mut shapes, guess, names);
                    assert_eq!(tokens, expected(names));
                    assert!(id.is_some());
                    guesses.push(id);
                }
                guesses.dedup();
            }
        }
        assert_eq!(shapes.shapes.len(), documents.len());
    }

    #[test]
    fn ever_new_names_cost_shapes_until_the_credit_is_used_up() {
        let mut shapes = Shapes::default();
        let mut guess = None;
        for number in 0..4 * MAX_SHAPES {
            let name = format!("name {number}");
            let (tokens, id) = read(&mut shapes, guess, &[&name]);
            assert_eq!(tokens, expected(&[&name]));
            guess = id.or(guess);
        }
        assert_eq!(shapes.shapes.len(), MAX_CREDIT as usize);
        // What comes again is worth a shape.
        assert_eq!(read(&mut shapes, guess, &["again"]).1, None);
        assert!(read(&mut shapes, guess, &["again"]).1.is_some());
    }

    #[test]
    fn all_shapes_are_forgotten_where_there_are_too_many() {
        let mut shapes = Shapes::default();
        for number in 0..=MAX_SHAPES {
            let name = format!("name {number}");
            let (_, first) = read(&mut shapes, None, &[&name]);
            let (tokens, second) = read(&mut shapes, None, &[&name]);
            assert_eq!(tokens, expected(&[&name]));
            assert!(second.is_some() && first.is_none_or(|first| Some(first) == second));
        }
        assert_eq!((shapes.generation(), shapes.shapes.len()), (1, 1));
    }
}
