//! The pages of the lints are true: the lint fires on the page's example, and no longer on the fix.

use proc_macro2::Span;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};
use warpwright_codegen::hir::declared_instances;
use warpwright_codegen::syntax::{GenericValue, Instance, KernelAttributes, Program, Unit};
use warpwright_codegen::target::Target;
use warpwright_review::estimate::Launched;
use warpwright_review::lint::register_banks::{self, Waiting};
use warpwright_review::lint::undone_by_assembler::{Undone, finding};
use warpwright_review::lint::{LINTS, Lint};
use warpwright_review::{ReviewScope, ReviewedVariant, review_launched};
use warpwright_runtime::issue_order::IssueOrder;
use warpwright_runtime::nvdisasm::Nvdisasm;
use warpwright_runtime::operand_reads::OperandReads;
use warpwright_tests::ptxas;

/// The Rust blocks of a section of a page.
fn blocks<'p>(page: &'p str, section: &str) -> Vec<&'p str> {
    let Some((_, rest)) = page.split_once(&format!("\n## {section}\n")) else { return Vec::new() };
    let section = rest.split("\n## ").next().unwrap_or(rest);
    section.split("```rust\n").skip(1).filter_map(|block| block.split("```").next()).collect()
}

/// The launch that a first line asks about: `// warpwright check tiles.rs --grid 352`.
fn grid(text: &str) -> Option<[u32; 3]> {
    let line = text.lines().next().filter(|line| line.starts_with("// warpwright check"))?;
    let blocks = line.split_once("--grid ").map(|(_, blocks)| blocks.trim().parse().expect("a number of blocks"))?;
    Some([blocks, 1, 1])
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
        let scope = ReviewScope { targets: &targets, findings: None, most: usize::MAX };
        let launched = Launched { grid: grid(text), ..Launched::default() };
        all.append(review_launched(&program, unit, &path, &instances, scope, (&mut |_, _| launched.clone(), Some(&mut undone))));
    }
    all
}

/// What the newest assembler undoes, if there is one, as the command says it.
fn undone(variant: &ReviewedVariant<'_>) -> Vec<Diagnostic> {
    let judge = ptxas::newest().and_then(|ptxas| Nvdisasm::find(&ptxas).map(|nvdisasm| (ptxas, nvdisasm)));
    let Some((ptxas, nvdisasm)) = judge else { return Vec::new() };
    let target = Target::find("sm_90").expect("a target");
    let module = variant.lowered.ptx(target).unwrap_or_else(|found| panic!("{found:?}"));
    let found = ptxas.issue_order(&nvdisasm, &module, target.capability).unwrap_or_else(|error| panic!("{error}"));
    let reads = ptxas.operand_reads(&nvdisasm, &module, target.capability).unwrap_or_else(|error| panic!("{error}"));
    let waiting = reads.iter().filter_map(|reads| {
        let OperandReads { products, of_three, waits, .. } = *reads;
        register_banks::finding(Waiting { by: "ptxas", products, of_three, waits }, Span::call_site())
    });
    let lost = found.iter().filter(|order| !order.measured.is_kept());
    let figures = |order: &IssueOrder| order.measured.sentence();
    lost.map(|order| {
        finding(
            Undone { annotation: order.annotation, by: "ptxas", figures: &figures(order) },
            &variant.lowered.kernel.legal().options,
            Span::call_site(),
        )
    })
    .chain(waiting)
    .collect()
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
    // What only an assembler shows.
    let has_judge = ptxas::newest().is_some_and(|ptxas| Nvdisasm::find(&ptxas).is_some());
    if !has_judge {
        println!("skipped: lints_fire_on_their_examples_and_not_on_the_fixes (no ptxas with nvdisasm)");
    }
    for lint in LINTS.iter().filter(|lint| has_judge || !["undone_by_assembler", "register_banks"].contains(&lint.name)) {
        let (examples, fixes) = (blocks(lint.page, "Example"), blocks(lint.page, "Fix"));
        assert!(!examples.is_empty() && !fixes.is_empty(), "the page of `{}` has no example, or no fix", lint.name);
        wrong.extend(examples.iter().filter(|text| !finds(lint, text)).map(|text| format!("`{}` is silent on\n{text}", lint.name)));
        wrong.extend(fixes.iter().filter(|text| finds(lint, text)).map(|text| format!("`{}` fires on its fix,\n{text}", lint.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
