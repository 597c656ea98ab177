//! Buffers, constants, textures, matrices.

#![allow(unsafe_code, reason = "memory of other libraries is given by its address")]

use warpwright::prelude::*;
use warpwright::{Filter, Sampling};

#[device]
#[derive(Clone, Copy)]
#[repr(u8)]
enum Mode {
    Low = 1,
    High = 2,
}

super::examples! {
    /// More bytes than there is memory
    fn out_of_memory(device) {
        device.zeros::<f64>(1 << 53).map(drop)
    }

    /// More bytes than an address can tell apart
    fn too_large(device) {
        device.zeros::<f64>(usize::MAX).map(drop)
    }

    /// Slices of another length than the buffer
    fn other_length(device) {
        let mut y = device.zeros::<f32>(100)?;
        y.write(&[1.0; 64])
    }

    /// A part that the source does not have
    fn copy_beyond_the_source(device) {
        let (x, mut y) = (device.zeros::<f32>(50)?, device.zeros::<f32>(100)?);
        y.copy_range_from(0, &x, 40..60)
    }

    /// A part that the target has no room for
    fn copy_beyond_the_target(device) {
        let (x, mut y) = (device.zeros::<f32>(100)?, device.zeros::<f32>(50)?);
        y.copy_range_from(40, &x, 0..20)
    }

    /// Zeros where no variant of an enum is 0
    fn no_zero(device) {
        device.zeros::<Mode>(64).map(drop)
    }

    /// A constant of more than 64 KiB
    fn large_constant(device) {
        device.constant([0.0f32; 20_000]).map(drop)
    }

    /// A matrix that its buffer does not hold
    fn short_matrix(device) {
        let x = device.zeros::<f32>(100)?;
        device.matrix(&x, 8, 16).map(drop)
    }

    /// Rows that overlap
    fn overlapping_rows(device) {
        let x = device.zeros::<f32>(100)?;
        device.matrix(&x, 4, 16)?.pitch(12).map(drop)
    }

    /// More matrices than a buffer holds
    fn short_batch(device) {
        let x = device.zeros::<f32>(100)?;
        device.matrix(&x, 4, 4)?.batch(10, 16).map(drop)
    }

    /// Matrices that overlap, to be written
    fn overlapping_matrices(device) {
        let mut x = device.zeros::<f32>(100)?;
        device.matrix_mut(&mut x, 4, 4)?.batch(4, 8).map(drop)
    }

    /// A shape that a buffer does not have (feature `ndarray`)
    fn other_shape(device) {
        let x = device.zeros::<f32>(10)?;
        x.download_array((3, 4)).map(drop)
    }

    /// A texture with fewer texels than places
    fn short_texture(device) {
        device.texture((8, 8), &[0.0f32; 60], Sampling::default()).map(drop)
    }

    /// A texture without texels
    fn empty_texture(device) {
        device.texture((0, 8), &[0.0f32; 0], Sampling::default()).map(drop)
    }

    /// A texture that is too wide
    fn wide_texture(device) {
        device.texture((1 << 20, 1), &vec![0u8; 1 << 20], Sampling::default()).map(drop)
    }

    /// A texture of integers, filtered
    fn filtered_integers(device) {
        let sampling = Sampling { filter: Filter::Linear, ..Sampling::default() };
        device.texture((8, 8), &[0u8; 64], sampling).map(drop)
    }

    /// An event of another device
    fn other_event(device) {
        let event = Device::host().default_stream().record()?;
        device.default_stream().wait(&event)
    }

    /// Memory of another library at an odd address
    fn odd_address(device) {
        // SAFETY: nothing is read or written, since it is refused.
        unsafe { Buffer::<f32>::from_raw_parts(device, 0x1004, 10, Box::new(())) }.map(drop)
    }

    /// Memory of another library at no address
    fn null_address(device) {
        // SAFETY: as above.
        unsafe { Buffer::<f32>::from_raw_parts(device, 0, 10, Box::new(())) }.map(drop)
    }

    /// A stream of another library on a device that has none
    fn no_foreign_streams(device) {
        // SAFETY: refused.
        unsafe { Stream::from_raw(device, std::ptr::null_mut(), Box::new(())) }.map(drop)
    }

    /// A pinned buffer of another device
    fn other_pinned(device) {
        let mut pinned = Device::host().pinned::<f32>(64)?;
        let x = device.zeros::<f32>(64)?;
        x.read_async(&mut pinned, &device.default_stream())
    }

    /// A texture that is filled from another device's buffer
    fn texels_of_another_device(device) {
        let x = Device::weak_simulator(7).zeros::<f32>(64)?;
        let mut texture = device.texture((8, 8), &[0.0f32; 64], Sampling::default())?;
        texture.copy_from(&x)
    }

    /// Other texels than a texture has
    fn other_texels(device) {
        let mut texture = device.texture((8, 8), &[0.0f32; 64], Sampling::default())?;
        texture.write(&[0.0; 60])
    }
}
