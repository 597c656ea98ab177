//! The text of PTX, executed: by the interpreter, which shares no code with what prints it.

use super::maps::map_bytes;
use super::pictures::texture;
use super::simulator::{Kind, arguments};
use super::{Output, compiled};
use crate::source::Kernel;
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::backend::{AbiArgument, Emitted};
use warpwright_codegen::hir::Lowered;
use warpwright_codegen::ir::{Axis, with_producer};
use warpwright_codegen::pipeline::Scheduled;
use warpwright_codegen::target::Target;
use warpwright_ptx_interpreter::{Launch, Memory, Module};

/// Blocks of a persistent kernel that are resident at once.
const RESIDENT: u32 = 3;
/// Instructions of a launch: far more than any generated kernel has.
const MOST: u64 = 200_000_000;

/// Prints a kernel for a target, and executes the text; the order of threads comes from `seed`.
///
/// # Errors
/// What the printer refuses, what is no PTX, and faults.
pub fn run(kernel: &Kernel, lowered: &Lowered<Scheduled>, target: &str, seed: u64) -> Result<Output, String> {
    let target = Target::find(target).map_err(|_| format!("no target is called {target}"))?;
    let emitted = lowered.emit(&Ptx, Some(target)).map_err(|found| {
        let first = found.into_iter().next().map(|found| found.message).unwrap_or_default();
        format!("the printer refuses it: {first}")
    })?;
    execute(kernel, lowered, &emitted, seed)
}

/// Executes a text that was printed.
///
/// # Errors
/// What is no PTX, and faults.
pub fn execute(kernel: &Kernel, lowered: &Lowered<Scheduled>, emitted: &Emitted, seed: u64) -> Result<Output, String> {
    let module = Module::parse(&emitted.text).map_err(|error| error.to_string())?;
    let mut memory = Memory::new();
    let module = module.load(&mut memory).map_err(|fault| fault.to_string())?;
    let all = arguments(kernel, compiled::index_bytes(&lowered.kernel));
    let none = || "no memory".to_owned();
    let mut addresses = Vec::new();
    for argument in &all {
        let address =
            if argument.kind == Kind::Value { 0 } else { memory.allocate(argument.bytes.len().max(16) as u64).ok_or_else(none)? };
        if address != 0 {
            memory.write(address, &argument.bytes)?;
        }
        addresses.push(address);
    }
    let entry = module.entry(&emitted.entry).ok_or("the text has no such kernel")?;
    let each = (lowered.kernel.options.ilp * lowered.kernel.options.vectorize).max(1);
    let [x, y, z] = kernel.grid;
    let asked = [x.div_ceil(each), y, z];
    let mut parameters = vec![0; entry.parameter_bytes()];
    let mut slots = entry.parameters().iter();
    let mut is_persistent = false;
    for argument in &emitted.abi {
        let bytes = match argument {
            AbiArgument::ConstantSymbol { param, symbol, .. } => {
                let (address, _) = module.variable(symbol).ok_or("the text has no such constant")?;
                memory.write(address, &all[*param].bytes)?;
                continue;
            }
            AbiArgument::Value { param, .. } => all[*param].bytes.clone(),
            AbiArgument::Buffer { param } => addresses[*param].to_le_bytes().to_vec(),
            AbiArgument::Length { param, bytes } => {
                let element = element_bytes(lowered, *param).max(1);
                ((all[*param].bytes.len() / element) as u64).to_le_bytes()[..*bytes as usize].to_vec()
            }
            AbiArgument::DynamicLength { element, bytes } => {
                (u64::from(kernel.shared_bytes) / (*element).max(1)).to_le_bytes()[..*bytes as usize].to_vec()
            }
            AbiArgument::AskedGrid { axis } => {
                is_persistent = true;
                let at = match axis {
                    Axis::X => 0,
                    Axis::Y => 1,
                    Axis::Z => 2,
                };
                asked[at].to_le_bytes().to_vec()
            }
            AbiArgument::TensorMap(map) => map_bytes(map, &all, &addresses),
            AbiArgument::Texture { param, reads } => {
                let picture = all[*param].picture.as_ref().ok_or("no texture is passed for one")?;
                memory.add_texture(texture(picture, addresses[*param], *reads)).to_le_bytes().to_vec()
            }
            AbiArgument::Extent { param, axis } => {
                let picture = all[*param].picture.as_ref().ok_or("no texture is passed for one")?;
                if *axis == Axis::X { picture.width } else { picture.height }.to_le_bytes().to_vec()
            }
            AbiArgument::Image { .. }
            | AbiArgument::Sampler { .. }
            | AbiArgument::DynamicShared
            | AbiArgument::Exchange { .. }
            | AbiArgument::Fault => return Err(format!("no generated kernel has {argument:?}")),
        };
        let slot = slots.next().ok_or("the text has fewer parameters than the list of arguments")?;
        if bytes.len() > slot.bytes {
            return Err(format!("`{}` has {} bytes, and its argument {}", slot.name, slot.bytes, bytes.len()));
        }
        parameters[slot.offset..slot.offset + bytes.len()].copy_from_slice(&bytes);
    }
    if slots.next().is_some() {
        return Err("the text has more parameters than the list of arguments".to_owned());
    }
    let blocks: u32 = asked.iter().product();
    let fixed = if emitted.asks_for_shared { emitted.shared_bytes as u32 } else { 0 };
    let launch = Launch {
        grid: if is_persistent { [blocks.min(RESIDENT), 1, 1] } else { asked },
        block: if emitted.has_producer { with_producer(kernel.block).unwrap_or(kernel.block) } else { kernel.block },
        cluster: emitted.cluster.unwrap_or([1; 3]),
        dynamic_shared: fixed + kernel.shared_bytes,
        seed,
        most_instructions: MOST,
    };
    entry.launch(&launch, &mut memory, &parameters).map_err(|fault| fault.to_string())?;
    let written = all.iter().zip(&addresses).filter(|(argument, _)| argument.kind == Kind::Written);
    written.map(|(argument, address)| memory.read(*address, argument.bytes.len() as u64).map(<[u8]>::to_vec)).collect()
}

/// Bytes of an element of a buffer.
fn element_bytes(lowered: &Lowered<Scheduled>, parameter: usize) -> usize {
    use warpwright_codegen::ir::MemoryType;
    let kernel = &lowered.kernel;
    let object = kernel.params[parameter];
    let ty = match &kernel.objects[object].ty {
        MemoryType::Slice(element) => (**element).clone(),
        other => other.clone(),
    };
    usize::try_from(ty.size(&kernel.structs)).unwrap_or(usize::MAX)
}
