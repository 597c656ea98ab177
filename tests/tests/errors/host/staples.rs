//! What functions of the library of staples, `warpwright_kernels::staples`, refuse before they write anything.

#![allow(unsafe_code, reason = "buffers that no machine has room for are given by an address")]

use warpwright::prelude::*;
use warpwright_kernels::staples::attention::{Attention, attention};
use warpwright_kernels::staples::product::{Product, multiply};
use warpwright_kernels::staples::{Result, Workspace, norm, reduce, softmax, sort, transpose};

/// So many heads of so many rows and columns.
type Heads = (usize, usize, usize);

/// Attends with queries, keys, values and results of these shapes.
fn attend(device: &Device, about: &Attention, [q, k, v, o]: [Heads; 4]) -> Result<()> {
    let zeros = |(heads, rows, columns): Heads| device.zeros::<bf16>(heads * rows * columns);
    let (of_q, of_k, of_v, mut of_o) = (zeros(q)?, zeros(k)?, zeros(v)?, zeros(o)?);
    let batch = |buffer, (heads, rows, columns): Heads| device.matrix(buffer, rows, columns)?.batch(heads, rows * columns);
    let result = device.matrix_mut(&mut of_o, o.1, o.2)?.batch(o.0, o.1 * o.2)?;
    attention(&device.default_stream(), about, [batch(&of_q, q)?, batch(&of_k, k)?, batch(&of_v, v)?], result)
}

/// Makes `c` the products of `a` and `b`, all of so many matrices of so many rows and columns.
fn product(device: &Device, [a, b, c]: [Heads; 3]) -> Result<()> {
    let zeros = |(count, rows, columns): Heads| device.zeros::<f32>(count * rows * columns);
    let (of_a, of_b, mut of_c) = (zeros(a)?, zeros(b)?, zeros(c)?);
    let batch = |buffer, (count, rows, columns): Heads| device.matrix(buffer, rows, columns)?.batch(count, rows * columns);
    let result = device.matrix_mut(&mut of_c, c.1, c.2)?.batch(c.0, c.1 * c.2)?;
    multiply(&device.default_stream(), &Product::new(batch(&of_a, a)?, batch(&of_b, b)?), result, &mut Workspace::new(device)?)
}

super::examples! {
    warpwright_kernels::staples::Error, "staples::Error::";

    /// A result that has no room
    fn no_room(device) {
        let (x, mut out) = (device.zeros::<f32>(100)?, device.zeros::<f32>(0)?);
        reduce::sum(&device.default_stream(), &x, &mut out, &mut Workspace::new(device)?)
    }

    /// The least of nothing
    fn least_of_nothing(device) {
        let (x, mut out) = (device.zeros::<f32>(0)?, device.zeros::<f32>(1)?);
        reduce::min(&device.default_stream(), &x, &mut out, &mut Workspace::new(device)?)
    }

    /// A frozen workspace that is too small
    fn frozen(device) {
        let (x, mut out) = (device.zeros::<f32>(100)?, device.zeros::<f32>(1)?);
        let mut workspace = Workspace::new(device)?;
        workspace.freeze();
        reduce::sum(&device.default_stream(), &x, &mut out, &mut workspace)
    }

    /// A buffer of another device
    fn of_another_device(device) {
        let (x, mut out) = (Device::host().zeros::<f32>(100)?, device.zeros::<f32>(1)?);
        reduce::sum(&device.default_stream(), &x, &mut out, &mut Workspace::new(device)?)
    }

    /// More keys than are counted
    fn too_many_keys(device) {
        // SAFETY: nothing is read, since it is refused.
        let keys = unsafe { Buffer::<u32>::from_raw_parts(device, 0x1000, 1 << 30, Box::new(())) }?;
        sort::keys(&device.default_stream(), &keys, &mut device.zeros::<u32>(0)?, &mut Workspace::new(device)?)
    }

    /// More rows than can be counted
    fn too_many_rows(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        softmax::softmax(&device.default_stream(), (1 << 40, 64), &x, &mut y)
    }

    /// A matrix to transpose that has more elements than can be counted
    fn too_many_to_transpose(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        transpose::transpose(&device.default_stream(), (usize::MAX, 2), &x, &mut y)
    }

    /// A number that cannot be added to a mean of squares
    fn negative_epsilon(device) {
        let (x, w, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        norm::rms_norm(&device.default_stream(), (1, 64), -1e-5, &x, &w, &mut y)
    }

    /// Memory that a device does not have
    fn no_memory(device) {
        device.zeros::<f64>(1 << 53)?;
        Ok(())
    }

    /// Factors that do not fit each other
    fn inner_extents(device) {
        product(device, [(1, 8, 16), (1, 8, 16), (1, 8, 16)])
    }

    /// A product of other extents
    fn outer_extents(device) {
        product(device, [(1, 8, 16), (1, 16, 8), (1, 8, 16)])
    }

    /// Fewer factors than products
    fn other_batch(device) {
        product(device, [(1, 8, 16), (2, 16, 8), (2, 8, 8)])
    }

    /// More products than a launch makes
    fn too_many_products(device) {
        product(device, [(1 << 16, 1, 1), (1 << 16, 1, 1), (1 << 16, 1, 1)])
    }

    /// Heads of a size that there is no kernel for
    fn size_of_heads(device) {
        attend(device, &Attention::default(), [(2, 3, 32); 4])
    }

    /// Keys of another size than the queries
    fn size_of_keys(device) {
        attend(device, &Attention::default(), [(2, 3, 64), (2, 3, 32), (2, 3, 64), (2, 3, 64)])
    }

    /// Fewer values than keys
    fn fewer_values(device) {
        attend(device, &Attention::default(), [(2, 3, 64), (2, 3, 64), (2, 2, 64), (2, 3, 64)])
    }

    /// Fewer results than queries
    fn fewer_results(device) {
        attend(device, &Attention::default(), [(2, 3, 64), (2, 3, 64), (2, 3, 64), (1, 3, 64)])
    }

    /// Heads of keys that do not divide those of queries
    fn odd_heads(device) {
        attend(device, &Attention::default(), [(2, 3, 64), (3, 3, 64), (3, 3, 64), (2, 3, 64)])
    }

    /// More heads than a launch takes
    fn too_many_heads(device) {
        attend(device, &Attention::default(), [(1 << 16, 1, 64), (1, 1, 64), (1, 1, 64), (1 << 16, 1, 64)])
    }

    /// Heads without keys
    fn no_keys(device) {
        attend(device, &Attention::default(), [(2, 3, 64), (2, 0, 64), (2, 0, 64), (2, 3, 64)])
    }

    /// More queries than keys, where a query attends to its place at most
    fn too_few_keys(device) {
        let causal = Attention { is_causal: true, ..Attention::default() };
        attend(device, &causal, [(2, 3, 64), (2, 2, 64), (2, 2, 64), (2, 3, 64)])
    }

    /// A scale that is none
    fn no_scale(device) {
        attend(device, &Attention { scale: Some(0.0), ..Attention::default() }, [(2, 3, 64); 4])
    }
}
