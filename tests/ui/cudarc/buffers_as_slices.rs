//! What `with_slices` lends is lent to its closure alone: no view leaves it, and no kernel has the buffer meanwhile.
use cudarc::driver::{CudaStream, CudaViewMut};
use std::sync::Arc;
use warpwright::cudarc::with_slices;
use warpwright::prelude::*;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[kernel(block = 64)]
fn increased(y: &mut Global<f32>) {
    y[thread_idx().x] += 1.0;
}

fn kept(x: &Buffer<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    let mut kept = None;
    with_slices(x, stream, |x| {
        kept = Some(x);
        Ok(())
    })
}

fn kept_mutably(y: &mut Buffer<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    let mut kept = None;
    with_slices(y, stream, |y| {
        kept = Some(y);
        Ok(())
    })
}

fn written_twice(y: &mut Buffer<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    with_slices((&mut *y, &mut *y), stream, |_| Ok(()))
}

fn read_and_written(y: &mut Buffer<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    with_slices((&*y, &mut *y), stream, |(x, mut y)| Ok(stream.memcpy_dtod(&x, &mut y)?))
}

fn launched_while_lent(y: &mut Buffer<f32>, stream: &Arc<CudaStream>, own: &Stream) -> Result<()> {
    with_slices(&mut *y, stream, |_| Ok(increased(&mut *y).grid(1).launch_on(own)?))
}

fn moved_while_lent(y: Buffer<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    with_slices(&y, stream, |_| {
        let _moved = y;
        Ok(())
    })
}

fn written_through_a_shared_buffer(y: &Buffer<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    fn zeroed(_: &mut CudaViewMut<'_, f32>) -> Result<()> {
        Ok(())
    }
    with_slices(y, stream, |mut y| zeroed(&mut y))
}

fn given_away(y: Buffer<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    with_slices(y, stream, |_| Ok(()))
}

fn main() {}
