//! Occupancy as people read it.

use super::super::table::{Cell, Heading, Table};
use warpwright_codegen::target::occupancy::{Occupancy, Resource};

/// Everything about one demand.
pub(super) fn one(found: &Occupancy) -> String {
    let demand = &found.demand;
    let mut text = format!(
        "cc {}: {}, {}, {} of shared memory, {}\n{}\n\n",
        found.limits.name(),
        count(demand.threads, "thread"),
        count(demand.registers, "register"),
        count(demand.shared, "byte"),
        count(demand.barriers, "named barrier"),
        headline(found),
    );
    text.push_str(&limits(found));
    let (checked, most) = (found.launch_registers(), found.limits.registers_per_block);
    if checked > most {
        text.push_str(&format!("a launch is checked for {checked} registers of the block, and the most are {most}\n"));
    }
    text.push('\n');
    list(&mut text, "step up: ", found.steps().iter().map(ToString::to_string), "nothing holds more warps");
    if found.blocks == 0 {
        return text;
    }
    list(&mut text, "cliff:   ", found.cliffs().iter().map(ToString::to_string), "no resource by itself loses a block");
    text
}

/// `3 blocks, 24 of 64 warps: 37.5 %, limited by registers`.
pub(super) fn headline(found: &Occupancy) -> String {
    if found.blocks == 0 {
        return format!("no block fits, a launch would fail: limited by {}", limiters(found));
    }
    let (blocks, percent) = (count(found.blocks, "block"), found.percent());
    format!("{blocks}, {} of {} warps: {percent} %, limited by {}", found.warps, found.limits.warps, limiters(found))
}

/// `registers and shared memory`.
pub(super) fn limiters(found: &Occupancy) -> String {
    let names: Vec<String> = found.limiters().map(|resource| resource.to_string()).collect();
    match &names[..] {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// What each resource allows.
fn limits(found: &Occupancy) -> String {
    let figures = ["a block takes", "there are", "blocks"].map(|title| Heading::figures(title).stays());
    let mut table = Table::new([Heading::words("resource")].into_iter().chain(figures).chain([Heading::words("")]));
    for (resource, blocks) in found.allowed {
        let Some((taken, available)) = found.taken(resource) else { continue };
        if resource == Resource::Virtual && taken == 0 {
            continue;
        }
        let unit = if resource == Resource::Shared { " B" } else { "" };
        let blocks = blocks.map_or_else(|| "any".to_owned(), |blocks| blocks.to_string());
        let is_limit = found.limiters().any(|limiter| limiter == resource);
        let mark = if is_limit { "← limit" } else { "" };
        let row = [resource.to_string(), format!("{taken}{unit}"), format!("{available}{unit}"), blocks, mark.to_owned()];
        table.row(row.map(Cell::new));
    }
    table.print()
}

fn list(text: &mut String, title: &str, items: impl Iterator<Item = String>, none: &str) {
    let items: Vec<String> = items.collect();
    for (index, item) in items.iter().map(String::as_str).chain(items.is_empty().then_some(none)).enumerate() {
        text.push_str(if index == 0 { title } else { "         " });
        text.push_str(item);
        text.push('\n');
    }
}

/// `1 thread`, `2 threads`.
pub(super) fn count(n: u32, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}
