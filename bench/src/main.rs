//! Times kernels against their twins in CUDA C++, alternately, in one process on one device.
//!
//! `warpwright-bench LIBTWINS.so [--only FAMILY]… [--runs N] [--small] [--csv PATH]`, the library being built from `bench/cuda` by
//! `nvcc -O3 -std=c++17 -arch=sm_90 -shared -Xcompiler -fPIC -o libtwins.so bench/cuda/*.cu -lcublasLt -lcublas`. `warpwright-bench --simulate` needs neither the library
//! nor a GPU: it checks the same cases at tiny sizes on the simulator. `--alone` instead of the library times ours only, which is also what happens to
//! kernels that have no twin. `--tiny` takes the simulator's sizes on the device, for compute-sanitizer. `--applications` times the application suite instead (`applications/mod.rs` says how), `--staples`
//! the library of staples (`staples/mod.rs`), `--several` what two GPUs do together (`several.rs`).
//!
//! Inputs are random, made on the device. Each case is checked once: outputs are filled with what is no number, both sides run, all
//! results are compared with each other on the device and samples with the host. Then come the rounds: two launches of ours, the second
//! timed, two of theirs, the second timed, by device events. The ratio is theirs over ours in time: 1 is equal, more is faster.
//!
//! Where the time goes: a round of the 72 copies moves 2 × 2 × 72 × 4.3 GB in about 1 s (a third of it in the copies that one warp per
//! multiprocessor makes), so 10 rounds take 10 s; a round of the multiplications takes up to 1 s a case at the smallest tile, and
//! `seconds_per_case` ends a case after 5 rounds; everything else is a second or two a family. Each variant costs the driver's assembler
//! some 10 ms once.
#![expect(unsafe_code, reason = "the twins are C functions of a shared library")]

mod applications;
mod cases;
mod contest;
mod graph_cost;
mod launch_cost;
mod memory;
mod report;
mod several;
mod staples;
mod twins;

use clap::Parser;
use std::time::Instant;
use twins::Twins;
use warpwright::Device;

/// Anything that goes wrong, as text for a person.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// How large the inputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    /// Many times the cache: what is reported.
    Full,
    /// Megabytes: to see that all runs.
    Small,
    /// Thousands of elements, lengths that fit no block: for the simulator.
    Tiny,
}

impl Size {
    fn pick<T>(self, full: T, small: T, tiny: T) -> T {
        match self {
            Size::Full => full,
            Size::Small => small,
            Size::Tiny => tiny,
        }
    }
}

/// What the cases run with.
struct Runner {
    device: Device,
    twins: Option<Twins>,
    size: Size,
    runs: usize,
    /// After so much device time a case ends, if it has had a few rounds.
    seconds_per_case: f64,
    seed: u64,
    rows: Vec<report::Row>,
}

impl Runner {
    fn new(device: Device, twins: Option<Twins>, size: Size, runs: usize) -> Runner {
        let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64);
        Runner { device, twins, size, runs, seconds_per_case: 2.0, seed, rows: Vec::new() }
    }

    /// The `i`-th of the run's random numbers (SplitMix64).
    fn random(&self, i: u64) -> u64 {
        let mut z = self.seed.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Nine tenths of a multiprocessor's shared memory: room for one block, and no second.
    fn most_shared_memory(&self) -> Outcome<u32> {
        // Compute capability 9.0 has 228 KiB; the simulator is checked against it.
        let bytes = self.twins.as_ref().map_or(Ok(228 * 1024), Twins::shared_memory)?;
        Ok((f64::from(bytes) * 0.9) as u32 / 16 * 16)
    }
}

/// Times kernels against their twins in CUDA C++, alternately, in one process on one device.
#[derive(Parser)]
#[command(group(clap::ArgGroup::new("against").required(true).multiple(true).args(["library", "alone", "declared", "simulate", "several"])))]
#[command(group(clap::ArgGroup::new("size").args(["small", "tiny", "quick"])))]
struct Arguments {
    /// The twins, built from `bench/cuda`: `libtwins.so`.
    library: Option<String>,
    /// Times ours only.
    #[arg(long)]
    alone: bool,
    /// Checks everything at tiny sizes on the simulator.
    #[arg(long)]
    simulate: bool,
    /// Times what two GPUs do together, against torch.distributed with `--torch`.
    #[arg(long, conflicts_with_all = ["staples", "applications"])]
    several: bool,
    /// One of two ranks of `--several`, each a program of its own.
    #[arg(long, hide = true, requires = "meeting")]
    rank: Option<usize>,
    /// Where the two ranks meet.
    #[arg(long, hide = true, requires = "several", value_name = "PATH")]
    meeting: Option<std::path::PathBuf>,
    /// Times the application suite.
    #[arg(long)]
    applications: bool,
    /// Times every variant that the applications declare, which have no twins.
    #[arg(long, requires = "applications")]
    declared: bool,
    /// Times the library of staples, against CUB and cuBLAS if their library is given.
    #[arg(long, conflicts_with = "applications")]
    staples: bool,
    /// Times the candidates that the staples choose from, and prints the tables of `kernels/src/staples/tuned.rs`.
    #[arg(long, requires = "staples")]
    tune: bool,
    /// Megabytes, to see that all runs.
    #[arg(long, conflicts_with_all = ["applications", "staples"])]
    small: bool,
    /// The same of the applications and of the staples.
    #[arg(long)]
    quick: bool,
    /// The simulator's sizes on the device, for compute-sanitizer.
    #[arg(long)]
    tiny: bool,
    /// A family of cases, or an application; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    #[arg(long, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    runs: Option<usize>,
    /// Runs each of ours and of theirs by itself for so long before each of its rounds, which take a fifth of that: the clock is then the one that the device's power limit lets it keep.
    #[arg(long, requires = "staples", value_name = "SECONDS", value_parser = seconds)]
    sustained: Option<std::time::Duration>,
    #[arg(long, value_name = "PATH")]
    csv: Option<String>,
    /// A Python that has torch, `python3`, which then times torch at the same works.
    #[arg(long, value_name = "PYTHON")]
    torch: Option<String>,
    /// A picture of the applications, or of the staples.
    #[arg(long, value_name = "PATH.svg")]
    chart: Option<String>,
}

/// Seconds that can be waited for.
fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    if (0.001..=60.0).contains(&number) {
        Ok(std::time::Duration::from_secs_f64(number))
    } else {
        Err("between 0.001 and 60 seconds".to_owned())
    }
}

impl Arguments {
    fn check_names(&self) -> Outcome<()> {
        if self.quick && !self.applications && !self.staples {
            return Err(
                "`--quick` is of the applications and of the staples: add `--applications` or `--staples`, or write `--small`".into()
            );
        }
        if self.torch.is_some() && !self.staples && !self.several {
            return Err("`--torch` is of the staples and of several GPUs: add `--staples` or `--several`".into());
        }
        if self.chart.is_some() && !self.applications && !self.staples {
            return Err("`--chart` draws `--applications` or `--staples`: add one of them".into());
        }
        if self.staples {
            return Ok(());
        }
        let (kind, names): (_, Vec<&str>) = match self.applications {
            true => ("application", applications::names().collect()),
            false => ("family", cases::FAMILIES.iter().map(|(name, _)| *name).collect()),
        };
        let unknown = self.only.iter().find(|only| !names.contains(&only.as_str()));
        unknown.map_or(Ok(()), |unknown| Err(format!("no {kind} `{unknown}`; there are {}", names.join(", ")).into()))
    }
}

fn main() {
    let arguments = Arguments::parse();
    arguments.check_names().and_then(|()| run(arguments)).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        std::process::exit(1);
    });
}

fn run(arguments: Arguments) -> Outcome<()> {
    if let (Some(rank), Some(meeting)) = (arguments.rank, &arguments.meeting) {
        return several::print_rank(rank, meeting);
    }
    if arguments.several {
        return several::print(arguments.torch.as_deref());
    }
    let (device, twins, size) = if arguments.simulate {
        (Device::simulator(), None, Size::Tiny)
    } else {
        let twins = match arguments.library.as_deref() {
            _ if arguments.alone || arguments.declared => None,
            path => path.map(Twins::load).transpose()?,
        };
        let size = match arguments {
            Arguments { tiny: true, .. } => Size::Tiny,
            Arguments { small: true, .. } | Arguments { quick: true, .. } => Size::Small,
            _ => Size::Full,
        };
        (Device::cuda(0)?, twins, size)
    };
    if arguments.staples {
        let mut bench = staples::Bench::new(device, twins, size, arguments.runs)?;
        bench.settle = arguments.sustained;
        if arguments.tune {
            return staples::tune::run(&mut bench, &arguments.only);
        }
        let (torch, csv, chart) = (arguments.torch.as_deref(), arguments.csv.as_deref(), arguments.chart.as_deref());
        return staples::run(&mut bench, &staples::Asked { only: &arguments.only, torch, csv, chart });
    }
    if arguments.applications {
        let bench = applications::Bench::new(device, twins, size, arguments.runs);
        let bench = applications::Bench { declared: arguments.declared, ..bench };
        return applications::run(&bench, &arguments.only, &applications::Files { csv: arguments.csv, chart: arguments.chart });
    }
    let mut runner = Runner::new(device, twins, size, if arguments.simulate { 1 } else { arguments.runs.unwrap_or(10) });
    println!("device: {} ({}); seed {}", runner.device.name(), runner.device.target(), runner.seed);
    for (name, family) in cases::FAMILIES {
        if arguments.only.is_empty() || arguments.only.iter().any(|only| only == name) {
            let start = Instant::now();
            family(&mut runner)?;
            println!("{name}: {:.1} s", start.elapsed().as_secs_f64());
        }
    }
    println!("\n{}", report::table(&runner.rows));
    if let Some(path) = &arguments.csv {
        std::fs::write(path, report::csv(&runner.rows)).map_err(|error| format!("`{path}`: {error}"))?;
    }
    // Tiny sizes are for what the kernels do, not for what launches cost: thousands of them are minutes under compute-sanitizer.
    if !arguments.simulate && !arguments.tiny {
        launch_cost::print(&runner.device)?;
        graph_cost::print(&runner.device)?;
    }
    let slowest = runner.rows.iter().filter_map(report::Row::ratio).fold(f64::INFINITY, f64::min);
    if slowest.is_finite() {
        println!("smallest ratio: {slowest:.3}");
    }
    let failed = runner.rows.iter().filter_map(report::Row::complaint).count();
    if failed > 0 { Err(format!("{failed} of {} cases failed", runner.rows.len()).into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every case of every family, ours at tiny sizes on the simulator, against what the host expects.
    #[test]
    fn every_case_is_right_on_the_simulator() {
        let mut runner = Runner::new(Device::simulator(), None, Size::Tiny, 1);
        for (name, family) in cases::FAMILIES {
            let before = runner.rows.len();
            family(&mut runner).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(runner.rows.len() > before, "{name} has no case");
        }
        let complaints: Vec<String> = runner.rows.iter().filter_map(report::Row::complaint).collect();
        assert!(complaints.is_empty(), "{} of {} cases failed:\n{}", complaints.len(), runner.rows.len(), complaints.join("\n"));
    }

    #[test]
    fn refuses_arguments_it_does_not_know() {
        let parse = |text: &str| -> Outcome<Arguments> {
            let arguments = Arguments::try_parse_from(["warpwright-bench"].into_iter().chain(text.split(' ')))?;
            arguments.check_names().map(|()| arguments)
        };
        for (text, expected) in [
            ("--only copy", "the following required arguments were not provided"),
            ("lib.so --onyl copy", "unexpected argument '--onyl'"),
            ("lib.so --only kopy", "no family `kopy`; there are copy, "),
            ("lib.so --runs 0", "0 is not in 1.."),
            ("lib.so --csv", "a value is required for '--csv <PATH>'"),
            ("lib.so --applications --only copy", "no application `copy`; there are sad, "),
            ("lib.so --only fdtd", "no family `fdtd`; there are copy, "),
            ("lib.so --quick", "--applications"),
            ("--declared", "--applications"),
            ("--declared --applications --tiny --quick", "the argument '--tiny' cannot be used with '--quick'"),
            ("lib.so --torch python3", "--staples"),
            ("lib.so --chart x.svg", "`--chart` draws `--applications` or `--staples`"),
            ("lib.so --applications --small", "cannot be used with"),
        ] {
            let error = parse(text).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let parsed = parse("lib.so --only copy --only aat --runs 3 --small --csv x.csv").ok();
        assert!(parsed.is_some_and(|a| a.only.len() == 2 && a.runs == Some(3) && a.small && a.csv.as_deref() == Some("x.csv")));
    }
}
