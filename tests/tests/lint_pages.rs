//! The pages of the lints are true: the lint fires on the page's example, and no longer on the fix.

use warpwright_codegen::diagnostic::{Diagnostics, Level};
use warpwright_codegen::hir::declared_instances;
use warpwright_codegen::syntax::{GenericValue, Instance, KernelAttributes, Program, Unit};
use warpwright_review::lint::{LINTS, Lint};
use warpwright_review::{ReviewScope, review};

/// The Rust blocks of a section of a page.
fn blocks<'p>(page: &'p str, section: &str) -> Vec<&'p str> {
    let Some((_, rest)) = page.split_once(&format!("\n## {section}\n")) else { return Vec::new() };
    let section = rest.split("\n## ").next().unwrap_or(rest);
    section.split("```rust\n").skip(1).filter_map(|block| block.split("```").next()).collect()
}

/// What is found in a text of whole kernels; generic ones without variants are looked at with every generic 8.
fn found(text: &str) -> Diagnostics {
    let mut program = Program::default();
    let unit = program.add(Unit::parse("page", 1, 1, text).unwrap_or_else(|found| panic!("{found:?}\n{text}")));
    let mut all = Diagnostics::new();
    for (path, item) in program.units[unit.0].kernels() {
        let mut instances = declared_instances(&program, unit, &path).unwrap_or_else(|found| panic!("{found:?}\n{text}"));
        if instances.is_empty() {
            let eight = || GenericValue::Const(warpwright_codegen::syntax::ConstValue::Index(8, false));
            instances.push(Instance { generics: item.sig.generics.params.iter().map(|_| eight()).collect() });
        }
        let attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).unwrap_or_default();
        let targets = attributes.targets_or(None);
        all.append(review(&program, unit, &path, &instances, ReviewScope { targets: &targets, findings: None, most: usize::MAX }, None));
    }
    all
}

fn finds(lint: &Lint, text: &str) -> bool {
    let found = found(text);
    let wrong = found.iter().find(|finding| finding.level == Level::Error);
    assert!(wrong.is_none(), "`{}`: {wrong:?}\n{text}", lint.name);
    found.iter().any(|finding| finding.lint == Some(lint.name))
}

#[test]
fn lints_fire_on_their_examples_and_not_on_the_fixes() {
    let mut wrong = Vec::new();
    for lint in LINTS {
        let (examples, fixes) = (blocks(lint.page, "Example"), blocks(lint.page, "Fix"));
        assert!(!examples.is_empty() && !fixes.is_empty(), "the page of `{}` has no example, or no fix", lint.name);
        wrong.extend(examples.iter().filter(|text| !finds(lint, text)).map(|text| format!("`{}` is silent on\n{text}", lint.name)));
        wrong.extend(fixes.iter().filter(|text| finds(lint, text)).map(|text| format!("`{}` fires on its fix,\n{text}", lint.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
