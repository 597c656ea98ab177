//! The host twin as a device: the kernel's own Rust code, run within the call on memory of the host.

#![expect(unsafe_code, reason = "hands buffers' addresses to the kernel's code")]

use crate::arguments::ArgumentKind;
use crate::backend::{Backend, DeviceKind, DeviceLimits, Executable, Memory, Plan, Queue, time_on_host};
use crate::error::{Error, Result};
use crate::host_memory::{HostMemory, HostQueue};
use crate::instance::LoweredKernel;
use crate::sim::{Counters, SimOptions};
use crate::stream::StreamCore;
use crate::texture::Picture;
use crate::timing::Clock;
use crate::twin::{Run, TwinArgument, TwinArguments, run_twin};
use std::sync::Arc;
use std::time::Duration;

/// The device.
pub(crate) struct HostTwin;

impl Backend for HostTwin {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Host
    }

    fn name(&self) -> &str {
        "Host twin"
    }

    fn target(&self) -> &str {
        "host"
    }

    fn limits(&self) -> &DeviceLimits {
        &DeviceLimits::NVIDIA
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
        let facts = kernel.facts();
        let options = SimOptions::of_environment().map_err(|reason| Error::Argument { kernel: kernel.definition.name, reason })?;
        Ok(Box::new(Twin { elements: facts.elements, is_cooperative: facts.is_cooperative, loop_limit: options.loop_limit }))
    }
}

/// An instance: rustc compiled it, only how to run it is to be known.
struct Twin {
    /// `ilp` and `vectorize`.
    elements: [u32; 2],
    is_cooperative: bool,
    loop_limit: u64,
}

impl Executable for Twin {
    fn launch(&self, plan: &Plan<'_>, _stream: &Arc<StreamCore>) -> Result<Option<Counters>> {
        let arguments: Vec<_> = plan
            .arguments
            .iter()
            .map(|argument| match argument.kind {
                ArgumentKind::Value { chunk, .. } => TwinArgument::Value { address: plan.arguments.value_address(chunk) },
                ArgumentKind::Global { allocation, len, .. } => {
                    TwinArgument::Global { address: allocation.memory().handle() as *mut u8, len }
                }
                ArgumentKind::Texture { allocation, picture } => {
                    TwinArgument::Texture { address: allocation.memory().handle() as *const u8, picture: *picture }
                }
                ArgumentKind::Constant { allocation } => TwinArgument::Constant { address: allocation.memory().handle() as *const u8 },
            })
            .collect();
        // SAFETY: the launch has checked that the arguments are those of the kernel's parameters; it borrows their memory until it
        // is done, which is before this returns.
        let arguments = unsafe { TwinArguments::new(&arguments) };
        let run = Run {
            elements: self.elements,
            shared_bytes: plan.shared_bytes,
            uses_barriers: self.is_cooperative,
            loop_limit: self.loop_limit,
        };
        run_twin(plan.twin, &arguments, plan.grid, plan.block, run).map_err(|error| error.of_kernel(plan.definition.name))?;
        Ok(None)
    }

    fn time(&self, plan: &Plan<'_>, stream: &Arc<StreamCore>, runs: usize) -> Result<(Vec<Duration>, Clock)> {
        time_on_host(self, plan, stream, runs)
    }
}
