//! What is done with an input: all that the command, the macro and the runtime do with such a file.

use super::Spoilt;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use warpwright::{Device, Tuned};
use warpwright_codegen::backend::BACKENDS;
use warpwright_codegen::backend::rust::emit_rust;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::ir::Scalar;
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance, Program, Unit, UnitId, check_rust_rules, check_subset};
use warpwright_codegen::target::{Target, Targets};
use warpwright_codegen::text::parse_kernel;
use warpwright_codegen::verify::verify;
use warpwright_codegen::{hir, pipeline};
use warpwright_review::{ReviewScope, review};
use warpwright_runtime::sim::SimProgram;
use warpwright_runtime::tuned::measured as rows;

use super::memory::measured;
use super::processor::processor_time;
use crate::random::quietly;

/// How far inputs came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reached {
    /// Parsed as what they are.
    pub parsed: u64,
    /// Kernels lowered, or texts that are IR.
    pub lowered: u64,
    /// Kernels printed by all back ends.
    pub printed: u64,
}

/// What an input cost.
#[derive(Clone, Debug)]
pub struct Cost {
    /// How long the longest step took that a program does at once: a file is read, a kernel is lowered, optimised and printed, a kernel is reviewed. Where the system tells, of the processor, so that other work
    /// on the machine is not counted.
    pub time: Duration,
    /// The most bytes held, where they are counted.
    pub bytes: usize,
    /// What it panicked with.
    pub panic: Option<String>,
}

/// Instructions that a review estimates at most.
const REVIEWED: usize = 20_000;

/// One input of so many is optimised, printed and reviewed as well, which takes ten times as long as the front end.
pub const EACH_WHOLE: u64 = 8;

/// Does everything with an input, or leaves off where its kernels are typed, lowered and have their annotations.
pub fn exercise(input: &Spoilt, is_whole: bool, reached: &mut Reached) -> Cost {
    let mut steps = Steps::default();
    let work = || match input {
        Spoilt::Source(text) => source(text, is_whole, reached, &mut steps),
        Spoilt::Ir(text) => ir(text, reached),
        Spoilt::Results(text) => results(text, reached),
        Spoilt::Command(text) => command(text, reached),
    };
    let (result, bytes) = measured(|| quietly(work));
    steps.next();
    Cost { time: steps.longest, bytes, panic: result.err() }
}

/// How long steps take, each until the next begins.
struct Steps {
    begun: (Instant, Option<Duration>),
    longest: Duration,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps { begun: (Instant::now(), processor_time("self")), longest: Duration::ZERO }
    }
}

impl Steps {
    fn next(&mut self) {
        let (start, spent) = std::mem::replace(&mut self.begun, (Instant::now(), processor_time("self")));
        let elapsed = self.begun.0 - start;
        let own = spent.and_then(|spent| self.begun.1?.checked_sub(spent));
        // Several threads take more of it than passes.
        self.longest = self.longest.max(own.map_or(elapsed, |own| own.min(elapsed)));
    }
}

fn source(text: &str, is_whole: bool, reached: &mut Reached, steps: &mut Steps) {
    let Ok(unit) = Unit::parse("spoilt.rs", 1, 1, text) else { return };
    reached.parsed += 1;
    let mut findings = Diagnostics::new();
    check_subset(&unit.items, &mut findings);
    // As the command does, beside which there is no `rustc`.
    check_rust_rules(&unit.items, &mut findings);
    let kernels: Vec<String> = unit.kernels().into_iter().map(|(path, _)| path).collect();
    let mut program = Program::default();
    let unit = program.add(unit);
    if !findings.has_errors() {
        steps.next();
        hir::check_unasked(&program, true);
    }
    let targets = Targets::named(["sm_90"]);
    for kernel in kernels {
        steps.next();
        let Some(instance) = instance(&program, unit, &kernel) else { continue };
        let Ok(built) = pipeline::lower(&program, unit, &kernel, &instance) else { continue };
        reached.lowered += 1;
        let Ok(lowered) = built.schedule() else { continue };
        if let Err(violations) = verify(&lowered.kernel) {
            panic!("the kernel breaks an invariant: {}", violations[0]);
        }
        if !is_whole {
            continue;
        }
        let legal = lowered.kernel.legal();
        if let Err(violations) = verify(legal) {
            panic!("the optimised kernel breaks an invariant: {}", violations[0]);
        }
        emit_rust(legal);
        let _ = SimProgram::compile(legal);
        let target = Target::find("sm_90").expect("a target");
        let printed: Vec<bool> = BACKENDS.iter().map(|backend| lowered.emit(*backend, Some(target)).is_ok()).collect();
        reached.printed += u64::from(printed.iter().all(|is_printed| *is_printed));
        steps.next();
        let scope = ReviewScope { targets: &targets, findings: None, most: REVIEWED };
        review(&program, unit, &kernel, &[instance], scope, None);
    }
}

/// The first declared instance, or one made of values that fit most kernels.
pub fn instance(program: &Program, unit: UnitId, kernel: &str) -> Option<Instance> {
    let declared = hir::declared_instances(program, unit, kernel).ok()?;
    if let Some(first) = declared.into_iter().next() {
        return Some(first);
    }
    let generics = hir::generics(program, unit, kernel).ok()?;
    let value = |(name, is_type): (String, bool)| {
        if is_type {
            return GenericValue::Type("f32".to_owned());
        }
        let read = ["8", "true"].iter().find_map(|text| hir::parse_generic(program, unit, kernel, &name, text).ok());
        read.unwrap_or(GenericValue::Const(ConstValue::Scalar(Scalar::bool(true))))
    };
    Some(Instance { generics: generics.into_iter().map(value).collect() })
}

fn ir(text: &str, reached: &mut Reached) {
    let Ok(kernel) = parse_kernel(text) else { return };
    reached.parsed += 1;
    if verify(&kernel).is_err() {
        return;
    }
    reached.lowered += 1;
    let printed = kernel.to_string();
    match parse_kernel(&printed) {
        Ok(again) => assert!(again.to_string() == printed, "the text of a kernel is read as another one"),
        Err(error) => panic!("line {} of a printed kernel is not read: {}", error.line, error.message),
    }
    reached.printed += 1;
    let _ = SimProgram::compile(&kernel);
}

fn results(text: &str, reached: &mut Reached) {
    reached.parsed += u64::from(!rows(text).is_empty());
    let path = results_file();
    if std::fs::write(&path, text).is_ok() {
        reached.lowered += u64::from(Tuned::load(&path, &Device::simulator()).is_ok());
        let _ = std::fs::remove_file(&path);
    }
}

/// Of what the shell would pass there is one word a line; it is read and not run.
fn command(text: &str, reached: &mut Reached) {
    let words: Vec<String> = ["warpwright"].into_iter().chain(text.lines()).map(|word| word.replace('\0', "")).collect();
    let is_right = u64::from(warpwright::cli::read(&words).is_ok());
    (reached.parsed, reached.lowered) = (reached.parsed + is_right, reached.lowered + is_right);
}

/// A file of this thread's own.
fn results_file() -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id()).replace(['(', ')'], "");
    std::env::temp_dir().join(format!("warpwright-front-end-{}-{thread}.tuned.toml", std::process::id()))
}
