//! Pure instructions and loads, as expressions.

use super::Printer;
use crate::ir::{Access, AtomicOp, Axis, BinaryOp, CompareOp, MemoryType, Op, PrintPart, Scalar, Special, Step, Type, UnaryOp, Value};

/// A constant as Rust writes it, its type where it cannot be left out.
pub(super) fn literal(scalar: Scalar) -> String {
    match scalar.ty {
        Type::Bool => scalar.to_string(),
        Type::F32 | Type::F64 if scalar.as_f64().is_finite() => {
            if scalar.ty == Type::F64 {
                format!("{scalar}f64")
            } else {
                scalar.to_string()
            }
        }
        Type::F16 | Type::BF16 if scalar.as_f64().is_finite() => format!("{}::from_f32({:?})", scalar.ty, scalar.as_f64()),
        ty if ty.is_float() => format!("{ty}::from_bits({:#x})", scalar.bits),
        Type::U32 | Type::I32 => scalar.to_string(),
        ty => format!("{scalar}{ty}"),
    }
}

fn binary_symbol(op: BinaryOp) -> Option<&'static str> {
    match op {
        BinaryOp::Add => Some("+"),
        BinaryOp::Sub => Some("-"),
        BinaryOp::Mul => Some("*"),
        BinaryOp::Div => Some("/"),
        BinaryOp::Rem => Some("%"),
        BinaryOp::And => Some("&"),
        BinaryOp::Or => Some("|"),
        BinaryOp::Xor => Some("^"),
        BinaryOp::Shl => Some("<<"),
        BinaryOp::Shr => Some(">>"),
        BinaryOp::Min | BinaryOp::Max => None,
    }
}

fn compare_symbol(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}

fn special(special: Special, axis: Axis) -> String {
    match special {
        Special::LaneId | Special::WarpId => format!("{}()", special.word()),
        _ => format!("{}().{} as u32", special.word(), axis.word()),
    }
}

/// Puts brackets round what binds more loosely than any operator round it could.
fn tight(text: &str) -> String {
    let is_simple = text.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
    let is_closed = text.ends_with([')', ']']) && balanced_tail(text);
    if is_simple || is_closed { text.to_owned() } else { format!("({text})") }
}

/// Whether everything outside brackets is one name or path: a call, an index, a bracketed expression.
fn balanced_tail(text: &str) -> bool {
    let mut depth = 0i32;
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ' ' | '-' | '!' if depth == 0 => return false,
            _ => {}
        }
    }
    depth == 0
}

impl Printer<'_> {
    /// A value where it is used.
    pub(super) fn value(&self, value: Value) -> String {
        match &self.inlined[value.0 as usize] {
            Some(text) => text.clone(),
            None => self.name(value).to_owned(),
        }
    }

    fn operand(&self, value: Value) -> String {
        tight(&self.value(value))
    }

    pub(super) fn list(&self, values: &[Value]) -> String {
        values.iter().map(|value| self.value(*value)).collect::<Vec<_>>().join(", ")
    }

    /// A place in memory.
    pub(super) fn place(&self, access: &Access) -> String {
        let data = &self.kernel.objects[access.object];
        let mut text = self.names.object(access.object).to_owned();
        let mut ty = &data.ty;
        for step in &access.path {
            match (step, ty) {
                (Step::Index(index), MemoryType::Array(element, _) | MemoryType::Slice(element)) => {
                    text = format!("{text}[{}]", self.value(*index));
                    ty = element;
                }
                (Step::Field(field), MemoryType::Struct(id)) => {
                    let field = &self.kernel.structs[*id].fields[*field as usize];
                    text = format!("{text}.{}", field.name);
                    ty = &field.ty;
                }
                _ => text.push_str(".?"),
            }
        }
        text
    }

    /// The object and the last index of a place: what vector accesses and atomics name.
    fn split_place(&self, access: &Access) -> (String, String) {
        match access.path.split_last() {
            Some((Step::Index(index), rest)) => {
                let base = Access { object: access.object, path: rest.to_vec() };
                (self.place(&base), self.value(*index))
            }
            _ => (self.place(access), "0".to_owned()),
        }
    }

    pub(super) fn vector_store(&self, access: &Access, values: &[Value]) -> String {
        let (base, index) = self.split_place(access);
        format!("{base}.store::<{}>({index}, [{}])", values.len(), self.list(values))
    }

    pub(super) fn message(&self, parts: &[PrintPart]) -> String {
        let one = |part: &PrintPart| match part {
            PrintPart::Text(text) => text.replace('{', "{{").replace('}', "}}").escape_debug().to_string(),
            PrintPart::Argument(None) => "{}".to_owned(),
            PrintPart::Argument(Some(digits)) => format!("{{:.{digits}}}"),
        };
        format!("\"{}\"", parts.iter().map(one).collect::<String>())
    }

    /// An instruction as an expression; `None` for statements and control flow.
    pub(super) fn expression(&self, op: &Op, results: &[Value]) -> Option<String> {
        let ty = results.first().map(|value| self.kernel.ty(*value));
        Some(match op {
            Op::Const(scalar) => literal(*scalar),
            Op::Special(which, axis) => special(*which, *axis),
            Op::Unary(UnaryOp::Neg, a) => format!("-{}", self.operand(*a)),
            Op::Unary(UnaryOp::Not, a) => format!("!{}", self.operand(*a)),
            Op::Unary(UnaryOp::Abs, a) => format!("{}.abs()", self.operand(*a)),
            Op::Binary(op, a, b) => match binary_symbol(*op) {
                Some(symbol) => format!("{} {symbol} {}", self.operand(*a), self.operand(*b)),
                None => format!("{}.{}({})", self.operand(*a), op.word(), self.value(*b)),
            },
            Op::MulAdd(a, b, c) => format!("{}.mul_add({}, {})", self.operand(*a), self.value(*b), self.value(*c)),
            Op::Compare(op, a, b) => format!("{} {} {}", self.operand(*a), compare_symbol(*op), self.operand(*b)),
            Op::Select(c, a, b) => format!("if {} {{ {} }} else {{ {} }}", self.value(*c), self.value(*a), self.value(*b)),
            Op::Cast(a) => format!("{} as {}", self.operand(*a), ty?),
            Op::Bitcast(a) if ty?.is_float() => format!("{}::from_bits({})", ty?, self.value(*a)),
            Op::Bitcast(a) => format!("{}.to_bits()", self.operand(*a)),
            Op::Len(object) => format!("{}.len()", self.names.object(*object)),
            Op::Load(access) if results.len() > 1 => {
                let (base, index) = self.split_place(access);
                format!("{base}.load::<{}>({index})", results.len())
            }
            Op::Load(access) => self.place(access),
            Op::Atomic(op, access, operands) => {
                let (base, index) = self.split_place(access);
                let name = if *op == AtomicOp::CompareExchange { "atomic_cas".to_owned() } else { format!("atomic_{}", op.word()) };
                format!("{base}.{name}({index}, {})", self.list(operands))
            }
            Op::Intrinsic(row, args) => match (row.row().call, args.split_first()) {
                (crate::intrinsics::Call::Method, Some((first, rest))) => {
                    format!("{}.{}({})", self.operand(*first), row.row().name, self.list(rest))
                }
                (crate::intrinsics::Call::Associated, _) => format!("{}::{}({})", ty?, row.row().name, self.list(args)),
                _ => format!("{}({})", row.row().name, self.list(args)),
            },
            _ => return None,
        })
    }
}
