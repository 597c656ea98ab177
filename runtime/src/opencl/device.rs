//! Platforms, devices and their memory.

#![expect(unsafe_code, reason = "calls the OpenCL API")]

use super::api::{self, OpenClApi, check};
use super::fault::Faults;
use super::kernel::OpenClKernel;
use super::owned::Owned;
use super::queue::OpenClQueue;
use super::sub_groups::SubGroups;
use super::sys::{self, cl_context, cl_device_id, cl_event, cl_int, cl_mem, cl_platform_id, cl_uint};
use super::texture::ImageMemory;
use crate::cpu::HostMemory;
use crate::driver::{DeviceDriver, DeviceIdentity, DeviceKind, DeviceLimits, Executable, Memory, Queue};
use crate::error::{Error, Result};
use crate::instance::LoweredKernel;
use crate::properties::DeviceProperties;
use crate::texture::Picture;
use std::ptr::{null, null_mut};
use std::sync::{Arc, OnceLock};

/// The way out where there is no platform.
const INSTALL: &str =
    "install an OpenCL driver (on Debian, `apt install pocl-opencl-icd` runs kernels on the CPU), or use `Device::simulator()`";

/// A device of a platform.
struct Found {
    api: &'static OpenClApi,
    platform: cl_platform_id,
    device: cl_device_id,
    is_gpu: bool,
}

// SAFETY: the handles may be used from any thread.
unsafe impl Send for Found {}
// SAFETY: as above.
unsafe impl Sync for Found {}

/// How many devices there are.
pub(crate) fn count() -> usize {
    devices().map_or(0, <[Found]>::len)
}

/// The device of this number: of all platforms, GPUs first.
pub(crate) fn open(index: usize) -> Result<Box<dyn DeviceDriver>> {
    let all = devices()?;
    match all.get(index) {
        Some(found) => Ok(Box::new(OpenClDevice { context: Arc::new(Context::new(found)?) })),
        None => {
            let found = match all.len() {
                0 => format!("no platform has one that is usable; {INSTALL}"),
                count => format!("the platforms have {count} that are usable, counted from 0; give a number below {count}"),
            };
            Err(Error::NoDevice { api: "OpenCL", index, found })
        }
    }
}

fn platforms(api: &OpenClApi) -> Result<Vec<cl_platform_id>> {
    let mut count: cl_uint = 0;
    // SAFETY: writes one number.
    match unsafe { api.clGetPlatformIDs(0, null_mut(), &mut count) } {
        api::PLATFORM_NOT_FOUND => count = 0,
        code => check(code, "clGetPlatformIDs")?,
    }
    if count == 0 {
        return Err(Error::NoDriver { api: "OpenCL", reason: "the loader knows no platform".into(), help: INSTALL });
    }
    let mut list = vec![null_mut(); count as usize];
    // SAFETY: writes at most `count` handles.
    check(unsafe { api.clGetPlatformIDs(count, list.as_mut_ptr(), null_mut()) }, "clGetPlatformIDs")?;
    Ok(list)
}

/// The devices, looked for once. One thread at a time: platforms that start up in two threads at once have been seen to crash.
fn devices() -> Result<&'static [Found]> {
    static DEVICES: OnceLock<Result<Vec<Found>>> = OnceLock::new();
    DEVICES.get_or_init(find_devices).as_deref().map_err(Clone::clone)
}

fn find_devices() -> Result<Vec<Found>> {
    let api = OpenClApi::get()?;
    let mut all = Vec::new();
    for platform in platforms(api)? {
        let mut count: cl_uint = 0;
        // SAFETY: writes one number.
        let code = unsafe { api.clGetDeviceIDs(platform, sys::CL_DEVICE_TYPE_ALL, 0, null_mut(), &mut count) };
        // A platform without a device, or one that does not work, hides no other.
        if code != api::SUCCESS || count == 0 {
            continue;
        }
        let mut list = vec![null_mut(); count as usize];
        // SAFETY: writes at most `count` handles.
        check(unsafe { api.clGetDeviceIDs(platform, sys::CL_DEVICE_TYPE_ALL, count, list.as_mut_ptr(), null_mut()) }, "clGetDeviceIDs")?;
        for device in list {
            let usable =
                number(api, device, sys::CL_DEVICE_AVAILABLE)? != 0 && number(api, device, sys::CL_DEVICE_COMPILER_AVAILABLE)? != 0;
            if usable {
                let is_gpu = number(api, device, sys::CL_DEVICE_TYPE)? & sys::CL_DEVICE_TYPE_GPU != 0;
                all.push(Found { api, platform, device, is_gpu });
            }
        }
    }
    all.sort_by_key(|found| !found.is_gpu);
    Ok(all)
}

fn info(api: &OpenClApi, device: cl_device_id, what: cl_uint) -> Result<Vec<u8>> {
    // SAFETY: writes at most the size it is given.
    api::info("clGetDeviceInfo", |size, value, needed| unsafe { api.clGetDeviceInfo(device, what, size, value, needed) })
}

/// A query's number, of 4 or 8 bytes.
fn number(api: &OpenClApi, device: cl_device_id, what: cl_uint) -> Result<u64> {
    let bytes = info(api, device, what)?;
    Ok(api::numbers(&bytes, bytes.len().max(1)).first().copied().unwrap_or(0))
}

/// Queries of the extension `cl_nv_device_attribute_query`, which other drivers refuse. Source: the extension's text.
const COMPUTE_CAPABILITY_MAJOR_NV: cl_uint = 0x4000;
const COMPUTE_CAPABILITY_MINOR_NV: cl_uint = 0x4001;
const WARP_SIZE_NV: cl_uint = 0x4003;

/// A query's number where the driver knows the query and its answer: 0 is none.
fn known(api: &OpenClApi, device: cl_device_id, what: cl_uint) -> Option<u64> {
    number(api, device, what).ok().filter(|value| *value != 0)
}

/// A device with a context of its own. Kept for good, as devices are.
pub(super) struct Context {
    pub(super) api: &'static OpenClApi,
    pub(super) device: cl_device_id,
    pub(super) context: cl_context,
    pub(super) identity: DeviceIdentity,
    pub(super) faults: Faults,
    /// Its sub-groups of 32, if it has them.
    pub(super) sub_groups: Option<SubGroups>,
    /// Its compute units, at least 1.
    pub(super) compute_units: u32,
    /// The device's memory, bytes.
    memory_bytes: u64,
}

// SAFETY: OpenCL objects may be used from any thread; only a kernel's arguments must not be set by two at once.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    fn new(found: &Found) -> Result<Context> {
        let (api, device) = (found.api, found.device);
        let sizes = api::numbers(&info(api, device, sys::CL_DEVICE_MAX_WORK_ITEM_SIZES)?, size_of::<usize>());
        let size = |axis: usize| sizes.get(axis).copied().unwrap_or(1);
        let limits = DeviceLimits {
            block_threads: number(api, device, sys::CL_DEVICE_MAX_WORK_GROUP_SIZE)?,
            block: [size(0), size(1), size(2)].map(|extent| extent.min(u64::from(u32::MAX))),
            // OpenCL limits the threads, to what the device can count; blocks are counted in 32 bits here.
            grid: [0x7fff_ffff; 3],
            shared_bytes: number(api, device, sys::CL_DEVICE_LOCAL_MEM_SIZE)?,
            parameter_bytes: number(api, device, sys::CL_DEVICE_MAX_PARAMETER_SIZE)?,
            // Zeros where a device has no images.
            texture: [number(api, device, sys::CL_DEVICE_IMAGE2D_MAX_WIDTH)?, number(api, device, sys::CL_DEVICE_IMAGE2D_MAX_HEIGHT)?],
        };
        // `OpenCL 3.0 …`
        let version = api::text(&info(api, device, sys::CL_DEVICE_VERSION)?);
        let version = version.split_whitespace().nth(1).unwrap_or("1.2");
        let sub_groups = SubGroups::of(api, device, version);
        let (name, target) = (api::text(&info(api, device, sys::CL_DEVICE_NAME)?), format!("opencl-{version}"));
        let identity = DeviceIdentity { kind: DeviceKind::OpenCl, name: name.into(), target: target.into(), place: None, limits };
        let properties = [sys::CL_CONTEXT_PLATFORM, found.platform as isize, 0];
        let mut code = 0;
        // SAFETY: the list of properties ends with 0; one device; no callback.
        let context = unsafe { api.clCreateContext(properties.as_ptr(), 1, &device, null(), null_mut(), &mut code) };
        check(code, "clCreateContext")?;
        let memory_bytes = number(api, device, sys::CL_DEVICE_GLOBAL_MEM_SIZE)?;
        let compute_units =
            known(api, device, sys::CL_DEVICE_MAX_COMPUTE_UNITS).and_then(|units| u32::try_from(units).ok()).unwrap_or(1).max(1);
        Ok(Context { api, device, context, identity, faults: Faults::default(), sub_groups, compute_units, memory_bytes })
    }

    /// Memory of this many bytes; an empty buffer has some too, since there are no empty ones.
    pub(super) fn allocate(&self, bytes: usize) -> Result<Owned> {
        // Some drivers take any size and fail at the first use, with an error that says less.
        if bytes as u64 > self.memory_bytes {
            return Err(Error::OutOfMemory { device: self.identity.name.to_string(), bytes: bytes as u64 });
        }
        let mut code = 0;
        // SAFETY: no host pointer is given.
        let memory = unsafe { self.api.clCreateBuffer(self.context, sys::CL_MEM_READ_WRITE, bytes.max(16), null_mut(), &mut code) };
        self.made(memory, code, "clCreateBuffer", bytes as u64)
    }

    /// A new memory object of so many bytes, or what the code of its making says.
    pub(super) fn made(&self, memory: cl_mem, code: cl_int, call: &str, bytes: u64) -> Result<Owned> {
        match code {
            api::MEM_OBJECT_ALLOCATION_FAILURE | api::OUT_OF_RESOURCES | api::OUT_OF_HOST_MEMORY | api::INVALID_BUFFER_SIZE => {
                Err(Error::OutOfMemory { device: self.identity.name.to_string(), bytes })
            }
            code => check(code, call).map(|()| Owned(memory, self.api.clReleaseMemObject)),
        }
    }
}

/// A device.
struct OpenClDevice {
    context: Arc<Context>,
}

impl DeviceDriver for OpenClDevice {
    fn identity(&self) -> &DeviceIdentity {
        &self.context.identity
    }

    fn properties(&self) -> DeviceProperties {
        let (api, device) = (self.context.api, self.context.device);
        let narrow = |what: cl_uint| known(api, device, what).and_then(|value| u32::try_from(value).ok());
        let minor = || number(api, device, COMPUTE_CAPABILITY_MINOR_NV).ok().and_then(|value| u32::try_from(value).ok());
        DeviceProperties {
            compute_capability: narrow(COMPUTE_CAPABILITY_MAJOR_NV).zip(minor()),
            multiprocessors: narrow(sys::CL_DEVICE_MAX_COMPUTE_UNITS),
            warp_size: narrow(WARP_SIZE_NV),
            has_warps: self.context.sub_groups.is_some(),
            l2_bytes: known(api, device, sys::CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
            memory_bytes: Some(self.context.memory_bytes),
            clock_hz: known(api, device, sys::CL_DEVICE_MAX_CLOCK_FREQUENCY).map(|megahertz| megahertz * 1_000_000),
            ..DeviceProperties::new(self.identity())
        }
    }

    fn is_synchronous(&self) -> bool {
        false
    }

    fn has_addresses(&self) -> bool {
        false
    }

    fn allocate(&self, bytes: usize, _queue: &dyn Queue) -> Result<Box<dyn Memory>> {
        Ok(Box::new(self.context.allocate(bytes)?))
    }

    fn texture(&self, picture: &Picture) -> Result<Box<dyn Memory>> {
        Ok(Box::new(ImageMemory::new(&self.context, picture)?))
    }

    fn allocate_host(&self, bytes: usize) -> Result<Box<dyn Memory>> {
        Ok(Box::new(HostMemory::new(bytes)?))
    }

    fn queue(&self) -> Result<Box<dyn Queue>> {
        Ok(Box::new(OpenClQueue::new(Arc::clone(&self.context))?))
    }

    fn compile(&self, kernel: &LoweredKernel<'_>) -> Result<Box<dyn Executable>> {
        Ok(Box::new(OpenClKernel::new(Arc::clone(&self.context), kernel)?))
    }
}

/// No wait list.
pub(super) const NONE: *const cl_event = null();
