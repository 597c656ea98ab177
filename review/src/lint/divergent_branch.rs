//! `divergent_branch`: lanes of one warp part, and both ways have work; or lanes are picked from all warps where whole warps could be.
//!
//! Silent at boundaries (`i < n` splits one warp of a row), where data decides, and where one run of lanes of a warp does something that the others
//! do not: the halo of a tile, the last levels of a tree.

use super::weigh::{Scales, WORTH};
use super::{Finding, Lint, Subject};
use std::collections::BTreeMap;
use warpwright_codegen::analysis::access::{BranchFact, Divergence, Ways};
use warpwright_codegen::analysis::cost::issue_slots;
use warpwright_codegen::ir::{Address, Block, Kernel, Memory, Op, Region};

pub(super) const LINT: Lint = Lint {
    name: "divergent_branch",
    summary: "a condition splits warps, and both sides have work",
    of_machine: true,
    page: include_str!("divergent_branch.md"),
    check,
};

/// Issue slots from which a side is work; less is there before a branch would be over.
const WORK: u64 = 8;

/// Issue slots from which idle lanes alone are worth a word.
const MUCH_WORK: u64 = 64;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let kernel = &subject.known.legal;
    // Copies that unrolling made of one branch belong together.
    let mut by_place: BTreeMap<u32, Vec<&BranchFact>> = BTreeMap::new();
    for fact in &subject.known.facts.branches {
        if fact.divergence == Divergence::Splits && fact.is_certain() && !fact.is_rare {
            by_place.entry(fact.loc.0).or_default().push(fact);
        }
    }
    let mut scales: Option<Scales<'_>> = None;
    for facts in by_place.into_values() {
        let Some(first) = facts.iter().find(|fact| matches!(kernel.insts[fact.inst].op, Op::Region(Region::If { .. }))) else { continue };
        let Op::Region(Region::If { then_block, else_block, .. }) = kernel.insts[first.inst].op else { continue };
        let [yes, no] = [then_block, else_block].map(|block| work(kernel, block));
        let (split, seen) = facts.iter().fold((0, 0), |(split, seen), fact| (split + fact.splits.0, seen + fact.splits.1));
        let (finding, idle) = if yes >= WORK && no >= WORK {
            (Some(two_sides(split, seen)), false)
        } else {
            let ways: Vec<Ways> = facts.iter().flat_map(|fact| &fact.ways).copied().collect();
            (scattered(&ways, yes.max(no), yes >= no).map(|idle| one_side(split, seen, idle)), true)
        };
        if let Some((message, help)) = finding {
            let scales = scales.get_or_insert_with(|| Scales::of(subject));
            let side = if (yes >= no) == idle { |op: &Op| op.blocks()[0] } else { |op: &Op| op.blocks()[1] };
            let share: f64 = facts.iter().map(|fact| scales.of_block(side(&kernel.insts[fact.inst].op))).sum();
            if share * f64::from(split) / f64::from(seen.max(1)) < WORTH {
                continue;
            }
            findings.push(Finding { span: subject.span(first.loc), message, labels: Vec::new(), help });
        }
    }
}

fn warps(split: u32, seen: u32) -> String {
    if split == seen { "every warp".to_owned() } else { format!("{split} of {seen} warps") }
}

fn two_sides(split: u32, seen: u32) -> (String, String) {
    (
        format!(
            "this condition splits {}, and both sides have work: a split warp runs one side after the other, each with the other's lanes idle",
            warps(split, seen)
        ),
        "decide by warp, `thread_idx().x / 32`, so that all lanes of a warp go one way; or write both sides as one expression".to_owned(),
    )
}

fn one_side(split: u32, seen: u32, idle: u32) -> (String, String) {
    (
        format!(
            "this condition splits {}: it picks lanes here and there, and {idle} of 32 lanes are idle on average while they work",
            warps(split, seen)
        ),
        "let the first threads of the block do the work of those picked, `if t < count { let at = t * distance; … }`, so that whole warps are done"
            .to_owned(),
    )
}

/// Idle lanes of the average split warp, if lanes are picked here and there in several warps, ever fewer of them or for much work.
fn scattered(ways: &[Ways], work: u64, is_first: bool) -> Option<u32> {
    let worker = |way: &Ways| if is_first { way.taken } else { way.active & !way.taken };
    let is_scattered = |way: &&Ways| runs(worker(way)) >= 2;
    let picked: Vec<u32> = ways.iter().filter(is_scattered).map(worker).collect();
    let is_changing = picked.iter().any(|mask| *mask != picked[0]);
    let idle = 32 - picked.iter().map(|mask| mask.count_ones()).sum::<u32>() / (picked.len() as u32).max(1);
    (picked.len() >= 2 && idle >= 16 && (is_changing || work >= MUCH_WORK)).then_some(idle)
}

/// Runs of neighbouring lanes.
fn runs(mask: u32) -> u32 {
    (mask & !(mask << 1)).count_ones()
}

/// Issue slots of a block; a loop counts as much, memory as a little.
fn work(kernel: &Kernel, block: Block) -> u64 {
    let one = |inst: &warpwright_codegen::ir::Inst| match &kernel.insts[*inst].op {
        Op::Region(Region::For { .. } | Region::Loop { .. }) => MUCH_WORK,
        Op::Region(Region::If { then_block, else_block, .. }) => 1 + work(kernel, *then_block) + work(kernel, *else_block),
        Op::Region(Region::Block { body }) => work(kernel, *body),
        Op::Memory(Memory { at: Address::Path(_), .. }) => 4,
        op if op.is_terminator() => 0,
        Op::Intrinsic(row, _) => u64::from(row.row().cost),
        _ => u64::from(issue_slots(kernel, *inst)).min(MUCH_WORK),
    };
    kernel.blocks[block].insts.iter().map(one).sum()
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found;

    fn reduction(condition: &str, stride: &str) -> String {
        format!(
            "#[kernel(block = 256)] fn k(x: &Global<f32>, sums: &mut Global<f32>) {{ #[shared] let mut p: [f32; 256]; let t = thread_idx().x; p[t] = x[global_id().x];
            #[unroll] for level in 0..8 {{ let s = {stride}; sync_threads(); if {condition} {{ p[t] += p[t + s]; }} }}
            if t == 0 {{ sums[block_idx().x] = p[0]; }} }}"
        )
    }

    #[test]
    fn the_interleaved_reduction_is_found_and_the_contiguous_one_is_not() {
        let says = found("divergent_branch", &reduction("t % (2 * s) == 0", "1usize << level"));
        assert_eq!(says.len(), 1, "{says:?}");
        assert!(says[0].0.starts_with("this condition splits 47 of 64 warps"), "{says:?}");
        assert!(says[0].1.contains("`if t < count"), "{says:?}");
        assert_eq!(found("divergent_branch", &reduction("t < s", "256usize >> (level + 1)")), []);
        // The same as loops that stay loops.
        let rolled = "#[kernel(block = 256)] fn k(x: &Global<f32>, sums: &mut Global<f32>) { #[shared] let mut p: [f32; 256]; let t = thread_idx().x; p[t] = x[global_id().x]; let mut s = 1; while s < 256 { sync_threads(); if t % (2 * s) == 0 { p[t] += p[t + s]; } s *= 2; } if t == 0 { sums[block_idx().x] = p[0]; } }";
        assert_eq!(found("divergent_branch", rolled).len(), 1);
        let tree = rolled
            .replace("let mut s = 1; while s < 256", "let mut s = 128; while s > 0")
            .replace("t % (2 * s) == 0", "t < s")
            .replace("s *= 2", "s /= 2");
        assert_eq!(found("divergent_branch", &tree), []);
    }

    #[test]
    fn two_sides_with_work_are_found_by_lane_and_not_by_warp() {
        let kernel = |condition: &str| {
            format!(
                "#[kernel(block = 256)] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>) {{ let (i, t) = (global_id().x, thread_idx().x); let mut s = 0.0; if {condition} {{ for k in 0..n {{ s += x[k].sin(); }} }} else {{ for k in 0..n {{ s *= x[k].exp() + 1.0; }} }} y[i] = s; }}"
            )
        };
        for condition in ["t % 2 == 0", "(t / 16) % 2 == 1", "t < 100"] {
            let says = found("divergent_branch", &kernel(condition));
            assert!(says.len() == 1 && says[0].1.starts_with("decide by warp"), "{condition}: {says:?}");
        }
        for condition in ["(t / 32) % 2 == 0", "t < 128", "i < n", "block_idx().x % 2 == 0", "x[i] > 0.0", "warp_id() == 0"] {
            assert_eq!(found("divergent_branch", &kernel(condition)), [], "{condition}");
        }
    }

    #[test]
    fn a_halo_is_not() {
        let halo = "#[kernel(block = (16, 16))] fn k(x: &Global<f32>, y: &mut Global<f32>) { #[shared] let mut t: [[f32; 20]; 16]; let (tx, ty) = (thread_idx().x, thread_idx().y); t[ty][tx] = x[ty * 64 + tx]; if tx < 4 { t[ty][tx + 16] = x[ty * 64 + tx + 16]; } sync_threads(); y[ty * 64 + tx] = t[ty][tx] + t[ty][tx + 4]; }";
        assert_eq!(found("divergent_branch", halo), []);
    }
}
