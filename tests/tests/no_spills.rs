//! Every declared variant of the project's kernels fits its registers, and its products run on: `ptxas` spills nothing, and serializes none.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::target::Target;
use warpwright_tests::corpus::{self, Variant};
use warpwright_tests::ptxas::{Ptxas, found_or_skip};

/// Kernels that spill on purpose: the experiment is what that costs.
const SPILL: &[&str] = &["held"];

#[test]
fn ptxas_spills_nothing_of_a_declared_variant() {
    let test = "ptxas_spills_nothing_of_a_declared_variant";
    let Some(assemblers) = found_or_skip(test) else { return };
    let assembler = assemblers.last().expect("one was found");
    let mut variants = corpus::library_variants();
    variants.retain(|variant| SPILL.iter().all(|name| variant.name.split("::").next() != Some(*name)));
    let (next, complaints, count) = (AtomicUsize::new(0), Mutex::new(Vec::new()), AtomicUsize::new(0));
    let work = || {
        while let Some(variant) = variants.get(next.fetch_add(1, Ordering::Relaxed)) {
            let targets = ["sm_80", "sm_90"].map(|name| Target::find(name).expect("a target"));
            for target in targets.into_iter().filter(|target| variant.is_for(target)) {
                count.fetch_add(1, Ordering::Relaxed);
                if let Some(complaint) = complaint(variant, target, assembler) {
                    complaints.lock().expect("nobody panicked").push(complaint);
                }
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let complaints = complaints.into_inner().expect("nobody panicked");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let count = count.into_inner();
    assert!(count > 600, "{count} texts");
    println!("ran: {test} ({count} texts on ptxas)");
}

/// What is wrong with a variant on a target.
fn complaint(variant: &Variant, target: &'static Target, assembler: &Ptxas) -> Option<String> {
    // What a device of the target is given.
    let target = variant.kernel.target_on(target);
    let Some(ptx) = variant.text(&Ptx, Some(target)) else { return Some(format!("{} has no PTX for {}", variant.name, target.name)) };
    match assembler.measure(&ptx, target.capability) {
        Ok(measured) if measured.serialized => Some(format!("{} for {} has its products serialized", variant.name, target.name)),
        Ok(measured) if measured.spill_stores == 0 => None,
        Ok(measured) => Some(format!("{} for {} has {} registers and spills", variant.name, target.name, measured.registers)),
        Err(error) => Some(format!("{} for {}: {error}", variant.name, target.name)),
    }
}
