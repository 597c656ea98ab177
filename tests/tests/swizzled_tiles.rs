//! `#[shared(swizzle = 128)]`, `64`, `32`: the layout of tensor copies as that of an array. Results against plain Rust on every device, whoever copies; that vectors
//! stay whole; the conflicts that it removes; where arrays begin; what the assemblers say. A GPU's copy engine permutes by addresses, the compiler by
//! rows: `by = tma` holds one to the other.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::prelude::*;
use warpwright::{BufferMatrix, BufferMatrixMut};
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptxas::{self, Counts};
use warpwright_tests::sass::Judge;

/// Whether a device runs kernels of sm_90: GPUs before are refused them.
fn has_target(device: &Device) -> bool {
    device.properties().compute_capability.is_none_or(|capability| capability >= (9, 0))
}

fn number(i: usize) -> u8 {
    ((i * 7919 + 13) % 97) as u8 + 1
}

/// Tiles of `a`, turned, at their places in `c`; and, in `y`, the sums of their rows.
#[kernel(block = (16, 4))]
fn turned<const W: usize, const R: usize, const C: usize, T: Element>(a: &Matrix<T>, c: &mut Matrix<T>) {
    #[shared(swizzle = W)]
    let mut tile: [[T; C]; R];
    let (row, column) = (block_idx().y * R, block_idx().x * C);
    let t = thread_idx().y * 16 + thread_idx().x;
    load_tile(&mut tile, a, row, column);
    sync_threads();
    for i in (t..R * C).step_by(64) {
        c[(column + i / R, row + i % R)] = tile[i % R][i / R];
    }
}

fn turned_agrees<const W: usize, const R: usize, const C: usize, T: Element + PartialEq + std::fmt::Debug>(
    device: &Device,
    of: impl Fn(u8) -> T,
) {
    // Whole tiles in vectors, and edges.
    for (rows, columns) in [(2 * R, 2 * C), (R + 3, C + 1), (1, 5)] {
        let data: Vec<T> = (0..rows * columns).map(|i| of(number(i))).collect();
        let mut out = device.upload(&vec![of(99); rows * columns]).unwrap();
        let buffer = device.upload(&data).unwrap();
        let a = device.matrix(&buffer, rows, columns).unwrap();
        let c = device.matrix_mut(&mut out, columns, rows).unwrap();
        turned::<W, R, C, T>(a, c).grid((columns.div_ceil(C), rows.div_ceil(R))).launch(device).unwrap();
        let expected: Vec<T> = (0..rows * columns).map(|i| data[i % rows * columns + i / rows]).collect();
        assert_eq!(out.download().unwrap(), expected, "{R} x {C} over {W}, {rows} x {columns}");
    }
}

#[test]
fn tiles_are_turned_whatever_their_swizzle() {
    on_all("turned", |device| {
        turned_agrees::<128, 8, 32, f32>(device, f32::from);
        turned_agrees::<128, 24, 96, f32>(device, f32::from);
        turned_agrees::<64, 16, 32, f32>(device, f32::from);
        turned_agrees::<32, 8, 8, f32>(device, f32::from);
        turned_agrees::<128, 16, 128, u8>(device, |n| n);
        turned_agrees::<32, 8, 96, u8>(device, |n| n);
        turned_agrees::<64, 8, 32, u16>(device, u16::from);
        turned_agrees::<32, 8, 12, f64>(device, f64::from);
        turned_agrees::<128, 8, 16, f64>(device, f64::from);
    });
}

/// Sums of eight rows at a time by vectors of four, each thread a row, and the tile as it is in memory of the source: written by vectors, updated by atomics.
#[kernel(block = 64)]
fn vectors<const W: usize>(x: &Global<f32>, y: &mut Global<f32>, counts: &mut Global<u32>) {
    #[shared(swizzle = W)]
    let mut tiles: [[[f32; 64]; 16]; 2];
    #[shared(swizzle = W)]
    let mut count: [[u32; 32]; 8];
    let t = thread_idx().x;
    for i in 0..8usize {
        let at = (i * 64 + t) * 4;
        tiles[at / 1024][at / 64 % 16].store::<4>(at % 64, x.load::<4>(at));
    }
    for i in 0..4usize {
        count[i * 2 + t / 32][t % 32] = t as u32;
    }
    sync_threads();
    if t < 32 {
        let mut sum = [0.0f32; 4];
        for i in 0..16usize {
            let four = tiles[t / 16][t % 16].load::<4>(i * 4);
            #[unroll]
            for k in 0..4usize {
                sum[k] += four[k];
            }
        }
        y[t] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    count[t % 8].atomic_add(t / 8 % 32, 100);
    sync_threads();
    for i in 0..4usize {
        counts[i * 64 + t] = count[i * 2 + t / 32][t % 32];
    }
}

#[test]
fn vectors_and_atomics_find_their_elements() {
    on_all("vectors", |device| {
        let x: Vec<f32> = (0..2048).map(|i| f32::from(number(i))).collect();
        let input = device.upload(&x).unwrap();
        for launch in [vectors::<128>, vectors::<64>, vectors::<32>] {
            let (mut y, mut counts) = (device.zeros::<f32>(32).unwrap(), device.zeros::<u32>(256).unwrap());
            launch(&input, &mut y, &mut counts).grid(1).launch(device).unwrap();
            let sums: Vec<f32> = (0..32).map(|row| x[row * 64..row * 64 + 64].iter().sum()).collect();
            assert_eq!(y.download().unwrap(), sums);
            let of = |i: usize| (i / 32 % 2 * 32 + i % 32) as u32 + if i % 32 < 8 { 100 } else { 0 };
            assert_eq!(counts.download().unwrap(), (0..256).map(of).collect::<Vec<u32>>());
        }
    });
}

/// Each lane reads 16 bytes of a row of its own, as `ldmatrix` does: eight rows meet in one bank if rows are 128 bytes.
#[kernel(block = 32, allow(bank_conflict))]
fn down_a_column<const W: usize>(y: &mut Global<f32>) {
    #[shared(swizzle = W)]
    let mut tile: [[f32; 32]; 32];
    let t = thread_idx().x;
    for row in 0..32usize {
        tile[row][t] = (row * 32 + t) as f32;
    }
    sync_threads();
    let four = tile[t].load::<4>(8);
    y[t] = four[0] + four[3];
}

/// The same in order.
#[kernel(block = 32, allow(bank_conflict))]
fn down_a_plain_column(y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 32];
    let t = thread_idx().x;
    for row in 0..32usize {
        tile[row][t] = (row * 32 + t) as f32;
    }
    sync_threads();
    let four = tile[t].load::<4>(8);
    y[t] = four[0] + four[3];
}

#[test]
fn chunks_of_eight_rows_meet_in_no_bank() {
    let device = Device::simulator();
    let mut y = device.zeros::<f32>(32).unwrap();
    let replays = |launch: Launch<'_>| launch.simulate().expect("the simulator runs it").counters().total.shared_replays;
    // 32 lanes of 16 bytes take four rounds at least; in order, all are in the same four banks: 32 rounds.
    let plain = replays(down_a_plain_column(&mut y).grid(1));
    let over_128 = replays(down_a_column::<128>(&mut y).grid(1));
    assert_eq!(plain - over_128, 28, "{plain}, {over_128}");
    let expected: Vec<f32> = (0..32).map(|t| ((t * 32 + 8) * 2 + 3) as f32).collect();
    down_a_column::<128>(&mut y).grid(1).launch(&device).unwrap();
    assert_eq!(y.download().unwrap(), expected);
}

/// Tiles of both matrices in rings, whoever fills them.
#[kernel(block = 64)]
fn product<const S: usize, const W: usize>(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared(swizzle = W)]
    let mut a_tile: [[f32; 32]; 8];
    #[shared(swizzle = W)]
    let mut b_tile: [[f32; 64]; 32];
    let t = thread_idx().x;
    let row = block_idx().y * 8;
    let column = block_idx().x * 64;
    let mut sum = [0.0f32; 8];
    #[pipeline(stages = S)]
    for k in 0..a.columns().div_ceil(32) {
        load_tile(&mut a_tile, a, row, k * 32);
        load_tile(&mut b_tile, b, k * 32, column);
        sync_threads();
        for i in 0..32usize {
            #[unroll]
            for r in 0..8usize {
                sum[r] += a_tile[r][i] * b_tile[i][t];
            }
        }
        sync_threads();
    }
    #[unroll]
    for r in 0..8usize {
        c[(row + r, column + t)] = sum[r];
    }
}

/// The same by tensor copies.
#[kernel(block = 64, targets = [sm_90])]
fn product_by_tma<const S: usize, const W: usize>(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared(swizzle = W)]
    let mut a_tile: [[f32; 32]; 8];
    #[shared(swizzle = W)]
    let mut b_tile: [[f32; 64]; 32];
    let t = thread_idx().x;
    let row = block_idx().y * 8;
    let column = block_idx().x * 64;
    let mut sum = [0.0f32; 8];
    #[pipeline(stages = S, by = tma)]
    for k in 0..a.columns().div_ceil(32) {
        load_tile(&mut a_tile, a, row, k * 32);
        load_tile(&mut b_tile, b, k * 32, column);
        sync_threads();
        for i in 0..32usize {
            #[unroll]
            for r in 0..8usize {
                sum[r] += a_tile[r][i] * b_tile[i][t];
            }
        }
        sync_threads();
    }
    #[unroll]
    for r in 0..8usize {
        c[(row + r, column + t)] = sum[r];
    }
}

type Product = for<'a> fn(BufferMatrix<'a, f32>, BufferMatrix<'a, f32>, BufferMatrixMut<'a, f32>) -> Launch<'a>;

fn product_agrees(device: &Device, stages: usize, launch: Product) {
    for k in (0..=2 * stages + 1).map(|trips| trips * 32).chain([5, 45]) {
        let (m, n) = (11, 70);
        let small = |i: usize| f32::from(number(i) % 7) - 3.0;
        let (pitch_a, pitch_b) = (k.next_multiple_of(4).max(4), 72);
        let a: Vec<f32> = (0..m * pitch_a).map(small).collect();
        let b: Vec<f32> = (0..k.max(1) * pitch_b).map(|i| small(i + 5)).collect();
        let mut c = device.zeros::<f32>(m * n).unwrap();
        let (a_there, b_there) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let a_matrix = device.matrix(&a_there, m, k).unwrap().pitch(pitch_a).unwrap();
        let b_matrix = device.matrix(&b_there, k, n).unwrap().pitch(pitch_b).unwrap();
        let c_matrix = device.matrix_mut(&mut c, m, n).unwrap();
        launch(a_matrix, b_matrix, c_matrix).grid((n.div_ceil(64), m.div_ceil(8))).launch(device).unwrap();
        let of = |i: usize| (0..k).map(|l| a[i / n * pitch_a + l] * b[l * pitch_b + i % n]).sum::<f32>();
        assert_eq!(c.download().unwrap(), (0..m * n).map(of).collect::<Vec<f32>>(), "{stages} stages, {k} products");
    }
}

#[test]
fn rings_are_swizzled_whoever_fills_them() {
    on_all("swizzled rings", |device| {
        product_agrees(device, 2, product::<2, 128>);
        product_agrees(device, 3, product::<3, 64>);
        product_agrees(device, 4, product::<4, 32>);
        if has_target(device) {
            product_agrees(device, 2, product_by_tma::<2, 128>);
            product_agrees(device, 3, product_by_tma::<3, 64>);
            product_agrees(device, 4, product_by_tma::<4, 32>);
        }
    });
}

/// The block's tiles go down a column of tiles of `a`, and are written where they come from.
#[kernel(block = (16, 4), targets = [sm_90])]
fn copied<const S: usize, const W: usize, const R: usize, const C: usize, T: Element>(a: &Matrix<T>, c: &mut Matrix<T>) {
    #[shared(swizzle = W)]
    let mut tile: [[T; C]; R];
    let column = block_idx().x * C;
    #[pipeline(stages = S, by = tma)]
    for k in 0..c.rows().div_ceil(R) {
        load_tile(&mut tile, a, k * R, column);
        sync_threads();
        store_tile(c, k * R, column, &tile);
        sync_threads();
    }
}

fn copied_agrees<const S: usize, const W: usize, const R: usize, const C: usize, T: Element + PartialEq + std::fmt::Debug>(
    device: &Device,
    of: impl Fn(u8) -> T,
    zero: T,
) {
    let unit = 16 / size_of::<T>();
    for (rows, columns) in [(0, 0), (1, 1), (R, C), (R - 1, C + 1), (2 * R + 3, C - 1), ((2 * S + 1) * R, 3)] {
        let pitch = columns.next_multiple_of(unit).max(unit);
        let data: Vec<T> = (0..(rows * pitch).max(1)).map(|i| of(number(i))).collect();
        // Rows are whole pieces of 16 bytes; what is behind them stays.
        let (out_rows, out_columns) = (rows + 2, (columns + 3).next_multiple_of(unit));
        let out_pitch = out_columns + unit;
        let mut out = device.upload(&vec![of(99); out_rows * out_pitch]).unwrap();
        let buffer = device.upload(&data).unwrap();
        let a = device.matrix(&buffer, rows, columns).unwrap().pitch(pitch).unwrap();
        let c = device.matrix_mut(&mut out, out_rows, out_columns).unwrap().pitch(out_pitch).unwrap();
        copied::<S, W, R, C, T>(a, c).grid(out_columns.div_ceil(C)).launch(device).unwrap();
        let at = |r: usize, c: usize| if r < rows && c < columns { data[r * pitch + c] } else { zero };
        let of_out = |i: usize| if i % out_pitch < out_columns { at(i / out_pitch, i % out_pitch) } else { of(99) };
        let expected: Vec<T> = (0..out_rows * out_pitch).map(of_out).collect();
        assert_eq!(out.download().unwrap(), expected, "{S} stages of {R} x {C} over {W}, {rows} x {columns} of pitch {pitch}");
    }
}

#[test]
fn tensor_copies_fill_slabs() {
    on_all("swizzled tensor copies", |device| {
        if !has_target(device) {
            return;
        }
        // Wider than one copy, taller than one, both in slots beyond 48 KiB.
        copied_agrees::<2, 128, 8, 512, f32>(device, f32::from, 0.0);
        copied_agrees::<2, 128, 264, 32, f32>(device, f32::from, 0.0);
        copied_agrees::<3, 64, 8, 96, u16>(device, u16::from, 0);
        copied_agrees::<2, 32, 24, 64, u8>(device, |n| n, 0);
        copied_agrees::<4, 128, 8, 32, f64>(device, f64::from, 0.0);
    });
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    let source = kernel_of(include_str!("swizzled_tiles.rs"), kernel).replace(", targets = [sm_90]", "");
    ptx(&source, kernel, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn arrays_begin_where_the_pattern_does() {
    for (swizzle, align) in [("128", 1024), ("64", 512), ("32", 256)] {
        let few = text("turned", &[swizzle, "8", "32", "f32"], "sm_80");
        assert!(few.contains(&format!(".shared .align {align} .b8 ")), "{few}");
        let many = text("copied", &["3", swizzle, "264", "32", "f32"], "sm_90");
        assert!(many.contains(&format!(".extern .shared .align {align} .b8 ")), "{many}");
    }
}

#[test]
fn assemblers_take_swizzled_tiles() {
    let test = "assemblers_take_swizzled_tiles";
    let Some(assemblers) = ptxas::found_or_skip(test) else { return };
    let counts = Counts::default();
    for (target, capability) in [("sm_80", 80), ("sm_90", 90), ("sm_120", 120)] {
        let mut texts = vec![text("turned", &["128", "24", "96", "f32"], target), text("product", &["3", "128"], target)];
        // Chunks are whole.
        assert!(texts[1].contains("cp.async.cg.shared.global"), "{}", texts[1]);
        if capability >= 90 {
            texts.push(text("copied", &["2", "128", "8", "512", "f32"], target));
            texts.push(text("product_by_tma", &["3", "64"], target));
        }
        for text in texts {
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "swizzled tiles", capability));
        }
    }
    counts.report(test);
}

#[test]
fn machine_code_copies_each_slab() {
    let test = "machine_code_copies_each_slab";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    let sass = judge.sass(&text("copied", &["2", "128", "8", "96", "f32"], "sm_90"), 90).unwrap_or_else(|error| panic!("{error}"));
    // Three slabs, before the loop and in it.
    assert_eq!(sass.matches("UTMALDG.2D").count(), 6, "{sass}");
    println!("ran: {test}");
}
