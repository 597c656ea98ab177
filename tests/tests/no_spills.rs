//! Every declared variant of the project's kernels fits its registers: `ptxas` spills nothing.

use std::path::Path;
use warpwright_codegen::backend::ptx::emit_ptx;
use warpwright_codegen::hir;
use warpwright_codegen::passes;
use warpwright_codegen::schedule::schedule;
use warpwright_codegen::syntax::{Program, Unit};
use warpwright_codegen::target::Target;
use warpwright_tests::ptxas::found_or_skip;

/// Kernels that name items of other files, which one file alone does not know; the table's tests have them.
const WITH_OTHERS: [&str; 1] = ["mandelbrot"];

#[test]
fn ptxas_spills_nothing_of_a_declared_variant() {
    let test = "ptxas_spills_nothing_of_a_declared_variant";
    let Some(assemblers) = found_or_skip(test) else { return };
    let assembler = assemblers.last().expect("one was found");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/src");
    let mut count = 0;
    let mut left_out = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("the kernels").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source");
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let unit = Unit::parse(&name, 1, 1, &text).expect("the kernels parse");
        let kernels: Vec<String> = unit.kernels().into_iter().map(|(path, _)| path).collect();
        let mut program = Program::default();
        let unit = program.add(unit);
        for kernel in kernels {
            let Ok(instances) = hir::declared_instances(&program, unit, &kernel) else {
                left_out.push(kernel);
                continue;
            };
            for instance in instances {
                let Ok(mut lowered) = hir::lower_kernel(&program, unit, &kernel, &instance) else {
                    left_out.push(kernel.clone());
                    continue;
                };
                schedule(&mut lowered).unwrap_or_else(|found| panic!("{kernel} {instance:?}: {found:?}"));
                passes::address(&mut lowered.kernel);
                for target in ["sm_80", "sm_90"].map(|name| Target::find(name).expect("a target")) {
                    let emitted =
                        emit_ptx(&lowered.kernel, target, &|loc| lowered.span(loc)).unwrap_or_else(|found| panic!("{kernel}: {found:?}"));
                    let measured =
                        assembler.measure(&emitted.text, target.capability).unwrap_or_else(|error| panic!("{kernel}: {error:?}"));
                    assert_eq!(
                        measured.spill_stores, 0,
                        "{kernel} {instance:?} for {} has {} registers and spills",
                        target.name, measured.registers
                    );
                    count += 1;
                }
            }
        }
    }
    left_out.dedup();
    assert_eq!(left_out, WITH_OTHERS);
    println!("ran: {test} ({count} texts on ptxas)");
}
