//! The memory for the state of choices and tool calls.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// A table of choices with rows `A` and a table of tool calls with rows `B`: [`Arrays`], or slices that the caller lends.
pub trait Tables<A: 'static, B: 'static> {
    /// The rows of choices.
    fn choices(&self) -> &[A];
    /// The rows of tool calls.
    fn calls(&self) -> &[B];
    /// Returns both tables, mutably.
    fn both_mut(&mut self) -> (&mut [A], &mut [B]);
    /// Returns the rows of choices, mutably.
    #[inline(always)]
    fn choices_mut(&mut self) -> &mut [A] {
        self.both_mut().0
    }
    /// Returns the rows of tool calls, mutably.
    #[inline(always)]
    fn calls_mut(&mut self) -> &mut [B] {
        self.both_mut().1
    }
}

/// Implements [`Tables`] for a struct with the fields `choices` and `calls`, and a `Debug` that prints their sizes.
macro_rules! tables {
    ($name:literal: $type:ty, $($bounds:tt)*) => {
        impl<A: 'static, B: 'static, $($bounds)*> Tables<A, B> for $type {
            #[inline(always)]
            fn choices(&self) -> &[A] {
                &self.choices
            }
            #[inline(always)]
            fn calls(&self) -> &[B] {
                &self.calls
            }
            #[inline(always)]
            fn both_mut(&mut self) -> (&mut [A], &mut [B]) {
                (&mut self.choices, &mut self.calls)
            }
        }

        impl<A, B, $($bounds)*> core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct($name).field("choices", &self.choices.len()).field("calls", &self.calls.len()).finish()
            }
        }
    };
}
tables!("Arrays": Arrays<A, B, CHOICES, CALLS>, const CHOICES: usize, const CALLS: usize);
tables!("Lent": Lent<'_, A, B>,);
#[cfg(feature = "alloc")]
tables!("Heap": Heap<A, B>,);

/// Tables whose sizes are known at compile time.
#[derive(Clone)]
pub struct Arrays<A, B, const CHOICES: usize, const CALLS: usize> {
    /// The rows of choices.
    pub choices: [A; CHOICES],
    /// The rows of tool calls.
    pub calls: [B; CALLS],
}

/// Tables in memory that a caller lends.
#[doc(hidden)]
pub struct Lent<'t, A, B> {
    /// The rows of choices.
    pub choices: &'t mut [A],
    /// The rows of tool calls.
    pub calls: &'t mut [B],
}

/// Tables on the heap, whose sizes are fixed when they are created.
#[cfg(feature = "alloc")]
#[derive(Clone)]
#[doc(hidden)]
pub struct Heap<A, B> {
    choices: Vec<A>,
    calls: Vec<B>,
}

#[cfg(feature = "alloc")]
impl<A: Clone, B: Clone> Heap<A, B> {
    /// Creates tables with copies of these rows, each as often as the number after it. Returns `None` if an allocation
    /// fails.
    pub(crate) fn new((choice, choices): (A, u16), (call, calls): (B, u16)) -> Option<Self> {
        let mut tables = Heap { choices: Vec::new(), calls: Vec::new() };
        tables.choices.try_reserve_exact(choices.into()).ok()?;
        tables.calls.try_reserve_exact(calls.into()).ok()?;
        tables.choices.resize(choices.into(), choice);
        tables.calls.resize(calls.into(), call);
        Some(tables)
    }
}
