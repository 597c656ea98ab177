//! The quantities that contracts can be about.

use super::{Figure, Open, Quantity, Sense};
use crate::analysis::access::{AccessFact, Pattern, Range};
use crate::estimate::occupancy;
use crate::estimate::{Estimate, Known};
use crate::ir::{Loc, MemoryType, ObjectData, Space};

/// Every quantity, in the order of LANGUAGE §8.
pub const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "occupancy",
        summary: "resident warps of a multiprocessor as a share of the most it can hold, by the estimated registers",
        sense: Sense::AtLeast,
        example: "occupancy >= 0.5",
        help: "lower `ilp` or `max_registers`, use less shared memory, choose another `block`, or ask for less",
        figure: occupancy_figure,
        distance: |share| format!("{} percent points short", number(share * 100.0)),
    },
    &Quantity {
        name: "registers",
        summary: "registers of a thread, estimated",
        sense: Sense::AtMost,
        example: "registers <= 64",
        help: "lower `ilp` or the unrolling, set `max_registers`, or allow more",
        figure: registers,
        distance: too_many,
    },
    &Quantity {
        name: "shared",
        summary: "bytes of shared memory of a block, padding included",
        sense: Sense::AtMost,
        example: "shared <= 16384",
        help: "make the array smaller, or allow more",
        figure: shared,
        distance: too_many,
    },
    &Quantity {
        name: "bank_conflicts",
        summary: "passes of a warp's worst access to shared memory beyond those it needs",
        sense: Sense::AtMost,
        example: "bank_conflicts == 0",
        help: "keep the rows apart with `#[shared(pad = 1)]` or `#[shared(swizzle)]`, or allow more",
        figure: bank_conflicts,
        distance: too_many,
    },
    &Quantity {
        name: "sectors_per_request",
        summary: "32-byte sectors that a warp's worst access to global memory fetches",
        sense: Sense::AtMost,
        example: "sectors_per_request <= 4",
        help: "let neighbouring threads touch neighbouring elements, or allow more",
        figure: sectors_per_request,
        distance: too_many,
    },
    &Quantity {
        name: "local_bytes",
        summary: "bytes of a thread's arrays that live in local memory",
        sense: Sense::AtMost,
        example: "local_bytes == 0",
        help: "unroll the loops whose counters index the array with `#[unroll]`, or allow more",
        figure: local_bytes,
        distance: too_many,
    },
];

fn too_many(n: f64) -> String {
    format!("{} too many", number(n))
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
            help: "fix the block: `block = 256`, say".to_owned(),
        });
    };
    // With the most registers that are plausible there are the fewest warps.
    let share = |registers| {
        let found = occupancy::of_kernel(&known.legal, &known.facts, registers, 0, estimate.target);
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

fn registers(_: &Known, estimate: &Estimate) -> Result<Figure, Open> {
    let found = &estimate.registers;
    let text = format!("{} (estimated, {} to {})", count(f64::from(found.estimate), "register"), found.low, found.high);
    let causes = found.peak.iter().take(MOST_PLACES).map(|loc| (*loc, "live where most registers are".to_owned())).collect();
    let value = f64::from(found.estimate);
    Ok(Figure { least: value, most: value, text, causes, of_target: true })
}

fn bytes(known: &Known, bytes: u64, space: Space, what: &str) -> Figure {
    let size = |object: &ObjectData| object.ty.size(&known.legal.structs);
    let largest = known.legal.objects.values().filter(|object| object.space() == space).max_by_key(|object| size(object));
    let causes = largest.map(|object| (object.loc, format!("`{}` takes {} bytes", object.name, size(object)))).into_iter().collect();
    let value = bytes as f64;
    Figure { least: value, most: value, text: format!("{} of {what} memory", count(value, "byte")), causes, of_target: false }
}

fn shared(known: &Known, _: &Estimate) -> Result<Figure, Open> {
    let mut figure = bytes(known, known.facts.memory.shared, Space::Shared, "shared");
    let is_dynamic = |object: &&ObjectData| object.space() == Space::Shared && matches!(object.ty, MemoryType::Slice(_));
    if let Some(array) = known.legal.objects.values().find(is_dynamic) {
        // The launch adds to what is known.
        figure.most = f64::INFINITY;
        figure.text = format!("{}, and what the launch gives to `{}`", figure.text, array.name);
        figure.causes = vec![(array.loc, "its length is the launch's".to_owned())];
    }
    Ok(figure)
}

fn local_bytes(known: &Known, _: &Estimate) -> Result<Figure, Open> {
    Ok(bytes(known, known.facts.memory.local, Space::Local, "local"))
}

fn bank_conflicts(known: &Known, _: &Estimate) -> Result<Figure, Open> {
    let extra = |pattern: &Pattern| match pattern {
        Pattern::Shared { degree, .. } => Some(Range { least: degree.least.saturating_sub(1), most: degree.most.saturating_sub(1) }),
        _ => None,
    };
    worst(known, Space::Shared, "bank conflict", extra)
}

fn sectors_per_request(known: &Known, _: &Estimate) -> Result<Figure, Open> {
    let sectors = |pattern: &Pattern| match pattern {
        Pattern::Global { sectors, .. } => Some(*sectors),
        _ => None,
    };
    worst(known, Space::Global, "sector", sectors)
}

/// The worst of all accesses to a space, but for those that only the elements left over make. One whose pattern is unknown leaves the most open.
fn worst(known: &Known, space: Space, thing: &str, figure: impl Fn(&Pattern) -> Option<Range>) -> Result<Figure, Open> {
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
    Ok(Figure { text, causes, ..figure })
}
