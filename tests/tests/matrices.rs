//! Matrices as parameters: their elements, which are zero outside, tiles in all places, and what the host says of them.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::BufferMatrix;
use warpwright::Num;
use warpwright::prelude::*;
use warpwright_tests::devices::{self, on_all};
use warpwright_tests::matrices::{Held, number};

#[device]
fn around(a: &Matrix<f32>, row: usize, column: usize) -> f32 {
    let above = a[(row.wrapping_sub(1), column)];
    let left = a[(row, column.wrapping_sub(1))];
    above + left + a[(row + 1, column)] + a[(row, column + 1)]
}

#[device]
fn add_to<T: Num>(c: &mut Matrix<T>, at: (usize, usize), value: T) {
    c[at] += value;
}

/// A matrix among other parameters, its elements one by one: zero outside, and nothing is written there.
#[kernel(block = (8, 4))]
fn softened(weight: f32, a: &Matrix<f32>, seen: &mut Global<u32>, c: &mut Matrix<f32>, shift: [usize; 2]) {
    let at = global_id();
    let (row, column) = (at.y + shift[0], at.x + shift[1]);
    c[(row, column)] = a[(at.y, at.x)] * weight;
    add_to(c, (row, column), around(a, at.y, at.x));
    if at.x == 0 && at.y == 0 {
        seen[0] = (a.rows() * 10000 + a.columns() * 100 + a.pitch()) as u32;
        seen[1] = (c.rows() * 10000 + c.columns() * 100 + c.pitch()) as u32;
    }
}

#[test]
fn elements_are_zero_outside_and_dropped_there() {
    on_all("elements", |device| {
        for shift in [[0, 0], [2, 3], [40, 0], [0, 40], [u32::MAX as usize - 15, 0], [0, u32::MAX as usize - 15]] {
            let a = Held::new([9, 11, 13, 0], |i| i as f32);
            let mut c = Held::new([10, 14, 17, 3], |_| -5.0);
            let (from, mut to, mut seen) = (device.upload(&a.all).unwrap(), device.upload(&c.all).unwrap(), device.zeros(2).unwrap());
            let source = device.matrix(&from, 9, 11).unwrap().pitch(13).unwrap();
            let target = device.matrix_mut(&mut to, 10, 14).unwrap().pitch(17).unwrap();
            softened(2.0, source, &mut seen, target, shift).grid((2, 3)).launch(device).unwrap();
            for row in 0..12 {
                for column in 0..16 {
                    let of = |row: usize, column: usize| a.get(row, column, 0.0);
                    let near = [(row.wrapping_sub(1), column), (row, column.wrapping_sub(1)), (row + 1, column), (row, column + 1)];
                    let sum = near.iter().map(|(row, column)| of(*row, *column)).sum::<f32>();
                    c.set(row + shift[0], column + shift[1], of(row, column) * 2.0 + sum);
                }
            }
            assert_eq!(to.download().unwrap(), c.all, "{shift:?} on {device:?}");
            assert_eq!(seen.download().unwrap(), [91113, 101417]);
        }
    });
}

/// A struct in a matrix.
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

/// Parts of elements.
#[kernel(block = 32)]
fn parts(a: &Matrix<Point>, rows: &Matrix<[f32; 4]>, c: &mut Matrix<Point>) {
    let column = global_id().x;
    let whole = a[(1, column)];
    c[(0, column)] = whole;
    c[(1, column)].x = a[(0, column)].x + rows[(0, column)][column % 4];
    c[(1, column)].weights[2] += a[(2, column)].weights[1] + 1;
    c[(2, column)].kind = a[(0, column)].kind;
}

#[test]
fn parts_of_elements_are_read_and_written() {
    on_all("parts", |device| {
        let a = Held::new([2, 21, 22, 0], |i| point(number(i)));
        let quads = Held::new([1, 19, 19, 0], |i| [0, 1, 2, 3].map(|k| f32::from(number(i + k))));
        let mut c = Held::new([2, 25, 26, 1], |i| point(number(i + 7)));
        let (from, four) = (device.upload(&a.all).unwrap(), device.upload(&quads.all).unwrap());
        let mut to = device.upload(&c.all).unwrap();
        let target = device.matrix_mut(&mut to, 2, 25).unwrap().pitch(26).unwrap();
        let source = device.matrix(&from, 2, 21).unwrap().pitch(22).unwrap();
        parts(source, device.matrix(&four, 1, 19).unwrap(), target).grid(1).launch(device).unwrap();
        for column in 0..25 {
            let zero = point(0);
            c.set(0, column, a.get(1, column, zero));
            let mut next = c.get(1, column, zero);
            next.x = a.get(0, column, zero).x + quads.get(0, column, [0.0; 4])[column % 4];
            next.weights[2] += 1;
            c.set(1, column, next);
        }
        assert_eq!(to.download().unwrap(), c.all, "{device:?}");
    });
}

/// Elements that annotations move, in groups and ahead.
#[kernel(block = 16, ilp = 4, batch_loads = true)]
fn scaled(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    let at = global_id();
    c[(at.y, at.x)] = a[(at.y, at.x)] * 2.0;
}

/// Sums of rows, elements fetched ahead, and of columns, several at a time.
#[kernel(block = 16)]
fn summed(n: usize, a: &Matrix<f32>, y: &mut Global<f32>) {
    let t = global_id().x;
    let mut sum = 0.0;
    #[prefetch]
    for k in 0..n {
        sum += a[(t, k)] * (k + 1) as f32;
    }
    #[unroll(4)]
    #[batch_loads]
    for k in 0..n {
        sum += a[(k, t)];
    }
    y[t] = sum;
}

#[test]
fn annotations_keep_what_is_outside_outside() {
    on_all("annotated", |device| {
        let a = Held::new([19, 70, 73, 0], |i| f32::from(number(i)));
        let mut c = Held::new([17, 90, 91, 0], |_| 9.0);
        let (from, mut to, mut sums) = (device.upload(&a.all).unwrap(), device.upload(&c.all).unwrap(), device.zeros(32).unwrap());
        let source = device.matrix(&from, 19, 70).unwrap().pitch(73).unwrap();
        let mut target = device.matrix_mut(&mut to, 17, 90).unwrap().pitch(91).unwrap();
        for _ in 0..2 {
            scaled(source, target.reborrow()).cover((128, 21)).launch(device).unwrap();
        }
        (0..17).for_each(|row| (0..90).for_each(|column| c.set(row, column, a.get(row, column, 0.0) * 2.0)));
        assert_eq!(to.download().unwrap(), c.all, "{device:?}");
        for n in [0, 1, 3, 18, 23, 75] {
            summed(n, source, &mut sums).grid(2).launch(device).unwrap();
            let of = |t: usize| (0..n).map(|k| a.get(t, k, 0.0) * (k + 1) as f32 + a.get(k, t, 0.0)).sum::<f32>();
            assert_eq!(sums.download().unwrap(), (0..32).map(of).collect::<Vec<f32>>(), "{n} on {device:?}");
        }
    });
}

/// Rows of eight behind a field of two bytes: no vector begins at a multiple of more than four.
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Stage {
    number: u16,
    tile: [[f32; 8]; 4],
}

#[device]
fn fetch(tile: &mut [[f32; 8]; 4], a: &Matrix<f32>, n: usize) {
    load_tile(tile, a, n * 4, n);
}

/// Tiles that are elements of larger arrays, fields of structs, filled by functions, in unrolled loops.
#[kernel(block = 24)]
fn placed(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut slots: [[[f32; 8]; 4]; 3];
    #[shared]
    let mut stages: [Stage; 2];
    let b = block_idx().x;
    #[unroll]
    for n in 0..3 {
        fetch(&mut slots[n], a, n);
    }
    load_tile(&mut stages[b % 2].tile, a, 5, 4);
    sync_threads();
    for n in 0..3 {
        store_tile(c, b * 16 + n * 4, 0, &slots[(n + b) % 3]);
    }
    store_tile(c, b * 16 + 12, 0, &stages[b % 2].tile);
}

#[test]
fn tiles_may_lie_in_larger_arrays_and_in_structs() {
    on_all("placed", |device| {
        for pitch in [12, 13] {
            let a = Held::new([11, 11, pitch, 0], |i| f32::from(number(i)));
            let mut c = Held::new([31, 8, 8, 0], |_| 9.0);
            let (from, mut to) = (device.upload(&a.all).unwrap(), device.upload(&c.all).unwrap());
            let source = device.matrix(&from, 11, 11).unwrap().pitch(pitch).unwrap();
            placed(source, device.matrix_mut(&mut to, 31, 8).unwrap()).grid(2).launch(device).unwrap();
            for row in 0..32 {
                let (b, n, r) = (row / 16, row % 16 / 4, row % 4);
                let slot = (n + b) % 3;
                let (first, left) = if n < 3 { (slot * 4, slot) } else { (5, 4) };
                (0..8).for_each(|column| c.set(row, column, a.get(first + r, left + column, 0.0)));
            }
            assert_eq!(to.download().unwrap(), c.all, "pitch {pitch} on {device:?}");
        }
    });
}

/// Tiles without elements, for a block whose size the launch says.
#[kernel]
fn nothing(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut narrow: [[f32; 0]; 16];
    #[shared]
    let mut flat: [[f32; 4]; 0];
    load_tile(&mut narrow, a, 0, 0);
    load_tile(&mut flat, a, 0, 0);
    sync_threads();
    store_tile(c, 0, 0, &narrow);
    store_tile(c, 0, 0, &flat);
}

#[test]
fn tiles_without_elements_are_nothing() {
    on_all("nothing", |device| {
        let (from, mut to) = (device.upload(&[1.0; 64]).unwrap(), device.upload(&[9.0; 64]).unwrap());
        let target = device.matrix_mut(&mut to, 8, 8).unwrap();
        nothing(device.matrix(&from, 8, 8).unwrap(), target).grid(1).block(8).launch(device).unwrap();
        assert_eq!(to.download().unwrap(), [9.0; 64]);
    });
}

/// How many rows a matrix has.
#[kernel(block = 32)]
fn rows_of(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    c[(0, thread_idx().x)] = a.rows() as f32;
}

/// The same with an index of 64 bits.
#[kernel(block = 32, index = 64)]
fn rows_of_wide(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    c[(0, thread_idx().x)] = a.rows() as f32;
}

#[test]
fn matrices_that_buffers_do_not_hold_are_refused() {
    for device in devices::all() {
        let mut buffer = device.zeros::<f32>(20).unwrap();
        let told = |result: warpwright::Result<BufferMatrix<'_, f32>>| result.expect_err("it does not fit").to_string();
        let error = told(device.matrix(&buffer, 3, 7));
        assert!(error.contains("3 rows and 7 columns, 7 elements from row to row, needs 21 elements, and its buffer has 20"), "{error}");
        let error = told(device.matrix(&buffer, 3, 4).unwrap().pitch(3));
        assert!(error.contains("4 columns cannot have a pitch of 3 elements") && error.contains("`.pitch(n)` 4 or more"), "{error}");
        let error = told(device.matrix(&buffer, 3, 4).unwrap().pitch(9));
        assert!(error.contains("needs 22 elements, and its buffer has 20"), "{error}");
        // The last row needs no room behind it.
        let matrix = device.matrix(&buffer, 3, 4).unwrap().pitch(8).unwrap();
        assert_eq!((matrix.rows(), matrix.columns()), (3, 4));
        assert!(device.matrix_mut(&mut buffer, 21, 1).is_err());
    }
}

#[test]
fn rows_that_an_index_cannot_count_are_refused() {
    let device = Device::simulator();
    let (a, mut c) = (device.zeros::<f32>(4).unwrap(), device.zeros::<f32>(4).unwrap());
    let (many, target) = (device.matrix(&a, 1 << 33, 0).unwrap(), device.matrix_mut(&mut c, 1, 1).unwrap());
    let error = rows_of(many, target).grid(1).launch(&device).expect_err("2^33 rows").to_string();
    assert!(error.contains("`a.rows` is 8589934592") && error.contains("index = 64"), "{error}");
    let (many, target) = (device.matrix(&a, 1 << 33, 0).unwrap(), device.matrix_mut(&mut c, 1, 1).unwrap());
    rows_of_wide(many, target).grid(1).launch(&device).unwrap();
    assert_eq!(c.download().unwrap(), [(1u64 << 33) as f32, 0.0, 0.0, 0.0]);
}

/// A program's own `Matrix`, which it takes by value from another module.
mod named_alike {
    use own::Matrix;
    use warpwright::prelude::*;

    pub(super) mod own {
        use warpwright::prelude::device;

        #[device]
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub(crate) struct Matrix {
            pub(crate) scale: f32,
        }
    }

    #[kernel(block = 4)]
    pub(super) fn filled(m: Matrix, y: &mut Global<f32>) {
        y[thread_idx().x] = m.scale;
    }
}

#[test]
fn a_programs_own_matrix_stays_its_own() {
    on_all("own", |device| {
        let mut y = device.zeros::<f32>(4).unwrap();
        named_alike::filled(named_alike::own::Matrix { scale: 2.5 }, &mut y).grid(1).launch(device).unwrap();
        assert_eq!(y.download().unwrap(), [2.5; 4]);
    });
}
