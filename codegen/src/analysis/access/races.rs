//! Shared elements that one thread writes and another reads or writes between two barriers.
//!
//! Only what is sure is said: both places known lane by lane, from one base, with lanes that surely run, in two different threads. Atomics
//! do not race with each other; two threads that write one element are taken to write one value.

use super::Warps;
use super::condition::Uncertainty;
use super::lanes::{Atom, AtomSource, LaneSum, Lanes};
use super::summary::widths;
use super::walk::{Record, Walk};
use crate::collections::{HashMap, HashSet};
use crate::ir::{Address, Inst, Memory, MemoryOp, ObjectKind, Op};
use crate::target::limits::LANES;

/// Two accesses to one shared element by two threads with no barrier between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// Comes first in the program, or in the earlier iteration.
    pub first: Inst,
    /// Comes after it.
    pub second: Inst,
    /// Whether the second is of the next iteration of a loop.
    pub is_next_iteration: bool,
    /// Linear numbers of two threads: of the first access and of the second.
    pub threads: (u32, u32),
    /// Bytes from the array's begin.
    pub offset: i64,
}

fn is_store(walk: &Walk<'_>, record: &Record) -> bool {
    matches!(
        walk.kernel.insts[record.inst].op,
        Op::Memory(Memory { op: MemoryOp::Store(_) | MemoryOp::StoreMatrix(_), at: Address::Path(_) })
    )
}

fn is_atomic(walk: &Walk<'_>, record: &Record) -> bool {
    matches!(walk.kernel.insts[record.inst].op, Op::Memory(Memory { op: MemoryOp::Atomic(..), at: Address::Path(_) }))
}

/// Records of shared memory that are sure, by interval and object.
fn groups<'w>(walk: &'w Walk<'_>) -> HashMap<(u32, u32), Vec<&'w Record>> {
    let mut groups: HashMap<(u32, u32), Vec<&Record>> = HashMap::default();
    for record in &walk.records {
        let Some(object) = walk.kernel.insts[record.inst].op.object() else { continue };
        let is_sure = record.address.is_ok() && record.uncertainty <= Uncertainty::Boundary;
        if walk.kernel.objects[object].kind == ObjectKind::Shared && is_sure {
            groups.entry((record.interval, object.0)).or_default().push(record);
        }
    }
    groups.retain(|_, group| {
        let writes = |record: &&Record| is_store(walk, record) || is_atomic(walk, record);
        let reads = |record: &&Record| !is_store(walk, record);
        group.iter().any(writes) && group.iter().any(reads)
    });
    groups
}

/// Whether two accesses exclude each other, or cannot race.
fn are_apart(walk: &Walk<'_>, a: &Record, b: &Record) -> bool {
    let writes = |record| is_store(walk, record) || is_atomic(walk, record);
    let is_harmless = !(writes(a) || writes(b)) || is_atomic(walk, a) && is_atomic(walk, b) || is_store(walk, a) && is_store(walk, b);
    let other_side = |(inst, way): &(Inst, bool)| b.sides.iter().any(|(other, side)| other == inst && side != way);
    // Of one iteration and of the next, a branch may go both ways.
    is_harmless || a.again == b.again && a.sides.iter().any(other_side)
}

/// Whether it is worth to look at each warp.
pub(super) fn may_race(walk: &Walk<'_>) -> bool {
    groups(walk).values().any(|group| {
        let pair = |a: &&Record| group.iter().any(|b| !are_apart(walk, a, b) && !are_own_elements(a, b));
        group.iter().any(pair)
    })
}

/// Whether two accesses of any warp are each thread's own element.
fn are_own_elements(a: &Record, b: &Record) -> bool {
    let (Ok(left), Ok(right)) = (&a.address, &b.address) else { return true };
    if left != right {
        return false;
    }
    let known = left.constant_term().all();
    left.unknown().next().is_some() && (1..LANES).all(|lane| !known[..lane].contains(&known[lane]))
}

/// Pairs of accesses that are looked at for whether they could race at all.
const MOST_PAIRS: usize = 1 << 21;

/// Pairs that are looked at lane by lane, each for some microseconds.
const MOST_COMPARED: usize = 1 << 16;

/// The races, one for each pair of instructions. Of a kernel with more accesses than [`MOST_PAIRS`] and [`MOST_COMPARED`] let pair up, those of the first pairs.
pub(super) fn races(walk: &Walk<'_>, warps: Option<Warps>) -> Vec<Race> {
    let mut found: Vec<Race> = Vec::new();
    if !warps.is_some_and(|warps| warps.one_by_one || warps.number == 1) {
        return found;
    }
    let (mut pairs, mut compared) = (0, 0);
    let mut known: HashSet<(Inst, Inst)> = HashSet::default();
    let groups = groups(walk);
    let mut keys: Vec<_> = groups.keys().copied().collect();
    keys.sort_unstable();
    for key in keys {
        let group = &groups[&key];
        // By instruction and iteration: all warps' records.
        let mut by_inst: Vec<(Inst, Vec<&Record>)> = Vec::new();
        let mut numbers: HashMap<(Inst, &[Inst]), usize> = HashMap::default();
        for record in group {
            let number = *numbers.entry((record.inst, &record.again)).or_insert(by_inst.len());
            match by_inst.get_mut(number) {
                Some((_, records)) => records.push(record),
                None => by_inst.push((record.inst, vec![record])),
            }
        }
        for (n, (first, left)) in by_inst.iter().enumerate() {
            for (second, right) in &by_inst[n..] {
                let [first_again, second_again] = [left, right].map(|records| !records[0].again.is_empty());
                pairs += 1;
                if pairs > MOST_PAIRS || compared > MOST_COMPARED {
                    return found;
                }
                if (first_again && second_again) || are_apart(walk, left[0], right[0]) || known.contains(&(*first, *second)) {
                    continue;
                }
                compared += 1;
                let before = found.len();
                found.extend(race(walk, left, right).map(|(threads, offset)| Race {
                    first: *first,
                    second: *second,
                    is_next_iteration: first_again != second_again,
                    threads,
                    offset,
                }));
                known.extend(found[before..].iter().map(|race| (race.first, race.second)));
            }
        }
    }
    found
}

/// An access of all warps, with what its places have in common taken out.
struct Places<'r> {
    records: &'r [&'r Record],
    base: LaneSum,
    /// By lane: how far apart iterations of a loop that is known lie, and how many there are.
    steps: Vec<(Lanes, u64)>,
}

/// Iterations of a loop that are looked at: neighbours meet soon.
const MOST_ITERATIONS: u64 = 64;

impl<'r> Places<'r> {
    /// If all warps' places are known but for one base. Loops whose counters stand in `other`, too, go on with it.
    fn of(walk: &Walk<'_>, records: &'r [&'r Record], other: &LaneSum) -> Option<Places<'r>> {
        let atoms = &walk.values.atoms;
        let is_own = |product: &[Atom]| match product {
            [only] => atoms.last_iteration(*only).is_some() && other.unknown().all(|(product, _)| !product.contains(only)),
            _ => false,
        };
        let (terms, rest) = records[0].address.as_ref().ok()?.parted(is_own);
        let (base, _) = rest.without_constant();
        let is_like_first = |record: &&Record| {
            record.address.as_ref().is_ok_and(|sum| {
                let (own, rest) = sum.parted(is_own);
                own == terms && rest.without_constant().0 == base
            })
        };
        let is_known = base.is_uniform() && records.iter().all(is_like_first);
        // Behind the last iteration there is no next one.
        let last = |atom: Atom| {
            let is_next = matches!(atoms.source(atom), AtomSource::Iteration(inst) if records[0].again.contains(inst));
            atoms.last_iteration(atom).unwrap_or(0).saturating_sub(u64::from(is_next))
        };
        let steps = terms.unknown().map(|(product, lanes)| (lanes.clone(), last(product[0]))).collect();
        is_known.then_some(Places { records, base, steps })
    }

    /// Every lane that makes the access: its record, its thread's number, and its offsets from the base.
    fn each(&self, mut f: impl FnMut(&Record, u32, i64) -> bool) {
        for record in self.records {
            let Ok(known) = record.address.as_ref().map(|address| address.constant_term()) else { continue };
            for lane in (0..LANES).filter(|lane| record.mask >> lane & 1 == 1) {
                let thread = record.warp * LANES as u32 + lane as u32;
                for offset in self.offsets(lane, known.of(lane)) {
                    if f(record, thread, offset) {
                        return;
                    }
                }
            }
        }
    }

    fn offsets(&self, lane: usize, first: i64) -> Vec<i64> {
        self.steps.iter().fold(vec![first], |offsets, (step, last)| {
            let times = 0..=(*last).min(MOST_ITERATIONS / offsets.len().max(1) as u64) as i64;
            offsets.iter().flat_map(|offset| times.clone().map(move |n| offset + n * step.of(lane))).collect()
        })
    }
}

fn warp_of(thread: u32) -> u32 {
    thread / LANES as u32
}

/// Two threads that meet, and where: of two warps, if there are such.
fn race(walk: &Walk<'_>, left: &[&Record], right: &[&Record]) -> Option<((u32, u32), i64)> {
    let (first, second) = (left[0].address.as_ref().ok()?, right[0].address.as_ref().ok()?);
    let places = [Places::of(walk, left, second)?, Places::of(walk, right, first)?];
    if places[0].base != places[1].base {
        return None;
    }
    let [own, others] = [left, right].map(|records| {
        let width = i64::from(widths(walk.kernel, records[0].inst).0);
        (0..width).step_by(width.clamp(1, 4) as usize)
    });
    // Two threads of each element are enough, of two warps if there are: one of them is not the other access's.
    let mut owners: HashMap<i64, Vec<(u32, u32)>> = HashMap::default();
    places[0].each(|record, thread, offset| {
        for byte in own.clone() {
            let known = owners.entry(offset + byte).or_default();
            let own = (thread, record.warp_interval);
            match known.as_mut_slice() {
                [] => known.push(own),
                [(first, _)] if *first != thread => known.push(own),
                [(first, _), second] if warp_of(*first) == warp_of(second.0) && warp_of(*first) != warp_of(thread) => *second = own,
                _ => {}
            }
        }
        false
    });
    let mut found = None;
    places[1].each(|record, thread, offset| {
        // A warp's own accesses are in order where `sync_warp` says so.
        let is_ordered = |other: u32, interval: u32| warp_of(other) == warp_of(thread) && interval != record.warp_interval;
        let all = others.clone().filter_map(|byte| owners.get(&(offset + byte))).flatten();
        let meeting: Vec<u32> = all.filter(|(other, at)| *other != thread && !is_ordered(*other, *at)).map(|(other, _)| *other).collect();
        let across = meeting.iter().find(|other| warp_of(**other) != warp_of(thread));
        if let Some(other) = across.or(meeting.first().filter(|_| found.is_none())) {
            found = Some(((*other, thread), offset));
        }
        across.is_some()
    });
    found
}
