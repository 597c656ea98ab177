//! Matrices in buffers and what a block's threads copy of them together, `load_tile` and `store_tile`: against Rust, on the simulator, on the host twin
//! and on what other devices there are, alone and in pipelined loops.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::prelude::*;

/// Runs on every device there is: the first two are always there.
fn on_all(name: &str, run: impl Fn(&Device)) {
    let devices: Vec<Device> = [Device::host(), Device::simulator()].into_iter().chain(Device::all()).collect();
    for device in &devices {
        run(device);
    }
    println!("ran: {name} ({} devices)", devices.len());
}

/// Copies a matrix, a tile for each block.
#[kernel(block = (32, 4))]
fn copied(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 32];
    let (row, column) = (block_idx().y * 32, block_idx().x * 32);
    load_tile(&mut tile, a, row, column);
    sync_threads();
    store_tile(c, row, column, &tile);
}

#[test]
fn a_matrix_is_copied_by_tiles() {
    on_all("copied", |device| {
        let (rows, columns) = (70, 45);
        let x: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
        let (from, mut to) = (device.upload(&x).unwrap(), device.zeros::<f32>(rows * columns).unwrap());
        let a = device.matrix(&from, rows, columns).unwrap();
        let c = device.matrix_mut(&mut to, rows, columns).unwrap();
        copied(a, c).grid((2, 3)).launch(device).unwrap();
        assert_eq!(to.download().unwrap(), x);
    });
}
