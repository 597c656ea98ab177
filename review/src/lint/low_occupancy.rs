//! `low_occupancy`: too few warps to hide latency, and occupancy is what is short.
//!
//! Few warps are no mistake where each has enough to do: the model (`estimate::time`) weighs resident warps times the loads and operations
//! that each keeps in flight. The lint speaks where by that model a kernel waits for latency and loses a quarter of its speed to it, and where
//! an edit of what limits its blocks is in reach and would make it faster by a fifth: somewhat less shared memory, somewhat fewer registers,
//! another block. Where the block is below 64 threads `small_block` has said so, where one or two registers do it `register_cliff`.

use super::{Finding, Lint, Subject, on, register_cliff, what_if};
use crate::estimate::Estimate;
use crate::estimate::time::{Bound, Prediction};
use proc_macro2::Span;
use warpwright_codegen::ir::{Kernel, ObjectKind};
use warpwright_codegen::target::occupancy::{Occupancy, OccupancyStep, Resource};

pub(super) const LINT: Lint = Lint {
    name: "low_occupancy",
    summary: "too few warps are resident to hide latency",
    of_machine: true,
    page: include_str!("low_occupancy.md"),
    check,
};

/// A kernel that attains more of what its device allows does not lack warps enough to speak of.
const ATTAINED: f64 = 0.75;

/// The least gain that is worth an edit.
const WORTH: f64 = 1.2;

/// What is left of a resource by an edit that is in reach.
const REACH: f64 = 0.5;

/// Blocks of fewer threads are `small_block`'s.
const SMALL: u32 = 64;

/// A target on which warps are short.
struct Short<'a> {
    on: &'a Estimate,
    now: Occupancy,
    prediction: &'a Prediction,
    step: OccupancyStep,
}

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let known = subject.known;
    // Loads that wait for each other without need are `serial_loads`'s: more of them at once come before more warps.
    if !known.threads.flight.serial.is_empty() {
        return;
    }
    let all: Vec<Short<'_>> = known.targets.iter().filter_map(short).collect();
    let Some(worst) = all.iter().min_by(|a, b| a.prediction.attained.total_cmp(&b.prediction.attained)) else { return };
    let limiters: Vec<String> = worst.now.limiters().map(|resource| resource.to_string()).collect();
    let (what, loads) = if worst.prediction.bound == Bound::ArithmeticLatency {
        ("arithmetic", String::new())
    } else {
        let found = worst.prediction;
        // What the copy engine brings is in flight without loads of threads.
        let what = match found.loads_in_flight {
            0 if found.bytes_in_flight > 0.0 => format!(" with {:.0} bytes in flight per multiprocessor", found.bytes_in_flight),
            loads => format!(" with {} in flight per thread", count(loads, "load")),
        };
        ("memory", what)
    };
    let others: Vec<_> = all.iter().map(|short| short.on.target).filter(|target| *target != worst.on.target).collect();
    let others = if others.is_empty() { String::new() } else { format!("; {} likewise", on(others)) };
    findings.push(Finding {
        span: anchor(subject, worst),
        message: format!(
            "{} of {} warps ({} %, limited by {}) cannot hide the latency of {what}{loads}: about {:.0} % of the speed that {} allows (estimated{others})",
            worst.now.warps,
            worst.now.limits.warps,
            worst.now.percent(),
            limiters.join(" and "),
            worst.prediction.attained * 100.0,
            worst.on.target.name,
        ),
        labels: Vec::new(),
        help: help(worst),
    });
}

/// Whether warps are what is short, and the edit in reach.
fn short(on: &Estimate) -> Option<Short<'_>> {
    let (now, prediction) = (on.occupancy?, on.prediction.as_ref()?);
    let is_small = now.demand.threads < SMALL && now.limiters().any(|resource| resource == Resource::Blocks);
    let is_short = prediction.bound.is_latency() && prediction.attained < ATTAINED && !is_small;
    if !is_short || register_cliff::cliff_of(on).is_some() {
        return None;
    }
    let step = in_reach(&now, prediction)?;
    Some(Short { on, now, prediction, step })
}

/// The smallest edit of one resource that is worth it and in reach.
fn in_reach(now: &Occupancy, prediction: &Prediction) -> Option<OccupancyStep> {
    let is_worth = |step: &OccupancyStep| prediction.speed_up(&step.occupancy) >= WORTH;
    let of_pool = |resource: Resource| {
        let least = f64::from(now.demand.figure(resource)) * REACH;
        let mut at = *now;
        while let Some(step) = at.step_of(resource).filter(|step| f64::from(step.changes[0].1) >= least) {
            if is_worth(&step) {
                return Some(step);
            }
            at = step.occupancy;
        }
        None
    };
    let of_block =
        || now.steps().into_iter().filter(|step| matches!(step.changes[..], [(Resource::Warps | Resource::Blocks, _)])).find(is_worth);
    of_pool(Resource::Shared).or_else(|| of_pool(Resource::Registers)).or_else(of_block)
}

/// What takes the resource: the largest shared array, what takes registers, or the block.
fn anchor(subject: &Subject<'_>, short: &Short<'_>) -> Span {
    match short.step.changes[0].0 {
        Resource::Shared => largest_shared(subject).unwrap_or(subject.sites.name),
        Resource::Registers => what_if::growth(subject),
        _ => subject.sites.argument(&["block"]),
    }
}

fn largest_shared(subject: &Subject<'_>) -> Option<Span> {
    let kernel: &Kernel = &subject.known.legal;
    let shared = kernel.objects.values().filter(|object| object.kind == ObjectKind::Shared);
    shared.max_by_key(|object| object.ty.size(&kernel.structs)).map(|object| subject.span(object.loc))
}

fn help(short: &Short<'_>) -> String {
    let (resource, figure) = short.step.changes[0];
    let found = &short.step.occupancy;
    let edit = match resource {
        Resource::Shared => format!("let shared memory take at most {figure} bytes instead of {}", short.now.demand.shared),
        Resource::Registers => format!("keep fewer values at once, at most {figure} registers instead of {}", short.now.demand.registers),
        _ => format!("use blocks of {figure} threads"),
    };
    let more = if short.prediction.bound == Bound::ArithmeticLatency {
        "do more independent work in each thread (`ilp`)"
    } else {
        "have each thread load more at once (`ilp`, `batch_loads`)"
    };
    format!("{edit}, for {} of {} warps; or {more}", found.warps, found.limits.warps)
}

/// `1 load`, `2 loads`.
fn count(n: u32, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::super::testing::found_at;

    /// A copy of doubles with so many bytes of shared memory taken.
    fn braked(attribute: &str, bytes: u32) -> Vec<(String, String, String)> {
        let doubles = bytes / 8;
        found_at(
            "low_occupancy",
            &format!(
                "#[kernel({attribute}, targets = [sm_90])] fn copy(x: &Global<f64>, y: &mut Global<f64>) {{
                    #[shared] let mut room: [f64; {doubles}];
                    let i = global_id().x;
                    if i < y.len() {{
                        room[thread_idx().x] = x[i];
                        y[i] = room[thread_idx().x];
                    }}
                }}"
            ),
        )
    }

    #[test]
    fn a_copy_with_most_of_the_shared_memory_taken() {
        // "Thread- and instruction-level parallelism in CUDA Fortran": the table's right half, one load a thread. On an H200 128 threads reach
        // an eighth of the bandwidth.
        let (at, message, help) = braked("block = 64", 45056).remove(0);
        assert!(at.contains("room"), "{at}");
        assert!(
            message
                .starts_with("10 of 64 warps (15.6 %, limited by shared memory) cannot hide the latency of memory with 1 load in flight"),
            "{message}"
        );
        assert!(help.starts_with("let shared memory take at most ") && help.contains(" bytes instead of 45056, for "), "{help}");
        assert!(help.ends_with("or have each thread load more at once (`ilp`, `batch_loads`)"), "{help}");
    }

    #[test]
    fn a_walk_with_much_state() {
        let walk = |block: u32, count: u32| {
            found_at(
                "low_occupancy",
                &format!(
                    "#[kernel(block = {block}, targets = [sm_90])] fn walk(next: &Global<u32>, y: &mut Global<f32>) {{
                        let mut state = [1.0f32; {count}];
                        let mut at = global_id().x as u32;
                        for _ in 0..1000 {{
                            at = next[at as usize];
                            #[unroll] for n in 0..{count} {{ state[n] = state[n] * at as f32 + n as f32; }}
                        }}
                        let mut sum = 0.0;
                        #[unroll] for n in 0..{count} {{ sum = sum * 2.0 + state[n]; }}
                        y[global_id().x] = sum;
                    }}"
                ),
            )
        };
        let (at, message, help) = walk(256, 60).remove(0);
        assert_eq!(at, "unroll");
        assert!(message.starts_with("24 of 64 warps (37.5 %, limited by registers) cannot hide the latency of memory"), "{message}");
        assert!(help.starts_with("keep fewer values at once, at most 64 registers instead of "), "{help}");
        // Two registers over: `register_cliff` has said so.
        assert_eq!(walk(256, 56), []);
        // With every warp there is, more are not to be had.
        assert_eq!(walk(256, 8), []);
    }

    #[test]
    fn few_warps_with_enough_to_do() {
        // The same as the copy, in blocks large enough, or with so many loads in flight that few warps will do.
        assert_eq!(braked("block = 512", 45056), []);
        let eight = "#[kernel(block = 64, targets = [sm_90])] fn copy(x: &Global<f64>, y: &mut Global<f64>) {
            #[shared] let mut room: [f64; 1408];
            let (t, i) = (thread_idx().x, block_idx().x * 512 + thread_idx().x);
            room[t] = 1.0;
            #[ilp(8)] #[batch_loads] for k in 0..8 { y[i + k * 64] = x[i + k * 64] * room[t]; }
        }";
        assert_eq!(found_at("low_occupancy", eight), []);
        // Many registers and independent sums: the memory is busy.
        let sums = "#[kernel(block = 256, targets = [sm_90])] fn k(x: &Global<f32>, y: &mut Global<f32>) {
            let i = global_id().x;
            let mut sums = [0.0f32; 60];
            for j in 0..1000 { #[unroll] for n in 0..60 { sums[n] = sums[n] * 0.5 + x[j * 60 + n]; } }
            #[unroll] for n in 0..60 { y[n * 4096 + i] = sums[n]; }
        }";
        assert_eq!(found_at("low_occupancy", sums), []);
        // A small block is `small_block`'s.
        let small =
            "#[kernel(block = 32, targets = [sm_90])] fn k(x: &Global<f32>, y: &mut Global<f32>) { y[global_id().x] = x[global_id().x]; }";
        assert_eq!(found_at("low_occupancy", small), []);
    }
}
