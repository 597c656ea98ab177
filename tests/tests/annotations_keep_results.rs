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
use run::{Inputs, check};
use text::{Form, Source};
use warpwright_codegen::annotations::{Annotation, On};
use warpwright_tests::random::check_all;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn random_kernels_keep_their_results() {
    let first = variable("WARPWRIGHT_ANNOTATION_SEED").unwrap_or(1);
    let count = variable("WARPWRIGHT_ANNOTATION_KERNELS").unwrap_or(300);
    let show =
        |(source, _): &(Source, Vec<Inputs>)| format!("{}\nstripped:\n{}", source.print(Form::Annotated), source.print(Form::Stripped));
    let shown = check_all(first..first + count, Generator::kernel, show, |(source, inputs)| check(source, inputs));
    let refused = shown.iter().filter(|shown| shown.is_refused).count() as u64;
    let (kept, asked) = shown.iter().fold((0, 0), |(kept, asked), shown| (kept + shown.kept, asked + shown.asked));
    let share = 100 * refused / count;
    println!(
        "ran: annotations_keep_results ({count} kernels on the simulator): {share} % refused as drawn, {kept} of {asked} annotations kept"
    );
    if count < 100 {
        return;
    }
    for annotation in Annotation::all_on(On::Loop) {
        let kernels = shown.iter().filter(|shown| shown.names.contains(&annotation.name)).count() as u64;
        assert!(kernels * 30 >= count, "`{}` is kept in {kernels} of {count} kernels: too few to say something", annotation.name);
    }
    // Else it tests the refusals.
    assert!(share < 80, "{share} % of the kernels are refused");
    assert!(kept * 3 > asked, "{kept} of {asked} annotations are kept");
}
