//! File tests: a kernel in, the expected text beside it. Every file under `tests/filetests/` is one, or is what one expects.
//!
//! **`*.ir`**: a kernel in the text form, whose leading comments say what is done with it, and behind `// gives` what comes of it.
//!
//! ```text
//! // test fold dce              these passes, in this order
//! // test schedule              the annotations' passes; or why they cannot be kept
//! // test verify                nothing: which invariants it breaks
//! // test opencl                the back end's text
//! // test ptx sm_90
//! ```
//!
//! **`*.rs`**: one kernel in Rust. Each command has a file of its own beside it.
//!
//! ```text
//! // test ir [built|scheduled|legal|addressed] [after PASS] [locations]     NAME.STAGE.ir, NAME.PASS.ir
//! // test ir engine                                               NAME.engine.ir: `scheduled` for machines with a copy engine
//! // test ptx sm_90                                              NAME.sm_90.ptx
//! // test opencl                                                 NAME.cl
//! // test rust [sm_90]                                           NAME.rust.txt, NAME.sm_90.rust.txt: the kernel after its annotations, for all devices or a target
//! // test errors                                                 NAME.errors.txt: all that is wrong with it
//! // test warnings                                               NAME.warnings.txt: what `best_effort` let pass
//! // test lints [sm_80 …]                                        NAME.lints.txt: what the lints find in all kernels of the file, on these
//!                                                                targets or those that count where nothing is said; declared variants
//! // kernel module::name                                         which one, if there are several
//! // set N=16                                                    a generic of the kernel: a number, `true`, or a type
//! ```
//!
//! `WARPWRIGHT_BLESS=1` writes what comes out instead of comparing it, and refuses where `CI` is set.
//! `WARPWRIGHT_FILETEST=text` runs only files whose path has the text in it. A command that does not exist and a file that nobody
//! expects are failures.

use proc_macro2::Span;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use warpwright_codegen::backend::opencl::{OpenCl, emit_opencl};
use warpwright_codegen::backend::ptx::{Ptx, emit_ptx};
use warpwright_codegen::backend::rust::Rust;
use warpwright_codegen::backend::{BACKENDS, Backend, Emitted};
use warpwright_codegen::diagnostic::{Diagnostics, Level};
use warpwright_codegen::hir::{Lowered, declared_instances};
use warpwright_codegen::ir::{Kernel, Location, Scalar};
use warpwright_codegen::passes;
use warpwright_codegen::pipeline::{self, Addressed, Built, Legal, Scheduled};
use warpwright_codegen::schedule::Refusal;
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance, KernelAttributes, Program, Unit};
use warpwright_codegen::target::{Target, Targets};
use warpwright_codegen::text::parse_kernel;
use warpwright_codegen::verify::{Violation, verify};
use warpwright_review::{ReviewScope, review};

/// Between a kernel and what comes of it in `*.ir` files.
const GIVES: &str = "// gives\n";

#[test]
fn files_give_what_stands_beside_them() {
    let var = |name| std::env::var(name).ok();
    let bless = is_blessing(var("WARPWRIGHT_BLESS").as_deref(), var("CI").as_deref()).unwrap_or_else(|refusal| panic!("{refusal}"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests");
    let report = run_folder(&root, bless, var("WARPWRIGHT_FILETEST").as_deref());
    println!("{} file tests, {} failed", report.run, report.failures.len());
    assert!(report.run > 0, "no file test ran");
    assert!(report.failures.is_empty(), "{}\n\n(WARPWRIGHT_BLESS=1 writes what comes out)", report.failures.join("\n\n"));
}

/// Whether to write instead of to compare.
fn is_blessing(bless: Option<&str>, ci: Option<&str>) -> Result<bool, String> {
    let is_set = |value: Option<&str>| value.is_some_and(|value| !value.is_empty() && value != "0");
    if is_set(bless) && is_set(ci) {
        return Err("WARPWRIGHT_BLESS is set and so is CI: what is expected is not written there".to_owned());
    }
    Ok(is_set(bless))
}

#[derive(Default)]
struct Report {
    run: usize,
    failures: Vec<String>,
}

/// Runs every file under `root` whose path has `filter` in it.
fn run_folder(root: &Path, bless: bool, filter: Option<&str>) -> Report {
    let mut folder = Folder { root, bless, filter, report: Report::default(), expected: BTreeSet::new(), failed: Vec::new() };
    let mut files = BTreeSet::new();
    if let Err(error) = list_files(root, &mut files) {
        folder.report.failures.push(format!("{}: {error}", root.display()));
    }
    let (sources, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| path.extension().is_some_and(|e| e == "rs"));
    for path in sources {
        folder.run(&path, |text| rust_outputs(&path, text));
    }
    for path in others {
        // Beside a source that failed, its outputs are no failures too.
        if folder.expected.contains(&path) || folder.failed.iter().any(|source| belongs_to(&path, source)) {
            continue;
        }
        if path.extension().is_some_and(|e| e == "ir") {
            folder.run(&path, |text| Ok(vec![(path.clone(), ir_output(text)?)]));
        } else {
            folder.report.failures.push(format!("{}: nothing expects this file", relative(root, &path)));
        }
    }
    folder.report
}

struct Folder<'a> {
    root: &'a Path,
    bless: bool,
    filter: Option<&'a str>,
    report: Report,
    /// Files that a test has written or compared.
    expected: BTreeSet<PathBuf>,
    /// Tests whose outputs are not known.
    failed: Vec<PathBuf>,
}

/// Whether `path` is `NAME.something` to the source `NAME.rs`.
fn belongs_to(path: &Path, source: &Path) -> bool {
    let stem = source.with_extension("");
    path.to_string_lossy().strip_prefix(&*stem.to_string_lossy()).is_some_and(|rest| rest.starts_with('.'))
}

impl Folder<'_> {
    /// Runs the test in `path`: what `outputs` makes of its text is what the files named should have in them.
    fn run(&mut self, path: &Path, outputs: impl FnOnce(&str) -> Result<Vec<(PathBuf, String)>, String>) {
        let name = relative(self.root, path);
        let outputs = fs::read_to_string(path).map_err(|error| error.to_string()).and_then(|text| outputs(&text));
        match &outputs {
            Ok(outputs) => self.expected.extend(outputs.iter().map(|(path, _)| path.clone())),
            Err(_) => self.failed.push(path.to_owned()),
        }
        if self.filter.is_some_and(|filter| !name.contains(filter)) {
            return;
        }
        self.report.run += 1;
        let check = |(path, text): &(PathBuf, String)| check_output(self.root, path, text, self.bless);
        if let Err(failure) = outputs.and_then(|outputs| outputs.iter().try_for_each(check)) {
            self.report.failures.push(format!("{name}: {failure}"));
        }
    }
}

fn list_files(folder: &Path, files: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list_files(&path, files)?;
        } else {
            files.insert(path);
        }
    }
    Ok(())
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Compares or, blessing, writes.
fn check_output(root: &Path, path: &Path, text: &str, bless: bool) -> Result<(), String> {
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == text {
        return Ok(());
    }
    if bless {
        return fs::write(path, text).map_err(|error| error.to_string());
    }
    let diff = similar::TextDiff::from_lines(expected.as_str(), text);
    let unified = diff.unified_diff().context_radius(4).header("expected", "found").to_string();
    Err(format!("{} differs\n{unified}", relative(root, path)))
}

/// The words behind `// KEY` in the comments on top.
fn directives<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let comments = text.lines().take_while(|line| line.starts_with("//") || line.trim().is_empty());
    let directive = |line: &'t str| line.strip_prefix("//")?.trim_start().strip_prefix(key)?.strip_prefix(' ').map(str::trim);
    comments.filter_map(directive).collect()
}

/// What an `*.ir` file should be: itself up to `// gives`, and what comes out.
fn ir_output(text: &str) -> Result<String, String> {
    let commands = directives(text, "test");
    let [command] = commands[..] else { return Err(format!("one `// test …` line expected, found {}", commands.len())) };
    let input = text.split_once(GIVES).map_or(text, |(input, _)| input);
    let kernel = parse_kernel(input).map_err(|error| error.to_string())?;
    let separator = if input.ends_with('\n') { "" } else { "\n" };
    Ok(format!("{input}{separator}{GIVES}{}", ir_result(kernel, command)?))
}

fn ir_result(mut kernel: Kernel, command: &str) -> Result<String, String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["verify"] => {
            let violations = verify(&kernel).err().unwrap_or_default();
            let lines: String = violations.iter().map(|violation| format!("// {violation}\n")).collect();
            Ok(if lines.is_empty() { "// lawful\n".to_owned() } else { lines })
        }
        ["opencl"] => text_of(emit_opencl(&Legal::verified(kernel).map_err(unlawful)?, &|_| Span::call_site()), &Program::default()),
        ["ptx", name] => {
            let (kernel, target) = (Addressed::verified(kernel).map_err(unlawful)?, target(name)?);
            text_of(emit_ptx(&kernel, target, &|_| Span::call_site()), &Program::default())
        }
        ["schedule"] => {
            let built = Built::verified(kernel).map_err(unlawful)?;
            let (scheduled, findings) = built.schedule(&[]);
            let findings: String = findings.iter().map(|finding| found(finding, &built)).collect();
            let Some(kernel) = scheduled else { return Ok(findings) };
            require_lawful(&kernel)?;
            Ok(format!("{findings}{kernel}"))
        }
        [] => Err("`// test` names no command".to_owned()),
        _ => {
            require_lawful(&kernel)?;
            for word in words {
                run_pass(&mut kernel, word)?;
            }
            Ok(kernel.to_string())
        }
    }
}

/// A promise that cannot be kept, in comments.
fn found(finding: &Refusal, kernel: &Kernel) -> String {
    let place = |loc| {
        let Location { line, column, .. } = kernel.locations[loc];
        format!("{line}:{column}")
    };
    let level = if finding.is_warning { "warning" } else { "error" };
    let mut text = format!("// {level} @{}: {}\n", place(finding.loc), finding.message);
    for (loc, label) in &finding.labels {
        text.push_str(&format!("//   label @{}: {label}\n", place(*loc)));
    }
    text + &format!("//   help: {}\n", finding.help)
}

/// Runs one pass alone.
fn run_pass(kernel: &mut Kernel, name: &str) -> Result<(), String> {
    let pass = [passes::OPTIMIZE, passes::ADDRESS, passes::CONVERGE, passes::PLACE].into_iter().flatten().find(|pass| pass.name == name);
    let pass = pass.ok_or_else(|| format!("`{name}` is no command and no pass; passes are {}", passes::pass_names().join(", ")))?;
    (pass.run)(kernel);
    require_lawful(kernel).map_err(|violations| format!("after `{name}`: {violations}"))
}

fn require_lawful(kernel: &Kernel) -> Result<(), String> {
    verify(kernel).map_err(|violations| format!("{}\n{kernel:#}", unlawful(violations)))
}

fn unlawful(violations: Vec<Violation>) -> String {
    let lines: Vec<_> = violations.iter().map(|violation| format!("  {violation}")).collect();
    format!("the kernel breaks an invariant\n{}", lines.join("\n"))
}

/// The files that a `*.rs` file's commands give.
fn rust_outputs(path: &Path, text: &str) -> Result<Vec<(PathBuf, String)>, String> {
    let commands = directives(text, "test");
    if commands.is_empty() {
        return Err("no `// test …` line".to_owned());
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let mut outputs: Vec<(PathBuf, String)> = Vec::new();
    for command in commands {
        let (extension, output) = rust_result(&file, text, command).map_err(|error| format!("`// test {command}`: {error}"))?;
        let output = (path.with_extension(extension), output);
        if outputs.iter().any(|(path, _)| *path == output.0) {
            return Err(format!("two commands write {}", output.0.display()));
        }
        outputs.push(output);
    }
    Ok(outputs)
}

/// The extension and the text of a command's file.
fn rust_result(file: &str, text: &str, command: &str) -> Result<(String, String), String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["ir", ref words @ ..] => ir_of_rust(file, text, words),
        ["opencl"] => Ok(("cl".to_owned(), printed(file, text, &OpenCl, None)?)),
        ["ptx", name] => Ok((format!("{name}.ptx"), printed(file, text, &Ptx, Some(target(name)?))?)),
        ["rust"] => Ok(("rust.txt".to_owned(), printed(file, text, &Rust, None)?)),
        ["rust", name] => Ok((format!("{name}.rust.txt"), printed(file, text, &Rust, Some(target(name)?))?)),
        ["errors"] => match compile(file, text) {
            Ok(_) => Err("there are none".to_owned()),
            Err(errors) => Ok(("errors.txt".to_owned(), errors)),
        },
        ["warnings"] => {
            let (program, lowered) = compile(file, text)?;
            let warnings = render(&lowered.warnings, &program);
            if warnings.is_empty() { Err("there are none".to_owned()) } else { Ok(("warnings.txt".to_owned(), warnings)) }
        }
        ["lints", ref targets @ ..] => Ok(("lints.txt".to_owned(), lints(file, text, targets)?)),
        [name] => {
            let backend = BACKENDS.iter().find(|backend| backend.language().name == name).ok_or("no such command")?;
            Ok((format!("{name}.txt"), printed(file, text, *backend, None)?))
        }
        _ => Err("no such command".to_owned()),
    }
}

/// What a review finds in every kernel of a file: of its declared variants, or of the one instance that is set.
fn lints(file: &str, text: &str, targets: &[&str]) -> Result<String, String> {
    let mut asked = Targets::default();
    targets.iter().try_for_each(|name| asked.add(name).map_err(|unknown| unknown.to_string()))?;
    let mut program = Program::default();
    let unit = Unit::parse(file, 1, 1, text).map_err(|findings| render(&findings, &Program::default()))?;
    let unit = program.add(unit);
    let mut all = String::new();
    for (path, item) in program.units[unit.0].kernels() {
        let declared = declared_instances(&program, unit, &path).map_err(|findings| render(&findings, &program))?;
        let instances = if declared.is_empty() { vec![instance(&item.sig.generics, &directives(text, "set"))?] } else { declared };
        let attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).unwrap_or_default();
        let targets = if asked.is_empty() { attributes.targets_or(None) } else { asked.clone() };
        let scope = ReviewScope { targets: &targets, findings: None, most: usize::MAX };
        let found = review(&program, unit, &path, &instances, scope, None);
        let found = if found.is_empty() { "nothing\n".to_owned() } else { render(&found, &program) };
        all.push_str(&format!("`{path}`\n{found}\n"));
    }
    all.truncate(all.trim_end().len());
    Ok(all + "\n")
}

fn ir_of_rust(file: &str, text: &str, words: &[&str]) -> Result<(String, String), String> {
    let (words, locations) = match words {
        [words @ .., "locations"] => (words, true),
        words => (words, false),
    };
    let text_of = |kernel: &Kernel| if locations { kernel.to_string() } else { kernel.text_without_locations() };
    let (name, kernel) = match words {
        ["built"] => ("built", Kernel::clone(&lower(file, text)?.1.kernel)),
        ["scheduled"] => ("scheduled", Kernel::clone(&compile(file, text)?.1.kernel)),
        [] | ["legal"] => ("legal", Kernel::clone(compile(file, text)?.1.kernel.legal())),
        ["addressed"] => ("addressed", Kernel::clone(compile(file, text)?.1.kernel.legal().addressed())),
        ["engine"] => {
            let lowered = compile(file, text)?.1;
            let engine = lowered.kernel.for_engine().ok_or("there is no form for the copy engine")?;
            require_lawful(engine.legal())?;
            require_lawful(engine.legal().addressed())?;
            ("engine", Kernel::clone(engine))
        }
        ["after", pass] => {
            let kernel = compile(file, text)?.1.kernel.after(pass, &mut Vec::new()).map_err(|error| error.to_string())?;
            // Between the passes of a stage the kernel may be neither of the one before nor of the next.
            return Ok((format!("{pass}.ir"), text_of(&kernel)));
        }
        _ => return Err("`built`, `scheduled`, `legal`, `addressed` or `after PASS` expected".to_owned()),
    };
    require_lawful(&kernel)?;
    Ok((format!("{name}.ir"), text_of(&kernel)))
}

/// Lowers the file's kernel, in the program that its findings are about; what is wrong with it as text.
fn lower(file: &str, text: &str) -> Result<(Program, Lowered<Built>), String> {
    let mut program = Program::default();
    let unit = Unit::parse(file, 1, 1, text).map_err(|findings| render(&findings, &Program::default()))?;
    let unit = program.add(unit);
    let kernels = program.units[unit.0].kernels();
    let name = match (directives(text, "kernel").first(), &kernels[..]) {
        (Some(name), _) => (*name).to_owned(),
        (None, [(name, _)]) => name.clone(),
        (None, all) => return Err(format!("`// kernel NAME` is needed: the file has {} kernels", all.len())),
    };
    let item = program.units[unit.0].kernel(&name).map_err(|findings| render(&findings, &program))?;
    let instance = instance(&item.sig.generics, &directives(text, "set"))?;
    let lowered = pipeline::lower(&program, unit, &name, &instance).map_err(|findings| render(&findings, &program))?;
    Ok((program, lowered))
}

/// The same with its annotations kept.
fn compile(file: &str, text: &str) -> Result<(Program, Lowered<Scheduled>), String> {
    let (program, built) = lower(file, text)?;
    require_lawful(&built.kernel)?;
    let lowered = built.schedule().map_err(|found| render(&found, &program))?;
    require_lawful(&lowered.kernel)?;
    Ok((program, lowered))
}

/// The file's kernel as a back end prints it.
fn printed(file: &str, text: &str, backend: &dyn Backend, target: Option<&Target>) -> Result<String, String> {
    let (program, lowered) = compile(file, text)?;
    require_lawful(lowered.kernel.legal())?;
    require_lawful(lowered.kernel.legal().addressed())?;
    text_of(lowered.emit(backend, target), &program)
}

/// The text, or what was refused.
fn text_of(emitted: Result<Emitted, Diagnostics>, program: &Program) -> Result<String, String> {
    emitted.map(|emitted| emitted.text).map_err(|findings| format!("refused\n{}", render(&findings, program)))
}

fn target(name: &str) -> Result<&'static Target, String> {
    Target::find(name).map_err(|unknown| unknown.to_string())
}

/// `N=16`, `F=true`, `T=f32`, one for each generic.
fn instance(generics: &syn::Generics, set: &[&str]) -> Result<Instance, String> {
    let mut values = Vec::new();
    for param in &generics.params {
        let (name, is_type) = match param {
            syn::GenericParam::Type(param) => (&param.ident, true),
            syn::GenericParam::Const(param) => (&param.ident, false),
            syn::GenericParam::Lifetime(_) => continue,
        };
        let value = set.iter().find_map(|set| set.split_once('=').filter(|(key, _)| name == key.trim())).map(|(_, value)| value.trim());
        let value = value.ok_or_else(|| format!("`// set {name}=…` is needed"))?;
        values.push(if is_type { GenericValue::Type(value.to_owned()) } else { GenericValue::Const(constant(value)?) });
    }
    if values.len() != set.len() {
        return Err(format!("{} generics, {} `// set` lines", values.len(), set.len()));
    }
    Ok(Instance { generics: values })
}

fn constant(text: &str) -> Result<ConstValue, String> {
    match text.parse::<bool>() {
        Ok(value) => Ok(ConstValue::Scalar(Scalar::bool(value))),
        Err(_) => {
            text.parse().map(|value| ConstValue::Index(value, false)).map_err(|_| format!("`{text}` is no number, `true` or `false`"))
        }
    }
}

/// `error: file:line:column: message`, `help: …`.
fn render(findings: &Diagnostics, program: &Program) -> String {
    let mut text = String::new();
    for finding in findings.iter() {
        let level = if finding.level == Level::Error { "error" } else { "warning" };
        let lint = finding.lint.map(|name| format!("[{name}]")).unwrap_or_default();
        let place = program.place(finding.span).map(|place| format!("{place}: ")).unwrap_or_default();
        text.push_str(&format!("{level}{lint}: {place}{}\n", finding.message));
        for (span, label) in &finding.labels {
            let place = program.place(*span).map(|place| format!("{place}: ")).unwrap_or_default();
            text.push_str(&format!("  label: {place}{label}\n"));
        }
        if let Some(help) = &finding.help {
            text.push_str(&format!("  help: {help}\n"));
        }
    }
    text
}

/// An empty folder for a test of the harness itself.
fn scratch(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("filetests").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        fs::write(folder.join(file), text).unwrap();
    }
    folder
}

const LAWFUL: &str = "kernel \"k\" built\n{\n  v0: u32 = const 1\n  return\n}\n";

#[test]
fn blessing_is_refused_under_ci() {
    assert_eq!(is_blessing(None, None), Ok(false));
    assert_eq!(is_blessing(Some("1"), None), Ok(true));
    assert_eq!(is_blessing(Some("0"), Some("true")), Ok(false));
    assert_eq!(is_blessing(None, Some("true")), Ok(false));
    assert!(is_blessing(Some("1"), Some("true")).is_err());
}

#[test]
fn differences_fail_and_blessing_mends_them() {
    let folder = scratch("differences", &[("a.ir", &format!("// test dce\n{LAWFUL}// gives\nsomething else\n"))]);
    let report = run_folder(&folder, false, None);
    assert_eq!((report.run, report.failures.len()), (1, 1));
    assert!(report.failures[0].contains("-something else"), "{}", report.failures[0]);
    assert!(report.failures[0].contains("+kernel \"k\" built"), "{}", report.failures[0]);
    assert_eq!(run_folder(&folder, true, None).failures, Vec::<String>::new());
    assert_eq!(run_folder(&folder, false, None).failures, Vec::<String>::new());
    let text = fs::read_to_string(folder.join("a.ir")).unwrap();
    assert!(text.ends_with("// gives\nkernel \"k\" built\n{\n  return\n}\n"), "{text}");
}

#[test]
fn unknown_commands_orphans_and_silent_files_fail() {
    let broken = LAWFUL.replace("const 1", "lane_id.y");
    let files = [
        ("a.ir", format!("// test frobnicate\n{LAWFUL}")),
        ("b.ir", LAWFUL.to_owned()),
        ("c.ir", format!("// test dce\n{broken}")),
        ("d.rs", "// test gl\n#[kernel] fn k() {}\n".to_owned()),
        ("e.rs", "#[kernel] fn k() {}\n".to_owned()),
        ("f.txt", "orphan".to_owned()),
        ("g.ir", "// test dce\nkernel?".to_owned()),
        ("h.legal.ir", "not compared".to_owned()),
        ("h.rs", "// test ir after nothing\n#[kernel] fn k() {}\n".to_owned()),
    ];
    let folder = scratch("unknown", &files.each_ref().map(|(name, text)| (*name, text.as_str())));
    let report = run_folder(&folder, true, None);
    let expected = [
        ("d.rs", "no such command"),
        ("e.rs", "no `// test"),
        ("h.rs", "no pass is called `nothing`"),
        ("a.ir", "`frobnicate` is no command and no pass"),
        ("b.ir", "one `// test …` line expected, found 0"),
        ("c.ir", "`lane_id` has no axes"),
        ("f.txt", "nothing expects this file"),
        ("g.ir", "line 2: a string expected"),
    ];
    assert_eq!(report.failures.len(), expected.len(), "{:#?}", report.failures);
    for (failure, (file, words)) in report.failures.iter().zip(expected) {
        assert!(failure.starts_with(file) && failure.contains(words), "{failure}");
    }
}
