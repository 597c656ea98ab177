//! Dead code: what nobody needs goes.
//!
//! **Needs** nothing. **Preserves** every effect, every exit, and all values that an effect or an exit depends on. **Refuses** to
//! remove a `Loop` (nobody knows that it ends, and in Rust `loop {}` does not), warp exchanges, barriers, fences, assertions,
//! prints and atomics, whether or not their results are used.
//!
//! One mark and one sweep. Roots are the instructions with effects, `Return` and `Trap`; from them the marks go to the operands,
//! to the owners of the blocks they stand in, and, through a region's results and a loop's carried values, *one position at a
//! time*: a carried value that only feeds itself is never reached and goes, with its place in `init`, parameters, exits and
//! results. A store to a local array that nobody loads from is no effect. A load without a use goes, and a division too: what is
//! undefined (on a device) or a fault (in the simulator) need not happen. A local or shared array or a table that nothing touches any more
//! goes, too: a variant that leaves an operand in global memory pays for no tile. Dynamic shared memory stays: its length is the launch's.

use crate::analysis::exits::{Exits, exit_values_mut};
use crate::ir::{
    Block, Control, EntityMap, Inst, Kernel, MemoryType, Object, ObjectData, ObjectKind, Op, Region, Terminator, Value, ValueDef,
};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let exits = Exits::of(kernel);
    let mut marks = Marks::new(kernel, &exits);
    marks.roots();
    marks.propagate();
    let Marks { insts, values, .. } = marks;
    let mut sweep = Sweep { kernel, exits: &exits, insts, values, changed: false };
    sweep.block(sweep.kernel.body);
    let changed = sweep.changed;
    drop_objects(kernel) | changed
}

/// Arrays of a thread or a block and constant tables that nothing touches any more go; the objects behind them are renumbered.
fn drop_objects(kernel: &mut Kernel) -> bool {
    let is_own = |object: &ObjectData| match object.kind {
        ObjectKind::Local | ObjectKind::Table(_) | ObjectKind::Peers(_) => true,
        ObjectKind::Shared => !matches!(object.ty, MemoryType::Slice(_)),
        ObjectKind::Value | ObjectKind::Global { .. } | ObjectKind::Constant | ObjectKind::Texture => false,
    };
    if !kernel.objects.values().any(is_own) {
        return false;
    }
    let mut used: Vec<bool> = kernel.objects.values().map(|object| !is_own(object)).collect();
    let touching: Vec<Inst> = kernel.insts_in(kernel.body).collect();
    for inst in &touching {
        kernel.insts[*inst].op.for_each_object_mut(|object| used[usize::from(*object)] = true);
    }
    // What the blocks' arrays are is asked by its own name only.
    for (n, object) in kernel.objects.values().enumerate() {
        if let (true, ObjectKind::Peers(array)) = (used[n], &object.kind) {
            used[usize::from(*array)] = true;
        }
    }
    if !used.contains(&false) {
        return false;
    }
    let mut kept = EntityMap::default();
    let names: Vec<Option<Object>> =
        used.iter().enumerate().map(|(n, used)| used.then(|| kept.push(kernel.objects[Object::from(n)].clone()))).collect();
    let name = |object: &Object| names[usize::from(*object)];
    for n in 0..kept.len() {
        if let ObjectKind::Peers(array) = &mut kept[Object::from(n)].kind {
            *array = name(array).unwrap_or(*array);
        }
    }
    kernel.objects = kept;
    kernel.params = kernel.params.iter().filter_map(name).collect();
    kernel.swizzled = kernel.swizzled.iter().filter_map(|(object, swizzle)| Some((name(object)?, *swizzle))).collect();
    kernel.rings = kernel.rings.iter().filter_map(|(object, ring)| Some((name(object)?, *ring))).collect();
    kernel.cached = kernel.cached.iter().filter_map(|(object, hint)| Some((name(object)?, *hint))).collect();
    for inst in touching {
        kernel.insts[inst].op.for_each_object_mut(|object| *object = name(object).unwrap_or(*object));
    }
    true
}

/// What is needed so far.
struct Marks<'k> {
    kernel: &'k Kernel,
    exits: &'k Exits,
    insts: Vec<bool>,
    values: Vec<bool>,
    /// Marked values whose own needs have not been looked at.
    pending: Vec<Value>,
    /// By instruction: the owner of the block it stands in.
    owner_of: Vec<Option<Inst>>,
    /// By block: the instruction that owns it.
    block_owner: Vec<Option<Inst>>,
}

impl<'k> Marks<'k> {
    fn new(kernel: &'k Kernel, exits: &'k Exits) -> Marks<'k> {
        Marks {
            kernel,
            exits,
            insts: vec![false; kernel.insts.len()],
            values: vec![false; kernel.values.len()],
            pending: Vec::new(),
            owner_of: vec![None; kernel.insts.len()],
            block_owner: vec![None; kernel.blocks.len()],
        }
    }

    fn roots(&mut self) {
        let (kernel, mut read) = (self.kernel, vec![false; self.kernel.objects.len()]);
        kernel.for_each_inst(|kernel, _, inst| {
            if let Some(object) = kernel.effects(inst).reads {
                read[usize::from(object)] = true;
            }
        });
        let mut roots = Vec::new();
        kernel.for_each_inst(|kernel, block, inst| {
            let op = &kernel.insts[inst].op;
            self.owner_of[usize::from(inst)] = self.block_owner[usize::from(block)];
            for child in op.blocks() {
                self.block_owner[usize::from(child)] = Some(inst);
            }
            if is_root(kernel, op, &read) {
                roots.push(inst);
            }
        });
        roots.into_iter().for_each(|inst| self.inst(inst));
    }

    fn propagate(&mut self) {
        while let Some(value) = self.pending.pop() {
            match self.kernel.values[value].def {
                ValueDef::Result(inst, n) => self.result(inst, usize::from(n)),
                ValueDef::Param(block, n) => self.param(block, usize::from(n)),
            }
        }
    }

    fn value(&mut self, value: Value) {
        if !std::mem::replace(&mut self.values[usize::from(value)], true) {
            self.pending.push(value);
        }
    }

    /// An instruction is needed: so are its operands (a region's carried values and exits' values one by one, elsewhere), the
    /// regions round it and, if it is a region, the exits that decide when it ends.
    fn inst(&mut self, inst: Inst) {
        if std::mem::replace(&mut self.insts[usize::from(inst)], true) {
            return;
        }
        if let Some(owner) = self.owner_of[usize::from(inst)] {
            self.inst(owner);
        }
        let kernel = self.kernel;
        match &kernel.insts[inst].op {
            Op::Region(Region::For { start, end, step, .. }) => [*start, *end, *step].into_iter().for_each(|value| self.value(value)),
            Op::Region(Region::If { condition, .. }) => self.value(*condition),
            Op::Region(Region::Loop { .. } | Region::Block { .. })
            | Op::Terminator(Terminator::Yield(_) | Terminator::Break(..) | Terminator::Continue(..)) => {}
            op @ (Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_)) => {
                op.for_each_operand(|value| self.value(value));
            }
        }
        let exits = self.exits.get(inst);
        exits.breaks.iter().chain(&exits.continues).for_each(|exit| self.inst(*exit));
    }

    fn result(&mut self, inst: Inst, n: usize) {
        self.inst(inst);
        match self.kernel.insts[inst].op {
            Op::Region(Region::If { .. } | Region::Block { .. }) => self.handed_over(inst, n, true, true),
            Op::Region(Region::Loop { .. }) => self.handed_over(inst, n, true, false),
            Op::Region(Region::For { .. }) => self.carried(inst, n),
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_) => {}
        }
    }

    fn param(&mut self, block: Block, n: usize) {
        let Some(owner) = self.block_owner[usize::from(block)] else { return };
        self.inst(owner);
        match (&self.kernel.insts[owner].op, n) {
            (Op::Region(Region::For { .. }), 0) => {}
            (Op::Region(Region::For { .. }), n) => self.carried(owner, n - 1),
            (Op::Region(Region::Loop { init, .. }), n) => {
                self.value(init[n]);
                self.handed_over(owner, n, false, true);
            }
            _ => {}
        }
    }

    /// The n-th carried value of a `For` is its n-th result, too: both stay or both go.
    fn carried(&mut self, owner: Inst, n: usize) {
        let Op::Region(Region::For { init, body, .. }) = &self.kernel.insts[owner].op else { return };
        self.value(init[n]);
        self.value(self.kernel.blocks[*body].params[n + 1]);
        self.value(self.kernel.insts[owner].results[n]);
        self.handed_over(owner, n, true, true);
    }

    /// The n-th value that the breaks, or the yields and continues, of a region hand over.
    fn handed_over(&mut self, owner: Inst, n: usize, breaks: bool, next: bool) {
        let (kernel, exits) = (self.kernel, self.exits.get(owner));
        let of = |inst: &Inst| crate::analysis::exits::exit_values(&kernel.insts[*inst].op).get(n).copied();
        let breaks = exits.breaks.iter().filter(|_| breaks);
        breaks.chain(exits.yields.iter().chain(&exits.continues).filter(|_| next)).filter_map(of).for_each(|value| self.value(value));
    }
}

/// Whether an instruction is needed whatever its results are.
fn is_root(kernel: &Kernel, op: &Op, read: &[bool]) -> bool {
    let effects = op.effects(kernel);
    let is_seen = |object: Object| kernel.objects[object].kind != ObjectKind::Local || read[usize::from(object)];
    effects.writes.is_some_and(is_seen)
        || effects.is_observed
        || effects.is_convergent()
        || effects.orders.is_some()
        || effects.control == Control::MayEnd
}

struct Sweep<'k> {
    kernel: &'k mut Kernel,
    exits: &'k Exits,
    insts: Vec<bool>,
    values: Vec<bool>,
    changed: bool,
}

impl Sweep<'_> {
    fn block(&mut self, block: Block) {
        let mut insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        let before = insts.len();
        insts.retain(|inst| self.insts[usize::from(*inst)] || self.kernel.insts[*inst].op.is_terminator());
        self.changed |= insts.len() != before;
        for inst in &insts {
            let children = self.kernel.insts[*inst].op.blocks();
            if !children.is_empty() {
                self.narrow(*inst);
            }
            children.into_iter().for_each(|child| self.block(child));
        }
        self.kernel.blocks[block].insts = insts;
    }

    /// Takes the unneeded results and carried values from a region that stays.
    fn narrow(&mut self, inst: Inst) {
        let results = self.needed(&self.kernel.insts[inst].results);
        let exits = self.exits.get(inst);
        match self.kernel.insts[inst].op {
            Op::Region(Region::Loop { body, .. }) => {
                let carried = self.needed(&self.kernel.blocks[body].params);
                self.narrow_exits(&exits.breaks, &results);
                self.narrow_exits(&exits.yields, &carried);
                self.narrow_exits(&exits.continues, &carried);
                self.narrow_carried(inst, body, &carried, 0);
            }
            Op::Region(Region::For { body, .. }) => {
                for list in [&exits.breaks, &exits.yields, &exits.continues] {
                    self.narrow_exits(list, &results);
                }
                self.narrow_carried(inst, body, &results, 1);
            }
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => {
                self.narrow_exits(&exits.breaks, &results);
                self.narrow_exits(&exits.yields, &results);
            }
        }
        if results.contains(&false) {
            self.changed = true;
            retain_at(&mut self.kernel.insts[inst].results, &results);
            for (n, value) in self.kernel.insts[inst].results.iter().enumerate() {
                self.kernel.values[*value].def = ValueDef::Result(inst, n as u16);
            }
        }
    }

    fn needed(&self, values: &[Value]) -> Vec<bool> {
        values.iter().map(|value| self.values[usize::from(*value)]).collect()
    }

    fn narrow_exits(&mut self, exits: &[Inst], keep: &[bool]) {
        if keep.contains(&false) {
            for exit in exits {
                if let Some(values) = exit_values_mut(&mut self.kernel.insts[*exit].op) {
                    retain_at(values, keep);
                }
            }
        }
    }

    /// `first` parameters come before the carried ones.
    fn narrow_carried(&mut self, inst: Inst, body: Block, keep: &[bool], first: usize) {
        if !keep.contains(&false) {
            return;
        }
        self.changed = true;
        if let Op::Region(Region::For { init, .. } | Region::Loop { init, .. }) = &mut self.kernel.insts[inst].op {
            retain_at(init, keep);
        }
        let mut carried = self.kernel.blocks[body].params.split_off(first);
        retain_at(&mut carried, keep);
        self.kernel.blocks[body].params.append(&mut carried);
        for (n, value) in self.kernel.blocks[body].params.iter().enumerate() {
            self.kernel.values[*value].def = ValueDef::Param(body, n as u16);
        }
    }
}

/// Keeps the items whose position says so.
fn retain_at(values: &mut Vec<Value>, keep: &[bool]) {
    let mut keep = keep.iter();
    values.retain(|_| keep.next().is_none_or(|keep| *keep));
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::check::check;

    #[test]
    fn unused_loads_and_divisions_go_but_effects_stay() {
        check(
            run,
            "v0: u32 = thread_idx.x
             v1: u32 = const 0
             v2: u32 = div v0, v1
             v3: f32 = load m1[v0]
             v4: f32 = const 1.0
             store m2[v0], v4
             v5: u32 = atomic add m3[v0], v0
             return",
            "v0: u32 = thread_idx.x
             v1: f32 = const 1.0
             store m2[v0], v1
             v2: u32 = atomic add m3[v0], v0
             return",
        );
    }

    #[test]
    fn a_carried_value_that_only_feeds_itself_goes_with_its_places() {
        check(
            run,
            "v0: u32 = const 0
             v1: u32 = const 8
             v2: u32 = const 1
             v10: u32, v11: u32, v12: u32 = for i9 (v3: u32 in v0..v1 step v2; v4: u32 = v0, v5: u32 = v1, v6: u32 = v2) {
               v7: u32 = add v4, v2
               v8: u32 = add v5, v3
               v9: bool = lt v6, v8
               if v9 {
                 break i9 v4, v5, v6
               }
               yield v7, v8, v6
             }
             store m3[v0], v11
             return",
            "v0: u32 = const 0
             v1: u32 = const 8
             v2: u32 = const 1
             v10: u32, v11: u32 = for i9 (v3: u32 in v0..v1 step v2; v5: u32 = v1, v6: u32 = v2) {
               v8: u32 = add v5, v3
               v9: bool = lt v6, v8
               if v9 {
                 break i9 v5, v6
               }
               yield v8, v6
             }
             store m3[v0], v10
             return",
        );
    }

    #[test]
    fn stores_to_a_local_array_that_nobody_reads_go_and_a_loop_without_effects_too() {
        check(
            run,
            "v0: u32 = const 0
             v1: u32 = const 8
             v2: u32 = const 1
             v3: f32 = const 1.0
             for i9 (v4: u32 in v0..v1 step v2) {
               store m6[v4], v3
               yield
             }
             return",
            "return",
        );
    }

    #[test]
    fn a_loop_that_may_not_end_stays() {
        check(
            run,
            "loop i1 () {
               v0: u32 = const 1
               continue i1
             }
             return",
            "loop i1 () {
               continue i1
             }
             return",
        );
    }
}
