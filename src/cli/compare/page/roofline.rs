//! The roofline: where each variant stands below what memory and arithmetic allow, predicted and, where a device has run it, in truth.

use super::super::Comparison;
use super::super::columns::{COLUMNS, Cell};
use super::super::variant::Compiled;
use super::bars::is_of;
use super::scale::{Scale, log_ticks, place, short};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use warpwright_review::estimate::mix::Mix;
use warpwright_review::machine::{Machine, Pipe};

/// The field of the roofline.
const FIELD: (f64, f64) = (440.0, 250.0);
const MARGIN: (f64, f64) = (58.0, 34.0);

/// About what a character of a label takes, and a little.
const CHARACTER: f64 = 6.5;

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
    fn roofs(self, machine: &Machine, uses: impl Fn(Pipe) -> bool) -> Vec<(f64, &'static str)> {
        let clocks = machine.clock * f64::from(machine.multiprocessors);
        match self {
            Measure::Instructions => vec![(machine.lanes.issue * clocks, "issue of warp instructions")],
            Measure::Operations => {
                let fused = |pipe, name| (2.0 * machine.lanes(pipe) * clocks, name);
                let others = [
                    (Pipe::Double, "f64, fused"),
                    (Pipe::Tensor, "tensor cores, 16 bits"),
                    (Pipe::WarpTensor, "tensor cores warp by warp, 16 bits"),
                    (Pipe::DoubleTensor, "tensor cores, f64"),
                ];
                let others = others.into_iter().filter(|(pipe, _)| uses(*pipe)).map(|(pipe, name)| fused(pipe, name));
                std::iter::once(fused(Pipe::Single, "f32, fused")).chain(others).collect()
            }
        }
    }
}

/// A variant's place: its number, operations per byte, operations a second.
struct Point<'v> {
    n: usize,
    name: &'v str,
    intensity: f64,
    rate: f64,
    is_timed: bool,
}

/// Everything about it; `None` where nothing is predicted.
pub(super) fn roofline(comparison: &Comparison, target: usize) -> Option<Json> {
    let machine = Machine::of(comparison.targets[target].capability)?;
    let compiled = || comparison.variants.iter().filter_map(|variant| variant.compiled());
    let on = comparison.targets[target];
    let uses = |pipe: Pipe| compiled().any(|compiled| compiled.known.threads_on(on).mix.of(pipe) > 0.0);
    let computes = compiled().any(|compiled| compiled.known.threads.mix.operations > 0.0);
    let measure = if computes { Measure::Operations } else { Measure::Instructions };
    let points = points(comparison, target, measure);
    if points.is_empty() || machine.memory.peak <= 0.0 {
        return None;
    }
    let (least_x, most_x) = ends(points.iter().map(|point| point.intensity));
    let (least_y, most_y) = ends(points.iter().map(|point| point.rate));
    let roofs = measure.roofs(machine, uses);
    let top = roofs.iter().map(|(figure, _)| *figure).fold(0.0, f64::max);
    // The ridge is always in sight.
    let ridge = top / machine.memory.peak;
    let (left, right) = (least_x.min(ridge) / 2.0, most_x.max(ridge) * 3.0);
    let (bottom, above) = (least_y.min(top) / 2.0, most_y.max(top) * 2.0);
    let x = Scale::log((left, right), (MARGIN.0, FIELD.0 - 10.0));
    let y = Scale::log((bottom, above), (FIELD.1 - MARGIN.1, 10.0));
    let lines = roofs.iter().map(|(figure, name)| {
        let from = (figure / machine.memory.peak).max(left);
        let label = format!("{name}: {}{}", short(*figure), if computes { "FLOP/s" } else { "/s" });
        json!({ "from": place(x.at(from)), "y": place(y.at(*figure)), "label": label })
    });
    // The slope begins at the left edge or at the bottom, whichever it meets first.
    let foot = left.max(bottom / machine.memory.peak);
    let from = (x.at(foot), y.at(foot * machine.memory.peak));
    let to = (x.at(ridge), y.at(top));
    let places: Vec<(f64, f64)> = points.iter().map(|point| (x.at(point.intensity), y.at(point.rate))).collect();
    let name = format!("memory: {}B/s", short(machine.memory.peak));
    let label = clearest(from, to, name.chars().count() as f64 * CHARACTER, &places);
    let slope = json!({
        "angle": place((to.1 - from.1).atan2(to.0 - from.0).to_degrees()),
        "x1": place(from.0), "y1": place(from.1),
        "x2": place(to.0), "y2": place(to.1),
        "x": place(label.0), "y": place(label.1),
        "label": name,
    });
    // Variants in the very same place are told of together.
    let mut names: BTreeMap<(String, String, bool), Vec<&str>> = BTreeMap::new();
    let key = |point: &Point<'_>| (place(x.at(point.intensity)), place(y.at(point.rate)), point.is_timed);
    points.iter().for_each(|point| names.entry(key(point)).or_default().push(point.name));
    let dots = points.iter().map(|point| {
        let key = key(point);
        let word = if point.is_timed { "timed" } else { "predicted" };
        let title = format!("{}: {word} {} per byte, {}/s", together(&names[&key]), short(point.intensity), short(point.rate));
        json!({ "n": point.n, "x": key.0, "y": key.1, "title": title, "is_timed": point.is_timed })
    });
    Some(json!({
        "device": machine.name,
        "is_timed": points.iter().any(|point| point.is_timed),
        "width": FIELD.0, "height": FIELD.1,
        "left": MARGIN.0, "right": FIELD.0 - 10.0, "top": 10, "bottom": FIELD.1 - MARGIN.1,
        "slope": slope,
        "roofs": lines.collect::<Vec<_>>(),
        "dots": dots.collect::<Vec<_>>(),
        "across": log_ticks(left, right, 7).iter().map(|figure| json!({ "at": place(x.at(*figure)), "label": short(*figure) })).collect::<Vec<_>>(),
        "up": log_ticks(bottom, above, 6).iter().map(|figure| json!({ "at": place(y.at(*figure)), "label": short(*figure) })).collect::<Vec<_>>(),
        "x_title": if computes { "floating-point operations per byte of device memory" } else { "warp instructions per byte of device memory" },
        "y_title": if computes { "FLOP/s" } else { "warp instructions/s" },
    }))
}

/// Predicted places, and timed ones where the launch did all the work that is known of its threads.
fn points(comparison: &Comparison, target: usize, measure: Measure) -> Vec<Point<'_>> {
    let mut points = Vec::new();
    for (n, variant) in comparison.variants.iter().enumerate() {
        let Some(compiled) = variant.compiled() else { continue };
        let estimate = &compiled.known.targets[target];
        let (Some(prediction), Some(occupancy)) = (&estimate.prediction, &estimate.occupancy) else { continue };
        let Some(machine) = Machine::of(estimate.target.capability) else { continue };
        let of_block = measure.of_thread(&compiled.known.threads.mix) * f64::from(occupancy.demand.threads);
        // What is fetched, used or not: that is what the memory's roof bounds.
        let intensity = of_block / (prediction.work.read + prediction.work.written);
        let mut add = |blocks: f64, is_timed: bool| {
            let point = Point { n, name: variant.name(&comparison.kernel), intensity, rate: of_block * blocks, is_timed };
            if point.intensity > 0.0 && point.intensity.is_finite() && point.rate > 0.0 && point.rate.is_finite() {
                points.push(point);
            }
        };
        add(f64::from(machine.multiprocessors) / prediction.block_seconds, false);
        if let Some(blocks) = timed_blocks(compiled, target, machine) {
            add(blocks, true);
        }
    }
    points
}

/// Blocks a second, by the clock of the device that the roofs are of; not known where only the launch knows how much one of them does.
fn timed_blocks(compiled: &Compiled, target: usize, machine: &Machine) -> Option<f64> {
    let time = COLUMNS.iter().find(|column| column.title == "time")?;
    let seconds = (time.value)(Cell { compiled, target })?;
    let is_known = compiled.known.threads.mix.is_exact() && is_of(&compiled.timed.as_ref()?.device, machine);
    compiled.blocks.filter(|_| is_known).map(|blocks| blocks as f64 / seconds)
}

fn ends(figures: impl Iterator<Item = f64>) -> (f64, f64) {
    figures.fold((f64::INFINITY, 0.0), |(least, most), figure| (least.min(figure), most.max(figure)))
}

/// Where on a line a label, so long, is farthest from all dots: between the ends, if there is room.
fn clearest(from: (f64, f64), to: (f64, f64), length: f64, dots: &[(f64, f64)]) -> (f64, f64) {
    let first = (length / 2.0 / (to.0 - from.0).hypot(to.1 - from.1)).min(0.5);
    let shares = (0..=10).map(|n| first + (1.0 - 2.0 * first) * f64::from(n) / 10.0);
    let places = shares.map(|share| (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1)));
    let nearest = |(x, y): (f64, f64)| dots.iter().map(|dot| (dot.0 - x).hypot(dot.1 - y)).fold(f64::INFINITY, f64::min);
    places.max_by(|a, b| nearest(*a).total_cmp(&nearest(*b))).unwrap_or(from)
}

/// The first few names, and how many more there are.
fn together(names: &[&str]) -> String {
    const MOST: usize = 4;
    let shown = names.iter().take(MOST).copied().collect::<Vec<_>>().join("; ");
    if names.len() > MOST { format!("{shown}; and {} more", names.len() - MOST) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_keeps_off_the_dots() {
        let place = |dots: &[(f64, f64)]| clearest((0.0, 0.0), (200.0, 0.0), 60.0, dots).0;
        assert_eq!(place(&[(40.0, 1.0), (80.0, 1.0)]), 170.0);
        assert_eq!(place(&[(140.0, 1.0), (180.0, 1.0)]), 30.0);
        // Where there is no room, it is in the middle.
        assert_eq!(clearest((0.0, 0.0), (40.0, 0.0), 60.0, &[]).0, 20.0);
    }

    #[test]
    fn many_names_are_shortened() {
        assert_eq!(together(&["a", "b"]), "a; b");
        assert_eq!(together(&["a", "b", "c", "d", "e", "f"]), "a; b; c; d; and 2 more");
    }
}
