//! Products of shared tiles: every kind of factor and sum, every way round, on every device there is, against Rust.
//!
//! The numbers are whole and small, so that every sum is exact in every format and in every order: what tensor cores leave open does not show here.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::prelude::*;
use warpwright::{DeviceKind, Num};
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptx_interpreter::executed;
use warpwright_tests::ptxas::{self, Counts};

/// Whole numbers from 0 to 3.
fn numbers(len: usize, salt: usize) -> Vec<u8> {
    (0..len).map(|i| ((i + salt) * 7919 + (i + salt) / 13) as u8 % 4).collect()
}

/// The product of M × K and K × N numbers, stored as they are or transposed.
fn product([m, n, k]: [usize; 3], [a, b]: [&[u8]; 2], turned: [bool; 2]) -> Vec<u32> {
    let of_a = |row: usize, step: usize| u32::from(if turned[0] { a[step * m + row] } else { a[row * k + step] });
    let of_b = |step: usize, column: usize| u32::from(if turned[1] { b[column * k + step] } else { b[step * n + column] });
    (0..m * n).map(|i| (0..k).map(|step| of_a(i / n, step) * of_b(step, i % n)).sum()).collect()
}

/// Launches a kernel of two matrices and a result, and compares: `$sides` are M, N and K.
macro_rules! agrees {
    ($device:expr, $kernel:expr, ($factor:ty, $sum:ty), $sides:expr, $turned:expr) => {{
        let (device, [m, n, k], turned): (&Device, [usize; 3], [bool; 2]) = ($device, $sides, $turned);
        // OpenCL has no tensor cores: large tiles are the same code as small ones, unrolled further, for which PoCL takes seconds.
        if device.kind() != DeviceKind::OpenCl || m * n <= 64 * 32 {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 77));
            let of = |numbers: &[u8]| numbers.iter().map(|n| num::<$factor>(*n)).collect::<Vec<_>>();
            let (x, y) = (device.upload(&of(&a)).unwrap(), device.upload(&of(&b)).unwrap());
            let mut z = device.upload(&vec![num::<$sum>(99); m * n]).unwrap();
            let (rows, columns) = (if turned[0] { [k, m] } else { [m, k] }, if turned[1] { [n, k] } else { [k, n] });
            let launch = $kernel(
                device.matrix(&x, rows[0], rows[1]).unwrap(),
                device.matrix(&y, columns[0], columns[1]).unwrap(),
                device.matrix_mut(&mut z, m, n).unwrap(),
            );
            launch.grid(1).launch(device).unwrap();
            let whole: Vec<f64> = z.download().unwrap().into_iter().map(|n| n.into()).collect();
            let exact: Vec<f64> = product([m, n, k], [&a, &b], turned).into_iter().map(f64::from).collect();
            assert_eq!(whole, exact, "{}: {} {m} x {n} x {k}", device.name(), stringify!($kernel));
        }
    }};
}

/// A small number of a type.
fn num<T: Small>(n: u8) -> T {
    T::small(n)
}

trait Small {
    fn small(n: u8) -> Self;
}

macro_rules! small {
    ($($ty:ty: |$n:ident| $value:expr;)*) => {$(
        impl Small for $ty {
            fn small($n: u8) -> $ty {
                $value
            }
        }
    )*};
}

small! {
    e4m3: |n| e4m3::from_f32(n.into());
    e5m2: |n| e5m2::from_f32(n.into());
    bf16: |n| bf16::from_f32(n.into());
    f16: |n| f16::from_f32(n.into());
    f32: |n| n.into();
    f64: |n| n.into();
    i8: |n| n as i8;
    u8: |n| n;
    i32: |n| n.into();
}

#[kernel(block = 128)]
fn nn<S: Element, T: Num + SumOf<S>, const M: usize, const N: usize, const K: usize>(a: &Matrix<S>, b: &Matrix<S>, c: &mut Matrix<T>) {
    #[shared]
    let mut a_tile: [[S; K]; M];
    #[shared]
    let mut b_tile: [[S; N]; K];
    load_tile(&mut a_tile, a, 0, 0);
    load_tile(&mut b_tile, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<T, M, N>::zero();
    multiply_add(&a_tile, &b_tile, &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[kernel(block = 128)]
fn swizzled_nn<S: Element, T: Num + SumOf<S>, const M: usize, const N: usize, const K: usize>(
    a: &Matrix<S>,
    b: &Matrix<S>,
    c: &mut Matrix<T>,
) {
    #[shared(swizzle = 128)]
    let mut a_tile: [[S; K]; M];
    #[shared(swizzle = 128)]
    let mut b_tile: [[S; N]; K];
    load_tile(&mut a_tile, a, 0, 0);
    load_tile(&mut b_tile, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<T, M, N>::zero();
    multiply_add(&a_tile, &b_tile, &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[kernel(block = 128)]
fn nt<S: Element, T: Num + SumOf<S>, const M: usize, const N: usize, const K: usize>(a: &Matrix<S>, b: &Matrix<S>, c: &mut Matrix<T>) {
    #[shared]
    let mut a_tile: [[S; K]; M];
    #[shared]
    let mut b_tile: [[S; K]; N];
    load_tile(&mut a_tile, a, 0, 0);
    load_tile(&mut b_tile, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<T, M, N>::zero();
    multiply_add(&a_tile, transposed(&b_tile), &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[kernel(block = 128)]
fn swizzled_nt<S: Element, T: Num + SumOf<S>, const M: usize, const N: usize, const K: usize>(
    a: &Matrix<S>,
    b: &Matrix<S>,
    c: &mut Matrix<T>,
) {
    #[shared(swizzle = 128)]
    let mut a_tile: [[S; K]; M];
    #[shared(swizzle = 128)]
    let mut b_tile: [[S; K]; N];
    load_tile(&mut a_tile, a, 0, 0);
    load_tile(&mut b_tile, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<T, M, N>::zero();
    multiply_add(&a_tile, transposed(&b_tile), &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[kernel(block = 128)]
fn tn<S: Element, T: Num + SumOf<S>, const M: usize, const N: usize, const K: usize>(a: &Matrix<S>, b: &Matrix<S>, c: &mut Matrix<T>) {
    #[shared]
    let mut a_tile: [[S; M]; K];
    #[shared]
    let mut b_tile: [[S; N]; K];
    load_tile(&mut a_tile, a, 0, 0);
    load_tile(&mut b_tile, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<T, M, N>::zero();
    multiply_add(transposed(&a_tile), &b_tile, &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[kernel(block = 128)]
fn swizzled_tn<S: Element, T: Num + SumOf<S>, const M: usize, const N: usize, const K: usize>(
    a: &Matrix<S>,
    b: &Matrix<S>,
    c: &mut Matrix<T>,
) {
    #[shared(swizzle = 128)]
    let mut a_tile: [[S; M]; K];
    #[shared(swizzle = 128)]
    let mut b_tile: [[S; N]; K];
    load_tile(&mut a_tile, a, 0, 0);
    load_tile(&mut b_tile, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<T, M, N>::zero();
    multiply_add(transposed(&a_tile), &b_tile, &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[kernel(block = 128)]
fn tt<S: Element, T: Num + SumOf<S>, const M: usize, const N: usize, const K: usize>(a: &Matrix<S>, b: &Matrix<S>, c: &mut Matrix<T>) {
    #[shared]
    let mut a_tile: [[S; M]; K];
    #[shared]
    let mut b_tile: [[S; K]; N];
    load_tile(&mut a_tile, a, 0, 0);
    load_tile(&mut b_tile, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<T, M, N>::zero();
    multiply_add(transposed(&a_tile), transposed(&b_tile), &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[kernel(block = 128)]
fn swizzled_tt<S: Element, T: Num + SumOf<S>, const M: usize, const N: usize, const K: usize>(
    a: &Matrix<S>,
    b: &Matrix<S>,
    c: &mut Matrix<T>,
) {
    #[shared(swizzle = 128)]
    let mut a_tile: [[S; M]; K];
    #[shared(swizzle = 128)]
    let mut b_tile: [[S; K]; N];
    load_tile(&mut a_tile, a, 0, 0);
    load_tile(&mut b_tile, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<T, M, N>::zero();
    multiply_add(transposed(&a_tile), transposed(&b_tile), &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[kernel(block = 128, tensor = tf32)]
fn tf32_nt<const M: usize, const N: usize, const K: usize>(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut a_tile: [[f32; K]; M];
    #[shared]
    let mut b_tile: [[f32; K]; N];
    load_tile(&mut a_tile, a, 0, 0);
    load_tile(&mut b_tile, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, M, N>::zero();
    multiply_add(&a_tile, transposed(&b_tile), &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[kernel(block = 128, tensor = tf32)]
fn swizzled_tf32_nt<const M: usize, const N: usize, const K: usize>(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 128)]
    let mut a_tile: [[f32; K]; M];
    #[shared(swizzle = 128)]
    let mut b_tile: [[f32; K]; N];
    load_tile(&mut a_tile, a, 0, 0);
    load_tile(&mut b_tile, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, M, N>::zero();
    multiply_add(&a_tile, transposed(&b_tile), &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[kernel(block = 128, tensor = if TENSOR { tf32 } else { false })]
fn chosen_nt<const TENSOR: bool, const M: usize, const N: usize, const K: usize>(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 128)]
    let mut a_tile: [[f32; K]; M];
    #[shared(swizzle = 128)]
    let mut b_tile: [[f32; K]; N];
    load_tile(&mut a_tile, a, 0, 0);
    load_tile(&mut b_tile, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, M, N>::zero();
    multiply_add(&a_tile, transposed(&b_tile), &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[kernel(block = 128, tensor = false)]
fn plain_bf16<const M: usize, const N: usize, const K: usize>(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared]
    let mut a_tile: [[bf16; K]; M];
    #[shared]
    let mut b_tile: [[bf16; N]; K];
    load_tile(&mut a_tile, a, 0, 0);
    load_tile(&mut b_tile, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, M, N>::zero();
    multiply_add(&a_tile, &b_tile, &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[test]
fn products_of_every_kind_are_those_of_rust() {
    on_all("products", |device| {
        agrees!(device, nn::<bf16, f32, 32, 32, 16>, (bf16, f32), [32, 32, 16], [false, false]);
        agrees!(device, nn::<bf16, f32, 64, 32, 48>, (bf16, f32), [64, 32, 48], [false, false]);
        agrees!(device, swizzled_nn::<f16, f32, 64, 64, 64>, (f16, f32), [64, 64, 64], [false, false]);
        agrees!(device, swizzled_nn::<f16, f32, 64, 128, 128>, (f16, f32), [64, 128, 128], [false, false]);
        agrees!(device, nt::<bf16, f32, 32, 32, 16>, (bf16, f32), [32, 32, 16], [false, true]);
        agrees!(device, nt::<bf16, f32, 64, 32, 48>, (bf16, f32), [64, 32, 48], [false, true]);
        agrees!(device, swizzled_nt::<f16, f32, 64, 64, 64>, (f16, f32), [64, 64, 64], [false, true]);
        agrees!(device, swizzled_nt::<f16, f32, 64, 128, 128>, (f16, f32), [64, 128, 128], [false, true]);
        agrees!(device, tn::<bf16, f32, 32, 32, 16>, (bf16, f32), [32, 32, 16], [true, false]);
        agrees!(device, tn::<bf16, f32, 64, 32, 48>, (bf16, f32), [64, 32, 48], [true, false]);
        agrees!(device, swizzled_tn::<f16, f32, 64, 64, 64>, (f16, f32), [64, 64, 64], [true, false]);
        agrees!(device, swizzled_tn::<f16, f32, 64, 128, 128>, (f16, f32), [64, 128, 128], [true, false]);
        agrees!(device, tt::<bf16, f32, 32, 32, 16>, (bf16, f32), [32, 32, 16], [true, true]);
        agrees!(device, tt::<bf16, f32, 64, 32, 48>, (bf16, f32), [64, 32, 48], [true, true]);
        agrees!(device, swizzled_tt::<f16, f32, 64, 64, 64>, (f16, f32), [64, 64, 64], [true, true]);
        agrees!(device, swizzled_tt::<f16, f32, 64, 128, 128>, (f16, f32), [64, 128, 128], [true, true]);
        agrees!(device, nn::<f32, f32, 16, 8, 4>, (f32, f32), [16, 8, 4], [false, false]);
        agrees!(device, nn::<f32, f32, 8, 16, 3>, (f32, f32), [8, 16, 3], [false, false]);
        agrees!(device, nn::<f32, f32, 32, 64, 16>, (f32, f32), [32, 64, 16], [false, false]);
        agrees!(device, tf32_nt::<32, 32, 16>, (f32, f32), [32, 32, 16], [false, true]);
        agrees!(device, tf32_nt::<64, 32, 48>, (f32, f32), [64, 32, 48], [false, true]);
        agrees!(device, tf32_nt::<64, 128, 64>, (f32, f32), [64, 128, 64], [false, true]);
        agrees!(device, nn::<f64, f64, 32, 32, 16>, (f64, f64), [32, 32, 16], [false, false]);
        agrees!(device, nn::<f64, f64, 16, 24, 5>, (f64, f64), [16, 24, 5], [false, false]);
        agrees!(device, nn::<f64, f64, 64, 32, 8>, (f64, f64), [64, 32, 8], [false, false]);
        agrees!(device, nt::<f64, f64, 32, 32, 8>, (f64, f64), [32, 32, 8], [false, true]);
        agrees!(device, nt::<f64, f64, 64, 32, 24>, (f64, f64), [64, 32, 24], [false, true]);
        agrees!(device, tn::<f64, f64, 32, 64, 16>, (f64, f64), [32, 64, 16], [true, false]);
        agrees!(device, tt::<f64, f64, 48, 64, 40>, (f64, f64), [48, 64, 40], [true, true]);
        agrees!(device, swizzled_nt::<f64, f64, 64, 64, 16>, (f64, f64), [64, 64, 16], [false, true]);
        agrees!(device, swizzled_nt::<f64, f64, 32, 96, 48>, (f64, f64), [32, 96, 48], [false, true]);
        agrees!(device, nt::<i8, i32, 32, 32, 32>, (i8, i32), [32, 32, 32], [false, true]);
        agrees!(device, nt::<i8, i32, 64, 64, 96>, (i8, i32), [64, 64, 96], [false, true]);
        agrees!(device, nt::<u8, i32, 32, 32, 32>, (u8, i32), [32, 32, 32], [false, true]);
        agrees!(device, nt::<u8, i32, 64, 64, 96>, (u8, i32), [64, 64, 96], [false, true]);
        agrees!(device, nn::<i8, i32, 32, 32, 32>, (i8, i32), [32, 32, 32], [false, false]);
        agrees!(device, nn::<i8, i32, 64, 64, 96>, (i8, i32), [64, 64, 96], [false, false]);
        agrees!(device, nt::<e4m3, f32, 32, 32, 32>, (e4m3, f32), [32, 32, 32], [false, true]);
        agrees!(device, nt::<e4m3, f32, 64, 64, 96>, (e4m3, f32), [64, 64, 96], [false, true]);
        agrees!(device, nn::<e4m3, f32, 32, 32, 32>, (e4m3, f32), [32, 32, 32], [false, false]);
        agrees!(device, swizzled_nt::<e4m3, f32, 64, 32, 128>, (e4m3, f32), [64, 32, 128], [false, true]);
        agrees!(device, swizzled_nt::<e4m3, f32, 128, 80, 256>, (e4m3, f32), [128, 80, 256], [false, true]);
        agrees!(device, nt::<e5m2, f32, 32, 32, 32>, (e5m2, f32), [32, 32, 32], [false, true]);
        agrees!(device, nt::<e5m2, f32, 64, 64, 96>, (e5m2, f32), [64, 64, 96], [false, true]);
        agrees!(device, nn::<e5m2, f32, 32, 32, 32>, (e5m2, f32), [32, 32, 32], [false, false]);
        agrees!(device, swizzled_nt::<e5m2, f32, 64, 32, 128>, (e5m2, f32), [64, 32, 128], [false, true]);
        agrees!(device, swizzled_nt::<e5m2, f32, 128, 80, 256>, (e5m2, f32), [128, 80, 256], [false, true]);
        agrees!(device, swizzled_tf32_nt::<64, 32, 32>, (f32, f32), [64, 32, 32], [false, true]);
        agrees!(device, swizzled_tf32_nt::<128, 64, 64>, (f32, f32), [128, 64, 64], [false, true]);
        agrees!(device, swizzled_nt::<i8, i32, 64, 32, 128>, (i8, i32), [64, 32, 128], [false, true]);
        agrees!(device, swizzled_nt::<i8, i32, 128, 80, 256>, (i8, i32), [128, 80, 256], [false, true]);
        agrees!(device, swizzled_nt::<u8, i32, 64, 48, 128>, (u8, i32), [64, 48, 128], [false, true]);
        agrees!(device, chosen_nt::<true, 64, 32, 32>, (f32, f32), [64, 32, 32], [false, true]);
        agrees!(device, chosen_nt::<false, 64, 32, 32>, (f32, f32), [64, 32, 32], [false, true]);
        agrees!(device, plain_bf16::<16, 8, 4>, (bf16, f32), [16, 8, 4], [false, false]);
        agrees!(device, plain_bf16::<8, 16, 3>, (bf16, f32), [8, 16, 3], [false, false]);
        agrees!(device, plain_bf16::<32, 64, 16>, (bf16, f32), [32, 64, 16], [false, false]);
    });
}

/// Zeros by negative numbers: −0 each, and +0 together with the zero that a sum begins with, whoever adds it.
#[test]
fn sums_of_nothing_have_no_sign() {
    on_all("sums of zeros", |device| {
        let x = device.upload(&vec![bf16::from_f32(0.0); 64 * 64]).unwrap();
        let y = device.upload(&vec![bf16::from_f32(-1.0); 16 * 64]).unwrap();
        let mut z = device.upload(&vec![9.0f32; 64 * 16]).unwrap();
        let (a, b) = (device.matrix(&x, 64, 64).unwrap(), device.matrix(&y, 16, 64).unwrap());
        swizzled_nt::<bf16, f32, 64, 16, 64>(a, b, device.matrix_mut(&mut z, 64, 16).unwrap()).grid(1).launch(device).unwrap();
        assert!(z.download().unwrap().iter().all(|sum| sum.to_bits() == 0), "{device}");
    });
}

/// A sum whose loop passes over its first steps, or ends before the last: nothing but products begins it.
#[kernel(block = 128)]
fn some_of<const ENDS: bool>(from: usize, to: usize, a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 64)]
    let mut a_tile: [[bf16; 32]; 64];
    #[shared(swizzle = 64)]
    let mut b_tile: [[bf16; 32]; 16];
    let mut sums = Accumulator::<f32, 64, 16>::zero();
    for step in 0..a.columns() / 32 {
        if ENDS {
            if step == to {
                break;
            }
        } else if step < from {
            continue;
        }
        load_tile(&mut a_tile, a, 0, step * 32);
        load_tile(&mut b_tile, b, 0, step * 32);
        sync_threads();
        multiply_add(&a_tile, transposed(&b_tile), &mut sums);
        sync_threads();
    }
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        c[(row, column)] = sums[e];
    }
}

#[test]
fn steps_that_are_passed_over_leave_nothing() {
    on_all("some of a product", |device| {
        let (m, n, k) = (64, 16, 96);
        let (a, b) = (numbers(m * k, 1), numbers(n * k, 77));
        let of = |numbers: &[u8]| numbers.iter().map(|n| num::<bf16>(*n)).collect::<Vec<_>>();
        let (x, y) = (device.upload(&of(&a)).unwrap(), device.upload(&of(&b)).unwrap());
        for at in 0..=3 {
            for ends in [false, true] {
                let mut z = device.upload(&vec![9.0f32; m * n]).unwrap();
                let (x, y) = (device.matrix(&x, m, k).unwrap(), device.matrix(&y, n, k).unwrap());
                let result = device.matrix_mut(&mut z, m, n).unwrap();
                let launch = if ends { some_of::<true>(0, at, x, y, result) } else { some_of::<false>(at, 3, x, y, result) };
                launch.grid(1).launch(device).unwrap();
                let steps = if ends { 0..32 * at } else { 32 * at..k };
                let product = |i: usize, step: usize| u32::from(a[i / n * k + step]) * u32::from(b[i % n * k + step]);
                let expected: Vec<f32> = (0..m * n).map(|i| steps.clone().map(|step| product(i, step)).sum::<u32>() as f32).collect();
                assert_eq!(z.download().unwrap(), expected, "{at}, {ends}, {device}");
            }
        }
    });
}

/// The same by executed PTX, which has products of warpgroups.
#[test]
fn on_the_ptx_interpreter() {
    executed("products", &["steps_that_are_passed_over_leave_nothing", "sums_of_nothing_have_no_sign"], "9.0");
}

/// c = a · bᵀ of any size, a tile of the result for each block, factors copied ahead.
#[kernel(block = 256)]
fn gemm<const BM: usize, const BN: usize, const STAGES: usize>(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 128)]
    let mut a_tile: [[bf16; 64]; BM];
    #[shared(swizzle = 128)]
    let mut b_tile: [[bf16; 64]; BN];
    let (row, column) = (block_idx().y * BM, block_idx().x * BN);
    let mut sums = Accumulator::<f32, BM, BN>::zero();
    #[pipeline(stages = STAGES)]
    for tile in 0..a.columns().div_ceil(64) {
        load_tile(&mut a_tile, a, row, tile * 64);
        load_tile(&mut b_tile, b, column, tile * 64);
        sync_threads();
        multiply_add(&a_tile, transposed(&b_tile), &mut sums);
        sync_threads();
    }
    #[unroll]
    for e in 0..sums.len() {
        let (r, k) = sums.position(e);
        c[(row + r, column + k)] = sums[e];
    }
}

/// The same where the copy engine copies.
#[kernel(block = 256, targets = [sm_90])]
fn gemm_by_engine<const BM: usize, const BN: usize, const STAGES: usize>(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 128)]
    let mut a_tile: [[bf16; 64]; BM];
    #[shared(swizzle = 128)]
    let mut b_tile: [[bf16; 64]; BN];
    let (row, column) = (block_idx().y * BM, block_idx().x * BN);
    let mut sums = Accumulator::<f32, BM, BN>::zero();
    #[pipeline(stages = STAGES, by = tma)]
    for tile in 0..a.columns().div_ceil(64) {
        load_tile(&mut a_tile, a, row, tile * 64);
        load_tile(&mut b_tile, b, column, tile * 64);
        sync_threads();
        multiply_add(&a_tile, transposed(&b_tile), &mut sums);
        sync_threads();
    }
    #[unroll]
    for e in 0..sums.len() {
        let (r, k) = sums.position(e);
        c[(row + r, column + k)] = sums[e];
    }
}

/// Any two matrices by one of these.
macro_rules! gemm_agrees {
    ($device:expr, $kernel:ident, [$bm:literal, $bn:literal], $stages:literal, $sides:expr) => {{
        let (device, [m, n, k]): (&Device, [usize; 3]) = ($device, $sides);
        let needed = ($bm + $bn) * 64 * 2 * $stages;
        if device.properties().shared_bytes_per_block < needed {
            return println!(
                "skipped: {} of {} stages on {} ({needed} bytes of shared memory)",
                stringify!($kernel),
                $stages,
                device.name()
            );
        }
        let (a, b) = (numbers(m * k, 1), numbers(k * n, 77));
        // Tensor copies need rows at multiples of 16 bytes.
        let pitch = k.next_multiple_of(8);
        let padded = |numbers: &[u8]| {
            numbers.chunks(k).flat_map(|row| row.iter().map(|n| num::<bf16>(*n)).chain(vec![num(7); pitch - k])).collect::<Vec<bf16>>()
        };
        let (x, y) = (device.upload(&padded(&a)).unwrap(), device.upload(&padded(&b)).unwrap());
        let mut z = device.upload(&vec![-1.0f32; m * n]).unwrap();
        let launch = $kernel::<$bm, $bn, $stages>(
            device.matrix(&x, m, k).unwrap().pitch(pitch).unwrap(),
            device.matrix(&y, n, k).unwrap().pitch(pitch).unwrap(),
            device.matrix_mut(&mut z, m, n).unwrap(),
        );
        launch.grid((n.div_ceil($bn), m.div_ceil($bm))).launch(device).unwrap();
        let expected: Vec<f32> = product([m, n, k], [&a, &b], [false, true]).into_iter().map(|n| n as f32).collect();
        assert_eq!(z.download().unwrap(), expected, "{}: {} {m} x {n} x {k}, {} stages", device.name(), stringify!($kernel), $stages);
    }};
}

#[test]
fn tiles_that_come_ahead_are_multiplied() {
    on_all("gemm", |device| {
        gemm_agrees!(device, gemm, [128, 64], 2, [128, 64, 64]);
        gemm_agrees!(device, gemm, [128, 64], 3, [130, 60, 200]);
        gemm_agrees!(device, gemm, [128, 64], 2, [1, 1, 1]);
    });
}

#[test]
fn tiles_of_the_copy_engine_are_multiplied() {
    on_all("gemm by the engine", |device| {
        if device.properties().compute_capability.is_some_and(|capability| capability < (9, 0)) {
            return;
        }
        gemm_agrees!(device, gemm_by_engine, [128, 64], 2, [128, 64, 64]);
        gemm_agrees!(device, gemm_by_engine, [128, 64], 3, [130, 60, 200]);
        gemm_agrees!(device, gemm_by_engine, [128, 64], 2, [1, 1, 1]);
        gemm_agrees!(device, gemm_by_engine, [128, 64], 4, [128, 64, 330]);
    });
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    let source = kernel_of(include_str!("products.rs"), kernel).replace(", targets = [sm_90]", "");
    ptx(&source, kernel, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn each_target_has_its_instruction() {
    let sides = ["128", "128", "2"];
    let count = |text: &str, word: &str| text.matches(word).count();
    for (target, fma, mma, wgmma) in [
        ("sm_70", true, false, false),
        ("sm_80", false, true, false),
        ("sm_90", false, true, false),
        ("sm_90a", false, false, true),
        ("sm_120", false, true, false),
    ] {
        let text = text("gemm", &sides, target);
        let found = [count(&text, "fma.rn.f32") > 0, count(&text, "mma.sync.aligned.m16n8k16") > 0, count(&text, "wgmma.mma_async") > 0];
        assert_eq!(found, [fma, mma, wgmma], "{target}");
    }
    for (types, word) in [
        (&["f16", "f32"][..], "m64n64k16.f32.f16.f16"),
        (&["e4m3", "f32"], "m64n64k32.f32.e4m3.e4m3"),
        (&["e5m2", "f32"], "m64n64k32.f32.e5m2.e5m2"),
        (&["i8", "i32"], "m64n64k32.s32.s8.s8"),
        (&["u8", "i32"], "m64n64k32.s32.u8.u8"),
        (&[], "m64n64k8.f32.tf32.tf32"),
    ] {
        let kernel = if types.is_empty() { "swizzled_tf32_nt" } else { "swizzled_nt" };
        let text = text(kernel, &[types, &["64", "64", "128"]].concat(), "sm_90a");
        let word = format!("wgmma.mma_async.sync.aligned.{word}");
        assert!(text.contains(&word) && !text.contains("mma.sync"), "{word}: {text}");
    }
    // The first tensor cores have half of it along K, or a quarter, and nothing of `bf16`.
    for (generics, target, word, times) in [
        (["f16", "f32", "32", "32", "32"], "sm_70", "mma.sync", 0),
        (["f16", "f32", "32", "32", "32"], "sm_75", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 2 * 4),
        (["f16", "f32", "32", "32", "32"], "sm_80", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4),
        (["i8", "i32", "32", "32", "64"], "sm_75", "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 4 * 4),
        (["u8", "i32", "32", "32", "64"], "sm_75", "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32", 4 * 4),
        (["u8", "i32", "32", "32", "64"], "sm_80", "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", 4),
        (["bf16", "f32", "32", "32", "32"], "sm_75", "mma.sync", 0),
    ] {
        let text = text("nt", &generics, target);
        assert_eq!(count(&text, word), times, "{generics:?} for {target}: {text}");
    }
    for (target, word) in [
        ("sm_70", "fma.rn.f32"),
        ("sm_80", "fma.rn.f32"),
        ("sm_89", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"),
        ("sm_90", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"),
        ("sm_120", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"),
    ] {
        let text = text("nt", &["e4m3", "f32", "32", "32", "32"], target);
        assert!(text.contains(word) && text.contains("fma.rn.f32") == (word == "fma.rn.f32"), "{target}: {text}");
    }
    for (target, word, times) in [
        ("sm_70", "fma.rn.f64", 32 * 4),
        ("sm_80", "mma.sync.aligned.m8n8k4.row.col.f64", 2 * 2 * 4 * 4),
        ("sm_90a", "mma.sync.aligned.m16n8k8.row.col.f64", 2 * 4 * 2),
    ] {
        let text = text("swizzled_nt", &["f64", "f64", "64", "64", "16"], target);
        assert_eq!(count(&text, word), times, "{target}: {text}");
    }
    for (chosen, target, word) in [
        ("true", "sm_90a", "wgmma.mma_async"),
        ("true", "sm_80", "mma.sync"),
        ("false", "sm_90a", "fma.rn.f32"),
        ("false", "sm_80", "fma.rn.f32"),
    ] {
        let text = text("chosen_nt", &[chosen, "64", "32", "32"], target);
        assert!(text.contains(word) && text.contains("fma.rn.f32") == (word == "fma.rn.f32"), "{chosen} on {target}: {text}");
    }
    let engine = text("gemm_by_engine", &sides, "sm_90a");
    let words = ["wgmma.mma_async", "wgmma.fence", "wgmma.wait_group.sync.aligned 1", "wgmma.wait_group.sync.aligned 0"];
    assert_eq!(words.map(|word| count(&engine, word)), [4, 1, 1, 1]);
    // While a product runs, its threads meet and the engine is told to fill the slot of the one before.
    let [product, waited, met] = ["wgmma.mma_async", "wgmma.wait_group.sync.aligned 1", "bar.sync"].map(|word| engine.rfind(word).unwrap());
    let last_copy = engine.rfind("cp.async.bulk.tensor").unwrap();
    assert!(product < waited && waited < last_copy && waited < met, "{engine}");
}

#[test]
fn assemblers_take_products() {
    let test = "assemblers_take_products";
    let Some(assemblers) = ptxas::found_or_skip(test) else { return };
    let counts = Counts::default();
    for (kernel, generics, targets) in [
        ("gemm", &["128", "128", "2"][..], &[("sm_70", 70), ("sm_80", 80), ("sm_90", 90), ("sm_90a", 90), ("sm_120", 120)][..]),
        ("gemm_by_engine", &["128", "128", "4"], &[("sm_90", 90), ("sm_90a", 90)]),
        (
            "swizzled_nt",
            &["f64", "f64", "64", "64", "16"],
            &[("sm_80", 80), ("sm_86", 86), ("sm_90", 90), ("sm_90a", 90), ("sm_100", 100), ("sm_120", 120)],
        ),
        ("tt", &["f64", "f64", "64", "64", "24"], &[("sm_80", 80), ("sm_90a", 90)]),
        ("swizzled_nn", &["f16", "f32", "64", "128", "64"], &[("sm_75", 75), ("sm_80", 80), ("sm_90a", 90)]),
        ("swizzled_tn", &["f16", "f32", "64", "128", "64"], &[("sm_80", 80), ("sm_90a", 90)]),
        ("tf32_nt", &["64", "64", "32"], &[("sm_80", 80), ("sm_90a", 90)]),
        ("swizzled_tf32_nt", &["64", "64", "64"], &[("sm_80", 80), ("sm_90a", 90)]),
        ("swizzled_nt", &["i8", "i32", "64", "48", "256"], &[("sm_80", 80), ("sm_90a", 90)]),
        ("swizzled_nt", &["u8", "i32", "64", "256", "128"], &[("sm_80", 80), ("sm_90a", 90)]),
        (
            "swizzled_nt",
            &["e4m3", "f32", "64", "256", "128"],
            &[("sm_75", 75), ("sm_80", 80), ("sm_89", 89), ("sm_90", 90), ("sm_90a", 90), ("sm_120", 120)],
        ),
        ("nt", &["e5m2", "f32", "64", "64", "64"], &[("sm_80", 80), ("sm_89", 89), ("sm_90a", 90)]),
        ("nt", &["i8", "i32", "64", "64", "64"], &[("sm_75", 75), ("sm_80", 80), ("sm_90a", 90)]),
        ("nt", &["u8", "i32", "64", "64", "64"], &[("sm_75", 75), ("sm_80", 80)]),
    ] {
        for (target, capability) in targets {
            let text = text(kernel, generics, target);
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, kernel, *capability));
        }
    }
    counts.report(test);
}
