//! How many bytes are looked at: counted in the unit tests alone, so that they can hold the work to the length of the
//! input. Elsewhere `visit!` is nothing, its argument included.
//!
//! A byte counts each time that it is loaded to be looked at, or copied within the library. A kernel that loads a block
//! has looked at all of it.

/// Counts bytes that are looked at.
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

    /// How many bytes `f` looks at on this thread.
    pub(crate) fn during<T>(f: impl FnOnce() -> T) -> (T, u64) {
        let before = VISITS.with(Cell::get);
        let result = f();
        (result, VISITS.with(Cell::get).wrapping_sub(before))
    }
}
