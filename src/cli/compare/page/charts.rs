//! Speeds, times and the roofline: places and labels; the template draws.

use super::super::Comparison;
use super::super::columns::Cell;
use super::super::variant::Variant;
use super::scale::{Scale, decades, place, short, ticks};
use serde_json::{Value as Json, json};
use warpwright_codegen::estimate::mix::Mix;
use warpwright_codegen::estimate::occupancy::{Resource, occupancy};
use warpwright_codegen::estimate::time::{Prediction, predict};
use warpwright_codegen::target::machine::{Machine, Pipe};

/// Where bars begin, and how long the longest is.
const LEFT: f64 = 8.0;
const WIDTH: f64 = 270.0;
/// Height of a row.
const ROW: f64 = 20.0;

/// A bar with its interval, and what it is about.
struct Bar<'n> {
    n: usize,
    /// Its name, and the values of its generics alone.
    name: &'n str,
    values: String,
    figure: f64,
    interval: Option<(f64, f64)>,
    text: String,
}

impl Bar<'_> {
    /// In another unit.
    fn divided(self, size: f64) -> Self {
        let interval = self.interval.map(|(low, high)| (low / size, high / size));
        Bar { figure: self.figure / size, interval, ..self }
    }
}

/// Bars from 0, one below the other, with a mark for what cannot be passed.
fn bars(bars: &[Bar<'_>], most: f64, unit: &str, limit: Option<(f64, String)>) -> Json {
    let ticks = ticks(most, 4);
    let scale = Scale::even((0.0, ticks.last().copied().unwrap_or(1.0)), (LEFT, LEFT + WIDTH));
    let at = |figure: f64| place(scale.at(figure));
    let rows = bars.iter().enumerate().map(|(row, bar)| {
        json!({
            "n": bar.n,
            "name": bar.name,
            "values": bar.values,
            "y": place(row as f64 * ROW),
            "width": place(scale.at(bar.figure) - LEFT),
            "low": bar.interval.map(|(low, _)| at(low)),
            "high": bar.interval.map(|(_, high)| at(high)),
            "text": bar.text,
            "end": place(scale.at(bar.interval.map_or(bar.figure, |(_, high)| high.max(bar.figure))) + 5.0),
        })
    });
    json!({
        "left": LEFT,
        "height": bars.len() * ROW as usize,
        "rows": rows.collect::<Vec<_>>(),
        "ticks": ticks.iter().map(|tick| json!({ "x": at(*tick), "label": short(*tick) })).collect::<Vec<_>>(),
        "unit": unit,
        "limit": limit.map(|(figure, label)| json!({ "x": at(figure), "label": label })),
    })
}

/// What each variant reaches on a target, predicted; the interval is what the plausible registers make of it.
pub(super) fn speed(comparison: &Comparison, target: usize) -> Option<Json> {
    let machine = Machine::of(comparison.targets[target].capability)?;
    let cells: Vec<(usize, &Variant, Cell<'_>)> = comparison
        .variants
        .iter()
        .enumerate()
        .filter_map(|(n, variant)| Some((n, variant, Cell { compiled: variant.compiled()?, target })))
        .collect();
    let predictions = || cells.iter().filter_map(|(_, _, cell)| prediction(*cell));
    let computes = predictions().any(|prediction| prediction.operations >= 1e9);
    let figure = |prediction: &Prediction| if computes { prediction.operations } else { prediction.bandwidth };
    let unit = if computes { "FLOP/s" } else { "B/s" };
    let rows: Vec<Bar<'_>> = cells
        .iter()
        .filter_map(|(n, variant, cell)| {
            let prediction = prediction(*cell)?;
            let of_registers = [at_registers(*cell, |r| r.low), at_registers(*cell, |r| r.high)];
            let figures = of_registers.iter().flatten().map(figure).chain([figure(prediction)]);
            let (low, high) = figures.fold((f64::INFINITY, 0.0), |(low, high), figure| (figure.min(low), figure.max(high)));
            Some(Bar {
                n: *n,
                name: variant.name(&comparison.kernel),
                values: values(variant, &comparison.kernel),
                figure: figure(prediction),
                interval: Some((low, high)),
                text: format!("{}{unit} · {}", short(figure(prediction)), prediction.bound.word()),
            })
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let most = rows.iter().filter_map(|bar| Some(bar.interval?.1)).fold(0.0, f64::max);
    let peak = machine.memory.peak;
    let limit = (!computes).then(|| (peak, format!("peak of {}: {}B/s", machine.name, short(peak))));
    Some(bars(&rows, if computes { most } else { most.max(peak) }, unit, limit))
}

/// `32 · 4 · true`.
fn values(variant: &Variant, kernel: &str) -> String {
    let values: Vec<&str> = variant.values.iter().map(|(_, value)| value.as_str()).collect();
    if values.is_empty() { kernel.to_owned() } else { values.join(" · ") }
}

fn prediction(cell: Cell<'_>) -> Option<&Prediction> {
    cell.compiled.known.targets[cell.target].prediction.as_ref()
}

/// The prediction for another count of registers.
fn at_registers(cell: Cell<'_>, choose: fn(&warpwright_codegen::estimate::registers::Registers) -> u32) -> Option<Prediction> {
    let known = &cell.compiled.known;
    let estimate = &known.targets[cell.target];
    let resident = estimate.occupancy.as_ref()?;
    let demand = resident.demand.with(Resource::Registers, choose(&estimate.registers));
    let resident = occupancy(resident.limits, &demand, &resident.options);
    predict(&known.addressed, &known.threads, Some(&resident), estimate.target)
}

/// What a device's clock said, with the least and the most of the runs.
pub(super) fn times(comparison: &Comparison) -> Option<Json> {
    let mut device = "";
    let rows: Vec<Bar<'_>> = comparison
        .variants
        .iter()
        .enumerate()
        .filter_map(|(n, variant)| {
            let timed = variant.compiled()?.timed.as_ref()?;
            device = &timed.device;
            let seconds = |time: &std::time::Duration| time.as_secs_f64();
            Some(Bar {
                n,
                name: variant.name(&comparison.kernel),
                values: values(variant, &comparison.kernel),
                figure: timed.median().as_secs_f64(),
                interval: timed.times.first().map(seconds).zip(timed.times.last().map(seconds)),
                text: format!("{:.1?}", timed.median()),
            })
        })
        .collect();
    let most = rows.iter().filter_map(|bar| Some(bar.interval?.1)).fold(0.0, f64::max);
    let (unit, size) = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)].into_iter().find(|(_, size)| most >= *size).unwrap_or(("ns", 1e-9));
    let rows: Vec<Bar<'_>> = rows.into_iter().map(|bar| bar.divided(size)).collect();
    (!rows.is_empty()).then(|| json!({ "device": device, "chart": bars(&rows, most / size, unit, None) }))
}

/// The field of the roofline.
const FIELD: (f64, f64) = (440.0, 250.0);
const MARGIN: (f64, f64) = (58.0, 34.0);

/// What is on the axes of a roofline.
#[derive(Clone, Copy, PartialEq)]
enum Measure {
    /// Floating-point operations.
    Operations,
    /// Warp instructions, for kernels that compute nothing to speak of.
    Instructions,
}

impl Measure {
    fn of_thread(self, mix: &Mix) -> f64 {
        match self {
            Measure::Operations => mix.operations,
            Measure::Instructions => mix.instructions() / 32.0,
        }
    }

    /// Figures that cannot be passed, with their names.
    fn roofs(self, machine: &Machine, uses_doubles: bool) -> Vec<(f64, &'static str)> {
        let clocks = machine.clock * f64::from(machine.multiprocessors);
        match self {
            Measure::Instructions => vec![(machine.lanes.issue * clocks, "issue of warp instructions")],
            Measure::Operations => {
                let fused = |pipe, name| (2.0 * machine.lanes(pipe) * clocks, name);
                let doubles = uses_doubles.then(|| fused(Pipe::Double, "f64, fused"));
                [fused(Pipe::Single, "f32, fused")].into_iter().chain(doubles).collect()
            }
        }
    }
}

/// Where each variant stands below what memory and arithmetic of the target's device allow, predicted.
pub(super) fn roofline(comparison: &Comparison, target: usize) -> Option<Json> {
    let machine = Machine::of(comparison.targets[target].capability)?;
    let compiled = || comparison.variants.iter().filter_map(|variant| variant.compiled());
    let is_double = compiled().any(|compiled| compiled.known.threads.mix.of(Pipe::Double) > 0.0);
    let computes = compiled().any(|compiled| compiled.known.threads.mix.operations > 0.0);
    let measure = if computes { Measure::Operations } else { Measure::Instructions };
    let points: Vec<(usize, &str, f64, f64)> = comparison
        .variants
        .iter()
        .enumerate()
        .filter_map(|(n, variant)| {
            let compiled = variant.compiled()?;
            let mix = &compiled.known.threads.mix;
            let bytes = mix.read + mix.written;
            let prediction = prediction(Cell { compiled, target })?;
            let (of_thread, threads) = (measure.of_thread(mix), prediction.bandwidth / bytes);
            let point = (of_thread / bytes, of_thread * threads);
            (point.0 > 0.0 && point.1 > 0.0 && point.1.is_finite()).then_some((n, variant.name(&comparison.kernel), point.0, point.1))
        })
        .collect();
    let (least_x, most_x) = points.iter().fold((f64::INFINITY, 0f64), |(least, most), point| (least.min(point.2), most.max(point.2)));
    let least_y = points.iter().map(|point| point.3).fold(f64::INFINITY, f64::min);
    if points.is_empty() || machine.memory.peak <= 0.0 {
        return None;
    }
    let roofs = measure.roofs(machine, is_double);
    let top = roofs.iter().map(|(figure, _)| *figure).fold(0.0, f64::max);
    // The ridge is always in sight.
    let ridge = top / machine.memory.peak;
    let across = decades(least_x.min(ridge) / 2.0, most_x.max(ridge) * 2.0);
    let up = decades(least_y.min(top) / 2.0, top * 1.2);
    let (left, right) = (across[0], across[across.len() - 1]);
    let (bottom, above) = (up[0], up[up.len() - 1]);
    let x = Scale::log((left, right), (MARGIN.0, FIELD.0 - 10.0));
    let y = Scale::log((bottom, above), (FIELD.1 - MARGIN.1, 10.0));
    let lines = roofs.iter().map(|(figure, name)| {
        let from = (figure / machine.memory.peak).max(left);
        let label = format!("{name}: {}{}", short(*figure), if computes { "FLOP/s" } else { "/s" });
        json!({ "from": place(x.at(from)), "y": place(y.at(*figure)), "label": label })
    });
    // The slope begins at the left edge or at the bottom, whichever it meets first.
    let foot = left.max(bottom / machine.memory.peak);
    let run = x.at(ridge) - x.at(foot);
    let rise = y.at(top) - y.at(foot * machine.memory.peak);
    let slope = json!({
        "angle": place(rise.atan2(run).to_degrees()),
        "x1": place(x.at(foot)), "y1": place(y.at(foot * machine.memory.peak)),
        "x2": place(x.at(ridge)), "y2": place(y.at(top)),
        "label": format!("memory: {}B/s", short(machine.memory.peak)),
    });
    let dots = points.iter().map(|(n, name, intensity, rate)| {
        let title = format!("{name}: {} per byte, {}/s", short(*intensity), short(*rate));
        json!({ "n": n, "x": place(x.at(*intensity)), "y": place(y.at(*rate)), "title": title })
    });
    Some(json!({
        "device": machine.name,
        "width": FIELD.0, "height": FIELD.1,
        "left": MARGIN.0, "right": FIELD.0 - 10.0, "top": 10, "bottom": FIELD.1 - MARGIN.1,
        "slope": slope,
        "roofs": lines.collect::<Vec<_>>(),
        "dots": dots.collect::<Vec<_>>(),
        "across": across.iter().map(|figure| json!({ "at": place(x.at(*figure)), "label": short(*figure) })).collect::<Vec<_>>(),
        "up": up.iter().map(|figure| json!({ "at": place(y.at(*figure)), "label": short(*figure) })).collect::<Vec<_>>(),
        "x_title": if computes { "floating-point operations per byte of device memory" } else { "warp instructions per byte of device memory" },
        "y_title": if computes { "FLOP/s" } else { "warp instructions/s" },
    }))
}
