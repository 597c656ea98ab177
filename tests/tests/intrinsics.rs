//! What the table of intrinsics says is said there alone, and all that it says is read: each cell through what prints it, or runs it.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use warpwright_codegen::intrinsics::{self, FAMILIES};
use warpwright_codegen::ir::intrinsic::{Call, Class, Intrinsic, IntrinsicId, OperandType};
use warpwright_codegen::ir::{Builder, Kernel, KernelOptions, Loc, Op, Type};
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::Instance;
use warpwright_codegen::target::TARGETS;
use warpwright_review::estimate::mix;
use warpwright_review::machine::Pipe;
use warpwright_tests::marked::hold;

/// Words that are rows' names and other things, too, and where they are the others.
const OTHER_MEANINGS: &[(&str, &[&str], &str)] = &[
    ("codegen/src/ir/op.rs", &["abs", "min", "max"], "core instructions"),
    ("codegen/src/text", &["mul_add"], "a core instruction in the text form"),
    ("runtime/src/sim/compile/operations.rs", &["mul_add"], "a core instruction in messages"),
    (
        "runtime/src/sim/fault_text.rs",
        &["wrapping_add", "wrapping_neg", "wrapping_sub", "wrapping_div", "wrapping_abs", "wrapping_mul", "abs"],
        "what to write in the place of a core instruction that overflows",
    ),
    ("codegen/src/backend/rust/expression.rs", &["wrapping_neg", "wrapping_abs", "abs"], "core instructions in Rust"),
    ("codegen/src/backend/opencl/names.rs", &[], "names that OpenCL C keeps for itself"),
    ("codegen/src/hir/check/call.rs", &["from_f32", "from_f64"], "conversions: casts"),
    ("codegen/src/hir/check/method.rs", &["to_f32", "to_f64"], "conversions: casts"),
    ("codegen/src/hir/check/familiar.rs", &["sqrt", "floor", "ceil", "round", "trunc"], "methods of floats, which integers lack"),
    ("codegen/src/hir/check/message.rs", &["ln"], "the end of `println`"),
    ("codegen/src/syntax/chains.rs", &["all", "any", "max", "min"], "methods of iterators"),
    ("codegen/src/syntax/levels.rs", &["all"], "a group of rustc's lints"),
    ("src/cli/occupancy/show.rs", &["any"], "any number"),
    ("codegen/src/backend/ptx/words.rs", &[], "PTX instructions"),
    ("dsl-macros/src/expand/twin.rs", &["erf", "erfc", "from_f64"], "methods that Rust's floats lack; a conversion: a cast"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the workspace").to_owned()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// String literals of a source that are one word, comments and unit tests left out, with their lines.
fn words(source: &str) -> Vec<(usize, String)> {
    let code = source.split("#[cfg(test)]\nmod").next().unwrap_or_default();
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let is_word = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    lines.flat_map(|(n, line)| line.split('"').skip(1).step_by(2).filter(is_word).map(move |text| (n + 1, text.to_owned()))).collect()
}

#[test]
fn no_other_file_names_a_row() {
    let names: BTreeSet<&str> = intrinsics::rows().map(|row| row.name).collect();
    let mut files = Vec::new();
    for folder in ["codegen/src", "review/src", "runtime/src/sim", "dsl-macros/src", "src"] {
        sources(&root().join(folder), &mut files);
    }
    assert!(files.len() > 300, "{} files", files.len());
    let (mut wrong, mut unmet) = (Vec::new(), OTHER_MEANINGS.to_vec());
    for file in files {
        let path = file.strip_prefix(root()).expect("in the workspace").to_string_lossy().replace('\\', "/");
        if path.starts_with("codegen/src/intrinsics") {
            continue;
        }
        let meant = OTHER_MEANINGS.iter().find(|(place, ..)| path.starts_with(place));
        let is_meant = |word: &str| meant.is_some_and(|(_, words, _)| words.is_empty() || words.contains(&word));
        let text = std::fs::read_to_string(&file).expect("a source is text");
        for (line, word) in words(&text).into_iter().filter(|(_, word)| names.contains(word.as_str())) {
            if is_meant(&word) {
                unmet.retain(|other| Some(other) != meant);
            } else {
                wrong.push(format!("{path}:{line}: \"{word}\""));
            }
        }
    }
    assert!(wrong.is_empty(), "rows are named outside the table; say what is asked of them in a cell:\n{}", wrong.join("\n"));
    assert!(unmet.is_empty(), "nothing is meant by {unmet:?}");
}

/// Files whose kernels are held, on every device, to what rustc and std compute or to results of more bits.
const OF_NUMBERS: &[&str] = &["language", "math", "host_twin.rs", "float8.rs", "short_floats.rs"];

/// Rows that are in none of these files, where they are tested, and why there.
const ELSEWHERE: &[(&[&str], &str, &str)] = &[
    (&["cluster_rank", "cluster_sync"], "clusters.rs", "few devices have clusters"),
    (
        &[
            "fast_tan",
            "fast_asin",
            "fast_acos",
            "fast_atan",
            "fast_atan2",
            "fast_sinh",
            "fast_cosh",
            "fast_exp_m1",
            "fast_log10",
            "fast_ln_1p",
            "fast_powf",
            "fast_cbrt",
            "fast_hypot",
            "fast_erf",
            "fast_erfc",
        ],
        "math/approximate.rs",
        "no source calls them by name; the test of their bounds asks that it has them all",
    ),
];

/// What kernels and device functions of a source call: words before a bracket or `::<`.
fn called(tokens: TokenStream, is_device: bool, found: &mut BTreeSet<String>) {
    let mut is_marked = false;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                if let Some(TokenTree::Group(attribute)) = tokens.peek() {
                    let first = attribute.stream().into_iter().next().map(|word| word.to_string());
                    is_marked |= first.is_some_and(|word| word == "kernel" || word == "device");
                }
            }
            TokenTree::Group(group) => {
                let is_body = group.delimiter() == Delimiter::Brace;
                called(group.stream(), is_device || is_marked && is_body, found);
                is_marked &= !is_body;
            }
            TokenTree::Ident(name) if is_device => {
                let is_call = match tokens.peek() {
                    Some(TokenTree::Group(next)) => next.delimiter() == Delimiter::Parenthesis,
                    Some(TokenTree::Punct(next)) => next.as_char() == ':',
                    _ => false,
                };
                if is_call {
                    found.insert(name.to_string());
                }
            }
            _ => {}
        }
    }
}

/// No row is without a kernel that asks every device there is for it.
#[test]
fn every_row_is_asked_for_by_a_test_of_numbers() {
    let tests = root().join("tests/tests");
    let mut files = Vec::new();
    for name in OF_NUMBERS {
        let place = tests.join(name);
        if place.is_dir() { sources(&place, &mut files) } else { files.push(place) }
    }
    let of = |file: &Path| {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut found = BTreeSet::new();
        called(text.parse().expect("tokens"), false, &mut found);
        (text, found)
    };
    let asked: BTreeSet<String> = files.iter().flat_map(|file| of(file).1).collect();
    let mut missing = Vec::new();
    for row in intrinsics::rows().filter(|row| row.call != Call::Pass) {
        let elsewhere = ELSEWHERE.iter().find(|(names, ..)| names.contains(&row.name));
        let is_asked = match elsewhere {
            None => asked.contains(row.name),
            Some((_, file, _)) => {
                let (text, found) = of(&tests.join(file));
                assert!(!asked.contains(row.name), "`{}` is asked for, and named among those that are not", row.name);
                found.contains(row.name) || text.contains(&format!("\"{}\"", row.name))
            }
        };
        if !is_asked {
            missing.push(row.name);
        }
    }
    assert!(missing.is_empty(), "no kernel of {OF_NUMBERS:?} asks for {missing:?}");
}

/// In Rust, what `min` of an integer without a type is compared with gives it one, since `min` is of `Ord`.
#[test]
fn methods_of_ord_take_the_type_of_their_arguments() {
    for call in ["min(n)", "max(n)", "clamp(1, n)"] {
        let source = format!("#[kernel] fn k(n: u64, y: &mut Global<u64>) {{ let a = 3; y[global_id().x] = a.{call}; }}");
        let compiled = compile_text("kernel.rs", &source, "k", &Instance::default());
        assert!(compiled.is_ok(), "{call}: {:?}", compiled.err().map(|found| found.iter().map(|d| d.message.clone()).collect::<Vec<_>>()));
    }
}

/// `sin`, `cos` and `tanh` take subnormals as they are, and `ex2` gives zero for them; the other instructions of the special-function unit are scaled round (the assembler's code).
#[test]
fn scaling_round_special_functions_is_counted() {
    let single = |name: &str| {
        let row: &'static Intrinsic = intrinsics::function_for(name, Type::F32).expect("the table has it").row();
        let mut kernel = Kernel::new("k", KernelOptions::default());
        let body = kernel.body;
        let args: Vec<_> = row.args.iter().map(|_| kernel.add_param(body, Type::F32)).collect();
        let inst = Builder::new(&mut kernel, body, Loc(0)).push(Op::Intrinsic(IntrinsicId(row), args), &[Type::F32]);
        mix::cost(&kernel, inst).of(Pipe::Single)
    };
    assert_eq!(["native_sin", "native_cos", "native_tanh", "native_exp2"].map(single), [0.0; 4]);
    assert_eq!(["native_log2", "native_sqrt", "native_rsqrt", "native_recip"].map(single), [2.0; 4]);
}

/// A row as `docs/intrinsics.md` has it.
fn line(row: &Intrinsic) -> String {
    let operand = |operand: &OperandType| match operand {
        OperandType::T => "T".to_owned(),
        OperandType::UnsignedT => "unsigned T".to_owned(),
        OperandType::Is(ty) => ty.to_string(),
        OperandType::Index => "usize".to_owned(),
        OperandType::Lane => "lane".to_owned(),
    };
    let (receiver, args) = match (row.call, row.args.split_first()) {
        (Call::Method, Some((_, others))) => ("x.", others),
        (Call::Associated, _) => ("T::", row.args),
        (Call::Function | Call::Method | Call::Pass | Call::Collective, _) => ("", row.args),
    };
    let list = |operands: &[OperandType]| operands.iter().map(operand).collect::<Vec<_>>().join(", ");
    let gives = match row.results {
        [] => String::new(),
        [one] => format!(" -> {}", operand(one)),
        several => format!(" -> ({})", list(several)),
    };
    let types = match row.over {
        Class::None => String::new(),
        Class::Float => "floats".to_owned(),
        Class::Int => "integers".to_owned(),
        Class::Signed => "signed integers".to_owned(),
        Class::Unsigned => "unsigned integers".to_owned(),
        Class::Num => "numbers".to_owned(),
        Class::Scalar => "scalars".to_owned(),
        Class::Only(types) => types.iter().map(|ty| format!("`{ty}`")).collect::<Vec<_>>().join(" "),
    };
    let oldest = TARGETS.iter().map(|target| target.capability).min().expect("there are targets");
    let forms = row.device().map_or(&[][..], |device| device.ptx);
    let needs = forms.iter().map(|form| form.needs.capability).min().filter(|capability| *capability > oldest);
    let slots = row.device().map_or("—".to_owned(), |_| row.cost.to_string());
    let needs = needs.map_or(String::new(), |capability| format!("sm_{capability}"));
    let import = if row.module.is_empty() { String::new() } else { format!("; `use {}::{}`", row.module, row.name) };
    format!("| `{receiver}{}({}){gives}` | {types} | {}{import} | {} | {slots} | {needs} |", row.name, list(args), row.doc, row.accuracy)
}

/// What rows say is imported from a module, the prelude does not have.
#[test]
fn functions_are_imported_from_where_their_rows_say() {
    let read = |path: &str| std::fs::read_to_string(root().join("runtime/src").join(path)).expect("a source is text");
    let (prelude, warp) = (read("prelude/mod.rs"), read("warp.rs"));
    let has = |text: &str, name: &str| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name);
    let exported: String = prelude.lines().filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n");
    for row in intrinsics::rows().filter(|row| row.call == Call::Function) {
        assert!(row.module.is_empty() || !has(&exported, row.name), "{} in the prelude", row.name);
        assert_eq!(has(&warp, row.name), row.module == "warpwright::warp", "{} in `warp`", row.name);
    }
}

/// What users read of a row is the row.
#[test]
fn the_reference_says_what_the_rows_say() {
    let titles = [
        "Floats",
        "Floats of 8 bits",
        "Mathematical functions",
        "The hardware's approximations",
        "What `math = fast` calls in the place of methods",
        "Integers",
        "Bits",
        "Warps",
        "Blocks and fences",
        "Clusters",
        "Scans",
        "What the compiler does not look into",
    ];
    // Those that passes place are nobody else's to call.
    let families: Vec<_> = FAMILIES.iter().filter(|rows| rows.iter().any(|row| row.call != Call::Pass)).collect();
    assert_eq!(titles.len(), families.len());
    let table = |(title, rows): (&str, &&[Intrinsic])| {
        let lines: Vec<String> = rows.iter().filter(|row| row.call != Call::Pass).map(line).collect();
        format!("\n## {title}\n\n| call | types | result | error | slots | needs |\n|---|---|---|---|---|---|\n{}", lines.join("\n"))
    };
    let tables: Vec<String> = titles.into_iter().zip(families).map(table).collect();
    hold(&root().join("docs/intrinsics.md"), &[("intrinsics", tables.join("\n"))]);
}
