//! What is known of the quantities that `require(…)` bounds.

use super::{Figure, Open};
use crate::estimate::demand;
use crate::estimate::{Estimate, Known};
use warpwright_codegen::analysis::access::{AccessFact, Pattern, Range};
use warpwright_codegen::ir::{Loc, MemoryType, ObjectData, Space};
use warpwright_codegen::syntax::{Quantity, QuantityKind, Sense};

/// What is known of a quantity.
pub(super) fn figure(kind: QuantityKind, known: &Known, estimate: &Estimate) -> Result<Figure, Open> {
    match kind {
        QuantityKind::Occupancy => occupancy_figure(known, estimate),
        QuantityKind::Registers => Ok(registers(estimate)),
        QuantityKind::Shared => Ok(shared(known)),
        QuantityKind::BankConflicts => Ok(bank_conflicts(known)),
        QuantityKind::SectorsPerRequest => Ok(sectors_per_request(known)),
        QuantityKind::LocalBytes => Ok(local_bytes(known)),
    }
}

/// A distance to a bound in words: `8 too many`.
pub(super) fn distance(quantity: &Quantity, distance: f64) -> String {
    match quantity.sense {
        // The only such quantity is a share.
        Sense::AtLeast => format!("{} percent points short", number(distance * 100.0)),
        Sense::AtMost => format!("{} too many", number(distance)),
    }
}

/// At most one digit after the point, and none that is zero.
fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{rounded}")
}

/// `1 register`, `72 registers`.
fn count(n: f64, thing: &str) -> String {
    format!("{} {thing}{}", number(n), if n == 1.0 { "" } else { "s" })
}

fn occupancy_figure(known: &Known, estimate: &Estimate) -> Result<Figure, Open> {
    let Some(found) = &estimate.occupancy else {
        return Err(Open {
            reason: "the launch chooses the block".to_owned(),
            place: None,
            help: "fix the block size, for example `block = 256`".to_owned(),
        });
    };
    // With the most registers that are plausible there are the fewest warps.
    let share = |registers| {
        let found = demand::of_kernel(known.legal.for_target(estimate.target), registers, 0, estimate.target);
        found.map_or(0.0, |found| found.percent())
    };
    let (low, high) = (share(estimate.registers.high), share(estimate.registers.low));
    let limiters: Vec<String> = found.limiters().map(|resource| resource.to_string()).collect();
    let limit = if limiters.is_empty() { String::new() } else { format!(", limited by {}", limiters.join(" and ")) };
    let text = format!("{} % occupancy (estimated, {} to {} %){limit}", number(found.percent()), number(low), number(high));
    Ok(Figure { least: found.share(), most: found.share(), text, causes: Vec::new(), of_target: true })
}

/// Most places of the peak that are shown.
const MOST_PLACES: usize = 3;

fn registers(estimate: &Estimate) -> Figure {
    let found = &estimate.registers;
    let text = format!("{} (estimated, {} to {})", count(f64::from(found.estimate), "register"), found.low, found.high);
    let causes = found.peak.iter().take(MOST_PLACES).map(|loc| (*loc, "live where most registers are".to_owned())).collect();
    let value = f64::from(found.estimate);
    Figure { least: value, most: value, text, causes, of_target: true }
}

fn bytes(known: &Known, bytes: u64, space: Space, what: &str) -> Figure {
    let size = |object: &ObjectData| object.ty.size(&known.legal.structs);
    let largest = known.legal.objects.values().filter(|object| object.space() == space).max_by_key(|object| size(object));
    let causes = largest.map(|object| (object.loc, format!("`{}` takes {} bytes", object.name, size(object)))).into_iter().collect();
    let value = bytes as f64;
    Figure { least: value, most: value, text: format!("{} of {what} memory", count(value, "byte")), causes, of_target: false }
}

fn shared(known: &Known) -> Figure {
    let mut figure = bytes(known, known.facts.memory.shared, Space::Shared, "shared");
    let is_dynamic = |object: &&ObjectData| object.space() == Space::Shared && matches!(object.ty, MemoryType::Slice(_));
    if let Some(array) = known.legal.objects.values().find(is_dynamic) {
        // The launch adds to what is known.
        figure.most = f64::INFINITY;
        figure.text = format!("{}, and the bytes that the launch gives to `{}`", figure.text, array.name);
        figure.causes = vec![(array.loc, "its length is the launch's".to_owned())];
    }
    figure
}

fn local_bytes(known: &Known) -> Figure {
    bytes(known, known.facts.memory.local, Space::Local, "local")
}

fn bank_conflicts(known: &Known) -> Figure {
    let extra = |pattern: &Pattern| match pattern {
        Pattern::Shared { degree, .. } => Some(Range { least: degree.least.saturating_sub(1), most: degree.most.saturating_sub(1) }),
        _ => None,
    };
    worst(known, Space::Shared, "bank conflict", extra)
}

fn sectors_per_request(known: &Known) -> Figure {
    let sectors = |pattern: &Pattern| match pattern {
        Pattern::Global { sectors, .. } => Some(*sectors),
        _ => None,
    };
    worst(known, Space::Global, "sector", sectors)
}

/// The worst of all accesses to a space, but for those that only the elements left over make. One whose pattern is unknown leaves the most open.
fn worst(known: &Known, space: Space, thing: &str, figure: impl Fn(&Pattern) -> Option<Range>) -> Figure {
    let mut worst: Option<(&AccessFact, Range)> = None;
    let mut unknown: Option<&AccessFact> = None;
    for access in known.facts.accesses.iter().filter(|access| access.space == space && !access.is_rare) {
        match figure(&access.pattern) {
            None => unknown = unknown.or(Some(access)),
            Some(range) if worst.is_none_or(|(_, known)| (range.most, range.least) > (known.most, known.least)) => {
                worst = Some((access, range));
            }
            Some(_) => {}
        }
    }
    let name = |access: &AccessFact| known.legal.objects[access.object].name.clone();
    let (least, most) = worst.map_or((0, 0), |(_, range)| (range.least, range.most));
    let range = if least == most { String::new() } else { format!("{least} to ") };
    let mut text = format!("{range}{} at worst", count(f64::from(most), thing));
    let mut causes: Vec<(Loc, String)> =
        worst.map(|(access, _)| (access.loc, format!("this access to `{}`", name(access)))).into_iter().collect();
    let mut figure = Figure { least: f64::from(least), most: f64::from(most), text: String::new(), causes: Vec::new(), of_target: false };
    if let Some(access) = unknown {
        figure.most = f64::INFINITY;
        text = format!("{text} where it is known, and an access whose pattern is not");
        causes.insert(0, (access.loc, format!("how the lanes of a warp lie in `{}` is not known", name(access))));
    }
    Figure { text, causes, ..figure }
}
