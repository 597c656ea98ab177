//! `wave_tail`: the last wave of a launch's blocks leaves much of the device idle.
//!
//! What waves are, and from when on one is worth saying, is `estimate::waves`. It is a matter of the launch: how many blocks there are. So the lint looks where a launch is
//! known, and is silent elsewhere: `warpwright check` with `--grid` or `--cover`, and a launch of a program that is looked at in a test
//! (`Launch::report`). A kernel by itself, as rustc's build and an editor see it, has no grid. `compare` notes the same of its variants, and names the best of them.
//!
//! **Left alone**: one wave, eight and more, a last one that is 80 % full; targets whose device is not known.

use super::{Finding, Lint, Subject, each};
use crate::estimate::{Known, Waves};
use warpwright_codegen::target::Target;

pub(super) const LINT: Lint = Lint {
    name: "wave_tail",
    summary: "the last wave of a launch leaves much of the device idle",
    of_machine: true,
    page: include_str!("wave_tail.md"),
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(grid) = subject.known.launched.grid else { return };
    let blocks = grid.iter().map(|extent| u64::from(*extent)).product();
    if let Some((message, help)) = finding(subject.known, blocks) {
        let span = subject.sites.argument(&["block", "persistent"]);
        findings.push(Finding { span, message, labels: Vec::new(), help });
    }
}

/// What is said of a launch of so many blocks, and the edit.
pub fn finding(known: &Known, blocks: u64) -> Option<(String, String)> {
    let waves = known.targets.iter().filter_map(|on| Some((on.target, Waves::of(on, blocks)?)));
    let tails: Vec<(&'static Target, Waves)> = waves.filter(|(_, waves)| waves.has_tail()).collect();
    // The edit is for the one that loses most.
    let (_, worst) = tails.iter().min_by(|a, b| a.1.busy().total_cmp(&b.1.busy()))?;
    let message = format!("{} (estimated)", each(tails.iter().map(|(target, waves)| (*target, waves.text()))));
    let full = worst.number() - 1;
    let help = format!(
        "give each block {:.2} times the work: {} blocks are {} full wave{}; or make blocks so small that there are many waves",
        worst.blocks as f64 / (full * worst.of_one()) as f64,
        full * worst.of_one(),
        full,
        if full == 1 { "" } else { "s" }
    );
    Some((message, help))
}

#[cfg(test)]
mod tests {
    use super::super::testing::found_launched;

    /// One block to a multiprocessor, on devices of 108 and 132.
    const TILES: &str = "#[kernel(block = 256ALLOW)] fn k(y: &mut Global<f32>) {
        #[shared] let mut tile: [f32; 30000];
        let t = thread_idx().x;
        tile[t] = y[global_id().x];
        sync_threads();
        y[global_id().x] = tile[255 - t];
    }";

    fn tails(grid: Option<u32>, allow: &str) -> Vec<(String, String)> {
        found_launched("wave_tail", &TILES.replace("ALLOW", allow), grid)
    }

    #[test]
    fn tails_are_found_on_each_target_with_the_work_that_fills_the_waves() {
        let (message, help) = tails(Some(352), "").remove(0);
        assert_eq!(
            message,
            "352 blocks on 108 multiprocessors, 1 a multiprocessor: 4 waves, the last 26 % full on sm_80, 352 blocks on 132 multiprocessors, \
             1 a multiprocessor: 3 waves, the last 67 % full on sm_90 (estimated)"
        );
        assert_eq!(
            help,
            "give each block 1.09 times the work: 324 blocks are 3 full waves; or make blocks so small that there are many waves"
        );
        let (message, help) = tails(Some(135), "").remove(0);
        assert_eq!(
            message,
            "135 blocks on 108 multiprocessors, 1 a multiprocessor: 2 waves, the last 25 % full on sm_80, 135 blocks on 132 multiprocessors, \
             1 a multiprocessor: 2 waves, the last 2 % full on sm_90 (estimated)"
        );
        assert_eq!(
            help,
            "give each block 1.02 times the work: 132 blocks are 1 full wave; or make blocks so small that there are many waves"
        );
    }

    #[test]
    fn without_a_launch_and_with_full_waves_it_is_silent() {
        assert_eq!(tails(None, ""), []);
        assert_eq!(tails(Some(100), ""), []);
        assert_eq!(tails(Some(100_000), ""), []);
    }

    #[test]
    fn kernels_may_allow_it() {
        assert_eq!(tails(Some(352), ", allow(wave_tail)"), []);
    }
}
