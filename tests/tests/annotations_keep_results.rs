//! Annotations never change what a kernel computes: random kernels as people write them, as text, with all their annotations and
//! without, on the simulator, bit for bit.
//!
//! Every kernel is compiled three times: stripped of its annotations; as drawn, where the compiler may refuse, with a finding at a place
//! and a way out; and with `best_effort` on each, where it must not. A failure prints the seed and the smallest kernel that still fails.
//! `WARPWRIGHT_ANNOTATION_SEED` and `WARPWRIGHT_ANNOTATION_KERNELS` ask for others and for more.

#[path = "annotations_keep_results/annotate.rs"]
mod annotate;
#[path = "annotations_keep_results/expression.rs"]
mod expression;
#[path = "annotations_keep_results/generate.rs"]
mod generate;
#[path = "annotations_keep_results/judges.rs"]
mod judges;
#[path = "annotations_keep_results/kernels.rs"]
mod kernels;
#[path = "annotations_keep_results/ranges.rs"]
mod ranges;
#[path = "annotations_keep_results/run.rs"]
mod run;
#[path = "annotations_keep_results/text.rs"]
mod text;
#[path = "annotations_keep_results/twins.rs"]
mod twins;

use generate::Generator;
use run::{Shown, check, keep_panics, reduce};
use std::collections::BTreeMap;
use text::Form;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Failures shown in full; beyond them, more of the same helps nobody.
const MOST_SHOWN: usize = 5;

#[test]
fn random_kernels_keep_their_results() {
    keep_panics();
    let first = variable("WARPWRIGHT_ANNOTATION_SEED").unwrap_or(1);
    let count = variable("WARPWRIGHT_ANNOTATION_KERNELS").unwrap_or(300);
    let (mut failures, mut total, mut refused) = (Vec::new(), Shown::default(), 0);
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for seed in first..first + count {
        let (source, inputs) = Generator::kernel(seed);
        match check(&source, &inputs) {
            Ok(shown) => {
                refused += u64::from(shown.is_refused);
                total.kept += shown.kept;
                total.asked += shown.asked;
            }
            Err(Err(wrong)) => failures.push(format!("seed {seed} is no kernel: {wrong}\n{}", source.print(Form::Stripped))),
            Err(Ok(wrong)) => {
                let kind: String = wrong.chars().filter(|c| !c.is_ascii_digit()).take(60).collect();
                let count = seen.entry(kind).or_default();
                *count += 1;
                if *count > 3 || failures.len() >= MOST_SHOWN {
                    failures.push(format!("seed {seed}: {wrong}"));
                    continue;
                }
                let (small, still) = reduce(&source, &inputs, wrong.clone());
                let (annotated, stripped) = (small.print(Form::Annotated), small.print(Form::Stripped));
                failures.push(format!(
                    "seed {seed}: {wrong}\nreduced: {still}\n{annotated}\nstripped:\n{stripped}\nwhole:\n{}",
                    source.print(Form::Annotated)
                ));
            }
        }
    }
    let share = 100 * refused / count;
    println!(
        "ran: annotations_keep_results ({count} kernels on the simulator): {share} % refused as drawn, {} of {} annotations kept",
        total.kept, total.asked
    );
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n\n"));
    if count < 100 {
        return;
    }
    // Else it tests the refusals.
    assert!(share < 80, "{share} % of the kernels are refused");
    assert!(total.kept * 3 > total.asked, "{} of {} annotations are kept", total.kept, total.asked);
}
