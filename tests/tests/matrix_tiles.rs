//! Matrices in buffers and what a block's threads copy of them together, `load_tile` and `store_tile`: against Rust, on the simulator, on the host twin
//! and on what other devices there are, alone and in pipelined loops.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use std::fmt::Debug;
use warpwright::prelude::*;
use warpwright::{BufferMatrix, BufferMatrixMut};
use warpwright_tests::devices::{self, on_all};
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::matrices::{Held, number};
use warpwright_tests::ptxas::{Counts, found_or_skip};
use warpwright_tests::random::{Failure, Random, check_all};

/// Copies a tile for each block, from a place of one matrix to a place of the other.
#[kernel(block = (B, H))]
fn moved<const B: usize, const H: usize, const R: usize, const C: usize, T: Element>(
    from: (usize, usize),
    a: &Matrix<T>,
    c: &mut Matrix<T>,
    to: (usize, usize),
) {
    #[shared]
    let mut tile: [[T; C]; R];
    let (row, column) = (block_idx().y * R, block_idx().x * C);
    load_tile(&mut tile, a, from.0 + row, from.1 + column);
    sync_threads();
    store_tile(c, to.0 + row, to.1 + column, &tile);
}

/// A copy of tiles: where from, where to, how many tiles in each direction.
#[derive(Clone, Debug)]
struct Move {
    a: [usize; 4],
    c: [usize; 4],
    from: [usize; 2],
    to: [usize; 2],
    tiles: [usize; 2],
}

impl Move {
    /// Runs it and says what differs from the same in Rust.
    fn agrees<const B: usize, const H: usize, const R: usize, const C: usize, T: Element + PartialEq + Debug>(
        &self,
        device: &Device,
        of: impl Fn(u8) -> T,
        zero: T,
    ) -> Result<(), String> {
        let a = Held::new(self.a, |i| of(number(i)));
        let mut c = Held::new(self.c, |_| of(99));
        let from = device.upload(&a.all).unwrap();
        let mut to = device.upload(&c.all).unwrap();
        let source = device.matrix(&from, a.rows, a.columns).unwrap().pitch(a.pitch).unwrap();
        let target = device.matrix_mut(&mut to, c.rows, c.columns).unwrap().pitch(c.pitch).unwrap();
        let launch = moved::<B, H, R, C, T>(self.from.into(), source, target, self.to.into()).grid((self.tiles[1], self.tiles[0]));
        launch.launch(device).map_err(|error| error.to_string())?;
        // As wide as an index on the device or wider: what is outside stays outside.
        for row in 0..self.tiles[0] * R {
            for column in 0..self.tiles[1] * C {
                let value = a.get(self.from[0] + row, self.from[1] + column, zero);
                c.set(self.to[0] + row, self.to[1] + column, value);
            }
        }
        let found = to.download().map_err(|error| error.to_string())?;
        match found.iter().zip(&c.all).position(|(found, expected)| found != expected) {
            None => Ok(()),
            Some(at) => Err(format!("element {at} is {:?}, and should be {:?}, on {device:?}: {self:?}", found[at], c.all[at])),
        }
    }
}

/// Extents of both matrices, nothing, one element, tiles that fit, edges of all kinds, pitches of all kinds.
fn moves(rows: usize, columns: usize) -> Vec<Move> {
    let extents = [
        [0, 0, 0, 0],
        [0, 5, 5, 0],
        [3, 0, 0, 2],
        [1, 1, 1, 0],
        [1, 1, 7, 3],
        [rows, columns, columns, 0],
        [rows + 1, columns + 1, columns + 1, 0],
        [2 * rows - 1, 2 * columns - 1, 2 * columns, 0],
        [2 * rows, 2 * columns + 4, 2 * columns + 8, 5],
        [rows + 3, 2 * columns - 4, 2 * columns + 3, 1],
    ];
    let tiles = [3, 3];
    let mut all: Vec<Move> = extents.iter().flat_map(|a| extents.map(|c| Move { a: *a, c, from: [0; 2], to: [0; 2], tiles })).collect();
    let (a, c) = (extents[8], extents[7]);
    for from in [[0, 4], [1, 8], [0, 1], [2, 3], [rows, columns], [0, 2 * columns + 4], [2 * rows, 0], [9 * rows, 9 * columns]] {
        all.push(Move { a, c, from, to: [0; 2], tiles });
        all.push(Move { a, c, from: [0; 2], to: from, tiles });
        all.push(Move { a, c, from, to: from, tiles });
    }
    // Where the number of a row or column would wrap, if it were added up as the device counts.
    for far in [u32::MAX as usize - 1, u32::MAX as usize - rows + 1, u32::MAX as usize / 2 + 1] {
        for far in [[far, 0], [0, far], [far, far]] {
            all.push(Move { a, c, from: far, to: [0; 2], tiles: [1, 1] });
            all.push(Move { a, c, from: [0; 2], to: far, tiles: [1, 1] });
        }
    }
    all
}

fn moves_agree<const B: usize, const H: usize, const R: usize, const C: usize, T: Element + PartialEq + Debug>(
    device: &Device,
    of: impl Fn(u8) -> T + Copy,
    zero: T,
) {
    for case in moves(R, C) {
        case.agrees::<B, H, R, C, T>(device, of, zero).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// A struct whose scalars are moved one by one.
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Point {
    x: f32,
    kind: u16,
    weights: [u8; 3],
}

fn point(n: u8) -> Point {
    Point { x: f32::from(n), kind: u16::from(n) * 3, weights: [n, n / 2, n / 3] }
}

#[test]
fn tiles_of_every_element_are_copied() {
    on_all("tiles", |device| {
        moves_agree::<16, 2, 16, 16, f32>(device, f32::from, 0.0);
        moves_agree::<64, 1, 8, 32, u8>(device, |n| n, 0);
        moves_agree::<16, 2, 8, 16, f64>(device, f64::from, 0.0);
        moves_agree::<8, 4, 8, 24, u16>(device, u16::from, 0);
        moves_agree::<8, 1, 4, 8, [f32; 4]>(device, |n| [f32::from(n), 1.0, 2.0, f32::from(n) + 0.5], [0.0; 4]);
        moves_agree::<8, 1, 4, 8, [u32; 3]>(device, |n| [u32::from(n), 1, 2], [0; 3]);
        moves_agree::<8, 1, 4, 8, [[f32; 2]; 3]>(device, |n| [[f32::from(n), 1.0], [2.0, 3.0], [4.0, f32::from(n)]], [[0.0; 2]; 3]);
        moves_agree::<8, 1, 4, 8, bool>(device, |n| n % 2 == 0, false);
        moves_agree::<8, 1, 4, 8, Point>(device, point, point(0));
    });
}

#[test]
fn tiles_of_every_shape_are_copied() {
    on_all("shapes", |device| {
        // More threads than elements, one thread, threads that are no multiple of a row's accesses, many rounds, rows of odd length.
        moves_agree::<32, 8, 4, 4, f32>(device, f32::from, 0.0);
        moves_agree::<1, 1, 4, 8, f32>(device, f32::from, 0.0);
        moves_agree::<33, 1, 8, 16, f32>(device, f32::from, 0.0);
        moves_agree::<16, 1, 64, 32, f32>(device, f32::from, 0.0);
        moves_agree::<16, 1, 5, 7, f32>(device, f32::from, 0.0);
        moves_agree::<16, 1, 6, 10, f32>(device, f32::from, 0.0);
        moves_agree::<16, 1, 1, 64, f32>(device, f32::from, 0.0);
        moves_agree::<16, 1, 64, 4, u8>(device, |n| n, 0);
    });
}

#[test]
fn random_tiles_are_copied() {
    let devices = devices::all();
    let make = |random: &mut Random| {
        let extent = |random: &mut Random| {
            let (rows, columns) = (random.below(40), random.below(70));
            let gap = random.below(9);
            let behind = random.below(4);
            [rows, columns, columns + gap, behind]
        };
        let (a, c) = (extent(random), extent(random));
        let place = |random: &mut Random| [random.below(20), random.below(40)];
        Move { a, c, from: place(random), to: place(random), tiles: [1 + random.below(3), 1 + random.below(3)] }
    };
    let seed = Random::fresh_seed();
    let seeds = (seed..).take(40);
    let done = check_all(
        seeds,
        make,
        |case| format!("{case:?}"),
        |case| {
            for device in &devices {
                case.agrees::<16, 2, 16, 16, f32>(device, f32::from, 0.0).map_err(Failure::Wrong)?;
                case.agrees::<64, 1, 8, 32, u8>(device, |n| n, 0).map_err(Failure::Wrong)?;
                case.agrees::<8, 4, 8, 24, u16>(device, u16::from, 0).map_err(Failure::Wrong)?;
            }
            Ok(())
        },
    );
    println!("ran: random tiles ({} cases on {} devices)", done.len(), devices.len());
}

/// A block whose size the launch says, of three dimensions; an index of 64 bits.
#[kernel(index = 64)]
fn moved_by_any_block(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 12]; 10];
    let (row, column) = (block_idx().y * 10, block_idx().x * 12);
    load_tile(&mut tile, a, row, column);
    sync_threads();
    store_tile(c, row, column, &tile);
}

#[test]
fn blocks_of_any_size_copy_tiles() {
    on_all("any block", |device| {
        for block in [(1, 1, 1), (7, 3, 2), (4, 4, 8), (40, 3, 1)] {
            for pitch in [25, 28, 31] {
                let a = Held::new([23, 25, pitch, 0], |i| f32::from(number(i)));
                let mut c = Held::new([21, 30, 30, 0], |_| 9.0);
                let (from, mut to) = (device.upload(&a.all).unwrap(), device.upload(&c.all).unwrap());
                let source = device.matrix(&from, 23, 25).unwrap().pitch(pitch).unwrap();
                let target = device.matrix_mut(&mut to, 21, 30).unwrap();
                moved_by_any_block(source, target).grid((3, 3)).block(block).launch(device).unwrap();
                (0..21).for_each(|row| (0..30).for_each(|column| c.set(row, column, a.get(row, column, 0.0))));
                assert_eq!(to.download().unwrap(), c.all, "{block:?}, pitch {pitch}, on {device:?}");
            }
        }
    });
}

/// Turns a matrix through a tile whose rows are padded, which threads read by columns.
#[kernel(block = (32, 8))]
fn turned_padded(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared(pad = 1)]
    let mut tile: [[f32; 32]; 32];
    let (row, column) = (block_idx().y * 32, block_idx().x * 32);
    load_tile(&mut tile, a, row, column);
    sync_threads();
    let at = thread_idx();
    for y in (at.y..32).step_by(8) {
        c[(column + y, row + at.x)] = tile[at.x][y];
    }
}

/// The same, where both tiles are swizzled, and the second is stored as a whole.
#[kernel(block = (32, 8))]
fn turned_swizzled(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared(swizzle)]
    let mut tile: [[f32; 32]; 32];
    #[shared(swizzle)]
    let mut other: [[f32; 32]; 32];
    let (row, column) = (block_idx().y * 32, block_idx().x * 32);
    load_tile(&mut tile, a, row, column);
    sync_threads();
    let at = thread_idx();
    for y in (at.y..32).step_by(8) {
        other[y][at.x] = tile[at.x][y];
    }
    sync_threads();
    store_tile(c, column, row, &other);
}

/// The same, with rows that vectors of four fit in.
#[kernel(block = (32, 8))]
fn turned_in_vectors(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared(pad = 4)]
    let mut tile: [[f32; 32]; 32];
    #[shared(pad = 2)]
    let mut other: [[f32; 32]; 32];
    let (row, column) = (block_idx().y * 32, block_idx().x * 32);
    load_tile(&mut tile, a, row, column);
    sync_threads();
    let at = thread_idx();
    for y in (at.y..32).step_by(8) {
        other[y][at.x] = tile[at.x][y];
    }
    sync_threads();
    store_tile(c, column, row, &other);
}

#[test]
fn matrices_are_turned_through_padded_and_swizzled_tiles() {
    on_all("turned", |device| {
        for (rows, columns, pitches) in [(1, 1, [1, 1]), (64, 32, [32, 64]), (33, 70, [71, 36]), (31, 100, [104, 35])] {
            let a = Held::new([rows, columns, pitches[0], 0], |i| i as f32);
            let mut c = Held::new([columns, rows, pitches[1], 2], |_| -1.0);
            let before = c.all.clone();
            (0..rows).for_each(|row| (0..columns).for_each(|column| c.set(column, row, a.get(row, column, f32::NAN))));
            let from = device.upload(&a.all).unwrap();
            let source = device.matrix(&from, rows, columns).unwrap().pitch(pitches[0]).unwrap();
            for kernel in [turned_padded, turned_swizzled, turned_in_vectors] {
                let mut to = device.upload(&before).unwrap();
                let target = device.matrix_mut(&mut to, columns, rows).unwrap().pitch(pitches[1]).unwrap();
                kernel(source, target).grid((columns.div_ceil(32), rows.div_ceil(32))).launch(device).unwrap();
                assert_eq!(to.download().unwrap(), c.all, "{rows} x {columns} on {device:?}");
            }
        }
    });
}

/// c = a · b, 16 by 16 elements for each block, the tiles of both copied ahead.
#[kernel(block = (16, 16), variants(S in [1, 2, 3, 4]))]
fn product<const S: usize>(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut left: [[f32; 16]; 16];
    #[shared]
    let mut right: [[f32; 16]; 16];
    let (row, column) = (block_idx().y * 16, block_idx().x * 16);
    let at = thread_idx();
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    for step in 0..a.columns().div_ceil(16) {
        load_tile(&mut left, a, row, step * 16);
        load_tile(&mut right, b, step * 16, column);
        sync_threads();
        for k in 0..16 {
            sum += left[at.y][k] * right[k][at.x];
        }
        sync_threads();
    }
    c[(row + at.y, column + at.x)] = sum;
}

type Product = for<'l> fn(BufferMatrix<'l, f32>, BufferMatrix<'l, f32>, BufferMatrixMut<'l, f32>) -> Launch<'l>;

/// A product: rows, columns of the first, columns of the second, and room between the rows of each.
type Extents = ([usize; 3], [usize; 2]);

fn product_agrees(device: &Device, kernel: Product, ([rows, inner, columns], gaps): &Extents) -> Result<(), String> {
    let (rows, inner, columns) = (*rows, *inner, *columns);
    let a = Held::new([rows, inner, inner + gaps[0], 0], |i| f32::from(number(i) % 8));
    let b = Held::new([inner, columns, columns + gaps[1], 0], |i| f32::from(number(i + 5) % 8));
    let (left, right) = (device.upload(&a.all).unwrap(), device.upload(&b.all).unwrap());
    let mut to = device.zeros(rows * columns).unwrap();
    let left = device.matrix(&left, rows, inner).unwrap().pitch(a.pitch).unwrap();
    let right = device.matrix(&right, inner, columns).unwrap().pitch(b.pitch).unwrap();
    let target = device.matrix_mut(&mut to, rows, columns).unwrap();
    let blocks = (columns.div_ceil(16), rows.div_ceil(16));
    kernel(left, right, target).grid(blocks).launch(device).map_err(|error| error.to_string())?;
    let of = |row, column| (0..inner).map(|k| a.get(row, k, 0.0) * b.get(k, column, 0.0)).sum::<f32>();
    let expected: Vec<f32> = (0..rows * columns).map(|i| of(i / columns, i % columns)).collect();
    if to.download().unwrap() == expected { Ok(()) } else { Err(format!("another product on {device:?}")) }
}

#[test]
fn pipelined_tiles_give_the_plain_products() {
    on_all("products", |device| {
        let variants = product_variants();
        assert_eq!(variants.len(), 4);
        for variant in variants {
            for steps in 0..=2 * variant.int("S").unwrap() as usize + 1 {
                for (less, gap) in [(0, 0), (5, 0), (4, 4), (0, 3)] {
                    let extents = ([20, (steps * 16).saturating_sub(less), 18], [gap; 2]);
                    product_agrees(device, variant.kernel(), &extents).unwrap_or_else(|error| panic!("{variant}, {extents:?}: {error}"));
                }
            }
        }
    });
}

#[test]
fn random_products_of_pipelined_tiles_are_the_plain_ones() {
    let devices = devices::all();
    let make = |random: &mut Random| {
        let extents = [1 + random.below(40), random.below(150), 1 + random.below(40)];
        (extents, [random.below(9), random.below(9)])
    };
    let seed = Random::fresh_seed();
    let done = check_all(
        (seed..).take(30),
        make,
        |case| format!("{case:?}"),
        |case| {
            for variant in product_variants() {
                for device in &devices {
                    product_agrees(device, variant.kernel(), case).map_err(|error| Failure::Wrong(format!("{variant}: {error}")))?;
                }
            }
            Ok(())
        },
    );
    println!("ran: random products ({} cases on {} devices)", done.len(), devices.len());
}

/// A band of tiles goes through a ring, and each out again where it is turned.
#[kernel(block = 64)]
fn passed_on<const S: usize>(tiles: usize, a: &Matrix<u16>, c: &mut Matrix<u16>) {
    #[shared]
    let mut tile: [[u16; 32]; 16];
    #[pipeline(stages = S)]
    for n in 0..tiles {
        load_tile(&mut tile, a, n * 16, block_idx().x * 32);
        sync_threads();
        store_tile(c, (tiles - 1 - n) * 16, block_idx().x * 32, &tile);
        sync_threads();
    }
}

fn passes_agree<const S: usize>(device: &Device) {
    for tiles in 0..=2 * S + 1 {
        for (columns, pitch) in [(64, 64), (50, 56), (49, 51)] {
            let a = Held::new([tiles * 16, columns, pitch, 0], |i| u16::from(number(i)));
            let mut c = Held::new([tiles * 16, columns, pitch, 3], |_| 77);
            let (from, mut to) = (device.upload(&a.all).unwrap(), device.upload(&c.all).unwrap());
            let source = device.matrix(&from, tiles * 16, columns).unwrap().pitch(pitch).unwrap();
            let target = device.matrix_mut(&mut to, tiles * 16, columns).unwrap().pitch(pitch).unwrap();
            passed_on::<S>(tiles, source, target).grid(2).launch(device).unwrap();
            for row in 0..tiles * 16 {
                let into = (tiles - 1 - row / 16) * 16 + row % 16;
                (0..columns).for_each(|column| c.set(into, column, a.get(row, column, 0)));
            }
            assert_eq!(to.download().unwrap(), c.all, "{S} stages, {tiles} tiles, {columns} of {pitch} columns, on {device:?}");
        }
    }
}

#[test]
fn tiles_pass_through_a_ring_and_out_again() {
    on_all("passed on", |device| {
        passes_agree::<1>(device);
        passes_agree::<2>(device);
        passes_agree::<3>(device);
    });
}

/// The source of a kernel of this file, with the struct it may need.
fn source(kernel: &str) -> String {
    let point = "#[device] #[derive(Clone, Copy)] #[repr(C)] struct Point { x: f32, kind: u16, weights: [u8; 3] }\n";
    format!("{point}{}", kernel_of(include_str!("matrix_tiles.rs"), kernel))
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    ptx(&source(kernel), kernel, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn tiles_are_moved_sixteen_bytes_at_a_time() {
    let text_of = |generics: &[&str]| text("moved", generics, "sm_90");
    let counts = |text: &str| {
        let count = |word: &str| text.matches(word).count();
        ["ld.global.v4", "st.shared.v4", "ld.shared.v4", "st.global.v4"].map(count)
    };
    // 16 x 16 elements are 64 vectors for 32 threads, in both directions; elsewhere element by element.
    let wide = text_of(&["16", "2", "16", "16", "f32"]);
    assert_eq!(counts(&wide), [2; 4], "{wide}");
    // Rows of seven elements are not: no vector begins where it may.
    let odd = text_of(&["16", "1", "5", "7", "f32"]);
    assert_eq!(counts(&odd), [0; 4], "{odd}");
    let piped = text("product", &["3"], "sm_90");
    let count = |word: &str| piped.matches(word).count();
    // Before the loop and in it, of both matrices: whole, and one by one at edges; nothing goes through registers.
    let found = ["cp.async.cg.shared.global", "cp.async.ca.shared.global", "st.shared", "bar.sync"].map(count);
    assert_eq!(found, [4, 4, 0, 2], "{piped}");
}

#[test]
fn assemblers_take_all_of_it() {
    let Some(assemblers) = found_or_skip("matrices") else { return };
    let counts = Counts::default();
    let kernels: [(&str, &[&str]); 11] = [
        ("moved", &["16", "2", "16", "16", "f32"]),
        ("moved", &["64", "1", "8", "32", "u8"]),
        ("moved", &["8", "1", "4", "8", "[[f32; 2]; 3]"]),
        ("moved", &["8", "1", "4", "8", "bool"]),
        ("moved", &["8", "1", "4", "8", "Point"]),
        ("moved", &["33", "1", "8", "16", "f64"]),
        ("moved_by_any_block", &[]),
        ("turned_padded", &[]),
        ("turned_swizzled", &[]),
        ("product", &["3"]),
        ("passed_on", &["3"]),
    ];
    for (kernel, generics) in kernels {
        for target in [80, 90, 120] {
            let ptx = text(kernel, generics, &format!("sm_{target}"));
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &ptx, kernel, target));
        }
    }
    counts.report("matrices");
}

/// Nobody waits for what others wrote, or read.
#[kernel(block = 64)]
fn hasty<const WHERE: usize>(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 8];
    let t = thread_idx().x;
    if WHERE == 0 {
        tile[t / 16][t % 16] = 1.0;
        tile[t / 16 + 4][t % 16] = 1.0;
    } else {
        load_tile(&mut tile, a, 0, 0);
    }
    if WHERE != 0 && WHERE != 1 {
        sync_threads();
    }
    store_tile(c, 0, 0, &tile);
    if WHERE == 2 {
        load_tile(&mut tile, a, 0, 0);
    }
    if WHERE == 3 && t == 5 {
        c[(0, 1)] = 2.0;
    }
}

type Hasty = for<'l> fn(BufferMatrix<'l, f32>, BufferMatrixMut<'l, f32>) -> Launch<'l>;

#[test]
fn tiles_that_nobody_waits_for_are_races() {
    let device = Device::simulator();
    let (a, mut c) = (device.upload(&[1.0f32; 128]).unwrap(), device.zeros::<f32>(128).unwrap());
    let kernels: [(Hasty, &str); 4] = [(hasty::<0>, "tile"), (hasty::<1>, "tile"), (hasty::<2>, "tile"), (hasty::<3>, "c.data")];
    for (kernel, array) in kernels {
        let target = device.matrix_mut(&mut c, 8, 16).unwrap();
        let error = kernel(device.matrix(&a, 8, 16).unwrap(), target).grid(1).launch(&device).expect_err("nobody waits").to_string();
        assert!(error.contains("race") && error.contains(&format!("`{array}`")), "{error}");
    }
    let target = device.matrix_mut(&mut c, 8, 16).unwrap();
    hasty::<4>(device.matrix(&a, 8, 16).unwrap(), target).grid(1).launch(&device).unwrap();
}
