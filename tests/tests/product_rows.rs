//! Maxima and sums of the rows of products (`Rows`): on every device against Rust, for blocks of one warpgroup and several, one strip of rows and several; and what they become.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::prelude::*;
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptxas::{self, Counts};

/// Whole numbers from −3 to 3.
fn numbers(len: usize, salt: usize) -> Vec<i32> {
    (0..len).map(|i| ((i + salt) * 7919 + (i + salt) / 13) as i32 % 7 - 3).collect()
}

/// Of s = a · bᵀ: each element less its row's greatest one, and what the row's elements sum up to, weighted by how often the loop ran.
#[kernel(block = B)]
fn centred<const B: usize, const M: usize, const N: usize, const K: usize>(
    rounds: usize,
    a: &Matrix<bf16>,
    b: &Matrix<bf16>,
    c: &mut Matrix<f32>,
    totals: &mut Global<f32>,
) {
    #[shared(swizzle = 128)]
    let mut of_a: [[bf16; K]; M];
    #[shared(swizzle = 128)]
    let mut of_b: [[bf16; K]; N];
    load_tile(&mut of_a, a, 0, 0);
    load_tile(&mut of_b, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, M, N>::zero();
    let mut total = Rows::<f32, M>::splat(0.0);
    for _ in 0..rounds {
        multiply_add(&of_a, transposed(&of_b), &mut sums);
        let now = sums.row_sum();
        #[unroll]
        for r in 0..total.len() {
            total[r] += now[r];
        }
    }
    let most = sums.row_max();
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e] - most[sums.row(e)];
        if column == 0 {
            totals[row] = total[sums.row(e)];
        }
    }
}

/// In Rust: elements, and totals of rows.
fn in_rust(rounds: usize, [m, n, k]: [usize; 3], a: &[i32], b: &[i32]) -> (Vec<f32>, Vec<f32>) {
    let dot = |row: usize, column: usize| -> i32 { (0..k).map(|step| a[row * k + step] * b[column * k + step]).sum() };
    let products: Vec<i32> = (0..m * n).map(|i| dot(i / n, i % n)).collect();
    let rows = || products.chunks(n);
    // After r rounds the sums are r times the product.
    let weight: i32 = (1..=rounds as i32).sum();
    let times = rounds as i32;
    let totals = rows().map(|row| (row.iter().sum::<i32>() * weight) as f32).collect();
    let centred = rows().flat_map(|row| {
        let most = row.iter().map(|v| v * times).max().unwrap_or(0);
        row.iter().map(move |v| (v * times - most) as f32)
    });
    (centred.collect(), totals)
}

macro_rules! agrees {
    ($device:expr, [$b:literal, $m:literal, $n:literal, $k:literal], $rounds:expr) => {{
        let (device, rounds): (&Device, usize) = ($device, $rounds);
        let (a, b) = (numbers($m * $k, 1), numbers($n * $k, 50));
        let short = |numbers: &[i32]| numbers.iter().map(|n| bf16::from_f32(*n as f32)).collect::<Vec<_>>();
        let (x, y) = (device.upload(&short(&a)).unwrap(), device.upload(&short(&b)).unwrap());
        let (mut z, mut totals) = (device.zeros::<f32>($m * $n).unwrap(), device.zeros::<f32>($m).unwrap());
        let launch = centred::<$b, $m, $n, $k>(
            rounds,
            device.matrix(&x, $m, $k).unwrap(),
            device.matrix(&y, $n, $k).unwrap(),
            device.matrix_mut(&mut z, $m, $n).unwrap(),
            &mut totals,
        );
        launch.grid(1).launch(device).unwrap();
        let expected = in_rust(rounds, [$m, $n, $k], &a, &b);
        let what = format!("{}: {} x {} x {}, {} threads, {rounds} rounds", device.name(), $m, $n, $k, $b);
        assert_eq!((z.download().unwrap(), totals.download().unwrap()), expected, "{what}");
    }};
}

#[test]
fn rows_are_those_of_rust() {
    on_all("rows of products", |device| {
        agrees!(device, [128, 64, 32, 64], 1);
        agrees!(device, [128, 64, 32, 64], 3);
        agrees!(device, [128, 128, 48, 64], 2);
        agrees!(device, [256, 128, 64, 64], 0);
        agrees!(device, [256, 128, 64, 64], 2);
    });
}

/// The PTX of the kernel.
fn text(generics: &[&str], target: &str) -> String {
    let source = kernel_of(include_str!("product_rows.rs"), "centred");
    ptx(source, "centred", generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn four_lanes_have_a_row_whatever_multiplies() {
    for (target, word) in [("sm_70", "fma.rn.f32"), ("sm_80", "mma.sync.aligned.m16n8k16"), ("sm_90a", "wgmma.mma_async")] {
        let text = text(&["256", "128", "64", "64"], target);
        assert!(text.contains(word), "{target}: {text}");
        // Two rows a thread, two exchanges a row, one sum and one maximum.
        assert_eq!(text.matches("shfl.sync.bfly").count(), 2 * 2 * 2, "{target}: {text}");
    }
}

#[test]
fn assemblers_take_rows() {
    let test = "assemblers_take_rows";
    let Some(assemblers) = ptxas::found_or_skip(test) else { return };
    let counts = Counts::default();
    for (target, capability) in [("sm_70", 70), ("sm_80", 80), ("sm_90", 90), ("sm_90a", 90), ("sm_120", 120)] {
        let text = text(&["256", "128", "64", "64"], target);
        assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "centred", capability));
    }
    counts.report(test);
}
