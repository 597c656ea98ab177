//! From which registers the fused products of a loop read their operands: *measured* in what an assembler made.
//!
//! A register file has two banks, of the even and of the odd registers, and reads one register of each a cycle. An operand that the instruction before has read in
//! the same place and kept (`.reuse`) is not read again. A product that reads two or three registers of one bank waits. On an H200 a loop of products is
//! a sixth of an issue slot slower for each product that waits once; which registers there are is the assembler's choice.

use crate::nvdisasm::{Nvdisasm, SassLine};
use crate::ptxas::{Ptxas, PtxasError};
use std::collections::{BTreeMap, BTreeSet};
use warpwright_codegen::backend::ptx::code::{Module, Statement};

/// Fused products of a loop, at least: the banks of fewer do not matter.
const MANY: usize = 64;

/// What the products of an innermost loop read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandReads {
    /// File (from 1), line and column of the first product in the source.
    pub place: [u32; 3],
    /// Fused products of `f32` in the loop's machine code.
    pub products: u32,
    /// Those that read three registers.
    pub of_three: u32,
    /// Waits of all of them: 1 for two registers of one bank, 2 for three.
    pub waits: u32,
}

impl OperandReads {
    /// Waits a product.
    pub fn waits_each(&self) -> f64 {
        f64::from(self.waits) / f64::from(self.products.max(1))
    }
}

impl Ptxas {
    /// What it makes of the operands of products, for a target, 10·major + minor: one for each innermost loop with many of them.
    ///
    /// # Errors
    ///
    /// As [`Ptxas::measure`]; if the disassembler cannot be run.
    pub fn operand_reads(&self, nvdisasm: &Nvdisasm, module: &Module, target: u16) -> Result<Vec<OperandReads>, PtxasError> {
        let has_many = module.instructions().filter(|one| one.opcode.is_fused_f32()).nth(MANY - 1).is_some();
        if !has_many {
            return Ok(Vec::new());
        }
        let cubin = self.cubin_with_lines(&module.clone().numbered().to_string(), target)?;
        let sass = nvdisasm.lines(&cubin).map_err(|reason| PtxasError::NotRun { path: "nvdisasm".into(), reason })?;
        Ok(read(&sass, &places(module)))
    }
}

/// By instruction, from 1: where it comes from.
fn places(module: &Module) -> Vec<[u32; 3]> {
    let (mut places, mut last) = (vec![[0; 3]], [0; 3]);
    for statement in &module.entry.body {
        match statement {
            Statement::Loc(place) => last = *place,
            Statement::Instruction(_) => places.push(last),
            _ => {}
        }
    }
    places
}

fn read(sass: &[SassLine], places: &[[u32; 3]]) -> Vec<OperandReads> {
    let (mut labels, mut code, mut loops) = (BTreeMap::new(), Vec::new(), Vec::<(usize, usize)>::new());
    for line in sass {
        if let Some(label) = line.text.strip_suffix(':') {
            labels.insert(label, code.len());
            continue;
        }
        let target = line.text.split_once("`(").and_then(|(_, rest)| rest.split_once(')'));
        loops.extend(target.and_then(|(label, _)| labels.get(label)).map(|first| (*first, code.len())));
        code.push(line);
    }
    let is_inner = |(first, last): &&(usize, usize)| !loops.iter().any(|(a, b)| (a, b) != (first, last) && first <= a && b <= last);
    loops.iter().filter(is_inner).filter_map(|(first, last)| of_loop(&code[*first..=*last], places)).collect()
}

fn of_loop(code: &[&SassLine], places: &[[u32; 3]]) -> Option<OperandReads> {
    let mut reads = OperandReads { place: [0; 3], products: 0, of_three: 0, waits: 0 };
    // By place of an operand: the register that the instruction before has kept.
    let mut kept: Vec<Option<u32>> = Vec::new();
    for line in code {
        let (opcode, operands) = parts(&line.text);
        if opcode.split('.').next() == Some("FFMA") {
            let is_read = |(n, operand): &(usize, &Operand)| operand.register.filter(|register| kept.get(*n) != Some(&Some(*register)));
            let read: BTreeSet<u32> = operands.iter().enumerate().skip(1).filter_map(|operand| is_read(&operand)).collect();
            let even = read.iter().filter(|register| *register % 2 == 0).count();
            if reads.products == 0 {
                let number = line.place.as_ref().map_or(0, |(_, number)| *number as usize);
                reads.place = places.get(number).copied().unwrap_or_default();
            }
            reads.products += 1;
            reads.of_three += u32::from(read.len() == 3);
            reads.waits += even.max(read.len() - even).saturating_sub(1) as u32;
        }
        kept = operands.iter().map(|operand| operand.register.filter(|_| operand.is_kept)).collect();
    }
    (reads.products as usize >= MANY).then_some(reads)
}

/// An operand of an instruction.
struct Operand {
    register: Option<u32>,
    is_kept: bool,
}

/// `@!P0 FFMA R4, R2.reuse, -R3, R4 ;` as its opcode and its operands.
fn parts(text: &str) -> (&str, Vec<Operand>) {
    let text = text.trim_end_matches([';', ' ']);
    let text = text.strip_prefix('@').and_then(|rest| rest.split_once(' ')).map_or(text, |(_, rest)| rest.trim());
    let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
    let operand = |text: &str| {
        let text = text.trim().trim_start_matches(['-', '|', '~']);
        let (name, word) = text.split_once('.').unwrap_or((text, ""));
        let register = name.trim_end_matches('|').strip_prefix('R').and_then(|number| number.parse().ok());
        Operand { register, is_kept: word.split('.').any(|word| word == "reuse") }
    };
    (opcode, operands.split(',').map(operand).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<SassLine> {
        text.lines().enumerate().map(|(n, text)| SassLine { text: text.trim().to_owned(), place: Some(("f".into(), n as u32)) }).collect()
    }

    #[test]
    fn kept_operands_are_not_read_and_registers_of_one_bank_wait() {
        let code = lines(
            "FFMA R4, R1.reuse, R2, R4 ;
             FFMA R5, R1.reuse, R3, R6 ;
             @P0 FFMA R6, R1, R3, R7 ;
             FFMA R8, R2, -R4, R6 ;
             FADD R9, R1, R2 ;
             FFMA R9, R1, R2, 0.5 ;",
        );
        let code: Vec<&SassLine> = code.iter().collect();
        let all: Vec<&SassLine> = code.iter().copied().cycle().take(code.len() * 20).collect();
        let found = of_loop(&all, &[]).expect("many products");
        // One even of two; two of two banks; two odd ones that are read, the first being kept; three even ones; one of each.
        assert_eq!((found.products, found.of_three, found.waits), (100, 40, 20 * (1 + 1 + 2)));
        assert!(of_loop(&code, &[]).is_none(), "few products");
    }

    #[test]
    fn innermost_loops_are_looked_at() {
        let products = "FFMA R4, R1, R3, R5 ;\n".repeat(70);
        let text = format!(".L_1:\nMOV R1, R2 ;\n.L_2:\n{products}@P0 BRA `(.L_2) ;\nEXIT ;\n@P1 BRA `(.L_1) ;");
        let found = read(&lines(&text), &[]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].products, found[0].waits), (70, 140));
    }
}
