//! Sums as the left factor of another product (`sums.operand::<bf16>()`): no memory is between the two products.
//!
//! Sums of kernels that ask for it are shared out by rows, so a warp has all of a row that it multiplies. What instructions of tensor cores want of a lane are the sums that it has: word r of a step
//! along K is a pair of neighbours, in the order of the thread's sums (PTX ISA, "Matrix fragments for mma.m16n8k16", where the fragment of A is that of the sums of two
//! products side by side). Threads that multiply one by one get them from the other three lanes of their row.

use super::Partition;
use crate::intrinsics::{self, by_name, called};
use crate::ir::{BinaryOp, Builder, Type, Value};

/// Lanes that have the sums of a row: neighbours.
const LANES_OF_ROW: u64 = 4;

/// Neighbours of a row that are a thread's.
const PAIR: u64 = 2;

/// By element: the function that makes a word of two sums. Fragments of factors and of sums are alike for 16 bits alone.
const PACKED: [(Type, &str); 2] = [(Type::BF16, called::PACK_BF16), (Type::F16, called::PACK_F16)];

/// Whether tensor cores take sums as elements of this type.
pub(super) fn fits(element: Type) -> bool {
    packed(element).is_some()
}

fn packed(element: Type) -> Option<&'static str> {
    PACKED.iter().find(|(known, _)| *known == element).map(|(_, name)| *name)
}

/// The words that tensor cores take: two for each eight columns of each strip of rows.
pub(super) fn words(b: &mut Builder<'_>, values: &[Value], element: Type) -> Vec<Value> {
    let Some(pack) = packed(element).and_then(|name| by_name(name, None)) else { return Vec::new() };
    values.chunks(PAIR as usize).map(|pair| b.intrinsic(pack, pair.to_vec(), Type::U32)).collect()
}

/// Elements along K of each of this thread's rows, widened to the type of sums: those of one column of the factor at a time.
pub(super) struct Exchange<'v> {
    /// By the factor's own partition.
    values: &'v [Value],
    partition: Partition,
    element: Type,
    /// The first lane of the row's four.
    first: Value,
    /// By number among the thread's: each as an element.
    converted: Vec<Option<Value>>,
}

impl<'v> Exchange<'v> {
    /// Of a factor with this share of its sums.
    pub(super) fn new(b: &mut Builder<'_>, values: &'v [Value], partition: Partition, element: Type) -> Exchange<'v> {
        let index = b.kernel.index_type();
        let thread = super::thread_number(b, index);
        let lanes = b.int(index, 32);
        let lane = b.binary(BinaryOp::Rem, thread, lanes);
        let lane = b.cast(lane, Type::U32);
        let of_row = b.int(Type::U32, i128::from(LANES_OF_ROW));
        let beyond = b.binary(BinaryOp::Rem, lane, of_row);
        let first = b.binary(BinaryOp::Sub, lane, beyond);
        Exchange { values, partition, element, first, converted: vec![None; values.len()] }
    }

    /// The element in a column of the thread's row that is so far from its first.
    pub(super) fn get(&mut self, b: &mut Builder<'_>, row: u64, column: u64) -> Option<Value> {
        // Whose it is: the columns of a thread begin at a pair of each eight.
        let owner = column % (PAIR * LANES_OF_ROW) / PAIR;
        let number = (0..self.values.len()).find(|n| self.partition.place(*n as u64) == [row, column - owner * PAIR])?;
        let value = self.values[number];
        let ty = b.kernel.ty(value);
        let converted = match self.converted[number] {
            Some(converted) => converted,
            None => {
                let element = b.cast(value, self.element);
                *self.converted[number].insert(b.cast(element, ty))
            }
        };
        let owner = b.int(Type::U32, i128::from(owner));
        let lane = b.binary(BinaryOp::Add, self.first, owner);
        let shuffle = by_name(called::SHUFFLE, None)?;
        intrinsics::emit(b, shuffle, ty, &[converted, lane]).first().copied()
    }
}
