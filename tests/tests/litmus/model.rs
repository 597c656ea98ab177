//! What the memory model of PTX allows a litmus test: every candidate of who reads from whom, in what order the writes of a variable and the fences come, held to its axioms.
//!
//! Source: PTX ISA 8.5, *Memory Consistency Model*, sections *Relations* and *Axioms*; Lustig, Sahasrabuddhe, Giroux, *A Formal Analysis of the NVIDIA PTX Memory Consistency Model* (ASPLOS 2019). All
//! atomics of a test reach each other, so they are morally strong; no value depends on one that was read, so none comes out of thin air.

use super::program::{Access, Act, Fence, Outcome, Threads, Variable};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Update,
    Fence { is_seq_cst: bool },
}

#[derive(Clone, Copy, Debug)]
struct Event {
    thread: usize,
    kind: Kind,
    variable: Option<Variable>,
    access: Access,
    /// Of a write.
    value: u32,
    /// Of a read.
    register: usize,
    /// What the first register has to hold if it is to be there.
    condition: Option<u32>,
}

impl Event {
    fn fence(thread: usize, is_seq_cst: bool) -> Event {
        Event { thread, kind: Kind::Fence { is_seq_cst }, variable: None, access: Access::Relaxed, value: 0, register: 0, condition: None }
    }

    fn reads(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Update)
    }

    fn writes(&self) -> bool {
        matches!(self.kind, Kind::Write | Kind::Update)
    }

    fn is_fence(&self) -> bool {
        matches!(self.kind, Kind::Fence { .. })
    }

    fn is_strong(&self) -> bool {
        self.access != Access::Plain
    }

    /// Whether it acquires, or releases.
    fn orders(&self) -> bool {
        matches!(self.access, Access::Ordered | Access::SeqCst)
    }
}

/// The register of what nobody asks for.
const NOWHERE: usize = usize::MAX;

/// The events of an act: an access of one order is one that orders behind a fence of one order.
fn events(act: &Act, thread: usize, all: &mut Vec<Event>) {
    let (kind, variable, access, value, register) = match *act {
        Act::Store(variable, value, access) => (Kind::Write, variable, access, value, 0),
        Act::Load(register, variable, access) => (Kind::Read, variable, access, 0, register),
        Act::LoadIf(_, variable) => (Kind::Read, variable, Access::Plain, 0, 1),
        Act::Add(register, variable) => (Kind::Update, variable, Access::Relaxed, 1, register),
        Act::Bump(variable) => (Kind::Update, variable, Access::Relaxed, 1, NOWHERE),
        Act::Hear(variable) => (Kind::Read, variable, Access::Ordered, 0, NOWHERE),
        Act::Then(act, fence) => {
            events(act, thread, all);
            all.push(Event::fence(thread, fence == Fence::SeqCst));
            return;
        }
    };
    if access == Access::SeqCst {
        all.push(Event::fence(thread, true));
    }
    let condition = if let Act::LoadIf(value, _) = act { Some(*value) } else { None };
    all.push(Event { thread, kind, variable: Some(variable), access, value, register, condition });
}

/// A relation of events.
#[derive(Clone)]
struct Relation(Vec<Vec<bool>>);

impl Relation {
    fn of(count: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
        Relation((0..count).map(|a| (0..count).map(|b| holds(a, b)).collect()).collect())
    }

    fn closed(mut self) -> Relation {
        let count = self.0.len();
        for via in 0..count {
            for from in 0..count {
                for to in 0..count {
                    self.0[from][to] |= self.0[from][via] && self.0[via][to];
                }
            }
        }
        self
    }

    fn is_acyclic(&self) -> bool {
        let closed = self.clone().closed();
        (0..closed.0.len()).all(|event| !closed.0[event][event])
    }

    fn has(&self, from: usize, to: usize) -> bool {
        self.0[from][to]
    }
}

/// A candidate: whom each event reads from (`None`: the zero at the start), and the orders of writes and fences.
struct Candidate<'e> {
    events: &'e [Event],
    from: Vec<Option<usize>>,
    /// The writes of each variable, and the fences of one order.
    orders: [&'e [usize]; 3],
}

impl Candidate<'_> {
    /// When an event comes in one of the orders, from 1 on; 0 is the start.
    fn rank(&self, order: usize, event: Option<usize>) -> usize {
        event.map_or(0, |event| 1 + self.orders[order].iter().position(|other| *other == event).expect("it is in the order"))
    }

    fn is_before(&self, order: usize, a: usize, b: usize) -> bool {
        let of = |event| self.orders[order].iter().position(|other| *other == event);
        matches!((of(a), of(b)), (Some(a), Some(b)) if a < b)
    }

    fn program_order(&self, a: usize, b: usize) -> bool {
        a < b && self.events[a].thread == self.events[b].thread
    }

    fn is_same_place(&self, a: usize, b: usize) -> bool {
        self.events[a].variable.is_some() && self.events[a].variable == self.events[b].variable
    }

    /// Whether the model allows it.
    fn is_allowed(&self) -> bool {
        let count = self.events.len();
        let events = self.events;
        let all = || (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
        // Observation: a read of the write, or through updates.
        let reads = Relation::of(count, |w, r| self.from[r] == Some(w));
        let observed = Relation::of(count, |a, b| reads.has(a, b) && events[a].is_strong() && events[b].is_strong());
        let through = Relation::of(count, |a, b| observed.has(a, b) && events[b].kind == Kind::Update).closed();
        let observation =
            Relation::of(count, |a, b| observed.has(a, b) || (0..count).any(|via| through.has(a, via) && observed.has(via, b)));
        // A pattern that releases, and one that acquires: where it begins or ends, and its access.
        let releases = |begin: usize, write: usize| {
            let strong = events[write].writes() && events[write].is_strong();
            let of_fence = events[begin].is_fence() && self.program_order(begin, write);
            let of_access = events[begin].writes() && events[begin].orders();
            strong && (of_fence || of_access && (begin == write || self.program_order(begin, write) && self.is_same_place(begin, write)))
        };
        let acquires = |read: usize, end: usize| {
            let strong = events[read].reads() && events[read].is_strong();
            let of_fence = events[end].is_fence() && self.program_order(read, end);
            let of_access = events[end].reads() && events[end].orders();
            strong && (of_fence || of_access && (read == end || self.program_order(read, end) && self.is_same_place(read, end)))
        };
        let synchronises = |a: usize, b: usize| {
            let by_pattern = all().any(|(w, r)| observation.has(w, r) && releases(a, w) && acquires(r, b));
            by_pattern || self.is_before(2, a, b)
        };
        let base = Relation::of(count, |a, b| self.program_order(a, b) || synchronises(a, b)).closed();
        let cause = Relation::of(count, |a, b| base.has(a, b) || (0..count).any(|via| observation.has(a, via) && base.has(via, b)));
        let place = |event: usize| events[event].variable.map_or(0, |variable| variable as usize);
        let writes = |event: usize| events[event].writes();
        let coherence =
            all().all(|(a, b)| !(writes(a) && writes(b) && self.is_same_place(a, b) && cause.has(a, b)) || self.is_before(place(a), a, b));
        let causality = (0..count).filter(|read| events[*read].reads()).all(|read| {
            let rank = self.rank(place(read), self.from[read]);
            self.orders[place(read)].iter().all(|write| {
                let is_from = self.from[read] == Some(*write);
                let of = self.rank(place(read), Some(*write));
                let is_overwritten = *write != read && cause.has(*write, read) && of > rank;
                !(is_from && cause.has(read, *write) || is_overwritten)
            })
        });
        let fences = all().all(|(a, b)| !self.is_before(2, a, b) || !cause.has(b, a));
        let atomicity = (0..count)
            .filter(|event| events[*event].kind == Kind::Update)
            .all(|event| self.rank(place(event), Some(event)) == self.rank(place(event), self.from[event]) + 1);
        // Where a read comes before a write: it reads from one that the write comes behind.
        let from_read = |r: usize, w: usize| {
            events[r].reads()
                && writes(w)
                && r != w
                && self.is_same_place(r, w)
                && self.rank(place(r), self.from[r]) < self.rank(place(r), Some(w))
        };
        let per_place = Relation::of(count, |a, b| {
            self.is_same_place(a, b) && (self.program_order(a, b) || reads.has(a, b) || self.is_before(place(a), a, b) || from_read(a, b))
        });
        coherence && causality && fences && atomicity && per_place.is_acyclic() && base.is_acyclic()
    }
}

fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let rest = |n: usize| of.iter().enumerate().filter(move |(at, _)| *at != n).map(|(_, item)| *item).collect::<Vec<usize>>();
    (0..of.len()).flat_map(|n| permutations(&rest(n)).into_iter().map(move |tail| [vec![of[n]], tail].concat())).collect()
}

/// What the values of updates and reads are; `None` where updates read from each other in a circle.
fn value(events: &[Event], from: &[Option<usize>], write: Option<usize>, depth: usize) -> Option<u32> {
    let Some(write) = write else { return Some(0) };
    match events[write].kind {
        Kind::Update if depth > events.len() => None,
        Kind::Update => Some(value(events, from, from[write], depth + 1)? + events[write].value),
        _ => Some(events[write].value),
    }
}

/// All outcomes that the model allows.
pub(crate) fn allowed(threads: Threads) -> BTreeSet<Outcome> {
    let mut all = Vec::new();
    threads.iter().enumerate().for_each(|(thread, acts)| acts.iter().for_each(|act| events(act, thread, &mut all)));
    let mut outcomes = BTreeSet::new();
    let conditional: Vec<usize> = (0..all.len()).filter(|event| all[*event].condition.is_some()).collect();
    // Those that are there under a condition are there, or not.
    for present in 0..1u32 << conditional.len() {
        let is_there = |event: &usize| conditional.iter().position(|other| other == event).is_none_or(|n| present >> n & 1 == 1);
        let events: Vec<Event> = (0..all.len()).filter(is_there).map(|event| all[event]).collect();
        outcomes.extend(allowed_of(threads, &events, &all));
    }
    outcomes
}

fn allowed_of(threads: Threads, events: &[Event], all: &[Event]) -> BTreeSet<Outcome> {
    let of = |variable: Variable| -> Vec<usize> {
        (0..events.len()).filter(|event| events[*event].writes() && events[*event].variable == Some(variable)).collect()
    };
    let fences: Vec<usize> = (0..events.len()).filter(|event| events[*event].kind == Kind::Fence { is_seq_cst: true }).collect();
    let orders = [permutations(&of(Variable::X)), permutations(&of(Variable::Y)), permutations(&fences)];
    let reads: Vec<usize> = (0..events.len()).filter(|event| events[*event].reads()).collect();
    let sources: Vec<Vec<Option<usize>>> = reads
        .iter()
        .map(|read| [None].into_iter().chain(of(events[*read].variable.expect("a read has one")).into_iter().map(Some)).collect())
        .collect();
    let mut outcomes = BTreeSet::new();
    let count: usize = sources.iter().map(Vec::len).product();
    for mut choice in 0..count {
        let mut from = vec![None; events.len()];
        for (read, sources) in reads.iter().zip(&sources) {
            from[*read] = sources[choice % sources.len()];
            choice /= sources.len();
        }
        let values: Option<Vec<u32>> = reads.iter().map(|read| value(events, &from, from[*read], 0)).collect();
        let Some(values) = values else { continue };
        let mut registers = vec![[0u32; 2]; threads.len()];
        // A read under a condition leaves 1 where it is not there.
        all.iter().filter(|event| event.condition.is_some()).for_each(|event| registers[event.thread][1] = 1);
        for (read, value) in reads.iter().zip(values).filter(|(read, _)| events[**read].register != NOWHERE) {
            registers[events[*read].thread][events[*read].register] = value;
        }
        let is_as_asked = all.iter().filter(|event| event.condition.is_some()).all(|event| {
            let is_there = events.iter().any(|other| other.condition.is_some() && other.thread == event.thread);
            is_there == (Some(registers[event.thread][0]) == event.condition)
        });
        if !is_as_asked {
            continue;
        }
        for x in &orders[0] {
            for y in &orders[1] {
                let last = |order: &[usize]| value(events, &from, order.last().copied(), 0);
                let (Some(last_x), Some(last_y)) = (last(x), last(y)) else { continue };
                let outcome: Outcome = registers.iter().flatten().copied().chain([last_x, last_y]).collect();
                if outcomes.contains(&outcome) {
                    continue;
                }
                let candidate = |fences| Candidate { events, from: from.clone(), orders: [x, y, fences] };
                if orders[2].iter().any(|fences| candidate(fences).is_allowed()) {
                    outcomes.insert(outcome);
                }
            }
        }
    }
    outcomes
}
