//! A campaign in several processes, each with seeds and a state of its own: the CUDA driver compiles one kernel of a process at a time, and of several GPUs each process has one.

use super::progress;
use super::state::State;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// From the first seed of one process to that of the next: more kernels than a process does.
const SEEDS_APART: u64 = 1_000_000;

/// What a campaign's processes are asked for.
#[derive(Clone, Debug)]
pub struct Processes {
    /// How many there are.
    pub count: u64,
    /// The first seed of the first one.
    pub seed: u64,
    /// Kernels of all of them together; `None`: until their time is over.
    pub kernels: Option<u64>,
    /// Where the state of a campaign of one process would be.
    pub state: PathBuf,
    /// GPUs that they take in turn.
    pub gpus: usize,
}

impl Processes {
    /// Where the state of one of them is: `all-3.state` of the third.
    pub fn state_of(&self, process: u64) -> PathBuf {
        let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let (stem, extension) = (part(self.state.file_stem()), part(self.state.extension()));
        self.state.with_file_name(format!("{stem}-{}", process + 1)).with_extension(extension)
    }

    /// The options of one of them, beside those that all have.
    fn options(&self, process: u64) -> Vec<OsString> {
        let seed = self.seed + process * SEEDS_APART;
        let gpu = process % self.gpus.max(1) as u64;
        let mut options: Vec<OsString> = vec!["--seed".into(), seed.to_string().into(), "--gpu".into(), gpu.to_string().into()];
        options.extend(["--state".into(), self.state_of(process).into()]);
        if let Some(kernels) = self.kernels {
            options.extend(["--kernels".into(), kernels.div_ceil(self.count).to_string().into()]);
        }
        options
    }

    /// Starts `program` with `common` options so often, prints what each says with its number before it, and waits for all. Gives what they have done together, earlier starts included.
    ///
    /// # Errors
    /// One of them cannot be started, ended without a find and not well, or its state cannot be read.
    pub fn run(&self, program: &Path, common: &[OsString]) -> Result<State, String> {
        if self.kernels.is_some_and(|kernels| kernels.div_ceil(self.count) > SEEDS_APART) {
            return Err(format!("a process has {SEEDS_APART} seeds: ask for more `--processes`, or fewer `--kernels`"));
        }
        let run_one = |process: u64| -> Result<State, String> {
            let started = Command::new(program).args(common).args(self.options(process)).stdout(Stdio::piped()).spawn();
            let mut child = started.map_err(|error| format!("process {} cannot be started: {error}", process + 1))?;
            if let Some(said) = child.stdout.take() {
                BufReader::new(said).lines().map_while(Result::ok).for_each(|line| println!("{}: {line}", process + 1));
            }
            let status = child.wait().map_err(|error| error.to_string())?;
            let state = State::read(&self.state_of(process))?;
            let is_answer = status.success() || (status.code().is_some() && state.count("finds") > 0);
            if is_answer { Ok(state) } else { Err(format!("process {} ended: {status}", process + 1)) }
        };
        let states: Vec<Result<State, String>> = std::thread::scope(|scope| {
            let run_one = &run_one;
            let all: Vec<_> = (0..self.count).map(|process| scope.spawn(move || run_one(process))).collect();
            all.into_iter().map(|one| one.join().unwrap_or_else(|_| Err("a thread ended".to_owned()))).collect()
        });
        let mut together = State::default();
        let mut longest = 0;
        for state in states {
            let state = state?;
            longest = longest.max(state.count("milliseconds"));
            together.join(&state);
        }
        // They ran side by side.
        together.counts.insert("milliseconds".to_owned(), longest);
        println!("{}", progress(&together));
        Ok(together)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_seeds_a_state_and_a_gpu_of_its_own() {
        let all = Processes { count: 3, seed: 5, kernels: Some(10), state: "here/all.state".into(), gpus: 2 };
        let said: Vec<String> = (0..3).map(|process| all.options(process).join(" ".as_ref()).into_string().unwrap()).collect();
        assert_eq!(
            said,
            [
                "--seed 5 --gpu 0 --state here/all-1.state --kernels 4",
                "--seed 1000005 --gpu 1 --state here/all-2.state --kernels 4",
                "--seed 2000005 --gpu 0 --state here/all-3.state --kernels 4",
            ]
        );
    }
}
