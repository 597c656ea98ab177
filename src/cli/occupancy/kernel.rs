//! The occupancy of kernels: of every declared variant, or of the one that `-D` names, on every target.

use super::super::json::document;
use super::super::source::{InstanceError, Source, check_defines, split};
use super::super::style;
use super::super::table::{Cell, Heading, Table, variants};
use super::super::{Stop, print, targets};
use super::show::{headline, limiters};
use super::{Occupancy, json, plot};
use serde_json::{Value, json};
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};
use warpwright_codegen::syntax::{Instance, KernelAttributes, Setting};
use warpwright_codegen::target::Target;
use warpwright_codegen::target::limits::MOST_SHARED_BYTES;
use warpwright_codegen::target::occupancy::{self, impossible};
use warpwright_review::estimate::Launched;
use warpwright_review::estimate::demand::demand_of;
use warpwright_review::estimate::registers::Registers;
use warpwright_review::{ReviewScope, ReviewedVariant};

/// A variant on a target.
struct Row {
    kernel: String,
    variant: String,
    target: &'static Target,
    /// The estimate, unless the command line gives the figure.
    estimated: Option<Registers>,
    occupancy: occupancy::Occupancy,
}

impl Occupancy {
    pub(super) fn of_kernels(&self, file: &str) -> Result<(), Stop> {
        let asked = targets::named(&self.targets)?;
        let (path, chosen) = split(file);
        let source = Source::read(path, &self.define)?;
        let kernels = source.kernels(chosen)?;
        if kernels.is_empty() {
            return Err(source.no_kernels());
        }
        check_defines(&source.definable(&kernels), &self.define)?;
        let of_crate = targets::of_crate(path)?;
        let mut findings = source.check_syntax();
        let (mut rows, mut wrong) = (Vec::new(), Vec::new());
        for kernel in &kernels {
            let instances = match self.instances(&source, kernel) {
                Ok(instances) => instances,
                Err(InstanceError::Usage(message)) => {
                    wrong.push(message);
                    continue;
                }
                Err(InstanceError::Source(found)) => {
                    findings.add(found);
                    continue;
                }
            };
            let attributes =
                source.item(kernel).and_then(|item| KernelAttributes::find(&item.attrs, &mut Diagnostics::new())).unwrap_or_default();
            let targets = if asked.is_empty() { attributes.targets_or(of_crate.as_ref()) } else { asked.clone() };
            let targets = targets::with_figures(targets, kernel)?;
            let scope = ReviewScope { targets: &targets, findings: Some(Setting::Allow), most: usize::MAX };
            let look = |variant: &ReviewedVariant<'_>| {
                self.look(kernel, variant, &mut rows, &mut wrong);
                Vec::new()
            };
            let found = source.review(kernel, &instances, scope, (&mut |_, _| Launched::default(), look));
            // What lints find is `check`'s to say.
            findings.add(found.filter_map(|finding| is_error(&finding).then_some(finding)));
        }
        let found = findings.finish();
        if found.has_errors() {
            return Err(source.findings(&found));
        }
        if !wrong.is_empty() {
            wrong.dedup();
            return Err(Stop::usage(wrong.join("\nerror: ")));
        }
        if self.json { document(as_json(path, &rows)) } else { print(&as_text(&rows, self.plot)) }
    }

    /// The declared variants that the defines leave, else the one instance that they make.
    fn instances(&self, source: &Source, kernel: &str) -> Result<Vec<Instance>, InstanceError> {
        let generics = source.generics(kernel).map_err(InstanceError::Source)?;
        let mut left = source.declared_instances(kernel).map_err(InstanceError::Source)?;
        for (index, (name, _)) in generics.iter().enumerate() {
            let Some(define) = self.define.iter().find(|define| define.name == *name) else { continue };
            match source.parse_generic(kernel, name, &define.value) {
                Ok(value) => left.retain(|instance| instance.generics[index] == value),
                // `Source::instance` says what is wrong with it.
                Err(_) => left.clear(),
            }
        }
        if left.is_empty() { source.instance(kernel, &self.define).map(|instance| vec![instance]) } else { Ok(left) }
    }

    /// The rows of a variant.
    fn look(&self, kernel: &str, variant: &ReviewedVariant<'_>, rows: &mut Vec<Row>, wrong: &mut Vec<String>) {
        let known = variant.known;
        let block = match (known.legal.options.block, self.threads) {
            (Some(block), None) => block,
            (None, Some(threads)) => [threads, 1, 1],
            (Some([x, y, z]), Some(_)) => {
                wrong.push(format!("the attribute of `{kernel}` fixes its block, ({x}, {y}, {z}); leave out `--threads`"));
                return;
            }
            (None, None) => {
                wrong.push(format!("`{kernel}` leaves its block to the launch; give `--threads N`"));
                return;
            }
        };
        if self.shared > 0 && known.facts.memory.dynamic_shared_element.is_none() {
            wrong.push(format!("`{kernel}` has no dynamic shared memory; leave out `--shared`"));
            return;
        }
        for on in &known.targets {
            let registers = self.registers.unwrap_or(on.registers.estimate);
            let Some(demand) = demand_of(known.legal.for_target(on.target), registers, block, self.shared) else {
                wrong.push(format!("`--shared {}` is more shared memory than there is; give {MOST_SHARED_BYTES} or less", self.shared));
                return;
            };
            let options = self.options();
            wrong.extend(impossible(on.target.limits, &demand, &options).iter().map(ToString::to_string));
            rows.push(Row {
                kernel: kernel.to_owned(),
                variant: variant.words.to_owned(),
                target: on.target,
                estimated: self.registers.is_none().then(|| on.registers.clone()),
                occupancy: occupancy::occupancy(on.target.limits, &demand, &options),
            });
        }
    }
}

fn is_error(finding: &Diagnostic) -> bool {
    finding.level == Level::Error && finding.lint.is_none()
}

fn as_json(path: &str, rows: &[Row]) -> Value {
    let row = |row: &Row| {
        let estimated = row.estimated.as_ref();
        let registers = json!({
            "source": if estimated.is_some() { "estimated" } else { "given" },
            "registers": row.occupancy.demand.registers,
            "low": estimated.map(|found| found.low),
            "high": estimated.map(|found| found.high),
        });
        json!({
            "kernel": row.kernel,
            "variant": row.variant,
            "target": row.target.name,
            "registers": registers,
            "occupancy": json::of(&row.occupancy),
        })
    };
    json!({ "file": path, "variants": rows.iter().map(row).collect::<Vec<_>>() })
}

fn as_text(rows: &[Row], plots: bool) -> String {
    let mut text = String::new();
    for group in rows.chunk_by(|a, b| a.kernel == b.kernel) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("{}\n{}", group[0].kernel, table(group)));
        if plots {
            for row in group {
                let name = [row.variant.as_str(), row.target.name].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>();
                let title = format!("{}: {}", name.join(" on "), headline(&row.occupancy));
                text.push_str(&format!("\n{}\n\n{}", style::wrap(&title, 2, style::width()), plot::curves(&row.occupancy, style::width())));
            }
        }
    }
    text
}

fn table(rows: &[Row]) -> String {
    let kind = if rows[0].estimated.is_some() { "estimated" } else { "given" };
    let words: Vec<&str> = rows.iter().map(|row| row.variant.as_str()).collect();
    let (names, values) = variants(&words);
    let names = names.into_iter().map(Heading::figures);
    let figures = [
        Heading::figures("threads").rank(4),
        Heading::figures("registers").kind(kind),
        Heading::figures("shared").rank(4),
        Heading::figures("blocks").rank(2),
        Heading::figures("warps").rank(3),
        Heading::figures("occupancy").stays(),
        Heading::words("limited by").rank(1).rises(),
        Heading::words("step up").rank(5),
    ];
    let mut table = Table::new(names.chain([Heading::words("target").rises()]).chain(figures));
    for (row, values) in rows.iter().zip(values) {
        let found = &row.occupancy;
        let registers = match &row.estimated {
            Some(Registers { estimate, low, high, .. }) => {
                Cell::new(format!("{estimate} [{low}–{high}]")).brief(Some(estimate.to_string()))
            }
            None => Cell::new(found.demand.registers.to_string()),
        };
        let step = found.steps().first().map_or_else(|| "–".to_owned(), ToString::to_string);
        let cells = [
            Cell::new(row.target.name),
            Cell::new(found.demand.threads.to_string()),
            registers,
            Cell::new(format!("{} B", found.demand.shared)),
            Cell::new(found.blocks.to_string()),
            Cell::new(format!("{}/{}", found.warps, found.limits.warps)),
            Cell::new(format!("{} %", found.percent())),
            Cell::new(limiters(found)),
            Cell::new(step),
        ];
        table.row(values.into_iter().map(Cell::new).chain(cells));
    }
    table.print()
}
