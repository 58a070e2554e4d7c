//! Sequences of column names, and the guess that a document has those of the last one.
//!
//! Documents of a collection mostly have the same names in the same order, and a sink can prepare for a sequence
//! that it has seen: a compiled object literal, a header. So names are compared with the expected ones, which is
//! one load each, instead of being found and hashed. Where the guess fails, the shapes that once took over at
//! that very column are tried; where those fail too, the sequence is looked up whole.
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
/// Columns of a shape at most; a sink's prepared ways need not work for more.
pub const MAX_COLUMNS: usize = 250;
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

/// A sequence of names.
pub struct Shape {
    /// The names, each with its zero byte, one after another; then [`CHUNK`] bytes, so that a chunk can be loaded
    /// from the start of each.
    bytes: Vec<u8>,
    /// Where each name begins, and where the last one ends.
    starts: Vec<u32>,
    /// Shapes that begin with the same names, and the first column at which they differ.
    branches: Vec<(u32, ShapeId)>,
}

impl Shape {
    fn new<'n>(names: impl Iterator<Item = &'n [u8]>) -> Self {
        let (mut bytes, mut starts) = (Vec::new(), vec![0]);
        for name in names {
            bytes.extend_from_slice(name);
            bytes.push(0);
            starts.push(bytes.len() as u32);
        }
        bytes.extend([0; CHUNK]);
        Self { bytes, starts, branches: Vec::new() }
    }

    /// How many columns.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no columns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of a column, with its zero byte.
    fn name_with_nul(&self, column: usize) -> &[u8] {
        &self.bytes[self.starts[column] as usize..self.starts[column + 1] as usize]
    }

    /// The names.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|column| {
            let name = self.name_with_nul(column);
            &name[..name.len() - 1]
        })
    }

    /// Steps over the name of a column, if it is what stands at `reader`.
    #[inline(always)]
    fn take_name<'a>(&self, column: usize, reader: &mut Reader<'a>) -> Option<Piece<'a>> {
        let [start, end] = *self.starts.get(column..)?.first_chunk()?;
        let (start, len) = (start as usize, (end - start) as usize);
        if len <= CHUNK
            && let Some(here) = reader.peek_chunk()
        {
            let name = Chunk::load(self.bytes[start..].first_chunk()?);
            if !here.equals_below(name, len) {
                return None;
            }
            // Its zero byte equals, too, so the name ends there; within the document or not, `take_name` tells.
            return reader.take_name(len - 1).ok();
        }
        reader.take_name_if(&self.bytes[start..start + len])
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

/// The names of the document that is being read, as far as it has been.
#[derive(Default)]
pub struct Names<'a> {
    /// The shape that the first `matched` names are those of.
    guess: Option<ShapeId>,
    matched: usize,
    /// The names behind those.
    rest: Vec<Piece<'a>>,
}

/// What a document's names turned out to be.
pub enum Sequence<'n, 'a> {
    /// Those of a shape.
    Shape(ShapeId),
    /// New ones: some of a shape's, and then others.
    New(NewNames<'n, 'a>),
}

/// Names without a shape.
#[derive(Clone, Copy)]
pub struct NewNames<'n, 'a> {
    known: Option<(&'n Shape, usize)>,
    rest: &'n [Piece<'a>],
}

impl<'n, 'a> NewNames<'n, 'a>
where
    'a: 'n,
{
    /// The names.
    pub fn iter(self) -> impl Iterator<Item = &'n [u8]> {
        let known = self.known.into_iter().flat_map(|(shape, matched)| shape.names().take(matched));
        known.chain(self.rest.iter().map(|name| name.bytes()))
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

impl<'a> Names<'a> {
    /// Begins a document, guessing that it has the names of `guess`.
    #[must_use]
    pub fn begin(guess: Option<ShapeId>) -> Self {
        Self { guess, matched: 0, rest: Vec::new() }
    }

    /// The next name, and the step over it.
    #[inline(always)]
    pub fn read(&mut self, shapes: &Shapes, reader: &mut Reader<'a>) -> Result<Piece<'a>> {
        if self.rest.is_empty()
            && let Some(ShapeId(guess)) = self.guess
            && let Some(name) = shapes.shapes[guess as usize].take_name(self.matched, reader)
        {
            self.matched += 1;
            return Ok(name);
        }
        self.read_other(shapes, reader)
    }

    #[inline(never)]
    fn read_other(&mut self, shapes: &Shapes, reader: &mut Reader<'a>) -> Result<Piece<'a>> {
        if self.rest.is_empty()
            && let Some(guess) = self.guess
        {
            for (_, branch) in shapes.branches(guess, self.matched) {
                if let Some(name) = shapes.get(branch).take_name(self.matched, reader) {
                    self.guess = Some(branch);
                    self.matched += 1;
                    return Ok(name);
                }
            }
        }
        let name = reader.read_name()?;
        self.rest.push(name);
        Ok(name)
    }

    /// Ends the document: finds its shape, or makes it one where it is seen again.
    #[inline(always)]
    pub fn end<'n>(&'n mut self, shapes: &'n mut Shapes) -> Sequence<'n, 'a> {
        if self.rest.is_empty()
            && let Some(guess) = self.guess
            && shapes.get(guess).len() == self.matched
        {
            return Sequence::Shape(guess);
        }
        self.find(shapes)
    }

    #[inline(never)]
    fn find<'n>(&'n mut self, shapes: &'n mut Shapes) -> Sequence<'n, 'a> {
        if self.rest.is_empty()
            && let Some(guess) = self.guess
        {
            // A document that ends early.
            for (_, branch) in shapes.branches(guess, self.matched) {
                if shapes.get(branch).len() == self.matched {
                    return Sequence::Shape(branch);
                }
            }
        }
        let names =
            NewNames { known: self.guess.map(|guess| (shapes.get(guess), self.matched)), rest: &self.rest };
        match shapes.look_up(names) {
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
                let known = self.guess.map(|guess| (shapes.get(guess), self.matched));
                Sequence::New(NewNames { known, rest: &self.rest })
            }
            Found::TooLarge => {
                let known = self.guess.map(|guess| (shapes.get(guess), self.matched));
                Sequence::New(NewNames { known, rest: &self.rest })
            }
        }
    }

    fn make(&self, hash: u64, shapes: &mut Shapes) -> ShapeId {
        let known = self.guess.map(|guess| (shapes.get(guess), self.matched));
        let shape = Shape::new(NewNames { known, rest: &self.rest }.iter());
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
    /// A shape.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.0 as usize]
    }

    /// A shape, unless it has been forgotten.
    #[must_use]
    pub fn try_get(&self, id: ShapeId) -> Option<&Shape> {
        self.shapes.get(id.0 as usize)
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

    fn branches(&self, from: ShapeId, column: usize) -> impl Iterator<Item = (u32, ShapeId)> {
        self.get(from).branches.iter().copied().filter(move |&(at, _)| at as usize == column)
    }

    fn add_branch(&mut self, from: ShapeId, column: usize, to: ShapeId) {
        let branches = &mut self.shapes[from.0 as usize].branches;
        if branches.len() == MAX_BRANCHES {
            branches.remove(0);
        }
        branches.push((column as u32, to));
    }

    fn look_up(&self, names: NewNames<'_, '_>) -> Found {
        if names.len() > MAX_COLUMNS {
            return Found::TooLarge;
        }
        let (mut hash, mut bytes) = (names.len() as u64, 0);
        for name in names.iter() {
            bytes += name.len() + 1;
            hash = hash_name(hash, name);
        }
        if bytes > MAX_NAME_BYTES {
            return Found::TooLarge;
        }
        let same = |id: &&ShapeId| self.get(**id).names().eq(names.iter());
        if let Some(&id) = self.by_hash.get(&hash).and_then(|ids| ids.iter().find(same)) {
            return Found::Shape(id);
        }
        if self.seen[hash as usize % SEEN] == hash { Found::Again(hash) } else { Found::New(hash) }
    }
}

/// Multiplies and folds eight bytes at a time. A collision costs a comparison, and shapes are bounded.
fn hash_name(mut hash: u64, name: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut fold = |word: u64| {
        let product = u128::from(hash ^ word) * u128::from(FACTOR);
        hash = (product as u64) ^ (product >> 64) as u64;
    };
    let (words, rest) = name.as_chunks::<8>();
    for word in words {
        fold(u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(u64::from_le_bytes(last));
    fold(name.len() as u64);
    hash
}
