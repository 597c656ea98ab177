//! What of a vector's elements is done one after the other: each needs what the one before hands on.
//!
//! ```text
//! for k { v = x[k]; if v > s { s = v }; y[k] = s }
//!   ▶  v0, v1, v2, v3 = x[k]; if v0 > s …; if v1 > s …; if v2 > s …; if v3 > s …; y[k] = s0, s1, s2, s3
//! ```
//!
//! A body has three parts then: what needs no carried value, for all elements, and with it every vector load; what does, element by element in the order
//! of the source; vector stores, and what stands behind.
//!
//! **Legal** where the iterations of a group may run in any order as far as memory goes (as for `vectorize` itself), and where no vector load moves over a
//! store to its object in the same iteration, and no vector store over an access. **Refuses** addresses that are carried, and vectors under conditions that are.

use super::Refusal;
use super::copy::parts;
use super::groups::Counted;
use super::ilp::next;
use crate::collections::HashSet;
use crate::ir::{Address, Inst, Kernel, Memory, MemoryOp, Object, Op, Value};

/// The parts of a body, in order.
#[derive(Debug)]
pub(super) struct InTurn {
    /// For all elements.
    pub(super) first: Vec<Inst>,
    /// Element by element.
    pub(super) turns: Vec<Inst>,
    /// For all elements again.
    pub(super) last: Vec<Inst>,
    /// Values carried from each element to the next: the body's parameter, and what an iteration hands on.
    pub(super) carried: Vec<(Value, Value)>,
}

/// The parts of a body whose vector accesses are `merged`; `name` is what is carried, for messages.
pub(super) fn in_turn(kernel: &Kernel, walk: &Counted, merged: &HashSet<Inst>, name: &str) -> Result<InTurn, Refusal> {
    let body = parts(kernel, walk.body).0;
    let carried: Vec<(Value, Value)> = walk.carried.iter().enumerate().map(|(k, param)| (*param, next(kernel, walk, k))).collect();
    let carried: Vec<(Value, Value)> = carried.into_iter().filter(|(param, next)| param != next).collect();
    let Some((turns, begin, end)) = turns(kernel, &body, &carried, merged) else {
        return Ok(InTurn { first: body, turns: Vec::new(), last: Vec::new(), carried });
    };
    let refuse = |inst: Inst, message: String| {
        let help = "carry only what no address and no other element's access needs, or leave the annotation out".to_owned();
        Err(Refusal::new(message, help).label(kernel.insts[inst].loc, "this access"))
    };
    let mut found = InTurn { first: Vec::new(), turns: Vec::new(), last: Vec::new(), carried };
    for (at, inst) in body.iter().enumerate() {
        let is_vector = merged.contains(inst);
        let object = kernel.insts[*inst].op.object();
        if turns.contains(inst) {
            let inner =
                kernel.insts[*inst].op.blocks().into_iter().flat_map(|block| kernel.insts_in(block)).find(|inner| merged.contains(inner));
            if let Some(inst) = inner.or(is_vector.then_some(*inst)) {
                return refuse(inst, format!("where this access goes, or whether it happens, depends on the {name} of the element before"));
            }
            found.turns.push(*inst);
        } else if at < begin {
            found.first.push(*inst);
        } else if at > end {
            found.last.push(*inst);
        } else if is_vector && is_store(kernel, *inst) {
            if body[at + 1..=end].iter().any(|later| touches(kernel, *later, object)) {
                return refuse(
                    *inst,
                    format!(
                        "elements are written in turn, since each needs the {name} of the one before, and read or written again behind"
                    ),
                );
            }
            found.last.push(*inst);
        } else {
            if is_vector && body[begin..at].iter().any(|earlier| writes(kernel, *earlier, object)) {
                return refuse(*inst, format!("elements are read behind a store that needs the {name} of the element before"));
            }
            found.first.push(*inst);
        }
    }
    Ok(found)
}

/// What is done in turn, and between which places of the body: what needs a carried value, and all that has an effect of its own between the first and the last
/// of that, of the vector stores of such values, and of what hands a value on. `None` if nothing needs one.
fn turns(kernel: &Kernel, body: &[Inst], carried: &[(Value, Value)], merged: &HashSet<Inst>) -> Option<(HashSet<Inst>, usize, usize)> {
    let mut needed: HashSet<Value> = carried.iter().map(|(param, _)| *param).collect();
    let mut found: HashSet<Inst> = HashSet::default();
    let makers: HashSet<Inst> = carried.iter().filter_map(|(_, next)| Some(kernel.def(*next)?.0)).collect();
    loop {
        let before = found.len();
        // A vector store takes the values that all turns leave: it is behind them.
        let is_vector_store = |inst: &Inst| merged.contains(inst) && is_store(kernel, *inst);
        let is_parted = |inst: &Inst| found.contains(inst) || is_vector_store(inst) && uses(kernel, *inst, &needed, false);
        let begin = body.iter().position(is_parted);
        let end = body.iter().rposition(|inst| is_parted(inst) || makers.contains(inst));
        for (at, inst) in body.iter().enumerate() {
            let data = &kernel.insts[*inst];
            let is_between = begin.is_some_and(|begin| begin < at) && end.is_some_and(|end| at < end);
            let is_plain = data.op.effects(kernel).is_pure() && !data.op.owns_blocks();
            let needs = uses(kernel, *inst, &needed, is_vector_store(inst));
            if !found.contains(inst) && (needs || is_between && !is_plain && !merged.contains(inst)) {
                found.insert(*inst);
                needed.extend(&data.results);
            }
        }
        if found.len() == before {
            return begin.zip(end).map(|(begin, end)| (found, begin, end));
        }
    }
}

/// Whether an instruction, or one within, has such an operand; of a vector store, whether its place has.
fn uses(kernel: &Kernel, inst: Inst, needed: &HashSet<Value>, of_place: bool) -> bool {
    if let (true, Op::Memory(Memory { at: Address::Path(access), .. })) = (of_place, &kernel.insts[inst].op) {
        return access.indices().any(|index| needed.contains(&index));
    }
    any(kernel, inst, &|inst| kernel.insts[inst].op.operands().iter().any(|value| needed.contains(value)))
}

fn is_store(kernel: &Kernel, inst: Inst) -> bool {
    matches!(kernel.insts[inst].op, Op::Memory(Memory { op: MemoryOp::Store(_), .. }))
}

/// Whether an instruction, or one within, reads or writes an object.
fn touches(kernel: &Kernel, inst: Inst, object: Option<Object>) -> bool {
    any(kernel, inst, &|inst| {
        let effects = kernel.effects(inst);
        object.is_some_and(|object| effects.reads.contains(object)) || effects.writes.is_some() && effects.writes == object
    })
}

fn writes(kernel: &Kernel, inst: Inst, object: Option<Object>) -> bool {
    any(kernel, inst, &|inst| {
        let written = kernel.effects(inst).writes;
        written.is_some() && written == object
    })
}

fn any(kernel: &Kernel, inst: Inst, is_so: &dyn Fn(Inst) -> bool) -> bool {
    is_so(inst) || kernel.insts[inst].op.blocks().into_iter().flat_map(|block| kernel.insts_in(block)).any(is_so)
}
