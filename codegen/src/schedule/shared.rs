//! `#[shared(swizzle)]`, `#[shared(swizzle = 128)]`; and why `#[shared(pad = P)]` has no pass.
//!
//! **Padding**: the rows of a padded array are of a type that has room behind its elements (`MemoryType::Padded`), and all that lays memory
//! out asks the type. Indices, lengths and bounds are those of the elements.
//!
//! **Swizzling** keeps the array's size and moves its elements. Alone, it moves what the source calls `tile[…][r][c]` to column `c ^ (r % columns)` of its row.
//! The columns are a power of two, so within a row this is a permutation, and a column out of range stays out of range. **Over bytes** it makes the
//! layout of [`Swizzle`]: with E elements in a slab, V in a chunk of 16 bytes and m the bits of the row, `tile[…][r][c]` lies at
//!
//! ```text
//! tile[…][c / E][r][(c % E) ^ (m * V)]        tile: [[[T; E]; R]; C / E], where the source has [[T; C]; R]
//! ```
//!
//! without the slab where there is one. Bounds are those of the source in this case, too. So whatever the program stores is found where it looks for it, and
//! results do not change; of copies that the engine makes of a tile there is one for each slab. Threads that walk down a column meet different banks, since
//! `r` differs; threads along a row meet a permutation of the same ones.
//!
//! **Order**: after all other passes, which see the indices of the source. **Needs** accesses of one scalar each, or, over bytes, of a chunk at most, from a
//! multiple of their length on: other neighbours in the source are none in memory, so `vectorize` leaves them alone, and the verifier knows.

use super::Schedule;
use crate::ir::{Access, Address, BinaryOp, Builder, Engine, Inst, Kernel, Memory, MemoryType, Object, Op, Step, Swizzle, Type, Value};
use crate::target::limits::VECTOR_BYTES;

/// Runs it.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    for (array, swizzle) in schedule.kernel.swizzled.clone() {
        swizzle_array(schedule.kernel, array, swizzle);
    }
    schedule.kernel.swizzled.retain(|_, swizzle| swizzle.bytes().is_some());
}

/// Gives an array its layout, and all accesses to it their places there.
pub(super) fn swizzle_array(kernel: &mut Kernel, array: Object, swizzle: Swizzle) {
    let Some(columns) = kernel.objects[array].ty.columns() else { return };
    let layout = Layout { swizzle, columns, of_slab: of_slab(kernel, array, swizzle).unwrap_or(columns) };
    let mut found = Vec::new();
    kernel.for_each_inst(|kernel, block, inst| {
        let op = &kernel.insts[inst].op;
        let is_access = matches!(op, Op::Memory(Memory { at: Address::Path(_), .. }));
        if op.object() == Some(array) && (is_access || matches!(op, Op::Engine(_))) {
            found.push((block, inst));
        }
    });
    for (block, inst) in found {
        let at = kernel.blocks[block].insts.iter().position(|other| *other == inst).unwrap_or(0);
        let behind = kernel.blocks[block].insts.split_off(at);
        let loc = kernel.insts[inst].loc;
        let mut b = Builder::new(kernel, block, loc);
        if layout.place(&mut b, inst) {
            kernel.blocks[block].insts.extend(behind);
        } else {
            kernel.blocks[block].insts.extend(&behind[1..]);
        }
    }
    if layout.of_slab < columns {
        let data = &mut kernel.objects[array];
        data.ty = in_slabs(data.ty.clone(), layout.of_slab);
    }
}

/// Elements of a row of a slab, if there are slabs.
fn of_slab(kernel: &Kernel, array: Object, swizzle: Swizzle) -> Option<u64> {
    let (_, _, element) = kernel.objects[array].ty.tile()?;
    Some(swizzle.bytes()? / u64::from(element.bytes()))
}

/// The type of an array whose tiles are parted into slabs with rows of so many elements.
fn in_slabs(ty: MemoryType, of_slab: u64) -> MemoryType {
    let MemoryType::Array(row, rows) = ty else { return ty };
    if let MemoryType::Array(element, columns) = &*row
        && matches!(**element, MemoryType::Scalar(_))
    {
        let slab = MemoryType::Array(Box::new(MemoryType::Array(element.clone(), of_slab)), rows);
        return MemoryType::Array(Box::new(slab), columns / of_slab);
    }
    MemoryType::Array(Box::new(in_slabs(*row, of_slab)), rows)
}

/// How an array's tiles lie.
struct Layout {
    swizzle: Swizzle,
    columns: u64,
    /// Elements of a row of a slab: all of them where there is one.
    of_slab: u64,
}

impl Layout {
    /// Gives an instruction its place, or puts others instead. Whether it is still wanted.
    fn place(&self, b: &mut Builder<'_>, inst: Inst) -> bool {
        match b.kernel.insts[inst].op.clone() {
            Op::Memory(Memory { op, at: Address::Path(access) }) => {
                let at = Address::Path(self.element(b, access));
                b.kernel.insts[inst].op = Op::Memory(Memory { op, at });
                true
            }
            Op::Engine(Engine::CopyTile { to, from, row, column, barrier, share }) if self.of_slab < self.columns => {
                for slab in 0..self.columns / self.of_slab {
                    let (to, column) = self.slab(b, &to, column, slab);
                    b.push(Op::Engine(Engine::CopyTile { to, from, row, column, barrier: barrier.clone(), share }), &[]);
                }
                false
            }
            Op::Engine(Engine::StoreTile { from, to, row, column }) if self.of_slab < self.columns => {
                for slab in 0..self.columns / self.of_slab {
                    let (from, column) = self.slab(b, &from, column, slab);
                    b.push(Op::Engine(Engine::StoreTile { from, to, row, column }), &[]);
                }
                false
            }
            Op::Memory(_)
            | Op::Compute(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => true,
        }
    }

    /// Where an element lies.
    fn element(&self, b: &mut Builder<'_>, mut access: Access) -> Access {
        let [.., Step::Index(row), Step::Index(column)] = access.path[..] else { return access };
        let (row_type, column_type) = (b.kernel.ty(row), b.kernel.ty(column));
        let Some((shift, mask)) = self.swizzle.of_row() else {
            let mask = b.int(row_type, i128::from(self.columns) - 1);
            let row = b.binary(BinaryOp::And, row, mask);
            let row = b.cast(row, column_type);
            let moved = b.binary(BinaryOp::Xor, column, row);
            access.path.pop();
            access.path.push(Step::Index(moved));
            return access;
        };
        // A slab has S bytes, and so S / 16 chunks.
        let of_chunk = self.of_slab * VECTOR_BYTES as u64 / self.swizzle.bytes().unwrap_or(1);
        // The bits of the row that count, at their place: those from `shift` on.
        let bits = b.int(row_type, i128::from(mask << shift));
        let bits = b.binary(BinaryOp::And, row, bits);
        let by = i128::from(of_chunk);
        let change = if by >= 1 << shift {
            let factor = b.int(row_type, by >> shift);
            b.binary(BinaryOp::Mul, bits, factor)
        } else {
            let places = b.int(Type::U32, i128::from(shift - of_chunk.trailing_zeros()));
            b.binary(BinaryOp::Shr, bits, places)
        };
        let change = b.cast(change, column_type);
        let mut within = column;
        let mut slab = None;
        if self.of_slab < self.columns {
            let of_slab = b.int(column_type, i128::from(self.of_slab));
            slab = Some(b.binary(BinaryOp::Div, column, of_slab));
            within = b.binary(BinaryOp::Rem, column, of_slab);
        }
        let moved = b.binary(BinaryOp::Xor, within, change);
        access.path.truncate(access.path.len() - 2);
        access.path.extend(slab.into_iter().chain([row, moved]).map(Step::Index));
        access
    }

    /// A slab of a tile, and the column of the matrix that is its first.
    fn slab(&self, b: &mut Builder<'_>, tile: &Access, column: Value, slab: u64) -> (Access, Value) {
        let ty = b.kernel.ty(column);
        let number = b.int(ty, i128::from(slab));
        let further = b.int(ty, i128::from(slab * self.of_slab));
        let column = if slab == 0 { column } else { b.binary(BinaryOp::Add, column, further) };
        let path = tile.path.iter().copied().chain([Step::Index(number)]).collect();
        (Access { object: tile.object, path }, column)
    }
}
