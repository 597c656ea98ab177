//! The functions of the CUDA driver that this library calls, loaded when first asked for.
//!
//! Bindings of the whole driver would take longer to compile than the rest of this crate. Results are plain numbers, since drivers newer than
//! this have other codes, and a missing symbol is an error.

#![expect(unsafe_code, reason = "calls the CUDA driver")]

use super::sys;
use crate::error::{Error, Result};
use crate::libraries::Api;
use libloading::Library;
use std::env::consts::OS;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null;
use std::sync::OnceLock;

/// What a function returns: 0, or what went wrong.
pub(super) type Code = u32;

/// Codes that are told apart. Source: CUDA Driver API, `CUresult`.
pub(super) mod code {
    use super::Code;

    pub(in crate::cuda) const SUCCESS: Code = 0;
    pub(in crate::cuda) const OUT_OF_MEMORY: Code = 2;
    pub(in crate::cuda) const NO_DEVICE: Code = 100;
    pub(in crate::cuda) const INVALID_CONTEXT: Code = 201;
    pub(in crate::cuda) const NO_BINARY_FOR_GPU: Code = 209;
    pub(in crate::cuda) const INVALID_PTX: Code = 218;
    pub(in crate::cuda) const JIT_COMPILER_NOT_FOUND: Code = 221;
    pub(in crate::cuda) const UNSUPPORTED_PTX_VERSION: Code = 222;
    pub(in crate::cuda) const INVALID_HANDLE: Code = 400;
    pub(in crate::cuda) const NOT_READY: Code = 600;
    pub(in crate::cuda) const ILLEGAL_ADDRESS: Code = 700;
    pub(in crate::cuda) const LAUNCH_OUT_OF_RESOURCES: Code = 701;
    pub(in crate::cuda) const LAUNCH_TIMEOUT: Code = 702;
    pub(in crate::cuda) const PEER_ACCESS_ALREADY_ENABLED: Code = 704;
    pub(in crate::cuda) const CONTEXT_IS_DESTROYED: Code = 709;
    pub(in crate::cuda) const ASSERT: Code = 710;
    pub(in crate::cuda) const HARDWARE_STACK_ERROR: Code = 714;
    pub(in crate::cuda) const ILLEGAL_INSTRUCTION: Code = 715;
    pub(in crate::cuda) const MISALIGNED_ADDRESS: Code = 716;
    pub(in crate::cuda) const LAUNCH_FAILED: Code = 719;
}

macro_rules! functions {
    (
        $($name:ident = $symbol:literal $(or $old:literal)? ($($arg:ident: $ty:ty),* $(,)?);)*
        => $($new:ident = $new_symbol:literal ($($new_arg:ident: $new_ty:ty),* $(,)?);)*
    ) => {
        /// The driver: its functions, by their names without the version suffix.
        #[expect(non_snake_case, reason = "the driver's own names")]
        pub(super) struct DriverApi {
            $($name: unsafe extern "C" fn($($ty),*) -> Code,)*
            $(
                /// Older drivers lack it.
                pub(super) $new: Option<unsafe extern "C" fn($($new_ty),*) -> Code>,
            )*
            /// The newest CUDA version it supports, 1000·major + 10·minor.
            version: c_int,
        }

        #[expect(non_snake_case, clippy::too_many_arguments, reason = "the driver's own names and signatures")]
        impl DriverApi {
            fn load() -> Result<DriverApi, String> {
                let names = Api::Cuda.names(OS);
                // SAFETY: loads a library; its initialisers are the driver vendor's.
                let found = names.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
                // It stays for good: what is found in it is called until the process ends.
                let library = found.map(|library| Box::leak(Box::new(library)));
                let library = library.ok_or_else(|| format!("no library `cuda` ({}) can be loaded", names.join(", ")))?;
                Ok(DriverApi {
                    $($name: {
                        let found = [$symbol, $($old)?].into_iter().find_map(|symbol| {
                            // SAFETY: the symbol has this signature in every driver that has it: CUDA Driver API, module pages.
                            unsafe { library.get::<unsafe extern "C" fn($($ty),*) -> Code>(symbol.as_bytes()) }.ok()
                        });
                        *found.ok_or_else(|| format!("the library lacks the function `{}`: it is too old", $symbol))?
                    },)*
                    $($new: {
                        // SAFETY: as above.
                        unsafe { library.get::<unsafe extern "C" fn($($new_ty),*) -> Code>($new_symbol.as_bytes()) }.ok().map(|found| *found)
                    },)*
                    version: 0,
                })
            }

            $(
                /// Calls the function of this name and gives its result code.
                ///
                /// # Safety
                /// As the driver's documentation of the function says.
                pub(super) unsafe fn $name(&self, $($arg: $ty),*) -> Code {
                    // SAFETY: the caller's promise.
                    unsafe { (self.$name)($($arg),*) }
                }
            )*
        }
    };
}

functions! {
    cuInit = "cuInit" (flags: c_uint);
    cuDriverGetVersion = "cuDriverGetVersion" (version: *mut c_int);
    cuGetErrorName = "cuGetErrorName" (code: Code, name: *mut *const c_char);
    cuDeviceGetCount = "cuDeviceGetCount" (count: *mut c_int);
    cuDeviceGet = "cuDeviceGet" (device: *mut sys::CUdevice, ordinal: c_int);
    cuDeviceGetName = "cuDeviceGetName" (name: *mut c_char, len: c_int, device: sys::CUdevice);
    cuDeviceGetAttribute = "cuDeviceGetAttribute" (value: *mut c_int, attribute: c_uint, device: sys::CUdevice);
    cuDeviceTotalMem = "cuDeviceTotalMem_v2" (bytes: *mut usize, device: sys::CUdevice);
    cuDevicePrimaryCtxRetain = "cuDevicePrimaryCtxRetain" (context: *mut sys::CUcontext, device: sys::CUdevice);
    cuCtxGetCurrent = "cuCtxGetCurrent" (context: *mut sys::CUcontext);
    cuCtxSetCurrent = "cuCtxSetCurrent" (context: sys::CUcontext);
    cuCtxSynchronize = "cuCtxSynchronize" ();
    cuMemGetInfo = "cuMemGetInfo_v2" (free: *mut usize, total: *mut usize);
    cuMemAlloc = "cuMemAlloc_v2" (address: *mut sys::CUdeviceptr, bytes: usize);
    cuMemFree = "cuMemFree_v2" (address: sys::CUdeviceptr);
    cuMemHostAlloc = "cuMemHostAlloc" (address: *mut sys::Handle, bytes: usize, flags: c_uint);
    cuMemFreeHost = "cuMemFreeHost" (address: sys::Handle);
    cuMemcpyHtoDAsync = "cuMemcpyHtoDAsync_v2" (to: sys::CUdeviceptr, from: *const c_void, bytes: usize, stream: sys::CUstream);
    cuMemcpyDtoHAsync = "cuMemcpyDtoHAsync_v2" (to: *mut c_void, from: sys::CUdeviceptr, bytes: usize, stream: sys::CUstream);
    cuMemcpyDtoDAsync = "cuMemcpyDtoDAsync_v2" (to: sys::CUdeviceptr, from: sys::CUdeviceptr, bytes: usize, stream: sys::CUstream);
    cuMemcpyPeerAsync = "cuMemcpyPeerAsync" (
        to: sys::CUdeviceptr,
        to_context: sys::CUcontext,
        from: sys::CUdeviceptr,
        from_context: sys::CUcontext,
        bytes: usize,
        stream: sys::CUstream,
    );
    cuDeviceCanAccessPeer = "cuDeviceCanAccessPeer" (can: *mut c_int, device: sys::CUdevice, peer: sys::CUdevice);
    cuCtxEnablePeerAccess = "cuCtxEnablePeerAccess" (peer: sys::CUcontext, flags: c_uint);
    cuMemcpy2DAsync = "cuMemcpy2DAsync_v2" (copy: *const sys::CUDA_MEMCPY2D, stream: sys::CUstream);
    cuArrayCreate = "cuArrayCreate_v2" (array: *mut sys::CUarray, descriptor: *const sys::CUDA_ARRAY_DESCRIPTOR);
    cuArrayDestroy = "cuArrayDestroy" (array: sys::CUarray);
    cuTexObjectCreate = "cuTexObjectCreate" (
        object: *mut sys::CUtexObject,
        resource: *const sys::CUDA_RESOURCE_DESC,
        texture: *const sys::CUDA_TEXTURE_DESC,
        view: *const c_void,
    );
    cuTexObjectDestroy = "cuTexObjectDestroy" (object: sys::CUtexObject);
    cuMemsetD8Async = "cuMemsetD8Async" (to: sys::CUdeviceptr, byte: u8, bytes: usize, stream: sys::CUstream);
    cuStreamCreate = "cuStreamCreate" (stream: *mut sys::CUstream, flags: c_uint);
    cuStreamDestroy = "cuStreamDestroy_v2" (stream: sys::CUstream);
    cuStreamSynchronize = "cuStreamSynchronize" (stream: sys::CUstream);
    cuStreamWaitEvent = "cuStreamWaitEvent" (stream: sys::CUstream, event: sys::CUevent, flags: c_uint);
    cuEventCreate = "cuEventCreate" (event: *mut sys::CUevent, flags: c_uint);
    cuEventDestroy = "cuEventDestroy_v2" (event: sys::CUevent);
    cuEventRecord = "cuEventRecord" (event: sys::CUevent, stream: sys::CUstream);
    cuEventQuery = "cuEventQuery" (event: sys::CUevent);
    cuEventSynchronize = "cuEventSynchronize" (event: sys::CUevent);
    cuEventElapsedTime = "cuEventElapsedTime_v2" or "cuEventElapsedTime" (milliseconds: *mut f32, start: sys::CUevent, end: sys::CUevent);
    cuModuleLoadDataEx = "cuModuleLoadDataEx" (
        module: *mut sys::CUmodule,
        image: *const c_void,
        options: c_uint,
        names: *mut c_uint,
        values: *mut *mut c_void,
    );
    cuModuleUnload = "cuModuleUnload" (module: sys::CUmodule);
    cuModuleGetFunction = "cuModuleGetFunction" (function: *mut sys::CUfunction, module: sys::CUmodule, name: *const c_char);
    cuModuleGetGlobal = "cuModuleGetGlobal_v2" (
        address: *mut sys::CUdeviceptr,
        bytes: *mut usize,
        module: sys::CUmodule,
        name: *const c_char,
    );
    cuFuncGetAttribute = "cuFuncGetAttribute" (value: *mut c_int, attribute: c_uint, function: sys::CUfunction);
    cuFuncSetAttribute = "cuFuncSetAttribute" (function: sys::CUfunction, attribute: c_uint, value: c_int);
    cuOccupancyMaxActiveBlocksPerMultiprocessor = "cuOccupancyMaxActiveBlocksPerMultiprocessor" (
        blocks: *mut c_int,
        function: sys::CUfunction,
        threads: c_int,
        shared_bytes: usize,
    );
    cuLaunchKernel = "cuLaunchKernel" (
        function: sys::CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: sys::CUstream,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    );

    // Those that older drivers lack.
    =>
    cuGraphCreate = "cuGraphCreate" (graph: *mut sys::CUgraph, flags: c_uint);
    cuGraphDestroy = "cuGraphDestroy" (graph: sys::CUgraph);
    cuGraphAddKernelNode = "cuGraphAddKernelNode" (
        node: *mut sys::CUgraphNode,
        graph: sys::CUgraph,
        after: *const sys::CUgraphNode,
        count: usize,
        parameters: *const sys::CUDA_KERNEL_NODE_PARAMS,
    );
    cuGraphAddMemcpyNode = "cuGraphAddMemcpyNode" (
        node: *mut sys::CUgraphNode,
        graph: sys::CUgraph,
        after: *const sys::CUgraphNode,
        count: usize,
        copy: *const sys::CUDA_MEMCPY3D,
        context: sys::CUcontext,
    );
    cuGraphAddMemsetNode = "cuGraphAddMemsetNode" (
        node: *mut sys::CUgraphNode,
        graph: sys::CUgraph,
        after: *const sys::CUgraphNode,
        count: usize,
        zero: *const sys::CUDA_MEMSET_NODE_PARAMS,
        context: sys::CUcontext,
    );
    cuGraphAddEmptyNode = "cuGraphAddEmptyNode" (
        node: *mut sys::CUgraphNode,
        graph: sys::CUgraph,
        after: *const sys::CUgraphNode,
        count: usize,
    );
    cuGraphExecKernelNodeSetParams = "cuGraphExecKernelNodeSetParams" (
        exec: sys::CUgraphExec,
        node: sys::CUgraphNode,
        parameters: *const sys::CUDA_KERNEL_NODE_PARAMS,
    );
    cuGraphExecMemcpyNodeSetParams = "cuGraphExecMemcpyNodeSetParams" (
        exec: sys::CUgraphExec,
        node: sys::CUgraphNode,
        copy: *const sys::CUDA_MEMCPY3D,
        context: sys::CUcontext,
    );
    cuGraphExecMemsetNodeSetParams = "cuGraphExecMemsetNodeSetParams" (
        exec: sys::CUgraphExec,
        node: sys::CUgraphNode,
        zero: *const sys::CUDA_MEMSET_NODE_PARAMS,
        context: sys::CUcontext,
    );
    cuGraphAddDependencies = "cuGraphAddDependencies_v2" (
        graph: sys::CUgraph,
        from: *const sys::CUgraphNode,
        to: *const sys::CUgraphNode,
        edges: *const sys::CUgraphEdgeData,
        count: usize,
    );
    cuGraphInstantiateWithFlags = "cuGraphInstantiateWithFlags" (exec: *mut sys::CUgraphExec, graph: sys::CUgraph, flags: u64);
    cuGraphExecDestroy = "cuGraphExecDestroy" (exec: sys::CUgraphExec);
    cuGraphLaunch = "cuGraphLaunch" (exec: sys::CUgraphExec, stream: sys::CUstream);
    cuMemPoolCreate = "cuMemPoolCreate" (pool: *mut sys::CUmemoryPool, properties: *const sys::CUmemPoolProps);
    cuMemPoolDestroy = "cuMemPoolDestroy" (pool: sys::CUmemoryPool);
    cuMemPoolSetAttribute = "cuMemPoolSetAttribute" (pool: sys::CUmemoryPool, attribute: c_uint, value: *mut c_void);
    cuMemPoolGetAttribute = "cuMemPoolGetAttribute" (pool: sys::CUmemoryPool, attribute: c_uint, value: *mut c_void);
    cuMemPoolSetAccess = "cuMemPoolSetAccess" (pool: sys::CUmemoryPool, access: *const sys::CUmemAccessDesc, count: usize);
    cuMemPoolTrimTo = "cuMemPoolTrimTo" (pool: sys::CUmemoryPool, bytes: usize);
    cuMemAllocFromPoolAsync = "cuMemAllocFromPoolAsync" (
        address: *mut sys::CUdeviceptr,
        bytes: usize,
        pool: sys::CUmemoryPool,
        stream: sys::CUstream,
    );
    cuMemFreeAsync = "cuMemFreeAsync" (address: sys::CUdeviceptr, stream: sys::CUstream);
    cuLaunchKernelEx = "cuLaunchKernelEx" (
        config: *const sys::CUlaunchConfig,
        function: sys::CUfunction,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    );
    cuOccupancyMaxActiveClusters = "cuOccupancyMaxActiveClusters" (clusters: *mut c_int, function: sys::CUfunction, config: *const sys::CUlaunchConfig);
    cuTensorMapEncodeTiled = "cuTensorMapEncodeTiled" (
        map: *mut sys::CUtensorMap,
        data_type: c_uint,
        rank: c_uint,
        address: *mut c_void,
        extents: *const u64,
        strides: *const u64,
        tile: *const c_uint,
        steps: *const c_uint,
        interleave: c_uint,
        swizzle: c_uint,
        promotion: c_uint,
        fill: c_uint,
    );
}

/// What is said of a driver without a GPU.
pub(super) const NO_GPU: &str =
    "the driver sees no GPU; see what `nvidia-smi -L` lists and whether `CUDA_VISIBLE_DEVICES` hides it, or use `Device::simulator()`";

impl DriverApi {
    /// The driver, loaded and initialised once.
    pub(super) fn get() -> Result<&'static DriverApi> {
        static DRIVER: OnceLock<Result<DriverApi>> = OnceLock::new();
        DRIVER.get_or_init(DriverApi::start).as_ref().map_err(Clone::clone)
    }

    fn start() -> Result<DriverApi> {
        let no_driver = |reason: String| Error::NoDriver { api: "CUDA", reason, help: Api::Cuda.way_out(OS) };
        let mut driver = DriverApi::load().map_err(no_driver)?;
        // SAFETY: to be called first, with 0.
        match unsafe { driver.cuInit(0) } {
            code::SUCCESS => {}
            code::NO_DEVICE => return Err(Error::NoDevice { api: "CUDA", index: 0, found: NO_GPU.into() }),
            failed => return Err(no_driver(format!("the library is there, but cuInit failed with {}", driver.name(failed)))),
        }
        let mut version = 0;
        // SAFETY: writes one number.
        driver.check(unsafe { driver.cuDriverGetVersion(&mut version) }, "cuDriverGetVersion")?;
        driver.version = version;
        Ok(driver)
    }

    /// The newest CUDA version it supports, as text.
    pub(super) fn version(&self) -> String {
        format!("{}.{}", self.version / 1000, self.version % 1000 / 10)
    }

    /// The same as a number, 1000·major + 10·minor.
    pub(super) fn version_number(&self) -> u32 {
        self.version.unsigned_abs()
    }

    /// A code by name and number.
    pub(super) fn name(&self, code: Code) -> String {
        let mut name = null();
        // SAFETY: writes the address of a static string, or null where it does not know the code.
        let found = unsafe { self.cuGetErrorName(code, &mut name) };
        if found != code::SUCCESS || name.is_null() {
            return format!("CUDA error {code}");
        }
        // SAFETY: a static C string.
        format!("{} ({code})", unsafe { CStr::from_ptr(name) }.to_string_lossy())
    }

    /// The error of a failed call.
    pub(super) fn check(&self, code: Code, call: &str) -> Result<()> {
        if code == code::SUCCESS {
            return Ok(());
        }
        Err(Error::Driver { call: call.to_owned(), code: self.name(code), context: String::new() })
    }

    /// How many GPUs it sees.
    pub(super) fn device_count(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: writes one number.
        self.check(unsafe { self.cuDeviceGetCount(&mut count) }, "cuDeviceGetCount")?;
        Ok(usize::try_from(count).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_there_is_an_error_and_no_panic() {
        match DriverApi::get() {
            Ok(driver) => assert!(driver.version().contains('.')),
            Err(Error::NoDriver { reason, help, .. }) => assert!(!reason.is_empty() && help.contains("simulator")),
            Err(Error::NoDevice { found, .. }) => assert!(!found.is_empty()),
            Err(other) => panic!("{other}"),
        }
    }
}
