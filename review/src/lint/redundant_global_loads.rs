//! `redundant_global_loads`: several warps of a block load the same elements, again and again, and shared memory has room for them.
//!
//! Counted by warps, since lanes of one warp that share an element are served by one request. Silent for what the whole block reads alike (a
//! broadcast), for accesses that overlap without being the same (stencils, which the cache serves), for what is loaded once or a
//! few times, below four warps, and where it is little of what the kernel does. Silent, too, where the threads of a block do not come to the load equally often (a warp for
//! a row, each row with a length of its own): there is no place for the barrier that a tile needs.

use super::meeting::Meeting;
use super::uncoalesced_access::of_space;
use super::weigh::Scales;
use super::{Finding, Lint, Subject};
use crate::estimate::time::Bound;
use crate::estimate::{Estimate, Known};
use std::collections::BTreeMap;
use warpwright_codegen::analysis::access::{AccessFact, AccessKind, Pattern, Uncertainty};
use warpwright_codegen::ir::{Kernel, Space};
use warpwright_codegen::target::limits::SHARED_BYTES;

pub(super) const LINT: Lint = Lint {
    name: "redundant_global_loads",
    summary: "warps of a block load the same elements several times, and shared memory is free",
    of_machine: true,
    page: include_str!("redundant_global_loads.md"),
    check,
};

/// Warps that must load the same elements.
const FEWEST_WARPS: u32 = 4;

/// Times that a thread must load: iterations, or copies of an unrolled loop.
const FEWEST_TIMES: usize = 4;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let known = subject.known;
    let threads: u64 = known.legal.options.block.map_or(0, |block| block.iter().map(|n| u64::from(*n)).product());
    let mut by_place: BTreeMap<u32, Vec<&AccessFact>> = BTreeMap::new();
    for fact in of_space(&known.facts.accesses, Space::Global) {
        let has_room = known.facts.memory.shared + threads * u64::from(fact.bytes) <= u64::from(SHARED_BYTES);
        if is_redundant(&known.legal, fact) && has_room {
            by_place.entry(fact.loc.0).or_default().push(fact);
        }
    }
    by_place.retain(|_, facts| facts[0].loops > 0 || facts.len() >= FEWEST_TIMES);
    if by_place.is_empty() {
        return;
    }
    let (scales, meeting) = (Scales::of(subject), Meeting::of(&known.legal));
    for facts in by_place.into_values() {
        let fact = facts[0];
        let Some(guard) = meeting.at(fact.inst).filter(|_| scales.are_worth(facts.iter().copied())) else { continue };
        if waits_for_others(known, &scales, &facts) {
            continue;
        }
        let guard = guard.map(|guard| subject.span(known.legal.insts[guard].loc));
        let name = &known.legal.objects[fact.object].name;
        let warps = facts.iter().filter_map(|fact| fact.sharing).max().unwrap_or(0);
        let times = if fact.loops > 0 { "in every iteration".to_owned() } else { format!("{} times", facts.len()) };
        findings.push(Finding {
            span: subject.span(fact.loc),
            message: format!("{warps} warps of a block load the same elements of `{name}`, {times}"),
            labels: guard.map(|span| (span, "every thread must come to the barriers: let this guard loads and stores only".to_owned())).into_iter().collect(),
            help: format!(
                "let each thread bring one element of a tile of `{name}` into a `#[shared]` array, `sync_threads()`, and read it there: {} of {SHARED_BYTES} bytes of shared memory are taken",
                known.facts.memory.shared
            ),
        });
    }
}

/// The share of what comes from memory below which the caches have the loads, whatever the kernel waits for.
const LITTLE: f64 = 0.2;

/// Whether on every target the kernel waits for memory to bring other things: a vector that all rows of a matrix are multiplied by.
fn waits_for_others(known: &Known, scales: &Scales<'_>, facts: &[&AccessFact]) -> bool {
    let is_full = |on: &Estimate| on.prediction.as_ref().is_some_and(|prediction| prediction.bound == Bound::MemoryBandwidth);
    known.targets.iter().all(is_full) && scales.of_traffic(facts.iter().copied()) < LITTLE
}

fn is_redundant(kernel: &Kernel, fact: &AccessFact) -> bool {
    let Pattern::Global { bytes, .. } = fact.pattern else { return false };
    let is_broadcast = bytes.most <= fact.bytes;
    let is_sure = fact.kind == AccessKind::Load && fact.uncertainty <= Uncertainty::Limit && !fact.is_rare;
    is_sure && !is_broadcast && kernel.objects[fact.object].is_read_only() && fact.sharing.is_some_and(|warps| warps >= FEWEST_WARPS)
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found;

    #[test]
    fn untiled_products_are_found() {
        let direct = "#[kernel(block = (16, 16))] fn k(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) { let (r, q) = (global_id().y, global_id().x); if r < n && q < n { let mut s = 0.0; for k in 0..n { s += a[r * n + k] * b[k * n + q]; } c[r * n + q] = s; } }";
        let says = found("redundant_global_loads", direct);
        assert_eq!(says.len(), 1, "{says:?}");
        assert_eq!(says[0].0, "8 warps of a block load the same elements of `b`, in every iteration");
        assert!(says[0].1.contains("a tile of `b` into a `#[shared]` array"), "{says:?}");
        let unrolled = direct.replace("for k in 0..n", "#[unroll] for k in 0..16");
        let says = found("redundant_global_loads", &unrolled);
        assert!(says.len() == 1 && says[0].0.ends_with("16 times"), "{says:?}");
    }

    #[test]
    fn a_guard_at_the_boundary_is_pointed_at() {
        use crate::lint::testing::found_labels;
        let guarded = "#[kernel(block = (32, 8))] fn k(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) { let (r, q) = (global_id().y, global_id().x); if r < n && q < n { let mut s = 0.0; for k in 0..n { s += a[r * n + k] * b[k * n + q]; } c[r * n + q] = s; } }";
        let label = "every thread must come to the barriers: let this guard loads and stores only";
        assert_eq!(found_labels("redundant_global_loads", guarded), [label]);
        let early = guarded.replace("if r < n && q < n {", "if r >= n || q >= n { return; } {");
        assert_eq!(found("redundant_global_loads", &early).len(), 1);
        // What data says for the whole block is one for all of its warps.
        let of_block = "#[kernel(block = (32, 8))] fn k(n: usize, at: &Global<u32>, b: &Global<f32>, c: &mut Global<f32>) { let first = at[block_idx().x] as usize; let mut s = 0.0; for k in 0..at[block_idx().y] as usize { s += b[first + k * n + thread_idx().x]; } c[global_id().y * n + global_id().x] = s; }";
        assert_eq!(found("redundant_global_loads", of_block).len(), 1);
    }

    #[test]
    fn what_warps_do_each_for_itself_is_not() {
        let kernel = |row: &str, body: &str| {
            format!(
                "#[kernel(block = 128)] fn k(w: usize, starts: &Global<u32>, v: &Global<f32>, y: &mut Global<f32>) {{ let row = {row}; if row < y.len() {{ let mut s = 0.0f32; {body} let s = warp_sum(s); if lane_id() == 0 {{ y[row] = s; }} }} }}"
            )
        };
        let bodies = [
            "for k in (starts[row] as usize + lane_id()..starts[row + 1] as usize).step_by(32) { s += v[k]; }",
            "let (a, b) = (starts[row] as usize, starts[row + 1] as usize); for k in (a + lane_id()..b).step_by(32) { s += v[k]; }",
            "let mut k = starts[row] as usize + lane_id(); while k < starts[row + 1] as usize { s += v[k]; k += 32; }",
            "let first = starts[row] as usize; for c in (lane_id()..w).step_by(32) { s += v[first * w + c]; }",
            "let first = shuffle(starts[row * 32 + lane_id()], 0u32) as usize; for c in 0..w { s += v[first + c * 32 + lane_id()]; }",
            // The same elements for all warps, but each as often as its row is long: no place for a barrier.
            "for k in 0..starts[row] as usize { s += v[k * 32 + lane_id()]; }",
            "let mut k = 0; while k < starts[row] as usize { s += v[k * 32 + lane_id()]; k += 1; }",
            "if starts[row] > 7 { for k in 0..w { s += v[k * 32 + lane_id()]; } }",
            "if warp_id() != 1 { for k in 0..w { s += v[k * 32 + lane_id()]; } }",
        ];
        for body in bodies {
            for row in ["global_id().x / 32", "block_idx().x * 4 + warp_id()", "global_id().x >> 5"] {
                assert_eq!(found("redundant_global_loads", &kernel(row, body)), [], "{row}: {body}");
            }
        }
        // A vector that all rows of a matrix are multiplied by: memory brings the matrix, and the caches have the vector.
        let product = "for c in 0..w / 32 { s += v[row * w + c * 32 + lane_id()] * starts[c * 32 + lane_id()] as f32; }";
        assert_eq!(found("redundant_global_loads", &kernel("global_id().x / 32", product)), []);
        // All warps walk the same, all of it.
        assert_eq!(found("redundant_global_loads", &kernel("block_idx().x", "for k in 0..w { s += v[k * 32 + lane_id()]; }")).len(), 1);
    }

    #[test]
    fn tiles_broadcasts_stencils_and_single_loads_are_not() {
        let kernels = [
            // What all threads read alike.
            "#[kernel(block = 256)] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>) { let mut s = 0.0; for k in 0..n { s += x[k]; } y[global_id().x] = s; }",
            // Neighbours overlap.
            "#[kernel(block = 256)] fn k(x: &Global<f32>, w: &Constant<[f32; 16]>, y: &mut Global<f32>) { let i = global_id().x; let mut s = 0.0; for k in 0..16 { s += w[k] * x[i + k]; } y[i] = s; }",
            // Once for each column.
            "#[kernel(block = (32, 8))] fn k(n: usize, bias: &Global<f32>, y: &mut Global<f32>) { let (r, c) = (global_id().y, global_id().x); y[r * n + c] += bias[c]; }",
            "#[kernel(block = (16, 16))] fn k(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) { #[shared] let mut s: [[f32; 16]; 16]; #[shared] let mut t: [[f32; 16]; 16]; let (x, y) = (thread_idx().x, thread_idx().y); let (r, q) = (global_id().y, global_id().x); let mut v = 0.0; for m in 0..n / 16 { s[y][x] = a[r * n + m * 16 + x]; t[y][x] = b[(m * 16 + y) * n + q]; sync_threads(); for k in 0..16 { v += s[y][k] * t[k][x]; } sync_threads(); } c[r * n + q] = v; }",
        ];
        for kernel in kernels {
            assert_eq!(found("redundant_global_loads", kernel), [], "{kernel}");
        }
    }
}
