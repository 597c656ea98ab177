//! `warpwright occupancy`: resident blocks, what limits them, and how far the next step is, of bare numbers or of a kernel.

mod json;
mod kernel;
mod plot;
pub(super) mod show;

use super::json::document;
use super::source::Define;
use super::{OUTPUT, Stop, VARIANTS, print, style};
use std::str::FromStr;
use warpwright_codegen::target::limits::Limits;
use warpwright_codegen::target::occupancy::{CachePreference, Demand, Options, impossible, occupancy};

/// Say how many blocks a multiprocessor holds, what limits them, and how far the next step is.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  warpwright occupancy --cc 9.0 --threads 256 --registers 65
  warpwright occupancy --cc 2.0 --threads 256 --registers 10 --shared 0 --barriers 1 --json
  warpwright occupancy --cc 8.6 --threads 128 --registers 40 --plot
  warpwright occupancy src/main.rs::copy -D B=256 --targets sm_80,sm_90")]
pub(super) struct Occupancy {
    /// A kernel's source: `FILE.rs` for all its kernels, or `FILE.rs::kernel`. Its registers are estimated.
    #[arg(value_name = "FILE[::kernel]", value_hint = clap::ValueHint::FilePath, conflicts_with = "cc")]
    file: Option<String>,
    /// Numbers instead of a kernel: for this compute capability, 1.0 to 12.1.
    #[arg(long, value_name = "CAPABILITY", required_unless_present = "file", requires = "threads", requires = "registers")]
    cc: Option<String>,
    /// Threads per block; for a kernel, if its attribute does not fix them.
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// Registers per thread; for a kernel, instead of the estimate.
    #[arg(long, value_name = "N")]
    registers: Option<u32>,
    /// Shared memory per block, bytes; for a kernel, its dynamic shared memory.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    shared: u32,
    /// Named barriers per block, for numbers; those of a kernel are known.
    #[arg(long, value_name = "N", conflicts_with = "file", default_value_t = 0)]
    barriers: u32,
    /// Preferred division between shared memory and L1 cache: `default`, `cache`, `equal`, `shared`, or the percentage for shared memory.
    #[arg(long, value_name = "PREFERENCE", default_value = "default")]
    carve_out: CarveOut,
    /// Limit blocks to the default 48 KiB of shared memory. (warpwright's launches opt in to more if a kernel needs it.)
    #[arg(long)]
    no_opt_in: bool,
    /// Set a generic or an outside constant.
    #[arg(short = 'D', value_name = "NAME=VALUE", help_heading = VARIANTS, conflicts_with = "cc")]
    define: Vec<Define>,
    /// Targets, instead of those of the kernel or the crate's `Cargo.toml`.
    #[arg(long, value_name = "TARGET,…", value_delimiter = ',', conflicts_with = "cc")]
    targets: Vec<String>,
    /// Print all of it as JSON.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// Draw the curves over block size, registers and shared memory.
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    plot: bool,
}

/// `--carve-out`.
#[derive(Clone, Copy)]
struct CarveOut(CachePreference);

impl FromStr for CarveOut {
    type Err = String;
    fn from_str(text: &str) -> Result<CarveOut, String> {
        let preference = match text {
            "default" => CachePreference::Default,
            "cache" => CachePreference::Cache,
            "equal" => CachePreference::Equal,
            "shared" => CachePreference::Shared,
            _ => match text.trim_end_matches('%').parse() {
                Ok(percent @ 0..=100) => CachePreference::Percent(percent),
                _ => return Err("write `default`, `cache`, `equal`, `shared`, or a percentage from 0 to 100".to_owned()),
            },
        };
        Ok(CarveOut(preference))
    }
}

impl Occupancy {
    pub(super) fn run(self) -> Result<(), Stop> {
        match (&self.file, &self.cc) {
            (Some(file), _) => self.of_kernels(file),
            (None, cc) => self.of_numbers(cc.as_deref().unwrap_or_default()),
        }
    }

    fn options(&self) -> Options {
        Options { cache: self.carve_out.0, opt_in: !self.no_opt_in, ..Options::default() }
    }

    fn of_numbers(&self, capability: &str) -> Result<(), Stop> {
        let limits = Limits::find(capability).map_err(|error| Stop::usage(format!("{error}; {}", error.help())))?;
        let demand = Demand {
            threads: self.threads.unwrap_or_default(),
            registers: self.registers.unwrap_or_default(),
            shared: self.shared,
            barriers: self.barriers,
            virtual_resources: 0,
        };
        let options = self.options();
        let wrong: Vec<String> = impossible(limits, &demand, &options).iter().map(ToString::to_string).collect();
        if !wrong.is_empty() {
            return Err(Stop::usage(wrong.join("\nerror: ")));
        }
        let found = occupancy(limits, &demand, &options);
        if self.json {
            return document(json::of(&found));
        }
        let mut text = show::one(&found);
        if self.plot {
            text.push('\n');
            text.push_str(&plot::curves(&found, style::width()));
        }
        print(&text)
    }
}
