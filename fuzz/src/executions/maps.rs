//! Maps of matrices for tensor copies, as a launch makes them for the interpreter of PTX.

use super::simulator::Bytes;
use warpwright_codegen::backend;
use warpwright_codegen::ir;
use warpwright_ptx_interpreter::{Swizzle, TensorMap};

/// The bytes of a map: of the arguments, and of the addresses of those that are buffers.
pub(super) fn map_bytes(map: &backend::TensorMap, all: &[Bytes], addresses: &[u64]) -> Vec<u8> {
    let number = |parameter: usize| all[parameter].bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    let matrix = map.matrix;
    let row = number(matrix.pitch) * map.element;
    // Of one matrix alone nobody asks for the next; a row is what every map may have.
    let (count, to_next) = match matrix.batch.map(|batch| batch.map(number)) {
        Some([count, stride]) if count > 1 => (count, stride * map.element),
        _ => (1, row),
    };
    let [rows, columns] = map.tile;
    let made = TensorMap {
        element: map.element as u32,
        rank: if matrix.batch.is_some() { 3 } else { 2 },
        address: addresses[matrix.data],
        extents: [number(matrix.columns), number(matrix.rows), count, 1, 1],
        strides: [row, to_next, 0, 0],
        tile: [columns, rows, 1, 1, 1],
        swizzle: match map.swizzle {
            // A map has no swizzle of columns.
            None | Some(ir::Swizzle::Columns) => Swizzle::None,
            Some(ir::Swizzle::B32) => Swizzle::B32,
            Some(ir::Swizzle::B64) => Swizzle::B64,
            Some(ir::Swizzle::B128) => Swizzle::B128,
        },
    };
    made.encode().iter().flat_map(|word| word.to_le_bytes()).collect()
}
