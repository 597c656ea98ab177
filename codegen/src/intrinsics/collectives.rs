//! The names of the block's collectives, for places in the source, messages and the simulator. What they do is [`crate::ir::Collective`].

use crate::ir::intrinsic::{Body, Call, Class, Intrinsic};

/// A name. It is never an instruction by itself, so nothing is made of it.
const fn name(name: &'static str, doc: &'static str) -> Intrinsic {
    Intrinsic::new(name, Call::Collective, Class::None, &[], &[], Body::Expand(|_, _| Vec::new())).doc(doc)
}

/// From a matrix into a shared array.
pub(crate) const LOAD_TILE: &str = "load_tile";
/// From a shared array into a matrix.
pub(crate) const STORE_TILE: &str = "store_tile";

/// The product of two shared arrays, added to sums.
pub(crate) const MULTIPLY_ADD: &str = "multiply_add";

/// What says that a factor's rows are its columns.
pub(crate) const TRANSPOSED: &str = "transposed";

/// The names that products have, which are [`crate::ir::Tensor`].
pub(crate) const PRODUCTS: [&str; 2] = [MULTIPLY_ADD, TRANSPOSED];

pub(super) const ROWS: &[Intrinsic] = &[
    name("load_run", "copies neighbouring elements of a buffer into a shared array, zero where there are none"),
    name(LOAD_TILE, "copies a part of a matrix into a shared array of rows, zero outside of the matrix"),
    name(MULTIPLY_ADD, "adds the product of two shared arrays of rows to an `Accumulator`"),
    name(TRANSPOSED, "of a factor of `multiply_add`: its rows are the columns"),
    name(STORE_TILE, "copies a shared array of rows into a part of a matrix, except what would be outside of it"),
];
