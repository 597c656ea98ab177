//! Launches that are refused before anything runs, and kernels that fault.

#![allow(unsafe_code, reason = "buffers that no machine has room for are given by an address")]

use warpwright::prelude::*;

/// Any block will do.
#[kernel]
pub fn counted(y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = i as u32;
    }
}

#[kernel(block = 64)]
pub fn reversed(y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut buf: [f32];
    let t = thread_idx().x;
    if t < buf.len() {
        buf[t] = y[t];
    }
    sync_threads();
    if t < buf.len() {
        y[t] = buf[buf.len() - 1 - t];
    }
}

#[kernel(block = 64)]
pub fn scaled(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = a * x[i];
}

#[kernel(block = B)]
pub fn filled<const B: usize>(y: &mut Global<u32>) {
    y[global_id().x] = 1;
}

#[kernel(block = 64)]
pub fn places(y: &mut Global<usize>) {
    let i = global_id().x;
    y[i] = i;
}

#[kernel(block = 64)]
pub fn looked_up(from: usize, y: &mut Global<u32>) {
    y[0] = from as u32;
}

#[kernel(block = 32, cluster = 2, targets = [sm_90])]
pub fn paired(y: &mut Global<u32>) {
    y[global_id().x] = cluster_rank() as u32;
}

#[kernel(block = 64, targets = [sm_90])]
pub fn summed(m: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 4];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = tma)]
    for i in 0..m.rows() / 4 {
        load_tile(&mut tile, m, i * 4, 0);
        sync_threads();
        sum += tile[t / 16][t % 16];
        sync_threads();
    }
    y[t] = sum;
}

/// 4 KiB are fixed; there may be more.
#[kernel(block = 64)]
pub fn kept(y: &mut Global<f32>) {
    #[shared]
    let mut own: [f32; 1024];
    #[shared(dynamic)]
    let mut buf: [f32];
    let t = thread_idx().x;
    own[t] = y[t];
    if t < buf.len() {
        buf[t] = y[t];
    }
    sync_threads();
    if t < buf.len() {
        y[t] = own[63 - t] + buf[0];
    }
}

#[kernel(block = 1024, ilp = 4)]
pub fn counted_by_four(y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = i as u32;
    }
}

#[kernel(block = 64, index = 64, persistent)]
pub fn counted_by_few(y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = i as u32;
    }
}

#[kernel(block = 64)]
pub fn weighed<const N: usize>(weights: [f32; N], y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] *= weights[i % N];
}

#[kernel(block = 64)]
pub fn lengths(y: &mut Global<(u8, u32, u8)>) {
    y[global_id().x].1 = 1;
}

/// Holds a number that has 64 bits on the host.
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Span {
    from: usize,
    to: usize,
}

#[kernel(block = 64)]
fn spans(y: &mut Global<Span>) {
    y[global_id().x].to += 1;
}

#[kernel(block = 64)]
fn spanned(span: Span, y: &mut Global<u32>) {
    y[0] = (span.to - span.from) as u32;
}

super::examples! {
    /// A launch without a grid
    fn no_grid(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).block(32).launch(device)
    }

    /// A launch without a block, of a kernel that fixes none
    fn no_block(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).cover(100).launch(device)
    }

    /// A launch with another block than the kernel's
    fn fixed_block(device) {
        let mut y = device.zeros::<f32>(64)?;
        reversed(&mut y).block(32).grid(1).shared_bytes(256).launch(device)
    }

    /// Nothing to cover
    fn nothing_to_cover(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).block(32).cover(0).launch(device)
    }

    /// A negative number of blocks
    fn negative_grid(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).block(32).grid(-1).launch(device)
    }

    /// More threads than a block can have
    fn too_many_threads(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).block(2048).cover(100).launch(device)
    }

    /// More threads along y than a block can have
    fn too_many_along_y(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).block((1, 2048)).grid(1).launch(device)
    }

    /// More threads along z than a block can have
    fn too_many_along_z(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).block((1, 1, 128)).grid(1).launch(device)
    }

    /// More threads in all than a block can have
    fn too_many_in_all(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).block((64, 32)).grid(1).launch(device)
    }

    /// A block of no threads
    fn empty_block(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).block(0).cover(100).launch(device)
    }

    /// More blocks along x than a grid can have
    fn too_many_blocks_along_x(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).block(1).grid(1usize << 31).launch(device)
    }

    /// More blocks along y than a grid can have
    fn too_many_blocks(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).block(32).grid((1, 100_000)).launch(device)
    }

    /// More blocks along z than a grid can have
    fn too_many_blocks_along_z(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).block(32).grid((1, 1, 100_000)).launch(device)
    }

    /// More blocks than a kernel that numbers them can have
    fn too_many_to_number(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted_by_few(&mut y).grid((1 << 30, 4)).launch(device)
    }

    /// More shared memory than a block can have, part of it fixed
    fn too_much_shared_in_all(device) {
        let mut y = device.zeros::<f32>(64)?;
        kept(&mut y).grid(1).shared_bytes(1 << 20).launch(device)
    }

    /// More bytes of parameters than a launch passes
    fn too_many_parameter_bytes(device) {
        let mut y = device.zeros::<f32>(64)?;
        weighed([1.0; 8192], &mut y).grid(1).launch(device)
    }

    /// More shared memory than a block can have
    fn too_much_shared(device) {
        let mut y = device.zeros::<f32>(64)?;
        reversed(&mut y).grid(1).shared_bytes(1 << 20).launch(device)
    }

    /// More threads than 32 bits count
    fn too_many_to_count(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted(&mut y).block(1024).grid(1 << 22).launch(device)
    }

    /// More elements than 32 bits count, several of them to each thread
    fn too_many_elements_to_count(device) {
        let mut y = device.zeros::<u32>(100)?;
        counted_by_four(&mut y).grid(1 << 20).launch(device)
    }

    /// A field that a 32-bit `usize` does not hold
    fn too_large_a_field(device) {
        let mut y = device.zeros::<u32>(64)?;
        spanned(Span { from: 0, to: 1 << 40 }, &mut y).grid(1).launch(device)
    }

    /// A buffer that is longer than 32 bits count
    fn too_long_a_buffer(device) {
        // SAFETY: nothing is read, since it is refused.
        let mut y = unsafe { Buffer::<u32>::from_raw_parts(device, 0x1000, 1 << 33, Box::new(())) }?;
        counted(&mut y).block(32).grid(1).launch(device)
    }

    /// A value that a 32-bit `usize` does not hold
    fn too_large_a_value(device) {
        let mut y = device.zeros::<u32>(64)?;
        looked_up(1 << 40, &mut y).grid(1).launch(device)
    }

    /// The length of dynamic shared memory is not given
    fn no_shared_bytes(device) {
        let mut y = device.zeros::<f32>(64)?;
        reversed(&mut y).grid(1).launch(device)
    }

    /// A negative length of shared memory
    fn negative_shared(device) {
        let mut y = device.zeros::<f32>(64)?;
        reversed(&mut y).grid(1).shared_bytes(-4).launch(device)
    }

    /// A grid that is no whole number of clusters
    fn half_a_cluster(device) {
        let mut y = device.zeros::<u32>(96)?;
        paired(&mut y).grid(3).launch(device)
    }

    /// A matrix whose rows tensor copies cannot take
    fn odd_rows(device) {
        let (x, mut y) = (device.zeros::<f32>(8 * 17)?, device.zeros::<f32>(64)?);
        summed(device.matrix(&x, 8, 17)?, &mut y).grid(1).launch(device)
    }

    /// A buffer of another device
    fn other_device(device) {
        let elsewhere = Device::host().upload(&[1.0f32; 64])?;
        let mut y = device.zeros::<f32>(64)?;
        scaled(2.0, &elsewhere, &mut y).cover(64).launch(device)
    }

    /// A buffer of elements that are wider on the host than on the device
    fn other_layout(device) {
        let mut y = device.zeros::<usize>(64)?;
        places(&mut y).cover(64).launch(device)
    }

    /// A buffer of structs that hold numbers which are wider on the host
    fn other_layout_of_fields(device) {
        let mut y = device.zeros::<Span>(64)?;
        spans(&mut y).cover(64).launch(device)
    }

    /// A buffer of tuples, which `rustc` lays out as it likes
    fn tuples(device) {
        let mut y = device.zeros::<(u8, u32, u8)>(64)?;
        lengths(&mut y).cover(64).launch(device)
    }

    /// An instance that does not compile
    fn does_not_compile(device) {
        let mut y = device.zeros::<u32>(4096)?;
        filled::<2048>(&mut y).grid(2).launch(device)
    }

    /// A target that there is not
    fn unknown_target(device) {
        let mut y = device.zeros::<u32>(64)?;
        filled::<64>(&mut y).ptx("sm_91").map(drop)
    }

    /// No runs to time
    fn no_runs(device) {
        let mut y = device.zeros::<u32>(64)?;
        filled::<64>(&mut y).grid(1).time(device, 0).map(drop)
    }

    /// An index out of bounds, on the simulator
    fn out_of_bounds(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(100)?);
        scaled(2.0, &x, &mut y).cover(100).launch(device)
    }

    /// The same, on the host twin
    fn out_of_bounds_on_the_host(device) {
        let host = Device::host();
        let (x, mut y) = (host.zeros::<f32>(64)?, host.zeros::<f32>(100)?);
        scaled(2.0, &x, &mut y).cover(100).launch(&host)?;
        device.synchronize()
    }
}
