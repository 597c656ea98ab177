//! Products of warpgroups (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"). Each warp has 16 rows of the sum. They are computed when they are waited for.

use super::mma::{element, rounded};
use super::state::LANES;
use super::warp::Lanes;
use crate::decode::SHARED_BEGIN;
use crate::error::{FaultKind, Step, Stumble};
use crate::program::{Wgmma, WgmmaFactor};
use crate::tensor::Swizzle;
use crate::ty::{Ty, low};
use std::collections::VecDeque;

/// Rows of the sum that a warp has.
const ROWS: usize = 16;

/// A product that goes on: the place of its instruction, and what was read when it began: the descriptors, and whether it adds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    pub(super) pc: u32,
    a: Option<u64>,
    b: u64,
    accumulates: bool,
}

/// The products of a warp that go on.
#[derive(Debug, Default)]
pub(crate) struct Products {
    open: Vec<Begun>,
    groups: VecDeque<Vec<Begun>>,
}

impl Products {
    pub(super) fn add(&mut self, begun: Begun) {
        self.open.push(begun);
    }

    pub(super) fn commit(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.open));
    }

    /// Those that must be done, but for so many groups of the last.
    pub(super) fn due(&mut self, but: u32) -> Vec<Begun> {
        let due = self.groups.len().saturating_sub(but as usize);
        self.groups.drain(..due).flatten().collect()
    }
}

/// A tile in shared memory, as a descriptor says.
#[derive(Clone, Copy, Debug)]
struct Tile {
    start: u64,
    /// Bytes from one run of the pattern's bytes to the next, where rows run across.
    leading: u64,
    /// Bytes from eight rows to the next eight.
    stride: u64,
    swizzle: Swizzle,
}

impl Tile {
    fn of(descriptor: u64) -> Step<Tile> {
        let field = |from: u32| low(descriptor >> from, 14) << 4;
        let swizzle = match descriptor >> 62 {
            1 => Swizzle::B128,
            2 => Swizzle::B64,
            3 => Swizzle::B32,
            _ => return Err(Stumble::undefined("a tile without a swizzle is not executed here")),
        };
        if low(descriptor >> 49, 3) != 0 {
            return Err(Stumble::undefined("a tile that does not begin where its pattern does is not executed here"));
        }
        Ok(Tile { start: field(0), leading: field(16), stride: field(32), swizzle })
    }

    /// Where an element is: of a row (or column) of the sum, and a step.
    fn place(&self, line: usize, step: usize, bytes: u64, is_across: bool) -> u64 {
        let (line, step, span) = (line as u64, step as u64, self.swizzle.span());
        let (outer, inner, beyond) = if is_across {
            let run = span / bytes;
            (step, line % run * bytes, line / run * self.leading)
        } else {
            (line, step * bytes, 0)
        };
        self.swizzle.place(self.start + beyond + outer / 8 * self.stride + outer % 8 * span + inner)
    }

    fn element(&self, shared: &[u8], place: u64, ty: Ty) -> Step<f64> {
        let bytes = u64::from(ty.bytes());
        if place < u64::from(SHARED_BEGIN) || place + bytes > shared.len() as u64 {
            let what = format!("a tile has an element at {place:#x}, outside of shared memory, which ends at {:#x}", shared.len());
            return Err(Stumble::new(FaultKind::IllegalAddress, what));
        }
        Ok(element(crate::machine_number(&shared[place as usize..(place + bytes) as usize]), 0, ty))
    }
}

/// Begins a product: registers with descriptors may change from here on.
pub(super) fn begin(values: &Lanes<'_>, pc: u32, wgmma: &Wgmma) -> Begun {
    let a = match &wgmma.a {
        WgmmaFactor::Descriptor(src) => Some(values.get(0, *src)),
        WgmmaFactor::Words(_) => None,
    };
    Begun { pc, a, b: values.get(0, wgmma.b), accumulates: values.get(0, wgmma.accumulates) & 1 == 1 }
}

pub(super) fn multiply(values: &mut Lanes<'_>, warp: usize, shared: &[u8], wgmma: &Wgmma, begun: &Begun) -> Step {
    let Wgmma { columns, steps, .. } = *wgmma;
    let mut a = vec![0.0; ROWS * steps];
    match &wgmma.a {
        WgmmaFactor::Descriptor(src) => {
            let tile = Tile::of(begun.a.unwrap_or_else(|| values.get(0, *src)))?;
            for row in 0..ROWS {
                for step in 0..steps {
                    let line = warp % 4 * ROWS + row;
                    let place = tile.place(line, step, wgmma.a_type.bytes().into(), wgmma.is_transposed[0]);
                    a[row * steps + step] = tile.element(shared, place, wgmma.a_type)?;
                }
            }
        }
        WgmmaFactor::Words(words) => {
            let each = (32 / wgmma.a_type.bits()) as usize;
            for lane in 0..LANES {
                for (r, word) in words.iter().enumerate() {
                    let word = values.get(lane, *word);
                    for e in 0..each {
                        let (row, step) = (lane / 4 + 8 * (r % 2), lane % 4 * each + r / 2 * 4 * each + e);
                        a[row * steps + step] = element(word, e, wgmma.a_type);
                    }
                }
            }
        }
    }
    let tile = Tile::of(begun.b)?;
    let mut b = vec![0.0; columns * steps];
    for column in 0..columns {
        for step in 0..steps {
            let place = tile.place(column, step, wgmma.b_type.bytes().into(), wgmma.is_transposed[1]);
            b[column * steps + step] = tile.element(shared, place, wgmma.b_type)?;
        }
    }
    let sign = if wgmma.is_negated[0] != wgmma.is_negated[1] { -1.0 } else { 1.0 };
    for lane in 0..LANES {
        for (i, d) in wgmma.d.iter().enumerate() {
            let (row, column) = (lane / 4 + 8 * (i / 2 % 2), i / 4 * 8 + lane % 4 * 2 + i % 2);
            let before = if begun.accumulates { values.get(lane, (*d).into()) } else { 0 };
            let sum: f64 = a[row * steps..][..steps].iter().zip(&b[column * steps..][..steps]).map(|(x, y)| x * y).sum();
            values.set(lane, *d, rounded(sign * sum, before, wgmma.sum, false));
        }
    }
    Ok(())
}
