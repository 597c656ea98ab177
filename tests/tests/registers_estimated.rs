//! Estimated registers beside those that `ptxas` measures, for every declared variant of the project's kernels on a target of each
//! generation. `docs/registers.md` has the histogram that this prints; `WARPWRIGHT_BLESS=1` writes it there.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::target::Target;
use warpwright_codegen::target::occupancy::{Demand, Options, occupancy};
use warpwright_review::estimate::registers::{Registers, registers};
use warpwright_tests::corpus::{self, Variant};
use warpwright_tests::ptxas::{Ptxas, found_or_skip};

/// Judged by `ptxas` 13, and those that it no longer knows by 12.
const TARGETS: [&str; 10] = ["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];

/// What is asked of all estimates together: shares in percent, errors in registers. What is reached is in `docs/registers.md`; these leave
/// room for another release of the assembler, of which some kernels get other registers.
const LEAST_ON_THE_SAME_STEP: f64 = 95.0;
const LEAST_INSIDE: f64 = 90.0;
const MOST_MEDIAN: u32 = 2;
const MOST_NINETIETH: u32 = 8;

/// The same of each target alone.
const LEAST_ON_THE_SAME_STEP_OF_ONE: f64 = 90.0;
const LEAST_INSIDE_OF_ONE: f64 = 85.0;

/// One variant on one target.
struct Pair {
    target: &'static Target,
    estimated: Registers,
    measured: u32,
    is_same_step: bool,
}

impl Pair {
    fn error(&self) -> i32 {
        self.estimated.estimate as i32 - self.measured as i32
    }

    fn is_inside(&self) -> bool {
        (self.estimated.low..=self.estimated.high).contains(&self.measured)
    }
}

/// The pairs of a variant. One assembler for each target: the newest that knows it.
fn pairs(variant: &Variant, judges: &[(&'static Target, &Ptxas)]) -> Vec<Pair> {
    let pair = |(target, assembler): &(&'static Target, &Ptxas)| {
        let ptx = variant.text(&Ptx, Some(target))?;
        let found = assembler.measure(&ptx, target.capability);
        let measured = found.unwrap_or_else(|error| panic!("{} for {}: {error}", variant.name, target.name)).registers;
        let threads = variant.kernel.options.block.map_or(1024, |block| block.iter().product());
        let blocks = |registers| {
            let demand = Demand { threads, registers, ..Demand::default() };
            occupancy(target.limits, &demand, &Options::default()).blocks
        };
        let estimated = registers(variant.kernel.legal().for_target(target).addressed(), target);
        let is_same_step = blocks(estimated.estimate) == blocks(measured);
        Some(Pair { target, estimated, measured, is_same_step })
    };
    judges.iter().filter_map(pair).collect()
}

/// What many pairs come to.
struct Summary {
    count: usize,
    same_step: f64,
    inside: f64,
    median: u32,
    ninetieth: u32,
    largest: u32,
}

impl Summary {
    fn of(pairs: &[&Pair]) -> Summary {
        let mut errors: Vec<u32> = pairs.iter().map(|pair| pair.error().unsigned_abs()).collect();
        errors.sort_unstable();
        let share =
            |is_counted: fn(&Pair) -> bool| 100.0 * pairs.iter().filter(|pair| is_counted(pair)).count() as f64 / pairs.len() as f64;
        let at = |percent: usize| errors.get(errors.len() * percent / 100).copied().unwrap_or(0);
        Summary {
            count: pairs.len(),
            same_step: share(|pair| pair.is_same_step),
            inside: share(Pair::is_inside),
            median: at(50),
            ninetieth: at(90),
            largest: errors.last().copied().unwrap_or(0),
        }
    }
}

/// How often the estimate was off by how much, and the figures of each target.
fn report(pairs: &[Pair]) -> String {
    let mut text = String::from("estimate − measured   pairs\n");
    let mut bins: BTreeMap<i32, usize> = BTreeMap::new();
    for pair in pairs {
        *bins.entry(pair.error().clamp(-13, 13)).or_default() += 1;
    }
    for (error, count) in &bins {
        let label = match *error {
            -13 => "≤ −13".to_owned(),
            13 => "≥ +13".to_owned(),
            0 => "0".to_owned(),
            error if error < 0 => format!("−{}", -error),
            error => format!("+{error}"),
        };
        // A mark stands for eight pairs, rounded up.
        let _ = writeln!(text, "{label:>19} {count:>7}  {}", "█".repeat(count.div_ceil(8)));
    }
    let _ = writeln!(text, "\n         pairs  same step  median  90th  largest  inside");
    let mut line = |name: &str, pairs: &[&Pair]| {
        let found = Summary::of(pairs);
        let _ = writeln!(
            text,
            "{name:7} {:6}    {:5.1} %  {:6}  {:4}  {:7}  {:4.1} %",
            found.count, found.same_step, found.median, found.ninetieth, found.largest, found.inside
        );
    };
    line("all", &pairs.iter().collect::<Vec<_>>());
    for name in TARGETS {
        let own: Vec<&Pair> = pairs.iter().filter(|pair| pair.target.name == name).collect();
        if !own.is_empty() {
            line(name, &own);
        }
    }
    text
}

/// Writes the report between its marks in the docs.
fn bless(report: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/registers.md");
    let text = std::fs::read_to_string(&file).expect("the docs");
    let (before, rest) = text.split_once("<!-- histogram -->\n").expect("a place for the histogram");
    let (_, after) = rest.split_once("<!-- end -->").expect("its end");
    let written = format!("{before}<!-- histogram -->\n```text\n{report}```\n<!-- end -->{after}");
    std::fs::write(&file, written).expect("the docs can be written");
}

#[test]
fn estimates_are_close_to_what_ptxas_gives() {
    let test = "estimates_are_close_to_what_ptxas_gives";
    let Some(assemblers) = found_or_skip(test) else { return };
    let judge = |name: &str| {
        let target = Target::find(name).expect("a target");
        let knows = |ptxas: &&Ptxas| ptxas.targets.contains(&target.capability) && ptxas.ptx_version().is_none_or(|version| version >= 88);
        Some((target, assemblers.iter().rev().find(knows)?))
    };
    // Releases before 12.9 give other registers; the model is of the newest.
    let judges: Vec<(&'static Target, &Ptxas)> = TARGETS.into_iter().filter_map(judge).collect();
    if judges.is_empty() {
        println!("skipped: {test} (no ptxas from 12.9 on)");
        return;
    }
    let (variants, _) = corpus::kernels();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(variant) = variants.get(next.fetch_add(1, Ordering::Relaxed)) {
            let pairs = pairs(variant, &judges);
            if let Ok(mut found) = found.lock() {
                found.extend(pairs);
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let pairs = found.into_inner().expect("no judge panicked");
    assert!(pairs.len() >= judges.len() * 100, "{} pairs", pairs.len());
    let text = report(&pairs);
    println!("{text}");
    if std::env::var_os("WARPWRIGHT_BLESS").is_some() && std::env::var_os("CI").is_none() && judges.len() == TARGETS.len() {
        bless(&text);
    }
    let all = Summary::of(&pairs.iter().collect::<Vec<_>>());
    assert!(all.same_step >= LEAST_ON_THE_SAME_STEP, "{:.1} % on the same step", all.same_step);
    assert!(all.inside >= LEAST_INSIDE, "{:.1} % inside the interval", all.inside);
    assert!(all.median <= MOST_MEDIAN && all.ninetieth <= MOST_NINETIETH, "errors: median {}, 90th {}", all.median, all.ninetieth);
    for (target, _) in &judges {
        let own = Summary::of(&pairs.iter().filter(|pair| pair.target.name == target.name).collect::<Vec<_>>());
        assert!(own.same_step >= LEAST_ON_THE_SAME_STEP_OF_ONE, "{}: {:.1} % on the same step", target.name, own.same_step);
        assert!(own.inside >= LEAST_INSIDE_OF_ONE, "{}: {:.1} % inside the interval", target.name, own.inside);
    }
    println!("ran: {test} ({} texts on ptxas)", pairs.len());
}
