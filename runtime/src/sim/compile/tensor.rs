//! Tensor cores.

use super::super::AccessKind;
use super::super::program::{Access, Path, SimStep};
use super::super::registers::Reg;
use super::super::tensor::{Left, MatrixLoad, MatrixRows, Product, ROWS, Tile, WarpgroupProduct};
use super::{Compiler, Result, Verified, add};
use crate::sim::InstructionClass;
use warpwright_codegen::ir::{Address, MemoryType, ProductFactor, Tensor, Type, Value, WarpgroupFactor, WarpgroupShape};
use warpwright_codegen::target::limits::VECTOR_BYTES;

impl Compiler<'_> {
    pub(super) fn tensor(&mut self, tensor: &Tensor, results: &[Value]) -> Result<()> {
        let (shape, a, b, c) = match tensor {
            Tensor::Mma { shape, a, b, c } => (shape, a, b, c),
            Tensor::WarpgroupMma { mnk, a, b, factors, running, sums } => {
                self.count(InstructionClass::Warp, 1);
                let a = match a {
                    WarpgroupFactor::Tile { tile, row } => {
                        Left::Tile { tile: self.tile(tile, *factors, !tile.is_transposed)?, row: self.slot(*row)? }
                    }
                    WarpgroupFactor::Words(words) => Left::Words(self.slots(words)?),
                };
                let b = self.tile(b, *factors, b.is_transposed)?;
                let of_sums = sums.first().map(|sum| self.kernel.ty(*sum));
                let shape = of_sums.and_then(|sum| WarpgroupShape::of(*factors, sum)).verified()?;
                let sums = self.slots(sums)?;
                let results = self.define_all(results)?;
                let product = WarpgroupProduct { mnk: *mnk, shape, a, b, running: *running, sums, results };
                let product = add(&mut self.program.warpgroup_products, product);
                self.emit(SimStep::WarpgroupMma(product));
                return Ok(());
            }
            Tensor::Await { sums } => {
                let sums = self.slots(sums)?;
                let results = self.define_all(results)?;
                let sums = add(&mut self.program.awaited_sums, sums.into_iter().zip(results).collect());
                self.emit(SimStep::AwaitProducts(sums));
                return Ok(());
            }
            Tensor::MultiplyAdd { .. } | Tensor::Position { .. } | Tensor::Store { .. } => {
                return Err(
                    "a product that was not shared out; give IR behind all passes, as `warpwright emit --format ir` prints it".into()
                );
            }
        };
        self.count(InstructionClass::Warp, 1);
        let operands = [self.slots(a)?, self.slots(b)?, self.slots(c)?];
        let results = self.define_all(results)?;
        let product = add(&mut self.program.products, Product { shape, operands, results });
        self.emit(SimStep::Mma(product));
        Ok(())
    }

    fn tile(&mut self, factor: &ProductFactor, ty: Type, is_along: bool) -> Result<Tile> {
        let kernel = self.kernel;
        let swizzle = kernel.swizzled.get(&factor.array.object).copied().verified()?;
        let mut tile = factor.array.leads_to(kernel).verified()?;
        let bytes = tile.size(&kernel.structs);
        if matches!(tile.element().and_then(|slab| slab.element()), Some(MemoryType::Array(..))) {
            tile = tile.element().verified()?;
        }
        let slab = tile.size(&kernel.structs);
        let (path, _) = self.path_into(&factor.array, 1)?;
        let values = vec![Reg::Narrow(0); VECTOR_BYTES / ty.bytes() as usize];
        let (object, location, kind) = (usize::from(factor.array.object), self.location(), AccessKind::Read);
        let access = Access { object, kind, atomic: None, ty, path, values, result: None, is_of_engine: false, location };
        Ok(Tile { access: add(&mut self.program.accesses, access), swizzle, bytes, slab, is_along })
    }

    /// Loads a row of 16 bytes for each lane that names one.
    pub(super) fn load_matrix(&mut self, at: &Address, is_transposed: bool, results: &[Value]) -> Result<()> {
        let values = |ty: Type| vec![Reg::Narrow(0); VECTOR_BYTES / ty.bytes() as usize];
        let access = self.row_of_matrix(at, AccessKind::Read, values)?;
        let results = self.define_all(results)?;
        let load = add(&mut self.program.matrix_loads, MatrixLoad { access, is_transposed, results });
        self.emit(SimStep::LoadMatrix(load));
        Ok(())
    }

    /// Stores one, of the words that all lanes have.
    pub(super) fn store_matrix(&mut self, at: &Address, words: &[Value]) -> Result<()> {
        let elements = match self.elements_of_row {
            Some(elements) => elements,
            None => {
                let mut elements = [Reg::Narrow(0); ROWS];
                for element in &mut elements {
                    *element = self.allocate(Type::U16)?;
                }
                *self.elements_of_row.insert(elements)
            }
        };
        let words = self.slots(words)?;
        let rows = add(&mut self.program.matrix_rows, MatrixRows { words, elements });
        self.emit(SimStep::MatrixRows(rows));
        let access = self.row_of_matrix(at, AccessKind::Write, |_| elements.to_vec())?;
        self.emit(SimStep::Access(access));
        Ok(())
    }

    /// An access of the row that a lane names.
    fn row_of_matrix(&mut self, at: &Address, kind: AccessKind, values: impl Fn(Type) -> Vec<Reg>) -> Result<u32> {
        self.count(InstructionClass::Memory, 1);
        let (path, ty) = match at {
            Address::Path(place) => {
                let ty = place.scalars(self.kernel, 1).and_then(|types| types.first().copied()).verified()?;
                (self.path_into(place, VECTOR_BYTES as u32 / ty.bytes())?.0, ty)
            }
            Address::Pointer { ptr, offset, .. } => (Path::Pointer { ptr: self.slot(*ptr)?, offset: *offset }, Type::U16),
        };
        let (object, location, values) = (usize::from(at.object()), self.location(), values(ty));
        let access = Access { object, kind, atomic: None, ty, path, values, result: None, is_of_engine: false, location };
        Ok(add(&mut self.program.accesses, access))
    }
}
