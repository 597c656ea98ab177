//! Atomics on the builtins of OpenCL C 1.2: relaxed, device scope, the old value as result. What acquires or releases has a fence behind or before it,
//! the strongest that there is (`mem_fence`); a load adds 0, a store exchanges.
//!
//! 32-bit integers are core (`atomic_add` …); 64-bit ones are `atom_add` … of `cl_khr_int64_base_atomics` and, for
//! `min max and or xor`, of `cl_khr_int64_extended_atomics`. Floats have `atomic_xchg` only (32 bits): the rest is compare and
//! exchange on the bits, which is also how they are read first, since a plain read beside atomics is a race.

use super::Writer;
use super::casts::bitcast_expr;
use super::expressions::{Expr, PRIMARY};
use super::types::memory_type;
use crate::backend::structured::Values;
use crate::diagnostic::Diagnostic;
use crate::ir::{Access, AtomicOp, Atomicity, Inst, Type, Value};

/// Orders what a work-item does, for its work-group; implementations' fences reach the device.
const FENCE: &str = "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";

/// The builtin's name without its prefix.
fn builtin(op: AtomicOp) -> &'static str {
    match op {
        AtomicOp::Exchange | AtomicOp::Store => "xchg",
        AtomicOp::Load => "add",
        AtomicOp::CompareExchange => "cmpxchg",
        AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => op.word(),
    }
}

impl Writer<'_> {
    /// An atomic, with the fences of its order.
    pub(super) fn ordered_atomic(&mut self, inst: Inst, (op, atomicity): (AtomicOp, Atomicity), access: &Access, operands: &[Value]) {
        if atomicity.order.releases() {
            self.flush_loads();
            self.line(FENCE);
        }
        self.atomic(inst, op, access, operands);
        if atomicity.order.acquires() {
            self.line(FENCE);
        }
    }

    fn atomic(&mut self, inst: Inst, op: AtomicOp, access: &Access, operands: &[Value]) {
        let result = self.kernel.insts[inst].results.first().copied();
        let mut exprs: Vec<Expr> = operands.iter().map(|v| self.take(*v)).collect();
        let place = self.place(access);
        self.flush_loads();
        let ty = place.ty;
        if !matches!(ty.bytes(), 4 | 8) {
            let message = format!("OpenCL C has no atomics on `{ty}`, {} bits wide", ty.bytes() * 8);
            self.refuse(inst, Diagnostic::error(self.span_of(inst), message).help("use a 32-bit type, or put several into one `u32`"));
            return;
        }
        if op == AtomicOp::Load {
            exprs.push(Expr::new("0", PRIMARY));
        }
        let is_exchange = matches!(op, AtomicOp::Exchange | AtomicOp::CompareExchange | AtomicOp::Load | AtomicOp::Store);
        let by_loop = ty.is_float() && !is_exchange;
        if ty.bytes() == 8 {
            self.features.int64_base_atomics = true;
            self.features.int64_extended_atomics |=
                matches!(op, AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor) && !by_loop;
        }
        let expr = if by_loop {
            let name = self.prelude.atomic_by_exchange(op, ty, place.space);
            Expr::new(format!("{name}(&{}, {})", place.expr.text, exprs[0].text), PRIMARY)
        } else {
            builtin_call(op, ty, &place.expr.text, place.space, &exprs)
        };
        match result.filter(|result| self.state.uses[result.0 as usize] > 0) {
            None => self.line(&format!("{};", expr.text)),
            Some(result) => self.materialise(result, &expr),
        }
    }
}

/// A call of a builtin; floats go as the integer of their width, except where the builtin takes `float`.
fn builtin_call(op: AtomicOp, ty: Type, place: &str, space: &str, operands: &[Expr]) -> Expr {
    let prefix = if ty.bytes() == 8 { "atom" } else { "atomic" };
    let name = builtin(op);
    let takes_float = ty == Type::F32 && matches!(op, AtomicOp::Exchange | AtomicOp::Store);
    let bits = if ty.is_float() && !takes_float { ty.to_unsigned() } else { ty };
    let as_bits = |e: &Expr| if op == AtomicOp::Load { e.text.clone() } else { bitcast_expr(e, ty, bits).text };
    let arguments: Vec<String> = operands.iter().map(as_bits).collect();
    let pointer = if bits == ty { format!("&{place}") } else { format!("(volatile {space} {} *)&{place}", memory_type(bits)) };
    let call = Expr::new(format!("{prefix}_{name}({pointer}, {})", arguments.join(", ")), PRIMARY);
    bitcast_expr(&call, bits, ty)
}
