//! Writes what every kernel and variant of the tree compiles to into a folder: PTX for a target of each generation, OpenCL C, Rust. A change that
//! is to leave emitted text alone is checked by `diff -r` of two such folders.
//!
//! ```sh
//! cargo run --release -p warpwright-tests --bin texts -- before
//! ```

use std::fmt::Write;
use std::path::PathBuf;
use warpwright_codegen::backend::opencl::OpenCl;
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::backend::rust::Rust;
use warpwright_codegen::target::Target;
use warpwright_tests::corpus::{self, Variant};

/// One target of each row of instructions that differ.
const TARGETS: [&str; 6] = ["sm_50", "sm_61", "sm_70", "sm_80", "sm_90", "sm_120"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("name a folder: texts FOLDER")?);
    let sets =
        [("library", corpus::library_variants()), ("language", corpus::folder("tests/language").0), ("fit", corpus::folder("fit").0)];
    let targets = TARGETS.map(Target::find).into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut written = 0;
    for (set, variants) in sets {
        std::fs::create_dir_all(folder.join(set))?;
        // Families keep their order, and so do the variants of each.
        let mut families: Vec<(&str, String)> = Vec::new();
        for variant in &variants {
            if families.iter().all(|(family, _)| *family != variant.family) {
                families.push((&variant.family, String::new()));
            }
            let text = families.iter_mut().find(|(family, _)| *family == variant.family);
            if let Some((_, text)) = text {
                add(text, variant, &targets);
            }
            written += 1;
        }
        for (family, text) in families {
            std::fs::write(folder.join(set).join(format!("{family}.txt")), text)?;
        }
    }
    println!("{written} variants");
    Ok(())
}

/// All texts of a variant; what a language cannot have is said.
fn add(all: &mut String, variant: &Variant, targets: &[&'static Target]) {
    let ptx = targets.iter().map(|target| (target.name, variant.text(&Ptx, Some(target))));
    let texts = ptx.chain([("OpenCL C", variant.text(&OpenCl, None)), ("Rust", variant.text(&Rust, None))]);
    for (language, text) in texts {
        let text = text.unwrap_or_else(|| "none\n".to_owned());
        let _ = writeln!(all, "==== {}: {language}\n{text}", variant.name);
    }
}
