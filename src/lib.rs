//! bsonrow: raw MongoDB BSON to flat SQLite rows.
//!
//! The contract: for valid BSON, the same row as the TypeScript converter of the replication service gives, but
//! for the differences that the README lists; for all other bytes, an [`error::Error`] in bounded time and
//! memory. In this order: never wrong, never unsafe, fast.
//!
//! Data flow one way:
//!
//! ```text
//! source ──► reader ──► column ──► row ──► sink
//!            elements   one value  names   JavaScript object, MessagePack
//!                          │
//!                          └► json ──► text
//! ```
//!
//! Modules import only from those above them in the list below. What needs the
//! feature `node` comes last; all above it is plain Rust.

pub mod scan;
pub mod spec;

pub mod chunk;
pub mod utf8;

pub mod error;

pub mod datetime;
pub mod decimal128;
pub mod hex;
pub mod number;
pub mod object_ids;

pub mod reader;
pub mod text;
pub mod walk;

pub mod json;
pub mod json_path;

pub mod column;
pub mod identity;
pub mod kind;
pub mod locate;
pub mod patience;
pub mod projection;
pub mod shape;
pub mod strict;
pub mod unread;

pub mod json_extract;
pub mod names;

pub mod deserialize;
pub mod row;

pub mod change_event;
pub mod cursor_reply;

pub mod object;

pub mod message_pack;

#[cfg(feature = "node")]
mod node;

#[cfg(feature = "node")]
mod js_error;

#[cfg(feature = "node")]
mod parts;

#[cfg(feature = "node")]
mod values;

#[cfg(feature = "node")]
mod builders;

#[cfg(feature = "node")]
mod js_row;

#[cfg(feature = "node")]
mod converter;

#[cfg(feature = "node")]
mod batch;

#[cfg(feature = "node")]
mod record;

#[cfg(feature = "node")]
mod job;

#[cfg(feature = "node")]
mod js_message_pack;

#[cfg(feature = "node")]
mod binding;
