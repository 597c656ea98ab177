//! Tensor cores.

use super::super::AccessKind;
use super::super::program::{Access, Path, SimStep};
use super::super::registers::Reg;
use super::super::tensor::{MatrixLoad, Product};
use super::{Compiler, Result, add};
use crate::sim::InstructionClass;
use warpwright_codegen::ir::{Address, Tensor, Type, Value};
use warpwright_codegen::target::limits::VECTOR_BYTES;

impl Compiler<'_> {
    pub(super) fn tensor(&mut self, tensor: &Tensor, results: &[Value]) -> Result<()> {
        let Tensor::Mma { shape, a, b, c } = tensor else { return Err("a product that was not shared out".into()) };
        self.count(InstructionClass::Warp, 1);
        let operands = [self.slots(a)?, self.slots(b)?, self.slots(c)?];
        let results = self.define_all(results)?;
        let product = add(&mut self.program.products, Product { shape, operands, results });
        self.emit(SimStep::Mma(product));
        Ok(())
    }

    /// Loads a row of 16 bytes for each lane that names one.
    pub(super) fn load_matrix(&mut self, at: &Address, is_transposed: bool, results: &[Value]) -> Result<()> {
        self.count(InstructionClass::Memory, 1);
        let (path, ty) = match at {
            Address::Path(place) => {
                let ty = place.scalars(self.kernel, 1).and_then(|types| types.first().copied()).ok_or("matrices of what are no scalars")?;
                (self.path_into(place, VECTOR_BYTES as u32 / ty.bytes())?.0, ty)
            }
            Address::Pointer { ptr, offset, .. } => (Path::Pointer { ptr: self.slot(*ptr)?, offset: *offset }, Type::U16),
        };
        let values = vec![Reg::Narrow(0); VECTOR_BYTES / ty.bytes() as usize];
        let (object, location) = (usize::from(at.object()), self.location);
        let kind = AccessKind::Read;
        let access = Access { object, kind, atomic: None, ty, path, values, result: None, is_of_engine: false, location };
        let access = add(&mut self.program.accesses, access);
        let results = self.define_all(results)?;
        let load = add(&mut self.program.matrix_loads, MatrixLoad { access, is_transposed, results });
        self.emit(SimStep::LoadMatrix(load));
        Ok(())
    }
}
