//! Which registers are live where stretches meet.

use super::code::{Code, Op, Reg, Stretch};

/// A set of registers, in order: few are live at a time, however many a kernel has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set(Vec<Reg>);

impl Set {
    pub(super) fn has(&self, reg: Reg) -> bool {
        self.0.binary_search(&reg).is_ok()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        self.0.iter().copied()
    }
}

/// The stretches that each leads to.
pub(super) fn successors(code: &Code) -> Vec<Vec<usize>> {
    let mut at = Vec::new();
    for (n, stretch) in code.stretches.iter().enumerate() {
        for label in &stretch.labels {
            let label = *label as usize;
            if at.len() <= label {
                at.resize(label + 1, usize::MAX);
            }
            at[label] = n;
        }
    }
    let count = code.stretches.len();
    let of = |(n, stretch): (usize, &Stretch)| {
        let mut next = Vec::new();
        let last = stretch.insts.last();
        if let Some(target) =
            last.filter(|inst| inst.op == Op::Branch).and_then(|inst| at.get(inst.label as usize)).filter(|to| **to < count)
        {
            next.push(*target);
        }
        let falls = last.is_none_or(|inst| !matches!(inst.op, Op::Branch | Op::Return) || inst.guard.is_some());
        if falls && n + 1 < count {
            next.push(n + 1);
        }
        next
    };
    code.stretches.iter().enumerate().map(of).collect()
}

/// The registers live behind each stretch. Registers written under one predicate only count from there.
///
/// Each register is followed from where it is read back to where it is written, so that time and memory are those of what is live, not those of
/// all registers in all stretches.
pub(super) fn live_out(code: &Code, successors: &[Vec<usize>]) -> Vec<Set> {
    let count = code.widths.len();
    let mut predecessors = vec![Vec::new(); code.stretches.len()];
    successors.iter().enumerate().for_each(|(n, next)| next.iter().for_each(|next| predecessors[*next].push(n)));
    let Stretches { readers, writers } = Stretches::of(code);
    let mut live_out = vec![Set::default(); code.stretches.len()];
    // By stretch: the last register that it was found to write, and to need from before it.
    let (mut writes, mut needs) = (vec![Reg::MAX; code.stretches.len()], vec![Reg::MAX; code.stretches.len()]);
    let mut work = Vec::new();
    for reg in 0..count as Reg {
        writers[reg as usize].iter().for_each(|n| writes[*n] = reg);
        readers[reg as usize].iter().for_each(|n| needs[*n] = reg);
        work.extend_from_slice(&readers[reg as usize]);
        while let Some(n) = work.pop() {
            for before in &predecessors[n] {
                let out = &mut live_out[*before].0;
                if out.last() != Some(&reg) {
                    out.push(reg);
                    if writes[*before] != reg && needs[*before] != reg {
                        needs[*before] = reg;
                        work.push(*before);
                    }
                }
            }
        }
        if code.begun.contains(&reg) {
            // Nothing is kept for them where nothing has written them yet.
            let written = reached(&writers[reg as usize], successors);
            let unwritten = live_out.iter_mut().zip(written).filter(|(out, is_written)| !is_written && out.0.last() == Some(&reg));
            unwritten.for_each(|(out, _)| out.0.truncate(out.0.len() - 1));
        }
    }
    live_out
}

/// By stretch: whether it is one of these or comes behind one.
fn reached(from: &[usize], successors: &[Vec<usize>]) -> Vec<bool> {
    let (mut reached, mut work) = (vec![false; successors.len()], from.to_vec());
    while let Some(n) = work.pop() {
        if !std::mem::replace(&mut reached[n], true) {
            work.extend_from_slice(&successors[n]);
        }
    }
    reached
}

/// By register: the stretches that read it before they write it, and those that write it.
struct Stretches {
    readers: Vec<Vec<usize>>,
    writers: Vec<Vec<usize>>,
}

impl Stretches {
    fn of(code: &Code) -> Stretches {
        let count = code.widths.len();
        let mut writes = vec![0u32; count];
        for inst in code.stretches.iter().flat_map(|stretch| &stretch.insts) {
            inst.dst.iter().for_each(|reg| writes[*reg as usize] += 1);
        }
        let mut found = Stretches { readers: vec![Vec::new(); count], writers: vec![Vec::new(); count] };
        for (n, stretch) in code.stretches.iter().enumerate() {
            for inst in &stretch.insts {
                let is_partial = |reg: Reg| inst.guard.is_some() && writes[reg as usize] > 1;
                let old = inst.dst.iter().copied().filter(|reg| is_partial(*reg));
                for reg in inst.src.iter().chain(&inst.guard).copied().chain(old) {
                    let reg = reg as usize;
                    if found.writers[reg].last() != Some(&n) && found.readers[reg].last() != Some(&n) {
                        found.readers[reg].push(n);
                    }
                }
                for reg in &inst.dst {
                    let writers = &mut found.writers[*reg as usize];
                    if writers.last() != Some(&n) {
                        writers.push(n);
                    }
                }
            }
        }
        found
    }
}
