//! The named deviations of real event streams.
//!
//! A quirk is a deviation that a strict reader would reject and that this parser accepts and reports. `docs/quirks.md`
//! describes each; the code of a quirk ([`Quirk::code`]) is its row there.

use crate::words::c_str;
use core::fmt;

/// Defines [`Quirk`] from a table: its name, its number, which is part of the C interface, the code of its row in
/// `docs/quirks.md`, and its description. The documentation of a quirk is its code, its description and the comment in
/// the table.
macro_rules! quirks {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $code:literal, $text:literal;)*) => {
        /// A named deviation that the parser accepts. `docs/quirks.md` describes each, in the row with its code.
        ///
        /// ```
        /// use deltawire::Quirk;
        /// assert_eq!(Quirk::ContinuedPayload.code(), "F6");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        #[allow(rustdoc::broken_intra_doc_links)] // `[DONE]` is no link.
        pub enum Quirk {
            $(#[doc = concat!($code, ": ", $text, ".")] $(#[$doc])* $name = $number,)*
        }

        impl Quirk {
            /// All quirks, in the order of their numbers.
            pub const ALL: &'static [Quirk] = &[$(Quirk::$name),*];

            /// Returns the code of its row in `docs/quirks.md`. Several quirks may share a row.
            pub const fn code(self) -> &'static str {
                match self { $(Quirk::$name => $code,)* }
            }

            /// Returns a description of one line.
            pub const fn text(self) -> &'static str {
                match self { $(Quirk::$name => $text,)* }
            }

            /// Returns its name in this enumeration.
            pub const fn name(self) -> &'static str {
                match self { $(Quirk::$name => stringify!($name),)* }
            }

            /// Returns code, name and description, each NUL-terminated, for C.
            pub const fn c_strs(self) -> [&'static core::ffi::CStr; 3] {
                match self { $(Quirk::$name => {
                    const STRS: [&core::ffi::CStr; 3] = [
                        c_str(concat!($code, "\0")),
                        c_str(concat!(stringify!($name), "\0")),
                        c_str(concat!($text, "\0")),
                    ];
                    STRS
                })* }
            }
        }
    };
}

quirks! {
    /// For example, a JSON object printed on several lines.
    ContinuedPayload = 0, "F6", "a payload continued in lines without `data:`";
    KeepAliveData = 1, "F8", "a keep-alive was sent as data";
    LongId = 2, "F11", "an event ID over the limit was ignored";
    UnterminatedEvent = 3, "F12", "the last event had no blank line after it";
    IllFormedUtf8 = 4, "F13", "ill-formed UTF-8 was replaced by U+FFFD";
    ErrorField = 5, "F18", "an error came as a field named `error`";
    JsonBody = 6, "F20", "a JSON body came instead of an event stream";
    Ndjson = 7, "F21", "several JSON values came instead of an event stream";
    JsonBetweenEvents = 8, "F23", "a JSON value without `data:` came between events";
    EventAfterDone = 9, "F25", "something came after [DONE]";
    BareDone = 10, "F26", "[DONE] came without `data:`";
    NullChunk = 11, "C3", "a chunk or its choices were null";
    /// The choice counts as choice 0.
    MissingChoiceIndex = 12, "C4", "a choice had no index";
    UnknownContentPart = 13, "C8", "a content part of an unknown type was left out";
    OddIndex = 14, "C14", "an index was negative, a string or another odd value";
    /// The new call has another ID, or none.
    ReusedCallIndex = 15, "C15", "another tool call came under an index already in use";
    ArgumentsNotText = 16, "C18", "tool call arguments were JSON instead of text";
    ArgumentsAfterEnd = 17, "C19", "tool call arguments continued after they were complete";
    DeltaAfterFinish = 18, "C23", "a choice continued after its finish reason";
    SecondFinish = 19, "C23", "a choice had more than one finish reason";
    OddType = 20, "C27", "a known member had a value of an unexpected type";
    LoneSurrogate = 21, "C31", "half a surrogate pair was replaced by U+FFFD";
    /// The last one counts.
    DuplicateMember = 22, "C32", "a known member came twice in one object";
    NoneString = 23, "C32", "the string \"None\" or \"null\" came instead of null";
    RawControl = 24, "C33", "a string contained a raw control character";
    BadEscape = 25, "C33", "an escape that JSON does not define was kept unchanged";
    /// The call keeps its first ID.
    ChangedCallId = 26, "C16", "a fragment of a tool call came with another ID";
    ReplacedMessage = 27, "C35", "a message so far does not continue the one before, or a response began before another ended";
    /// The `data` lines of the block are events that ended with a single line end.
    SeveralValues = 28, "F28", "one block held several JSON values";
    /// The event is passed on as it came.
    ForeignEvent = 29, "F29", "an event of another protocol came";
    /// Gemini sends them in `partialArgs`.
    PartialArguments = 30, "C36", "arguments came by path: deltas have them as members of the call, a message joins them";
    OddItemIndex = 31, "C37", "an event of Responses had no output_index, or that of another output item";
    /// The deltas stay as they were emitted.
    ChangedText = 32, "C38", "a finished text or tool call of Responses differs from its deltas";
    DeltaAfterDone = 33, "C39", "a delta of Responses came after its text was done";
    /// [`Native`](crate::Update::Native) updates have it.
    UnknownText = 34, "C40", "a text came in members or events that nobody documents";
    GuessedCall = 35, "C41", "a fragment without ID and name, under another index, continued the call opened last";
    NamelessCall = 36, "C41", "a fragment without ID and name opened a tool call";
    /// The texts are joined as they came.
    RepeatedText = 37, "C42", "deltas repeated the text before them: each has all of it so far, or it came once more";
    BrokenArguments = 38, "C43", "a choice finished while the arguments of a tool call were cut or no JSON";
    /// The other members of the token stay.
    NotANumber = 39, "C44", "a log probability was NaN or Infinity, which JSON does not have";
}

impl fmt::Display for Quirk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// A set of quirks.
///
/// ```
/// use deltawire::{Quirk, QuirkSet};
/// let set = QuirkSet::from(Quirk::BareDone) | Quirk::JsonBody;
/// assert!(set.contains(Quirk::JsonBody));
/// assert_eq!(set.iter().count(), 2);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct QuirkSet(u64);

impl QuirkSet {
    /// The empty set.
    pub const EMPTY: QuirkSet = QuirkSet(0);
    /// Every quirk, including those of later versions, except [`RepeatedText`](Quirk::RepeatedText): a model may repeat
    /// itself, so who makes that an error must name it.
    pub const ALL: QuirkSet = QuirkSet(!(1 << Quirk::RepeatedText as u8));

    /// Whether the set contains no quirk.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set contains `quirk`.
    #[inline]
    pub const fn contains(self, quirk: Quirk) -> bool {
        self.0 >> (quirk as u8) & 1 != 0
    }

    /// Adds `quirk`.
    #[inline]
    pub fn insert(&mut self, quirk: Quirk) {
        self.0 |= 1 << (quirk as u8);
    }

    /// Removes `quirk`.
    #[inline]
    pub fn remove(&mut self, quirk: Quirk) {
        self.0 &= !(1 << (quirk as u8));
    }

    /// Returns the quirks in both sets.
    #[inline]
    pub const fn and(self, other: QuirkSet) -> QuirkSet {
        QuirkSet(self.0 & other.0)
    }

    /// Iterates over the quirks, in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = Quirk> {
        Quirk::ALL.iter().copied().filter(move |&quirk| self.contains(quirk))
    }
}

impl From<Quirk> for QuirkSet {
    #[inline]
    fn from(quirk: Quirk) -> Self {
        QuirkSet(1 << (quirk as u8))
    }
}

impl<T: Into<QuirkSet>> core::ops::BitOr<T> for QuirkSet {
    type Output = QuirkSet;
    #[inline]
    fn bitor(self, other: T) -> QuirkSet {
        QuirkSet(self.0 | other.into().0)
    }
}

impl<T: Into<QuirkSet>> core::ops::BitOrAssign<T> for QuirkSet {
    #[inline]
    fn bitor_assign(&mut self, other: T) {
        self.0 |= other.into().0;
    }
}

impl FromIterator<Quirk> for QuirkSet {
    fn from_iter<I: IntoIterator<Item = Quirk>>(quirks: I) -> Self {
        quirks.into_iter().fold(QuirkSet::EMPTY, |set, quirk| set | quirk)
    }
}

impl fmt::Debug for QuirkSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::{Quirk, QuirkSet};
    use std::format;
    use std::vec::Vec;

    #[test]
    fn a_set_contains_what_was_inserted_and_not_removed() {
        let all: QuirkSet = Quirk::ALL.iter().copied().collect();
        for (number, &quirk) in Quirk::ALL.iter().enumerate() {
            assert_eq!(quirk as usize, number);
            let mut one = QuirkSet::EMPTY;
            one.insert(quirk);
            assert_eq!((one, one.is_empty()), (QuirkSet::from(quirk), false));
            assert_eq!(one.iter().collect::<Vec<_>>(), [quirk]);
            let mut others = all;
            others.remove(quirk);
            others.remove(quirk);
            let rest: Vec<_> = Quirk::ALL.iter().copied().filter(|&other| other != quirk).collect();
            assert_eq!(others.iter().collect::<Vec<_>>(), rest);
            assert_eq!((others.and(one), others | one), (QuirkSet::EMPTY, all));
            let named = others | Quirk::RepeatedText;
            assert_eq!((all.and(one), (QuirkSet::ALL | Quirk::RepeatedText).and(named)), (one, named));
        }
    }

    #[test]
    fn quirks_display_as_text() {
        assert_eq!(format!("{}", Quirk::LongId), "an event ID over the limit was ignored");
        let set = QuirkSet::from(Quirk::BareDone) | Quirk::LongId;
        assert_eq!(format!("{set:?}"), "{LongId, BareDone}");
    }
}
