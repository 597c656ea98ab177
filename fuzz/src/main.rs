//! `warpwright-fuzz`: campaigns of random kernels.

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use warpwright_fuzz::campaign::processes::Processes;
use warpwright_fuzz::campaign::{self, Judge, Settings, state::State};
use warpwright_fuzz::check::check;
use warpwright_fuzz::executions::{device, difference};
use warpwright_fuzz::mutations::Limits;
use warpwright_fuzz::random::{Failure, Random};
use warpwright_fuzz::source::{self, Form};

/// Random kernels over the whole language, on everything that runs them.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a campaign, or goes on with one.
    Run(Run),
    /// Shows the kernel of a seed, and what everybody asked says of it.
    One {
        /// The seed.
        seed: u64,
        /// Who is asked.
        #[arg(long, value_delimiter = ',', default_value = "simulator")]
        on: Vec<String>,
        /// Every OpenCL device but the first: those that a campaign asks where the first one differs.
        #[arg(long)]
        arbiters: bool,
    },
    /// Seeds mistakes into a copy of the workspace, and shows which of them kernels find.
    Mutations {
        /// Who is asked, in the place of those that the table names for each mistake: the simulator and executed PTX; OpenCL about its printer.
        #[arg(long)]
        on: Option<String>,
        /// Only those whose names have this text: `affine`.
        #[arg(long, default_value = "")]
        only: String,
        /// Kernels to each, at most: it ends with the first that shows the mistake.
        #[arg(long, default_value_t = 20_000)]
        kernels: u64,
        /// Threads.
        #[arg(long, default_value_t = 2)]
        threads: u64,
        /// Where the copy is put.
        #[arg(long)]
        scratch: PathBuf,
    },
    /// Shows what the kernels of a campaign had.
    Coverage {
        /// The campaign's state; of several processes all of theirs.
        #[arg(long, default_value = "warpwright-fuzz.state", num_args = 1..)]
        state: Vec<PathBuf>,
    },
}

#[derive(clap::Args)]
struct Run {
    /// Who is asked: simulator (every form and stage; without it, each kernel runs on it once), twin, ptx, opencl, cuda.
    #[arg(long, value_delimiter = ',', default_value = "simulator")]
    on: Vec<String>,
    /// Hours of this start.
    #[arg(long)]
    hours: Option<f64>,
    /// Kernels in all.
    #[arg(long)]
    kernels: Option<u64>,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Kernels of a batch, which is a program of twins.
    #[arg(long, default_value_t = 200)]
    batch: u64,
    /// Threads of a process.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Processes. The CUDA driver compiles one kernel of a process at a time, so a GPU is asked more often by several; of several GPUs each process has one. Each begins a million seeds
    /// after the one before, and has a state of its own: `all-1.state`, `all-2.state` of `--state all.state`.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    processes: u64,
    /// Which of the CUDA devices is asked, by one process.
    #[arg(long, default_value_t = 0, conflicts_with = "processes")]
    gpu: usize,
    /// Where the campaign's state is kept; finds are put beside it.
    #[arg(long, default_value = "warpwright-fuzz.state")]
    state: PathBuf,
    /// The workspace, for twins.
    #[arg(long)]
    root: Option<PathBuf>,
    /// Ends at the first batch that finds something, which is not made smaller.
    #[arg(long)]
    until_find: bool,
    /// Whether this is the process that may die with a driver.
    #[arg(long, hide = true)]
    inside: bool,
}

fn judges(names: &[String]) -> Result<Vec<Judge>, String> {
    let one = |name: &String| {
        Judge::ALL.into_iter().find(|judge| judge.name() == name).ok_or_else(|| {
            let all: Vec<&str> = Judge::ALL.iter().map(|judge| judge.name()).collect();
            format!("nobody is called `{name}`: there are {}", all.join(", "))
        })
    };
    names.iter().map(one).collect()
}

fn settings(run: &Run) -> Result<Settings, String> {
    Ok(Settings {
        judges: judges(&run.on)?,
        kernels: run.kernels.unwrap_or(u64::MAX / 2),
        seconds: run.hours.map_or(f64::INFINITY, |hours| hours * 3600.0),
        seed: run.seed,
        batch: run.batch.max(1),
        threads: run.threads,
        gpu: run.gpu,
        until_find: run.until_find,
        state: run.state.clone(),
        root: run.root.clone().unwrap_or_else(campaign::workspace),
    })
}

/// Starts this program again, as often as a driver ends it.
fn watch() -> Result<ExitCode, String> {
    loop {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let status = std::process::Command::new(program).args(std::env::args_os().skip(1)).arg("--inside").status();
        let status = status.map_err(|error| error.to_string())?;
        // A plain exit is an answer, good or bad; a signal is a find.
        if let Some(code) = status.code() {
            return Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)));
        }
        println!("the program ended: {status}");
    }
}

/// Starts the processes of a campaign that has several.
fn run_processes(run: &Run, settings: &Settings) -> Result<ExitCode, String> {
    let gpus = if settings.judges.contains(&Judge::Cuda) { warpwright_runtime::Device::gpus().len() } else { 1 };
    let processes = Processes { count: run.processes, seed: run.seed, kernels: run.kernels, state: run.state.clone(), gpus };
    let mut common: Vec<OsString> = vec!["run".into(), "--on".into(), run.on.join(",").into()];
    let batch = run.batch.to_string();
    let threads = run.threads.to_string();
    common.extend(["--batch", &batch, "--threads", &threads].map(OsString::from));
    if let Some(hours) = run.hours {
        common.extend(["--hours".into(), hours.to_string().into()]);
    }
    if let Some(root) = &run.root {
        common.extend(["--root".into(), root.into()]);
    }
    if run.until_find {
        common.push("--until-find".into());
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let state = processes.run(&program, &common)?;
    Ok(if state.count("finds") == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run(run: &Run) -> Result<ExitCode, String> {
    let settings = settings(run)?;
    if run.processes > 1 {
        return run_processes(run, &settings);
    }
    let asks_drivers = settings.judges.iter().any(|judge| judge.is_device());
    if asks_drivers && !run.inside {
        return watch();
    }
    let state = campaign::run(&settings)?;
    Ok(if state.count("finds") == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn one(seed: u64, on: &[String], has_arbiters: bool) -> Result<ExitCode, String> {
    let kernel = source::kernel(&mut Random::new(seed));
    println!("{}", kernel.file(Form::Annotated));
    println!("// grid {:?}, {} bytes of dynamic shared memory", kernel.grid, kernel.shared_bytes);
    let shown = match check(&kernel, seed) {
        Ok(shown) => shown,
        Err(Failure::Wrong(why)) => return Err(format!("simulator: {why}")),
        Err(Failure::NoCase(why)) => return Err(format!("no kernel: {why}")),
    };
    println!("// simulator: {} executions agree, {} annotations are left out", shown.compared + 1, shown.left_out);
    let settings = Settings {
        judges: judges(on)?,
        kernels: 1,
        seconds: 0.0,
        seed,
        batch: 1,
        threads: 1,
        gpu: 0,
        until_find: false,
        state: std::env::temp_dir().join("warpwright-fuzz-one"),
        root: campaign::workspace(),
    };
    let judges = settings.judges()?;
    let mut code = ExitCode::SUCCESS;
    let mut say = |name: &str, why: Option<String>| {
        println!("// {name}: {}", why.as_deref().unwrap_or("agrees"));
        if why.is_some() {
            code = ExitCode::FAILURE;
        }
    };
    if let Some(tools) = &judges.twins {
        let said = tools.run("one", &[&kernel], Form::BestEffort, true)?;
        let why = match said.first() {
            Some(warpwright_fuzz::executions::twin::Said::Whole(output)) => difference(&shown.output, output),
            said => Some(format!("{said:?}")),
        };
        say("twin", why);
    }
    if judges.has_ptx {
        let why = match campaign::batch::on_ptx(&kernel, &shown.output, seed) {
            Ok(()) => None,
            Err(Failure::Wrong(why) | Failure::NoCase(why)) => Some(why),
        };
        say("ptx", why);
    }
    let arbiters = if has_arbiters { campaign::arbiters() } else { Vec::new() };
    if has_arbiters && arbiters.is_empty() {
        return Err("there is no second OpenCL device".to_owned());
    }
    let asked = judges.devices.iter().map(|(name, device)| (*name, device)).chain(arbiters.iter().map(|device| (device.name(), device)));
    for (name, device) in asked {
        let why = match device::run(&kernel, Form::BestEffort, device) {
            Ok(Some(output)) => difference(&shown.output, &output),
            Ok(None) => {
                println!("// {name}: the device has less than the kernel takes");
                continue;
            }
            Err(why) => Some(why),
        };
        say(name, why);
    }
    Ok(code)
}

fn coverage(states: &[PathBuf]) -> Result<ExitCode, String> {
    let mut together = State::default();
    for path in states {
        together.join(&State::read(path)?);
    }
    print!("{}", campaign::coverage::tables(&together));
    Ok(ExitCode::SUCCESS)
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Run(arguments) => run(&arguments),
        Command::One { seed, on, arbiters } => one(seed, &on, arbiters),
        Command::Mutations { on, only, kernels, threads, scratch } => {
            let limits = Limits { only: &only, kernels, threads };
            warpwright_fuzz::mutations::try_all(&campaign::workspace(), &scratch, on.as_deref(), limits).map(|text| {
                print!("{text}");
                ExitCode::SUCCESS
            })
        }
        Command::Coverage { state } => coverage(&state),
    };
    done.unwrap_or_else(|why| {
        eprintln!("error: {why}");
        ExitCode::FAILURE
    })
}
