//! What is said when a call of NVIDIA's driver fails: each example has a child of its own, where the stand-in does what the line `where` says.

use super::launches::scaled;
use super::several::doubled;
use warpwright::Graph;
use warpwright::prelude::*;

/// A block has so much shared memory that a multiprocessor holds one.
#[kernel(block = 32, cluster = 8, persistent, targets = [sm_90])]
pub fn wide(y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 30000];
    let t = thread_idx().x;
    tile[t] = t as f32;
    cluster_sync();
    let other = shared_of(&tile, (cluster_rank() + 1) % 8);
    y[global_id().x] = other[t];
    cluster_sync();
}

/// It may begin before the launch before it has ended.
#[kernel(block = 64, overlap)]
pub fn added_early(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] += x[i];
    }
}

super::examples! {
    /// A driver that sees no GPU
    fn no_gpu(_device) {
        // where cuInit=100
        Device::cuda(0).map(drop)
    }

    /// A driver that does not start
    fn no_start(_device) {
        // where cuInit=803
        Device::cuda(0).map(drop)
    }

    /// A code that the driver has no name for
    fn no_name(_device) {
        // where cuDevicePrimaryCtxRetain=9999
        Device::cuda(0).map(drop)
    }

    /// A GPU for which nothing can be compiled
    fn old_gpu(_device) {
        // where PTX_INTERPRETER_CAPABILITY=3.0
        Device::cuda(0).map(drop)
    }

    /// A buffer of the other of two GPUs
    fn other_gpu(_device) {
        // where PTX_INTERPRETER_DEVICES=2
        let (first, second) = (Device::cuda(0)?, Device::cuda(1)?);
        let (x, mut y) = (second.zeros::<f32>(64)?, first.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&first)
    }

    /// A stream of the other of two GPUs
    fn other_stream(_device) {
        // where PTX_INTERPRETER_DEVICES=2
        let (first, second) = (Device::cuda(0)?, Device::cuda(1)?);
        let (x, mut y) = (first.zeros::<f32>(64)?, first.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch_on(&second.stream()?)
    }

    /// A GPU that is not there
    fn no_third(_device) {
        // where PTX_INTERPRETER_DEVICES=2
        Device::cuda(2).map(drop)
    }

    /// A driver without graphs
    fn no_graphs(_device) {
        // where LACKS=cuGraphInstantiateWithFlags, PTX_INTERPRETER_CUDA=11.3, PTX_INTERPRETER_CAPABILITY=8.0
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        let graph: warpwright::Result<Graph> = gpu.record((&x, &mut y), |steps, (x, y)| steps.launch(doubled(x, y).cover(64)).map(drop));
        graph.map(drop)
    }

    /// An edge of a graph that the driver refuses
    fn no_edge(_device) {
        // where cuGraphAddDependencies_v2=1
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        let mut graph = gpu.record((&x, &mut y), |steps, (x, y)| {
            steps.launch(added_early(x, y).cover(64))?;
            steps.launch(added_early(x, y).cover(64)).map(drop)
        })?;
        graph.launch((&x, &mut y))
    }

    /// A driver that has no assembler
    fn no_assembler(_device) {
        // where cuModuleLoadDataEx=221
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)
    }

    /// A kernel that the driver does not load
    fn not_loaded(_device) {
        // where cuModuleLoadDataEx=999
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)
    }

    /// A launch that the driver refuses
    fn not_launched(_device) {
        // where cuLaunchKernel=1
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)
    }

    /// A block for which there are too few registers
    fn too_few_registers(_device) {
        // where cuLaunchKernel=701
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)
    }

    /// A cluster that fits nowhere
    fn wide_cluster(_device) {
        let gpu = Device::cuda(0)?;
        let mut y = gpu.zeros::<f32>(1024)?;
        wide(&mut y).cover(1024).launch(&gpu)
    }

    /// A kernel that runs too long beside a display
    fn too_long(_device) {
        // where cuStreamSynchronize=702
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)?;
        gpu.synchronize()
    }

    /// A kernel that goes wrong in its stack
    fn stack(_device) {
        // where cuStreamSynchronize=714
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)?;
        gpu.synchronize()
    }

    /// A kernel that traps
    fn trapped(_device) {
        // where cuStreamSynchronize=715
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)?;
        gpu.synchronize()
    }

    /// An access that is not aligned
    fn misaligned(_device) {
        // where cuStreamSynchronize=716
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)?;
        gpu.synchronize()
    }

    /// An access of shared memory out of bounds
    fn out_of_shared(_device) {
        // where cuStreamSynchronize=719
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)?;
        gpu.synchronize()
    }
}
