//! `constant_divergence`: lanes of a warp read different addresses of constant memory, which serves one at a time.

use super::uncoalesced_access::of_space;
use super::{Finding, Lint, Subject};
use crate::analysis::access::{AccessFact, Doubt, Pattern};
use crate::diagnostic::Level;
use crate::ir::{Kernel, ObjectData, ObjectKind, Space};
use std::collections::BTreeMap;

pub(super) const LINT: Lint = Lint {
    name: "constant_divergence",
    level: Some(Level::Warning),
    summary: "constant memory is indexed by the thread",
    page: include_str!("constant_divergence.md"),
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let kernel = &subject.known.legal;
    let mut worst: BTreeMap<u32, (&AccessFact, u32)> = BTreeMap::new();
    for fact in of_space(&subject.known.facts.accesses, Space::Constant) {
        let Pattern::Constant { addresses } = fact.pattern else { continue };
        if addresses.least < 2 || fact.doubt > Doubt::Limit || fact.is_rare {
            continue;
        }
        let slot = worst.entry(fact.loc.0).or_insert((fact, addresses.most));
        if addresses.most > slot.1 {
            *slot = (fact, addresses.most);
        }
    }
    for (fact, addresses) in worst.into_values() {
        let object = &kernel.objects[fact.object];
        findings.push(Finding {
            span: subject.span(fact.loc),
            message: format!(
                "a warp's load of {} reads {addresses} different addresses of constant memory, which serves them one after another",
                name(object)
            ),
            labels: vec![(subject.span(object.loc), format!("{} is in constant memory", name(object)))],
            help: help(kernel, fact),
        });
    }
}

/// A table has no name of its own here.
fn name(object: &ObjectData) -> String {
    if matches!(object.kind, ObjectKind::Table(_)) { "this table".to_owned() } else { format!("`{}`", object.name) }
}

fn help(kernel: &Kernel, fact: &AccessFact) -> String {
    let object = &kernel.objects[fact.object];
    match object.kind {
        ObjectKind::Table(_) => "copy the table to a `#[shared]` array at the kernel's begin, or take it as `&Global<…>`".to_owned(),
        _ => format!("take `{}` as `&Global<…>`, whose cache serves a warp at once, or copy it to a `#[shared]` array first", object.name),
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found;

    fn kernel(index: &str) -> String {
        format!(
            "#[kernel(block = (32, 4))] fn k(n: usize, c: &Constant<[f32; 256]>, y: &mut Global<f32>) {{ let i = global_id().x; let mut s = 0.0; for k in 0..64 {{ s += c[{index}]; }} y[i] = s; }}"
        )
    }

    #[test]
    fn indices_of_the_thread_are_found() {
        let says = found("constant_divergence", &kernel("thread_idx().x + k"));
        assert_eq!(says.len(), 1, "{says:?}");
        assert_eq!(says[0].0, "a warp's load of `c` reads 32 different addresses of constant memory, which serves them one after another");
        assert_eq!(found("constant_divergence", &kernel("k + (i / 8) % 4")).len(), 1);
        let table =
            "const T: [u32; 64] = [7; 64]; #[kernel(block = 64)] fn k(y: &mut Global<u32>) { y[global_id().x] = T[thread_idx().x]; }";
        let says = found("constant_divergence", table);
        assert!(says.len() == 1 && says[0].1.starts_with("copy the table to a `#[shared]` array"), "{says:?}");
    }

    #[test]
    fn broadcasts_are_not() {
        for index in ["k", "k + thread_idx().y", "n - 1", "block_idx().x + k", "i / 32 % 8"] {
            assert_eq!(found("constant_divergence", &kernel(index)), [], "{index}");
        }
    }
}
