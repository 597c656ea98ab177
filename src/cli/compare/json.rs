//! Everything as JSON. Fields keep their names and meanings from version to version; new ones may come. `docs/compare.md` lists them.

use super::Comparison;
use super::columns::{COLUMNS, Cell};
use super::pareto::front;
use super::variant::Variant;
use crate::cli::launch::Agreement;
use serde_json::{Map, Value as Json, json};

/// The version of what is printed: it changes where a field goes or comes to mean something else.
const VERSION: u32 = 1;

/// All comparisons of one run.
pub(super) fn all(comparisons: &[Comparison]) -> Json {
    json!({ "version": VERSION, "comparisons": comparisons.iter().map(one).collect::<Vec<_>>() })
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
    let compiled = match &variant.outcome {
        Ok(compiled) => compiled,
        Err(reason) => return json!({ "variant": variant.words, "error": reason }),
    };
    let on_target = |target: usize| {
        let mut figures = Map::new();
        for column in COLUMNS {
            let cell = Cell { compiled, target };
            let shown = (column.show)(cell);
            if shown.is_some() || (column.value)(cell).is_some() {
                let figure = json!({ "kind": column.kind.word(), "value": (column.value)(cell), "text": shown });
                figures.insert(column.title.replace([' ', '/'], "_").replace("___", "_"), figure);
            }
        }
        json!({ "target": comparison.targets[target].name, "pareto": fronts[target][n], "figures": figures })
    };
    let timed = compiled.timed.as_ref().map(|timed| {
        let agreement = match timed.agreement {
            Agreement::Same => json!("same"),
            Agreement::Close(far) => json!({ "close": far }),
            Agreement::Differs => json!("differs"),
        };
        let seconds: Vec<f64> = timed.times.iter().map(std::time::Duration::as_secs_f64).collect();
        json!({ "device": timed.device, "seconds": seconds, "results": agreement })
    });
    json!({
        "variant": variant.words,
        "targets": (0..comparison.targets.len()).map(on_target).collect::<Vec<_>>(),
        "timed": timed,
    })
}
