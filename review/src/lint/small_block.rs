//! `small_block`: fewer than 64 threads, and block slots run out before warp slots do.

use super::partial_warp::shape;
use super::{Finding, Lint, Subject, each};
use crate::estimate::Estimate;
use warpwright_codegen::target::limits::WARP;
use warpwright_codegen::target::occupancy::Resource;

pub(super) const LINT: Lint = Lint {
    name: "small_block",
    summary: "a block has fewer than 64 threads, and block slots run out",
    of_machine: true,
    page: include_str!("small_block.md"),
    check,
};

/// Fewer are few.
const FEW: u32 = 64;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(block) = subject.known.legal.options.block else { return };
    let threads: u32 = block.iter().product();
    if threads >= FEW {
        return;
    }
    // Where registers or shared memory run out first, larger blocks would hold no more warps.
    let is_short = |on: &&Estimate| on.occupancy.is_some_and(|found| found.limiters().any(|resource| resource == Resource::Blocks));
    let short: Vec<&Estimate> = subject.known.targets.iter().filter(is_short).collect();
    if short.is_empty() {
        return;
    }
    let figure = |on: &&Estimate| {
        let (slots, warps) = (on.target.limits.blocks, on.target.limits.warps);
        (on.target, format!("{} of {warps} warps in {slots} block slots", slots * threads.div_ceil(WARP)))
    };
    findings.push(Finding {
        span: subject.sites.argument(&["block"]),
        message: format!("blocks of {} hold at most {}", shape(block), each(short.iter().map(figure))),
        labels: Vec::new(),
        help: "give the block at least 64 threads, to begin with 128 to 256".to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use super::super::testing::found;

    fn of(attribute: &str, body: &str) -> Vec<(String, String)> {
        found("small_block", &format!("#[kernel({attribute})] fn k(x: &Global<f32>, y: &mut Global<f32>) {{ {body} }}"))
    }

    const COPY: &str = "let i = global_id().x; y[i] = x[i];";

    #[test]
    fn one_warp_or_less() {
        // The first row of the copies of the CUDA Fortran talk: 32 threads, a third of what 128 reach.
        let (message, help) = of("block = 32, targets = [sm_80, sm_89, sm_90]", COPY).remove(0);
        assert_eq!(
            message,
            "blocks of 32 threads hold at most 32 of 64 warps in 32 block slots on sm_80 and sm_90, 24 of 48 warps in 24 block slots on sm_89"
        );
        assert_eq!(help, "give the block at least 64 threads, to begin with 128 to 256");
        // Ryoo et al. 2008, tiles of 4 × 4.
        assert!(of("block = (4, 4)", COPY)[0].0.starts_with("blocks of 4 × 4 threads hold at most 32 of 64 warps"));
    }

    #[test]
    fn blocks_that_are_large_enough_or_few_for_another_reason() {
        assert_eq!(of("block = 64", COPY), []);
        assert_eq!(of("block = (8, 8)", COPY), []);
        assert_eq!(of("", COPY), []);
        // Shared memory allows three blocks of a warp each: more threads in a block would not mean more warps.
        let tile = "#[shared] let mut t: [f32; 12000]; t[thread_idx().x] = x[global_id().x]; sync_threads(); y[global_id().x] = t[0];";
        assert_eq!(of("block = 32", tile), []);
    }
}
