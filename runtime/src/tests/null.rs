//! A device that compiles kernels up to its back end and then does nothing: what is left is the runtime's own work.

use crate::cpu::{HostMemory, HostQueue};
use crate::device::Device;
use crate::driver::{DeviceDriver, DeviceIdentity, DeviceKind, DeviceLimits, Executable, LaunchPlan, Memory, Queue};
use crate::error::Result;
use crate::instance::LoweredKernel;
use crate::sim::Counters;
use crate::stream::StreamCore;
use crate::timing::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The device, and how often it was asked to compile and to launch.
#[derive(Clone)]
pub(super) struct Null {
    identity: DeviceIdentity,
    pub(super) compiled: Arc<AtomicUsize>,
    pub(super) launched: Arc<AtomicUsize>,
}

impl Default for Null {
    fn default() -> Null {
        Null::of_kind(DeviceKind::Host)
    }
}

impl Null {
    /// One that says to be of this kind.
    pub(super) fn of_kind(kind: DeviceKind) -> Null {
        let identity = DeviceIdentity { kind, name: "Null".into(), target: "nothing".into(), place: None, limits: DeviceLimits::NVIDIA };
        Null { identity, compiled: Arc::default(), launched: Arc::default() }
    }

    pub(super) fn device(&self) -> Device {
        Device::with_driver(Box::new(self.clone())).unwrap()
    }
}

impl DeviceDriver for Null {
    fn identity(&self) -> &DeviceIdentity {
        &self.identity
    }

    fn is_synchronous(&self) -> bool {
        // The order between streams is part of what a launch costs.
        false
    }

    fn allocate(&self, bytes: usize, _queue: &dyn Queue) -> Result<Box<dyn Memory>> {
        // Large buffers are only counted: nobody touches their memory.
        Ok(Box::new(HostMemory::new(bytes.min(1 << 20))?))
    }

    fn texture(&self, picture: &crate::texture::Picture) -> Result<Box<dyn Memory>> {
        Ok(Box::new(HostMemory::for_texture(picture)?))
    }

    fn allocate_host(&self, bytes: usize) -> Result<Box<dyn Memory>> {
        self.allocate(bytes, &HostQueue)
    }

    fn queue(&self) -> Result<Box<dyn Queue>> {
        Ok(Box::new(HostQueue))
    }

    fn compile(&self, _kernel: &LoweredKernel<'_>) -> Result<Box<dyn Executable>> {
        self.compiled.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(self.clone()))
    }
}

impl Executable for Null {
    fn launch(&self, _plan: &LaunchPlan<'_>, _stream: &Arc<StreamCore>) -> Result<Option<Counters>> {
        self.launched.fetch_add(1, Ordering::Relaxed);
        Ok(None)
    }

    fn time(&self, _plan: &LaunchPlan<'_>, _stream: &Arc<StreamCore>, runs: usize) -> Result<(Vec<Duration>, Clock)> {
        Ok((vec![Duration::ZERO; runs], Clock::Host))
    }
}
