//! What becomes of mutants of IR, of kernels that are launched by hand and of the tree's.

use super::engine::{IR_MISTAKES, ir_mutants};
use super::loops::part_around;
use super::site::sites;
use std::collections::BTreeMap;
use warpwright::{Error, Launch};
use warpwright_codegen::ir::Kernel;
use warpwright_codegen::text::parse_kernel;
use warpwright_codegen::verify::verify;
use warpwright_runtime::definition::SourceText;
use warpwright_runtime::sim::Fault;

/// What became of a kernel of IR.
#[derive(Clone, Debug, PartialEq)]
pub enum IrOutcome {
    /// The text is none of a kernel.
    Unread(String),
    /// The verifier says what is wrong.
    Refused(String),
    /// The simulator stops it.
    Fault(Box<Fault>),
    /// What it left in its buffers.
    Ended(Vec<Vec<u8>>),
}

/// What a mutant of IR comes to; what says most is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// The verifier refuses it.
    Refused,
    /// The simulator stops it, and the fault names a line of the loop that is changed.
    Stopped,
    /// The simulator stops it, and the fault names no line of that loop.
    Elsewhere,
    /// It leaves another result.
    WrongResult,
    /// It leaves the same.
    SameResult,
}

/// The mutants of a kernel, in order: the mistake's name, what the mutant comes to, and the line that is changed.
pub type Fates = Vec<(&'static str, Fate, String)>;

/// Runs a text, if it is one of a kernel that the verifier takes.
pub fn run_text(text: &str, run: &dyn Fn(&Kernel) -> IrOutcome) -> IrOutcome {
    match parse_kernel(text) {
        Err(error) => IrOutcome::Unread(error.message),
        Ok(kernel) => match verify(&kernel) {
            Err(violations) => IrOutcome::Refused(violations[0].to_string()),
            Ok(()) => run(&kernel),
        },
    }
}

/// What the mutants of a text come to, which the compiler made of these sources: the kernel's, and those of functions that it calls.
///
/// # Panics
/// If the kernel as it is does not run to its end: a false alarm.
pub fn fates(name: &str, sources: &[SourceText], text: &str, run: &dyn Fn(&str) -> IrOutcome) -> Fates {
    let before = run(text);
    assert!(matches!(before, IrOutcome::Ended(_)), "{name} as it is: {before:?}\n{text}");
    let fate = |changed: &str, mutant: &str| match run(mutant) {
        IrOutcome::Unread(why) => panic!("{name}: {why}\n{mutant}"),
        IrOutcome::Refused(_) => Fate::Refused,
        IrOutcome::Fault(fault) => {
            let part = place_of(text, changed).and_then(|(file, line)| part_around(sources, file, line));
            if part.is_some_and(|part| part.has_fault(&fault)) { Fate::Stopped } else { Fate::Elsewhere }
        }
        after if after != before => Fate::WrongResult,
        _ => Fate::SameResult,
    };
    let of = |mistake| ir_mutants(text, mistake).into_iter().map(|(changed, mutant)| (fate(&changed, &mutant), changed));
    IR_MISTAKES.iter().flat_map(|mistake| of(mistake).map(|(fate, changed)| (mistake.name, fate, changed))).collect()
}

/// The file and the line that a line of IR comes from: `barrier_wait m4[v1], v2 @9:18`, or `call sync_threads @1:150:5` of the second file that the text names.
fn place_of<'t>(text: &'t str, changed: &str) -> Option<(&'t str, u32)> {
    let (_, place) = changed.rsplit_once(" @")?;
    let place = place.split(' ').next()?;
    let numbers: Vec<usize> = place.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let (file, line) = match numbers[..] {
        [line, _] => (0, line),
        [file, line, _] => (file, line),
        _ => return None,
    };
    let file = text.lines().filter_map(|line| line.strip_prefix("file ")).nth(file)?;
    Some((file.trim_matches('"'), u32::try_from(line).ok()?))
}

/// The same of the kernel of a launch, in the form that the simulator runs.
///
/// # Panics
/// As [`fates`]; also if the kernel does not compile.
pub fn fates_of_launch(name: &str, launch: &Launch<'_>) -> Fates {
    let text = launch.simulated_ir().unwrap_or_else(|error| panic!("{name}: {error}"));
    let run = |kernel: &Kernel| match launch.simulated_memory_of_ir(kernel) {
        Ok(memory) => IrOutcome::Ended(memory),
        Err(Error::Simulated(fault)) => IrOutcome::Fault(fault),
        Err(other) => IrOutcome::Refused(other.to_string()),
    };
    let sources: Vec<SourceText> = sites(launch.definition()).iter().map(|site| site.source).collect();
    fates(name, &sources, &text, &|text| run_text(text, &run))
}

/// A row of each mistake that a kernel has room for.
pub fn ir_table<'k>(all: impl Iterator<Item = &'k Fates> + Clone) -> String {
    let mut table = "| mistake | mutants | verifier refuses | stopped in its loop | stopped elsewhere | wrong result | same result |\n\
                     |---|---|---|---|---|---|---|\n"
        .to_owned();
    for mistake in IR_MISTAKES {
        let of: Vec<Fate> = all.clone().flatten().filter(|(name, ..)| *name == mistake.name).map(|(_, fate, _)| *fate).collect();
        if !of.is_empty() {
            let count = |fate: Fate| of.iter().filter(|one| **one == fate).count().to_string();
            let counts = [Fate::Refused, Fate::Stopped, Fate::Elsewhere, Fate::WrongResult, Fate::SameResult].map(count);
            table += &format!("| {}: {} | {} | {} |\n", mistake.name, mistake.edit, of.len(), counts.join(" | "));
        }
    }
    table.trim_end().to_owned()
}

/// Those of a fate, by kernel and mistake.
pub fn of_fate<'k>(all: impl Iterator<Item = (&'k str, &'k Fates)>, fate: Fate) -> BTreeMap<(&'k str, &'static str), usize> {
    let mut found = BTreeMap::new();
    for (kernel, fates) in all {
        for (mistake, ..) in fates.iter().filter(|(_, of, _)| *of == fate) {
            *found.entry((kernel, *mistake)).or_insert(0) += 1;
        }
    }
    found
}

/// Mutants of IR of which something is said by hand: the kernel, the mistake, at how many places, and why.
pub type ListedIr = &'static [(&'static str, &'static str, usize, &'static str)];

/// Those whose fault names no line of the loop that is changed.
pub const ELSEWHERE_IR: ListedIr = &[
    ("sums out, by warpgroups", "stores not grouped", 1, AT_THE_END),
    ("sums out, by warpgroups", "store not awaited", 1, AT_THE_END),
    ("attention_engine", "missing proxy fence", 1, AT_THE_READ),
    ("attention_engine", "barrier of the block", 2, AT_THE_READ),
];

const AT_THE_READ: &str = "the barrier is a statement of its own outside of the loop: the fault is where the tile that it guards is read";
const AT_THE_END: &str = "the store that nobody waits for is found where the block ends, which is no line of the source; the fault names the matrix that the loop stores to";

/// Those that are no faults.
pub const SAME_IR: ListedIr = &[
    ("runs by the copy engine, the short one early", "barrier of the block", 1, BETWEEN_ROUNDS),
    ("runs by the copy engine, the short one early", "missing proxy fence", 1, NOT_TAKEN),
    ("runs by the copy engine, the short one late", "barrier of the block", 1, BETWEEN_ROUNDS),
    ("runs by the copy engine, the short one late", "missing proxy fence", 1, NOT_TAKEN),
    ("tiles in", "barrier of the block", 1, BETWEEN_ROUNDS),
    ("runs by a producer", "barrier of the block", 3, HANDED_BACK),
    ("sums out, by warpgroups", "barrier of the block", 1, NOTHING_BEHIND),
    ("sums out, by warpgroups", "store not awaited", 2, FIRST_AND_LAST),
    ("sums out, by warpgroups", "stores not grouped", 1, ONE_GROUP_LATER),
    ("convolution of tiles: one ahead", "barrier of the block", 1, NOTHING_BEHIND),
    ("stencil of planes: three ahead", "barrier of the block", 1, NOTHING_BEHIND),
    ("run_sums, the block asks", "barrier of the block", 1, NO_SLOT_BEHIND),
    ("run_sums, the block asks", "missing proxy fence", 2, SHORT_LAST),
    ("run_sums, a producer asks", "missing proxy fence", 1, SHORT_LAST),
    ("run_sums, a producer asks", "barrier of the block", 1, ALL_HAVE_READ),
    ("reduce_ring", "barrier of the block", 4, OWN_ELEMENTS),
    ("multiply_nt_engine", "barrier of the block", 2, NOTHING_BEHIND),
    ("multiply_nt_engine", "slot overwritten in flight", 2, FIRST_TILES),
    ("multiply_nn_engine", "barrier of the block", 2, NOTHING_BEHIND),
    ("multiply_nn_engine", "slot overwritten in flight", 3, FIRST_TILES),
    ("attention_engine", "barrier of the block", 1, NO_SLOT_BEHIND),
    ("attention_engine", "missing proxy fence", 2, NOT_THE_ENGINE),
];

const NO_SLOT_BEHIND: &str = "behind the loop, where no slot is touched any more";
const ALL_HAVE_READ: &str =
    "before threads store the short run: the engine's barrier, at which they have waited, says that all have handed the slot back";
const SHORT_LAST: &str = "the short run is the last one: the engine does not fill its slot again";
const OWN_ELEMENTS: &str = "in the loop, since a thread reads what it has copied itself; behind it, where no slot is touched; and the second barriers of two sums over the block, whose array is used again behind another one";
const NOT_THE_ENGINE: &str = "before the loop, whose slots no thread has touched; and before the results leave, which threads store";
const FIRST_TILES: &str = "the first tiles go to the first slot as it is";

const NOT_TAKEN: &str = "the short run comes elsewhere: there the fence is missed";
const BETWEEN_ROUNDS: &str =
    "behind the loop: the slots that the next round fills first were read before the barrier of the last iteration";
const HANDED_BACK: &str = "slots are handed over and back by barriers of the engine; those of the block round the loop and before its edge are for accesses that this kernel has not";

const NOTHING_BEHIND: &str = "behind the loop, where the kernel ends";
const FIRST_AND_LAST: &str = "before the first strip leaves nothing is stored, and behind the last no slot is written";
const ONE_GROUP_LATER: &str = "the slot of the second strip is not written again: it is waited for with the third";
