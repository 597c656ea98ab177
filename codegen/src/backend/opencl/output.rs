//! What leaves the kernel for a person: `print!` as `printf`, assertions and traps through the fault buffer.

use super::Writer;
use super::expressions::Expr;
use crate::backend::structured::Values;
use crate::ir::{Inst, PrintPart, Type, Value};

impl Writer<'_> {
    /// `print!`. Floats print by `%g`, or `%.Nf` where digits are asked for; a `bool` prints as 0 or 1.
    pub(super) fn print(&mut self, parts: &[PrintPart], values: &[Value]) {
        let mut format = String::new();
        let mut arguments = Vec::new();
        let mut values = values.iter();
        for part in parts {
            match part {
                PrintPart::Text(text) => format.push_str(&escaped(text).replace('%', "%%")),
                PrintPart::Argument(digits) => {
                    let Some(value) = values.next() else { continue };
                    let ty = self.kernel.ty(*value);
                    let expr = self.take(*value);
                    let (conversion, expr) = self.printable(&expr, ty, *digits);
                    format.push_str(&conversion);
                    arguments.push(expr.typed(ty));
                }
            }
        }
        self.flush_loads();
        let arguments: String = arguments.iter().map(|a| format!(", {a}")).collect();
        self.line(&format!("printf(\"{format}\"{arguments});"));
    }

    fn printable(&mut self, expr: &Expr, ty: Type, digits: Option<u8>) -> (String, Expr) {
        let float = digits.map_or("%g".into(), |n| format!("%.{n}f"));
        match ty {
            Type::F16 | Type::BF16 => (float, self.cast_expr(expr, ty, Type::F32)),
            Type::F32 | Type::F64 => (float, expr.clone()),
            Type::I64 => ("%ld".into(), expr.clone()),
            Type::U64 => ("%lu".into(), expr.clone()),
            Type::U32 => ("%u".into(), expr.clone()),
            Type::Bool | Type::I8 | Type::I16 | Type::I32 | Type::U8 | Type::U16 | Type::E4M3 | Type::E5M2 | Type::Ptr(_) => {
                ("%d".into(), expr.clone())
            }
        }
    }

    /// `assert!`.
    pub(super) fn assert(&mut self, inst: Inst, condition: Value, parts: &[PrintPart]) {
        let condition = self.take(condition);
        self.flush_loads();
        let message: String = parts
            .iter()
            .map(|part| match part {
                PrintPart::Text(text) => text.as_str(),
                // A fault carries its line and its thread, no values.
                PrintPart::Argument(_) => "…",
            })
            .collect();
        // Taken apart, a kernel leaves by a `return` of its own, or the mask.
        if self.is_taken_apart {
            return self.report(inst, &message);
        }
        self.line(&format!("if ({}) {{", condition.negation().0));
        self.state.level += 1;
        self.fault(inst, &message);
        self.state.level -= 1;
        self.line("}");
    }

    /// Notes the fault and ends the thread.
    pub(super) fn fault(&mut self, inst: Inst, message: &str) {
        self.report(inst, message);
        self.line("return;");
    }

    /// Notes the fault.
    fn report(&mut self, inst: Inst, message: &str) {
        let index = self.faults.iter().position(|m| m == message).unwrap_or_else(|| {
            self.faults.push(message.to_owned());
            self.faults.len() - 1
        });
        self.features.fault = true;
        let function = self.prelude.fault();
        let line = self.kernel.location(inst).line;
        self.line(&format!("{function}({}, {}u, {line}u);", self.fault_name, index + 1));
    }
}

/// Text inside a string literal of C. Bytes outside ASCII go as octal escapes, which end after three digits.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'"' | b'\\' => {
                out.push('\\');
                out.push(byte.into());
            }
            // `??` would begin a trigraph.
            b'?' => out.push_str("\\?"),
            0x20..=0x7e => out.push(byte.into()),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out
}
