//! From where to where each value's slot is needed, in a numbering of the kernel's instructions.
//!
//! Instructions are numbered in program order, one that owns blocks at its begin and again at its end. A value lives from its definition
//! to its last use; a use inside a loop that the value enters from outside counts as one at the loop's end, since the next iteration
//! uses it again. Results of an instruction that owns blocks live from its begin, because exits write them from inside. What is
//! carried round a loop lives to the loop's end.

use warpwright_codegen::ir::{Block, Inst, Kernel, Op, Region, Value};

/// Numbers of instructions, and each value's last.
pub(super) struct Lifetimes {
    begin: Vec<u32>,
    end: Vec<u32>,
    defined: Vec<u32>,
    last: Vec<u32>,
    /// How many numbers there are.
    pub(super) count: u32,
}

impl Lifetimes {
    /// Of all values that are reachable.
    pub(super) fn new(kernel: &Kernel) -> Lifetimes {
        let mut lifetimes = Lifetimes {
            begin: vec![0; kernel.insts.len()],
            end: vec![0; kernel.insts.len()],
            defined: vec![0; kernel.values.len()],
            last: vec![0; kernel.values.len()],
            count: 1,
        };
        lifetimes.number(kernel, kernel.body);
        lifetimes.visit(kernel, kernel.body, &mut Vec::new());
        lifetimes
    }

    /// The number of an instruction.
    pub(super) fn begin(&self, inst: Inst) -> u32 {
        self.begin[usize::from(inst)]
    }

    /// The number of its end; the same if it owns no block.
    pub(super) fn end(&self, inst: Inst) -> u32 {
        self.end[usize::from(inst)]
    }

    /// The number after which a value's slot is free.
    pub(super) fn last(&self, value: Value) -> u32 {
        self.last[usize::from(value)]
    }

    fn number(&mut self, kernel: &Kernel, block: Block) {
        for &inst in &kernel.blocks[block].insts {
            let n = usize::from(inst);
            self.begin[n] = self.count;
            let blocks = kernel.insts[inst].op.blocks();
            for child in &blocks {
                self.count += 1;
                self.number(kernel, *child);
            }
            self.end[n] = if blocks.is_empty() { self.begin[n] } else { self.count };
            self.count += 1;
            for value in &kernel.insts[inst].results {
                self.defined[usize::from(*value)] = self.begin[n];
                self.last[usize::from(*value)] = self.end[n];
            }
            for value in blocks.iter().flat_map(|child| &kernel.blocks[*child].params) {
                self.defined[usize::from(*value)] = self.begin[n];
                self.last[usize::from(*value)] = self.end[n];
            }
        }
    }

    fn visit(&mut self, kernel: &Kernel, block: Block, loops: &mut Vec<(u32, u32)>) {
        for &inst in &kernel.blocks[block].insts {
            let op = &kernel.insts[inst].op;
            let at = if let Op::Region(Region::For { .. }) = op { self.end(inst) } else { self.begin(inst) };
            for value in op.operands() {
                self.use_at(value, at, loops);
            }
            let is_loop = matches!(op, Op::Region(Region::For { .. } | Region::Loop { .. }));
            if is_loop {
                loops.push((self.begin(inst), self.end(inst)));
            }
            for child in op.blocks() {
                self.visit(kernel, child, loops);
            }
            if is_loop {
                loops.pop();
            }
        }
    }

    fn use_at(&mut self, value: Value, at: u32, loops: &[(u32, u32)]) {
        let n = usize::from(value);
        let entered = loops.iter().find(|(begin, _)| *begin > self.defined[n]).map_or(at, |(_, end)| *end);
        self.last[n] = self.last[n].max(entered);
    }
}
