//! The properties that must hold for all bytes: one module a fuzz target, each with a `check` that panics where
//! its property fails.

pub mod identity;
pub mod number;
pub mod row;
pub mod strict;
pub mod utf8;

mod owned;
mod reference;

/// A property, by the name of its fuzz target.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 5] = [
    ("row", row::check),
    ("strict", strict::check),
    ("identity", identity::check),
    ("utf8", utf8::check),
    ("number", number::check),
];
