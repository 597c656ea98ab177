//! The functions that a text needs before its kernel: only those it calls, in the order it first asks, what they call before them.

use super::types::value_type;
use crate::ir::{AtomicOp, BinaryOp, Type};
use std::cell::RefCell;

/// Functions asked for so far.
#[derive(Default)]
pub(super) struct Prelude {
    functions: RefCell<Vec<(String, String)>>,
}

impl Prelude {
    /// All of them: name and text, what a function calls before it.
    pub(super) fn into_functions(self) -> Vec<(String, String)> {
        self.functions.into_inner()
    }

    /// Asks for a function; its text is made the first time.
    pub(super) fn ask(&self, name: String, text: impl FnOnce(&str) -> String) -> String {
        if !self.functions.borrow().iter().any(|(known, _)| *known == name) {
            let text = text(&name);
            self.functions.borrow_mut().push((name.clone(), text));
        }
        name
    }

    /// `a / b` or `a % b` on `int` or `long` with `MIN / -1` wrapping.
    pub(super) fn division(&self, op: BinaryOp, ty: Type) -> String {
        let (t, u, zero) = if ty == Type::I32 { ("int", "uint", "0u") } else { ("long", "ulong", "0ul") };
        let (word, sign, by_minus_one) =
            if op == BinaryOp::Div { ("div", "/", format!("({t})({zero} - ({u})a)")) } else { ("rem", "%", "0".into()) };
        self.ask(format!("ww_{word}_{ty}"), |name| {
            format!("{t} {name}({t} a, {t} b) {{\n    return b == -1 ? {by_minus_one} : a {sign} b;\n}}")
        })
    }

    /// `|a|` on `int` or `long`, wrapping.
    pub(super) fn absolute(&self, ty: Type) -> String {
        let (t, u, zero) = if ty == Type::I32 { ("int", "uint", "0u") } else { ("long", "ulong", "0ul") };
        self.ask(format!("ww_abs_{ty}"), |name| format!("{t} {name}({t} a) {{\n    return ({t})(a < 0 ? {zero} - ({u})a : ({u})a);\n}}"))
    }

    /// The thread's number in its block.
    pub(super) fn linear_thread(&self) -> String {
        self.ask("ww_linear_thread".into(), |name| {
            format!(
                "uint {name}(void) {{\n    return ((uint)get_local_id(2) * (uint)get_local_size(1) + (uint)get_local_id(1)) * (uint)get_local_size(0)\n           + (uint)get_local_id(0);\n}}"
            )
        })
    }

    /// `f16` bits → `float`.
    pub(super) fn half_to_float(&self) -> String {
        self.ask("ww_f16_to_f32".into(), |name| format!("float {name}(ushort bits) {{\n    return vload_half(0, (const half *)&bits);\n}}"))
    }

    /// `float` or `double` → `f16` bits.
    pub(super) fn float_to_half(&self, from: Type) -> String {
        let rounding = self.ask("ww_f32_to_f16".into(), |name| {
            format!("ushort {name}(float x) {{\n    ushort bits;\n    vstore_half_rte(x, 0, (half *)&bits);\n    return bits;\n}}")
        });
        if from == Type::F32 { rounding } else { self.by_odd_rounding(from, Type::F16, &rounding) }
    }

    /// To a narrow float through a `float` rounded to odd: truncated, the last bit set if that lost anything.
    fn by_odd_rounding(&self, from: Type, to: Type, rounding: &str) -> String {
        let t = value_type(from);
        self.ask(format!("ww_{from}_to_{to}"), |name| {
            format!(
                "ushort {name}({t} x) {{\n    const float cut = convert_float_rtz(x);\n    \
                 return {rounding}(({t})cut == x ? cut : as_float(as_uint(cut) | 1u));\n}}"
            )
        })
    }

    /// Anything that `float` may not hold exactly, and `float` → `bf16` bits.
    pub(super) fn to_bfloat(&self, from: Type) -> String {
        let rounding = self.ask("ww_f32_to_bf16".into(), |name| {
            format!(
                "ushort {name}(float x) {{\n    const uint bits = as_uint(x);\n    if ((bits & 0x7fffffffu) > 0x7f800000u) {{\n        return (ushort)(bits >> 16) | 0x40;\n    }}\n    return (ushort)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);\n}}"
            )
        });
        if from == Type::F32 { rounding } else { self.by_odd_rounding(from, Type::BF16, &rounding) }
    }

    /// `float` or `double` → integer, saturating, NaN → 0.
    pub(super) fn float_to_int(&self, from: Type, to: Type) -> String {
        let (f, t) = (value_type(from), value_type(to));
        self.ask(format!("ww_{from}_to_{to}"), |name| format!("{t} {name}({f} x) {{\n    return x == x ? convert_{t}_sat(x) : ({t})0;\n}}"))
    }

    /// An atomic on a 4- or 8-byte scalar that no builtin does: by compare and exchange. `space` is `__global` or `__local`.
    pub(super) fn atomic_by_exchange(&self, op: AtomicOp, ty: Type, space: &str) -> String {
        let (t, word, exchange, zero) = if ty.bytes() == 4 {
            (value_type(ty), "uint", "atomic_cmpxchg", "0u")
        } else {
            (value_type(ty), "ulong", "atom_cmpxchg", "0ul")
        };
        let next = match op {
            AtomicOp::Add => format!("as_{t}(expected) + value"),
            AtomicOp::Sub => format!("as_{t}(expected) - value"),
            AtomicOp::Min => format!("fmin(as_{t}(expected), value)"),
            AtomicOp::Max
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor
            | AtomicOp::Exchange
            | AtomicOp::CompareExchange
            | AtomicOp::Load
            | AtomicOp::Store => {
                format!("fmax(as_{t}(expected), value)")
            }
        };
        self.ask(format!("ww_atomic_{}_{ty}{space}", op.word()), |name| {
            format!(
                "{t} {name}(volatile {space} {t} *place, {t} value) {{\n    volatile {space} {word} *bits = (volatile {space} {word} *)place;\n    {word} found = {exchange}(bits, {zero}, {zero});\n    {word} expected;\n    do {{\n        expected = found;\n        found = {exchange}(bits, expected, as_{word}({next}));\n    }} while (found != expected);\n    return as_{t}(found);\n}}"
            )
        })
    }

    /// Writes the first fault of the launch into the fault buffer.
    pub(super) fn fault(&self) -> String {
        self.ask("ww_fault".into(), |name| {
            format!(
                "void {name}(volatile __global uint *fault, uint message, uint line) {{\n    const ulong thread = ((ulong)get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);\n    if (atomic_cmpxchg(fault, 0u, message) == 0u) {{\n        fault[1] = line;\n        fault[2] = (uint)thread;\n        fault[3] = (uint)(thread >> 32);\n    }}\n}}"
            )
        })
    }
}
