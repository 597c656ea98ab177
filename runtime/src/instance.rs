//! From a kernel's definition and generics to something a device runs: source text → syntax → IR → passes → back end.

use crate::arguments::Arguments;
use crate::backend::Executable;
use crate::cache::Generics;
use crate::check::check_parameter_bytes;
use crate::definition::{DeviceItem, ExternTarget, GenericArgument, KernelDefinition, ScalarKind};
use crate::device::Device;
use crate::element::{Layout, TypeName};
use crate::error::{Error, Result};
use crate::repack::index_bytes;
use std::collections::HashMap;
use warpwright_codegen::backend::{self, Emitted};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::hir::{self, Lowered};
use warpwright_codegen::ir::IndexWidth;
use warpwright_codegen::ir::{Kernel, MemoryType, ObjectData, ObjectKind, Scalar, Type};
use warpwright_codegen::syntax::{ConstValue, Extern, GenericValue, Instance as Assignment, Program, Unit, UnitId};
use warpwright_codegen::target::Target;
use warpwright_codegen::{passes, schedule};
use warpwright_review::estimate::estimate;
use warpwright_review::report::Report as Estimated;
use warpwright_review::require;

/// What a launch must know of a compiled instance.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The block, if the attribute fixes it.
    pub(crate) block: Option<[u32; 3]>,
    /// Width of the kernel's `usize`.
    pub(crate) index: IndexWidth,
    /// Static shared memory, bytes.
    pub(crate) shared_bytes: u64,
    /// The name of the dynamic shared array, if there is one.
    pub(crate) dynamic_shared: Option<Box<str>>,
    /// `ilp` and `vectorize`: elements of a thread along x.
    pub(crate) elements: [u32; 2],
    /// Whether threads wait for or talk to each other: barriers, exchanges within a warp.
    pub(crate) is_cooperative: bool,
}

/// A compiled instance on a device.
pub(crate) struct Instance {
    pub(crate) facts: Facts,
    pub(crate) executable: Box<dyn Executable>,
}

/// An instance lowered and optimised: what back ends compile.
pub(crate) struct Source<'s> {
    pub(crate) definition: &'static KernelDefinition,
    pub(crate) facts: &'s Facts,
    program: &'s Program,
    lowered: &'s Lowered,
}

impl Source<'_> {
    /// The kernel, stage `Legal`.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.lowered.kernel
    }

    /// The kernel as PTX.
    pub(crate) fn ptx(&self, target: &Target) -> Result<Emitted> {
        let mut kernel = self.lowered.kernel.clone();
        passes::address(&mut kernel);
        backend::ptx::emit_ptx(&kernel, target, &|loc| self.lowered.span(loc)).map_err(|found| self.refused(found))
    }

    /// The kernel as OpenCL C.
    pub(crate) fn opencl_c(&self) -> Result<Emitted> {
        backend::opencl::emit_opencl(&self.lowered.kernel, &|loc| self.lowered.span(loc)).map_err(|found| self.refused(found))
    }

    /// What is known of the kernel on a target, and what of its contract does not hold there.
    pub(crate) fn report(&self, target: &'static Target, words: &str) -> (Estimated, Vec<String>) {
        let known = estimate(&self.lowered.kernel, &[target]);
        let judged = require::judge(&self.lowered.required, &known, |loc| self.lowered.span(loc));
        let broken = judged.iter().map(|finding| finding.message.clone()).collect();
        let report = Estimated::all(words, &known).into_iter().next();
        (report.expect("one target, one report"), broken)
    }

    /// The text form of the IR.
    pub(crate) fn ir_text(&self) -> String {
        self.lowered.kernel.to_string()
    }

    fn refused(&self, found: Diagnostics) -> Error {
        refused(self.definition, self.program, &found)
    }
}

/// Lowers and optimises an instance and hands it to `use_it`.
pub(crate) fn with_source<R>(
    definition: &'static KernelDefinition,
    generics: &Generics,
    use_it: impl FnOnce(&Source<'_>) -> Result<R>,
) -> Result<R> {
    with_scheduled(definition, generics, |program, mut lowered, is_cooperative| {
        passes::optimize(&mut lowered.kernel);
        let facts = facts(&lowered.kernel, is_cooperative);
        use_it(&Source { definition, facts: &facts, program, lowered: &lowered })
    })
}

/// The text of an instance after its annotations.
pub(crate) fn rust_text(definition: &'static KernelDefinition, generics: &Generics) -> Result<String> {
    with_scheduled(definition, generics, |_, mut lowered, _| {
        passes::tidy(&mut lowered.kernel);
        Ok(backend::rust::emit_rust(&lowered.kernel))
    })
}

/// Lowers an instance, keeps its annotations, and hands it to `use_it`, with whether its threads wait for each other.
fn with_scheduled<R>(
    definition: &'static KernelDefinition,
    generics: &Generics,
    use_it: impl FnOnce(&Program, Lowered, bool) -> Result<R>,
) -> Result<R> {
    let mut program = Program::default();
    let mut units = Units::new(definition, &mut program);
    let unit = units.add(&definition.item)?;
    let generic_values = generics.iter().map(|generic| units.generic_value(unit, generic)).collect::<Result<_>>()?;
    units.add_externs()?;
    let assignment = Assignment { generics: generic_values };
    let refused = |found: Diagnostics| refused(definition, &program, &found);
    let mut lowered = hir::lower_kernel(&program, unit, definition.name, &assignment).map_err(refused)?;
    // Before the passes: what they remove, the host twin still does.
    let is_cooperative = is_cooperative(&lowered.kernel);
    // Warnings are for who compiles the crate.
    schedule::schedule(&mut lowered).map_err(refused)?;
    use_it(&program, lowered, is_cooperative)
}

impl Instance {
    /// Compiles an instance for a device, and checks that host and device agree about its parameters.
    pub(crate) fn compile(
        device: &Device,
        definition: &'static KernelDefinition,
        generics: &Generics,
        arguments: &Arguments<'_>,
    ) -> Result<Instance> {
        with_source(definition, generics, |source| {
            check_parameter_bytes(definition, arguments, source.facts.index, device)?;
            check_parameters(definition, source.kernel(), arguments)?;
            Ok(Instance { facts: source.facts.clone(), executable: device.backend().compile(source)? })
        })
    }

    /// The same of a kernel that was lowered and optimised elsewhere. Host and device have nothing to agree about: arguments are bytes.
    pub(crate) fn of_lowered(
        device: &Device,
        definition: &'static KernelDefinition,
        program: &Program,
        lowered: &Lowered,
    ) -> Result<Instance> {
        let facts = facts(&lowered.kernel, is_cooperative(&lowered.kernel));
        let source = Source { definition, facts: &facts, program, lowered };
        let executable = device.backend().compile(&source)?;
        Ok(Instance { facts, executable })
    }
}

/// The units that a kernel needs, each parsed once.
struct Units<'p> {
    definition: &'static KernelDefinition,
    program: &'p mut Program,
    known: HashMap<(&'static str, u32, u32, &'static str), UnitId>,
    /// Those whose names from outside have not been bound.
    open: Vec<(UnitId, &'static DeviceItem)>,
}

impl<'p> Units<'p> {
    fn new(definition: &'static KernelDefinition, program: &'p mut Program) -> Units<'p> {
        Units { definition, program, known: HashMap::new(), open: Vec::new() }
    }

    /// The unit that holds an item.
    fn add(&mut self, item: &'static DeviceItem) -> Result<UnitId> {
        let source = &item.source;
        let key = (source.file, source.line, source.column, source.text);
        if let Some(unit) = self.known.get(&key) {
            return Ok(*unit);
        }
        let parsed = Unit::parse(source.file, source.line, source.column, source.text)
            .map_err(|found| refused(self.definition, &Program::default(), &found))?;
        let unit = self.program.add(parsed);
        self.known.insert(key, unit);
        self.open.push((unit, item));
        Ok(unit)
    }

    /// The value of a generic parameter. Structs and enums may be of any crate: each is bound in the kernel's unit, to a name of ours.
    fn generic_value(&mut self, unit: UnitId, argument: &GenericArgument) -> Result<GenericValue> {
        let scalar = |ty: Type, bits: u64| GenericValue::Const(ConstValue::Scalar(Scalar::new(ty, bits)));
        Ok(match *argument {
            GenericArgument::Type(ty) => GenericValue::Type(ty.text(&mut |id: &TypeName| self.bind_type(unit, id))?),
            GenericArgument::Const(ScalarKind::Usize, bits) => GenericValue::Const(ConstValue::Index(i128::from(bits), false)),
            GenericArgument::Const(ScalarKind::Isize, bits) => GenericValue::Const(ConstValue::Index(i128::from(bits as i64), true)),
            GenericArgument::Const(kind, bits) => scalar(scalar_type(kind), bits),
        })
    }

    fn bind_type(&mut self, unit: UnitId, id: &TypeName) -> Result<String> {
        let item = (id.item)();
        let target = Extern::Item(self.add(item)?, item.name.to_owned());
        let externs = &mut self.program.units[unit.0].externs;
        let name = format!("__warpwright_type_{}", externs.len());
        externs.insert(name.clone(), target);
        Ok(name)
    }

    /// Binds what the units name from outside, and what that names in turn.
    fn add_externs(&mut self) -> Result<()> {
        while let Some((unit, item)) = self.open.pop() {
            for name in item.externs {
                let target = match name.target {
                    ExternTarget::Constant(value) => Extern::Constant(value()),
                    ExternTarget::Item(get) => {
                        let other = get();
                        Extern::Item(self.add(other)?, other.name.to_owned())
                    }
                };
                self.program.units[unit.0].externs.insert(name.path.to_owned(), target);
            }
        }
        Ok(())
    }
}

fn scalar_type(kind: ScalarKind) -> Type {
    match kind {
        ScalarKind::Bool => Type::Bool,
        ScalarKind::I8 => Type::I8,
        ScalarKind::I16 => Type::I16,
        ScalarKind::I32 => Type::I32,
        ScalarKind::I64 | ScalarKind::Isize => Type::I64,
        ScalarKind::U8 => Type::U8,
        ScalarKind::U16 => Type::U16,
        ScalarKind::U32 => Type::U32,
        ScalarKind::U64 | ScalarKind::Usize => Type::U64,
    }
}

/// The findings as text, one to a line: `src/main.rs:12:5: error: …` and below it `help: …`.
fn refused(definition: &'static KernelDefinition, program: &Program, found: &Diagnostics) -> Error {
    let mut lines = Vec::new();
    for finding in found.iter() {
        let place = program.place(finding.span).map_or_else(|| definition.item.source.file.to_owned(), |place| place.to_string());
        lines.push(format!("{place}: {}", finding.message));
        lines.extend(finding.labels.iter().map(|(span, text)| match program.place(*span) {
            Some(place) => format!("  {place}: {text}"),
            None => format!("  {text}"),
        }));
        lines.extend(finding.help.iter().map(|help| format!("  help: {help}")));
    }
    Error::Compile { kernel: definition.name, diagnostics: lines.join("\n").into() }
}

fn is_cooperative(kernel: &Kernel) -> bool {
    let mut found = false;
    kernel.for_each_inst(|kernel, _, inst| {
        found |= kernel.effects(inst).is_convergent();
    });
    found
}

fn facts(kernel: &Kernel, is_cooperative: bool) -> Facts {
    let shared = kernel.objects.values().filter(|object| object.kind == ObjectKind::Shared);
    let is_dynamic = |object: &&ObjectData| matches!(object.ty, MemoryType::Slice(_));
    let dynamic_shared = shared.clone().find(is_dynamic).map(|object| object.name.as_str().into());
    let shared_bytes = shared.fold(0u64, |end, object| {
        // Each begins at a multiple of 16 at most: the widest vector access.
        let align = object.ty.align(&kernel.structs).max(1);
        end.next_multiple_of(align).saturating_add(object.ty.size(&kernel.structs))
    });
    let options = &kernel.options;
    let elements = [options.ilp, options.vectorize];
    Facts { block: options.block, index: options.index, shared_bytes, dynamic_shared, elements, is_cooperative }
}

/// Whether each buffer's elements are laid out on the host as on the device, and each by-value parameter is what the kernel takes.
fn check_parameters(definition: &'static KernelDefinition, kernel: &Kernel, arguments: &Arguments<'_>) -> Result<()> {
    if arguments.len() != definition.passed().count() || kernel.params.len() != arguments.len() {
        let reason = format!("{} arguments for {} parameters", arguments.len(), kernel.params.len());
        return Err(Error::Argument { kernel: definition.name, reason });
    }
    let index_bytes = index_bytes(kernel.options.index);
    for ((index, argument), object) in arguments.iter().enumerate().zip(&kernel.params) {
        let ty = argument.ty;
        let wrong = |reason: String| {
            let parameter = definition.passed_name(index);
            Err(Error::Layout { kernel: definition.name, parameter, element: ty.to_string(), reason })
        };
        let memory = match &kernel.objects[*object].ty {
            MemoryType::Slice(element) => element,
            other => other,
        };
        let (size, align) = (memory.size(&kernel.structs), memory.align(&kernel.structs));
        // A value is laid out for the device at each launch; buffers are moved as they are.
        let layout = if argument.is_value() {
            ty.device_layout(index_bytes)
        } else if ty.has_index() && kernel.options.index == IndexWidth::Bits32 {
            return wrong(
                "holds `usize` or `isize`, 64 bits on the host and 32 in this kernel: use `u32`, or write `#[kernel(index = 64)]`".into(),
            );
        } else if !ty.is_same_on_device(index_bytes) {
            return wrong("is or holds a tuple that rustc lays out in another order than `repr(C)`: use a `#[repr(C)]` struct".into());
        } else {
            Layout { size: ty.size(), align: ty.align() }
        };
        if (layout.size as u64, layout.align as u64) != (size, align) {
            return wrong(format!(
                "has {} bytes aligned to {} on the host, but {size} aligned to {align} on the device: write `#[repr(C)]`",
                layout.size, layout.align
            ));
        }
    }
    Ok(())
}
