//! Arrays of a thread that are in local memory in PTX, and in registers in what the assembler makes of it: those whose every element is
//! named by a constant. A loop that only fills one does not count: it is written out.

use super::code::{Code, Inst, Op, Reg};
use warpwright_codegen::collections::HashMap;
use warpwright_codegen::ir::Space;

/// Promotes in place.
pub(super) fn promote(code: &mut Code) {
    let is_local = |inst: &Inst| matches!(inst.op, Op::Load(Space::Local, _) | Op::Store(Space::Local));
    let mut is_any = false;
    for stretch in &code.stretches {
        let is_loop = stretch.insts.last().is_some_and(|last| last.op == Op::Branch && stretch.labels.contains(&last.label));
        for inst in stretch.insts.iter().filter(|inst| is_local(inst)) {
            let is_filling = is_loop && matches!(inst.op, Op::Store(_)) && inst.src.len() == 1;
            if inst.vector > 1 || inst.guard.is_some() || (inst.symbol == 0 && !is_filling) {
                return;
            }
            is_any = true;
        }
    }
    if !is_any {
        return;
    }
    let mut elements: HashMap<(u32, i64), Reg> = HashMap::default();
    for stretch in &mut code.stretches {
        stretch.insts.retain(|inst| !is_local(inst) || inst.symbol != 0);
        for inst in stretch.insts.iter_mut().filter(|inst| is_local(inst)) {
            let width = if inst.bytes == 8 { 2 } else { 1 };
            let element = *elements.entry((inst.symbol, inst.offset)).or_insert_with(|| {
                code.widths.push(width);
                code.widths.len() as Reg - 1
            });
            if matches!(inst.op, Op::Load(..)) {
                inst.src = vec![element];
            } else {
                inst.dst = vec![element];
            }
            inst.op = Op::Move;
            inst.symbol = 0;
        }
    }
}
