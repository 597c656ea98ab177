//! What a device must do. One folder implements it for each driver, `cuda` and `opencl`, and `cpu` for the simulator and the host twin.
//!
//! The traits are private to this crate: users meet [`crate::Device`], [`crate::Buffer`], [`crate::Stream`] and [`crate::Launch`],
//! which keep what the traits ask for. A driver knows nothing of types, lifetimes or order between streams; it moves bytes, runs
//! kernels, and turns every failure into an [`Error`](crate::Error).

#![expect(unsafe_code, reason = "copies take plain addresses")]

use crate::arguments::Arguments;
use crate::check::Extents;
use crate::definition::KernelDefinition;
use crate::error::{Error, Result};
use crate::foreign::{PER_THREAD, per_thread_handle};
use crate::instance::LoweredKernel;
use crate::properties::DeviceProperties;
use crate::sim::Counters;
use crate::stream::StreamCore;
use crate::texture::Picture;
use crate::timing::Clock;
use crate::twin::TwinEntry;
use std::any::Any;
use std::borrow::Cow;
use std::ffi::{CString, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;
use warpwright_codegen::backend::{AbiArgument, TextureReads};
use warpwright_codegen::target::limits;

/// What kind of device it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// An NVIDIA GPU through its driver.
    Cuda,
    /// A device of an OpenCL platform.
    OpenCl,
    /// The simulator of this library.
    Simulator,
    /// The kernels' own Rust code on this CPU: the host twin.
    Host,
}

/// What a device can take in one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceLimits {
    /// Threads of a block.
    pub(crate) block_threads: u64,
    /// Extents of a block.
    pub(crate) block: [u64; 3],
    /// Extents of a grid, in blocks.
    pub(crate) grid: [u64; 3],
    /// Shared memory of a block, static and dynamic together, bytes.
    pub(crate) shared_bytes: u64,
    /// All parameters together, bytes.
    pub(crate) parameter_bytes: u64,
    /// Columns and rows of a texture.
    pub(crate) texture: [u64; 2],
}

const fn widened([x, y, z]: [u32; 3]) -> [u64; 3] {
    [x as u64, y as u64, z as u64]
}

impl DeviceLimits {
    /// Those of current NVIDIA GPUs (compute capability 9.0): what the simulator and the host twin keep to, so that a launch that
    /// works there works on a GPU. Source: CUDA C++ Programming Guide, "Technical specifications per compute capability".
    pub(crate) const NVIDIA: DeviceLimits = DeviceLimits {
        block_threads: DeviceLimits::NVIDIA_ROW.threads_per_block as u64,
        block: widened(limits::BLOCK_EXTENT),
        grid: widened(limits::GRID_EXTENT),
        shared_bytes: DeviceLimits::NVIDIA_ROW.shared_opted_in as u64,
        parameter_bytes: DeviceLimits::NVIDIA_ROW.parameter_bytes as u64,
        texture: [131_072, 65_536],
    };

    /// What a multiprocessor of these holds.
    pub(crate) const NVIDIA_ROW: &'static limits::Limits = match limits::Limits::of(90) {
        Some(row) => row,
        None => panic!("there is compute capability 9.0"),
    };
}

/// What a device is, and what a launch may ask of it.
#[derive(Clone)]
pub(crate) struct DeviceIdentity {
    pub(crate) kind: DeviceKind,
    /// The vendor's name for it.
    pub(crate) name: Cow<'static, str>,
    /// What kernels are compiled for: `sm_90`, `opencl-1.2`.
    pub(crate) target: Cow<'static, str>,
    /// Which of several of that name it is: `GPU 1`.
    pub(crate) place: Option<String>,
    pub(crate) limits: DeviceLimits,
}

impl DeviceIdentity {
    /// The device as an error names it: `NVIDIA H200`; of several, `NVIDIA H200, GPU 1`.
    pub(crate) fn named(&self) -> String {
        match &self.place {
            Some(place) => format!("{}, {place}", self.name),
            None => self.name.to_string(),
        }
    }
}

/// A device.
pub(crate) trait DeviceDriver: Any + Send + Sync {
    /// What it is.
    fn identity(&self) -> &DeviceIdentity;

    /// All that is known of it.
    fn properties(&self) -> DeviceProperties {
        DeviceProperties::new(self.identity())
    }

    /// Bytes of its memory that nobody has, where it can tell.
    fn free_memory(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Gives back what it keeps of memory that nobody has.
    fn release_unused_memory(&self) -> Result<()> {
        Ok(())
    }

    /// Whether queues can copy from the memory of another device, and wait for its queues; sees to it that they can do so the fastest way.
    fn connect(&self, _peer: &dyn DeviceDriver) -> Result<bool> {
        Ok(false)
    }

    /// Makes its context the calling thread's, where it has one: other libraries look there.
    fn make_current(&self) -> Result<()> {
        Ok(())
    }

    /// The CUDA context.
    fn context(&self) -> Option<*mut c_void> {
        None
    }

    /// Whether memory is known by an address that other libraries know it by, too.
    fn has_addresses(&self) -> bool {
        true
    }

    /// A queue of others, by their handle: used only while somebody keeps that.
    fn foreign_queue(&self, _handle: u64) -> Result<Box<dyn Queue>> {
        let DeviceIdentity { name, target, .. } = self.identity();
        let what = "has no streams of other libraries; use `device.stream()`, or a CUDA device".to_owned();
        Err(Error::Unsupported { device: format!("{name} ({target})"), what })
    }

    /// Whether every call has done its work when it returns: no order between streams need be kept.
    fn is_synchronous(&self) -> bool;

    /// Memory of this many bytes, zero too, for what comes later in a queue; contents undefined.
    fn allocate(&self, bytes: usize, queue: &dyn Queue) -> Result<Box<dyn Memory>>;

    /// A texture, contents undefined. What `DeviceLimits` says of its extent has been checked.
    fn texture(&self, picture: &Picture) -> Result<Box<dyn Memory>>;

    /// Host memory that copies to and from the device run fastest with, zeroed. Its handle is the address, aligned to 64 bytes at least.
    fn allocate_host(&self, bytes: usize) -> Result<Box<dyn Memory>>;

    /// A new in-order queue.
    fn queue(&self) -> Result<Box<dyn Queue>>;

    /// An empty graph, where the driver has such: elsewhere the steps are launched one by one.
    ///
    /// # Errors
    /// [`Error::DriverTooOld`].
    fn graph(&self) -> Result<Option<Box<dyn GraphDriver>>> {
        Ok(None)
    }

    /// Compiles one instance.
    fn compile(&self, kernel: &LoweredKernel<'_>) -> Result<Box<dyn Executable>>;
}

/// Memory, freed when dropped. The owner sees to it that no queue still works with it then; of memory that is freed in order, that the queue it is freed in comes after all of them.
pub(crate) trait Memory: Send + Sync {
    /// The device's address or object.
    fn handle(&self) -> u64;

    /// Whether it can be freed while queues work with it, by [`Memory::free_in_order`].
    fn is_freed_in_order(&self) -> bool {
        false
    }

    /// Frees it when a queue has come so far.
    fn free_in_order(self: Box<Self>, _queue: &dyn Queue) {}

    /// What it holds if the driver keeps it as a texture: copies then go through other calls.
    fn picture(&self) -> Option<&Picture> {
        None
    }

    /// What a kernel reads a texture through: CUDA's texture object, OpenCL's sampler.
    fn reader(&self, _reads: TextureReads) -> u64 {
        0
    }
}

/// What is copied between two memories: how many bytes, and where they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(crate) bytes: usize,
    pub(crate) to: usize,
    pub(crate) from: usize,
}

impl Copied {
    /// From the start to the start.
    pub(crate) fn of(bytes: usize) -> Copied {
        Copied { bytes, to: 0, from: 0 }
    }
}

/// Work in order.
pub(crate) trait Queue: Any + Send + Sync {
    /// The driver's handle.
    fn handle(&self) -> u64;

    /// Copies `bytes` bytes from `from` to the start of `to`. With `wait`, returns when `from` has been read.
    ///
    /// # Safety
    /// `to` is this device's and has that many bytes; `from` is valid for reads of that many until the copy has run.
    unsafe fn write(&self, to: &dyn Memory, from: *const u8, bytes: usize, wait: bool) -> Result<()>;

    /// Copies `bytes` bytes from the start of `from` to `to`. With `wait`, returns when they are there.
    ///
    /// # Safety
    /// `from` is this device's and has that many bytes; `to` is valid for writes of that many until the copy has run.
    unsafe fn read(&self, from: &dyn Memory, to: *mut u8, bytes: usize, wait: bool) -> Result<()>;

    /// Writes `bytes` zero bytes to the start of `to`.
    ///
    /// # Safety
    /// `to` is this device's and has that many bytes.
    unsafe fn zero(&self, to: &dyn Memory, bytes: usize) -> Result<()>;

    /// Copies bytes from one memory to another, in order, and does not wait.
    ///
    /// # Safety
    /// Both are this device's, have that many bytes where it says, and are not the same; a texture is copied to whole.
    unsafe fn copy(&self, to: &dyn Memory, from: &dyn Memory, what: Copied) -> Result<()>;

    /// The same from the memory of another device, which this one is connected to.
    ///
    /// # Safety
    /// As for [`Queue::copy`], but for `from`, which is that device's.
    unsafe fn copy_from_peer(&self, _to: &dyn Memory, _from: &dyn Memory, _peer: &dyn DeviceDriver, _what: Copied) -> Result<()> {
        // Asked of devices that are connected only.
        Err(Error::internal("copy_from_peer"))
    }

    /// What comes later in this queue runs after what is now in `other`, a queue of the same device or of one that it is connected to.
    fn order_after(&self, other: &dyn Queue) -> Result<()>;

    /// Marks the present end of the queue.
    fn record(&self) -> Result<Box<dyn Marker>>;

    /// The same of whoever only asks whether the queue has come so far: no time is taken, which costs the device some.
    fn mark(&self) -> Result<Box<dyn Marker>> {
        self.record()
    }

    /// What comes later in this queue runs after `marker`, of a queue of the same device.
    fn wait(&self, marker: &dyn Marker) -> Result<()>;

    /// What launches note of it, if that is of use.
    fn notes(&self) -> Option<Arc<Notes>> {
        None
    }

    /// The first fault of what has run in this queue, where the device keeps them until they are asked for.
    fn check_faults(&self) -> Result<()> {
        Ok(())
    }

    /// Waits until all that is in the queue has run, and gives the first fault among it.
    fn synchronize(&self) -> Result<()>;
}

/// What is noted of a queue of the CUDA driver, at hand for launches.
#[derive(Default)]
pub(crate) struct Notes {
    /// The kernel launched last, to name one when the queue fails.
    pub(crate) last: AtomicPtr<KernelDefinition>,
    /// Of a thread's default stream: whether the stream that stands for it was asked for.
    pub(crate) is_stood_for: AtomicBool,
}

impl Notes {
    /// Of a thread's default stream: its handle in the calling thread, to put something into it.
    pub(crate) fn per_thread_handle(&self) -> u64 {
        let handle = per_thread_handle(self.address());
        if handle != PER_THREAD {
            self.is_stood_for.store(true, Ordering::Relaxed);
        }
        handle
    }

    /// Whether the stream that stands for it was asked for since this was called.
    #[cfg(feature = "cudarc")]
    #[inline]
    pub(crate) fn take_stood_for(&self) -> bool {
        self.is_stood_for.load(Ordering::Relaxed) && self.is_stood_for.swap(false, Ordering::Relaxed)
    }

    /// Where they lie: by that the default stream of a thread is told from others.
    pub(crate) fn address(&self) -> *const () {
        std::ptr::from_ref(self).cast()
    }
}

/// A place in a queue.
pub(crate) trait Marker: Send + Sync {
    /// The driver's handle.
    fn handle(&self) -> u64;

    /// Whether the queue has come so far.
    fn is_complete(&self) -> Result<bool>;

    /// Waits until it has.
    fn synchronize(&self) -> Result<()>;

    /// Time from `start` to this one, both passed.
    fn since(&self, start: &dyn Marker) -> Result<Duration>;

    /// The host time of its making, where that is what the device has.
    fn host_time(&self) -> Option<std::time::Instant> {
        None
    }
}

/// One launch, checked.
pub(crate) struct LaunchPlan<'p> {
    /// The kernel.
    pub(crate) definition: &'static KernelDefinition,
    /// Its host twin.
    pub(crate) twin: TwinEntry,
    /// Blocks, threads, shared memory.
    pub(crate) extents: Extents,
    /// One for each parameter, all of this device; by-value ones laid out as it has them.
    pub(crate) arguments: Cow<'p, Arguments<'p>>,
}

impl LaunchPlan<'_> {
    /// The grid that is started where the device holds so many blocks at once and each runs for several: no more than there are.
    pub(crate) fn started(&self, resident: u32) -> [u32; 3] {
        let blocks: u64 = self.extents.grid.iter().map(|extent| u64::from(*extent)).product();
        [u32::try_from(blocks.min(u64::from(resident.max(1)))).unwrap_or(u32::MAX), 1, 1]
    }
}

/// A step of a graph, with its memory.
pub(crate) enum GraphWork<'w> {
    /// A kernel of the device's.
    Launch { executable: &'w dyn Executable, plan: &'w LaunchPlan<'w> },
    /// So many bytes from the start of memory on are zero.
    Zero { to: &'w dyn Memory, bytes: usize },
    /// So many bytes from the start of one to the start of another.
    Copy { to: &'w dyn Memory, from: &'w dyn Memory, bytes: usize },
}

/// A graph of the driver's. Its steps have numbers, from 0 on.
pub(crate) trait GraphDriver: Send + Sync {
    /// Whether a step must be put into it before the next replay.
    fn needs(&self, step: usize) -> bool;

    /// Whether any must.
    fn is_stale(&self) -> bool;

    /// A step is another one from now on.
    fn forget(&mut self, step: usize);

    /// Puts a step into it, after steps of lower numbers; or the same step with other memory or values in its place.
    fn put(&mut self, step: usize, work: &GraphWork<'_>, after: &[usize]) -> Result<()>;

    /// Puts a run of it into a stream.
    fn replay(&mut self, stream: &Arc<StreamCore>) -> Result<()>;
}

/// A compiled instance.
pub(crate) trait Executable: Any + Send + Sync {
    /// Puts one run into the stream. The simulator's gives its counters.
    fn launch(&self, plan: &LaunchPlan<'_>, stream: &Arc<StreamCore>) -> Result<Option<Counters>>;

    /// The same where nobody asks for counters.
    fn put(&self, plan: &LaunchPlan<'_>, stream: &Arc<StreamCore>) -> Result<()> {
        self.launch(plan, stream).map(drop)
    }

    /// Runs it `runs` times after one untimed run; gives the time of each and whose clock that is.
    fn time(&self, plan: &LaunchPlan<'_>, stream: &Arc<StreamCore>, runs: usize) -> Result<(Vec<Duration>, Clock)>;

    /// Whether the warps of a block of these extents are warps of the device (see [`DeviceProperties::has_warps`]).
    fn has_warps(&self, _block: [u32; 3]) -> Result<bool> {
        Ok(true)
    }
}

/// The kernel parameter that an argument of the calling convention belongs to.
pub(crate) fn parameter_of(argument: &AbiArgument) -> Option<usize> {
    match argument {
        AbiArgument::Value { param, .. }
        | AbiArgument::Buffer { param }
        | AbiArgument::Length { param, .. }
        | AbiArgument::Texture { param, .. }
        | AbiArgument::Extent { param, .. }
        | AbiArgument::Image { param }
        | AbiArgument::Sampler { param, .. }
        | AbiArgument::ConstantSymbol { param, .. } => Some(*param),
        AbiArgument::TensorMap(map) => Some(map.matrix.data),
        AbiArgument::DynamicShared
        | AbiArgument::Exchange { .. }
        | AbiArgument::DynamicLength { .. }
        | AbiArgument::AskedGrid { .. }
        | AbiArgument::Fault => None,
    }
}

/// A text as C takes it. `kernel`: whose it is, for messages.
pub(crate) fn c_string(kernel: &'static str, text: &str) -> Result<CString> {
    // Nothing that is emitted has a zero byte.
    CString::new(text).map_err(|_| Error::internal(kernel))
}
