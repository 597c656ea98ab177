//! What `with_buffers` lends is lent to its closure alone: no buffer, launch or stream of it leaves, and borrows of slices are those of Rust.
use cudarc::driver::{CudaSlice, CudaStream, CudaView};
use std::sync::Arc;
use warpwright::cudarc::with_buffers;
use warpwright::prelude::*;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[kernel(block = 64)]
fn doubled(x: &Global<f32>, y: &mut Global<f32>) {
    y[thread_idx().x] = x[thread_idx().x] * 2.0;
}

fn kept(x: &CudaSlice<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    let mut kept = None;
    with_buffers(x, stream, |x, _| {
        kept = Some(x);
        Ok(())
    })
}

fn kept_mutably(y: &mut CudaSlice<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    let mut kept = None;
    with_buffers(y, stream, |y, _| {
        kept = Some(y);
        Ok(())
    })
}

fn kept_stream(x: &CudaSlice<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    let mut kept = None;
    with_buffers(x, stream, |_, stream| {
        kept = Some(stream);
        Ok(())
    })
}

fn launched_later(x: &CudaSlice<f32>, y: &mut CudaSlice<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    let mut later = None;
    with_buffers((x, y), stream, |(x, y), _| {
        later = Some(doubled(x, y).grid(1));
        Ok::<(), warpwright::Error>(())
    })?;
    Ok(())
}

fn written_twice(y: &mut CudaSlice<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    with_buffers((&mut *y, &mut *y), stream, |_, _| Ok(()))
}

fn read_and_written(y: &mut CudaSlice<f32>, stream: &Arc<CudaStream>) -> warpwright::Result<()> {
    with_buffers((&*y, &mut *y), stream, |(x, y), stream| doubled(x, y).grid(1).launch_on(stream))
}

fn used_while_lent(mut y: CudaSlice<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    with_buffers(&mut y, stream, |_, _| Ok(stream.memset_zeros(&mut y)?))
}

fn dropped_while_lent(y: CudaSlice<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    with_buffers(&y, stream, |_, _| {
        drop(y);
        Ok(())
    })
}

fn view_of_a_moved_slice(x: CudaSlice<f32>, y: &mut CudaSlice<f32>, stream: &Arc<CudaStream>) -> warpwright::Result<()> {
    let part = x.slice(0..64);
    let moved = x;
    with_buffers((&part, y), stream, |(x, y), stream| doubled(x, y).grid(1).launch_on(stream))?;
    drop(moved);
    Ok(())
}

fn written_through_a_shared_slice(x: &CudaSlice<f32>, y: &CudaSlice<f32>, stream: &Arc<CudaStream>) -> warpwright::Result<()> {
    with_buffers((x, y), stream, |(x, y), stream| doubled(x, y).grid(1).launch_on(stream))
}

fn written_through_a_view(x: &CudaSlice<f32>, mut y: CudaView<'_, f32>, stream: &Arc<CudaStream>) -> warpwright::Result<()> {
    with_buffers((x, &mut y), stream, |(x, y), stream| doubled(x, y).grid(1).launch_on(stream))
}

fn given_away(x: CudaSlice<f32>, stream: &Arc<CudaStream>) -> Result<()> {
    with_buffers(x, stream, |_, _| Ok(()))
}

fn main() {}
