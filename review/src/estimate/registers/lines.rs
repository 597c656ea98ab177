//! Registers live at each source line, in the order in which PTX is printed: where to look, not what an assembler will need.

use super::code::{self, Code, Inst, Reg, Stretch};
use super::flow::{self, Set};
use super::locals;
use super::simplify::{self, MachineFeatures};
use std::collections::BTreeMap;
use warpwright_codegen::backend::ptx;
use warpwright_codegen::ir::Kernel;
use warpwright_codegen::target::Target;

/// Registers live at a source line, *estimated*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRegisters {
    /// Index into [`Kernel::files`].
    pub file: u16,
    /// From 1.
    pub line: u32,
    /// The most that are live at one of its instructions.
    pub live: u32,
}

/// The registers live at each line of a kernel of stage `Addressed`, in the order of files and lines. Instructions stand as they are printed;
/// the assembler moves them, so that the most of these figures is not the estimate.
pub fn live_by_line(kernel: &Kernel, target: &'static Target) -> Vec<LineRegisters> {
    let mut code = code::read(&ptx::body(kernel, target));
    locals::promote(&mut code);
    simplify::simplify(&mut code, MachineFeatures::of(target.capability));
    let successors = flow::successors(&code);
    let out = flow::live_out(&code, &successors);
    let mut lines: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut live = Live { code: &code, is_live: vec![false; code.widths.len()], count: 0 };
    for (stretch, out) in code.stretches.iter().zip(out) {
        out.iter().for_each(|reg| live.set(reg, true));
        for inst in stretch.insts.iter().rev() {
            let most = live.step(inst);
            let [file, line, _] = code.places[inst.place as usize];
            if line != 0 {
                let known = lines.entry((file, line)).or_default();
                *known = most.max(*known);
            }
        }
        live.clear(stretch, &out);
    }
    let of = |((file, line), live): ((u32, u32), u32)| Some(LineRegisters { file: u16::try_from(file.checked_sub(1)?).ok()?, line, live });
    lines.into_iter().filter_map(of).collect()
}

/// What is live at a point of a stretch, walked from its end.
struct Live<'c> {
    code: &'c Code,
    is_live: Vec<bool>,
    count: u32,
}

impl Live<'_> {
    /// Forgets what may be live at the beginning of a stretch that was walked.
    fn clear(&mut self, stretch: &Stretch, out: &Set) {
        let used = stretch.insts.iter().flat_map(|inst| inst.dst.iter().chain(inst.src.as_slice()).chain(&inst.guard)).copied();
        used.chain(out.iter()).for_each(|reg| self.is_live[reg as usize] = false);
        self.count = 0;
    }

    /// Goes before an instruction; the most that is live on either side of it.
    fn step(&mut self, inst: &Inst) -> u32 {
        let behind = self.count;
        if inst.guard.is_none() {
            inst.dst.iter().for_each(|reg| self.set(*reg, false));
        }
        inst.src.iter().chain(&inst.guard).for_each(|reg| self.set(*reg, true));
        behind.max(self.count)
    }

    fn set(&mut self, reg: Reg, is_live: bool) {
        let width = u32::from(self.code.widths[reg as usize]);
        match (self.is_live[reg as usize], is_live) {
            (false, true) => self.count += width,
            (true, false) => self.count -= width,
            _ => {}
        }
        self.is_live[reg as usize] = is_live;
    }
}
