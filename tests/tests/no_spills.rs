//! Every declared variant of the project's kernels fits its registers: `ptxas` spills nothing.

use warpwright_codegen::target::Target;
use warpwright_tests::corpus;
use warpwright_tests::ptxas::found_or_skip;

#[test]
fn ptxas_spills_nothing_of_a_declared_variant() {
    let test = "ptxas_spills_nothing_of_a_declared_variant";
    let Some(assemblers) = found_or_skip(test) else { return };
    let assembler = assemblers.last().expect("one was found");
    let (variants, left_out) = corpus::kernels();
    assert_eq!(left_out, [""; 0], "every kernel has declared variants that compile");
    let mut count = 0;
    for variant in variants {
        for target in ["sm_80", "sm_90"].map(|name| Target::find(name).expect("a target")) {
            let ptx = variant.ptx(target).unwrap_or_else(|| panic!("{} has PTX", variant.name));
            let measured = assembler.measure(&ptx, target.capability).unwrap_or_else(|error| panic!("{}: {error}", variant.name));
            assert_eq!(measured.spill_stores, 0, "{} for {} has {} registers and spills", variant.name, target.name, measured.registers);
            count += 1;
        }
    }
    println!("ran: {test} ({count} texts on ptxas)");
}
