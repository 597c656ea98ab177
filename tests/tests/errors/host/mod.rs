//! Errors of a program: each example is a function that fails, and the page shows its body.

mod buffers;
mod collectives;
mod drivers;
mod dynamic;
mod graphs;
mod launches;
mod limits;
mod matrices;
mod no_driver;
mod no_seed;
mod no_turns;
mod old_driver;
mod other_libraries;
mod several;
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
    Entry { title, shown: format!("```rust,ignore\n{}\n```", body.join("\n")), kind: kind.to_owned(), said: said.to_owned() }
}

/// Files of examples: what each is about, its text, its functions, and the child in which they run, if not here.
const FILES: &[(&str, &str, &[Example], Option<&str>)] = &[
    ("Launches", include_str!("launches.rs"), launches::EXAMPLES, None),
    ("Buffers, textures, memory of others", include_str!("buffers.rs"), buffers::EXAMPLES, None),
    ("Buffers seen as other elements", include_str!("views.rs"), views::EXAMPLES, None),
    ("Matrices for tensor copies", include_str!("matrices.rs"), matrices::EXAMPLES, None),
    ("The host twin", include_str!("twin.rs"), twin::EXAMPLES, None),
    ("A limit of 1000 turns, `WARPWRIGHT_LOOP_LIMIT=1000`", include_str!("limits.rs"), limits::EXAMPLES, Some("limits")),
    ("A limit of turns that is none", include_str!("no_turns.rs"), no_turns::EXAMPLES, Some("no turns")),
    ("A seed of a weak memory that is none", include_str!("no_seed.rs"), no_seed::EXAMPLES, Some("no seed")),
    ("Timing, several devices", include_str!("several.rs"), several::EXAMPLES, None),
    ("Kernels from text", include_str!("dynamic.rs"), dynamic::EXAMPLES, None),
    ("Graphs", include_str!("graphs.rs"), graphs::EXAMPLES, None),
    ("Collectives", include_str!("collectives.rs"), collectives::EXAMPLES, None),
    ("The library of staples", include_str!("staples.rs"), staples::EXAMPLES, None),
    ("Results of tuning", include_str!("tuned.rs"), tuned::EXAMPLES, None),
    ("GPUs", include_str!("drivers.rs"), drivers::EXAMPLES, Some("driver")),
    ("GPUs: what does not hold", include_str!("trap.rs"), trap::EXAMPLES, Some("driver, trap")),
    ("An old driver", include_str!("old_driver.rs"), old_driver::EXAMPLES, Some("old")),
    ("No driver", include_str!("no_driver.rs"), no_driver::EXAMPLES, Some("none")),
    ("Other libraries under the drivers' names", include_str!("other_libraries.rs"), other_libraries::EXAMPLES, Some("other libraries")),
];

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
    for (.., examples, of) in FILES {
        for example in examples.iter().filter(|_| *of == Some(child)) {
            println!("said {} {}", example.0, serde_json::to_string(&said(example)).expect("text"));
        }
    }
}

/// The entries of each file. `in_child` gives what a child prints.
pub(super) fn entries(in_child: impl Fn(&str) -> String) -> Vec<Section> {
    let one_file = |(title, text, examples, child): &(&'static str, &str, &[Example], Option<&str>)| {
        let printed = child.map(&in_child);
        let of_child = |name: &str| {
            let line = printed.as_ref()?.lines().find_map(|line| line.strip_prefix(&format!("said {name} ")))?;
            serde_json::from_str::<String>(line).ok()
        };
        let one = |example: &Example| {
            let said = if printed.is_some() { of_child(example.0) } else { Some(said(example)) };
            entry(text, example.0, &said.unwrap_or_else(|| panic!("`{}` has said nothing: {printed:?}", example.0)))
        };
        Section { title, files: Vec::new(), items: items(text), entries: examples.iter().map(one).collect() }
    };
    let sections: Vec<Section> = FILES.iter().map(one_file).collect();
    let idle = sections.iter().flat_map(|section| &section.entries).filter(|entry| entry.kind == NOTHING);
    let idle: Vec<&str> = idle.map(|entry| entry.said.as_str()).collect();
    assert!(idle.is_empty(), "{}", idle.join("\n"));
    sections
}
