//! Devices on this CPU, the simulator and the host twin: memory is the host's, a launch runs within the call.

mod memory;
pub(crate) mod simulator;
mod twin;

use crate::arguments::{Argument, ArgumentKind, Arguments};
use crate::driver::{DeviceDriver, DeviceIdentity, DeviceKind, DeviceLimits, Executable, LaunchPlan, Memory, Queue};
use crate::error::{Error, Result};
use crate::instance::LoweredKernel;
use crate::properties::DeviceProperties;
use crate::sim::{Counters, SimOptions};
use crate::stream::StreamCore;
use crate::texture::Picture;
use crate::timing::Clock;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use warpwright_codegen::target::limits::WARP;

pub(crate) use memory::{HostMemory, HostQueue};

/// One of them.
pub(crate) struct Cpu {
    identity: DeviceIdentity,
    compile: Compile,
    /// A seed for [`SimOptions::weak_memory`].
    seed: Option<u64>,
}

type Compile = fn(&LoweredKernel<'_>, SimOptions) -> Result<Box<dyn Executable>>;

/// The simulator: runs the compiled kernel.
const SIMULATOR: Cpu = cpu(DeviceKind::Simulator, "Simulator", "simulator", simulator::compile);

/// One of several simulators, by its name.
pub(crate) fn simulator(index: usize) -> Cpu {
    let Cpu { identity, compile, seed } = SIMULATOR;
    let name = if index == 0 { identity.name } else { format!("Simulator {index}").into() };
    Cpu { identity: DeviceIdentity { name, ..identity }, compile, seed }
}

/// One with a weak memory.
pub(crate) fn weak_simulator(seed: u64) -> Cpu {
    let Cpu { identity, compile, .. } = SIMULATOR;
    let name = format!("Simulator with a weak memory, seed {seed}").into();
    Cpu { identity: DeviceIdentity { name, ..identity }, compile, seed: Some(seed) }
}

/// The host twin: runs the kernel's own Rust code.
pub(crate) const HOST_TWIN: Cpu = cpu(DeviceKind::Host, "Host twin", "host", twin::compile);

const fn cpu(kind: DeviceKind, name: &'static str, target: &'static str, compile: Compile) -> Cpu {
    let (name, target) = (Cow::Borrowed(name), Cow::Borrowed(target));
    Cpu { identity: DeviceIdentity { kind, name, target, place: None, limits: DeviceLimits::NVIDIA }, compile, seed: None }
}

impl DeviceDriver for Cpu {
    fn identity(&self) -> &DeviceIdentity {
        &self.identity
    }

    fn properties(&self) -> DeviceProperties {
        let told = DeviceProperties::new(&self.identity);
        if self.identity.kind != DeviceKind::Simulator {
            return told;
        }
        let row = DeviceLimits::NVIDIA_ROW;
        DeviceProperties {
            compute_capability: Some((u32::from(row.capability / 10), u32::from(row.capability % 10))),
            warp_size: Some(WARP),
            max_threads_per_multiprocessor: Some(row.threads()),
            registers_per_multiprocessor: Some(row.registers),
            shared_bytes_per_multiprocessor: Some(u64::from(row.shared)),
            ..told
        }
    }

    fn is_synchronous(&self) -> bool {
        true
    }

    fn allocate(&self, bytes: usize, _queue: &dyn Queue) -> Result<Box<dyn Memory>> {
        Ok(Box::new(HostMemory::new(bytes)?))
    }

    fn texture(&self, picture: &Picture) -> Result<Box<dyn Memory>> {
        Ok(Box::new(HostMemory::for_texture(picture)?))
    }

    fn allocate_host(&self, bytes: usize) -> Result<Box<dyn Memory>> {
        self.allocate(bytes, &HostQueue)
    }

    fn queue(&self) -> Result<Box<dyn Queue>> {
        Ok(Box::new(HostQueue))
    }

    fn compile(&self, kernel: &LoweredKernel<'_>) -> Result<Box<dyn Executable>> {
        let options = SimOptions::of_environment().map_err(|reason| Error::Argument { kernel: kernel.definition.name, reason })?;
        (self.compile)(kernel, SimOptions { weak_memory: self.seed.or(options.weak_memory), ..options })
    }
}

/// What such a device compiles an instance to.
trait Run: Send + Sync + 'static {
    /// One run, done when it returns. The simulator's gives its counters.
    fn run(&self, plan: &LaunchPlan<'_>) -> Result<Option<Counters>>;
}

/// Runs it within the call, and times that by the host's clock.
struct WithinCall<R>(R);

impl<R: Run> Executable for WithinCall<R> {
    fn launch(&self, plan: &LaunchPlan<'_>, _stream: &Arc<StreamCore>) -> Result<Option<Counters>> {
        self.0.run(plan)
    }

    fn time(&self, plan: &LaunchPlan<'_>, _stream: &Arc<StreamCore>, runs: usize) -> Result<(Vec<Duration>, Clock)> {
        self.0.run(plan)?;
        let run = |_| {
            let start = Instant::now();
            self.0.run(plan).map(|_| start.elapsed())
        };
        Ok(((0..runs).map(run).collect::<Result<_>>()?, Clock::Host))
    }
}

/// Where an argument's bytes are: of the value, of the elements, of the texels.
fn address(argument: &Argument<'_>, all: &Arguments<'_>) -> *mut u8 {
    match argument.kind {
        ArgumentKind::Value { chunk, .. } => all.value_address(chunk).cast_mut(),
        ArgumentKind::Global { allocation, .. } | ArgumentKind::Texture { allocation, .. } | ArgumentKind::Constant { allocation } => {
            allocation.handle() as *mut u8
        }
    }
}
