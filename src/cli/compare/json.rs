//! Everything as JSON.

use super::Comparison;
use super::columns::{COLUMNS, Cell};
use super::device::Timed;
use super::pareto::front;
use super::variant::Variant;
use crate::cli::json::generics;
use crate::cli::launch::Agreement;
use serde_json::{Map, Value as Json, json};

/// All comparisons of one run.
pub(super) fn all(comparisons: &[Comparison]) -> Json {
    json!({ "comparisons": comparisons.iter().map(one).collect::<Vec<_>>() })
}

fn one(comparison: &Comparison) -> Json {
    let fronts: Vec<Vec<bool>> = (0..comparison.targets.len()).map(|target| front(&comparison.variants, target)).collect();
    let variants = comparison.variants.iter().enumerate().map(|(n, variant)| one_variant(comparison, &fronts, n, variant));
    json!({
        "file": comparison.file,
        "kernel": comparison.kernel,
        "targets": comparison.targets.iter().map(|target| target.name).collect::<Vec<_>>(),
        "variants": variants.collect::<Vec<_>>(),
        "notes": comparison.notes,
    })
}

fn one_variant(comparison: &Comparison, fronts: &[Vec<bool>], n: usize, variant: &Variant) -> Json {
    let on_target = |target: usize, compiled| {
        let mut figures = Map::new();
        for column in COLUMNS {
            let cell = Cell { compiled, target };
            let shown = column.text(cell);
            if shown.is_some() || (column.value)(cell).is_some() {
                let figure = json!({ "kind": column.kind.word(), "value": (column.value)(cell), "text": shown });
                figures.insert(column.title.replace([' ', '/'], "_").replace("___", "_"), figure);
            }
        }
        json!({ "target": comparison.targets[target].name, "pareto": fronts[target][n], "figures": figures })
    };
    let timed = |timed: &Timed| {
        let (results, difference) = match timed.agreement {
            Agreement::Same => ("same", Some(0.0)),
            Agreement::Close(far) => ("close", Some(far)),
            Agreement::Differs => ("differs", None),
        };
        let seconds: Vec<f64> = timed.times.iter().map(std::time::Duration::as_secs_f64).collect();
        let target = comparison.targets[timed.target].name;
        json!({ "device": timed.device, "target": target, "seconds": seconds, "results": results, "difference": difference })
    };
    let compiled = variant.compiled();
    let targets =
        compiled.map_or_else(Vec::new, |compiled| (0..comparison.targets.len()).map(|target| on_target(target, compiled)).collect());
    json!({
        "variant": variant.words,
        "generics": generics(&variant.values),
        "error": variant.outcome.as_ref().err(),
        "targets": targets,
        "timed": compiled.and_then(|compiled| compiled.timed.as_ref()).map(timed),
    })
}
