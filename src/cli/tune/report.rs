//! What a tuning run says at its end.

use super::prune::{Fate, Plan, RULES};
use super::record::{About, Measured, Record};
use crate::cli::compare::Variant;
use crate::cli::units::{seconds, seconds_between};
use std::fmt::Write;
use warpwright_codegen::target::Target;

/// Rows that are shown of a ranking.
const SHOWN: usize = 10;

/// The ranking alone: nothing was measured.
pub(super) fn ranking(file: &str, kernel: &str, target: &Target, variants: &[Variant], plan: &Plan) -> String {
    let mut text = head(file, kernel, variants, plan);
    let _ = writeln!(text, "\npredicted for {}, the best first:", target.name);
    for (n, speed) in plan.ranked.iter().take(SHOWN) {
        let share = speed / plan.ranked.first().map_or(1.0, |(_, best)| best.max(f64::MIN_POSITIVE)) * 100.0;
        let _ = writeln!(text, "  {share:>5.1} %  {}", name(kernel, &variants[*n].words));
    }
    text
}

/// How many variants there are and what became of them.
fn head(file: &str, kernel: &str, variants: &[Variant], plan: &Plan) -> String {
    let mut text = format!("{file}::{kernel}: {} variants\n", variants.len());
    for (n, rule) in RULES.iter().enumerate() {
        let removed = plan.removed(n);
        if removed > 0 {
            let _ = writeln!(text, "  {removed:>4} {}", rule.reason);
        }
    }
    let out_of_reach = plan.fates.iter().filter(|fate| **fate == Fate::OutOfReach).count();
    if out_of_reach > 0 {
        let _ = writeln!(text, "  {out_of_reach:>4} are predicted to be slower than those taken");
    }
    let share = plan.measured() as f64 / variants.len().max(1) as f64 * 100.0;
    let _ = writeln!(text, "  {:>4} are taken, {share:.0} % of all", plan.measured());
    text
}

/// What was measured, and how far the prediction was off.
pub(super) fn result(about: &About<'_>, variants: &[Variant], plan: &Plan, record: &Record) -> String {
    let About { file, kernel, device, target, .. } = *about;
    let mut text = head(file, kernel, variants, plan);
    if record.kept > 0 {
        let _ = writeln!(text, "  {:>4} were measured by an earlier run, which was interrupted or had other limits", record.kept);
    }
    let mut measured: Vec<&Measured> = record.measured.iter().collect();
    measured.sort_by(|a, b| a.median.total_cmp(&b.median));
    let Some(best) = record.best() else {
        let _ = writeln!(text, "\nno variant was measured");
        return text;
    };
    let _ = writeln!(text, "\ntimed on {device}, {} runs each, median; predicted for {}:", best.runs, target.name);
    for one in measured.iter().take(SHOWN) {
        let rank = plan.ranked.iter().position(|(n, _)| variants[*n].words == one.variant);
        let rank = rank.map_or(String::new(), |rank| format!(", predicted to be number {}", rank + 1));
        let wrong = if one.differs { ", OTHER RESULTS THAN THE FIRST" } else { "" };
        let _ =
            writeln!(text, "  {:>10} {:>6.3}×  {}{rank}{wrong}", seconds(one.median), one.median / best.median, name(kernel, &one.variant));
    }
    let _ = writeln!(text, "\nbest: {}, {}", name(kernel, &best.variant), seconds_between(best.median, best.least, best.most));
    if let Some(order) = order(variants, plan, record) {
        let _ = writeln!(text, "of the pairs that were measured, {:.0} % are in the order predicted", order * 100.0);
    }
    text
}

/// The share of measured pairs that the prediction orders as the clock does; pairs within 1 % of each other count as either way.
fn order(variants: &[Variant], plan: &Plan, record: &Record) -> Option<f64> {
    let times: Vec<(f64, f64)> = plan.ranked.iter().filter_map(|(n, speed)| Some((*speed, record.get(&variants[*n])?.median))).collect();
    let (mut right, mut all) = (0usize, 0usize);
    for (n, a) in times.iter().enumerate() {
        for b in &times[n + 1..] {
            let is_tie = (a.1 - b.1).abs() <= 0.01 * a.1.min(b.1);
            all += 1;
            right += usize::from(is_tie || (a.0 >= b.0) == (a.1 <= b.1));
        }
    }
    (all > 0).then(|| right as f64 / all as f64)
}

fn name<'n>(kernel: &'n str, words: &'n str) -> &'n str {
    if words.is_empty() { kernel } else { words }
}
