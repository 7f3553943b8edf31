//! Raw JSON.

use crate::json::Value;
use alloc::vec::Vec;
use core::fmt;

/// A JSON value, as its bytes. With feature `serde` it serializes as its [value](Self::value) does.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson {
    pub(super) bytes: Vec<u8>,
}

impl RawJson {
    /// Returns its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the value, to read it.
    pub fn value(&self) -> Value<'_> {
        Value::from_raw(&self.bytes)
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.value(), f)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for RawJson {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}
