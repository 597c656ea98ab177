//! What a lint says of a source: for the lints' own tests.

use crate::hir::declared_instances;
use crate::review::{Scope, review};
use crate::syntax::{Program, Unit};
use crate::target::Target;

/// Message and help of everything that a lint finds in the kernels of a source.
pub(super) fn found(lint: &str, source: &str) -> Vec<(String, String)> {
    let mut program = Program::default();
    let unit = program.add(Unit::parse("kernel.rs", 1, 1, source).expect("the source parses"));
    let targets: Vec<&Target> = ["sm_80", "sm_90"].iter().map(|name| Target::find(name).expect("a target")).collect();
    let kernels: Vec<String> = program.units[unit.0].kernels().into_iter().map(|(path, _)| path).collect();
    let mut all = Vec::new();
    for path in kernels {
        let instances = declared_instances(&program, unit, &path).expect("the variants are known");
        let findings = review(&program, unit, &path, &instances, Scope { targets: &targets, most: 100 }, |_| {});
        let errors: Vec<&String> = findings.iter().filter(|finding| finding.lint.is_none()).map(|finding| &finding.message).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let own = findings.iter().filter(|finding| finding.lint == Some(lint));
        all.extend(own.map(|finding| (finding.message.clone(), finding.help.clone().unwrap_or_default())));
    }
    all
}
