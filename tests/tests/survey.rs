//! Survey.
use proc_macro2::Span;
use std::fmt::Write;
use warpwright_codegen::backend::ptx;
use warpwright_codegen::target::Target;
use warpwright_runtime::nvdisasm::Nvdisasm;
use warpwright_tests::corpus;
use warpwright_tests::ptxas;
#[test]
fn survey() {
    let one = std::env::var("ONE").ok();
    let releases = std::env::var("REL").unwrap_or("13".into());
    let targets = std::env::var("TGT").unwrap_or("sm_90".into());
    let reg = std::env::var("REG").ok();
    let mut out = String::new();
    let mut variants = corpus::library_variants();
    if let Ok(files) = std::env::var("FOLDER") {
        variants = corpus::folder(&files).0;
    }
    for variant in variants {
        if let Some(one) = &one {
            if !variant.name.contains(one.as_str()) {
                continue;
            }
        }
        for target in targets.split(',') {
            let target = Target::find(target).unwrap();
            let module = ptx::module(variant.kernel.legal().addressed(), target, &|_| Span::call_site()).unwrap();
            if module.early_loads.is_empty() {
                continue;
            }
            let mut module = module;
            if let Some(reg) = &reg {
                module.entry.directives.push(("maxnreg", vec![reg.parse().unwrap()]));
            }
            for assembler in ptxas::all().iter().filter(|a| releases.split(',').any(|r| a.release.starts_with(r))) {
                let dis = Nvdisasm::find(assembler).unwrap();
                let found = assembler.issue_order(&dis, &module, target.capability).unwrap();
                let measured = assembler.measure(&module.to_string(), target.capability).unwrap();
                for order in found {
                    writeln!(
                        out,
                        "{}\t{}\t{}\t{}\t{}\t{}\t{} regs",
                        if order.measured.is_kept() { "kept" } else { "UNDONE" },
                        variant.name,
                        target.name,
                        assembler.release,
                        order.annotation,
                        order.measured,
                        measured.registers
                    )
                    .unwrap();
                }
                if one.is_some() && std::env::var("SASS").is_ok() {
                    let cubin = assembler.cubin_with_lines(&module.clone().numbered().to_string(), target.capability).unwrap();
                    println!("{}", module.clone().without_places());
                    for line in dis.lines(&cubin).unwrap() {
                        println!("{:4} {}", line.place.map_or(0, |p| p.1), line.text);
                    }
                }
            }
        }
    }
    if let Ok(path) = std::env::var("OUT") {
        std::fs::write(path, &out).unwrap();
    } else {
        print!("{out}");
    }
}
