//! Byte searches.

pub(crate) mod find;
