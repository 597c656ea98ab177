//! The texts are what the compiler makes of the files of `codegen/src/math`.

use super::*;
use crate::intrinsics;
use crate::ir::Location;
use crate::pipeline;
use crate::syntax::{Instance, Program, Unit};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn folder(of: &str, ty: Type) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src").join(of).join(ty.to_string())
}

/// All files of a type: no two of them name anything alike. Comments would be parsed into attributes.
fn source(ty: Type) -> String {
    let files = fs::read_dir(folder("math", ty)).unwrap().map(|entry| entry.unwrap().path());
    let files: BTreeSet<PathBuf> = files.filter(|path| !path.ends_with("mod.rs")).collect();
    let texts: Vec<String> = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let is_code = |line: &&str| !line.trim_start().starts_with("//") && !line.starts_with("use super");
    texts.iter().flat_map(|text| text.lines()).filter(is_code).flat_map(|line| [line, "\n"]).collect()
}

/// The kernel that calls a function.
fn call(name: &str, ty: Type) -> String {
    let row = intrinsics::method(name, ty).expect("a function of the library is a method").row();
    let letters = &["a", "b"][..row.args.len()];
    let parameters: String = letters.iter().map(|letter| format!("{letter}: {ty}, ")).collect();
    let call = format!("{name}({})", letters.join(", "));
    let body = match row.results.len() {
        1 => format!("out[0] = {call};"),
        _ => format!("let (first, second) = {call}; out[0] = first; out[1] = second;"),
    };
    format!("#[kernel(contract = false)] fn call_{name}({parameters}out: &mut Global<{ty}>) {{ {body} }}\n")
}

/// What the compiler makes of each function of a type, without places in the source.
fn compiled(ty: Type) -> Vec<Kernel> {
    let calls: String = FUNCTIONS.iter().map(|function| call(function.name, ty)).collect();
    let mut program = Program::default();
    let unit = program.add(Unit::parse("math", 1, 1, &(source(ty) + &calls)).unwrap());
    let compile = |function: &Function| {
        let lowered = pipeline::compile(&program, unit, &format!("call_{}", function.name), &Instance::default()).unwrap();
        let mut kernel = Kernel::clone(lowered.kernel.legal());
        kernel.name = function.name.to_owned();
        kernel.files.clear();
        kernel.locations.keys().for_each(|loc| kernel.locations[loc] = Location::default());
        kernel.compact();
        kernel
    };
    FUNCTIONS.iter().map(compile).collect()
}

#[test]
fn the_texts_are_what_the_files_compile_to() {
    let is_blessing = std::env::var("WARPWRIGHT_BLESS").is_ok_and(|value| value == "1");
    assert!(!is_blessing || std::env::var("CI").is_err(), "what is expected is not written where `CI` is set");
    for ty in [Type::F32, Type::F64] {
        let folder = folder("library", ty);
        for (function, kernel) in FUNCTIONS.iter().zip(compiled(ty)) {
            let (name, text) = (function.name, kernel.to_string());
            assert_eq!(parse_kernel(&text), Ok(kernel), "the text of `{name}` holds all of it");
            if is_blessing {
                fs::write(folder.join(format!("{name}.ir")), text).unwrap();
            } else {
                let is_same = function.text(ty) == Some(&text);
                assert!(is_same, "`{name}` of {ty} is not what its file compiles to now (WARPWRIGHT_BLESS=1 writes it):\n{text}");
            }
        }
        let files: BTreeSet<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert_eq!(files, FUNCTIONS.iter().map(|function| format!("{}.ir", function.name)).collect(), "files that are read");
    }
}
