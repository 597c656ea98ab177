//! What other libraries made, and what they are given: contexts, streams and memory by their plain handles.
//!
//! Nothing here is owned: contexts, streams and memory are others', and stay as they are. The feature `cudarc` does the same with types instead of handles.

#![expect(unsafe_code, reason = "handles of others say nothing of what they are")]

use crate::buffer::{Allocation, Buffer, bytes_of, count_bytes};
use crate::cuda;
use crate::device::Device;
use crate::driver::{DeviceKind, Memory};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::stream::Stream;
use std::any::Any;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null;
use std::sync::Arc;

/// What something of others' needs to stay alive, dropped when it is not needed any more: their owner, or `()`.
pub type Keep = Box<dyn Any + Send + Sync>;

/// The same of what several may have.
pub(crate) type SharedKeep = Arc<dyn Any + Send + Sync>;

/// What addresses of buffers are multiples of, bytes: kernels load so many at once.
const ALIGN: u64 = 16;

/// Where memory of no bytes is said to lie.
const NOWHERE: u64 = 64;

/// `CU_STREAM_LEGACY`; null is the same stream.
pub(crate) const LEGACY: u64 = 1;

/// `CU_STREAM_PER_THREAD`.
pub(crate) const PER_THREAD: u64 = 2;

thread_local! {
    /// The notes of the per-thread default stream that a call of this thread lends in at the moment; null if none does.
    static LENDING: Cell<*const ()> = const { Cell::new(null()) };
}

/// The driver's handle of a thread's per-thread default stream in the calling thread: its own while it lends in it. For everybody else, and later, the legacy default stream stands for it: what is put
/// there comes behind all that is in per-thread default streams of the context, and before all that comes later there. So both are one stream, in order, whoever uses which.
pub(crate) fn per_thread_handle(notes: *const ()) -> u64 {
    // At a thread's end it lends in none.
    if LENDING.try_with(Cell::get).is_ok_and(|lending| std::ptr::eq(lending, notes)) { PER_THREAD } else { LEGACY }
}

/// Lets the calling thread lend in the stream of these notes, or in none if they are null; gives those before.
#[cfg(feature = "cudarc")]
#[inline]
pub(crate) fn lend_in(notes: *const ()) -> *const () {
    LENDING.try_with(|lending| lending.replace(notes)).unwrap_or(null())
}

/// Memory of others.
struct ForeignMemory {
    address: u64,
    _keep: Keep,
}

impl Memory for ForeignMemory {
    fn handle(&self) -> u64 {
        self.address
    }
}

impl Device {
    /// The GPU of this number (the driver's ordinal) with a CUDA context of others, a `CUcontext`. Of its primary context it is [`Device::cuda`]; of any other a device of its own, the same one as
    /// long as somebody has it. `keep` lives as long as the device.
    ///
    /// # Errors
    /// [`Error::NoDriver`], [`Error::NoDevice`], [`Error::DriverTooOld`], [`Error::Driver`].
    ///
    /// # Safety
    /// `context` is a context of that GPU, and stays one as long as `keep` lives.
    pub unsafe fn from_raw_context(ordinal: usize, context: *mut c_void, keep: Keep) -> Result<Device> {
        // SAFETY: the caller's promise.
        unsafe { Device::of_raw_context(ordinal, context, || keep) }
    }

    /// The same; `keep` is only called where there is no device of the context yet.
    ///
    /// # Safety
    /// As [`Device::from_raw_context`].
    pub(crate) unsafe fn of_raw_context(ordinal: usize, context: *mut c_void, keep: impl FnOnce() -> Keep) -> Result<Device> {
        let primary = Device::cuda(ordinal)?;
        if primary.as_raw_context() == Some(context) {
            return Ok(primary);
        }
        Device::of_foreign(context as usize, || cuda::open_foreign(ordinal, context, keep()))
    }

    /// The CUDA context, a `CUcontext`; `None` on other devices. It is the program's, and must not be destroyed.
    pub fn as_raw_context(&self) -> Option<*mut c_void> {
        self.driver().context()
    }
}

impl Stream {
    /// A CUDA stream of others, a `CUstream`: null is the legacy default stream. The per-thread default stream is none, since each thread means another by it. The same handle is the same stream, as long as somebody has it. `keep` lives as long as it.
    ///
    /// Work that others put into it runs in order with launches in it. What it and other streams do with a buffer is ordered as with the device's own.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device is no GPU of the CUDA driver; [`Error::Foreign`] for the per-thread default stream; [`Error::Driver`].
    ///
    /// # Safety
    /// `stream` is a stream of the device's context, or null, and stays one as long as `keep` lives.
    pub unsafe fn from_raw(device: &Device, stream: *mut c_void, keep: Keep) -> Result<Stream> {
        // SAFETY: the caller's promise.
        unsafe { Stream::of_raw(device, stream, || Some(Arc::from(keep))) }
    }

    /// The same; `keep` is only called where nobody keeps the stream yet. A default stream needs nothing.
    ///
    /// # Safety
    /// As [`Stream::from_raw`].
    pub(crate) unsafe fn of_raw(device: &Device, stream: *mut c_void, keep: impl FnOnce() -> Option<SharedKeep>) -> Result<Stream> {
        if device.kind() == DeviceKind::Cuda && stream as u64 == PER_THREAD {
            let reason =
                "the per-thread default stream is another one in each thread; help: pass a stream that was created, or null".to_owned();
            return Err(Error::Foreign { device: device.to_string(), reason });
        }
        device.foreign_stream(stream as u64, keep)
    }

    /// The CUDA stream, a `CUstream`; `None` on other devices. It is this stream's, and must not be destroyed, nor used when this is dropped. Of a per-thread default stream that is lent in it is that one in the thread that lends,
    /// and the legacy default stream elsewhere and later: ask again where it is used.
    pub fn as_raw(&self) -> Option<*mut c_void> {
        (self.device().kind() == DeviceKind::Cuda).then(|| self.core().handle() as *mut c_void)
    }
}

impl<T: Element> Buffer<T> {
    /// Memory of others: `len` elements from an address on. On CUDA that is a `CUdeviceptr`; on the simulator and the host twin an address of this program. `keep` is dropped
    /// behind the buffer, when nothing that was launched works with it any more. What others do with the memory meanwhile is not known here: have it in the same stream, or synchronise.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the address is no multiple of 16 bytes, or null while there are elements; [`Error::Unsupported`] on OpenCL, whose memory has no address; [`Error::TooLarge`].
    ///
    /// # Safety
    /// As long as `keep` lives the memory is the device's to read, and to write unless the buffer is only borrowed as shared; and it holds `len` values of `T`.
    pub unsafe fn from_raw_parts(device: &Device, address: u64, len: usize, keep: Keep) -> Result<Buffer<T>> {
        if !device.driver().has_addresses() {
            let what = "has no addresses that other libraries could give; use `upload`, or a CUDA device".to_owned();
            return Err(Error::Unsupported { device: device.to_string(), what });
        }
        let Some(address) = find_address::<T>(address, len) else { return Err(no_address::<T>(device, address, len)) };
        let allocation = Allocation::new(device.clone(), Box::new(ForeignMemory { address, _keep: keep }));
        Ok(Buffer::of_allocation(allocation, len))
    }

    /// The address of the first element: a `CUdeviceptr` on CUDA, an address of this program on the simulator and the host twin, `None` on OpenCL. Work that others do with it is not ordered with
    /// launches of this library: have it in the stream that used the buffer last ([`Stream::as_raw`]), or synchronise in between.
    pub fn as_raw(&self) -> Option<u64> {
        self.device().driver().has_addresses().then(|| self.allocation().handle())
    }
}

/// Whether [`find_address`] gives the address as it is, of elements that are there and have bytes, as most: that takes few comparisons.
#[cfg(feature = "cudarc")]
#[inline(always)]
pub(crate) fn is_address_of_some<T: Element>(address: u64, len: usize) -> bool {
    let most = (isize::MAX as usize).checked_div(size_of::<T>()).unwrap_or(0);
    len.wrapping_sub(1) < most && address != 0 && address.is_multiple_of(ALIGN)
}

/// Where elements at an address of the device's are said to lie, if kernels can work with them there.
pub(crate) fn find_address<T: Element>(address: u64, len: usize) -> Option<u64> {
    match count_bytes::<T>(len)? {
        // What is empty lies nowhere, but not at null: references to nothing are never null.
        0 => Some(NOWHERE),
        _ if address != 0 && address.is_multiple_of(ALIGN) => Some(address),
        _ => None,
    }
}

/// Why [`find_address`] gave none.
#[cold]
pub(crate) fn no_address<T: Element>(device: &Device, address: u64, len: usize) -> Error {
    if let Err(error) = bytes_of::<T>(len) {
        return error;
    }
    let reason = if address == 0 {
        format!("the address of {len} elements is null; help: pass where they begin")
    } else {
        format!(
            "{len} elements at {address:#x} begin {} bytes behind a multiple of {ALIGN}, and kernels load {ALIGN} at once; help: begin at an element whose address is one, or copy them",
            address % ALIGN
        )
    };
    Error::Foreign { device: device.to_string(), reason }
}
