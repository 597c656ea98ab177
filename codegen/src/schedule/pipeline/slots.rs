//! The slots of rings: where they are, how they are aligned, which one an iteration has, and how an access goes to one.

use super::super::roles;
use super::engine::Barriers;
use super::multicast::Multicast;
use super::producer::Flow;
use super::{Plan, SLOT_ALIGN, Way};
use crate::annotations::Modifier;
use crate::collections::{HashMap, HashSet};
use crate::ir::{
    Address, Asked, BinaryOp, Builder, CompareOp, Inst, Kernel, Memory, MemoryType, Object, Op, Ring, Scalar, Step, Type, Value,
};

/// What the loops before have made.
#[derive(Default)]
pub(super) struct Homes {
    /// Accesses of loops that stay as they are.
    pub(super) plain: HashSet<Inst>,
    /// Where the slots of an array are.
    pub(super) of: HashMap<Object, Object>,
    /// Those that have slots.
    pub(super) rings: HashSet<Object>,
    pub(super) barriers: Vec<Barriers>,
    /// Those whose phases go on where they stood.
    pub(super) run_again: Vec<Barriers>,
    pub(super) produced: roles::Produced,
    /// What loops with a producer that share a ring have in common.
    pub(super) flows: HashMap<Object, Flow>,
    /// How the blocks of a cluster share what producers copy, if they do.
    pub(super) multicast: Option<Multicast>,
}

impl Homes {
    /// The ring that an array becomes: it itself, but for one that plain loops use, too.
    fn of(&mut self, kernel: &mut Kernel, array: Object) -> Object {
        if let Some(home) = self.of.get(&array) {
            return *home;
        }
        let is_shared = self.plain.iter().any(|inst| kernel.insts[*inst].op.touches(array));
        let home = if is_shared { kernel.objects.push(kernel.objects[array].clone()) } else { array };
        // It lies as the array does.
        if let Some(swizzle) = kernel.swizzled.get(&array).copied() {
            kernel.swizzled.insert(home, swizzle);
        }
        self.of.insert(array, home);
        home
    }
}

impl Plan {
    /// Makes rings of its arrays; gives where the slots of each are.
    pub(super) fn make_rings(&self, kernel: &mut Kernel, asked: &Asked, way: Way, homes: &mut Homes) -> HashMap<Object, Object> {
        let is_required = !asked.says(Modifier::BestEffort);
        let rings: HashMap<Object, Object> = self.rings.iter().map(|array| (*array, homes.of(kernel, *array))).collect();
        for ring in rings.values() {
            kernel.rings.insert(*ring, Ring { place: asked.place, is_required, fill: way.fill, by: way.by });
            let before = !homes.rings.insert(*ring);
            let data = &mut kernel.objects[*ring];
            data.ty = match (before, data.ty.clone()) {
                (true, MemoryType::Array(slot, slots)) => MemoryType::Array(slot, slots.max(self.stages.into())),
                (_, slot) => MemoryType::Array(Box::new(aligned(slot, &kernel.structs)), self.stages.into()),
            };
        }
        rings
    }

    /// The slot behind one, and whether that one is the last, behind which the first comes.
    pub(super) fn after(&self, b: &mut Builder<'_>, slot: Value) -> (Value, Value) {
        let [zero, one, stages] = [0, 1, self.stages].map(|number| b.constant(Scalar::u32(number)));
        let after = b.binary(BinaryOp::Add, slot, one);
        let is_last = b.compare(CompareOp::Eq, after, stages);
        (b.select(is_last, zero, after), is_last)
    }

    /// The slot of the iteration with this counter, where that goes up by one, and there are 2ⁿ slots.
    pub(super) fn slot_of(&self, b: &mut Builder<'_>, counter: Value) -> Value {
        let ty = b.kernel.ty(counter);
        let bits = b.bitcast(counter, ty.to_unsigned());
        let low = b.cast(bits, Type::U32);
        let mask = b.constant(Scalar::u32(self.stages - 1));
        b.binary(BinaryOp::And, low, mask)
    }

    /// The parity of the phase that this iteration waits for, where [`Plan::slot_of`] tells the slot: each is filled once in as many iterations as there are slots.
    pub(super) fn parity_of(&self, b: &mut Builder<'_>, counter: Value) -> Value {
        let ty = b.kernel.ty(counter).to_unsigned();
        let number = b.binary(BinaryOp::Sub, counter, self.walk.start);
        let bits = b.bitcast(number, ty);
        let low = b.cast(bits, Type::U32);
        let places = b.constant(Scalar::u32(self.stages.trailing_zeros()));
        let one = b.constant(Scalar::u32(1));
        let turns = b.binary(BinaryOp::Shr, low, places);
        b.binary(BinaryOp::And, turns, one)
    }
}

/// Puts an access, if it is one to an array that became a ring, into one of its slots.
pub(super) fn in_slot(kernel: &mut Kernel, access: Inst, slot: Value, rings: &HashMap<Object, Object>) {
    in_part(kernel, access, &[slot], rings);
}

/// The same, into a part of a slot: `place` is the slot, and the part.
pub(super) fn in_part(kernel: &mut Kernel, access: Inst, place: &[Value], rings: &HashMap<Object, Object>) {
    let accesses = match &mut kernel.insts[access].op {
        Op::Memory(Memory { at: Address::Path(access), .. }) => vec![access],
        Op::Collective(collective) => vec![collective.array_mut()],
        Op::Tensor(tensor) => tensor.arrays_mut(),
        Op::Memory(_)
        | Op::Compute(_)
        | Op::Texture(..)
        | Op::Intrinsic(..)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => return,
    };
    for access in accesses {
        if let Some(ring) = rings.get(&access.object) {
            access.object = *ring;
            access.path.splice(0..0, place.iter().map(|index| Step::Index(*index)));
        }
    }
}

/// A type with so much room behind its elements that the next of its kind is aligned like the first.
fn aligned(ty: MemoryType, structs: &crate::ir::EntityMap<crate::ir::StructId, crate::ir::StructType>) -> MemoryType {
    let size = ty.size(structs);
    match ty {
        MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) if !size.is_multiple_of(SLOT_ALIGN) => {
            let of = element.size(structs).max(1);
            let taken = size / of;
            let more = (0..SLOT_ALIGN).find(|more| ((taken + more) * of).is_multiple_of(SLOT_ALIGN)).unwrap_or(0);
            MemoryType::Padded(element, n, taken - n + more)
        }
        ty @ (MemoryType::Scalar(_) | MemoryType::Array(..) | MemoryType::Padded(..) | MemoryType::Slice(_) | MemoryType::Struct(_)) => ty,
    }
}
