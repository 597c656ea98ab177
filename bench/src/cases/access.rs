//! Copies that are not aligned, for offsets 0 … 32, and not dense, for strides 1 … 16, as in NVIDIA's OpenCL best practices guide 1.0.

use crate::contest::{Arena, Case};
use crate::memory::{Number, random};
use crate::report::Unit;
use crate::twins::{Twins, at};
use crate::{Outcome, Runner};
use warpwright::Buffer;
use warpwright_kernels::access::{offset_copy, stride_copy};

const INP: u32 = 4;
const OLD: u32 = 5;

/// The largest offset, and stride.
const OFFSETS: usize = 32;
const STRIDES: usize = 16;

pub(super) fn run_offsets(runner: &mut Runner) -> Outcome<()> {
    let count = runner.size.pick(1 << 28, 1 << 20, 2_999);
    for offset in 0..=OFFSETS {
        let n = count + offset;
        let mut arena = Arena::new(runner, random::<f32>(&runner.device, INP, n)?, n)?.updated_from(OLD);
        let case = Case {
            variant: format!("offset {offset}"),
            threads: 256,
            shared: 0,
            work: 8.0 * count as f64,
            unit: Unit::Bytes,
            ours: &|arena: &mut Arena<f32, Buffer<f32>>| offset_copy(offset, &mut arena.ours, &arena.inputs).cover(count),
            theirs: &|twins: &Twins, arena: &Arena<f32, Buffer<f32>>| {
                twins.offset_copy(offset as u32, at(arena.theirs()), at(&arena.inputs), n as u32, count as u32)
            },
            expected: &|i| f64::from(f32::input(if i < offset { OLD } else { INP }, i)),
            bound: 0.0,
        };
        runner.contest("offset_copy", &mut arena, &case);
    }
    Ok(())
}

pub(super) fn run_strides(runner: &mut Runner) -> Outcome<()> {
    let count = runner.size.pick(1 << 25, 1 << 18, 499);
    let n = count * STRIDES;
    let mut arena = Arena::new(runner, random::<f32>(&runner.device, INP, n)?, n)?.updated_from(OLD);
    for stride in 1..=STRIDES {
        let case = Case {
            variant: format!("stride {stride}"),
            threads: 256,
            shared: 0,
            work: 8.0 * count as f64,
            unit: Unit::Bytes,
            ours: &|arena: &mut Arena<f32, Buffer<f32>>| stride_copy(stride, &mut arena.ours, &arena.inputs).cover(count),
            theirs: &|twins: &Twins, arena: &Arena<f32, Buffer<f32>>| {
                twins.stride_copy(stride as u32, at(arena.theirs()), at(&arena.inputs), n as u32, count as u32)
            },
            expected: &|i| {
                // Threads are whole blocks: those beyond `count` copy, too, where there is an element for them.
                let copied = i.is_multiple_of(stride) && i / stride < count.next_multiple_of(256);
                f64::from(f32::input(if copied { INP } else { OLD }, i))
            },
            bound: 0.0,
        };
        runner.contest("stride_copy", &mut arena, &case);
    }
    Ok(())
}
