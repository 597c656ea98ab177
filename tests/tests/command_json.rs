//! `--json` of every subcommand: what docs/command.md says of its fields is what is printed, and nothing else is.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use warpwright_tests::command::{Folder, Outcome, root};

const KERNELS: &str = "use warpwright::prelude::*;
#[kernel(block = B, ilp = ILP, variants(B in [64, 128], ILP in [1, 4]))]
pub fn copy<const B: usize, const ILP: usize>(out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}
#[kernel(block = 64, cluster = 2)]
pub fn many(n: u32, table: &Constant<[f32; 8]>, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 64];
    let t = thread_idx().x;
    assert!(n > 0);
    tile[t] = x[t] * table[t % 8];
    sync_threads();
    if t < 7 && block_idx().x == 0 {
        y[t] = tile[63 - t];
    }
}
#[kernel(block = 256)]
pub fn sized<const N: usize>(y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; N];
    tile[thread_idx().x] = 1.0;
    sync_threads();
    y[thread_idx().x] = tile[0];
}
";

/// Findings of each form: of a lint, of a contract, with a label and without.
const FINDINGS: &str = "#[kernel(block = 64, require(shared <= 100))]
fn k(y: &mut Global<f32>) {
    #[shared] let mut a: [f32; 64];
    a[thread_idx().x] = 1.0;
    y[global_id().x] = a[thread_idx().x];
}
#[kernel(block = 1024, ilp = 4, best_effort)]
fn soft(y: &mut Global<f32>) {
    sync_threads();
    y[global_id().x] = 1.0;
}
";

/// One table of the page: field and description, in order.
type Rows = Vec<(String, String)>;

/// The tables of fields, each by the heading above it; those of figures by `figures`.
fn tables() -> BTreeMap<String, Rows> {
    let page = std::fs::read_to_string(root().join("docs/command.md")).expect("docs/command.md");
    let (mut tables, mut heading): (BTreeMap<String, Rows>, String) = (BTreeMap::new(), String::new());
    for line in page.lines() {
        if let Some(name) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with("##")) {
            heading = name.trim_matches('`').to_owned();
        } else if line.starts_with("| figure |") {
            heading = "figures".to_owned();
        } else if let Some((field, rest)) = line.strip_prefix("| `").and_then(|rest| rest.split_once("` |")) {
            tables.entry(heading.clone()).or_default().push((field.to_owned(), rest.trim().to_owned()));
        }
    }
    tables
}

/// The fields of a heading, those of the objects that it refers to with it: `findings[].place` and `findings[].place.line`.
fn fields(tables: &BTreeMap<String, Rows>, heading: &str, prefix: &str, into: &mut BTreeSet<String>) {
    for (field, description) in tables.get(heading).unwrap_or_else(|| panic!("no table of `{heading}`")) {
        let path = format!("{prefix}{field}");
        let link = description.rsplit_once("](#").map(|(_, anchor)| anchor.split(')').next().unwrap_or_default().replace('-', " "));
        if let Some(object) = link.filter(|_| !description.starts_with("as ")) {
            let object = tables.keys().find(|known| known.to_lowercase() == object).unwrap_or_else(|| panic!("no object `{object}`"));
            fields(tables, object, &format!("{path}."), into);
        }
        into.insert(path);
    }
}

/// The fields of a document; lists are `name[]`.
fn printed(value: &Value, path: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                // A list is known by what is in it; an empty one, and what is not known, by nothing.
                if !value.is_array() {
                    into.insert(path.clone());
                }
                printed(value, &path, into);
            }
        }
        Value::Array(list) => {
            for value in list {
                into.insert(format!("{path}[]"));
                printed(value, &format!("{path}[]"), into);
            }
        }
        _ => {}
    }
}

/// The path in the page that a printed path is: `NAME` stands for any name.
fn documented<'d>(path: &str, documented: &'d BTreeSet<String>) -> Option<&'d String> {
    let fits = |known: &&String| {
        let (known, path): (Vec<&str>, Vec<&str>) = (known.split('.').collect(), path.split('.').collect());
        known.len() == path.len() && known.iter().zip(&path).all(|(known, part)| known == part || *known == "NAME")
    };
    documented.iter().find(fits)
}

/// Whether a path is known by what is in it: the page has `generics.NAME`, and no `generics`; and a list may be null.
fn is_list_of(path: &str, known: &BTreeSet<String>) -> bool {
    known.contains(&format!("{path}[]")) || known.iter().any(|known| known.starts_with(&format!("{path}.")))
}

#[track_caller]
fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.out).unwrap_or_else(|error| panic!("{error}:\n{}\n{}", outcome.out, outcome.err))
}

/// The runs that a subcommand's fields are looked for in, and those that only a tool or a device would print here.
struct Case {
    command: &'static str,
    runs: &'static [&'static [&'static str]],
    /// Where there is a device to measure on, this run, too.
    timed: &'static [&'static str],
    /// Fields of that run.
    needs_device: &'static [&'static str],
    /// Fields that a `ptxas` measures, or one that fails.
    needs_ptxas: &'static [&'static str],
}

impl Case {
    const NONE: Case = Case { command: "", runs: &[], timed: &[], needs_device: &[], needs_ptxas: &[] };
}

const CASES: &[Case] = &[
    Case {
        command: "emit",
        runs: &[&["k.rs::copy"], &["k.rs::many", "--format", "opencl"], &["k.rs::many"], &["k.rs::many", "--format", "rust"]],
        ..Case::NONE
    },
    Case {
        command: "check",
        runs: &[&["k.rs"], &["findings.rs"]],
        needs_ptxas: &[
            "files[].kernels[].reports[].measured.",
            "files[].kernels[].reports[].not_measured",
            "files[].kernels[].reports[].issue_order[].",
            "files[].kernels[].reports[].operand_reads[].",
        ],
        ..Case::NONE
    },
    Case {
        command: "compare",
        runs: &[&["k.rs::copy", "--targets", "sm_80,sm_90", "--cover", "1024", "--simulate"], &["k.rs::sized", "--set", "N=256,100000"]],
        timed: &["k.rs::copy", "--targets", "sm_90", "--cover", "4096", "--time", "2"],
        needs_device: &["comparisons[].variants[].timed."],
        needs_ptxas: &["comparisons[].notes[]"],
    },
    Case { command: "occupancy", runs: &[&["k.rs", "-D", "N=64"], &["k.rs::copy", "--registers", "40"]], ..Case::NONE },
    Case {
        command: "simulate",
        runs: &[&["k.rs::copy", "--cover", "256"], &["k.rs::many", "--grid", "2", "--args", "n=1", "x=iota(64)", "y=zeros(64)"]],
        ..Case::NONE
    },
    Case {
        command: "tune",
        runs: &[&["k.rs::copy", "--predict"]],
        timed: &["k.rs::copy", "--cover", "4096", "--runs", "1"],
        needs_device: &["measured[]"],
        ..Case::NONE
    },
    Case { command: "explain", runs: &[&["bank_conflict"], &[]], ..Case::NONE },
    Case { command: "devices", runs: &[&[]], ..Case::NONE },
];

#[test]
fn every_field_that_is_printed_is_documented_and_the_other_way_round() {
    let tables = tables();
    let folder = Folder::new("schema", &[("k.rs", KERNELS.as_bytes()), ("findings.rs", FINDINGS.as_bytes())]);
    let has_device = json(&folder.run(&["devices", "--json"]))["devices"]
        .as_array()
        .is_some_and(|devices| devices.iter().any(|device| device["kind"] == "cuda" || device["kind"] == "opencl"));
    if !has_device {
        println!("skipped: fields of what is timed (no device to measure on)");
    }
    for Case { command, runs, timed, needs_device, needs_ptxas } in CASES {
        let mut known = BTreeSet::new();
        fields(&tables, &format!("warpwright {command}"), "", &mut known);
        let mut found = BTreeSet::new();
        let timed = Some(*timed).filter(|run| has_device && !run.is_empty());
        for run in runs.iter().copied().chain(timed) {
            let outcome = folder.run(&[&[*command], run, &["--json"]].concat());
            let document = json(&outcome);
            assert_eq!(document["version"], 1, "{command} {run:?}");
            printed(&document, "", &mut found);
        }
        let undocumented: Vec<&String> =
            found.iter().filter(|path| documented(path, &known).is_none() && !is_list_of(path, &known)).collect();
        assert!(undocumented.is_empty(), "docs/command.md does not have, of `{command}`: {undocumented:#?}");
        let seen: BTreeSet<&String> = found.iter().filter_map(|path| documented(path, &known)).collect();
        let excused = needs_ptxas.iter().chain(needs_device.iter().filter(|_| !has_device));
        let missing = known.iter().filter(|path| !seen.contains(path) && !excused.clone().any(|need| path.starts_with(need)));
        let missing: Vec<&String> = missing.collect();
        assert!(missing.is_empty(), "docs/command.md has, and `{command}` does not print: {missing:#?}");
    }
}

#[test]
fn bare_numbers_are_an_occupancy_object() {
    let mut known = BTreeSet::from(["version".to_owned()]);
    fields(&tables(), "An occupancy object", "", &mut known);
    let outcome = Folder::new("schema-numbers", &[]).run(&["occupancy", "--cc", "9.0", "--threads", "256", "--registers", "65", "--json"]);
    let mut found = BTreeSet::new();
    printed(&json(&outcome), "", &mut found);
    assert!(found.iter().all(|path| documented(path, &known).is_some() || is_list_of(path, &known)), "{found:#?}");
    assert!(known.iter().all(|known| found.iter().any(|path| documented(path, &BTreeSet::from([known.clone()])).is_some())), "{found:#?}");
}

#[test]
fn every_figure_of_a_comparison_has_its_unit() {
    let tables = tables();
    let names: BTreeSet<&str> = tables["figures"].iter().map(|(name, _)| name.as_str()).collect();
    let folder = Folder::new("schema-figures", &[("k.rs", KERNELS.as_bytes())]);
    let launch = ["--grid", "2", "--args", "n=1", "x=iota(64)", "y=zeros(64)", "--simulate", "--json"];
    let outcome = folder.run(&[&["compare", "k.rs::many", "--targets", "sm_90"], &launch as &[&str]].concat());
    let document = json(&outcome);
    let figures = document["comparisons"][0]["variants"][0]["targets"][0]["figures"].as_object().expect("figures");
    for name in figures.keys() {
        assert!(names.contains(name.as_str()), "`{name}` is not documented");
    }
    for name in names {
        // The last three are of what was timed on a device, and of the prediction for that device.
        let needs_a_tool = ["ptxas", "time", "predicted_time", "error"].contains(&name);
        assert!(needs_a_tool || figures.contains_key(name), "`{name}` is not printed: {figures:#?}");
    }
}

#[test]
fn errors_go_to_standard_error_with_json_too() {
    let folder =
        Folder::new("schema-errors", &[("k.rs", KERNELS.as_bytes()), ("bad.rs", b"#[kernel] fn k(y: &mut Global<f32>) { y[0] = z; }")]);
    for (arguments, code) in [
        ("emit bad.rs --json", 1),
        ("emit missing.rs --json", 2),
        ("compare k.rs::cpy --json", 2),
        ("occupancy bad.rs --json", 1),
        ("occupancy --cc 99.9 --threads 1 --registers 1 --json", 2),
        ("simulate bad.rs --cover 1 --json", 1),
        ("simulate k.rs::copy --cover 1 --args inp=zeros(0) --json", 1),
        ("tune k.rs::copy --share 101 --json", 2),
        ("explain nothing_of_this_name --json", 2),
        ("devices --jsn", 2),
        ("completions tcsh", 2),
    ] {
        let outcome = folder.run(&arguments.split(' ').collect::<Vec<_>>());
        outcome.refuses(code, &["error: "]);
    }
    // `check` goes on with the other files: what it found is in the document, what it could not read is not.
    let outcome = folder.run(&["check", "missing.rs", "bad.rs", "--json"]);
    assert_eq!((outcome.code, json(&outcome)["files"].as_array().map(Vec::len)), (Some(2), Some(1)));
    assert!(outcome.err.contains("error: `missing.rs` cannot be read"), "{}", outcome.err);
}
