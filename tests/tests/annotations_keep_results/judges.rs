//! A sample of the generated kernels for other people's tools: every `ptxas` takes the text, and OpenCL devices compute what the simulator does.
//!
//! `WARPWRIGHT_JUDGED_KERNELS` asks `ptxas` about more of them.

use super::generate::Generator;
use super::run::{Buffer, Compiled, Inputs, Made, canonical, difference, make, run};
use super::text::{Form, Source};
use super::variable;
use warpwright_codegen::backend::AbiArgument;
use warpwright_tests::opencl_tools::{self, Argument, INTEL_STANDARD, Job, Tool};
use warpwright_tests::ptxas::{Counts, found_or_skip};
use warpwright_tests::random::Random;

/// The program that talks to OpenCL, if it was built.
const CHILD: &str = env!("CARGO_BIN_EXE_opencl-child");

/// Kernels whose annotations are kept as drawn, or with `best_effort`, from `seed` on.
fn kernels(seed: u64, count: usize) -> Vec<(u64, Source, Vec<Inputs>, Compiled)> {
    let one = |seed: u64| {
        let (source, inputs) = Generator::kernel(&mut Random::new(seed));
        match make(&source.print(Form::BestEffort)) {
            Ok(Made::Compiled(compiled)) if compiled.warnings < source.annotations() => Some((seed, source, inputs, *compiled)),
            _ => None,
        }
    };
    (seed..).filter_map(one).take(count).collect()
}

#[test]
fn ptxas_takes_annotated_kernels() {
    let Some(assemblers) = found_or_skip("annotations_keep_results") else { return };
    let counts = Counts::default();
    let (seed, count) = (variable("WARPWRIGHT_ANNOTATION_SEED").unwrap_or(1), variable("WARPWRIGHT_JUDGED_KERNELS").unwrap_or(40) as usize);
    for (seed, _, _, compiled) in kernels(seed, count) {
        for assembler in &assemblers {
            counts.ask(assembler, &compiled.ptx, &format!("seed {seed}"), 90);
        }
    }
    counts.report("annotations_keep_results");
}

fn job(seed: u64, source: &Source, inputs: &Inputs, compiled: &Compiled) -> Job {
    let values = inputs.values.len();
    let argument = |argument: &AbiArgument| match argument {
        AbiArgument::Value { param, .. } => Argument::Value(inputs.values[*param].to_vec()),
        AbiArgument::Buffer { param } => Argument::Buffer(padded(&inputs.buffers[*param - values].bytes)),
        AbiArgument::Length { param, .. } => {
            // The parameters of bytes are the third of the buffers and the last.
            let size = if [2, 6].contains(&(*param - values)) { 1 } else { 4 };
            Argument::Value(((inputs.buffers[*param - values].bytes.len() / size) as u32).to_le_bytes().to_vec())
        }
        AbiArgument::Texture { .. }
        | AbiArgument::Extent { .. }
        | AbiArgument::Image { .. }
        | AbiArgument::Sampler { .. }
        | AbiArgument::DynamicShared
        | AbiArgument::DynamicLength { .. }
        | AbiArgument::TensorMap(_)
        | AbiArgument::AskedGrid { .. }
        | AbiArgument::ConstantSymbol { .. } => {
            panic!("no generated kernel has these")
        }
        AbiArgument::Exchange { bytes } => Argument::Local(*bytes as usize * (source.block[0] * source.block[1]) as usize),
        AbiArgument::Fault => Argument::Buffer(vec![0; 16]),
    };
    let [x, y] = source.block.map(|threads| threads as usize);
    let blocks = inputs.grid.map(|blocks| blocks as usize);
    Job {
        sub_group_options: compiled.opencl.sub_group_options(INTEL_STANDARD),
        name: format!("seed {seed}"),
        text: compiled.opencl.text.clone(),
        options: compiled.opencl.build_options.clone(),
        entry: compiled.opencl.entry.clone(),
        global: [blocks[0] / source.elements.each() as usize * x, blocks[1] * y, 1],
        local: [x, y, 1],
        arguments: compiled.opencl.abi.iter().map(argument).collect(),
    }
}

/// OpenCL has no buffers of nothing.
fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.is_empty() {
        bytes.resize(16, 0);
    }
    bytes
}

#[test]
fn opencl_devices_compute_the_same() {
    let sample = kernels(500, 40);
    let jobs: Vec<Job> = sample.iter().map(|(seed, source, inputs, compiled)| job(*seed, source, &inputs[0], compiled)).collect();
    // Devices take turns: their compilers take a second for each.
    for (turn, tool) in Tool::DEVICES.into_iter().enumerate() {
        let own = |n: &usize| n % Tool::DEVICES.len() == turn;
        let jobs: Vec<Job> = (0..jobs.len()).filter(own).map(|n| jobs[n].clone()).collect();
        let Some(outcomes) = opencl_tools::run("annotations_keep_results", CHILD, tool, &jobs) else { continue };
        let mut wrong = Vec::new();
        for ((seed, source, inputs, _), outcome) in (0..sample.len()).filter(own).map(|n| &sample[n]).zip(&outcomes) {
            let expected = &stripped(*seed, source, &inputs[0]);
            let written = inputs[0].buffers.iter().zip(&outcome.buffers).filter(|(buffer, _)| buffer.is_written);
            let found: Vec<Vec<u8>> =
                written.map(|(buffer, bytes)| canonical(&Buffer { bytes: bytes.clone(), ..buffer.clone() })).collect();
            let complaints = outcome.all_complaints();
            if let Some(what) = difference(expected, &found).or((!complaints.is_empty()).then_some(complaints)) {
                wrong.push(format!("seed {seed}: {what}\n{}\n{}", source.print(Form::BestEffort), outcome.warnings));
            }
            assert_eq!(found.len(), expected.len(), "seed {seed}: every buffer comes back");
        }
        assert!(wrong.is_empty(), "{} kernels on {}\n{}", wrong.len(), tool.name(), wrong.join("\n\n"));
    }
}

/// What the kernel computes without its annotations.
fn stripped(seed: u64, source: &Source, inputs: &Inputs) -> Vec<Vec<u8>> {
    let stripped = match make(&source.print(Form::Stripped)) {
        Ok(Made::Compiled(stripped)) => stripped,
        _ => panic!("seed {seed} is no kernel"),
    };
    run(&stripped.program, source, 1, inputs).expect("the stripped kernel runs")
}
