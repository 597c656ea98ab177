//! The public test suites of GPUVerify and Oclgrind, case by case: what each is about, what that tool says, and a kernel of our own about the same, with
//! our verdict. Names are those of the suites; no code is.

mod gpuverify;
mod oclgrind;

pub use gpuverify::GPUVERIFY;
pub use oclgrind::OCLGRIND;

use warpwright::{Buffer, Device, Dim3, Error, Result};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::pipeline::compile;
use warpwright_codegen::syntax::{Instance, Program, Unit};
use warpwright_runtime::definition::ParameterKind;
use warpwright_runtime::dynamic::{DynamicArgument, DynamicGeometry, DynamicKernel};

/// What a tool says of its own case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theirs {
    /// It reports what the case is about.
    Reports,
    /// It accepts it.
    Accepts,
}

/// What we say of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ours {
    /// The simulator's fault has this text.
    Fault(&'static str),
    /// The compiler's error has this text.
    Refused(&'static str),
    /// It runs, without a fault.
    Clean,
}

/// A case.
pub struct Published {
    /// Its name in the suite.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// The tool's verdict.
    pub theirs: Theirs,
    /// Blocks of our launch.
    pub blocks: usize,
    /// The body of our kernel: see [`source`].
    pub body: &'static str,
    /// Our verdict.
    pub ours: Ours,
    /// Why the two differ, where they do.
    pub why: &'static str,
}

/// Threads of a block.
pub const BLOCK: usize = 64;

/// Elements of each buffer.
pub const ELEMENTS: usize = 256;

const fn case(name: &'static str, about: &'static str, theirs: Theirs, blocks: usize, body: &'static str, ours: Ours) -> Published {
    Published { name, about, theirs, blocks, body, ours, why: "" }
}

const fn differs(case: Published, why: &'static str) -> Published {
    Published { why, ..case }
}

/// A kernel of a body, with functions that it may call: `x` is read, `y` and `z` are written, `n` is their length, `t` the thread in its block, `i` in the grid, `s` a shared array of 64.
pub fn source(body: &str) -> String {
    let shared = if body.contains("s[") || body.contains("s.") || body.contains("&mut s") { "#[shared] let mut s: [u32; 64];" } else { "" };
    format!(
        "#[device]
fn put(at: usize, v: u32, to: &mut Global<u32>) {{
    to[at] = v;
}}

#[device]
fn one(at: usize, from: &Global<u32>) -> u32 {{
    from[at]
}}

#[device]
fn two(at: usize, from: &Global<u32>) -> u32 {{
    one(at, from) + one(at + 1, from)
}}

#[device]
fn meet() {{
    sync_threads();
}}

#[kernel(block = {BLOCK}, targets = [sm_90])]
pub fn k(n: usize, x: &Global<u32>, y: &mut Global<u32>, z: &mut Global<u32>) {{
    {shared}
    let t = thread_idx().x;
    let i = global_id().x;
    {body}
}}
"
    )
}

/// What became of a kernel of this shape.
pub enum Outcome {
    /// What the compiler says.
    Refused(String),
    /// The fault.
    Fault(String),
    /// It ran to its end.
    Ran,
}

fn messages(found: &Diagnostics) -> String {
    found.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>().join("; ")
}

fn program(text: &str) -> Result<(Program, warpwright_codegen::syntax::UnitId), String> {
    let mut program = Program::default();
    let unit = program.add(Unit::parse("k.rs", 1, 1, text).map_err(|found| messages(&found))?);
    Ok((program, unit))
}

/// Compiles a kernel of this shape and runs it on the simulator.
pub fn run(text: &str, blocks: usize) -> Outcome {
    let lowered = program(text).and_then(|(program, unit)| {
        let lowered = compile(&program, unit, "k", &Instance::default()).map_err(|found| messages(&found))?;
        Ok((program, lowered))
    });
    let (program, lowered) = match lowered {
        Ok(lowered) => lowered,
        Err(why) => return Outcome::Refused(why),
    };
    let device = Device::simulator();
    let launched = DynamicKernel::compile(&device, &program, lowered).and_then(|kernel| launch(&device, &kernel, blocks));
    match launched {
        Ok(()) => Outcome::Ran,
        Err(Error::Simulated(fault)) => Outcome::Fault(fault.to_string()),
        Err(other) => Outcome::Refused(other.to_string()),
    }
}

fn launch(device: &Device, kernel: &DynamicKernel, blocks: usize) -> Result<()> {
    let numbers: Vec<u8> = (0..ELEMENTS as u32).flat_map(|i| (i * 7 % 61).to_le_bytes()).collect();
    let mut buffers: Vec<Buffer<u8>> = Vec::new();
    for parameter in kernel.parameters() {
        buffers.push(if parameter.name == "x" { device.upload(&numbers)? } else { device.zeros(ELEMENTS * 4)? });
    }
    let n = (ELEMENTS as u32).to_le_bytes();
    let argument = |(kind, buffer)| match kind {
        ParameterKind::Value => DynamicArgument::Value(&n),
        _ => DynamicArgument::Buffer(buffer),
    };
    let arguments: Vec<DynamicArgument<'_>> =
        kernel.parameters().iter().map(|parameter| parameter.kind).zip(&buffers).map(argument).collect();
    kernel.run(DynamicGeometry::default().grid(Dim3::from(blocks)), &arguments).map(|_| ())
}
