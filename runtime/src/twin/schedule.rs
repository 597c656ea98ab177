//! Who runs next within a block, and what threads that wait for each other get.
//!
//! Threads run in order, each until it waits. Lanes that wait at a warp operation go on together once no other lane of their warp can
//! join them: all the others have ended, wait at a barrier, or wait at another warp operation. Of several such groups the one that stands
//! first in the source goes first, so that lanes still in a loop catch up with those that have left it. When all living threads of
//! the block wait at one barrier, it opens; if they wait at different ones, it is a divergent barrier. Threads that have ended are not waited
//! for.

use super::fibre::{self, Fibre, Progress, Stacks};
use super::{TwinArguments, TwinEntry, TwinError, context, places};
use crate::Dim3;
use context::Extents;
use std::panic::Location;

/// Threads of a warp.
pub(crate) const WARP: usize = 32;

/// A thread at a place where it waits for others.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    /// The function called.
    pub(crate) name: &'static str,
    /// Where, in the kernel.
    pub(crate) site: &'static Location<'static>,
    /// For whom it waits, and what comes of it.
    pub(crate) meeting: Meeting,
    /// What the thread brings: the bits of a value, and a lane or distance.
    pub(crate) operands: [u64; 2],
}

/// What each lane of a warp gets.
type WarpResult = fn(&Lanes) -> [u64; WARP];

/// Who meets, and what each gets of what all bring.
#[derive(Clone, Copy)]
pub(crate) enum Meeting {
    /// The lanes of a warp that are here.
    Warp(WarpResult),
    /// The threads of the block, by number; `None` for those that have ended. Values in, results out.
    Block(fn(&mut [Option<u64>])),
}

/// What the lanes of a warp bring.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    /// Bits of each lane's value.
    pub(crate) values: [u64; WARP],
    /// Each lane's second operand.
    pub(crate) others: [u64; WARP],
    /// Which lanes are here.
    pub(crate) mask: u32,
}

impl Lanes {
    const NONE: Lanes = Lanes { values: [0; WARP], others: [0; WARP], mask: 0 };

    fn join(&mut self, lane: usize, [value, other]: [u64; 2]) {
        self.values[lane] = value;
        self.others[lane] = other;
        self.mask |= 1 << lane;
    }

    /// The value of a lane, if it is here.
    pub(crate) fn get(&self, lane: usize) -> Option<u64> {
        (lane < WARP && self.mask >> lane & 1 == 1).then(|| self.values[lane])
    }
}

/// Waits for the others; gives this thread's result. A thread that is alone gets it at once.
#[inline]
pub(crate) fn meet(arrival: Arrival) -> u64 {
    fibre::wait(arrival).unwrap_or_else(|| meet_alone(&arrival))
}

fn meet_alone(arrival: &Arrival) -> u64 {
    let threads = context::extents().block;
    assert!(threads == Dim3::new(1, 1, 1), "`{}` in a kernel that was launched as one without barriers", arrival.name);
    match arrival.meeting {
        Meeting::Warp(resolve) => {
            let mut lanes = Lanes::NONE;
            lanes.join(0, arrival.operands);
            resolve(&lanes)[0]
        }
        Meeting::Block(resolve) => {
            let mut values = [Some(arrival.operands[0])];
            resolve(&mut values);
            values[0].unwrap_or(0)
        }
    }
}

/// A thread of the running block.
struct Thread<'a> {
    place: Dim3,
    /// Where it waits; `None` once it has ended.
    waiting: Option<(Fibre<'a>, Arrival)>,
}

impl Thread<'_> {
    fn arrival(&self) -> Option<&Arrival> {
        self.waiting.as_ref().map(|(_, arrival)| arrival)
    }
}

/// The running block.
struct Block<'a> {
    place: Dim3,
    threads: Vec<Thread<'a>>,
    stacks: Stacks,
    /// What threads bring to a barrier, then what they get.
    values: Vec<Option<u64>>,
}

/// Runs all blocks, their threads as fibres.
pub(super) fn run<'a>(entry: TwinEntry, arguments: &'a TwinArguments<'a>, extents: Extents) -> Result<(), TwinError> {
    let threads: Vec<_> = places(extents.block).map(|place| Thread { place, waiting: None }).collect();
    let values = Vec::with_capacity(threads.len());
    let mut block = Block { place: extents.grid, threads, stacks: Stacks::take_kept(), values };
    let result = places(extents.grid).try_for_each(|place| {
        block.place = place;
        context::start_block(place);
        block.run(entry, arguments)
    });
    block.abandon();
    block.stacks.keep();
    result
}

impl<'a> Block<'a> {
    fn run(&mut self, entry: TwinEntry, arguments: &'a TwinArguments<'a>) -> Result<(), TwinError> {
        for rank in 0..self.threads.len() {
            let fibre = Fibre::new(&mut self.stacks, entry, arguments).map_err(|error| self.no_stack(&error))?;
            self.resume(rank, fibre, 0)?;
        }
        loop {
            self.settle_warps()?;
            let Some(first) = self.threads.iter().position(|thread| thread.waiting.is_some()) else { return Ok(()) };
            self.open_barrier(first)?;
        }
    }

    /// Runs a thread until it waits or ends.
    fn resume(&mut self, rank: usize, fibre: Fibre<'a>, reply: u64) -> Result<(), TwinError> {
        let thread = &mut self.threads[rank];
        context::set_thread(rank, thread.place);
        match fibre.resume(reply, &mut self.stacks) {
            Progress::Waits(fibre, arrival) => thread.waiting = Some((fibre, arrival)),
            Progress::Ended(Ok(())) => {}
            Progress::Ended(Err(panic)) => return Err(panic.into_error(self.place, thread.place)),
        }
        Ok(())
    }

    /// Runs every warp until its lanes wait at barriers or have ended.
    fn settle_warps(&mut self) -> Result<(), TwinError> {
        for start in (0..self.threads.len()).step_by(WARP) {
            while let Some((resolve, lanes)) = self.next_group(start) {
                let results = resolve(&lanes);
                for lane in (0..WARP).filter(|lane| lanes.mask >> lane & 1 == 1) {
                    if let Some((fibre, _)) = self.threads[start + lane].waiting.take() {
                        self.resume(start + lane, fibre, results[lane])?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The lanes of the warp from thread `start` on that go on next, and how.
    fn next_group(&self, start: usize) -> Option<(WarpResult, Lanes)> {
        let end = self.threads.len().min(start + WARP);
        let arrivals = || self.threads[start..end].iter().enumerate().filter_map(|(lane, thread)| Some((lane, thread.arrival()?)));
        let at_warp = arrivals().filter_map(|(_, arrival)| match arrival.meeting {
            Meeting::Warp(resolve) => Some((arrival.site, resolve)),
            Meeting::Block(_) => None,
        });
        let (site, resolve) = at_warp.min_by_key(|(site, _)| *site)?;
        let mut lanes = Lanes::NONE;
        for (lane, arrival) in arrivals().filter(|(_, arrival)| arrival.site == site) {
            lanes.join(lane, arrival.operands);
        }
        Some((resolve, lanes))
    }

    /// Lets all living threads pass the barrier where they wait. `first` is the first of them.
    fn open_barrier(&mut self, first: usize) -> Result<(), TwinError> {
        let Some(&arrival) = self.threads[first].arrival() else { return Ok(()) };
        if let Some(error) = self.divergence(&arrival) {
            return Err(error);
        }
        self.values.clear();
        self.values.extend(self.threads.iter().map(|thread| thread.arrival().map(|arrival| arrival.operands[0])));
        if let Meeting::Block(resolve) = arrival.meeting {
            resolve(&mut self.values);
        }
        for rank in first..self.threads.len() {
            if let Some((fibre, _)) = self.threads[rank].waiting.take() {
                self.resume(rank, fibre, self.values[rank].unwrap_or(0))?;
            }
        }
        Ok(())
    }

    /// The error if not all living threads wait at the same barrier.
    fn divergence(&self, arrival: &Arrival) -> Option<TwinError> {
        let waiting = || self.threads.iter().filter_map(|thread| Some((thread.place, thread.arrival()?)));
        let (place, other) = waiting().find(|(_, other)| (other.site, other.name) != (arrival.site, arrival.name))?;
        let here = waiting().filter(|(_, other)| (other.site, other.name) == (arrival.site, arrival.name)).count();
        let living = waiting().count();
        let message = format!(
            "divergent barrier: {here} of the block's {living} living threads wait at `{}` on line {}, others at `{}`",
            arrival.name,
            arrival.site.line(),
            other.name
        );
        let location = (other.site.file().to_owned(), other.site.line(), other.site.column());
        Some(TwinError { message, location: Some(location), thread: Some((self.place, place)) })
    }

    fn no_stack(&self, error: &std::io::Error) -> TwinError {
        let message = format!("no memory for the stacks of the {} threads of a block: {error}", self.threads.len());
        TwinError { message, location: None, thread: None }
    }

    /// Ends the threads that still wait.
    fn abandon(&mut self) {
        for thread in &mut self.threads {
            if let Some((fibre, _)) = thread.waiting.take() {
                fibre.abandon();
            }
        }
    }
}
