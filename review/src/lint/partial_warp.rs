//! `partial_warp`: the block is no multiple of a warp.

use super::{Finding, Lint, Subject};
use warpwright_codegen::target::limits::{BLOCK_THREADS, WARP};

pub(super) const LINT: Lint = Lint {
    name: "partial_warp",
    summary: "a block is not a multiple of 32 threads",
    of_machine: true,
    page: include_str!("partial_warp.md"),
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(block) = subject.known.legal.options.block else { return };
    let threads: u32 = block.iter().product();
    if threads.is_multiple_of(WARP) {
        return;
    }
    let warps = threads.div_ceil(WARP);
    let (lanes, idle) = (warps * WARP, warps * WARP - threads);
    findings.push(Finding {
        span: subject.sites.argument(&["block"]),
        message: format!(
            "a block of {} takes {warps} warp{}, in which {idle} of {lanes} lanes do nothing",
            shape(block),
            if warps == 1 { "" } else { "s" }
        ),
        labels: Vec::new(),
        help: match full(block) {
            Some(full) => format!("make it a multiple of {WARP} threads, for example `block = {full}`"),
            None => format!("make it a multiple of {WARP} threads"),
        },
    });
}

/// `100 threads`, `10 × 10 threads`.
pub(super) fn shape([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => format!("{x} thread{}", if x == 1 { "" } else { "s" }),
        (_, 1) => format!("{x} × {y} threads"),
        _ => format!("{x} × {y} × {z} threads"),
    }
}

/// The block with the least longer rows that fill its warps, as the attribute has it; none beyond what a block can be.
fn full([x, y, z]: [u32; 3]) -> Option<String> {
    let unit = WARP / gcd(WARP, y * z);
    let x = x.next_multiple_of(unit);
    if x * y * z > BLOCK_THREADS {
        return None;
    }
    Some(match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("({x}, {y})"),
        _ => format!("({x}, {y}, {z})"),
    })
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::found;
    use super::*;

    fn of_block(block: &str) -> Vec<(String, String)> {
        found("partial_warp", &format!("#[kernel(block = {block})] fn k(y: &mut Global<f32>) {{ y[global_id().x] = 1.0; }}"))
    }

    #[test]
    fn blocks_that_do_not_fill_their_warps() {
        let (message, help) = of_block("100").remove(0);
        assert_eq!(message, "a block of 100 threads takes 4 warps, in which 28 of 128 lanes do nothing");
        assert_eq!(help, "make it a multiple of 32 threads, for example `block = 128`");
        let (message, help) = of_block("(10, 10)").remove(0);
        assert_eq!(message, "a block of 10 × 10 threads takes 4 warps, in which 28 of 128 lanes do nothing");
        assert_eq!(help, "make it a multiple of 32 threads, for example `block = (16, 10)`");
        // Ryoo et al. 2008, tiles of 12 × 12; and beyond the largest block there is.
        assert_eq!(of_block("(12, 12)")[0].1, "make it a multiple of 32 threads, for example `block = (16, 12)`");
        assert_eq!(of_block("1020")[0].1, "make it a multiple of 32 threads, for example `block = 1024`");
        assert_eq!(of_block("(31, 33)")[0].1, "make it a multiple of 32 threads");
        assert!(of_block("1")[0].0.starts_with("a block of 1 thread takes 1 warp, in which 31 of 32"));
    }

    #[test]
    fn blocks_that_do() {
        for block in ["32", "96", "(16, 16)", "(8, 4)", "(4, 4, 4)", "1024"] {
            assert_eq!(of_block(block), [], "{block}");
        }
        assert_eq!(found("partial_warp", "#[kernel] fn k(y: &mut Global<f32>) { y[global_id().x] = 1.0; }"), []);
        assert_eq!(full([31, 33, 1]), None);
    }
}
