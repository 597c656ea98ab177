//! Modules, kernels, launches.

use crate::codes::{
    Code, INVALID_HANDLE, INVALID_PTX, INVALID_VALUE, LAUNCH_OUT_OF_RESOURCES, NO_BINARY_FOR_GPU, NOT_FOUND, UNSUPPORTED_PTX_VERSION,
    of_fault,
};
use crate::device::{BLOCKS, MULTIPROCESSORS, THREADS, capability, shared_limits, version};
use crate::layouts::LaunchConfig;
use crate::memory::{of_host, to_host};
use crate::state::{Function, Handle, State, current, known, state};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, OnceLock};
use warpwright_ptx_interpreter::{Launch, LoadedModule, Module};

/// Options of `cuModuleLoadDataEx`: where messages go, and how many bytes they may have.
const ERROR_LOG: c_uint = 5;
const ERROR_LOG_BYTES: c_uint = 6;
/// Attributes of kernels: threads of a block, bytes of shared memory, the same of dynamic memory.
const MAX_THREADS: c_uint = 0;
const SHARED_BYTES: c_uint = 1;
const DYNAMIC_BYTES: c_uint = 8;
/// Attribute of a launch: blocks of a cluster.
const CLUSTER: c_uint = 4;
/// Bytes of shared memory that a block has without asking.
const UNASKED: u32 = 49152;

/// A launch, with the bytes of its parameters.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) function: Handle,
    pub(crate) launch: Launch,
    pub(crate) params: Vec<u8>,
}

fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| std::env::var("PTX_INTERPRETER_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0))
}

impl State {
    fn function(&self, handle: Handle) -> Result<(&Function, Arc<LoadedModule>), Code> {
        let function = known(self.functions.get(&handle))?;
        Ok((function, Arc::clone(&known(self.modules.get(&function.module))?.1)))
    }

    /// Whether a kernel can be launched in a stream: both are of one context.
    fn is_of_stream(&self, function: Handle, stream: Handle) -> Result<(), Code> {
        let context = self.context_of(stream)?;
        if known(self.functions.get(&function))?.context == context { Ok(()) } else { Err(INVALID_HANDLE) }
    }

    /// The bytes of a launch's parameters, which are copied before the call returns.
    pub(crate) fn parameters(&self, function: Handle, addresses: *const *mut c_void) -> Result<Vec<u8>, Code> {
        let (function, module) = self.function(function)?;
        let entry = known(module.entry(&function.name))?;
        let mut params = vec![0; entry.parameter_bytes()];
        for (n, parameter) in entry.parameters().iter().enumerate() {
            if addresses.is_null() {
                return Err(INVALID_VALUE);
            }
            // SAFETY: the caller gives one address for each parameter of the kernel.
            let from = unsafe { *addresses.add(n) };
            params[parameter.offset..parameter.offset + parameter.bytes].copy_from_slice(of_host(from, parameter.bytes)?);
        }
        Ok(params)
    }

    /// Whether a kernel can be run so.
    fn check(&self, work: &Work) -> Result<(), Code> {
        let (function, module) = self.function(work.function)?;
        let (name, limit) = (&function.name, function.dynamic_limit);
        let entry = known(module.entry(name))?;
        let threads: u64 = work.launch.block.iter().map(|n| u64::from(*n)).product();
        if threads > u64::from(entry.most_threads()) {
            return Err(LAUNCH_OUT_OF_RESOURCES);
        }
        if work.launch.dynamic_shared > limit {
            eprintln!(
                "PTX interpreter: kernel `{name}` asks for {} bytes of shared memory, and may for {limit}",
                work.launch.dynamic_shared
            );
            return Err(INVALID_VALUE);
        }
        entry.check(&work.launch, &work.params).map_err(|fault| {
            eprintln!("PTX interpreter: {fault}");
            of_fault(fault.kind)
        })
    }

    /// Runs a kernel in a stream.
    fn launch_in(&mut self, stream: Handle, work: Work) -> Result<(), Code> {
        self.check(&work)?;
        self.in_stream(stream, move |state| state.run(&work))
    }

    /// Runs a kernel. A fault is told by later calls.
    pub(crate) fn run(&mut self, work: &Work) -> Result<(), Code> {
        self.check(work)?;
        let (function, module) = self.function(work.function)?;
        let (name, context) = (function.name.clone(), function.context);
        let entry = known(module.entry(&name))?;
        let gpu = self.gpu_of(context)?;
        match entry.launch(&work.launch, &mut gpu.memory, &work.params) {
            Ok(outcome) => {
                print!("{}", outcome.printed);
                Ok(())
            }
            Err(fault) => {
                eprintln!("PTX interpreter: {fault}");
                gpu.lost = Some(of_fault(fault.kind));
                Ok(())
            }
        }
    }
}

/// The launch of a grid.
pub(crate) fn launch(grid: [u32; 3], block: [u32; 3], shared: u32) -> Launch {
    Launch { grid, block, dynamic_shared: shared, seed: seed(), ..Launch::default() }
}

fn text<'t>(from: *const c_char) -> Result<&'t str, Code> {
    if from.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's text, which ends with a zero byte.
    unsafe { CStr::from_ptr(from) }.to_str().map_err(|_| INVALID_VALUE)
}

/// Writes a message to where the caller wants messages.
fn log(message: &str, count: c_uint, names: *const c_uint, values: *const *mut c_void) -> Result<(), Code> {
    let (mut to, mut room) = (null_mut(), 0);
    for n in 0..count as usize {
        // SAFETY: the caller gives so many names and values.
        let (name, value) = unsafe { (*names.add(n), *values.add(n)) };
        match name {
            ERROR_LOG => to = value,
            ERROR_LOG_BYTES => room = value as usize & 0xffff_ffff,
            _ => {}
        }
    }
    if to.is_null() || room == 0 {
        return Ok(());
    }
    let mut bytes = message.as_bytes()[..message.len().min(room - 1)].to_vec();
    bytes.push(0);
    to_host(to, &bytes)
}

/// Whether the driver knows this version of PTX: CUDA 11.4 knows 7.4, CUDA 12.0 8.0 (PTX ISA, "Release Notes"; a minor number or two are later than in CUDA from 12.6 on).
fn knows(ptx: (u32, u32)) -> bool {
    let (major, minor) = version();
    ptx <= (major - 4, minor)
}

/// Whether the device takes what was made for a target: one of its own or an earlier capability; with a letter, of its own.
fn runs(target: &str) -> bool {
    let digits: String = target.chars().filter(char::is_ascii_digit).collect();
    let of_target: u32 = digits.parse().unwrap_or(u32::MAX);
    if target.ends_with(|c: char| c.is_ascii_lowercase()) { of_target == capability() } else { of_target <= capability() }
}

/// Blocks of a kernel that a multiprocessor holds.
fn resident(state: &State, function: Handle, threads: usize, dynamic: usize) -> Result<usize, Code> {
    let (function, module) = state.function(function)?;
    let entry = known(module.entry(&function.name))?;
    let (shared, _) = shared_limits();
    let of_block = dynamic + entry.shared_bytes() as usize;
    let by_shared = (shared as usize).checked_div(of_block).unwrap_or(BLOCKS);
    Ok((THREADS / threads.max(1).next_multiple_of(32)).min(by_shared).min(BLOCKS))
}

/// The cluster that a launch asks for.
fn cluster(config: &LaunchConfig) -> [u32; 3] {
    for n in 0..config.count as usize {
        // SAFETY: the caller gives so many attributes.
        let attribute = unsafe { &*config.attributes.add(n) };
        if attribute.id == CLUSTER {
            return [attribute.value[0], attribute.value[1], attribute.value[2]];
        }
    }
    [1; 3]
}

/// Reads PTX, and says what is wrong with it where a caller has room for that.
fn load(module: *mut Handle, image: *const c_void, count: c_uint, names: *mut c_uint, values: *mut *mut c_void) -> Result<(), Code> {
    let mut state = state()?;
    let read = match Module::parse(text(image.cast())?) {
        Ok(read) => read,
        Err(error) => {
            log(&format!("PTX interpreter: {error}"), count, names, values)?;
            return Err(INVALID_PTX);
        }
    };
    if !knows(read.version()) {
        let ((major, minor), cuda) = (read.version(), version());
        log(&format!("PTX interpreter: PTX {major}.{minor} is later than CUDA {}.{}", cuda.0, cuda.1), count, names, values)?;
        return Err(UNSUPPORTED_PTX_VERSION);
    }
    if !runs(read.target()) {
        log(&format!("PTX interpreter: `{}` does not run on {}", read.target(), capability()), count, names, values)?;
        return Err(NO_BINARY_FOR_GPU);
    }
    let context = current()?;
    let loaded = read.load(&mut state.gpu()?.memory).map_err(|_| crate::codes::OUT_OF_MEMORY)?;
    let new = state.new_handle();
    state.modules.insert(new, (context, Arc::new(loaded)));
    put!(module, new);
    Ok(())
}

exported! {
    /// Reads PTX.
    fn cuModuleLoadDataEx(module: *mut Handle, image: *const c_void, count: c_uint, names: *mut c_uint, values: *mut *mut c_void) {
        load(module, image, count, names, values)
    }

    /// The same without a word about what is wrong.
    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) {
        load(module, image, 0, null_mut(), null_mut())
    }

    /// Forgets a module.
    fn cuModuleUnload(module: Handle) {
        let mut state = state()?;
        state.do_everything();
        let (context, loaded) = known(state.modules.remove(&module))?;
        state.functions.retain(|_, function| function.module != module);
        if let Ok(loaded) = Arc::try_unwrap(loaded) {
            loaded.unload(&mut state.gpu_of(context)?.memory);
        }
        Ok(())
    }

    /// A kernel of a module.
    fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) {
        let mut state = state()?;
        let name = text(name)?.to_owned();
        let (context, loaded) = known(state.modules.get(&module))?;
        let entry = loaded.entry(&name).ok_or(NOT_FOUND)?;
        let (context, dynamic_limit) = (*context, UNASKED.saturating_sub(entry.shared_bytes()));
        let new = state.new_handle();
        state.functions.insert(new, Function { context, module, name, dynamic_limit });
        put!(function, new);
        Ok(())
    }

    /// A variable of a module.
    fn cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, module: Handle, name: *const c_char) {
        let state = state()?;
        let (at, size) = known(state.modules.get(&module))?.1.variable(text(name)?).ok_or(NOT_FOUND)?;
        put!(address, at);
        put!(bytes, size as usize);
        Ok(())
    }

    /// What a kernel needs.
    fn cuFuncGetAttribute(value: *mut c_int, attribute: c_uint, function: Handle) {
        let state = state()?;
        let (function, module) = state.function(function)?;
        let entry = known(module.entry(&function.name))?;
        let found = match attribute {
            MAX_THREADS => entry.most_threads(),
            SHARED_BYTES => entry.shared_bytes(),
            DYNAMIC_BYTES => function.dynamic_limit,
            _ => 0,
        };
        put!(value, found as c_int);
        Ok(())
    }

    /// What its launches may ask for.
    fn cuFuncSetAttribute(function: Handle, attribute: c_uint, value: c_int) {
        let mut state = state()?;
        if attribute != DYNAMIC_BYTES {
            return Ok(());
        }
        let fixed = {
            let (function, module) = state.function(function)?;
            known(module.entry(&function.name))?.shared_bytes()
        };
        let (_, most) = shared_limits();
        let asked = u32::try_from(value).map_err(|_| INVALID_VALUE)?;
        if asked + fixed > most as u32 {
            return Err(INVALID_VALUE);
        }
        known(state.functions.get_mut(&function))?.dynamic_limit = asked;
        Ok(())
    }

    /// Blocks that a multiprocessor holds.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, function: Handle, threads: c_int, shared: usize) {
        let found = resident(&*state()?, function, usize::try_from(threads).unwrap_or(0), shared)?;
        put!(blocks, found as c_int);
        Ok(())
    }

    /// Clusters that the device holds.
    fn cuOccupancyMaxActiveClusters(clusters: *mut c_int, function: Handle, config: *const LaunchConfig) {
        let config = take!(config);
        let threads: u32 = config.block.iter().product();
        let blocks = resident(&*state()?, function, threads as usize, config.shared as usize)? * MULTIPROCESSORS;
        let of_cluster: u32 = cluster(config).iter().product();
        put!(clusters, (blocks / of_cluster.max(1) as usize) as c_int);
        Ok(())
    }

    /// Runs a kernel.
    fn cuLaunchKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        stream: Handle,
        parameters: *mut *mut c_void,
        _extra: *mut *mut c_void,
    ) {
        let mut state = state()?;
        state.is_of_stream(function, stream)?;
        let params = state.parameters(function, parameters)?;
        let launch = launch([grid_x, grid_y, grid_z], [block_x, block_y, block_z], shared);
        state.launch_in(stream, Work { function, launch, params })
    }

    /// Runs a kernel, with attributes.
    fn cuLaunchKernelEx(config: *const LaunchConfig, function: Handle, parameters: *mut *mut c_void, _extra: *mut *mut c_void) {
        let config = take!(config);
        let mut state = state()?;
        state.is_of_stream(function, config.stream)?;
        let params = state.parameters(function, parameters)?;
        let launch = Launch { cluster: cluster(config), ..launch(config.grid, config.block, config.shared) };
        state.launch_in(config.stream, Work { function, launch, params })
    }
}
