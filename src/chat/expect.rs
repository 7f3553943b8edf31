//! Which values are expected of a member, and the quirk of any other value.

use super::scalar::is_none_string;
use crate::json::{Value, ValueKind, ValueKinds};
use crate::{Quirk, QuirkSet};

/// The expected kinds of values of a member, which are right whatever the value is, and the rule for values of other
/// kinds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Expect {
    kinds: ValueKinds,
    rule: Rule,
}

/// The rule for a value that is not of the expected kinds. A value that is flagged is reported as a quirk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Any value is odd: flagged as a value of an unexpected type.
    Odd,
    /// The strings "None" and "null" are flagged as such; any other value is odd.
    NoneOrOdd,
    /// The strings "None" and "null" are flagged; any other value is right.
    None,
    /// A string is right, but "None" and "null" are flagged; any other value is odd.
    Word,
    /// A number without fraction and exponent is right; any other value is odd.
    Integer,
    /// A number of digits alone is right; any other value is flagged as an odd index.
    Index,
    /// An object is right, but arguments that are not text are flagged. For any other value the rule is `NoneOrOdd`.
    Function,
    /// Null is flagged as a null chunk. For any other value the rule is `NoneOrOdd`.
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

    /// Returns the number of the member. A member that no index stores has a number beyond those of any index.
    #[inline(always)]
    pub(super) fn member(self) -> usize {
        usize::from(self.member)
    }

    /// Returns the expected kinds of values.
    #[inline(always)]
    pub(super) fn kinds(self) -> ValueKinds {
        self.expect.kinds
    }

    /// Returns the quirk of a value that is not of the expected kinds, if it has one.
    pub(super) fn judge(self, value: Value<'_>) -> QuirkSet {
        self.expect.rule.judge(value)
    }
}

impl Rule {
    /// Returns the quirk of a value that is not of the expected kinds, if it has one.
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
    const fn new(kinds: ValueKinds, rule: Rule) -> Self {
        Expect { kinds, rule }
    }

    pub(super) const ANY: Expect = Expect::new(ValueKinds::ANY, Rule::Odd);
    pub(super) const TEXT: Expect = Expect::new(ValueKinds::STRING.or(ValueKinds::NULL), Rule::Odd);
    pub(super) const OBJECT: Expect = Expect::new(ValueKinds::OBJECT.or(ValueKinds::NULL), Rule::NoneOrOdd);
    /// For a value in the place of a list. Lists are walked instead.
    pub(super) const LIST: Expect = Expect::new(ValueKinds::NULL, Rule::NoneOrOdd);
    pub(super) const ERROR: Expect = Expect::new(ValueKinds::NULL, Rule::None);
    pub(super) const REASON: Expect = Expect::new(ValueKinds::NULL, Rule::Word);
    pub(super) const TIME: Expect = Expect::new(ValueKinds::NULL, Rule::Integer);
    pub(super) const INDEX: Expect = Expect::new(ValueKinds::NULL, Rule::Index);
    pub(super) const FUNCTION: Expect = Expect::new(ValueKinds::NULL, Rule::Function);
    pub(super) const CHOICES: Expect = Expect::new(ValueKinds::NONE, Rule::Choices);
    pub(super) const ARGUMENTS: Expect = Expect::new(ValueKinds::STRING.or(ValueKinds::NULL), Rule::Arguments);
}
