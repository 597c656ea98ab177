//! All mutants of a kernel, each run and judged.

use super::mistakes::{Edit, Mistake, edits};
use super::mutant::{Ran, run, run_weakly};
use super::names::TouchedLines;
use super::sameness::{Same, told};
use super::site::{Site, sites};
use super::verdict::{Expected, Verdict};
use warpwright::Launch;
use warpwright_runtime::definition::KernelDefinition;

/// A mutant, judged.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The kernel.
    pub kernel: String,
    /// The file that it is in.
    pub home: &'static str,
    /// The edit.
    pub edit: Edit,
    /// The line that is edited, without its margins.
    pub line: String,
    /// What became of it.
    pub verdict: Verdict,
    /// What was said, if anything was.
    pub said: String,
    /// Of a mutant that leaves the same: why.
    pub same: Option<Same>,
    /// The file of what is edited, as the compiler names it.
    pub file: &'static str,
    /// Where the edit is in it: line and column, from 1.
    pub at: (u32, u32),
    /// What stood there.
    pub replaced: String,
}

impl Judged {
    /// Which mutant it is, whatever it was launched with.
    pub fn identity(&self) -> (&str, &str, &str, (u32, u32), Mistake, &str) {
        (&self.kernel, self.home, self.file, self.at, self.edit.mistake, &self.edit.with)
    }
}

/// The mutants of several launches of a kernel, each once, with the verdict that says most; of those that are the same in all, with the reason that says least.
pub fn merged(mut all: Vec<Judged>) -> Vec<Judged> {
    all.sort_by(|a, b| a.identity().cmp(&b.identity()).then((a.verdict, a.same).cmp(&(b.verdict, b.same))));
    all.dedup_by(|next, first| next.identity() == first.identity());
    all
}

/// What a sweep of a kernel found.
pub struct Sweep {
    /// A fault of the kernel as it is: a false alarm.
    pub alarm: Option<String>,
    /// Its mutants.
    pub mutants: Vec<Judged>,
}

/// Runs a kernel as it is launched here, and all its mutants; of functions that it calls, those of order.
pub fn sweep(launch: &Launch<'_>, wanted: &dyn Fn(&Edit) -> bool) -> Sweep {
    let definition = launch.definition();
    let memory = match run(launch, None) {
        Ran::Ended(memory) => memory,
        Ran::Faulted(fault) => return Sweep { alarm: Some(fault.to_string()), mutants: Vec::new() },
        Ran::Refused(why) => return Sweep { alarm: Some(why), mutants: Vec::new() },
    };
    let lines = TouchedLines::of(definition.item.source.text);
    let mut mutants = Vec::new();
    for site in sites(definition) {
        let expected = Expected { memory: &memory, lines: &lines, kernel: definition.item.source, edited: site.source };
        let wanted = |edit: &Edit| (site.is_kernel() || edit.mistake.row().is_of_order) && wanted(edit);
        let edits = edits(site.source.text).into_iter().filter(wanted);
        mutants.extend(edits.map(|edit| judged(launch, &site, &expected, edit)));
    }
    Sweep { alarm: None, mutants }
}

fn judged(launch: &Launch<'_>, site: &Site, expected: &Expected<'_>, edit: Edit) -> Judged {
    let source = site.source;
    let mutant = site.with_text(edit.apply(source.text));
    let ran = run(launch, Some(mutant));
    let said = match &ran {
        Ran::Refused(why) => why.clone(),
        Ran::Faulted(fault) => fault.to_string(),
        Ran::Ended(_) => String::new(),
    };
    let (before, replaced) = (&source.text[..edit.range.start], source.text[edit.range.clone()].to_owned());
    let begins = before.rfind('\n').map_or(0, |at| at + 1);
    let line = source.text[begins..].lines().next().unwrap_or_default().trim().to_owned();
    let row = before.matches('\n').count() as u32;
    let column = (edit.range.start - begins) as u32 + if row == 0 { source.column } else { 1 };
    let verdict = expected.judge(&edit, &ran);
    let told = || told(launch, site, &edit, mutant, expected.memory);
    let same = (verdict == Verdict::SameResult).then(told);
    let is_open = same == Some(Same::Untold) && edit.mistake.row().is_of_order;
    let weak = if is_open { on_weak_memory(launch, mutant, expected.memory) } else { None };
    let (verdict, said, same) = weak.map_or((verdict, said, same), |said| (Verdict::OnWeakMemory, said, None));
    // What tells that nothing differs has to see where something does. A part of them will do.
    if verdict == Verdict::WrongResult && edit.range.start.is_multiple_of(8) {
        assert_eq!(told(), Same::Untold, "a wrong result of what is told to be the same: {edit:?}\n{}", source.text);
    }
    let (kernel, at) = (launch.definition().name.to_owned(), (source.line + row, column));
    let home = launch.definition().item.source.file;
    Judged { kernel, home, edit, line, verdict, said, same, file: source.file, at, replaced }
}

/// Runs on a weak memory.
const SEEDS: u64 = 12;

/// What a mutant does on a weak memory that the kernel does not.
fn on_weak_memory(launch: &Launch<'_>, mutant: &'static KernelDefinition, memory: &[Vec<u8>]) -> Option<String> {
    let differs = |definition: Option<&'static KernelDefinition>, seed: u64| match run_weakly(launch, definition, seed) {
        Ran::Ended(left) if left == memory => None,
        Ran::Refused(_) => None,
        Ran::Ended(_) => Some(format!("another result on a weak memory, seed {seed}")),
        Ran::Faulted(fault) => Some(format!("on a weak memory, seed {seed}: {fault}")),
    };
    let found = (1..=SEEDS).find_map(|seed| differs(Some(mutant), seed));
    // A kernel whose results are one has the same there.
    let alarm = || (1..=SEEDS).find_map(|seed| differs(None, seed));
    assert_eq!(found.as_ref().and_then(|_| alarm()), None, "`{}` as it is", launch.definition().name);
    found
}
