//! Who runs next within a block, and what threads that wait for each other get.
//!
//! Threads run in order, each until it waits. Lanes that wait at a warp operation go on together once no other lane of their warp can
//! join them: all the others have ended, wait at a barrier, or wait at another warp operation. Of several such groups the one that stands
//! first in the source goes first, so that lanes still in a loop catch up with those that have left it. When all living threads of
//! the block wait at one barrier, it opens; if they wait at different ones, it is a divergent barrier. Threads that have ended are not waited
//! for.

use super::fibre::{self, Fibre, Stacks};
use super::{TwinArguments, TwinEntry, TwinError, context, places};
use crate::Dim3;
use crate::sim::missing_lane;
use context::Extents;
use std::panic::Location;
use warpwright_codegen::target::limits::LANES;

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
pub(crate) type WarpResult = fn(&Lanes) -> Result<[u64; LANES], MissingLane>;

/// A shuffle from a lane that does not take part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MissingLane {
    /// The lane that asks.
    pub(crate) lane: usize,
    /// The lane that it asks.
    pub(crate) source: usize,
}

impl Arrival {
    /// Whether the other waits at the same call.
    fn is_at(&self, other: &Arrival) -> bool {
        std::ptr::eq(self.site, other.site) || self.site == other.site && self.name == other.name
    }
}

/// Who meets, and what each gets of what all bring.
#[derive(Clone, Copy)]
pub(crate) enum Meeting {
    /// The lanes of a warp that are here.
    Warp(WarpResult),
    /// The threads of the cluster's blocks.
    Cluster,
    /// The threads of the block, by number; `None` for those that have ended. Values in, results out.
    Block(fn(&mut [Option<u64>])),
}

/// What the lanes of a warp bring.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    /// Bits of each lane's value.
    pub(crate) values: [u64; LANES],
    /// Each lane's second operand.
    pub(crate) others: [u64; LANES],
    /// Which lanes are here.
    pub(crate) mask: u32,
    /// Which have returned.
    pub(crate) returned: u32,
}

impl Lanes {
    const NONE: Lanes = Lanes { values: [0; LANES], others: [0; LANES], mask: 0, returned: 0 };

    fn join(&mut self, lane: usize, [value, other]: [u64; 2]) {
        self.values[lane] = value;
        self.others[lane] = other;
        self.mask |= 1 << lane;
    }

    /// The value of a lane, if it is here.
    pub(crate) fn get(&self, lane: usize) -> Option<u64> {
        (lane < LANES && self.mask >> lane & 1 == 1).then(|| self.values[lane])
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
            let results = resolve(&lanes).unwrap_or_else(|missing| panic!("{}", missing_lane(arrival.name, missing.source as u32, 1)));
            results[0]
        }
        Meeting::Cluster => 0,
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
    /// `None` before it begins and once it has ended.
    fibre: Option<Fibre<'a>>,
    /// Where it waits; `None` where `fibre` is.
    arrival: Option<Arrival>,
}

/// The running block.
struct Block<'a> {
    place: Dim3,
    threads: Vec<Thread<'a>>,
    stacks: Stacks,
    /// What threads bring to a barrier, then what they get.
    values: Vec<Option<u64>>,
    /// Threads that wait at warp operations.
    at_warps: usize,
}

/// Runs all blocks, their threads as fibres.
pub(super) fn run<'a>(entry: TwinEntry, arguments: &'a TwinArguments<'a>, extents: Extents) -> Result<(), TwinError> {
    let size = extents.cluster;
    let mut blocks: Vec<Block<'a>> = places(size).map(|_| Block::new(extents)).collect();
    let clusters = Dim3::new(extents.grid.x / size.x, extents.grid.y / size.y, extents.grid.z / size.z);
    let result = places(clusters).try_for_each(|cluster| {
        for (block, within) in blocks.iter_mut().zip(places(size)) {
            block.place = Dim3::new(cluster.x * size.x + within.x, cluster.y * size.y + within.y, cluster.z * size.z + within.z);
        }
        context::start_block(blocks[0].place);
        run_cluster(&mut blocks, entry, arguments)
    });
    for mut block in blocks {
        block.abandon();
        block.stacks.keep();
    }
    result
}

/// Runs the blocks of a cluster, each until it stands at a barrier of the cluster or has ended; then all pass that.
fn run_cluster<'a>(blocks: &mut [Block<'a>], entry: TwinEntry, arguments: &'a TwinArguments<'a>) -> Result<(), TwinError> {
    for block in blocks.iter_mut() {
        context::set_block(block.place);
        block.begin(entry, arguments)?;
    }
    loop {
        let mut waiting: Option<(Dim3, Arrival)> = None;
        for block in blocks.iter_mut() {
            context::set_block(block.place);
            let Some(arrival) = block.advance()? else { continue };
            match &waiting {
                Some((place, first)) if !first.is_at(&arrival) => return Err(apart(block.place, &arrival, *place, first)),
                Some(_) => {}
                None => waiting = Some((block.place, arrival)),
            }
        }
        if waiting.is_none() {
            return Ok(());
        }
        for block in blocks.iter_mut() {
            context::set_block(block.place);
            block.pass()?;
        }
    }
}

/// The way out where a lane is asked that comes later. In an error the place stands before it.
const REACH_IT_TOGETHER: &str = "; help: let all threads of the warp reach it together";

/// The same where threads wait at different barriers.
const AT_ONE_BARRIER: &str = "; help: let all wait at one barrier, outside of the `if` or the loop";

/// The error of two blocks of a cluster that wait at different barriers of it.
fn apart(block: Dim3, arrival: &Arrival, other: Dim3, at: &Arrival) -> TwinError {
    let message = format!(
        "divergent barrier: block {block} of the cluster waits at this `cluster_sync`, block {other} at that on line {}; \
         help: put one where all blocks of the cluster come",
        at.site.line()
    );
    let location = (arrival.site.file().to_owned(), arrival.site.line(), arrival.site.column());
    TwinError { message, location: Some(location), thread: Some((block, Dim3::new(0, 0, 0))) }
}

impl<'a> Block<'a> {
    fn new(extents: Extents) -> Block<'a> {
        let threads: Vec<_> = places(extents.block).map(|place| Thread { place, fibre: None, arrival: None }).collect();
        let values = Vec::with_capacity(threads.len());
        Block { place: extents.grid, threads, stacks: Stacks::take_kept(), values, at_warps: 0 }
    }

    /// Runs every thread until it first waits.
    fn begin(&mut self, entry: TwinEntry, arguments: &'a TwinArguments<'a>) -> Result<(), TwinError> {
        for rank in 0..self.threads.len() {
            let fibre = Fibre::new(&mut self.stacks, entry, arguments).map_err(|error| self.no_stack(&error))?;
            self.threads[rank].fibre = Some(fibre);
            self.resume(rank, 0)?;
        }
        Ok(())
    }

    /// Goes on until all living threads wait at a barrier of the cluster, and gives that; `None` once they have ended.
    fn advance(&mut self) -> Result<Option<Arrival>, TwinError> {
        loop {
            self.settle_warps()?;
            let Some(first) = self.threads.iter().position(|thread| thread.arrival.is_some()) else { return Ok(None) };
            if let Some(arrival) = self.threads[first].arrival
                && matches!(arrival.meeting, Meeting::Cluster)
            {
                let is_elsewhere = |thread: &Thread<'_>| thread.arrival.is_some_and(|other| !other.is_at(&arrival));
                return if self.threads.iter().any(is_elsewhere) { Err(self.divergence(&arrival)) } else { Ok(Some(arrival)) };
            }
            self.open_barrier(first)?;
        }
    }

    /// Lets all living threads pass the barrier of the cluster where they wait.
    fn pass(&mut self) -> Result<(), TwinError> {
        (0..self.threads.len()).try_for_each(|rank| self.resume(rank, 0))
    }

    /// Runs a thread until it waits or ends, if it has not ended yet.
    fn resume(&mut self, rank: usize, reply: u64) -> Result<(), TwinError> {
        let thread = &mut self.threads[rank];
        let Some(fibre) = &mut thread.fibre else { return Ok(()) };
        context::set_thread(rank, thread.place);
        thread.arrival = fibre.resume(reply);
        match &thread.arrival {
            Some(Arrival { meeting: Meeting::Warp(_), .. }) => self.at_warps += 1,
            Some(_) => {}
            None => {
                let result = thread.fibre.take().map_or(Ok(()), |fibre| fibre.end(&mut self.stacks));
                result.map_err(|panic| panic.into_error(self.place, thread.place))?;
            }
        }
        Ok(())
    }

    /// Runs every warp until its lanes wait at barriers or have ended.
    fn settle_warps(&mut self) -> Result<(), TwinError> {
        for start in (0..self.threads.len()).step_by(LANES) {
            if self.at_warps == 0 {
                break;
            }
            while let Some((arrival, resolve, lanes)) = self.next_group(start) {
                let results = resolve(&lanes).map_err(|missing| self.missing(start, &arrival, missing))?;
                self.at_warps -= lanes.mask.count_ones() as usize;
                for (lane, &result) in results.iter().enumerate() {
                    if lanes.mask >> lane & 1 == 1 {
                        self.resume(start + lane, result)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The lanes of the warp from thread `start` on that go on next, and how.
    fn next_group(&self, start: usize) -> Option<(Arrival, WarpResult, Lanes)> {
        let end = self.threads.len().min(start + LANES);
        let arrivals = || self.threads[start..end].iter().enumerate().filter_map(|(lane, thread)| Some((lane, thread.arrival.as_ref()?)));
        let at_warp = arrivals().filter_map(|(_, arrival)| match arrival.meeting {
            Meeting::Warp(resolve) => Some((*arrival, resolve)),
            Meeting::Block(_) | Meeting::Cluster => None,
        });
        let (first, resolve) = at_warp.min_by_key(|(arrival, _)| arrival.site)?;
        let mut lanes = Lanes::NONE;
        for (lane, _) in self.threads[start..end].iter().enumerate().filter(|(_, thread)| thread.fibre.is_none()) {
            lanes.returned |= 1 << lane;
        }
        for (lane, arrival) in arrivals().filter(|(_, arrival)| arrival.site == first.site) {
            lanes.join(lane, arrival.operands);
        }
        Some((first, resolve, lanes))
    }

    /// Lets all living threads pass the barrier where they wait. `first` is the first of them.
    fn open_barrier(&mut self, first: usize) -> Result<(), TwinError> {
        let Some(arrival) = self.threads[first].arrival else { return Ok(()) };
        self.values.clear();
        for thread in &self.threads {
            if thread.arrival.is_some_and(|other| !other.is_at(&arrival)) {
                return Err(self.divergence(&arrival));
            }
            self.values.push(thread.arrival.map(|arrival| arrival.operands[0]));
        }
        if let Meeting::Block(resolve) = arrival.meeting {
            resolve(&mut self.values);
        }
        for rank in first..self.threads.len() {
            self.resume(rank, self.values[rank].unwrap_or(0))?;
        }
        Ok(())
    }

    /// The error of a lane, of the warp from thread `start` on, that asks one that is not there.
    fn missing(&self, start: usize, arrival: &Arrival, MissingLane { lane, source }: MissingLane) -> TwinError {
        let lanes = (self.threads.len() - start).min(LANES);
        let message = match self.threads.get(start + source) {
            Some(thread) if thread.fibre.is_some() => {
                format!("`{}` asks lane {source}, which has not reached this call{REACH_IT_TOGETHER}", arrival.name)
            }
            _ => missing_lane(arrival.name, source as u32, lanes as u32),
        };
        let location = (arrival.site.file().to_owned(), arrival.site.line(), arrival.site.column());
        TwinError { message, location: Some(location), thread: Some((self.place, self.threads[start + lane].place)) }
    }

    /// The error of threads that wait at different barriers, one of them here.
    fn divergence(&self, arrival: &Arrival) -> TwinError {
        let waiting = || self.threads.iter().filter_map(|thread| Some((thread.place, thread.arrival?)));
        let here = waiting().filter(|(_, other)| other.is_at(arrival)).count();
        let elsewhere = waiting().find(|(_, other)| !other.is_at(arrival));
        let (place, other) = elsewhere.unwrap_or((Dim3::new(0, 0, 0), *arrival));
        let message = format!(
            "divergent barrier: {here} of the block's {} living threads wait at `{}` on line {}, others at `{}`{AT_ONE_BARRIER}",
            waiting().count(),
            arrival.name,
            arrival.site.line(),
            other.name
        );
        let location = (other.site.file().to_owned(), other.site.line(), other.site.column());
        TwinError { message, location: Some(location), thread: Some((self.place, place)) }
    }

    fn no_stack(&self, error: &std::io::Error) -> TwinError {
        let message =
            format!("no memory for the stacks of the {} threads of a block: {error}; help: use a smaller block", self.threads.len());
        TwinError { message, location: None, thread: None }
    }

    /// Ends the threads that still wait.
    fn abandon(&mut self) {
        for thread in &mut self.threads {
            thread.arrival = None;
            if let Some(fibre) = thread.fibre.take() {
                fibre.abandon();
            }
        }
    }
}
