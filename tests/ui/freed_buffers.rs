//! A launch borrows the buffers of its matrices: no map of one outlives it, nor is what it reads written meanwhile.
use warpwright::prelude::*;

#[kernel(block = 64)]
fn doubled(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    let (row, column) = (block_idx().x, thread_idx().x);
    c[(row, column)] = a[(row, column)] * 2.0;
}

fn freed(device: &Device, c: &mut Buffer<f32>) -> warpwright::Result<()> {
    let buffer = device.zeros::<f32>(64)?;
    let a = device.matrix(&buffer, 1, 64)?;
    drop(buffer);
    doubled(a, device.matrix_mut(c, 1, 64)?).grid(1).launch(device)
}

fn written(device: &Device, buffer: &mut Buffer<f32>, c: &mut Buffer<f32>) -> warpwright::Result<()> {
    let a = device.matrix(buffer, 1, 64)?;
    buffer.write(&[1.0; 64])?;
    doubled(a, device.matrix_mut(c, 1, 64)?).grid(1).launch(device)
}

fn read_and_written(device: &Device, buffer: &mut Buffer<f32>) -> warpwright::Result<()> {
    let a = device.matrix(buffer, 1, 64)?;
    doubled(a, device.matrix_mut(buffer, 1, 64)?).grid(1).launch(device)
}

fn main() {}
