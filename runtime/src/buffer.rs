//! Typed memory on a device.

#![expect(unsafe_code, reason = "moves elements as plain bytes")]

use crate::device::Device;
use crate::driver::{Copied, Memory};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::order::Uses;
use crate::pinned::PinnedBuffer;
use crate::stream::{Stream, StreamCore};
use crate::validity::make_valid;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Memory of a device, and who still works with it. Freed behind them: in the order of the stream it was made in where the driver can, else once they have been waited for.
// What launches look at comes first, together: the driver's own work leaves little of it in the caches.
#[repr(C)]
pub(crate) struct Allocation {
    /// Not counted where the memory is lent.
    device: ManuallyDrop<Device>,
    /// The memory's, at hand for launches.
    handle: u64,
    uses: Uses,
    serial: u64,
    /// The stream it was made in.
    home: Option<Arc<StreamCore>>,
    memory: Held,
}

/// What an allocation holds.
enum Held {
    /// Memory of its own.
    Own(Box<dyn Memory>),
    /// Memory that is lent, or was freed: its address alone.
    Lent(Address),
}

/// The device's address of memory that others see to.
struct Address(u64);

impl Memory for Address {
    fn handle(&self) -> u64 {
        self.0
    }
}

/// Serial numbers that a thread takes at once: whoever lends takes one for each slice, and what all threads share costs more than what is a thread's own.
const SERIALS: u64 = 1 << 16;

thread_local! {
    /// The thread's next one, if it is no multiple of `SERIALS`.
    static SERIAL: Cell<u64> = const { Cell::new(0) };
}

/// A serial number that nobody else has.
#[inline]
fn new_serial() -> u64 {
    let of_thread = |next: &Cell<u64>| {
        let serial = if next.get().is_multiple_of(SERIALS) { take_serials() } else { next.get() };
        next.set(serial + 1);
        serial
    };
    // At a thread's end none are kept.
    SERIAL.try_with(of_thread).unwrap_or_else(|_| take_serials())
}

/// The first of as many as a thread takes at once.
#[cold]
fn take_serials() -> u64 {
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    TAKEN.fetch_add(SERIALS, Ordering::Relaxed) + 1
}

impl Allocation {
    /// Memory that is there whatever streams do.
    pub(crate) fn new(device: Device, memory: Box<dyn Memory>) -> Allocation {
        let handle = memory.handle();
        let device = ManuallyDrop::new(device);
        Allocation { device, memory: Held::Own(memory), handle, home: None, uses: Uses::NONE, serial: new_serial() }
    }

    /// Memory of others that a stream wrote last. Neither it nor the device is counted, nor anything allocated: it lives as long as a call.
    ///
    /// # Safety
    /// The stream lives as long as this.
    // Made where it is to lie: copying it would be half of what lending costs.
    #[cfg(feature = "cudarc")]
    #[inline(always)]
    pub(crate) unsafe fn lent(stream: &Stream, handle: u64) -> Allocation {
        let serial = new_serial();
        // SAFETY: the caller's promise.
        let uses = unsafe { Uses::lent_on(stream.core()) };
        // SAFETY: `stream` has the device, and lives as long as this, which does not drop its copy.
        let device = unsafe { std::ptr::from_ref(stream.device()).cast::<ManuallyDrop<Device>>().read() };
        Allocation { device, memory: Held::Lent(Address(handle)), handle, home: None, uses, serial }
    }

    /// Memory that is there for what comes later in a stream: others come after it.
    pub(crate) fn in_stream(device: Device, memory: Box<dyn Memory>, stream: &Arc<StreamCore>) -> Result<Allocation> {
        let mut allocation = Allocation::new(device, memory);
        if allocation.memory().is_freed_in_order() {
            allocation.home = Some(Arc::clone(stream));
            allocation.uses.write_on(stream)?;
        }
        Ok(allocation)
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn memory(&self) -> &dyn Memory {
        match &self.memory {
            Held::Own(memory) => &**memory,
            Held::Lent(address) => address,
        }
    }

    /// The device's address or object.
    pub(crate) fn handle(&self) -> u64 {
        self.handle
    }

    /// Where the handle lies: launches hand the address on.
    pub(crate) fn handle_place(&self) -> &u64 {
        &self.handle
    }

    pub(crate) fn uses(&self) -> &Uses {
        &self.uses
    }

    #[cfg(feature = "cudarc")]
    pub(crate) fn uses_mut(&mut self) -> &mut Uses {
        &mut self.uses
    }

    /// A number that no other contents have or will have: no other allocation, nor this one after it has been [renewed](Allocation::renew).
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// Replaces what it holds: as many elements as it has room for. Returns when `host` has been read.
    pub(crate) fn write<T: Element>(&self, host: &[T]) -> Result<()> {
        write_allocation(self, host)
    }

    /// Copies what it holds to the host: as many elements as it has room for.
    pub(crate) fn read<T: Element>(&self, host: &mut [T]) -> Result<()> {
        read_allocation(self, host.as_mut_ptr().cast(), size_of_val(host))
    }

    /// Replaces bytes of what it holds by those of another allocation, of any device, in the order of the device's own stream. What no queue can copy goes over the host, and is waited for.
    pub(crate) fn copy_from(&self, other: &Allocation, what: Copied) -> Result<()> {
        let is_peer = self.device != other.device;
        if is_peer && !self.device.driver().connect(other.device.driver())? {
            return copy_over_host(other, self, what);
        }
        let (stream, others) = (self.device.own_stream(), other.device.own_stream());
        if !is_peer {
            other.uses.read_on(stream)?;
            self.uses.write_on(stream)?;
            // SAFETY: both allocations have these bytes, as the callers in this crate see to; one is borrowed exclusively by whoever owns it, so it is not the other.
            return unsafe { stream.queue().copy(self.memory(), other.memory(), what) };
        }
        // What failed there is told here: this device knows nothing of it.
        other.uses.check_faults()?;
        // In order in the streams of both, so that nobody has to ask later how far the other device has come: by then it would have come further.
        other.uses.read_on(others)?;
        stream.order_after(others)?;
        self.uses.write_on(stream)?;
        // SAFETY: as above; the devices are connected.
        unsafe { stream.queue().copy_from_peer(self.memory(), other.memory(), other.device.driver(), what) }?;
        if others.may_be_given_up() {
            other.device.is_copied_to(&self.device)?;
        }
        others.order_after(stream)
    }

    /// Says that it gets other contents: who has a copy of the old ones sees by the serial number that it is old.
    fn renew(&mut self) {
        self.serial = new_serial();
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        match &self.home {
            Some(home) => self.uses.hand_over(home),
            None => {
                // A failure shows again at the next call on the device; there is nobody to tell it here.
                let _ = self.uses.settle();
            }
        }
        let Held::Own(memory) = std::mem::replace(&mut self.memory, Held::Lent(Address(0))) else { return };
        match &self.home {
            Some(home) => memory.free_in_order(home.queue()),
            None => drop(memory),
        }
        // SAFETY: not used again; counted, since the memory was not lent.
        unsafe { ManuallyDrop::drop(&mut self.device) };
    }
}

/// Bytes of `len` elements, if an address can have as many.
pub(crate) fn bytes_of<T>(len: usize) -> Result<usize> {
    count_bytes::<T>(len).ok_or(Error::TooLarge { len, element: size_of::<T>() })
}

/// The same, or none.
#[inline]
pub(crate) fn count_bytes<T>(len: usize) -> Option<usize> {
    len.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok())
}

/// Elements in the memory of a device. Made by [`Device::upload`] and [`Device::zeros`]; passed to a kernel as `&Global<T>` or
/// `&mut Global<T>`.
///
/// Copies wait for the kernels that write the buffer, on whatever stream, and only for those.
// `view` makes references to buffers of other elements of references to this: all of them are `Untyped`.
#[repr(transparent)]
pub struct Buffer<T: Element> {
    untyped: Untyped,
    element: PhantomData<T>,
}

/// What a buffer is, whatever its elements.
#[repr(C)]
struct Untyped {
    /// Bytes; of elements that have none, how many elements.
    extent: usize,
    allocation: Allocation,
}

impl<T: Element> Buffer<T> {
    /// Memory for `len` elements in the order of a stream of the device, contents undefined: the caller fills it.
    pub(crate) fn new(device: &Device, len: usize, stream: &Arc<StreamCore>) -> Result<Buffer<T>> {
        Ok(Buffer::of_allocation(device.allocate(bytes_of::<T>(len)?, stream)?, len))
    }

    /// An allocation that has room for `len` elements.
    #[inline]
    pub(crate) fn of_allocation(allocation: Allocation, len: usize) -> Buffer<T> {
        let extent = if size_of::<T>() == 0 { len } else { len * size_of::<T>() };
        Buffer { untyped: Untyped { allocation, extent }, element: PhantomData }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.untyped.extent.checked_div(size_of::<T>()).unwrap_or(self.untyped.extent)
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.untyped.extent == 0
    }

    /// The device it is on.
    pub fn device(&self) -> &Device {
        self.untyped.allocation.device()
    }

    fn bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }

    pub(crate) fn allocation(&self) -> &Allocation {
        &self.untyped.allocation
    }

    #[cfg(feature = "cudarc")]
    pub(crate) fn allocation_mut(&mut self) -> &mut Allocation {
        &mut self.untyped.allocation
    }

    #[cfg(feature = "bytemuck")]
    pub(crate) fn into_allocation(self) -> Allocation {
        self.untyped.allocation
    }

    /// The same memory as elements of another type, for a kernel that takes them: `&Buffer<f32>` as `&Buffer<[f32; 4]>`, say. Nothing is copied.
    ///
    /// # Errors
    /// [`Error::View`] if the buffer's bytes are no whole number of such elements; if some bytes are none, as of `bool` and enums; or if an
    /// element has bytes that belong to no field, of which nothing is known.
    pub fn view<U: Element>(&self) -> Result<&Buffer<U>> {
        check_view::<T, U>(self.len(), false)?;
        // SAFETY: both types are `Untyped`, transparently; its bytes are a whole number of `U`s, all of them initialised, and any are a value.
        Ok(unsafe { &*std::ptr::from_ref(self).cast::<Buffer<U>>() })
    }

    /// The same to write to.
    ///
    /// # Errors
    /// As [`Buffer::view`], of both types: what is written by way of one is read by way of the other.
    pub fn view_mut<U: Element>(&mut self) -> Result<&mut Buffer<U>> {
        check_view::<T, U>(self.len(), true)?;
        // SAFETY: as in `view`; and what is written as a `U` is a value of `T`.
        Ok(unsafe { &mut *std::ptr::from_mut(self).cast::<Buffer<U>>() })
    }

    /// Sets every byte to zero.
    ///
    /// # Errors
    /// [`Error::NoZero`] if that is no value of the elements' type, [`Error::Driver`] if the device failed.
    pub fn clear(&mut self) -> Result<()> {
        self.clear_in(self.untyped.allocation.device.own_stream())
    }

    /// The same in a stream of the device.
    pub(crate) fn clear_in(&self, stream: &Arc<StreamCore>) -> Result<()> {
        T::TYPE.check_zero()?;
        let allocation = &self.untyped.allocation;
        allocation.uses.write_on(stream)?;
        // SAFETY: the allocation has this many bytes.
        unsafe { stream.queue().zero(allocation.memory(), self.bytes()) }
    }

    /// Replaces all elements by those of another buffer, in the order of this device's own stream, and returns at once. The other may be another device's: between GPUs of the CUDA driver the
    /// copy goes from one to the other, where the machine can, and waits for the kernels of both; between any other two devices it goes over the host, and this waits for it.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::OutOfMemory`] of the host; [`Error::Driver`] if a device failed.
    pub fn copy_from(&mut self, other: &Buffer<T>) -> Result<()> {
        self.check_len(other.len())?;
        self.untyped.allocation.copy_from(&other.untyped.allocation, Copied::of(self.bytes()))
    }

    /// Replaces the elements from `at` on by a range of those of another buffer, as [`Buffer::copy_from`] does.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the range is not in the other buffer, or as many elements are not in this one; and as [`Buffer::copy_from`].
    pub fn copy_range_from(&mut self, at: usize, other: &Buffer<T>, range: Range<usize>) -> Result<()> {
        let len = range.end.checked_sub(range.start).filter(|_| range.end <= other.len());
        let Some(len) = len else {
            return Err(Error::OutOfRange { what: "from", start: range.start, end: range.end, len: other.len() });
        };
        match at.checked_add(len) {
            Some(end) if end <= self.len() => {}
            end => {
                return Err(Error::OutOfRange { what: "to", start: at, end: end.unwrap_or(usize::MAX), len: self.len() });
            }
        }
        let size = size_of::<T>();
        let what = Copied { bytes: len * size, to: at * size, from: range.start * size };
        self.untyped.allocation.copy_from(&other.untyped.allocation, what)
    }

    /// The elements, copied to the host. Waits for the kernels that write them.
    ///
    /// # Errors
    /// [`Error::Fault`] if one of those kernels faulted, [`Error::Driver`] if the device failed.
    pub fn download(&self) -> Result<Vec<T>> {
        let mut elements: Vec<T> = Vec::new();
        if elements.try_reserve_exact(self.len()).is_err() {
            return Err(Error::OutOfMemory { device: "the host".into(), bytes: self.bytes() as u64 });
        }
        self.read_to(elements.as_mut_ptr())?;
        // SAFETY: `read_to` filled all elements with what the device holds: bytes of valid elements, since buffers are filled when
        // they are made and kernels store typed values.
        unsafe { elements.set_len(self.len()) };
        Ok(elements)
    }

    /// Copies the elements into `host`. Waits for the kernels that write them.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::Fault`] if one of those kernels faulted, [`Error::Driver`] if the device failed.
    pub fn read_into(&self, host: &mut [T]) -> Result<()> {
        self.check_len(host.len())?;
        self.read_to(host.as_mut_ptr())
    }

    /// Replaces all elements by those of `host`.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::Driver`] if the device failed.
    pub fn write(&mut self, host: &[T]) -> Result<()> {
        self.check_len(host.len())?;
        write_allocation(&self.untyped.allocation, host)
    }

    /// The same in a stream of the device, of as many elements.
    pub(crate) fn write_in(&self, host: &[T], stream: &Arc<StreamCore>) -> Result<()> {
        write_in(&self.untyped.allocation, host, stream)
    }

    /// Puts a copy from `pinned` into `stream` and returns at once. Whoever touches `pinned` next waits until it has been read.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::ForeignObject`], [`Error::Driver`].
    pub fn write_async(&mut self, pinned: &PinnedBuffer<T>, stream: &Stream) -> Result<()> {
        self.check_len(pinned.len())?;
        stream.device().check_owner("the buffer", self.device())?;
        let allocation = &self.untyped.allocation;
        allocation.uses.write_on(stream.core())?;
        pinned.copy_out(stream, |from| {
            // SAFETY: both sides have this many bytes; `pinned` keeps its memory until the stream has passed the copy, and a buffer does too.
            unsafe { stream.core().queue().write(allocation.memory(), from, self.bytes(), false) }
        })
    }

    /// Puts a copy into `pinned` into `stream` and returns at once. Whoever touches `pinned` next waits until it is there.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::ForeignObject`], [`Error::Driver`].
    pub fn read_async(&self, pinned: &mut PinnedBuffer<T>, stream: &Stream) -> Result<()> {
        self.check_len(pinned.len())?;
        stream.device().check_owner("the buffer", self.device())?;
        let allocation = &self.untyped.allocation;
        allocation.uses.read_on(stream.core())?;
        pinned.copy_in(stream, |to| {
            // SAFETY: as in `write_async`.
            unsafe { stream.core().queue().read(allocation.memory(), to, self.bytes(), false) }
        })
    }

    fn check_len(&self, other: usize) -> Result<()> {
        check_len(self.len(), other)
    }

    fn read_to(&self, to: *mut T) -> Result<()> {
        read_allocation(&self.untyped.allocation, to.cast(), self.bytes())?;
        // SAFETY: `read_allocation` filled this many elements there.
        unsafe { make_valid(&T::TYPE, to.cast(), self.len()) };
        Ok(())
    }
}

pub(crate) fn check_len(len: usize, other: usize) -> Result<()> {
    if len == other { Ok(()) } else { Err(Error::LengthMismatch { buffer: len, other }) }
}

/// Whether `len` elements of `T` can be seen as `U`s; for writing, also whether what is written as `U`s are `T`s.
fn check_view<T: Element, U: Element>(len: usize, writes: bool) -> Result<()> {
    let refuse = |reason: String| Err(Error::View { from: T::TYPE.to_string(), to: U::TYPE.to_string(), reason });
    // What is read must be initialised and a value; the same holds the other way round for what is written.
    let directions = [(&T::TYPE, &U::TYPE), (&U::TYPE, &T::TYPE)];
    for (from, to) in &directions[..if writes { 2 } else { 1 }] {
        if from.has_padding() {
            return refuse(format!(
                "`{from}` has bytes that belong to no field, and nothing is known of them; give it fields in their place"
            ));
        }
        if to.has_invalid_values() {
            return refuse(format!("not all bytes are a `{to}`, which is or holds a `bool` or an enum; upload values of that type"));
        }
    }
    let (bytes, size) = (len * size_of::<T>(), size_of::<U>());
    match bytes.checked_rem(size) {
        Some(0) if size_of::<T>() != 0 => Ok(()),
        Some(left) if left != 0 => {
            refuse(format!("its {bytes} bytes are not a multiple of {size}; make it {} bytes long", bytes.next_multiple_of(size)))
        }
        _ => refuse("one of them has no bytes; choose elements that have some".to_owned()),
    }
}

/// Replaces what an allocation holds. Returns when `host` has been read.
fn write_allocation<T: Element>(allocation: &Allocation, host: &[T]) -> Result<()> {
    write_in(allocation, host, allocation.device.own_stream())
}

/// The same in a stream of the device.
fn write_in<T: Element>(allocation: &Allocation, host: &[T], stream: &Arc<StreamCore>) -> Result<()> {
    allocation.uses.write_on(stream)?;
    stream.before_host_copy()?;
    // SAFETY: the callers are in this file; each passes as many elements as the allocation has room for.
    unsafe { stream.queue().write(allocation.memory(), host.as_ptr().cast(), size_of_val(host), true) }
}

/// Copies the first `bytes` bytes to the host, in order after what writes them. Both sides have that many.
pub(crate) fn read_allocation(allocation: &Allocation, to: *mut u8, bytes: usize) -> Result<()> {
    let stream: &Arc<StreamCore> = allocation.device.own_stream();
    allocation.uses.read_on(stream)?;
    stream.before_host_copy()?;
    // SAFETY: the callers are in this crate; each passes the allocation's own size and a place of that size, exclusively its own.
    unsafe { stream.queue().read(allocation.memory(), to, bytes, true) }?;
    allocation.uses.check_faults()
}

/// Copies the first `bytes` bytes from one allocation to another, of any two devices, over the host. Waits for the result.
pub(crate) fn copy_between(from: &Allocation, to: &Allocation, bytes: usize) -> Result<()> {
    let mut host: Vec<u8> = Vec::new();
    if host.try_reserve_exact(bytes).is_err() {
        return Err(Error::OutOfMemory { device: "the host".into(), bytes: bytes as u64 });
    }
    read_allocation(from, host.as_mut_ptr(), bytes)?;
    let stream = to.device.own_stream();
    to.uses.write_on(stream)?;
    stream.before_host_copy()?;
    // SAFETY: `host` has room for this many bytes, which were written just now; the callers pass the size of both allocations.
    unsafe { stream.queue().write(to.memory(), host.as_ptr(), bytes, true) }
}

/// The same for bytes anywhere: those that are not at the start go there first, in memory of their own.
fn copy_over_host(from: &Allocation, to: &Allocation, what: Copied) -> Result<()> {
    let Copied { bytes, to: to_at, from: from_at } = what;
    let beside = |allocation: &Allocation| allocation.device.allocate(bytes, allocation.device.own_stream());
    if from_at != 0 {
        let start = beside(from)?;
        start.copy_from(from, Copied { bytes, to: 0, from: from_at })?;
        return copy_over_host(&start, to, Copied { bytes, to: to_at, from: 0 });
    }
    if to_at != 0 {
        let start = beside(to)?;
        copy_between(from, &start, bytes)?;
        return to.copy_from(&start, Copied { bytes, to: to_at, from: 0 });
    }
    copy_between(from, to, bytes)
}

/// The first bytes of an allocation.
pub(crate) fn contents_of(from: &Allocation, bytes: usize) -> Result<Vec<u8>> {
    let mut host = vec![0; bytes];
    read_allocation(from, host.as_mut_ptr(), bytes)?;
    Ok(host)
}

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer<{}>({} on {})", T::TYPE, self.len(), self.device())
    }
}

/// An array in constant memory, for a `&Constant<[T; N]>` parameter. Made by [`Device::constant`] and [`Device::constant_from_slice`]. No
/// kernel writes it; the host may, between launches.
pub struct ConstantBuffer<A: Element> {
    allocation: Allocation,
    array: PhantomData<A>,
}

impl<A: Element> ConstantBuffer<A> {
    pub(crate) fn new(device: &Device, array: A) -> Result<ConstantBuffer<A>> {
        let allocation = device.allocate(size_of::<A>(), device.own_stream())?;
        write_allocation(&allocation, std::slice::from_ref(&array))?;
        Ok(ConstantBuffer { allocation, array: PhantomData })
    }

    /// The device it is on.
    pub fn device(&self) -> &Device {
        self.allocation.device()
    }

    /// The array, copied to the host.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device failed.
    pub fn download(&self) -> Result<A> {
        let mut array = std::mem::MaybeUninit::<A>::uninit();
        read_allocation(&self.allocation, array.as_mut_ptr().cast(), size_of::<A>())?;
        // SAFETY: filled with the bytes of an `A` that was uploaded; kernels cannot write constant memory, and what an out-of-bounds
        // write broke is mended first.
        Ok(unsafe {
            make_valid(&A::TYPE, array.as_mut_ptr().cast(), 1);
            array.assume_init()
        })
    }

    pub(crate) fn allocation(&self) -> &Allocation {
        &self.allocation
    }
}

impl<T: Element, const N: usize> ConstantBuffer<[T; N]> {
    pub(crate) fn from_slice(device: &Device, elements: &[T]) -> Result<ConstantBuffer<[T; N]>> {
        check_len(N, elements.len())?;
        let allocation = device.allocate(size_of::<[T; N]>(), device.own_stream())?;
        write_allocation(&allocation, elements)?;
        Ok(ConstantBuffer { allocation, array: PhantomData })
    }

    /// Replaces all elements: an array or a slice of as many. Waits for the kernels that read the old ones; launches after it see the new.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::Driver`] if the device failed.
    pub fn write(&mut self, host: &[T]) -> Result<()> {
        check_len(N, host.len())?;
        self.allocation.renew();
        write_allocation(&self.allocation, host)
    }
}

impl<A: Element> fmt::Debug for ConstantBuffer<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConstantBuffer<{}>({})", A::TYPE, self.device())
    }
}
