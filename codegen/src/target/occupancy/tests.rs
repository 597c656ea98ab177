//! Occupancy as documents state it, and steps and cliffs against trying everything. NVIDIA's own header judges the rest, in the crate of
//! tests (`occupancy_judged`).

use super::*;
use crate::target::limits::LIMITS;

fn resident(capability: &str, threads: u32, registers: u32, shared: u32) -> Occupancy {
    let limits = Limits::find(capability).expect("a capability");
    occupancy(limits, &Demand { threads, registers, shared, ..Demand::default() }, &Options::default())
}

/// Blocks, and the share of warp slots in percent, cut off.
fn figures(capability: &str, threads: u32, registers: u32, shared: u32) -> (u32, u32) {
    let found = resident(capability, threads, registers, shared);
    (found.blocks, found.warps * 100 / found.limits.warps)
}

#[test]
fn copies_on_a_c2050() {
    // "Thread- and instruction-level parallelism in CUDA Fortran": a copy of 10 registers, without and with 0.9 of the shared memory taken.
    let shared = 48 * 1024 * 9 / 10;
    let table = [(32, 8, 1), (64, 16, 2), (128, 32, 4), (256, 48, 8), (512, 48, 16), (1024, 32, 32)];
    for (threads, warps, braked) in table {
        assert_eq!(resident("2.0", threads, 10, 0).warps, warps, "{threads} threads");
        assert_eq!(resident("2.0", threads, 10, shared).warps, braked, "{threads} threads, shared memory taken");
    }
    // ILP 8 with its loads batched: 35 registers, 35,840 of 1024 threads, more than there are.
    assert_eq!(resident("2.0", 1024, 35, 0).limiters().collect::<Vec<_>>(), [Resource::Registers]);
    assert_eq!(figures("2.0", 1024, 35, 0), (0, 0));
    assert_eq!(figures("2.0", 1024, 19, 0), (1, 66));
}

#[test]
fn maxwell_of_programming_parallel_computers() {
    // Part 5B: 64 warps need two warps a block, at most 32 registers, at most 2 KB of shared memory for blocks of 64.
    assert_eq!(figures("5.0", 32, 32, 0), (32, 50));
    assert_eq!(figures("5.0", 64, 32, 2048), (32, 100));
    assert!(resident("5.0", 64, 33, 2048).warps < 64 && resident("5.0", 64, 32, 2049).warps < 64);
    assert_eq!(resident("5.0", 64, 255, 0).warps, 8);
}

#[test]
fn tiles_on_a_g80() {
    // VSCSE 2009, lecture 5, and Ryoo et al. 2008: tiles of 16 × 16; ten registers hold three blocks, eleven two.
    assert_eq!(figures("1.0", 256, 10, 2 * 16 * 16 * 4), (3, 100));
    assert_eq!(figures("1.0", 256, 11, 2 * 16 * 16 * 4), (2, 66));
    assert_eq!(figures("1.0", 256, 9, 2 * 16 * 16 * 4), (3, 100));
    let cliff = resident("1.0", 256, 10, 2048).cliffs().remove(0);
    assert_eq!((cliff.changes.as_slice(), cliff.occupancy.blocks), ([(Resource::Registers, 11)].as_slice(), 2));
    let step = resident("1.0", 256, 11, 2048).steps().remove(0);
    assert_eq!(step.to_string(), "at ≤ 10 registers: 3 blocks, 100 %");
}

#[test]
fn the_opencl_guides_examples() {
    // NVIDIA OpenCL best practices guide 1.0, "Calculating occupancy".
    assert_eq!(figures("1.0", 128, 12, 0), (5, 83));
    assert_eq!(figures("1.0", 256, 12, 0), (2, 66));
    // "Hiding register dependencies": 192 threads, 25 % of 1.0 and 1.1 and 18.75 % of 1.2 and 1.3, hide a register's latency.
    assert_eq!(resident("1.1", 192, 32, 0).percent(), 25.0);
    assert_eq!(resident("1.3", 192, 64, 0).percent(), 18.8);
}

#[test]
fn units_of_registers() {
    // 1.x: blocks of warps in twos, registers to the block. 65 threads are four warps.
    assert_eq!(figures("1.0", 65, 4, 0).0, 6);
    // 2.x: some counts are given in units twice as large.
    assert_eq!((figures("2.0", 65, 44, 0).0, figures("2.0", 65, 45, 0).0), (7, 6));
    // From 3.0: 256 of a warp, and no warp across two sub-partitions: 16,384 / 2,816 is 5 in each of four, not 23 in all.
    assert_eq!(resident("5.0", 32, 88, 0).warps, 20);
    // 6.0 has two sub-partitions, 11 in each.
    assert_eq!(resident("6.0", 32, 88, 0).warps, 22);
    // A launch is checked as if the warps filled the sub-partitions: nine as twelve.
    assert_eq!(figures("5.0", 288, 168, 0).0, 1);
    assert_eq!(figures("5.0", 288, 169, 0).0, 0);
    assert_eq!(resident("5.0", 288, 169, 0).launch_registers(), 12 * 5632);
    // 3.7 has twice the registers, 5.3 half of them for a block.
    assert_eq!((figures("3.5", 256, 64, 0).0, figures("3.7", 256, 64, 0).0), (4, 8));
    assert_eq!((figures("5.0", 1024, 64, 0).0, figures("5.3", 1024, 64, 0).0), (1, 0));
}

#[test]
fn shared_memory() {
    // From 8.0 the system takes 1 KB of every block: 33 KB five times is more than 164.
    assert_eq!((figures("7.0", 64, 16, 32 << 10).0, figures("8.0", 64, 16, 32 << 10).0), (3, 4));
    // Rounded up after that.
    assert_eq!((figures("8.0", 64, 16, 31872).0, figures("8.0", 64, 16, 32 << 10).0, figures("8.0", 64, 16, 1).0), (5, 4, 32));
    // Beyond 48 KB only who opts in.
    let limits = Limits::find("9.0").expect("a capability");
    let demand = Demand { threads: 256, registers: 32, shared: 100_000, ..Demand::default() };
    let blocks = |options: Options| occupancy(limits, &demand, &options).blocks;
    assert_eq!((blocks(Options::default()), blocks(Options { opt_in: false, ..Options::default() })), (2, 0));
    // A preference for the cache gives way to the first block, not to the second.
    assert_eq!(blocks(Options { cache: CachePreference::Cache, ..Options::default() }), 1);
    assert_eq!(blocks(Options { cache: CachePreference::Percent(60), ..Options::default() }), 1);
    // Even blocks that ask for none need their reserved kilobyte.
    let small = Demand { threads: 32, registers: 16, ..Demand::default() };
    let cached = Options { cache: CachePreference::Cache, ..Options::default() };
    assert_eq!(occupancy(limits, &small, &cached).blocks, 8);
    // Kepler and Fermi by name.
    let by_name = |capability, cache| {
        let limits = Limits::find(capability).expect("a capability");
        let demand = Demand { threads: 64, registers: 16, shared: 8 << 10, ..Demand::default() };
        occupancy(limits, &demand, &Options { cache, ..Options::default() }).blocks
    };
    let all = [CachePreference::Cache, CachePreference::Equal, CachePreference::Shared, CachePreference::Percent(10)];
    assert_eq!(all.map(|cache| by_name("3.5", cache)), [2, 4, 6, 6]);
    assert_eq!(all.map(|cache| by_name("3.7", cache)), [10, 12, 14, 14]);
    assert_eq!(all.map(|cache| by_name("2.0", cache)), [2, 6, 6, 6]);
    // One byte more than the preference leaves, and the block gets all there is: two fit again.
    let fermi = Limits::find("2.0").expect("a capability");
    let demand = Demand { threads: 64, registers: 16, shared: 16 << 10, ..Demand::default() };
    let options = Options { cache: CachePreference::Cache, ..Options::default() };
    let at = occupancy(fermi, &demand, &options);
    assert_eq!((at.blocks, occupancy(fermi, &demand.with(Resource::Shared, (16 << 10) + 1), &options).blocks), (1, 2));
    assert_eq!(at.steps()[0].to_string(), "at ≤ 8192 bytes of shared memory: 2 blocks, 8.3 %");
    assert_eq!(at.cliffs().iter().find(|cliff| cliff.changes[0].0 == Resource::Shared), None);
}

#[test]
fn what_a_block_takes() {
    let taken = |capability, registers, shared| {
        let found = resident(capability, 65, registers, shared);
        [Resource::Warps, Resource::Registers, Resource::Shared].map(|resource| found.taken(resource).expect("counted everywhere"))
    };
    assert_eq!(taken("1.0", 11, 1), [(4, 24), (1536, 8192), (512, 16 << 10)]);
    assert_eq!(taken("2.0", 45, 1), [(3, 48), (3 * 1536, 32768), (128, 48 << 10)]);
    assert_eq!(taken("9.0", 33, 1), [(3, 64), (3 * 1280, 65536), (1152, 228 << 10)]);
    assert_eq!((resident("8.0", 64, 8, 0).taken(Resource::Barriers), resident("9.0", 64, 8, 0).taken(Resource::Virtual)), (None, None));
}

#[test]
fn barriers_and_virtual_resources() {
    let blocks = |capability, barriers, virtual_resources| {
        let limits = Limits::find(capability).expect("a capability");
        let demand = Demand { threads: 32, registers: 16, barriers, virtual_resources, ..Demand::default() };
        occupancy(limits, &demand, &Options::default()).blocks
    };
    assert_eq!([1, 2, 3].map(|n| blocks("12.0", n, 0)), [24, 12, 8]);
    assert_eq!([1, 2, 3].map(|n| blocks("9.0", n, 0)), [32, 32, 21]);
    assert_eq!([1, 2, 16].map(|n| blocks("8.0", n, 0)), [32, 32, 32]);
    assert_eq!([0, 4, 5].map(|n| blocks("10.0", 0, n)), [32, 32, 25]);
    assert_eq!(blocks("9.0", 0, 5), 32);
}

#[test]
fn what_is_impossible_is_said_all_at_once() {
    let limits = Limits::find("3.0").expect("a capability");
    let demand = Demand { threads: 2048, registers: 64, shared: 1 << 20, barriers: 17, virtual_resources: 1 };
    let found: Vec<String> = impossible(limits, &demand, &Options::default()).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "a block has 1 to 1024 threads on 3.0, not 2048; ask for 1 to 1024",
            "a thread has at most 63 registers on 3.0, not 64; ask for 63 or fewer",
            "a block has at most 49152 bytes of shared memory on 3.0, not 1048576; ask for 49152 or fewer",
            "a block has at most 16 named barriers, not 17; ask for 16 or fewer",
            "a block has at most 0 virtual resources on 3.0, not 1; ask for 0 or fewer",
        ]
    );
    assert_eq!(occupancy(limits, &demand, &Options::default()).blocks, 0);
    // Nothing overflows.
    let most = Demand { threads: u32::MAX, registers: u32::MAX, shared: u32::MAX, barriers: u32::MAX, virtual_resources: u32::MAX };
    for limits in LIMITS {
        let found = occupancy(limits, &most, &Options::default());
        assert_eq!((found.blocks, found.steps(), found.cliffs()), (0, vec![], vec![]), "{}", limits.name());
    }
}

#[test]
fn the_assemblers_ladder() {
    let hopper = Limits::find("9.0").expect("a capability");
    assert_eq!(register_ladder(hopper, 128), [32, 40, 48, 56, 64, 72, 80, 96, 128, 168, 255]);
    assert_eq!(register_ladder(hopper, 1024), [32, 64]);
    assert_eq!(register_ladder(Limits::find("1.0").expect("a capability"), 256), [10, 16, 32]);
}

/// A few thousand demands on every capability.
fn demands() -> impl Iterator<Item = Occupancy> {
    let figures =
        [(1, 0), (32, 0), (64, 3000), (96, 0), (200, 100), (256, 12_000), (288, 1024), (512, 40_000), (1000, 0), (1024, 48 << 10)];
    let all = LIMITS.iter().flat_map(move |limits| figures.map(|(threads, shared)| (limits, threads, shared)));
    all.flat_map(|(limits, threads, shared)| {
        [0, 1, 10, 11, 21, 32, 33, 45, 63, 65, 100, 128, 169, 255].into_iter().flat_map(move |registers| {
            [0, 1, 3].map(|barriers| {
                let demand = Demand { threads, registers, shared, barriers, virtual_resources: 0 };
                occupancy(limits, &demand, &Options::default())
            })
        })
    })
}

#[test]
fn steps_and_cliffs_are_the_nearest() {
    let with = |at: &Occupancy, resource, figure| occupancy(at.limits, &at.demand.with(resource, figure), &at.options);
    let mut seen = [0; 4];
    for at in demands() {
        for step in at.steps() {
            assert!(step.occupancy.warps > at.warps && step.is_step_up, "{at:?}");
            let together = step.changes.iter().fold(at.demand, |demand, (resource, figure)| demand.with(*resource, *figure));
            assert_eq!(step.occupancy, occupancy(at.limits, &together, &at.options));
            for (resource, figure) in &step.changes {
                if *resource == Resource::Warps || *resource == Resource::Blocks {
                    continue;
                }
                // One more of it is too much, however little there is of the others.
                let one_more = occupancy(at.limits, &together.with(*resource, figure + 1), &at.options);
                assert!(one_more.blocks <= at.blocks, "{at:?} {step}");
                seen[usize::from(step.changes.len() > 1)] += 1;
            }
        }
        for cliff in at.cliffs() {
            let [(resource, figure)] = cliff.changes[..] else { panic!("a cliff is of one resource") };
            seen[2] += 1;
            if resource == Resource::Warps {
                assert!(cliff.occupancy.warps < at.warps, "{at:?} {cliff}");
                continue;
            }
            assert!(cliff.occupancy.blocks < at.blocks, "{at:?} {cliff}");
            assert!(with(&at, resource, figure - 1).blocks == at.blocks, "{at:?} {cliff}");
        }
        if at.demand.registers > 0 {
            // By trying every count.
            let nearest = (0..at.demand.registers).rev().find(|registers| with(&at, Resource::Registers, *registers).blocks > at.blocks);
            let said = at.steps().into_iter().find(|step| step.changes.len() == 1 && step.changes[0].0 == Resource::Registers);
            assert_eq!(said.map(|step| step.changes[0].1), nearest, "{at:?}");
            seen[3] += usize::from(nearest.is_some());
        }
    }
    assert!(seen.iter().all(|n| *n > 10), "{seen:?}");
}

#[test]
fn less_of_a_pool_never_holds_fewer_blocks() {
    // What the halving in `steps` stands on. Where shared memory is set by name, a preference for the cache is the exception.
    for limits in LIMITS {
        for cache in [CachePreference::Default, CachePreference::Cache, CachePreference::Equal, CachePreference::Percent(30)] {
            let at = |registers, shared| {
                let demand = Demand { threads: 96, registers, shared, ..Demand::default() };
                occupancy(limits, &demand, &Options { cache, ..Options::default() }).blocks
            };
            assert!((1..limits.registers_per_thread).all(|registers| at(registers, 0) >= at(registers + 1, 0)), "{}", limits.name());
            if limits.capability < 70 && cache != CachePreference::Default {
                continue;
            }
            let mut bytes = (0..limits.shared_opted_in).step_by(64);
            assert!(bytes.all(|bytes| at(16, bytes) >= at(16, bytes + 64)), "{}", limits.name());
        }
    }
}

#[test]
fn curves_go_through_the_present_point() {
    let at = resident("8.6", 128, 40, 4096);
    for resource in [Resource::Warps, Resource::Registers, Resource::Shared] {
        let curve = at.curve(resource);
        let here = curve.iter().find(|point| point.figure == at.demand.figure(resource)).expect("the present point");
        assert_eq!((here.blocks, here.warps), (at.blocks, at.warps), "{resource}");
        assert!(curve.windows(2).all(|pair| pair[0].figure < pair[1].figure));
    }
    assert_eq!(at.curve(Resource::Warps).len(), 32);
    assert_eq!(at.curve(Resource::Registers).len(), 255);
}
