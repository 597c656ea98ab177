//! The simulator as a device: memory is the host's, a launch runs within the call.

#![expect(unsafe_code, reason = "lends the buffers' bytes to the simulator")]

use crate::arguments::{Argument, ArgumentKind, Arguments};
use crate::backend::{Backend, DeviceKind, DeviceLimits, Executable, Memory, Plan, Queue, time_on_host};
use crate::error::{Error, Result};
use crate::host_memory::{HostMemory, HostQueue};
use crate::instance::LoweredKernel;
use crate::properties::DeviceProperties;
use crate::sim::{self, Counters, SimArgument, SimLaunch, SimOptions, SimProgram};
use crate::stream::StreamCore;
use crate::texture::Picture;
use crate::timing::Clock;
use std::sync::Arc;
use std::time::Duration;
use warpwright_codegen::target::limits::{self, WARP};

/// The device.
pub(crate) struct Simulator;

impl Backend for Simulator {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Simulator
    }

    fn name(&self) -> &str {
        "Simulator"
    }

    fn target(&self) -> &str {
        "simulator"
    }

    fn limits(&self) -> &DeviceLimits {
        &DeviceLimits::NVIDIA
    }

    fn properties(&self) -> DeviceProperties {
        let capability = DeviceLimits::NVIDIA_CAPABILITY;
        let row = limits::Limits::of(capability);
        DeviceProperties {
            compute_capability: Some((u32::from(capability / 10), u32::from(capability % 10))),
            warp_size: Some(WARP),
            max_threads_per_multiprocessor: row.map(limits::Limits::threads),
            registers_per_multiprocessor: row.map(|row| row.registers),
            shared_bytes_per_multiprocessor: row.map(|row| u64::from(row.shared)),
            ..DeviceProperties::new(self.kind(), self.name(), self.target(), self.limits())
        }
    }

    fn is_synchronous(&self) -> bool {
        true
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn Memory>> {
        Ok(Box::new(HostMemory::new(bytes)?))
    }

    fn texture(&self, picture: &Picture) -> Result<Box<dyn Memory>> {
        Ok(Box::new(HostMemory::for_texture(picture)?))
    }

    fn allocate_host(&self, bytes: usize) -> Result<Box<dyn Memory>> {
        self.allocate(bytes)
    }

    fn queue(&self) -> Result<Box<dyn Queue>> {
        Ok(Box::new(HostQueue))
    }

    fn compile(&self, kernel: &LoweredKernel<'_>) -> Result<Box<dyn Executable>> {
        let name = kernel.definition.name;
        let options = SimOptions::of_environment().map_err(|reason| Error::Argument { kernel: name, reason })?;
        let program = SimProgram::compile_with(kernel.legal(), options).map_err(|error| from_simulator(name, error))?;
        Ok(Box::new(Simulated { program }))
    }
}

fn from_simulator(kernel: &'static str, error: sim::Error) -> Error {
    match error {
        sim::Error::Fault(fault) => Error::Simulated(fault),
        other => Error::Argument { kernel, reason: other.to_string() },
    }
}

/// A compiled instance.
struct Simulated {
    program: SimProgram,
}

fn sim_argument<'p>(argument: &Argument<'p>, all: &'p Arguments<'p>) -> SimArgument<'p> {
    let bytes = argument.bytes();
    match argument.kind {
        ArgumentKind::Value { chunk, .. } => {
            // SAFETY: the value's bytes; padding among them holds whatever, and no kernel reads it.
            SimArgument::Value(unsafe { std::slice::from_raw_parts(all.value_address(chunk), bytes) })
        }
        ArgumentKind::Global { allocation, writable: true, .. } => {
            let address = allocation.memory().handle() as *mut u8;
            // SAFETY: the launch borrows the buffer as `&mut` while this runs, so nobody else reaches its memory.
            SimArgument::Global { bytes: unsafe { std::slice::from_raw_parts_mut(address, bytes) } }
        }
        ArgumentKind::Global { allocation, .. } => {
            let address = allocation.memory().handle() as *const u8;
            // SAFETY: the launch borrows the buffer while this runs, so nobody writes its memory.
            SimArgument::GlobalReadOnly { bytes: unsafe { std::slice::from_raw_parts(address, bytes) } }
        }
        ArgumentKind::Texture { allocation, picture } => {
            let address = allocation.memory().handle() as *const u8;
            // SAFETY: the launch borrows the texture while this runs, so nobody writes its memory.
            SimArgument::Texture { texels: unsafe { std::slice::from_raw_parts(address, bytes) }, picture: *picture }
        }
        ArgumentKind::Constant { allocation } => {
            let address = allocation.memory().handle() as *const u8;
            // SAFETY: the launch borrows the constants while this runs, so nobody writes their memory.
            SimArgument::Constant { bytes: unsafe { std::slice::from_raw_parts(address, bytes) } }
        }
    }
}

impl Executable for Simulated {
    fn launch(&self, plan: &Plan<'_>, _stream: &Arc<StreamCore>) -> Result<Option<Counters>> {
        let launch = SimLaunch { grid: plan.grid, block: plan.block, shared_bytes: plan.shared_bytes };
        let mut arguments: Vec<_> = plan.arguments.iter().map(|argument| sim_argument(argument, &plan.arguments)).collect();
        let counters = self.program.run(&launch, &mut arguments).map_err(|error| from_simulator(plan.definition.name, error))?;
        Ok(Some(counters))
    }

    fn time(&self, plan: &Plan<'_>, stream: &Arc<StreamCore>, runs: usize) -> Result<(Vec<Duration>, Clock)> {
        time_on_host(self, plan, stream, runs)
    }
}
