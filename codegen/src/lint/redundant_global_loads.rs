//! `redundant_global_loads`: several warps of a block load the same elements, again and again, and shared memory has room for them.
//!
//! Counted by warps, since lanes of one warp that share an element are served by one request. Silent for what the whole block reads alike (a
//! broadcast), for accesses that overlap without being the same (stencils, which the cache serves), for what is loaded once or a
//! few times, and below four warps.

use super::uncoalesced_access::of_space;
use super::{Finding, Lint, Subject};
use crate::analysis::access::{AccessFact, AccessKind, Doubt, Pattern};
use crate::diagnostic::Level;
use crate::ir::{Kernel, Space};
use std::collections::BTreeMap;

pub(super) const LINT: Lint = Lint {
    name: "redundant_global_loads",
    level: Some(Level::Warning),
    summary: "warps of a block load the same elements several times and shared memory has room",
    page: include_str!("redundant_global_loads.md"),
    check,
};

/// Warps that must load the same elements.
const FEWEST_WARPS: u32 = 4;

/// Times that a thread must load: iterations, or copies of an unrolled loop.
const FEWEST_TIMES: usize = 4;

/// Bytes of shared memory that a block has on every device.
const SHARED: u64 = 48 << 10;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let known = subject.known;
    let threads: u64 = known.legal.options.block.map_or(0, |block| block.iter().map(|n| u64::from(*n)).product());
    let mut by_place: BTreeMap<u32, Vec<&AccessFact>> = BTreeMap::new();
    for fact in of_space(&known.facts.accesses, Space::Global) {
        let has_room = known.facts.memory.shared + threads * u64::from(fact.bytes) <= SHARED;
        if is_redundant(&known.legal, fact) && has_room {
            by_place.entry(fact.loc.0).or_default().push(fact);
        }
    }
    for facts in by_place.into_values() {
        let fact = facts[0];
        if fact.loops == 0 && facts.len() < FEWEST_TIMES {
            continue;
        }
        let name = &known.legal.objects[fact.object].name;
        let warps = facts.iter().filter_map(|fact| fact.sharing).max().unwrap_or(0);
        let times = if fact.loops > 0 { "in every iteration".to_owned() } else { format!("{} times", facts.len()) };
        findings.push(Finding {
            span: subject.span(fact.loc),
            message: format!("{warps} warps of a block load the same elements of `{name}`, {times}"),
            labels: Vec::new(),
            help: format!(
                "let each thread bring one element of a tile of `{name}` into a `#[shared]` array, `sync_threads()`, and read it there: {} of {SHARED} bytes of shared memory are taken",
                known.facts.memory.shared
            ),
        });
    }
}

fn is_redundant(kernel: &Kernel, fact: &AccessFact) -> bool {
    let Pattern::Global { bytes, .. } = fact.pattern else { return false };
    let is_broadcast = bytes.most <= fact.bytes;
    let is_sure = fact.kind == AccessKind::Load && fact.doubt <= Doubt::Limit && !fact.is_rare;
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
