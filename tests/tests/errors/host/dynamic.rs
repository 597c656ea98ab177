//! Kernels without a macro, compiled from their text while the program runs, and launched on bytes.

use warpwright::prelude::*;
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::{Instance, Program};
use warpwright_runtime::Dim3;
use warpwright_runtime::dynamic::{DynamicArgument, DynamicGeometry, DynamicKernel};

/// A kernel that takes a value, a texture or a buffer.
const TEXT: &str = "
#[kernel(block = 64)]
fn scaled(a: f32, y: &mut Global<f32>) {
    y[global_id().x] *= a;
}

#[kernel(block = 64)]
fn pictured(t: &Texture2d<f32>, y: &mut Global<f32>) {
    y[global_id().x] = t.fetch(0, 0);
}
";

/// One of them, compiled for a device.
fn compiled(device: &Device, name: &str) -> warpwright::Result<DynamicKernel> {
    let lowered = compile_text("scaled.rs", TEXT, name, &Instance::default()).unwrap_or_else(|found| panic!("{found:?}"));
    DynamicKernel::compile(device, &Program::default(), lowered)
}

/// A grid of one block.
fn one_block() -> DynamicGeometry {
    DynamicGeometry::default().grid(Dim3::new(1, 1, 1))
}

super::examples! {
    /// The host twin, which has no Rust of such a kernel
    fn no_twin(device) {
        device.synchronize()?;
        compiled(&Device::host(), "scaled").map(drop)
    }

    /// Fewer arguments than parameters
    fn fewer_arguments(device) {
        compiled(device, "scaled")?.run(one_block(), &[]).map(drop)
    }

    /// A value of another size
    fn other_value(device) {
        let y = device.zeros::<u8>(256)?;
        compiled(device, "scaled")?.run(one_block(), &[DynamicArgument::Value(&[0; 8]), DynamicArgument::Buffer(&y)]).map(drop)
    }

    /// Bytes that are no whole elements
    fn no_whole_elements(device) {
        let y = device.zeros::<u8>(255)?;
        compiled(device, "scaled")?.run(one_block(), &[DynamicArgument::Value(&[0; 4]), DynamicArgument::Buffer(&y)]).map(drop)
    }

    /// A buffer where a value is taken
    fn buffer_for_value(device) {
        let y = device.zeros::<u8>(256)?;
        compiled(device, "scaled")?.run(one_block(), &[DynamicArgument::Buffer(&y), DynamicArgument::Buffer(&y)]).map(drop)
    }

    /// A value where a buffer is taken
    fn value_for_buffer(device) {
        compiled(device, "scaled")?.run(one_block(), &[DynamicArgument::Value(&[0; 4]), DynamicArgument::Value(&[0; 4])]).map(drop)
    }

    /// A buffer where a texture is read
    fn buffer_for_texture(device) {
        let y = device.zeros::<u8>(256)?;
        compiled(device, "pictured")?.run(one_block(), &[DynamicArgument::Buffer(&y), DynamicArgument::Buffer(&y)]).map(drop)
    }

    /// No runs to time
    fn no_runs(device) {
        let y = device.zeros::<u8>(256)?;
        let arguments = [DynamicArgument::Value(&[0; 4]), DynamicArgument::Buffer(&y)];
        compiled(device, "scaled")?.time(one_block(), &arguments, 0).map(drop)
    }
}
