//! Rust: a kernel as a person would write it, device functions inlined and annotations done. For reading; `emit --format rust`.
//!
//! Joins and carried values become `let mut` variables that the branches and iterations assign; everything used once is written
//! where it is used. What is printed means the same as the IR, in the kernel language, but for two liberties that reading wants:
//! generics are filled in, and `usize` is written with its width.

mod expression;
mod names;
mod statement;

use crate::ir::{Block, Inst, Kernel, MemoryType, ObjectData, ObjectKind, Value};
use names::Names;
use std::fmt::Write;

/// Prints a kernel of stage `Built`, `Scheduled` or `Legal`.
pub fn emit_rust(kernel: &Kernel) -> String {
    let mut printer = Printer {
        kernel,
        names: Names::new(kernel),
        uses: kernel.use_counts(),
        inlined: vec![None; kernel.values.len()],
        targets: Vec::new(),
        text: String::new(),
        level: 0,
    };
    printer.structs();
    printer.signature();
    printer.level = 1;
    printer.memory();
    printer.block(kernel.body, None);
    printer.text.push_str("}\n");
    printer.text
}

/// A region that exits name, and the variables its results and carried values live in.
struct Target {
    inst: Inst,
    label: String,
    results: Vec<String>,
    carried: Vec<String>,
    is_loop: bool,
}

struct Printer<'k> {
    kernel: &'k Kernel,
    names: Names,
    uses: Vec<u32>,
    /// Values written where they are used.
    inlined: Vec<Option<String>>,
    targets: Vec<Target>,
    text: String,
    level: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let indent = "    ".repeat(self.level);
        let _ = writeln!(self.text, "{indent}{text}");
    }

    fn memory_type(&self, ty: &MemoryType) -> String {
        match ty {
            MemoryType::Scalar(ty) => ty.to_string(),
            MemoryType::Array(element, n) => format!("[{}; {n}]", self.memory_type(element)),
            MemoryType::Slice(element) => format!("[{}]", self.memory_type(element)),
            MemoryType::Struct(id) => self.kernel.structs[*id].name.clone(),
        }
    }

    fn structs(&mut self) {
        for data in self.kernel.structs.values() {
            let mut text = format!("#[repr(C)]\nstruct {} {{\n", data.name);
            for field in &data.fields {
                let _ = writeln!(text, "    {}: {},", field.name, self.memory_type(&field.ty));
            }
            self.text.push_str(&text);
            self.text.push_str("}\n\n");
        }
    }

    fn attribute(&self) -> String {
        let options = &self.kernel.options;
        let mut arguments = Vec::new();
        match options.block {
            Some([x, 1, 1]) => arguments.push(format!("block = {x}")),
            Some([x, y, 1]) => arguments.push(format!("block = ({x}, {y})")),
            Some([x, y, z]) => arguments.push(format!("block = ({x}, {y}, {z})")),
            None => {}
        }
        arguments.extend(options.min_blocks.map(|n| format!("min_blocks = {n}")));
        arguments.extend(options.max_registers.map(|n| format!("max_registers = {n}")));
        if options.index == crate::syntax::IndexWidth::Bits64 {
            arguments.push("index = 64".to_owned());
        }
        if options.math == crate::syntax::Math::Fast {
            arguments.push("math = fast".to_owned());
        }
        if !options.contract {
            arguments.push("contract = false".to_owned());
        }
        if arguments.is_empty() { "#[kernel]".to_owned() } else { format!("#[kernel({})]", arguments.join(", ")) }
    }

    fn signature(&mut self) {
        let parameter = |data: &ObjectData| {
            let ty = match &data.ty {
                MemoryType::Slice(element) => self.memory_type(element),
                other => self.memory_type(other),
            };
            match data.kind {
                ObjectKind::Global { writable: true } => format!("{}: &mut Global<{ty}>", data.name),
                ObjectKind::Global { writable: false } => format!("{}: &Global<{ty}>", data.name),
                ObjectKind::Constant => format!("{}: &Constant<{ty}>", data.name),
                _ => format!("{}: {ty}", data.name),
            }
        };
        let parameters: Vec<String> = self.kernel.params.iter().map(|object| parameter(&self.kernel.objects[*object])).collect();
        let attribute = self.attribute();
        let _ = writeln!(self.text, "{attribute}\nfn {}({}) {{", self.kernel.name, parameters.join(", "));
    }

    /// Shared and local arrays, and tables.
    fn memory(&mut self) {
        for (object, data) in self.kernel.objects.iter() {
            let name = self.names.object(object).to_owned();
            let ty = self.memory_type(&data.ty);
            match &data.kind {
                ObjectKind::Shared if matches!(data.ty, MemoryType::Slice(_)) => {
                    self.line(&format!("#[shared(dynamic)] let mut {name}: {ty};"));
                }
                ObjectKind::Shared => self.line(&format!("#[shared] let mut {name}: {ty};")),
                ObjectKind::Local => self.line(&format!("let mut {name}: {ty};")),
                ObjectKind::Table(values) => {
                    let values: Vec<String> = values.iter().map(|value| expression::literal(*value)).collect();
                    self.line(&format!("const {name}: {ty} = [{}];", values.join(", ")));
                }
                ObjectKind::Value | ObjectKind::Global { .. } | ObjectKind::Constant => {}
            }
        }
    }

    fn name(&self, value: Value) -> &str {
        self.names.value(value)
    }

    /// The instructions of a block; `results`: the variables its `Yield` assigns.
    fn block(&mut self, block: Block, results: Option<&[String]>) {
        for inst in &self.kernel.blocks[block].insts {
            self.statement(*inst, results);
        }
    }
}
