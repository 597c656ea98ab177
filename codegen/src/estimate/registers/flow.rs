//! Which registers are live where stretches meet.

use super::code::{Code, Op, Reg, Stretch};

/// A set of registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set(Vec<u64>);

impl Set {
    pub(super) fn new(count: usize) -> Set {
        Set(vec![0; count.div_ceil(64)])
    }

    pub(super) fn has(&self, reg: Reg) -> bool {
        self.0[reg as usize / 64] >> (reg % 64) & 1 == 1
    }

    pub(super) fn insert(&mut self, reg: Reg) {
        self.0[reg as usize / 64] |= 1 << (reg % 64);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        self.0.iter().enumerate().flat_map(|(n, word)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros())?;
                word &= word - 1;
                Some(n as u32 * 64 + bit)
            })
        })
    }

    fn add(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
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
pub(super) fn live_out(code: &Code, successors: &[Vec<usize>]) -> Vec<Set> {
    let count = code.widths.len();
    let mut writes = vec![0u32; count];
    for inst in code.stretches.iter().flat_map(|stretch| &stretch.insts) {
        inst.dst.as_slice().iter().for_each(|reg| writes[*reg as usize] += 1);
    }
    // What a stretch reads before it writes it, and what it writes.
    let mut read: Vec<Set> = Vec::with_capacity(code.stretches.len());
    let mut written: Vec<Set> = Vec::with_capacity(code.stretches.len());
    for stretch in &code.stretches {
        let (mut uses, mut defs) = (Set::new(count), Set::new(count));
        for inst in &stretch.insts {
            let is_partial = |reg: Reg| inst.guard.is_some() && writes[reg as usize] > 1;
            let old = inst.dst.as_slice().iter().copied().filter(|reg| is_partial(*reg));
            for reg in inst.src.as_slice().iter().chain(&inst.guard).copied().chain(old) {
                if !defs.has(reg) {
                    uses.insert(reg);
                }
            }
            inst.dst.as_slice().iter().for_each(|reg| defs.insert(*reg));
        }
        read.push(uses);
        written.push(defs);
    }
    let mut live_in = read.clone();
    let mut live_out = vec![Set::new(count); code.stretches.len()];
    loop {
        let mut is_changed = false;
        for n in (0..code.stretches.len()).rev() {
            let mut out = Set::new(count);
            successors[n].iter().for_each(|next| out.add(&live_in[*next]));
            let mut new_in = read[n].clone();
            for ((word, out), defs) in new_in.0.iter_mut().zip(&out.0).zip(&written[n].0) {
                *word |= out & !defs;
            }
            is_changed |= new_in != live_in[n] || out != live_out[n];
            live_in[n] = new_in;
            live_out[n] = out;
        }
        if !is_changed {
            return live_out;
        }
    }
}
