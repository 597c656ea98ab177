//! Tensor cores (PTX ISA, "Warp level matrix instructions"): `mma.sync`, and `ldmatrix`, which brings their operands from shared memory.

use super::code::{AddressOperand, Opcode, Operand, Reg};
use super::emitter::Emitter;
use super::words::{Mnemonic, Word};
use crate::intrinsics::WARPGROUPS;
use crate::ir::{Inst, MmaShape, Tensor, Type, Value};
use crate::target::Requirement;

/// What a target needs for `ldmatrix`.
const LDMATRIX: Requirement = Requirement::since(75, 65);

/// The word of a factor's elements; `f32` ones are `tf32` here.
pub(super) fn of_factor(ty: Type) -> Word {
    match ty {
        Type::BF16 => Word::Bf16,
        Type::F16 => Word::F16,
        Type::I8 => Word::S8,
        Type::U8 => Word::U8,
        _ => Word::Tf32,
    }
}

/// The word of sums.
pub(super) fn of_sum(ty: Type) -> Word {
    if ty == Type::I32 { Word::S32 } else { Word::F32 }
}

impl Emitter<'_> {
    pub(super) fn tensor(&mut self, inst: Inst, tensor: &Tensor, results: &[Value]) {
        match tensor {
            Tensor::MultiplyAdd { .. } | Tensor::Position { .. } | Tensor::Store { .. } => {
                self.refuse("a product reached the PTX back end, which takes the instructions that it is made of".into(), String::new());
            }
            Tensor::Mma { shape, a, b, c } => self.mma(shape, [a, b, c], results),
            Tensor::WarpgroupMma { mnk, a, b, factors, running, sums } => {
                if self.takes(&WARPGROUPS) {
                    if *running > 0 {
                        self.stay_in_place(inst, results);
                    }
                    self.warpgroup_mma(*mnk, (a, b, *factors), (&self.in_place(inst, sums), *running), results);
                }
            }
            Tensor::Await { sums } => {
                if self.takes(&WARPGROUPS) {
                    self.await_products(&self.in_place(inst, sums), results);
                }
            }
        }
    }

    fn mma(&mut self, shape: &MmaShape, operands: [&Vec<Value>; 3], results: &[Value]) {
        if !self.takes(&shape.needs) {
            return;
        }
        let [m, n, k] = shape.mnk;
        let size = match (m, n, k) {
            (16, 8, 8) => Word::M16n8k8,
            (16, 8, 16) => Word::M16n8k16,
            _ => Word::M16n8k32,
        };
        let (factors, sums) = (of_factor(shape.factors), of_sum(shape.sums));
        let words = vec![Word::Sync, Word::Aligned, size, Word::Row, Word::Col, sums, factors, factors, sums];
        let written: Vec<Reg> = results.iter().map(|value| self.register(*value)).collect();
        let read = operands.map(|values| Operand::Vector(values.iter().map(|value| self.in_register(*value)).collect()));
        self.put(Opcode { mnemonic: Mnemonic::Mma, words }, [Operand::Vector(written)].into_iter().chain(read).collect());
    }

    pub(super) fn load_matrix(&mut self, is_transposed: bool, place: AddressOperand, results: &[Value]) {
        if !self.takes(&LDMATRIX) {
            return;
        }
        let count = match results.len() {
            1 => Word::X1,
            2 => Word::X2,
            _ => Word::X4,
        };
        let words = [Word::Sync, Word::Aligned, Word::M8n8, count].into_iter().chain(is_transposed.then_some(Word::Trans));
        let words = words.chain([Word::Shared, Word::B16]).collect();
        let written: Vec<Reg> = results.iter().map(|value| self.register(*value)).collect();
        self.put(Opcode { mnemonic: Mnemonic::Ldmatrix, words }, vec![Operand::Vector(written), place.into()]);
    }

    /// Whether the target has it; else it is refused.
    pub(super) fn takes(&mut self, needs: &Requirement) -> bool {
        match needs.missing(self.target) {
            Some((lacks, help)) => self.refuse(format!("a tensor core's instruction {lacks}"), help),
            None => self.needs(needs.ptx_version),
        }
        needs.is_met_by(self.target)
    }
}
