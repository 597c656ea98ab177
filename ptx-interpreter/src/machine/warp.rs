//! Instructions of a warp: they are done when all lanes of their mask that have not exited stand at them.

use super::state::{Block, LANES, State};
use super::{Machine, Who, mma};
use crate::decode::SHARED_BEGIN;
use crate::error::{FaultKind, Step, Stumble};
use crate::program::{Address, Op, Reg, ShuffleMode, Src, VoteMode, WarpKind, WarpOp};
use crate::ty::low;

/// Registers of the lanes of a warp.
pub(crate) struct Lanes<'a> {
    pub(crate) registers: &'a mut [u64],
    pub(crate) count: usize,
    pub(crate) literals: &'a [u64],
}

impl<'a> Lanes<'a> {
    /// Of a warp of a block.
    pub(crate) fn of(block: &'a mut Block, warp: usize, count: usize, literals: &'a [u64]) -> Lanes<'a> {
        let end = ((warp + 1) * LANES * count).min(block.registers.len());
        Lanes { registers: &mut block.registers[warp * LANES * count..end], count, literals }
    }

    pub(crate) fn get(&self, lane: usize, src: Src) -> u64 {
        match src.constant() {
            Some(constant) => self.literals[constant],
            None => self.registers[lane * self.count + src.0 as usize],
        }
    }

    pub(crate) fn set(&mut self, lane: usize, reg: Reg, value: u64) {
        self.registers[lane * self.count + reg.0 as usize] = value;
    }

    fn address(&self, lane: usize, at: &Address) -> u64 {
        low(self.get(lane, at.base).wrapping_add_signed(at.offset), 32)
    }
}

/// The numbers of the bits that are set.
pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

impl Machine<'_> {
    /// A thread has come to an instruction of its warp.
    pub(super) fn at_warp(&mut self, who: Who, op: &WarpOp) -> Step {
        let (view, _) = self.view(who);
        let mask = view.get(op.mask) as u32;
        if mask >> (who.thread % LANES) & 1 == 0 {
            return Err(Stumble::undefined(format!("the lane {} is not in its own mask {mask:#010x}", who.thread % LANES)));
        }
        if let WarpKind::Activemask(d) = op.kind {
            // Which lanes are active together is not said: this one is.
            let (mut view, pc) = self.view(who);
            view.set(d, 1 << (who.thread % LANES));
            *pc += 1;
            return Ok(());
        }
        self.resident[who.cluster].blocks[who.block].set_state(who.thread, State::AtWarp);
        self.try_warp(who, mask)
    }

    /// A lane has exited: the others may have waited for it alone.
    pub(super) fn look_at_warp(&mut self, who: Who) -> Step {
        let warp = who.thread / LANES;
        let mut left = self.resident[who.cluster].blocks[who.block].warps[warp].at_warp;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let who = Who { thread: warp * LANES + lane, ..who };
            if self.thread(who).state == State::AtWarp {
                let mask = self.mask_of(who);
                self.try_warp(who, mask)?;
            }
        }
        Ok(())
    }

    fn mask_of(&mut self, who: Who) -> u32 {
        let program = self.program;
        let (view, pc) = self.view(who);
        match &program.code[*pc as usize].op {
            Op::Warp(op) => view.get(op.mask) as u32,
            _ => 0,
        }
    }

    fn try_warp(&mut self, who: Who, mask: u32) -> Step {
        let (program, literals) = (self.program, self.literals);
        let warp = who.thread / LANES;
        let cluster = &mut self.resident[who.cluster];
        let block = &mut cluster.blocks[who.block];
        let lanes = mask & block.warps[warp].live;
        if lanes & !block.warps[warp].at_warp != 0 {
            return Ok(());
        }
        let pc = block.threads[who.thread].pc;
        if lanes_of(lanes).any(|lane| block.threads[warp * LANES + lane].pc != pc) {
            return Ok(());
        }
        let Op::Warp(op) = &program.code[pc as usize].op else { return Ok(()) };
        let mut values = Lanes::of(block, warp, program.registers as usize, literals);
        if lanes_of(lanes).any(|lane| values.get(lane, op.mask) as u32 != mask) {
            return Ok(());
        }
        match &op.kind {
            WarpKind::Sync | WarpKind::Activemask(_) | WarpKind::WgmmaFence => {}
            WarpKind::Shuffle { mode, d, in_range, a, b, c } => shuffle(&mut values, lanes, *mode, (*d, *in_range), [*a, *b, *c])?,
            WarpKind::Vote { mode, d, a, is_negated } => {
                let votes =
                    lanes_of(lanes).filter(|lane| (values.get(*lane, *a) & 1 == 1) != *is_negated).fold(0u32, |all, lane| all | 1 << lane);
                let result = match mode {
                    VoteMode::All => u32::from(votes == lanes),
                    VoteMode::Any => u32::from(votes != 0),
                    VoteMode::Uni => u32::from(votes == lanes || votes == 0),
                    VoteMode::Ballot => votes,
                };
                lanes_of(lanes).for_each(|lane| values.set(lane, *d, result.into()));
            }
            WarpKind::Match { d, a, all, bits } => matching(&mut values, lanes, *d, *a, *all, *bits),
            WarpKind::Redux { f, d, a } => {
                let result = lanes_of(lanes).map(|lane| values.get(lane, *a)).reduce(f).unwrap_or(0);
                lanes_of(lanes).for_each(|lane| values.set(lane, *d, result));
            }
            WarpKind::LoadMatrix { d, at, is_transposed } => {
                whole(lanes)?;
                load_matrix(&mut values, &cluster.shared[who.block], d, at, *is_transposed)?;
            }
            WarpKind::StoreMatrix { words, at, is_transposed } => {
                whole(lanes)?;
                store_matrix(&values, &mut cluster.shared[who.block], words, at, *is_transposed)?;
            }
            WarpKind::Mma(mma) => {
                whole(lanes)?;
                mma::multiply(&mut values, mma);
            }
            WarpKind::Wgmma(wgmma) => {
                whole(lanes)?;
                let begun = super::wgmma::begin(&values, pc, wgmma);
                block.warps[warp].products.add(begun);
            }
            WarpKind::WgmmaCommit => block.warps[warp].products.commit(),
            WarpKind::WgmmaWait(but) => {
                let due = block.warps[warp].products.due(*but);
                for begun in due {
                    if let Op::Warp(WarpOp { kind: WarpKind::Wgmma(wgmma), .. }) = &program.code[begun.pc as usize].op {
                        let mut values = Lanes::of(block, warp, program.registers as usize, literals);
                        super::wgmma::multiply(&mut values, warp, &cluster.shared[who.block], wgmma, &begun)?;
                    }
                }
            }
        }
        lanes_of(lanes).for_each(|lane| block.go_on(warp * LANES + lane));
        Ok(())
    }
}

/// Instructions on matrices need all lanes.
fn whole(lanes: u32) -> Step {
    if lanes == u32::MAX { Ok(()) } else { Err(Stumble::undefined(format!("of the warp only the lanes {lanes:#010x} are there"))) }
}

fn shuffle(values: &mut Lanes<'_>, lanes: u32, mode: ShuffleMode, (d, in_range): (Reg, Option<Reg>), [a, b, c]: [Src; 3]) -> Step {
    let mut results = [(0, false); LANES];
    for lane in lanes_of(lanes) {
        let own = lane as i32;
        let (b, c) = (values.get(lane, b) as i32 & 31, values.get(lane, c) as i32);
        let (clamp, segments) = (c & 31, c >> 8 & 31);
        let most = own & segments | clamp & !segments;
        let least = own & segments;
        let (source, is_in_range) = match mode {
            ShuffleMode::Up => (own - b, own - b >= most),
            ShuffleMode::Down => (own + b, own + b <= most),
            ShuffleMode::Bfly => (own ^ b, own ^ b <= most),
            ShuffleMode::Idx => (least | b & !segments, least | b & !segments <= most),
        };
        let source = if is_in_range { source as usize } else { lane };
        if lanes >> source & 1 == 0 {
            // PTX leaves the value undefined; it need not be used.
            results[lane] = (GARBAGE, is_in_range);
        } else {
            results[lane] = (values.get(source, a), is_in_range);
        }
    }
    for lane in lanes_of(lanes) {
        values.set(lane, d, results[lane].0);
        if let Some(reg) = in_range {
            values.set(lane, reg, results[lane].1.into());
        }
    }
    Ok(())
}

/// What a lane gives that is not there.
const GARBAGE: u64 = 0xdead_beef;

fn matching(values: &mut Lanes<'_>, lanes: u32, d: Reg, a: Src, all: Option<Option<Reg>>, bits: u32) {
    let value = |values: &Lanes<'_>, lane: usize| low(values.get(lane, a), bits);
    let own: Vec<u64> = (0..LANES).map(|lane| if lanes >> lane & 1 == 1 { value(values, lane) } else { 0 }).collect();
    for lane in lanes_of(lanes) {
        let same = lanes_of(lanes).filter(|other| own[*other] == own[lane]).fold(0u32, |same, other| same | 1 << other);
        match all {
            None => values.set(lane, d, same.into()),
            Some(reg) => {
                let is_all = same == lanes;
                values.set(lane, d, if is_all { lanes.into() } else { 0 });
                if let Some(reg) = reg {
                    values.set(lane, reg, is_all.into());
                }
            }
        }
    }
}

/// Where each row of 16 bytes of a matrix begins: lane `8 · matrix + row` says so.
fn row(values: &Lanes<'_>, lane: usize, at: &Address, bytes: usize) -> Step<usize> {
    let address = values.address(lane, at);
    if !address.is_multiple_of(16) {
        return Err(Stumble::new(FaultKind::Misaligned, format!("address {address:#x} of lane {lane} is no multiple of 16")));
    }
    if address < u64::from(SHARED_BEGIN) || address + 16 > bytes as u64 {
        let what = format!("16 bytes at address {address:#x} of lane {lane} are outside of shared memory, which ends at {bytes:#x}");
        return Err(Stumble::new(FaultKind::IllegalAddress, what));
    }
    Ok(address as usize)
}

/// The place of an element of 16 bits in the registers of a fragment: lane, and which half of its word.
fn holder(row: usize, column: usize) -> (usize, usize) {
    (row * 4 + column / 2, column % 2)
}

fn load_matrix(values: &mut Lanes<'_>, shared: &[u8], d: &[Reg], at: &Address, is_transposed: bool) -> Step {
    let mut found = vec![[0u64; LANES]; d.len()];
    for (matrix, words) in found.iter_mut().enumerate() {
        for r in 0..8 {
            let begin = row(values, matrix * 8 + r, at, shared.len())?;
            for c in 0..8 {
                let element = u64::from(u16::from_le_bytes([shared[begin + 2 * c], shared[begin + 2 * c + 1]]));
                let (lane, half) = if is_transposed { holder(c, r) } else { holder(r, c) };
                words[lane] |= element << (16 * half);
            }
        }
    }
    for (reg, words) in d.iter().zip(&found) {
        (0..LANES).for_each(|lane| values.set(lane, *reg, words[lane]));
    }
    Ok(())
}

fn store_matrix(values: &Lanes<'_>, shared: &mut [u8], words: &[Src], at: &Address, is_transposed: bool) -> Step {
    for (matrix, word) in words.iter().enumerate() {
        for r in 0..8 {
            let begin = row(values, matrix * 8 + r, at, shared.len())?;
            for c in 0..8 {
                let (lane, half) = if is_transposed { holder(c, r) } else { holder(r, c) };
                let element = (values.get(lane, *word) >> (16 * half)) as u16;
                shared[begin + 2 * c..begin + 2 * c + 2].copy_from_slice(&element.to_le_bytes());
            }
        }
    }
    Ok(())
}
