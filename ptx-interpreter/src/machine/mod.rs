//! What runs a launch: threads in slices, each with its own place in the program, in an order that a seed gives.
//!
//! A thread runs until it waits, exits or its slice is over. Several clusters are resident at once and take turns, so that threads may wait for what others write.
//! Memory is sequentially consistent. What goes on by itself, copies and products of warpgroups, is done as late as it may be, so that what is used without waiting for it is wrong.

mod barrier;
pub(crate) mod copies;
pub(crate) mod mbarrier;
pub(crate) mod mma;
mod print;
mod special;
pub(crate) mod state;
mod texture;
mod view;
mod warp;
pub(crate) mod wgmma;

use crate::error::{Fault, FaultKind, Step, Stumble};
use crate::memory::Memory;
use crate::program::{Op, Program};
use state::{Block, BlockShape, Cluster, LANES, State};
pub(crate) use view::number;
use view::{Spaces, View};

/// Bytes of registers of all resident blocks, and the most blocks that are resident at once.
const RESIDENT_BYTES: usize = 1 << 30;
/// Blocks that are resident at the same time, if the launch has as many: what the answers of an occupancy calculator must not be above.
pub const RESIDENT_BLOCKS: usize = 32;

/// How a kernel is launched.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks along each axis.
    pub grid: [u32; 3],
    /// Threads of a block along each axis.
    pub block: [u32; 3],
    /// Blocks of a cluster along each axis; the kernel's own directive goes before.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Chooses one of the orders in which threads may run.
    pub seed: u64,
    /// Most instructions of all threads together.
    pub most_instructions: u64,
}

impl Default for Launch {
    fn default() -> Launch {
        Launch { grid: [1; 3], block: [1; 3], cluster: [1; 3], dynamic_shared: 0, seed: 0, most_instructions: 20_000_000_000 }
    }
}

/// What a launch did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Instructions of all threads.
    pub instructions: u64,
    /// What `vprintf` printed.
    pub printed: String,
}

/// All of a launch.
pub(crate) struct Machine<'m> {
    pub(crate) program: &'m Program,
    /// The program's constants, with the addresses of variables.
    pub(crate) literals: &'m [u64],
    /// The addresses of `.const` variables.
    pub(crate) constants: &'m [u64],
    pub(crate) memory: &'m mut Memory,
    pub(crate) params: &'m [u8],
    pub(crate) launch: &'m Launch,
    pub(crate) cluster: [u32; 3],
    pub(crate) printed: String,
    pub(crate) executed: u64,
    pub(crate) resident: Vec<Cluster>,
    random: u64,
}

/// A thread: which resident cluster, which block of it, which thread of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Who {
    pub(crate) cluster: usize,
    pub(crate) block: usize,
    pub(crate) thread: usize,
}

/// Why a thread stopped running.
enum Stop {
    /// Its slice is over.
    Slice,
    /// It stands at an instruction that needs more than the thread.
    At,
}

impl<'m> Machine<'m> {
    pub(crate) fn new(
        (program, literals, constants): (&'m Program, &'m [u64], &'m [u64]),
        memory: &'m mut Memory,
        params: &'m [u8],
        (launch, cluster): (&'m Launch, [u32; 3]),
    ) -> Machine<'m> {
        let random = launch.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Machine {
            program,
            literals,
            constants,
            memory,
            params,
            launch,
            cluster,
            printed: String::new(),
            executed: 0,
            resident: Vec::new(),
            random,
        }
    }

    /// A number below another.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as usize % limit.max(1)
    }

    /// Runs all blocks to their end.
    pub(crate) fn run(&mut self) -> Result<(), Fault> {
        let clusters: u64 = (0..3).map(|axis| u64::from(self.launch.grid[axis] / self.cluster[axis])).product();
        let of_cluster: usize = self.cluster.iter().map(|n| *n as usize).product();
        let threads: usize = self.launch.block.iter().map(|n| *n as usize).product();
        let bytes = threads * of_cluster * (self.program.registers as usize * 8 + self.program.local_bytes as usize + 64);
        let most = (RESIDENT_BYTES / bytes.max(1)).clamp(1, RESIDENT_BLOCKS.div_ceil(of_cluster));
        let mut started = 0;
        loop {
            while self.resident.len() < most && started < clusters {
                let new = self.new_cluster(started);
                self.resident.push(new);
                started += 1;
            }
            if self.resident.is_empty() {
                return Ok(());
            }
            let mut has_moved = false;
            let first = self.below(self.resident.len());
            for n in 0..self.resident.len() {
                let cluster = (first + n) % self.resident.len();
                has_moved |= self.turn(cluster)?;
            }
            if !has_moved {
                return Err(self.deadlock());
            }
            self.resident.retain(|cluster| cluster.live > 0);
        }
    }

    fn new_cluster(&mut self, number: u64) -> Cluster {
        let along = |axis: usize| u64::from(self.launch.grid[axis] / self.cluster[axis]);
        let place = [number % along(0), number / along(0) % along(1), number / (along(0) * along(1))];
        let [x, y, z] = self.cluster;
        let garbage = 0xa5 ^ (self.launch.seed as u8).wrapping_mul(29);
        let shape = BlockShape { program: self.program, extent: self.launch.block, garbage };
        let block = |n: u32| {
            let within = [n % x, n / x % y, n / (x * y)];
            Block::new(&shape, std::array::from_fn(|axis| place[axis] as u32 * self.cluster[axis] + within[axis]))
        };
        let blocks: Vec<Block> = (0..x * y * z).map(block).collect();
        let live: u32 = blocks.iter().map(|block| block.live).sum();
        let bytes = (self.program.shared_bytes + self.launch.dynamic_shared) as usize;
        let shared = blocks.iter().map(|_| vec![garbage; bytes]).collect();
        Cluster { blocks, shared, engine: Vec::new(), to_arrive: live, phase: 0, live }
    }

    /// Gives each warp of a cluster a turn; whether anything happened.
    fn turn(&mut self, cluster: usize) -> Result<bool, Fault> {
        let mut has_moved = false;
        for block in 0..self.resident[cluster].blocks.len() {
            let warps = self.resident[cluster].blocks[block].warps.len();
            let first = self.below(warps);
            for n in 0..warps {
                has_moved |= self.warp_turn(cluster, block, (first + n) % warps)?;
            }
        }
        // Copies come late: where nobody can go on without them, and now and then before.
        let waiting = self.resident[cluster].engine.len();
        if waiting > 0 && (!has_moved || self.below(8) == 0) {
            let chosen = self.below(waiting);
            let copy = self.resident[cluster].engine.swap_remove(chosen);
            let who = copy.who(cluster);
            self.bring(cluster, copy).map_err(|stumble| self.fault(who, *stumble))?;
            has_moved = true;
        }
        Ok(has_moved)
    }

    /// Runs the lanes of a warp, one after the other, until all wait or the turn is over.
    fn warp_turn(&mut self, cluster: usize, block: usize, warp: usize) -> Result<bool, Fault> {
        let mut has_moved = false;
        let polling = self.resident[cluster].blocks[block].warps[warp].polling;
        for lane in (0..LANES).filter(|lane| polling >> lane & 1 == 1) {
            let who = Who { cluster, block, thread: warp * LANES + lane };
            // What it polls may be so by now: it runs its instruction again.
            if self.poll(who).map_err(|stumble| self.fault(who, *stumble))? {
                has_moved = true;
            }
        }
        let mut budget = 256 << self.below(10);
        let rotation = self.below(LANES) as u32;
        while budget > 0 {
            let ready = self.resident[cluster].blocks[block].warps[warp].ready;
            if ready == 0 {
                break;
            }
            let mut left = ready.rotate_right(rotation);
            while left != 0 {
                let lane = (left.trailing_zeros() + rotation) as usize % LANES;
                left &= left - 1;
                let who = Who { cluster, block, thread: warp * LANES + lane };
                let before = self.executed;
                self.slice(who, budget)?;
                has_moved = true;
                budget -= (self.executed - before).min(budget);
                if budget == 0 {
                    break;
                }
            }
        }
        Ok(has_moved)
    }

    /// Runs one thread for at most so many instructions.
    fn slice(&mut self, who: Who, budget: u64) -> Result<(), Fault> {
        let end = self.executed + budget;
        while self.executed < end && self.thread(who).state == State::Ready {
            match self.step(who, end - self.executed) {
                Ok(Stop::Slice) => break,
                Ok(Stop::At) => self.slow(who).map_err(|stumble| self.fault(who, *stumble))?,
                Err(stumble) => return Err(self.fault(who, *stumble)),
            }
        }
        if self.executed > self.launch.most_instructions {
            let what = format!("more than {} instructions were executed", self.launch.most_instructions);
            return Err(self.fault(who, Stumble { kind: FaultKind::TooLong, what }));
        }
        Ok(())
    }

    fn thread(&self, who: Who) -> &state::Thread {
        &self.resident[who.cluster].blocks[who.block].threads[who.thread]
    }

    /// A thread as it runs, and where it stands.
    fn view<'v>(&'v mut self, who: Who) -> (View<'v>, &'v mut u32) {
        let cluster = &mut self.resident[who.cluster];
        let block = &mut cluster.blocks[who.block];
        let registers = self.program.registers as usize;
        let local = self.program.local_bytes as usize;
        let view = View {
            registers: &mut block.registers[who.thread * registers..(who.thread + 1) * registers],
            literals: self.literals,
            spaces: Spaces {
                memory: self.memory,
                shared: &mut cluster.shared,
                rank: who.block,
                local: &mut block.local[who.thread * local..(who.thread + 1) * local],
                params: self.params,
                constants: self.constants,
            },
        };
        (view, &mut block.threads[who.thread].pc)
    }

    /// Runs a thread as far as it gets alone.
    fn step(&mut self, who: Who, budget: u64) -> Step<Stop> {
        let program = self.program;
        let (mut view, pc) = self.view(who);
        let mut at = *pc;
        let mut done = 0;
        let stop = loop {
            if done >= budget {
                break Ok(Stop::Slice);
            }
            let instruction = &program.code[at as usize];
            done += 1;
            if let Some((guard, wanted)) = instruction.guard
                && (view.registers[guard.0 as usize] & 1 == 1) != wanted
            {
                at += 1;
                continue;
            }
            match &instruction.op {
                Op::Compute(compute) => view.compute(compute),
                Op::Branch(to) => {
                    at = *to;
                    continue;
                }
                Op::Memory(op) => {
                    if let Err(stumble) = view.memory(op) {
                        break Err(stumble);
                    }
                }
                Op::Nothing => {}
                _ => break Ok(Stop::At),
            }
            at += 1;
        };
        *pc = at;
        self.executed += done;
        stop
    }

    /// An instruction that needs more than the thread's registers and memory.
    fn slow(&mut self, who: Who) -> Step {
        let program = self.program;
        match &program.code[self.thread(who).pc as usize].op {
            Op::Exit => self.exit(who)?,
            Op::Trap => return Err(Stumble::new(FaultKind::Trap, "`trap` was reached")),
            Op::Special(reg, special) => {
                let value = self.special(who, *special);
                let (mut view, pc) = self.view(who);
                view.set(*reg, value);
                *pc += 1;
            }
            Op::Sleep => {
                let (_, pc) = self.view(who);
                *pc += 1;
                self.executed += 1000;
            }
            Op::Warp(op) => self.at_warp(who, op)?,
            Op::Barrier(op) => self.at_barrier(who, op)?,
            Op::ClusterArrive => self.arrive_at_cluster(who)?,
            Op::ClusterWait | Op::Mbarrier(_) => {
                if !self.poll(who)? {
                    self.resident[who.cluster].blocks[who.block].set_state(who.thread, State::Polling);
                }
            }
            Op::Copy(op) => self.copy(who, op)?,
            Op::Call(call) => self.call(who, call)?,
            Op::Compute(_) | Op::Branch(_) | Op::Nothing | Op::Memory(_) => {}
        }
        Ok(())
    }

    /// Goes behind the instruction of a thread if what it waits for is so.
    fn poll(&mut self, who: Who) -> Step<bool> {
        let program = self.program;
        let done = match &program.code[self.thread(who).pc as usize].op {
            Op::Mbarrier(op) => self.mbarrier(who, op)?,
            _ => match self.thread(who).cluster_phase {
                Some(phase) => self.resident[who.cluster].phase > phase,
                None => return Err(Stumble::undefined("a thread waits at the cluster's barrier that has not arrived there")),
            },
        };
        if done {
            let block = &mut self.resident[who.cluster].blocks[who.block];
            if matches!(program.code[block.threads[who.thread].pc as usize].op, Op::ClusterWait) {
                block.threads[who.thread].cluster_phase = None;
            }
            block.go_on(who.thread);
        }
        Ok(done)
    }

    fn exit(&mut self, who: Who) -> Step {
        self.finish_copies(who)?;
        let cluster = &mut self.resident[who.cluster];
        let block = &mut cluster.blocks[who.block];
        block.set_state(who.thread, State::Exited);
        block.live -= 1;
        cluster.live -= 1;
        if block.threads[who.thread].cluster_phase.is_none_or(|phase| phase < cluster.phase) {
            cluster.to_arrive -= 1;
        }
        self.look_at_cluster(who.cluster);
        // Others may have waited for this one alone.
        self.look_at_warp(who)?;
        self.look_at_barriers(who)
    }

    fn arrive_at_cluster(&mut self, who: Who) -> Step {
        let cluster = &mut self.resident[who.cluster];
        let phase = cluster.phase;
        let thread = &mut cluster.blocks[who.block].threads[who.thread];
        if thread.cluster_phase.is_some() {
            return Err(Stumble::undefined("a thread arrives twice at the cluster's barrier without waiting"));
        }
        thread.cluster_phase = Some(phase);
        thread.pc += 1;
        cluster.to_arrive -= 1;
        self.look_at_cluster(who.cluster);
        Ok(())
    }

    fn look_at_cluster(&mut self, cluster: usize) {
        let cluster = &mut self.resident[cluster];
        if cluster.to_arrive == 0 {
            cluster.phase += 1;
            cluster.to_arrive = cluster.live;
        }
    }

    /// What happened, and where.
    fn fault(&self, who: Who, stumble: Stumble) -> Fault {
        let thread = self.thread(who);
        let line = self.program.code.get(thread.pc as usize).map_or(0, |instruction| instruction.line);
        let message = format!("{}: {}", self.place(who), stumble.what);
        Fault { kind: stumble.kind, message, line }
    }

    fn place(&self, who: Who) -> String {
        let block = &self.resident[who.cluster].blocks[who.block];
        format!("thread {:?} of block {:?}", block.threads[who.thread].tid, block.ctaid)
    }

    /// Who waits where.
    fn deadlock(&self) -> Fault {
        let mut places: Vec<(u32, usize, String)> = Vec::new();
        for (c, cluster) in self.resident.iter().enumerate() {
            for (b, block) in cluster.blocks.iter().enumerate() {
                for (t, thread) in block.threads.iter().enumerate().filter(|(_, thread)| thread.state != State::Exited) {
                    let line = self.program.code[thread.pc as usize].line;
                    match places.iter_mut().find(|(known, ..)| *known == line) {
                        Some((_, count, _)) => *count += 1,
                        None => places.push((line, 1, self.place(Who { cluster: c, block: b, thread: t }))),
                    }
                }
            }
        }
        let waiting: Vec<String> = places.iter().map(|(line, count, first)| format!("{count} at line {line}, the first {first}")).collect();
        let message = format!("deadlock: all threads wait: {}", waiting.join("; "));
        Fault { kind: FaultKind::Deadlock, message, line: places.first().map_or(0, |(line, ..)| *line) }
    }
}
