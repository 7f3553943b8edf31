//! Log probabilities of tokens.

use crate::chat::scalar::member_of;
use crate::json::{Elements, Number, Text, Value, ValueKind};
use crate::shown::shown;

/// The `logprobs` of a choice, in the shape of chat completions or of legacy completions.
#[derive(Clone, Copy)]
pub struct Logprobs<'a> {
    value: Value<'a>,
}

/// The names of the lists of log probabilities, of either shape.
pub(crate) const LISTS: [&str; 6] = ["content", "refusal", "tokens", "token_logprobs", "top_logprobs", "text_offset"];

/// The lists of a choice's log probabilities.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lists<'a> {
    /// The known lists, by their place in [`LISTS`].
    pub(crate) known: [Option<Value<'a>>; LISTS.len()],
    /// Whether there is any list, known or not.
    pub(crate) any: bool,
}

impl<'a> Logprobs<'a> {
    pub(crate) fn of(value: Value<'a>) -> Self {
        Logprobs { value }
    }

    fn array(&self, name: &str) -> Option<Value<'a>> {
        member_of(self.value, name).filter(|value| value.kind() == ValueKind::Array)
    }

    fn tokens_of(&self, name: &str) -> TokenLogprobs<'a> {
        TokenLogprobs::of(member_of(self.value, name))
    }

    /// Returns `content[]`: the tokens of the content.
    pub fn content(&self) -> TokenLogprobs<'a> {
        self.tokens_of("content")
    }

    /// Returns `refusal[]`: the tokens of the refusal.
    pub fn refusal(&self) -> TokenLogprobs<'a> {
        self.tokens_of("refusal")
    }

    /// Returns `tokens`, as raw JSON: texts (legacy completions). The other lists of legacy completions have as many
    /// elements.
    pub fn legacy_tokens(&self) -> Option<Value<'a>> {
        self.array("tokens")
    }

    /// Returns `token_logprobs`, as raw JSON: numbers or null (legacy completions).
    pub fn legacy_token_logprobs(&self) -> Option<Value<'a>> {
        self.array("token_logprobs")
    }

    /// Returns `top_logprobs`, as raw JSON: objects from token to number, or null (legacy completions).
    pub fn legacy_top_logprobs(&self) -> Option<Value<'a>> {
        self.array("top_logprobs")
    }

    /// Returns `text_offset`, as raw JSON: numbers (legacy completions).
    pub fn legacy_text_offset(&self) -> Option<Value<'a>> {
        self.array("text_offset")
    }

    /// Finds all lists in one walk. If there are two lists with one name, the last one counts.
    pub(crate) fn lists(&self) -> Lists<'a> {
        let mut lists = Lists::default();
        for (name, value) in self.value.members().map_while(Result::ok) {
            let list = Some(value).filter(|value| value.kind() == ValueKind::Array);
            lists.any |= list.is_some();
            let known = LISTS.iter().position(|known| name == **known);
            if let Some(known) = known.and_then(|place| lists.known.get_mut(place)) {
                *known = list;
            }
        }
        lists
    }

    /// Returns the whole as raw JSON.
    pub fn value(&self) -> Value<'a> {
        self.value
    }
}

shown!("Logprobs": Logprobs<'_>, this => value: this.value);

/// Iterates over tokens with their log probabilities, in order. Ends at the first element that is malformed.
#[derive(Clone, Debug)]
pub struct TokenLogprobs<'a> {
    elements: Option<Elements<'a>>,
}

impl<'a> TokenLogprobs<'a> {
    /// Returns the elements of an array, or none of any other value.
    fn of(array: Option<Value<'a>>) -> Self {
        TokenLogprobs { elements: array.map(|array| array.elements()) }
    }
}

impl<'a> Iterator for TokenLogprobs<'a> {
    type Item = TokenLogprob<'a>;

    fn next(&mut self) -> Option<TokenLogprob<'a>> {
        let value = self.elements.as_mut()?.next()?.ok()?;
        Some(TokenLogprob { value })
    }
}

/// A token and how likely it was.
#[derive(Clone, Copy)]
pub struct TokenLogprob<'a> {
    value: Value<'a>,
}

impl<'a> TokenLogprob<'a> {
    /// Returns `token`, which may be the empty text.
    pub fn token(&self) -> Option<Text<'a>> {
        member_of(self.value, "token")?.as_text()
    }

    /// Returns `logprob`, which is -9999.0 for a very unlikely token.
    pub fn logprob(&self) -> Option<Number<'a>> {
        member_of(self.value, "logprob")?.as_number()
    }

    /// Returns `bytes`: the token's UTF-8 bytes, which may be part of a character. Returns `None` if it is null.
    pub fn bytes(&self) -> Option<TokenBytes<'a>> {
        let value = member_of(self.value, "bytes").filter(|value| value.kind() == ValueKind::Array)?;
        Some(TokenBytes { elements: value.elements() })
    }

    /// Returns `top_logprobs[]`: the likeliest tokens in this place.
    pub fn top_logprobs(&self) -> TokenLogprobs<'a> {
        TokenLogprobs::of(member_of(self.value, "top_logprobs"))
    }

    /// Returns the whole as raw JSON.
    pub fn value(&self) -> Value<'a> {
        self.value
    }
}

shown!("TokenLogprob": TokenLogprob<'_>, this => token: this.token(), logprob: this.logprob().map(|number| number.as_str()));

/// Iterates over the bytes of a token. Ends at an element that is no byte.
#[derive(Clone, Debug)]
pub struct TokenBytes<'a> {
    elements: Elements<'a>,
}

impl Iterator for TokenBytes<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let number = self.elements.next()?.ok()?.as_number()?.to_u64()?;
        u8::try_from(number).ok()
    }
}
