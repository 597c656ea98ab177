//! Spoilt sources: whatever stands in a file, the compiler says what is wrong with it or compiles it, and never panics.
//!
//! Kernels of this repository are cut, doubled, mixed and overwritten token by token; what comes out goes through every step that a
//! file takes: parser, subset check, types, lowering, verifier, passes, printers. One seed is fixed, so that what was found stays
//! found; another is fresh each time and printed if it finds something.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use warpwright_codegen::backend::BACKENDS;
use warpwright_codegen::backend::rust::emit_rust;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::hir;
use warpwright_codegen::ir::Scalar;
use warpwright_codegen::pipeline;
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance, Program, Unit, UnitId, check_subset};
use warpwright_codegen::target::Target;
use warpwright_codegen::verify::verify;
use warpwright_runtime::sim::SimProgram;
use warpwright_tests::random::{Random, quietly};

/// A kernel with something of everything that the repository's kernels leave out.
const EVERYTHING: &str = include_str!("bad_source/everything.rs");

/// Tokens that replace others: operators, keywords, types, names, numbers at the edges of their types.
const SPLICES: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "!",
    "<<",
    ">>",
    "=",
    "==",
    "!=",
    "<",
    ">",
    "<=",
    ">=",
    "&&",
    "||",
    "+=",
    "-=",
    "<<=",
    "%=",
    "..",
    "..=",
    "=>",
    "->",
    "::",
    ".",
    ",",
    ";",
    ":",
    "?",
    "@",
    "_",
    "as",
    "let",
    "mut",
    "if",
    "else",
    "match",
    "while",
    "loop",
    "for",
    "in",
    "break",
    "continue",
    "return",
    "fn",
    "const",
    "struct",
    "enum",
    "impl",
    "use",
    "mod",
    "pub",
    "self",
    "Self",
    "super",
    "crate",
    "true",
    "false",
    "unsafe",
    "async",
    "dyn",
    "where",
    "ref",
    "move",
    "static",
    "'a",
    "'outer",
    "bool",
    "i8",
    "u8",
    "i16",
    "u16",
    "i32",
    "u32",
    "i64",
    "u64",
    "usize",
    "isize",
    "f16",
    "bf16",
    "f32",
    "f64",
    "str",
    "char",
    "String",
    "T",
    "N",
    "i",
    "x",
    "y",
    "0",
    "1",
    "-1",
    "2",
    "31",
    "32",
    "255",
    "256",
    "-128",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "340282366920938463463374607431768211455",
    "0u8",
    "1i64",
    "1.0",
    "1e400",
    "-0.0",
    "0.1f16",
    "3f32",
    "1_000",
    "0xff",
    "0b2",
    "'c'",
    "\"s\"",
    "b\"s\"",
    "()",
    "[]",
    "{}",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "[f32; 4]",
    "[0; 4]",
    "(1, 2)",
    "#[shared]",
    "#[shared(dynamic)]",
    "#[kernel]",
    "#[device]",
    "#[unroll]",
    "#[repr(C)]",
    "&",
    "&mut",
    "Global<f32>",
    "&Global<u32>",
    "Constant<[f32; 4]>",
    "sync_threads()",
    "thread_idx().x",
    "lane_id()",
    "warp_sum(i)",
    "shuffle(i, 1)",
    "ballot(true)",
    ".len()",
    ".abs()",
    ".sqrt()",
    ".pow(2)",
    ".x",
    ".0",
    ".1",
    "f32::MAX",
    "u32::BITS",
    "i32::MIN",
    "println!(\"{}\", i)",
    "assert!(i)",
    "return;",
    "|| 1",
    "<",
    ">",
    "::<4>",
    "<T>",
    "\u{e9}",
    "\u{1F600}",
    "r#fn",
    "\\",
    "$",
    "/*",
    "*/",
    "//",
    "\"",
    "'",
];

fn sources() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = vec![root.join("tests/host_twin.rs")];
    for folder in [root.join("filetests/language"), root.join("../kernels/src")] {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut found: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
        found.sort();
        paths.extend(found);
    }
    let texts = paths.iter().map(|path| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
    std::iter::once(EVERYTHING.to_owned()).chain(texts.filter(|text| text.contains("#[kernel"))).collect()
}

/// Words, numbers, blank space and single characters.
fn tokens(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 1,
        c if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match kind(first) {
            0 => first.len_utf8(),
            same => rest.find(|c| kind(c) != same).unwrap_or(rest.len()),
        };
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
    found
}

/// One to four changes of a source, most of them small.
fn spoil(text: &str, other: &str, random: &mut Random) -> String {
    let mut list = tokens(text);
    let donors = tokens(other);
    for _ in 0..1 + random.below(4) {
        let at = pick_solid(&list, random);
        let to = pick_solid(&list, random);
        match random.below(9) {
            0 => drop(list.remove(at)),
            1 => list.insert(at, list[at]),
            2 => list.swap(at, to),
            3 => list[at] = list[to],
            4 | 5 => list[at] = SPLICES[random.below(SPLICES.len())],
            6 => list.insert(at, SPLICES[random.below(SPLICES.len())]),
            7 => {
                let from = pick_solid(&donors, random);
                let many = random.below(12);
                list.splice(at..at, donors[from..].iter().take(many).copied());
            }
            _ => {
                let end = (at + random.below(8)).min(list.len());
                list.drain(at..end);
            }
        }
        if list.is_empty() {
            break;
        }
    }
    list.concat()
}

/// A place that is no blank space, if there is one.
fn pick_solid(list: &[&str], random: &mut Random) -> usize {
    let mut at = 0;
    for _ in 0..8 {
        at = random.below(list.len());
        if !list[at].trim().is_empty() {
            break;
        }
    }
    at
}

/// How far a source came.
#[derive(Default)]
struct Progress {
    parsed: u32,
    checked: u32,
    printed: u32,
}

/// Everything that is done with a file, as the command line and the runtime do it.
fn compile(text: &str, progress: &mut Progress) {
    let Ok(unit) = Unit::parse("spoilt.rs", 1, 1, text) else { return };
    progress.parsed += 1;
    let mut findings = Diagnostics::new();
    check_subset(&unit.items, &mut findings);
    let kernels: Vec<String> = unit.kernels().into_iter().map(|(path, _)| path).collect();
    let mut program = Program::default();
    let unit = program.add(unit);
    for kernel in kernels {
        let Some(instance) = instance(&program, unit, &kernel) else { continue };
        let Ok(built) = pipeline::lower(&program, unit, &kernel, &instance) else { continue };
        progress.checked += 1;
        let Ok(lowered) = built.schedule() else { continue };
        if let Err(violations) = verify(&lowered.kernel) {
            panic!("the kernel breaks an invariant: {}", violations[0]);
        }
        let legal = lowered.kernel.legal();
        if let Err(violations) = verify(legal) {
            panic!("the optimised kernel breaks an invariant: {}", violations[0]);
        }
        // Refusals are fine; panics are not.
        emit_rust(legal);
        let _ = SimProgram::compile(legal);
        let target = Target::find("sm_90").expect("a target");
        let printed: Vec<bool> = BACKENDS.iter().map(|backend| lowered.emit(*backend, Some(target)).is_ok()).collect();
        progress.printed += u32::from(printed.iter().all(|is_printed| *is_printed));
    }
}

/// The first declared instance, or one made of values that fit most kernels.
fn instance(program: &Program, unit: UnitId, kernel: &str) -> Option<Instance> {
    let declared = hir::declared_instances(program, unit, kernel).ok()?;
    if let Some(first) = declared.into_iter().next() {
        return Some(first);
    }
    let generics = hir::generics(program, unit, kernel).ok()?;
    let value = |(name, is_type): (String, bool)| {
        if is_type {
            return GenericValue::Type("f32".to_owned());
        }
        let read = ["8", "true"].iter().find_map(|text| hir::parse_generic(program, unit, kernel, &name, text).ok());
        read.unwrap_or(GenericValue::Const(ConstValue::Scalar(Scalar::bool(true))))
    };
    Some(Instance { generics: generics.into_iter().map(value).collect() })
}

/// Spoils sources for `time`; the panics it met, each once, with what caused them.
fn fuzz(seed: u64, most: u32, time: Duration) -> (Progress, Vec<String>) {
    let texts = sources();
    let mut random = Random::new(seed);
    let mut progress = Progress::default();
    let mut found: Vec<(String, String)> = Vec::new();
    let start = Instant::now();
    for _ in 0..most {
        if start.elapsed() > time {
            break;
        }
        let any = |random: &mut Random| &texts[random.below(texts.len())];
        let (text, other) = (any(&mut random), any(&mut random));
        let spoilt = spoil(text, other, &mut random);
        let result = quietly(|| compile(&spoilt, &mut progress));
        if let Err(place) = result
            && !found.iter().any(|(known, _)| *known == place)
        {
            found.push((place, difference(text, &spoilt)));
        }
    }
    (progress, found.into_iter().map(|(place, change)| format!("{place}\n{change}")).collect())
}

/// The lines that are new.
fn difference(before: &str, after: &str) -> String {
    let diff = similar::TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(2).to_string()
}

fn expect_no_panic(name: &str, seed: u64, most: u32, time: Duration) {
    let (progress, found) = fuzz(seed, most, time);
    let Progress { parsed, checked, printed } = progress;
    println!("{name}: seed {seed}: {parsed} files parsed, {checked} kernels lowered, {printed} printed");
    assert!(found.is_empty(), "seed {seed}: {} panics\n\n{}", found.len(), found.join("\n\n"));
    assert!(printed > 0, "every spoilt source was refused: nothing was tried behind the checks");
}

#[test]
fn spoilt_sources_never_panic() {
    let var = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = var("WARPWRIGHT_FUZZ_SEED").unwrap_or_else(Random::fresh_seed);
    // WARPWRIGHT_FUZZ_SECONDS: for a longer hunt.
    let time = Duration::from_secs(var("WARPWRIGHT_FUZZ_SECONDS").unwrap_or(4));
    expect_no_panic("fixed", 1, 300, time);
    expect_no_panic("fresh", seed, u32::MAX, time);
}
