//! What is said of OpenCL devices: each example has a child of its own, with a stand-in for the driver. It runs no kernel, and does what the line `where` says.

#![allow(unsafe_code, reason = "memory of other libraries is given by its address")]

use super::launches::{counted, scaled};
use super::trap::halved;
use std::time::Duration;
use warpwright::prelude::*;
use warpwright::{Communicator, Sampling};

super::examples! {
    /// No OpenCL driver
    fn no_platform(_device) {
        // where clGetPlatformIDs=-1001
        Device::opencl(0).map(drop)
    }

    /// A platform without a device
    fn no_device_at_all(_device) {
        // where clGetDeviceIDs=-1
        Device::opencl(0).map(drop)
    }

    /// A device that there is not
    fn no_device(_device) {
        Device::opencl(7).map(drop)
    }

    /// A code that the specification has no name for
    fn no_name(_device) {
        // where clCreateContext=-9999
        Device::opencl(0).map(drop)
    }

    /// Collectives of OpenCL devices
    fn no_collectives(device) {
        Communicator::all(&[Device::opencl(0)?, device.clone()], Duration::from_secs(10)).map(drop)
    }

    /// Memory by its address
    fn no_addresses(_device) {
        // SAFETY: refused.
        unsafe { Buffer::<f32>::from_raw_parts(&Device::opencl(0)?, 0x1000, 64, Box::new(())) }.map(drop)
    }

    /// Texels that the device's images do not hold
    fn no_such_texels(_device) {
        Device::opencl(0)?.texture((8, 8), &[[0.0f32; 2]; 64], Sampling::default()).map(drop)
    }

    /// A program that the device's compiler refuses
    fn refused(_device) {
        // where clBuildProgram=-11
        let gpu = Device::opencl(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)
    }

    /// A compiler that does not say why
    fn refused_without_a_word(_device) {
        // where clBuildProgram=-11, clGetProgramBuildInfo=-30
        let gpu = Device::opencl(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)
    }

    /// A compiler that fails
    fn not_built(_device) {
        // where clBuildProgram=-6
        let gpu = Device::opencl(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)
    }

    /// An argument that the driver does not take
    fn no_argument(_device) {
        // where clSetKernelArg=-51
        let gpu = Device::opencl(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)
    }

    /// A block that the device has, and this kernel has not
    fn too_wide_a_block(_device) {
        let gpu = Device::opencl(0)?;
        let mut y = gpu.zeros::<u32>(1024)?;
        counted(&mut y).block(1024).grid(1).launch(&gpu)
    }

    /// A launch that the driver refuses
    fn not_launched(_device) {
        // where clEnqueueNDRangeKernel=-5
        let gpu = Device::opencl(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)
    }

    /// An assertion that does not hold
    fn asserted(_device) {
        // where fault=1, line=10, thread=5
        let gpu = Device::opencl(0)?;
        let mut y = gpu.upload(&[3u32; 64])?;
        halved(&mut y).cover(64).launch(&gpu)?;
        gpu.synchronize()
    }

    /// A fault that the kernel has no words for
    fn unknown_fault(_device) {
        // where fault=99, line=10, thread=5
        let gpu = Device::opencl(0)?;
        let mut y = gpu.upload(&[3u32; 64])?;
        halved(&mut y).cover(64).launch(&gpu)?;
        gpu.synchronize()
    }

    /// Work before an event that fails
    fn failed_before(_device) {
        // where status=-14
        let gpu = Device::opencl(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)?;
        gpu.default_stream().record()?.is_complete().map(drop)
    }
}
