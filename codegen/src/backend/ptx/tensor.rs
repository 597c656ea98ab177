//! Tensor cores (PTX ISA, "Warp level matrix instructions"): `mma.sync`, and `ldmatrix`, which brings their operands from shared memory.

use super::code::{AddressOperand, Opcode, Operand, Reg};
use super::emitter::Emitter;
use super::words::{Mnemonic, Word};
use crate::intrinsics::WARPGROUPS;
use crate::ir::{Inst, MmaShape, Tensor, Type, Value};
use crate::target::Requirement;

/// What a target needs for `ldmatrix`.
const LDMATRIX: Requirement = Requirement::since(75, 65);

/// `stmatrix`.
const STMATRIX: Requirement = Requirement::since(90, 78);

/// The word of a factor's elements; `f32` ones are `tf32` here.
pub(super) fn of_factor(ty: Type) -> Word {
    match ty {
        Type::BF16 => Word::Bf16,
        Type::F16 => Word::F16,
        Type::I8 => Word::S8,
        Type::U8 => Word::U8,
        Type::E4M3 => Word::E4m3,
        Type::E5M2 => Word::E5m2,
        Type::F64 => Word::F64,
        _ => Word::Tf32,
    }
}

/// The word of sums.
pub(super) fn of_sum(ty: Type) -> Word {
    match ty {
        Type::I32 => Word::S32,
        Type::F64 => Word::F64,
        _ => Word::F32,
    }
}

/// The shapes of `f64` with 16 rows; before it there is one of 8 rows and 4 steps along K alone (PTX ISA, "mma").
const TALL_DOUBLES: Requirement = Requirement::since(90, 78);

/// Products of 16 rows, of all steps along K that `MmaShape` has.
const TALL: Requirement = Requirement::since(80, 70);

/// The instruction of a warp.
fn mma(size: Word, factors: Word, sums: Word) -> Opcode {
    let words = vec![Word::Sync, Word::Aligned, size, Word::Row, Word::Col, sums, factors, factors, sums];
    Opcode { mnemonic: Mnemonic::Mma, words }
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
                    let (own, adds) = (self.in_place(inst, sums), self.adds(inst, sums));
                    self.warpgroup_mma(*mnk, (a, b, *factors), (&own, adds, *running), results);
                }
            }
            Tensor::Await { sums } => {
                if self.takes(&WARPGROUPS) {
                    self.await_products(inst, &self.in_place(inst, sums), results);
                }
            }
        }
    }

    fn mma(&mut self, shape: &MmaShape, operands: [&Vec<Value>; 3], results: &[Value]) {
        if !self.takes(&shape.needs) {
            return;
        }
        let written: Vec<Reg> = results.iter().map(|value| self.register(*value)).collect();
        let [a, b, c] = operands.map(|values| values.iter().map(|value| self.in_register(*value)).collect::<Vec<Reg>>());
        if shape.factors == Type::F64 && !TALL_DOUBLES.is_met_by(self.target) {
            return self.mma_by_quarters(Word::M8n8k4, shape, [&a, &b, &c], &written);
        }
        if !TALL.is_met_by(self.target) {
            return match shape.factors {
                Type::F16 => self.mma_by_halves(shape, [&a, &b, &c], &written),
                _ => self.mma_by_quarters(Word::M8n8k16, shape, [&a, &b, &c], &written),
            };
        }
        self.needs(TALL.ptx_version);
        if shape.factors == Type::F64 {
            self.needs(TALL_DOUBLES.ptx_version);
        }
        let [m, n, k] = shape.mnk;
        let size = match (m, n, k) {
            (16, 8, 8) => Word::M16n8k8,
            (16, 8, 16) => Word::M16n8k16,
            _ => Word::M16n8k32,
        };
        let factors = of_factor(shape.factors);
        self.put(mma(size, factors, of_sum(shape.sums)), [written, a, b, c].map(Operand::Vector).to_vec());
    }

    /// A product by two of half as many steps along K: word r of `a` has steps by r / 2, as word r of `b` has.
    fn mma_by_halves(&mut self, shape: &MmaShape, [a, b, c]: [&[Reg]; 3], written: &[Reg]) {
        let mut sums = c.to_vec();
        for (a, b) in a.chunks(2).zip(b) {
            let operands = [written.to_vec(), a.to_vec(), vec![*b], sums].map(Operand::Vector);
            self.put(mma(Word::M16n8k8, of_factor(shape.factors), of_sum(shape.sums)), operands.to_vec());
            sums = written.to_vec();
        }
    }

    /// A product by four of half as many rows and steps along K: word r of `a` has rows of one of the halves by r % 2, and steps by r / 2, as word r of `b` has.
    fn mma_by_quarters(&mut self, size: Word, shape: &MmaShape, [a, b, c]: [&[Reg]; 3], written: &[Reg]) {
        for (half, (written, sums)) in written.chunks(2).zip(c.chunks(2)).enumerate() {
            let mut sums = sums.to_vec();
            for (step, of_b) in b.iter().enumerate() {
                let operands = [written.to_vec(), vec![a[step * 2 + half]], vec![*of_b], sums].map(Operand::Vector);
                self.put(mma(size, of_factor(shape.factors), of_sum(shape.sums)), operands.to_vec());
                sums = written.to_vec();
            }
        }
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

    pub(super) fn store_matrix(&mut self, words: &[Value], place: AddressOperand) {
        if !self.takes(&STMATRIX) {
            return;
        }
        let read: Vec<Reg> = words.iter().map(|value| self.in_register(*value)).collect();
        let words = vec![Word::Sync, Word::Aligned, Word::M8n8, Word::X4, Word::Shared, Word::B16];
        self.put(Opcode { mnemonic: Mnemonic::Stmatrix, words }, vec![place.into(), Operand::Vector(read)]);
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
