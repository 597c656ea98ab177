//! Sums that go to tiles of 16-bit elements: by matrices (`stmatrix`) where the target has such and the tile's rows have room for them, one by one elsewhere, always to the same places.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::Num;
use warpwright::prelude::*;
use warpwright::{BufferMatrix, BufferMatrixMut};
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptxas::{Counts, found_or_skip};

/// A product whose sums go out in strips of `W` columns, rows in order.
#[kernel(block = B)]
fn in_order<U: Num, const B: usize, const M: usize, const N: usize, const W: usize>(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<U>) {
    #[shared(swizzle = 128)]
    let mut left: [[bf16; 64]; M];
    #[shared(swizzle = 128)]
    let mut right: [[bf16; 64]; N];
    #[shared]
    let mut strip: [[U; W]; M];
    load_tile(&mut left, a, 0, 0);
    load_tile(&mut right, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, M, N>::zero();
    multiply_add(&left, transposed(&right), &mut sums);
    #[unroll]
    for n in 0..N / W {
        sums.store_columns(n * W, &mut strip);
        sync_threads();
        store_tile(c, 0, n * W, &strip);
        sync_threads();
    }
}

/// The same, swizzled over 32 bytes.
#[kernel(block = B)]
fn swizzled<U: Num, const B: usize, const M: usize, const N: usize, const W: usize>(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<U>) {
    #[shared(swizzle = 128)]
    let mut left: [[bf16; 64]; M];
    #[shared(swizzle = 128)]
    let mut right: [[bf16; 64]; N];
    #[shared(swizzle = 32)]
    let mut strip: [[U; W]; M];
    load_tile(&mut left, a, 0, 0);
    load_tile(&mut right, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, M, N>::zero();
    multiply_add(&left, transposed(&right), &mut sums);
    #[unroll]
    for n in 0..N / W {
        sums.store_columns(n * W, &mut strip);
        sync_threads();
        store_tile(c, 0, n * W, &strip);
        sync_threads();
    }
}

/// The same, room behind each row, all columns at once, and once more under a condition that is the same in all threads; then of some threads only, which is no place for a matrix of a warp.
#[kernel(block = B)]
fn padded<U: Num, const B: usize, const M: usize, const N: usize, const P: usize>(
    times: usize,
    first: usize,
    a: &Matrix<bf16>,
    b: &Matrix<bf16>,
    c: &mut Matrix<U>,
) {
    #[shared(swizzle = 128)]
    let mut left: [[bf16; 64]; M];
    #[shared(swizzle = 128)]
    let mut right: [[bf16; 64]; N];
    #[shared(pad = P)]
    let mut tile: [[U; N]; M];
    load_tile(&mut left, a, 0, 0);
    load_tile(&mut right, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, M, N>::zero();
    multiply_add(&left, transposed(&right), &mut sums);
    if times > 1 {
        sums.store(&mut tile);
    }
    sync_threads();
    if thread_idx().x >= first {
        sums.store(&mut tile);
    }
    sync_threads();
    store_tile(c, 0, 0, &tile);
}

/// Each thread to a tile that its number chooses: no warp has one tile.
#[kernel(block = B)]
fn parted<U: Num, const B: usize>(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<U>) {
    #[shared(swizzle = 128)]
    let mut left: [[bf16; 64]; 64];
    #[shared(swizzle = 128)]
    let mut right: [[bf16; 64]; 64];
    #[shared]
    let mut tiles: [[[U; 64]; 64]; 2];
    load_tile(&mut left, a, 0, 0);
    load_tile(&mut right, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 64, 64>::zero();
    multiply_add(&left, transposed(&right), &mut sums);
    let which = thread_idx().x % 2;
    sums.store(&mut tiles[which]);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = tiles[which][row][column];
    }
}

/// Tiles come and go by the copy engine, and what goes is stored by matrices, in slots of a ring.
#[kernel(block = B, persistent = AHEAD)]
fn by_engine<const B: usize, const STAGES: usize, const AHEAD: bool>(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<bf16>) {
    #[shared(swizzle = 128)]
    let mut left: [[bf16; 64]; 64];
    #[shared(swizzle = 128)]
    let mut right: [[bf16; 64]; 64];
    #[shared(swizzle = 128)]
    let mut strip: [[bf16; 64]; 64];
    let (row, column) = (block_idx().y * 64, block_idx().x * 64);
    let mut sums = Accumulator::<f32, 64, 64>::zero();
    #[pipeline(stages = 2, by = tma, producer = AHEAD)]
    for step in 0..a.columns().div_ceil(64) {
        load_tile(&mut left, a, row, step * 64);
        load_tile(&mut right, b, column, step * 64);
        sync_threads();
        multiply_add(&left, transposed(&right), &mut sums);
        sync_threads();
    }
    #[unroll]
    #[pipeline(stages = STAGES, by = tma)]
    for n in 0..1usize {
        sums.store_columns(n * 64, &mut strip);
        sync_threads();
        store_tile(c, row, column + n * 64, &strip);
        sync_threads();
    }
}

/// Numbers 0 and 1: sums of 64 are exact in every format.
fn numbers(len: usize, salt: usize) -> Vec<u8> {
    (0..len).map(|i| ((i + salt) * 7919 + (i + salt) / 13) as u8 % 2).collect()
}

fn agrees<U: Element + PartialEq + std::fmt::Debug>(
    device: &Device,
    [m, n]: [usize; 2],
    of: fn(f32) -> U,
    kernel: impl for<'l> Fn(BufferMatrix<'l, bf16>, BufferMatrix<'l, bf16>, BufferMatrixMut<'l, U>) -> Launch<'l>,
) {
    let (a, b) = (numbers(m * 64, 1), numbers(n * 64, 77));
    let halves = |all: &[u8]| all.iter().map(|x| bf16::from_f32(f32::from(*x))).collect::<Vec<_>>();
    let (x, y) = (device.upload(&halves(&a)).unwrap(), device.upload(&halves(&b)).unwrap());
    let mut z = device.upload(&vec![of(99.0); m * n]).unwrap();
    let (x, y) = (device.matrix(&x, m, 64).unwrap(), device.matrix(&y, n, 64).unwrap());
    kernel(x, y, device.matrix_mut(&mut z, m, n).unwrap()).grid(1).launch(device).unwrap();
    let sum = |i: usize| (0..64).map(|k| f32::from(a[i / n * 64 + k] * b[i % n * 64 + k])).sum::<f32>();
    let found = z.download().unwrap();
    let differs = (0..m * n).find(|i| found[*i] != of(sum(*i)));
    assert_eq!(differs.map(|i| (i / n, i % n, sum(i))), None, "{m} x {n} on {device:?}");
}

#[test]
fn sums_go_to_their_places() {
    on_all("stores of sums", |device| {
        agrees(device, [64, 64], bf16::from_f32, in_order::<bf16, 128, 64, 64, 64>);
        agrees(device, [64, 96], f16::from_f32, in_order::<f16, 128, 64, 96, 16>);
        agrees(device, [128, 64], bf16::from_f32, in_order::<bf16, 128, 128, 64, 32>);
        agrees(device, [128, 64], bf16::from_f32, swizzled::<bf16, 256, 128, 64, 32>);
        agrees(device, [128, 128], f16::from_f32, swizzled::<f16, 128, 128, 128, 64>);
        agrees(device, [64, 64], |v| v, swizzled::<f32, 128, 64, 64, 32>);
        agrees(device, [64, 64], bf16::from_f32, |a, b, c| padded::<bf16, 128, 64, 64, 8>(2, 0, a, b, c));
        agrees(device, [64, 64], bf16::from_f32, |a, b, c| padded::<bf16, 128, 64, 64, 1>(2, 40, a, b, c));
        agrees(device, [64, 64], bf16::from_f32, parted::<bf16, 128>);
        agrees(device, [128, 32], f16::from_f32, |a, b, c| padded::<f16, 256, 128, 32, 8>(2, 100, a, b, c));
    });
}

#[test]
fn tiles_of_sums_leave_by_the_copy_engine() {
    let has_target = |device: &Device| device.properties().compute_capability.is_none_or(|capability| capability >= (9, 0));
    on_all("stores of sums by the copy engine", |device| {
        let kernels = [by_engine::<128, 1, false>, by_engine::<128, 2, false>, by_engine::<128, 2, true>];
        for kernel in kernels.into_iter().filter(|_| has_target(device)) {
            agrees(device, [64, 64], bf16::from_f32, kernel);
        }
    });
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    ptx(kernel_of(include_str!("sum_stores.rs"), kernel), kernel, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn whole_warps_store_matrices_where_rows_have_room() {
    let count = |kernel: &str, generics: &[&str], target: &str| {
        text(kernel, generics, target).matches("stmatrix.sync.aligned.m8n8.x4.shared.b16").count()
    };
    // A warp has 16 rows of 64 columns: four times four matrices.
    assert_eq!(count("in_order", &["bf16", "128", "64", "64", "64"], "sm_90a"), 4);
    assert_eq!(count("in_order", &["f16", "128", "64", "96", "16"], "sm_90a"), 6);
    assert_eq!(count("in_order", &["bf16", "128", "128", "64", "32"], "sm_90a"), 8);
    assert_eq!(count("swizzled", &["f16", "128", "128", "128", "64"], "sm_90a"), 16);
    // Elements of 32 bits are no such matrices, and some threads of a warp are no warp.
    assert_eq!(count("swizzled", &["f32", "128", "64", "64", "32"], "sm_90a"), 0);
    assert_eq!(count("padded", &["bf16", "128", "64", "64", "8"], "sm_90a"), 4);
    assert_eq!(count("parted", &["bf16", "128"], "sm_90a"), 0);
    // The engine reads what matrices were stored to: the fence and the barrier are between.
    for generics in [["128", "2", "false"], ["128", "2", "true"]] {
        let text = text("by_engine", &generics, "sm_90a");
        let at = |word: &str, from: usize| from + text[from..].find(word).unwrap_or_else(|| panic!("{word} behind {from}: {text}"));
        let stored = text.rfind("stmatrix").expect("sums are stored by matrices");
        let fenced = at("fence.proxy.async", stored);
        let met = ["bar.sync", "barrier.sync"].iter().filter_map(|word| text[fenced..].find(word)).min().map(|at| fenced + at);
        at("cp.async.bulk.tensor.2d.global", met.expect("all threads meet"));
    }
    // No row begins where matrices have to.
    assert_eq!(count("padded", &["bf16", "128", "64", "64", "1"], "sm_90a"), 0);
    for target in ["sm_80", "sm_90", "sm_120"] {
        assert_eq!(count("in_order", &["bf16", "128", "64", "64", "64"], target), 0, "{target}");
    }
}

#[test]
fn assemblers_take_all_of_it() {
    let Some(assemblers) = found_or_skip("stores of sums") else { return };
    let counts = Counts::default();
    let kernels: [(&str, &[&str]); 4] = [
        ("in_order", &["f16", "128", "64", "96", "16"]),
        ("swizzled", &["bf16", "256", "128", "64", "32"]),
        ("swizzled", &["f32", "128", "64", "64", "32"]),
        ("padded", &["bf16", "128", "64", "64", "8"]),
    ];
    for generics in [["128", "1", "false"], ["128", "2", "true"]] {
        let ptx = text("by_engine", &generics, "sm_90a");
        assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &ptx, "by_engine", 90));
    }
    for (kernel, generics) in kernels {
        for (number, target) in [(80, "sm_80"), (90, "sm_90a"), (120, "sm_120")] {
            let ptx = text(kernel, generics, target);
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &ptx, kernel, number));
        }
    }
    counts.report("stores of sums");
}
