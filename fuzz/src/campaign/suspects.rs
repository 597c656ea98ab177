//! Seeds that devices are at. A driver that dies takes the program along, and a kernel that loses the device's context spoils it for all threads: the next start asks each of these seeds alone.

use super::{Judge, Settings};
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

    /// The device's context is lost, whoever did it.
    pub fn lose(&self) {
        let _ = std::fs::write(self.0.join(LOST), "");
    }

    /// Those that an earlier start did not get an answer about, and whether it lost the device's context; forgotten from now on.
    pub fn take(&self) -> (Vec<u64>, bool) {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut seeds: Vec<u64> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        seeds.sort_unstable();
        let is_lost = self.0.join(LOST).exists();
        let _ = std::fs::remove_dir_all(&self.0);
        (seeds, is_lost)
    }
}

/// The file that says that a context was lost.
const LOST: &str = "lost";

/// Seeds that were asked about when a program ended.
#[derive(Default)]
pub struct Asked {
    /// Those that end a program alone, or differ; all of them if none does and a context was lost.
    pub guilty: Vec<u64>,
    /// Those that end a program alone, while every arbiter has the right result: the device's own mistakes.
    pub excused: Vec<u64>,
    /// Those that agree when they are asked alone: it was another one, or somebody ended the program.
    pub agreed: Vec<u64>,
}

/// Asks about each of an earlier start's seeds alone.
pub fn asked_alone(settings: &Settings) -> Asked {
    let (seeds, is_lost) = Suspects::of(settings).take();
    let on: Vec<&str> = settings.judges.iter().filter(|judge| judge.is_device()).map(|judge| judge.name()).collect();
    let agrees = |seed: &u64, options: &[&str]| {
        let Ok(program) = std::env::current_exe() else { return false };
        let asked =
            Command::new(program).args(["one", &seed.to_string()]).args(options).stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    let (agreed, ended): (Vec<u64>, Vec<u64>) = seeds.into_iter().partition(|seed| agrees(seed, &["--on", &on.join(",")]));
    if ended.is_empty() && is_lost {
        return Asked { guilty: agreed, ..Asked::default() };
    }
    // What another device did is not excused by OpenCL's.
    let has_arbiters = settings.judges.iter().all(|judge| *judge != Judge::Cuda);
    let (excused, guilty) = ended.into_iter().partition(|seed| has_arbiters && agrees(seed, &["--arbiters"]));
    Asked { guilty, excused, agreed }
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
        assert_eq!(Suspects::beside(&state).take(), (vec![7, 9], false));
        assert_eq!(Suspects::beside(&state).take(), (Vec::new(), false));
        Suspects::beside(&state).begin(7);
        Suspects::beside(&state).lose();
        assert_eq!(Suspects::beside(&state).take(), (vec![7], true));
    }
}
