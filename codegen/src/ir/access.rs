//! A place in memory, as the source names it: an object and the steps into it.

use super::{Object, Value};

/// One step into an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Into an array or slice, by an integer value (`u32`, or `u64` with `index = 64`).
    Index(Value),
    /// Into a struct, by field number.
    Field(u32),
}

/// A place: `m0[v3].1[v5]`. Kept whole until addresses are made, so that analyses and readable back ends see the indices.
///
/// Invariant: the path leads from the object's type to a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The object.
    pub object: Object,
    /// The steps, outermost first.
    pub path: Vec<Step>,
}

impl Access {
    /// The values that index it, outermost first.
    pub fn indices(&self) -> impl Iterator<Item = Value> + '_ {
        self.path.iter().filter_map(|step| match step {
            Step::Index(value) => Some(*value),
            Step::Field(_) => None,
        })
    }
}
