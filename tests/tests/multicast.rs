//! Tiles that the blocks of a cluster have in common: with a producer each block copies a part of them to all, which changes nothing but the traffic.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]
#![allow(clippy::manual_is_multiple_of, reason = "kernels")]

use warpwright::prelude::*;
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptxas::{self, Counts};
use warpwright_tests::sass::Judge;

/// Numbers that sums of a few hundred hold exactly.
fn numbers(len: usize, salt: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7919 + salt * 13 + 5) % 61) as f32 - 20.0).collect()
}

/// Tiles of `a` are the same for all blocks of a row of the grid, those of `b` for all of a column.
#[kernel(block = (16, 4), cluster = (X, Y), persistent = P, raster(rows = Y), targets = [sm_90])]
fn product<const X: usize, const Y: usize, const S: usize, const P: bool>(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut left: [[f32; 8]; 16];
    #[shared]
    let mut right: [[f32; 16]; 8];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (block_idx().y * 16, block_idx().x * 16);
    let mut sum = [0.0f32; 4];
    for half in 0..2 {
        #[pipeline(stages = S, by = tma, producer)]
        for k in (half * 8..a.columns()).step_by(16) {
            load_tile(&mut left, a, row, k);
            load_tile(&mut right, b, k, column);
            sync_threads();
            for i in 0..8 {
                #[unroll]
                for r in 0..4 {
                    sum[r] += left[ty * 4 + r][i] * right[i][tx];
                }
            }
            sync_threads();
        }
    }
    #[unroll]
    for r in 0..4 {
        c[(row + ty * 4 + r, column + tx)] = sum[r];
    }
}

fn product_agrees<const X: usize, const Y: usize, const S: usize, const P: bool>(device: &Device) {
    for (m, k, n) in [(1, 4, 4), (20, 8, 36), (48, 40, 64), (65, 16 * S + 8, 132)] {
        let (a, b) = (numbers(m * k, 3), numbers(k * n, 4));
        let [a_there, b_there] = [&a, &b].map(|x| device.upload(x).unwrap());
        let mut c = device.zeros::<f32>(m * n).unwrap();
        let (left, right) = (device.matrix(&a_there, m, k).unwrap(), device.matrix(&b_there, k, n).unwrap());
        let there = device.matrix_mut(&mut c, m, n).unwrap();
        let grid = (n.div_ceil(16).next_multiple_of(X), m.div_ceil(16).next_multiple_of(Y));
        product::<X, Y, S, P>(left, right, there).grid(grid).launch(device).unwrap();
        let of = |i: usize| (0..k).map(|j| a[i / n * k + j] * b[j * n + i % n]).sum::<f32>();
        let expected: Vec<f32> = (0..m * n).map(of).collect();
        assert_eq!(c.download().unwrap(), expected, "clusters of {X} x {Y}, {S} stages, {m} x {k} x {n}");
    }
}

/// Whether a device makes tensor copies, or does without an engine.
fn takes_tiles(device: &Device) -> bool {
    device.properties().compute_capability.is_none_or(|capability| capability >= (9, 0))
}

#[test]
fn blocks_copy_for_each_other() {
    on_all("product", |device| {
        if takes_tiles(device) {
            product_agrees::<1, 1, 2, false>(device);
            product_agrees::<2, 1, 2, false>(device);
            product_agrees::<1, 2, 3, false>(device);
            product_agrees::<2, 2, 4, false>(device);
            product_agrees::<4, 1, 3, false>(device);
        }
    });
}

#[test]
fn blocks_of_persistent_kernels_copy_for_each_other() {
    on_all("product in rounds", |device| {
        if takes_tiles(device) {
            product_agrees::<2, 1, 3, true>(device);
            product_agrees::<2, 2, 2, true>(device);
        }
    });
}

/// Blocks of a column have their own counts of iterations: they share nothing, and the clusters are none to them.
#[kernel(block = (16, 4), cluster = (1, 2), targets = [sm_90])]
fn uneven(a: &Matrix<f32>, sums: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 8];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (x, y) = (block_idx().x, block_idx().y);
    let mut sum = 0.0;
    #[pipeline(stages = 3, by = tma, producer)]
    for k in 0..y + 1 {
        load_tile(&mut tile, a, k * 8, x * 16);
        sync_threads();
        sum += tile[ty][tx] + tile[ty + 4][15 - tx];
        sync_threads();
    }
    sums[(y * grid_dim().x + x) * 64 + ty * 16 + tx] = sum;
}

#[test]
fn blocks_of_other_counts_copy_for_themselves() {
    on_all("uneven", |device| {
        if !takes_tiles(device) {
            return;
        }
        let (rows, columns) = (50, 64);
        let a = numbers(rows * columns, 5);
        let there = device.upload(&a).unwrap();
        let mut sums = device.zeros::<f32>(4 * 6 * 64).unwrap();
        uneven(device.matrix(&there, rows, columns).unwrap(), &mut sums).grid((4, 6)).launch(device).unwrap();
        let at = |r: usize, c: usize| if r < rows { a[r * columns + c] } else { 0.0 };
        let of = |i: usize| {
            let (x, y, ty, tx) = (i / 64 % 4 * 16, i / 256, i / 16 % 4, i % 16);
            (0..=y).fold(0.0, |sum, k| sum + (at(k * 8 + ty, x + tx) + at(k * 8 + ty + 4, x + 15 - tx)))
        };
        assert_eq!(sums.download().unwrap(), (0..4 * 6 * 64).map(of).collect::<Vec<f32>>());
    });
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    let source = kernel_of(include_str!("multicast.rs"), kernel).replace(", targets = [sm_90]", "");
    ptx(&source, kernel, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn what_blocks_share_is_copied_once() {
    let count = |text: &str, word: &str| text.matches(word).count();
    // The copies of an iteration: shared both, the one that a row of blocks has in common, or a column, none.
    for (x, y, shared) in [("2", "2", 2), ("2", "1", 1), ("1", "4", 1), ("1", "1", 0)] {
        let text = text("product", &[x, y, "3", "false"], "sm_90a");
        let copies = (count(&text, ".multicast::cluster"), count(&text, "cp.async.bulk.tensor.2d"));
        assert_eq!(copies, (shared, 2), "clusters of {x} x {y}: {text}");
        // They meet before the first copy, and at the end.
        let meetings = if shared > 0 { 2 } else { 0 };
        assert_eq!(count(&text, "barrier.cluster.arrive"), meetings, "clusters of {x} x {y}: {text}");
        assert_eq!(count(&text, "mapa.shared::cluster") > 0, shared > 0, "clusters of {x} x {y}: {text}");
    }
    let text = text("uneven", &[], "sm_90a");
    assert_eq!((count(&text, ".multicast::cluster"), count(&text, "barrier.cluster")), (0, 0), "{text}");
}

/// Blocks meet before and behind the roles, which takes fences of the GPU's memory; to hand slots over takes none.
#[test]
fn machine_code_hands_slots_over_without_fences() {
    let test = "machine_code_hands_slots_over_without_fences";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    let sass = judge.sass(&text("product", &["2", "2", "3", "false"], "sm_90a"), 90).unwrap_or_else(|error| panic!("{error}"));
    let count = |word: &str| sass.matches(word).count();
    assert_eq!(["UTMALDG.2D.MULTICAST", "MEMBAR.ALL.GPU", "CCTL.IVALL", "LDL", "STL"].map(count), [2, 2, 2, 0, 0], "{sass}");
    assert!(count("SYNCS.ARRIVE.TRANS64.RED") >= 1, "{sass}");
    println!("ran: {test}");
}

#[test]
fn assemblers_take_shared_copies() {
    let test = "assemblers_take_shared_copies";
    let Some(assemblers) = ptxas::found_or_skip(test) else { return };
    let counts = Counts::default();
    for (target, capability) in [("sm_90", 90), ("sm_90a", 90), ("sm_100", 100), ("sm_120", 120)] {
        for (x, y, is_persistent) in [("2", "1", "false"), ("2", "2", "true")] {
            let text = text("product", &[x, y, "3", is_persistent], target);
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "tiles that blocks share", capability));
        }
    }
    counts.report(test);
}
