//! A campaign of spoilt inputs: `cargo run --profile checked -p warpwright-tests --bin front-end-fuzz -- --inputs N --threads T --seed S`; with
//! `--seconds N` it begins nothing new after these, and says how many inputs it tried. The profile `checked` has the checks of a debug build: a sum that
//! overflows panics in the macro, which cargo builds with them, and is silent in a release.
//!
//! Inputs go in runs of thousands to programs of their own, so that one that ends the program or does not end is found, too: then the halves of the run are
//! tried, and theirs. What is wrong is printed with its seed and its text; `--one SEED` tries that input again, `--root FOLDER` names the repository
//! where the program does not lie in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use warpwright_tests::front_end::Spoilt;
use warpwright_tests::front_end::corpus::Corpus;
use warpwright_tests::front_end::exercise::{EACH_WHOLE, Reached, exercise};
use warpwright_tests::front_end::memory::Counted;
use warpwright_tests::front_end::processor::processor_time;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// Inputs of a run.
const RUN: u64 = 5_000;

/// After so many inputs it is shown how far a campaign has come.
const SHOWN: u64 = 1_000_000;

/// What a step of an input may take of the processor; with the checks of a debug build all takes up to twice as long.
const LONGEST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 2 } else { 1 });

/// What a run may take of the processor, beside what [`EACH`] of its inputs may, before its halves are tried.
const LONGEST_RUN: Duration = Duration::from_secs(20);

/// What the inputs of a run may take, each: ten times as long as they do.
const EACH: Duration = Duration::from_millis(15);

/// A run that waits for others on the machine, or for itself, ends after so many times what it may take of the processor.
const WAITED: u32 = 20;

/// Bytes that an input may hold.
const MOST: usize = 1 << 30;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1));
    let number = |name: &str| text(name).and_then(|text| text.parse::<u64>().ok());
    let root = text("--root").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), PathBuf::from);
    if let Some(seed) = number("--one") {
        return tried(seed, 1, &root, true);
    }
    if let Some(first) = number("--run") {
        return tried(first, number("--inputs").unwrap_or(RUN), &root, false);
    }
    // Each of the programs would say that it has none, for each run, its halves, and theirs.
    if corpus(&root).is_none() {
        return ExitCode::from(2);
    }
    let limit = number("--seconds").map_or(Duration::MAX, Duration::from_secs);
    campaign(number("--inputs").unwrap_or(10_000), number("--threads").unwrap_or(1), number("--seed").unwrap_or(1), limit, &root)
}

/// What inputs are made from; none where the repository is not there, which is said.
fn corpus(root: &Path) -> Option<Corpus> {
    let corpus = Corpus::of(root);
    if corpus.sources.is_empty() || corpus.ir.is_empty() {
        eprintln!("no sources below {}: name the repository by `--root FOLDER`", root.display());
        return None;
    }
    Some(corpus)
}

/// Tries inputs in this program, and says what is wrong with them, a line each that begins with `wrong`.
fn tried(first: u64, count: u64, root: &Path, is_shown: bool) -> ExitCode {
    let Some(corpus) = corpus(root) else { return ExitCode::from(2) };
    let (mut reached, mut longest, mut largest) = (Reached::default(), Duration::ZERO, 0);
    for seed in (0..count).map(|i| first.wrapping_add(i)) {
        let input = Spoilt::of(seed, &corpus);
        if is_shown {
            println!("{}", input.text());
        }
        let cost = exercise(&input, is_shown || seed.is_multiple_of(EACH_WHOLE), &mut reached);
        (longest, largest) = (longest.max(cost.time), largest.max(cost.bytes));
        if let Some(place) = cost.panic {
            println!("wrong {seed} panicked: {}", place.replace('\n', " "));
        } else if cost.time > LONGEST {
            println!("wrong {seed} took {:?}", cost.time);
        } else if cost.bytes > MOST {
            println!("wrong {seed} held {} MiB", cost.bytes >> 20);
        }
    }
    let Reached { parsed, lowered, printed } = reached;
    println!("done {count} {parsed} {lowered} {printed} {} {}", longest.as_millis(), largest >> 10);
    ExitCode::SUCCESS
}

/// Starts a run; what it printed, or why it did not end: by the processor's time where the system tells it, and [`WAITED`] times that by the clock.
fn run(first: u64, count: u64, root: &Path, limit: Duration) -> Result<String, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(this);
    command.args(["--run", &first.to_string(), "--inputs", &count.to_string(), "--root"]).arg(root);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(|error| error.to_string())?;
    let output = child.stdout.take();
    let reader = std::thread::spawn(move || output.map_or(String::new(), |output| std::io::read_to_string(output).unwrap_or_default()));
    let (start, process) = (Instant::now(), child.id().to_string());
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if processor_time(&process).unwrap_or(start.elapsed()) > limit || start.elapsed() > limit * WAITED => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("did not end within {limit:?}"));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let printed = reader.join().unwrap_or_default();
    if status.success() { Ok(printed) } else { Err(format!("ended with {status}")) }
}

/// What all runs found, and how far they came.
#[derive(Default)]
struct Found {
    /// What is wrong, by what is said of it, with its seeds.
    wrong: BTreeMap<String, Vec<u64>>,
    totals: [u64; 4],
    longest: u64,
    largest: u64,
}

impl Found {
    fn add(&mut self, printed: &str) {
        for line in printed.lines() {
            if let Some((seed, what)) = line.strip_prefix("wrong ").and_then(|rest| rest.split_once(' ')) {
                // How long it took differs each time.
                let kind = if what.starts_with("took") { "took long" } else { what };
                let seeds = self.wrong.entry(kind.to_owned()).or_default();
                if seeds.is_empty() {
                    // At once: whoever ends the campaign early loses nothing.
                    eprintln!("found: {kind}; seed {seed}");
                }
                seeds.push(seed.parse().unwrap_or(0));
            } else if let Some(rest) = line.strip_prefix("done ") {
                let numbers: Vec<u64> = rest.split(' ').filter_map(|number| number.parse().ok()).collect();
                if let [totals @ .., longest, largest] = &numbers[..] {
                    self.totals.iter_mut().zip(totals).for_each(|(all, some)| *all += some);
                    (self.longest, self.largest) = (self.longest.max(*longest), self.largest.max(*largest));
                }
            }
        }
    }
}

/// Tries a run; of one that does not end well, its halves, down to the input that it is, while there is time.
fn search(first: u64, count: u64, root: &Path, is_over: &dyn Fn() -> bool, add: &dyn Fn(&str)) {
    match run(first, count, root, LONGEST_RUN + EACH * u32::try_from(count).unwrap_or(u32::MAX)) {
        Ok(printed) => add(&printed),
        Err(why) if count == 1 => add(&format!("wrong {first} {why}")),
        Err(why) if is_over() => add(&format!("wrong {first} one of {count} inputs from there on {why}")),
        Err(why) => {
            eprintln!("{count} inputs from seed {first} on: {why}");
            let half = count / 2;
            search(first, half, root, is_over, add);
            search(first.wrapping_add(half), count - half, root, is_over, add);
        }
    }
}

fn campaign(inputs: u64, threads: u64, seed: u64, limit: Duration, root: &Path) -> ExitCode {
    let (next, found, start) = (AtomicU64::new(0), Mutex::new(Found::default()), Instant::now());
    let add = |printed: &str| {
        if let Ok(mut found) = found.lock() {
            let before = found.totals[0] / SHOWN;
            found.add(printed);
            if found.totals[0] / SHOWN != before {
                eprintln!("{} inputs in {:.0} s", found.totals[0], start.elapsed().as_secs_f64());
            }
        }
    };
    let is_over = || start.elapsed() > limit;
    let work = || loop {
        let from = next.fetch_add(RUN, Relaxed);
        if from >= inputs || is_over() {
            return;
        }
        let (first, count) = (seed.wrapping_add(from), RUN.min(inputs - from));
        search(first, count, root, &is_over, &add);
    };
    std::thread::scope(|scope| (0..threads.max(1)).for_each(|_| drop(scope.spawn(work))));
    let Ok(Found { wrong, totals: [done, parsed, lowered, printed], longest, largest }) = found.into_inner() else {
        return ExitCode::FAILURE;
    };
    let rate = done as f64 / start.elapsed().as_secs_f64();
    println!(
        "{done} inputs from seed {seed} on, {rate:.0} a second: {parsed} parsed, {lowered} lowered, {printed} printed; longest {longest} ms, largest {largest} KiB"
    );
    for (what, seeds) in &wrong {
        println!("{} × {what}; seeds {:?}", seeds.len(), &seeds[..seeds.len().min(5)]);
    }
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
