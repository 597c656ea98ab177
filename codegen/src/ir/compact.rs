//! Renumbering: a kernel without what nothing reaches, everything numbered in the order of the text form.

use super::{
    Block, BlockData, EntityMap, Inst, InstData, Kernel, Loc, Location, Object, ObjectKind, Op, Ring, Terminator, Value, ValueData,
    ValueDef,
};
use crate::collections::HashMap;

impl Kernel {
    /// Drops instructions, blocks, values and locations that the body does not reach, and renumbers the rest in program order:
    /// an instruction's results, then the parameters of its blocks and what is in them. Parameters become the first objects.
    /// No object or struct is dropped: memory that nobody touches is still asked for. Locations are renumbered too, so the spans
    /// that lowering kept beside them no longer fit: for dumps and tests.
    pub fn compact(&mut self) {
        let mut plan = Plan::new(self);
        plan.number_block(self, self.body);
        plan.apply(self);
    }
}

/// New names: `order` vectors list the old names in their new order, `names` give the new name of an old one.
struct Plan {
    values: Renumbering<Value>,
    insts: Renumbering<Inst>,
    blocks: Renumbering<Block>,
    objects: Renumbering<Object>,
}

struct Renumbering<K> {
    order: Vec<K>,
    names: Vec<Option<K>>,
}

impl<K: Copy + From<usize> + Into<usize>> Renumbering<K> {
    fn new(len: usize) -> Renumbering<K> {
        Renumbering { order: Vec::new(), names: vec![None; len] }
    }

    /// Names `old` next, unless it has a name or does not exist. Whether it was named now.
    fn add(&mut self, old: K) -> bool {
        match self.names.get_mut(old.into()) {
            Some(name @ None) => {
                *name = Some(K::from(self.order.len()));
                self.order.push(old);
                true
            }
            _ => false,
        }
    }

    /// The new name; a name of nothing stays as it is (only a broken kernel has one).
    fn name(&self, old: K) -> K {
        self.names.get(old.into()).copied().flatten().unwrap_or(old)
    }
}

impl Plan {
    fn new(kernel: &Kernel) -> Plan {
        let mut objects = Renumbering::new(kernel.objects.len());
        for object in kernel.params.iter().copied().chain(kernel.objects.keys()) {
            objects.add(object);
        }
        Plan {
            values: Renumbering::new(kernel.values.len()),
            insts: Renumbering::new(kernel.insts.len()),
            blocks: Renumbering::new(kernel.blocks.len()),
            objects,
        }
    }

    fn number_block(&mut self, kernel: &Kernel, block: Block) {
        if !self.blocks.add(block) {
            return;
        }
        for param in &kernel.blocks[block].params {
            self.values.add(*param);
        }
        for inst in &kernel.blocks[block].insts {
            if !self.insts.add(*inst) {
                continue;
            }
            let data = &kernel.insts[*inst];
            for result in &data.results {
                self.values.add(*result);
            }
            for child in data.op.blocks() {
                self.number_block(kernel, child);
            }
        }
    }

    fn apply(mut self, kernel: &mut Kernel) {
        // Values that are used and defined nowhere: a broken kernel must still be printable.
        for inst in &self.insts.order {
            kernel.insts[*inst].op.for_each_operand(|value| {
                self.values.add(value);
            });
        }
        let mut locations = Locations::default();
        kernel.params.iter_mut().for_each(|param| *param = self.objects.name(*param));
        kernel.objects = take(&mut kernel.objects, &self.objects.order, |mut data| {
            if let ObjectKind::Peers(array) = &mut data.kind {
                *array = self.objects.name(*array);
            }
            data.loc = locations.intern_of(&kernel.locations, data.loc);
            data
        });
        kernel.insts = take(&mut kernel.insts, &self.insts.order, |mut data: InstData| {
            self.rename_op(&mut data.op);
            data.results.iter_mut().for_each(|value| *value = self.values.name(*value));
            data.loc = locations.intern_of(&kernel.locations, data.loc);
            data
        });
        kernel.blocks = take(&mut kernel.blocks, &self.blocks.order, |mut data: BlockData| {
            data.params.iter_mut().for_each(|value| *value = self.values.name(*value));
            data.insts.iter_mut().for_each(|inst| *inst = self.insts.name(*inst));
            data
        });
        kernel.values = take(&mut kernel.values, &self.values.order, |mut data: ValueData| {
            data.def = match data.def {
                ValueDef::Result(inst, n) => ValueDef::Result(self.insts.name(inst), n),
                ValueDef::Param(block, n) => ValueDef::Param(self.blocks.name(block), n),
            };
            data
        });
        kernel.body = self.blocks.name(kernel.body);
        let annotations =
            std::mem::take(&mut kernel.annotations).into_iter().filter(|(inst, _)| self.insts.names[usize::from(*inst)].is_some());
        kernel.annotations = annotations.map(|(inst, asked)| (self.insts.name(inst), asked)).collect();
        for early in &mut kernel.early_loads {
            let kept = early.loads.iter().filter(|inst| self.insts.names[usize::from(**inst)].is_some());
            early.loads = kept.map(|inst| self.insts.name(*inst)).collect();
            early.place = locations.intern_of(&kernel.locations, early.place);
        }
        kernel.early_loads.retain(|early| !early.loads.is_empty());
        kernel.swizzled = kernel.swizzled.iter().map(|(object, swizzle)| (self.objects.name(*object), *swizzle)).collect();
        kernel.rings = std::mem::take(&mut kernel.rings)
            .into_iter()
            .map(|(object, ring)| (self.objects.name(object), Ring { place: locations.intern_of(&kernel.locations, ring.place), ..ring }))
            .collect();
        kernel.cached = kernel.cached.iter().map(|(object, hint)| (self.objects.name(*object), *hint)).collect();
        kernel.locations = locations.table;
    }

    fn rename_op(&self, op: &mut Op) {
        op.for_each_operand_mut(|value| *value = self.values.name(*value));
        op.for_each_block_mut(|block| *block = self.blocks.name(*block));
        op.for_each_object_mut(|object| *object = self.objects.name(*object));
        if let Op::Terminator(Terminator::Break(target, _) | Terminator::Continue(target, _)) = op {
            *target = self.insts.name(*target);
        }
    }
}

/// The items named by `order`, in that order, each changed by `change`.
fn take<K, V>(map: &mut EntityMap<K, V>, order: &[K], mut change: impl FnMut(V) -> V) -> EntityMap<K, V>
where
    K: Copy + From<usize> + Into<usize>,
    V: Clone,
{
    let mut taken = EntityMap::default();
    for key in order {
        taken.push(change(map[*key].clone()));
    }
    taken
}

/// A table of locations in order of first use; entry 0 is "nowhere".
pub(crate) struct Locations {
    pub(crate) table: EntityMap<Loc, Location>,
    known: HashMap<Location, Loc>,
}

impl Default for Locations {
    fn default() -> Locations {
        let mut locations = Locations { table: EntityMap::default(), known: HashMap::default() };
        locations.intern(Location::default());
        locations
    }
}

impl Locations {
    /// One of another table, with those that it was called from.
    fn intern_of(&mut self, table: &EntityMap<Loc, Location>, loc: Loc) -> Loc {
        let location = table[loc];
        let caller = location.caller.map(|caller| self.intern_of(table, caller));
        self.intern(Location { caller, ..location })
    }

    pub(crate) fn intern(&mut self, location: Location) -> Loc {
        *self.known.entry(location).or_insert_with(|| self.table.push(location))
    }
}
