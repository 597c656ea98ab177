//! Kernels without a macro: compiled from source text while the program runs, launched on bytes. What the command-line tool stands on.
//!
//! The types that a macro would have checked are those of the kernel: whoever launches hands over bytes laid out as
//! [`DynamicParameter::ty`] says.

use crate::arguments::{Argument, ArgumentKind, Arguments};
use crate::buffer::Buffer;
use crate::check::{self, Geometry, Grid};
use crate::definition::{DeviceItem, KernelDefinition, Parameter, ParameterKind, SourceText};
use crate::device::Device;
use crate::dim3::Dim3;
use crate::driver::{DeviceKind, LaunchPlan};
use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::instance::Instance;
use crate::sim::Counters;
use crate::timing::Timing;
use std::borrow::Cow;
use warpwright_codegen::hir::Lowered;
use warpwright_codegen::ir::{EntityMap, Kernel, MemoryType, ObjectKind, StructId, StructType};
use warpwright_codegen::pipeline::Scheduled;
use warpwright_codegen::syntax::Program;

/// One instance of a kernel, compiled for a device.
pub struct DynamicKernel {
    definition: &'static KernelDefinition,
    device: Device,
    instance: Instance,
    parameters: Vec<DynamicParameter>,
    structs: EntityMap<StructId, StructType>,
}

/// A parameter of a kernel and what it takes.
#[derive(Clone, Debug)]
pub struct DynamicParameter {
    /// Its name.
    pub name: String,
    /// How it is passed.
    pub kind: ParameterKind,
    /// Its type; of a buffer, its elements'.
    pub ty: MemoryType,
    /// Bytes of that type, as devices lay it out.
    pub bytes: usize,
}

/// An argument, one per parameter, in order.
#[derive(Clone, Copy)]
pub enum DynamicArgument<'a> {
    /// A value's bytes.
    Value(&'a [u8]),
    /// A buffer's: whole elements. Also what a `&Constant` parameter takes.
    Buffer(&'a Buffer<u8>),
}

/// How a launch is shaped.
#[derive(Clone, Copy, Debug, Default)]
pub struct DynamicGeometry {
    geometry: Geometry,
}

impl DynamicGeometry {
    /// This many blocks.
    #[must_use]
    pub fn grid(mut self, blocks: Dim3) -> DynamicGeometry {
        self.geometry.grid = Some(Grid::Blocks(blocks));
        self
    }

    /// Enough blocks that every one of this many elements has a thread.
    #[must_use]
    pub fn cover(mut self, elements: Dim3) -> DynamicGeometry {
        self.geometry.grid = Some(Grid::Cover(elements));
        self
    }

    /// Threads of a block; only for a kernel whose attribute fixes none.
    #[must_use]
    pub fn block(mut self, threads: Dim3) -> DynamicGeometry {
        self.geometry.block = Some(threads);
        self
    }

    /// Bytes of dynamic shared memory.
    #[must_use]
    pub fn shared_bytes(mut self, bytes: usize) -> DynamicGeometry {
        self.geometry.shared_bytes = Some(bytes);
        self
    }
}

/// A type of so many bytes. Kept for the rest of the program, once for each size asked for in a call: arguments have types that live as long.
fn bytes_type(bytes: usize) -> &'static ElementType {
    static BYTE: ElementType = ElementType::Scalar("u8");
    Box::leak(Box::new(ElementType::Array(&BYTE, bytes)))
}

/// What messages name. A program that compiles kernels so does it a few hundred times, so it is never freed.
fn definition(kernel: &Kernel, parameters: &[DynamicParameter]) -> &'static KernelDefinition {
    let text = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    let file = kernel.files.first().map_or("", |file| text(file));
    let name = text(&kernel.name);
    let parameters: Vec<Parameter> = parameters.iter().map(|p| Parameter { name: text(&p.name), kind: p.kind }).collect();
    Box::leak(Box::new(KernelDefinition {
        name,
        item: DeviceItem { name, source: SourceText { text: "", file, line: 1, column: 1 }, externs: &[] },
        parameters: Vec::leak(parameters),
        generics: &[],
    }))
}

impl DynamicKernel {
    /// Compiles an instance for a device, the host twin excepted: that runs what `rustc`
    /// made of a kernel.
    ///
    /// # Errors
    /// [`Error::Compile`], [`Error::Argument`] for the host twin, and what the device's driver has to say.
    pub fn compile(device: &Device, program: &Program, lowered: Lowered<Scheduled>) -> Result<DynamicKernel> {
        let parameters = parameters(&lowered.kernel);
        let definition = definition(&lowered.kernel, &parameters);
        if device.kind() == DeviceKind::Host {
            let reason = "the host twin runs what rustc made of a kernel, and this one comes from text: use the simulator".into();
            return Err(Error::Argument { kernel: definition.name, reason });
        }
        let instance = Instance::of_lowered(device, definition, program, &lowered)?;
        Ok(DynamicKernel { definition, device: device.clone(), instance, parameters, structs: lowered.kernel.structs.clone() })
    }

    /// What it takes.
    pub fn parameters(&self) -> &[DynamicParameter] {
        &self.parameters
    }

    /// The block, if its attribute fixes it.
    pub fn block(&self) -> Option<Dim3> {
        self.instance.facts.block.map(|block| {
            let [x, y, z] = block.map(|extent| extent as usize);
            Dim3::new(x, y, z)
        })
    }

    /// How many blocks a launch so shaped has.
    ///
    /// # Errors
    /// What is wrong with the shape.
    pub fn blocks(&self, geometry: DynamicGeometry) -> Result<u64> {
        let (grid, _) = self.extents(geometry)?;
        Ok(grid.iter().map(|extent| u64::from(*extent)).product())
    }

    /// The blocks of such a launch, and the threads of a block, axis by axis.
    ///
    /// # Errors
    /// A launch that is not possible.
    pub fn extents(&self, geometry: DynamicGeometry) -> Result<([u32; 3], [u32; 3])> {
        let extents = check::check_geometry(self.definition, &geometry.geometry, &self.instance.facts, &self.device)?;
        Ok((extents.grid, extents.block))
    }

    /// The structs that its parameters' types name.
    pub fn structs(&self) -> &EntityMap<StructId, StructType> {
        &self.structs
    }

    /// Runs it once and waits. The simulator's counters, if the device is that.
    ///
    /// # Errors
    /// Everything that can be known before the kernel runs, and its faults.
    pub fn run(&self, geometry: DynamicGeometry, arguments: &[DynamicArgument<'_>]) -> Result<Option<Counters>> {
        let arguments = self.arguments(arguments)?;
        let plan = self.plan(geometry, &arguments)?;
        let counters = self.instance.executable.launch(&plan, self.device.own_stream())?;
        self.device.synchronize()?;
        Ok(counters)
    }

    /// Runs it once, then `runs` times by the device's clock.
    ///
    /// # Errors
    /// As [`DynamicKernel::run`]; also [`Error::Argument`] for no runs at all.
    pub fn time(&self, geometry: DynamicGeometry, arguments: &[DynamicArgument<'_>], runs: usize) -> Result<Timing> {
        let none = || Error::Argument { kernel: self.definition.name, reason: "no run was timed: give 1 run or more".into() };
        if runs == 0 {
            return Err(none());
        }
        let arguments = self.arguments(arguments)?;
        let plan = self.plan(geometry, &arguments)?;
        let (times, clock) = self.instance.executable.time(&plan, self.device.own_stream(), runs)?;
        Timing::new(times, clock).ok_or_else(none)
    }

    /// The arguments as a launch holds them.
    fn arguments<'a>(&self, given: &[DynamicArgument<'a>]) -> Result<Arguments<'a>> {
        let wrong = |reason: String| Error::Argument { kernel: self.definition.name, reason };
        if given.len() != self.parameters.len() {
            return Err(wrong(format!(
                "{} arguments were given for {} parameters; give one for each, in their order",
                given.len(),
                self.parameters.len()
            )));
        }
        let mut arguments = Arguments::new();
        for (parameter, argument) in self.parameters.iter().zip(given) {
            let DynamicParameter { name, bytes, kind, .. } = parameter;
            let misfit = |have: usize| wrong(format!("`{name}` has {have} bytes, and its type {bytes}; give {bytes}"));
            match (kind, argument) {
                (ParameterKind::Value, DynamicArgument::Value(value)) => {
                    if value.len() != *bytes {
                        return Err(misfit(value.len()));
                    }
                    arguments.push_bytes(bytes_type(*bytes), value);
                }
                (ParameterKind::Global | ParameterKind::GlobalMut, DynamicArgument::Buffer(buffer)) => {
                    let (have, rest) = (buffer.len(), buffer.len() % bytes.max(&1));
                    if rest != 0 {
                        return Err(wrong(format!(
                            "`{name}` has {have} bytes, which is not a multiple of an element's {bytes}; give {} or {}",
                            have - rest,
                            have - rest + bytes
                        )));
                    }
                    let writable = matches!(kind, ParameterKind::GlobalMut);
                    let kind = ArgumentKind::Global { allocation: buffer.allocation(), len: buffer.len() / bytes.max(&1), writable };
                    arguments.push(Argument { kind, ty: bytes_type(*bytes) });
                }
                (ParameterKind::Constant, DynamicArgument::Buffer(buffer)) => {
                    if buffer.len() != *bytes {
                        return Err(misfit(buffer.len()));
                    }
                    arguments.push(Argument { kind: ArgumentKind::Constant { allocation: buffer.allocation() }, ty: bytes_type(*bytes) });
                }
                (ParameterKind::Value | ParameterKind::Group(_), DynamicArgument::Buffer(_)) => {
                    return Err(wrong(format!("`{name}` takes a value, not a buffer; give its bytes")));
                }
                (ParameterKind::Texture, _) => {
                    return Err(wrong(format!(
                        "`{name}` takes a texture; write the kernel in the program, `#[kernel]`, and give it a `device.texture(…)`"
                    )));
                }
                (_, DynamicArgument::Value(_)) => {
                    return Err(wrong(format!("`{name}` takes a buffer, not a value; give a `Buffer` of bytes")));
                }
            }
        }
        Ok(arguments)
    }

    fn plan<'p>(&self, geometry: DynamicGeometry, arguments: &'p Arguments<'p>) -> Result<LaunchPlan<'p>> {
        let facts = &self.instance.facts;
        check::check_parameter_bytes(self.definition, arguments, facts.index, &self.device)?;
        check::check_buffers(self.definition, arguments, facts.longest, &self.device, self.device.own_stream())?;
        let extents = check::check_geometry(self.definition, &geometry.geometry, facts, &self.device)?;
        Ok(LaunchPlan {
            definition: self.definition,
            // Nobody asks for it: the host twin is refused above.
            twin: |_| {},
            extents,
            arguments: Cow::Borrowed(arguments),
        })
    }
}

/// The parameters of a kernel.
fn parameters(kernel: &Kernel) -> Vec<DynamicParameter> {
    let one = |object| {
        let data = &kernel.objects[object];
        let kind = match data.kind {
            ObjectKind::Global { writable: true } => ParameterKind::GlobalMut,
            ObjectKind::Global { writable: false } => ParameterKind::Global,
            ObjectKind::Constant => ParameterKind::Constant,
            ObjectKind::Texture => ParameterKind::Texture,
            _ => ParameterKind::Value,
        };
        let ty = match &data.ty {
            MemoryType::Slice(element) => (**element).clone(),
            other => other.clone(),
        };
        // Sizes of what a device can hold.
        let bytes = usize::try_from(ty.size(&kernel.structs)).unwrap_or(usize::MAX);
        DynamicParameter { name: data.name.clone(), kind, ty, bytes }
    };
    kernel.params.iter().copied().map(one).collect()
}
