//! Reads a stream in one call. Returns its log in the format of `tests/quirks/README.md`.

use super::drive;
use super::event_log::{Detail, Logs};
use deltawire::{Config, Parser};

/// The storage for a cut event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// `[u8; N]`, for the sizes that `with_store` knows.
    Fixed(usize),
    /// `&mut [u8]` of any length.
    Borrowed(usize),
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

macro_rules! with_store {
    ($how:expr, $storage:ident => $body:expr) => {
        match $how.store {
            #[cfg(feature = "alloc")]
            Store::Growing => {
                let $storage = deltawire::Growing::new();
                $body
            }
            Store::Borrowed(len) => {
                let mut memory = vec![0xAAu8; len];
                let $storage = &mut memory[..];
                $body
            }
            Store::Fixed(len) => with_store!(@fixed len, $storage => $body, 0, 16, 32, 48, 64, 128, 256, 8192, 32768),
        }
    };
    (@fixed $len:ident, $storage:ident => $body:expr, $($known:literal),*) => {
        match $len {
            $($known => {
                let $storage = [0x55u8; $known];
                $body
            })*
            len => panic!("no fixed storage of {len} bytes is compiled in"),
        }
    };
}

/// Reads with [`Parser::feed`].
pub fn push(input: &[u8], how: &How<'_>) -> Logs {
    let pause = usize::from(how.pause);
    with_store!(how, storage => {
        drive::push(&mut Parser::with_config(storage, how.config), input, how.cuts, pause, how.detail)
    })
}

/// Reads with [`Parser::next`] and a separate tracker.
pub fn pull(input: &[u8], how: &How<'_>) -> Logs {
    with_store!(how, storage => {
        let mut parser = Parser::<_, 2, ()>::with_tracker(storage, how.config, ());
        drive::pull(&mut parser, input, how.cuts, how.detail, |_| ())
    })
}
