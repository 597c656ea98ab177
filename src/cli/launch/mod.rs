//! `--cover`, `--args` and their like: how a kernel that stands in a file is launched.

mod arithmetic;
mod extents;
mod foreseen;
mod literal;
mod runner;
mod values;
mod variant;

use super::source::{Source, meant};
use super::{LAUNCH, Stop};
use extents::Extents;
pub(super) use runner::{Agreement, Runner, stop};
use values::{Written, form, leaves};
pub(super) use variant::Launchable;
use warpwright::{Buffer, Device, Dim3};
use warpwright_runtime::definition::ParameterKind;
use warpwright_runtime::dynamic::{DynamicArgument, DynamicGeometry, DynamicKernel, DynamicParameter};

/// How a kernel is launched.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct LaunchArguments {
    /// Elements to cover with threads: `4096`, `1024x768`, `64x64x64`; or, as in `--grid`, expressions that depend on the variant.
    #[arg(long, value_name = "EXTENTS", value_parser = Extents::parse, conflicts_with = "grid", help_heading = LAUNCH)]
    cover: Option<Extents>,
    /// Blocks of the grid: `16`, `8x8`; or for each axis an expression over the kernel's const generics and its block, evaluated for each variant:
    /// `1024/T`, `1024/block.x,768/(block.y*ILP)`. `/` rounds up. `block` is the threads of a block, `block.x` those along an axis;
    /// `true` is 1.
    #[arg(long, value_name = "EXTENTS", value_parser = Extents::parse, help_heading = LAUNCH)]
    grid: Option<Extents>,
    /// Threads per block, if the kernel does not fix them.
    #[arg(long, value_name = "EXTENTS", value_parser = extents::numbers, help_heading = LAUNCH)]
    block: Option<Dim3>,
    /// Bytes of dynamic shared memory.
    #[arg(long, value_name = "BYTES", help_heading = LAUNCH)]
    shared_bytes: Option<usize>,
    /// Parameters: values (`a=2.0`, `corner=[0.5, 1.0]`, `'p=Params { width: 64, gain: 0.5 }'`) and buffers (`x=random(4096)`, `x=random(4096, 0..256)`, `y=zeros(4096)`, `y=iota(64)`,
    /// `y=[1, 2, 3]`). A buffer that is not named is `random` and as long as `--cover` says.
    #[arg(long, value_name = "NAME=VALUE", num_args = 1.., help_heading = LAUNCH)]
    args: Vec<String>,
    /// The seed of random buffers.
    #[arg(long, default_value_t = 1, help_heading = LAUNCH)]
    seed: u64,
}

/// The arguments of launches, on the host: the same for all variants that take such.
struct HostArguments {
    values: Vec<HostValue>,
}

/// One argument, as bytes.
enum HostValue {
    Value(Vec<u8>),
    Buffer { bytes: Vec<u8>, writable: bool },
}

/// The same on a device.
struct DeviceArguments {
    values: Vec<DeviceValue>,
}

enum DeviceValue {
    Value(Vec<u8>),
    Buffer(Buffer<u8>),
}

impl HostArguments {
    /// Copies the buffers to a device.
    fn upload(&self, device: &Device) -> warpwright::Result<DeviceArguments> {
        let one = |value: &HostValue| match value {
            HostValue::Value(bytes) => Ok(DeviceValue::Value(bytes.clone())),
            HostValue::Buffer { bytes, .. } => device.upload(bytes).map(DeviceValue::Buffer),
        };
        Ok(DeviceArguments { values: self.values.iter().map(one).collect::<warpwright::Result<_>>()? })
    }
}

impl DeviceArguments {
    /// For a launch.
    fn list(&self) -> Vec<DynamicArgument<'_>> {
        fn one(value: &DeviceValue) -> DynamicArgument<'_> {
            match value {
                DeviceValue::Value(bytes) => DynamicArgument::Value(bytes),
                DeviceValue::Buffer(buffer) => DynamicArgument::Buffer(buffer),
            }
        }
        self.values.iter().map(one).collect()
    }

    /// Gives every buffer that a kernel may write what it held at first.
    fn put_back(&mut self, host: &HostArguments) -> warpwright::Result<()> {
        for (value, first) in self.values.iter_mut().zip(&host.values) {
            if let (DeviceValue::Buffer(buffer), HostValue::Buffer { bytes, writable: true }) = (value, first) {
                buffer.write(bytes)?;
            }
        }
        Ok(())
    }

    /// What every buffer holds now that a kernel may write; `None` for the rest.
    fn written(&self, host: &HostArguments) -> warpwright::Result<Vec<Option<Vec<u8>>>> {
        let one = |(value, first): (&DeviceValue, &HostValue)| match (value, first) {
            (DeviceValue::Buffer(buffer), HostValue::Buffer { writable: true, .. }) => buffer.download().map(Some),
            _ => Ok(None),
        };
        self.values.iter().zip(&host.values).map(one).collect()
    }
}

impl LaunchArguments {
    /// Reads what `--args` gives, whatever the kernel has for it.
    pub(super) fn read(&self) -> Result<(), String> {
        let mut values = self.args.iter().filter_map(|argument| argument.split_once('='));
        values.try_for_each(|(name, value)| Written::parse(value.trim()).map(drop).map_err(|why| format!("`{name}` {why}")))
    }

    /// Makes every argument of a kernel.
    ///
    /// # Errors
    /// All that is wrong with what was written, one thing each.
    fn prepare(&self, kernel: &DynamicKernel) -> Result<HostArguments, Vec<String>> {
        let (written, mut wrong) = self.written(kernel.parameters());
        let covered = self.length().unwrap_or_else(|reason| {
            wrong.push(reason);
            Ok(0)
        });
        let mut values = Vec::new();
        for (n, (parameter, written)) in kernel.parameters().iter().zip(written).enumerate() {
            let seed = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(n as u64);
            let buffer = |bytes| HostValue::Buffer { bytes, writable: parameter.kind == ParameterKind::GlobalMut };
            let bytes = match (parameter.kind, written) {
                (ParameterKind::Value, Some(text)) => {
                    Written::parse(&text).and_then(|w| w.value(parameter, kernel.structs())).map(HostValue::Value)
                }
                (ParameterKind::Value, None) => {
                    Err(format!("is a value, and has none: give it, `--args {}`", form(parameter, kernel.structs())))
                }
                (ParameterKind::Texture, _) => Err("is a texture; launch the kernel from a program, with `device.texture(…)`".to_owned()),
                (ParameterKind::Constant, text) => {
                    let written = text.map_or(Ok(Written::random()), |text| Written::parse(&text));
                    written.and_then(|w| w.whole(parameter, kernel.structs(), seed)).map(buffer)
                }
                (_, text) => {
                    let written = text.map_or(Ok(Written::random()), |text| Written::parse(&text));
                    written.and_then(|w| w.buffer(parameter, kernel.structs(), &covered, seed)).map(buffer)
                }
            };
            match bytes {
                Ok(bytes) => values.push(bytes),
                Err(reason) => wrong.push(format!("`{}` {reason}", parameter.name)),
            }
        }
        if wrong.is_empty() { Ok(HostArguments { values }) } else { Err(wrong) }
    }

    /// Bytes of dynamic shared memory; as many as can be counted of more than any device has.
    pub(super) fn dynamic_shared(&self) -> u32 {
        self.shared_bytes.map_or(0, |bytes| u32::try_from(bytes).unwrap_or(u32::MAX))
    }

    /// How a variant is launched.
    ///
    /// # Errors
    /// All that is wrong with it, one thing each.
    fn geometry(&self, variant: &Launchable) -> Result<DynamicGeometry, Vec<String>> {
        let mut geometry = DynamicGeometry::default();
        let mut wrong = Vec::new();
        if self.cover.is_none() && self.grid.is_none() {
            wrong.push("how many threads is not said: give `--cover 4096` (elements) or `--grid 16` (blocks)".to_owned());
        }
        let block = variant.block().or(self.block);
        if block.is_none() {
            wrong.push("the kernel does not fix its block: give `--block 256`".to_owned());
        }
        // Without a block its size has no value, and that is said already.
        let names = |name: &str| variant.value_of(name, block.unwrap_or(Dim3::new(1, 1, 1)));
        if let Some(elements) = &self.cover {
            match elements.value("--cover", &names) {
                Ok(elements) => geometry = geometry.cover(elements),
                Err(reason) => wrong.push(reason),
            }
        }
        if let Some(blocks) = &self.grid {
            match blocks.value("--grid", &names) {
                Ok(blocks) => geometry = geometry.grid(blocks),
                Err(reason) => wrong.push(reason),
            }
        }
        if let Some(threads) = self.block {
            geometry = geometry.block(threads);
        }
        if let Some(bytes) = self.shared_bytes {
            geometry = geometry.shared_bytes(bytes);
        }
        if wrong.is_empty() { Ok(geometry) } else { Err(wrong) }
    }

    /// Refuses names in `--cover` and `--grid` that have no value in any variant of a kernel.
    pub(super) fn check_names(&self, source: &Source, kernel: &str) -> Result<(), Stop> {
        // A kernel whose generics cannot be read is refused where it is compiled.
        let Ok(generics) = source.generics(kernel) else { return Ok(()) };
        let options = [("--cover", &self.cover), ("--grid", &self.grid)];
        let written = options.iter().filter_map(|(option, extents)| Some((option, extents.as_ref()?)));
        let wrong: Vec<String> = written
            .flat_map(|(option, extents)| {
                let reasons = extents.names().into_iter().filter_map(|name| variant::wrong_name(name, kernel, &generics));
                reasons.map(move |reason| format!("`{option} {extents}`: {reason}"))
            })
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(Stop::usage(wrong.join("\nerror: "))) }
    }

    /// How long a buffer is that says nothing else: as many elements as are covered. Where that is no number, how the advice to
    /// write one ends.
    fn length(&self) -> Result<Result<usize, String>, String> {
        let extents = match &self.cover {
            None => return Ok(Err(", or say what to `--cover`".to_owned())),
            Some(depends) if !depends.names().is_empty() => {
                return Ok(Err(format!("; `--cover {depends}` depends on the variant, and all variants get the same buffers")));
            }
            // There are no names in it.
            Some(cover) => cover.value("--cover", &|name| Err(name.to_owned()))?,
        };
        let all = extents.to_array().into_iter().try_fold(1usize, usize::checked_mul);
        let Dim3 { x, y, z } = extents;
        all.map(Ok).ok_or_else(|| format!("`--cover {x}x{y}x{z}` is more elements than can be counted; cover fewer"))
    }

    /// By parameter: what was written for it; and what was written for none.
    fn written(&self, parameters: &[DynamicParameter]) -> (Vec<Option<String>>, Vec<String>) {
        let mut written: Vec<Option<String>> = vec![None; parameters.len()];
        let mut wrong = Vec::new();
        for argument in &self.args {
            let Some((name, value)) = argument.split_once('=') else {
                wrong.push(format!("`--args {argument}` names no parameter; write `--args NAME=VALUE`"));
                continue;
            };
            let (name, value) = (name.trim(), value.trim().to_owned());
            match parameters.iter().position(|parameter| parameter.name == name) {
                Some(at) if written[at].is_some() => wrong.push(format!("`--args {name}=…` is given twice; leave one out")),
                Some(at) => written[at] = Some(value),
                None => {
                    let hint = match parameters {
                        [] => "leave it out".to_owned(),
                        _ => meant(name, parameters.iter().map(|parameter| parameter.name.as_str())),
                    };
                    wrong.push(format!("`--args {argument}`: there is no parameter `{name}`; {hint}"));
                }
            }
        }
        (written, wrong)
    }
}

/// As it was written: what a result depends on.
impl std::fmt::Display for LaunchArguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, extents) in [("cover", &self.cover), ("grid", &self.grid), ("block", &self.block.map(Extents::Numbers))] {
            if let Some(extents) = extents {
                write!(f, "{name} {extents} ")?;
            }
        }
        if let Some(bytes) = self.shared_bytes {
            write!(f, "shared_bytes {bytes} ")?;
        }
        write!(f, "args {} seed {}", self.args.join(" "), self.seed)
    }
}
