//! The text form of the IR, both ways: `print` says what it looks like, `parse` reads it back, looking up intrinsics by their names.

mod parse;
mod print;

pub use parse::{ParseError, parse_kernel};
