//! CUDA GPUs through the driver's API, loaded dynamically: everything builds and starts on machines that have none.
//!
//! One primary context for each GPU, shared with whatever else in the process uses it, and made current on the calling thread before
//! each call. Every return code is looked at, but for those of destructors, which have nobody to tell.

#![expect(unsafe_code, reason = "calls the CUDA driver")]

mod api;
mod constants;
mod graph;
mod module;
mod pool;
mod queue;
mod sys;
mod tensor_map;
mod texture;

use crate::driver::{DeviceDriver, DeviceIdentity, DeviceKind, DeviceLimits, Executable, GraphDriver, Memory, Queue};
use crate::error::{Error, Result};
use crate::foreign::{Keep, PER_THREAD};
use crate::instance::LoweredKernel;
use crate::properties::DeviceProperties;
use crate::stream::StreamCore;
use crate::texture::Picture;
use api::{Code, DriverApi, NO_GPU, code};
use pool::{Pool, PoolMemory};
use std::any::Any;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use sys::CUdevice_attribute as Attribute;
use warpwright_codegen::target::Target;

/// How many GPUs there are: none without a driver.
pub(crate) fn count() -> usize {
    DriverApi::get().and_then(DriverApi::device_count).unwrap_or(0)
}

/// The GPU of this ordinal.
pub(crate) fn open(index: usize) -> Result<Box<dyn DeviceDriver>> {
    let driver = DriverApi::get()?;
    let count = driver.device_count()?;
    if index >= count {
        let found = match count {
            0 => NO_GPU.to_owned(),
            _ => format!("the driver sees {count}, counted from 0; give a number below {count}"),
        };
        return Err(Error::NoDevice { api: "CUDA", index, found });
    }
    Ok(Box::new(Gpu { context: Arc::new(Context::new(driver, index, None)?) }))
}

/// The same with a context of others, which lives as long as `keep`.
pub(crate) fn open_foreign(index: usize, context: *mut c_void, keep: Keep) -> Result<Box<dyn DeviceDriver>> {
    let driver = DriverApi::get()?;
    Ok(Box::new(Gpu { context: Arc::new(Context::new(driver, index, Some((sys::Handle(context), keep)))?) }))
}

/// How many contexts there were.
static CONTEXTS: AtomicU64 = AtomicU64::new(0);

/// A GPU's primary context, retained for good: devices live as long as the program. Or a context of others.
struct Context {
    driver: &'static DriverApi,
    device: sys::CUdevice,
    context: sys::CUcontext,
    identity: DeviceIdentity,
    /// What kernels are compiled for: the newest row the table knows that this GPU can run.
    target: &'static Target,
    properties: DeviceProperties,
    /// What buffers are allocated from, where the driver has such.
    pool: Option<Pool>,
    /// Tells it from all others that there were and will be.
    number: u64,
    /// The contexts that this one was connected with.
    peers: Mutex<Vec<u64>>,
    /// What a context of others needs.
    _keep: Option<Keep>,
}

impl Context {
    /// Memory, at least one byte.
    fn allocate(self: &Arc<Context>, bytes: usize) -> Result<Owned<sys::CUdeviceptr>> {
        let context = Arc::clone(self);
        let mut address = 0;
        context.bind()?;
        // SAFETY: writes one address.
        match unsafe { context.driver.cuMemAlloc(&mut address, bytes) } {
            code::OUT_OF_MEMORY => return Err(Error::OutOfMemory { device: context.identity.named(), bytes: bytes as u64 }),
            code => context.check(code, "cuMemAlloc")?,
        }
        Ok(Owned { context, handle: address, free: DriverApi::cuMemFree })
    }

    fn new(driver: &'static DriverApi, index: usize, of_others: Option<(sys::CUcontext, Keep)>) -> Result<Context> {
        let mut device = 0;
        // SAFETY: writes one device number.
        driver.check(unsafe { driver.cuDeviceGet(&mut device, index as c_int) }, "cuDeviceGet")?;
        let name = device_name(driver, device)?;
        let attribute = |attribute: Attribute| -> Result<u64> {
            let mut value = 0;
            // SAFETY: writes one number.
            driver.check(unsafe { driver.cuDeviceGetAttribute(&mut value, attribute as c_uint, device) }, "cuDeviceGetAttribute")?;
            Ok(u64::try_from(value).unwrap_or(0))
        };
        let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let capability = u16::try_from(10 * major + minor).unwrap_or(u16::MAX);
        let target = Target::for_capability(capability).ok_or_else(|| Error::Unsupported {
            device: name.clone(),
            what: format!("has compute capability {major}.{minor}, for which nothing can be compiled; use `Device::simulator()`"),
        })?;
        let optional = |attribute_: Attribute, otherwise: u64| attribute(attribute_).map_or(otherwise, |value| value.max(otherwise));
        let limits = DeviceLimits {
            block_threads: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            block: [
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            grid: [
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            shared_bytes: optional(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            ),
            parameter_bytes: target.limits.parameter_bytes_with(driver.version_number()).into(),
            texture: [
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT)?,
            ],
        };
        // The primary context of the only GPU needs no more than its name.
        let place = match &of_others {
            Some((context, _)) => Some(format!("GPU {index}, context {:#x}", context.bits())),
            None => (driver.device_count()? > 1).then(|| format!("GPU {index}")),
        };
        let identity = DeviceIdentity { kind: DeviceKind::Cuda, name: name.into(), target: target.name.into(), place, limits };
        // What a driver does not know of a GPU, it says with an error or a 0.
        let known = |attribute_: Attribute| attribute(attribute_).ok().filter(|value| *value != 0);
        let narrow = |attribute_: Attribute| known(attribute_).and_then(|value| u32::try_from(value).ok());
        let hertz = |attribute_: Attribute| known(attribute_).map(|kilohertz| kilohertz * 1000);
        let mut memory_bytes = 0;
        // SAFETY: writes one number.
        driver.check(unsafe { driver.cuDeviceTotalMem(&mut memory_bytes, device) }, "cuDeviceTotalMem")?;
        let properties = DeviceProperties {
            compute_capability: Some((major as u32, minor as u32)),
            multiprocessors: narrow(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
            warp_size: narrow(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE),
            max_threads_per_multiprocessor: narrow(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
            registers_per_multiprocessor: narrow(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
            shared_bytes_per_multiprocessor: known(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
            l2_bytes: known(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
            memory_bytes: Some(memory_bytes as u64),
            clock_hz: hertz(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            memory_clock_hz: hertz(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
            memory_bus_bits: narrow(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
            ..DeviceProperties::new(&identity)
        };
        let (context, _keep) = match of_others {
            Some((context, keep)) => (context, Some(keep)),
            None => {
                let mut context = sys::Handle::NULL;
                // SAFETY: writes one handle; the context is retained until the process ends.
                driver.check(unsafe { driver.cuDevicePrimaryCtxRetain(&mut context, device) }, "cuDevicePrimaryCtxRetain")?;
                (context, None)
            }
        };
        let has_pools = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED).is_ok_and(|value| value != 0);
        let pool = has_pools.then(|| Pool::new(driver, device)).flatten();
        let (number, peers) = (CONTEXTS.fetch_add(1, Ordering::Relaxed), Mutex::default());
        Ok(Context { number, driver, device, context, identity, target, properties, pool, peers, _keep })
    }

    /// Lets the two devices access each other's memory, where the machine can: then copies go from one to the other, and otherwise over the host.
    fn connect(&self, peer: &Context) -> Result<()> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.contains(&peer.number) {
            return Ok(());
        }
        if self.device != peer.device {
            for (one, other) in [(self, peer), (peer, self)] {
                let mut can = 0;
                // SAFETY: writes one number.
                let code = unsafe { self.driver.cuDeviceCanAccessPeer(&mut can, one.device, other.device) };
                self.check(code, "cuDeviceCanAccessPeer")?;
                if can == 0 {
                    continue;
                }
                one.bind()?;
                // SAFETY: both contexts are alive.
                match unsafe { self.driver.cuCtxEnablePeerAccess(other.context, 0) } {
                    code::PEER_ACCESS_ALREADY_ENABLED => {}
                    code => one.check(code, "cuCtxEnablePeerAccess")?,
                }
                if let Some(pool) = &other.pool {
                    one.check(pool.allow(one.device), "cuMemPoolSetAccess")?;
                }
            }
        }
        peers.push(peer.number);
        Ok(())
    }

    /// Makes it current on this thread, if it is not.
    fn bind(&self) -> Result<()> {
        let mut current = sys::Handle::NULL;
        // SAFETY: writes one handle.
        self.check(unsafe { self.driver.cuCtxGetCurrent(&mut current) }, "cuCtxGetCurrent")?;
        if current == self.context {
            return Ok(());
        }
        // SAFETY: the context is retained.
        self.check(unsafe { self.driver.cuCtxSetCurrent(self.context) }, "cuCtxSetCurrent")
    }

    /// Whether a graph needs the context current before it is put into this stream: the default streams are those of whatever context is current. Of others, and of graphs, the driver knows
    /// whose they are; asking it each time which is current would be for nothing on all but the first of a thread. A kernel it starts in streams of its own context only.
    fn is_needed_for(stream: &StreamCore) -> bool {
        stream.handle() <= PER_THREAD
    }

    /// Whether the driver starts nothing since no context is current on this thread, or another one that it does not overlook.
    fn is_asked_for(code: Code) -> bool {
        matches!(code, code::INVALID_CONTEXT | code::INVALID_HANDLE | code::CONTEXT_IS_DESTROYED)
    }

    fn check(&self, code: Code, call: &str) -> Result<()> {
        if code == code::SUCCESS { Ok(()) } else { Err(self.error(code, call)) }
    }

    /// The error of a failed call, with what it means for the device.
    #[cold]
    fn error(&self, code: Code, call: &str) -> Error {
        let context = if is_fault(code) {
            format!(
                " on {}: a kernel that ran before went wrong ({}); the device's context is lost, and the program must start anew to use it{}",
                self.identity.named(),
                fault_meaning(code),
                fault_help(code)
            )
        } else {
            format!(" on {}", self.identity.named())
        };
        Error::Driver { call: call.to_owned(), code: self.driver.name(code), context }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.destroy();
        }
    }
}

/// Codes that a kernel causes, and that end its context.
fn is_fault(code: Code) -> bool {
    (code::ILLEGAL_ADDRESS..=code::LAUNCH_FAILED).contains(&code) && !fault_meaning(code).is_empty()
}

/// What such a code means.
fn fault_meaning(code: Code) -> &'static str {
    match code {
        code::ILLEGAL_ADDRESS => "it accessed memory out of bounds",
        code::LAUNCH_TIMEOUT => "it ran longer than the display driver allows",
        code::ASSERT => "an assertion failed",
        code::HARDWARE_STACK_ERROR => "its stack overflowed or was corrupted",
        code::ILLEGAL_INSTRUCTION => "it trapped: an assertion or a bounds check failed",
        code::MISALIGNED_ADDRESS => "it accessed memory at an address that is not a multiple of the access's width",
        code::LAUNCH_FAILED => "it trapped, or accessed shared or local memory out of bounds",
        _ => "",
    }
}

/// The way out of such a code.
fn fault_help(code: Code) -> &'static str {
    match code {
        code::LAUNCH_TIMEOUT => "; help: launch fewer blocks at a time, or use a GPU that drives no display",
        _ => "; help: `.simulate()` in place of `.launch(…)` names the line, the block and the thread",
    }
}

fn device_name(driver: &DriverApi, device: sys::CUdevice) -> Result<String> {
    let mut name: [c_char; 256] = [0; 256];
    // SAFETY: writes at most this many bytes, the last one zero.
    driver.check(unsafe { driver.cuDeviceGetName(name.as_mut_ptr(), name.len() as c_int, device) }, "cuDeviceGetName")?;
    name[name.len() - 1] = 0;
    // SAFETY: ends with a zero byte.
    Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
}

/// A GPU.
struct Gpu {
    context: Arc<Context>,
}

impl DeviceDriver for Gpu {
    fn identity(&self) -> &DeviceIdentity {
        &self.context.identity
    }

    fn properties(&self) -> DeviceProperties {
        self.context.properties.clone()
    }

    fn free_memory(&self) -> Result<Option<u64>> {
        self.context.bind()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes two numbers; the context is current.
        self.context.check(unsafe { self.context.driver.cuMemGetInfo(&mut free, &mut total) }, "cuMemGetInfo")?;
        Ok(Some(free as u64 + self.context.pool.as_ref().map_or(0, Pool::unused)))
    }

    fn release_unused_memory(&self) -> Result<()> {
        let Some(pool) = &self.context.pool else { return Ok(()) };
        self.context.bind()?;
        // What is freed in streams is unused when they have come so far.
        // SAFETY: waits for all streams of the context, which is current.
        self.context.check(unsafe { self.context.driver.cuCtxSynchronize() }, "cuCtxSynchronize")?;
        self.context.check(pool.trim(), "cuMemPoolTrimTo")
    }

    fn connect(&self, peer: &dyn DeviceDriver) -> Result<bool> {
        let peer: &dyn Any = peer;
        let Some(peer) = peer.downcast_ref::<Gpu>() else { return Ok(false) };
        self.context.connect(&peer.context).map(|()| true)
    }

    fn make_current(&self) -> Result<()> {
        self.context.bind()
    }

    fn is_synchronous(&self) -> bool {
        false
    }

    fn context(&self) -> Option<*mut c_void> {
        Some(self.context.context.0)
    }

    fn foreign_queue(&self, handle: u64) -> Result<Box<dyn Queue>> {
        Ok(Box::new(queue::CudaQueue::of_others(Arc::clone(&self.context), sys::Handle::of(handle))))
    }

    fn allocate(&self, bytes: usize, queue: &dyn Queue) -> Result<Box<dyn Memory>> {
        // An empty buffer has no memory: the driver refuses to allocate none.
        if bytes == 0 {
            return Ok(Box::new(DeviceMemory(None)));
        }
        if let Some(pool) = &self.context.pool {
            return Ok(Box::new(PoolMemory::new(&self.context, pool, bytes, sys::Handle::of(queue.handle()))?));
        }
        Ok(Box::new(DeviceMemory(Some(self.context.allocate(bytes)?))))
    }

    fn texture(&self, picture: &Picture) -> Result<Box<dyn Memory>> {
        Ok(Box::new(texture::TextureMemory::new(Arc::clone(&self.context), picture)?))
    }

    fn allocate_host(&self, bytes: usize) -> Result<Box<dyn Memory>> {
        let context = Arc::clone(&self.context);
        if bytes == 0 {
            return Ok(Box::new(crate::cpu::HostMemory::new(0)?));
        }
        context.bind()?;
        let mut address = sys::Handle::NULL;
        // SAFETY: writes one address. Flag 1: page-locked for every context of the process.
        match unsafe { context.driver.cuMemHostAlloc(&mut address, bytes, 1) } {
            code::OUT_OF_MEMORY => return Err(Error::OutOfMemory { device: "the host".into(), bytes: bytes as u64 }),
            code => context.check(code, "cuMemHostAlloc")?,
        }
        // SAFETY: just allocated, this many bytes.
        unsafe { std::ptr::write_bytes(address.0.cast::<u8>(), 0, bytes) };
        Ok(Box::new(PinnedMemory(Owned { context, handle: address, free: DriverApi::cuMemFreeHost })))
    }

    fn queue(&self) -> Result<Box<dyn Queue>> {
        Ok(Box::new(queue::CudaQueue::new(Arc::clone(&self.context))?))
    }

    fn graph(&self) -> Result<Option<Box<dyn GraphDriver>>> {
        Ok(Some(Box::new(graph::CudaGraph::new(Arc::clone(&self.context))?)))
    }

    fn compile(&self, kernel: &LoweredKernel<'_>) -> Result<Box<dyn Executable>> {
        Ok(Box::new(module::CudaKernel::new(Arc::clone(&self.context), kernel)?))
    }
}

/// Something of a context's that is nobody else's, and what frees it.
struct Owned<H: Copy> {
    context: Arc<Context>,
    handle: H,
    free: unsafe fn(&DriverApi, H) -> Code,
}

impl<H: Copy> Drop for Owned<H> {
    fn drop(&mut self) {
        // A failure means that the context is lost, with all that is its.
        if self.context.bind().is_ok() {
            // SAFETY: made by this context, and of the kind that this function frees. Who had memory or textures has waited for whoever used them;
            // streams, events and modules are kept by the driver until what is under way has run.
            let _ = unsafe { (self.free)(self.context.driver, self.handle) };
        }
    }
}

/// Memory of the GPU; none if empty.
struct DeviceMemory(Option<Owned<sys::CUdeviceptr>>);

impl Memory for DeviceMemory {
    fn handle(&self) -> u64 {
        self.0.as_ref().map_or(0, |memory| memory.handle)
    }
}

/// Page-locked memory of the host.
struct PinnedMemory(Owned<sys::Handle>);

impl Memory for PinnedMemory {
    fn handle(&self) -> u64 {
        self.0.handle.bits()
    }
}
