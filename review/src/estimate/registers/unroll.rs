//! Loops that the assembler unrolls by itself: counted ones of one stretch, by four, and short ones whole.

use super::code::{Code, Inst, Op, Reg, Stretch};
use super::flow::Set;
use warpwright_codegen::collections::HashMap;

/// How often a loop's body stands there afterwards.
const COPIES: usize = 4;

/// Most instructions of a body that is repeated, and of what a short loop becomes.
const LONGEST: usize = 96;
const MOST: usize = 512;

/// Most iterations of a loop that is unrolled whole.
const MOST_WHOLE: i64 = 32;

/// Unrolls in place. `out`: what is live behind each stretch.
pub(super) fn unroll(code: &mut Code, out: &[Set]) {
    // By register: the constant that was last moved into it, in the order of the text, unless something else was written since.
    let mut written: HashMap<Reg, Option<i64>> = HashMap::default();
    for (stretch, out) in code.stretches.iter_mut().zip(out) {
        if let Some(copies) = copies(stretch, &written) {
            stretch.insts = repeat(&stretch.insts, copies, &mut code.widths, out);
        }
        for inst in &stretch.insts {
            let constant = inst.constant.filter(|_| inst.op == Op::Move && inst.src.is_empty());
            written.extend(inst.dst.iter().map(|reg| (*reg, constant)));
        }
    }
}

/// How often a stretch's body is to be repeated, if it is such a loop.
fn copies(stretch: &Stretch, written: &HashMap<Reg, Option<i64>>) -> Option<usize> {
    let last = stretch.insts.last()?;
    let is_loop = last.op == Op::Branch && stretch.labels.contains(&last.label);
    let has_barrier = stretch.insts.iter().any(|inst| matches!(inst.op, Op::Barrier | Op::Call | Op::Slow(_)));
    if !is_loop || has_barrier || stretch.keep_rolled || stretch.insts.len() > LONGEST {
        return None;
    }
    // The register that is compared, and by how much it grows.
    let test = stretch.insts.iter().rfind(|inst| last.guard.is_some_and(|guard| inst.dst.contains(&guard)))?;
    let (counter, step) = test.src.iter().find_map(|reg| Some((*reg, step(&stretch.insts, *reg)?)))?;
    let whole = test.constant.filter(|_| test.src.len() == 1).and_then(|bound| {
        let first = (*written.get(&counter)?)?;
        let trips = (bound - first) / step.max(1);
        (step > 0 && (2..=MOST_WHOLE).contains(&trips) && trips as usize * stretch.insts.len() <= MOST).then_some(trips as usize)
    });
    Some(whole.unwrap_or(COPIES))
}

/// By how much a register grows in each iteration, if that is a constant.
fn step(insts: &[Inst], reg: Reg) -> Option<i64> {
    let inst = insts.iter().rfind(|inst| inst.dst.as_slice() == [reg])?;
    match (inst.op, inst.src.as_slice()) {
        (Op::Move, &[source]) => {
            let sum = insts.iter().find(|inst| inst.dst.as_slice() == [source])?;
            (sum.is_sum && sum.src.as_slice() == [reg]).then_some(sum.constant?)
        }
        (_, &[source]) if source == reg && inst.is_sum => inst.constant,
        _ => None,
    }
}

/// The body again and again: every copy writes registers of its own, but for the last, which leaves the loop's.
fn repeat(insts: &[Inst], copies: usize, widths: &mut Vec<u8>, out: &Set) -> Vec<Inst> {
    let count = widths.len();
    let mut now: Vec<Reg> = (0..count as Reg).collect();
    // How far each register is from the one that stands for it.
    let mut ahead = vec![0i64; count];
    let mut repeated = Vec::with_capacity(insts.len() * copies);
    let (last, body) = match insts.split_last() {
        Some(split) => split,
        None => return repeated,
    };
    for copy in 0..copies {
        let is_last = copy + 1 == copies;
        for (at, inst) in body.iter().enumerate() {
            let is_step = inst.is_sum && inst.constant.is_some() && inst.src.len() == 1 && inst.guard.is_none();
            let is_test = last.guard.is_some_and(|guard| inst.dst.contains(&guard));
            let is_copy = inst.op == Op::Move && inst.src.len() == 1 && inst.guard.is_none();
            match (inst.dst.as_slice(), inst.src.as_slice()) {
                // A pointer or counter that grows by a constant is the first one and an offset.
                (&[dst], &[src]) if !is_last && (is_step || is_copy) => {
                    now[dst as usize] = now[src as usize];
                    ahead[dst as usize] = ahead[src as usize] + if is_step { inst.constant.unwrap_or(0) } else { 0 };
                }
                _ if is_test && !is_last => {}
                _ => {
                    let mut inst = inst.clone();
                    if matches!(inst.op, Op::Load(..) | Op::Store(_)) {
                        inst.offset += inst.src.first().map_or(0, |reg| ahead[*reg as usize]);
                    }
                    inst.src = renamed(&inst.src, &now);
                    inst.guard = inst.guard.map(|guard| now[guard as usize]);
                    let mut dst = Vec::with_capacity(inst.dst.len());
                    for reg in &inst.dst {
                        let is_final = is_last && body[at + 1..].iter().all(|later| !later.dst.contains(reg));
                        let is_own = is_final && out.has(*reg) || inst.guard.is_some();
                        let new = if is_own {
                            *reg
                        } else {
                            widths.push(widths[*reg as usize]);
                            widths.len() as Reg - 1
                        };
                        dst.push(new);
                        now[*reg as usize] = new;
                        ahead[*reg as usize] = 0;
                    }
                    inst.dst = dst;
                    repeated.push(inst);
                }
            }
        }
    }
    repeated.push(Inst { guard: last.guard.map(|guard| now[guard as usize]), ..last.clone() });
    repeated
}

fn renamed(regs: &[Reg], now: &[Reg]) -> Vec<Reg> {
    let mut renamed = Vec::with_capacity(regs.len());
    for reg in regs {
        let reg = now[*reg as usize];
        if !renamed.contains(&reg) {
            renamed.push(reg);
        }
    }
    renamed
}
