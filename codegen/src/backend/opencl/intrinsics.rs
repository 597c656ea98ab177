//! Rows of the table of intrinsics: their OpenCL C text with the arguments put in.

use super::Writer;
use super::expressions::{AND, Expr, PRIMARY, UNARY};
use super::types::{literal, value_type};
use crate::backend::structured::Values;
use crate::diagnostic::Diagnostic;
use crate::ir::intrinsic::{Call, DeviceForm, Intrinsic};
use crate::ir::{Inst, Scalar, Type, Value};

impl Writer<'_> {
    /// Prints an intrinsic.
    pub(super) fn intrinsic(&mut self, inst: Inst, row: &'static Intrinsic, args: &[Value]) {
        // Copies have arrived here when the next statement runs.
        if row.copy_step().is_some() {
            return;
        }
        if self.is_exchange(row) {
            return self.exchange(inst, row, args);
        }
        let result = self.kernel.insts[inst].results.first().copied();
        let Some(device) = row.device().filter(|d| !d.opencl.is_empty()) else {
            let message = format!("OpenCL C has no `{}`", self.kernel.called(inst));
            self.refuse(inst, Diagnostic::error(self.span_of(inst), message).help("run this kernel on CUDA or on the simulator"));
            return;
        };
        if row.effects.is_pure() && result.is_none_or(|r| self.state.uses[r.0 as usize] == 0) {
            return;
        }
        let receiver = if row.call == Call::Associated { result } else { args.first().copied() };
        let ty = receiver.map_or(Type::U32, |v| self.kernel.ty(v));
        self.ask_for(row, device);
        let types: Vec<Type> = args.iter().map(|v| self.kernel.ty(*v)).collect();
        let mut exprs: Vec<Expr> = args.iter().map(|v| self.take(*v)).collect();
        if let (true, [_, lane]) = (row.effects.is_of_warp(), &mut exprs[..]) {
            *lane = self.modulo_32(args[1], lane);
        }
        let mut expr = Expr::over(filled(device.opencl, ty, &exprs, &types), PRIMARY, &exprs.iter().collect::<Vec<_>>());
        expr.level = if is_call(&expr.text) { PRIMARY } else { 0 };
        match result {
            Some(result) if row.effects.is_pure() => self.define(inst, result, expr),
            Some(result) if self.state.uses[result.0 as usize] > 0 => {
                self.flush_loads();
                self.materialise(result, &expr);
            }
            // A compiler would wonder at `x != 0u;`.
            Some(_) if row.effects.is_of_warp() => {
                self.flush_loads();
                self.line(&format!("(void){};", expr.at(UNARY)));
            }
            _ => {
                self.flush_loads();
                self.line(&format!("{};", expr.text.trim_end_matches(';')));
            }
        }
    }

    /// A lane, or a distance between lanes, as the language counts them.
    fn modulo_32(&self, value: Value, expr: &Expr) -> Expr {
        match self.kernel.constant(value) {
            Some(scalar) => literal(Scalar::u32(scalar.bits as u32 % 32)),
            None => Expr::over(format!("{} & 31u", expr.at(AND)), AND, &[expr]),
        }
    }

    /// Functions that the row's text calls.
    fn ask_for(&mut self, row: &Intrinsic, device: &DeviceForm) {
        if !device.opencl_prelude.is_empty() {
            // A plain `inline` function of C99 has no body where it is not inlined.
            self.prelude.ask(format!("{}'s", row.name), |_| device.opencl_prelude.replace("inline ", "").trim_end().to_owned());
        }
    }
}

/// Whether a text is one call or a parenthesised expression, which no operator around it can tear apart.
fn is_call(text: &str) -> bool {
    let Some(open) = text.find('(') else { return text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') };
    if !text[..open].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return false;
    }
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 && at > open {
            return at + 1 == text.len();
        }
    }
    false
}

/// The row's text with `{0}` … and `{T}` filled in. An argument that stands alone between parentheses and commas needs none of its own.
fn filled(template: &str, ty: Type, args: &[Expr], types: &[Type]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let Some(close) = rest[open..].find('}').map(|n| open + n) else { break };
        let (name, after) = (&rest[open + 1..close], &rest[close + 1..]);
        match name.parse::<usize>().ok().and_then(|n| Some((args.get(n)?, types[n]))) {
            Some((arg, arg_ty)) => {
                let alone = (out.ends_with('(') || out.ends_with(", ")) && (after.starts_with(')') || after.starts_with(','));
                out.push_str(&if alone { arg.typed(arg_ty) } else { arg.primary(arg_ty) });
            }
            None if name == "T" => out.push_str(value_type(ty)),
            None => out.push_str(&rest[open..=close]),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_needs_no_parentheses() {
        for (text, expected) in
            [("fma(a, b)", true), ("(a) + (b)", false), ("f(a) + g(b)", false), ("(a + b)", true), ("(uint)f(a)", false), ("x", true)]
        {
            assert_eq!(is_call(text), expected, "{text}");
        }
    }

    #[test]
    fn arguments_are_kept_together() {
        let sum = Expr::new("a + b", 12);
        assert_eq!(filled("popcount({0})", Type::U32, std::slice::from_ref(&sum), &[Type::U32]), "popcount(a + b)");
        assert_eq!(filled("{0} * 2u", Type::U32, std::slice::from_ref(&sum), &[Type::U32]), "(a + b) * 2u");
        assert_eq!(filled("as_{T}({0})", Type::F32, &[sum], &[Type::U32]), "as_float(a + b)");
    }
}
