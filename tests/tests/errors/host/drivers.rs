//! What a driver says: the stand-in for NVIDIA's, which a child of this test has, without NCCL. After a fault its context is lost, and what comes then fails, too.

#![allow(unsafe_code, reason = "streams of other libraries are given by their handles")]

use super::launches::scaled;
use std::time::Duration;
use warpwright::prelude::*;
use warpwright::{Communicator, Rendezvous};

super::examples! {
    /// A device that there is not
    fn no_device(device) {
        device.synchronize()?;
        Device::cuda(7).map(drop)
    }

    /// More bytes than a GPU has
    fn out_of_memory(device) {
        device.synchronize()?;
        Device::cuda(0)?.zeros::<f64>(1 << 34).map(drop)
    }

    /// The per-thread default stream of another library
    fn per_thread_stream(device) {
        device.synchronize()?;
        // `CU_STREAM_PER_THREAD` of `cuda.h`.
        let stream = std::ptr::without_provenance_mut(2);
        // SAFETY: refused.
        unsafe { Stream::from_raw(&Device::cuda(0)?, stream, Box::new(())) }.map(drop)
    }

    /// A GPU and a simulator as ranks of one communicator
    fn mixed_ranks(device) {
        Communicator::all(&[Device::cuda(0)?, device.clone()], Duration::from_secs(10)).map(drop)
    }

    /// Ranks on GPUs without NCCL
    fn no_nccl(device) {
        device.synchronize()?;
        let meeting = Rendezvous::Tcp("127.0.0.1:4000".to_owned());
        Communicator::join(&Device::cuda(0)?, 0, 2, &meeting, Duration::from_secs(10)).map(drop)
    }

    /// A kernel that a GPU stops
    fn fault(device) {
        device.synchronize()?;
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).grid(1 << 20).launch(&gpu)?;
        gpu.synchronize()
    }

    /// Anything after that
    fn after_a_fault(device) {
        device.synchronize()?;
        Device::cuda(0)?.zeros::<u32>(64).map(drop)
    }
}
