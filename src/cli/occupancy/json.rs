//! Occupancy as programs read it.

use serde_json::{Map, Value, json};
use warpwright_codegen::target::occupancy::{CachePreference, Occupancy, OccupancyStep, Resource};

/// One demand and what comes of it.
pub(super) fn of(found: &Occupancy) -> Value {
    let demand = &found.demand;
    let limits: Vec<Value> = found.allowed.iter().filter_map(|(resource, blocks)| limit(found, *resource, *blocks)).collect();
    let limiters: Vec<&str> = found.limiters().map(Resource::key).collect();
    json!({
        "capability": found.limits.name(),
        "demand": {
            "threads": demand.threads,
            "registers": demand.registers,
            "shared": demand.shared,
            "barriers": demand.barriers,
        },
        "options": { "carve_out": carve_out(found.options.cache), "opt_in": found.options.opt_in },
        "blocks_per_sm": found.blocks,
        "warps_per_sm": found.warps,
        "max_warps_per_sm": found.limits.warps,
        "occupancy": found.share(),
        "limiters": limiters,
        "limits": limits,
        "next_step": found.steps().iter().map(step).collect::<Vec<_>>(),
        "next_cliff": found.cliffs().iter().map(step).collect::<Vec<_>>(),
    })
}

fn limit(found: &Occupancy, resource: Resource, blocks: Option<u32>) -> Option<Value> {
    let (taken, available) = found.taken(resource)?;
    Some(json!({ "resource": resource.key(), "per_block": taken, "per_sm": available, "blocks": blocks }))
}

fn step(step: &OccupancyStep) -> Value {
    let figure = |(resource, figure): &(Resource, u32)| {
        let key = match resource {
            Resource::Warps | Resource::Blocks => "threads",
            _ => resource.key(),
        };
        (key.to_owned(), json!(figure))
    };
    json!({
        "at": step.changes.iter().map(figure).collect::<Map<_, _>>(),
        "blocks_per_sm": step.occupancy.blocks,
        "warps_per_sm": step.occupancy.warps,
        "occupancy": step.occupancy.share(),
    })
}

fn carve_out(preference: CachePreference) -> Value {
    match preference {
        CachePreference::Default => json!("default"),
        CachePreference::Cache => json!("cache"),
        CachePreference::Equal => json!("equal"),
        CachePreference::Shared => json!("shared"),
        CachePreference::Percent(percent) => json!(percent),
    }
}
