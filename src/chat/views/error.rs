//! An error that the API reported.

use crate::chat::scalar::{is_none_string, member_of, nested_words, text_of};
use crate::json::{Text, Value, ValueKind};
use crate::shown::shown;

/// An error, in any place and shape that servers use: an `error` member, an event named `error`, a field `error`, a
/// choice, or a whole body.
///
/// ```
/// # use deltawire::chat::{Chunk, Index};
/// # let mut index = Index::new();
/// let chunk = Chunk::read(br#"{"error":{"message":"slow down","code":429}}"#, &mut index)?;
/// let error = chunk.error().unwrap();
/// assert_eq!(error.message().unwrap(), "slow down");
/// assert_eq!(error.code().unwrap(), "429");
/// # Ok::<(), deltawire::json::JsonError>(())
/// ```
#[derive(Clone, Copy)]
pub struct ApiError<'a> {
    body: Body<'a>,
}

#[derive(Clone, Copy)]
enum Body<'a> {
    Value(Value<'a>),
    Plain(&'a [u8]),
}

/// A part of an error. Each is a text or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorPart {
    /// What happened, in words.
    Message,
    /// `code`, `status_code`, `statusCode` or `error_code`, or the code of the first of its `errors`.
    Code,
    /// `type`, `error_type` (TGI) or a `status` in words (Google), unless it is the word `error`.
    Kind,
    /// `param`.
    Param,
}

impl<'a> ApiError<'a> {
    /// Returns the error with this raw JSON, such as [`value`](Self::value) returned.
    pub fn of(value: Value<'a>) -> Self {
        ApiError { body: Body::Value(value) }
    }

    /// Returns a part of the error as raw JSON, which [`message`](Self::message) and the other methods return as text.
    /// Returns `None` if the error came as plain text.
    pub fn part(&self, part: ErrorPart) -> Option<Value<'a>> {
        let has_text = |value: &Value<'a>| text_of(*value).is_some() && !is_none_string(*value);
        let whole = self.value()?;
        let names: &[&str] = match part {
            ErrorPart::Message if whole.kind() != ValueKind::Object => return Some(whole).filter(has_text),
            ErrorPart::Message => {
                &["message", "detail", "details", "error", "status_msg", "error_msg", "error_message", "text"]
            }
            ErrorPart::Code => &["code", "status_code", "statusCode", "error_code"],
            ErrorPart::Kind => &["type", "error_type", "status"],
            ErrorPart::Param => &["param"],
        };
        // The type `error` says nothing about the error. A status that is a number is a code, not a type.
        let is_kind = |name, value: Value<'a>| value.as_text().map_or(name == "type", |text| text != "error");
        let named = names.iter().find_map(|name| {
            let value = member_of(whole, name).filter(has_text)?;
            (part != ErrorPart::Kind || is_kind(*name, value)).then_some(value)
        });
        named.or_else(|| match part {
            ErrorPart::Message => nested_words(member_of(whole, "errors"), member_of(whole, "detail")),
            ErrorPart::Code => member_of(member_of(whole, "errors")?.element_at(&mut 0)?, "code").filter(has_text),
            ErrorPart::Kind | ErrorPart::Param => None,
        })
    }

    fn text(&self, part: ErrorPart) -> Option<Text<'a>> {
        self.part(part).and_then(text_of)
    }

    /// Returns an error that is plain text, not JSON.
    pub fn plain(text: &'a [u8]) -> Self {
        ApiError { body: Body::Plain(text) }
    }

    /// Returns the error as raw JSON, or `None` if it came as plain text.
    pub fn value(&self) -> Option<Value<'a>> {
        match self.body {
            Body::Value(value) => Some(value),
            Body::Plain(_) => None,
        }
    }

    /// Returns what happened, in words: `message`, or `detail` or `details`, or the error itself if it is a text, or
    /// the first of its `errors` or of a `detail` that is a list.
    pub fn message(&self) -> Option<Text<'a>> {
        match self.body {
            Body::Plain(text) => Some(Text::verbatim(text)).filter(|text| !text.is_empty()),
            Body::Value(_) => self.text(ErrorPart::Message),
        }
    }

    /// Returns `type`, or what [`ErrorPart::Kind`] names in its place.
    pub fn kind(&self) -> Option<Text<'a>> {
        self.text(ErrorPart::Kind)
    }

    /// Returns `param`: the part of the request that was wrong.
    pub fn param(&self) -> Option<Text<'a>> {
        self.text(ErrorPart::Param)
    }

    /// Returns `code`, or what [`ErrorPart::Code`] names in its place: a text, or a number as it is written.
    pub fn code(&self) -> Option<Text<'a>> {
        self.text(ErrorPart::Code)
    }

    /// Returns `metadata` as raw JSON.
    pub fn metadata(&self) -> Option<Value<'a>> {
        member_of(self.value()?, "metadata")
    }
}

/// Prints the whole message, with the code if there is one. Does not escape what the server sent.
impl core::fmt::Display for ApiError<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.message() {
            Some(message) => core::fmt::Display::fmt(&message, f)?,
            None => f.write_str("an error without a message")?,
        }
        self.code().or_else(|| self.kind()).map_or(Ok(()), |code| write!(f, " ({code})"))
    }
}

shown!("ApiError": ApiError<'_>, this => message: this.message(), code: this.code());
