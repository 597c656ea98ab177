//! `cudarc` in and out: kernels on its contexts, in its streams, on its slices, and its libraries on buffers.
//!
//! Nothing is owned by the other side: contexts, streams, modules and events stay what they were, and slices are lent for as long as a borrow. Both sides know of each other's work:
//! what is lent waits for what `cudarc` put into other streams, and what comes later there waits for the kernels.
//!
//! ```text
//! with_buffers((&x, &mut y), &stream, |(x, y), stream| scaled(2.0, x, y).cover(1000).launch_on(stream))?;
//! ```
//!
//! Slices and buffers are lent to closures, since nobody can forget to hand back what they are given.

#![expect(unsafe_code, reason = "handles of another library say nothing of what they are")]

mod place;

use crate::buffer::{Allocation, Buffer};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::foreign::{LEGACY, SharedKeep, find_address, is_address_of_some, no_address};
use crate::stream::Stream;
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop};
use std::mem::ManuallyDrop;
use std::sync::Arc;

#[doc(hidden)]
pub use place::{At, Place};

/// The device of a context: of a GPU's primary one, [`Device::cuda`]; of another a device of its own, which keeps the context alive as long as somebody has it. It has the kernels that were compiled for
/// it, so keep it as long as you launch there.
///
/// # Errors
/// As [`Device::from_raw_context`].
pub fn device_of(context: &Arc<CudaContext>) -> Result<Device> {
    // SAFETY: a context of that GPU, alive as long as the clone is.
    unsafe { Device::of_raw_context(context.ordinal(), context.cu_ctx().cast(), || Box::new(Arc::clone(context))) }
}

/// A stream, to launch in. The same stream gives the same one, which keeps it alive as long as somebody has it.
///
/// # Errors
/// As [`device_of`] and [`Stream::from_raw`]. So the per-thread default stream is refused: only [`with_buffers`] and [`with_slices`] take it.
pub fn stream_of(stream: &Arc<CudaStream>) -> Result<Stream> {
    let device = device_of(stream.context())?;
    // SAFETY: a stream of that context, alive as long as the clone is.
    unsafe {
        Stream::of_raw(&device, stream.cu_stream().cast(), || {
            (stream.cu_stream() as u64 > LEGACY).then(|| Arc::clone(stream) as SharedKeep)
        })
    }
}

/// A stream of this library, for what takes one of `cudarc`'s.
///
/// # Errors
/// [`Error::ForeignObject`] if the stream is not the context's.
///
/// # Safety
/// Nothing is put into it once `stream` and all its clones are dropped; the device's own stream always stays. Its context does not count it as a stream: `cudarc` orders slices between streams
/// only once there is one that `new_stream` made.
pub unsafe fn as_cudarc(stream: &Stream, context: &Arc<CudaContext>) -> Result<Arc<CudaStream>> {
    match stream.as_raw() {
        Some(handle) if stream.device().as_raw_context() == Some(context.cu_ctx().cast()) => {
            // SAFETY: a stream of that context, as was just seen; alive by the caller's promise.
            Ok(unsafe { context.wrap_borrowed_stream(handle.cast()) })
        }
        _ => Err(foreign("the stream", stream.device(), context)),
    }
}

/// Something of a device that is not the context's.
fn foreign(what: &'static str, device: &Device, context: &Arc<CudaContext>) -> Error {
    let place = format!("context {:#x} of GPU {}", context.cu_ctx() as usize, context.ordinal());
    Error::ForeignObject { what, owner: device.to_string(), device: place }
}

/// An error of `cudarc`'s.
fn of_driver(error: cudarc::driver::DriverError) -> Error {
    Error::Driver { call: "a call of `cudarc`'s".to_owned(), code: error.to_string(), context: String::new() }
}

/// A slice as a buffer of its own: with what is in its memory when `cudarc` is done with it.
///
/// # Errors
/// [`Error::Foreign`] if it begins at no multiple of 16 bytes; as [`stream_of`]. The slice is freed then.
pub fn buffer_of<T: Element>(mut slice: CudaSlice<T>) -> Result<Buffer<T>> {
    let stream = Arc::clone(slice.stream());
    let len = slice.len();
    let place = Place::enter(&stream)?;
    let address = slice.device_ptr_mut(&stream).0;
    // SAFETY: so many elements lie there, as long as the slice lives.
    let buffer = unsafe { Buffer::from_raw_parts(place.own().device(), address, len, Box::new(slice)) }?;
    buffer.allocation().uses().write_on(place.own().core())?;
    Ok(buffer)
}

/// Lends slices of `cudarc` to kernels, as buffers: `&` of a `CudaSlice`, `CudaView` or `CudaViewMut` as `&Buffer`, `&mut` of a `CudaSlice` or `CudaViewMut` as `&mut Buffer`; one, or a tuple of up to
/// six.
///
/// `stream`, which the closure gets, too, waits for what `cudarc` has put into other streams for these slices. What `cudarc` does with them later, in whatever stream, waits for the kernels, in whatever
/// stream of the device they were launched. Where `cudarc` does not keep order between streams itself (its events are disabled, or it has one stream alone), that goes for the stream of `stream` and the slice's own.
/// Of several streams of `cudarc`'s that read one slice it remembers the last, as everywhere.
///
/// The per-thread default stream, which is another one in each thread, lends, too: `candle`'s devices have it unless they are made with a stream. The closure gets it as a [`Stream`] that can be kept and
/// that other threads can use: for them, and after the call, the legacy default stream stands for it, which is in order with it, and so with the default streams of all threads. While `cudarc` captures a per-thread
/// default stream into a graph, slices of that stream can be lent, and nothing else be used in the closure: an event in the legacy default stream would end the capture.
///
/// A thread that has lent in its default stream waits for it when it ends. The driver (580.159, on an H200) never ends a thread whose default stream still runs a kernel on a slice, whoever launched it.
///
/// A collective that fails in the stream, or before it, is an error of the next call in it, of [`Stream::synchronize`] of [`stream_of`], and of [`Device::synchronize`]. `cudarc`'s own waits do not know of it. While a
/// collective is under way, wait by [`Stream::synchronize`] before `cudarc` copies to or from memory of the host that is not page-locked: the driver cannot give the collective up while such a copy waits for it.
///
/// A buffer that the closure swaps for another, and keeps, ends the program: its memory is the slice's.
///
/// # Errors
/// [`Error::ForeignObject`] if a slice is of another context than the stream; [`Error::Foreign`] if one begins at no multiple of 16 bytes; [`Error::Collective`] if a collective failed in the stream before; as
/// [`stream_of`]; and what the closure gives.
pub fn with_buffers<L: Slices, R, E: From<Error>>(
    slices: L,
    stream: &Arc<CudaStream>,
    work: impl for<'b> FnOnce(L::Buffers<'b>, &'b Stream) -> std::result::Result<R, E>,
) -> std::result::Result<R, E> {
    let place = Place::enter(stream)?;
    let mut lent = L::Lent::default();
    let at = place.at();
    slices.lend(at, &mut lent)?;
    work(L::buffers(&mut lent), at.own)
}

/// Lends buffers to `cudarc` and its libraries (cuBLAS, cuDNN …): `&Buffer` as `CudaView`, `&mut Buffer` as `CudaViewMut`; one, or a tuple of up to six.
///
/// `stream` waits for the kernels that wrote them, and whoever uses them later waits for what was put into `stream`, and into other streams of `cudarc`. It may be the per-thread default stream, as of
/// [`with_buffers`].
///
/// # Errors
/// [`Error::ForeignObject`] if a buffer is not of the stream's context; [`Error::Collective`] if a collective failed in the stream, or where a buffer was written, before; as [`stream_of`]; and what the closure gives.
pub fn with_slices<L: Buffers, R, E: From<Error>>(
    buffers: L,
    stream: &Arc<CudaStream>,
    work: impl for<'b> FnOnce(L::Slices<'b>) -> std::result::Result<R, E>,
) -> std::result::Result<R, E> {
    let place = Place::enter(stream)?;
    let mut lent = L::Lent::default();
    buffers.lend(&place, &mut lent)?;
    work(L::slices(&mut lent))
}

/// Nobody else lends: what is lent comes back because this module sees to it.
mod sealed {
    /// Of both traits.
    pub trait Sealed {}
}

/// What [`with_buffers`] lends: references to slices, and tuples of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent to kernels as a buffer",
    label = "no `&` or `&mut` of a slice of `cudarc`",
    note = "lend `&slice` to kernels that read it and `&mut slice` to those that write it, or a tuple of up to six; a `CudaView` can only be read"
)]
pub trait Slices: sealed::Sealed + Sized {
    /// References to buffers.
    type Buffers<'b>;
    /// Room for what is lent, which lies where it is made: moving it would be most of what lending costs.
    #[doc(hidden)]
    type Lent<'p>: Default
    where
        Self: 'p;
    #[doc(hidden)]
    fn lend<'p>(self, at: At<'p>, lent: &mut Self::Lent<'p>) -> Result<()>
    where
        Self: 'p;
    #[doc(hidden)]
    fn buffers<'b>(lent: &'b mut Self::Lent<'_>) -> Self::Buffers<'b>;
}

/// What [`with_slices`] lends: references to buffers, and tuples of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent to `cudarc` as a slice",
    label = "no `&Buffer` or `&mut Buffer`",
    note = "lend `&buffer` to what reads it and `&mut buffer` to what writes it, or a tuple of up to six"
)]
pub trait Buffers: sealed::Sealed + Sized {
    /// Views.
    type Slices<'b>;
    #[doc(hidden)]
    type Lent: Default;
    #[doc(hidden)]
    fn lend(self, place: &Place<'_>, lent: &mut Self::Lent) -> Result<()>;
    #[doc(hidden)]
    fn slices<'b>(lent: &'b mut Self::Lent) -> Self::Slices<'b>;
}

/// Rooms are filled before what is in them is asked for.
macro_rules! filled {
    ($lent:expr) => {
        $lent.as_mut().expect("what is lent was put there")
    };
}

/// A slice that is lent: a buffer, as long as this lives.
#[doc(hidden)]
#[derive(Debug)]
pub struct LentSlice<'p, T: Element> {
    /// Not dropped: it counts nothing, and once it is handed over there is nobody to wait for.
    buffer: ManuallyDrop<Buffer<T>>,
    /// Which buffer it was.
    serial: u64,
    at: At<'p>,
    /// The slice's own stream, where `cudarc` does not order it with the other. Dropped with this where there is one.
    unordered: ManuallyDrop<Option<Arc<CudaStream>>>,
    /// Dropped with this where that does something.
    sync: ManuallyDrop<SyncOnDrop<'p>>,
}

impl<'p, T: Element> LentSlice<'p, T> {
    /// Fills the room with a slice of another stream than the place's; kept out of the way of others.
    #[cold]
    #[inline(never)]
    fn fill_other(
        lent: &mut Option<LentSlice<'p, T>>,
        at: At<'p>,
        unordered: Option<Arc<CudaStream>>,
        len: usize,
        of_theirs: (u64, SyncOnDrop<'p>),
    ) -> Result<()> {
        LentSlice::fill(lent, at, unordered, len, of_theirs)
    }

    #[inline(always)]
    fn fill(
        lent: &mut Option<LentSlice<'p, T>>,
        at: At<'p>,
        unordered: Option<Arc<CudaStream>>,
        len: usize,
        (address, sync): (u64, SyncOnDrop<'p>),
    ) -> Result<()> {
        // What might have to be dropped here would lie in memory till then.
        let (unordered, sync) = (ManuallyDrop::new(unordered), ManuallyDrop::new(sync));
        let address = if is_address_of_some::<T>(address, len) {
            address
        } else {
            match find_address::<T>(address, len) {
                Some(address) => address,
                None => return Err(LentSlice::<T>::refuse(at, address, len, (unordered, sync))),
            }
        };
        // Whoever works with it in another stream comes behind what this one waits for.
        // SAFETY: so many elements of the device, borrowed for as long as this lives, which hands them back when it is dropped; only `with_buffers` has it. The place's stream outlives it.
        let allocation = unsafe { Allocation::lent(at.own, address) };
        let serial = allocation.serial();
        let buffer = ManuallyDrop::new(Buffer::of_allocation(allocation, len));
        // The room was empty: there is nothing to drop.
        std::mem::forget(lent.replace(LentSlice { buffer, serial, at, unordered, sync }));
        Ok(())
    }

    /// Lets the slice's stream come behind the place, where [`At::admit`] gave it, and `cudarc` record what came there. Called at the end.
    #[cold]
    #[inline(never)]
    fn hand_back(&mut self) {
        // SAFETY: not used again.
        let (unordered, _sync) = unsafe { (ManuallyDrop::take(&mut self.unordered), ManuallyDrop::take(&mut self.sync)) };
        if let Some(stream) = unordered
            && stream.join(self.at.stream).is_err()
        {
            let _ = self.at.stream.synchronize();
        }
    }

    #[cold]
    #[inline(never)]
    fn refuse(at: At<'p>, address: u64, len: usize, kept: (ManuallyDrop<Option<Arc<CudaStream>>>, ManuallyDrop<SyncOnDrop<'p>>)) -> Error {
        drop((ManuallyDrop::into_inner(kept.0), ManuallyDrop::into_inner(kept.1)));
        no_address::<T>(at.own.device(), address, len)
    }
}

/// Somebody has a buffer of memory that is about to be another's: that cannot be undone.
#[cold]
fn swapped() -> ! {
    eprintln!(
        "warpwright: a buffer that `with_buffers` lent was swapped for another, and outlives the slice; swap it back before `with_buffers` ends"
    );
    std::process::abort();
}

impl<T: Element> Drop for LentSlice<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let allocation = self.buffer.allocation_mut();
        if allocation.serial() != self.serial {
            swapped();
        }
        // The stream that `cudarc` looks at comes behind all others that used it.
        allocation.uses_mut().hand_over(self.at.own.core());
        // What `cudarc` would see for itself, further away: nothing is recorded where there is one stream.
        let does_nothing = matches!(*self.sync, SyncOnDrop::Record(_)) && !self.at.stream.context().is_managing_stream_synchronization();
        if self.unordered.is_some() || !does_nothing {
            self.hand_back();
        }
    }
}

macro_rules! slices {
    ($([$($lifetime:lifetime)?] $slice:ty;)*) => {$(
        impl<$($lifetime,)? T: Element> sealed::Sealed for &$slice {}

        impl<$($lifetime,)? T: Element> Slices for &$slice {
            type Buffers<'b> = &'b Buffer<T>;
            type Lent<'p> = Option<LentSlice<'p, T>> where Self: 'p;

            #[inline(always)]
            fn lend<'p>(self, at: At<'p>, lent: &mut Option<LentSlice<'p, T>>) -> Result<()>
            where
                Self: 'p,
            {
                if Arc::ptr_eq(DeviceSlice::stream(self), at.stream) {
                    return LentSlice::fill(lent, at, None, self.len(), self.device_ptr(at.stream));
                }
                let unordered = at.admit(DeviceSlice::stream(self))?;
                LentSlice::fill_other(lent, at, unordered, self.len(), self.device_ptr(at.stream))
            }

            #[inline]
            fn buffers<'b>(lent: &'b mut Option<LentSlice<'_, T>>) -> &'b Buffer<T> {
                &filled!(lent).buffer
            }
        }
    )*};
}

slices! { [] CudaSlice<T>; ['s] CudaView<'s, T>; ['s] CudaViewMut<'s, T>; }

macro_rules! slices_mut {
    ($([$($lifetime:lifetime)?] $slice:ty;)*) => {$(
        impl<$($lifetime,)? T: Element> sealed::Sealed for &mut $slice {}

        impl<$($lifetime,)? T: Element> Slices for &mut $slice {
            type Buffers<'b> = &'b mut Buffer<T>;
            type Lent<'p> = Option<LentSlice<'p, T>> where Self: 'p;

            #[inline(always)]
            fn lend<'p>(self, at: At<'p>, lent: &mut Option<LentSlice<'p, T>>) -> Result<()>
            where
                Self: 'p,
            {
                let len = self.len();
                if Arc::ptr_eq(DeviceSlice::stream(self), at.stream) {
                    return LentSlice::fill(lent, at, None, len, self.device_ptr_mut(at.stream));
                }
                let unordered = at.admit(DeviceSlice::stream(self))?;
                LentSlice::fill_other(lent, at, unordered, len, self.device_ptr_mut(at.stream))
            }

            #[inline]
            fn buffers<'b>(lent: &'b mut Option<LentSlice<'_, T>>) -> &'b mut Buffer<T> {
                &mut filled!(lent).buffer
            }
        }
    )*};
}

slices_mut! { [] CudaSlice<T>; ['s] CudaViewMut<'s, T>; }

/// A buffer that is lent: a slice, as long as this lives.
#[doc(hidden)]
#[derive(Debug)]
pub struct LentBuffer<'a, T: Element> {
    slice: ManuallyDrop<CudaSlice<T>>,
    buffer: &'a Buffer<T>,
    writes: bool,
    own: Stream,
}

impl<'a, T: Element> LentBuffer<'a, T> {
    fn new(buffer: &'a Buffer<T>, writes: bool, place: &Place<'_>) -> Result<LentBuffer<'a, T>> {
        let address = match buffer.as_raw() {
            Some(address) if place.own().device() == buffer.device() => address,
            _ => return Err(foreign("the buffer", buffer.device(), place.stream.context())),
        };
        // What failed where it was written is told here: `cudarc` knows nothing of it.
        buffer.allocation().uses().check_faults()?;
        used(buffer, writes, place.own())?;
        // What failed before would be a panic of what follows.
        place.stream.context().check_err().map_err(of_driver)?;
        // SAFETY: so many elements lie there, borrowed for as long as this lives, which leaks the slice then; only `with_slices` has it.
        let slice = ManuallyDrop::new(unsafe { place.stream.upgrade_device_ptr(address, buffer.len()) });
        Ok(LentBuffer { slice, buffer, writes, own: place.own().clone() })
    }
}

/// Says that a stream reads or writes a buffer.
fn used<T: Element>(buffer: &Buffer<T>, writes: bool, stream: &Stream) -> Result<()> {
    let (uses, stream) = (buffer.allocation().uses(), stream.core());
    if writes { uses.write_on(stream) } else { uses.read_on(stream) }
}

impl<T: Element> Drop for LentBuffer<'_, T> {
    fn drop(&mut self) {
        // SAFETY: not used again.
        let slice = unsafe { ManuallyDrop::take(&mut self.slice) };
        // Its stream waits for what others did with it; the memory stays the buffer's.
        slice.leak();
        // The work may have come after the buffer has forgotten the stream. A failure shows at the next call.
        if used(self.buffer, self.writes, &self.own).is_err() {
            let _ = self.own.synchronize();
        }
    }
}

impl<T: Element> sealed::Sealed for &Buffer<T> {}

impl<'a, T: Element> Buffers for &'a Buffer<T> {
    type Slices<'b> = CudaView<'b, T>;
    type Lent = Option<LentBuffer<'a, T>>;

    fn lend(self, place: &Place<'_>, lent: &mut Option<LentBuffer<'a, T>>) -> Result<()> {
        *lent = Some(LentBuffer::new(self, false, place)?);
        Ok(())
    }

    fn slices<'b>(lent: &'b mut Option<LentBuffer<'a, T>>) -> CudaView<'b, T> {
        filled!(lent).slice.as_view()
    }
}

impl<T: Element> sealed::Sealed for &mut Buffer<T> {}

impl<'a, T: Element> Buffers for &'a mut Buffer<T> {
    type Slices<'b> = CudaViewMut<'b, T>;
    type Lent = Option<LentBuffer<'a, T>>;

    fn lend(self, place: &Place<'_>, lent: &mut Option<LentBuffer<'a, T>>) -> Result<()> {
        *lent = Some(LentBuffer::new(self, true, place)?);
        Ok(())
    }

    fn slices<'b>(lent: &'b mut Option<LentBuffer<'a, T>>) -> CudaViewMut<'b, T> {
        filled!(lent).slice.as_view_mut()
    }
}

macro_rules! tuples {
    ($($($name:ident $room:ident)*;)*) => {$(
        impl<$($name: sealed::Sealed),*> sealed::Sealed for ($($name,)*) {}

        #[allow(non_snake_case, reason = "a variable for each type")]
        impl<$($name: Slices),*> Slices for ($($name,)*) {
            type Buffers<'b> = ($($name::Buffers<'b>,)*);
            type Lent<'p> = ($($name::Lent<'p>,)*) where Self: 'p;

            #[inline(always)]
            fn lend<'p>(self, at: At<'p>, lent: &mut Self::Lent<'p>) -> Result<()>
            where
                Self: 'p,
            {
                let (($($name,)*), ($($room,)*)) = (self, lent);
                $($name.lend(at, $room)?;)*
                Ok(())
            }

            #[inline]
            fn buffers<'b>(lent: &'b mut Self::Lent<'_>) -> Self::Buffers<'b> {
                let ($($room,)*) = lent;
                ($(<$name as Slices>::buffers($room),)*)
            }
        }

        #[allow(non_snake_case, reason = "a variable for each type")]
        impl<$($name: Buffers),*> Buffers for ($($name,)*) {
            type Slices<'b> = ($($name::Slices<'b>,)*);
            type Lent = ($($name::Lent,)*);

            fn lend(self, place: &Place<'_>, lent: &mut Self::Lent) -> Result<()> {
                let (($($name,)*), ($($room,)*)) = (self, lent);
                $($name.lend(place, $room)?;)*
                Ok(())
            }

            fn slices<'b>(lent: &'b mut Self::Lent) -> Self::Slices<'b> {
                let ($($room,)*) = lent;
                ($(<$name as Buffers>::slices($room),)*)
            }
        }
    )*};
}

tuples! {
    A a;
    A a B b;
    A a B b C c;
    A a B b C c D d;
    A a B b C c D d E e;
    A a B b C c D d E e F f;
}
