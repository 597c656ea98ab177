//! Campaigns: batches of kernels on several threads until their number or time is reached, with a state that a later start goes on from.

pub mod batch;
pub mod coverage;
pub mod find;
pub mod processes;
pub mod state;
pub mod suspects;

use crate::check::check;
use crate::executions::twin::Toolchain;
use crate::executions::{device, difference};
use crate::random::Failure;
use crate::source::{Form, Kernel};
use batch::{Judges, complaint};
use find::Find;
use state::State;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use warpwright_runtime::Device;

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judge {
    /// The simulator: every form and stage. Where it is not asked, each kernel is run on it once, with its annotations, for the others to be held to.
    Simulator,
    /// The host twin.
    Twin,
    /// PTX, executed by the interpreter: each kernel for one target.
    Ptx,
    /// The first OpenCL device.
    OpenCl,
    /// A CUDA device.
    Cuda,
}

impl Judge {
    /// All of them.
    pub const ALL: [Judge; 5] = [Judge::Simulator, Judge::Twin, Judge::Ptx, Judge::OpenCl, Judge::Cuda];

    /// Whether it is a device, whose driver may end the program.
    pub fn is_device(self) -> bool {
        matches!(self, Judge::OpenCl | Judge::Cuda)
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Judge::Simulator => "simulator",
            Judge::Twin => "twin",
            Judge::Ptx => "ptx",
            Judge::OpenCl => "opencl",
            Judge::Cuda => "cuda",
        }
    }
}

/// What a campaign is asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who is asked.
    pub judges: Vec<Judge>,
    /// Kernels in all, those of earlier starts included.
    pub kernels: u64,
    /// Seconds of this start.
    pub seconds: f64,
    /// The first seed.
    pub seed: u64,
    /// Kernels of a batch, which is a program of twins.
    pub batch: u64,
    /// Operating-system threads.
    pub threads: usize,
    /// Which of the CUDA devices is asked.
    pub gpu: usize,
    /// Whether it ends at the first batch that finds something, which is not made smaller.
    pub until_find: bool,
    /// Where the state is.
    pub state: PathBuf,
    /// The workspace, for twins.
    pub root: PathBuf,
}

/// Tries that make a find smaller: each of a twin is a program to build.
const TRIES: usize = 1500;
const TRIES_OF_TWINS: usize = 80;

impl Settings {
    /// Where finds go.
    pub fn finds(&self) -> PathBuf {
        self.state.with_extension("finds")
    }

    /// Whom it asks, made ready.
    ///
    /// # Errors
    /// One of them is not there.
    pub fn judges(&self) -> Result<Judges, String> {
        let said = |error: warpwright_runtime::Error| error.to_string();
        let work = std::env::temp_dir().join(format!("warpwright-fuzz-{}", std::process::id()));
        let twins = self.judges.contains(&Judge::Twin).then(|| Toolchain::of_workspace(&self.root, &work)).transpose()?;
        let (mut devices, mut arbiters) = (Vec::new(), Vec::new());
        if self.judges.contains(&Judge::OpenCl) {
            devices.push((Judge::OpenCl.name(), Device::opencl(0).map_err(said)?));
            arbiters = self::arbiters();
        }
        if self.judges.contains(&Judge::Cuda) {
            devices.push((Judge::Cuda.name(), Device::cuda(self.gpu).map_err(said)?));
        }
        let [is_thorough, has_ptx] = [Judge::Simulator, Judge::Ptx].map(|judge| self.judges.contains(&judge));
        Ok(Judges { is_thorough, twins, has_ptx, devices, arbiters })
    }
}

/// Every OpenCL device but the first.
pub fn arbiters() -> Vec<Device> {
    (1..).map_while(|index| Device::opencl(index).ok()).collect()
}

/// Runs it, to its number or its time. Progress and finds are printed as they come.
///
/// # Errors
/// The state cannot be read or written, or somebody asked is not there.
pub fn run(settings: &Settings) -> Result<State, String> {
    let mut state = State::read(&settings.state)?;
    let suspects::Asked { guilty, excused, agreed } = suspects::asked_alone(settings);
    for seed in agreed {
        println!("seed {seed}: a program ended while it was asked about; asked alone, it agrees");
        state.skipped.insert(seed);
        state.add("agreed alone", 1);
    }
    for seed in excused {
        println!("seed {seed} ended the program; every other OpenCL device has the right result");
        state.skipped.insert(seed);
        state.add("ended by the device alone", 1);
    }
    for seed in guilty {
        println!("seed {seed} ended the program");
        let judge = settings.judges.iter().find(|judge| judge.is_device()).map_or("device", |judge| judge.name());
        let find = Find { seed, judge, why: "it ended the program, or the device's context".to_owned() };
        find.write(&settings.finds(), &whole(&find), &find.why)?;
        state.skipped.insert(seed);
        state.add("finds", 1);
    }
    state.write(&settings.state)?;
    let judges = settings.judges()?;
    // Which they are is a part of the result: a driver that is found first need not be the one that was meant.
    for (name, device) in &judges.devices {
        println!("{name}: {device}");
        state.add(format!("starts on {name} {device}"), 1);
    }
    let before = state.count("milliseconds");
    let start = Instant::now();
    // The threads share it.
    let state = Mutex::new(state);
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    let most = settings.kernels.div_ceil(settings.batch.max(1));
    let run_batch = |batch: u64| {
        let skipped = lock().skipped.clone();
        let (counted, finds) = batch::run(settings, &judges, batch, &|seed| skipped.contains(&seed));
        let mut state = lock();
        state.join(&counted);
        state.pending.remove(&batch);
        state.add("finds", finds.len() as u64);
        finds
    };
    let work = || -> Result<(), String> {
        loop {
            let batch = {
                let mut state = lock();
                if start.elapsed().as_secs_f64() >= settings.seconds {
                    return Ok(());
                }
                // What an earlier start left goes first. Threads of this one have their own.
                let next = state.next;
                if next >= most {
                    return Ok(());
                }
                state.next += 1;
                state.pending.insert(next);
                state.write(&settings.state)?;
                next
            };
            let finds = run_batch(batch);
            {
                let mut state = lock();
                let elapsed = start.elapsed().as_millis() as u64;
                state.counts.insert("milliseconds".to_owned(), before + elapsed);
                state.write(&settings.state)?;
                println!("{}", progress(&state));
            }
            if settings.until_find && !finds.is_empty() {
                finds.iter().for_each(|find| println!("{}", headline(find)));
                lock().next = most;
                return Ok(());
            }
            report(settings, &judges, &finds)?;
        }
    };
    {
        // Batches that were begun and not ended are begun again.
        let pending = lock().pending.clone();
        for batch in pending {
            let finds = run_batch(batch);
            // Before one is made smaller, which may end the program.
            lock().write(&settings.state)?;
            report(settings, &judges, &finds)?;
        }
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..settings.threads.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a thread of the campaign panicked".to_owned())))
    })?;
    let state = lock().clone();
    state.write(&settings.state)?;
    Ok(state)
}

/// A line of figures.
fn progress(state: &State) -> String {
    let seconds = state.count("milliseconds") as f64 / 1000.0;
    let kernels = state.count("kernels");
    let rate = kernels as f64 / seconds.max(0.001) * 3600.0;
    let others: Vec<String> = Judge::ALL
        .iter()
        .skip(1)
        .map(|judge| (judge.name(), state.count(judge.name())))
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| format!("{n} on {name}"))
        .collect();
    format!(
        "{kernels} kernels ({}), {seconds:.0} s, {rate:.0} an hour, {} not compiled, {} finds",
        [vec![format!("{} runs on simulator", state.count("simulator runs"))], others].concat().join(", "),
        state.count("no case"),
        state.count("finds")
    )
}

/// A find in a line.
fn headline(find: &Find) -> String {
    format!("found: seed {} on {}: {}", find.seed, find.judge, find.why.lines().next().unwrap_or_default())
}

/// The kernel of a find.
fn whole(find: &Find) -> Kernel {
    crate::source::kernel(&mut crate::random::Random::new(find.seed))
}

/// Writes finds, makes each smaller, and says where they are. The whole kernels come first: who ends a campaign while it makes one smaller has them all.
fn report(settings: &Settings, judges: &Judges, finds: &[Find]) -> Result<(), String> {
    for find in finds {
        println!("{}", headline(find));
        find.write(&settings.finds(), &whole(find), &find.why)?;
    }
    for find in finds {
        let tries = if find.judge == Judge::Twin.name() { TRIES_OF_TWINS } else { TRIES };
        let shrunk = find.shrunk(tries, |kernel| again(judges, find, kernel));
        let (kernel, why) = shrunk.unwrap_or_else(|| (whole(find), find.why.clone()));
        let path = find.write(&settings.finds(), &kernel, &why)?;
        println!("  {}: {}", path.display(), why.lines().next().unwrap_or_default());
    }
    Ok(())
}

/// Whether a smaller kernel fails as the find does.
fn again(judges: &Judges, find: &Find, kernel: &Kernel) -> Result<(), Failure> {
    match find.judge {
        "none" => match crate::check::expected(kernel) {
            Err(Failure::NoCase(why)) if same_reason(&why, &find.why) => Err(Failure::Wrong(why)),
            _ => Ok(()),
        },
        "simulator" => check(kernel, find.seed).map(|_| ()),
        "twin" => {
            let output = judges.expected(kernel)?;
            let Some(tools) = &judges.twins else { return Ok(()) };
            let said = tools.run(&format!("shrink_{}", find.seed), &[kernel], Form::BestEffort, true).map_err(Failure::NoCase)?;
            match said.first() {
                Some(said) if !said.is(&output) => Err(Failure::Wrong(complaint(said))),
                _ => Ok(()),
            }
        }
        "ptx" => {
            let output = judges.expected(kernel)?;
            batch::on_ptx(kernel, &output, find.seed)
        }
        // Smaller ones are to fail as this one does, not as one that the device is not asked about.
        name if !batch::is_asked(name, kernel) => Ok(()),
        name => {
            let output = judges.expected(kernel)?;
            let Some((_, device)) = judges.devices.iter().find(|(device, _)| *device == name) else { return Ok(()) };
            let Some(found) = device::run(kernel, Form::BestEffort, device).map_err(Failure::Wrong)? else { return Ok(()) };
            difference(&output, &found).map_or(Ok(()), |why| Err(Failure::Wrong(why)))
        }
    }
}

/// Whether two messages are about the same: their first words are.
fn same_reason(one: &str, other: &str) -> bool {
    let words = |text: &str| text.split_whitespace().take(4).map(str::to_owned).collect::<Vec<_>>();
    words(one) == words(other)
}

/// The folder of the workspace that this program was built in.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}
