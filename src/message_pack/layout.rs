//! How an object of a sequence of names is laid out: what bytes stand before each of its values.
//!
//! That is all that the names are for, so it is made once for a sequence. The values of the next object of the same
//! names are then written in their final place, each behind its bytes; where the names turn out to be others, the
//! values are put together again.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem::take;
use std::ops::Range;

use super::{TooLong, format};
use crate::shape::{Mark, ShapeId, Shapes, Token};
use crate::utf8;

/// What an object becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A map of names and values.
    Map,
    /// An array of values; its names stand elsewhere.
    Array,
    /// A map to which values are added at its end, so that a repeated name takes its last place.
    OpenMap,
}

impl Style {
    const COUNT: usize = 3;
}

/// The layout of a sequence of names.
pub struct Layout {
    steps: Vec<Step>,
    /// The first so many steps are those of all values, in order; 0 where some value has another place or none.
    in_order: usize,
    /// Bytes behind the last value.
    end: Vec<u8>,
    /// The names of an [`Style::Array`], encoded.
    names: Vec<u8>,
}

/// A value, and what stands before it.
pub struct Step {
    pub prefix: Prefix,
    /// Which of the values that were read.
    slot: usize,
}

/// Bytes that are often written.
pub struct Prefix {
    len: usize,
    /// The first of them: few are more, and a copy of a fixed length is two instructions.
    head: [u8; Self::HEAD],
    /// All of them, where they are more.
    long: Box<[u8]>,
}

impl Prefix {
    const HEAD: usize = 32;

    fn new(bytes: &[u8]) -> Self {
        let mut head = [0; Self::HEAD];
        match head.get_mut(..bytes.len()) {
            Some(head) => head.copy_from_slice(bytes),
            None => return Self { len: bytes.len(), head, long: bytes.into() },
        }
        Self { len: bytes.len(), head, long: Box::default() }
    }

    /// Appends the bytes.
    #[inline(always)]
    pub fn push(&self, out: &mut Vec<u8>) {
        if self.long.is_empty() {
            let end = out.len() + self.len;
            out.extend_from_slice(&self.head);
            out.truncate(end);
        } else {
            out.extend_from_slice(&self.long);
        }
    }
}

impl Layout {
    /// The layout of a sequence.
    pub fn new<'t>(tokens: impl Iterator<Item = Token<'t>>, style: Style) -> Result<Self, TooLong> {
        let (object, slots) = Object::of(tokens, style);
        let mut names = Vec::new();
        if style == Style::Array {
            object.push_names(&mut names)?;
        }
        let (mut steps, mut end) = (Vec::new(), Vec::new());
        object.push_steps(style, &mut end, &mut steps)?;
        let in_order =
            steps.len() >= slots && steps[..slots].iter().enumerate().all(|(at, step)| step.slot == at);
        Ok(Self { steps, in_order: if in_order { slots } else { 0 }, end, names })
    }

    /// The steps of values that stand in the order in which they are read.
    #[inline(always)]
    pub fn in_order(&self) -> &[Step] {
        &self.steps[..self.in_order]
    }

    /// The names of an array, encoded.
    pub fn names(&self) -> &[u8] {
        &self.names
    }

    /// Ends the object, of which all values in order have been written, and stand at `slots`.
    #[inline(always)]
    pub fn end(&self, slots: &[Range<usize>], out: &mut Vec<u8>) {
        debug_assert_eq!(slots.len(), self.in_order);
        for Step { prefix, slot } in &self.steps[self.in_order..] {
            prefix.push(out);
            out.extend_from_within(slots[*slot].clone());
        }
        out.extend_from_slice(&self.end);
    }

    /// The object, of which the values stand at `slots` of `values`.
    #[inline(never)]
    pub fn assemble(&self, slots: &[Range<usize>], values: &[u8], out: &mut Vec<u8>) {
        for Step { prefix, slot } in &self.steps {
            prefix.push(out);
            out.extend_from_slice(&values[slots[*slot].clone()]);
        }
        out.extend_from_slice(&self.end);
    }
}

/// The names of an object and what their values are.
#[derive(Clone, Default)]
struct Object {
    properties: Vec<Property>,
}

#[derive(Clone)]
struct Property {
    name: Vec<u8>,
    value: Value,
}

#[derive(Clone)]
enum Value {
    Slot(usize),
    Object(Object),
}

/// An object that is being read, and whether it is the identity.
struct Level {
    object: Object,
    is_identity: bool,
}

impl Object {
    /// The object of a sequence, and how many values it is made of.
    fn of<'t>(tokens: impl Iterator<Item = Token<'t>>, style: Style) -> (Self, usize) {
        // The levels around: each one's object becomes the last value of the one before it.
        let mut around = Vec::new();
        let mut level = Level { object: Self::default(), is_identity: false };
        let mut slots = 0;
        // The value that is marked as the identity; what comes before `Enter` is marked before it has any.
        let (mut identity, mut is_identity) = (Value::Slot(0), false);
        for token in tokens {
            let properties = &mut level.object.properties;
            match (token, properties.last_mut()) {
                (Token::Name(name), _) => {
                    let mut text = Vec::with_capacity(name.len());
                    utf8::push_lossy(name, &mut text);
                    properties.push(Property { name: text, value: Value::Slot(slots) });
                    slots += 1;
                    is_identity = false;
                }
                (Token::Mark(Mark::Identity), Some(property)) => {
                    identity = property.value.clone();
                    is_identity = true;
                }
                (Token::Mark(Mark::SameIdentity), Some(property)) => {
                    property.value = identity.clone();
                    slots -= 1;
                }
                (Token::Mark(Mark::Enter), Some(_)) => {
                    slots -= 1;
                    let inner = Level { object: Self::default(), is_identity: take(&mut is_identity) };
                    around.push(std::mem::replace(&mut level, inner));
                }
                (Token::Mark(Mark::Leave), _) => {
                    if let Some(outer) = around.pop() {
                        let Level { object, is_identity } = std::mem::replace(&mut level, outer);
                        let value = Value::Object(object.without_repeats(Style::Map));
                        if is_identity {
                            identity = value.clone();
                        }
                        if let Some(property) = level.object.properties.last_mut() {
                            property.value = value;
                        }
                    }
                }
                // The others say what JavaScript makes of a value.
                (Token::Mark(_), _) => {}
            }
        }
        (level.object.without_repeats(style), slots)
    }

    /// A repeated name takes its last value; its place is the first one, as in an object of JavaScript's.
    fn without_repeats(self, style: Style) -> Self {
        let mut places = HashMap::with_capacity(self.properties.len());
        let mut properties: Vec<Option<Property>> = Vec::with_capacity(self.properties.len());
        for property in self.properties {
            let at = properties.len();
            match places.entry(property.name.clone()) {
                Entry::Vacant(place) => {
                    place.insert(at);
                }
                Entry::Occupied(place) if style != Style::OpenMap => {
                    properties[*place.get()] = Some(property);
                    continue;
                }
                Entry::Occupied(mut place) => properties[place.insert(at)] = None,
            }
            properties.push(Some(property));
        }
        Self { properties: properties.into_iter().flatten().collect() }
    }

    /// The names, each of an object with the array of its own names behind it.
    fn push_names(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        let objects = self.properties.iter().filter(|property| matches!(property.value, Value::Object(_)));
        format::push_array_header(self.properties.len() + objects.count(), out)?;
        for Property { name, value } in &self.properties {
            format::push_str(name, out)?;
            if let Value::Object(inner) = value {
                inner.push_names(out)?;
            }
        }
        Ok(())
    }

    /// The steps; `pending` are the bytes before the next one. Objects are nested no deeper than the readers go.
    fn push_steps(&self, style: Style, pending: &mut Vec<u8>, steps: &mut Vec<Step>) -> Result<(), TooLong> {
        match style {
            Style::Map | Style::OpenMap => format::push_map_header(self.properties.len(), pending)?,
            Style::Array => format::push_array_header(self.properties.len(), pending)?,
        }
        for Property { name, value } in &self.properties {
            if style != Style::Array {
                format::push_str(name, pending)?;
            }
            match value {
                Value::Slot(slot) => steps.push(Step { prefix: Prefix::new(&take(pending)), slot: *slot }),
                Value::Object(inner) => inner.push_steps(style, pending, steps)?,
            }
        }
        Ok(())
    }
}

/// The layouts of all shapes.
#[derive(Default)]
pub struct Layouts {
    generation: u32,
    by_style: [Vec<Option<Box<Layout>>>; Style::COUNT],
}

impl Layouts {
    /// The layout of a shape, if it was made.
    #[inline(always)]
    pub fn get(&self, shape: ShapeId, shapes: &Shapes, style: Style) -> Option<&Layout> {
        if self.generation != shapes.generation() {
            return None;
        }
        self.by_style[style as usize].get(shape.0 as usize)?.as_deref()
    }

    /// The layout of a shape. All go when the shapes are forgotten.
    #[inline(always)]
    pub fn of(&mut self, shape: ShapeId, shapes: &Shapes, style: Style) -> Result<&Layout, TooLong> {
        if self.generation != shapes.generation() {
            *self = Self { generation: shapes.generation(), ..Self::default() };
        }
        let layouts = &mut self.by_style[style as usize];
        let index = shape.0 as usize;
        if layouts.len() <= index {
            layouts.resize_with(index + 1, || None);
        }
        match &mut layouts[index] {
            Some(layout) => Ok(layout),
            none => Ok(none.insert(Box::new(Layout::new(shapes.get(shape).tokens(), style)?))),
        }
    }
}
