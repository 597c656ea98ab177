//! The text of `print!` and of assertions, with a lane's values in it, as Rust's `{}` shows them.

use super::program::Text;
use super::registers::Registers;
use half::{bf16, f16};
use std::fmt::Write;
use warpwright_codegen::ir::{PrintPart, Scalar, Type};

/// Appends a message as one lane says it.
pub(super) fn format_message(out: &mut String, message: &Text, registers: &Registers, lane: usize) {
    let mut values = message.values.iter();
    for part in &message.parts {
        match part {
            PrintPart::Text(text) => out.push_str(text),
            PrintPart::Argument(digits) => {
                if let Some((reg, ty)) = values.next() {
                    format_value(out, Scalar { ty: *ty, bits: registers.lane(*reg, lane) }, *digits);
                }
            }
        }
    }
}

fn format_value(out: &mut String, value: Scalar, digits: Option<u8>) {
    let written = match (value.ty, digits) {
        (Type::Bool, _) => write!(out, "{}", value.is_true()),
        (ty, Some(digits)) if ty.is_float() => write!(out, "{:.*}", usize::from(digits), value.as_f64()),
        (Type::F16, None) => write!(out, "{}", f16::from_bits(value.bits as u16)),
        (Type::BF16, None) => write!(out, "{}", bf16::from_bits(value.bits as u16)),
        (Type::F32, None) => write!(out, "{}", f32::from_bits(value.bits as u32)),
        (Type::F64, None) => write!(out, "{}", f64::from_bits(value.bits)),
        _ => write!(out, "{}", value.as_int()),
    };
    // Writing to a `String` cannot fail.
    debug_assert!(written.is_ok());
}
