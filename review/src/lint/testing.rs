//! What a lint says of a source: for the lints' own tests.

use crate::estimate::Launched;
use crate::review::{ReviewScope, review_launched};
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics};
use warpwright_codegen::hir::declared_instances;
use warpwright_codegen::syntax::{KernelAttributes, Program, Unit};
use warpwright_codegen::target::Targets;

/// Message and help of everything that a lint finds in the kernels of a source, on the targets that they name, else on sm_80 and sm_90.
pub(super) fn found(lint: &str, source: &str) -> Vec<(String, String)> {
    found_at(lint, source).into_iter().map(|(_, message, help)| (message, help)).collect()
}

/// The same in a launch of so many blocks, if it is known.
pub(super) fn found_launched(lint: &str, source: &str, blocks: Option<u32>) -> Vec<(String, String)> {
    let found = of_lint(lint, source, blocks);
    found.into_iter().map(|finding| (finding.message, finding.help.unwrap_or_default())).collect()
}

/// The same, each after the text that it is anchored at.
pub(super) fn found_at(lint: &str, source: &str) -> Vec<(String, String, String)> {
    let text = |finding: Diagnostic| {
        let place = finding.span.source_text().unwrap_or_default();
        (place, finding.message, finding.help.unwrap_or_default())
    };
    of_lint(lint, source, None).into_iter().map(text).collect()
}

fn of_lint(lint: &str, source: &str, blocks: Option<u32>) -> Vec<Diagnostic> {
    let launched = Launched { grid: blocks.map(|blocks| [blocks, 1, 1]), ..Launched::default() };
    let mut program = Program::default();
    let unit = program.add(Unit::parse("kernel.rs", 1, 1, source).expect("the source parses"));
    let kernels: Vec<String> = program.units[unit.0].kernels().into_iter().map(|(path, _)| path).collect();
    let mut all = Vec::new();
    for path in kernels {
        let item = program.units[unit.0].kernel(&path).expect("the kernel is there");
        let attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).unwrap_or_default();
        let own: Vec<String> = attributes.targets.iter().map(ToString::to_string).collect();
        let names = if own.is_empty() { vec!["sm_80".to_owned(), "sm_90".to_owned()] } else { own };
        let targets = Targets::named(names.iter().map(String::as_str));
        let instances = declared_instances(&program, unit, &path).expect("the variants are known");
        let scope = ReviewScope { targets: &targets, findings: None, most: usize::MAX };
        let findings = review_launched(&program, unit, &path, &instances, scope, (&mut |_, _| launched.clone(), None));
        let errors: Vec<&String> = findings.iter().filter(|finding| finding.lint.is_none()).map(|finding| &finding.message).collect();
        assert!(errors.is_empty(), "{errors:?}");
        all.extend(findings.into_iter().filter(|finding| finding.lint == Some(lint)));
    }
    all
}

/// The labels of everything that a lint finds in the kernels of a source, on sm_80 and sm_90.
pub(super) fn found_labels(lint: &str, source: &str) -> Vec<String> {
    of_lint(lint, source, None).into_iter().flat_map(|finding| finding.labels).map(|(_, text)| text).collect()
}
