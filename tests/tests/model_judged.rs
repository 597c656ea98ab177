//! The model of time against measurements that nothing was fitted on; and `docs/model.md`, whose tables are these.
//!
//! `WARPWRIGHT_BLESS=1 cargo test -p warpwright-tests --test model_judged` writes the tables into the page.

#[path = "model_judged/applications.rs"]
mod applications;
#[path = "model_judged/experiments.rs"]
mod experiments;
#[path = "model_judged/kernels.rs"]
mod kernels;
#[path = "model_judged/products.rs"]
mod products;
#[path = "model_judged/rings.rs"]
mod rings;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use warpwright_codegen::target::TARGETS;
use warpwright_review::estimate::estimate;
use warpwright_tests::marked::{hold, with_sections};

/// Relative errors of a table's cells.
#[derive(Clone, Debug, Default)]
struct Errors(Vec<f64>);

impl Errors {
    /// Adds a cell's; gives it with its sign.
    fn add(&mut self, predicted: f64, measured: f64) -> f64 {
        let error = predicted / measured - 1.0;
        self.0.push(error.abs());
        error
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    fn median(&self) -> f64 {
        self.sorted().get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn worst(&self) -> f64 {
        self.sorted().last().copied().unwrap_or(f64::NAN)
    }

    fn line(&self) -> String {
        format!("{} cells, median error {:.1} %, worst {:.1} %", self.0.len(), 100.0 * self.median(), 100.0 * self.worst())
    }
}

fn percent(error: f64) -> String {
    format!("{:+.0} %", 100.0 * error)
}

/// A median of 10 %, and no cell beyond 25 %.
#[test]
fn copies_on_an_h200() {
    let (_, errors) = experiments::copies_on_an_h200();
    println!("{}", errors.line());
    assert_eq!(errors.0.len(), 72);
    assert!(errors.median() <= 0.10 && errors.worst() <= 0.25, "{}", errors.line());
}

/// Nothing of this device was measured: 15 %.
#[test]
fn copies_on_a_c2050() {
    let (_, errors) = experiments::copies_on_a_c2050();
    println!("{}", errors.line());
    assert_eq!(errors.0.len(), 29);
    assert!(errors.median() <= 0.15, "{}", errors.line());
}

#[test]
fn additions_on_an_h200() {
    let (_, errors) = experiments::additions_on_an_h200();
    println!("{}", errors.line());
    assert_eq!(errors.0.len(), 24);
    assert!(errors.median() <= 0.10, "{}", errors.line());
}

/// From source to seconds: a median of 10 % over the families, and no kernel beyond 25 %. Each family is held to what it reaches now, so that
/// a change that makes it worse is seen.
#[test]
fn kernels_that_were_timed() {
    let (_, families) = kernels::timed_kernels();
    // Missed since the loads of `prefetch` stand ahead of the barrier, and elements of structs are one access: multiplications in blocks of half a warp are
    // predicted a third to a half too fast, structs in groups by a quarter.
    const MISSED: &[(&str, f64)] = &[("matmul", 0.55), ("structures", 0.30)];
    for (name, most) in [
        ("copy", 0.10),
        ("saxpy", 0.10),
        ("offset_copy", 0.10),
        ("additions", 0.10),
        ("transpose", 0.15),
        ("matmul", 0.10),
        ("reduce", 0.10),
        ("ab", 0.20),
        ("aat", 0.10),
        ("shortcut", 0.10),
        ("halo", 0.25),
        ("rows", 0.10),
        ("structures", 0.30),
        ("automaton", 0.10),
        ("tiles", 0.10),
    ] {
        let (_, errors) = families.iter().find(|(family, _)| family == name).expect("a family of the measurements");
        assert!(errors.median() <= most, "{name}: {}", errors.line());
        let worst = MISSED.iter().find(|(family, _)| *family == name).map_or(0.25, |(_, worst)| *worst);
        assert!(errors.worst() <= worst, "{name}: {}", errors.line());
    }
    let mut medians: Vec<f64> = families.iter().map(|(_, errors)| errors.median()).collect();
    medians.sort_by(f64::total_cmp);
    assert!(medians[medians.len() / 2] <= 0.10, "{medians:?}");
}

/// Copies by the copy engine, in the form that an H200 runs: a median of 8 %, and no launch beyond 10 %.
#[test]
fn rings_of_the_copy_engine() {
    let (table, errors) = rings::judged();
    println!("{table}\n{}", errors.line());
    assert!(errors.median() <= 0.08 && errors.worst() <= 0.10, "{table}\n{}", errors.line());
}

/// Products on tensor cores, in the form that an H200 runs: no launch beyond 20 %. The rate that they have is a hot device's, and these runs were short.
#[test]
fn products_on_tensor_cores() {
    let (table, errors) = products::judged();
    println!("{table}\n{}", errors.line());
    assert_eq!(errors.0.len(), 6);
    assert!(errors.worst() <= 0.20, "{table}\n{}", errors.line());
}

/// Whole launches, from the smallest.
#[test]
fn launches_on_an_h200() {
    let (_, errors) = kernels::launches();
    println!("{}", errors.line());
    assert_eq!(errors.0.len(), 32);
    assert!(errors.median() <= 0.15, "{}", errors.line());
}

/// The twelve applications, by `compare`: a median of 25 % over the applications' own, and most variants within 50 %. Those beyond are explained on the page.
#[test]
fn applications_on_an_h200() {
    let (table, programs) = applications::judged();
    assert_eq!(programs.len(), 12);
    let all = Errors(programs.iter().flat_map(|program| program.errors.0.clone()).collect());
    let mut medians: Vec<f64> = programs.iter().map(|program| program.errors.median()).collect();
    medians.sort_by(f64::total_cmp);
    let median = (medians[5] + medians[6]) / 2.0;
    let within = |most: f64| all.0.iter().filter(|error| **error <= most).count();
    let summary = format!(
        "{} variants, median error {:.0} %, {} within 25 %, {} within 50 %. The median over applications of each one's median is {:.0} %.",
        all.0.len(),
        100.0 * all.median(),
        within(0.25),
        within(0.5),
        100.0 * median
    );
    println!("{summary}");
    assert!(median <= 0.25, "{summary}\n{table}");
    assert!(all.0.len() == 84 && within(0.5) >= 73, "{summary}\n{table}");
    let _alone = PAGE.lock();
    let text = std::fs::read_to_string(page()).expect("docs/model.md");
    let reasons: Vec<&str> = text.lines().filter(|line| line.starts_with("* **")).collect();
    for (program, variant) in programs.iter().flat_map(|program| program.misses.iter().map(|variant| (&program.name, variant))) {
        let is_explained = reasons.iter().any(|reason| reason.contains(program.as_str()) && reason.contains(variant.as_str()));
        assert!(is_explained, "docs/model.md does not say why {program}, {variant} is more than half off");
    }
    hold(&page(), &[("applications", format!("{table}\n\n{summary}"))]);
}

/// No figure is beyond what a device can do, for any kernel of the project.
#[test]
fn figures_are_possible() {
    let variants = warpwright_tests::corpus::library_variants();
    let targets: Vec<_> = TARGETS.iter().filter(|target| [52, 75, 80, 89, 90, 120].contains(&target.capability)).collect();
    let mut predictions = 0;
    for variant in &variants {
        let known = estimate(variant.kernel.legal(), &targets);
        for (target, prediction) in known.targets.iter().filter_map(|on| on.prediction.as_ref().map(|prediction| (on.target, prediction))) {
            let place = format!("{} on {}: {prediction:?}", variant.name, target.name);
            assert!((0.0..=1.0).contains(&prediction.share_of_peak), "{place}");
            assert!(prediction.attained > 0.0 && prediction.attained <= 1.0, "{place}");
            assert!(prediction.warps_needed.is_finite() && prediction.warps_needed > 0.0, "{place}");
            assert!(prediction.seconds(1) > 1e-6 && prediction.seconds(1 << 20) > prediction.seconds(1), "{place}");
            predictions += 1;
        }
    }
    println!("{predictions} predictions of {} variants", variants.len());
    assert!(predictions > 900, "{predictions}");
}

/// Who writes the page has it alone: two tests here do.
static PAGE: Mutex<()> = Mutex::new(());

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/model.md")
}

#[test]
fn the_page_has_these_tables() {
    let (h200, h200_errors) = experiments::copies_on_an_h200();
    let (c2050, c2050_errors) = experiments::copies_on_a_c2050();
    let (additions, additions_errors) = experiments::additions_on_an_h200();
    let (kernels, families) = kernels::timed_kernels();
    let mut summary = String::from("| kernels | how many | median error | worst |\n|---|---|---|---|");
    for (family, errors) in &families {
        summary += &format!("\n| {family} | {} | {:.0} % | {:.0} % |", errors.0.len(), 100.0 * errors.median(), 100.0 * errors.worst());
    }
    let mut sections = vec![
        ("copies on an H200", format!("{h200}\n\n{}.", h200_errors.line())),
        ("copies on a C2050", format!("{c2050}\n\n{}.", c2050_errors.line())),
        ("additions on an H200", format!("{additions}\n\n{}.", additions_errors.line())),
    ];
    let (rings, ring_errors) = rings::judged();
    let (launches, launch_errors) = kernels::launches();
    let (products, product_errors) = products::judged();
    let _alone = PAGE.lock();
    let found = std::fs::read_to_string(page()).expect("docs/model.md");
    let expected = with_sections("docs/model.md", &found, &sections);
    // From source, registers and access patterns are estimates of their own: written with the others, but not looked at again here.
    let launches = format!("{launches}\n\n{}.", launch_errors.line());
    let rings = format!("{rings}\n\n{}.", ring_errors.line());
    let products = format!("{products}\n\n{}.", product_errors.line());
    sections.extend([("families", summary), ("rings", rings), ("products", products), ("launches", launches), ("kernels", kernels)]);
    let all = with_sections("docs/model.md", &found, &sections);
    if std::env::var("WARPWRIGHT_BLESS").is_ok_and(|value| value == "1") {
        assert!(std::env::var("CI").is_err(), "what is expected is not written where `CI` is set");
        std::fs::write(page(), all).expect("docs/model.md can be written");
    } else {
        assert!(found == expected, "docs/model.md is not what the model says now (WARPWRIGHT_BLESS=1 writes it)");
    }
}
