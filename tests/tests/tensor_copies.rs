//! Tiles of matrices that tensor copies bring (`by = tma`): every width of element, edges on all sides, pitches, more rows than one copy moves, loops that run
//! again; what cannot be copied so is an error before the launch. The simulator runs the form with the copy engine.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::DeviceKind;
use warpwright::prelude::*;
use warpwright_tests::devices::{self, on_all};
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptxas::{self, Counts};
use warpwright_tests::sass::Judge;

/// Whether a device runs these kernels: GPUs before sm_90 are refused them.
fn has_target(device: &Device) -> bool {
    device.properties().compute_capability.is_none_or(|capability| capability >= (9, 0))
}

/// A number for an element, small enough for every type.
fn number(i: usize) -> u8 {
    ((i * 7919 + 13) % 97) as u8 + 1
}

/// The block's tiles go down a column of tiles of `a`, and are written where they come from, one beside another in `c`.
#[kernel(block = (16, 4), targets = [sm_90])]
fn copied<const S: usize, const R: usize, const C: usize, T: Element>(first: usize, a: &Matrix<T>, c: &mut Matrix<T>) {
    #[shared]
    let mut tile: [[T; C]; R];
    let column = block_idx().x * C;
    #[pipeline(stages = S, by = tma)]
    for k in first..first + c.rows().div_ceil(R) {
        load_tile(&mut tile, a, k * R, column);
        sync_threads();
        store_tile(c, (k - first) * R, column, &tile);
        sync_threads();
    }
}

fn copied_agrees<const S: usize, const R: usize, const C: usize, T: Element + PartialEq + std::fmt::Debug>(
    device: &Device,
    of: impl Fn(u8) -> T,
    zero: T,
) {
    let unit = 16 / size_of::<T>();
    let shapes = [(0, 0), (1, 1), (R, C), (R - 1, C + 1), (2 * R + 3, 2 * C + 5), (3 * R, C - 1), ((2 * S + 1) * R, 3)];
    for (rows, columns) in shapes {
        for (first, more) in [(0, 0), (1, unit)] {
            // The pitch is a multiple of 16 bytes.
            let pitch = (columns + more).next_multiple_of(unit).max(unit);
            let data: Vec<T> = (0..(rows * pitch).max(1)).map(|i| of(number(i))).collect();
            // Rows are whole pieces of 16 bytes; what is behind them stays.
            let (out_rows, out_columns) = (rows + 2, (columns + 3).next_multiple_of(unit));
            let out_pitch = out_columns + unit;
            let mut out = device.upload(&vec![of(99); out_rows * out_pitch]).unwrap();
            let buffer = device.upload(&data).unwrap();
            let a = device.matrix(&buffer, rows, columns).unwrap().pitch(pitch).unwrap();
            let c = device.matrix_mut(&mut out, out_rows, out_columns).unwrap().pitch(out_pitch).unwrap();
            copied::<S, R, C, T>(first, a, c).grid(out_columns.div_ceil(C)).launch(device).unwrap();
            let at = |r: usize, c: usize| if r < rows && c < columns { data[r * pitch + c] } else { zero };
            let of_out = |i: usize| if i % out_pitch < out_columns { at(first * R + i / out_pitch, i % out_pitch) } else { of(99) };
            let expected: Vec<T> = (0..out_rows * out_pitch).map(of_out).collect();
            assert_eq!(out.download().unwrap(), expected, "{S} stages of {R} x {C}, {rows} x {columns} of pitch {pitch} from {first}");
        }
    }
}

#[test]
fn tiles_of_every_width_are_copied() {
    on_all("copied", |device| {
        if !has_target(device) {
            return;
        }
        copied_agrees::<2, 8, 16, f32>(device, f32::from, 0.0);
        copied_agrees::<3, 4, 32, f32>(device, f32::from, 0.0);
        copied_agrees::<4, 16, 16, u8>(device, |n| n, 0);
        copied_agrees::<3, 8, 24, u16>(device, u16::from, 0);
        copied_agrees::<2, 8, 8, f64>(device, f64::from, 0.0);
        // Two copies of 150 rows.
        copied_agrees::<2, 300, 8, i32>(device, i32::from, 0);
    });
}

/// A product of matrices by tiles of both, in a loop that runs again for each of two columns of tiles.
#[kernel(block = 64, targets = [sm_90])]
fn product<const S: usize>(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut a_tile: [[f32; 8]; 8];
    #[shared]
    let mut b_tile: [[f32; 8]; 8];
    let t = thread_idx().x;
    let (tx, ty) = (t % 8, t / 8);
    let row = block_idx().y * 8;
    for half in 0..2 {
        let column = (block_idx().x * 2 + half) * 8;
        let mut sum = 0.0f32;
        #[pipeline(stages = S, by = tma)]
        for k in 0..a.columns().div_ceil(8) {
            load_tile(&mut a_tile, a, row, k * 8);
            load_tile(&mut b_tile, b, k * 8, column);
            sync_threads();
            for i in 0..8usize {
                sum += a_tile[ty][i] * b_tile[i][tx];
            }
            sync_threads();
        }
        c[(row + ty, column + tx)] = sum;
    }
}

fn product_agrees<const S: usize>(device: &Device) {
    for k in (0..=2 * S + 1).map(|trips| trips * 8).chain([5, 13]) {
        let (m, n) = (19, 21);
        let small = |i: usize| f32::from(number(i) % 7) - 3.0;
        let (pitch_a, pitch_b) = (k.next_multiple_of(4).max(4), 24);
        let a: Vec<f32> = (0..m * pitch_a).map(small).collect();
        let b: Vec<f32> = (0..k.max(1) * pitch_b).map(|i| small(i + 5)).collect();
        let mut c = device.zeros::<f32>(m * n).unwrap();
        let (a_there, b_there) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let a_matrix = device.matrix(&a_there, m, k).unwrap().pitch(pitch_a).unwrap();
        let b_matrix = device.matrix(&b_there, k, n).unwrap().pitch(pitch_b).unwrap();
        let c_matrix = device.matrix_mut(&mut c, m, n).unwrap();
        product::<S>(a_matrix, b_matrix, c_matrix).grid((n.div_ceil(16), m.div_ceil(8))).launch(device).unwrap();
        let of = |i: usize| (0..k).map(|l| a[i / n * pitch_a + l] * b[l * pitch_b + i % n]).sum::<f32>();
        assert_eq!(c.download().unwrap(), (0..m * n).map(of).collect::<Vec<f32>>(), "{S} stages, {k} products");
    }
}

#[test]
fn products_of_tiles_that_were_copied_ahead() {
    on_all("product", |device| {
        if !has_target(device) {
            return;
        }
        product_agrees::<2>(device);
        product_agrees::<3>(device);
        product_agrees::<4>(device);
    });
}

#[test]
fn a_pitch_of_odd_bytes_is_an_error_with_its_figure() {
    let checks = |device: &&Device| matches!(device.kind(), DeviceKind::Cuda | DeviceKind::Simulator) && has_target(device);
    for device in devices::all().iter().filter(checks) {
        let buffer = device.upload(&vec![1.0f32; 400]).unwrap();
        let mut out = device.zeros::<f32>(400).unwrap();
        let a = device.matrix(&buffer, 10, 17).unwrap();
        let c = device.matrix_mut(&mut out, 10, 17).unwrap();
        let error = copied::<2, 8, 16, f32>(0, a, c).grid(2).launch(device).expect_err("rows begin at multiples of 68 bytes").to_string();
        assert!(error.contains("pitch of 17 elements") && error.contains("68 bytes") && error.contains("multiple of 16"), "{error}");
        // Also where the loop copies nothing.
        let (a, c) = (device.matrix(&buffer, 10, 17).unwrap(), device.matrix_mut(&mut out, 0, 17).unwrap());
        let error = copied::<2, 8, 16, f32>(0, a, c).grid(1).launch(device).expect_err("the matrix is what it was").to_string();
        assert!(error.contains("the matrix `a` has a pitch of 17 elements, 68 bytes") && error.contains("`.pitch(20)`"), "{error}");
        // A matrix without elements has no pitch to speak of.
        let c = device.matrix_mut(&mut out, 10, 16).unwrap().pitch(20).unwrap();
        let a = device.matrix(&buffer, 0, 17).unwrap();
        copied::<2, 8, 16, f32>(0, a, c).grid(2).launch(device).unwrap();
        // The device goes on.
        assert_eq!(out.download().unwrap().len(), 400);
    }
}

/// Tiles from a row and a column on that the launch says: the engine takes what begins at multiples of 16 bytes, threads the rest.
#[kernel(block = 64, targets = [sm_90])]
fn from_anywhere<const S: usize, const AHEAD: bool>(row: usize, column: usize, a: &Matrix<u32>, out: &mut Global<u32>) {
    #[shared]
    let mut tile: [[u32; 8]; 8];
    let t = thread_idx().x;
    let mut sum = 0u32;
    #[pipeline(stages = S, by = tma, producer = AHEAD)]
    for k in 0..5usize {
        load_tile(&mut tile, a, row + k * 8, column);
        sync_threads();
        sum += tile[t / 8][t % 8] * (k as u32 + 1);
        sync_threads();
    }
    out[t] = sum;
}

#[test]
fn tiles_begin_anywhere() {
    on_all("from_anywhere", |device| {
        if !has_target(device) {
            return;
        }
        let (rows, columns, pitch) = (21usize, 19usize, 20usize);
        let data: Vec<u32> = (0..rows * pitch).map(|i| i as u32 + 1).collect();
        let buffer = device.upload(&data).unwrap();
        let mut out = device.zeros::<u32>(64).unwrap();
        let far = [(1 << 31) - 8, 1 << 31, (1 << 32) - 8, (1 << 32) - 3];
        // No sum of a row and what is added to it goes round: the twin has wider numbers.
        for row in (0..24).step_by(5).chain([(1 << 31) - 8, 1 << 31, (1 << 32) - 48]) {
            for column in (0..25).chain(far) {
                let at = |r: usize, c: usize| if r < rows && c < columns { data[r * pitch + c] } else { 0 };
                let row_of = |k: usize, i: usize| row + k * 8 + i / 8;
                let of = |i: usize| (0..5).map(|k| at(row_of(k, i), column + i % 8) * (k as u32 + 1)).sum::<u32>();
                let expected: Vec<u32> = (0..64).map(of).collect();
                for form in [0, 1] {
                    let a = device.matrix(&buffer, rows, columns).unwrap().pitch(pitch).unwrap();
                    let launch = if form == 0 {
                        from_anywhere::<3, false>(row, column, a, &mut out)
                    } else {
                        from_anywhere::<2, true>(row, column, a, &mut out)
                    };
                    launch.grid(1).launch(device).unwrap();
                    assert_eq!(out.download().unwrap(), expected, "{}: from {row}, {column}, form {form}", device.name());
                }
            }
        }
    });
}

/// A tile of two slabs from a column on.
#[kernel(block = 64, targets = [sm_90])]
fn wide_from(column: usize, a: &Matrix<u32>, out: &mut Global<u32>) {
    #[shared(swizzle = 128)]
    let mut tile: [[u32; 64]; 8];
    let t = thread_idx().x;
    let mut sum = 0u32;
    #[pipeline(stages = 2, by = tma)]
    for k in 0..3usize {
        load_tile(&mut tile, a, k * 8, column * 4);
        sync_threads();
        for r in 0..8usize {
            sum += tile[r][t] * (k as u32 + 1);
        }
        sync_threads();
    }
    out[t] = sum;
}

#[test]
fn slabs_beyond_the_last_place_are_zeros() {
    on_all("wide_from", |device| {
        if !has_target(device) {
            return;
        }
        let (rows, columns, pitch) = (21usize, 79usize, 80usize);
        let data: Vec<u32> = (0..rows * pitch).map(|i| i as u32 + 1).collect();
        let buffer = device.upload(&data).unwrap();
        let mut out = device.zeros::<u32>(64).unwrap();
        for column in [0, 4, 8, 16, 20, 100, (1 << 29) - 16, (1 << 29) - 4, 1 << 29, (1 << 30) - 64] {
            let at = |r: usize, c: usize| if r < rows && c < columns { data[r * pitch + c] } else { 0 };
            let of = |i: usize| (0..24).map(|r| at(r, column * 4 + i) * (r as u32 / 8 + 1)).sum::<u32>();
            let a = device.matrix(&buffer, rows, columns).unwrap().pitch(pitch).unwrap();
            wide_from(column, a, &mut out).grid(1).launch(device).unwrap();
            assert_eq!(out.download().unwrap(), (0..64).map(of).collect::<Vec<u32>>(), "{}: from {}", device.name(), column * 4);
        }
    });
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    let source = kernel_of(include_str!("tensor_copies.rs"), kernel).replace(", targets = [sm_90]", "");
    ptx(&source, kernel, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn assemblers_take_tensor_copies() {
    let test = "assemblers_take_tensor_copies";
    let Some(assemblers) = ptxas::found_or_skip(test) else { return };
    let counts = Counts::default();
    for (target, capability) in [("sm_90", 90), ("sm_100", 100), ("sm_120", 120)] {
        for text in [text("copied", &["3", "300", "8", "i32"], target), text("product", &["4"], target)] {
            assert!(text.contains("cp.async.bulk.tensor.2d.shared::cluster.global"), "{target}: {text}");
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "tensor copies", capability));
        }
    }
    counts.report(test);
}

#[test]
fn machine_code_asks_for_tiles() {
    let test = "machine_code_asks_for_tiles";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    let sass = judge.sass(&text("product", &["4"], "sm_90"), 90).unwrap_or_else(|error| panic!("{error}"));
    let count = |word: &str| sass.matches(word).count();
    assert!(count("UTMALDG.2D") >= 4, "{sass}");
    assert_eq!(["MEMBAR.ALL.GPU", "MEMBAR.SC", "CCTL.IVALL", "LDGSTS"].map(count), [0; 4], "{sass}");
    // Behind the making, in the loop, behind it.
    assert_eq!(count("BAR.SYNC"), 3, "{sass}");
    println!("ran: {test}");
}
