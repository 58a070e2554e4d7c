//! Objects that are read where no JavaScript can run, another thread, to be made later.
//!
//! What is recorded of an object is what passes to JavaScript in any case, its [`Parts`]; what Node-API would make at
//! once is kept as bytes. Names are those of shapes of the recording's own, which are looked up again where the objects
//! are made.

use std::ops::Range;

use crate::batch::Refusal;
use crate::builders::{MAX_HANDLES, MAX_OBJECTS, MAX_SLOTS};
use crate::names::{Names, Sequence};
use crate::node::Result;
use crate::parts::{Make, Parts, Slot};
use crate::reader::Reader;
use crate::shape::{Guess, MAX_TOKENS, Shapes};
use crate::text::Text;
use crate::utf8;
use crate::values::{LONG, Values};

/// A value that Node-API makes later.
#[derive(Clone, Copy)]
pub enum Later {
    /// A string of one byte a character, of the recording's bytes.
    Latin1(Place),
    /// The same, one of the recording's long ones.
    Long(usize),
    /// The same, of the bytes of a source, of which this is the number.
    OfSource(usize, Place),
    /// A source, of which this is the number.
    Source(usize),
    /// A string, of the recording's code units.
    Utf16(Place),
    /// A `Uint8Array`, of the recording's bytes.
    Bytes(Place),
    /// A bigint without a sign.
    Unsigned(u64),
    /// The bigint of a double.
    Huge(f64),
}

/// From where to where.
#[derive(Clone, Copy)]
pub struct Place {
    start: usize,
    end: usize,
}

impl Place {
    /// As indices.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// What values are made of later.
#[derive(Default)]
pub struct Arena {
    /// Bytes of strings and arrays.
    pub bytes: Vec<u8>,
    /// Code units of strings.
    pub units: Vec<u16>,
    /// Bytes that become those of a string each, without a copy.
    pub long: Vec<Vec<u8>>,
    /// Bytes of the source that become strings.
    of_source: usize,
}

impl Arena {
    fn keep(&mut self, bytes: &[u8]) -> Place {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        Place { start, end: self.bytes.len() }
    }

    /// Bytes that strings and arrays are copied from.
    const fn len(&self) -> usize {
        self.bytes.len() + 2 * self.units.len() + self.of_source
    }
}

/// Keeps values.
pub struct Keeper<'k> {
    arena: &'k mut Arena,
    source: Numbered<'k>,
}

/// A source, and its number among those of the batch.
#[derive(Clone, Copy)]
pub struct Numbered<'s> {
    /// The number.
    pub number: usize,
    /// All of its bytes.
    pub bytes: &'s [u8],
}

impl Make for Keeper<'_> {
    type Handle = Later;

    fn latin1(&mut self, text: &[u8]) -> Result<Later> {
        if text.len() >= LONG {
            self.arena.long.push(text.to_vec());
            return Ok(Later::Long(self.arena.long.len() - 1));
        }
        Ok(Later::Latin1(self.arena.keep(text)))
    }

    fn ascii_of_source(&mut self, text: &[u8]) -> Result<Later> {
        self.arena.of_source += text.len();
        // The text is a part of the source.
        let start = text.as_ptr() as usize - self.source.bytes.as_ptr() as usize;
        Ok(Later::OfSource(self.source.number, Place { start, end: start + text.len() }))
    }

    fn utf16(&mut self, text: &[u16]) -> Result<Later> {
        let units = &mut self.arena.units;
        let start = units.len();
        units.extend_from_slice(text);
        Ok(Later::Utf16(Place { start, end: units.len() }))
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<Later> {
        Ok(Later::Bytes(self.arena.keep(bytes)))
    }

    fn unsigned(&mut self, number: u64) -> Result<Later> {
        Ok(Later::Unsigned(number))
    }

    fn huge(&mut self, number: f64) -> Result<Later> {
        Ok(Later::Huge(number))
    }
}

/// Names and marks, as [`crate::names::ReadNames::of`] takes them.
pub type Entries = Vec<Box<[u8]>>;

/// The sequence of names of an object.
pub enum Recorded {
    /// One of [`Recorder::sequences`].
    Known(usize),
    /// One that is seen once.
    New(Entries),
}

/// Objects that are made together, and what stands behind them.
#[derive(Default)]
pub struct Chunk {
    /// The values of all objects.
    pub parts: Parts<Later>,
    /// What some of them are made of.
    pub arena: Arena,
    /// Those that are made together.
    pub objects: Vec<RecordedObject>,
    /// The last one, where that is not made with the others: its values are the last of the parts.
    pub last: Option<std::result::Result<Recorded, Refusal>>,
    /// Which source the last object is given besides, and its place among the handles.
    pub given: Option<(usize, usize)>,
    /// Where the copies of short texts begin in the text of all, or 0, where there are none; see [`Self::finish`].
    pub short_texts: usize,
    /// Sequences that stand in no chunk before.
    new_sequences: usize,
}

/// An object that is made with others.
///
/// Its numbers are small, as are those of a chunk's parts: the thread that makes it waits for each cache line of them.
pub struct RecordedObject {
    /// Its names.
    pub sequence: u32,
    /// Its first slot.
    pub slot: u32,
    /// Its first handle.
    pub handle: u32,
    /// Its first ObjectId.
    pub object_id: u32,
    /// Which of the handles it is given besides.
    pub given: Option<u32>,
    /// Whether a value is a text.
    pub has_text: bool,
}

impl Chunk {
    /// Gives a source to the objects that follow, beside their values.
    pub fn give(&mut self, number: usize) {
        if self.given.is_none_or(|(given, _)| given != number) {
            self.given = Some((number, self.parts.add_handle(Later::Source(number))));
        }
    }

    /// Whether there is room for one more object, whatever it is.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.objects.len() < MAX_OBJECTS
            && self.parts.slots.len() + MAX_TOKENS <= MAX_SLOTS
            && self.parts.handles.len() < MAX_HANDLES
            && self.parts.together.len() + self.arena.len() < MAX_BYTES
            && self.new_sequences < MAX_NEW_SEQUENCES
    }

    /// Begins another object: its values go behind those that there are.
    pub fn begin(&mut self) {
        self.parts.begin();
        // The texts of all objects of a chunk become one string.
        self.parts.text_base = 0;
    }

    /// Ends the chunk: puts copies of the short texts, which V8 copies out of the text of all, side by side behind it. Where
    /// they stand, JavaScript would wait for the cache line of each.
    pub fn finish(&mut self) {
        if matches!(self.last, Some(Ok(_))) {
            // The last texts are those of an object by itself, and are split off: the short ones stay among the others.
            return;
        }
        let Parts { slots, together, .. } = &mut self.parts;
        self.short_texts = together.len();
        for Slot { place, .. } in slots {
            let [start, end] = *place;
            if start >= 0 && end - start < MIN_SLICE {
                let copy = together.len() as i32;
                together.extend_from_within(start as usize..end as usize);
                *place = [copy, copy + end - start];
            }
        }
    }

    /// Takes the last object up: among the others, or as the last one.
    pub fn take(&mut self, recorded: Recorded) {
        match recorded {
            Recorded::Known(sequence) if self.parts.elements.is_empty() => {
                let Parts { start, has_text, .. } = self.parts;
                let given = self.given.map(|(_, place)| place as u32);
                let [sequence, slot, handle, object_id] =
                    [sequence, start.slot, start.handle, start.object_id].map(|number| number as u32);
                self.objects.push(RecordedObject { sequence, slot, handle, object_id, given, has_text });
            }
            recorded => self.last = Some(Ok(recorded)),
        }
    }
}

/// V8 copies shorter texts where it cuts them; of others it only notes where they stand.
const MIN_SLICE: i32 = 13;

/// Bytes of a chunk after which another begins: a chunk is made without a pause, and to copy that much
/// takes half a millisecond.
const MAX_BYTES: usize = 1 << 20;

/// Sequences after which another begins, likewise: to compile a function of one takes some 0.3 ms.
const MAX_NEW_SEQUENCES: usize = 8;

/// Records objects.
pub struct Recorder {
    /// Only sequences that stand twice in a batch: each costs a shape where the objects are made, however many batches
    /// there are.
    shapes: Shapes,
    text: Text,
    scratch: utf8::Scratch,
    guess: Guess,
    /// Which of the sequences each shape is, in this generation.
    known: Vec<Option<usize>>,
    generation: u32,
    /// The names of all shapes.
    pub sequences: Vec<Entries>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            shapes: Shapes::without_credit(),
            text: Text::default(),
            scratch: utf8::Scratch::default(),
            guess: Guess::default(),
            known: Vec::new(),
            generation: 0,
            sequences: Vec::new(),
        }
    }
}

impl Recorder {
    /// Reads an object of a source, which [`Chunk::begin`] has begun.
    pub fn read<'a>(
        &mut self,
        source: Numbered<'a>,
        object: &'a [u8],
        chunk: &mut Chunk,
        read: impl FnOnce(
            &mut Reader<'a>,
            &mut Names<'a, '_>,
            &mut Text,
            &mut Values<'_, Keeper<'_>>,
        ) -> Result<()>,
    ) -> Result<Recorded> {
        let Self { shapes, text, scratch, guess, .. } = self;
        let Chunk { parts, arena, .. } = &mut *chunk;
        let mut reader = Reader::new(object)?;
        let mut names = Names::begin(shapes, guess.shape(shapes));
        let make = &mut Keeper { arena, source };
        // The object is a part of the source.
        let start = object.as_ptr() as usize - source.bytes.as_ptr() as usize;
        read(&mut reader, &mut names, text, &mut Values { make, scratch, parts, start })?;
        let names = names.end();
        let shape = match names.find(shapes) {
            Sequence::Shape(shape) => shape,
            Sequence::New(sequence) => {
                return Ok(Recorded::New(sequence.entries().map(Into::into).collect()));
            }
        };
        *guess = Guess::of(shape, shapes);
        if self.generation != shapes.generation() {
            self.generation = shapes.generation();
            self.known.clear();
        }
        let index = shape.0 as usize;
        if self.known.len() <= index {
            self.known.resize(index + 1, None);
        }
        let sequence = *self.known[index].get_or_insert_with(|| {
            chunk.new_sequences += 1;
            self.sequences.push(shapes.get(shape).entries().map(Into::into).collect());
            self.sequences.len() - 1
        });
        Ok(Recorded::Known(sequence))
    }
}
