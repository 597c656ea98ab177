//! Products of shared tiles: every kind of factor and sum, every way round, on every device there is, against Rust.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::prelude::*;
use warpwright_tests::devices::on_all;

/// Numbers whose products and sums are exact in every format here.
fn number(i: usize) -> i32 {
    (i * 7919 + 13) as i32 % 7 - 3
}

/// c = a · b for whole tiles: `A` and `B` say which factor is transposed.
#[kernel(block = 128)]
fn tile<const M: usize, const N: usize, const K: usize>(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
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

fn tile_agrees<const M: usize, const N: usize, const K: usize>(device: &Device) {
    let a: Vec<bf16> = (0..M * K).map(|i| bf16::from_f32(number(i) as f32)).collect();
    let b: Vec<bf16> = (0..K * N).map(|i| bf16::from_f32(number(i + 5) as f32)).collect();
    let (x, y) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
    let mut z = device.upload(&vec![-1.0f32; M * N]).unwrap();
    let launch =
        tile::<M, N, K>(device.matrix(&x, M, K).unwrap(), device.matrix(&y, K, N).unwrap(), device.matrix_mut(&mut z, M, N).unwrap());
    launch.grid(1).launch(device).unwrap();
    let found = z.download().unwrap();
    for row in 0..M {
        for column in 0..N {
            let sum: f32 = (0..K).map(|k| a[row * K + k].to_f32() * b[k * N + column].to_f32()).sum();
            assert_eq!(found[row * N + column], sum, "{}: {M} x {N} x {K} at {row}, {column}", device.name());
        }
    }
}

#[test]
fn products_of_tiles_are_those_of_rust() {
    on_all("products", |device| {
        tile_agrees::<32, 32, 16>(device);
        tile_agrees::<64, 32, 48>(device);
        tile_agrees::<64, 128, 64>(device);
        tile_agrees::<16, 8, 4>(device);
        tile_agrees::<8, 16, 3>(device);
    });
}
