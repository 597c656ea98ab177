//! Seeds that devices are at. A driver that dies takes the program along, and a kernel that loses the device's context spoils it for all threads: the next start asks each of these seeds alone.

use super::Settings;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file for each, named by it.
pub struct Suspects(PathBuf);

impl Suspects {
    /// Those of a campaign.
    pub fn of(settings: &Settings) -> Suspects {
        Suspects::beside(&settings.state)
    }

    /// Those of the campaign with this state.
    fn beside(state: &Path) -> Suspects {
        Suspects(state.with_extension("current"))
    }

    /// A device is asked about a seed.
    pub fn begin(&self, seed: u64) {
        // Without the file a program that ends names no seed, which is all that is lost.
        let _ = std::fs::create_dir_all(&self.0).and_then(|()| std::fs::write(self.0.join(seed.to_string()), ""));
    }

    /// It has answered.
    pub fn end(&self, seed: u64) {
        let _ = std::fs::remove_file(self.0.join(seed.to_string()));
    }

    /// Those that an earlier start did not get an answer about; forgotten from now on.
    pub fn take(&self) -> Vec<u64> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut seeds: Vec<u64> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        seeds.sort_unstable();
        let _ = std::fs::remove_dir_all(&self.0);
        seeds
    }
}

/// Of seeds that were asked about when a program ended, those that end one alone, or differ; all of them if none does.
pub fn guilty(settings: &Settings, seeds: Vec<u64>) -> Vec<u64> {
    let on: Vec<&str> = settings.judges.iter().filter(|judge| judge.is_device()).map(|judge| judge.name()).collect();
    let is_guilty = |seed: &&u64| {
        let Ok(program) = std::env::current_exe() else { return true };
        let status = Command::new(program)
            .args(["one", &seed.to_string(), "--on", &on.join(",")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        !status.is_ok_and(|status| status.success())
    };
    let alone: Vec<u64> = if seeds.len() == 1 { Vec::new() } else { seeds.iter().filter(is_guilty).copied().collect() };
    if alone.is_empty() { seeds } else { alone }
}

#[cfg(test)]
mod tests {
    use super::Suspects;

    #[test]
    fn who_has_not_answered_is_known_once() {
        let state = std::env::temp_dir().join(format!("warpwright-suspects-{}.state", std::process::id()));
        // Each thread of a campaign has its own, and a later start, too.
        [7, 8, 9].iter().for_each(|seed| Suspects::beside(&state).begin(*seed));
        Suspects::beside(&state).end(8);
        assert_eq!(Suspects::beside(&state).take(), [7, 9]);
        assert!(Suspects::beside(&state).take().is_empty());
    }
}
