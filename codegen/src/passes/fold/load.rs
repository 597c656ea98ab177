//! Loads from constant memory, and from parameters by value, whose index is one of two numbers.

use super::{Context, evaluate_load};
use crate::analysis::place::constant_place;
use crate::ir::{Access, Address, Compute, Memory, MemoryOp, ObjectKind, Op, Scalar, Step, Type, Value, eval};

/// How many operations lie at most between a condition and the index made of it.
const DEEPEST: u32 = 8;

/// `table[c as usize] = if c { table[1] } else { table[0] }`, and so of every index that a condition and constants decide: a select takes less time than a load; of a
/// parameter by value, too, whose elements instructions read where they are. The two places are both there, or the rule keeps off.
///
/// It also keeps clear of a defect of NVIDIA's driver, and for that takes bytes of what a launch fills, too, with a load of each: its compiler (580.159) crashes at a load of a byte
/// from constant memory whose address is the sum of the array's and of a select between two constants.
pub(super) fn at_one_of_two(cx: &mut Context<'_>, access: &Access, ty: Type) -> Option<Value> {
    let kind = &cx.b.kernel.objects[access.object].kind;
    let is_byte_of_constant = *kind == ObjectKind::Constant && ty.bits() <= 8;
    if !(is_byte_of_constant || matches!(kind, ObjectKind::Table(_) | ObjectKind::Value)) {
        return None;
    }
    let mut open = access.path.iter().enumerate().filter_map(|(n, step)| match step {
        Step::Index(index) if cx.constant(*index).is_none() => Some((n, *index)),
        Step::Index(_) | Step::Field(_) => None,
    });
    let ((at, index), None) = (open.next()?, open.next()) else { return None };
    let (condition, then, otherwise) = either(cx, index, DEEPEST)?;
    let mut arm = |index: Scalar| {
        let mut access = access.clone();
        access.path[at] = Step::Index(cx.b.constant(index));
        constant_place(cx.b.kernel, &access, 1)?;
        Some(match evaluate_load(cx.b.kernel, &access) {
            Some(scalar) => cx.b.constant(scalar),
            None => cx.b.push1(Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }), ty),
        })
    };
    let (then, otherwise) = (arm(then)?, arm(otherwise)?);
    Some(cx.b.select(condition, then, otherwise))
}

/// A condition and what `value` is where it holds and where it does not, if that are two constants.
fn either(cx: &Context<'_>, value: Value, depth: u32) -> Option<(Value, Scalar, Scalar)> {
    let op = cx.op(value)?;
    let Op::Compute(compute) = op else { return None };
    if let Compute::Select(condition, then, otherwise) = compute {
        return Some((*condition, cx.constant(*then)?, cx.constant(*otherwise)?));
    }
    let mut open = op.operands().into_iter().filter(|operand| cx.constant(*operand).is_none());
    let (of, None) = (open.next()?, open.next()) else { return None };
    let (condition, then, otherwise) =
        if cx.ty(of) == Type::Bool { (of, Scalar::bool(true), Scalar::bool(false)) } else { either(cx, of, depth.checked_sub(1)?)? };
    let with = |scalar| eval::compute(compute, cx.ty(value), |operand| if operand == of { Some(scalar) } else { cx.constant(operand) });
    Some((condition, with(then)?, with(otherwise)?))
}
