//! Variants run: on the simulator for its counters, on a device for its clock. Results are held against those of the first variant.

use super::Comparison;
use super::variant::lower;
use crate::cli::Stop;
use crate::cli::launch::LaunchArguments;
use crate::cli::source::Source;
use std::time::Duration;
use warpwright::{Clock, Device, DeviceKind, Error};
use warpwright_codegen::ir::{EntityMap, MemoryType, Scalar, StructId, StructType, Type};
use warpwright_runtime::dynamic::DynamicKernel;
use warpwright_runtime::ptxas::Ptxas;

/// Runs on a device.
pub(in crate::cli) struct Timed {
    /// Sorted.
    pub(super) times: Vec<Duration>,
    pub(super) clock: Clock,
    pub(super) device: String,
    /// How far the results are from the first variant's.
    pub(super) agreement: Agreement,
}

impl Timed {
    /// The middle run; of an even number, the later of the middle two.
    pub(super) fn median(&self) -> Duration {
        self.times.get(self.times.len() / 2).copied().unwrap_or_default()
    }
}

/// Two variants' results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::cli) enum Agreement {
    /// Bit for bit.
    Same,
    /// Floats by so much of the larger of the two, at most: what another order of additions explains.
    Close(f64),
    /// By more than that.
    Differs,
}

/// How far two floats of a type may be apart, as a share of the larger (or of 1, if that is more): a few hundred roundings.
fn tolerance(ty: Type) -> f64 {
    match ty {
        Type::F16 | Type::BF16 => 0.1,
        Type::F32 => 1e-4,
        Type::F64 => 1e-12,
        _ => 0.0,
    }
}

impl Comparison {
    /// Has `ptxas` measure every variant, if there is one.
    pub(super) fn measure(&mut self) {
        let assembler = match Ptxas::find() {
            Ok(Some(assembler)) => assembler,
            Ok(None) => return,
            Err(error) => return self.notes.push(format!("nothing is measured: {error}")),
        };
        let targets = &self.targets;
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let mut compiled: Vec<_> = self.variants.iter_mut().filter_map(|variant| variant.outcome.as_mut().ok()).collect();
        let share = compiled.len().div_ceil(workers).max(1);
        let errors: Vec<String> = std::thread::scope(|scope| {
            let measure = |part: &mut [&mut super::variant::Compiled]| {
                let mut errors = Vec::new();
                for compiled in part {
                    for (n, target) in targets.iter().enumerate() {
                        match compiled.ptx[n].as_deref().map(|ptx| assembler.measure(ptx, target.capability)) {
                            Some(Ok(measured)) => compiled.measured[n] = Some(measured),
                            Some(Err(error)) => errors.push(format!("`{}` is not measured: {error}", target.name)),
                            None => {}
                        }
                    }
                }
                errors
            };
            let threads: Vec<_> = compiled.chunks_mut(share).map(|part| scope.spawn(move || measure(part))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        self.notes.push(format!("measured by ptxas {}", assembler.release));
        for error in errors {
            if !self.notes.contains(&error) {
                self.notes.push(error);
            }
        }
    }

    /// Runs every variant on the simulator.
    pub(super) fn simulate(&mut self, sources: [Option<&Source>; 2], launch: &LaunchArguments) -> Result<(), Stop> {
        let device = Device::simulator();
        self.each(sources, &device, |kernel, compiled| {
            let host = launch.prepare(kernel)?;
            let ran = host.upload(&device).and_then(|arguments| kernel.run(host.geometry, &arguments.list()));
            compiled.counters = ran.map_err(stop)?;
            Ok(())
        })
    }

    /// Times every variant on the best device, in turn: a run of each, again and again.
    pub(super) fn time(&mut self, sources: [Option<&Source>; 2], launch: &LaunchArguments, runs: usize) -> Result<(), Stop> {
        let device = Device::best().map_err(stop)?;
        if device.kind() == DeviceKind::Simulator {
            return Err(Stop::usage(
                "there is no device to time on: `warpwright devices` lists what there is; `--simulate` counts without one",
            ));
        }
        self.notes
            .push(format!("timed on {device}, {runs} runs of each variant in turn; results are those of the first variant unless marked"));
        let mut kernels: Vec<Option<DynamicKernel>> = Vec::new();
        let mut first: Option<Vec<Option<Vec<u8>>>> = None;
        self.each(sources, &device, |kernel, compiled| {
            let host = launch.prepare(kernel)?;
            let arguments = host.upload(&device).map_err(stop)?;
            kernel.run(host.geometry, &arguments.list()).map_err(stop)?;
            let results = arguments.contents().map_err(stop)?;
            let agreement = first.as_ref().map_or(Agreement::Same, |first| agreement(kernel, first, &results));
            first.get_or_insert(results);
            compiled.timed = Some(Timed { times: Vec::new(), clock: Clock::Host, device: device.name().to_owned(), agreement });
            Ok(())
        })?;
        for variant in &self.variants {
            let source = sources[usize::from(variant.is_earlier)];
            let kernel = variant.compiled().and(source).map(|source| compile(source, &self.kernel, &variant.instance, &device));
            kernels.push(kernel.transpose()?);
        }
        let host =
            kernels.iter().map(|kernel| kernel.as_ref().map(|kernel| launch.prepare(kernel)).transpose()).collect::<Result<Vec<_>, _>>()?;
        for _ in 0..runs {
            for ((variant, kernel), host) in self.variants.iter_mut().zip(&kernels).zip(&host) {
                let (Ok(compiled), Some(kernel), Some(host)) = (&mut variant.outcome, kernel, host) else { continue };
                let arguments = host.upload(&device).map_err(stop)?;
                let timing = kernel.time(host.geometry, &arguments.list(), 1).map_err(stop)?;
                if let Some(timed) = &mut compiled.timed {
                    timed.times.push(timing.median);
                    timed.clock = timing.clock;
                }
            }
        }
        for timed in self.variants.iter_mut().filter_map(|variant| variant.outcome.as_mut().ok()?.timed.as_mut()) {
            timed.times.sort_unstable();
        }
        Ok(())
    }

    /// Compiles each variant that compiles for a device and hands it over.
    fn each(
        &mut self,
        sources: [Option<&Source>; 2],
        device: &Device,
        mut look: impl FnMut(&DynamicKernel, &mut super::variant::Compiled) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        for variant in &mut self.variants {
            let (Ok(compiled), Some(source)) = (&mut variant.outcome, sources[usize::from(variant.is_earlier)]) else { continue };
            let kernel = compile(source, &self.kernel, &variant.instance, device)?;
            look(&kernel, compiled)?;
        }
        Ok(())
    }
}

fn compile(source: &Source, kernel: &str, instance: &warpwright_codegen::syntax::Instance, device: &Device) -> Result<DynamicKernel, Stop> {
    let lowered = lower(source, kernel, instance).map_err(|found| source.findings(&found))?;
    DynamicKernel::compile(device, source.program(), lowered).map_err(stop)
}

fn stop(error: Error) -> Stop {
    match error {
        Error::Simulated(fault) => Stop::found(&fault.to_string()),
        other => Stop::usage(other.to_string()),
    }
}

/// How far apart the buffers of two runs are.
pub(in crate::cli) fn agreement(kernel: &DynamicKernel, first: &[Option<Vec<u8>>], second: &[Option<Vec<u8>>]) -> Agreement {
    let mut worst = Agreement::Same;
    for ((parameter, a), b) in kernel.parameters().iter().zip(first).zip(second) {
        let (Some(a), Some(b)) = (a, b) else { continue };
        if a == b {
            continue;
        }
        let leaves = leaves(&parameter.ty, kernel.structs());
        if a.len() != b.len() || parameter.bytes == 0 {
            return Agreement::Differs;
        }
        for (a, b) in a.chunks(parameter.bytes).zip(b.chunks(parameter.bytes)) {
            for (at, ty) in &leaves {
                let scalar = |bytes: &[u8]| {
                    let mut word = [0; 8];
                    word[..ty.bytes() as usize].copy_from_slice(&bytes[*at..at + ty.bytes() as usize]);
                    Scalar::new(*ty, u64::from_le_bytes(word))
                };
                let (x, y) = (scalar(a), scalar(b));
                if x == y {
                    continue;
                }
                let far =
                    if ty.is_float() { (x.as_f64() - y.as_f64()).abs() / x.as_f64().abs().max(y.as_f64().abs()).max(1.0) } else { 1.0 };
                if far.is_nan() || far > tolerance(*ty) {
                    return Agreement::Differs;
                }
                worst = Agreement::Close(if let Agreement::Close(before) = worst { far.max(before) } else { far });
            }
        }
    }
    worst
}

/// The scalars of a type, each with its offset.
fn leaves(ty: &MemoryType, structs: &EntityMap<StructId, StructType>) -> Vec<(usize, Type)> {
    crate::cli::launch::leaves(ty, structs)
}
