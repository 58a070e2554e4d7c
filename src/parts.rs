//! The values of objects on their way to JavaScript.
//!
//! Most do not cross one by one: a call of Node-API costs 15 to 50 ns each time, compiled JavaScript a few to take a
//! bigint or a double out of shared memory, or a text out of a longer one. So numbers pass in shared memory, and the
//! texts of one byte a character of an object together as one string, of at most [`MAX_TOGETHER`] bytes: a slice of it
//! keeps all of it alive.

use std::ops::Range;

use crate::node::Result;
use crate::reader::Piece;
use crate::spec;

/// ObjectIds that can pass beside the values of one object.
pub const MAX_OBJECT_IDS: usize = 16;
/// Bytes of the texts of one object that pass together; with more, a slice would keep more alive. (row of a 1 KB document:
/// 64 bytes 714 ns, 256 bytes 688, 1 KiB 543, 4 KiB 558; order with 10 nested items: 1 KiB 1,465, 2 KiB 1,310)
pub const MAX_TOGETHER: usize = 2048;

/// Texts of at most so many bytes are looked at while they are copied, most of them by one load and one store. (with
/// and without this: datasets/profiles 408 and 441 ns, datasets/books 557 and 582, row of a 1 KB document 506 and 521)
const SHORT: usize = 64;

/// The values of objects, those of each in the order of its names, and what passes beside them.
pub struct Parts<H> {
    /// In the order of the names.
    pub slots: Vec<Slot>,
    /// Texts of one byte a character, one after another.
    pub together: Vec<u8>,
    /// Values that pass by themselves.
    pub handles: Vec<H>,
    /// In the order of their marks.
    pub object_ids: Vec<[u8; spec::OBJECT_ID]>,
    /// What the deserialiser makes before, of the last object.
    pub elements: Vec<Element>,
    /// Where the last object begins.
    pub start: Start,
    /// From where places of texts count.
    pub text_base: usize,
    /// Whether a slot of the last object is a text.
    pub has_text: bool,
}

/// Where the parts of an object begin.
#[derive(Clone, Copy, Default)]
pub struct Start {
    /// In `slots`.
    pub slot: usize,
    /// In `together`.
    pub text: usize,
    /// In `handles`.
    pub handle: usize,
    /// In `object_ids`.
    pub object_id: usize,
}

/// A value, as it stands in the shared memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Slot {
    /// Where a text stands among those that pass together, from its first byte to behind its last; or a negative number
    /// that says what the slot is, and the place of a handle.
    pub place: [i32; 2],
    /// The bits of a bigint or a double.
    pub bits: u64,
}

/// What a slot is, where it is no text: the numbers of lib/row-functions.js.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum SlotKind {
    /// A value that passes by itself.
    Handle = -1,
    /// A bigint.
    Bigint = -2,
    /// A number.
    Double = -3,
    /// `null`
    Null = -4,
    /// `undefined`
    Undefined = -5,
    /// `false`
    False = -6,
    /// `true`
    True = -7,
    /// A `Date` of a number.
    Date = -8,
}

/// Makes the values that pass by themselves.
pub trait Make {
    /// Such a value.
    type Handle: Copy;
    /// A string of one byte a character, none of them of the source.
    fn latin1(&mut self, text: &[u8]) -> Result<Self::Handle>;
    /// A string of one byte a character that is a text of the source, all of it ASCII.
    fn ascii_of_source(&mut self, text: &[u8]) -> Result<Self::Handle>;
    /// A string of UTF-16 code units.
    fn utf16(&mut self, text: &[u16]) -> Result<Self::Handle>;
    /// A `Uint8Array` with memory of its own.
    fn bytes(&mut self, bytes: &[u8]) -> Result<Self::Handle>;
    /// A bigint without a sign.
    fn unsigned(&mut self, number: u64) -> Result<Self::Handle>;
    /// The bigint of an integral double of any size.
    fn huge(&mut self, number: f64) -> Result<Self::Handle>;
}

impl<H> Default for Parts<H> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            together: Vec::new(),
            handles: Vec::new(),
            object_ids: Vec::new(),
            elements: Vec::new(),
            start: Start::default(),
            text_base: 0,
            has_text: false,
        }
    }
}

impl<H> Parts<H> {
    /// Begins the first object.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.slots.clear();
        self.together.clear();
        self.handles.clear();
        self.object_ids.clear();
        self.elements.clear();
        self.start = Start::default();
        self.text_base = 0;
        self.has_text = false;
    }

    /// Begins another object behind the last.
    #[inline(always)]
    pub fn begin(&mut self) {
        self.start = Start {
            slot: self.slots.len(),
            text: self.together.len(),
            handle: self.handles.len(),
            object_id: self.object_ids.len(),
        };
        self.text_base = self.start.text;
        self.has_text = false;
    }

    /// Takes the last object back.
    pub fn take_back(&mut self) {
        self.slots.truncate(self.start.slot);
        self.together.truncate(self.start.text);
        self.handles.truncate(self.start.handle);
        self.object_ids.truncate(self.start.object_id);
        self.elements.clear();
    }

    /// Takes the last object off, into parts of its own.
    #[must_use]
    pub fn split_last(&mut self) -> Self {
        let Start { slot, text, handle, object_id } = self.start;
        let mut last = Self {
            slots: self.slots.split_off(slot),
            together: self.together.split_off(text),
            handles: self.handles.split_off(handle),
            object_ids: self.object_ids.split_off(object_id),
            elements: std::mem::take(&mut self.elements),
            has_text: self.has_text,
            ..Self::default()
        };
        for slot in &mut last.slots {
            if slot.place[0] == SlotKind::Handle as i32 {
                slot.place[1] -= handle as i32;
            } else if slot.place[0] >= 0 {
                slot.place = slot.place.map(|at| at - (text - self.text_base) as i32);
            }
        }
        for element in &mut last.elements {
            element.handle -= handle;
        }
        last
    }

    #[inline(always)]
    fn push(&mut self, kind: SlotKind, place: i32, bits: u64) {
        self.slots.push(Slot { place: [kind as i32, place], bits });
    }

    /// A value that passes by itself.
    #[inline(always)]
    pub fn push_handle(&mut self, handle: H) {
        self.push(SlotKind::Handle, self.handles.len() as i32, 0);
        self.handles.push(handle);
    }

    /// A value by itself that is no object's own: its place.
    pub fn add_handle(&mut self, handle: H) -> usize {
        self.handles.push(handle);
        self.handles.len() - 1
    }

    /// A value that is one of a kind.
    #[inline(always)]
    pub fn push_constant(&mut self, kind: SlotKind) {
        self.push(kind, 0, 0);
    }

    /// A number, or a date of it.
    #[inline(always)]
    pub fn push_double(&mut self, kind: SlotKind, number: f64) {
        self.push(kind, 0, number.to_bits());
    }

    /// A bigint.
    #[inline(always)]
    pub fn push_bigint(&mut self, number: i64) {
        self.push(SlotKind::Bigint, 0, number as u64);
    }

    /// Whether a text of so many bytes has room among the others.
    #[inline(always)]
    #[must_use]
    pub fn has_room(&self, length: usize) -> bool {
        self.together.len() - self.start.text + length <= MAX_TOGETHER
    }

    /// Where the texts of the last object stand, if it has some.
    #[inline(always)]
    #[must_use]
    pub fn texts(&self) -> Option<Range<usize>> {
        self.has_text.then_some(self.start.text..self.together.len())
    }

    /// Puts a text with the others, which has room there.
    #[inline(always)]
    pub fn push_together(&mut self, latin1: &[u8]) {
        let start = self.together.len();
        self.together.extend_from_slice(latin1);
        self.push_text(start, latin1.len());
    }

    /// Lets `write` put a text behind the others, into room that [`Parts::has_room`] has found; it returns the length.
    /// After an error, the object is to be taken back.
    #[inline(always)]
    pub fn push_written<const N: usize, E>(
        &mut self,
        write: impl FnOnce(&mut [u8; N]) -> std::result::Result<usize, E>,
    ) -> std::result::Result<(), E> {
        debug_assert!(self.has_room(N));
        let start = self.together.len();
        self.together.extend_from_slice(&[0; N]);
        let length = match self.together.last_chunk_mut() {
            Some(room) => write(room)?,
            None => unreachable!("as many bytes were appended"),
        };
        debug_assert!(length <= N);
        self.together.truncate(start + length);
        self.push_text(start, length);
        Ok(())
    }

    /// The same with a text of a source that [`Piece::append_ascii`] takes, if it is short and has room there; whether it
    /// was put there.
    #[inline(always)]
    pub fn push_short(&mut self, text: Piece<'_>) -> bool {
        let (start, length) = (self.together.len(), text.len());
        if length > SHORT || !self.has_room(length) || !text.append_ascii(&mut self.together) {
            return false;
        }
        self.push_text(start, length);
        true
    }

    /// A text that stands with the others.
    #[inline(always)]
    fn push_text(&mut self, start: usize, length: usize) {
        let start = start - self.text_base;
        self.has_text = true;
        self.slots.push(Slot { place: [start as i32, (start + length) as i32], bits: 0 });
    }
}

/// A value that the deserialiser makes.
#[derive(Clone, Copy)]
pub struct Element {
    /// Its place among the handles: a document of the element alone, named `_id`.
    pub handle: usize,
    /// Whether documents in it stay BSON.
    pub raw: bool,
    /// Where in the source it stands.
    pub offset: usize,
}
