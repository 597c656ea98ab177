//! Names: everything that is named exists, has one place, and is defined where it says.

use super::Verifier;
use crate::ir::{Block, Inst, MemoryType, Op, Terminator, Value, ValueDef};

impl Verifier<'_> {
    pub(super) fn check_names(&mut self) {
        let mut seen = Seen { blocks: vec![false; self.kernel.blocks.len()], insts: vec![false; self.kernel.insts.len()] };
        let kernel = self.kernel;
        for object in &kernel.params {
            self.require(kernel.objects.get(*object).is_some(), || format!("parameter {object} does not exist"));
        }
        for (id, object) in kernel.objects.iter() {
            self.require(kernel.locations.get(object.loc).is_some(), || format!("location of {id} does not exist"));
            self.struct_names(&object.ty, kernel.structs.len());
        }
        for (id, ty) in kernel.structs.iter() {
            // Only of earlier ones: no struct holds itself.
            ty.fields.iter().for_each(|field| self.struct_names(&field.ty, usize::from(id)));
        }
        self.block_names(kernel.body, &mut seen);
        self.inst = None;
    }

    fn struct_names(&mut self, ty: &MemoryType, known: usize) {
        match ty {
            MemoryType::Scalar(_) => {}
            MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element) => {
                self.struct_names(element, known);
            }
            MemoryType::Struct(id) => {
                self.require(usize::from(*id) < known, || format!("{id} does not exist"));
            }
        }
    }

    fn block_names(&mut self, block: Block, seen: &mut Seen) {
        let kernel = self.kernel;
        match seen.blocks.get_mut(usize::from(block)) {
            None => return self.complain(format!("{block} does not exist")),
            Some(seen @ false) => *seen = true,
            Some(true) => return self.complain(format!("{block} has two owners")),
        }
        for (n, param) in kernel.blocks[block].params.iter().enumerate() {
            self.definition(*param, |def| matches!(def, ValueDef::Param(b, m) if b == block && usize::from(m) == n));
        }
        for inst in &kernel.blocks[block].insts {
            self.inst = Some(*inst);
            self.inst_names(*inst, seen);
        }
    }

    fn inst_names(&mut self, inst: Inst, seen: &mut Seen) {
        let kernel = self.kernel;
        match seen.insts.get_mut(usize::from(inst)) {
            None => return self.complain(format!("{inst} does not exist")),
            Some(seen @ false) => *seen = true,
            Some(true) => return self.complain(format!("{inst} stands in two places")),
        }
        let data = &kernel.insts[inst];
        self.require(kernel.locations.get(data.loc).is_some(), || format!("{} does not exist", data.loc));
        for (n, result) in data.results.iter().enumerate() {
            self.definition(*result, |def| matches!(def, ValueDef::Result(i, m) if i == inst && usize::from(m) == n));
        }
        data.op.for_each_operand(|value| {
            self.require(kernel.values.get(value).is_some(), || format!("{value} does not exist"));
        });
        let mut op = data.op.clone();
        op.for_each_object_mut(|object| {
            self.require(kernel.objects.get(*object).is_some(), || format!("{object} does not exist"));
        });
        if let Op::Terminator(Terminator::Break(target, _) | Terminator::Continue(target, _)) = data.op {
            self.require(kernel.insts.get(target).is_some(), || format!("{target} does not exist"));
        }
        for block in data.op.blocks() {
            self.block_names(block, seen);
            self.inst = Some(inst);
        }
    }

    fn definition(&mut self, value: Value, is_here: impl FnOnce(ValueDef) -> bool) {
        match self.kernel.values.get(value) {
            None => self.complain(format!("{value} does not exist")),
            Some(data) => {
                self.require(is_here(data.def), || format!("{value} is listed here, but says that it is defined by {:?}", data.def));
            }
        }
    }
}

struct Seen {
    blocks: Vec<bool>,
    insts: Vec<bool>,
}
