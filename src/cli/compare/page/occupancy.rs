//! The occupancy of a variant: limits and which binds, curves with where it is, what the next step is.

use super::super::columns::Cell;
use super::cells;
use super::scale::{Scale, place};
use serde_json::{Value as Json, json};
use warpwright_codegen::target::occupancy::{Occupancy, OccupancyStep, Resource, occupancy};

/// `65,536`.
fn grouped(figure: u32) -> String {
    cells::grouped(u64::from(figure))
}

/// The drawing of a curve, and its margins.
const SIZE: (f64, f64) = (200.0, 106.0);
const LEFT: f64 = 36.0;
const RIGHT: f64 = 194.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 88.0;

/// Everything about it.
pub(super) fn panel(cell: Cell<'_>) -> Json {
    let estimate = &cell.compiled.known.targets[cell.target];
    let Some(found) = &estimate.occupancy else { return json!({ "is_known": false }) };
    let measured = cell.compiled.measured[cell.target].map(|measured| {
        let with = occupancy(found.limits, &found.demand.with(Resource::Registers, measured.registers), &found.options);
        (measured.registers, with)
    });
    let limiters: Vec<String> = found.limiters().map(|resource| resource.to_string()).collect();
    let steps = found.steps();
    let cliffs = found.cliffs();
    let rows = Resource::ALL.iter().zip(found.allowed).filter_map(|(resource, (_, allows))| {
        let (takes, has) = found.taken(*resource)?;
        let share = f64::from(takes) * f64::from(found.blocks) / f64::from(has.max(1)) * 100.0;
        Some(json!({
            "resource": resource.to_string(),
            "takes": grouped(takes),
            "has": grouped(has),
            "allows": allows,
            "is_binding": allows == Some(found.blocks),
            "share": place(share.min(100.0)),
        }))
    });
    let units = [
        (Resource::Warps, "threads of a block"),
        (Resource::Registers, "registers of a thread"),
        (Resource::Shared, "bytes of shared memory of a block"),
    ];
    json!({
        "is_known": true,
        "target": estimate.target.name,
        "blocks": found.blocks,
        "threads": found.demand.threads,
        "warps": found.warps,
        "most_warps": found.limits.warps,
        "percent": place(found.percent()),
        "limiters": limiters.join(", "),
        "measured": measured.as_ref().map(|(registers, with)| json!({ "registers": registers, "percent": place(with.percent()) })),
        "rows": rows.collect::<Vec<_>>(),
        "steps": steps.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "cliffs": cliffs.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "width": SIZE.0, "height": SIZE.1, "left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM, "middle": (TOP + BOTTOM) / 2.0,
        "curves": units.iter().map(|(resource, unit)| curve(found, *resource, unit, [&steps, &cliffs])).collect::<Vec<_>>(),
    })
}

/// A curve over one resource. Less of it never holds less, so that a point stands for all figures since the one before it.
fn curve(found: &Occupancy, resource: Resource, unit: &str, [steps, cliffs]: [&[OccupancyStep]; 2]) -> Json {
    let points = found.curve(resource);
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Json::Null };
    let x = Scale::even((f64::from(first.figure), f64::from(last.figure)), (LEFT, RIGHT));
    let y = Scale::even((0.0, f64::from(found.limits.warps)), (BOTTOM, TOP));
    let at = |figure: u32| place(x.at(f64::from(figure.clamp(first.figure, last.figure))));
    let height = |warps: u32| place(y.at(f64::from(warps)));
    let mut path = format!("M{} {}", at(first.figure), height(first.warps));
    for pair in points.windows(2) {
        if pair[0].warps != pair[1].warps {
            path.push_str(&format!("H{}V{}", at(pair[0].figure), height(pair[1].warps)));
        }
    }
    path.push_str(&format!("H{RIGHT}"));
    // Block sizes are told of by warps where they shrink and by blocks where they grow.
    let is_of = |changed: Resource| changed == resource || (resource == Resource::Warps && changed == Resource::Blocks);
    let mark = |step: &OccupancyStep| match step.changes[..] {
        [(changed, figure)] if is_of(changed) => {
            Some(json!({ "x": at(figure), "y": height(step.occupancy.warps), "text": step.to_string() }))
        }
        _ => None,
    };
    let present = found.demand.figure(resource);
    json!({
        "unit": unit,
        "path": path,
        "first": grouped(first.figure),
        "last": grouped(last.figure),
        "x": at(present),
        "y": height(found.warps),
        "here": grouped(present),
        "steps": steps.iter().filter_map(mark).collect::<Vec<_>>(),
        "cliffs": cliffs.iter().filter_map(mark).collect::<Vec<_>>(),
    })
}
