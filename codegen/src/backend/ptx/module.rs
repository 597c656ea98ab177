//! What stands around the instructions: the header, the entry's parameters and directives, the declarations of memory.

use super::emitter::Emitter;
use super::registers::Class;
use crate::backend::AbiArgument;
use crate::ir::{MemoryType, ObjectData, ObjectKind, Scalar, Type};
use crate::target::limits::{BLOCK_THREADS, CONSTANT_BYTES, LARGE_PARAMETERS};
use std::fmt::Write;

impl Emitter<'_> {
    /// The arguments in order, and how each is declared.
    pub(super) fn parameters(&mut self) -> (Vec<AbiArgument>, Vec<String>) {
        let (mut abi, mut declared) = (Vec::new(), Vec::new());
        let index_bytes = u64::from(self.kernel.index_type().bytes());
        for (param, object) in self.kernel.params.iter().enumerate() {
            let data = &self.kernel.objects[*object];
            let (bytes, align) = (data.ty.size(&self.kernel.structs), data.ty.align(&self.kernel.structs));
            let symbol = self.symbol(*object);
            match data.kind {
                ObjectKind::Constant => abi.push(AbiArgument::ConstantSymbol { param, symbol, bytes }),
                ObjectKind::Global { .. } => {
                    abi.push(AbiArgument::Buffer { param });
                    declared.push(format!(".param .u64 {symbol}"));
                    if self.lengths.contains(object) {
                        abi.push(AbiArgument::Length { param, bytes: index_bytes });
                        declared.push(format!(".param .u{} {}", index_bytes * 8, self.length_symbol(*object)));
                    }
                }
                ObjectKind::Texture => self.texture_parameters(param, *object, &mut abi, &mut declared),
                // A value of no bytes has no argument.
                _ if bytes == 0 => {}
                _ => {
                    abi.push(AbiArgument::Value { param, bytes, align });
                    declared.push(match &data.ty {
                        MemoryType::Scalar(ty) => format!(".param .{} {symbol}", super::registers::memory_suffix(*ty)),
                        _ => format!(".param .align {align} .b8 {symbol}[{bytes}]"),
                    });
                }
            }
        }
        for object in self.lengths.clone() {
            let data = &self.kernel.objects[object];
            if data.kind == ObjectKind::Shared {
                let element = match &data.ty {
                    MemoryType::Slice(element) => element.size(&self.kernel.structs),
                    other => other.size(&self.kernel.structs),
                };
                abi.push(AbiArgument::DynamicLength { element, bytes: index_bytes });
                declared.push(format!(".param .u{} {}", index_bytes * 8, self.length_symbol(object)));
            }
        }
        self.check_parameters(&abi);
        (abi, declared)
    }

    fn check_parameters(&mut self, abi: &[AbiArgument]) {
        let end = |at: u64, argument: &AbiArgument| match argument {
            AbiArgument::Value { bytes, align, .. } => at.next_multiple_of((*align).max(1)) + bytes,
            AbiArgument::Buffer { .. } | AbiArgument::Texture { .. } => at.next_multiple_of(8) + 8,
            AbiArgument::Length { bytes, .. } | AbiArgument::DynamicLength { bytes, .. } => at.next_multiple_of(*bytes) + bytes,
            AbiArgument::Extent { .. } => at.next_multiple_of(4) + 4,
            _ => at,
        };
        let bytes = abi.iter().fold(0, end);
        let limit = u64::from(self.target.limits.parameter_bytes);
        if bytes > limit {
            let message = format!("the parameters take {bytes} bytes, and {} has {limit}", self.target.name);
            self.refuse_at(crate::ir::Loc(0), message, "pass the data in a buffer, `&Global<T>`".into());
        } else if bytes > u64::from(LARGE_PARAMETERS.above) {
            self.needs(LARGE_PARAMETERS.ptx_version);
        }
    }

    /// Shared and local memory, within the entry; the bytes of shared memory.
    pub(super) fn declare_memory(&mut self, text: &mut String) -> u64 {
        let mut shared = 0u64;
        for (object, data) in self.kernel.objects.iter() {
            let space = match data.kind {
                ObjectKind::Shared => ".shared",
                ObjectKind::Local => ".local",
                _ => continue,
            };
            if matches!(data.ty, MemoryType::Slice(_)) {
                continue;
            }
            // Whole words: narrow atomics work on the word around them. Vector accesses want up to 16 bytes of alignment.
            let (bytes, align) = (self.bytes(data).max(1).next_multiple_of(4), self.alignment(data));
            let _ = writeln!(text, "\t{space} .align {align} .b8 {}[{bytes}];", self.symbol(object));
            if data.kind == ObjectKind::Shared {
                shared = shared.next_multiple_of(align) + bytes;
                if shared > u64::from(self.target.limits.shared_per_block) {
                    let limit = self.target.limits.shared_per_block;
                    let message = format!("shared arrays up to `{}` take {shared} bytes, and a block can have {limit}", data.name);
                    self.refuse_at(data.loc, message, "make an array smaller, or `#[shared(dynamic)]`, which can be larger".into());
                    return shared;
                }
            }
        }
        if self.has_print {
            let _ = writeln!(text, "\t.local .align 8 .b8 {}_print[{}];", self.entry, self.print_bytes.max(8));
        }
        shared
    }

    fn bytes(&self, data: &ObjectData) -> u64 {
        data.ty.size(&self.kernel.structs)
    }

    /// The alignment of an array: its own, and that of a vector access where it is large enough for one.
    fn alignment(&self, data: &ObjectData) -> u64 {
        let own = data.ty.align(&self.kernel.structs).max(4);
        if matches!(data.ty, MemoryType::Slice(_)) || self.bytes(data) >= 16 {
            own.max(16)
        } else {
            own.max(self.bytes(data).next_power_of_two().min(16))
        }
    }

    /// The module up to the entry's body: version, functions that the driver links, texts, constants, dynamic shared memory.
    pub(super) fn module(&mut self) -> String {
        let mut text = String::with_capacity(512);
        let constants = self.constants();
        let version = self.version;
        let _ = writeln!(text, ".version {}.{}\n.target {}\n.address_size 64\n", version / 10, version % 10, self.target.name);
        if self.has_print {
            text.push_str(".extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 arguments);\n");
        }
        if self.has_assert {
            text.push_str(
                ".extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size);\n",
            );
        }
        for (n, string) in self.strings.iter().enumerate() {
            let bytes: Vec<String> = string.bytes().chain([0]).map(|b| b.to_string()).collect();
            let _ = writeln!(text, ".global .align 1 .b8 {}_text_{n}[{}] = {{{}}};", self.entry, bytes.len(), bytes.join(", "));
        }
        text.push_str(&constants);
        for (object, data) in self.kernel.objects.iter() {
            if data.kind == ObjectKind::Shared && matches!(data.ty, MemoryType::Slice(_)) {
                let _ = writeln!(text, ".extern .shared .align 16 .b8 {}[];", self.symbol(object));
            }
        }
        text
    }

    fn constants(&mut self) -> String {
        let mut text = String::new();
        let mut total = 0u64;
        for (object, data) in self.kernel.objects.iter() {
            let symbol = match data.kind {
                ObjectKind::Constant | ObjectKind::Table(_) => self.symbol(object),
                _ => continue,
            };
            let (bytes, align) = (self.bytes(data), self.alignment(data));
            total += bytes;
            if total > u64::from(CONSTANT_BYTES) {
                let message = format!("constants up to `{}` take {total} bytes, and there are {CONSTANT_BYTES}", data.name);
                self.refuse_at(data.loc, message, "pass the data in a buffer, `&Global<T>`".into());
                return text;
            }
            let _ = match &data.kind {
                ObjectKind::Table(scalars) => writeln!(text, ".const .align {align} {};", table(&symbol, scalars)),
                _ => writeln!(text, ".visible .const .align {align} .b8 {symbol}[{}];", bytes.max(1)),
            };
        }
        text
    }

    /// `.reqntid` and its like.
    pub(super) fn directives(&self) -> String {
        let options = &self.kernel.options;
        let mut text = match options.block {
            Some([x, y, z]) => format!(".reqntid {x}, {y}, {z}\n"),
            // What it can at most be launched with.
            None => format!(".maxntid {BLOCK_THREADS}, 1, 1\n"),
        };
        if let Some(blocks) = options.min_blocks {
            let _ = writeln!(text, ".minnctapersm {blocks}");
        }
        if let Some(registers) = options.max_registers {
            let _ = writeln!(text, ".maxnreg {registers}");
        }
        text
    }

    pub(super) fn declare_registers(&self, text: &mut String) {
        for (class, prefix, ty) in Class::ALL {
            let count = self.counts[class as usize];
            if count > 1 {
                let _ = writeln!(text, "\t.reg .{ty}\t{prefix}<{count}>;");
            }
        }
    }

    /// `.file` for each source file that a location names.
    pub(super) fn files(&self) -> String {
        let mut text = String::new();
        if self.text.contains("\t.loc\t") {
            for (n, file) in self.kernel.files.iter().enumerate() {
                let _ = writeln!(text, "\t.file\t{} \"{}\"", n + 1, file.replace('\\', "/").replace('"', "'"));
            }
        }
        text
    }
}

/// A constant table as an initialised array, by its bits.
fn table(symbol: &str, scalars: &[Scalar]) -> String {
    let ty = scalars.first().map_or(Type::U8, |s| s.ty);
    let bits: Vec<String> = scalars.iter().map(|s| format!("0x{:X}", s.bits)).collect();
    format!(".b{} {symbol}[{}] = {{{}}}", ty.bytes() * 8, scalars.len().max(1), bits.join(", "))
}

/// The name of an entry: PTX takes Rust's names but for letters beyond ASCII, and for the one constant that it predefines.
pub(super) fn entry_name(name: &str) -> String {
    let mut entry: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if entry == "WARP_SZ" || entry.is_empty() || entry == "_" || entry.starts_with(|c: char| c.is_ascii_digit()) {
        entry.insert_str(0, "k_");
    }
    // These names are the module's own.
    if matches!(entry.as_str(), "vprintf" | "__assertfail") {
        entry.push('_');
    }
    entry
}
