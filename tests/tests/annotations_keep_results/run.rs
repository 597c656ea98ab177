//! Compiles a generated kernel as text, and runs it on the simulator.

use super::text::{Form, Source};
use warpwright_codegen::annotations::{Annotation, On};
use warpwright_codegen::backend::Backend;
use warpwright_codegen::backend::Emitted;
use warpwright_codegen::backend::opencl::OpenCl;
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::backend::rust::emit_rust;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::ir::Kernel;
use warpwright_codegen::pipeline;
use warpwright_codegen::syntax::{Instance, Program, Unit, check_subset};
use warpwright_codegen::target::Target;
use warpwright_codegen::verify::verify;
use warpwright_runtime::sim::{SimArgument, SimLaunch, SimOptions, SimProgram};
use warpwright_tests::random::Failure;

/// Arguments of a launch: parameters by value, then buffers.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// Blocks where a thread has one element, x and y.
    pub(crate) grid: [u32; 2],
    pub(crate) values: Vec<[u8; 4]>,
    pub(crate) buffers: Vec<Buffer>,
}

/// A buffer and what the comparison needs to know of it.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_written: bool,
    /// Of `f32`, whose zeros count as one.
    pub(crate) is_float: bool,
}

/// What came of a form of a kernel.
pub(crate) enum Made {
    Compiled(Box<Compiled>),
    /// What the compiler says.
    Refused(Vec<String>),
}

/// A kernel that can be run.
pub(crate) struct Compiled {
    pub(crate) ptx: String,
    pub(crate) opencl: Emitted,
    pub(crate) program: SimProgram,
    pub(crate) warnings: usize,
}

/// What is wrong with a kernel's compilation: never the kernel's own fault.
pub(crate) type Wrong = String;

/// Through every step that a file takes. Refusals must be findings at a place, with a way out where an annotation is refused.
pub(crate) fn make(text: &str) -> Result<Made, Wrong> {
    let said = |found: Diagnostics| found.into_iter().map(|d| d.message).collect::<Vec<String>>();
    let unit = match Unit::parse("generated.rs", 1, 1, text) {
        Ok(unit) => unit,
        Err(found) => return Ok(Made::Refused(said(found))),
    };
    let mut found = Diagnostics::new();
    check_subset(&unit.items, &mut found);
    if found.has_errors() {
        return Ok(Made::Refused(said(found)));
    }
    let mut program = Program::default();
    let unit = program.add(unit);
    let built = match pipeline::lower(&program, unit, "k", &Instance::default()) {
        Ok(built) => built,
        Err(found) => return Ok(Made::Refused(said(found))),
    };
    let lowered = match built.schedule() {
        Ok(lowered) => lowered,
        Err(found) => {
            for finding in found.iter() {
                let place = finding.span.source_text().unwrap_or_default();
                if place.is_empty() || finding.help.as_ref().is_none_or(String::is_empty) {
                    return Err(format!("a refusal without a place or a way out: {}", finding.message));
                }
            }
            return Ok(Made::Refused(said(found)));
        }
    };
    let lawful = |kernel: &Kernel, when: &str| match verify(kernel) {
        Ok(()) => Ok(()),
        Err(violations) => Err(format!("{when}: the kernel breaks an invariant: {}", violations[0])),
    };
    let legal = lowered.kernel.legal();
    lawful(&lowered.kernel, "scheduled")?;
    emit_rust(&lowered.kernel);
    lawful(legal, "optimised")?;
    emit_rust(legal);
    let simulated = SimProgram::compile_with(legal, SimOptions { loop_limit: 1 << 20, workers: 1, ..SimOptions::default() });
    let simulated = simulated.map_err(|error| error.to_string())?;
    let emit = |backend: &dyn Backend, target| {
        lowered.emit(backend, target).map_err(|found| {
            let first = found.into_iter().next().map(|d| d.message).unwrap_or_default();
            format!("{} refuses it: {first}", backend.language().title)
        })
    };
    let opencl = emit(&OpenCl, None)?;
    lawful(legal.addressed(), "addressed")?;
    let ptx = emit(&Ptx, Some(Target::find("sm_90").map_err(|_| "no target")?))?;
    let warnings = lowered.warnings.iter().count();
    Ok(Made::Compiled(Box::new(Compiled { ptx: ptx.text, opencl, program: simulated, warnings })))
}

/// What the written buffers hold afterwards, one list of words each.
pub(crate) fn run(program: &SimProgram, source: &Source, each: u32, inputs: &Inputs) -> Result<Vec<Vec<u8>>, String> {
    let mut buffers = inputs.buffers.clone();
    let mut arguments: Vec<SimArgument<'_>> = inputs.values.iter().map(|bytes| SimArgument::Value(bytes)).collect();
    for Buffer { bytes, is_written, .. } in &mut buffers {
        arguments.push(if *is_written { SimArgument::Global { bytes } } else { SimArgument::GlobalReadOnly { bytes } });
    }
    let [x, y] = source.block;
    let launch = SimLaunch { grid: [inputs.grid[0] / each, inputs.grid[1], 1], block: [x, y, 1], shared_bytes: 0 };
    program.run(&launch, &mut arguments).map_err(|error| error.to_string())?;
    Ok(buffers.iter().filter(|buffer| buffer.is_written).map(canonical).collect())
}

/// A buffer's bytes, where what compares equal is equal.
pub(crate) fn canonical(buffer: &Buffer) -> Vec<u8> {
    if !buffer.is_float {
        return buffer.bytes.clone();
    }
    let one = |bytes: &[u8]| {
        let value = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        // −0 and 0 are one: the sign of a sum of zeros depends on their order.
        let value = if value.is_nan() { f32::NAN } else { value + 0.0 };
        value.to_le_bytes()
    };
    buffer.bytes.chunks_exact(4).flat_map(one).collect()
}

/// What a kernel showed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// Whether the compiler refused the annotations as they were drawn.
    pub(crate) is_refused: bool,
    /// Annotations that `best_effort` kept, of how many.
    pub(crate) kept: usize,
    pub(crate) asked: usize,
    /// The annotations of a kernel all of whose annotations were kept.
    pub(crate) names: Vec<&'static str>,
}

/// Whether the annotated forms do what the stripped one does. Where the stripped form itself does not run, there is nothing to compare.
pub(crate) fn check(source: &Source, inputs: &[Inputs]) -> Result<Shown, Failure> {
    let stripped = match make(&source.print(Form::Stripped)).map_err(Failure::NoCase)? {
        Made::Compiled(compiled) => compiled,
        Made::Refused(messages) => return Err(Failure::NoCase(messages.join("\n"))),
    };
    let expected = inputs.iter().map(|inputs| run(&stripped.program, source, 1, inputs)).collect::<Result<Vec<_>, String>>();
    let expected = expected.map_err(Failure::NoCase)?;
    let mut shown = Shown { asked: source.annotations(), ..Shown::default() };
    for form in [Form::Annotated, Form::BestEffort] {
        let compiled = match make(&source.print(form)).map_err(|wrong| Failure::Wrong(format!("{form:?}: {wrong}")))? {
            Made::Compiled(compiled) => compiled,
            Made::Refused(_) if form == Form::Annotated => {
                shown.is_refused = true;
                continue;
            }
            Made::Refused(messages) => {
                return Err(Failure::Wrong(format!("refused in spite of `best_effort`: {}", messages.join("\n"))));
            }
        };
        if form == Form::BestEffort {
            shown.kept = shown.asked.saturating_sub(compiled.warnings);
            let text = source.print(form);
            let stands = |annotation: &&Annotation| text.contains(&format!("#[{}", annotation.name));
            if compiled.warnings == 0 {
                shown.names = Annotation::all_on(On::Loop).filter(stands).map(|annotation| annotation.name).collect();
            }
        }
        for (n, (inputs, expected)) in inputs.iter().zip(&expected).enumerate() {
            match run(&compiled.program, source, source.elements.each(), inputs) {
                Err(fault) => return Err(Failure::Wrong(format!("{form:?}, inputs {n} {:?}: {fault}", inputs.values))),
                Ok(found) => {
                    if let Some(difference) = difference(expected, &found) {
                        return Err(Failure::Wrong(format!("{form:?}, inputs {n} {:?}: {difference}", inputs.values)));
                    }
                }
            }
        }
    }
    Ok(shown)
}

/// The first element that differs.
pub(crate) fn difference(expected: &[Vec<u8>], found: &[Vec<u8>]) -> Option<String> {
    for (n, (expected, found)) in expected.iter().zip(found).enumerate() {
        if let Some(at) = expected.iter().zip(found).position(|(a, b)| a != b) {
            let word = |bytes: &[u8]| bytes[at / 4 * 4..].iter().take(4).rev().map(|b| format!("{b:02x}")).collect::<String>();
            return Some(format!("written buffer {n}, byte {at}: {}, expected {}", word(found), word(expected)));
        }
    }
    None
}
