//! A batch of a campaign: so many seeds, each kernel shown to all who are asked.

use super::find::{Find, tried};
use super::state::State;
use super::suspects::Suspects;
use super::{Judge, Settings};
use crate::check::{check, expected, run_once, target_of};
use crate::executions::twin::{Said, Toolchain};
use crate::executions::{Output, compiled, device, difference, ptx};
use crate::random::{Failure, Random};
use crate::source::{self, Form, Kernel};
use warpwright_runtime::Device;

/// Whom a campaign asks, made ready once.
pub struct Judges {
    /// Whether the simulator runs every form and stage of a kernel, or its annotated form once.
    pub is_thorough: bool,
    /// For twins.
    pub twins: Option<Toolchain>,
    /// Whether PTX is executed.
    pub has_ptx: bool,
    /// OpenCL and CUDA devices.
    pub devices: Vec<(&'static str, Device)>,
    /// Other OpenCL devices, with other compilers: asked where the first one differs.
    pub arbiters: Vec<Device>,
}

impl Judges {
    /// What the others are held to.
    ///
    /// # Errors
    /// It is no kernel, or does not run.
    pub fn expected(&self, kernel: &Kernel) -> Result<Output, Failure> {
        if self.is_thorough { expected(kernel) } else { run_once(kernel).map(|shown| shown.output) }
    }
}

/// A kernel that the simulator has run, and what it computes.
struct Known {
    seed: u64,
    kernel: Kernel,
    output: Output,
}

/// Runs a batch: what is to be added to the state, and what was found.
pub fn run(settings: &Settings, judges: &Judges, batch: u64, skipped: &dyn Fn(u64) -> bool) -> (State, Vec<Find>) {
    let (mut counted, mut finds, mut known) = (State::default(), Vec::new(), Vec::new());
    let first = settings.seed + batch * settings.batch;
    for seed in (first..first + settings.batch).filter(|seed| !skipped(*seed)) {
        let kernel = source::kernel(&mut Random::new(seed));
        match tried(|| if judges.is_thorough { check(&kernel, seed) } else { run_once(&kernel) }) {
            Ok(shown) => {
                count(&mut counted, &kernel, &shown);
                known.push(Known { seed, kernel, output: shown.output });
            }
            Err(Failure::NoCase(why)) => {
                counted.add("no case", 1);
                finds.push(Find { seed, judge: "none", why });
            }
            Err(Failure::Wrong(why)) => finds.push(Find { seed, judge: "simulator", why }),
        }
        proc_macro2::extra::invalidate_current_thread_spans();
    }
    if let Some(tools) = &judges.twins {
        let exact: Vec<&Known> = known.iter().filter(|known| !known.kernel.is_approximate).collect();
        twins(tools, &format!("batch_{batch}"), &exact, &mut counted, &mut finds);
    }
    for Known { seed, kernel, output } in known.iter().filter(|_| judges.has_ptx) {
        counted.add(Judge::Ptx.name(), 1);
        counted.add(format!("executed {}", target_of(kernel, *seed)), 1);
        if let Err(Failure::Wrong(why) | Failure::NoCase(why)) = tried(|| on_ptx(kernel, output, *seed)) {
            finds.push(Find { seed: *seed, judge: Judge::Ptx.name(), why });
        }
        proc_macro2::extra::invalidate_current_thread_spans();
    }
    for (name, device) in &judges.devices {
        let arbiters = if *name == Judge::OpenCl.name() { &judges.arbiters[..] } else { &[] };
        on_device(settings, name, device, arbiters, &known, &mut counted, &mut finds);
    }
    (counted, finds)
}

fn count(counted: &mut State, kernel: &Kernel, shown: &crate::check::Shown) {
    counted.add("kernels", 1);
    counted.add("simulator runs", shown.compared as u64 + 1);
    counted.add(format!("family {}", kernel.family), 1);
    counted.add("statements", kernel.size() as u64);
    kernel.hits.iter().for_each(|feature| counted.add(format!("feature {feature}"), 1));
    kernel.calls.iter().for_each(|(name, ty)| counted.add(format!("call {name} {ty}"), 1));
    shown.passes.iter().for_each(|pass| counted.add(format!("pass {pass}"), 1));
    shown.targets.iter().for_each(|target| counted.add(format!("target {target}"), 1));
    shown.lacking.iter().for_each(|target| counted.add(format!("lacking {target}"), 1));
    counted.add("annotations refused as drawn", u64::from(shown.is_refused));
    counted.add("annotations left out", shown.left_out as u64);
    let kept = !shown.is_refused;
    kernel.hits.iter().filter(|hit| kept && hit.starts_with("annotation.")).for_each(|hit| counted.add(format!("kept {hit}"), 1));
}

/// Twins of all of these; of a program that `rustc` refuses, or that dies, halves.
fn twins(tools: &Toolchain, name: &str, known: &[&Known], counted: &mut State, finds: &mut Vec<Find>) {
    if known.is_empty() {
        return;
    }
    let kernels: Vec<&Kernel> = known.iter().map(|known| &known.kernel).collect();
    match tools.run(name, &kernels, Form::BestEffort, false) {
        Ok(said) => {
            for (known, said) in known.iter().zip(&said) {
                counted.add("twin", 1);
                if !said.is(&known.output) {
                    finds.push(Find { seed: known.seed, judge: "twin", why: complaint(said) });
                }
            }
        }
        Err(why) if known.len() == 1 => finds.push(Find { seed: known[0].seed, judge: "twin", why }),
        Err(_) => {
            let (left, right) = known.split_at(known.len() / 2);
            twins(tools, name, left, counted, finds);
            twins(tools, name, right, counted, finds);
        }
    }
}

/// Whether executed PTX gives this output: for one target, in an order of threads that the seed chooses.
///
/// # Errors
/// How it differs, or what fault there is.
pub fn on_ptx(kernel: &Kernel, output: &Output, seed: u64) -> Result<(), Failure> {
    let target = target_of(kernel, seed);
    let wrong = |why: String| Failure::Wrong(format!("{target}: {why}"));
    let lowered = compiled::scheduled(kernel, Form::BestEffort).map_err(Failure::NoCase)?;
    let found = ptx::run(kernel, &lowered, target, seed).map_err(wrong)?;
    difference(output, &found).map_or(Ok(()), |why| Err(wrong(why)))
}

/// What is wrong with what a twin says.
pub fn complaint(said: &Said) -> String {
    match said {
        Said::Fault(why) => format!("the host twin: {why}"),
        Said::Digest(_) | Said::Whole(_) => "the host twin computes something else".to_owned(),
    }
}

/// Whether devices of this name are asked about a kernel: OpenCL devices have functions of their own, and no clusters, and their blocks need not run beside each other.
pub fn is_asked(name: &str, kernel: &Kernel) -> bool {
    !kernel.has_textures() && (name == Judge::Cuda.name() || !(kernel.is_approximate || kernel.has_clusters || kernel.waits))
}

fn on_device(
    settings: &Settings,
    name: &'static str,
    device: &Device,
    arbiters: &[Device],
    known: &[Known],
    counted: &mut State,
    finds: &mut Vec<Find>,
) {
    let suspects = Suspects::of(settings);
    for Known { seed, kernel, output } in known {
        if !is_asked(name, kernel) {
            continue;
        }
        suspects.begin(*seed);
        let found = tried(|| device::run(kernel, Form::BestEffort, device).map_err(Failure::Wrong));
        let has_room = !matches!(found, Ok(None));
        counted.add(if has_room { name.to_owned() } else { format!("too large for {name}") }, 1);
        let why = match found {
            Ok(found) => found.and_then(|found| difference(output, &found)),
            Err(Failure::Wrong(why) | Failure::NoCase(why)) => Some(why),
        };
        if why.as_ref().is_some_and(|why| why.contains("context is lost")) {
            // Whatever came next would fail. Who of all threads did it is found by the next start.
            suspects.lose();
            std::process::abort();
        }
        // The same text, and every other compiler makes of it what it means: then it is this one that is wrong.
        let others_agree = || {
            let agrees = |other: &Device| matches!(device::run(kernel, Form::BestEffort, other), Ok(Some(found)) if difference(output, &found).is_none());
            !arbiters.is_empty() && arbiters.iter().all(agrees)
        };
        let is_devices_own = why.is_some() && others_agree();
        suspects.end(*seed);
        if is_devices_own {
            println!("seed {seed}: {} differs, {} others agree", device.name(), arbiters.len());
            counted.add(format!("wrong on {} alone", device.name()), 1);
        } else if let Some(why) = why {
            finds.push(Find { seed: *seed, judge: name, why });
        }
        proc_macro2::extra::invalidate_current_thread_spans();
    }
}
