//! A converter: fixed options, and the shapes to guess from one call to the next.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::builders::{Builders, Guess, Workshop};
use crate::cursor_reply::Batch;
use crate::js_row::{self, Conversion};
use crate::node::{Env, Result, Source, Value};

/// The addon in one JavaScript thread.
#[derive(Default)]
pub struct Addon {
    /// What all conversions use.
    pub workshop: RefCell<Workshop>,
    /// By the number that JavaScript knows them by.
    pub builders: RefCell<Vec<Rc<Builders>>>,
    /// The last shape of each function that belongs to no converter.
    pub row_guess: Cell<Guess>,
    /// See `row_guess`.
    pub id_guess: Cell<Guess>,
    /// See `row_guess`.
    pub event_guess: Cell<Guess>,
}

/// What belongs to a converter.
pub struct Converter {
    addon: Rc<Addon>,
    builders: Rc<Builders>,
    conversion: Conversion,
    row_guess: Cell<Guess>,
    change_guess: Cell<Guess>,
    reply_guess: Cell<Guess>,
}

/// Lends the guess of a cell.
#[inline(always)]
pub fn with_guess<T>(cell: &Cell<Guess>, body: impl FnOnce(&mut Guess) -> Result<T>) -> Result<T> {
    let mut guess = cell.get();
    let result = body(&mut guess);
    cell.set(guess);
    result
}

impl Converter {
    /// A converter of these options.
    #[must_use]
    pub fn new(addon: Rc<Addon>, builders: Rc<Builders>, conversion: Conversion) -> Self {
        let [row_guess, change_guess, reply_guess] = Default::default();
        Self { addon, builders, conversion, row_guess, change_guess, reply_guess }
    }

    /// The array over whose memory strings may stand, if they may: not where the bytes are a copy.
    #[inline(always)]
    fn owner(&self, array: Value, source: &Source<'_>) -> Option<Value> {
        (self.conversion.zero_copy && matches!(source, Source::Borrowed(_))).then_some(array)
    }

    /// `{ row, replicaId }` of a document, which is `bytes` of the source that `array` gave.
    #[inline(always)]
    pub fn row(&self, env: Env, array: Value, source: &Source<'_>, bytes: &[u8]) -> Result<Value> {
        let owner = self.owner(array, source);
        with_guess(&self.row_guess, |guess| {
            let Self { addon, builders, conversion, .. } = self;
            js_row::identified_row(env, bytes, owner, *conversion, builders, &addon.workshop, guess)
        })
    }

    /// The rows and the identity of a change event, likewise.
    #[inline(always)]
    pub fn change(&self, env: Env, array: Value, source: &Source<'_>, bytes: &[u8]) -> Result<Value> {
        let owner = self.owner(array, source);
        with_guess(&self.change_guess, |guess| {
            let Self { addon, builders, conversion, .. } = self;
            js_row::change(env, bytes, owner, *conversion, builders, &addon.workshop, guess)
        })
    }

    /// The fields of a cursor's document, and its batch.
    pub fn reply(&self, env: Env, cursor: &[u8]) -> Result<(Value, Batch)> {
        with_guess(&self.reply_guess, |guess| {
            js_row::cursor_reply(env, cursor, &self.builders, &self.addon.workshop, guess)
        })
    }

    /// The identity of a document.
    pub fn id(&self, env: Env, document: &[u8]) -> Result<Value> {
        with_guess(&self.addon.id_guess, |guess| {
            let both = js_row::identity(env, document, &self.builders, &self.addon.workshop, guess)?;
            env.property(both, c"id")
        })
    }
}
