//! The sequence of the document that is being read, and the guess that it is that of the last one.
//!
//! Names are compared with the expected ones, which is one load each, instead of being found and hashed
//! (row_of_names_guessed and row_of_names_looked_up: 1 KB 160 and 332 ns, 100 columns 289 and 1,566). Where the guess
//! fails, the shapes that once took over at that very place are tried; where those fail too, the sequence is looked up
//! whole.

use crate::error::Result;
use crate::reader::{Piece, Reader};
use crate::shape::{Found, Mark, Shape, ShapeId, Shapes, Token};

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

    /// The same as bytes, as a [`Shape`] has them.
    pub fn entries(self) -> impl Iterator<Item = &'n [u8]> + Clone {
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
        match shapes.look_up(self.sequence(shapes).entries()) {
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
        match shapes.look_up(self.sequence(shapes).entries()) {
            Found::Shape(id) => {
                shapes.earn();
                if let Some(guess) = self.guess {
                    shapes.add_branch(guess, self.matched, id);
                }
                Sequence::Shape(id)
            }
            Found::Again(hash) => Sequence::Shape(self.make(hash, shapes)),
            Found::New(hash) => {
                if shapes.spend() {
                    return Sequence::Shape(self.make(hash, shapes));
                }
                shapes.remember(hash);
                Sequence::New(self.sequence(shapes))
            }
            Found::TooLarge => Sequence::New(self.sequence(shapes)),
        }
    }

    fn make(&self, hash: u64, shapes: &mut Shapes) -> ShapeId {
        let shape = Shape::new(self.sequence(shapes).entries());
        let before = shapes.generation();
        let id = shapes.add(hash, shape);
        // Where all shapes were forgotten for it, the guess is no shape any more.
        if shapes.generation() == before
            && let Some(guess) = self.guess
        {
            shapes.add_branch(guess, self.matched, id);
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, Sequence};
    use crate::reader::Reader;
    use crate::shape::{MAX_CREDIT, MAX_SHAPES, Mark, ShapeId, Shapes, Token};

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
        assert_eq!(shapes.count(), documents.len());
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
        assert_eq!(shapes.count(), MAX_CREDIT as usize);
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
        assert_eq!((shapes.generation(), shapes.count()), (1, 1));
    }
}
