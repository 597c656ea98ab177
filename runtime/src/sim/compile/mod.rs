//! From a kernel to a [`Program`]: slots for values, steps for instructions.

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod control;
mod engine;
mod lifetimes;
mod objects;
mod operations;
mod places;
mod tensor;

use super::counters::InstructionClass;
use super::program::{CheckFailure, Preset, Program, Segment, SimStep};
use super::registers::Reg;
use super::{Error, SimOptions};
use crate::error::mistake;
use lifetimes::Lifetimes;
use std::collections::HashMap;
use std::sync::Arc;
use warpwright_codegen::ir::{Block, Inst, Kernel, Location, Type, Value};

/// Compiles a kernel.
pub(super) fn compile(kernel: Arc<Kernel>, options: SimOptions) -> Result<Program, Error> {
    let fail = |reason| Error::Kernel { kernel: kernel.name.clone(), reason };
    if let Err(violations) = warpwright_codegen::verify::verify(&kernel) {
        let all: Vec<String> = violations.iter().map(|violation| violation.to_string()).collect();
        return Err(fail(all.join("; ")));
    }
    let program = objects::layout(&kernel, options).map_err(fail)?;
    let mut compiler = Compiler::new(&kernel, program);
    compiler.kernel_body().map_err(fail)?;
    let Compiler { mut program, sizes, .. } = compiler;
    program.registers = sizes.map(|n| n as usize);
    Ok(program)
}

/// Why a kernel cannot be compiled, without its name.
type Result<T, E = String> = std::result::Result<T, E>;

/// What is there in every kernel that the verifier lets through.
trait Verified<T> {
    fn verified(self) -> Result<T>;
}

impl<T> Verified<T> for Option<T> {
    #[track_caller]
    fn verified(self) -> Result<T> {
        match self {
            Some(found) => Ok(found),
            None => Err(mistake()),
        }
    }
}

/// Adds to a list of the program; gives the number that steps name it by.
fn add<T>(list: &mut Vec<T>, one: T) -> u32 {
    list.push(one);
    list.len() as u32 - 1
}

/// Where the exits of an instruction that owns blocks lead.
struct Target {
    /// How many constructs are around it, itself included.
    depth: usize,
    /// Where lanes wait that have left it.
    exit: u16,
    /// Where lanes wait for the next iteration; loops only.
    next: Option<u16>,
    /// Slots of its results.
    results: Vec<Reg>,
    /// Slots of what a loop carries.
    carried: Vec<Reg>,
}

struct Compiler<'k> {
    kernel: &'k Kernel,
    program: Program,
    lifetimes: Lifetimes,
    /// How often each value is used.
    uses: Vec<u32>,
    /// Slot of each value.
    slots: Vec<Option<Reg>>,
    /// Free slots of each file.
    free: [Vec<u16>; 3],
    /// Slots of each file.
    sizes: [u16; 3],
    /// Slots that are free after each number of [`Lifetimes`], the number with the most first, so that the next is the last.
    expiring: std::collections::BTreeMap<u32, Vec<Reg>>,
    presets: HashMap<Preset, Reg>,
    targets: HashMap<Inst, Target>,
    /// The slots that keep where a ring of the copy engine stands, by its barriers.
    turns: HashMap<warpwright_codegen::ir::Object, [Reg; 2]>,
    /// The elements of a row that a store of matrices writes next.
    elements_of_row: Option<[Reg; super::tensor::ROWS]>,
    /// Constructs around the current place.
    depth: usize,
    /// The outermost construct that an exit compiled so far leads out of; `usize::MAX` for none.
    outermost_exit: usize,
    /// For each block around the current place, the jumps to its end.
    skips: Vec<Vec<usize>>,
    /// What is the work in a kernel with a producer; and whether the current place is in it.
    work: Option<Block>,
    is_work: bool,
    /// The current stretch of code, if its count has begun.
    segment: Option<u32>,
    /// The current instruction.
    at: Option<Inst>,
}

impl<'k> Compiler<'k> {
    fn new(kernel: &'k Kernel, program: Program) -> Compiler<'k> {
        Compiler {
            kernel,
            program,
            lifetimes: Lifetimes::new(kernel),
            uses: kernel.use_counts(),
            slots: vec![None; kernel.values.len()],
            free: Default::default(),
            sizes: [0; 3],
            expiring: Default::default(),
            presets: HashMap::new(),
            targets: HashMap::new(),
            turns: HashMap::new(),
            elements_of_row: None,
            depth: 0,
            outermost_exit: usize::MAX,
            skips: Vec::new(),
            work: kernel.roles().map(|roles| roles.work),
            is_work: false,
            segment: None,
            at: None,
        }
    }

    fn kernel_body(&mut self) -> Result<()> {
        self.block(self.kernel.body, &[])?;
        self.emit(SimStep::Done);
        Ok(())
    }

    /// Compiles a block; its `Yield` moves to `results`.
    fn block(&mut self, block: Block, results: &[Reg]) -> Result<()> {
        self.skips.push(Vec::new());
        let is_work = self.is_work || self.work == Some(block);
        let outside = std::mem::replace(&mut self.is_work, is_work);
        for &inst in &self.kernel.blocks[block].insts {
            self.at = Some(inst);
            self.instruction(inst, results)?;
            self.release(self.lifetimes.end(inst));
        }
        self.is_work = outside;
        let end = self.here();
        for jump in self.skips.pop().unwrap_or_default() {
            self.patch(jump, end);
        }
        Ok(())
    }

    // --- steps ---

    /// Place of the current instruction.
    fn location(&self) -> Location {
        self.at.map_or_else(Location::default, |inst| self.kernel.location(inst))
    }

    fn here(&self) -> u32 {
        self.program.steps.len() as u32
    }

    fn emit(&mut self, step: SimStep) -> usize {
        self.program.steps.push(step);
        self.program.insts.push(self.at);
        self.program.steps.len() - 1
    }

    /// Sets where a jump leads.
    fn patch(&mut self, jump: usize, to: u32) {
        if let SimStep::If { otherwise: target, .. }
        | SimStep::Else { end: target, .. }
        | SimStep::Enter { end: target, .. }
        | SimStep::SkipIfEmpty(target) = &mut self.program.steps[jump]
        {
            *target = to;
        }
    }

    fn check(&mut self, find: super::registers::Check, operands: super::registers::Operands, finding: CheckFailure) {
        let finding = add(&mut self.program.checks, finding);
        self.emit(SimStep::Check(find, operands, finding));
    }

    /// Counts instructions at the current place.
    fn count(&mut self, class: InstructionClass, number: u32) {
        let segment = match self.segment {
            Some(segment) => segment,
            None => {
                let segment = add(&mut self.program.segments, Segment::default());
                self.emit(SimStep::Count(segment));
                self.segment = Some(segment);
                segment
            }
        };
        // Lines are counted, whoever calls.
        let location = Location { caller: None, ..self.location() };
        let items = &mut self.program.segments[segment as usize].items;
        match items.iter_mut().find(|(l, c, _)| *l == location && *c == class) {
            Some((_, _, n)) => *n += number,
            None => items.push((location, class, number)),
        }
    }

    // --- slots ---

    fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    /// The slot of a value that is used.
    fn slot(&self, value: Value) -> Result<Reg> {
        let slot = self.slots.get(usize::from(value)).copied().flatten();
        slot.verified()
    }

    fn slots(&self, values: &[Value]) -> Result<Vec<Reg>> {
        values.iter().map(|value| self.slot(*value)).collect()
    }

    /// A slot for a value being defined, until its last use.
    fn define(&mut self, value: Value) -> Result<Reg> {
        let reg = self.allocate(self.ty(value))?;
        self.slots[usize::from(value)] = Some(reg);
        self.expire(reg, self.lifetimes.last(value));
        Ok(reg)
    }

    fn define_all(&mut self, values: &[Value]) -> Result<Vec<Reg>> {
        values.iter().map(|value| self.define(*value)).collect()
    }

    fn expire(&mut self, reg: Reg, after: u32) {
        self.expiring.entry(after).or_default().push(reg);
    }

    /// Frees slots that are needed up to `number` and no longer.
    fn release(&mut self, number: u32) {
        while let Some(entry) = self.expiring.first_entry().filter(|entry| *entry.key() <= number) {
            for reg in entry.remove() {
                self.free(reg);
            }
        }
    }

    fn free(&mut self, reg: Reg) {
        self.free[reg.file()].push(reg.index());
    }

    fn allocate(&mut self, ty: Type) -> Result<Reg> {
        self.allocate_in(Reg::file_of(ty))
    }

    fn allocate_in(&mut self, file: usize) -> Result<Reg> {
        match self.free[file].pop() {
            Some(index) => Ok(Reg::new(file, index)),
            None => self.unused(file),
        }
    }

    /// A slot that nothing had before.
    fn unused(&mut self, file: usize) -> Result<Reg> {
        let index = self.sizes[file];
        self.sizes[file] = index.checked_add(1).ok_or("more than 65,535 values live at once; unroll less, or split the kernel")?;
        Ok(Reg::new(file, index))
    }

    /// A slot of its own for what is known before the kernel starts.
    fn preset(&mut self, ty: Type, preset: Preset) -> Result<Reg> {
        if let Some(reg) = self.presets.get(&preset) {
            return Ok(*reg);
        }
        // Not from the free list: what is preset must not have been overwritten by what used the slot before.
        let reg = self.unused(Reg::file_of(ty))?;
        self.presets.insert(preset, reg);
        self.program.presets.push((reg, preset));
        Ok(reg)
    }

    fn new_mask(&mut self) -> Result<u16> {
        let mask =
            u16::try_from(self.program.masks).map_err(|_| "more than 65,536 loops and branches; unroll less, or split the kernel")?;
        self.program.masks += 1;
        Ok(mask)
    }

    /// Moves values to slots in the active lanes, all at once: as if every source were read before any slot is written.
    fn moves(&mut self, to: &[Reg], from: &[Reg]) -> Result<()> {
        if to.len() != from.len() {
            return Err(mistake());
        }
        let mut pending: Vec<(Reg, Reg)> = to.iter().copied().zip(from.iter().copied()).filter(|(d, a)| d != a).collect();
        let mut temporaries = Vec::new();
        while !pending.is_empty() {
            // A slot that no pending move reads may be written.
            if let Some(n) = (0..pending.len()).find(|n| pending.iter().all(|(_, a)| *a != pending[*n].0)) {
                let (d, a) = pending.swap_remove(n);
                self.emit(SimStep::Move(d, a.index()));
                continue;
            }
            // Only cycles are left: keep one slot's value aside.
            let (d, _) = pending[0];
            let aside = self.allocate_in(d.file())?;
            temporaries.push(aside);
            self.emit(SimStep::Move(aside, d.index()));
            pending.iter_mut().filter(|(_, a)| *a == d).for_each(|(_, a)| *a = aside);
        }
        temporaries.into_iter().for_each(|reg| self.free(reg));
        Ok(())
    }
}
