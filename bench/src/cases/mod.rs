//! The cases: one file per family, each with its variants, what a launch moves or computes, and what the result must be.

mod aat;
mod ab;
mod access;
mod automaton;
mod copy;
mod functions;
mod halo;
mod matmul;
mod reduce;
mod rows;
mod saxpy;
mod shortcut;
mod structures;
mod throughput;
mod tiles;
mod transpose;

use crate::memory::Number;
use crate::{Outcome, Runner};

/// Adds a family's cases to the runner's rows.
type Family = fn(&mut Runner) -> Outcome<()>;

/// Every family, by the name `--only` takes.
pub(crate) const FAMILIES: &[(&str, Family)] = &[
    ("copy", copy::run),
    ("saxpy", saxpy::run),
    ("offset_copy", access::run_offsets),
    ("stride_copy", access::run_strides),
    ("reduce", reduce::run),
    ("matmul", matmul::run),
    ("ab", ab::run),
    ("aat", aat::run),
    ("transpose", transpose::run),
    ("shortcut", shortcut::run),
    ("additions", throughput::run),
    ("functions", functions::run),
    ("halo", halo::run),
    ("rows", rows::run),
    ("structures", structures::run),
    ("automaton", automaton::run),
    ("tiles", tiles::run),
];

/// Σ over k below `n` of the products of two sequences' elements: what the host expects of an element of a product of matrices.
fn inner_product(n: usize, left: impl Fn(usize) -> (u32, usize), right: impl Fn(usize) -> (u32, usize)) -> f64 {
    let value = |(seed, i)| f64::from(f32::input(seed, i));
    (0..n).map(|k| value(left(k)) * value(right(k))).sum()
}

/// How far apart single-precision sums of `n` products of inputs may be, whatever their order: n roundings, each of half an ulp of a
/// partial sum. A partial sum is at most n; a product has a standard deviation of 1/3, so that one beyond 6 · √n / 3 is not met.
fn sum_bound(n: usize) -> f64 {
    let n = n as f64;
    n * n.min(2.0 * n.sqrt()) * f64::from(f32::EPSILON) / 2.0
}
