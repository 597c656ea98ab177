//! Sums as the left factor of another product (`operand`): on every device against Rust, for each type, blocks of one warpgroup and several, one strip of rows and several. And that the two products of a
//! loop with a producer take turns, for loops that run not at all, once, and more often than there are slots.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::DeviceKind;
use warpwright::Num;
use warpwright::prelude::*;
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptxas::{self, Counts};

/// Whole numbers from −2 to 2, most of them zero: what they sum up to is exact in all types.
fn numbers(len: usize, salt: usize) -> Vec<i32> {
    (0..len).map(|i| ((i + salt) * 7919 + (i + salt) / 13) % 17).map(|n| if n < 5 { n as i32 - 2 } else { 0 }).collect()
}

/// (a · bᵀ) · c.
#[kernel(block = B)]
fn chained<T: Num, S: Num + SumOf<T>, const B: usize, const M: usize, const N: usize, const K: usize, const L: usize>(
    a: &Matrix<T>,
    b: &Matrix<T>,
    c: &Matrix<T>,
    y: &mut Matrix<S>,
) {
    #[shared(swizzle = 128)]
    let mut of_a: [[T; K]; M];
    #[shared(swizzle = 128)]
    let mut of_b: [[T; K]; N];
    #[shared(swizzle = 128)]
    let mut of_c: [[T; L]; N];
    load_tile(&mut of_a, a, 0, 0);
    load_tile(&mut of_b, b, 0, 0);
    load_tile(&mut of_c, c, 0, 0);
    sync_threads();
    let mut first = Accumulator::<S, M, N>::zero();
    multiply_add(&of_a, transposed(&of_b), &mut first);
    let mut second = Accumulator::<S, M, L>::zero();
    multiply_add(first.operand::<T>(), &of_c, &mut second);
    #[unroll]
    for e in 0..second.len() {
        let (row, column) = second.position(e);
        y[(row, column)] = second[e];
    }
}

/// (a · bᵀ) · c, of m × k, n × k and n × l whole numbers.
fn in_rust([m, n, k, l]: [usize; 4], a: &[i32], b: &[i32], c: &[i32]) -> Vec<i32> {
    let first: Vec<i32> = (0..m * n).map(|i| (0..k).map(|step| a[i / n * k + step] * b[i % n * k + step]).sum()).collect();
    (0..m * l).map(|i| (0..n).map(|step| first[i / l * n + step] * c[step * l + i % l]).sum()).collect()
}

macro_rules! agrees {
    ($device:expr, $T:ty, $S:ty, |$n:ident| $of:expr, [$b:literal, $m:literal, $n_:literal, $k:literal, $l:literal]) => {{
        let device: &Device = $device;
        let (a, b, c) = (numbers($m * $k, 1), numbers($n_ * $k, 50), numbers($n_ * $l, 90));
        let of = |numbers: &[i32]| -> Vec<$T> { numbers.iter().map(|$n| $of).collect() };
        let [x, y, z] = [&a, &b, &c].map(|numbers| device.upload(&of(numbers)).unwrap());
        let mut out = device.zeros::<$S>($m * $l).unwrap();
        let launch = chained::<$T, $S, $b, $m, $n_, $k, $l>(
            device.matrix(&x, $m, $k).unwrap(),
            device.matrix(&y, $n_, $k).unwrap(),
            device.matrix(&z, $n_, $l).unwrap(),
            device.matrix_mut(&mut out, $m, $l).unwrap(),
        );
        launch.grid(1).launch(device).unwrap();
        let expected: Vec<$S> = in_rust([$m, $n_, $k, $l], &a, &b, &c).into_iter().map(|n| n as $S).collect();
        let what = format!("{}: {} x {} x {} x {} of {}, {} threads", device.name(), $m, $n_, $k, $l, stringify!($T), $b);
        assert_eq!(out.download().unwrap(), expected, "{what}");
    }};
}

#[test]
fn sums_are_factors_of_the_same_numbers_as_in_rust() {
    on_all("sums as factors", |device| {
        agrees!(device, bf16, f32, |n| bf16::from_f32(*n as f32), [128, 64, 32, 64, 64]);
        // OpenCL has no tensor cores: larger tiles are the same code, unrolled further, for which PoCL takes half a minute.
        if device.kind() != DeviceKind::OpenCl {
            agrees!(device, bf16, f32, |n| bf16::from_f32(*n as f32), [128, 128, 48, 64, 64]);
            agrees!(device, f16, f32, |n| f16::from_f32(*n as f32), [256, 128, 64, 64, 128]);
        }
        agrees!(device, f32, f32, |n| *n as f32, [128, 64, 16, 32, 32]);
        agrees!(device, f64, f64, |n| f64::from(*n), [128, 64, 16, 16, 16]);
        agrees!(device, i8, i32, |n| *n as i8, [128, 64, 16, 128, 128]);
    });
}

/// y ← Σ (q · aᵀ) · a over the tiles of 64 rows of a, each product doubled: something is computed between the two.
#[kernel(block = B, min_blocks = 1, tensor = true)]
fn in_turn<const B: usize, const M: usize, const STAGES: usize>(tiles: usize, q: &Matrix<bf16>, a: &Matrix<bf16>, y: &mut Matrix<f32>) {
    #[shared(swizzle = 128)]
    let mut of_q: [[bf16; 64]; M];
    #[shared(swizzle = 128)]
    let mut tile: [[bf16; 64]; 64];
    load_tile(&mut of_q, q, block_idx().x * M, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, M, 64>::zero();
    #[pipeline(stages = STAGES, by = tma, producer)]
    for t in 0..tiles {
        load_tile(&mut tile, a, t * 64, 0);
        sync_threads();
        let mut scores = Accumulator::<f32, M, 64>::zero();
        multiply_add(&of_q, transposed(&tile), &mut scores);
        #[unroll]
        for e in 0..scores.len() {
            scores[e] = scores[e] + scores[e];
        }
        // What is added up is read between the two, as by a softmax.
        #[unroll]
        for e in 0..sums.len() {
            sums[e] = if scores[e] > 1e6 { 0.0 } else { sums[e] };
        }
        multiply_add(scores.operand::<bf16>(), &tile, &mut sums);
        sync_threads();
    }
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        y[(block_idx().x * M + row, column)] = sums[e];
    }
}

fn turns_agree<const B: usize, const M: usize, const STAGES: usize>(device: &Device, tiles: usize, beyond: usize, stay: bool) {
    // More than a device has multiprocessors.
    let (blocks, rows) = (if stay { 140 } else { 2 }, (tiles.max(1) - beyond) * 64);
    let (q, mut a) = (numbers(blocks * M * 64, 3), numbers(rows * 64, 7));
    let short = |numbers: &[i32]| numbers.iter().map(|n| bf16::from_f32(*n as f32)).collect::<Vec<_>>();
    let (x, w) = (device.upload(&short(&q)).unwrap(), device.upload(&short(&a)).unwrap());
    let mut out = device.zeros::<f32>(blocks * M * 64).unwrap();
    let (of_q, of_a) = (device.matrix(&x, blocks * M, 64).unwrap(), device.matrix(&w, rows, 64).unwrap());
    let y = device.matrix_mut(&mut out, blocks * M, 64).unwrap();
    let launch = if stay { in_turn_again::<B, M, STAGES>(tiles, of_q, of_a, y) } else { in_turn::<B, M, STAGES>(tiles, of_q, of_a, y) };
    launch.grid(blocks).launch(device).unwrap();
    a.resize(tiles * 64 * 64, 0);
    let doubled: Vec<i32> = q.iter().map(|n| n * 2).collect();
    let expected: Vec<f32> = in_rust([blocks * M, tiles * 64, 64, 64], &doubled, &a, &a).into_iter().map(|n| n as f32).collect();
    let what = format!("{}: {tiles} tiles, {STAGES} stages, {B} threads, {beyond} tiles beyond the matrix", device.name());
    assert_eq!(out.download().unwrap(), expected, "{what}");
}

#[test]
fn warpgroups_that_take_turns_give_what_the_source_says() {
    on_all("warpgroups in turn", |device| {
        // OpenCL knows no turns, and does as the source says: one shape is enough.
        if device.kind() == DeviceKind::OpenCl {
            return (0..=5).for_each(|tiles| turns_agree::<128, 64, 2>(device, tiles, tiles / 5, false));
        }
        for tiles in 0..=5 {
            turns_agree::<256, 128, 2>(device, tiles, 0, false);
        }
        turns_agree::<128, 64, 2>(device, 3, 0, false);
        turns_agree::<384, 192, 3>(device, 4, 0, false);
        // One slot: nothing comes ahead, and nobody takes turns.
        turns_agree::<256, 128, 1>(device, 3, 0, false);
        // Tiles beyond the matrix, which the copy engine does not take: threads store zeros, and all of them meet.
        turns_agree::<256, 128, 2>(device, 5, 2, false);
        // The twin does as the source says anyway.
        if matches!(device.kind(), DeviceKind::Cuda | DeviceKind::Simulator) {
            turns_agree::<256, 128, 2>(device, 1, 0, true);
        }
    });
}

/// The PTX of a kernel of this file.
fn text(name: &str, generics: &[&str], target: &str) -> String {
    let source = kernel_of(include_str!("product_operands.rs"), name);
    ptx(source, name, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

const CHAINED: [&str; 7] = ["bf16", "f32", "256", "128", "64", "64", "64"];

#[test]
fn no_memory_is_between_two_products() {
    for (target, product, exchanges) in
        [("sm_70", "fma.rn.f32", 128), ("sm_80", "mma.sync.aligned.m16n8k16", 0), ("sm_90a", "wgmma.mma_async", 0)]
    {
        let text = text("chained", &CHAINED, target);
        assert!(text.contains(product), "{target}: {text}");
        // One by one, each of the two rows' 64 elements comes from the lane that has it.
        assert_eq!(text.matches("shfl.sync.idx").count(), exchanges, "{target}: {text}");
        let packs = if exchanges == 0 { 2 * 64 / 4 / 2 } else { 0 };
        assert_eq!(text.matches("cvt.rn.bf16x2.f32").count(), packs, "{target}: {text}");
        let behind = &text[text.find(product).unwrap()..];
        assert!(!behind.contains("st.shared"), "{target}: {text}");
    }
}

#[test]
fn assemblers_take_sums_as_factors_and_turns() {
    let test = "assemblers_take_sums_as_factors_and_turns";
    let Some(assemblers) = ptxas::found_or_skip(test) else { return };
    let counts = Counts::default();
    for (target, capability) in [("sm_70", 70), ("sm_80", 80), ("sm_90", 90), ("sm_90a", 90), ("sm_120", 120)] {
        let text = text("chained", &CHAINED, target);
        assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "chained", capability));
    }
    for generics in [["256", "128", "2"], ["384", "192", "3"]] {
        let text = text("in_turn", &generics, "sm_90a");
        assert!(text.contains("wgmma.wait_group.sync.aligned 2"), "no turns: {text}");
        assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "in_turn", 90));
    }
    counts.report(test);
}

/// The same, by blocks that stay: turns go on from block to block.
#[kernel(block = B, min_blocks = 1, tensor = true, persistent)]
fn in_turn_again<const B: usize, const M: usize, const STAGES: usize>(
    tiles: usize,
    q: &Matrix<bf16>,
    a: &Matrix<bf16>,
    y: &mut Matrix<f32>,
) {
    #[shared(swizzle = 128)]
    let mut of_q: [[bf16; 64]; M];
    #[shared(swizzle = 128)]
    let mut tile: [[bf16; 64]; 64];
    load_tile(&mut of_q, q, block_idx().x * M, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, M, 64>::zero();
    #[pipeline(stages = STAGES, by = tma, producer)]
    for t in 0..tiles {
        load_tile(&mut tile, a, t * 64, 0);
        sync_threads();
        let mut scores = Accumulator::<f32, M, 64>::zero();
        multiply_add(&of_q, transposed(&tile), &mut scores);
        #[unroll]
        for e in 0..scores.len() {
            scores[e] = scores[e] + scores[e];
        }
        multiply_add(scores.operand::<bf16>(), &tile, &mut sums);
        sync_threads();
    }
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        y[(block_idx().x * M + row, column)] = sums[e];
    }
}
