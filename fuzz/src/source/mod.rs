//! One generator of kernels over the whole language, as source text.
//!
//! A kernel is drawn from a [`Random`]: what it is depends on nothing but the numbers drawn, so that it can be made smaller by fewer and smaller numbers. Nothing in it
//! is undefined: each thread writes elements of its own, what threads exchange stands between barriers, atomics commute, indices are in range, divisors are not
//! zero. What no device fixes (bits of NaN, signs of zeros that `min` chooses, the order of float sums) is never looked at.

mod annotations;
mod arithmetic;
mod atomics;
mod batches;
mod block;
mod clusters;
pub mod contents;
mod engine;
mod expressions;
pub mod features;
mod flags;
mod float8s;
mod functions;
mod indices;
mod items;
mod kernel;
mod layouts;
mod literals;
mod loads;
mod loops;
mod matches;
pub mod metamorphic;
mod methods;
pub mod names;
mod narrow;
mod options;
mod parameters;
mod patterns;
mod products;
mod records;
mod scope;
mod slices;
mod statements;
mod textures;
mod threads;
mod tiles;
mod tree;
mod types;
mod warp;

pub use kernel::{Call, Generic, Kernel, Parameter, Passed, USES, batch_len};
pub use layouts::Layout;
pub use tree::{Form, Node};
pub use types::Scalar;

use crate::random::Random;

/// Draws a kernel.
pub fn kernel(random: &mut Random) -> Kernel {
    match random.below(100) {
        0..18 => tiles::kernel(random),
        18..37 => arithmetic::kernel(random),
        37..43 => narrow::kernel(random),
        _ => threads::kernel(random),
    }
}
