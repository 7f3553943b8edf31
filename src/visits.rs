//! Counts the bytes that are read, in unit tests only, which check that the work is linear in the length of the input.
//! Elsewhere `visit!` compiles to nothing and does not evaluate its argument.
//!
//! A byte counts each time it is loaded or copied within the library. A kernel that loads a block reads all of it. A row
//! of a table of choices or calls counts as a byte each time the table is searched.

/// Counts so many bytes as read.
macro_rules! visit {
    ($bytes:expr) => {{
        #[cfg(test)]
        $crate::visits::add($bytes);
    }};
}
pub(crate) use visit;

#[cfg(test)]
pub(crate) use counted::{add, during};

#[cfg(test)]
mod counted {
    extern crate std;
    use core::cell::Cell;

    std::thread_local! {
        static VISITS: Cell<u64> = const { Cell::new(0) };
    }

    pub(crate) fn add(bytes: usize) {
        VISITS.with(|visits| visits.set(visits.get().wrapping_add(bytes as u64)));
    }

    /// Returns how many bytes `f` reads on this thread.
    pub(crate) fn during<T>(f: impl FnOnce() -> T) -> (T, u64) {
        let before = VISITS.with(Cell::get);
        let result = f();
        (result, VISITS.with(Cell::get).wrapping_sub(before))
    }
}
