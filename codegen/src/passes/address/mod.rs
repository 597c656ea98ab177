//! From accesses to addresses: `Legal` to `Addressed`, for PTX.
//!
//! **Needs** sums with their constants last (`reassociate`); `cse`, `licm` and `dce` behind it share what accesses have in common and take the invariant
//! part out of loops. **Preserves** every place that is in range. **Refuses** nothing.
//!
//! `m[i + c].f[j]` becomes a load at a pointer and a constant number of bytes. The pointer is the object's address plus, for every index that is
//! no constant, `i * stride`, outermost loop's first, so that what is invariant comes first. The constant collects the
//! fields' offsets, constant indices and the `c` of `i + c`; accesses whose indices differ by constants share one pointer.
//!
//! * **Shared, local, constant, parameter**: pointers and indices are `u32`, all arithmetic is modulo 2³², and `(i + c) * s = i * s + c * s` always.
//! * **Global**: pointers are `u64`. A `u64` index (`index = 64`) is as wide: the same modulo 2⁶⁴. A `u32` index is widened,
//!   `Mul(Cast(i), s)`, which PTX prints as one `mul.wide.u32`, and there `widen(i + c)` is `widen(i) + c` only if `i + c` does not wrap round.
//!   [`sharing`] tells when that is certain; where it is not, the sum is computed in 32 bits as it stands in the source.
//!
//! An `if` that holds nothing but loads and stores is predicated access by access. Where several of a block go to one object, their
//! addresses are built in front of them, where they find each other's; that of a lone one stays under its condition.
//!
//! By-value parameters are read at their address, too.

mod sharing;
#[cfg(test)]
mod tests;

use super::rewrite::Rewrite;
use crate::analysis::bounds::Bounds;
use crate::collections::{HashMap, HashSet};
use crate::ir::{
    Access, Address, BinaryOp, Block, Builder, Compute, Inst, Kernel, Memory, MemoryOp, MemoryType, Object, ObjectKind, Op, Region, Scalar,
    Space, Stage, Step, Terminator, Type, Value,
};
use sharing::{Pointers, Shape, Term};

/// Bytes that an instruction adds to its pointer without another one: 24 bits, signed, on every GPU that PTX reaches.
const IMMEDIATE: i64 = 1 << 23;

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let bounds = Bounds::of(kernel);
    let depth = vec![0; kernel.values.len()];
    let body = kernel.body;
    let mut address = Addressing { rewrite: Rewrite::new(kernel), bounds, depth, loops: 0, pointers: Pointers::default() };
    address.block(body);
    kernel.stage = Stage::Addressed;
    true
}

struct Addressing<'k> {
    rewrite: Rewrite<'k>,
    bounds: Bounds,
    /// By value: the loops round its definition.
    depth: Vec<usize>,
    /// Loops round the current block.
    loops: usize,
    pointers: Pointers,
}

/// An access taken apart: constant bytes, and an index for every level that is not constant.
struct Parts {
    bytes: i64,
    indices: Vec<Index>,
}

/// An index that is not constant.
struct Index {
    /// As it stands in the source: `base + constant`.
    whole: Value,
    base: Value,
    constant: i64,
    /// Bytes from one element to the next.
    stride: u64,
}

impl Addressing<'_> {
    fn block(&mut self, block: Block) {
        let mark = self.pointers.mark();
        let insts = self.rewrite.take(block);
        let gathered = self.gathered(&insts);
        for inst in insts {
            let is_loop = self.rewrite.kernel.insts[inst].op.is_loop();
            self.loops += usize::from(is_loop);
            let is_predicated = gathered.contains(&inst);
            for child in self.rewrite.kernel.insts[inst].op.blocks() {
                if is_predicated {
                    for inner in self.rewrite.kernel.blocks[child].insts.clone() {
                        self.access(block, inner, false);
                    }
                    continue;
                }
                for param in &self.rewrite.kernel.blocks[child].params {
                    self.depth[usize::from(*param)] = self.loops;
                }
                self.block(child);
            }
            self.loops -= usize::from(is_loop);
            for result in &self.rewrite.kernel.insts[inst].results {
                self.depth[usize::from(*result)] = self.loops;
            }
            self.access(block, inst, true);
            self.rewrite.keep(block, inst);
        }
        self.pointers.release(mark);
    }

    /// The predicated accesses of a block that are not the only ones to an object.
    fn gathered(&self, insts: &[Inst]) -> HashSet<Inst> {
        let mut counts: HashMap<Object, usize> = HashMap::default();
        let predicated: Vec<(Inst, Vec<Object>)> =
            insts.iter().filter(|inst| self.is_predicated(**inst)).map(|inst| (*inst, self.objects(*inst))).collect();
        for (_, objects) in &predicated {
            objects.iter().for_each(|object| *counts.entry(*object).or_default() += 1);
        }
        predicated.into_iter().filter(|(_, objects)| objects.iter().all(|object| counts[object] > 1)).map(|(inst, _)| inst).collect()
    }

    /// The objects that the arms of an `if` touch, each once.
    fn objects(&self, inst: Inst) -> Vec<Object> {
        let kernel = &*self.rewrite.kernel;
        let arms = kernel.insts[inst].op.blocks();
        let mut objects: Vec<Object> =
            arms.iter().flat_map(|arm| kernel.blocks[*arm].insts.iter().filter_map(|inst| kernel.insts[*inst].op.object())).collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }

    /// Whether it is an `if` whose arms hold loads and stores only, at places that are known in front of it.
    fn is_predicated(&self, inst: Inst) -> bool {
        let kernel = &*self.rewrite.kernel;
        let Op::Region(Region::If { then_block, else_block, .. }) = kernel.insts[inst].op else { return false };
        [then_block, else_block].into_iter().all(|arm| {
            let insts = &kernel.blocks[arm].insts;
            let is_made_here = |value: Value| {
                let maker = kernel.def(value).map(|(maker, _)| maker);
                maker.is_some_and(|maker| insts.contains(&maker)) && kernel.constant(value).is_none()
            };
            insts.iter().all(|inst| {
                let op = &kernel.insts[*inst].op;
                if let Op::Memory(Memory { op: MemoryOp::Load | MemoryOp::Store(_), at: Address::Path(access) }) = op {
                    return !access.indices().any(is_made_here);
                }
                matches!(op, Op::Compute(Compute::Const(_)) | Op::Terminator(Terminator::Yield(_)))
            })
        })
    }

    /// Gives a load, store or atomic its address, built at the end of `block`; `happens` unless it is predicated.
    fn access(&mut self, block: Block, inst: Inst, happens: bool) {
        let Op::Memory(Memory { at: Address::Path(access), .. }) = &mut self.rewrite.kernel.insts[inst].op else { return };
        let object = access.object;
        let access = Access { object, path: std::mem::take(&mut access.path) };
        let (ptr, offset) = self.locate(block, inst, &access, happens);
        if let Op::Memory(memory) = &mut self.rewrite.kernel.insts[inst].op {
            memory.at = Address::Pointer { object, ptr, offset };
        }
    }

    /// The pointer and the constant of an access, built before `inst`.
    fn locate(&mut self, block: Block, inst: Inst, access: &Access, happens: bool) -> (Value, i32) {
        let loc = self.rewrite.kernel.insts[inst].loc;
        let mut parts = take_apart(self.rewrite.kernel, access);
        let depth = &self.depth;
        parts.indices.sort_by_key(|index| depth[usize::from(index.base)]);
        let is_exact = |index: &Index, kernel: &Kernel| pointer_bits(kernel, access.object) <= kernel.ty(index.base).bits();
        let terms: Vec<Term> = parts
            .indices
            .iter()
            .map(|index| Term {
                base: index.base,
                stride: index.stride,
                exact: is_exact(index, self.rewrite.kernel),
                upper: self.bounds.upper(self.rewrite.kernel, index.base),
            })
            .collect();
        let constants: Vec<i64> = parts.indices.iter().map(|index| index.constant).collect();
        let rank = rank_of(self.rewrite.kernel, access);
        let shape = Shape { object: access.object, rank, terms };
        if let Some((ptr, difference)) = self.pointers.find(&shape, &constants)
            && let Some(offset) = immediate(parts.bytes.checked_add(difference))
        {
            self.pointers.add(shape, ptr, None, constants, happens);
            return (ptr, offset);
        }
        let bases = self.bases(&shape, &parts);
        let mut builder = self.rewrite.builder(block, loc);
        let start = match rank {
            Some(rank) => Compute::PeerAddress(access.object, builder.cast(rank, Type::U32)),
            None => Compute::Address(access.object),
        };
        let mut ptr = builder.push1(Op::Compute(start), pointer_type(builder.kernel, access.object));
        let mut bytes = Some(parts.bytes);
        for (index, base) in parts.indices.iter().zip(&bases) {
            let value = if *base == 0 { index.base } else { index.whole };
            ptr = add_scaled(&mut builder, ptr, value, index.stride);
            let rest = (index.constant - base).checked_mul(i64::try_from(index.stride).unwrap_or(i64::MAX));
            bytes = bytes.zip(rest).and_then(|(bytes, rest)| bytes.checked_add(rest));
        }
        let offset = immediate(bytes);
        if let (None, Some(bytes)) = (offset, bytes) {
            ptr = add_bytes(&mut builder, ptr, bytes);
        }
        if offset.is_some() {
            self.pointers.add(shape, ptr, Some(bases), constants, happens);
        }
        (ptr, offset.unwrap_or(0))
    }

    /// The part of each index's constant that the pointer has to include: 0, or all of it where it must not be split off or where
    /// the immediate could not hold it.
    fn bases(&self, shape: &Shape, parts: &Parts) -> Vec<i64> {
        let fits = |index: &Index| immediate(index.constant.checked_mul(i64::try_from(index.stride).unwrap_or(i64::MAX))).is_some();
        let split = |(term, index): (&Term, &Index)| if term.may_split(index.constant) && fits(index) { 0 } else { index.constant };
        shape.terms.iter().zip(&parts.indices).map(split).collect()
    }
}

/// Bytes that fit into an instruction.
fn immediate(bytes: Option<i64>) -> Option<i32> {
    let bytes = bytes.filter(|bytes| (-IMMEDIATE..IMMEDIATE).contains(bytes))?;
    i32::try_from(bytes).ok()
}

fn pointer_type(kernel: &Kernel, object: Object) -> Type {
    Type::Ptr(kernel.objects[object].space())
}

fn pointer_bits(kernel: &Kernel, object: Object) -> u32 {
    pointer_type(kernel, object).bits()
}

/// The block whose array an access goes to, where that is another's: its first index, which is no distance.
fn rank_of(kernel: &Kernel, access: &Access) -> Option<Value> {
    let is_of_peers = matches!(kernel.objects[access.object].kind, ObjectKind::Peers(_));
    access.indices().next().filter(|_| is_of_peers)
}

/// Goes along the path: constants into bytes, the rest into indices.
fn take_apart(kernel: &Kernel, access: &Access) -> Parts {
    let mut parts = Parts { bytes: 0, indices: Vec::new() };
    let mut ty = &kernel.objects[access.object].ty;
    let mut path = &access.path[..];
    if let (Some(_), MemoryType::Array(own, _)) = (rank_of(kernel, access), ty) {
        (ty, path) = (own, path.get(1..).unwrap_or_default());
    }
    for step in path {
        match (step, ty) {
            (Step::Field(n), MemoryType::Struct(id)) => {
                let Some(field) = kernel.structs[*id].fields.get(*n as usize) else { break };
                parts.bytes = parts.bytes.saturating_add_unsigned(field.offset);
                ty = &field.ty;
            }
            (Step::Index(index), MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element)) => {
                parts.index(kernel, *index, element.size(&kernel.structs));
                ty = element;
            }
            _ => break,
        }
    }
    parts
}

impl Parts {
    fn index(&mut self, kernel: &Kernel, whole: Value, stride: u64) {
        if let Some(constant) = kernel.constant(whole) {
            let bytes = i64::try_from(u128::from(constant.bits) * u128::from(stride)).unwrap_or(i64::MAX);
            self.bytes = self.bytes.saturating_add(bytes);
            return;
        }
        let (base, constant) = split_constant(kernel, whole).unwrap_or((whole, 0));
        self.indices.push(Index { whole, base, constant, stride });
    }
}

/// `base + constant` of a sum that ends in a constant.
fn split_constant(kernel: &Kernel, value: Value) -> Option<(Value, i64)> {
    let (sign, base, constant) = match kernel.def(value)? {
        (_, Op::Compute(Compute::Binary(BinaryOp::Add, base, constant))) => (1, *base, *constant),
        (_, Op::Compute(Compute::Binary(BinaryOp::Sub, base, constant))) => (-1, *base, *constant),
        _ => return None,
    };
    let constant = i64::try_from(kernel.constant(constant)?.as_int()).ok()?;
    Some((base, sign * constant))
}

/// `ptr + index * stride`, in the pointer's width.
fn add_scaled(b: &mut Builder<'_>, ptr: Value, index: Value, stride: u64) -> Value {
    let ty = if b.kernel.ty(ptr) == Type::Ptr(Space::Global) { Type::U64 } else { Type::U32 };
    let is_wide_multiply = ty.bits() > b.kernel.ty(index).bits();
    let index = b.cast(index, ty);
    let offset = match stride {
        1 => index,
        _ if stride.is_power_of_two() && !is_wide_multiply => {
            let count = b.constant(Scalar::u32(stride.trailing_zeros()));
            b.binary(BinaryOp::Shl, index, count)
        }
        _ => {
            let stride = b.int(ty, i128::from(stride));
            b.binary(BinaryOp::Mul, index, stride)
        }
    };
    let pointer = b.kernel.ty(ptr);
    b.push1(Op::Compute(Compute::Offset(ptr, offset)), pointer)
}

/// `ptr + bytes`, in the pointer's width.
fn add_bytes(b: &mut Builder<'_>, ptr: Value, bytes: i64) -> Value {
    let pointer = b.kernel.ty(ptr);
    let ty = if pointer == Type::Ptr(Space::Global) { Type::U64 } else { Type::U32 };
    let bytes = b.int(ty, i128::from(bytes));
    b.push1(Op::Compute(Compute::Offset(ptr, bytes)), pointer)
}
