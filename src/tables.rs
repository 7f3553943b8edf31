//! The memory for state of choices and tool calls.

/// A table of choices with rows `A` and a table of tool calls with rows `B`: [`Arrays`], or borrowed slices ([`Lent`]).
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

/// Prints sizes.
macro_rules! sizes {
    ($name:literal: $type:ty, $($bounds:tt)*) => {
        impl<$($bounds)*> core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct($name).field("choices", &self.choices.len()).field("calls", &self.calls.len()).finish()
            }
        }
    };
}
sizes!("Arrays": Arrays<A, B, CHOICES, CALLS>, A, B, const CHOICES: usize, const CALLS: usize);
sizes!("Lent": Lent<'_, A, B>, A: 'static, B: 'static);

/// Tables whose sizes are known at compile time.
#[derive(Clone)]
pub struct Arrays<A, B, const CHOICES: usize, const CALLS: usize> {
    /// The rows of choices.
    pub choices: [A; CHOICES],
    /// The rows of tool calls.
    pub calls: [B; CALLS],
}

impl<A: 'static, B: 'static, const CHOICES: usize, const CALLS: usize> Tables<A, B> for Arrays<A, B, CHOICES, CALLS> {
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

/// Tables in memory that a caller lends.
#[doc(hidden)]
pub struct Lent<'t, A: 'static, B: 'static> {
    /// The rows of choices.
    pub choices: &'t mut [A],
    /// The rows of tool calls.
    pub calls: &'t mut [B],
}

impl<A: 'static, B: 'static> Tables<A, B> for Lent<'_, A, B> {
    #[inline(always)]
    fn choices(&self) -> &[A] {
        self.choices
    }
    #[inline(always)]
    fn calls(&self) -> &[B] {
        self.calls
    }
    #[inline(always)]
    fn both_mut(&mut self) -> (&mut [A], &mut [B]) {
        (self.choices, self.calls)
    }
}
