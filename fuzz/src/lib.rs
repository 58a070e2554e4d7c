//! The properties that must hold for all bytes: one module a fuzz target, each with a `check` that panics where
//! its property fails.

pub mod event;
pub mod identity;
pub mod message;
pub mod number;
pub mod row;
pub mod selection;
pub mod strict;
pub mod utf8;

/// Shared with the unit tests.
#[path = "../../src/message_pack/tests/decoded.rs"]
mod decoded;
mod owned;
mod reference;

/// A property, by the name of its fuzz target.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 8] = [
    ("row", row::check),
    ("selection", selection::check),
    ("strict", strict::check),
    ("identity", identity::check),
    ("event", event::check),
    ("message", message::check),
    ("utf8", utf8::check),
    ("number", number::check),
];
