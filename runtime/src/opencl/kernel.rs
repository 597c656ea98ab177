//! Kernels: OpenCL C handed to the device's compiler, and their launches.

#![expect(unsafe_code, reason = "calls the OpenCL API")]

use super::api::{self, check};
use super::device::{Context, NONE};
use super::fault::FaultTexts;
use super::queue::OpenClEvent;
use crate::arguments::ArgumentKind;
use crate::backend::{Executable, Marker, Plan};
use crate::definition::KernelDefinition;
use crate::error::{Error, Result};
use crate::instance::Source;
use crate::sim::Counters;
use crate::stream::StreamCore;
use crate::timing::Clock;
use ocl_core::ffi::{self, cl_command_queue, cl_event, cl_int, cl_kernel, cl_mem, cl_program, cl_uint};
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use warpwright_codegen::backend::{AbiArgument, Emitted};

/// A compiled kernel.
pub(super) struct OpenClKernel {
    context: Arc<Context>,
    /// Locked from setting its arguments to the end of the enqueueing: OpenCL keeps the arguments in the kernel.
    kernel: Mutex<OwnedKernel>,
    abi: Vec<AbiArgument>,
    texts: Arc<FaultTexts>,
    /// Threads of a block that the device can run it with.
    max_threads: u64,
}

impl OpenClKernel {
    pub(super) fn new(context: Arc<Context>, source: &Source<'_>) -> Result<OpenClKernel> {
        OpenClKernel::from_emitted(context, source.definition, source.opencl_c()?)
    }

    pub(super) fn from_emitted(context: Arc<Context>, definition: &'static KernelDefinition, emitted: Emitted) -> Result<OpenClKernel> {
        let program = Program::build(&context, definition, &emitted)?;
        let entry = c_string(definition, &emitted.entry)?;
        let mut code = 0;
        // SAFETY: the program is built, the name ends with a zero byte.
        let kernel = OwnedKernel(unsafe { ffi::clCreateKernel(program.0, entry.as_ptr(), &mut code) });
        check(code, "clCreateKernel")?;
        // SAFETY: writes at most the size it is given.
        let size = api::info("clGetKernelWorkGroupInfo", |size, value, needed| unsafe {
            ffi::clGetKernelWorkGroupInfo(kernel.0, context.device, ffi::CL_KERNEL_WORK_GROUP_SIZE, size, value, needed)
        })?;
        let max_threads = api::numbers(&size, size.len().max(1)).first().copied().unwrap_or(u64::MAX);
        let texts = FaultTexts { kernel: definition.name, file: definition.item.source.file, messages: emitted.faults };
        Ok(OpenClKernel { context, kernel: Mutex::new(kernel), abi: emitted.abi, texts: Arc::new(texts), max_threads })
    }

    fn set_arguments(&self, kernel: cl_kernel, plan: &Plan<'_>, queue: u64) -> Result<()> {
        for (index, argument) in self.abi.iter().enumerate() {
            let given = param(argument).and_then(|param| plan.arguments.get(param)).map(|argument| argument.kind);
            let set = |bytes: u64, value: *const c_void| {
                // SAFETY: `value` has this many bytes, or is null for local memory; they are copied before the call returns.
                let code = unsafe { ffi::clSetKernelArg(kernel, index as cl_uint, bytes as usize, value) };
                if code == api::SUCCESS {
                    return Ok(());
                }
                Err(Error::Driver {
                    call: format!("clSetKernelArg for argument {index} of kernel `{}`", plan.definition.name),
                    code: api::name(code),
                    context: String::new(),
                })
            };
            let threads: u32 = plan.block.iter().product();
            let object = |memory: cl_mem| set(size_of::<cl_mem>() as u64, (&raw const memory).cast());
            let word = |bytes: u64, word: u64| set(bytes, (&raw const word).cast());
            match (argument, given) {
                (AbiArgument::Value { bytes, .. }, Some(ArgumentKind::Value { chunk, .. })) => {
                    set(*bytes, plan.arguments.value_address(chunk).cast())?;
                }
                (AbiArgument::Buffer { .. }, Some(ArgumentKind::Global { allocation, .. } | ArgumentKind::Constant { allocation })) => {
                    object(allocation.memory().handle() as cl_mem)?;
                }
                // Little-endian: a length of 4 bytes is the low half.
                (AbiArgument::Length { bytes, .. }, Some(ArgumentKind::Global { len, .. })) => word(*bytes, len as u64)?,
                (AbiArgument::DynamicLength { element, bytes }, _) => word(*bytes, u64::from(plan.shared_bytes) / (*element).max(1))?,
                // Local memory of no bytes is not allowed.
                (AbiArgument::DynamicShared, _) => set(u64::from(plan.shared_bytes.max(16)), null())?,
                (AbiArgument::Exchange { bytes }, _) => set(bytes * u64::from(threads), null())?,
                (AbiArgument::Fault, _) => object(self.context.faults.buffer(&self.context, queue, &self.texts)?)?,
                _ => {
                    let reason = format!("argument {index} is passed otherwise than the compiled kernel takes it");
                    return Err(Error::Argument { kernel: plan.definition.name, reason });
                }
            }
        }
        Ok(())
    }

    fn run(&self, plan: &Plan<'_>, queue: u64, event: *mut cl_event) -> Result<()> {
        let threads = plan.block.iter().map(|extent| u64::from(*extent)).product::<u64>();
        if threads > self.max_threads {
            return Err(Error::Limit {
                kernel: plan.definition.name,
                what: "threads in a block, more than the device can run this kernel with,",
                figure: threads,
                limit: self.max_threads,
                device: self.context.name.clone(),
                help: "use a smaller block",
            });
        }
        let local = plan.block.map(|extent| extent as usize);
        let global = [0, 1, 2].map(|axis| plan.grid[axis] as usize * local[axis]);
        let kernel = self.kernel.lock().unwrap_or_else(PoisonError::into_inner);
        self.set_arguments(kernel.0, plan, queue)?;
        let queue = queue as cl_command_queue;
        // SAFETY: all arguments are set as the back end's calling convention says; the extents are three each; buffers are kept alive
        // by OpenCL until the kernel has run.
        let code = unsafe { ffi::clEnqueueNDRangeKernel(queue, kernel.0, 3, null(), global.as_ptr(), local.as_ptr(), 0, NONE, event) };
        drop(kernel);
        self.check_launch(plan, code)?;
        // SAFETY: the queue is alive.
        check(unsafe { ffi::clFlush(queue) }, "clFlush")
    }

    fn check_launch(&self, plan: &Plan<'_>, code: cl_int) -> Result<()> {
        match code {
            api::SUCCESS => Ok(()),
            // Memory may only be allocated for real when it is first used.
            api::MEM_OBJECT_ALLOCATION_FAILURE | api::OUT_OF_HOST_MEMORY => {
                let bytes = plan.arguments.iter().map(|argument| argument.bytes() as u64).sum();
                Err(Error::OutOfMemory { device: self.context.name.clone(), bytes })
            }
            code => check(code, &format!("clEnqueueNDRangeKernel for kernel `{}`", plan.definition.name)),
        }
    }
}

impl Executable for OpenClKernel {
    fn launch(&self, plan: &Plan<'_>, stream: &Arc<StreamCore>) -> Result<Option<Counters>> {
        self.run(plan, stream.queue().handle(), null_mut())?;
        Ok(None)
    }

    fn time(&self, plan: &Plan<'_>, stream: &Arc<StreamCore>, runs: usize) -> Result<(Vec<Duration>, Clock)> {
        self.launch(plan, stream)?;
        let mut times = Vec::new();
        for _ in 0..runs {
            let mut event = null_mut();
            self.run(plan, stream.queue().handle(), &mut event)?;
            let event = OpenClEvent(event);
            event.synchronize()?;
            let (start, end) = (event.time(ffi::CL_PROFILING_COMMAND_START)?, event.time(ffi::CL_PROFILING_COMMAND_END)?);
            times.push(Duration::from_nanos(end.saturating_sub(start)));
        }
        stream.synchronize()?;
        Ok((times, Clock::DeviceProfiling))
    }
}

/// The kernel parameter an argument of the calling convention belongs to.
fn param(argument: &AbiArgument) -> Option<usize> {
    match argument {
        AbiArgument::Value { param, .. } | AbiArgument::Buffer { param } | AbiArgument::Length { param, .. } => Some(*param),
        _ => None,
    }
}

fn c_string(definition: &'static KernelDefinition, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Argument { kernel: definition.name, reason: "its text holds a zero byte".into() })
}

/// A kernel object.
struct OwnedKernel(cl_kernel);

// SAFETY: kernels may be used from any thread, one at a time: the mutex around it sees to that.
unsafe impl Send for OwnedKernel {}

impl Drop for OwnedKernel {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: owned.
            let _ = unsafe { ffi::clReleaseKernel(self.0) };
        }
    }
}

/// A program object; its kernels keep it alive.
struct Program(cl_program);

impl Program {
    fn build(context: &Context, definition: &'static KernelDefinition, emitted: &Emitted) -> Result<Program> {
        let text = c_string(definition, &emitted.text)?;
        let mut code = 0;
        // SAFETY: one text, which ends with a zero byte.
        let program = unsafe { ffi::clCreateProgramWithSource(context.context, 1, &text.as_ptr(), null(), &mut code) };
        check(code, "clCreateProgramWithSource")?;
        let program = Program(program);
        let mut options: Vec<&str> = emitted.build_options.split_whitespace().collect();
        let mut code = program.build_with(context, definition, &options)?;
        // A compiler that does not know an option may say so without saying which: the last ones go first.
        while code == api::INVALID_BUILD_OPTIONS && options.pop().is_some() {
            code = program.build_with(context, definition, &options)?;
        }
        match code {
            api::SUCCESS => Ok(program),
            api::BUILD_PROGRAM_FAILURE | api::INVALID_BUILD_OPTIONS => Err(Error::DeviceCompiler {
                kernel: definition.name,
                compiler: format!("the OpenCL compiler of {}", context.name),
                code: api::name(code),
                log: program.log(context).into(),
            }),
            code => Err(Error::Driver {
                call: format!("clBuildProgram for kernel `{}`", definition.name),
                code: api::name(code),
                context: String::new(),
            }),
        }
    }

    fn build_with(&self, context: &Context, definition: &'static KernelDefinition, options: &[&str]) -> Result<cl_int> {
        let options = c_string(definition, &options.join(" "))?;
        // SAFETY: one device; the options end with a zero byte; no callback, so the call returns when it is built.
        Ok(unsafe { ffi::clBuildProgram(self.0, 1, &context.device, options.as_ptr(), None, null_mut()) })
    }

    fn log(&self, context: &Context) -> String {
        // SAFETY: writes at most the size it is given.
        let log = api::info("clGetProgramBuildInfo", |size, value, needed| unsafe {
            ffi::clGetProgramBuildInfo(self.0, context.device, ffi::CL_PROGRAM_BUILD_LOG, size, value, needed)
        });
        log.map_or_else(|error| format!("(no build log: {error})"), |bytes| api::text(&bytes))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: owned.
        let _ = unsafe { ffi::clReleaseProgram(self.0) };
    }
}
