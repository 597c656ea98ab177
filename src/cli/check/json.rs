//! Findings and figures as programs read them.

use super::{Checked, CheckedFile, How, Row};
use serde_json::{Value, json};
use warpwright::issue_order::{IssueOrder, Issued};
use warpwright::operand_reads::OperandReads;
use warpwright::ptxas::Ptxas;
use warpwright_codegen::analysis::access::{AccessKind, Divergence, Pattern, Range};
use warpwright_codegen::diagnostic::{Diagnostic, Level};
use warpwright_codegen::syntax::SourcePlace;
use warpwright_codegen::target::{OPENCL, occupancy::Resource};
use warpwright_review::report::AccessReport;

/// The whole output.
pub(super) fn all(files: Vec<Value>, ptxas: Option<&Ptxas>) -> Value {
    json!({ "ptxas": ptxas.map(|ptxas| &ptxas.release), "files": files })
}

/// One file.
pub(super) fn file(file: &CheckedFile<'_>) -> Value {
    let findings: Vec<Value> = file.findings.iter().map(|found| finding(file, found)).collect();
    let kernels: Vec<Value> = file.kernels.iter().map(kernel).collect();
    json!({ "file": file.path, "findings": findings, "kernels": kernels })
}

fn finding(file: &CheckedFile<'_>, finding: &Diagnostic) -> Value {
    let place = |span| file.source.place(span).map(|place| at(&place));
    let labels: Vec<Value> = finding.labels.iter().map(|(span, text)| json!({ "place": place(*span), "text": text })).collect();
    json!({
        "level": if finding.level == Level::Error { "error" } else { "warning" },
        "lint": finding.lint,
        "message": finding.message,
        "place": place(finding.span),
        "labels": labels,
        "help": finding.help,
    })
}

fn kernel(checked: &Checked) -> Value {
    let reports: Vec<Value> = checked.reports.iter().map(row).collect();
    let instances = match checked.how {
        How::Instances(count) => Some(count),
        How::Open | How::Unchecked => None,
    };
    json!({ "kernel": checked.kernel, "instances": instances, "opencl": checked.families.contains(&&OPENCL), "reports": reports })
}

fn row(row: &Row) -> Value {
    let report = &row.estimated;
    let registers = &report.registers;
    let measured = row.measured.map(|measured| {
        json!({
            "registers": measured.registers,
            "spill_stores": measured.spill_stores,
            "spill_loads": measured.spill_loads,
            "stack": measured.stack,
            "shared": measured.shared,
            "barriers": measured.barriers,
            "serialized": measured.serialized,
        })
    });
    let occupancy = report.occupancy.as_ref().map(|found| {
        json!({
            "occupancy": found.share(),
            "blocks_per_sm": found.blocks,
            "warps_per_sm": found.warps,
            "limiters": found.limiters().map(Resource::key).collect::<Vec<_>>(),
            "next_step": found.steps().iter().map(ToString::to_string).collect::<Vec<_>>(),
            "next_cliff": found.cliffs().iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    });
    let clusters =
        report.clusters.map(|found| json!({ "blocks": found.size, "least": found.least, "most": found.most, "device": found.device }));
    let prediction = report.prediction.as_ref().map(|found| {
        json!({
            "device": found.device,
            "bound": found.bound.word(),
            "bandwidth": found.bandwidth,
            "share_of_peak": found.share_of_peak,
            "operations": found.operations,
            "loads_in_flight": found.loads_in_flight,
            "bytes_in_flight": found.bytes_in_flight,
            "bytes_needed": found.bytes_needed,
            "warps": found.warps,
            "warps_needed": found.warps_needed,
            "exact": found.is_exact(),
        })
    });
    let branches: Vec<Value> =
        report.branches.iter().map(|branch| json!({ "place": at(&branch.place), "divergence": divergence(branch.divergence) })).collect();
    json!({
        "variant": report.variant,
        "target": report.target.name,
        "estimated": {
            "registers": {
                "estimate": registers.estimate,
                "low": registers.low,
                "high": registers.high,
                "needed": registers.needed,
                "peak": report.peak.iter().map(at).collect::<Vec<_>>(),
            },
            "memory": {
                "shared": report.memory.shared,
                "dynamic_shared": report.memory.dynamic_shared_element.is_some(),
                "constant": report.memory.constant,
                "local": report.memory.local,
            },
            "occupancy": occupancy,
            "clusters": clusters,
            "sectors_per_request": report.sectors_per_request().map(range),
            "bank_conflicts": report.bank_conflicts().map(range),
            "accesses": report.accesses.iter().map(access).collect::<Vec<_>>(),
            "branches": branches,
            "instructions": report.instructions,
            "intensity": report.intensity,
            "prediction": prediction,
        },
        "measured": measured,
        "issue_order": row.order.iter().map(issue_order).collect::<Vec<_>>(),
        "operand_reads": row.reads.iter().map(operand_reads).collect::<Vec<_>>(),
        "not_measured": row.not_measured.as_ref().map(ToString::to_string),
    })
}

fn issue_order(order: &IssueOrder) -> Value {
    let (measure, promised, found) = match order.measured {
        Issued::Together { promised, found } => ("together", promised, found),
        Issued::Ahead { promised, found } => ("ahead", promised, found),
        Issued::Apart { promised, found } => ("instructions_ahead", promised, found),
    };
    json!({ "annotation": order.annotation, "measure": measure, "promised": promised, "found": found, "kept": order.measured.is_kept() })
}

fn operand_reads(reads: &OperandReads) -> Value {
    let [_, line, column] = reads.place;
    json!({ "line": line, "column": column, "products": reads.products, "of_three": reads.of_three, "waits": reads.waits })
}

fn access(access: &AccessReport) -> Value {
    let pattern = match &access.pattern {
        Pattern::Unknown => Value::Null,
        Pattern::Global { sectors, bytes, stride, step } => {
            json!({ "sectors": range(*sectors), "bytes": range(*bytes), "stride": stride, "step": step })
        }
        Pattern::Shared { degree, stride } => json!({ "degree": range(*degree), "stride": stride }),
        Pattern::Constant { addresses } => json!({ "addresses": range(*addresses) }),
    };
    json!({
        "place": at(&access.place),
        "object": access.object,
        "space": access.space.to_string(),
        "kind": match access.kind {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Atomic => "atomic",
        },
        "bytes": access.bytes,
        "rare": access.is_rare,
        "pattern": pattern,
    })
}

fn at(place: &SourcePlace) -> Value {
    json!({ "file": place.file, "line": place.line, "column": place.column })
}

fn range(range: Range) -> Value {
    json!({ "least": range.least, "most": range.most })
}

fn divergence(divergence: Divergence) -> &'static str {
    match divergence {
        Divergence::Uniform => "uniform",
        Divergence::Boundary => "boundary",
        Divergence::Splits => "splits",
        Divergence::Unknown => "unknown",
    }
}
