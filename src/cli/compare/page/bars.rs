//! Bars by variant: the times that a device's clock said beside those predicted, or, without a device, the predicted speeds. Places and
//! texts; `bars.html` draws.

use super::super::Comparison;
use super::super::columns::{COLUMNS, Cell};
use super::super::variant::Variant;
use super::super::yardstick::Yardstick;
use super::scale::{Scale, digits, log_ticks, place, short, ticks, unit_of_time};
use serde_json::{Value as Json, json};
use warpwright_codegen::target::occupancy::{Resource, occupancy};
use warpwright_review::estimate::time::{Prediction, predict};
use warpwright_review::machine::Machine;

/// Where bars begin, and how long the longest is; what is written stands right of them, so that nothing is over anything.
const LEFT: f64 = 8.0;
const WIDTH: f64 = 200.0;
/// Where the longest takes more times the shortest than this, the axis is logarithmic.
const MOST_EVEN: f64 = 3.0;
/// Height of a row; the script knows it from the drawing.
const ROW: usize = 20;
/// Where the columns of texts end.
const COLUMNS_END: [f64; 3] = [282.0, 352.0, 420.0];
/// Where words stand that follow one column.
const NOTE: f64 = 294.0;

/// A figure with the least and the most that it may be.
#[derive(Clone, Copy)]
struct Interval {
    figure: f64,
    low: f64,
    high: f64,
}

impl Interval {
    fn times(self, factor: f64) -> Interval {
        Interval { figure: self.figure * factor, low: self.low * factor, high: self.high * factor }
    }
}

/// A variant and what is known of it.
struct Row<'v> {
    n: usize,
    variant: &'v Variant,
    cell: Cell<'v>,
}

/// What is predicted; and, where a device has run it, what is true.
pub(super) fn chart(comparison: &Comparison, target: usize) -> Option<Json> {
    let variants = comparison.variants.iter().enumerate();
    let rows: Vec<Row<'_>> =
        variants.filter_map(|(n, variant)| Some(Row { n, variant, cell: Cell { compiled: variant.compiled()?, target } })).collect();
    if rows.iter().any(|row| measured(row.cell).is_some()) { times(comparison, &rows) } else { speeds(comparison, &rows, target) }
}

/// What each variant reaches, predicted; the interval is what the plausible registers make of it.
fn speeds(comparison: &Comparison, rows: &[Row<'_>], target: usize) -> Option<Json> {
    let machine = Machine::of(comparison.targets[target].capability)?;
    let yardstick = rates(&rows.iter().collect::<Vec<_>>());
    let computes = yardstick == Yardstick::Operations;
    let unit = if computes { "FLOP/s" } else { "B/s" };
    let known: Vec<(&Row<'_>, Interval, &Prediction)> = rows
        .iter()
        .filter_map(|row| Some((row, predicted(row.cell, |prediction| yardstick.rate(prediction))?, prediction(row.cell)?)))
        .collect();
    let most = known.iter().map(|(_, interval, _)| interval.high).fold(0.0, f64::max);
    let peak = (!computes).then_some(machine.memory.peak);
    let ticks = ticks(most.max(peak.unwrap_or(0.0)), 4);
    let scale = scale(&ticks);
    let drawn = known.iter().enumerate().map(|(at, (row, interval, prediction))| {
        let texts = [format!("{}{unit}", short(interval.figure))];
        let mut drawn = one(comparison, row, at, &texts);
        drawn["bar"] = span(&scale, *interval);
        drawn["note"] = json!(prediction.bound.word());
        drawn
    });
    let drawn: Vec<Json> = drawn.collect();
    (!drawn.is_empty()).then(|| {
        json!({
            "title": "Predicted speed",
            "captions": [json!({ "kind": "estimated", "text": "├─┤ over the plausible registers" })],
            "limit": peak.map(|peak| json!({ "x": place(scale.at(peak)), "label": format!("peak of {}: {}B/s", machine.name, short(peak)) })),
            "width": NOTE + 116.0,
            "note": "bound by", "note_at": NOTE,
            "frame": frame(rows, &drawn, &ticks, &scale, &format!("{}, predicted", if computes { "floating-point operations a second" } else { "bytes a second" })),
            "heads": heads(&["predicted"]),
            "rows": drawn,
        })
    })
}

/// What the clock said, with the least and the most of the runs, beside what is predicted.
fn times(comparison: &Comparison, rows: &[Row<'_>]) -> Option<Json> {
    let known: Vec<(&Row<'_>, Interval)> = rows.iter().filter_map(|row| Some((row, measured(row.cell)?))).collect();
    let first = known.first()?.0.cell.compiled.timed.as_ref()?;
    let machine = Machine::of(comparison.targets[first.target].capability);
    let (predictions, doubt) = predicted_times(&known, machine.is_some_and(|machine| is_of(&first.device, machine)));
    let figures = known.iter().map(|(_, interval)| interval.figure).chain(predictions.iter().flatten().map(|interval| interval.high));
    let most = figures.fold(0.0, f64::max);
    // One run that was disturbed is not to press all others into a corner: its end is cut off.
    let longest = known.iter().map(|(_, interval)| interval.high).fold(most, f64::max).min(most * 1.5);
    let (unit, size) = unit_of_time(most);
    let lows = known.iter().map(|(_, interval)| interval.low).chain(predictions.iter().flatten().map(|interval| interval.low));
    let least = lows.fold(f64::INFINITY, f64::min);
    // From 0, the fast ones would be all alike beside one that takes many times as long.
    let is_log = least > 0.0 && most > MOST_EVEN * least;
    let (ticks, scale) = if is_log {
        let ends = (least / size * 0.85, longest / size * 1.15);
        (log_ticks(ends.0, ends.1, 5), Scale::log(ends, (LEFT, LEFT + WIDTH)))
    } else {
        let ticks = ticks(longest / size, 4);
        let scale = scale(&ticks);
        (ticks, scale)
    };
    let drawn = known.iter().zip(&predictions).enumerate().map(|(at, ((row, measured), predicted))| {
        let mut texts = vec![digits(measured.figure / size, 4)];
        texts.extend(predicted.map(|predicted| digits(predicted.figure / size, 3)));
        texts.extend(predicted.map(|predicted| format!("{:.2}×", predicted.figure / measured.figure)));
        let mut drawn = one(comparison, row, at, &texts);
        drawn["bar"] = span(&scale, measured.times(1.0 / size));
        drawn["is_point"] = json!(is_log);
        drawn["line"] = predicted.map_or(Json::Null, |predicted| span(&scale, predicted.times(1.0 / size)));
        drawn["title"] = json!(title(comparison, row, measured, *predicted));
        drawn
    });
    let drawn: Vec<Json> = drawn.collect();
    let has_predictions = predictions.iter().any(Option::is_some);
    let mut captions = vec![
        json!({ "kind": "timed", "text": format!("{} median of {} runs, ├─┤ least to most", if is_log { "●" } else { "bar:" }, first.times.len()) }),
    ];
    if has_predictions {
        captions.push(json!({ "kind": "estimated", "text": "◇ predicted, ├─┤ over the plausible registers" }));
        captions.extend(
            doubt.map(|doubt| json!({ "text": format!("{doubt}, so predictions are relative: drawn to meet the times in the middle") })),
        );
    }
    Some(json!({
        "title": format!("Time on {}", first.device),
        "width": if has_predictions { COLUMNS_END[2] } else { COLUMNS_END[0] } + 4.0,
        "captions": captions,
        "frame": frame(rows, &drawn, &ticks, &scale, &if is_log { format!("{unit}, logarithmic") } else { unit.to_owned() }),
        "heads": heads(if has_predictions { &["timed", "predicted", "pred./timed"] } else { &["timed"] }),
        "rows": drawn,
    }))
}

/// Whether a device is one of those that a machine's predictions are for: `NVIDIA H200` is an `H200 SXM`.
pub(in crate::cli::compare) fn is_of(device: &str, machine: &Machine) -> bool {
    let model = machine.name.split_whitespace().find(|word| word.contains(|c: char| c.is_ascii_digit()));
    model.is_some_and(|model| device.contains(model))
}

/// What pointing at a row says.
fn title(comparison: &Comparison, row: &Row<'_>, measured: &Interval, predicted: Option<Interval>) -> String {
    let seconds = |figure: f64| {
        let (unit, size) = unit_of_time(figure);
        format!("{} {unit}", digits(figure / size, 4))
    };
    let said = predicted.map_or(String::new(), |p| format!("; predicted {}, {} to {}", seconds(p.figure), seconds(p.low), seconds(p.high)));
    let name = row.variant.name(&comparison.kernel);
    format!("{name}: median {}, {} to {}{said}", seconds(measured.figure), seconds(measured.low), seconds(measured.high))
}

/// Predicted seconds of a launch, or why they are not that: where only the launch knows how long the loops are, or the device is another than
/// the predictions are for, the ratios between variants are all that is predicted, and the whole is scaled to meet the times in the middle.
fn predicted_times(known: &[(&Row<'_>, Interval)], is_of_device: bool) -> (Vec<Option<Interval>>, Option<&'static str>) {
    let is_of_launch = |(row, _): &(&Row<'_>, Interval)| {
        row.cell.compiled.blocks.is_some() && prediction(row.cell).is_none_or(|prediction| prediction.is_of_launch())
    };
    if known.iter().all(is_of_launch) && is_of_device {
        let seconds = |(row, _): &(&Row<'_>, Interval)| {
            let blocks = row.cell.compiled.blocks?;
            predicted(row.cell, |prediction| prediction.seconds(blocks))
        };
        return (known.iter().map(seconds).collect(), None);
    }
    let yardstick = rates(&known.iter().map(|(row, _)| *row).collect::<Vec<_>>());
    let relative: Vec<Option<Interval>> =
        known.iter().map(|(row, _)| predicted(row.cell, |prediction| 1.0 / yardstick.rate(prediction).max(1.0))).collect();
    let mut ratios: Vec<f64> =
        known.iter().zip(&relative).filter_map(|((_, measured), relative)| Some(measured.figure / (*relative)?.figure)).collect();
    ratios.sort_by(f64::total_cmp);
    let factor = ratios.get(ratios.len() / 2).copied().unwrap_or(1.0);
    let doubt = if is_of_device { "only the launch knows how long loops are" } else { "predictions are for another device" };
    (relative.into_iter().map(|relative| Some(relative?.times(factor))).collect(), Some(doubt))
}

/// The median and the ends of the runs on the target that the device is of.
fn measured(cell: Cell<'_>) -> Option<Interval> {
    let column = COLUMNS.iter().find(|column| column.title == "time")?;
    let figure = (column.value)(cell)?;
    let times = &cell.compiled.timed.as_ref()?.times;
    Some(Interval { figure, low: times.first()?.as_secs_f64(), high: times.last()?.as_secs_f64() })
}

fn prediction(cell: Cell<'_>) -> Option<&Prediction> {
    cell.compiled.known.targets[cell.target].prediction.as_ref()
}

/// A figure of the prediction for the estimated registers, and of those for the fewest and the most plausible.
fn predicted(cell: Cell<'_>, figure: impl Fn(&Prediction) -> f64) -> Option<Interval> {
    let known = &cell.compiled.known;
    let estimate = &known.targets[cell.target];
    let middle = figure(prediction(cell)?);
    let resident = estimate.occupancy.as_ref()?;
    let (mut low, mut high) = (middle, middle);
    for registers in [estimate.registers.low, estimate.registers.high] {
        let other = occupancy(resident.limits, &resident.demand.with(Resource::Registers, registers), &resident.options);
        let (form, threads) = known.predicted_on(estimate.target);
        if let Some(prediction) = predict(form.addressed(), threads, Some(&other), estimate.target) {
            (low, high) = (low.min(figure(&prediction)), high.max(figure(&prediction)));
        }
    }
    Some(Interval { figure: middle, low, high })
}

/// What variants are compared by, the launch aside.
fn rates(rows: &[&Row<'_>]) -> Yardstick {
    Yardstick::of_rates(rows.iter().map(|row| row.cell.compiled))
}

fn scale(ticks: &[f64]) -> Scale {
    Scale::even((0.0, ticks.last().copied().unwrap_or(1.0)), (LEFT, LEFT + WIDTH))
}

/// What all charts have around their rows.
fn frame(rows: &[Row<'_>], drawn: &[Json], ticks: &[f64], scale: &Scale, unit: &str) -> Json {
    // Of another revision a variant has a value more.
    let longest = rows.iter().max_by_key(|row| row.variant.values.len());
    let axes: Vec<&str> = longest.map_or_else(Vec::new, |row| row.variant.values.iter().map(|(name, _)| name.as_str()).collect());
    json!({
        "axes": axes.join(" · "),
        "left": LEFT,
        "row": ROW,
        "height": drawn.len() * ROW,
        "unit": unit,
        "ticks": ticks.iter().map(|tick| json!({ "x": place(scale.at(*tick)), "label": short(*tick) })).collect::<Vec<_>>(),
    })
}

/// What stands above the columns of texts.
fn heads(texts: &[&str]) -> Vec<Json> {
    texts.iter().zip(COLUMNS_END).map(|(text, x)| json!({ "x": x, "text": text })).collect()
}

/// A row without what is drawn in it.
fn one(comparison: &Comparison, row: &Row<'_>, at: usize, texts: &[String]) -> Json {
    let values: Vec<&str> = row.variant.values.iter().map(|(_, value)| value.as_str()).collect();
    let name = row.variant.name(&comparison.kernel);
    json!({
        "n": row.n,
        "name": name,
        "values": if values.is_empty() { comparison.kernel.clone() } else { values.join(" · ") },
        "y": at * ROW,
        "texts": texts.iter().zip(COLUMNS_END).map(|(text, x)| json!({ "x": x, "text": text })).collect::<Vec<_>>(),
        "title": format!("{name}: {}", texts.join(", ")),
    })
}

fn span(scale: &Scale, interval: Interval) -> Json {
    json!({
        "width": place(scale.at(interval.figure) - LEFT),
        "x": place(scale.at(interval.figure)),
        "low": place(scale.at(interval.low).min(LEFT + WIDTH)),
        "high": place(scale.at(interval.high).min(LEFT + WIDTH)),
        "is_cut": scale.at(interval.high) > LEFT + WIDTH + 0.1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::super::device::Timed;
    use crate::cli::axes::{AxisArguments, Chosen};
    use crate::cli::launch::Agreement;
    use crate::cli::source::Source;
    use std::time::Duration;
    use warpwright_codegen::target::Targets;

    /// The copies by blocks of 128, two a thread or one, batched or not, that took so many microseconds each.
    fn timed(device: &str, microseconds: [u64; 4]) -> Comparison {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/src/copy.rs");
        let source = Source::read(path, &[]).unwrap_or_else(|stop| panic!("{}", stop.message));
        let targets = Targets::named(["sm_90"]);
        let chosen = AxisArguments::default().choose(&source, &["copy".to_owned()]);
        let Chosen { axes, instances, .. } = chosen.unwrap_or_else(|stop| panic!("{}", stop.message)).remove(0);
        let mut variants: Vec<Variant> =
            instances[12..16].iter().map(|instance| Variant::compile(&source, "copy", &axes, instance, &targets, 0)).collect();
        for (variant, median) in variants.iter_mut().zip(microseconds) {
            let compiled = variant.outcome.as_mut().expect("it compiles");
            let times = [median - 1, median, median + 200].map(Duration::from_micros).to_vec();
            compiled.blocks = Some(524_288);
            compiled.timed = Some(Timed { times, device: device.to_owned(), agreement: Agreement::Same, target: 0 });
        }
        Comparison {
            file: path.to_owned(),
            kernel: "copy".to_owned(),
            targets: targets.gpus,
            variants,
            tells_tails: true,
            notes: Vec::new(),
        }
    }

    #[test]
    fn times_stand_beside_predictions() {
        let chart = chart(&timed("NVIDIA H200", [322, 254, 322, 253]), 0).expect("a chart");
        assert_eq!(chart["title"], "Time on NVIDIA H200");
        assert_eq!(chart["captions"].as_array().map(Vec::len), Some(2), "{}", chart["captions"]);
        let row = &chart["rows"][0];
        assert_eq!((&row["texts"][0]["text"], &row["is_point"]), (&json!("322.0"), &json!(false)));
        // Of this launch, in seconds: a gibibyte at some four terabytes a second.
        let predicted: f64 = row["texts"][1]["text"].as_str().and_then(|text| text.parse().ok()).expect("a figure");
        assert!((200.0..500.0).contains(&predicted), "{predicted}");
        let end = |of: &Json| of.as_str().and_then(|place| place.parse::<f64>().ok()).expect("a place");
        assert!(end(&row["bar"]["low"]) < end(&row["bar"]["high"]) && end(&row["bar"]["high"]) <= LEFT + WIDTH);
    }

    #[test]
    fn predictions_for_another_device_are_relative() {
        let chart = chart(&timed("some processor", [3220, 2540, 9000, 1000]), 0).expect("a chart");
        let said = chart["captions"][2]["text"].as_str().unwrap_or_default();
        assert!(said.starts_with("predictions are for another device, so predictions are relative"), "{said}");
        // Nine times as long: drawn as points on a logarithmic axis.
        assert_eq!(chart["rows"][0]["is_point"], true);
        assert_eq!(chart["frame"]["unit"], "ms, logarithmic");
        assert!(chart["rows"].as_array().expect("rows").iter().any(|row| row["texts"][2]["text"] == "1.00×"));
    }

    #[test]
    fn a_device_is_known_by_its_model() {
        let machine = Machine::of(90).expect("the H200");
        assert!(is_of("NVIDIA H200", machine) && !is_of("NVIDIA H100 80GB HBM3", machine) && !is_of("a processor", machine));
    }
}
