//! Clusters: where their blocks are, what they reach of each other, on every device there is; what the simulator finds.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]
#![allow(clippy::needless_range_loop, reason = "kernels index shared arrays, which are no iterators")]

use warpwright::prelude::*;
use warpwright::{Device, DeviceKind};
use warpwright_kernels::histogram::{histogram_in_cluster, reference_of_words};
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptx_interpreter::executed;
use warpwright_tests::ptxas::{self, Counts};
use warpwright_tests::sass::Judge;

/// Every block says where it is.
#[kernel(block = 32, cluster = (X, Y, Z))]
fn places<const X: usize, const Y: usize, const Z: usize>(told: &mut Global<[u32; 8]>) {
    if thread_idx().x == 0 {
        let (block, grid, cluster, dim) = (block_idx(), grid_dim(), cluster_idx(), cluster_dim());
        let i = (block.z * grid.y + block.y) * grid.x + block.x;
        told[i] =
            [cluster.x as u32, cluster.y as u32, cluster.z as u32, cluster_rank() as u32, dim.x as u32, dim.y as u32, dim.z as u32, 1];
    }
}

fn told<const X: usize, const Y: usize, const Z: usize>(device: &Device) {
    let grid = [2 * X, 3 * Y, 2 * Z];
    let mut told = device.zeros::<[u32; 8]>(grid.iter().product()).unwrap();
    places::<X, Y, Z>(&mut told).grid((grid[0], grid[1], grid[2])).launch(device).unwrap();
    for (i, told) in told.download().unwrap().into_iter().enumerate() {
        let [x, y, z] = [i % grid[0], i / grid[0] % grid[1], i / grid[0] / grid[1]];
        let rank = (z % Z * Y + y % Y) * X + x % X;
        let expected = [x / X, y / Y, z / Z, rank, X, Y, Z, 1].map(|n| n as u32);
        assert_eq!(told, expected, "block ({x}, {y}, {z}) of clusters of ({X}, {Y}, {Z}) on {device}");
    }
}

#[test]
fn blocks_know_where_they_are() {
    on_all("places in clusters", |device| {
        told::<1, 1, 1>(device);
        told::<2, 1, 1>(device);
        told::<1, 2, 1>(device);
        told::<3, 2, 1>(device);
        told::<2, 2, 2>(device);
        told::<8, 1, 1>(device);
    });
}

/// Whether a device has what a kernel asks for that reaches other blocks.
fn has_clusters(device: &Device) -> bool {
    match device.kind() {
        DeviceKind::Cuda => device.properties().compute_capability.is_some_and(|(major, _)| major >= 9),
        DeviceKind::OpenCl => false,
        _ => true,
    }
}

/// Each block hands its elements to the next of its cluster, in three ways: the next reads them, they are written there, they are added there.
#[kernel(block = 64, cluster = C, targets = [sm_90], variants(C in [1, 2, 4, 8]))]
fn handed_on<const C: usize>(x: &Global<u32>, read: &mut Global<u32>, written: &mut Global<u32>, added: &mut Global<u32>) {
    #[shared]
    let mut own: [u32; 64];
    #[shared]
    let mut given: [u32; 64];
    #[shared]
    let mut sums: [u32; 2];
    let (t, i) = (thread_idx().x, global_id().x);
    let next = (cluster_rank() + 1) % C;
    own[t] = x[i];
    if t < 2 {
        sums[t] = 0;
    }
    cluster_sync();
    read[i] = shared_of(&own, next)[t];
    shared_of_mut(&mut given, next)[63 - t] = x[i];
    shared_of_mut(&mut sums, next).atomic_add(t % 2, x[i]);
    cluster_sync();
    written[i] = given[t];
    if t < 2 {
        added[block_idx().x * 2 + t] = sums[t];
    }
}

fn hands_on<const C: usize>(device: &Device) {
    let blocks = 3 * C;
    let x: Vec<u32> = (0..blocks as u32 * 64).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let from = device.upload(&x).unwrap();
    let [mut read, mut written] = [(); 2].map(|()| device.zeros::<u32>(x.len()).unwrap());
    let mut added = device.zeros::<u32>(2 * blocks).unwrap();
    let launched = handed_on::<C>(&from, &mut read, &mut written, &mut added).grid(blocks).launch(device);
    if C > 1 && !has_clusters(device) {
        let message = launched.unwrap_err().to_string();
        assert!(message.contains("cluster") || message.contains("sm_90"), "{message}");
        return;
    }
    launched.unwrap();
    let (read, written, added) = (read.download().unwrap(), written.download().unwrap(), added.download().unwrap());
    for block in 0..blocks {
        let (first, rank) = (block / C * C, block % C);
        let (next, before) = (first + (rank + 1) % C, first + (rank + C - 1) % C);
        for t in 0..64 {
            assert_eq!(read[block * 64 + t], x[next * 64 + t], "block {block} reads, clusters of {C} on {device}");
            assert_eq!(written[block * 64 + t], x[before * 64 + 63 - t], "block {block} is written to, clusters of {C} on {device}");
        }
        for parity in 0..2 {
            let sum = (0..64).filter(|t| t % 2 == parity).fold(0u32, |sum, t| sum.wrapping_add(x[before * 64 + t]));
            assert_eq!(added[block * 2 + parity], sum, "block {block} is added to, clusters of {C} on {device}");
        }
    }
}

#[test]
fn blocks_reach_each_other_s_shared_memory() {
    on_all("shared memory of a cluster", |device| {
        hands_on::<1>(device);
        hands_on::<2>(device);
        hands_on::<4>(device);
        hands_on::<8>(device);
    });
}

/// What blocks of a kernel with clusters are told whose order is another.
#[kernel(block = 32, cluster = (2, 3), persistent = P, raster(rows = R), targets = [sm_90])]
fn in_rounds<const P: bool, const R: usize>(x: &Global<u32>, next: &mut Global<u32>, told: &mut Global<[u32; 3]>, sums: &mut Global<u32>) {
    #[shared]
    let mut own: [u32; 32];
    #[shared]
    let mut ticket: [u32; 1];
    let (t, block, grid) = (thread_idx().x, block_idx(), grid_dim());
    let i = (block.z * grid.y + block.y) * grid.x + block.x;
    own[t] = x[i * 32 + t];
    if t == 0 {
        ticket[0] = next.atomic_add(0, 1);
    }
    cluster_sync();
    let mut sum = 0;
    for rank in 0..6 {
        sum += shared_of(&own, rank)[t];
    }
    sums[i * 32 + t] = sum;
    if t == 0 {
        // The least ticket of the cluster: which of the clusters this one was.
        let mut first = ticket[0];
        for rank in 0..6 {
            first = first.min(shared_of(&ticket, rank)[0]);
        }
        told[i] = [first / 6, cluster_rank() as u32, 1];
    }
}

fn clusters_stay_together<const P: bool, const R: usize>(device: &Device) {
    for grid in [[2, 3, 1], [8, 6, 1], [6, 15, 2], [4, 9, 1]] {
        let blocks: usize = grid.iter().product();
        let x: Vec<u32> = (0..32 * blocks as u32).collect();
        let from = device.upload(&x).unwrap();
        let (mut next, mut told) = (device.zeros::<u32>(1).unwrap(), device.zeros::<[u32; 3]>(blocks).unwrap());
        let mut sums = device.zeros::<u32>(x.len()).unwrap();
        in_rounds::<P, R>(&from, &mut next, &mut told, &mut sums).grid((grid[0], grid[1], grid[2])).launch(device).unwrap();
        let (sums, told) = (sums.download().unwrap(), told.download().unwrap());
        for (i, told) in told.iter().enumerate() {
            let place = [i % grid[0], i / grid[0] % grid[1], i / grid[0] / grid[1]];
            let corner = [place[0] / 2 * 2, place[1] / 3 * 3, place[2]];
            let members = (0..6).map(|rank| (corner[2] * grid[1] + corner[1] + rank / 2) * grid[0] + corner[0] + rank % 2);
            for t in 0..32 {
                let sum: u32 = members.clone().map(|member| x[member * 32 + t]).sum();
                assert_eq!(sums[i * 32 + t], sum, "block {place:?} of {grid:?}, persistent {P}, {R} rows, on {device}");
            }
            assert_eq!(told[1..], [(place[1] % 3 * 2 + place[0] % 2) as u32, 1]);
        }
        // The simulator runs clusters as they are numbered, but for rounds.
        if *device == Device::simulator() && !P {
            let (across, down) = (grid[0] / 2, grid[1] / 3);
            let mut numbers = vec![0; across * down * grid[2]];
            let mut number = 0;
            for z in 0..grid[2] {
                for band in (0..down).step_by(R.div_ceil(3)) {
                    for x in 0..across {
                        for y in band..down.min(band + R.div_ceil(3)) {
                            numbers[(z * down + y) * across + x] = number;
                            number += 1;
                        }
                    }
                }
            }
            for (i, told) in told.iter().enumerate() {
                let place = [i % grid[0] / 2, i / grid[0] % grid[1] / 3, i / grid[0] / grid[1]];
                assert_eq!(told[0], numbers[(place[2] * down + place[1]) * across + place[0]], "cluster {place:?} of {grid:?}, {R} rows");
            }
        }
    }
}

#[test]
fn clusters_stay_together_in_bands_and_rounds() {
    on_all("orders of clusters", |device| {
        if has_clusters(device) {
            clusters_stay_together::<false, 1>(device);
            clusters_stay_together::<false, 3>(device);
            clusters_stay_together::<false, 6>(device);
            clusters_stay_together::<true, 1>(device);
            clusters_stay_together::<true, 6>(device);
        }
    });
}

#[test]
fn a_grid_is_whole_clusters() {
    on_all("grids of clusters", |device| {
        let mut told = device.zeros::<[u32; 8]>(64).unwrap();
        let error = places::<2, 3, 1>(&mut told).grid((4, 5, 1)).launch(device).unwrap_err().to_string();
        let expected = "a grid of (4, 5, 1) blocks is not whole clusters of (2, 3, 1); help: launch `.grid((4, 6, 1))`, and let blocks beyond the data store nothing";
        assert!(error.contains(expected), "{error}");
        // The device is as it was.
        places::<2, 3, 1>(&mut told).grid((4, 6, 1)).launch(device).unwrap();
        assert_eq!(told.download().unwrap()[23][..4], [1, 1, 0, 5]);
    });
}

#[test]
fn a_grid_that_covers_is_whole_clusters() {
    on_all("grids that cover", |device| {
        let mut told = device.zeros::<[u32; 8]>(8).unwrap();
        // Two blocks of 32 and a bit, in clusters of 4.
        places::<4, 1, 1>(&mut told).cover(65).launch(device).unwrap();
        assert_eq!(told.download().unwrap().iter().filter(|told| told[7] == 1).count(), 4, "{device}");
    });
}

/// The sum of an array, wherever it is.
#[device]
fn sum_of(part: &[u32; 64]) -> u32 {
    let mut sum = 0;
    for i in 0..64 {
        sum += part[i];
    }
    sum
}

/// Adds to the array of a block.
#[device]
fn add_to(counts: &mut [u32; 4], rank: usize, amount: u32) {
    shared_of_mut(counts, rank).atomic_add(cluster_rank(), amount);
}

/// Sums of rows that the copy engine brings, where there is one, exchanged by functions; with loads ahead, and blocks that go round unequally often.
#[kernel(block = 64, cluster = 4, targets = [sm_90])]
fn exchanged(rounds: usize, x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut run: [u32; 64];
    #[shared]
    let mut part: [u32; 64];
    #[shared]
    let mut counts: [u32; 4];
    let (t, rank) = (thread_idx().x, cluster_rank());
    if t < 4 {
        counts[t] = 0;
    }
    let mut sum = 0;
    #[pipeline(stages = 3)]
    for k in 0..rounds + rank {
        load_run(&mut run, x, (k * grid_dim().x + block_idx().x) * 64);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    part[t] = sum;
    cluster_sync();
    if t == 0 {
        let next = (rank + 1) % 4;
        add_to(&mut counts, next, sum_of(shared_of(&part, next)));
    }
    cluster_sync();
    if t < 4 {
        y[block_idx().x * 4 + t] = counts[t];
    }
}

#[test]
fn functions_and_copies_ahead_go_with_clusters() {
    on_all("exchanges in clusters", |device| {
        if !has_clusters(device) {
            return;
        }
        for rounds in [0, 1, 2, 5] {
            let (blocks, x) = (8, (0..8 * 9 * 64).map(|i: u32| i % 1009).collect::<Vec<_>>());
            let from = device.upload(&x).unwrap();
            let mut y = device.zeros::<u32>(4 * blocks).unwrap();
            exchanged(rounds, &from, &mut y).grid(blocks).launch(device).unwrap();
            let of = |block: usize| {
                let runs = (0..rounds + block % 4).map(|k| (k * blocks + block) * 64);
                runs.flat_map(|first| &x[first..first + 64]).sum::<u32>()
            };
            for (block, counts) in y.download().unwrap().chunks(4).enumerate() {
                // The block before added the sum of this one.
                let mut expected = [0; 4];
                expected[(block % 4 + 3) % 4] = of(block);
                assert_eq!(counts, expected, "block {block}, {rounds} rounds on {device}");
            }
        }
    });
}

/// A thread whose block returns before others are done stays until they are.
#[kernel(block = 64, cluster = 4, targets = [sm_90])]
fn leaves_early(y: &mut Global<u32>) {
    #[shared]
    let mut own: [u32; 64];
    let (t, rank) = (thread_idx().x, cluster_rank());
    own[t] = (rank * 64 + t) as u32;
    cluster_sync();
    if rank != 3 {
        return;
    }
    let mut x = t as u32;
    for _ in 0..1000 {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
    let mut sum = if x == 7 { 1 } else { 0 };
    for other in 0..4 {
        sum += shared_of(&own, other)[t];
    }
    y[t] = sum;
}

#[test]
fn a_block_stays_while_others_reach_its_memory() {
    on_all("blocks that return early", |device| {
        if has_clusters(device) {
            let mut y = device.zeros::<u32>(64).unwrap();
            leaves_early(&mut y).grid(4).launch(device).unwrap();
            let expected: Vec<u32> = (0..64).map(|t| (0..4).map(|rank| rank * 64 + t).sum()).collect();
            assert_eq!(y.download().unwrap(), expected, "{device}");
        }
    });
}

/// Nothing stands between what a block writes and another reads.
#[kernel(block = 32, cluster = 2, targets = [sm_90])]
fn unordered(y: &mut Global<u32>) {
    #[shared]
    let mut own: [u32; 32];
    let t = thread_idx().x;
    own[t] = t as u32;
    cluster_sync();
    y[global_id().x] = shared_of(&own, 1)[t];
    own[t] = 1;
}

/// The same, but it is another block that writes.
#[kernel(block = 32, cluster = 2, targets = [sm_90])]
fn written_apart(y: &mut Global<u32>) {
    #[shared]
    let mut own: [u32; 32];
    let t = thread_idx().x;
    own[t] = t as u32;
    cluster_sync();
    shared_of_mut(&mut own, 0)[t] = 1;
    cluster_sync();
    y[global_id().x] = own[t];
}

/// One of two blocks does not come.
#[kernel(block = 32, cluster = 2, targets = [sm_90])]
fn comes_alone(y: &mut Global<u32>) {
    if cluster_rank() == 0 {
        cluster_sync();
    }
    y[global_id().x] = 1;
}

/// There is no such block.
#[kernel(block = 32, cluster = 2, targets = [sm_90])]
fn out_of_the_cluster(y: &mut Global<u32>) {
    #[shared]
    let mut own: [u32; 32];
    let t = thread_idx().x;
    own[t] = t as u32;
    cluster_sync();
    y[global_id().x] = shared_of(&own, y.len() / 32)[t];
}

#[test]
fn the_simulator_finds_what_clusters_get_wrong() {
    let device = Device::simulator();
    let mut y = device.zeros::<u32>(64).unwrap();
    let fails = |error: warpwright::Error, parts: &[&str]| {
        let text = error.to_string();
        parts.iter().for_each(|part| assert!(text.contains(part), "{part} in {text}"));
    };
    fails(
        unordered(&mut y).grid(2).launch(&device).unwrap_err(),
        &[
            "race: writes scalar 0 of `own` (of 32), which thread (0, 0, 0) of block (0, 0, 0) reads on line",
            "no `cluster_sync()` is between the two",
        ],
    );
    fails(
        written_apart(&mut y).grid(2).launch(&device).unwrap_err(),
        &[
            "race: writes scalar 0 of `own` (of 32), which thread (0, 0, 0) of block (0, 0, 0) writes on line",
            "no `cluster_sync()` is between the two",
        ],
    );
    fails(
        comes_alone(&mut y).grid(2).launch(&device).unwrap_err(),
        &["divergent barrier: 1 of the cluster's 2 blocks wait at a `cluster_sync()`, block (1, 0, 0) has ended without coming here"],
    );
    fails(out_of_the_cluster(&mut y).grid(2).launch(&device).unwrap_err(), &["index 2 is out of bounds of `own`, which has 2 elements"]);
}

#[test]
fn the_host_twin_knows_the_cluster_s_blocks() {
    let device = Device::host();
    let mut y = device.zeros::<u32>(64).unwrap();
    let error = out_of_the_cluster(&mut y).grid(2).launch(&device).unwrap_err().to_string();
    assert!(error.contains("rank 2 of a cluster of 2 blocks"), "{error}");
}

fn counts<const C: usize, const OWN: usize>(device: &Device) {
    let bins = C * OWN;
    // Few values often, all others seldom.
    let value = |i: u32| if i.is_multiple_of(4) { i / 4 % 7 } else { i.wrapping_mul(2_654_435_761) >> 8 };
    let values: Vec<u16> = (0..20_011).map(|i| (value(i) as usize % bins) as u16).collect();
    let from = device.upload(&values).unwrap();
    let mut found = device.zeros::<u32>(bins).unwrap();
    histogram_in_cluster::<C, OWN>(&from, &mut found).grid(2 * C).launch(device).unwrap();
    assert_eq!(found.download().unwrap(), reference_of_words(&values, bins), "{bins} bins in clusters of {C} on {device}");
}

#[test]
fn a_histogram_is_spread_over_a_cluster() {
    on_all("histograms in clusters", |device| {
        if !has_clusters(device) {
            // It is the block's own.
            return counts::<1, 2048>(device);
        }
        counts::<1, 8192>(device);
        counts::<2, 32768>(device);
        counts::<4, 16384>(device);
        counts::<8, 8192>(device);
    });
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    let source = kernel_of(include_str!("clusters.rs"), kernel);
    ptx(source, kernel, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn assemblers_take_accesses_of_other_blocks() {
    let test = "assemblers_take_accesses_of_other_blocks";
    let Some(assemblers) = ptxas::found_or_skip(test) else { return };
    let counts = Counts::default();
    let atomics = |ty: &str| {
        let ops: &[&str] = if ty.starts_with('f') {
            &["add(t, 1.0)", "sub(t, 1.0)", "min(t, 1.0)", "max(t, 1.0)", "exchange(t, 1.0)"]
        } else {
            &["add(t, 1)", "sub(t, 1)", "min(t, 1)", "max(t, 1)", "and(t, 1)", "or(t, 1)", "xor(t, 1)", "exchange(t, 1)", "cas(t, 1, 2)"]
        };
        let of = |op: &&str| {
            format!("shared_of_mut(&mut own, 1).atomic_{op}; y[t] = shared_of_mut(&mut own, rank).atomic_{op}; own.atomic_{op};\n")
        };
        let ordered = format!(
            "y[t] = shared_of_mut(&mut own, 1).atomic_add_ordered(t, 1 as {ty}, Ordering::AcqRel, ThreadScope::Device);
             shared_of_mut(&mut own, 1).atomic_store(t, 1 as {ty}, Ordering::Release, ThreadScope::Device);
             y[t] = shared_of_mut(&mut own, 1).atomic_load(t, Ordering::Acquire, ThreadScope::Device);
             own.atomic_add_ordered(t, 1 as {ty}, Ordering::SeqCst, ThreadScope::Block);"
        );
        format!(
            "use warpwright::prelude::*;\n#[kernel(block = 32, cluster = 2)]\nfn k(y: &mut Global<{ty}>) {{ #[shared] let mut own: [{ty}; 256]; let t = thread_idx().x; \
             let rank = cluster_rank(); own[t] = 0 as {ty}; cluster_sync(); {} {ordered} let four = shared_of(&own, 1 - rank).load::<2>(2 * t); \
             shared_of_mut(&mut own, rank).store::<2>(2 * t, four); y[t] = four[1]; }}",
            ops.iter().map(of).collect::<String>()
        )
    };
    for (target, capability) in [("sm_90", 90), ("sm_100", 100), ("sm_120", 120)] {
        for ty in ["u32", "i32", "u64", "i64", "f32", "f64"] {
            let text = ptx(&atomics(ty), "k", &[], target).unwrap_or_else(|error| panic!("{ty}: {error}")).to_string();
            assert!(text.contains("atom.shared::cluster.") && text.contains(".acq_rel.cluster.shared::cluster."), "{text}");
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, &format!("atomics of {ty} in other blocks"), capability));
        }
        for c in ["1", "2", "8"] {
            let text = text("handed_on", &[c], target);
            assert_eq!(text.contains(&format!(".reqnctapercluster {c}, 1, 1\n")), c != "1", "{text}");
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "blocks that hand on", capability));
        }
        for (persistent, rows, started) in [("false", "6", "2, 3, 1"), ("true", "6", "6, 1, 1")] {
            let text = text("in_rounds", &[persistent, rows], target);
            assert!(text.contains(&format!(".explicitcluster\n.reqnctapercluster {started}\n")), "{text}");
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "clusters in bands", capability));
        }
    }
    counts.report(test);
}

#[test]
fn machine_code_meets_as_often_as_the_source_and_once_more() {
    let test = "machine_code_meets_as_often_as_the_source_and_once_more";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    let sass = |kernel: &str, generics: &[&str]| judge.sass(&text(kernel, generics, "sm_90"), 90).unwrap_or_else(|error| panic!("{error}"));
    let count = |sass: &str, word: &str| sass.matches(word).count();
    // The last use is behind the last barrier, so the compiler adds one.
    let early = sass("leaves_early", &[]);
    assert_eq!([count(&early, "UCGABAR_ARV"), count(&early, "UCGABAR_WAIT")], [2, 2], "{early}");
    let handed = sass("handed_on", &["4"]);
    assert_eq!([count(&handed, "UCGABAR_ARV"), count(&handed, "BAR.SYNC")], [2, 0], "{handed}");
    let alone = sass("handed_on", &["1"]);
    assert_eq!([count(&alone, "UCGABAR_ARV"), count(&alone, "BAR.SYNC")], [0, 2], "{alone}");
}

/// The same once more, as PTX that is executed without a GPU.
#[test]
fn on_the_ptx_interpreter() {
    executed(
        "clusters",
        &[
            "a_grid_that_covers_is_whole_clusters",
            "a_block_stays_while_others_reach_its_memory",
            "a_histogram_is_spread_over_a_cluster",
            "blocks_know_where_they_are",
            "blocks_reach_each_other_s_shared_memory",
            "functions_and_copies_ahead_go_with_clusters",
            "clusters_stay_together_in_bands_and_rounds",
        ],
        "9.0",
    );
}
