//! From a kernel's definition and generics to something a device runs: source text → syntax → IR → passes → back end.

use crate::arguments::Arguments;
use crate::cache::Generics;
use crate::check::check_parameter_bytes;
use crate::definition::{DeviceItem, GenericArgument, KernelDefinition, ScalarKind};
use crate::device::{Device, DeviceKind};
use crate::driver::Executable;
use crate::element::{Layout, TypeName};
use crate::error::{Error, Result};
use crate::repack::{index_bytes, needs_repacking};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use warpwright_codegen::backend::ptx::code::Module;
use warpwright_codegen::backend::{Backend, Emitted};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::hir::Lowered;
use warpwright_codegen::ir::{IndexWidth, Kernel, MemoryType, ObjectData, ObjectKind, Scalar, Type};
use warpwright_codegen::pipeline::{self, Built, Legal, Scheduled};
use warpwright_codegen::syntax::{ConstValue, Extern, GenericValue, Instance as Assignment, Program, Unit, UnitId};
#[cfg(feature = "inspect")]
use warpwright_codegen::syntax::{KernelAttributes, Setting};
use warpwright_codegen::target::Target;

/// What a launch must know of an instance compiled for a device.
// What each launch looks at comes first, together: the driver's own work leaves little of it in the caches.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct LaunchFacts {
    /// Tells these facts from those of all other instances, on this device or another. Not 0.
    pub(crate) number: u64,
    /// Most elements of a buffer that `index` can count.
    pub(crate) longest: u64,
    /// Width of the kernel's `usize`.
    pub(crate) index: IndexWidth,
    /// Whether a by-value parameter may be laid out otherwise on the device than on the host.
    pub(crate) repacks: bool,
    /// The block, if the attribute fixes it.
    pub(crate) block: Option<[u32; 3]>,
    /// Static shared memory, bytes.
    pub(crate) shared_bytes: u64,
    /// The name of the dynamic shared array, if there is one.
    pub(crate) dynamic_shared: Option<Box<str>>,
    /// `ilp` and `vectorize`: elements of a thread along x.
    pub(crate) elements: [u32; 2],
    /// Blocks of a cluster, by axis.
    pub(crate) cluster: [u32; 3],
    /// Whether threads wait for or talk to each other: barriers, exchanges within a warp.
    pub(crate) is_cooperative: bool,
    /// The argument by which blocks have numbers, of 32 bits, if there is one: `raster`, `persistent`.
    pub(crate) numbers_blocks: Option<&'static str>,
}

/// The number of the next facts.
static FACTS: AtomicU64 = AtomicU64::new(1);

/// A compiled instance on a device.
// What launches look at lies in one line of the cache.
#[repr(C, align(64))]
pub(crate) struct Instance {
    pub(crate) executable: Box<dyn Executable>,
    pub(crate) facts: LaunchFacts,
}

/// An instance in the IR, its annotations kept: what devices are given to compile.
pub(crate) struct LoweredKernel<'s> {
    pub(crate) definition: &'static KernelDefinition,
    /// Whether threads wait for or talk to each other.
    is_cooperative: bool,
    program: &'s Program,
    pub(crate) lowered: &'s Lowered<Scheduled>,
}

impl LoweredKernel<'_> {
    /// The kernel, optimised.
    pub(crate) fn legal(&self) -> &Legal {
        self.lowered.kernel.legal()
    }

    /// The form that the simulator runs: for machines with a copy engine, if there is one.
    pub(crate) fn form(&self) -> &Kernel {
        let legal = self.legal();
        legal.forms().next().unwrap_or(legal)
    }

    /// The kernel as a back end prints it: for a compute capability, or for any device.
    pub(crate) fn emit(&self, backend: &dyn Backend, target: Option<&Target>) -> Result<Emitted> {
        self.lowered.emit(backend, target).map_err(|found| refused(self.definition, self.program, &found))
    }

    /// Its PTX as data.
    pub(crate) fn ptx(&self, target: &Target) -> Result<Module> {
        self.lowered.ptx(target).map_err(|found| refused(self.definition, self.program, &found))
    }

    /// What the kernel says of a lint.
    #[cfg(feature = "inspect")]
    pub(crate) fn setting(&self, lint: &str) -> Option<Setting> {
        let item = self.program.units.iter().find_map(|unit| unit.kernel(self.definition.name).ok())?;
        KernelAttributes::find(&item.attrs, &mut Diagnostics::new())?.levels.of(lint)
    }

    /// What a launch must know.
    pub(crate) fn facts(&self) -> LaunchFacts {
        let kernel = self.legal();
        let shared = kernel.objects.values().filter(|object| object.kind == ObjectKind::Shared);
        let is_dynamic = |object: &&ObjectData| matches!(object.ty, MemoryType::Slice(_));
        let dynamic_shared = shared.clone().find(is_dynamic).map(|object| object.name.as_str().into());
        // From 16 bytes on at a multiple of 16, as the widest vector access needs it; so does what the launch gives.
        let fixed = shared.filter(|object| !is_dynamic(object)).fold(0u64, |end, object| {
            let bytes = object.ty.size(&kernel.structs);
            let align = object.ty.align(&kernel.structs).max(if bytes >= 16 { 16 } else { 1 });
            end.next_multiple_of(align).saturating_add(bytes)
        });
        let shared_bytes = if dynamic_shared.is_some() { fixed.next_multiple_of(16) } else { fixed };
        let options = &kernel.options;
        let elements = [options.ilp, options.vectorize];
        LaunchFacts {
            block: options.block,
            index: options.index,
            longest: options.index.max_elements(),
            shared_bytes,
            dynamic_shared,
            elements,
            cluster: options.cluster,
            is_cooperative: self.is_cooperative,
            numbers_blocks: [(options.persistent, "persistent"), (options.raster > 1, "raster")]
                .into_iter()
                .find(|(is, _)| *is)
                .map(|(_, name)| name),
            number: FACTS.fetch_add(1, Ordering::Relaxed),
            repacks: true,
        }
    }
}

/// Lowers an instance, keeps its annotations, and hands it to `use_it`.
pub(crate) fn with_lowered<R>(
    definition: &'static KernelDefinition,
    generics: &Generics,
    use_it: impl FnOnce(&LoweredKernel<'_>) -> Result<R>,
) -> Result<R> {
    with_lowered_by(pipeline::lower, definition, generics, use_it)
}

/// How an instance is lowered.
type Lower = fn(&Program, UnitId, &str, &Assignment) -> std::result::Result<Lowered<Built>, Diagnostics>;

fn with_lowered_by<R>(
    lower: Lower,
    definition: &'static KernelDefinition,
    generics: &Generics,
    use_it: impl FnOnce(&LoweredKernel<'_>) -> Result<R>,
) -> Result<R> {
    let mut program = Program::default();
    let mut units = Units::new(definition, &mut program);
    let unit = units.add(&definition.item)?;
    let generic_values = generics.iter().map(|generic| units.generic_value(unit, generic)).collect::<Result<_>>()?;
    units.add_externs()?;
    let assignment = Assignment { generics: generic_values };
    let refused = |found: Diagnostics| refused(definition, &program, &found);
    let built = lower(&program, unit, definition.name, &assignment).map_err(refused)?;
    // Before the passes: what they remove, the host twin still does.
    let is_cooperative = is_cooperative(&built.kernel);
    // Warnings are for who compiles the crate.
    let lowered = built.schedule().map_err(refused)?;
    use_it(&LoweredKernel { definition, is_cooperative, program: &program, lowered: &lowered })
}

impl Instance {
    /// Compiles an instance for a device, and checks that host and device agree about its parameters.
    pub(crate) fn compile(
        device: &Device,
        definition: &'static KernelDefinition,
        generics: &Generics,
        arguments: &Arguments<'_>,
    ) -> Result<Instance> {
        // The simulator says of a fault in a device function where it was called.
        let lower = if device.kind() == DeviceKind::Simulator { pipeline::lower_with_calls } else { pipeline::lower };
        with_lowered_by(lower, definition, generics, |kernel| {
            check_parameter_bytes(definition, arguments, kernel.legal().options.index, device)?;
            check_parameters(definition, kernel.legal(), arguments)?;
            let facts = kernel.facts();
            let facts = LaunchFacts { repacks: needs_repacking(arguments, facts.index), ..facts };
            Ok(Instance { facts, executable: device.driver().compile(kernel)? })
        })
    }

    /// The same of a kernel that was lowered elsewhere. Host and device have nothing to agree about: arguments are bytes.
    pub(crate) fn of_lowered(
        device: &Device,
        definition: &'static KernelDefinition,
        program: &Program,
        lowered: &Lowered<Scheduled>,
    ) -> Result<Instance> {
        let kernel = LoweredKernel { definition, is_cooperative: is_cooperative(&lowered.kernel), program, lowered };
        Ok(Instance { facts: kernel.facts(), executable: device.driver().compile(&kernel)? })
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
                let target = match name.target.item() {
                    Ok(other) => Extern::Item(self.add(other)?, other.name.to_owned()),
                    Err(value) => Extern::Constant(value()),
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

/// Whether each buffer's elements are laid out on the host as on the device, and each by-value parameter is what the kernel takes.
fn check_parameters(definition: &'static KernelDefinition, kernel: &Kernel, arguments: &Arguments<'_>) -> Result<()> {
    if arguments.len() != definition.passed().count() || kernel.params.len() != arguments.len() {
        // The macro writes as many.
        return Err(Error::internal(definition.name));
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
            let what = if matches!(ty.to_string().as_str(), "usize" | "isize") { "has" } else { "holds `usize` or `isize`," };
            return wrong(format!("{what} 64 bits on the host and 32 in this kernel: use `u32`, or write `#[kernel(index = 64)]`"));
        } else if !ty.is_same_on_device(index_bytes) {
            return wrong("is or holds a tuple that rustc lays out in another order than `repr(C)`: use a `#[repr(C)]` struct".into());
        } else {
            Layout { size: ty.size(), align: ty.align() }
        };
        if (layout.size as u64, layout.align as u64) != (size, align) {
            // The macro's types forbid it.
            return Err(Error::internal(definition.passed_name(index)));
        }
    }
    Ok(())
}
