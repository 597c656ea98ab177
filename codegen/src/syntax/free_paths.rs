//! The names a unit takes from outside: constants and device functions that the macro must hand in.

use proc_macro2::Span;

/// What a free path is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FreePathKind {
    /// As a value: a constant.
    Constant,
    /// Called: a `#[device]` function.
    Function,
    /// As a type: a `#[device]` struct or enum, or the `T` of `T::method(…)`, `T { … }`.
    Type,
}

/// A path that is not defined in the unit nor known to the language.
#[derive(Clone)]
pub struct FreePath {
    /// As written, without generic arguments.
    pub path: syn::Path,
    /// As written without spaces: the key of [`super::Unit::externs`].
    pub key: String,
    /// What it is used as.
    pub kind: FreePathKind,
    /// Where it is first used.
    pub span: Span,
}

/// The free paths of items, each once, in order of first use.
pub fn free_paths(_items: &[syn::Item]) -> Vec<FreePath> {
    Vec::new()
}
