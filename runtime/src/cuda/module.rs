//! Kernels: PTX handed to the driver's assembler, and their launches.

#![expect(unsafe_code, reason = "calls the CUDA driver")]

use super::api::{Code, DriverApi, code};
use super::constants::Constants;
use super::queue::CudaEvent;
use super::sys;
use super::tensor_map::Maps;
use super::{Context, Owned};
use crate::arguments::ArgumentKind;
use crate::check::{Extents, parameter_name};
use crate::definition::KernelDefinition;
use crate::driver::{Executable, LaunchPlan, Marker, c_string, parameter_of};
use crate::error::{Error, Result};
use crate::instance::LoweredKernel;
use crate::sim::Counters;
use crate::stream::StreamCore;
use crate::tensor::Matrix;
use crate::timing::Clock;
use std::ffi::{c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sys::{CUfunction_attribute as FunctionAttribute, CUjit_option as JitOption};
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::backend::{AbiArgument, Emitted, TensorMap};
use warpwright_codegen::ir::{Axis, with_producer};
use warpwright_codegen::target::limits::SHARED_BYTES;

/// Slots of a launch that need no heap, for most kernels and for those with many parameters: five buffers with a length, or sixteen.
const SLOTS: [usize; 2] = [FEW, 40];
/// Most slots that lie in the kernel itself.
const FEW: usize = 12;
/// Bytes for what the driver's assembler has to say.
const LOG_BYTES: usize = 16 * 1024;
/// Runs that are timed in one go.
const TIMED_AT_ONCE: usize = 128;

/// A loaded kernel.
// What each launch looks at comes first, in one line of the cache: the driver's own work leaves little in them.
#[repr(C, align(64))]
pub(super) struct CudaKernel {
    driver: &'static DriverApi,
    function: sys::CUfunction,
    /// Threads of a block that its registers leave room for.
    max_threads: u32,
    /// Dynamic shared memory it may be launched with now.
    dynamic_limit: AtomicU32,
    /// Of that, what its arrays of fixed length take.
    fixed_shared: u32,
    /// Whether a launch is what was asked for: no producer, no blocks that stay, no clusters, no `.const` variables to fill.
    is_plain: bool,
    /// Whether it waits by itself for the kernels before it in the stream.
    overlaps: bool,
    /// The calling convention in short, of most kernels.
    few: FewSlots,
    /// The same of any.
    slots: Box<[Slot]>,
    /// How many of the slots are maps.
    maps_asked: usize,
    module: Owned<sys::CUmodule>,
    abi: Vec<AbiArgument>,
    constants: Arc<Constants>,
    /// Whether it is told the grid, and starts as many blocks as are resident.
    is_persistent: bool,
    /// Blocks of a cluster of those that are started, by axis.
    cluster: Option<[u32; 3]>,
    /// How many blocks the device holds, of so many threads and bytes of dynamic shared memory: as the last launch had them.
    held: Mutex<Option<([u32; 3], u32, u32)>>,
    /// Whether its launches add a producer's threads to the block.
    has_producer: bool,
    /// Maps of matrices that launches had.
    maps: Maps,
}

/// What is passed in a slot of a launch: what most are, with the number of the kernel's parameter.
enum Slot {
    Value(u32),
    Buffer(u32),
    Length(u32),
    /// Another, as the calling convention says in this place.
    Other(u32),
}

impl Slot {
    /// All of a kernel.
    fn all(abi: &[AbiArgument]) -> Box<[Slot]> {
        let slot = |(at, argument): (usize, &AbiArgument)| {
            let narrow = |n: usize| u32::try_from(n).ok();
            let slot = match argument {
                AbiArgument::Value { param, .. } => narrow(*param).map(Slot::Value),
                AbiArgument::Buffer { param } => narrow(*param).map(Slot::Buffer),
                AbiArgument::Length { param, .. } => narrow(*param).map(Slot::Length),
                // It is in its variable.
                AbiArgument::ConstantSymbol { .. } => return None,
                AbiArgument::TensorMap(_)
                | AbiArgument::Texture { .. }
                | AbiArgument::Extent { .. }
                | AbiArgument::DynamicLength { .. }
                | AbiArgument::AskedGrid { .. }
                | AbiArgument::Image { .. }
                | AbiArgument::Sampler { .. }
                | AbiArgument::DynamicShared
                | AbiArgument::Exchange { .. }
                | AbiArgument::Fault => None,
            };
            Some(slot.unwrap_or(Slot::Other(u32::try_from(at).unwrap_or(u32::MAX))))
        };
        abi.iter().enumerate().filter_map(slot).collect()
    }
}

/// The slots of a kernel that has few, none of them another than what most are: launches find them where they look anyway. None of other kernels.
struct FewSlots {
    len: u8,
    slots: [(FewSlot, u8); FEW],
}

/// What is passed in one of them.
#[derive(Clone, Copy)]
enum FewSlot {
    Value,
    Buffer,
    Length,
}

impl FewSlots {
    const NONE: FewSlots = FewSlots { len: 0, slots: [(FewSlot::Value, 0); FEW] };

    /// The same slots in short, if that is possible.
    fn of(all: &[Slot]) -> Option<FewSlots> {
        let mut few = FewSlots { len: u8::try_from(all.len()).ok()?, ..FewSlots::NONE };
        for (at, slot) in all.iter().enumerate() {
            let (slot, param) = match *slot {
                Slot::Value(param) => (FewSlot::Value, param),
                Slot::Buffer(param) => (FewSlot::Buffer, param),
                Slot::Length(param) => (FewSlot::Length, param),
                Slot::Other(_) => return None,
            };
            *few.slots.get_mut(at)? = (slot, u8::try_from(param).ok()?);
        }
        Some(few)
    }
}

impl CudaKernel {
    pub(super) fn new(context: Arc<Context>, kernel: &LoweredKernel<'_>) -> Result<CudaKernel> {
        let emitted = kernel.emit(&Ptx, Some(kernel.lowered.kernel.target_on(context.target)))?;
        CudaKernel::from_emitted(context, kernel.definition, emitted)
    }

    pub(super) fn from_emitted(context: Arc<Context>, definition: &'static KernelDefinition, emitted: Emitted) -> Result<CudaKernel> {
        context.bind()?;
        let handle = load(&context, definition, &emitted)?;
        let module = Owned { context, handle, free: DriverApi::cuModuleUnload };
        let context = &module.context;
        let entry = c_string(definition.name, &emitted.entry)?;
        let mut function = sys::Handle::NULL;
        // SAFETY: writes one handle; the module is loaded, the name ends with a zero byte.
        let code = unsafe { context.driver.cuModuleGetFunction(&mut function, handle, entry.as_ptr()) };
        context.check(code, "cuModuleGetFunction")?;
        let attribute = |attribute: FunctionAttribute| -> Result<u32> {
            let mut value = 0;
            // SAFETY: writes one number; the function is the module's.
            let code = unsafe { context.driver.cuFuncGetAttribute(&mut value, attribute as c_uint, function) };
            context.check(code, "cuFuncGetAttribute")?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let max_threads = attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        let fixed = attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let dynamic_limit = AtomicU32::new(SHARED_BYTES.saturating_sub(fixed));
        let constants = Arc::new(Constants::of(&module, definition, &emitted.abi)?);
        let fixed_shared = if emitted.asks_for_shared { u32::try_from(emitted.shared_bytes).unwrap_or(u32::MAX) } else { 0 };
        let is_persistent = emitted.abi.iter().any(|argument| matches!(argument, AbiArgument::AskedGrid { .. }));
        let (abi, overlaps, cluster) = (emitted.abi, emitted.overlaps, emitted.cluster);
        let maps_asked = abi.iter().filter(|argument| matches!(argument, AbiArgument::TensorMap(_))).count();
        let (held, maps) = (Mutex::new(None), Maps::default());
        let is_plain = !emitted.has_producer && !is_persistent && cluster.is_none() && constants.is_empty();
        let slots = Slot::all(&abi);
        Ok(CudaKernel {
            driver: module.context.driver,
            module,
            function,
            few: FewSlots::of(&slots).unwrap_or(FewSlots::NONE),
            slots,
            abi,
            maps_asked,
            constants,
            max_threads,
            dynamic_limit,
            fixed_shared,
            is_persistent,
            overlaps,
            cluster,
            held,
            has_producer: emitted.has_producer,
            is_plain,
            maps,
        })
    }

    /// Lets the kernel be launched with this much dynamic shared memory.
    fn allow_shared(&self, bytes: u32) -> Result<()> {
        if bytes <= self.dynamic_limit.load(Ordering::Relaxed) {
            return Ok(());
        }
        let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as c_uint;
        // SAFETY: the function is the module's.
        let code = unsafe { self.module.context.driver.cuFuncSetAttribute(self.function, attribute, bytes as c_int) };
        self.module.context.check(code, "cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)")?;
        self.dynamic_limit.fetch_max(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Writes the address of each argument of a kernel with few slots: where it lies already.
    #[inline(always)]
    fn bind_few(&self, plan: &LaunchPlan<'_>, parameters: &mut [MaybeUninit<*mut c_void>; FEW]) -> Result<()> {
        let (arguments, values) = plan.arguments.parts();
        let few = &self.few.slots[..FEW.min(self.few.len.into())];
        for ((slot, param), parameter) in few.iter().zip(parameters) {
            let kind = arguments.get(usize::from(*param)).map(|argument| &argument.kind);
            // Little-endian: a parameter of 4 bytes reads the low half of a word.
            let address: *const c_void = match (slot, kind) {
                (FewSlot::Buffer, Some(ArgumentKind::Global { allocation, .. } | ArgumentKind::Constant { allocation })) => {
                    std::ptr::from_ref(allocation.handle_place()).cast()
                }
                (FewSlot::Length, Some(ArgumentKind::Global { len, .. })) => std::ptr::from_ref(len).cast(),
                (FewSlot::Value, Some(ArgumentKind::Value { chunk, .. })) => values.address(*chunk).cast(),
                _ => return Err(mismatch(plan, usize::from(*param))),
            };
            parameter.write(address.cast_mut());
        }
        Ok(())
    }

    /// Writes the address of each argument to `parameters`: of most where they lie already; of others in `words` and `maps`.
    fn bind_arguments(
        &self,
        plan: &LaunchPlan<'_>,
        words: &mut [u64],
        maps: &mut Vec<sys::CUtensorMap>,
        parameters: &mut [*mut c_void],
    ) -> Result<()> {
        // What parameters point to stays where it is.
        maps.reserve_exact(self.maps_asked);
        let (arguments, values) = plan.arguments.parts();
        // There are as many of all three: `with_parameters` sees to it.
        for ((slot, word), parameter) in self.slots.iter().zip(words).zip(parameters) {
            let kind = |param: u32| arguments.get(param as usize).map(|argument| &argument.kind);
            // Little-endian: a parameter of 4 bytes reads the low half of a word.
            let address: *const c_void = match *slot {
                Slot::Value(param) => match kind(param) {
                    Some(ArgumentKind::Value { chunk, .. }) => values.address(*chunk).cast(),
                    _ => return Err(mismatch(plan, param as usize)),
                },
                Slot::Buffer(param) => match kind(param) {
                    Some(ArgumentKind::Global { allocation, .. } | ArgumentKind::Constant { allocation }) => {
                        std::ptr::from_ref(allocation.handle_place()).cast()
                    }
                    _ => return Err(mismatch(plan, param as usize)),
                },
                Slot::Length(param) => match kind(param) {
                    Some(ArgumentKind::Global { len, .. }) => std::ptr::from_ref(len).cast(),
                    _ => return Err(mismatch(plan, param as usize)),
                },
                Slot::Other(at) => self.other(plan, &self.abi[at as usize], word, maps)?,
            };
            *parameter = address.cast_mut();
        }
        Ok(())
    }

    /// Where an argument lies that is neither a value nor a buffer nor a length: in `word`, or the last of the maps.
    #[inline(never)]
    fn other(
        &self,
        plan: &LaunchPlan<'_>,
        argument: &AbiArgument,
        word: &mut u64,
        maps: &mut Vec<sys::CUtensorMap>,
    ) -> Result<*const c_void> {
        let kind = |param: usize| plan.arguments.get(param).map(|argument| argument.kind);
        *word = match argument {
            AbiArgument::TensorMap(map) => {
                maps.push(self.map_of(plan, map)?);
                return Ok(maps.last().map_or(null(), |map| std::ptr::from_ref(map).cast()));
            }
            AbiArgument::Texture { param, reads } => match kind(*param) {
                Some(ArgumentKind::Texture { allocation, .. }) => allocation.memory().reader(*reads),
                _ => return Err(mismatch(plan, *param)),
            },
            AbiArgument::Extent { param, axis } => match kind(*param) {
                Some(ArgumentKind::Texture { picture, .. }) => u64::from(if *axis == Axis::X { picture.width } else { picture.height }),
                _ => return Err(mismatch(plan, *param)),
            },
            AbiArgument::DynamicLength { element, .. } => u64::from(plan.extents.shared_bytes) / (*element).max(1),
            AbiArgument::AskedGrid { axis } => u64::from(plan.extents.grid[*axis as usize]),
            // Those that have slots of their own or none, and those of OpenCL.
            AbiArgument::Value { .. }
            | AbiArgument::Buffer { .. }
            | AbiArgument::Length { .. }
            | AbiArgument::ConstantSymbol { .. }
            | AbiArgument::Image { .. }
            | AbiArgument::Sampler { .. }
            | AbiArgument::DynamicShared
            | AbiArgument::Exchange { .. }
            | AbiArgument::Fault => return Err(mismatch(plan, parameter_of(argument).unwrap_or(usize::MAX))),
        };
        Ok(std::ptr::from_ref(word).cast())
    }

    /// The map of a matrix of a launch.
    fn map_of(&self, plan: &LaunchPlan<'_>, map: &TensorMap) -> Result<sys::CUtensorMap> {
        let kind = |param: usize| plan.arguments.get(param).map(|argument| argument.kind);
        let Some(ArgumentKind::Global { allocation, .. }) = kind(map.matrix.data) else { return Err(mismatch(plan, map.matrix.data)) };
        let number = |param: usize| {
            let is_it = |argument: &AbiArgument| match argument {
                AbiArgument::Value { param: other, bytes, .. } if *other == param => Some(*bytes),
                _ => None,
            };
            match (kind(param), self.abi.iter().find_map(is_it)) {
                (Some(ArgumentKind::Value { chunk, .. }), Some(bytes @ (4 | 8))) => {
                    let address = plan.arguments.value_address(chunk);
                    // SAFETY: a value of so many bytes is there, aligned to 16.
                    Ok(unsafe { if bytes == 4 { u64::from(address.cast::<u32>().read()) } else { address.cast::<u64>().read() } })
                }
                _ => Err(mismatch(plan, param)),
            }
        };
        self.module.context.bind()?;
        let address = allocation.handle();
        let matrix = Matrix::of(map.matrix, address, number)?;
        let name = plan.definition.passed_name(map.matrix.data).trim_end_matches(".data").to_owned();
        self.maps.get(&self.module.context, (plan.definition.name, name), map, matrix)
    }

    /// Whether it waits by itself for the kernels before it.
    pub(super) fn overlaps(&self) -> bool {
        self.overlaps
    }

    /// Its function in its module.
    pub(super) fn function(&self) -> sys::CUfunction {
        self.function
    }

    /// Its `.const` variables.
    pub(super) fn constants(&self) -> &Arc<Constants> {
        &self.constants
    }

    /// What the driver is told of a launch beside its parameters.
    pub(super) fn prepare(&self, plan: &LaunchPlan<'_>) -> Result<Extents> {
        match self.shared_as_planned(plan) {
            Some(shared_bytes) => Ok(Extents { shared_bytes, ..plan.extents }),
            None => self.prepare_in_full(plan),
        }
    }

    /// The shared memory of a launch that is started as it was planned, bytes; nothing of another, which is to be prepared.
    fn shared_as_planned(&self, plan: &LaunchPlan<'_>) -> Option<u32> {
        let threads: u32 = plan.extents.block.iter().product();
        let shared = self.fixed_shared.saturating_add(plan.extents.shared_bytes);
        let fits = threads <= self.max_threads && shared <= self.dynamic_limit.load(Ordering::Relaxed);
        (self.is_plain && fits).then_some(shared)
    }

    /// The same of any launch. Its context is current from then on.
    #[cold]
    fn prepare_in_full(&self, plan: &LaunchPlan<'_>) -> Result<Extents> {
        self.module.context.bind()?;
        // A kernel with a producer fixes its block, and the compiler has seen to it that the threads fit.
        let block = if self.has_producer { with_producer(plan.extents.block).unwrap_or(plan.extents.block) } else { plan.extents.block };
        let threads: u32 = block.iter().product();
        if threads > self.max_threads {
            return Err(self.too_many_threads(plan, threads));
        }
        let shared = self.fixed_shared.saturating_add(plan.extents.shared_bytes);
        self.allow_shared(shared)?;
        // A launch whose clusters fit nowhere would be refused by the driver, in words of its own.
        let resident = if self.is_persistent || self.cluster.is_some() { self.resident(plan, threads, shared)? } else { 0 };
        let grid = if self.is_persistent { plan.started(resident) } else { plan.extents.grid };
        Ok(Extents { grid, block, shared_bytes: shared })
    }

    /// Hands the addresses of a launch's parameters to `use_them`.
    pub(super) fn with_parameters<R>(&self, plan: &LaunchPlan<'_>, use_them: impl FnOnce(*mut *mut c_void) -> Result<R>) -> Result<R> {
        let (mut few, mut many, mut all);
        let (words, parameters): (&mut [u64], &mut [*mut c_void]) = match self.slots.len() {
            len if len <= SLOTS[0] => {
                few = ([0; SLOTS[0]], [null_mut(); SLOTS[0]]);
                (&mut few.0, &mut few.1)
            }
            len if len <= SLOTS[1] => {
                many = ([0; SLOTS[1]], [null_mut(); SLOTS[1]]);
                (&mut many.0, &mut many.1)
            }
            len => {
                all = (vec![0; len], vec![null_mut(); len]);
                (&mut all.0, &mut all.1)
            }
        };
        let mut maps = Vec::new();
        self.bind_arguments(plan, words, &mut maps, parameters)?;
        use_them(parameters.as_mut_ptr())
    }

    /// Puts a kernel with these parameters into a stream.
    #[inline(always)]
    fn run(&self, plan: &LaunchPlan<'_>, stream: &Arc<StreamCore>, parameters: *mut *mut c_void) -> Result<()> {
        let Some(shared) = self.shared_as_planned(plan) else { return self.run_in_full(plan, stream, parameters) };
        stream.note_launch(plan.definition);
        match self.start(&plan.extents, shared, stream, parameters) {
            code::SUCCESS => Ok(()),
            code => self.run_again(plan, shared, stream, parameters, code),
        }
    }

    /// The same where the driver has refused the launch, maybe because it asks for the context.
    #[cold]
    #[inline(never)]
    fn run_again(
        &self,
        plan: &LaunchPlan<'_>,
        shared: u32,
        stream: &Arc<StreamCore>,
        parameters: *mut *mut c_void,
        mut code: Code,
    ) -> Result<()> {
        if Context::is_asked_for(code) || Context::is_needed_for(stream) {
            self.module.context.bind()?;
            code = self.start(&plan.extents, shared, stream, parameters);
        }
        if code == code::SUCCESS { Ok(()) } else { Err(self.not_launched(plan, &plan.extents.block, code)) }
    }

    /// The same of a launch that is not started as it was planned.
    #[cold]
    #[inline(never)]
    fn run_in_full(&self, plan: &LaunchPlan<'_>, stream: &Arc<StreamCore>, parameters: *mut *mut c_void) -> Result<()> {
        let extents = self.prepare_in_full(plan)?;
        let _filled = if self.is_plain { None } else { self.constants.fill(&self.module.context, plan, stream)? };
        stream.note_launch(plan.definition);
        match self.start(&extents, extents.shared_bytes, stream, parameters) {
            code::SUCCESS => Ok(()),
            code => Err(self.not_launched(plan, &extents.block, code)),
        }
    }

    /// Puts a kernel with others than few slots into a stream.
    #[cold]
    #[inline(never)]
    fn put_with_many(&self, plan: &LaunchPlan<'_>, stream: &Arc<StreamCore>) -> Result<()> {
        self.with_parameters(plan, |parameters| self.run(plan, stream, parameters))
    }

    /// What the driver's code means for a launch.
    #[cold]
    fn not_launched(&self, plan: &LaunchPlan<'_>, block: &[u32; 3], code: Code) -> Error {
        match code {
            code::LAUNCH_OUT_OF_RESOURCES => self.too_many_threads(plan, block.iter().product()),
            code => self.module.context.error(code, &format!("the launch of kernel `{}`", plan.definition.name)),
        }
    }

    /// Puts a launch into a stream; gives the driver's code. One of a kernel that overlaps may begin before the kernel before it in the stream has ended, where
    /// the driver knows how to say so; copies and events are ordered as ever.
    #[inline(always)]
    fn start(&self, extents: &Extents, shared: u32, stream: &Arc<StreamCore>, parameters: *mut *mut c_void) -> Code {
        let queue = sys::Handle::of(stream.handle());
        if self.overlaps
            && let Some(code) = self.start_early(extents, shared, queue, parameters)
        {
            return code;
        }
        let Extents { grid: [gx, gy, gz], block: [bx, by, bz], .. } = *extents;
        // SAFETY: the function is loaded; `parameters` has an address for each of its parameters, as the back end's calling convention
        // says, and each is copied before the call returns; buffers are kept alive by their uses until the stream is done with them.
        unsafe { self.driver.cuLaunchKernel(self.function, gx, gy, gz, bx, by, bz, shared, queue, parameters, null_mut()) }
    }

    /// The same where it may begin early; `None`: the driver does not know of that.
    #[cold]
    #[inline(never)]
    fn start_early(&self, extents: &Extents, shared: u32, queue: sys::CUstream, parameters: *mut *mut c_void) -> Option<Code> {
        let launch = self.driver.cuLaunchKernelEx?;
        let mut attribute = sys::CUlaunchAttribute {
            id: sys::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            // All of it is written: the driver may copy the union.
            value: sys::LaunchAttributeValue { pad: [0; 64] },
        };
        attribute.value.programmaticStreamSerializationAllowed = 1;
        let config = sys::CUlaunchConfig {
            gridDim: extents.grid,
            blockDim: extents.block,
            sharedMemBytes: shared,
            hStream: queue,
            attrs: &raw mut attribute,
            numAttrs: 1,
        };
        // SAFETY: as in `start`; the configuration and its attribute are read before the call returns.
        Some(unsafe { launch(&raw const config, self.function, parameters, null_mut()) })
    }

    /// How many blocks of a launch the device holds at once. `shared`: what is asked for at the launch, bytes.
    fn resident(&self, plan: &LaunchPlan<'_>, threads: u32, shared: u32) -> Result<u32> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match *held {
            Some((block, of, blocks)) if (block, of) == (plan.extents.block, shared) => return Ok(blocks),
            _ => {}
        }
        let blocks = match self.cluster {
            Some(cluster) => self.resident_in_clusters(plan, cluster, shared)?,
            None => None,
        };
        let blocks = match blocks {
            Some(blocks) => blocks,
            None => self.resident_alone(threads, shared)?,
        };
        *held = Some((plan.extents.block, shared, blocks));
        Ok(blocks)
    }

    /// The same of a kernel without clusters: what a multiprocessor holds, on all of them.
    fn resident_alone(&self, threads: u32, shared: u32) -> Result<u32> {
        let context = &self.module.context;
        let mut blocks = 0;
        // SAFETY: writes one number; the function is the module's.
        let code = unsafe {
            let driver = context.driver;
            driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, self.function, threads as c_int, shared as usize)
        };
        context.check(code, "cuOccupancyMaxActiveBlocksPerMultiprocessor")?;
        // Where not one fits, the launch says so.
        let blocks = u32::try_from(blocks).unwrap_or(0).max(1);
        let all = blocks.saturating_mul(context.properties.multiprocessors.unwrap_or(1));
        let of_cluster: u32 = self.cluster.map_or(1, |cluster| cluster.iter().product());
        Ok((all / of_cluster).max(1).saturating_mul(of_cluster))
    }

    /// The same of one with clusters, which multiprocessors of one group hold together; `None`: the driver cannot tell.
    fn resident_in_clusters(&self, plan: &LaunchPlan<'_>, cluster: [u32; 3], shared: u32) -> Result<Option<u32>> {
        let context = &self.module.context;
        let Some(count) = context.driver.cuOccupancyMaxActiveClusters else { return Ok(None) };
        let mut attribute = sys::CUlaunchAttribute {
            id: sys::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            // All of it is written: the driver may copy the union.
            value: sys::LaunchAttributeValue { pad: [0; 64] },
        };
        attribute.value.clusterDim = cluster;
        let config = sys::CUlaunchConfig {
            gridDim: cluster,
            blockDim: plan.extents.block,
            sharedMemBytes: shared,
            hStream: sys::Handle::NULL,
            attrs: &raw mut attribute,
            numAttrs: 1,
        };
        let mut clusters = 0;
        // SAFETY: writes one number; the function is the module's; the configuration and its attribute are read before the call returns.
        let code = unsafe { count(&mut clusters, self.function, &raw const config) };
        context.check(code, "cuOccupancyMaxActiveClusters")?;
        let (clusters, size): (u32, u32) = (u32::try_from(clusters).unwrap_or(0), cluster.iter().product());
        if clusters == 0 {
            let threads: u32 = plan.extents.block.iter().product();
            let reason = format!(
                "no cluster of {size} blocks, each of {threads} threads and {shared} bytes of dynamic shared memory beside its fixed arrays, fits {}; \
                 help: make the cluster smaller, `cluster = {}`, or the blocks",
                context.identity.named(),
                size / 2
            );
            return Err(Error::Argument { kernel: plan.definition.name, reason });
        }
        Ok(Some(clusters.saturating_mul(size)))
    }

    fn too_many_threads(&self, plan: &LaunchPlan<'_>, threads: u32) -> Error {
        Error::Limit {
            kernel: plan.definition.name,
            what: "threads in a block".into(),
            figure: u64::from(threads),
            limit: u64::from(self.max_threads),
            device: format!("this kernel, with the registers it takes, on {}", self.module.context.identity.named()),
            help: "use a smaller block, or write `#[kernel(block = …)]` so that registers are allotted for it",
        }
    }
}

impl Executable for CudaKernel {
    fn launch(&self, plan: &LaunchPlan<'_>, stream: &Arc<StreamCore>) -> Result<Option<Counters>> {
        self.put(plan, stream).map(|()| None)
    }

    fn put(&self, plan: &LaunchPlan<'_>, stream: &Arc<StreamCore>) -> Result<()> {
        if self.few.len == 0 {
            return self.put_with_many(plan, stream);
        }
        let mut parameters = [MaybeUninit::uninit(); FEW];
        self.bind_few(plan, &mut parameters)?;
        self.run(plan, stream, parameters.as_mut_ptr().cast())
    }

    fn time(&self, plan: &LaunchPlan<'_>, stream: &Arc<StreamCore>, runs: usize) -> Result<(Vec<Duration>, Clock)> {
        self.launch(plan, stream)?;
        let at_once = runs.min(TIMED_AT_ONCE);
        let event = || CudaEvent::new(Arc::clone(&self.module.context), 0);
        let pairs = (0..at_once).map(|_| Ok((event()?, event()?))).collect::<Result<Vec<_>>>()?;
        let queue = stream.queue();
        let mut times = Vec::new();
        while times.len() < runs {
            let part = &pairs[..at_once.min(runs - times.len())];
            // All are put into the stream before any is waited for: the host's pace stays out of the figures.
            for (start, end) in part {
                start.record(queue.handle())?;
                self.launch(plan, stream)?;
                end.record(queue.handle())?;
            }
            queue.synchronize()?;
            for (start, end) in part {
                times.push(end.since(start)?);
            }
        }
        Ok((times, Clock::DeviceEvents))
    }
}

/// A parameter that is passed otherwise than the compiled kernel takes it.
#[cold]
pub(super) fn mismatch(plan: &LaunchPlan<'_>, param: usize) -> Error {
    Error::internal(parameter_name(plan.definition, param))
}

/// What helps where the driver finds no assembler.
const NO_ASSEMBLER: &str =
    "help: install `libnvidia-ptxjitcompiler.so.1`, which is part of the driver; in a container, pass it in with the driver";

/// Hands PTX to the driver's assembler. The context is current.
fn load(context: &Context, definition: &'static KernelDefinition, emitted: &Emitted) -> Result<sys::CUmodule> {
    let text = c_string(definition.name, &emitted.text)?;
    let mut log = vec![0u8; LOG_BYTES];
    let mut names = [JitOption::CU_JIT_ERROR_LOG_BUFFER as c_uint, JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES as c_uint];
    // The size is passed in the place of the pointer.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(LOG_BYTES)];
    let mut module = sys::Handle::NULL;
    let (names, values) = (names.as_mut_ptr(), values.as_mut_ptr());
    // SAFETY: writes one handle and at most `LOG_BYTES` bytes of log; the text ends with a zero byte.
    let code = unsafe { context.driver.cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 2, names, values) };
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    let log = String::from_utf8_lossy(&log[..end]);
    let refused = |code| Error::DeviceCompiler {
        kernel: definition.name,
        compiler: format!("the CUDA driver's assembler (CUDA {})", context.driver.version()),
        code: context.driver.name(code),
        log: if code == code::JIT_COMPILER_NOT_FOUND { NO_ASSEMBLER.into() } else { log.trim_end().into() },
    };
    match code {
        code::SUCCESS => Ok(module),
        code::OUT_OF_MEMORY => Err(Error::OutOfMemory { device: context.identity.named(), bytes: emitted.text.len() as u64 }),
        code::UNSUPPORTED_PTX_VERSION => Err(Error::DriverTooOld {
            what: format!("kernel `{}`, which is PTX {}", definition.name, ptx_version(&emitted.text)),
            driver: context.driver.version(),
        }),
        code::INVALID_PTX | code::NO_BINARY_FOR_GPU | code::JIT_COMPILER_NOT_FOUND => Err(refused(code)),
        code if !log.is_empty() => Err(refused(code)),
        code => Err(context.error(code, &format!("loading kernel `{}`", definition.name))),
    }
}

/// The version a PTX text asks for.
fn ptx_version(text: &str) -> &str {
    text.lines().find_map(|line| line.trim().strip_prefix(".version")).map_or("?", str::trim)
}

#[cfg(test)]
mod tests {
    use super::ptx_version;

    #[test]
    fn finds_the_version_of_ptx() {
        assert_eq!(ptx_version("// made by warpwright\n.version 7.8\n.target sm_90\n"), "7.8");
        assert_eq!(ptx_version(""), "?");
    }
}
