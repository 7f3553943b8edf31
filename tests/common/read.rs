//! Reads a stream in one call. Returns its log in the format of `tests/quirks/README.md`.

use super::drive;
use super::event_log::{Detail, Logs};
use super::input::storage;
use deltawire::{Config, Parser, Storage};

/// The storage for a cut event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// A slice of this length.
    Fixed(usize),
    #[cfg(feature = "alloc")]
    Growing,
}

/// How to read a stream.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// Offsets of the cuts, in order.
    pub cuts: &'a [usize],
    pub store: Store,
    pub config: Config,
    /// Whether the handler requests a pause at every call.
    pub pause: bool,
    pub detail: Detail,
}

impl How<'_> {
    pub fn whole(store: Store, config: Config) -> Self {
        How { cuts: &[], store, config, pause: false, detail: Detail::Lines }
    }
}

impl Store {
    /// Runs `f` with such a storage. All have one type, so that what reads with them is compiled once.
    pub fn with<R>(self, f: impl FnOnce(&mut dyn Storage) -> R) -> R {
        match self {
            Store::Fixed(len) => f(&mut &mut *storage(len)),
            #[cfg(feature = "alloc")]
            Store::Growing => f(&mut deltawire::Growing::new()),
        }
    }
}

/// Reads with [`Parser::feed`].
pub fn push(input: &[u8], how: &How<'_>) -> Logs {
    let pause = usize::from(how.pause);
    how.store
        .with(|storage| drive::push(&mut Parser::with_config(storage, how.config), input, how.cuts, pause, how.detail))
}

/// Reads with [`Parser::next`].
pub fn pull(input: &[u8], how: &How<'_>) -> Logs {
    how.store.with(|storage| {
        let mut parser = Parser::with_config(storage, how.config);
        drive::pull(&mut parser, input, how.cuts, how.detail, |_| ())
    })
}
