//! Device memory: what a multiprocessor has in flight against what it gets, and how long one load takes.

use crate::kernels::{cached as cached_kernel, chase as chase_kernel, make_cycle, nothing, scale as scale_kernel, scale_serially};
use crate::kernels::{read as read_kernel, triad as triad_kernel, walk as walk_kernel, write as write_kernel};
use crate::kernels::{read_strided, rows as rows_kernel, shared_by_blocks, write_strided};
use crate::{Case, Outcome, Run};
use warpwright::Num;
use warpwright::{Buffer, Launch};

/// Instances of a kernel's launcher: block, ILP, vector, and the function with them as constants.
macro_rules! instances {
    ($launch:ident; $(($block:literal, $ilp:literal, $vector:literal)),* $(,)?) => {
        [$(($block, $ilp, $vector, $launch::<$block, $ilp, $vector> as _)),*]
    };
}

/// Bytes per thread from 4 to 128 in different ways, for three sizes of block.
macro_rules! sweep {
    ($launch:ident) => {
        instances!($launch;
            (32, 1, 1), (32, 4, 1), (32, 1, 4), (32, 4, 4),
            (64, 1, 1), (64, 4, 1), (64, 1, 4), (64, 4, 4),
            (128, 1, 1), (128, 2, 1), (128, 4, 1), (128, 8, 1), (128, 1, 2), (128, 1, 4), (128, 2, 4), (128, 4, 4),
            (256, 1, 1), (256, 4, 1), (256, 1, 4), (256, 4, 4),
            (512, 1, 1), (512, 4, 1), (512, 1, 4), (512, 4, 4),
            (1024, 1, 1), (1024, 4, 1), (1024, 1, 4), (1024, 4, 4)
        )
    };
}

/// Elements of an array: half a gigabyte of `f32`, many times the cache; or what the largest block takes at once.
fn elements(run: &Run) -> usize {
    if run.tiny { 1 << 14 } else { 1 << 27 }
}

/// How many blocks shared memory is to leave room for: none taken, and from one block up to where threads are the limit.
fn residencies(block: u32) -> Vec<Option<u32>> {
    let most = (2048 / block).min(32);
    let limited = [1, 2, 4, 8, 16].into_iter().filter(|blocks| *blocks < most).map(Some);
    limited.chain([None]).collect()
}

/// A kernel's instances (block, ILP, vector, and the function with them as constants), and how many of such blocks are to be resident.
type Instances<'i, L> = (&'i [(u32, u32, u32, L)], fn(u32) -> Vec<Option<u32>>);

/// Times all instances of a kernel that goes once through `n` elements, with so many blocks resident. `case` is what they have in common.
fn once_through<L: Copy, A>(
    run: &mut Run,
    n: usize,
    (instances, residencies): Instances<'_, L>,
    case: Case,
    arena: &mut A,
    launch: impl for<'m> Fn(L, &'m mut A) -> Launch<'m>,
) -> Outcome<()> {
    for &(block, ilp, vector, instance) in instances {
        for resident in residencies(block) {
            let grid = (n as u64).div_ceil(u64::from(block * ilp * vector));
            let case = Case { block, resident, grid, ilp, vector, steps: 1, ..case.clone() };
            run.time(case, || launch(instance, arena))?;
        }
    }
    Ok(())
}

pub(crate) fn blocks(run: &mut Run) -> Outcome<()> {
    type Nothing = for<'m> fn(u32, &'m mut Buffer<f32>) -> Launch<'m>;
    let instances: [(u32, Nothing); 6] = [
        (32, nothing::<32>),
        (64, nothing::<64>),
        (128, nothing::<128>),
        (256, nothing::<256>),
        (512, nothing::<512>),
        (1024, nothing::<1024>),
    ];
    let mut out = run.device.zeros::<f32>(1)?;
    for (block, launch) in instances {
        for resident in residencies(block) {
            let grids: &[u64] = if run.tiny { &[4] } else { &[1, 132, 1 << 20] };
            for grid in grids {
                let case = Case { kernel: "nothing", block, resident, grid: *grid, ..Case::default() };
                run.time(case, || launch(0, &mut out))?;
            }
        }
    }
    Ok(())
}

pub(crate) fn read(run: &mut Run) -> Outcome<()> {
    type Read = for<'m> fn(&'m Buffer<f32>, &'m mut Buffer<f32>) -> Launch<'m>;
    let n = elements(run);
    let mut arena = (run.device.zeros::<f32>(n)?, run.device.zeros::<f32>(1)?);
    let instances: [(u32, u32, u32, Read); 28] = sweep!(read_kernel);
    let bytes = 4.0 * n as f64;
    let case = Case { kernel: "read", footprint: bytes, read: bytes, ..Case::default() };
    once_through(run, n, (&instances, residencies), case, &mut arena, |launch, (x, out)| launch(x, out))
}

pub(crate) fn walk(run: &mut Run) -> Outcome<()> {
    type Walk = for<'m> fn(usize, usize, &'m Buffer<f32>, &'m mut Buffer<f32>) -> Launch<'m>;
    let n = elements(run);
    let (x, mut out) = (run.device.zeros::<f32>(n)?, run.device.zeros::<f32>(1)?);
    let instances: [(u32, u32, u32, Walk); 12] = instances!(walk_kernel;
        (32, 1, 1), (32, 4, 1), (32, 4, 4), (128, 1, 1), (128, 4, 1), (128, 4, 4),
        (256, 1, 1), (256, 4, 1), (256, 4, 4), (1024, 1, 1), (1024, 4, 1), (1024, 4, 4));
    for (block, ilp, vector, launch) in instances {
        for blocks in [1, 2, 4, 8, 16, 32].into_iter().filter(|blocks| blocks * block <= 2048) {
            // Every block is resident from beginning to end.
            let grid = u64::from(run.multiprocessors * blocks);
            let stride = grid as usize * (block * vector) as usize;
            let steps = (n / (stride * ilp as usize)).min(if run.tiny { 2 } else { 4096 });
            if steps == 0 {
                continue;
            }
            let read = 4.0 * (steps * stride * ilp as usize) as f64;
            let (kernel, resident, of_case) = ("walk", Some(blocks), steps as u32);
            let case = Case { kernel, block, resident, grid, ilp, vector, steps: of_case, footprint: read, read, ..Case::default() };
            run.time(case, || launch(steps, stride, &x, &mut out))?;
        }
    }
    Ok(())
}

type InPlace = for<'m> fn(f32, &'m mut Buffer<f32>) -> Launch<'m>;

pub(crate) fn write(run: &mut Run) -> Outcome<()> {
    let n = elements(run);
    let mut out = run.device.zeros::<f32>(n)?;
    let instances: [(u32, u32, u32, InPlace); 8] = instances!(write_kernel;
        (64, 4, 1), (128, 1, 1), (128, 4, 1), (128, 4, 4), (256, 1, 4), (1024, 1, 1), (1024, 1, 4), (1024, 4, 4));
    let bytes = 4.0 * n as f64;
    let case = Case { kernel: "write", footprint: bytes, written: bytes, ..Case::default() };
    once_through(run, n, (&instances, residencies), case, &mut out, |launch, out| launch(1.0, out))
}

pub(crate) fn scale(run: &mut Run) -> Outcome<()> {
    type Serial = for<'m> fn(f32, usize, usize, &'m mut Buffer<f32>) -> Launch<'m>;
    let n = elements(run);
    let mut y = run.device.zeros::<f32>(n)?;
    let bytes = 4.0 * n as f64;
    let case = Case { kernel: "scale", footprint: bytes, read: bytes, written: bytes, ..Case::default() };
    let instances: [(u32, u32, u32, InPlace); 28] = sweep!(scale_kernel);
    once_through(run, n, (&instances, residencies), case.clone(), &mut y, |launch, y| launch(1.0, y))?;
    let instances: [(u32, Serial); 4] =
        [(32, scale_serially::<32>), (128, scale_serially::<128>), (256, scale_serially::<256>), (1024, scale_serially::<1024>)];
    for (block, launch) in instances {
        for resident in residencies(block) {
            for steps in [1, 2, 4, 8] {
                let (kernel, grid) = ("scale_serially", n as u64 / u64::from(block * steps));
                let case = Case { kernel, block, resident, grid, ilp: 1, vector: 1, steps, ..case.clone() };
                run.time(case, || launch(1.0, steps as usize, block as usize, &mut y))?;
            }
        }
    }
    Ok(())
}

type Triad = for<'m> fn(f32, &'m Buffer<f32>, &'m Buffer<f32>, &'m mut Buffer<f32>) -> Launch<'m>;

fn triads(run: &mut Run, n: usize, instances: Instances<'_, Triad>) -> Outcome<()> {
    let mut arena = (run.device.zeros::<f32>(n)?, run.device.zeros::<f32>(n)?, run.device.zeros::<f32>(n)?);
    let bytes = 4.0 * n as f64;
    let case = Case { kernel: "triad", footprint: 3.0 * bytes, read: 2.0 * bytes, written: bytes, ..Case::default() };
    once_through(run, n, instances, case, &mut arena, |launch, (x, y, out)| launch(0.5, x, y, out))
}

pub(crate) fn triad(run: &mut Run) -> Outcome<()> {
    let instances: [(u32, u32, u32, Triad); 28] = sweep!(triad_kernel);
    triads(run, elements(run), (&instances, residencies))
}

/// What fits the cache, and what is too small to fill the device: the cache's bandwidth, the launch's floor.
pub(crate) fn small(run: &mut Run) -> Outcome<()> {
    let instances: [(u32, u32, u32, Triad); 2] = instances!(triad_kernel; (256, 1, 1), (256, 1, 4));
    let mut sizes = if run.tiny { 10..12 } else { 10..25 };
    sizes.try_for_each(|bits| triads(run, 1 << bits, (&instances, |_| vec![None])))
}

/// One warp's chain of loads through working sets of many sizes.
pub(crate) fn chase(run: &mut Run) -> Outcome<()> {
    // A place is a line of 128 bytes. The lanes of a warp all read the same word.
    const SPREAD: u32 = 32;
    let sizes: &[u32] = if run.tiny { &[7] } else { &[7, 10, 13, 15, 17, 18, 19, 20, 22, 23, 24] };
    for bits in sizes {
        let places = 1u32 << bits;
        let mut next = run.device.zeros::<u32>((places * SPREAD) as usize)?;
        // A factor of the form 8·k + 5 and an odd increment: the whole period.
        make_cycle(places - 1, 1_664_525, SPREAD, &mut next).cover(places as usize).launch(&run.device)?;
        let mut out = run.device.zeros::<u32>(32 * 16)?;
        let footprint = 128.0 * f64::from(places);
        // A small set is in the cache after the first of them; of a large one, more is visited than the cache has room for.
        let steps = match bits {
            _ if run.tiny => 64,
            0..20 => 1 << 16,
            _ => 1 << 20,
        };
        let case = Case { kernel: "chase", block: 32, grid: 1, ilp: 1, vector: 1, steps, footprint, ..Case::default() };
        run.time(case, || chase_kernel(steps as usize, &next, &mut out))?;
    }
    Ok(())
}

/// Lanes a stride apart: passes of the L1 cache, and sectors of which parts are used.
pub(crate) fn strides(run: &mut Run) -> Outcome<()> {
    let mut out = run.device.zeros::<f32>(1)?;
    let table = run.device.zeros::<f32>(4096)?;
    let rounds: u32 = if run.tiny { 2 } else { 1 << 12 };
    for stride in [0, 1, 2, 3, 4, 5, 8, 9, 15, 16, 32, 33] {
        let grid = u64::from(run.multiprocessors * 8);
        let operations = 16.0 * f64::from(rounds);
        let case = Case { kernel: "cached", block: 256, grid, ilp: 16, vector: 1, steps: stride, operations, ..Case::default() };
        run.time(case, || cached_kernel::<16>(rounds as usize, stride as usize, &table, &mut out))?;
    }
    let n: usize = if run.tiny { 1 << 12 } else { 1 << 24 };
    for stride in [1, 2, 4, 8, 16, 32] {
        let mut x = run.device.zeros::<f32>(n * stride as usize)?;
        let bytes = 4.0 * n as f64;
        let footprint = bytes * f64::from(stride);
        let of = |kernel, per_block: usize| {
            let grid = (n / per_block) as u64;
            Case { kernel, block: 256, grid, ilp: 1, vector: 1, steps: stride, footprint, ..Case::default() }
        };
        run.time(Case { ilp: 4, read: bytes, ..of("read_strided", 1024) }, || read_strided(stride as usize, &x, &mut out))?;
        run.time(Case { written: bytes, ..of("write_strided", 256) }, || write_strided(stride as usize, 1.0, &mut x))?;
    }
    Ok(())
}

/// A thread to a row, rows of several lengths, few blocks and many: how long a sector stays in the L1 cache. `steps` is the pitch in bytes,
/// `vector` the bytes of an element.
pub(crate) fn rows(run: &mut Run) -> Outcome<()> {
    fn some<T: Num>(run: &mut Run, kernel: &'static str, pitches: &[usize]) -> Outcome<()> {
        let size = size_of::<T>();
        let n: usize = if run.tiny { 1 << 16 } else { (1 << 28) / size };
        let (x, mut out) = (run.device.zeros::<T>(n)?, run.device.zeros::<T>(1)?);
        for pitch in pitches {
            let length = pitch / size;
            let grid = (n / length / 256).max(1) as u64;
            for resident in [Some(1), Some(2), Some(4), None] {
                let read = (grid as usize * 256 * pitch) as f64;
                let (steps, vector) = (*pitch as u32, size as u32);
                let case = Case { kernel, block: 256, resident, grid, ilp: 1, vector, steps, footprint: read, read, ..Case::default() };
                run.time(case, || rows_kernel::<T>(length, length, &x, &mut out))?;
            }
        }
        Ok(())
    }
    let bytes: &[usize] = if run.tiny { &[36] } else { &[32, 36, 64, 68, 128, 132, 256, 260, 1024, 1028] };
    some::<u8>(run, "rows_of_bytes", bytes)?;
    some::<f32>(run, "rows_of_singles", bytes)
}

/// What all blocks read: the L2 cache's bandwidth.
pub(crate) fn common(run: &mut Run) -> Outcome<()> {
    type Common = for<'m> fn(usize, &'m Buffer<f32>, &'m mut Buffer<f32>) -> Launch<'m>;
    let n: usize = if run.tiny { 1 << 14 } else { 1 << 20 };
    let (x, mut out) = (run.device.zeros::<f32>(n)?, run.device.zeros::<f32>(1)?);
    let instances: [(u32, u32, u32, Common); 6] =
        instances!(shared_by_blocks; (64, 1, 1), (256, 1, 1), (256, 4, 1), (256, 1, 4), (256, 4, 4), (1024, 4, 1));
    for (block, ilp, vector, launch) in instances {
        for blocks in [1, 2, 4, 8].into_iter().filter(|blocks| blocks * block <= 2048) {
            let grid = u64::from(run.multiprocessors * blocks);
            let steps = n / (block * ilp * vector) as usize;
            let read = 4.0 * (steps * (block * ilp * vector) as usize) as f64 * grid as f64;
            let (resident, steps_) = (Some(blocks), steps as u32);
            let footprint = 4.0 * n as f64;
            let case = Case { kernel: "common", block, resident, grid, ilp, vector, steps: steps_, footprint, read, ..Case::default() };
            run.time(case, || launch(steps, &x, &mut out))?;
        }
    }
    Ok(())
}
