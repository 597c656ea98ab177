//! `cluster_unplaceable`: clusters of which a device holds fewer than its multiprocessors have room for.
//!
//! The blocks of a cluster run on the multiprocessors of one group, and what is left over in a group stays empty (`estimate::clusters`). Said where that may be a twentieth of the
//! device or more, and where no cluster fits at all. It matters most where a grid is as large as the device, `persistent` kernels among them: what was planned
//! for all multiprocessors runs on fewer.
//!
//! **Left alone**: targets without clusters; devices of which it is not known how their multiprocessors are grouped; kernels whose block the launch decides.

use super::{Finding, Lint, Subject, each};
use crate::estimate::Estimate;
use crate::estimate::clusters::ResidentClusters;
use crate::machine::Machine;
use warpwright_codegen::target::occupancy::Occupancy;

pub(super) const LINT: Lint = Lint {
    name: "cluster_unplaceable",
    summary: "fewer clusters are resident than the multiprocessors have room for",
    of_machine: true,
    page: include_str!("cluster_unplaceable.md"),
    check,
};

/// The share of a device that is worth a word.
const IDLE: f64 = 0.05;

/// A target on which room stays empty.
struct Wasteful<'a> {
    on: &'a Estimate,
    now: Occupancy,
    clusters: ResidentClusters,
}

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let wasteful = |on: &'_ Estimate| Some((on.occupancy?, on.clusters.filter(|clusters| clusters.most == 0 || clusters.idle() >= IDLE)?));
    let all: Vec<Wasteful<'_>> =
        subject.known.targets.iter().filter_map(|on| wasteful(on).map(|(now, clusters)| Wasteful { on, now, clusters })).collect();
    let Some(worst) = all.iter().max_by(|a, b| a.clusters.idle().total_cmp(&b.clusters.idle())) else { return };
    let words = |one: &Wasteful<'_>| {
        let ResidentClusters { size, most, slots, device, .. } = one.clusters;
        let limiters: Vec<String> = one.now.limiters().map(|resource| resource.to_string()).collect();
        let by = if limiters.is_empty() { String::new() } else { format!(", limited by {}", limiters.join(" and ")) };
        let words = match most {
            0 => format!("no cluster of {size} blocks is resident: a multiprocessor has no room for a block{by}"),
            _ => format!(
                "{} clusters of {size} blocks are resident of the {} that the {slots} places for a block on the {device} would make{by}: up to {:.0} % stay empty",
                one.clusters.range(),
                slots / size,
                one.clusters.idle() * 100.0
            ),
        };
        (one.on.target, words)
    };
    findings.push(Finding {
        span: subject.sites.argument(&["cluster"]),
        message: format!("{} (estimated)", each(all.iter().map(words))),
        labels: Vec::new(),
        help: help(worst),
    });
}

/// Smaller clusters, or more blocks on a multiprocessor: whichever fill all groups.
fn help(worst: &Wasteful<'_>) -> String {
    let fills = |size: u32, blocks: u32| {
        let found = Machine::of(worst.on.target.capability).and_then(|machine| ResidentClusters::on(machine, size, blocks));
        found.is_some_and(|found| found.most > 0 && found.idle() < IDLE)
    };
    let (size, blocks) = (worst.clusters.size, worst.now.blocks);
    if blocks == 0 {
        return "make the block smaller, or let it take less shared memory and fewer registers".to_owned();
    }
    let smaller = (1..size).rev().find(|size| *size == 1 || fills(*size, blocks)).unwrap_or(1);
    let smaller = if smaller == 1 { "leave `cluster` out".to_owned() } else { format!("use clusters of {smaller} blocks") };
    match (blocks + 1..=2 * size).find(|more| fills(size, *more)) {
        Some(more) => format!("{smaller}; or let a multiprocessor hold {more} blocks instead of {blocks}"),
        None => smaller,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::found_at;

    fn of(attribute: &str, words: u32) -> Vec<(String, String, String)> {
        found_at(
            "cluster_unplaceable",
            &format!(
                "#[kernel(block = 256, {attribute}, targets = [sm_90])] fn k(x: &Global<f32>, y: &mut Global<f32>) {{ #[shared] let mut own: [f32; {words}]; \
                 let t = thread_idx().x; own[t] = x[t]; sync_threads(); y[global_id().x] = own[255 - t]; }}"
            ),
        )
    }

    #[test]
    fn what_is_left_over_in_groups_is_said_with_the_sizes_that_fill_them() {
        let found = of("cluster = 4, persistent", 40_000);
        let [(place, message, help)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(place, "cluster");
        assert_eq!(
            message,
            "29 to 33 clusters of 4 blocks are resident of the 33 that the 132 places for a block on the H200 SXM would make, limited by shared memory: up to 12 % stay \
             empty on sm_90 (estimated)"
        );
        assert_eq!(help, "use clusters of 2 blocks; or let a multiprocessor hold 2 blocks instead of 1");
        assert_eq!(of("cluster = 8", 40_000).len(), 1);
    }

    #[test]
    fn pairs_and_small_blocks_fill_all() {
        assert_eq!(of("cluster = 2, persistent", 40_000), []);
        assert_eq!(of("cluster = 4", 20_000), []);
        assert_eq!(of("cluster = (1, 1)", 40_000), []);
    }
}
