//! A warp of a block: registers, masks, local memory, and where it stands.

use super::launch::{BoundLaunch, thread_position};
use super::program::Preset;
use super::registers::{Mask, Registers};
use warpwright_codegen::ir::{Axis, Special};
use warpwright_codegen::target::limits::LANES;

/// A warp of a block.
#[derive(Debug)]
pub(super) struct Warp {
    pub(super) registers: Registers,
    pub(super) masks: Vec<Mask>,
    /// Lanes that run now.
    pub(super) active: Mask,
    /// Lanes that have not returned.
    pub(super) living: Mask,
    /// Lanes that came to the end of the kernel, past every barrier.
    pub(super) ended: Mask,
    pub(super) step: usize,
    /// Number of lane 0 in the block.
    pub(super) first_thread: u32,
    /// Times it may still go round loops.
    pub(super) fuel: u64,
    /// Whether it goes round in circles.
    pub(super) watch: Watch,
    /// Tick of its last `sync_warp`, barrier or begin.
    pub(super) start: u32,
    /// Local memory, lane after lane.
    pub(super) local: Vec<u8>,
    /// For each byte of it the tick of its last write.
    pub(super) local_written: Vec<u32>,
    /// The barrier it stands at.
    pub(super) waits_at: Option<u32>,
}

/// How a warp is watched at the ends of its loops' turns: one that is as it was, while nobody has changed memory, will be so again.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Whether each turn is to be looked at, rather than one in many.
    pub(super) is_close: bool,
    /// How it was at some turn.
    pub(super) before: Option<Box<Before>>,
    /// Turns since.
    pub(super) turns: u32,
    /// It is to let others run.
    pub(super) is_paused: bool,
    /// The version of memory in which it goes round in circles.
    pub(super) circles_in: Option<u64>,
    /// The end of the loop that it was last seen in.
    pub(super) at: usize,
}

/// All that says what a warp does next.
#[derive(Debug)]
pub(super) struct Before {
    step: usize,
    /// See [`super::machine::Machine::version`].
    pub(super) version: u64,
    active: Mask,
    living: Mask,
    masks: Vec<Mask>,
    registers: Registers,
}

impl Warp {
    /// Warp `number` of a block, before it begins.
    pub(super) fn new(launch: &BoundLaunch<'_>, number: u32) -> Warp {
        let program = launch.program;
        let mut registers = Registers::new(program.registers);
        let first_thread = number * LANES as u32;
        let count = (launch.threads - first_thread).min(LANES as u32);
        for (reg, preset) in &program.presets {
            match preset {
                Preset::Constant(_, bits) => registers.splat(*reg, *bits),
                Preset::Special(special, axis) => {
                    let all = std::array::from_fn(|lane| special_value(launch, *special, *axis, first_thread + lane as u32));
                    registers.set_all(*reg, &all);
                }
                Preset::Len(object) => registers.splat(*reg, launch.lengths[*object]),
                Preset::Extent(object, axis) => {
                    let extent = launch.pictures[*object].map_or(0, |p| if *axis == Axis::X { p.width } else { p.height });
                    registers.splat(*reg, u64::from(extent));
                }
                Preset::Parameter { object, offset, bytes } => {
                    registers.splat(*reg, super::memory::load(launch.constants[*object], *offset as usize, *bytes));
                }
            }
        }
        let local = program.local_bytes as usize * LANES;
        Warp {
            registers,
            masks: vec![0; program.masks],
            active: 0,
            living: Mask::MAX >> (LANES as u32 - count),
            ended: 0,
            step: 0,
            first_thread,
            fuel: 0,
            watch: Watch::default(),
            start: 0,
            local: vec![0; local],
            local_written: vec![0; local],
            waits_at: None,
        }
    }

    /// Begins a block.
    pub(super) fn begin(&mut self, launch: &BoundLaunch<'_>, block: [u32; 3], tick: u32) {
        for (reg, preset) in &launch.program.presets {
            if let Preset::Special(Special::BlockIdx, axis) = preset {
                self.registers.splat(*reg, u64::from(block[*axis as usize]));
            }
        }
        let count = (launch.threads - self.first_thread).min(LANES as u32);
        self.living = Mask::MAX >> (LANES as u32 - count);
        self.active = self.living;
        self.ended = 0;
        self.step = 0;
        self.fuel = launch.program.options.loop_limit;
        self.watch = Watch::default();
        self.start = tick;
        self.waits_at = None;
    }

    /// How it is now.
    pub(super) fn now(&self, version: u64) -> Box<Before> {
        let (masks, registers) = (self.masks.clone(), self.registers.clone());
        Box::new(Before { step: self.step, version, active: self.active, living: self.living, masks, registers })
    }

    /// Whether it is as it was.
    pub(super) fn is_as(&self, before: &Before, version: u64) -> bool {
        (self.step, version, self.active, self.living) == (before.step, before.version, before.active, before.living)
            && self.masks == before.masks
            && self.registers == before.registers
    }
}

/// A special register of a thread; that of the block is filled in when the block begins.
fn special_value(launch: &BoundLaunch<'_>, special: Special, axis: Axis, thread: u32) -> u64 {
    let at = axis as usize;
    u64::from(match special {
        Special::ThreadIdx => thread_position(thread, launch.block)[at],
        Special::BlockIdx => 0,
        Special::BlockDim => launch.block[at],
        Special::GridDim => launch.grid[at],
        Special::AskedGrid => launch.asked[at],
        Special::LaneId => thread % LANES as u32,
        Special::WarpId => thread / LANES as u32,
    })
}
