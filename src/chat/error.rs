//! An error that the API reported.

use super::{member_of, text_of};
use crate::json::{Kind, Text, Value};

/// An error, in whatever place and shape it came: an `error` member, an event named `error`, a field `error`, a choice,
/// or a whole body.
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

impl<'a> ApiError<'a> {
    pub(crate) fn of(value: Value<'a>) -> Self {
        ApiError { body: Body::Value(value) }
    }

    pub(crate) fn plain(text: &'a [u8]) -> Self {
        ApiError { body: Body::Plain(text) }
    }

    /// The error as raw JSON; None if it came as plain text.
    pub fn value(&self) -> Option<Value<'a>> {
        match self.body {
            Body::Value(value) => Some(value),
            Body::Plain(_) => None,
        }
    }

    fn member(&self, name: &str) -> Option<Value<'a>> {
        self.value().and_then(|value| member_of(value, name))
    }

    /// What happened, in words: `message`, or `detail` or `details`, or the error itself if it is a text.
    pub fn message(&self) -> Option<Text<'a>> {
        match self.body {
            Body::Plain(text) => Some(Text::verbatim(text)).filter(|text| !text.is_empty()),
            Body::Value(value) if value.kind() != Kind::Object => text_of(value),
            Body::Value(_) => {
                let known = ["message", "detail", "details", "error"];
                known.iter().find_map(|name| self.member(name).and_then(text_of))
            }
        }
    }

    /// `type`.
    pub fn kind(&self) -> Option<Text<'a>> {
        self.member("type").and_then(text_of)
    }

    /// `param`: what in the request was wrong.
    pub fn param(&self) -> Option<Text<'a>> {
        self.member("param").and_then(text_of)
    }

    /// `code`: a text, or a number as it is written.
    pub fn code(&self) -> Option<Text<'a>> {
        self.member("code").and_then(text_of)
    }

    /// `metadata` as raw JSON.
    pub fn metadata(&self) -> Option<Value<'a>> {
        self.member("metadata")
    }
}

impl core::fmt::Debug for ApiError<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ApiError").field("message", &self.message()).field("code", &self.code()).finish()
    }
}
