//! Tiles that leave by tensor copies (`by = tma`): from the slots that came in, from arrays that the work writes, and from the rings of loops that only copy out,
//! which have a form for every device. Trip counts around the number of slots, edges on all sides, swizzled tiles, stores that meet in the matrix, what is read
//! of it behind the loop. The simulator runs the form with the copy engine, which reads and writes as late as it may.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::DeviceKind;
use warpwright::prelude::*;
use warpwright_tests::devices::{self, on_all};
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

/// A matrix of so many rows and columns, its rows a pitch apart, with room for `more` rows behind; all 99 at first.
fn target(device: &Device, rows: usize, pitch: usize) -> Buffer<f32> {
    device.upload(&vec![99.0f32; (rows * pitch).max(1)]).unwrap()
}

/// What is expected of it: elements by `at`, and what lies between the rows as it was.
fn expected(rows: usize, columns: usize, pitch: usize, at: impl Fn(usize, usize) -> f32) -> Vec<f32> {
    (0..(rows * pitch).max(1)).map(|i| if i % pitch < columns && i / pitch < rows { at(i / pitch, i % pitch) } else { 99.0 }).collect()
}

/// Down a column of tiles: twice what comes in goes out, through a second array, and what came in goes to a second matrix as it is.
#[kernel(block = (16, 4), targets = [sm_90])]
fn doubled<const S: usize>(a: &Matrix<f32>, b: &mut Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 64)]
    let mut tile: [[f32; 32]; 8];
    #[shared]
    let mut twice: [[f32; 32]; 8];
    let (x, y) = (thread_idx().x, thread_idx().y);
    let column = block_idx().x * 32;
    #[pipeline(stages = S, by = tma)]
    for k in 0..b.rows().div_ceil(8) {
        load_tile(&mut tile, a, k * 8, column);
        sync_threads();
        store_tile(b, k * 8, column, &tile);
        for r in 0..2usize {
            for half in 0..2usize {
                twice[r * 4 + y][half * 16 + x] = 2.0 * tile[r * 4 + y][half * 16 + x];
            }
        }
        sync_threads();
        store_tile(c, k * 8, column, &twice);
        sync_threads();
    }
}

fn doubled_agrees<const S: usize>(device: &Device) {
    for rows in (0..=2 * S + 1).map(|trips| trips * 8).chain([3, 19]) {
        for columns in [32, 44] {
            let pitch = 48;
            let data: Vec<f32> = (0..(rows * pitch).max(1)).map(|i| f32::from(number(i))).collect();
            let a_there = device.upload(&data).unwrap();
            let (mut b, mut c) = (target(device, rows, pitch), target(device, rows, pitch));
            let a = device.matrix(&a_there, rows, columns).unwrap().pitch(pitch).unwrap();
            let b_matrix = device.matrix_mut(&mut b, rows, columns).unwrap().pitch(pitch).unwrap();
            let c_matrix = device.matrix_mut(&mut c, rows, columns).unwrap().pitch(pitch).unwrap();
            doubled::<S>(a, b_matrix, c_matrix).grid(columns.div_ceil(32)).launch(device).unwrap();
            assert_eq!(b.download().unwrap(), expected(rows, columns, pitch, |r, k| data[r * pitch + k]), "{S} stages, {rows} rows");
            assert_eq!(c.download().unwrap(), expected(rows, columns, pitch, |r, k| 2.0 * data[r * pitch + k]), "{S} stages, {rows} rows");
        }
    }
}

#[test]
fn what_came_in_and_what_was_computed_goes_out() {
    on_all("doubled", |device| {
        if !has_target(device) {
            return;
        }
        doubled_agrees::<2>(device);
        doubled_agrees::<3>(device);
        doubled_agrees::<4>(device);
    });
}

/// Stores at the top of the work what the iteration before wrote at its end, and the last one behind the loop.
#[kernel(block = 64, targets = [sm_90])]
fn delayed(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 8];
    #[shared]
    let mut kept: [[f32; 16]; 8];
    let t = thread_idx().x;
    for half in 0..2usize {
        kept[half * 4 + t / 16][t % 16] = 7.0;
    }
    #[pipeline(stages = 3, by = tma)]
    for k in 0..a.rows().div_ceil(8) {
        load_tile(&mut tile, a, k * 8, 0);
        sync_threads();
        store_tile(c, k * 8, 0, &kept);
        sync_threads();
        for half in 0..2usize {
            kept[half * 4 + t / 16][t % 16] = tile[half * 4 + t / 16][t % 16] + 1.0;
        }
        sync_threads();
    }
    store_tile(c, a.rows().div_ceil(8) * 8, 0, &kept);
}

#[test]
fn arrays_that_live_on_are_stored_as_they_were() {
    on_all("delayed", |device| {
        if !has_target(device) {
            return;
        }
        for tiles in 0..8 {
            let data: Vec<f32> = (0..(tiles * 128).max(1)).map(|i| f32::from(number(i))).collect();
            let a_there = device.upload(&data).unwrap();
            let mut c = target(device, (tiles + 1) * 8, 16);
            let a = device.matrix(&a_there, tiles * 8, 16).unwrap();
            let c_matrix = device.matrix_mut(&mut c, (tiles + 1) * 8, 16).unwrap();
            delayed(a, c_matrix).grid(1).launch(device).unwrap();
            let of = |r: usize, k: usize| if r < 8 { 7.0 } else { data[(r - 8) * 16 + k] + 1.0 };
            assert_eq!(c.download().unwrap(), expected((tiles + 1) * 8, 16, 16, of), "{tiles} tiles");
        }
    });
}

#[test]
fn nothing_goes_to_a_matrix_without_elements_and_zeros_come_from_one() {
    on_all("delayed", |device| {
        if !has_target(device) {
            return;
        }
        let there = device.upload(&[5.0f32; 16 * 16]).unwrap();
        for columns in [16, 0] {
            let (mut to_none, mut c) = (target(device, 24, 16), target(device, 24, 16));
            let none = device.matrix_mut(&mut to_none, 24, 0).unwrap().pitch(16).unwrap();
            delayed(device.matrix(&there, 16, 16).unwrap(), none).grid(1).launch(device).unwrap();
            assert_eq!(to_none.download().unwrap(), [99.0; 24 * 16]);
            let a = device.matrix(&there, 16, columns).unwrap().pitch(16).unwrap();
            delayed(a, device.matrix_mut(&mut c, 24, 16).unwrap()).grid(1).launch(device).unwrap();
            let added = if columns == 0 { 1.0 } else { 6.0 };
            assert_eq!(c.download().unwrap(), expected(24, 16, 16, |r, _| if r < 8 { 7.0 } else { added }), "{columns} columns");
        }
    });
}

/// Strips of a table of products, computed one after another and stored while the next is computed. On every device.
#[kernel(block = 64)]
fn strips<const S: usize>(x: &Global<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut strip: [[f32; 16]; 8];
    let t = thread_idx().x;
    let row = block_idx().x * 8;
    #[pipeline(stages = S)]
    for k in 0..c.columns().div_ceil(16) {
        for half in 0..2usize {
            let r = half * 4 + t / 16;
            strip[r][t % 16] = x[(row + r) % 32] * (k * 16 + t % 16) as f32;
        }
        sync_threads();
        store_tile(c, row, k * 16, &strip);
        sync_threads();
    }
}

/// The same by tensor copies, swizzled.
#[kernel(block = 64, targets = [sm_90])]
fn strips_by_tma<const S: usize>(x: &Global<f32>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 64)]
    let mut strip: [[f32; 16]; 8];
    let t = thread_idx().x;
    let row = block_idx().x * 8;
    #[pipeline(stages = S, by = tma)]
    for k in 0..c.columns().div_ceil(16) {
        for half in 0..2usize {
            let r = half * 4 + t / 16;
            strip[r][t % 16] = x[(row + r) % 32] * (k * 16 + t % 16) as f32;
        }
        sync_threads();
        store_tile(c, row, k * 16, &strip);
        sync_threads();
    }
}

/// The same, where each block computes the strips of several.
#[kernel(block = 64, persistent, targets = [sm_90])]
fn strips_by_few_blocks<const S: usize>(x: &Global<f32>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 64)]
    let mut strip: [[f32; 16]; 8];
    let t = thread_idx().x;
    let row = block_idx().x * 8;
    #[pipeline(stages = S, by = tma)]
    for k in 0..c.columns().div_ceil(16) {
        for half in 0..2usize {
            let r = half * 4 + t / 16;
            strip[r][t % 16] = x[(row + r) % 32] * (k * 16 + t % 16) as f32;
        }
        sync_threads();
        store_tile(c, row, k * 16, &strip);
        sync_threads();
    }
}

type Strips = for<'a> fn(&'a Buffer<f32>, warpwright::BufferMatrixMut<'a, f32>) -> Launch<'a>;

fn strips_agree(device: &Device, stages: usize, short: [usize; 2], launch: Strips) {
    let x: Vec<f32> = (0..32).map(|i| f32::from(number(i) % 9)).collect();
    let x_there = device.upload(&x).unwrap();
    for columns in (0..=2 * stages + 1).map(|trips| trips * 16).chain(short) {
        let (rows, pitch) = (19, columns.next_multiple_of(4).max(4) + 4);
        let mut c = target(device, rows, pitch);
        let matrix = device.matrix_mut(&mut c, rows, columns).unwrap().pitch(pitch).unwrap();
        launch(&x_there, matrix).grid(3).launch(device).unwrap();
        assert_eq!(c.download().unwrap(), expected(rows, columns, pitch, |r, k| x[r] * k as f32), "{stages} stages, {columns} columns");
    }
}

#[test]
fn strips_go_out_while_others_are_computed() {
    on_all("strips", |device| {
        strips_agree(device, 2, [5, 37], strips::<2>);
        strips_agree(device, 3, [5, 37], strips::<3>);
        strips_agree(device, 4, [5, 37], strips::<4>);
        if has_target(device) {
            strips_agree(device, 2, [4, 36], strips_by_tma::<2>);
            strips_agree(device, 3, [4, 36], strips_by_tma::<3>);
            strips_agree(device, 4, [4, 36], strips_by_tma::<4>);
            strips_agree(device, 3, [4, 36], strips_by_few_blocks::<3>);
        }
    });
}

/// All strips go to one place, so that the last one stays; twice, and then what is there is read.
#[kernel(block = 64, targets = [sm_90])]
fn over_each_other<const S: usize>(n: usize, c: &mut Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut strip: [[f32; 16]; 4];
    let t = thread_idx().x;
    let mut sum = 0.0;
    for round in 0..2usize {
        #[pipeline(stages = S, by = tma)]
        for k in 0..n {
            strip[t / 16][t % 16] = (round * 1000 + k * 64 + t) as f32;
            sync_threads();
            store_tile(c, k / 100, 0, &strip);
            sync_threads();
        }
        sum += c[(t % 4, t / 4)];
        sync_threads();
    }
    y[t] = sum;
}

fn over_each_other_agrees<const S: usize>(device: &Device) {
    for n in 1..=2 * S + 1 {
        let (mut c, mut y) = (target(device, 4, 16), device.zeros::<f32>(64).unwrap());
        let matrix = device.matrix_mut(&mut c, 4, 16).unwrap();
        over_each_other::<S>(n, matrix, &mut y).grid(1).launch(device).unwrap();
        let of = |round: usize, i: usize| (round * 1000 + (n - 1) * 64 + i) as f32;
        assert_eq!(c.download().unwrap(), (0..64).map(|i| of(1, i)).collect::<Vec<f32>>(), "{S} stages, {n} strips");
        let sums: Vec<f32> = (0..64).map(|t| t % 4 * 16 + t / 4).map(|i| of(0, i) + of(1, i)).collect();
        assert_eq!(y.download().unwrap(), sums, "{S} stages, {n} strips");
    }
}

#[test]
fn the_last_of_stores_that_meet_stays_and_is_seen_behind_the_loop() {
    on_all("over_each_other", |device| {
        if has_target(device) {
            over_each_other_agrees::<2>(device);
            over_each_other_agrees::<3>(device);
        }
    });
}

#[test]
fn a_pitch_of_odd_bytes_is_an_error_with_its_figure() {
    let checks = |device: &&Device| matches!(device.kind(), DeviceKind::Cuda | DeviceKind::Simulator) && has_target(device);
    for device in devices::all().iter().filter(checks) {
        let x = device.upload(&[1.0f32; 32]).unwrap();
        let mut c = device.zeros::<f32>(10 * 17).unwrap();
        let matrix = device.matrix_mut(&mut c, 10, 17).unwrap();
        let error = strips_by_tma::<2>(&x, matrix).grid(2).launch(device).expect_err("rows begin at multiples of 68 bytes").to_string();
        assert!(error.contains("pitch of 17 elements") && error.contains("68 bytes") && error.contains("multiple of 16"), "{error}");
        assert_eq!(c.download().unwrap().len(), 170);
    }
}

/// The engine writes 16 bytes at a time, and zeros beyond the end of a row that is none of these.
#[test]
fn rows_of_odd_bytes_are_an_error_with_their_figure() {
    let checks = |device: &&Device| matches!(device.kind(), DeviceKind::Cuda | DeviceKind::Simulator) && has_target(device);
    for device in devices::all().iter().filter(checks) {
        let x = device.upload(&[1.0f32; 32]).unwrap();
        let mut c = target(device, 10, 20);
        let matrix = device.matrix_mut(&mut c, 10, 17).unwrap().pitch(20).unwrap();
        let error = strips_by_tma::<2>(&x, matrix).grid(2).launch(device).expect_err("rows of 68 bytes").to_string();
        for part in
            ["the matrix `c` has rows of 17 elements, 68 bytes", "whole pieces of 16", "a matrix of 20 columns, or leave `by = tma` out"]
        {
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(c.download().unwrap(), target(device, 10, 20).download().unwrap());
    }
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    let source = kernel_of(include_str!("tensor_stores.rs"), kernel).replace(", targets = [sm_90]", "");
    ptx(&source, kernel, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn one_barrier_an_iteration_and_as_few_waits_as_there_are_slots() {
    let ahead = text("strips_by_tma", &["4"], "sm_90");
    assert_eq!(ahead.matches("cp.async.bulk.wait_group.read 2;").count(), 1, "{ahead}");
    assert_eq!(ahead.matches("cp.async.bulk.wait_group 0;").count(), 1, "{ahead}");
    assert_eq!(ahead.matches("fence.proxy.async.shared::cta;").count(), 1, "{ahead}");
    // In the loop, and behind it.
    assert_eq!(ahead.matches("bar.sync").count(), 2, "{ahead}");
    // Where stores meet, each waits until the one before is done.
    let one_by_one = text("over_each_other", &["3"], "sm_90");
    assert_eq!(one_by_one.matches(".read").count(), 0, "{one_by_one}");
    // Without the engine there is one barrier an iteration, too.
    let plain = text("strips", &["2"], "sm_90");
    assert_eq!(["bar.sync", "cp.async"].map(|word| plain.matches(word).count()), [2, 0], "{plain}");
}

#[test]
fn where_tiles_are_stored_is_known_to_be_a_multiple_of_sixteen_bytes() {
    let of = |column: &str| {
        let source = format!(
            "#[kernel(block = 64)] fn moved(at: usize, a: &Matrix<f32>, c: &mut Matrix<f32>) {{ #[shared] let mut tile: [[f32; 16]; 8]; \
             #[pipeline(stages = 2, by = tma)] for k in 0..c.rows().div_ceil(8) {{ load_tile(&mut tile, a, k * 8, at); sync_threads(); \
             store_tile(c, k * 8, {column}, &tile); sync_threads(); }} }}"
        );
        ptx(&source, "moved", &[], "sm_90").map(|text| text.to_string())
    };
    for column in ["at", "at * 2", "k * 8 + at", "k * 8 + 2"] {
        let error = of(column).unwrap_err().to_string();
        for part in ["the column that `tile` is stored to is not known to be a multiple of 4", "multiples of 16 bytes"] {
            assert!(error.contains(part), "{column}: `{part}` is not in `{error}`");
        }
    }
    for column in ["at * 4", "at * 2 * (k * 2)", "k * 8 + 16", "block_idx().x * 64", "(at & !3).min(k * 16)", "at << 2"] {
        assert!(
            of(column).unwrap_or_else(|error| panic!("{column}: {error}")).contains("cp.async.bulk.tensor.2d.global.shared"),
            "{column}"
        );
    }
}

#[test]
fn assemblers_take_tensor_stores() {
    let test = "assemblers_take_tensor_stores";
    let Some(assemblers) = ptxas::found_or_skip(test) else { return };
    let counts = Counts::default();
    for (target, capability) in [("sm_90", 90), ("sm_100", 100), ("sm_120", 120)] {
        for text in [text("doubled", &["3"], target), text("strips_by_tma", &["2"], target), text("over_each_other", &["2"], target)] {
            assert!(text.contains("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"), "{target}: {text}");
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "tensor stores", capability));
        }
    }
    counts.report(test);
}

#[test]
fn machine_code_stores_tiles() {
    let test = "machine_code_stores_tiles";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    let sass = judge.sass(&text("strips_by_tma", &["3"], "sm_90"), 90).unwrap_or_else(|error| panic!("{error}"));
    let count = |word: &str| sass.matches(word).count();
    assert!(count("UTMASTG.2D") >= 1, "{sass}");
    assert_eq!(["STG.E", "MEMBAR.ALL.GPU", "MEMBAR.SC"].map(count), [0; 3], "{sass}");
    // Behind the loop alone, what is read of the matrix comes from where the engine wrote it.
    assert!(count("CCTL.IVALL") == 1 && sass.find("CCTL.IVALL") > sass.rfind("UTMASTG.2D"), "{sass}");
    println!("ran: {test}");
}
