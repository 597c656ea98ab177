//! `print!`, assertions and traps: calls of the functions that the driver links in, `vprintf` and `__assertfail`.
//! CUDA Programming Guide, "Formatted Output"; PTX Writer's Guide to Interoperability, "System Calls".

use super::code::{AddressOperand, Base, Operand, Reg, RegisterClass, Statement, Symbol};
use super::emitter::{Emitter, ptx};
use super::types::suffix;
use super::words::Word;
use crate::ir::{PrintPart, Type, Value};

/// The functions, as they are declared.
pub(super) const VPRINTF: &str = "(.param .b32 status) vprintf (.param .b64 format, .param .b64 arguments)";
pub(super) const ASSERTFAIL: &str =
    "__assertfail (.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size)";

impl Emitter<'_> {
    /// The arguments stand in local memory as C would pass them to a variadic function.
    pub(super) fn print(&mut self, parts: &[PrintPart], values: &[Value]) {
        let types: Vec<Type> = values.iter().map(|v| self.kernel.ty(*v)).collect();
        let format = self.string(&format_text(parts, &types));
        let mut offset = 0u32;
        for (value, ty) in values.iter().zip(&types) {
            let (reg, suffix, bytes) = self.promoted(*value, *ty);
            offset = offset.next_multiple_of(bytes);
            let at = AddressOperand { base: Base::Symbol(self.print_symbol()), offset: Some(offset as i32) };
            ptx!(self, St.Local.(suffix) at, reg);
            offset += bytes;
        }
        self.print_bytes = self.print_bytes.max(offset);
        self.has_print = true;
        let arguments = self.temp(RegisterClass::Long);
        if values.is_empty() {
            ptx!(self, Mov.U64 arguments, 0);
        } else {
            let symbol = self.print_symbol();
            ptx!(self, Mov.U64 arguments, &symbol);
            ptx!(self, Cvta.Local.U64 arguments, arguments);
        }
        self.scope(&[(Word::B64, "format"), (Word::B64, "arguments"), (Word::B32, "status")]);
        ptx!(self, St.Param.B64 AddressOperand::of("format"), format);
        ptx!(self, St.Param.B64 AddressOperand::of("arguments"), arguments);
        ptx!(self, Call Operand::Arguments(&["status"]), &Symbol::from("vprintf"), Operand::Arguments(&["format", "arguments"]));
        self.push(Statement::Close);
    }

    /// The arguments of `print!` in local memory.
    pub(super) fn print_symbol(&self) -> Symbol {
        format!("{}_print", self.entry).into()
    }

    /// The text of a number in global memory.
    pub(super) fn text_symbol(&self, index: usize) -> Symbol {
        format!("{}_text_{index}", self.entry).into()
    }

    /// Opens a scope for a call.
    fn scope(&mut self, parameters: &[(Word, &'static str)]) {
        self.push(Statement::Open);
        parameters.iter().for_each(|(ty, name)| self.push(Statement::Parameter(*ty, name)));
    }

    /// A value as C's default argument promotions make it: the register, its suffix and bytes. A `bool` is a text.
    fn promoted(&mut self, value: Value, ty: Type) -> (Reg, Word, u32) {
        let reg = self.in_register(value);
        let wide = match ty {
            Type::Bool => return (self.bool_text(reg), Word::U64, 8),
            _ if ty.is_float() => Type::F64,
            Type::I8 | Type::I16 => Type::I32,
            Type::U8 | Type::U16 => Type::U32,
            _ => ty,
        };
        let suffix = suffix(wide);
        if wide == ty {
            return (reg, suffix, wide.bytes());
        }
        let promoted = self.temp_of(wide);
        self.cast(ty, wide, promoted, reg);
        (promoted, suffix, wide.bytes())
    }

    fn bool_text(&mut self, predicate: Reg) -> Reg {
        let (yes, no, text) = (self.string("true"), self.string("false"), self.temp(RegisterClass::Long));
        ptx!(self, Selp.B64 text, yes, no, predicate);
        text
    }

    /// The generic address of a text in global memory.
    fn string(&mut self, text: &str) -> Reg {
        let index = self.strings.iter().position(|known| known == text).unwrap_or_else(|| {
            self.strings.push(text.to_owned());
            self.strings.len() - 1
        });
        let address = self.temp(RegisterClass::Long);
        let symbol = self.text_symbol(index);
        ptx!(self, Mov.U64 address, &symbol);
        ptx!(self, Cvta.Global.U64 address, address);
        address
    }

    /// Goes on only if the condition holds.
    pub(super) fn assert(&mut self, condition: Value, parts: &[PrintPart], values: &[Value]) {
        let condition = self.in_register(condition);
        let holds = self.new_label();
        self.jump_if(condition, true, holds);
        if !values.is_empty() {
            let mut line = parts.to_vec();
            line.push(PrintPart::Text("\n".into()));
            self.print(&line, values);
        }
        // `__assertfail` takes no values; the line before has them.
        let text: String = parts.iter().map(|part| if let PrintPart::Text(text) = part { text.as_str() } else { "…" }).collect();
        self.trap(&text);
        self.label(holds);
    }

    /// Ends the kernel with a message, the file and the line.
    pub(super) fn trap(&mut self, message: &str) {
        let place = self.kernel.locations[self.loc()];
        let file = self.kernel.files.get(usize::from(place.file)).cloned().unwrap_or_default();
        let name = self.kernel.name.clone();
        let (message, file, name) = (self.string(message), self.string(&file), self.string(&name));
        self.has_assert = true;
        let parameters = ["message", "file", "line", "function", "size"];
        self.scope(&parameters.map(|name| (if name == "line" { Word::B32 } else { Word::B64 }, name)));
        ptx!(self, St.Param.B64 AddressOperand::of("message"), message);
        ptx!(self, St.Param.B64 AddressOperand::of("file"), file);
        ptx!(self, St.Param.B32 AddressOperand::of("line"), place.line);
        ptx!(self, St.Param.B64 AddressOperand::of("function"), name);
        ptx!(self, St.Param.B64 AddressOperand::of("size"), 1);
        let arguments = Operand::Arguments(&["message", "file", "line", "function", "size"]);
        ptx!(self, Call & Symbol::from("__assertfail"), arguments);
        self.push(Statement::Close);
        ptx!(self, Trap);
    }
}

/// The format of C's `printf` for these parts.
fn format_text(parts: &[PrintPart], types: &[Type]) -> String {
    let mut types = types.iter();
    let mut text = String::new();
    for part in parts {
        match part {
            PrintPart::Text(part) => text.push_str(&part.replace('%', "%%")),
            PrintPart::Argument(digits) => match (types.next(), digits) {
                (Some(ty), Some(digits)) if ty.is_float() => text.push_str(&format!("%.{digits}f")),
                (Some(ty), _) => text.push_str(conversion(*ty)),
                (None, _) => {}
            },
        }
    }
    text
}

/// How `printf` shows a promoted value. Floats by as many digits as tell them apart, but for trailing zeros.
fn conversion(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "%s",
        Type::F64 => "%.17g",
        Type::F32 => "%.9g",
        Type::F16 => "%.5g",
        Type::BF16 => "%.4g",
        Type::I64 => "%lld",
        Type::U64 => "%llu",
        Type::I8 | Type::I16 | Type::I32 => "%d",
        _ => "%u",
    }
}
