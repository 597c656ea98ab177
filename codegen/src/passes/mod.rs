//! The passes, in the order they run, and what runs them.
//!
//! A pass is one file, with an essay on top: what it needs, what it preserves, when it refuses. The two lists below are the whole
//! pipeline; a line's comment is the reason why it stands where it stands. Every pass leaves a kernel that [`crate::verify`]
//! accepts, whether or not the passes round it run; this workspace's debug builds check that after each.

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod address;
mod blocks;
#[cfg(test)]
mod check;
mod contract;
mod converge;
mod cse;
mod dce;
mod first_use_order;
mod fold;
mod if_convert;
mod induction;
mod legalize;
mod licm;
mod math;
mod merge_branches;
mod outer_products;
mod overlap;
mod progression;
mod promote_arrays;
mod reassociate;
mod rewrite;
mod strength;
#[cfg(test)]
mod tests;
mod untie_sums;
mod vector_accesses;

use crate::intrinsics;
use crate::ir::Kernel;
use crate::nearest::nearest;
use crate::target::Target;
use crate::verify::{self, verify};
use std::time::{Duration, Instant};

/// A pass: its name (the file's, the dump's, `--after`'s) and what runs it. Returns whether it changed anything.
pub struct Pass {
    /// One name everywhere.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(&mut Kernel) -> bool,
}

const fn pass(name: &'static str, run: fn(&mut Kernel) -> bool) -> Pass {
    Pass { name, run }
}

/// From `Scheduled` to `Legal`: for every back end.
pub const OPTIMIZE: &[Pass] = &[
    // First of all: the fewer branches and constants, the more all others see.
    pass("fold", fold::run),
    // A dead load by an unknown index would keep its array from being promoted.
    pass("dce", dce::run),
    // After fold, which makes indices constants; before cse, which then sees through the arrays.
    pass("promote_arrays", promote_arrays::run),
    // What is carried round unchanged, and indices that were in arrays.
    pass("fold", fold::run),
    // Before whatever counts costs or uses: equal things are one.
    pass("cse", cse::run),
    // Before licm, which takes the invariant parts of the longer sequences out of loops.
    pass("strength", strength::run),
    // Before licm, too: invariant terms stand together.
    pass("reassociate", reassociate::run),
    // After cse, which tells what is the same inside and outside a loop.
    pass("licm", licm::run),
    // After licm: an arm is shorter without its invariants.
    pass("if_convert", if_convert::run),
    // Before the last cse, which shares the casts.
    pass("legalize", legalize::run),
    // Selects of constants, and what cse made equal.
    pass("fold", fold::run),
    pass("cse", cse::run),
    // After the last cse, which makes equal conditions one.
    pass("merge_branches", merge_branches::run),
    // Unused products would count as uses.
    pass("dce", dce::run),
    // After everything that folds or shares products and sums.
    pass("contract", contract::run),
    // After all that finds loads equal, unused or in one arm: what is left is what a warp asks memory for.
    pass("vector_accesses", vector_accesses::run),
    // Last: what the others left behind.
    pass("dce", dce::run),
];

/// From `Legal` to `Addressed`: for PTX.
pub const ADDRESS: &[Pass] = &[
    // First: functions read tables, and what they compute can be shared and hoisted like all else.
    pass("math", math::run),
    // Accesses one by one; neighbours share pointers.
    pass("address", address::run),
    // Different objects and levels share scaled indices.
    pass("cse", cse::run),
    // Addresses of objects, and what of a pointer is invariant.
    pass("licm", licm::run),
    // After licm, which tells what is invariant.
    pass("induction", induction::run),
    // Where loops start is computed alike, and known if the loop starts at a constant.
    pass("fold", fold::run),
    pass("cse", cse::run),
    // What starts an inner loop and is invariant in the outer one.
    pass("licm", licm::run),
    // After licm: an invariant product costs nothing where it is used.
    pass("progression", progression::run),
    // Indices that became immediates, and what carried values were made of.
    pass("dce", dce::run),
    // After the last fold, which would undo it.
    pass("untie_sums", untie_sums::run),
    // Nothing moves the products again.
    pass("outer_products", outer_products::run),
    // Last: the order of the products decides which loads are used first.
    pass("first_use_order", first_use_order::run),
];

/// From `Legal` to what devices take that exchange values between the threads of a warp by barriers of the block: for OpenCL C. The stage stays.
pub const CONVERGE: &[Pass] = &[
    // Nothing to do where all threads of a block come to every exchange already.
    pass("converge", converge::run),
    // Masks that are known, and what loops carry unchanged.
    pass("fold", fold::run),
    // Masks of one condition are one.
    pass("cse", cse::run),
    // Values that only threads outside the mask would have.
    pass("dce", dce::run),
];

/// To what devices start: for the simulator, OpenCL C and PTX, each behind all its other passes, on a copy that nobody else sees. The stage stays.
pub const PLACE: &[Pass] = &[
    // Analyses want the grid as it was asked for.
    pass("blocks", blocks::run),
];

/// The same for kernels that begin before the one before them has ended: for PTX of targets that have that, behind [`PLACE`].
pub const OVERLAP: &[Pass] = &[
    // Nothing moves an access of memory before the wait again.
    pass("overlap", overlap::run),
];

/// For a reader of any stage: nothing is computed that is known or unused.
pub const TIDY: &[Pass] = &[
    // What annotations left: indices of copies, conditions that hold.
    pass("fold", fold::run),
    // What that left.
    pass("dce", dce::run),
];

/// What each pass took, in the order they ran.
pub type Timings = Vec<(&'static str, Duration)>;

/// There is no pass of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no pass is called `{name}`; {}", .nearest.as_ref().map_or_else(|| format!("choose one of {}", pass_names().join(", ")), |n| format!("did you mean `{n}`?")))]
pub struct UnknownPass {
    /// The name.
    pub name: String,
    /// The pass that was probably meant.
    pub nearest: Option<String>,
}

/// The name of every pass, once, in the order of their first runs.
pub fn pass_names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for pass in OPTIMIZE.iter().chain(ADDRESS) {
        if !names.contains(&pass.name) {
            names.push(pass.name);
        }
    }
    names
}

/// Runs passes one after another, and notes what each takes where that is asked for.
pub(crate) fn run(kernel: &mut Kernel, passes: &[Pass], mut timings: Option<&mut Timings>) {
    for pass in passes {
        let start = timings.is_some().then(Instant::now);
        run_one(kernel, pass);
        if let (Some(timings), Some(start)) = (&mut timings, start) {
            timings.push((pass.name, start.elapsed()));
        }
    }
}

/// The passes of [`OPTIMIZE`] and of [`ADDRESS`] up to a run of one: `cse.2` is the second one of its list.
///
/// # Errors
/// There is no such run.
pub(crate) fn up_to(name: &str) -> Result<(&'static [Pass], &'static [Pass]), UnknownPass> {
    let (base, nth) = match name.rsplit_once('.').map(|(base, nth)| (base, nth.parse::<usize>())) {
        Some((base, Ok(nth))) => (base, nth),
        _ => (name, 1),
    };
    let end = |list: &[Pass]| {
        let mut runs = list.iter().enumerate().filter(|(_, pass)| pass.name == base);
        runs.nth(nth.checked_sub(1)?).map(|(at, _)| at + 1)
    };
    match (end(OPTIMIZE), end(ADDRESS)) {
        (Some(end), _) => Ok((&OPTIMIZE[..end], &[])),
        (None, Some(end)) => Ok((OPTIMIZE, &ADDRESS[..end])),
        (None, None) => {
            let nearest = nearest(base, pass_names().iter().copied());
            Err(UnknownPass { name: name.to_owned(), nearest: nearest.map(str::to_owned) })
        }
    }
}

/// What `schedule` needs before and between its own passes: constants, `a && b` as a value, arrays as values, nothing dead. The stage stays.
pub(crate) fn simplify(kernel: &mut Kernel) {
    fold::run(kernel);
    if if_convert::run(kernel) {
        fold::run(kernel);
    }
    dce::run(kernel);
    if promote_arrays::run(kernel) {
        fold::run(kernel);
    }
}

/// Puts the library's functions where PTX has no instruction, and nothing else. The stage stays: what PTX computes, for those who read indices.
pub fn library(kernel: &mut Kernel) {
    math::run(kernel);
}

/// Runs [`PLACE`] on a copy, if there is something to do: which block of the grid each block of the device is.
pub fn place(kernel: &Kernel) -> Option<Kernel> {
    if kernel.options.raster <= 1 && !kernel.options.persistent {
        return None;
    }
    let mut copy = kernel.clone();
    run(&mut copy, PLACE, None);
    Some(copy)
}

/// Runs [`PLACE`] and [`OVERLAP`] on a copy, as far as there is something to do for a target.
pub fn place_on(kernel: &Kernel, target: &Target) -> Option<Kernel> {
    let placed = place(kernel);
    if !overlaps_on(kernel, target) {
        return placed;
    }
    let mut copy = placed.unwrap_or_else(|| kernel.clone());
    run(&mut copy, OVERLAP, None);
    Some(copy)
}

/// Whether a kernel waits by itself, on a target, for those before it in the stream: `overlap`.
pub fn overlaps_on(kernel: &Kernel, target: &Target) -> bool {
    kernel.options.overlap && intrinsics::OVERLAP.is_met_by(target)
}

/// Has all threads of a `persistent` kernel that do not return together come to the barriers and exchanges behind: a thread whose round has ended comes to those of the
/// next, and would be taken for one that comes to these. For what devices without `converge` are given, of stage `Legal`; gives whether anything changed.
pub fn meet(kernel: &mut Kernel) -> bool {
    kernel.options.persistent && blocks::meet(kernel)
}

/// Runs [`CONVERGE`] on a copy, if there is something to do. All threads of a block come to every exchange of the kernel then, as often as any.
pub fn converge(kernel: &Kernel) -> Option<Kernel> {
    converge_by(kernel, converge::run)
}

/// The same for barriers of the block only: exchanges of a warp stay where its own lanes come to them.
pub fn converge_barriers(kernel: &Kernel) -> Option<Kernel> {
    converge_by(kernel, converge::run_for_barriers)
}

fn converge_by(kernel: &Kernel, run: fn(&mut Kernel) -> bool) -> Option<Kernel> {
    let mut copy = kernel.clone();
    let (first, rest) = CONVERGE.split_first()?;
    converge::return_where_stopped(&mut copy);
    if !run_one(&mut copy, &pass(first.name, run)) {
        return None;
    }
    self::run(&mut copy, rest, None);
    debug_assert!(!run(&mut copy.clone()), "threads still part in `{}`:\n{copy:#}", copy.name);
    Some(copy)
}

/// Runs a pass. Gives whether it changed anything.
fn run_one(kernel: &mut Kernel, pass: &Pass) -> bool {
    let changed = (pass.run)(kernel);
    if verify::AFTER_EACH_PASS
        && let Err(violations) = verify(kernel)
    {
        let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
        panic!("the pass `{}` broke kernel `{}`:\n{}\n{kernel:#}", pass.name, kernel.name, list.join("\n"));
    }
    changed
}
