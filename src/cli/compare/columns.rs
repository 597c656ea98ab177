//! The figures that variants are compared by: one row each, with what is better.

use super::device::Timed;
use super::page::is_of;
use super::variant::Compiled;
use super::yardstick::Yardstick;
use crate::cli::launch::Agreement;
use crate::cli::units::{bytes, seconds, seconds_between};
use warpwright_codegen::analysis::access::{AccessFact, Pattern};
use warpwright_review::estimate::Estimate;
use warpwright_review::estimate::mix::Mix;
use warpwright_review::estimate::time::operations_text;
use warpwright_review::machine::{Machine, Pipe};

/// Where a figure comes from: never mixed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Follows from the kernel.
    Exact,
    /// Computed from a model.
    Estimated,
    /// What `ptxas` says.
    Measured,
    /// What the simulator counted.
    Simulated,
    /// By a device's clock.
    Timed,
}

impl Kind {
    /// Its word in a heading and in JSON.
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Exact => "exact",
            Kind::Estimated => "estimated",
            Kind::Measured => "measured",
            Kind::Simulated => "simulated",
            Kind::Timed => "timed",
        }
    }
}

/// Which of two figures is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    Less,
    More,
    /// Neither: it says what kind of variant it is.
    Neither,
}

/// A variant on a target.
#[derive(Clone, Copy)]
pub(super) struct Cell<'c> {
    pub(super) compiled: &'c Compiled,
    /// Number of the target.
    pub(super) target: usize,
}

/// The first of what a figure says, without brackets.
pub(super) fn brief(figure: &str) -> String {
    let mut brief = String::new();
    let mut depth = 0;
    for c in figure.chars() {
        if depth == 0 && c == ',' {
            break;
        }
        match c {
            '[' | '(' => {
                depth += 1;
                brief.truncate(brief.trim_end().len());
            }
            ']' | ')' => depth -= 1,
            c if depth == 0 => brief.push(c),
            _ => {}
        }
    }
    brief
}

impl Column {
    /// The figure, if variants are compared by it.
    pub(super) fn compared(&self, cell: Cell<'_>) -> Option<f64> {
        if self.by.contains(&cell.compiled.yardstick) { (self.value)(cell) } else { None }
    }
}

impl<'c> Cell<'c> {
    fn estimate(self) -> &'c Estimate {
        &self.compiled.known.targets[self.target]
    }

    /// The times, in the table of the device's target.
    fn timed(self) -> Option<&'c Timed> {
        self.compiled.timed.as_ref().filter(|timed| timed.target == self.target)
    }
}

/// A figure.
pub(super) struct Column {
    /// Its heading.
    pub(super) title: &'static str,
    /// What goes first where a terminal is narrow: the highest.
    pub(super) rank: u8,
    /// What differences in words call it.
    pub(super) noun: &'static str,
    pub(super) kind: Kind,
    pub(super) better: Better,
    /// Whether a variant is on the Pareto set by it.
    pub(super) counts: bool,
    /// The yardsticks with which variants are compared by it.
    pub(super) by: &'static [Yardstick],
    /// The figure; `None` where it is not known.
    pub(super) value: fn(Cell<'_>) -> Option<f64>,
    /// How it reads.
    pub(super) show: fn(Cell<'_>) -> Option<String>,
}

/// What most figures have in common.
const FIGURE: Column = Column {
    title: "",
    rank: 0,
    noun: "",
    kind: Kind::Estimated,
    better: Better::Neither,
    counts: false,
    by: Yardstick::ANY,
    value: |_| None,
    show: |_| None,
};

/// Every figure, in the order of the table.
pub(super) const COLUMNS: &[Column] = &[
    Column {
        title: "registers",
        rank: 3,
        noun: "registers",
        better: Better::Less,
        value: |cell| Some(f64::from(cell.estimate().registers.estimate)),
        show: |cell| {
            let registers = &cell.estimate().registers;
            Some(format!("{} [{}–{}]", registers.estimate, registers.low, registers.high))
        },
        ..FIGURE
    },
    Column {
        title: "ptxas",
        rank: 2,
        noun: "registers (ptxas)",
        kind: Kind::Measured,
        better: Better::Less,
        counts: true,
        value: |cell| cell.compiled.measured[cell.target].map(|measured| f64::from(measured.registers)),
        show: |cell| {
            let measured = cell.compiled.measured[cell.target]?;
            let spilled = measured.spill_stores + measured.spill_loads;
            let spilled = if spilled > 0 { format!(" +{spilled} B spilled") } else { String::new() };
            Some(format!("{}{spilled}{}", measured.registers, if measured.serialized { " serialized" } else { "" }))
        },
        ..FIGURE
    },
    Column {
        title: "shared",
        rank: 4,
        noun: "bytes of shared memory",
        kind: Kind::Exact,
        better: Better::Less,
        counts: true,
        value: |cell| Some(cell.compiled.known.facts.memory.shared as f64),
        show: |cell| some_bytes(cell.compiled.known.facts.memory.shared as f64),
        ..FIGURE
    },
    Column {
        title: "occupancy",
        rank: 4,
        noun: "occupancy",
        better: Better::More,
        counts: true,
        value: |cell| cell.estimate().occupancy.as_ref().map(|occupancy| occupancy.percent()),
        show: |cell| {
            let occupancy = cell.estimate().occupancy.as_ref()?;
            let limits: Vec<&str> = occupancy.limiters().map(|resource| resource.key()).collect();
            Some(format!("{:.0} % ({})", occupancy.percent(), limits.join(", ")))
        },
        ..FIGURE
    },
    Column {
        title: "clusters",
        rank: 7,
        noun: "resident clusters",
        value: |cell| cell.estimate().clusters.map(|clusters| f64::from(clusters.least)),
        show: |cell| cell.estimate().clusters.map(|clusters| format!("{} of {}", clusters.range(), clusters.size)),
        ..FIGURE
    },
    Column {
        title: "loads in flight",
        rank: 8,
        noun: "loads in flight",
        value: |cell| cell.estimate().prediction.as_ref().map(|prediction| f64::from(prediction.loads_in_flight)),
        show: |cell| cell.estimate().prediction.as_ref().map(|prediction| prediction.loads_in_flight.to_string()),
        ..FIGURE
    },
    Column {
        title: "in flight / need",
        rank: 10,
        noun: "bytes in flight",
        value: |cell| cell.estimate().prediction.as_ref().map(|prediction| prediction.bytes_in_flight),
        show: |cell| {
            let prediction = cell.estimate().prediction.as_ref().filter(|prediction| prediction.bytes_in_flight > 0.0)?;
            Some(format!("{} / {}", bytes(prediction.bytes_in_flight), bytes(prediction.bytes_needed)))
        },
        ..FIGURE
    },
    Column {
        title: "sectors / need",
        rank: 7,
        noun: "sectors fetched for those needed",
        kind: Kind::Exact,
        better: Better::Less,
        // A wide access needs more sectors than a narrow one: only what it fetches beyond that is waste.
        value: |cell| sectors(cell.compiled).map(|(fetched, needed)| fetched / needed),
        show: |cell| sectors(cell.compiled).map(|(fetched, needed)| format!("{fetched:.0} / {needed:.0}")),
        ..FIGURE
    },
    Column {
        title: "conflicts",
        rank: 5,
        noun: "passes of a shared access",
        kind: Kind::Exact,
        better: Better::Less,
        value: |cell| conflicts(cell.compiled),
        show: |cell| conflicts(cell.compiled).map(|degree| if degree > 1.0 { format!("{degree:.0}-way") } else { "none".to_owned() }),
        ..FIGURE
    },
    Column {
        title: "instructions",
        rank: 9,
        noun: "instructions of a thread",
        better: Better::Less,
        // A thread's work is compared where it is known: variants need not share it out alike.
        value: |cell| Some(&cell.compiled.known.threads.mix).filter(|mix| mix.is_exact()).map(Mix::instructions),
        show: |cell| {
            let mix = &cell.compiled.known.threads.mix;
            let memory = mix.of(Pipe::Memory);
            Some(format!("{:.0} ({:.0} memory)", mix.instructions(), memory))
        },
        ..FIGURE
    },
    Column {
        title: "predicted",
        rank: 1,
        noun: "of the peak, predicted",
        better: Better::More,
        counts: true,
        by: Yardstick::RATES,
        value: |cell| Some(cell.compiled.yardstick.rate(cell.estimate().prediction.as_ref()?)),
        show: |cell| {
            let prediction = cell.estimate().prediction.as_ref()?;
            let bandwidth = format!("{:.0} GB/s ({:.0} % of peak)", prediction.bandwidth / 1e9, prediction.share_of_peak * 100.0);
            Some(if prediction.operations >= 1e9 { format!("{}, {bandwidth}", operations_text(prediction.operations)) } else { bandwidth })
        },
        ..FIGURE
    },
    Column {
        title: "bound by",
        rank: 6,
        show: |cell| cell.estimate().prediction.as_ref().map(|prediction| prediction.bound.word().to_owned()),
        ..FIGURE
    },
    Column {
        title: "warp instr",
        rank: 2,
        noun: "warp instructions, simulated",
        kind: Kind::Simulated,
        better: Better::Less,
        value: |cell| cell.compiled.counters.as_ref().map(|counters| counters.total.total_warp_instructions() as f64),
        show: |cell| cell.compiled.counters.as_ref().map(|counters| counters.total.total_warp_instructions().to_string()),
        ..FIGURE
    },
    Column {
        title: "sectors",
        rank: 2,
        noun: "sectors, simulated",
        kind: Kind::Simulated,
        better: Better::Less,
        value: |cell| cell.compiled.counters.as_ref().map(|counters| counters.total.global_sectors as f64),
        show: |cell| cell.compiled.counters.as_ref().map(|counters| counters.total.global_sectors.to_string()),
        ..FIGURE
    },
    Column {
        title: "replays",
        rank: 2,
        noun: "replays of shared accesses, simulated",
        kind: Kind::Simulated,
        better: Better::Less,
        value: |cell| cell.compiled.counters.as_ref().map(|counters| counters.total.shared_replays as f64),
        show: |cell| cell.compiled.counters.as_ref().map(|counters| counters.total.shared_replays.to_string()),
        ..FIGURE
    },
    Column {
        title: "time",
        rank: 1,
        noun: "time",
        kind: Kind::Timed,
        better: Better::Less,
        counts: true,
        value: |cell| cell.timed().map(|timed| timed.median().as_secs_f64()),
        show: |cell| {
            let timed = cell.timed()?;
            let (least, most) = (timed.times.first()?, timed.times.last()?);
            let wrong = if timed.agreement == Agreement::Differs { " OTHER RESULTS" } else { "" };
            let times = seconds_between(timed.median().as_secs_f64(), least.as_secs_f64(), most.as_secs_f64());
            Some(format!("{times}{wrong}"))
        },
        ..FIGURE
    },
    Column {
        title: "predicted time",
        rank: 2,
        noun: "time, predicted",
        better: Better::Less,
        counts: true,
        by: &[Yardstick::Launch],
        value: predicted_time,
        show: |cell| predicted_time(cell).map(seconds),
        ..FIGURE
    },
    Column { title: "error", rank: 3, value: error, show: |cell| error(cell).map(|error| format!("{:+.0} %", 100.0 * error)), ..FIGURE },
];

/// Seconds predicted for the launch that is given, where what it does is known.
fn predicted_time(cell: Cell<'_>) -> Option<f64> {
    let prediction = cell.estimate().prediction.as_ref().filter(|prediction| prediction.is_of_launch())?;
    Some(prediction.seconds(cell.compiled.blocks?))
}

/// How far that is from what was timed, on the device that predictions are for: more is slower.
fn error(cell: Cell<'_>) -> Option<f64> {
    let timed = cell.timed()?;
    let is_that_device = Machine::of(cell.estimate().target.capability).is_some_and(|machine| is_of(&timed.device, machine));
    is_that_device.then_some(())?;
    Some(predicted_time(cell)? / timed.median().as_secs_f64() - 1.0)
}

impl Column {
    /// The figure as it is shown; `None` if it is not known. A kernel without shared memory has none of it, which is known.
    pub(super) fn text(&self, cell: Cell<'_>) -> Option<String> {
        let has_none = cell.compiled.known.facts.memory.shared == 0;
        let without = match self.title {
            "shared" if has_none => Some("0 B".to_owned()),
            "conflicts" if has_none => Some("–".to_owned()),
            _ => None,
        };
        (self.show)(cell).or(without)
    }
}

fn some_bytes(figure: f64) -> Option<String> {
    (figure > 0.0).then(|| bytes(figure))
}

fn global(compiled: &Compiled) -> impl Iterator<Item = &AccessFact> {
    let is_global = |access: &&AccessFact| access.space == warpwright_codegen::ir::Space::Global && !access.is_rare;
    compiled.known.facts.accesses.iter().filter(is_global)
}

/// Of the worst request to global memory: its sectors, and how many would do for the bytes that it uses; `None` if one is not known, or there is
/// none. Where a buffer's beginning decides, the most.
fn sectors(compiled: &Compiled) -> Option<(f64, f64)> {
    let figures = global(compiled).map(|access| match &access.pattern {
        Pattern::Global { sectors, bytes, .. } => Some((f64::from(sectors.most), f64::from(bytes.most.div_ceil(32).max(1)))),
        _ => None,
    });
    let figures = figures.collect::<Option<Vec<(f64, f64)>>>()?;
    let waste = |(fetched, needed): &(f64, f64)| (fetched / needed, *fetched);
    figures.into_iter().max_by(|a, b| waste(a).partial_cmp(&waste(b)).unwrap_or(std::cmp::Ordering::Equal))
}

/// The worst degree; `None` if one is not known, or there is no shared access.
fn conflicts(compiled: &Compiled) -> Option<f64> {
    let shared = compiled.known.facts.accesses.iter().filter(|access| access.space == warpwright_codegen::ir::Space::Shared);
    let degrees = shared.map(|access| match &access.pattern {
        Pattern::Shared { degree, .. } => Some(f64::from(degree.most)),
        _ => None,
    });
    degrees.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
}
