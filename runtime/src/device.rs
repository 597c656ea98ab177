//! Devices: one type over CUDA, OpenCL, the simulator and the host twin.

use crate::buffer::{Allocation, Buffer, ConstantBuffer};
use crate::cache::Cache;
use crate::driver::{DeviceDriver, DeviceLimits};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::followers::Followers;
#[cfg(feature = "cudarc")]
use crate::foreign::PER_THREAD;
use crate::foreign::{LEGACY, SharedKeep};
use crate::matrix::{BufferMatrix, BufferMatrixMut};
use crate::pinned::PinnedBuffer;
use crate::properties::DeviceProperties;
use crate::stream::{Stream, StreamCore};
use crate::texture::{Sampling, Texel, Texture};
use crate::{cpu, cuda, opencl};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use warpwright_codegen::target::limits::CONSTANT_BYTES;

pub use crate::driver::DeviceKind;

/// A device that kernels run on. Cheap to clone; asked for twice, it is the same device, and equal.
#[derive(Clone)]
pub struct Device {
    core: Arc<DeviceCore>,
}

pub(crate) struct DeviceCore {
    driver: Box<dyn DeviceDriver>,
    stream: Arc<StreamCore>,
    /// The others that still live somewhere.
    streams: Mutex<Vec<Weak<StreamCore>>>,
    /// Of these, those that have a failure to tell, or may have: they live until somebody was told.
    telling: Mutex<Vec<Arc<StreamCore>>>,
    /// Whether some thread has lent in its default stream.
    lends_per_thread: AtomicBool,
    #[cfg(feature = "cudarc")]
    between_default_streams: OnceLock<StreamCore>,
    cache: Cache,
    properties: OnceLock<DeviceProperties>,
    /// Held while collectives of several devices go into their streams.
    collectives: Mutex<()>,
    /// Where a failure is to be told, too.
    followers: Followers,
}

/// Devices made so far, with the number each was asked for by. They live as long as the program: their buffers may.
static OPENED: Mutex<Vec<(DeviceKind, usize, Slot)>> = Mutex::new(Vec::new());

/// A device, once somebody has opened it.
type Slot = Arc<Mutex<Option<Device>>>;

/// Devices of contexts that are others', by the context. They live as long as somebody has one.
static FOREIGN: Mutex<Vec<(usize, Weak<DeviceCore>)>> = Mutex::new(Vec::new());

/// A device that somebody else keeps.
#[derive(Debug)]
pub(crate) struct KnownDevice(Weak<DeviceCore>);

impl KnownDevice {
    pub(crate) fn get(&self) -> Option<Device> {
        self.0.upgrade().map(|core| Device { core })
    }

    pub(crate) fn is(&self, device: &Device) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&device.core))
    }
}

impl Device {
    /// The best device there is: the first CUDA GPU if a driver and a GPU answer, else OpenCL (a GPU if there is one), else the simulator,
    /// which always works. Who wants to know why a GPU does not answer asks for it: [`Device::cuda`].
    pub fn best() -> Device {
        Device::cuda(0).or_else(|_| Device::opencl(0)).unwrap_or_else(|_| Device::simulator())
    }

    /// The `index`-th GPU of the CUDA driver.
    ///
    /// # Errors
    /// [`Error::NoDriver`] without a driver, [`Error::NoDevice`] without that GPU, [`Error::DriverTooOld`], [`Error::Driver`].
    pub fn cuda(index: usize) -> Result<Device> {
        Device::open(DeviceKind::Cuda, index, || cuda::open(index))
    }

    /// The `index`-th OpenCL device: of all platforms, GPUs first.
    ///
    /// # Errors
    /// [`Error::NoDriver`] without a loader or without a platform, [`Error::NoDevice`] without that device,
    /// [`Error::Driver`].
    pub fn opencl(index: usize) -> Result<Device> {
        Device::open(DeviceKind::OpenCl, index, || opencl::open(index))
    }

    /// The simulator: runs the compiled kernel warp by warp on this CPU, checks every access and counts.
    pub fn simulator() -> Device {
        Device::open_always(DeviceKind::Simulator, 0, || Box::new(cpu::simulator(0)))
    }

    /// So many simulators, each a device of its own with memory of its own, the first of them [`Device::simulator`]: what is meant for several GPUs runs on them.
    pub fn simulators(count: usize) -> Vec<Device> {
        (0..count).map(|index| Device::open_always(DeviceKind::Simulator, index, || Box::new(cpu::simulator(index)))).collect()
    }

    /// A simulator with a weak memory, a device of its own: atomics see and do what the memory model of PTX lets them beyond any order of the steps ([`SimOptions::weak_memory`](crate::sim::SimOptions::weak_memory)),
    /// chosen by this seed. Kernels without atomics run there as on [`Device::simulator`].
    pub fn weak_simulator(seed: u64) -> Device {
        Device::with_driver(Box::new(cpu::weak_simulator(seed))).expect("the CPU's own devices need no driver, and their queues none")
    }

    /// All GPUs of the CUDA driver; none without one.
    pub fn gpus() -> Vec<Device> {
        (0..cuda::count()).filter_map(|index| Device::cuda(index).ok()).collect()
    }

    /// The host twin: runs the kernel's own Rust code, as rustc compiled it, on this CPU.
    pub fn host() -> Device {
        Device::open_always(DeviceKind::Host, 0, || Box::new(cpu::HOST_TWIN))
    }

    /// Every device there is: GPUs of the CUDA driver, OpenCL's devices, one simulator, the host twin.
    pub fn all() -> Vec<Device> {
        let cuda = Device::gpus().into_iter();
        let opencl = (0..opencl::count()).filter_map(|index| Device::opencl(index).ok());
        cuda.chain(opencl).chain([Device::simulator(), Device::host()]).collect()
    }

    fn open(kind: DeviceKind, index: usize, make: impl FnOnce() -> Result<Box<dyn DeviceDriver>>) -> Result<Device> {
        let slot = {
            let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
            match opened.iter().find(|(k, i, _)| (*k, *i) == (kind, index)) {
                Some((.., slot)) => Arc::clone(slot),
                None => {
                    let slot = Slot::default();
                    opened.push((kind, index, Arc::clone(&slot)));
                    slot
                }
            }
        };
        // Drivers take seconds at times: who wants this device waits, and nobody who has another.
        let mut device = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = &*device {
            return Ok(device.clone());
        }
        Ok(device.insert(Device::with_driver(make()?)?).clone())
    }

    /// The device of a context of others.
    pub(crate) fn of_foreign(context: usize, make: impl FnOnce() -> Result<Box<dyn DeviceDriver>>) -> Result<Device> {
        let mut foreign = FOREIGN.lock().unwrap_or_else(PoisonError::into_inner);
        foreign.retain(|(_, core)| core.strong_count() != 0);
        let found = foreign.iter().find(|(other, _)| *other == context).and_then(|(_, core)| core.upgrade());
        if let Some(core) = found {
            return Ok(Device { core });
        }
        let device = Device::with_driver(make()?)?;
        foreign.push((context, Arc::downgrade(&device.core)));
        Ok(device)
    }

    /// The stream of others that has this handle. `keep` is only called where nobody keeps it.
    pub(crate) fn foreign_stream(&self, handle: u64, keep: impl FnOnce() -> Option<SharedKeep>) -> Result<Stream> {
        let driver = &self.core.driver;
        let mut streams = self.core.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |core: &Arc<StreamCore>| core.has_handle(handle);
        if driver.identity().kind == DeviceKind::Cuda {
            let own = || Some(&self.core.stream).filter(|own| is_it(own)).map(Arc::clone);
            // A core that a thread has let go of only that thread may take up again, and not beside another: its owner would not know when to let go.
            let kept = |core: &Arc<StreamCore>| is_it(core) && StreamCore::is_kept_or_given_up(core);
            if let Some(known) = streams.iter().filter_map(Weak::upgrade).find(kept).or_else(own) {
                return Ok(Stream::new(self.clone(), known));
            }
        }
        let core = StreamCore::of_others(handle, driver.foreign_queue(handle)?, driver.is_synchronous(), keep());
        Ok(self.listed(&mut streams, core))
    }

    /// A default stream of the calling thread, in which it may lend.
    #[cfg(feature = "cudarc")]
    pub(crate) fn per_thread_stream(&self) -> Result<Stream> {
        let driver = &self.core.driver;
        let core = StreamCore::of_others(PER_THREAD, driver.foreign_queue(PER_THREAD)?, driver.is_synchronous(), None);
        self.core.lends_per_thread.store(true, Ordering::Relaxed);
        Ok(self.listed(&mut self.core.streams.lock().unwrap_or_else(PoisonError::into_inner), core))
    }

    /// Who it is, for somebody who does not keep it.
    pub(crate) fn known(&self) -> KnownDevice {
        KnownDevice(Arc::downgrade(&self.core))
    }

    /// A stream for order between default streams: of nobody else, so that nothing waits for what anybody does.
    #[cfg(feature = "cudarc")]
    pub(crate) fn between_default_streams(&self) -> Result<&StreamCore> {
        let between = &self.core.between_default_streams;
        if let Some(stream) = between.get() {
            return Ok(stream);
        }
        let driver = &self.core.driver;
        let stream = StreamCore::new(driver.queue()?, driver.is_synchronous());
        Ok(between.get_or_init(|| stream))
    }

    /// A stream that is in the list of streams from now on.
    fn listed(&self, streams: &mut Vec<Weak<StreamCore>>, core: StreamCore) -> Stream {
        let core = Arc::new(core);
        streams.retain(|stream| stream.strong_count() != 0);
        streams.push(Arc::downgrade(&core));
        Stream::new(self.clone(), core)
    }

    /// A device of its own, in no list.
    pub(crate) fn with_driver(driver: Box<dyn DeviceDriver>) -> Result<Device> {
        let stream = StreamCore::new(driver.queue()?, driver.is_synchronous());
        let core = DeviceCore {
            driver,
            stream: Arc::new(stream),
            streams: Mutex::default(),
            telling: Mutex::default(),
            lends_per_thread: AtomicBool::new(false),
            #[cfg(feature = "cudarc")]
            between_default_streams: OnceLock::new(),
            cache: Cache::default(),
            properties: OnceLock::new(),
            collectives: Mutex::new(()),
            followers: Followers::default(),
        };
        Ok(Device { core: Arc::new(core) })
    }

    fn open_always(kind: DeviceKind, index: usize, make: impl FnOnce() -> Box<dyn DeviceDriver>) -> Device {
        Device::open(kind, index, || Ok(make())).expect("the CPU's own devices need no driver, and their queues none")
    }

    /// The vendor's name for it: `NVIDIA H200`, `Simulator`.
    pub fn name(&self) -> &str {
        &self.core.driver.identity().name
    }

    /// What it has in common with others of its kind, and measurements are kept for: `NVIDIA H200 (sm_90)`.
    pub fn model(&self) -> String {
        format!("{} ({})", self.name(), self.target())
    }

    /// What kernels are compiled for: `sm_90`, `opencl-1.2`, `simulator`, `host`.
    pub fn target(&self) -> &str {
        &self.core.driver.identity().target
    }

    /// What kind of device it is.
    pub fn kind(&self) -> DeviceKind {
        self.core.driver.identity().kind
    }

    /// What it has: multiprocessors, memory, clocks, caches, limits.
    pub fn properties(&self) -> &DeviceProperties {
        self.core.properties.get_or_init(|| self.core.driver.properties())
    }

    /// Bytes of its memory that nobody uses at the moment, this program or another; `None` where the device cannot tell: CUDA's can.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device failed.
    pub fn free_memory(&self) -> Result<Option<u64>> {
        self.core.driver.free_memory()
    }

    /// Gives back to the driver what this device keeps of buffers that were dropped. A CUDA device keeps all of it for the next buffers, which costs no time then, and takes from it before it says that memory is out; whoever
    /// else allocates on the GPU, in this program or another, has to do without. [`Device::free_memory`] counts it as free. Waits for all that the device does.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device failed.
    pub fn release_unused_memory(&self) -> Result<()> {
        self.core.driver.release_unused_memory()
    }

    /// A buffer of these elements.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::TooLarge`], [`Error::Driver`].
    pub fn upload<T: Element>(&self, elements: &[T]) -> Result<Buffer<T>> {
        self.upload_in(elements, &self.core.stream)
    }

    /// A buffer of `len` elements, all bytes zero.
    ///
    /// # Errors
    /// [`Error::NoZero`] if that is no value of the elements' type, [`Error::OutOfMemory`], [`Error::TooLarge`], [`Error::Driver`].
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        self.zeros_in(len, &self.core.stream)
    }

    /// Constant memory for a `&Constant<[T; N]>` parameter: 64 KiB at most.
    ///
    /// # Errors
    /// [`Error::ConstantTooLarge`], [`Error::OutOfMemory`], [`Error::Driver`].
    pub fn constant<A: Element>(&self, array: A) -> Result<ConstantBuffer<A>> {
        check_constant(size_of::<A>())?;
        ConstantBuffer::new(self, array)
    }

    /// The same from a slice of as many elements: where they are computed or read, and no array of them is at hand. The length is the type's:
    /// `device.constant_from_slice::<f32, 256>(&table)?`, or as what it is passed to says.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the slice has another length, and as [`Device::constant`].
    pub fn constant_from_slice<T: Element, const N: usize>(&self, elements: &[T]) -> Result<ConstantBuffer<[T; N]>> {
        check_constant(size_of::<[T; N]>())?;
        ConstantBuffer::from_slice(self, elements)
    }

    /// A texture of so many columns and rows, its texels given row by row, for a `&Texture2d<T>` parameter. `sampling` says how kernels read it:
    ///
    /// ```text
    /// let photo = device.texture((640, 480), &brightness, Sampling { filter: Filter::Linear, ..Sampling::default() })?;
    /// ```
    ///
    /// # Errors
    /// [`Error::Texture`] for an extent, a number of texels or a filter that no texture of the device can have; [`Error::OutOfMemory`],
    /// [`Error::Driver`].
    pub fn texture<T: Texel>(&self, extent: (usize, usize), texels: &[T], sampling: Sampling) -> Result<Texture<T>> {
        Texture::new(self, extent, texels, sampling)
    }

    /// A buffer as a matrix, row after row from its first element on, for a `&Matrix<T>` parameter. `.pitch(n)` says how many elements are from row to
    /// row, where that is more than `columns`:
    ///
    /// ```text
    /// scaled(device.matrix(&a, 100, 60)?.pitch(64)?, device.matrix_mut(&mut c, 100, 60)?).grid((2, 4)).launch(&device)?;
    /// ```
    ///
    /// # Errors
    /// [`Error::Matrix`] if the buffer has fewer elements than the matrix; [`Error::NoZero`] if zero, which elements outside of it are read as, is no value
    /// of their type.
    pub fn matrix<'a, T: Element>(&self, buffer: &'a Buffer<T>, rows: usize, columns: usize) -> Result<BufferMatrix<'a, T>> {
        BufferMatrix::new(buffer, rows, columns)
    }

    /// The same for a `&mut Matrix<T>` parameter.
    ///
    /// # Errors
    /// As [`Device::matrix`].
    pub fn matrix_mut<'a, T: Element>(&self, buffer: &'a mut Buffer<T>, rows: usize, columns: usize) -> Result<BufferMatrixMut<'a, T>> {
        BufferMatrixMut::new(buffer, rows, columns)
    }

    /// A host buffer of `len` elements, all bytes zero, that copies to and from this device fastest and without waiting.
    ///
    /// # Errors
    /// [`Error::NoZero`] if that is no value of the elements' type, [`Error::OutOfMemory`], [`Error::TooLarge`], [`Error::Driver`].
    pub fn pinned<T: Element>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        PinnedBuffer::new(self, len)
    }

    /// A new stream beside the device's own, which [`Launch::launch`](crate::Launch::launch) and the buffers' copies use.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::OutOfMemory`].
    pub fn stream(&self) -> Result<Stream> {
        let driver = &self.core.driver;
        let core = StreamCore::new(driver.queue()?, driver.is_synchronous());
        Ok(self.listed(&mut self.core.streams.lock().unwrap_or_else(PoisonError::into_inner), core))
    }

    /// The device's own stream.
    pub fn default_stream(&self) -> Stream {
        Stream::new(self.clone(), Arc::clone(&self.core.stream))
    }

    /// Waits until everything in all streams of the device has run. The first failure comes back after all have been waited for.
    ///
    /// # Errors
    /// [`Error::Fault`] if a kernel faulted, [`Error::Driver`] if the device failed.
    pub fn synchronize(&self) -> Result<()> {
        let streams: Vec<_> = {
            let streams = self.core.streams.lock().unwrap_or_else(PoisonError::into_inner);
            streams.iter().filter_map(Weak::upgrade).filter(StreamCore::is_kept).collect()
        };
        let own = self.core.stream.synchronize();
        let all = streams.iter().map(|stream| stream.synchronize()).fold(own, Result::and);
        self.lives_until_told([]);
        if !self.core.lends_per_thread.load(Ordering::Relaxed) {
            return all;
        }
        // Of threads that have ended, or lend elsewhere since, nobody here knows; the legacy default stream is behind the default streams of all.
        all.and_then(|()| self.core.driver.foreign_queue(LEGACY)?.mark()?.synchronize())
    }

    /// Says that something in a stream went wrong: to all streams, since any may have waited for that one, and to those of devices that what is there is being copied to.
    pub(crate) fn fail(&self, error: &Error) {
        let mut told = vec![self.clone()];
        let mut next = 0;
        while let Some(device) = told.get(next).cloned() {
            next += 1;
            device.fail_here(error);
            let others = device.core.followers.take();
            told.extend(others.into_iter().filter(|other| !told.contains(other)).collect::<Vec<_>>());
        }
    }

    /// The other device's own stream has a copy of something here, behind what may fail here.
    pub(crate) fn is_copied_to(&self, other: &Device) -> Result<()> {
        self.core.followers.add(other)
    }

    fn fail_here(&self, error: &Error) {
        self.core.stream.fail(error.clone());
        let streams: Vec<_> = {
            let streams = self.core.streams.lock().unwrap_or_else(PoisonError::into_inner);
            streams.iter().filter_map(Weak::upgrade).filter(StreamCore::is_kept).collect()
        };
        streams.iter().for_each(|stream| stream.fail(error.clone()));
        self.lives_until_told(streams);
    }

    /// Has streams live until what fails in them, or has failed, was told: whoever used them may have let go of them already.
    pub(crate) fn lives_until_told(&self, streams: impl IntoIterator<Item = Arc<StreamCore>>) {
        let done: Vec<_> = {
            let mut telling = self.core.telling.lock().unwrap_or_else(PoisonError::into_inner);
            telling.extend(streams);
            telling.sort_unstable_by_key(Arc::as_ptr);
            telling.dedup_by_key(|stream| Arc::as_ptr(stream));
            let (left, done) = std::mem::take(&mut *telling).into_iter().partition(|stream| stream.may_have_to_tell());
            *telling = left;
            done
        };
        // The end of a stream calls the driver, and others' code, without the lock.
        drop(done);
    }

    /// A number that orders devices.
    pub(crate) fn order(&self) -> usize {
        Arc::as_ptr(&self.core).addr()
    }

    /// Held while collectives of several devices go into their streams.
    pub(crate) fn lock_collectives(&self) -> MutexGuard<'_, ()> {
        self.core.collectives.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn driver(&self) -> &dyn DeviceDriver {
        &*self.core.driver
    }

    pub(crate) fn limits(&self) -> &DeviceLimits {
        &self.core.driver.identity().limits
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.core.cache
    }

    pub(crate) fn own_stream(&self) -> &Arc<StreamCore> {
        &self.core.stream
    }

    /// Memory in the order of a stream of this device.
    pub(crate) fn allocate(&self, bytes: usize, stream: &Arc<StreamCore>) -> Result<Allocation> {
        Allocation::in_stream(self.clone(), self.core.driver.allocate(bytes, stream.queue())?, stream)
    }

    pub(crate) fn upload_in<T: Element>(&self, elements: &[T], stream: &Arc<StreamCore>) -> Result<Buffer<T>> {
        let buffer = Buffer::new(self, elements.len(), stream)?;
        buffer.write_in(elements, stream)?;
        Ok(buffer)
    }

    pub(crate) fn zeros_in<T: Element>(&self, len: usize, stream: &Arc<StreamCore>) -> Result<Buffer<T>> {
        let buffer = Buffer::new(self, len, stream)?;
        buffer.clear_in(stream)?;
        Ok(buffer)
    }
}

/// Whether so many bytes fit into constant memory.
fn check_constant(bytes: usize) -> Result<()> {
    let limit = CONSTANT_BYTES as usize;
    if bytes > limit { Err(Error::ConstantTooLarge { bytes, limit }) } else { Ok(()) }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.core, &other.core)
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    /// `NVIDIA H200 (sm_90)`; of several GPUs `NVIDIA H200 (sm_90), GPU 1`; with a context of others that, too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.model())?;
        self.core.driver.identity().place.as_ref().map_or(Ok(()), |place| write!(f, ", {place}"))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_device_that_is_slow_to_open_keeps_nobody_from_others() {
        let ((begins, has_begun), (goes_on, may_go_on)) = (channel(), channel::<()>());
        let slow = move || -> Result<Box<dyn DeviceDriver>> {
            begins.send(()).unwrap();
            may_go_on.recv().unwrap();
            Ok(Box::new(cpu::simulator(1000)))
        };
        let opening = std::thread::spawn(|| Device::open(DeviceKind::Simulator, 1000, slow).unwrap());
        has_begun.recv().unwrap();
        let others = [1001, 1001].map(|index| Device::open_always(DeviceKind::Simulator, index, || Box::new(cpu::simulator(index))));
        assert_eq!(others[0], others[1], "opened once");
        goes_on.send(()).unwrap();
        let opened = opening.join().unwrap();
        assert_ne!(opened, others[0]);
        assert_eq!(opened, Device::open_always(DeviceKind::Simulator, 1000, || unreachable!("it is open")));
    }

    #[test]
    fn a_device_that_was_not_there_is_asked_for_again() {
        let absent = || Err(Error::NoDevice { api: "simulator", index: 1002, found: "none".to_owned() });
        assert!(Device::open(DeviceKind::Simulator, 1002, absent).is_err());
        assert!(Device::open(DeviceKind::Simulator, 1002, || Ok(Box::new(cpu::simulator(1002)))).is_ok());
    }
}
