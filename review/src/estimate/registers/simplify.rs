//! What the assembler makes of PTX before it orders and allocates: copies vanish, constants and parameters are operands, products and
//! sums become one address, values of the whole block live in registers of their own.

use super::code::{Code, Inst, Op, Reg, Slow};
use warpwright_codegen::ir::Space;

/// What differs between targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MachineFeatures {
    /// Whether there are registers for values that are the same for a whole warp.
    pub(super) has_uniform: bool,
    /// Whether 64-bit parameters are loaded into registers before they are added to.
    pub(super) loads_pointers: bool,
}

impl MachineFeatures {
    pub(super) fn of(capability: u16) -> MachineFeatures {
        MachineFeatures { has_uniform: capability >= 75, loads_pointers: capability >= 90 }
    }
}

/// What is known of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// A value in registers.
    Plain,
    /// Another register's.
    Alias(Reg),
    /// An operand of whoever uses it: a constant, a parameter.
    Free,
    /// The same for the whole warp: in a uniform register, or like any other where there are none.
    Uniform,
}

/// Simplifies in place.
pub(super) fn simplify(code: &mut Code, machine: MachineFeatures) {
    let mut simplifier = Simplifier::new(code, machine);
    simplifier.know();
    simplifier.fold_products();
    simplifier.rewrite();
    remove_unused(code);
}

struct Simplifier<'c> {
    code: &'c mut Code,
    machine: MachineFeatures,
    known: Vec<Known>,
    /// How often each register is written.
    writes: Vec<u32>,
    /// Products that are part of the sums they are in.
    is_product: Vec<bool>,
}

impl<'c> Simplifier<'c> {
    fn new(code: &'c mut Code, machine: MachineFeatures) -> Simplifier<'c> {
        let count = code.widths.len();
        let mut writes = vec![0; count];
        for inst in code.stretches.iter().flat_map(|stretch| &stretch.insts) {
            inst.dst.iter().for_each(|reg| writes[*reg as usize] += 1);
        }
        Simplifier { code, machine, known: vec![Known::Plain; count], writes, is_product: vec![false; count] }
    }

    fn resolve(&self, reg: Reg) -> Reg {
        let mut reg = reg;
        while let Known::Alias(other) = self.known[reg as usize] {
            reg = other;
        }
        reg
    }

    fn is_free(&self, reg: Reg) -> bool {
        matches!(self.known[self.resolve(reg) as usize], Known::Free)
    }

    fn is_uniform(&self, reg: Reg) -> bool {
        matches!(self.known[self.resolve(reg) as usize], Known::Free | Known::Uniform)
    }

    /// Decides what each register written once is. Definitions come before uses, but round loops, where registers are written twice.
    fn know(&mut self) {
        let stretches = std::mem::take(&mut self.code.stretches);
        for inst in stretches.iter().flat_map(|stretch| &stretch.insts) {
            let &[dst] = inst.dst.as_slice() else { continue };
            if self.writes[dst as usize] != 1 || (inst.guard.is_some() && inst.op != Op::Param) {
                continue;
            }
            self.known[dst as usize] = self.what(inst, dst);
        }
        self.code.stretches = stretches;
    }

    fn what(&mut self, inst: &Inst, dst: Reg) -> Known {
        let sources = inst.src.as_slice();
        let once = |reg: &Reg| self.writes[*reg as usize] == 1;
        match inst.op {
            Op::Move if sources.is_empty() => Known::Free,
            Op::Move | Op::SameAddress if sources.len() == 1 && once(&sources[0]) => Known::Alias(self.resolve(sources[0])),
            Op::SameAddress => Known::Free,
            Op::Param => Known::Free,
            // Constant memory at a place known now is an operand.
            Op::Load(Space::Constant, _) if sources.is_empty() && inst.vector == 1 && inst.bytes >= 4 => Known::Free,
            Op::BlockSpecial => Known::Plain,
            Op::ZeroExtend => {
                self.code.widths[dst as usize] = 1;
                if sources.iter().all(|reg| self.is_uniform(*reg)) { Known::Uniform } else { Known::Plain }
            }
            Op::Integer | Op::AddLong | Op::Wide
                if self.code.widths[dst as usize] > 0 && sources.iter().all(|reg| self.is_uniform(*reg)) =>
            {
                Known::Uniform
            }
            _ => Known::Plain,
        }
    }

    /// A widened product that is only added to things is part of each of those additions, which read its factor.
    fn fold_products(&mut self) {
        let count = self.code.widths.len();
        let (mut factor, mut is_kept) = (vec![None; count], vec![false; count]);
        for inst in self.code.stretches.iter().flat_map(|stretch| &stretch.insts) {
            for reg in inst.src.iter().map(|reg| self.resolve(*reg)) {
                is_kept[reg as usize] |= inst.op != Op::AddLong;
            }
            let dst = inst.dst.first().copied();
            let varying: Vec<Reg> = inst.src.iter().copied().filter(|reg| !self.is_free(*reg)).collect();
            if let (Op::Wide, Some(dst), &[only]) = (inst.op, dst, varying.as_slice())
                && self.writes[dst as usize] == 1
                && self.writes[self.resolve(only) as usize] == 1
            {
                factor[dst as usize] = Some(self.resolve(only));
            }
        }
        for dst in 0..count {
            if let Some(factor) = factor[dst]
                && !is_kept[dst]
            {
                self.known[dst] = Known::Alias(factor);
                self.is_product[dst] = true;
            }
        }
        self.fold_offsets();
    }

    /// A pointer plus a constant that is only the address of accesses is part of those.
    fn fold_offsets(&mut self) {
        let count = self.code.widths.len();
        let (mut base, mut is_kept) = (vec![None; count], vec![false; count]);
        for inst in self.code.stretches.iter().flat_map(|stretch| &stretch.insts) {
            let is_access = matches!(inst.op, Op::Load(..) | Op::Store(_) | Op::Atomic(_));
            for reg in inst.src.iter().map(|reg| self.resolve(*reg)) {
                is_kept[reg as usize] |= !is_access;
            }
            if let (Op::AddLong, &[dst], &[source], true) = (inst.op, inst.dst.as_slice(), inst.src.as_slice(), inst.constant.is_some())
                && self.writes[dst as usize] == 1
                && self.writes[self.resolve(source) as usize] == 1
            {
                base[dst as usize] = Some(self.resolve(source));
            }
        }
        for dst in 0..count {
            if let Some(base) = base[dst]
                && !is_kept[dst]
                && self.known[dst] == Known::Plain
            {
                self.known[dst] = Known::Alias(base);
            }
        }
    }

    /// Lets every instruction name what it reads, and drops those that are no more.
    fn rewrite(&mut self) {
        let mut stretches = std::mem::take(&mut self.code.stretches);
        for stretch in &mut stretches {
            let mut kept = Vec::with_capacity(stretch.insts.len());
            for mut inst in stretch.insts.drain(..) {
                let is_gone = match inst.dst.as_slice() {
                    &[dst] if self.writes[dst as usize] == 1 => match self.known[dst as usize] {
                        Known::Plain => false,
                        Known::Alias(_) => true,
                        Known::Free => !(self.machine.loads_pointers && inst.op == Op::Param && self.code.widths[dst as usize] == 2),
                        Known::Uniform => self.machine.has_uniform,
                    },
                    _ => false,
                };
                if is_gone {
                    continue;
                }
                let mut src = Vec::new();
                let is_sum = inst.op == Op::AddLong;
                inst.extra = extra(inst.op);
                // Memory takes no constants: they are put in registers first.
                let values = inst.src.len() - usize::from(inst.symbol == 0).min(inst.src.len());
                let is_store = matches!(inst.op, Op::Store(_) | Op::Atomic(_));
                inst.extra += if is_store && values == 0 { inst.vector * inst.bytes.div_ceil(4) } else { 0 };
                let adds_to_constant = is_sum && inst.src.iter().any(|reg| self.is_free(*reg));
                let has_factor = inst.src.iter().any(|reg| self.is_product[*reg as usize]);
                // A product of which one factor is a constant, added to what is in constant memory: one of the two must be in a register.
                inst.extra += u8::from(adds_to_constant && has_factor && !self.machine.loads_pointers);
                for reg in &inst.src {
                    let reg = self.resolve(*reg);
                    let is_operand = match self.known[reg as usize] {
                        Known::Free => !(self.machine.loads_pointers && is_sum && self.code.widths[reg as usize] == 2),
                        Known::Uniform => self.machine.has_uniform,
                        _ => false,
                    };
                    if !is_operand && !src.contains(&reg) {
                        src.push(reg);
                    }
                }
                inst.src = src;
                kept.push(inst);
            }
            stretch.insts = kept;
        }
        self.code.stretches = stretches;
    }
}

/// Whether nothing but its results comes of an instruction.
fn is_pure(op: Op) -> bool {
    !matches!(op, Op::Store(_) | Op::Atomic(_) | Op::Barrier | Op::Branch | Op::Return | Op::Call)
}

/// Drops what nobody reads.
fn remove_unused(code: &mut Code) {
    let mut reads = vec![0u32; code.widths.len()];
    let each = |inst: &Inst, f: &mut dyn FnMut(Reg)| {
        inst.src.iter().chain(&inst.guard).for_each(|reg| f(*reg));
    };
    for inst in code.stretches.iter().flat_map(|stretch| &stretch.insts) {
        each(inst, &mut |reg| reads[reg as usize] += 1);
    }
    for stretch in code.stretches.iter_mut().rev() {
        let mut kept: Vec<Inst> = Vec::with_capacity(stretch.insts.len());
        for inst in stretch.insts.drain(..).rev() {
            if is_pure(inst.op) && !inst.dst.is_empty() && inst.dst.iter().all(|reg| reads[*reg as usize] == 0) {
                each(&inst, &mut |reg| reads[reg as usize] -= 1);
            } else {
                kept.push(inst);
            }
        }
        kept.reverse();
        stretch.insts = kept;
    }
}

/// Registers that an instruction made of several takes besides its operands and results.
fn extra(op: Op) -> u8 {
    match op {
        Op::Slow(slow) => match slow {
            Slow::Divide16 => 2,
            Slow::Divide32 => 5,
            Slow::Divide64 => 10,
            Slow::DivideFloat => 8,
            Slow::DivideDouble => 16,
            Slow::RootFloat => 6,
            Slow::RootDouble => 18,
            Slow::ChoiceDouble => 4,
            Slow::Call => 18,
        },
        Op::Call => extra(Op::Slow(Slow::Call)),
        _ => 0,
    }
}
