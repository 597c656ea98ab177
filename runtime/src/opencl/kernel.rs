//! Kernels: the forms that a device runs them in, and their launches.

#![expect(unsafe_code, reason = "calls the OpenCL API")]

use super::api::{self, check};
use super::device::{Context, NONE};
use super::fault::FaultTexts;
use super::owned::Owned;
use super::program;
use super::queue::OpenClEvent;
use super::sub_groups::SubGroups;
use super::sys::{self, cl_command_queue, cl_event, cl_int, cl_kernel, cl_mem, cl_sampler, cl_uint};
use crate::arguments::ArgumentKind;
use crate::driver::{Executable, LaunchPlan, Marker, c_string, parameter_of};
use crate::error::{Error, Result};
use crate::instance::LoweredKernel;
use crate::sim::Counters;
use crate::stream::StreamCore;
use crate::timing::Clock;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use warpwright_codegen::backend::opencl::OpenCl;
use warpwright_codegen::backend::{AbiArgument, Emitted};

/// Blocks of a persistent kernel that are started for each compute unit: OpenCL does not say how many one holds. A GPU's has room for so many of 256 threads. Where it
/// has not, some begin when others have ended.
const RESIDENT: u32 = 4;

/// A compiled kernel: its text, and the forms of it that launches have asked for.
pub(super) struct OpenClKernel {
    context: Arc<Context>,
    emitted: Emitted,
    texts: Arc<FaultTexts>,
    /// For any block.
    portable: OnceLock<Result<Form>>,
    /// For blocks whose sub-groups are the warps. `None`: the device's compiler does not take it.
    sub_groups: OnceLock<Option<Form>>,
}

/// A form of the kernel, built.
struct Form {
    /// Locked from setting its arguments to the end of the enqueueing: OpenCL keeps the arguments in the kernel.
    kernel: Mutex<Owned>,
    /// Threads of a block that the device can run it with.
    max_threads: u64,
    /// Whether exchanges are sub-group functions.
    has_sub_groups: bool,
}

impl OpenClKernel {
    pub(super) fn new(context: Arc<Context>, kernel: &LoweredKernel<'_>) -> Result<OpenClKernel> {
        let (definition, block, mut emitted) = (kernel.definition, kernel.legal().options.block, kernel.emit(&OpenCl, None)?);
        let messages = std::mem::take(&mut emitted.faults);
        let texts = FaultTexts { kernel: definition.name, file: definition.item.source.file, messages };
        let (portable, sub_groups) = (OnceLock::new(), OnceLock::new());
        let kernel = OpenClKernel { context, emitted, texts: Arc::new(texts), portable, sub_groups };
        // What is known to be needed is built now.
        match block {
            Some(block) => kernel.form(block)?,
            None if kernel.sub_groups_of_device().is_none() => kernel.portable()?,
            None => return Ok(kernel),
        };
        Ok(kernel)
    }

    /// The device's sub-groups, if the kernel has a form for them.
    fn sub_groups_of_device(&self) -> Option<&SubGroups> {
        self.context.sub_groups.as_ref().filter(|_| self.emitted.has_sub_groups)
    }

    /// The form that a block of these extents runs.
    fn form(&self, block: [u32; 3]) -> Result<&Form> {
        let threads = block.iter().map(|extent| u64::from(*extent)).product::<u64>();
        if let Some(sub_groups) = self.sub_groups_of_device().filter(|sub_groups| sub_groups.are_warps(&self.context, block)) {
            let build = || self.build(&self.emitted.sub_group_options(sub_groups.standard)?, 2, true).ok();
            if let Some(form) = self.sub_groups.get_or_init(build).as_ref().filter(|form| threads <= form.max_threads) {
                return Ok(form);
            }
        }
        self.portable()
    }

    fn portable(&self) -> Result<&Form> {
        self.portable.get_or_init(|| self.build(&self.emitted.build_options, 0, false)).as_ref().map_err(Clone::clone)
    }

    fn build(&self, options: &str, needed: usize, has_sub_groups: bool) -> Result<Form> {
        let options: Vec<&str> = options.split_whitespace().collect();
        let program = program::build(&self.context, self.texts.kernel, &self.emitted.text, &options, needed)?;
        let kernel = create_kernel(&self.context, &program, self.texts.kernel, &self.emitted.entry)?;
        // SAFETY: writes at most the size it is given.
        let size = api::info("clGetKernelWorkGroupInfo", |size, value, needed| unsafe {
            self.context.api.clGetKernelWorkGroupInfo(kernel.0, self.context.device, sys::CL_KERNEL_WORK_GROUP_SIZE, size, value, needed)
        })?;
        let max_threads = api::numbers(&size, size.len().max(1)).first().copied().unwrap_or(u64::MAX);
        Ok(Form { kernel: Mutex::new(kernel), max_threads, has_sub_groups })
    }

    fn set_arguments(&self, form: &Form, kernel: cl_kernel, plan: &LaunchPlan<'_>, queue: u64) -> Result<()> {
        for (index, argument) in self.emitted.abi.iter().enumerate() {
            let given = parameter_of(argument).and_then(|param| plan.arguments.get(param)).map(|argument| argument.kind);
            let set = |bytes: u64, value: *const c_void| {
                // SAFETY: `value` has this many bytes, or is null for local memory; they are copied before the call returns.
                let code = unsafe { self.context.api.clSetKernelArg(kernel, index as cl_uint, bytes as usize, value) };
                if code == api::SUCCESS {
                    return Ok(());
                }
                Err(Error::Driver {
                    call: format!("clSetKernelArg for argument {index} of kernel `{}`", plan.definition.name),
                    code: api::name(code),
                    context: String::new(),
                })
            };
            let threads: u32 = plan.extents.block.iter().product();
            let object = |memory: cl_mem| set(size_of::<cl_mem>() as u64, (&raw const memory).cast());
            let word = |bytes: u64, word: u64| set(bytes, (&raw const word).cast());
            match (argument, given) {
                (AbiArgument::Value { bytes, .. }, Some(ArgumentKind::Value { chunk, .. })) => {
                    set(*bytes, plan.arguments.value_address(chunk).cast())?;
                }
                (AbiArgument::Buffer { .. }, Some(ArgumentKind::Global { allocation, .. } | ArgumentKind::Constant { allocation })) => {
                    object(allocation.handle() as cl_mem)?;
                }
                (AbiArgument::Image { .. }, Some(ArgumentKind::Texture { allocation, .. })) => {
                    object(allocation.handle() as cl_mem)?;
                }
                (AbiArgument::Sampler { reads, .. }, Some(ArgumentKind::Texture { allocation, .. })) => {
                    word(size_of::<cl_sampler>() as u64, allocation.memory().reader(*reads))?;
                }
                // Little-endian: a length of 4 bytes is the low half.
                (AbiArgument::Length { bytes, .. }, Some(ArgumentKind::Global { len, .. })) => word(*bytes, len as u64)?,
                (AbiArgument::DynamicLength { element, bytes }, _) => {
                    word(*bytes, u64::from(plan.extents.shared_bytes) / (*element).max(1))?;
                }
                // Local memory of no bytes is not allowed.
                (AbiArgument::DynamicShared, _) => set(u64::from(plan.extents.shared_bytes.max(16)), null())?,
                (AbiArgument::Exchange { bytes }, _) => set(if form.has_sub_groups { *bytes } else { bytes * u64::from(threads) }, null())?,
                (AbiArgument::AskedGrid { axis }, _) => word(4, u64::from(plan.extents.grid[*axis as usize]))?,
                (AbiArgument::Fault, _) => object(self.context.faults.buffer(&self.context, queue, &self.texts)?)?,
                // An argument that is passed otherwise than the compiled kernel takes it.
                _ => return Err(Error::internal(plan.definition.name)),
            }
        }
        Ok(())
    }

    fn run(&self, plan: &LaunchPlan<'_>, queue: u64, event: *mut cl_event) -> Result<()> {
        let form = self.form(plan.extents.block)?;
        let threads = plan.extents.block.iter().map(|extent| u64::from(*extent)).product::<u64>();
        let local = plan.extents.block.map(|extent| extent as usize);
        let is_persistent = self.emitted.abi.iter().any(|argument| matches!(argument, AbiArgument::AskedGrid { .. }));
        let grid = if is_persistent { plan.started(self.context.compute_units.saturating_mul(RESIDENT)) } else { plan.extents.grid };
        let global = [0, 1, 2].map(|axis| grid[axis] as usize * local[axis]);
        let kernel = form.kernel.lock().unwrap_or_else(PoisonError::into_inner);
        self.set_arguments(form, kernel.0, plan, queue)?;
        let queue = queue as cl_command_queue;
        // SAFETY: all arguments are set as the back end's calling convention says; the extents are three each; buffers are kept alive
        // by OpenCL until the kernel has run.
        let code =
            unsafe { self.context.api.clEnqueueNDRangeKernel(queue, kernel.0, 3, null(), global.as_ptr(), local.as_ptr(), 0, NONE, event) };
        drop(kernel);
        self.check_launch(plan, form, threads, code)?;
        // SAFETY: the queue is alive.
        check(unsafe { self.context.api.clFlush(queue) }, "clFlush")
    }

    fn check_launch(&self, plan: &LaunchPlan<'_>, form: &Form, threads: u64, code: cl_int) -> Result<()> {
        match code {
            api::SUCCESS => Ok(()),
            // Not asked before: NVIDIA's driver tells fewer than it runs a kernel with whose block is fixed.
            api::INVALID_WORK_GROUP_SIZE if threads > form.max_threads => Err(Error::Limit {
                kernel: plan.definition.name,
                what: "threads in a block".into(),
                figure: threads,
                limit: form.max_threads,
                device: format!("this kernel on {}", self.context.identity.name),
                help: "use a smaller block",
            }),
            // Memory may only be allocated for real when it is first used.
            api::MEM_OBJECT_ALLOCATION_FAILURE | api::OUT_OF_HOST_MEMORY => {
                let bytes = plan.arguments.iter().map(|argument| argument.bytes() as u64).sum();
                Err(Error::OutOfMemory { device: self.context.identity.name.to_string(), bytes })
            }
            api::OUT_OF_RESOURCES => Err(Error::Driver {
                call: format!("clEnqueueNDRangeKernel for kernel `{}`", plan.definition.name),
                code: api::name(code),
                context: "; use a smaller block, or smaller shared arrays".to_owned(),
            }),
            code => check(code, &format!("clEnqueueNDRangeKernel for kernel `{}`", plan.definition.name)),
        }
    }
}

impl Executable for OpenClKernel {
    fn has_warps(&self, block: [u32; 3]) -> Result<bool> {
        Ok(self.form(block)?.has_sub_groups)
    }

    fn launch(&self, plan: &LaunchPlan<'_>, stream: &Arc<StreamCore>) -> Result<Option<Counters>> {
        self.run(plan, stream.handle(), null_mut())?;
        Ok(None)
    }

    fn time(&self, plan: &LaunchPlan<'_>, stream: &Arc<StreamCore>, runs: usize) -> Result<(Vec<Duration>, Clock)> {
        self.launch(plan, stream)?;
        let mut times = Vec::new();
        for _ in 0..runs {
            let mut event = null_mut();
            self.run(plan, stream.handle(), &mut event)?;
            let event = OpenClEvent::new(self.context.api, event);
            event.synchronize()?;
            let (start, end) = (event.time(sys::CL_PROFILING_COMMAND_START)?, event.time(sys::CL_PROFILING_COMMAND_END)?);
            times.push(Duration::from_nanos(end.saturating_sub(start)));
        }
        stream.synchronize()?;
        Ok((times, Clock::DeviceProfiling))
    }
}

/// The kernel of this entry point.
pub(super) fn create_kernel(context: &Context, program: &Owned, name: &'static str, entry: &str) -> Result<Owned> {
    let entry = c_string(name, entry)?;
    let mut code = 0;
    // SAFETY: the program is built, the name ends with a zero byte.
    let kernel = unsafe { context.api.clCreateKernel(program.0, entry.as_ptr(), &mut code) };
    check(code, "clCreateKernel")?;
    Ok(Owned(kernel, context.api.clReleaseKernel))
}
