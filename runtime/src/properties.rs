//! What a device is: how much of everything it has.

use crate::device::DeviceKind;
use crate::driver::DeviceIdentity;

/// What a device is and what it has, from [`Device::properties`](crate::Device::properties). What a driver does not tell is `None`.
///
/// The simulator has what every GPU of the compute capability has that it stands for, 9.0: limits, warps, a multiprocessor's shared memory and
/// registers. It is no machine, so it has no clock, no memory and no number of multiprocessors. The host twin keeps to the same limits, and
/// has nothing else. Sizes are in bytes, rates in hertz.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceProperties {
    /// What kind it is.
    pub kind: DeviceKind,
    /// The vendor's name for it.
    pub name: String,
    /// What kernels are compiled for: `sm_90`, `opencl-1.2`.
    pub target: String,
    /// NVIDIA's compute capability, major and minor; of OpenCL devices only where NVIDIA's driver has them.
    pub compute_capability: Option<(u32, u32)>,
    /// Multiprocessors; OpenCL's compute units.
    pub multiprocessors: Option<u32>,
    /// Threads that run in step. A kernel's warps have 32 on every device, whatever this is.
    pub warp_size: Option<u32>,
    /// Whether the lanes of a warp exchange values directly. Of OpenCL devices those do that have sub-groups of 32 and the extensions that
    /// exchanges need (see the language's page); elsewhere the exchanges of a warp go through shared memory and barriers of the block.
    /// [`Launch::has_warps`](crate::Launch::has_warps) says it of one launch.
    pub has_warps: bool,
    /// Most threads of a block.
    pub max_threads_per_block: u64,
    /// Most threads of a block in x, y and z.
    pub max_block: [u64; 3],
    /// Most blocks of a grid in x, y and z.
    pub max_grid: [u64; 3],
    /// Most resident threads of a multiprocessor.
    pub max_threads_per_multiprocessor: Option<u32>,
    /// 32-bit registers of a multiprocessor.
    pub registers_per_multiprocessor: Option<u32>,
    /// Most shared memory of a block, static and dynamic together.
    pub shared_bytes_per_block: u64,
    /// Shared memory of a multiprocessor.
    pub shared_bytes_per_multiprocessor: Option<u64>,
    /// The cache before memory: L2 on a GPU.
    pub l2_bytes: Option<u64>,
    /// Global memory. [`Device::free_memory`](crate::Device::free_memory) says how much of it is free.
    pub memory_bytes: Option<u64>,
    /// The highest clock of a multiprocessor.
    pub clock_hz: Option<u64>,
    /// The highest clock of the memory.
    pub memory_clock_hz: Option<u64>,
    /// Width of the memory's bus, bits.
    pub memory_bus_bits: Option<u32>,
}

impl DeviceProperties {
    /// A device of which nothing is known but what its launches are checked against.
    pub(crate) fn new(device: &DeviceIdentity) -> DeviceProperties {
        let DeviceIdentity { kind, name, target, limits, .. } = device;
        DeviceProperties {
            kind: *kind,
            name: name.to_string(),
            target: target.to_string(),
            compute_capability: None,
            multiprocessors: None,
            warp_size: None,
            has_warps: true,
            max_threads_per_block: limits.block_threads,
            max_block: limits.block,
            max_grid: limits.grid,
            max_threads_per_multiprocessor: None,
            registers_per_multiprocessor: None,
            shared_bytes_per_block: limits.shared_bytes,
            shared_bytes_per_multiprocessor: None,
            l2_bytes: None,
            memory_bytes: None,
            clock_hz: None,
            memory_clock_hz: None,
            memory_bus_bits: None,
        }
    }

    /// Bytes that the memory can move in a second: its bus at two transfers a clock. `None` where clock or bus is not known.
    pub fn memory_bandwidth(&self) -> Option<f64> {
        Some(2.0 * self.memory_clock_hz? as f64 * f64::from(self.memory_bus_bits?) / 8.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::driver::DeviceLimits;

    #[test]
    fn what_launches_are_checked_against_is_what_is_told() {
        for device in Device::all() {
            let told = device.properties();
            let limits = device.limits();
            assert_eq!((told.kind, told.name.as_str(), told.target.as_str()), (device.kind(), device.name(), device.target()));
            assert_eq!((told.max_threads_per_block, told.max_block, told.max_grid), (limits.block_threads, limits.block, limits.grid));
            assert_eq!(told.shared_bytes_per_block, limits.shared_bytes);
            // Of what a multiprocessor has, a block gets no more.
            assert!(told.max_threads_per_multiprocessor.is_none_or(|threads| u64::from(threads) >= told.max_threads_per_block), "{told:?}");
            assert!(told.shared_bytes_per_multiprocessor.is_none_or(|bytes| bytes >= told.shared_bytes_per_block), "{told:?}");
        }
    }

    #[test]
    fn the_simulator_is_a_gpu_of_its_capability_and_no_machine() {
        let told = Device::simulator().properties().clone();
        assert_eq!((told.compute_capability, told.warp_size), (Some((9, 0)), Some(32)));
        // Source: CUDA C++ Programming Guide, "Technical specifications per compute capability", 9.0.
        assert_eq!((told.max_threads_per_multiprocessor, told.registers_per_multiprocessor), (Some(2048), Some(65_536)));
        assert_eq!((told.shared_bytes_per_block, told.shared_bytes_per_multiprocessor), (227 * 1024, Some(228 * 1024)));
        assert_eq!((told.multiprocessors, told.clock_hz, told.memory_bytes, told.memory_bandwidth()), (None, None, None, None));
        assert_eq!(Device::simulator().free_memory().unwrap(), None);
        assert_eq!(Device::host().properties().compute_capability, None);
    }

    #[test]
    fn devices_with_a_driver_tell_what_they_have() {
        for device in Device::all().into_iter().filter(|device| matches!(device.kind(), DeviceKind::Cuda | DeviceKind::OpenCl)) {
            let told = device.properties();
            assert!(told.multiprocessors.is_some_and(|count| (1..10_000).contains(&count)), "{told:?}");
            assert!(told.memory_bytes.is_some_and(|bytes| bytes > 64 << 20), "{told:?}");
            if device.kind() == DeviceKind::Cuda {
                let free = device.free_memory().unwrap().unwrap();
                assert!(free > 0 && Some(free) <= told.memory_bytes, "{free} of {told:?}");
                assert_eq!(told.warp_size, Some(32));
                let (major, minor) = told.compute_capability.unwrap();
                assert!(device.target().starts_with(&format!("sm_{major}")), "{minor}: {told:?}");
                assert!(
                    told.l2_bytes.is_some_and(|bytes| bytes >= 256 << 10) && told.clock_hz.is_some_and(|hz| hz > 100_000_000),
                    "{told:?}"
                );
                assert!(told.memory_bandwidth().is_some_and(|rate| (1e9..1e14).contains(&rate)), "{told:?}");
            }
            println!("ran: devices_with_a_driver_tell_what_they_have (1 thing on {device})");
        }
    }

    #[test]
    fn bandwidth_is_two_transfers_a_clock() {
        let (name, target, limits) = ("NVIDIA H200".into(), "sm_90".into(), DeviceLimits::NVIDIA);
        let told = DeviceProperties {
            memory_clock_hz: Some(3_201_000_000),
            memory_bus_bits: Some(6144),
            ..DeviceProperties::new(&DeviceIdentity { kind: DeviceKind::Cuda, name, target, place: None, limits })
        };
        assert_eq!(told.memory_bandwidth(), Some(2.0 * 3_201e6 * 768.0));
        assert_eq!(DeviceProperties { memory_bus_bits: None, ..told }.memory_bandwidth(), None);
    }
}
