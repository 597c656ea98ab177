//! Tensor cores: matrices that a warp loads together, and products of what its lanes hold.
//!
//! Both are for all lanes of a warp. Of a load each lane reads the row that it names, and gets a part of another lane's.

use super::FaultKind;
use super::machine::{LaneFault, Machine};
use super::memory::{Request, first};
use super::registers::{Mask, Reg};
use super::warp::Warp;
use warpwright_codegen::ir::MmaShape;
use warpwright_codegen::target::limits::{LANES, VECTOR_BYTES};

/// Rows of a matrix.
const ROWS: usize = 8;

/// A load of matrices.
#[derive(Clone, Debug)]
pub(super) struct MatrixLoad {
    /// The access of a row, by its number.
    pub(super) access: u32,
    /// Whether columns come as rows.
    pub(super) is_transposed: bool,
    /// A word of each matrix.
    pub(super) results: Vec<Reg>,
}

/// A product.
#[derive(Clone, Debug)]
pub(super) struct Product {
    pub(super) shape: &'static MmaShape,
    /// The words of both factors and the sums.
    pub(super) operands: [Vec<Reg>; 3],
    /// The new sums.
    pub(super) results: Vec<Reg>,
}

impl Machine<'_> {
    /// Loads matrices.
    pub(super) fn load_matrix(&mut self, warp: &mut Warp, number: u32) -> Result<(), LaneFault> {
        let program = self.launch.program;
        let load = &program.matrix_loads[number as usize];
        whole_warp(warp, "load_matrix")?;
        // The lanes beyond name nothing.
        let named = ROWS * load.results.len();
        let mask = if named >= LANES { Mask::MAX } else { (1 << named) - 1 };
        let access = &program.accesses[load.access as usize];
        let request = Request { number: load.access, access, info: &program.objects[access.object], mask: warp.active & mask };
        let rows = self.rows(warp, &request)?;
        for (matrix, result) in load.results.iter().enumerate() {
            let byte = |row: usize, at: usize| u64::from(rows[matrix * ROWS + row][at]);
            let word = |lane: usize| {
                let (group, at) = (lane / 4, lane % 4);
                let bytes = if load.is_transposed {
                    [(2 * at, 2 * group), (2 * at, 2 * group + 1), (2 * at + 1, 2 * group), (2 * at + 1, 2 * group + 1)]
                } else {
                    [0, 1, 2, 3].map(|n| (group, 4 * at + n))
                };
                bytes.iter().rev().fold(0, |word, (row, at)| word << 8 | byte(*row, *at))
            };
            let words: [u64; LANES] = std::array::from_fn(word);
            warp.registers.set_all(*result, &words);
        }
        Ok(())
    }

    /// The bytes of the row that each lane names.
    fn rows(&mut self, warp: &Warp, request: &Request<'_>) -> Result<[[u8; VECTOR_BYTES]; LANES], LaneFault> {
        let mut rows = [[0; VECTOR_BYTES]; LANES];
        let size = request.access.ty.bytes() as usize;
        for (n, bits) in self.load_all(warp, request)?.into_iter().enumerate() {
            for (row, bits) in rows.iter_mut().zip(bits) {
                row[n * size..(n + 1) * size].copy_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
        Ok(rows)
    }

    /// Multiplies and adds.
    pub(super) fn multiply_add(&self, warp: &mut Warp, number: u32) -> Result<(), LaneFault> {
        let product = &self.launch.program.products[number as usize];
        whole_warp(warp, "mma")?;
        let [a, b, c] = [0, 1, 2].map(|n| product.operands[n].iter().map(|reg| warp.registers.all(*reg)).collect::<Vec<_>>());
        for (result, bits) in product.results.iter().zip(product.shape.evaluate(&a, &b, &c)) {
            warp.registers.set_all(*result, &bits);
        }
        Ok(())
    }
}

/// A fault if not all lanes of the warp have come.
fn whole_warp(warp: &Warp, name: &'static str) -> Result<(), LaneFault> {
    let Some(lane) = first(warp.active).filter(|_| warp.active != Mask::MAX) else { return Ok(()) };
    let [active, living] = [warp.active, Mask::MAX].map(Mask::count_ones);
    Err(LaneFault { lane, kind: FaultKind::DivergentWarp { name, active, living } })
}
