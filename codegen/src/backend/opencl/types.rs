//! Types and constants as OpenCL C writes them.
//!
//! | IR | value | memory |
//! |---|---|---|
//! | `bool` | `bool` | `uchar`, 0 or 1: a `bool` may be neither argument nor array element |
//! | `i8 … u64` | `char … ulong` | the same |
//! | `e4m3` `e5m2` | `uchar`: the bits | the same |
//! | `f16` `bf16` | `ushort`: the bits | the same. `half` is a storage type without `cl_khr_fp16`, and bits move NaNs unharmed |
//! | `f32` `f64` | `float` `double` | the same |

use super::Writer;
use super::expressions::{Expr, PRIMARY, UNARY};
use crate::ir::{MemoryType, Scalar, StructId, Type};
use std::fmt::Write;

/// The type of a value.
pub(super) fn value_type(ty: Type) -> &'static str {
    if ty == Type::Bool { "bool" } else { memory_type(ty) }
}

/// The type of a scalar in memory, an argument included.
pub(super) fn memory_type(ty: Type) -> &'static str {
    match ty {
        Type::Bool | Type::U8 | Type::E4M3 | Type::E5M2 => "uchar",
        Type::I8 => "char",
        Type::I16 => "short",
        Type::I32 => "int",
        Type::I64 => "long",
        Type::U16 | Type::F16 | Type::BF16 => "ushort",
        Type::U32 | Type::Ptr(_) => "uint",
        Type::U64 => "ulong",
        Type::F32 => "float",
        Type::F64 => "double",
    }
}

/// Whether C computes with it as an `int`: arithmetic results must be cut back to the type.
pub(super) fn is_promoted(ty: Type) -> bool {
    matches!(ty, Type::I8 | Type::I16 | Type::U8 | Type::U16 | Type::E4M3 | Type::E5M2 | Type::F16 | Type::BF16)
}

/// A constant.
pub(super) fn literal(scalar: Scalar) -> Expr {
    let value = scalar.as_int();
    match scalar.ty {
        Type::Bool => Expr::new(if scalar.is_true() { "true" } else { "false" }, PRIMARY),
        Type::E4M3 | Type::E5M2 => Expr::new(format!("0x{:02x}", scalar.bits), PRIMARY).loose(),
        Type::F16 | Type::BF16 => Expr::new(format!("0x{:04x}", scalar.bits), PRIMARY).loose(),
        Type::F32 | Type::F64 => float_literal(scalar),
        Type::I32 if value == i128::from(i32::MIN) => Expr::new("INT_MIN", PRIMARY),
        Type::I64 if value == i128::from(i64::MIN) => Expr::new("LONG_MIN", PRIMARY),
        ty @ (Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::Ptr(_)) => {
            let suffixes = [(Type::U32, "u"), (Type::U64, "ul"), (Type::I64, "l")];
            let suffix = suffixes.iter().find(|(of, _)| *of == ty).map_or("", |(_, suffix)| *suffix);
            let expr = Expr::new(format!("{value}{suffix}"), if value < 0 { UNARY } else { PRIMARY }).of_integer(value);
            if is_promoted(ty) { expr.loose() } else { expr }
        }
    }
}

fn float_literal(scalar: Scalar) -> Expr {
    let single = scalar.ty == Type::F32;
    let value = scalar.as_f64();
    if !value.is_finite() {
        // NaNs keep their payload, and `INFINITY` is a float.
        let text = if single { format!("as_float(0x{:08x}u)", scalar.bits) } else { format!("as_double(0x{:016x}ul)", scalar.bits) };
        return match (value.is_infinite() && single, value > 0.0) {
            (true, true) => Expr::new("INFINITY", PRIMARY),
            (true, false) => Expr::new("-INFINITY", UNARY),
            _ => Expr::new(text, PRIMARY),
        };
    }
    // Rust prints the shortest decimal that reads back as the same float.
    let text = if single { format!("{:?}f", f32::from_bits(scalar.bits as u32)) } else { format!("{value:?}") };
    let level = if text.starts_with('-') { UNARY } else { PRIMARY };
    Expr::new(text, level)
}

/// A declaration: the element type, and the extents that follow the name (`[4][16]`).
pub(super) struct Declarator {
    /// `float`, `Particle`.
    pub(super) base: String,
    /// `[4][16]`, or nothing.
    pub(super) extents: String,
}

impl Writer<'_> {
    /// How to declare something of a memory type. A slice counts as its element.
    pub(super) fn declarator(&self, ty: &MemoryType) -> Declarator {
        match ty {
            MemoryType::Scalar(ty) => Declarator { base: memory_type(*ty).into(), extents: String::new() },
            MemoryType::Struct(id) => Declarator { base: self.struct_names[id.0 as usize].clone(), extents: String::new() },
            MemoryType::Slice(element) => self.declarator(element),
            MemoryType::Padded(element, n, pad) => {
                let inner = self.declarator(element);
                Declarator { base: inner.base, extents: format!("[{}]{}", n.saturating_add(*pad), inner.extents) }
            }
            MemoryType::Array(element, n) => {
                let inner = self.declarator(element);
                Declarator { base: inner.base, extents: format!("[{n}]{}", inner.extents) }
            }
        }
    }

    /// The structs that objects of the kernel hold, as typedefs, inner ones first. Fields stand at the offsets of the IR: where C
    /// would put one earlier, bytes of padding go before it.
    pub(super) fn emit_structs(&mut self) -> String {
        let mut out = String::new();
        for id in self.kernel.structs.keys() {
            self.emit_struct(id, &mut out);
        }
        out
    }

    fn emit_struct(&self, id: StructId, out: &mut String) {
        let ty = &self.kernel.structs[id];
        let name = &self.struct_names[id.0 as usize];
        let mut end = 0u64;
        out.push_str("typedef struct {\n");
        for (field, field_name) in ty.fields.iter().zip(&self.field_names[id.0 as usize]) {
            let natural = u64::next_multiple_of(end, field.ty.align(&self.kernel.structs));
            if field.offset > natural {
                let _ = writeln!(out, "    uchar ww_pad{end}[{}];", field.offset - end);
            }
            let Declarator { base, extents } = self.declarator(&field.ty);
            let _ = writeln!(out, "    {base} {field_name}{extents};");
            end = field.offset + field.ty.size(&self.kernel.structs);
        }
        let natural_align = ty.fields.iter().map(|f| f.ty.align(&self.kernel.structs)).max().unwrap_or(1);
        if ty.size > end.next_multiple_of(natural_align.max(1)) || ty.fields.is_empty() {
            let _ = writeln!(out, "    uchar ww_pad{end}[{}];", (ty.size - end).max(1));
        }
        let align = ty.asked_align(&self.kernel.structs).map_or(String::new(), |align| format!(" __attribute__((aligned({align})))"));
        let _ = writeln!(out, "}} {name}{align};\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_read_back_as_themselves() {
        let cases = [
            (Scalar::int(Type::I32, -3), "-3"),
            (Scalar::int(Type::I32, i32::MIN.into()), "INT_MIN"),
            (Scalar::int(Type::I64, i64::MIN.into()), "LONG_MIN"),
            (Scalar::int(Type::U64, u64::MAX.into()), "18446744073709551615ul"),
            (Scalar::u32(7), "7u"),
            (Scalar::int(Type::I8, -128), "-128"),
            (Scalar::float(Type::F32, 1.0), "1.0f"),
            (Scalar::float(Type::F32, -0.0), "-0.0f"),
            (Scalar::float(Type::F32, 1e-45), "1e-45f"),
            (Scalar::float(Type::F32, f64::NEG_INFINITY), "-INFINITY"),
            (Scalar::new(Type::F32, 0x7fc0_0001), "as_float(0x7fc00001u)"),
            (Scalar::float(Type::F64, 0.1), "0.1"),
            (Scalar::float(Type::F64, f64::INFINITY), "as_double(0x7ff0000000000000ul)"),
            (Scalar::float(Type::F16, 1.0), "0x3c00"),
            (Scalar::bool(true), "true"),
        ];
        for (scalar, expected) in cases {
            assert_eq!(literal(scalar).text, expected);
        }
    }
}
