//! The text form, printed.
