//! Faults that the simulator finds: kernels from source, in `tests/messages/faults`, and IR with a line left out, where no source leads to a fault.

use super::page::{Entry, Section};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::ir::{Kernel, ObjectKind};
use warpwright_codegen::pipeline::lower_with_calls;
use warpwright_codegen::syntax::{Instance, Program, Unit};
use warpwright_codegen::text::parse_kernel;
use warpwright_codegen::verify::verify;
use warpwright_runtime::sim::{Error, Fault, FaultKind, SimArgument, SimLaunch, SimOptions, SimProgram};
use warpwright_tests::command::root;
use warpwright_tests::messages::{Example, examples};

/// The files of examples: what each is about.
const FILES: &[(&str, &str)] = &[
    ("memory", "Memory"),
    ("arithmetic", "Arithmetic"),
    ("races", "Races"),
    ("meetings", "Barriers, and what a warp does together"),
    ("loops", "Loops that do not end"),
    ("clusters", "Clusters"),
    ("copies", "Copies on their way"),
    ("engine", "Mistakes of the compiler"),
];

/// Elements of each buffer. None has more than 4 bytes.
const ELEMENTS: usize = 256;

/// What an example says of its launch: `// launch: grid = 2, n = 5, overflow`.
struct Asked {
    grid: u32,
    options: SimOptions,
    values: Vec<(String, u32)>,
}

fn asked(text: &str) -> Asked {
    let line = text.lines().find_map(|line| line.strip_prefix("// launch: ")).unwrap_or_else(|| panic!("no launch in\n{text}"));
    // One thread of the system, so that the first to be at fault is always the same.
    let options = SimOptions { workers: 1, ..SimOptions::default() };
    let mut asked = Asked { grid: 1, options, values: Vec::new() };
    for part in line.split(", ") {
        match part.split_once(" = ") {
            None if part == "overflow" => asked.options.overflow = true,
            Some(("grid", blocks)) => asked.grid = blocks.parse().expect("a number of blocks"),
            Some(("loops", turns)) => asked.options.loop_limit = turns.parse().expect("a number of turns"),
            Some((name, value)) => asked.values.push((name.to_owned(), value.parse().expect("a value"))),
            None => panic!("`{part}` is no part of a launch"),
        }
    }
    asked
}

/// A kernel with an edit made in its text: `left out: barrier_init`, `doubled: copy_run`, `replaced: const 256 => const 128`; at the first line where it can be made, or,
/// with `, the second`, at the next. `moved: await_stores => put_tile`: to before the last line of these words. `left out everywhere: @`: words that begin so.
fn edited(ir: &str, edit: &str) -> Result<Kernel, String> {
    let (what, words) = edit.split_once(": ").expect("an edit and its words");
    let (what, skipped) = what.strip_suffix(", the second").map_or((what, 0), |what| (what, 1));
    let (from, to) = words.split_once(" => ").unwrap_or((words, ""));
    let holds = |line: &str| if what == "replaced" { line.contains(from) } else { line.trim_start().starts_with(from) };
    let mut lines: Vec<String> = ir.lines().map(str::to_owned).collect();
    if what == "left out everywhere" {
        let without = |line: &String| line.split(' ').filter(|word| !word.starts_with(from)).collect::<Vec<_>>().join(" ");
        return checked(&lines.iter().map(without).collect::<Vec<_>>());
    }
    let at = (0..lines.len()).filter(|at| holds(&lines[*at])).nth(skipped).ok_or_else(|| format!("no line with `{from}` in\n{ir}"))?;
    match what {
        "left out" => drop(lines.remove(at)),
        "doubled" => lines.insert(at, lines[at].clone()),
        "replaced" => lines[at] = lines[at].replace(from, to),
        "moved" => {
            let line = lines.remove(at);
            let before = lines.iter().rposition(|line| line.trim_start().starts_with(to)).ok_or_else(|| format!("no line with `{to}`"))?;
            lines.insert(before, line);
        }
        _ => return Err(format!("`{what}` is no edit")),
    }
    checked(&lines)
}

/// The kernel of a text, if it is one.
fn checked(lines: &[String]) -> Result<Kernel, String> {
    let text = lines.join("\n") + "\n";
    let kernel = parse_kernel(&text).map_err(|error| error.message)?;
    verify(&kernel).map_err(|violations| violations[0].to_string())?;
    Ok(kernel)
}

/// Runs an example; gives its fault.
fn fault_of(text: &str) -> Result<Box<Fault>, String> {
    let asked = asked(text);
    let name = text.split("fn ").nth(1).and_then(|rest| rest.split('(').next()).expect("a kernel");
    let said = |found: Diagnostics| found.iter().map(|finding| finding.message.clone()).collect::<Vec<String>>().join("; ");
    let mut program = Program::default();
    let unit = program.add(Unit::parse("example.rs", 1, 1, text).map_err(said)?);
    let lowered = lower_with_calls(&program, unit, name, &Instance::default()).and_then(|built| built.schedule()).map_err(said)?;
    let legal = lowered.kernel.legal();
    let form: &Kernel = legal.forms().next().unwrap_or(legal);
    let edited = match text.lines().find_map(|line| line.strip_prefix("// in its IR, ")) {
        Some(edit) => Some(edited(&form.to_string(), edit)?),
        None => None,
    };
    let kernel = edited.as_ref().unwrap_or(form);
    let value = |name: &str| asked.values.iter().find(|(known, _)| known == name).map_or(0, |(_, value)| *value).to_le_bytes();
    let mut bytes: Vec<Vec<u8>> = Vec::new();
    for object in &kernel.params {
        let data = &kernel.objects[*object];
        bytes.push(if matches!(data.kind, ObjectKind::Global { .. }) { vec![0; ELEMENTS * 4] } else { value(&data.name).to_vec() });
    }
    let mut arguments: Vec<SimArgument<'_>> = Vec::new();
    for (object, bytes) in kernel.params.iter().zip(&mut bytes) {
        arguments.push(match kernel.objects[*object].kind {
            ObjectKind::Global { writable: true } => SimArgument::Global { bytes },
            ObjectKind::Global { writable: false } => SimArgument::GlobalReadOnly { bytes },
            _ => SimArgument::Value(bytes),
        });
    }
    let launch = SimLaunch { grid: [asked.grid, 1, 1], block: kernel.options.block.expect("a block"), shared_bytes: 0 };
    let ran = SimProgram::compile_with(kernel, asked.options).and_then(|program| program.run(&launch, &mut arguments));
    match ran {
        Err(Error::Fault(fault)) => Ok(fault),
        Err(other) => Err(other.to_string()),
        Ok(_) => Err("it runs".to_owned()),
    }
}

/// The name of a variant, of what `Debug` writes.
pub(super) fn variant(written: &str) -> String {
    written.chars().take_while(|c| c.is_alphanumeric()).collect()
}

/// What stands for a fault in the list of all: `Race`, `BarrierMisused::NotMade`.
fn kind(fault: &Fault) -> String {
    match &fault.kind {
        FaultKind::BarrierMisused { misuse, .. } => format!("BarrierMisused::{}", variant(&format!("{misuse:?}"))),
        other => variant(&format!("{other:?}")),
    }
}

/// The faults, file by file.
pub(super) fn entries() -> Vec<Section> {
    let one_file = |(file, title): &(&str, &'static str)| {
        let path = root().join(format!("tests/messages/faults/{file}.rs"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let one = |Example { title, text }: Example| {
            let fault = fault_of(&text).unwrap_or_else(|why| panic!("{title}: {why}"));
            Entry { title, shown: format!("```rust,ignore\n{text}```"), kind: kind(&fault), said: fault.to_string() }
        };
        Section { title, files: Vec::new(), items: String::new(), entries: examples(&text).into_iter().map(one).collect() }
    };
    FILES.iter().map(one_file).collect()
}
