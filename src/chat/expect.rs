//! The value that is expected of a member, and the quirk that any other value has.

use super::scalar::is_none_string;
use crate::json::{Value, ValueKind, ValueKinds};
use crate::{Quirk, QuirkSet};

/// The kinds of values that need no second look, and the rule for the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Expect {
    plain: ValueKinds,
    rule: Rule,
}

/// The rule for a value that needs a second look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Any value is odd.
    Odd,
    /// The strings "None" and "null" are flagged as such; anything else is odd.
    NoneOrOdd,
    /// The strings "None" and "null" are flagged; anything else is right.
    None,
    /// A string is right, but "None" and "null" are flagged; anything else is odd.
    Word,
    /// A number without fraction and exponent is right.
    Integer,
    /// An index is a plain integer, not negative.
    Index,
    /// An object is right if its arguments are text; otherwise as `NoneOrOdd`.
    Function,
    /// Null is flagged as a null chunk; otherwise as `NoneOrOdd`.
    Choices,
    /// Any value is flagged as arguments that are not text.
    Arguments,
}

/// The number of a member in its index, and the rule for its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct MemberRule {
    member: u8,
    expect: Expect,
}

impl MemberRule {
    pub(super) const fn new(member: usize, expect: Expect) -> Self {
        MemberRule { member: member as u8, expect }
    }

    /// Returns the number of the member. A member without a place has a number beyond those of any index.
    #[inline(always)]
    pub(super) fn member(self) -> usize {
        usize::from(self.member)
    }

    /// Returns the kinds of values that need no second look.
    #[inline(always)]
    pub(super) fn plain(self) -> ValueKinds {
        self.expect.plain
    }

    /// What is odd about a value that is not of the plain kinds.
    pub(super) fn judge(self, value: Value<'_>) -> QuirkSet {
        self.expect.rule.judge(value)
    }
}

impl Rule {
    /// What is odd about a value that is not of the plain kinds.
    fn judge(self, value: Value<'_>) -> QuirkSet {
        let none_or = |quirk| QuirkSet::from(if is_none_string(value) { Quirk::NoneString } else { quirk });
        let when = |odd: bool, quirk| if odd { QuirkSet::from(quirk) } else { QuirkSet::EMPTY };
        match (self, value.kind()) {
            (Rule::Choices, ValueKind::Null) => Quirk::NullChunk.into(),
            (Rule::None, _) | (Rule::Word, ValueKind::String) => when(is_none_string(value), Quirk::NoneString),
            (Rule::Integer, ValueKind::Number) => {
                when(value.raw().iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')), Quirk::OddType)
            }
            (Rule::Index, ValueKind::Number) => {
                when(value.raw().iter().any(|byte| !byte.is_ascii_digit()), Quirk::OddIndex)
            }
            (Rule::Index, _) => Quirk::OddIndex.into(),
            (Rule::Function, ValueKind::Object) => {
                let arguments = value.get("arguments").ok().flatten();
                let odd = arguments.is_some_and(|value| !matches!(value.kind(), ValueKind::String | ValueKind::Null));
                when(odd, Quirk::ArgumentsNotText)
            }
            (Rule::Arguments, _) => Quirk::ArgumentsNotText.into(),
            (Rule::NoneOrOdd | Rule::Choices | Rule::Function, _) => none_or(Quirk::OddType),
            (Rule::Odd | Rule::Word | Rule::Integer, _) => Quirk::OddType.into(),
        }
    }
}

impl Expect {
    const fn new(plain: ValueKinds, rule: Rule) -> Self {
        Expect { plain, rule }
    }

    pub(super) const ANY: Expect = Expect::new(ValueKinds::ANY, Rule::Odd);
    pub(super) const TEXT: Expect = Expect::new(ValueKinds::STRING.or(ValueKinds::NULL), Rule::Odd);
    pub(super) const OBJECT: Expect = Expect::new(ValueKinds::OBJECT.or(ValueKinds::NULL), Rule::NoneOrOdd);
    /// A list is expected, and walked elsewhere. This is for any other value in its place.
    pub(super) const LIST: Expect = Expect::new(ValueKinds::NULL, Rule::NoneOrOdd);
    pub(super) const ERROR: Expect = Expect::new(ValueKinds::NULL, Rule::None);
    pub(super) const REASON: Expect = Expect::new(ValueKinds::NULL, Rule::Word);
    pub(super) const TIME: Expect = Expect::new(ValueKinds::NULL, Rule::Integer);
    pub(super) const INDEX: Expect = Expect::new(ValueKinds::NULL, Rule::Index);
    pub(super) const FUNCTION: Expect = Expect::new(ValueKinds::NULL, Rule::Function);
    pub(super) const CHOICES: Expect = Expect::new(ValueKinds::NONE, Rule::Choices);
    pub(super) const ARGUMENTS: Expect = Expect::new(ValueKinds::STRING.or(ValueKinds::NULL), Rule::Arguments);
}
