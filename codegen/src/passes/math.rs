//! Functions that PTX has no instruction for become the instructions of the library's functions ([`crate::library`]).
//!
//! **Needs** nothing; stands before all that makes addresses, since the library's tables are read by their indices. **Preserves** what a function
//! computes within its error bound; the library's code is as it was optimised, and no product and sum in it is fused that did not say so. Every
//! instruction stands at the place in the source that calls the function. **Refuses** a function that the library lacks: then PTX does.

use super::rewrite::Rewrite;
use crate::collections::HashMap;
use crate::ir::intrinsic::Intrinsic;
use crate::ir::{
    Access, Address, Block, Builder, Inst, Kernel, Loc, Memory, MemoryOp, Object, ObjectData, ObjectKind, Op, Step, Terminator, Type, Value,
};
use crate::library;

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let is_asked_for = kernel.insts.values().any(|inst| matches!(inst.op, Op::Intrinsic(row, _) if row.row().is_of_the_library()));
    if !is_asked_for {
        return false;
    }
    let body = kernel.body;
    let mut rewrite = Rewrite::new(kernel);
    expand_block(&mut rewrite, &mut Library::default(), body);
    rewrite.changed
}

/// The functions that a kernel has asked for, by name and type; none where the library lacks one.
type Library = HashMap<(&'static str, Type), Option<Kernel>>;

fn expand_block(rewrite: &mut Rewrite<'_>, library: &mut Library, block: Block) {
    let insts = rewrite.take(block);
    // What an earlier instruction of the block has computed beside its own result.
    let mut known: HashMap<Inst, Value> = HashMap::default();
    let mut calls = calls(rewrite, &insts);
    for (n, inst) in insts.iter().copied().enumerate() {
        rewrite.resolve_operands(inst);
        for child in rewrite.kernel.insts[inst].op.blocks() {
            expand_block(rewrite, library, child);
        }
        let Some(result) = rewrite.result(inst) else {
            rewrite.keep(block, inst);
            continue;
        };
        if let Some(value) = known.remove(&inst) {
            rewrite.replace(result, value);
            continue;
        }
        let partner = partner(rewrite, inst, n, &mut calls);
        match expand(rewrite.kernel, library, block, inst, partner.is_some())[..] {
            [value] => rewrite.replace(result, value),
            [first, second] => {
                let is_first = row(rewrite.kernel, inst).and_then(|row| row.together).is_none_or(|together| together.result == 0);
                let (value, other) = if is_first { (first, second) } else { (second, first) };
                rewrite.replace(result, value);
                known.extend(partner.map(|partner| (partner, other)));
            }
            _ => rewrite.keep(block, inst),
        }
    }
}

/// The row of an instruction that calls a function of the library.
fn row(kernel: &Kernel, inst: Inst) -> Option<&'static Intrinsic> {
    let Op::Intrinsic(row, _) = &kernel.insts[inst].op else { return None };
    Some(row.row()).filter(|row| row.is_of_the_library())
}

/// The calls of a block that functions compute two of together: by name and argument, the places at which they stand, last ones first.
type Calls = HashMap<(&'static str, Value), Vec<(usize, Inst)>>;

fn argument(rewrite: &Rewrite<'_>, inst: Inst) -> Option<Value> {
    if let Op::Intrinsic(_, arguments) = &rewrite.kernel.insts[inst].op {
        arguments.first().map(|value| rewrite.resolve(*value))
    } else {
        None
    }
}

fn calls(rewrite: &Rewrite<'_>, insts: &[Inst]) -> Calls {
    let mut calls = Calls::default();
    for (n, inst) in insts.iter().copied().enumerate().rev() {
        let row = row(rewrite.kernel, inst).filter(|row| row.together.is_some());
        if let Some((row, argument)) = row.zip(argument(rewrite, inst)) {
            calls.entry((row.name, argument)).or_default().push((n, inst));
        }
    }
    calls
}

/// What is computed together with the n-th instruction, further down its block: the cosine of what it takes the sine of, or the other way round.
fn partner(rewrite: &Rewrite<'_>, inst: Inst, n: usize, calls: &mut Calls) -> Option<Inst> {
    let wanted = row(rewrite.kernel, inst)?.together?.with;
    let others = calls.get_mut(&(wanted, argument(rewrite, inst)?))?;
    while others.pop_if(|(place, _)| *place <= n).is_some() {}
    others.last().map(|(_, other)| *other)
}

/// Appends what computes an instruction's result to `block`, and gives the result; two results if it is `both`.
fn expand(kernel: &mut Kernel, library: &mut Library, block: Block, inst: Inst, both: bool) -> Vec<Value> {
    let data = &kernel.insts[inst];
    let (Op::Intrinsic(_, arguments), Some(row)) = (&data.op, row(kernel, inst)) else { return Vec::new() };
    let name = row.together.filter(|_| both).map_or(row.name, |together| together.function);
    let Some(ty) = arguments.first().map(|first| kernel.ty(*first)) else { return Vec::new() };
    let library = library.entry((name, ty)).or_insert_with(|| library::function(name, ty));
    let Some(library) = library else { return Vec::new() };
    let mut import = Import { library, arguments: arguments.clone(), loc: data.loc, names: Names::default(), results: Vec::new() };
    import.contents(kernel, library.body, block);
    import.results
}

/// A function's kernel being copied into another.
struct Import<'l> {
    library: &'l Kernel,
    arguments: Vec<Value>,
    /// Where the function is called.
    loc: Loc,
    names: Names,
    /// What is stored, in order.
    results: Vec<Value>,
}

/// What stands for the library's entities.
#[derive(Default)]
struct Names {
    values: HashMap<Value, Value>,
    insts: HashMap<Inst, Inst>,
    objects: HashMap<Object, Object>,
}

impl Import<'_> {
    fn contents(&mut self, kernel: &mut Kernel, from: Block, into: Block) {
        for inst in &self.library.blocks[from].insts {
            self.inst(kernel, *inst, into);
        }
    }

    fn inst(&mut self, kernel: &mut Kernel, inst: Inst, into: Block) {
        let data = &self.library.insts[inst];
        match &data.op {
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) })
                if self.library.objects[access.object].kind == ObjectKind::Value =>
            {
                let parameter = self.library.params.iter().position(|object| *object == access.object);
                let argument = parameter.and_then(|n| self.arguments.get(n));
                self.names.values.extend(data.results.first().copied().zip(argument.copied()));
                return;
            }
            Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(_) }) => {
                let values: Vec<_> = values.iter().map(|value| self.value(*value)).collect();
                return self.results.extend(values);
            }
            Op::Terminator(Terminator::Return) => return,
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => {}
        }
        let mut op = data.op.clone();
        op.for_each_operand_mut(|value| *value = self.value(*value));
        if let Op::Memory(Memory { at: Address::Path(access), .. }) = &mut op {
            self.widen(kernel, access, into);
        }
        let types: Vec<_> = data.results.iter().map(|value| self.library.ty(*value)).collect();
        let copy = kernel.new_inst(op.clone(), &types, self.loc);
        self.names.insts.insert(inst, copy);
        op.for_each_block_mut(|block| *block = self.block(kernel, *block));
        op.for_each_object_mut(|object| *object = self.object(kernel, *object));
        if let Op::Terminator(Terminator::Break(target, _) | Terminator::Continue(target, _)) = &mut op {
            *target = self.names.insts[target];
        }
        kernel.insts[copy].op = op;
        self.names.values.extend(data.results.iter().copied().zip(kernel.insts[copy].results.iter().copied()));
        kernel.blocks[into].insts.push(copy);
    }

    /// Makes the indices of an access as wide as the kernel's: the library's have 32 bits.
    fn widen(&self, kernel: &mut Kernel, access: &mut Access, into: Block) {
        let ty = kernel.index_type();
        for step in &mut access.path {
            if let Step::Index(index) = step {
                *index = Builder::new(kernel, into, self.loc).cast(*index, ty);
            }
        }
    }

    fn value(&self, value: Value) -> Value {
        self.names.values[&value]
    }

    fn block(&mut self, kernel: &mut Kernel, block: Block) -> Block {
        let params = &self.library.blocks[block].params;
        let types: Vec<_> = params.iter().map(|value| self.library.ty(*value)).collect();
        let copy = kernel.new_block(&types);
        self.names.values.extend(params.iter().copied().zip(kernel.blocks[copy].params.iter().copied()));
        self.contents(kernel, block, copy);
        copy
    }

    /// A table of the library's: one for all functions that read it.
    fn object(&mut self, kernel: &mut Kernel, object: Object) -> Object {
        if let Some(known) = self.names.objects.get(&object) {
            return *known;
        }
        let data = &self.library.objects[object];
        let copy = ObjectData { name: library::TABLE.to_owned(), loc: self.loc, ..data.clone() };
        let known = kernel.objects.iter().find(|(_, known)| known.name == copy.name && known.kind == copy.kind).map(|(object, _)| object);
        let copy = known.unwrap_or_else(|| kernel.objects.push(copy));
        self.names.objects.insert(object, copy);
        copy
    }
}
