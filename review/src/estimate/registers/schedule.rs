//! Orders of a stretch's instructions, and how many registers are live in each: as printed, the fewest, and loads first.

use super::code::{Inst, Op, Reg, Stretch};
use super::flow::Set;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use warpwright_codegen::ir::Space;

/// Stretches longer than this are looked at as printed: an order for each step looks through everything that could be next.
const LONGEST: usize = 1500;

/// Cycles that something which is not fetched from far away is done before it is needed, at most.
const WINDOW: u32 = 56;

/// A value of a stretch: a register between two writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) width: u32,
    /// Instructions that read it.
    pub(super) reads: u32,
    /// Whether it is live behind the stretch.
    pub(super) is_out: bool,
    /// Whether it is live before the stretch.
    pub(super) is_in: bool,
    /// The registers in a row that it is one of, and its place among them.
    pub(super) row: Option<(u32, u32)>,
    /// Where it comes from.
    place: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) defs: Vec<u32>,
    pub(super) uses: Vec<u32>,
    before: u32,
    after: Vec<u32>,
    latency: u32,
    /// Cycles until the next can be issued.
    cost: u32,
    pub(super) extra: u32,
    /// Cycles from its issue to the end of the stretch.
    height: u32,
    /// Cycles to the end from when what it gives is first needed, if everything after that is issued one by one as printed.
    due: u32,
    /// Whether it is a load from far away, or one waits for it.
    feeds_load: bool,
    /// Whether it takes much longer than arithmetic.
    is_slow: bool,
    /// Registers of what it gives.
    width: u32,
}

/// A stretch's instructions and what each waits for.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) values: Vec<Value>,
    /// Instructions that read each value.
    readers: Vec<Vec<u32>>,
    /// How many registers each row of them has.
    pub(super) rows: Vec<u32>,
    /// Registers live throughout, and how many of them are pairs.
    pub(super) through: u32,
    pub(super) through_pairs: u32,
}

/// The registers that an order takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Peak {
    pub(super) registers: u32,
    /// The order, and behind which instruction of it the most are live.
    order: Vec<u32>,
    at: usize,
}

const NONE: u32 = u32::MAX;

/// Scratch shared by the graphs of a kernel.
pub(super) struct Scratch {
    /// The value that each register holds here.
    current: Vec<u32>,
    /// How often each register is written in the kernel.
    writes: Vec<u32>,
    /// Where each was last written, in the order of the text.
    places: Vec<u32>,
}

impl Scratch {
    pub(super) fn new(stretches: &[Stretch], count: usize) -> Scratch {
        let (mut writes, mut places) = (vec![0; count], vec![0; count]);
        for inst in stretches.iter().flat_map(|stretch| &stretch.insts) {
            for reg in &inst.dst {
                writes[*reg as usize] += 1;
                places[*reg as usize] = inst.place;
            }
        }
        Scratch { current: vec![NONE; count], writes, places }
    }
}

impl Graph {
    pub(super) fn new(insts: &[Inst], out: &Set, widths: &[u8], scratch: &mut Scratch) -> Graph {
        let mut graph = Graph {
            nodes: Vec::with_capacity(insts.len()),
            values: Vec::new(),
            readers: Vec::new(),
            rows: Vec::new(),
            through: 0,
            through_pairs: 0,
        };
        let mut touched: Vec<Reg> = Vec::new();
        let mut makers: Vec<u32> = Vec::new();
        let mut memory = Memory::default();
        for inst in insts {
            if matches!(inst.op, Op::Branch | Op::Return) {
                continue;
            }
            let n = graph.nodes.len() as u32;
            let mut node = Node {
                latency: latency(inst.op),
                extra: u32::from(inst.extra),
                cost: cost(inst, widths),
                feeds_load: is_far(inst.op),
                is_slow: latency(inst.op) > 8,
                ..Node::default()
            };
            let mut waits: Vec<u32> = Vec::new();
            let is_partial = |reg: Reg| inst.guard.is_some() && scratch.writes[reg as usize] > 1;
            let old: Vec<Reg> = inst.dst.iter().copied().filter(|reg| is_partial(*reg)).collect();
            for reg in inst.src.iter().chain(&inst.guard).copied().chain(old) {
                let mut value = scratch.current[reg as usize];
                if value == NONE {
                    value = graph.values.len() as u32;
                    let (width, place) = (u32::from(widths[reg as usize]), scratch.places[reg as usize]);
                    graph.values.push(Value { width, reads: 0, is_out: false, is_in: true, row: None, place });
                    makers.push(NONE);
                    scratch.current[reg as usize] = value;
                    touched.push(reg);
                }
                if !node.uses.contains(&value) {
                    node.uses.push(value);
                    graph.values[value as usize].reads += 1;
                    waits.push(makers[value as usize]);
                }
            }
            for reg in &inst.dst {
                let value = graph.values.len() as u32;
                let width = u32::from(widths[*reg as usize]);
                graph.values.push(Value { width, reads: 0, is_out: false, is_in: false, row: None, place: inst.place });
                makers.push(n);
                if scratch.current[*reg as usize] == NONE {
                    touched.push(*reg);
                }
                scratch.current[*reg as usize] = value;
                node.defs.push(value);
                node.width += width;
            }
            graph.put_in_rows(inst, &node);
            memory.order(inst.op, n, &mut waits);
            waits.sort_unstable();
            waits.dedup();
            for wait in waits.into_iter().filter(|wait| *wait != NONE) {
                graph.nodes[wait as usize].after.push(n);
                node.before += 1;
            }
            graph.nodes.push(node);
        }
        for reg in out.iter() {
            match scratch.current[reg as usize] {
                NONE => {
                    graph.through += u32::from(widths[reg as usize]);
                    graph.through_pairs += u32::from(widths[reg as usize] == 2);
                }
                value => graph.values[value as usize].is_out = true,
            }
        }
        for reg in touched {
            scratch.current[reg as usize] = NONE;
        }
        graph.readers = vec![Vec::new(); graph.values.len()];
        for (n, node) in graph.nodes.iter().enumerate() {
            for value in &node.uses {
                graph.readers[*value as usize].push(n as u32);
            }
        }
        let mut issued = 0;
        let mut behind_each = vec![0; graph.nodes.len()];
        for n in (0..graph.nodes.len()).rev() {
            issued += graph.nodes[n].cost;
            behind_each[n] = issued;
            let node = &graph.nodes[n];
            let due = node.latency + node.after.iter().map(|after| behind_each[*after as usize]).max().unwrap_or(0);
            let behind = node.after.iter().map(|after| graph.nodes[*after as usize].height).max().unwrap_or(0);
            let feeds_load = node.feeds_load || node.after.iter().any(|after| graph.nodes[*after as usize].feeds_load);
            let height = behind + node.latency;
            graph.nodes[n].height = height;
            graph.nodes[n].due = due.max(height);
            graph.nodes[n].feeds_load = feeds_load;
        }
        graph
    }

    /// Elements of a vector access stand in a row.
    fn put_in_rows(&mut self, inst: &Inst, node: &Node) {
        let count = usize::from(inst.vector);
        let values: &[u32] = match inst.op {
            Op::Load(..) if node.defs.len() == count => &node.defs,
            Op::Store(_) if inst.src.len() >= count && node.uses.len() >= count => {
                let guards = usize::from(inst.guard.is_some());
                let end = node.uses.len() - guards.min(node.uses.len() - count);
                &node.uses[end - count..end]
            }
            _ => return,
        };
        if count == 1 || values.iter().any(|value| self.values[*value as usize].row.is_some()) {
            return;
        }
        let row = self.rows.len() as u32;
        let mut at = 0;
        for value in values {
            self.values[*value as usize].row = Some((row, at));
            at += self.values[*value as usize].width;
        }
        self.rows.push(at);
    }

    /// The peak in the order printed.
    pub(super) fn printed(&self) -> Peak {
        self.peak_of((0..self.nodes.len() as u32).collect())
    }

    /// The peak of an order.
    fn peak_of(&self, order: Vec<u32>) -> Peak {
        let mut reads: Vec<u32> = self.values.iter().map(|value| value.reads).collect();
        let mut live = self.live_in();
        let (mut most, mut at) = (live, 0);
        for (n, node) in order.iter().enumerate() {
            let node = &self.nodes[*node as usize];
            most = most.max(live + node.extra);
            live = self.step(node, live, &mut reads);
            if live > most {
                (most, at) = (live, n);
            }
        }
        Peak { registers: super::allocate::allocate(self, &order), order, at }
    }

    fn live_in(&self) -> u32 {
        let inside: u32 = self.values.iter().filter(|value| value.is_in).map(|value| value.width).sum();
        inside + self.through
    }

    /// Live registers behind a node.
    fn step(&self, node: &Node, live: u32, reads: &mut [u32]) -> u32 {
        let mut live = live;
        for value in &node.uses {
            let data = &self.values[*value as usize];
            reads[*value as usize] -= 1;
            if reads[*value as usize] == 0 && !data.is_out {
                live -= data.width;
            }
        }
        for value in &node.defs {
            let data = &self.values[*value as usize];
            if data.reads > 0 || data.is_out {
                live += data.width;
            }
        }
        live
    }

    /// The places of what is live at a peak of this stretch, each once.
    pub(super) fn places(&self, peak: &Peak) -> Vec<u32> {
        let mut reads: Vec<u32> = self.values.iter().map(|value| value.reads).collect();
        let mut is_made: Vec<bool> = self.values.iter().map(|value| value.is_in).collect();
        for node in peak.order.iter().take(peak.at + 1) {
            let node = &self.nodes[*node as usize];
            node.uses.iter().for_each(|value| reads[*value as usize] -= 1);
            node.defs.iter().for_each(|value| is_made[*value as usize] = true);
        }
        let is_live = |n: usize| is_made[n] && self.values[n].width > 0 && (reads[n] > 0 || self.values[n].is_out);
        let mut places: Vec<u32> = (0..self.values.len()).filter(|n| is_live(*n)).map(|n| self.values[n].place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// An order found from the end: always the instruction that leaves the fewest live before it.
    pub(super) fn fewest(&self) -> Peak {
        if self.nodes.len() > LONGEST {
            return self.printed();
        }
        let mut after: Vec<u32> = self.nodes.iter().map(|node| node.after.len() as u32).collect();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for (n, node) in self.nodes.iter().enumerate() {
            node.after.iter().for_each(|next| before[*next as usize].push(n as u32));
        }
        let mut is_live: Vec<bool> = self.values.iter().map(|value| value.is_out).collect();
        // How many more registers are live before each instruction than behind it, as things stand.
        let mut change: Vec<i32> = self.nodes.iter().map(|node| self.change_before(node)).collect();
        // Entries that no longer say the truth are passed over when they are met.
        let mut ready: BinaryHeap<(Reverse<i32>, u32)> = BinaryHeap::new();
        ready.extend((0..self.nodes.len()).filter(|n| after[*n] == 0).map(|n| (Reverse(change[n]), n as u32)));
        let mut is_done = vec![false; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some((Reverse(said), n)) = ready.pop() {
            if is_done[n as usize] || said != change[n as usize] {
                continue;
            }
            is_done[n as usize] = true;
            order.push(n);
            for value in &self.nodes[n as usize].uses {
                if std::mem::replace(&mut is_live[*value as usize], true) {
                    continue;
                }
                for reader in self.readers[*value as usize].iter().map(|reader| *reader as usize).filter(|reader| !is_done[*reader]) {
                    change[reader] -= self.values[*value as usize].width as i32;
                    if after[reader] == 0 {
                        ready.push((Reverse(change[reader]), reader as u32));
                    }
                }
            }
            for wait in before[n as usize].iter().map(|wait| *wait as usize) {
                after[wait] -= 1;
                if after[wait] == 0 {
                    ready.push((Reverse(change[wait]), wait as u32));
                }
            }
        }
        order.reverse();
        let found = self.peak_of(order);
        let printed = self.printed();
        if printed.registers < found.registers { printed } else { found }
    }

    /// How many more registers are live before an instruction than behind it, if nothing that it reads is read later in the stretch.
    fn change_before(&self, node: &Node) -> i32 {
        let width = |value: &u32| self.values[*value as usize].width as i32;
        let starts: i32 = node.uses.iter().filter(|value| !self.values[**value as usize].is_out).map(width).sum();
        let is_needed = |value: &&u32| self.values[**value as usize].reads > 0 || self.values[**value as usize].is_out;
        starts - node.defs.iter().filter(is_needed).map(width).sum::<i32>()
    }

    /// An order that hides latency: at each cycle the instruction that most depends on, of those whose operands have arrived; beyond
    /// `limit` live registers only what ends values.
    pub(super) fn eager(&self, limit: u32) -> Peak {
        if self.nodes.len() > LONGEST {
            return self.printed();
        }
        let mut before: Vec<u32> = self.nodes.iter().map(|node| node.before).collect();
        let mut reads: Vec<u32> = self.values.iter().map(|value| value.reads).collect();
        let mut arrives = vec![0u32; self.nodes.len()];
        let mut ready: Vec<u32> = (0..self.nodes.len() as u32).filter(|n| before[*n as usize] == 0).collect();
        let (mut live, mut now) = (self.live_in(), 0u32);
        let total = self.nodes.iter().map(|node| node.due).max().unwrap_or(0);
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut is_done = vec![false; self.nodes.len()];
        let mut change: Vec<i32> = self.nodes.iter().map(|node| self.change(node)).collect();
        while !ready.is_empty() {
            let at = self.choose(&ready, &arrives, &change, (live, limit, now, total));
            let n = ready.swap_remove(at);
            let node = &self.nodes[n as usize];
            now = now.max(arrives[n as usize]);
            live = self.step(node, live, &mut reads);
            is_done[n as usize] = true;
            order.push(n);
            // Whoever is the last to read a value ends it.
            for value in node.uses.iter().map(|value| *value as usize).filter(|value| reads[*value] == 1 && !self.values[*value].is_out) {
                if let Some(last) = self.readers[value].iter().find(|reader| !is_done[**reader as usize]) {
                    change[*last as usize] -= self.values[value].width as i32;
                }
            }
            for next in &node.after {
                let next = *next as usize;
                arrives[next] = arrives[next].max(now + node.latency);
                before[next] -= 1;
                if before[next] == 0 {
                    ready.push(next as u32);
                }
            }
            now += node.cost;
        }
        self.peak_of(order)
    }

    fn choose(&self, ready: &[u32], arrives: &[u32], change: &[i32], (live, limit, now, total): (u32, u32, u32, u32)) -> usize {
        // Earlier is better, then higher, then as printed; what does not fit comes after everything that does, the smallest first. What is not
        // better by that is not looked at further: this is asked of everything that is ready, for every instruction.
        let over = |n: u32| {
            let change = change[n as usize];
            if change <= 0 { 0 } else { (live as i32 + change - limit as i32).max(0) }
        };
        let rest = |n: u32| {
            let node = &self.nodes[n as usize];
            let late = arrives[n as usize].saturating_sub(now);
            let is_early = change[n as usize] > 0 && node.is_slow && !node.feeds_load && total > node.due + now + WINDOW;
            (is_early, late, u32::MAX - node.height, n)
        };
        let (mut best, mut least) = (0, (over(ready[0]), rest(ready[0])));
        for (at, n) in ready.iter().enumerate().skip(1) {
            let over = over(*n);
            if over <= least.0 {
                let rest = rest(*n);
                if over < least.0 || rest < least.1 {
                    (best, least) = (at, (over, rest));
                }
            }
        }
        best
    }

    /// How many more registers are live behind an instruction than before it, if it comes first.
    fn change(&self, node: &Node) -> i32 {
        let is_last = |value: &&u32| self.values[**value as usize].reads == 1 && !self.values[**value as usize].is_out;
        let ends: u32 = node.uses.iter().filter(is_last).map(|value| self.values[*value as usize].width).sum();
        node.width as i32 - ends as i32
    }
}

/// Cycles until a result can be read, roughly: what matters is which is longer.
fn latency(op: Op) -> u32 {
    match op {
        Op::Load(Space::Global | Space::Local, _) | Op::Atomic(Space::Global) => 400,
        Op::Load(Space::Shared, _) | Op::Atomic(_) => 30,
        Op::Load(Space::Constant, _) | Op::Far => 20,
        Op::Param | Op::ThreadSpecial | Op::BlockSpecial => 20,
        Op::Slow(_) => 100,
        _ => 4,
    }
}

/// Whether an instruction fetches from far away.
fn is_far(op: Op) -> bool {
    matches!(op, Op::Load(Space::Global | Space::Local, _))
}

/// Cycles until the next instruction can be issued: memory takes its operands one after the other.
fn cost(inst: &Inst, widths: &[u8]) -> u32 {
    let width: u32 = inst.dst.iter().map(|reg| u32::from(widths[*reg as usize])).sum();
    match inst.op {
        Op::Load(..) => 2 * width.max(1),
        Op::Slow(_) => 20,
        _ => 1,
    }
}

/// The order that memory keeps.
#[derive(Default)]
struct Memory {
    barrier: Option<u32>,
    /// The last write of each space, and the reads since.
    writes: [Option<u32>; Space::COUNT],
    reads: [Vec<u32>; Space::COUNT],
    since_barrier: Vec<u32>,
}

impl Memory {
    fn order(&mut self, op: Op, n: u32, waits: &mut Vec<u32>) {
        match op {
            Op::Load(space, is_constant) => {
                if space != Space::Constant {
                    waits.extend(self.barrier);
                    self.since_barrier.push(n);
                }
                if !is_constant {
                    waits.extend(self.writes[space as usize]);
                    self.reads[space as usize].push(n);
                }
            }
            Op::Store(space) | Op::Atomic(space) => {
                waits.extend(self.barrier);
                waits.extend(self.writes[space as usize]);
                waits.append(&mut self.reads[space as usize]);
                self.writes[space as usize] = Some(n);
                self.since_barrier.push(n);
            }
            Op::Barrier | Op::Call => {
                waits.extend(self.barrier);
                waits.append(&mut self.since_barrier);
                self.writes = [None; Space::COUNT];
                self.reads.iter_mut().for_each(Vec::clear);
                self.barrier = Some(n);
            }
            _ => {}
        }
    }
}
