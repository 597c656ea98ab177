//! The passes, in the order they run, and what runs them.
//!
//! A pass is one file, with an essay on top: what it needs, what it preserves, when it refuses. The two lists below are the whole
//! pipeline; a line's comment is the reason why it stands where it stands. Every pass leaves a kernel that [`crate::verify`]
//! accepts, whether or not the passes round it run; this workspace's debug builds check that after each.

mod address;
#[cfg(test)]
mod check;
mod contract;
mod converge;
mod cse;
mod dce;
mod fold;
mod hoist;
mod if_convert;
mod induction;
mod legalize;
mod math;
mod merge_branches;
mod progression;
mod promote_arrays;
mod reassociate;
mod rewrite;
mod strength;
#[cfg(test)]
mod tests;

use crate::ir::{Kernel, Stage};
use crate::nearest::nearest;
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
    // Before hoist, which takes the invariant parts of the longer sequences out of loops.
    pass("strength", strength::run),
    // Before hoist, too: invariant terms stand together.
    pass("reassociate", reassociate::run),
    // After cse, which tells what is the same inside and outside a loop.
    pass("hoist", hoist::run),
    // After hoist: an arm is shorter without its invariants.
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
    pass("hoist", hoist::run),
    // After hoist, which tells what is invariant.
    pass("induction", induction::run),
    // Where loops start is computed alike, and known if the loop starts at a constant.
    pass("fold", fold::run),
    pass("cse", cse::run),
    // What starts an inner loop and is invariant in the outer one.
    pass("hoist", hoist::run),
    // After hoist: an invariant product costs nothing where it is used.
    pass("progression", progression::run),
    // Indices that became immediates, and what carried values were made of.
    pass("dce", dce::run),
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

/// For a reader of any stage: nothing is computed that is known or unused.
pub const TIDY: &[Pass] = &[
    // What annotations left: indices of copies, conditions that hold.
    pass("fold", fold::run),
    // What that left.
    pass("dce", dce::run),
];

/// What each pass took, in the order they ran.
pub type Timings = Vec<(&'static str, Duration)>;

/// How far to go, and what to note on the way.
#[derive(Debug, Default)]
pub struct PassOptions<'a> {
    /// Stop after the first run of this pass; `cse.2` is the second run of `cse`.
    pub after: Option<&'a str>,
    /// Where to note the time of each pass.
    pub timings: Option<&'a mut Timings>,
}

/// There is no pass of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no pass is called `{name}`; {}", .nearest.as_ref().map_or_else(|| format!("there are {}", pass_names().join(", ")), |n| format!("did you mean `{n}`?")))]
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

/// Runs all passes from where `kernel` stands to the stage `to`, `Legal` or `Addressed`. Gives whether it got there: not if
/// `options.after` names an earlier pass, whose result `kernel` is then. A kernel that is at the stage already stays as it is.
///
/// # Errors
/// [`UnknownPass`] if `options.after` names none.
pub fn run(kernel: &mut Kernel, to: Stage, options: &mut PassOptions<'_>) -> Result<bool, UnknownPass> {
    if let Some(name) = options.after {
        check_name(name)?;
    }
    debug_assert!(kernel.annotations.is_empty(), "`schedule` has not run");
    let stages = [(Stage::Legal, OPTIMIZE), (Stage::Addressed, ADDRESS)];
    for (stage, passes) in stages.into_iter().filter(|(stage, _)| *stage <= to) {
        if kernel.stage < stage {
            for (n, pass) in passes.iter().enumerate() {
                run_one(kernel, pass, options);
                let nth = 1 + passes[..n].iter().filter(|earlier| earlier.name == pass.name).count();
                if options.after.is_some_and(|after| parse_name(after) == (pass.name, nth)) {
                    return Ok(false);
                }
            }
            kernel.stage = stage;
        }
    }
    Ok(true)
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

/// From `Built` or `Scheduled` to `Legal`.
pub fn optimize(kernel: &mut Kernel) {
    let reached = run(kernel, Stage::Legal, &mut PassOptions::default());
    debug_assert_eq!(reached, Ok(true));
}

/// From any earlier stage to `Addressed`.
pub fn address(kernel: &mut Kernel) {
    let reached = run(kernel, Stage::Addressed, &mut PassOptions::default());
    debug_assert_eq!(reached, Ok(true));
}

/// Puts the library's functions where PTX has no instruction, and nothing else. The stage stays: what PTX computes, for those who read indices.
pub fn library(kernel: &mut Kernel) {
    math::run(kernel);
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
    if !run_one(&mut copy, &pass(first.name, run), &mut PassOptions::default()) {
        return None;
    }
    for pass in rest {
        run_one(&mut copy, pass, &mut PassOptions::default());
    }
    debug_assert!(!run(&mut copy.clone()), "threads still part in `{}`:\n{copy:#}", copy.name);
    Some(copy)
}

/// Runs [`TIDY`]. The stage stays.
pub fn tidy(kernel: &mut Kernel) {
    for pass in TIDY {
        run_one(kernel, pass, &mut PassOptions::default());
    }
}

/// Runs a pass. Gives whether it changed anything.
fn run_one(kernel: &mut Kernel, pass: &Pass, options: &mut PassOptions<'_>) -> bool {
    let start = options.timings.is_some().then(Instant::now);
    let changed = (pass.run)(kernel);
    if let (Some(timings), Some(start)) = (&mut options.timings, start) {
        timings.push((pass.name, start.elapsed()));
    }
    if verify::AFTER_EACH_PASS
        && let Err(violations) = verify(kernel)
    {
        let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
        panic!("the pass `{}` broke kernel `{}`:\n{}\n{kernel:#}", pass.name, kernel.name, list.join("\n"));
    }
    changed
}

/// `cse.2` is the second run of `cse`.
fn parse_name(name: &str) -> (&str, usize) {
    match name.rsplit_once('.') {
        Some((base, nth)) => nth.parse().map_or((name, 1), |nth| (base, nth)),
        None => (name, 1),
    }
}

fn check_name(name: &str) -> Result<(), UnknownPass> {
    let (base, nth) = parse_name(name);
    let exists = [OPTIMIZE, ADDRESS].iter().any(|list| list.iter().filter(|pass| pass.name == base).count() >= nth.max(1));
    if exists && nth > 0 {
        return Ok(());
    }
    let nearest = nearest(base, pass_names().iter().copied());
    Err(UnknownPass { name: name.to_owned(), nearest: nearest.map(str::to_owned) })
}
