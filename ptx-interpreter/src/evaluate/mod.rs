//! What single instructions give, value by value.

pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod format;
pub(crate) mod integer;
