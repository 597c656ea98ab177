//! The tables of the page about Ryoo et al. (PPoPP 2008): the document's figures beside the compiler's.

use super::applications::{APPLICATIONS, Application};
use super::figures::{bound, measured, release, resident, today};
use super::library::{Library, Looked, Named};
use super::multiplication::VERSIONS;
use warpwright_review::machine::Pipe;
use warpwright_tests::ptxas::Ptxas;

/// Multiprocessors of the document's GeForce 8800 GTX.
const MULTIPROCESSORS: u32 = 16;

/// The most threads that a multiprocessor of the document's device holds with its figures, over all sizes of blocks.
pub(super) fn most_threads(application: &Application) -> u32 {
    let shared = |threads: u32| (f64::from(threads) * application.shared).ceil() as u32;
    let held = (1..=16).map(|warps| {
        let threads = 32 * warps;
        let found = resident("1.0", threads, application.registers, shared(threads));
        found.blocks * threads
    });
    held.max().unwrap_or(0)
}

/// Whether the report of the tuned form names the bottleneck that the document names.
pub(super) fn is_same(application: &Application, library: &mut Library) -> bool {
    let tuned = application.forms.last().expect("a form");
    application.bottleneck.is_said_of(&library.look(tuned.named, today()))
}

/// The tables that the compiler computes.
pub(super) fn sections(library: &mut Library) -> Vec<(&'static str, String)> {
    let mut sections = vec![("suite", suite(library)), ("multiplication", multiplication(library))];
    sections.extend(APPLICATIONS.iter().map(|application| (application.name, forms(application, library))));
    sections
}

/// The suite: the document's table 3, and what bounds our tuned forms.
fn suite(library: &mut Library) -> String {
    let mut text = String::from(
        "| application | times one core | registers | shared, B a thread | threads of 768 | at most, by our tables | bottleneck | ours, tuned | the same |\n\
         |---|---|---|---|---|---|---|---|---|",
    );
    for application in APPLICATIONS {
        let Application { name, speed_up, registers, shared, bottleneck, forms, .. } = application;
        let looked = library.look(forms.last().expect("a form").named, today());
        let (threads, most) = (application.threads / MULTIPROCESSORS, most_threads(application));
        let same = if bottleneck.is_said_of(&looked) { "yes" } else { "no" };
        let (theirs, ours) = (bottleneck.words(), bound(&looked));
        text += &format!("\n| {name} | {speed_up}× | {registers} | {shared} | {threads} | {most} | {theirs} | {ours} | {same} |");
    }
    text
}

/// Shares of a thread's instructions, in per cent.
fn shares(looked: &Looked) -> [f64; 6] {
    let mix = &looked.known.threads.mix;
    assert!(mix.of(Pipe::Double) == 0.0, "the suite is in single precision");
    let all = mix.instructions();
    let of = |pipes: &[Pipe]| 100.0 * pipes.iter().map(|pipe| mix.of(*pipe)).sum::<f64>() / all;
    [
        of(&[Pipe::Single]),
        of(&[Pipe::Integer, Pipe::Product]),
        of(&[Pipe::Logic]),
        of(&[Pipe::Special]),
        of(&[Pipe::Memory]),
        of(&[Pipe::Control]),
    ]
}

/// An application's forms.
fn forms(application: &Application, library: &mut Library) -> String {
    let mut text = String::from(
        "| form | kernel | bound by | occupancy, limited by | `f32` | integer | logic | special | load, store | control | lints |\n\
         |---|---|---|---|---|---|---|---|---|---|---|",
    );
    for form in application.forms {
        let looked = library.look(form.named, today());
        let found = looked.known.targets[0].occupancy.as_ref().expect("the block is known");
        let limiters: Vec<String> = found.limiters().map(|resource| resource.to_string()).collect();
        let shares: Vec<String> = shares(&looked).iter().map(|share| format!("{share:.0} %")).collect();
        let lints: Vec<String> = form.lints.iter().map(|name| format!("`{name}`")).collect();
        let lints = if lints.is_empty() { "none".to_owned() } else { lints.join(", ") };
        let (role, kernel, bound) = (form.role, form.named.short(), bound(&looked));
        let (percent, limiters, shares) = (found.percent(), limiters.join(", "), shares.join(" | "));
        text += &format!("\n| {role} | `{kernel}` | {bound} | {percent} %, {limiters} | {shares} | {lints} |");
    }
    text
}

/// The versions of the multiplication: fused multiply-adds among all instructions, and the throughput that this share allows.
fn multiplication(library: &mut Library) -> String {
    let mut text = String::from(
        "| version | multiply-adds, document | allows | ours | multiply-adds, ours | allows on an H200 | bound by |\n|---|---|---|---|---|---|---|",
    );
    for version in VERSIONS {
        let looked = library.look(version.named, today());
        let (mix, on) = (&looked.known.threads.mix, &looked.known.targets[0]);
        let share = mix.operations / 2.0 / mix.instructions();
        let peak = on.prediction.as_ref().expect("the block is known").peak_operations / 1e12;
        let (name, said, allows, kernel) = (version.name, version.share, version.allows, version.named.short());
        let (percent, most) = (100.0 * share, share * peak);
        text += &format!("\n| {name} | {said} | {allows} | `{kernel}` | {percent:.0} % | {most:.1} TFLOP/s | {} |", bound(&looked));
    }
    text
}

/// Registers as an assembler measures them, and the threads that a multiprocessor of the document's device would hold with them.
pub(super) fn registers(library: &mut Library, ptxas: &Ptxas) -> String {
    let mut text = format!(
        "{}; threads of a multiprocessor of 1.0, which has 768.\n\n\
         | application | form | kernel | registers, document | ours | threads, document | ours with these registers |\n|---|---|---|---|---|---|---|",
        release(ptxas)
    );
    let mut row = |name: &str, role: &str, named: Named, registers: u32, threads: u32| {
        let looked = library.look(named, today());
        let registers_of_ours = measured(&looked, ptxas);
        let block = looked.known.legal.addressed().options.block.expect("the block is known").iter().product();
        let found = resident("1.0", block, registers_of_ours, looked.known.facts.memory.shared as u32);
        let held = match found.blocks {
            0 => format!("none: {}", found.limiters().map(|resource| resource.to_string()).collect::<Vec<_>>().join(", ")),
            blocks => (blocks * block).to_string(),
        };
        text += &format!("\n| {name} | {role} | `{}` | {registers} | {} | {threads} | {held} |", named.short(), registers_of_ours);
    };
    for version in VERSIONS {
        row("Mat Mul", version.name, version.named, version.registers, version.threads);
    }
    for application in APPLICATIONS {
        for form in application.forms {
            row(application.name, form.role, form.named, application.registers, application.threads / MULTIPROCESSORS);
        }
    }
    text
}
