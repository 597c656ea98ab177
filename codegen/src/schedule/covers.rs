//! Which elements of shared arrays a block's threads write between them: the stores of some instructions, gone through for every thread of the block.
//!
//! Thread numbers are known then, and so is what is computed of them and of constants: indices, conditions, the bounds of inner loops. What depends on
//! anything else is not: a store whose index is not known writes nothing, and where a condition is not known only what both its arms write counts. So
//! what is found is written whatever the launch.

use crate::collections::{HashMap, HashSet};
use crate::ir::{
    Access, Address, Axis, Compute, Inst, Kernel, Memory, MemoryOp, MemoryType, Object, Op, Region, Scalar, Special, Step, Tensor, Value,
    eval,
};
use crate::target::limits::WARP;

/// Most steps that are gone through, for all threads together.
const MOST_STEPS: u64 = 1 << 23;

/// The first bytes of the scalars that are written, by object.
type Written = HashMap<Object, HashSet<u64>>;

/// Why an array is not known to be written whole.
pub(super) enum Gap {
    /// This scalar of it is not written: the indices that lead to it.
    Element(Vec<u64>),
    /// This store goes to an element that is not known before the launch.
    Unknown(Inst),
    /// There is too much to go through.
    TooMuch,
}

/// The first gap in what the instructions write of each of these arrays, if there is one.
pub(super) fn gap(kernel: &Kernel, insts: &[Inst], arrays: &[Object], block: [u32; 3]) -> Option<(Object, Gap)> {
    let mut walk =
        Walk { kernel, block, thread: [0; 3], bound: HashMap::default(), known: HashMap::default(), steps: 0, unknown: HashMap::default() };
    let mut written = Written::default();
    for z in 0..block[2] {
        for y in 0..block[1] {
            for x in 0..block[0] {
                walk.thread = [x, y, z];
                walk.known.clear();
                walk.insts(insts, &mut written);
            }
        }
    }
    for array in arrays {
        let none = HashSet::default();
        let covered = written.get(array).unwrap_or(&none);
        if let Some(missing) = missing(kernel, &kernel.objects[*array].ty, 0, covered) {
            let unknown = walk.unknown.get(array).map(|inst| Gap::Unknown(*inst));
            let too_much = (walk.steps > MOST_STEPS).then_some(Gap::TooMuch);
            return Some((*array, unknown.or(too_much).unwrap_or(Gap::Element(missing))));
        }
    }
    None
}

/// The indices of the first scalar of a type, from `offset` on, that is not covered.
fn missing(kernel: &Kernel, ty: &MemoryType, offset: u64, covered: &HashSet<u64>) -> Option<Vec<u64>> {
    match ty {
        MemoryType::Scalar(_) => (!covered.contains(&offset)).then(Vec::new),
        MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => {
            let size = element.size(&kernel.structs);
            (0..*n).find_map(|i| {
                let mut path = missing(kernel, element, offset + i * size, covered)?;
                path.insert(0, i);
                Some(path)
            })
        }
        MemoryType::Struct(id) => {
            kernel.structs[*id].fields.iter().find_map(|field| missing(kernel, &field.ty, offset + field.offset, covered))
        }
        MemoryType::Slice(_) => Some(Vec::new()),
    }
}

/// Adds the first bytes of all scalars of a type.
fn fill(kernel: &Kernel, ty: &MemoryType, offset: u64, written: &mut HashSet<u64>) {
    match ty {
        MemoryType::Scalar(_) => {
            written.insert(offset);
        }
        MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => {
            let size = element.size(&kernel.structs);
            (0..*n).for_each(|i| fill(kernel, element, offset + i * size, written));
        }
        MemoryType::Struct(id) => {
            kernel.structs[*id].fields.iter().for_each(|field| fill(kernel, &field.ty, offset + field.offset, written));
        }
        MemoryType::Slice(_) => {}
    }
}

struct Walk<'k> {
    kernel: &'k Kernel,
    block: [u32; 3],
    thread: [u32; 3],
    /// The counters of the loops that are gone through.
    bound: HashMap<Value, Scalar>,
    /// What is known of the thread's values while these are what they are.
    known: HashMap<Value, Option<Scalar>>,
    steps: u64,
    /// A store to an unknown element, by object.
    unknown: HashMap<Object, Inst>,
}

impl Walk<'_> {
    fn insts(&mut self, insts: &[Inst], written: &mut Written) {
        for inst in insts {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return;
            }
            match &self.kernel.insts[*inst].op {
                Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(access) }) => match self.offset(access) {
                    Some(offset) => {
                        let size = u64::from(self.kernel.ty(values[0]).bytes());
                        written.entry(access.object).or_default().extend((0..values.len() as u64).map(|n| offset + n * size));
                    }
                    None => {
                        self.unknown.entry(access.object).or_insert(*inst);
                    }
                },
                Op::Region(Region::If { condition, then_block, else_block }) => {
                    let (then, otherwise) = (&self.kernel.blocks[*then_block].insts, &self.kernel.blocks[*else_block].insts);
                    match self.value(*condition) {
                        Some(condition) => self.insts(if condition.is_true() { then } else { otherwise }, written),
                        None => {
                            let mut both = [Written::default(), Written::default()];
                            self.insts(then, &mut both[0]);
                            self.insts(otherwise, &mut both[1]);
                            let [then, otherwise] = both;
                            for (object, offsets) in then {
                                let of_other = otherwise.get(&object);
                                let in_both = offsets.into_iter().filter(|offset| of_other.is_some_and(|other| other.contains(offset)));
                                written.entry(object).or_default().extend(in_both);
                            }
                        }
                    }
                }
                Op::Region(Region::For { start, end, step, body, .. }) => {
                    let bounds = [*start, *end, *step].map(|value| self.value(value));
                    let [Some(start), Some(end), Some(step)] = bounds else { continue };
                    let counter = self.kernel.blocks[*body].params[0];
                    let Some(trips) = eval::trips([start.as_int(), end.as_int(), step.as_int()]) else { continue };
                    for n in 0..trips {
                        let at = start.as_int() + i128::from(n) * step.as_int();
                        self.bound.insert(counter, Scalar::int(start.ty, at));
                        self.known.clear();
                        self.insts(&self.kernel.blocks[*body].insts, written);
                        if self.steps > MOST_STEPS {
                            break;
                        }
                    }
                    self.bound.remove(&counter);
                    self.known.clear();
                }
                // All of its array, between all threads of the block.
                Op::Collective(collective) if collective.is_load() && self.thread == [0; 3] => {
                    self.whole(collective.array(), *inst, written);
                }
                Op::Tensor(Tensor::Store { to, .. }) if self.thread == [0; 3] => self.whole(to, *inst, written),
                Op::Collective(_)
                | Op::Tensor(_)
                | Op::Engine(_)
                | Op::Compute(_)
                | Op::Memory(_)
                | Op::Texture(..)
                | Op::Intrinsic(..)
                | Op::Message(_)
                | Op::Region(_)
                | Op::Terminator(_) => {}
            }
        }
    }

    /// All of an array, between all threads of the block.
    fn whole(&mut self, array: &Access, inst: Inst, written: &mut Written) {
        match self.offset(array) {
            Some(offset) => {
                let scalars = written.entry(array.object).or_default();
                array.leads_to(self.kernel).into_iter().for_each(|ty| fill(self.kernel, ty, offset, scalars));
            }
            None => {
                self.unknown.entry(array.object).or_insert(inst);
            }
        }
    }

    /// Bytes from the start of the object, if every index is known and in its range.
    fn offset(&mut self, access: &Access) -> Option<u64> {
        let kernel = self.kernel;
        let mut ty = &kernel.objects[access.object].ty;
        let mut offset = 0;
        for step in &access.path {
            match (step, ty) {
                (Step::Index(index), MemoryType::Array(element, n) | MemoryType::Padded(element, n, _)) => {
                    let index = self.value(*index)?.bits;
                    if index >= *n {
                        return None;
                    }
                    offset += index * element.size(&kernel.structs);
                    ty = element;
                }
                (Step::Field(field), MemoryType::Struct(id)) => {
                    let field = &kernel.structs[*id].fields[*field as usize];
                    offset += field.offset;
                    ty = &field.ty;
                }
                _ => return None,
            }
        }
        Some(offset)
    }

    /// A value of this thread.
    fn value(&mut self, value: Value) -> Option<Scalar> {
        if let Some(bound) = self.bound.get(&value) {
            return Some(*bound);
        }
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let kernel = self.kernel;
        let found = match kernel.def(value) {
            Some((_, Op::Compute(Compute::Special(special, axis)))) => self.special(*special, *axis),
            Some((_, Op::Compute(compute))) => eval::compute(compute, kernel.ty(value), |operand| self.value(operand)),
            Some((_, Op::Intrinsic(row, args))) => {
                let args: Option<Vec<Scalar>> = args.iter().map(|arg| self.value(*arg)).collect();
                args.and_then(|args| row.of_scalars(&args, kernel.ty(value)))
            }
            _ => None,
        };
        self.known.insert(value, found);
        found
    }

    fn special(&self, special: Special, axis: Axis) -> Option<Scalar> {
        let [width, height, _] = self.block;
        let [x, y, z] = self.thread;
        let number = (z * height + y) * width + x;
        let found = match special {
            Special::ThreadIdx => self.thread[axis as usize],
            Special::BlockDim => self.block[axis as usize],
            Special::LaneId => number % WARP,
            Special::WarpId => number / WARP,
            Special::BlockIdx | Special::GridDim | Special::AskedGrid => return None,
        };
        Some(Scalar::u32(found))
    }
}
