//! A converter: fixed options, and the shapes to guess from one call to the next.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::builders::{Builders, Layout, Workshop};
use crate::cursor_reply::Batch;
use crate::js_row::{self, Conversion, Input, Site};
use crate::kind::Kind;
use crate::message_pack::{self, Packer};
use crate::node::{Env, Result, Source, Value};
use crate::parts::Parts;
use crate::shape::Guess;

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
    /// What writes messages; away while one is written.
    packer: Cell<Option<Box<Packer>>>,
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

    /// How it converts.
    #[must_use]
    pub const fn conversion(&self) -> &Conversion {
        &self.conversion
    }

    /// Where what writes messages is kept.
    #[must_use]
    pub fn packer(&self) -> &Cell<Option<Box<Packer>>> {
        &self.addon.packer
    }

    /// How objects of a message are converted.
    #[must_use]
    pub fn message_options(&self, table: bool) -> message_pack::Options<'_> {
        message_pack::Options { object: self.conversion.options(), table }
    }

    /// Where its objects are made.
    #[inline(always)]
    #[must_use]
    pub fn site(&self, env: Env) -> Site<'_> {
        Site { env, builders: &self.builders, workshop: &self.addon.workshop }
    }

    /// Bytes of a source, which `array` gave, from `start` on: strings may stand over its memory if that is asked for,
    /// and if the bytes are no copy.
    #[inline(always)]
    fn input<'a>(&self, array: Value, source: &Source<'_>, bytes: &'a [u8], start: usize) -> Input<'a> {
        let shares = self.conversion.zero_copy && matches!(source, Source::Borrowed(_));
        Input { bytes, start, owner: shares.then_some(array), given: self.given(array) }
    }

    /// The array that gave a source, where something is read later.
    #[inline(always)]
    #[must_use]
    pub fn given(&self, array: Value) -> Option<Value> {
        self.conversion.lazy_json.then_some(array)
    }

    #[inline(always)]
    fn guess(&self, kind: Kind) -> &Cell<Guess> {
        match kind {
            Kind::Document => &self.row_guess,
            Kind::Change => &self.change_guess,
        }
    }

    /// The object of a document or event, or what the calling JavaScript makes it of.
    #[inline(always)]
    pub fn leave_or_make(&self, env: Env, kind: Kind, array: Value, source: &Source<'_>) -> Result<Value> {
        let site = self.site(env);
        let input = self.input(array, source, source.bytes(), 0);
        let plan =
            with_guess(self.guess(kind), |guess| js_row::read(site, kind, input, &self.conversion, guess))?;
        plan.leave_or_make(site)
    }

    /// Reads a document or event, which is `bytes` of the source, from `start` on, behind what `parts` has.
    #[inline(always)]
    pub fn read_into(
        &self,
        env: Env,
        kind: Kind,
        array: Value,
        source: &Source<'_>,
        (bytes, start): (&[u8], usize),
        parts: &mut Parts<Value>,
    ) -> Result<Layout> {
        let input = self.input(array, source, bytes, start);
        with_guess(self.guess(kind), |guess| {
            js_row::read_into(self.site(env), kind, input, &self.conversion, guess, parts)
        })
    }

    /// The fields of a cursor's document, and its batch.
    pub fn reply(&self, env: Env, cursor: &[u8]) -> Result<(Value, Batch)> {
        let site = self.site(env);
        let (plan, batch) = with_guess(&self.reply_guess, |guess| js_row::read_cursor(site, cursor, guess))?;
        Ok((plan.make(site)?, batch))
    }

    /// The identity of a document.
    pub fn id(&self, env: Env, document: &[u8]) -> Result<Value> {
        let site = self.site(env);
        let plan = with_guess(&self.addon.id_guess, |guess| js_row::read_identity(site, document, guess))?;
        env.property(plan.make(site)?, c"id")
    }
}
