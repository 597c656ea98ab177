//! What a campaign has done: counters by name, and which batches are left. A text file of lines `name value`, written after every batch.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The first line of the file.
const TITLE: &str = "warpwright-fuzz 1";

/// Counters and progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Counters: `kernels`, `twin`, `feature for.rev`, `pass licm`, ….
    pub counts: BTreeMap<String, u64>,
    /// The first batch that nobody has taken.
    pub next: u64,
    /// Batches that were begun and have not ended.
    pub pending: BTreeSet<u64>,
    /// Seeds that ended the program.
    pub skipped: BTreeSet<u64>,
}

impl State {
    /// What the file says; a new state if there is none.
    ///
    /// # Errors
    /// The file is none of a campaign, or cannot be read.
    pub fn read(path: &Path) -> Result<State, String> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(State::default()),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let mut lines = text.lines();
        if lines.next() != Some(TITLE) {
            return Err(format!("{} is no state of a campaign: its first line is not `{TITLE}`", path.display()));
        }
        let mut state = State::default();
        for line in lines {
            let wrong = || format!("{}: `{line}` is no counter", path.display());
            let (name, value) = line.rsplit_once(' ').ok_or_else(wrong)?;
            let value: u64 = value.parse().map_err(|_| wrong())?;
            match name {
                "next-batch" => state.next = value,
                "pending-batch" => drop(state.pending.insert(value)),
                "skipped-seed" => drop(state.skipped.insert(value)),
                _ => drop(state.counts.insert(name.to_owned(), value)),
            }
        }
        Ok(state)
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let mut text = format!("{TITLE}\nnext-batch {}\n", self.next);
        self.pending.iter().for_each(|batch| text += &format!("pending-batch {batch}\n"));
        self.skipped.iter().for_each(|seed| text += &format!("skipped-seed {seed}\n"));
        self.counts.iter().for_each(|(name, value)| text += &format!("{name} {value}\n"));
        let beside = path.with_extension("new");
        let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
        written.map_err(|error| format!("{}: {error}", path.display()))
    }

    /// A counter.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Adds to a counter.
    pub fn add(&mut self, name: impl Into<String>, by: u64) {
        *self.counts.entry(name.into()).or_default() += by;
    }

    /// Adds all counters of another.
    pub fn join(&mut self, other: &State) {
        other.counts.iter().for_each(|(name, value)| self.add(name.as_str(), *value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let path = std::env::temp_dir().join(format!("warpwright-fuzz-state-{}", std::process::id()));
        let mut state = State { next: 5, pending: BTreeSet::from([3]), skipped: BTreeSet::from([77]), ..State::default() };
        state.add("feature for.rev", 2);
        state.write(&path).unwrap();
        assert_eq!(State::read(&path).unwrap(), state);
        std::fs::write(&path, "nonsense").unwrap();
        assert!(State::read(&path).unwrap_err().contains("is no state"));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(State::read(&path).unwrap(), State::default());
    }
}
