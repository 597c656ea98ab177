//! The kernel's parameters as OpenCL C declares them, and the list that tells the runtime what to pass.
//!
//! The kernel's own parameters come first, in the host's order; then, only where the body asks for them, lengths of buffers,
//! dynamic shared memory and its length, exchange memory of warp intrinsics, and the fault buffer.

use super::memory::{pointer, qualifier};
use super::types::memory_type;
use super::{Features, Writer};
use crate::backend::AbiArgument;
use crate::ir::{Axis, Compute, Inst, MemoryType, Object, ObjectKind, Op, Special};

impl Writer<'_> {
    /// Gives names to objects, struct types, fields and lengths, before anything is printed.
    pub(super) fn name_everything(&mut self) {
        let kernel = self.kernel;
        self.entry = self.names.name(&kernel.name);
        for ty in kernel.structs.values() {
            let name = self.names.name(&ty.name);
            self.struct_names.push(name);
            let mut fields = super::names::Namer::default();
            self.field_names.push(ty.fields.iter().map(|f| fields.name(&f.name)).collect());
        }
        for data in kernel.objects.values() {
            let name = self.names.name(&data.name);
            self.object_names.push(name);
        }
        let mut lengths: Vec<Object> = Vec::new();
        kernel.for_each_inst(|kernel, _, inst| {
            if let Op::Compute(Compute::Len(object)) = kernel.insts[inst].op {
                lengths.push(object);
            }
        });
        lengths.sort_unstable();
        lengths.dedup();
        for object in lengths {
            let name = self.names.name(&format!("{}_len", kernel.objects[object].name));
            self.length_names.push((object, name));
        }
        self.name_samplers();
        if self.asks_grid() {
            self.grid_names = ["grid_x", "grid_y", "grid_z"].map(|name| self.names.name(name));
        }
        self.fault_name = self.names.name("fault");
        self.exchange_name = self.names.name("exchange");
        let is_vector = |object: &Object| !self.vector_alignment(*object).is_empty();
        let dynamic =
            self.dynamic_shared().filter(|_| kernel.objects.keys().filter(|object| self.is_dynamic(*object)).any(|o| is_vector(&o)));
        self.vectors_name = dynamic.map(|object| self.names.name(&format!("{}_vectors", kernel.objects[object].name)));
    }

    /// The declarations of the parameters, and what the runtime passes for each. Called when the bodies of all forms are known, and with what they
    /// need: the forms take the same. Array parameters add a struct that wraps them to `typedefs`.
    pub(super) fn signature(&mut self, passed: Features, typedefs: &mut String) -> (Vec<String>, Vec<AbiArgument>) {
        let kernel = self.kernel;
        let (mut texts, mut abi) = (Vec::new(), Vec::new());
        for (param, object) in kernel.params.iter().enumerate() {
            let data = &kernel.objects[*object];
            let name = &self.object_names[object.0 as usize];
            match (&data.kind, &data.ty) {
                (ObjectKind::Value, ty) => {
                    texts.push(self.value_parameter(*object, typedefs));
                    abi.push(AbiArgument::Value { param, bytes: ty.size(&kernel.structs), align: ty.align(&kernel.structs) });
                }
                (ObjectKind::Texture, _) => self.texture_parameter(param, *object, &mut texts, &mut abi),
                (kind, ty) => {
                    let element = if let MemoryType::Array(element, _) | MemoryType::Slice(element) = ty { element } else { ty };
                    // Nobody writes a read-only buffer while the kernel runs, so nothing aliases it.
                    let restrict = if matches!(kind, ObjectKind::Global { writable: false }) { "restrict " } else { "" };
                    texts.push(pointer(qualifier(kind), &self.ordered_declarator(*object, element), &format!("{restrict}{name}")));
                    abi.push(AbiArgument::Buffer { param });
                }
            }
        }
        self.implicit_arguments(passed, &mut texts, &mut abi);
        (texts, abi)
    }

    /// Whether the kernel asks for the grid that was asked for.
    fn asks_grid(&self) -> bool {
        let asks = |inst: Inst| matches!(self.kernel.insts[inst].op, Op::Compute(Compute::Special(Special::AskedGrid, _)));
        self.kernel.insts_in(self.kernel.body).any(asks)
    }

    fn value_parameter(&mut self, object: Object, typedefs: &mut String) -> String {
        let name = self.object_names[object.0 as usize].clone();
        let declarator = self.declarator(&self.kernel.objects[object].ty);
        if declarator.extents.is_empty() {
            return format!("const {} {name}", declarator.base);
        }
        // C passes no array by value, but a struct that holds one.
        let wrapper = self.names.name(&format!("{name}_array"));
        typedefs.push_str(&format!("typedef struct {{\n    {} e{};\n}} {wrapper};\n\n", declarator.base, declarator.extents));
        format!("const {wrapper} {name}")
    }

    fn implicit_arguments(&self, passed: Features, texts: &mut Vec<String>, abi: &mut Vec<AbiArgument>) {
        let kernel = self.kernel;
        let index = kernel.index_type();
        let bytes = u64::from(index.bytes());
        for (object, name) in &self.length_names {
            if let Some(param) = kernel.params.iter().position(|p| p == object) {
                texts.push(format!("const {} {name}", memory_type(index)));
                abi.push(AbiArgument::Length { param, bytes });
            }
        }
        if let Some(object) = self.dynamic_shared() {
            // NVIDIA's devices align such an argument as what it points to.
            texts.push(match &self.vectors_name {
                Some(name) => format!("__local uint4 *{name}"),
                None => {
                    let declarator = self.ordered_declarator(object, &kernel.objects[object].ty);
                    pointer("__local", &declarator, &self.object_names[object.0 as usize])
                }
            });
            abi.push(AbiArgument::DynamicShared);
        }
        for (object, name) in &self.length_names {
            if kernel.objects[*object].kind == ObjectKind::Shared {
                let element = if let MemoryType::Slice(element) = &kernel.objects[*object].ty { element.size(&kernel.structs) } else { 1 };
                texts.push(format!("const {} {name}", memory_type(index)));
                abi.push(AbiArgument::DynamicLength { element, bytes });
            }
        }
        if self.asks_grid() {
            for (axis, name) in [Axis::X, Axis::Y, Axis::Z].into_iter().zip(&self.grid_names) {
                texts.push(format!("const uint {name}"));
                abi.push(AbiArgument::AskedGrid { axis });
            }
        }
        if passed.exchange && kernel.options.block.is_none() {
            texts.push(format!("__local uint *{}", self.exchange_name));
            abi.push(AbiArgument::Exchange { bytes: 4 });
        }
        if passed.fault {
            texts.push(format!("__global uint *{}", self.fault_name));
            abi.push(AbiArgument::Fault);
        }
    }
}
