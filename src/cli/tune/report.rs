//! What a tuning run says at its end.

use super::prune::{Fate, Plan, RULES};
use super::record::Record;
use crate::cli::compare::Variant;
use crate::cli::json::generics;
use crate::cli::style;
use crate::cli::table::{Cell, Heading, Table, variants as generics_of};
use crate::cli::units::{seconds, seconds_between};
use serde_json::{Value, json};
use std::fmt::Write;
use warpwright::Device;
use warpwright::tuned::MeasuredVariant;
use warpwright_codegen::target::Target;

/// Rows that are shown of a ranking.
const SHOWN: usize = 10;

/// What a run came to.
pub(super) struct Outcome<'o> {
    pub(super) file: &'o str,
    pub(super) kernel: &'o str,
    /// What was predicted for.
    pub(super) target: &'static Target,
    pub(super) variants: &'o [Variant],
    pub(super) plan: &'o Plan,
    /// What was measured, where something was.
    pub(super) measured: Option<(&'o Device, &'o Record)>,
}

impl Outcome<'_> {
    /// As people read it.
    pub(super) fn text(&self) -> String {
        let mut text = self.head();
        match self.measured {
            None => self.ranking(&mut text),
            Some((device, record)) => self.result(device, record, &mut text),
        }
        text
    }

    /// How many variants there are and what became of them.
    fn head(&self) -> String {
        let Outcome { file, kernel, variants, plan, .. } = self;
        let mut text = format!("{file}::{kernel}: {} variant{}\n", variants.len(), if variants.len() == 1 { "" } else { "s" });
        for (n, rule) in RULES.iter().enumerate() {
            let removed = plan.removed(n);
            if removed > 0 {
                let _ = writeln!(text, "  {removed:>4} {}", rule.reason);
                let first = variants.iter().zip(&plan.fates).find(|(_, fate)| **fate == Fate::Removed(n)).map(|(variant, _)| variant);
                if let Some((words, reason)) = first.and_then(|variant| Some((&variant.words, variant.outcome.as_ref().err()?))) {
                    let _ = writeln!(text, "{}", style::wrap(&format!("       {words}: {reason}"), 7, style::width()));
                }
            }
        }
        let open = plan.ranked.len();
        let measured = plan.ranked.iter().filter(|(n, _)| self.is_measured(*n)).count();
        let taken = if self.measured.is_some() { measured } else { plan.most.min(open) };
        if open > taken {
            let _ = writeln!(text, "  {:>4} are not measured", open - taken);
        }
        let share = taken as f64 / variants.len().max(1) as f64 * 100.0;
        let _ =
            writeln!(text, "  {taken:>4} are {}, {share:.0} % of all", if self.measured.is_some() { "measured" } else { "to be measured" });
        if let Some(kept) = self.measured.map(|(_, record)| record.kept).filter(|kept| *kept > 0) {
            let _ = writeln!(text, "  {kept:>4} were measured by an earlier run, which was interrupted or had other limits");
        }
        text
    }

    /// The ranking alone: nothing was measured.
    fn ranking(&self, text: &mut String) {
        let _ = writeln!(text, "\npredicted for {}, the best first:", self.target.name);
        let best = self.plan.ranked.first().map_or(1.0, |(_, best)| best.max(f64::MIN_POSITIVE));
        let shown: Vec<&(usize, f64)> = self.plan.ranked.iter().take(SHOWN).collect();
        let words: Vec<&str> = shown.iter().map(|(n, _)| self.variants[*n].words.as_str()).collect();
        let (names, values) = generics_of(&words);
        let mut table = Table::new(
            [Heading::figures("speed").second("predicted").stays()]
                .into_iter()
                .chain(names.into_iter().map(|name| Heading::figures(name).stays())),
        );
        for ((_, speed), values) in shown.into_iter().zip(values) {
            table.row([Cell::new(format!("{:.1} %", speed / best * 100.0))].into_iter().chain(values.into_iter().map(Cell::new)));
        }
        text.push_str(&table.print());
    }

    /// What was measured, and how far the prediction was off.
    fn result(&self, device: &Device, record: &Record, text: &mut String) {
        let Some(best) = record.best() else {
            let _ = writeln!(text, "\nno variant was measured");
            return;
        };
        let measured = record.fastest();
        let _ = writeln!(text, "\ntimed on {device}, {} runs each, median; predicted for {}:", best.runs, self.target.name);
        let shown: Vec<&MeasuredVariant> = measured.into_iter().take(SHOWN).collect();
        let words: Vec<&str> = shown.iter().map(|one| one.variant.as_str()).collect();
        let (names, values) = generics_of(&words);
        let headings = [Heading::figures("time").second("timed"), Heading::figures("against").second("the best")];
        let headings = headings.into_iter().chain(names.into_iter().map(|name| Heading::figures(name).stays()));
        let rank = [Heading::figures("predicted").second("to be number"), Heading::words("")];
        let mut table = Table::new(headings.chain(rank));
        for (one, values) in shown.into_iter().zip(values) {
            let rank = self.rank(one).map_or_else(|| "?".to_owned(), |rank| rank.to_string());
            let wrong = if one.differs { "OTHER RESULTS THAN THE FIRST" } else { "" };
            let is_best = one.variant == best.variant;
            let figures = [Cell::new(seconds(one.median)).best(is_best), Cell::new(format!("{:.3}×", one.median / best.median))];
            let values = values.into_iter().map(Cell::new);
            table.row(figures.into_iter().chain(values).chain([Cell::new(rank), Cell::new(wrong).style(style::WRONG)]));
        }
        text.push_str(&table.print());
        let _ = writeln!(text, "\nbest: {}, {}", self.name(best), seconds_between(best.median, best.least, best.most));
        if let Some(order) = self.order(record) {
            let _ = writeln!(text, "of the pairs that were measured, {:.0} % are in the order predicted", order * 100.0);
        }
    }

    /// As programs read it.
    pub(super) fn json(&self, out: Option<&std::path::Path>) -> Value {
        let Outcome { file, kernel, target, variants, plan, measured } = self;
        let removed = RULES.iter().enumerate().map(|(n, rule)| json!({ "reason": rule.reason, "count": plan.removed(n) }));
        let ranked = plan.ranked.iter().map(|(n, speed)| {
            let taken = self.is_measured(*n);
            json!({ "variant": variants[*n].words, "generics": generics(&variants[*n].values), "predicted": speed, "taken": taken })
        });
        let one = |one: &MeasuredVariant| {
            json!({
                "variant": one.variant,
                "seconds": one.median,
                "least": one.least,
                "most": one.most,
                "runs": one.runs,
                "differs": one.differs,
                "rank": self.rank(one),
            })
        };
        let record = measured.map(|(_, record)| record);
        json!({
            "file": file,
            "kernel": kernel,
            "target": target.name,
            "device": measured.map(|(device, _)| device.name()),
            "variants": variants.len(),
            "removed": removed.collect::<Vec<_>>(),
            "ranked": ranked.collect::<Vec<_>>(),
            "measured": record.map_or_else(Vec::new, |record| record.fastest().into_iter().map(one).collect()),
            "kept": record.map_or(0, |record| record.kept),
            "best": record.and_then(Record::best).map(|best| &best.variant),
            "in_order": record.and_then(|record| self.order(record)),
            "out": out,
        })
    }

    fn is_measured(&self, variant: usize) -> bool {
        self.measured.is_some_and(|(_, record)| record.get(&self.variants[variant]).is_some())
    }

    /// Its place in the ranking, from 1.
    fn rank(&self, measured: &MeasuredVariant) -> Option<usize> {
        self.plan.ranked.iter().position(|(n, _)| self.variants[*n].words == measured.variant).map(|rank| rank + 1)
    }

    /// The share of measured pairs that the prediction orders as the clock does; pairs within 1 % of each other count as either way.
    fn order(&self, record: &Record) -> Option<f64> {
        let timed = |(n, speed): &(usize, f64)| Some((*speed, record.get(&self.variants[*n])?.median));
        let times: Vec<(f64, f64)> = self.plan.ranked.iter().filter_map(timed).collect();
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

    fn name<'n>(&'n self, measured: &'n MeasuredVariant) -> &'n str {
        if measured.variant.is_empty() { self.kernel } else { &measured.variant }
    }
}
