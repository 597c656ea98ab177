//! A launch: what a kernel's host function returns. It does nothing until it is asked to.

use crate::arguments::Arguments;
use crate::buffer::Allocation;
use crate::cache::Generics;
use crate::check::{self, Geometry, Grid};
use crate::cpu::simulator::compile_form;
use crate::definition::{GenericArgument, KernelDefinition};
use crate::device::{Device, DeviceKind};
use crate::dim3::{Dim3, Extent};
use crate::driver::{Executable, LaunchPlan};
use crate::error::{Error, Result};
use crate::instance::{Instance, LoweredKernel, with_lowered};
use crate::repack::for_device;
use crate::sim::{Counters, SimOptions};
use crate::simulate::{self, Simulation};
use crate::stream::{Stream, StreamCore};
use crate::timing::Timing;
use crate::twin::TwinEntry;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use warpwright_codegen::backend::Backend;
use warpwright_codegen::backend::opencl::OpenCl;
use warpwright_codegen::backend::ptx::code::Module;
use warpwright_codegen::backend::rust::Rust;
use warpwright_codegen::ir::{IndexWidth, Kernel};
use warpwright_codegen::target::Target;

/// A kernel with its arguments, not yet running.
///
/// ```text
/// saxpy(2.0, &x, &mut y).cover(n).launch(&device)?;
/// ```
#[must_use = "a launch does nothing until `.launch(&device)`, `.launch_on(&stream)`, `.time(…)` or `.simulate()`"]
pub struct Launch<'a> {
    pub(crate) definition: &'static KernelDefinition,
    pub(crate) generics: Generics,
    twin: TwinEntry,
    arguments: Arguments<'a>,
    pub(crate) geometry: Geometry,
}

/// What the macro's code calls.
#[doc(hidden)]
impl<'a> Launch<'a> {
    pub fn new(
        definition: &'static KernelDefinition,
        generics: impl Into<Cow<'static, [GenericArgument]>>,
        twin: TwinEntry,
        arguments: Arguments<'a>,
    ) -> Launch<'a> {
        Launch { definition, generics: generics.into(), twin, arguments, geometry: Geometry::default() }
    }
}

impl Launch<'_> {
    /// This many blocks.
    pub fn grid(mut self, blocks: impl Into<Dim3>) -> Self {
        self.geometry.grid = Some(Grid::Blocks(blocks.into()));
        self
    }

    /// Enough blocks that every one of this many elements has a thread. Under `ilp = N` and `vectorize = V` a thread has N · V elements in x.
    pub fn cover(mut self, elements: impl Into<Dim3>) -> Self {
        self.geometry.grid = Some(Grid::Cover(elements.into()));
        self
    }

    /// Threads of a block; only for a kernel whose attribute fixes none.
    pub fn block(mut self, threads: impl Into<Dim3>) -> Self {
        self.geometry.block = Some(threads.into());
        self
    }

    /// Bytes of dynamic shared memory: what `#[shared(dynamic)]` gets.
    pub fn shared_bytes(mut self, bytes: impl Extent) -> Self {
        self.geometry.shared_bytes = Some(bytes.extent());
        self
    }

    /// Puts the kernel into the device's own stream and returns at once. The first launch of an instance on a device compiles it;
    /// later ones do not, and find it without allocating.
    ///
    /// # Errors
    /// Everything that can be known before the kernel runs; see [`Error`]. A fault of the kernel itself comes back from what waits
    /// for it: [`Device::synchronize`], [`Buffer::download`](crate::Buffer::download).
    #[inline]
    pub fn launch(self, device: &Device) -> Result<()> {
        self.run(device, device.own_stream())
    }

    /// The same in this stream.
    ///
    /// # Errors
    /// As [`Launch::launch`].
    #[inline]
    pub fn launch_on(self, stream: &Stream) -> Result<()> {
        self.run(stream.device(), stream.core())
    }

    /// Runs the kernel once, then `runs` times by the device's clock. It does run, `runs + 1` times: what it adds up, it adds up as often.
    /// [`Device::time`] times several launches as one, and leaves room for what is to be done before each run.
    ///
    /// # Errors
    /// As [`Launch::launch`]; also the faults of the kernel, and [`Error::Argument`] for no runs at all.
    pub fn time(self, device: &Device, runs: usize) -> Result<Timing> {
        if runs == 0 {
            return Err(Error::Argument { kernel: self.definition.name, reason: "`.time(device, 0)` has no runs: give 1 or more".into() });
        }
        let instance = self.instance(device)?;
        let stream = device.own_stream();
        let (plan, is_in_order) = self.plan(device, instance, stream)?;
        if !is_in_order {
            self.order(stream)?;
        }
        let (times, clock) = instance.executable.time(&plan, stream, runs)?;
        Timing::new(times, clock).ok_or_else(|| Error::internal(self.definition.name))
    }

    /// Whether the lanes of this launch's warps exchange values directly on a device ([`warp_sum`](crate::prelude::warp_sum), `shuffle`, `ballot` …):
    /// always on CUDA, on the simulator and on the host; on an OpenCL device if it has sub-groups of 32 and they are the warps of this block, 32 threads
    /// in order of their number. Elsewhere exchanges go through shared memory and barriers of the block. The results are the same. Compiles
    /// the kernel, as a launch does; one without exchanges has no warps on OpenCL devices.
    ///
    /// # Errors
    /// As [`Launch::launch`].
    pub fn has_warps(&self, device: &Device) -> Result<bool> {
        let instance = self.instance(device)?;
        let (plan, _) = self.plan(device, instance, device.own_stream())?;
        instance.executable.has_warps(plan.extents.block)
    }

    /// Runs the kernel on the simulator, whatever device its buffers are on: they are copied, and what the kernel wrote is copied back
    /// into those it takes as `&mut`, as after a launch. Waits for the result.
    ///
    /// # Errors
    /// As [`Launch::launch`], and [`Error::Simulated`] for what the simulator found; then the buffers are as they were.
    pub fn simulate(self) -> Result<Simulation> {
        let (copies, counters) = self.on_simulator(self.definition, &self.generics)?;
        simulate::copy_out(&self.arguments, &copies)?;
        Ok(Simulation::new(counters.unwrap_or_default()))
    }

    /// The PTX of this instance for a compute capability, `sm_90` say. Needs no device.
    ///
    /// # Errors
    /// [`Error::UnknownTarget`]; [`Error::Compile`] if the kernel does not compile for it.
    pub fn ptx(&self, target: &str) -> Result<String> {
        Ok(self.ptx_module(target)?.to_string())
    }

    /// The same for each of several targets, of one lowering.
    #[doc(hidden)]
    pub fn ptx_of_each(&self, targets: &[&str]) -> Result<Vec<Result<String>>> {
        let of = |kernel: &LoweredKernel<'_>, name: &str| Ok(kernel.ptx(find_target(name)?)?.to_string());
        with_lowered(self.definition, &self.generics, |kernel| Ok(targets.iter().map(|name| of(kernel, name)).collect()))
    }

    /// A text for the instance: launches of the same one have the same.
    #[doc(hidden)]
    pub fn instance_key(&self) -> String {
        format!("{:p} {:?}", self.definition, self.generics)
    }

    /// The PTX of this instance as data, with its calling convention.
    ///
    /// # Errors
    /// As [`Launch::ptx`].
    pub(crate) fn ptx_module(&self, target: &str) -> Result<Module> {
        let target = find_target(target)?;
        with_lowered(self.definition, &self.generics, |kernel| kernel.ptx(target))
    }

    /// The OpenCL C of this instance. Needs no device.
    ///
    /// # Errors
    /// [`Error::Compile`] if the kernel does not compile for OpenCL.
    pub fn opencl_c(&self) -> Result<String> {
        self.text(&OpenCl)
    }

    /// The text form of this instance's IR, optimised, as every back end gets it.
    ///
    /// # Errors
    /// [`Error::Compile`] if the kernel does not compile.
    pub fn ir(&self) -> Result<String> {
        self.ir_of(self.definition)
    }

    /// The same of another kernel of these generics.
    #[doc(hidden)]
    pub fn ir_of(&self, definition: &'static KernelDefinition) -> Result<String> {
        with_lowered(definition, &self.generics, |kernel| Ok(kernel.legal().to_string()))
    }

    /// The kernel as readable Rust, its annotations done: what `warpwright emit --format rust` prints.
    ///
    /// # Errors
    /// [`Error::Compile`] if the kernel does not compile.
    pub fn rust(&self) -> Result<String> {
        self.text(&Rust)
    }

    /// The text for any device.
    fn text(&self, backend: &dyn Backend) -> Result<String> {
        with_lowered(self.definition, &self.generics, |kernel| Ok(kernel.emit(backend, None)?.text))
    }

    /// What every buffer holds after this launch on the simulator, with the kernel itself or with another of the same parameters, and of the
    /// same generics or none. The buffers stay as they are.
    #[doc(hidden)]
    pub fn simulated_memory(&self, other: Option<&'static KernelDefinition>) -> Result<Vec<Vec<u8>>> {
        self.memory_on(&Device::simulator(), other)
    }

    /// The same on [`Device::weak_simulator`].
    #[doc(hidden)]
    pub fn weakly_simulated_memory(&self, other: Option<&'static KernelDefinition>, seed: u64) -> Result<Vec<Vec<u8>>> {
        self.memory_on(&Device::weak_simulator(seed), other)
    }

    fn memory_on(&self, simulator: &Device, other: Option<&'static KernelDefinition>) -> Result<Vec<Vec<u8>>> {
        let none = Generics::default();
        let generics = if other.is_some_and(|other| other.generics.is_empty()) { &none } else { &self.generics };
        let (copies, _) = self.run_simulated(simulator, other.unwrap_or(self.definition), generics, None)?;
        simulate::contents(&self.arguments, &copies)
    }

    /// The IR that the simulator runs, in its text form.
    ///
    /// # Errors
    /// [`Error::Compile`] if the kernel does not compile.
    #[doc(hidden)]
    pub fn simulated_ir(&self) -> Result<String> {
        with_lowered(self.definition, &self.generics, |kernel| Ok(kernel.form().to_string()))
    }

    /// [`Launch::simulated_memory`] with IR in the kernel's place, of the same parameters, block and shared memory.
    #[doc(hidden)]
    pub fn simulated_memory_of_ir(&self, kernel: &Kernel) -> Result<Vec<Vec<u8>>> {
        let executable = compile_form(self.definition.name, kernel, SimOptions::default())?;
        let (copies, _) = self.run_simulated(&Device::simulator(), self.definition, &self.generics, Some(&*executable))?;
        simulate::contents(&self.arguments, &copies)
    }

    /// Runs a kernel of these parameters on the simulator, on copies of the buffers, which it gives with what was counted.
    fn on_simulator(
        &self,
        definition: &'static KernelDefinition,
        generics: &Generics,
    ) -> Result<(Vec<Option<Allocation>>, Option<Counters>)> {
        self.run_simulated(&Device::simulator(), definition, generics, None)
    }

    /// The same on one of several; something else may run in the place of what the kernel is compiled to.
    fn run_simulated(
        &self,
        device: &Device,
        definition: &'static KernelDefinition,
        generics: &Generics,
        instead: Option<&dyn Executable>,
    ) -> Result<(Vec<Option<Allocation>>, Option<Counters>)> {
        let copies = simulate::copy_in(&self.arguments, device)?;
        let launch = Launch {
            definition,
            generics: generics.clone(),
            twin: self.twin,
            arguments: self.arguments.with_memory(|index| copies.get(index).and_then(Option::as_ref)),
            geometry: self.geometry,
        };
        let instance = launch.instance(device)?;
        let (plan, _) = launch.plan(device, instance, device.own_stream())?;
        let counters = instead.unwrap_or(&*instance.executable).launch(&plan, device.own_stream())?;
        Ok((copies, counters))
    }

    /// The definition of the kernel.
    #[doc(hidden)]
    pub fn definition(&self) -> &'static KernelDefinition {
        self.definition
    }

    fn run(&self, device: &Device, stream: &Arc<StreamCore>) -> Result<()> {
        self.run_after(device, stream, || Ok(()))
    }

    /// Launches in the device's own stream; `before` is called when all is ready, just before the kernel goes into it.
    pub(crate) fn launch_after(self, device: &Device, before: impl FnOnce() -> Result<()>) -> Result<()> {
        self.run_after(device, device.own_stream(), before)
    }

    fn run_after(&self, device: &Device, stream: &Arc<StreamCore>, before: impl FnOnce() -> Result<()>) -> Result<()> {
        let instance = self.instance(device)?;
        let (plan, is_in_order) = self.plan(device, instance, stream)?;
        if !is_in_order {
            self.order(stream)?;
        }
        before()?;
        instance.executable.put(&plan, stream)
    }

    /// The compiled instance. It is only compiled if the buffers are the device's.
    #[inline(always)]
    pub(crate) fn instance<'d>(&self, device: &'d Device) -> Result<&'d Arc<Instance>> {
        match device.cache().find(self.definition, &self.generics) {
            Some(known) => Ok(known),
            None => self.compiled(device),
        }
    }

    #[cold]
    fn compiled<'d>(&self, device: &'d Device) -> Result<&'d Arc<Instance>> {
        // The width of its index is not known yet.
        check::check_buffers(self.definition, &self.arguments, IndexWidth::Bits64.max_elements(), device, device.own_stream())?;
        let compile = || Instance::compile(device, self.definition, &self.generics, &self.arguments);
        device.cache().add(self.definition, &self.generics, compile)
    }

    /// What is launched, and whether the stream is in order behind all that use the buffers already: else [`Launch::order`] is to see to it.
    // Made where it is read: a processor waits for copies of what it has just written.
    #[inline(always)]
    pub(crate) fn plan<'p>(&'p self, device: &Device, instance: &Instance, stream: &Arc<StreamCore>) -> Result<(LaunchPlan<'p>, bool)> {
        let is_in_order = check::check_buffers(self.definition, &self.arguments, instance.facts.longest, device, stream)?;
        let extents = check::check_geometry(self.definition, &self.geometry, &instance.facts, device)?;
        let arguments = if instance.facts.repacks { self.repacked(device, instance)? } else { Cow::Borrowed(&self.arguments) };
        Ok((LaunchPlan { definition: self.definition, twin: self.twin, extents, arguments }, is_in_order))
    }

    /// The arguments as the device has them.
    #[inline(never)]
    fn repacked(&self, device: &Device, instance: &Instance) -> Result<Cow<'_, Arguments<'_>>> {
        let arguments = for_device(self.definition, &self.arguments, instance.facts.index)?;
        // The twin takes values as the host has them, and refuses those a device would refuse.
        Ok(if device.kind() == DeviceKind::Host { Cow::Borrowed(&self.arguments) } else { arguments })
    }

    /// Orders `stream` after what other streams still do with the buffers.
    #[cold]
    fn order(&self, stream: &Arc<StreamCore>) -> Result<()> {
        if stream.is_synchronous() {
            return Ok(());
        }
        for argument in self.arguments.iter() {
            let Some(allocation) = argument.allocation() else { continue };
            let uses = allocation.uses();
            if argument.writable().is_some() { uses.write_on(stream)? } else { uses.read_on(stream)? }
        }
        Ok(())
    }
}

pub(crate) fn find_target(name: &str) -> Result<&'static Target> {
    Target::find(name).map_err(|unknown| Error::UnknownTarget { target: name.to_owned(), help: unknown.help() })
}

impl fmt::Debug for Launch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Launch of `{}` ({:?})", self.definition.name, self.geometry)
    }
}
