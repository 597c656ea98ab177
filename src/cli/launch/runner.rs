//! Variants of a kernel on one device, all with the same arguments: those are made and uploaded once, and what a kernel may have written is
//! put back before the next one is looked at.

use super::values::scalar;
use super::{DeviceArguments, HostArguments, LaunchArguments, Launchable, leaves};
use crate::cli::Stop;
use crate::cli::source::Source;
use warpwright::sim::Counters;
use warpwright::{Device, DeviceKind, Error, Timing};
use warpwright_codegen::ir::{Scalar, Type};
use warpwright_codegen::syntax::Instance;
use warpwright_runtime::definition::ParameterKind;
use warpwright_runtime::dynamic::{DynamicGeometry, DynamicKernel, DynamicParameter};

/// Runs variants.
pub(in crate::cli) struct Runner<'r> {
    device: &'r Device,
    launch: &'r LaunchArguments,
    /// One for each list of parameters: variants over types take other bytes.
    sets: Vec<Arguments>,
    /// What the first variant that ran has written.
    first: Option<Vec<Option<Vec<u8>>>>,
}

/// Arguments as they were made, and on the device.
struct Arguments {
    of: Vec<Shape>,
    host: HostArguments,
    on_device: DeviceArguments,
}

/// What tells one parameter's bytes from another's: the name, how it is passed, the scalars of its type and where they lie.
type Shape = (String, ParameterKind, usize, Vec<(usize, Type)>);

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

impl<'r> Runner<'r> {
    pub(in crate::cli) fn new(device: &'r Device, launch: &'r LaunchArguments) -> Runner<'r> {
        Runner { device, launch, sets: Vec::new(), first: None }
    }

    /// The same on another device: results are held to those of the first variant still.
    pub(in crate::cli) fn on(self, device: &'r Device) -> Runner<'r> {
        Runner { device, sets: Vec::new(), ..self }
    }

    /// Runs a variant before it is timed, on arguments as they were made, and gives it with how its results agree with those of the first variant. A device of OpenCL does not tell of an access beyond an
    /// array, which ends the program where the device is this computer's processor: there it runs with every index checked first.
    pub(in crate::cli) fn run_first(
        &mut self,
        source: &Source,
        kernel: &str,
        instance: &Instance,
    ) -> Result<(Launchable, Agreement), Stop> {
        let variant = Launchable::compile(source, kernel, instance, self.device)?;
        if self.device.kind() == DeviceKind::OpenCl
            && let Some(checked) = Launchable::compile_checked(source, kernel, instance, self.device)
        {
            let (at, geometry) = self.launch(&checked)?;
            let set = &mut self.sets[at];
            set.on_device.put_back(&set.host).map_err(stop)?;
            checked.kernel.run(geometry, &set.on_device.list()).map_err(stop)?;
            set.on_device.written(&set.host).map_err(stop)?;
        }
        let (_, agreement) = self.run(&variant)?;
        Ok((variant, agreement))
    }

    /// Runs a variant once, on arguments as they were made: what the simulator counted, if it is the simulator, and how the results
    /// agree with those of the first variant.
    pub(in crate::cli) fn run(&mut self, variant: &Launchable) -> Result<(Option<Counters>, Agreement), Stop> {
        let (at, geometry) = self.launch(variant)?;
        let (set, kernel) = (&mut self.sets[at], &variant.kernel);
        set.on_device.put_back(&set.host).map_err(stop)?;
        let counters = kernel.run(geometry, &set.on_device.list()).map_err(stop)?;
        let written = set.on_device.written(&set.host).map_err(stop)?;
        let agreement = self.first.as_ref().map_or(Agreement::Same, |first| agreement(kernel, first, &written));
        self.first.get_or_insert(written);
        Ok((counters, agreement))
    }

    /// Times a variant, warmed, on arguments as they were made (`afresh`) or as the runs before have left them.
    pub(in crate::cli) fn time(&mut self, variant: &Launchable, afresh: bool, runs: usize) -> Result<Timing, Stop> {
        let (at, geometry) = self.launch(variant)?;
        let set = &mut self.sets[at];
        if afresh {
            set.on_device.put_back(&set.host).map_err(stop)?;
        }
        variant.kernel.time(geometry, &set.on_device.list(), runs).map_err(stop)
    }

    /// The number of the arguments for a variant (those that are there, if one before takes the same), and how it is launched on them.
    ///
    /// # Errors
    /// All that is wrong with what was written, at once.
    fn launch(&mut self, variant: &Launchable) -> Result<(usize, DynamicGeometry), Stop> {
        let kernel = &variant.kernel;
        let geometry = self.launch.geometry(variant);
        let of = shapes(kernel);
        if let Some(at) = self.sets.iter().position(|set| set.of == of) {
            return Ok((at, geometry.map_err(refused)?));
        }
        let (geometry, host) = match (geometry, self.launch.prepare(kernel)) {
            (Ok(geometry), Ok(host)) => (geometry, host),
            (geometry, host) => {
                let mut wrong = geometry.err().unwrap_or_default();
                let of_arguments = host.err().unwrap_or_default();
                wrong.extend(of_arguments.into_iter().filter(|reason| !wrong.contains(reason)).collect::<Vec<_>>());
                return Err(refused(wrong));
            }
        };
        let on_device = host.upload(self.device).map_err(stop)?;
        self.sets.push(Arguments { of, host, on_device });
        Ok((self.sets.len() - 1, geometry))
    }
}

/// The parameters that a kernel takes: one that takes the same takes the same arguments.
fn shapes(kernel: &DynamicKernel) -> Vec<Shape> {
    let shape = |p: &DynamicParameter| -> Shape { (p.name.clone(), p.kind, p.bytes, leaves(&p.ty, kernel.structs())) };
    kernel.parameters().iter().map(shape).collect()
}

/// Everything that is wrong with what was written.
pub(super) fn refused(wrong: Vec<String>) -> Stop {
    Stop::usage(wrong.join("\nerror: "))
}

/// What a run says that did not end well: what the simulator finds is a finding.
pub(in crate::cli) fn stop(error: Error) -> Stop {
    match error {
        Error::Simulated(fault) => Stop::found(&fault.to_string()),
        other => Stop::usage(other.to_string()),
    }
}

/// How far two floats of a type may be apart, as a share of the larger (or of 1, if that is more): a few hundred roundings.
fn tolerance(ty: Type) -> f64 {
    match ty {
        Type::E4M3 | Type::E5M2 => 0.25,
        Type::F16 | Type::BF16 => 0.1,
        Type::F32 => 1e-4,
        Type::F64 => 1e-12,
        _ => 0.0,
    }
}

/// How far apart the buffers of two runs are.
fn agreement(kernel: &DynamicKernel, first: &[Option<Vec<u8>>], second: &[Option<Vec<u8>>]) -> Agreement {
    let mut worst = Agreement::Same;
    for ((parameter, a), b) in kernel.parameters().iter().zip(first).zip(second) {
        let (Some(a), Some(b)) = (a, b) else { continue };
        if a == b {
            continue;
        }
        if a.len() != b.len() || parameter.bytes == 0 {
            return Agreement::Differs;
        }
        let leaves = leaves(&parameter.ty, kernel.structs());
        for (a, b) in a.chunks(parameter.bytes).zip(b.chunks(parameter.bytes)) {
            for (at, ty) in &leaves {
                let far = distance(scalar(a, *at, *ty), scalar(b, *at, *ty));
                if far.is_nan() || far > tolerance(*ty) {
                    return Agreement::Differs;
                }
                worst = match worst {
                    Agreement::Close(before) => Agreement::Close(far.max(before)),
                    _ if far > 0.0 => Agreement::Close(far),
                    same => same,
                };
            }
        }
    }
    worst
}

/// As a share of the larger, or of 1; integers are equal or far apart.
fn distance(x: Scalar, y: Scalar) -> f64 {
    if x == y {
        return 0.0;
    }
    if !x.ty.is_any_float() {
        return 1.0;
    }
    (x.as_f64() - y.as_f64()).abs() / x.as_f64().abs().max(y.as_f64().abs()).max(1.0)
}
