//! Errors of a program: each example is a function that fails, and the page shows its body.

mod buffers;
mod collectives;
mod cuda;
mod cudarc;
mod drivers;
mod dynamic;
mod graphs;
mod launches;
mod limits;
mod matrices;
mod memory;
mod nccl;
mod no_driver;
mod no_seed;
mod no_threads;
mod no_turns;
mod old_driver;
mod opencl;
mod other_libraries;
mod ptxas;
mod several;
mod simulator;
mod staples;
mod trap;
mod tuned;
mod twin;
mod views;

use super::page::{Entry, Section};
use std::fmt::{Debug, Display};
use warpwright::Device;

/// A function that fails, with its name. Its error is told as `NoGrid: kernel …`.
type Example = (&'static str, fn(&Device) -> Result<(), String>);

/// Functions of examples, and the list of them; before them, where their errors are no `warpwright::Error`, the type of these, and what stands before the names of its variants.
macro_rules! examples {
    ($error:ty, $of:literal; $($(#[$about:meta])* fn $name:ident($device:ident) $body:block)*) => {
        $($(#[$about])* fn $name($device: &warpwright::Device) -> ::std::result::Result<(), $error> $body)*

        pub(super) const EXAMPLES: &[$crate::host::Example] =
            &[$((stringify!($name), |device| $name(device).map_err(|error| $crate::host::told($of, &error)))),*];
    };
    ($($examples:tt)*) => {
        $crate::host::examples! { warpwright::Error, ""; $($examples)* }
    };
}

use examples;

/// An error: its variant, and what it says.
fn told(of: &str, error: &(impl Debug + Display)) -> String {
    format!("{of}{}: {error}", super::simulated::variant(&format!("{error:?}")))
}

/// The text of an item that begins with these words: its lines up to the brace that closes it.
fn item<'t>(lines: &[&'t str], begins: &str) -> Option<Vec<&'t str>> {
    let at = lines.iter().position(|line| line.trim_start().starts_with(begins))?;
    let margin = lines[at].len() - lines[at].trim_start().len();
    let len = lines[at..].iter().position(|line| line.trim_end() == format!("{}}}", " ".repeat(margin)))?;
    Some(lines[at..=at + len].to_vec())
}

/// The kernels and types of a file of examples.
fn items(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.iter().position(|line| line.starts_with("use ")).unwrap_or(0);
    let uses = lines[from..].iter().take_while(|line| line.starts_with("use ")).count();
    let to = lines.iter().position(|line| line.starts_with("super::examples!")).unwrap_or(lines.len());
    lines[from + uses..to].join("\n").trim().to_owned()
}

/// The entry of an example, whose file has this text, and that said this: `NoGrid: kernel …`.
fn entry(text: &str, name: &str, said: &str) -> Entry {
    let lines: Vec<&str> = text.lines().collect();
    let function = item(&lines, &format!("fn {name}(")).unwrap_or_else(|| panic!("no function `{name}`"));
    let at = lines.iter().position(|line| *line == function[0]).unwrap_or(0);
    let title = lines[at - 1].trim_start().trim_start_matches("/// ").to_owned();
    let body: Vec<&str> = function[1..function.len() - 1]
        .iter()
        .filter(|line| !line.contains("device.synchronize()?;"))
        .map(|line| line.strip_prefix("        ").unwrap_or(line))
        .collect();
    let (kind, said) = said.split_once(": ").unwrap_or_else(|| panic!("{name}: {said}"));
    let kind = if kind == END { "" } else { kind };
    Entry { title, shown: format!("```rust,ignore\n{}\n```", body.join("\n")), kind: kind.to_owned(), said: said.to_owned() }
}

/// Files of examples: what each is about, its text, its functions, and the child in which they run, if not here.
const FILES: &[(&str, &str, &[Example], Option<&str>)] = &[
    ("Launches", include_str!("launches.rs"), launches::EXAMPLES, None),
    ("Buffers, textures, memory of others", include_str!("buffers.rs"), buffers::EXAMPLES, None),
    ("Buffers seen as other elements", include_str!("views.rs"), views::EXAMPLES, None),
    ("Matrices for tensor copies", include_str!("matrices.rs"), matrices::EXAMPLES, None),
    ("The host twin", include_str!("twin.rs"), twin::EXAMPLES, None),
    ("The host twin, without memory", include_str!("memory.rs"), memory::EXAMPLES, Some(EACH)),
    ("A limit of 1000 turns, `WARPWRIGHT_LOOP_LIMIT=1000`", include_str!("limits.rs"), limits::EXAMPLES, Some("limits")),
    ("A limit of turns that is none", include_str!("no_turns.rs"), no_turns::EXAMPLES, Some("no turns")),
    ("A seed of a weak memory that is none", include_str!("no_seed.rs"), no_seed::EXAMPLES, Some("no seed")),
    ("Timing, several devices", include_str!("several.rs"), several::EXAMPLES, None),
    ("Kernels from text", include_str!("dynamic.rs"), dynamic::EXAMPLES, None),
    ("Graphs", include_str!("graphs.rs"), graphs::EXAMPLES, None),
    ("Collectives", include_str!("collectives.rs"), collectives::EXAMPLES, None),
    ("The library of staples", include_str!("staples.rs"), staples::EXAMPLES, None),
    ("Results of tuning", include_str!("tuned.rs"), tuned::EXAMPLES, None),
    ("The simulator by itself", include_str!("simulator.rs"), simulator::EXAMPLES, None),
    ("NVIDIA's assembler", include_str!("ptxas.rs"), ptxas::EXAMPLES, None),
    ("NVIDIA's assembler, without threads", include_str!("no_threads.rs"), no_threads::EXAMPLES, Some(EACH)),
    ("GPUs", include_str!("drivers.rs"), drivers::EXAMPLES, Some("driver")),
    ("GPUs: what does not hold", include_str!("trap.rs"), trap::EXAMPLES, Some("driver, trap")),
    ("GPUs: a driver that fails", include_str!("cuda.rs"), cuda::EXAMPLES, Some(EACH)),
    ("GPUs: `cudarc`", include_str!("cudarc.rs"), cudarc::EXAMPLES, Some(EACH)),
    ("GPUs: ranks and NCCL", include_str!("nccl.rs"), nccl::EXAMPLES, Some(EACH)),
    ("OpenCL devices", include_str!("opencl.rs"), opencl::EXAMPLES, Some(EACH)),
    ("An old driver", include_str!("old_driver.rs"), old_driver::EXAMPLES, Some("old")),
    ("No driver", include_str!("no_driver.rs"), no_driver::EXAMPLES, Some("none")),
    ("Other libraries under the drivers' names", include_str!("other_libraries.rs"), other_libraries::EXAMPLES, Some("other libraries")),
];

/// The child of examples that run each in a child of its own, which is called by this, the title and the example's name.
pub(super) const EACH: &str = "each ";

fn child_of_its_own(title: &str, example: &str) -> String {
    format!("{EACH}{title}: {example}")
}

/// What an example says of the drivers that it meets, in a line `// where cuInit=100, …`: names and values.
fn conditions(text: &'static str, name: &str) -> Vec<(&'static str, &'static str)> {
    let lines: Vec<&'static str> = text.lines().collect();
    let function = item(&lines, &format!("fn {name}(")).unwrap_or_else(|| panic!("no function `{name}`"));
    let told = function.iter().find_map(|line| line.trim_start().strip_prefix("// where "));
    let told = told.unwrap_or_default().split(", ").filter(|one| !one.is_empty());
    told.map(|one| one.split_once('=').unwrap_or_else(|| panic!("{name}: `{one}` is no condition"))).collect()
}

/// Stands for the variant where the program ends with the message.
const END: &str = "the program ends";

/// Stands for the variant where an example does not fail.
const NOTHING: &str = "no error";

/// What an example says: `NoGrid: kernel …`.
fn said((name, run): &Example) -> String {
    match run(&Device::simulator()) {
        Ok(()) => format!("{NOTHING}: `{name}` does not fail"),
        Err(said) => said,
    }
}

/// Runs the examples of a child, and prints what they say.
pub(super) fn print(child: &str) {
    for (title, _, examples, of) in FILES {
        let is_meant = |name: &str| if *of == Some(EACH) { child == child_of_its_own(title, name) } else { *of == Some(child) };
        for example in examples.iter().filter(|example| is_meant(example.0)) {
            println!("said {} {}", example.0, serde_json::to_string(&said(example)).expect("text"));
        }
    }
}

/// What an example has said, of what its child has printed.
fn told_by(printed: &str, name: &str) -> String {
    // Behind what the harness writes, where a test runs in its thread.
    let line = printed.lines().find_map(|line| line.split_once(&format!("said {name} ")));
    let said = line.and_then(|(_, line)| serde_json::from_str(line).ok());
    // Or why it has ended.
    let said = said.or_else(|| printed.lines().find(|line| line.starts_with("warpwright: ")).map(|line| format!("{END}: {line}")));
    said.unwrap_or_else(|| format!("{NOTHING}: `{name}` has said nothing: {printed}"))
}

/// The entries of each file. `in_child` gives what a child prints, under these conditions.
pub(super) fn entries(in_child: impl Fn(&str, &[(&'static str, &'static str)]) -> String) -> Vec<Section> {
    let one_file = |(title, text, examples, child): &(&'static str, &'static str, &[Example], Option<&str>)| {
        let printed = child.filter(|child| *child != EACH).map(|child| in_child(child, &[]));
        let one = |example: &Example| {
            let said = match (child, &printed) {
                (None, _) => said(example),
                (Some(_), Some(printed)) => told_by(printed, example.0),
                (Some(_), None) => told_by(&in_child(&child_of_its_own(title, example.0), &conditions(text, example.0)), example.0),
            };
            entry(text, example.0, &said)
        };
        Section { title, files: Vec::new(), items: items(text), entries: examples.iter().map(one).collect() }
    };
    let sections: Vec<Section> = FILES.iter().map(one_file).collect();
    let idle = sections.iter().flat_map(|section| &section.entries).filter(|entry| entry.kind == NOTHING);
    let idle: Vec<&str> = idle.map(|entry| entry.said.as_str()).collect();
    assert!(idle.is_empty(), "{}", idle.join("\n"));
    sections
}
