//! The values of an object on their way to JavaScript.
//!
//! Most do not cross one by one: a call of Node-API costs 15 to 20 ns each time, compiled JavaScript a few to take a
//! bigint or a double out of shared memory or a short string out of a longer one (rows of 12 integers: 276 to 215 ns,
//! of 12 short strings: 347 to 287; none was seen on the row of a 1 KB document). So numbers pass in shared memory, and short texts of one byte a character together as
//! one string, of at most [`MAX_TOGETHER`] bytes: a slice of it keeps all of it alive.

use std::ptr;

use crate::node::{Env, Result, Value};
use crate::spec;

/// ObjectIds that can pass beside the values of one object.
pub const MAX_OBJECT_IDS: usize = 16;
/// Texts of at most so many bytes pass together with others.
pub const MAX_SHORT: usize = 64;
/// Bytes of the texts of one object that pass together.
pub const MAX_TOGETHER: usize = 1024;

/// The values of an object, in the order of its names, and what passes beside them.
#[derive(Default)]
pub struct Parts {
    /// In the order of the names.
    pub slots: Vec<Slot>,
    /// Short texts of one byte a character, one after another.
    pub together: Vec<u8>,
    /// Whether a slot is such a text.
    pub has_short: bool,
    /// In the order of their marks.
    pub object_ids: Vec<[u8; spec::OBJECT_ID]>,
    /// What the deserialiser makes before.
    pub elements: Vec<Element>,
}

/// A value.
#[derive(Clone, Copy)]
pub struct Slot {
    /// Where a text stands among those that pass together, from its first byte to behind its last; or a negative
    /// number that says what the slot is.
    pub place: [i32; 2],
    /// The bits of a bigint or a double.
    pub bits: u64,
    /// Any other value.
    pub handle: Value,
}

/// What a slot is, where it is no text: the numbers of lib/row-functions.js.
#[derive(Clone, Copy)]
#[repr(i32)]
enum SlotKind {
    Handle = -1,
    Bigint = -2,
    Double = -3,
    Null = -4,
}

impl Parts {
    /// Begins an object.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.together.clear();
        self.has_short = false;
        self.object_ids.clear();
        self.elements.clear();
    }

    #[inline(always)]
    fn push(&mut self, kind: SlotKind, bits: u64, handle: Value) {
        self.slots.push(Slot { place: [kind as i32, 0], bits, handle });
    }

    /// A value of Node-API's.
    #[inline(always)]
    pub fn push_handle(&mut self, handle: Value) {
        self.push(SlotKind::Handle, 0, handle);
    }

    /// A number.
    #[inline(always)]
    pub fn push_double(&mut self, number: f64) {
        self.push(SlotKind::Double, number.to_bits(), ptr::null_mut());
    }

    /// A bigint.
    #[inline(always)]
    pub fn push_bigint(&mut self, number: i64) {
        self.push(SlotKind::Bigint, number as u64, ptr::null_mut());
    }

    /// `null`.
    #[inline(always)]
    pub fn push_null(&mut self) {
        self.push(SlotKind::Null, 0, ptr::null_mut());
    }

    /// Puts a text with the others, if it is short and there is room.
    #[inline(always)]
    pub fn push_short(&mut self, latin1: &[u8]) -> bool {
        let start = self.together.len();
        let end = start + latin1.len();
        if latin1.len() > MAX_SHORT || end > MAX_TOGETHER {
            return false;
        }
        self.has_short = true;
        self.together.extend_from_slice(latin1);
        self.slots.push(Slot { place: [start as i32, end as i32], bits: 0, handle: ptr::null_mut() });
        true
    }

    /// The value of a slot by itself.
    pub fn value(&self, env: Env, slot: &Slot) -> Result<Value> {
        match slot.place {
            [kind, _] if kind == SlotKind::Handle as i32 => Ok(slot.handle),
            [kind, _] if kind == SlotKind::Bigint as i32 => env.bigint(slot.bits as i64),
            [kind, _] if kind == SlotKind::Double as i32 => env.number(f64::from_bits(slot.bits)),
            [start, end] if start >= 0 => env.string_latin1(&self.together[start as usize..end as usize]),
            _ => env.null(),
        }
    }
}

/// A value that the deserialiser makes.
pub struct Element {
    /// Its slot.
    pub index: usize,
    /// A document of the element alone, named `_id`.
    pub document: Value,
    /// Whether documents in it stay BSON.
    pub raw: bool,
    /// Where in the source it stands.
    pub offset: usize,
}
