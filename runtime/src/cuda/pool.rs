//! Memory in the order of streams: from a pool of the driver's, given and taken back without waiting for the GPU.

#![expect(unsafe_code, reason = "calls the CUDA driver")]

use super::api::{Code, DriverApi, code};
use super::{Context, sys};
use crate::driver::{Memory, Queue};
use crate::error::{Error, Result};
use std::ffi::{c_uint, c_void};
use std::sync::Arc;

/// A pool of a GPU's memory, and the functions of drivers that have pools (CUDA 11.2 and later).
pub(super) struct Pool {
    handle: sys::CUmemoryPool,
    allocate: unsafe extern "C" fn(*mut sys::CUdeviceptr, usize, sys::CUmemoryPool, sys::CUstream) -> Code,
    free: unsafe extern "C" fn(sys::CUdeviceptr, sys::CUstream) -> Code,
    allow: unsafe extern "C" fn(sys::CUmemoryPool, *const sys::CUmemAccessDesc, usize) -> Code,
    trim: unsafe extern "C" fn(sys::CUmemoryPool, usize) -> Code,
    get: unsafe extern "C" fn(sys::CUmemoryPool, c_uint, *mut c_void) -> Code,
    destroy: unsafe extern "C" fn(sys::CUmemoryPool) -> Code,
}

impl Pool {
    /// A pool of this device, of its own: what others do with the device's default one stays theirs. `None`: the driver or the device has none.
    pub(super) fn new(driver: &DriverApi, device: sys::CUdevice) -> Option<Pool> {
        let (create, set) = (driver.cuMemPoolCreate?, driver.cuMemPoolSetAttribute?);
        let (allocate, free, trim) = (driver.cuMemAllocFromPoolAsync?, driver.cuMemFreeAsync?, driver.cuMemPoolTrimTo?);
        let (get, destroy, allow) = (driver.cuMemPoolGetAttribute?, driver.cuMemPoolDestroy?, driver.cuMemPoolSetAccess?);
        let properties = sys::CUmemPoolProps {
            allocType: sys::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: 0,
            location: sys::CUmemLocation { ty: sys::CU_MEM_LOCATION_TYPE_DEVICE, id: device },
            rest: [0; 9],
        };
        let mut handle = sys::Handle::NULL;
        // SAFETY: reads the properties, writes one handle.
        if unsafe { create(&mut handle, &properties) } != code::SUCCESS {
            return None;
        }
        // What is taken back is kept for the next one: otherwise each synchronisation gives it to the driver, and each buffer costs mapping memory anew.
        let mut kept = u64::MAX;
        // SAFETY: reads one number.
        let _ = unsafe { set(handle, sys::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, (&raw mut kept).cast()) };
        Some(Pool { handle, allocate, free, allow, trim, get, destroy })
    }

    /// Bytes that the pool has of the device and nobody has of the pool.
    pub(super) fn unused(&self) -> u64 {
        let number = |attribute| {
            let mut value = 0u64;
            // SAFETY: writes one number.
            let code = unsafe { (self.get)(self.handle, attribute, (&raw mut value).cast()) };
            if code == code::SUCCESS { value } else { 0 }
        };
        number(sys::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT).saturating_sub(number(sys::CU_MEMPOOL_ATTR_USED_MEM_CURRENT))
    }

    /// Lets another device read and write what was and will be allocated from it.
    pub(super) fn allow(&self, peer: sys::CUdevice) -> Code {
        let location = sys::CUmemLocation { ty: sys::CU_MEM_LOCATION_TYPE_DEVICE, id: peer };
        // SAFETY: reads one description.
        unsafe { (self.allow)(self.handle, &sys::CUmemAccessDesc { location, flags: 3 }, 1) }
    }

    /// Gives back to the driver what nobody has.
    pub(super) fn trim(&self) -> Code {
        // SAFETY: the pool is this object's.
        unsafe { (self.trim)(self.handle, 0) }
    }

    /// Destroys it, as soon as nobody has memory of it.
    pub(super) fn destroy(&self) {
        // SAFETY: the pool is this object's, and nobody asks it for memory any more. A failure means that the context is lost.
        let _ = unsafe { (self.destroy)(self.handle) };
    }
}

/// Memory that a stream was given.
pub(super) struct PoolMemory {
    context: Arc<Context>,
    address: sys::CUdeviceptr,
}

impl PoolMemory {
    /// So many bytes, at least one, for what comes later in a stream of the context.
    pub(super) fn new(context: &Arc<Context>, pool: &Pool, bytes: usize, stream: sys::CUstream) -> Result<PoolMemory> {
        context.bind()?;
        let mut address = 0;
        // SAFETY: writes one address; pool and stream are the context's, which is current.
        let mut code = unsafe { (pool.allocate)(&mut address, bytes, pool.handle, stream) };
        if code == code::OUT_OF_MEMORY {
            // What is being freed in streams may be enough, and what the pool has in pieces, too.
            // SAFETY: waits for all streams of the context.
            context.check(unsafe { context.driver.cuCtxSynchronize() }, "cuCtxSynchronize")?;
            pool.trim();
            // SAFETY: as above.
            code = unsafe { (pool.allocate)(&mut address, bytes, pool.handle, stream) };
        }
        match code {
            code::OUT_OF_MEMORY => Err(Error::OutOfMemory { device: context.identity.named(), bytes: bytes as u64 }),
            code => context.check(code, "cuMemAllocFromPoolAsync").map(|()| PoolMemory { context: Arc::clone(context), address }),
        }
    }

    fn free_in(&mut self, stream: sys::CUstream) {
        let address = std::mem::take(&mut self.address);
        if let Some(pool) = self.context.pool.as_ref().filter(|_| address != 0)
            && self.context.bind().is_ok()
        {
            // SAFETY: memory of this context's pool, not freed before. A failure means that the context is lost, with all that is its.
            let _ = unsafe { (pool.free)(address, stream) };
        }
    }
}

impl Memory for PoolMemory {
    fn handle(&self) -> u64 {
        self.address
    }

    fn is_freed_in_order(&self) -> bool {
        true
    }

    fn free_in_order(mut self: Box<Self>, queue: &dyn Queue) {
        self.free_in(sys::Handle::of(queue.handle()));
    }
}

impl Drop for PoolMemory {
    fn drop(&mut self) {
        if self.address != 0 && self.context.bind().is_ok() {
            // No stream is known that comes after all that use it: wait for all.
            // SAFETY: the context is current.
            let _ = unsafe { self.context.driver.cuCtxSynchronize() };
            self.free_in(sys::Handle::NULL);
        }
    }
}
