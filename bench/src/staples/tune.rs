//! Makes the tables of `kernels/src/staples/tuned.rs`: times every candidate at powers of two, and half-way between those that differ, prints the rows, then holds the tables in the tree to 20 lengths
//! between those.

use super::{Bench, ROUND, WARM};
use crate::memory::{random, random_integers};
use crate::report::Spread;
use crate::{Outcome, Size};
use std::cell::RefCell;
use warpwright::{Buffer, Stream};
use warpwright_kernels::staples::select::Predicate;
use warpwright_kernels::staples::tuned::{self, Table};
use warpwright_kernels::staples::{self, Workspace, reduce, scan, select, sort};

/// Medians that differ by no more are alike, if the ranges meet, too.
const ALIKE: f64 = 0.02;

/// How many times as many rounds short calls have: what the host does meanwhile is a large part of them.
const MORE_OF_SHORT: usize = 5;

/// The buffers that calls work on.
struct Arena {
    floats: Buffer<f32>,
    out: RefCell<Buffer<f32>>,
    one: RefCell<Buffer<f32>>,
    words: Buffer<u32>,
    values: Buffer<u32>,
    sorted: RefCell<Buffer<u32>>,
    moved: RefCell<Buffer<u32>>,
    count: RefCell<Buffer<u32>>,
}

impl Arena {
    fn new(b: &Bench, n: usize) -> Outcome<Arena> {
        Ok(Arena {
            floats: random(&b.device, 1, n)?,
            out: RefCell::new(b.device.zeros(n)?),
            one: RefCell::new(b.device.zeros(1)?),
            words: random_integers(&b.device, 2, u32::MAX, n)?,
            values: random_integers(&b.device, 3, u32::MAX, n)?,
            sorted: RefCell::new(b.device.zeros(n)?),
            moved: RefCell::new(b.device.zeros(n)?),
            count: RefCell::new(b.device.zeros(1)?),
        })
    }
}

/// What is called for each table.
type Call = fn(&Arena, &Stream, &mut Workspace) -> staples::Result<()>;

const CALLS: [(Table, Call); 5] = [
    (tuned::REDUCE, |a, stream, workspace| reduce::sum(stream, &a.floats, &mut a.one.borrow_mut(), workspace)),
    (tuned::SCAN, |a, stream, workspace| scan::inclusive_sum(stream, &a.floats, &mut a.out.borrow_mut(), workspace)),
    (tuned::SELECT, |a, stream, workspace| {
        select::select(stream, Predicate::AnyBit(1), &a.words, &mut a.sorted.borrow_mut(), &mut a.count.borrow_mut(), workspace)
    }),
    (tuned::SORT, |a, stream, workspace| sort::keys(stream, &a.words, &mut a.sorted.borrow_mut(), workspace)),
    (tuned::SORT_PAIRS, |a, stream, workspace| {
        sort::pairs(stream, (&a.words, &a.values), (&mut a.sorted.borrow_mut(), &mut a.moved.borrow_mut()), workspace)
    }),
];

impl Bench {
    /// Seconds of a call by each of so many candidates, round by round. A round of each in turn, each being the first equally often: what changes meanwhile concerns all.
    fn candidates(&mut self, arena: &Arena, call: Call, count: usize) -> Outcome<Vec<Vec<f64>>> {
        let mut call = |stream: &Stream, workspace: &mut Workspace| call(arena, stream, workspace);
        let calls = self.calls(&mut call)?;
        let runs = if calls == ROUND.1 { MORE_OF_SHORT * self.runs } else { self.runs };
        let mut times = vec![Vec::new(); count];
        for run in 0..WARM + runs {
            for candidate in (0..count).map(|k| (run + k) % count) {
                self.workspace.force(Some(candidate));
                let time = self.round(calls, &mut call);
                self.workspace.force(None);
                if run >= WARM {
                    times[candidate].push(time?);
                }
            }
        }
        Ok(times)
    }
}

/// The fastest.
fn fastest(times: &[Spread]) -> usize {
    times.iter().enumerate().min_by(|a, b| a.1.median.total_cmp(&b.1.median)).map_or(0, |(k, _)| k)
}

/// The fastest, and the one of the length before if the times are alike: a table has no more rows than measurements tell apart.
fn best(times: &[Spread], before: Option<usize>) -> usize {
    let first = fastest(times);
    let is_alike = |k: &usize| times[*k].median <= times[first].median * (1.0 + ALIKE) && times[*k].min <= times[first].max;
    before.filter(is_alike).unwrap_or(first)
}

/// The best candidate, and how many times as long the chosen one takes, at the median of rounds. Which is best, every other round says; how long both take, the rest: the least of
/// several times by chance is no best.
pub(super) fn judged(times: &[Vec<f64>], chosen: usize) -> (usize, f64) {
    let every_other = |odd: usize, times: &[f64]| times.iter().copied().skip(odd.min(times.len() - 1)).step_by(2).collect::<Vec<_>>();
    let choosing: Vec<Spread> = times.iter().map(|times| Spread::of(&every_other(0, times))).collect();
    let best = fastest(&choosing);
    let ratios: Vec<f64> = times[chosen].iter().zip(&times[best]).map(|(chosen, best)| chosen / best).collect();
    (best, Spread::of(&every_other(1, &ratios)).median)
}

/// Times all candidates, prints the tables, judges those in the tree; of `gemm` alone, the tiles of products.
pub(crate) fn run(b: &mut Bench, only: &[String]) -> Outcome<()> {
    super::tiles::run(b)?;
    if only == ["gemm"] {
        return Ok(());
    }
    let most = b.size.pick(28, 24, 12);
    let mut best: Vec<Vec<(usize, usize)>> = vec![Vec::new(); CALLS.len()];
    for n in (10..=most).map(|log| 1usize << log) {
        let arena = Arena::new(b, n)?;
        for (case, best) in CALLS.iter().zip(&mut best) {
            best.push((n, best_of(b, &arena, case, n, best.last().map(|(_, k)| *k))?));
        }
    }
    for (case, best) in CALLS.iter().zip(&mut best) {
        let ends: Vec<_> =
            best.windows(2).filter(|pair| pair[0].1 != pair[1].1).map(|pair| (pair[0], (pair[0].0 * pair[1].0).isqrt())).collect();
        for ((_, before), n) in ends {
            let arena = Arena::new(b, n)?;
            best.push((n, best_of(b, &arena, case, n, Some(before))?));
        }
        best.sort_unstable();
    }
    for ((table, _), best) in CALLS.iter().zip(&best) {
        println!("\n// {}\nTuned {{ device: \"{}\", rows: &[{}] }},", table.name, b.device.name(), rows(best));
    }
    println!();
    held_out(b)
}

/// The best candidate at a length, `before` being that of a shorter one.
fn best_of(b: &mut Bench, arena: &Arena, (table, call): &(Table, Call), n: usize, before: Option<usize>) -> Outcome<usize> {
    let times = b.candidates(arena, *call, table.candidates.len())?;
    let times: Vec<Spread> = times.iter().map(|times| Spread::of(times)).collect();
    let first = best(&times, before);
    let shown: Vec<String> = times.iter().map(|time| format!("{:.1}", time.median * 1e6)).collect();
    println!("{:<10} {n:>9}  us: {}  best: {first} ({})", table.name, shown.join(" "), table.candidates[first]);
    Ok(first)
}

/// Rows as they stand in the source: one for each run of lengths with the same best; it ends half-way to the next length, in factors.
fn rows(best: &[(usize, usize)]) -> String {
    let mut rows = Vec::new();
    for (at, (n, candidate)) in best.iter().enumerate() {
        match best.get(at + 1) {
            Some((_, next)) if next == candidate => {}
            Some((next, _)) => rows.push(format!("row({}, {candidate})", (n * next).isqrt())),
            None => rows.push(format!("row(usize::MAX, {candidate})")),
        }
    }
    rows.join(", ")
}

/// How far the choice is behind the best at lengths that no table was made of.
fn held_out(b: &mut Bench) -> Outcome<()> {
    let (count, most) = if b.size == Size::Tiny { (2, 11.0) } else { (20, b.size.pick(27.5, 23.5, 11.0)) };
    for k in 0..count {
        let n = 2f64.powf(10.3 + (most - 10.3) * k as f64 / (count - 1) as f64) as usize;
        let arena = Arena::new(b, n)?;
        for (table, call) in CALLS {
            let times = b.candidates(&arena, call, table.candidates.len())?;
            let chosen = table.choice(b.device.name(), n);
            let (best, ratio) = judged(&times, chosen);
            let time = Spread::of(&times[chosen]).median * 1e6;
            println!("held out: {:<10} {n:>9}  chosen {chosen}: {time:.1} us, best {best}: x {ratio:.3}", table.name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwright::Device;

    #[test]
    fn equal_choices_are_one_row() {
        assert_eq!(rows(&[(4, 1), (16, 1), (64, 0), (256, 2)]), "row(32, 1), row(128, 0), row(usize::MAX, 2)");
    }

    #[test]
    fn what_was_best_stays_so_where_nothing_is_better_by_more_than_measurements_tell() {
        let times = |range: f64| [1.0, 0.99, 1.2].map(|median| Spread { min: median - range, median, max: median + range, runs: 9 });
        assert_eq!(best(&times(0.1), None), 1);
        assert_eq!(best(&times(0.1), Some(0)), 0);
        assert_eq!(best(&times(0.001), Some(0)), 1, "the ranges do not meet");
        assert_eq!(best(&times(0.2), Some(2)), 1);
    }

    #[test]
    fn other_rounds_say_which_is_best_than_how_long_it_takes() {
        let times = [vec![1.0, 1.1, 1.0, 1.1], vec![1.0, 1.2, 1.0, 1.2], vec![0.5, 1.375, 0.5, 1.375]];
        assert_eq!(judged(&times, 0), (2, 1.1 / 1.375), "the last was fast by chance, in the rounds that choose");
        assert_eq!(judged(&times, 2), (2, 1.0));
        assert_eq!(judged(&[vec![2.0], vec![1.0]], 0), (1, 2.0));
    }

    #[test]
    fn every_candidate_runs_on_the_host() {
        let mut bench = Bench::new(Device::host(), None, Size::Tiny, None).expect("the host");
        let arena = Arena::new(&bench, 1500).expect("memory");
        for (table, call) in CALLS {
            let times = bench.candidates(&arena, call, table.candidates.len()).unwrap_or_else(|error| panic!("{}: {error}", table.name));
            assert!(times.len() == table.candidates.len() && times.iter().flatten().all(|time| *time > 0.0), "{}: {times:?}", table.name);
        }
    }
}
