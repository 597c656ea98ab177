//! Loads from shared memory side by side, which the assembler makes one of.

use super::code::{Code, Inst, Op, Reg};
use warpwright_codegen::ir::Space;

/// Bytes of the widest access, as a power of two.
const WIDEST: u8 = 4;

/// Powers of two that are taken for sure of a value that nothing is known of yet: of 0.
const ALL: u8 = 31;

/// Rounds in which alignments round loops settle.
const ROUNDS: usize = 4;

/// Joins in place.
pub(super) fn join(code: &mut Code) {
    let has_any = |inst: &Inst| matches!(inst.op, Op::Load(Space::Shared, _)) && inst.vector == 1;
    if !code.stretches.iter().any(|stretch| stretch.insts.iter().filter(|inst| has_any(inst)).count() > 1) {
        return;
    }
    let alignments = alignments(code);
    for stretch in &mut code.stretches {
        join_stretch(&mut stretch.insts, &alignments);
    }
}

/// The power of two that each register is a multiple of.
fn alignments(code: &Code) -> Vec<u8> {
    let mut found = vec![ALL; code.widths.len()];
    for _ in 0..ROUNDS {
        let mut next = vec![ALL; code.widths.len()];
        for inst in code.stretches.iter().flat_map(|stretch| &stretch.insts) {
            let of_sources = inst.src.iter().map(|reg| found[*reg as usize]).min();
            let of_constant = inst.constant.map_or(ALL, |constant| constant.trailing_zeros().min(31) as u8);
            let power = match inst.op {
                Op::Move if inst.symbol > 0 => WIDEST,
                Op::Move => of_sources.unwrap_or(of_constant),
                Op::Integer | Op::Wide if inst.scale > 0 => (of_sources.unwrap_or(0) + inst.scale).min(ALL),
                Op::Integer | Op::AddLong if inst.is_sum => of_sources.unwrap_or(0).min(of_constant),
                _ => 0,
            };
            for reg in &inst.dst {
                next[*reg as usize] = next[*reg as usize].min(power);
            }
        }
        if next == found {
            break;
        }
        found = next;
    }
    found
}

/// A load that may be joined: where it is, and which.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    region: u32,
    base: Option<Reg>,
    symbol: u32,
    bytes: u8,
    offset: i64,
    at: usize,
}

fn join_stretch(insts: &mut Vec<Inst>, alignments: &[u8]) {
    let mut region = 0;
    let mut candidates = Vec::new();
    for (at, inst) in insts.iter().enumerate() {
        match inst.op {
            Op::Load(Space::Shared, _) if inst.vector == 1 && inst.guard.is_none() && inst.bytes >= 4 && inst.src.len() <= 1 => {
                let base = inst.src.first().copied();
                candidates.push(Candidate { region, base, symbol: inst.symbol, bytes: inst.bytes, offset: inst.offset, at });
            }
            Op::Store(Space::Shared) | Op::Atomic(_) | Op::Barrier | Op::Call => region += 1,
            _ => {}
        }
    }
    candidates.sort_unstable();
    let mut is_gone = vec![false; insts.len()];
    let mut rest = candidates.as_slice();
    while let Some((first, others)) = rest.split_first() {
        let power = first.base.map_or(WIDEST, |reg| alignments[reg as usize]).min(WIDEST);
        let is_next = |n: usize| {
            rest.get(n).is_some_and(|other| {
                Candidate { offset: first.offset + n as i64 * i64::from(first.bytes), at: other.at, ..*first } == *other
            })
        };
        let fits = |count: usize| {
            let size = count as i64 * i64::from(first.bytes);
            size <= 1 << power && first.offset % size == 0 && (1..count).all(is_next)
        };
        let count = [4, 2].into_iter().find(|count| fits(*count)).unwrap_or(1);
        if count > 1 {
            let keeper = rest[..count].iter().map(|candidate| candidate.at).min().unwrap_or(first.at);
            let dst = rest[..count].iter().flat_map(|candidate| insts[candidate.at].dst.iter().copied()).collect();
            rest[..count].iter().for_each(|candidate| is_gone[candidate.at] = candidate.at != keeper);
            (insts[keeper].dst, insts[keeper].vector) = (dst, count as u8);
            rest = &rest[count..];
        } else {
            rest = others;
        }
    }
    let mut gone = is_gone.into_iter();
    insts.retain(|_| !gone.next().unwrap_or(false));
}
