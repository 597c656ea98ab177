//! A device of the runtime: OpenCL, CUDA, or the simulator as programs launch it.

use super::{Output, compiled};
use crate::source::{Form, Kernel};
use warpwright_runtime::dynamic::{DynamicArgument, DynamicGeometry, DynamicKernel};
use warpwright_runtime::{Buffer, Device, Dim3, Error};

/// Runs it once; `None`: the device has less of something than the kernel takes, shared memory say.
///
/// # Errors
/// What the compiler, the driver or the device says.
pub fn run(kernel: &Kernel, form: Form, device: &Device) -> Result<Option<Output>, String> {
    let (program, lowered) = compiled::with_program(kernel, form)?;
    let said = |error: Error| error.to_string();
    let each = (lowered.kernel.options.ilp * lowered.kernel.options.vectorize).max(1) as usize;
    let wide = compiled::index_bytes(&lowered.kernel);
    let compiled = DynamicKernel::compile(device, &program, lowered).map_err(said)?;
    let mut values: Vec<Vec<u8>> = Vec::new();
    let mut buffers: Vec<(Buffer<u8>, bool)> = Vec::new();
    // Which of the two lists the next argument is of.
    let mut order: Vec<bool> = Vec::new();
    for parameter in kernel.in_order() {
        if parameter.is_value() {
            values.push(parameter.bytes(wide));
            order.push(false);
            continue;
        }
        buffers.push((device.upload(&parameter.bytes(wide)).map_err(said)?, parameter.is_written()));
        order.push(true);
        for extent in parameter.extents() {
            values.push((extent as u64).to_le_bytes()[..wide].to_vec());
            order.push(false);
        }
    }
    let (mut next_value, mut next_buffer) = (values.iter(), buffers.iter());
    let arguments: Vec<DynamicArgument<'_>> = order
        .iter()
        .filter_map(|is_buffer| {
            if *is_buffer {
                next_buffer.next().map(|(buffer, _)| DynamicArgument::Buffer(buffer))
            } else {
                next_value.next().map(|bytes| DynamicArgument::Value(bytes))
            }
        })
        .collect();
    let [x, y, z] = kernel.grid.map(|extent| extent as usize);
    let mut geometry = DynamicGeometry::default().grid(Dim3::new(x.div_ceil(each), y, z));
    if kernel.has_free_block {
        let [x, y, z] = kernel.block.map(|extent| extent as usize);
        geometry = geometry.block(Dim3::new(x, y, z));
    }
    if kernel.shared_bytes > 0 {
        geometry = geometry.shared_bytes(kernel.shared_bytes as usize);
    }
    if let Err(error) = compiled.run(geometry, &arguments) {
        return if matches!(error, Error::Limit { .. }) { Ok(None) } else { Err(said(error)) };
    }
    buffers
        .iter()
        .filter(|(_, is_written)| *is_written)
        .map(|(buffer, _)| buffer.download().map_err(said))
        .collect::<Result<_, _>>()
        .map(Some)
}
