//! The memory model: litmus tests on the simulator, in every order of their steps, and on CUDA devices, many thousand times.
//!
//! In an ordinary run the simulator does one step after another: where plain accesses are not ordered it reports a race, and relaxed atomics, which race with nobody, give what some order of the steps
//! gives. So each order of the steps is forced by a counter that all wait for, with relaxed atomics, which order nothing else: the simulator has to give exactly the outcomes of sequential consistency, and
//! to report a race exactly where the model of PTX has one. On a weak memory it has to give exactly what the model allows, which [`model`] computes from its axioms.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

#[path = "litmus/model.rs"]
mod model;
#[path = "litmus/program.rs"]
mod program;
#[path = "litmus/table.rs"]
mod table;

use program::{Outcome, Reach, Threads, consistent, interleavings, outcome, source};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use table::{Litmus, TESTS, Weak};
use warpwright::{Buffer, Device, Dim3, Error, Result};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::pipeline::compile;
use warpwright_codegen::syntax::{Instance, Program, Unit};
use warpwright_runtime::definition::ParameterKind;
use warpwright_runtime::dynamic::{DynamicArgument, DynamicGeometry, DynamicKernel};
use warpwright_runtime::sim::{SimArgument, SimLaunch, SimOptions, SimProgram};
use warpwright_tests::marked::hold;

/// Rounds of a launch on a device: each has 32 instances.
const ROUNDS: u32 = 2_000;

/// Launches of a test on a device.
const LAUNCHES: u32 = 10;

fn kernel(device: &Device, threads: Threads, reach: Reach) -> DynamicKernel {
    let text = source(threads, reach);
    let mut program = Program::default();
    let shown = |found: &Diagnostics| found.iter().map(|finding| format!("{}\n", finding.message)).collect::<String>() + &text;
    let unit = program.add(Unit::parse("litmus.rs", 1, 1, &text).unwrap_or_else(|found| panic!("{}", shown(&found))));
    let lowered = compile(&program, unit, "litmus", &Instance::default()).unwrap_or_else(|found| panic!("{}", shown(&found)));
    DynamicKernel::compile(device, &program, lowered).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The outcomes of a launch, of all instances, or its fault. `plan`: the order of the steps, of one instance.
fn launch(device: &Device, kernel: &DynamicKernel, threads: Threads, reach: Reach, plan: Option<&[u32]>) -> Result<Vec<Outcome>> {
    let rounds = if plan.is_some() { 1 } else { ROUNDS };
    let (roles, lanes) = (threads.len(), rounds as usize * 32);
    let words = |n: usize| device.zeros::<u32>(n);
    let plan_there = device.upload(plan.unwrap_or(&[0]))?;
    let (turn, x, y, out) = (words(1)?, words(lanes)?, words(lanes)?, words(lanes * 2 * roles)?);
    let buffers: Vec<&Buffer<u8>> =
        [&plan_there, &turn, &x, &y, &out].into_iter().map(|buffer| buffer.view::<u8>()).collect::<Result<_>>()?;
    let paced = u32::from(plan.is_some()).to_le_bytes();
    let rounds = rounds.to_le_bytes();
    let (mut values, mut memory) = ([&rounds, &paced].into_iter(), buffers.into_iter());
    let arguments: Vec<DynamicArgument<'_>> = kernel
        .parameters()
        .iter()
        .map(|parameter| match parameter.kind {
            ParameterKind::Value => DynamicArgument::Value(values.next().expect("two values")),
            _ => DynamicArgument::Buffer(memory.next().expect("five buffers")),
        })
        .collect();
    let blocks = if reach.is_within_block() { 1 } else { roles };
    kernel.run(DynamicGeometry::default().grid(Dim3::from(blocks)), &arguments)?;
    let (out, x, y) = (out.download()?, x.download()?, y.download()?);
    let instances = if plan.is_some() { 1 } else { lanes };
    Ok((0..instances).map(|i| (0..2 * roles).map(|r| out[r * lanes + i]).chain([x[i], y[i]]).collect()).collect())
}

/// All orders of a test on the simulator: the outcomes, and how many orders raced, with what was said of the first.
fn on_simulator(test: &Litmus, reach: Reach) -> (BTreeSet<Outcome>, usize, usize, String) {
    let device = Device::simulator();
    let kernel = kernel(&device, test.threads, reach);
    let (mut outcomes, mut races, mut said) = (BTreeSet::new(), 0, String::new());
    let plans = interleavings(test.threads);
    for plan in &plans {
        match launch(&device, &kernel, test.threads, reach, Some(plan)) {
            Ok(found) => {
                assert_eq!(found, [outcome(test.threads, plan)], "{}, {reach:?}: the order {plan:?} gives something else", test.name);
                outcomes.extend(found);
            }
            Err(Error::Simulated(fault)) => {
                assert!(fault.to_string().contains("race"), "{}, {reach:?}, {plan:?}: {fault}", test.name);
                (races, said) = (races + 1, fault.to_string());
            }
            Err(other) => panic!("{}, {reach:?}, {plan:?}: {other}", test.name),
        }
    }
    (outcomes, races, plans.len(), said)
}

#[test]
fn the_simulator_gives_every_consistent_outcome_and_no_other() {
    let (mut tests, mut orders) = (0, 0);
    let mut table = "| test | scopes | orders | outcomes | orders with a race | beyond |\n|---|---|---|---|---|---|\n".to_owned();
    for test in TESTS {
        let mut row = (0, 0, 0);
        for reach in test.reaches {
            let (outcomes, races, plans, said) = on_simulator(test, *reach);
            match test.weak {
                Weak::Forbidden | Weak::Allowed => {
                    assert_eq!(races, 0, "{}, {reach:?}: {said}", test.name);
                    assert_eq!(outcomes, consistent(test.threads), "{}, {reach:?}", test.name);
                }
                // A race is in every order in which the later of two plain accesses is reached; those are what is left of the outcomes.
                Weak::Race => {
                    assert!(races > 0, "{}, {reach:?}: no order races", test.name);
                    assert!(said.contains("race: "), "{said}");
                    let stale = |outcome: &Outcome| !consistent(test.threads).contains(outcome);
                    assert!(!outcomes.iter().any(stale), "{}, {reach:?}: {outcomes:?}", test.name);
                }
            }
            row = (plans, outcomes.len(), races);
            (tests, orders) = (tests + 1, orders + plans);
        }
        let beyond = match test.weak {
            Weak::Forbidden => "forbidden".to_owned(),
            Weak::Allowed => format!("allowed, {}", model::allowed(test.threads).len() - row.1),
            Weak::Race => "race".to_owned(),
        };
        let scopes: Vec<String> = test.reaches.iter().map(|reach| format!("{reach:?}").to_lowercase()).collect();
        table += &format!("| {} | {} | {} | {} | {} | {beyond} |\n", test.name, scopes.join(", "), row.0, row.1, row.2);
    }
    hold(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/faults.md"), &[("litmus", table.trim_end().to_owned())]);
    println!("ran: litmus ({tests} tests on the simulator)");
    println!("{orders} orders of steps");
}

/// Runs of a test on a weak memory, over all orders of its steps; of each order four at least.
const RUNS: usize = 720;

/// Runs of 32 instances whose steps nothing orders.
const UNPACED: u64 = 8;

/// The program of a test on the simulator with a weak memory.
fn weak_program(threads: Threads, reach: Reach) -> SimProgram {
    let text = source(threads, reach);
    let mut program = Program::default();
    let unit = program.add(Unit::parse("litmus.rs", 1, 1, &text).unwrap_or_else(|found| panic!("{found:?}\n{text}")));
    let lowered = compile(&program, unit, "litmus", &Instance::default()).unwrap_or_else(|found| panic!("{found:?}\n{text}"));
    let options = SimOptions { weak_memory: Some(0), workers: 1, ..SimOptions::default() };
    SimProgram::compile_with(lowered.kernel.legal(), options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The outcomes on a weak memory: of one instance, its steps in an order, or of 32 whose steps nothing orders.
fn weakly(program: &SimProgram, threads: Threads, reach: Reach, plan: Option<&[u32]>) -> Vec<Outcome> {
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let words = |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect::<Vec<u32>>();
    let (rounds, paced) = (1u32.to_le_bytes(), u32::from(plan.is_some()).to_le_bytes());
    let instances = if plan.is_some() { 1 } else { 32 };
    let plan = bytes(plan.unwrap_or(&[0]));
    let mut turn = bytes(&[0]);
    let [mut x, mut y] = [bytes(&[0; 32]), bytes(&[0; 32])];
    let mut out = bytes(&vec![0; 64 * threads.len()]);
    let mut arguments = [
        SimArgument::Value(&rounds),
        SimArgument::Value(&paced),
        SimArgument::GlobalReadOnly { bytes: &plan },
        SimArgument::Global { bytes: &mut turn },
        SimArgument::Global { bytes: &mut x },
        SimArgument::Global { bytes: &mut y },
        SimArgument::Global { bytes: &mut out },
    ];
    let blocks = if reach.is_within_block() { 1 } else { threads.len() as u32 };
    let launch = SimLaunch { grid: [blocks, 1, 1], block: [128, 1, 1], shared_bytes: 0 };
    program.run(&launch, &mut arguments).unwrap_or_else(|error| panic!("{reach:?}: {error}"));
    let (out, x, y) = (words(&out), words(&x), words(&y));
    (0..instances).map(|i| (0..2 * threads.len()).map(|register| out[register * 32 + i]).chain([x[i], y[i]]).collect()).collect()
}

/// The simulator with a weak memory shows all that the model allows, and nothing else: [`model::allowed`] knows nothing of how it runs.
#[test]
fn a_weak_memory_gives_every_outcome_of_the_model_and_no_other() {
    let (mut tests, mut beyond) = (0, 0);
    for test in TESTS.iter().filter(|test| !matches!(test.weak, Weak::Race)) {
        let allowed = model::allowed(test.threads);
        let consistent = consistent(test.threads);
        assert!(allowed.is_superset(&consistent), "{}: the model forbids an order of the steps", test.name);
        assert_eq!(allowed != consistent, matches!(test.weak, Weak::Allowed), "{}: {allowed:?}", test.name);
        for reach in test.reaches {
            let program = weak_program(test.threads, *reach);
            let mut outcomes = BTreeSet::new();
            let plans = interleavings(test.threads);
            let seeds = RUNS.div_ceil(plans.len()).max(4) as u64;
            // What paces the steps orders them where fences stand: so some runs have nothing that does.
            let unpaced = (0..UNPACED).map(|seed| (None, seed));
            let paced = plans.iter().flat_map(|plan| (0..seeds).map(move |seed| (Some(&plan[..]), seed)));
            for (n, (plan, seed)) in (0..).zip(unpaced.chain(paced)) {
                for outcome in weakly(&program.clone().with_seed(n), test.threads, *reach, plan) {
                    assert!(allowed.contains(&outcome), "{}, {reach:?}: {outcome:?} is forbidden (order {plan:?}, seed {seed})", test.name);
                    outcomes.insert(outcome);
                }
            }
            assert_eq!(outcomes, allowed, "{}, {reach:?}: not all that is allowed", test.name);
            tests += 1;
            beyond += allowed.len() - consistent.len();
        }
    }
    println!("ran: litmus ({tests} tests on the simulator's weak memory)");
    println!("{beyond} outcomes beyond any order of the steps");
}

/// Where the message is seen, and only there, the plain read races.
#[test]
fn a_race_is_reported_in_exactly_the_orders_that_have_it() {
    let device = Device::simulator();
    let test = TESTS.iter().find(|test| test.name == "MP, relaxed, data plain").expect("it is in the table");
    let kernel = kernel(&device, test.threads, Reach::Device);
    for plan in interleavings(test.threads) {
        let sees = outcome(test.threads, &plan)[2] == 1;
        let raced = launch(&device, &kernel, test.threads, Reach::Device, Some(&plan)).is_err();
        assert_eq!(raced, sees, "{plan:?}");
    }
}

#[test]
fn gpus_give_what_the_model_allows() {
    let devices = Device::gpus();
    if devices.is_empty() {
        println!("skipped: litmus on CUDA (no CUDA device)");
        return;
    }
    for device in &devices {
        let mut tests = 0;
        for test in TESTS {
            let allowed = model::allowed(test.threads);
            for reach in test.reaches {
                let kernel = kernel(device, test.threads, *reach);
                let mut histogram: BTreeMap<Outcome, u64> = BTreeMap::new();
                for _ in 0..LAUNCHES {
                    let found = launch(device, &kernel, test.threads, *reach, None).expect("it runs");
                    found.into_iter().for_each(|outcome| *histogram.entry(outcome).or_default() += 1);
                }
                let expected = consistent(test.threads);
                let weak: u64 = histogram.iter().filter(|(outcome, _)| !expected.contains(*outcome)).map(|(_, count)| count).sum();
                let all: u64 = histogram.values().sum();
                println!("{}, {reach:?}: {weak} weak of {all}, {} outcomes: {histogram:?}", test.name, histogram.len());
                // Of a race the model says nothing.
                if !matches!(test.weak, Weak::Race) {
                    let is_allowed = |outcome: &Outcome| allowed.contains(outcome);
                    assert!(histogram.keys().all(is_allowed), "{}, {reach:?} on {}: {histogram:?}", test.name, device.name());
                }
                // Whatever the order, each variable and each read has a value that some order gives.
                let values: BTreeSet<u32> = expected.iter().flatten().copied().collect();
                assert!(histogram.keys().flatten().all(|value| values.contains(value)), "{}, {reach:?}: {histogram:?}", test.name);
                tests += 1;
            }
        }
        println!("ran: litmus on CUDA ({tests} tests on {})", device.name());
    }
}
