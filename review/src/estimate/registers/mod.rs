//! Registers of a thread: a model of the assembler.
//!
//! `ptxas` orders and allocates on its own, so that the names in PTX say little. What is counted here is made in the same steps: what
//! it would be given is taken as it comes from the back end (`code`), simplified as it does it (`locals`, `simplify`, `unroll`, `vectors`), its control flow
//! followed (`flow`), and each stretch put in the order that keeps the fewest values live and in one that hides latency (`schedule`);
//! values are numbered in pairs and rows (`allocate`). Between the two orders the assembler decides by the steps of occupancy (`ladder`):
//! it takes registers freely up to the step that the kernel needs, and none beyond. What is left over is fitted (`constants`).

mod allocate;
mod code;
mod constants;
mod flow;
mod ladder;
mod lines;
mod locals;
mod schedule;
mod simplify;
mod unroll;
mod vectors;

pub use lines::{LineRegisters, live_by_line};

use constants::Constants;
use ladder::Ladder;
use schedule::{Graph, Peak, Scratch};
use simplify::MachineFeatures;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use warpwright_codegen::backend::ptx::{self, RegisterBound, code::Statement};
use warpwright_codegen::ir::{Kernel, Loc};
use warpwright_codegen::target::Target;

/// Registers of a thread, *estimated*.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The estimate.
    pub estimate: u32,
    /// The least that is plausible.
    pub low: u32,
    /// The most that is plausible.
    pub high: u32,
    /// Registers that would be needed without a limit (the estimate stops at the limit, and beyond it the assembler spills).
    pub needed: u32,
    /// Registers that a thread has where most are needed: the estimate, but where registers move from a producer's threads to the others.
    pub room: u32,
    /// The source places whose values are live where the most are, each once, in the order of the source.
    pub peak: Vec<Loc>,
}

/// Estimates a kernel of stage `Addressed`.
pub fn registers(kernel: &Kernel, target: &'static Target) -> Registers {
    let measure = Measure::new(ptx::body(kernel, target), MachineFeatures::of(target.capability));
    measure.registers(kernel, target)
}

/// The same for several targets.
pub fn registers_of_each(kernel: &Kernel, targets: &[&'static Target]) -> Vec<Registers> {
    on_each(kernel, targets, |measure, target| measure.registers(kernel, target))
}

/// The most that are needed without a limit on one of these targets.
pub(crate) fn needed_on_any(kernel: &Kernel, targets: &[&'static Target]) -> u32 {
    on_each(kernel, targets, Measure::needed).into_iter().max().unwrap_or(0)
}

/// Something of a kernel on each of these targets. What is alike for some of them is done once.
fn on_each<T>(kernel: &Kernel, targets: &[&'static Target], f: impl Fn(&Measure, &'static Target) -> T) -> Vec<T> {
    let mut measures: Vec<Measure> = Vec::new();
    let one = |target: &&'static Target| {
        let (body, machine) = (ptx::body(kernel, target), MachineFeatures::of(target.capability));
        let known = measures.iter().position(|measure| measure.machine == machine && measure.body == body);
        let known = known.unwrap_or_else(|| {
            measures.push(Measure::new(body, machine));
            measures.len() - 1
        });
        f(&measures[known], target)
    };
    targets.iter().map(one).collect()
}

/// What comes of a count: where there is room below the step the assembler takes a little more than that, or less.
fn estimate(needed: u32, counted: u32, step: u32, offset: i32) -> u32 {
    let taken = counted.saturating_add_signed(offset).max(4);
    needed.max(if counted < step { taken.min(step) } else { counted })
}

/// Registers that the system keeps from sm_70 on.
fn reserved(capability: u16) -> u32 {
    if capability < 70 { 0 } else { 2 }
}

/// Registers of an empty kernel.
fn least(capability: u16) -> u32 {
    2 + reserved(capability)
}

/// What the constants are fitted on: the model's figures before they come in.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Registers that suffice.
    pub needed: u32,
    /// The step that has room for those.
    pub step: u32,
    /// Registers taken up to it.
    pub filled: u32,
    /// The next step.
    pub next_step: u32,
    /// Registers taken up to that.
    pub next_filled: u32,
    /// The most that there can be.
    pub limit: u32,
}

/// The figures of a kernel of stage `Addressed`.
#[doc(hidden)]
pub fn features(kernel: &Kernel, target: &'static Target) -> Features {
    let measure = Measure::new(ptx::body(kernel, target), MachineFeatures::of(target.capability));
    let ladder = Ladder::new(kernel, measure.bound(kernel, target).map(|bound| bound.most), target);
    let reserved = reserved(target.capability);
    let needed = measure.fewest + reserved;
    let (step, next_step) = (ladder.step(needed), ladder.step(ladder.step(needed) + 1));
    let fill = |step: u32| measure.fill(step - reserved).1.registers + reserved;
    Features { needed, step, filled: fill(step), next_step, next_filled: fill(next_step), limit: ladder.limit() }
}

/// A kernel as the model sees it.
struct Measure {
    body: Vec<Statement>,
    machine: MachineFeatures,
    code: code::Code,
    graphs: Vec<Graph>,
    /// Registers that suffice for each stretch, and for all.
    fewest_of: Vec<u32>,
    fewest: u32,
    /// By room: what was found of it. Targets that the body is the same for often have the same.
    filled: RefCell<BTreeMap<u32, Rc<(u32, Peak)>>>,
}

impl Measure {
    fn new(body: Vec<Statement>, machine: MachineFeatures) -> Measure {
        let mut code = code::read(&body);
        locals::promote(&mut code);
        simplify::simplify(&mut code, machine);
        let successors = flow::successors(&code);
        let out = flow::live_out(&code, &successors);
        unroll::unroll(&mut code, &out);
        vectors::join(&mut code);
        let out = flow::live_out(&code, &successors);
        let mut scratch = Scratch::new(&code.stretches, code.widths.len());
        let make = |(stretch, out): (&code::Stretch, &flow::Set)| Graph::new(&stretch.insts, out, &code.widths, &mut scratch);
        let graphs: Vec<Graph> = code.stretches.iter().zip(&out).map(make).collect();
        let fewest_of: Vec<u32> = graphs.iter().map(|graph| graph.fewest().registers).collect();
        let fewest = fewest_of.iter().copied().max().unwrap_or(0);
        Measure { body, machine, code, graphs, fewest_of, fewest, filled: RefCell::default() }
    }

    /// What the back end bounds the registers by.
    fn bound(&self, kernel: &Kernel, target: &Target) -> Option<RegisterBound> {
        ptx::register_bound(kernel, &self.body, target)
    }

    /// Registers that would be needed on a target without a limit.
    fn needed(&self, target: &'static Target) -> u32 {
        self.fewest + reserved(target.capability)
    }

    /// The estimate for a target.
    fn registers(&self, kernel: &Kernel, target: &'static Target) -> Registers {
        let bound = self.bound(kernel, target);
        let ladder = Ladder::new(kernel, bound.map(|bound| bound.most), target);
        let constants = Constants::of(target.capability);
        let needed = self.needed(target);
        let step = ladder.step(needed + constants.margin);
        let filled = self.fill(step - reserved(target.capability));
        let counted = filled.1.registers + reserved(target.capability);
        let limit = ladder.limit();
        // With a bound for the sake of an order, the assembler takes what the order needs: in the library's kernels, one more than is live in the text.
        let ordered = bound.map(|bound| needed.max(bound.live + 1));
        let estimate = ordered.unwrap_or_else(|| estimate(needed, counted, step, constants.offset)).min(limit);
        let scale = constants::scale(estimate);
        let low = estimate.saturating_sub((scale * constants.below).div_ceil(16)).max(least(target.capability)).min(estimate);
        let high = (estimate + (scale * constants.above).div_ceil(16)).min(limit);
        if let Some(moved) = ptx::MovedRegisters::of(kernel, target) {
            // The kernel begins with as many as it is bounded by, and the work goes on with more.
            let needed = if needed <= moved.work { needed.min(moved.entry) } else { needed };
            let peak = locations(kernel, &self.code.places, &self.places(&filled));
            return Registers { estimate: moved.entry, low: moved.entry, high: moved.entry, needed, room: moved.work, peak };
        }
        Registers { estimate, low, high, needed, room: estimate, peak: locations(kernel, &self.code.places, &self.places(&filled)) }
    }

    /// The most that hiding latency takes of this many registers, and in which stretch.
    fn fill(&self, room: u32) -> Rc<(u32, Peak)> {
        let fill = |(n, graph): (usize, &Graph)| (n as u32, fill(graph, room, self.fewest_of[n]));
        let all = || self.graphs.iter().enumerate().map(fill).max_by_key(|(_, peak)| peak.registers).unwrap_or_default();
        Rc::clone(self.filled.borrow_mut().entry(room).or_insert_with(|| Rc::new(all())))
    }

    /// The places live at a peak: indices into the code's.
    fn places(&self, (n, peak): &(u32, Peak)) -> Vec<u32> {
        self.graphs.get(*n as usize).map_or_else(Vec::new, |graph| graph.places(peak))
    }
}

/// The same of one stretch, of which `fewest` registers suffice.
fn fill(graph: &Graph, room: u32, fewest: u32) -> Peak {
    // Numbers leave gaps: what fits by count may not fit by number.
    let tries = [0, 1, 2, 4, 7].map(|slack| room.saturating_sub(1 + slack));
    let mut least: Option<Peak> = None;
    for limit in tries {
        let peak = graph.eager(limit);
        if peak.registers <= room {
            return peak;
        }
        least = least.filter(|least| least.registers <= peak.registers).or(Some(peak));
    }
    // It could be done with fewer, so the assembler finds a way, and leaves nothing.
    let mut least = least.unwrap_or_default();
    least.registers = least.registers.min(room.max(fewest));
    least
}

/// The locations of places as `.loc` says them.
fn locations(kernel: &Kernel, places: &[[u32; 3]], wanted: &[u32]) -> Vec<Loc> {
    let wanted: std::collections::BTreeSet<[u32; 3]> = wanted.iter().map(|place| places[*place as usize]).collect();
    let mut found: BTreeMap<[u32; 3], Loc> = BTreeMap::new();
    for (loc, location) in kernel.locations.iter() {
        let place = [u32::from(location.file) + 1, location.line, location.column];
        if location.line != 0 && wanted.contains(&place) {
            found.entry(place).or_insert(loc);
        }
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwright_codegen::pipeline::{Addressed, compile_text};
    use warpwright_codegen::syntax::Instance;

    fn kernel(text: &str) -> Addressed {
        let lowered = compile_text("k.rs", text, "k", &Instance::default()).unwrap_or_else(|found| panic!("{found:?}"));
        lowered.kernel.legal().addressed().clone()
    }

    /// Sums of `n` accumulators, all live at once.
    fn accumulators(n: usize, attribute: &str) -> Addressed {
        let text = format!(
            "use warpwright::prelude::*;
#[kernel({attribute})]
fn k(x: &Global<f32>, y: &mut Global<f32>, m: usize) {{
    let i = global_id().x;
    let mut s = [0.0f32; {n}];
    for _ in 0..m {{
        #[unroll]
        for j in 0..{n} {{
            s[j] = s[j] * x[i + j];
        }}
    }}
    #[unroll]
    for j in 0..{n} {{
        y[i * {n} + j] = s[j];
    }}
}}"
        );
        kernel(&text)
    }

    #[test]
    fn values_alive_at_once_are_what_is_needed() {
        let target = Target::find("sm_80").expect("a target");
        let small = registers(&accumulators(4, "block = 128"), target);
        let large = registers(&accumulators(64, "block = 128"), target);
        assert!(large.needed >= small.needed + 56, "{} and {}", small.needed, large.needed);
        assert!(large.low <= large.estimate && large.estimate <= large.high, "{large:?}");
        assert!(!large.peak.is_empty());
    }

    #[test]
    fn targets_at_once_are_as_one_by_one() {
        let kernel = accumulators(16, "block = 256");
        let targets = ["sm_60", "sm_75", "sm_80", "sm_90", "sm_100"].map(|name| Target::find(name).expect("a target"));
        let one_by_one = targets.map(|target| registers(&kernel, target));
        assert_eq!(registers_of_each(&kernel, &targets), one_by_one);
        assert_ne!(one_by_one[1], one_by_one[2], "they are not all alike");
    }

    #[test]
    fn the_most_live_is_where_all_are_summed() {
        let target = Target::find("sm_80").expect("a target");
        let lines = live_by_line(&accumulators(16, "block = 128"), target);
        let at = |line: u32| lines.iter().find(|found| found.line == line).map(|found| found.live);
        let most = lines.iter().map(|found| found.live).max();
        // `s[j] = s[j] * x[i + j]`: sixteen sums, the pointer, a product.
        assert!(at(9) == most && at(9) >= Some(18), "{lines:?}");
        assert!(at(4) < at(9), "{lines:?}");
    }

    #[test]
    fn an_estimate_stops_at_the_limit() {
        let target = Target::find("sm_80").expect("a target");
        let kernel = accumulators(64, "block = 128, max_registers = 40");
        let limited = registers(&kernel, target);
        assert_eq!(limited.estimate, 40);
        assert!(limited.needed > 64, "{limited:?}");
        let blocks = registers(&accumulators(64, "block = 256, min_blocks = 8"), target);
        assert_eq!(blocks.estimate, 32);
    }
}
