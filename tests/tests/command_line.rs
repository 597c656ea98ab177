//! The `warpwright` command as people meet it: what it prints, what it says is wrong, and what it exits with (0: done, 1: the source
//! has errors, 2: the command could not be carried out).

#[path = "command_line/occupancy.rs"]
mod occupancy;

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use warpwright_tests::command::{Folder, binary, root};

const SAXPY: &[u8] = b"use warpwright::prelude::*;
#[kernel(block = 64)]
pub fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}
";

const GENERIC: &[u8] = b"use warpwright::{Float, prelude::*};
#[kernel(block = B)]
pub fn scale<const B: usize, const F: bool, T: Float>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    if i < y.len() && F {
        y[i] = x[i] * T::from_f32(crate::N);
    }
}
";

#[test]
fn files_that_are_none() {
    let folder = Folder::new("files", &[("ok.rs", SAXPY), ("empty.rs", b""), ("binary.rs", b"\xff\xfe\0"), ("host.rs", b"fn main() {}")]);
    folder.run(&["emit", "missing.rs"]).refuses(2, &["error: `missing.rs` cannot be read: No such file"]);
    folder.run(&["emit", "ok.rs:saxpy"]).refuses(2, &["for a kernel of a file write `ok.rs::saxpy`"]);
    folder.run(&["emit", "."]).refuses(2, &["error: `.` cannot be read", "name a file in it, or all: `FOLDER/*.rs`"]);
    folder.run(&["check", "binary.rs"]).refuses(2, &["error: `binary.rs` cannot be read: it is not UTF-8 text"]);
    for command in ["emit", "check"] {
        folder.run(&[command, "empty.rs"]).refuses(2, &["error: `empty.rs` has no `#[kernel]` function"]);
        folder.run(&[command, "host.rs"]).refuses(2, &["error: `host.rs` has no `#[kernel]` function"]);
    }
    folder.run(&["check", "ok.rs", "host.rs"]).prints("host.rs: no kernels");
}

#[test]
fn misspelt_names() {
    let folder = Folder::new("names", &[("ok.rs", SAXPY), ("generic.rs", GENERIC)]);
    folder.run(&["emit", "ok.rs::saxpi"]).refuses(2, &["there is no kernel `saxpi` in `ok.rs`; did you mean `saxpy`?"]);
    folder.run(&["check", "ok.rs::other"]).refuses(2, &["there is no kernel `other` in `ok.rs`; write `saxpy`"]);
    folder.run(&["emit", "ok.rs", "--after", "fld"]).refuses(2, &["no pass is called `fld`; did you mean `fold`?"]);
    folder.run(&["emit", "ok.rs", "--target", "sm_85"]).refuses(2, &["`sm_85` is not a target; did you mean `sm_86`?"]);
    folder.run(&["emit", "ok.rs", "--target", "gfx90a"]).refuses(2, &["`gfx90a` is not a target; choose one of sm_50, "]);
    folder.run(&["emit", "ok.rs", "--format", "ptxx"]).refuses(2, &["invalid value 'ptxx'", "a similar value exists: 'ptx'"]);
    folder.run(&["emit", "ok.rs", "-D", "X"]).refuses(2, &["write `NAME=VALUE`, or after `--set` `NAME=V1,V2,…`"]);
    folder.run(&["emit", "ok.rs", "-D", "X=1"]).refuses(2, &["`-D X=…` names nothing in the kernel; it has no generics: leave `-D` out"]);
    folder.run(&["emit", "generic.rs", "-D", "b=1"]).refuses(2, &["`-D b=…` names nothing in the kernel; did you mean `B`?"]);
    folder.run(&["emit", "ok.rs", "--after", "fold", "--format", "ptx"]).refuses(2, &["use `--format ir`"]);
}

#[test]
fn lints_are_explained() {
    let folder = Folder::new("explain", &[]);
    folder.run(&["explain"]).prints("unchecked");
    for line in folder.run(&["explain"]).out.lines() {
        let name = line.split_whitespace().next().expect("a name");
        folder.run(&["explain", name]).prints(&format!("# {name}\n"));
    }
    folder.run(&["explain", "unchekced"]).refuses(2, &["error: there is no lint `unchekced`; did you mean `unchecked`?"]);
    folder.run(&["explain", "zzzzzzz"]).refuses(2, &["there is no lint `zzzzzzz`; write one that `warpwright explain` lists"]);
}

#[test]
fn targets_come_from_the_command_the_kernel_or_the_manifest() {
    let kernel =
        b"#[kernel(block = 64, require(occupancy >= 0.5), max_registers = 255)]\nfn k(y: &mut Global<f32>) { y[global_id().x] = 1.0; }\n";
    let open = String::from_utf8(kernel.to_vec()).expect("text").replace("block = 64, ", "");
    let good = b"[package.metadata.warpwright]\ntargets = [\"sm_75\"]\n";
    let bad = b"[package]\nname = \"a\"\n[package.metadata.warpwright]\ntargets = [\"sm_91\"]\n";
    let folder = Folder::new("good-manifest", &[("k.rs", kernel), ("open.rs", open.as_bytes()), ("Cargo.toml", good)]);
    folder.run(&["check", "k.rs"]).prints("k.rs: 1 kernel without errors");
    folder.run(&["check", "k.rs", "--targets", "sm_80,sm_91"]).refuses(2, &["`sm_91` is not a target; did you mean `sm_90`?"]);
    let warned = folder.run(&["check", "open.rs"]);
    assert!(warned.code == Some(0) && warned.err.contains("warning[unchecked]: `occupancy >= 0.5` cannot be checked"), "{}", warned.err);
    let folder = Folder::new("bad-manifest", &[("k.rs", kernel), ("Cargo.toml", bad)]);
    folder.run(&["check", "k.rs"]).refuses(2, &["Cargo.toml`, line 4: unknown target `sm_91`; did you mean `sm_90`?"]);
    // What else the manifest says counts with `--targets`, too, so its mistakes are said.
    folder
        .run(&["check", "k.rs", "--targets", "sm_80"])
        .refuses(2, &["Cargo.toml`, line 4: unknown target `sm_91`; did you mean `sm_90`?"]);
}

#[test]
fn opencl_is_checked_for_and_has_no_figures() {
    let split = b"#[kernel(block = 64, variants(BY in [1, 32]))]\nfn k<const BY: usize>(rows: usize, y: &mut Global<f32>) {\n    let row = global_id().x / BY;\n    \
                  if row < rows { y[row] = warp_sum(y[row]); }\n}\n";
    let manifest = b"[package.metadata.warpwright]\ntargets = [\"opencl\"]\n";
    let folder = Folder::new("opencl", &[("ok.rs", SAXPY), ("split.rs", split)]);
    let both = folder.run(&["check", "ok.rs", "--targets", "opencl,sm_90"]);
    both.prints("\nopencl: nothing is refused of saxpy; nothing is estimated for OpenCL devices\n");
    both.prints("\ntarget  registers  ");
    let alone = folder.run(&["check", "ok.rs", "--targets", "opencl"]);
    assert!(alone.code == Some(0) && !alone.out.contains("registers"), "{}", alone.out);
    let warned = folder.run(&["check", "split.rs", "--targets", "sm_90"]);
    assert!(warned.code == Some(0) && warned.out.contains("1 kernel without errors"), "{}", warned.out);
    let lint = "warning[divergent_exchange]: `warp_sum` is under a condition that splits a warp";
    assert!(warned.err.starts_with(lint) && warned.err.matches("warning[").count() == 1, "{}", warned.err);
    let at = "split.rs:4:30\n";
    let message = "error: `warp_sum` is under a condition that may split a warp; the target `opencl` needs all lanes of the warp to reach it (in the variant `BY = 1`)";
    let refused = folder.run(&["check", "split.rs", "--targets", "opencl"]);
    refused.refuses(1, &[message, at, "= help: call `warp_sum` before the condition"]);
    assert!(!refused.err.contains("divergent_exchange"), "said once: {}", refused.err);
    let compared = folder.run(&["compare", "split.rs", "--targets", "sm_90,opencl"]);
    compared.prints("does not compile: split.rs:4:30: `warp_sum` is under a condition");
    compared.prints("opencl: every variant with figures runs there, too; nothing is estimated for OpenCL devices");
    let json: serde_json::Value =
        serde_json::from_str(&folder.run(&["check", "--json", "ok.rs", "--targets", "opencl"]).out).expect("JSON");
    let kernel = &json["files"][0]["kernels"][0];
    assert_eq!((&kernel["opencl"], kernel["reports"].as_array().map(Vec::len)), (&serde_json::json!(true), Some(0)));
    let only = "`opencl` is the only target of `saxpy`, and nothing is estimated for OpenCL devices; give a compute capability, for example `--targets sm_90`";
    folder.run(&["compare", "ok.rs", "--targets", "opencl"]).refuses(2, &[only]);
    folder.run(&["occupancy", "ok.rs", "--targets", "opencl"]).refuses(2, &[only]);
    folder.run(&["emit", "ok.rs", "--target", "opencl"]).refuses(2, &["`opencl` is not a target of PTX", "write `--format opencl`"]);
    folder.run(&["check", "ok.rs", "--targets", "openc"]).refuses(2, &["`openc` is not a target; did you mean `opencl`?"]);
    // The manifest's list counts; for what needs a compute capability, the usual one.
    let folder = Folder::new("opencl-manifest", &[("ok.rs", SAXPY), ("split.rs", split), ("Cargo.toml", manifest)]);
    folder.run(&["check", "split.rs"]).refuses(1, &["`warp_sum` is under a condition that may split a warp"]);
    folder.run(&["emit", "ok.rs"]).prints(".target sm_80");
    // Emitting asks for no target.
    folder.run(&["emit", "split.rs", "--format", "opencl", "-D", "BY=1"]).prints("__kernel");
}

#[test]
fn attributes_of_rust_set_levels() {
    let kernel = |attribute: &str| format!("{attribute}\n#[kernel(ilp = 4, best_effort)]\nfn k(y: &mut Global<f32>) {{ y[0] = 1.0; }}\n");
    let module = format!("#[allow(deprecated)]\nmod m {{ {} }}", kernel(""));
    let (plain, allowed, denied) = (kernel(""), kernel("#[allow(dead_code, deprecated)]"), kernel("#[deny(deprecated)]"));
    let files = [
        ("plain.rs", plain.as_bytes()),
        ("allowed.rs", allowed.as_bytes()),
        ("denied.rs", denied.as_bytes()),
        ("module.rs", module.as_bytes()),
    ];
    let folder = Folder::new("levels", &files);
    assert!(folder.run(&["check", "plain.rs"]).err.starts_with("warning[best_effort]: "));
    folder.run(&["check", "allowed.rs"]).prints("1 kernel without errors");
    folder.run(&["check", "module.rs"]).prints("1 kernel without errors");
    folder.run(&["check", "denied.rs"]).refuses(1, &["error[best_effort]: "]);
}

#[test]
fn what_is_known_as_a_table_and_as_json() {
    let wrong = b"#[kernel(block = 64, require(shared <= 100))]\nfn k(y: &mut Global<f32>) {\n    #[shared] let mut a: [f32; 64];\n    a[thread_idx().x] = 1.0;\n    \
                  y[global_id().x] = a[thread_idx().x];\n}\n";
    let folder = Folder::new("json", &[("ok.rs", SAXPY), ("generic.rs", GENERIC), ("wrong.rs", wrong)]);
    let table = folder.run(&["check", "ok.rs", "--targets", "sm_75,sm_90"]);
    table.prints("\nsaxpy\nin every row: shared 0 B; ");
    table.prints("\ntarget  registers  ");
    assert!(table.out.contains("sm_75") && table.out.contains("sm_90") && !table.out.contains("sm_80"), "{}", table.out);
    let quiet = folder.run(&["check", "-q", "ok.rs"]);
    assert_eq!((quiet.code, quiet.out.lines().count()), (Some(0), 1), "{}", quiet.out);
    let json = |arguments: &[&str], code: i32| {
        let outcome = folder.run(&[&["check", "--json", "--targets", "sm_90"], arguments].concat());
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(code), ""), "{}", outcome.out);
        serde_json::from_str::<serde_json::Value>(&outcome.out).expect("JSON")
    };
    let fine = json(&["ok.rs", "generic.rs"], 0);
    assert_eq!((&fine["version"], fine["files"].as_array().map(Vec::len)), (&serde_json::json!(1), Some(2)));
    let kernel = &fine["files"][0]["kernels"][0];
    assert_eq!((&kernel["kernel"], &kernel["instances"]), (&serde_json::json!("saxpy"), &serde_json::json!(1)));
    let known = &kernel["reports"][0]["estimated"];
    assert_eq!(known["sectors_per_request"], serde_json::json!({ "least": 4, "most": 4 }));
    assert!(
        known["registers"]["low"].as_u64() <= known["registers"]["high"].as_u64() && known["registers"]["low"].as_u64() > Some(0),
        "{known}"
    );
    assert_eq!(known["accesses"].as_array().map(Vec::len), Some(3));
    assert_eq!(fine["files"][1]["kernels"][0]["instances"], serde_json::Value::Null);
    let broken = json(&["wrong.rs"], 1);
    let finding = &broken["files"][0]["findings"][0];
    assert_eq!((&finding["level"], &finding["lint"]), (&serde_json::json!("error"), &serde_json::json!("require")));
    assert_eq!(finding["message"], "`shared <= 100` does not hold: 256 bytes of shared memory, 156 too many");
    assert_eq!(finding["place"], serde_json::json!({ "file": "wrong.rs", "line": 1, "column": 30 }));
}

#[test]
fn what_best_effort_lets_pass_is_a_warning() {
    let soft =
        b"#[kernel(block = 64, ilp = 4, best_effort)]\nfn k(y: &mut Global<f32>) {\n    sync_threads();\n    y[global_id().x] = 1.0;\n}\n";
    let hard = String::from_utf8(soft.to_vec()).expect("text").replace(", best_effort", "");
    let folder = Folder::new("warnings", &[("soft.rs", soft), ("hard.rs", hard.as_bytes())]);
    for command in [["check", "soft.rs"], ["emit", "soft.rs"]] {
        let outcome = folder.run(&command);
        let words = ["warning[best_effort]: `ilp = 4` runs the body for 4 elements", "`sync_threads` is called here", "help: remove `ilp`"];
        assert!(outcome.code == Some(0) && words.iter().all(|text| outcome.err.contains(text)), "{}", outcome.err);
    }
    folder.run(&["check", "hard.rs"]).refuses(1, &["error: `ilp = 4` runs the body for 4 elements"]);
}

#[test]
fn generics_from_the_command_line() {
    let folder = Folder::new("generics", &[("generic.rs", GENERIC)]);
    let run = |command: &str, defines: &[&str]| {
        let defines = defines.iter().flat_map(|define| ["-D", define]);
        folder.run(&[command, "generic.rs"].into_iter().chain(defines).collect::<Vec<_>>())
    };
    run("emit", &[]).refuses(2, &["`scale` is generic in `B`, `F`, `T`; give -D B=… -D F=… -D T=…"]);
    run("emit", &["B=abc", "F=1", "T=Strng"]).refuses(
        2,
        &[
            "`-D B=abc` does not fit `scale`: `B` is a `usize`: write a number",
            "`-D F=1` does not fit `scale`: `F` is a `bool`: write `true` or `false`",
            "`-D T=Strng` does not fit `scale`: the type `Strng` is not known to the kernel",
        ],
    );
    run("emit", &["B=32", "F=true", "T=i32"]).refuses(2, &["`-D T=i32` does not fit `scale`: expected a float, found `i32`"]);
    run("emit", &["B=32", "B=64", "F=true", "T=f32"]).refuses(2, &["`-D B=…` is given twice, 32 and 64; leave one out"]);
    run("emit", &["B=32", "F=true", "T=f32"]).refuses(1, &["`crate::N` is not known here", "give it with `-D crate::N=VALUE`"]);
    run("emit", &["B=32", "F=true", "T=f32", "N=xyz"]).refuses(2, &["`-D N=xyz`: `xyz` is not a constant"]);
    run("emit", &["B=0", "F=true", "T=f32", "N=1.5f32"]).refuses(1, &["a block has 1 to 1024 threads along x, not 0", "generic.rs:2:18"]);
    run("emit", &["B=32", "F=true", "T=f32", "N=1.5f32"]).prints(".visible .entry scale");
    run("check", &["B=64", "F=true", "T=f32", "N=1.5f32"]).prints("generic.rs: 1 kernel without errors: scale (1 instance)");
    run("check", &[]).prints("its types are checked with `-D NAME=VALUE` only");
}

/// No kernel asks for most of this, and nothing but the command looks at it.
#[test]
fn what_rustc_refuses_too() {
    let source: &[u8] = b"use warpwright::prelude::*;
use warpwright::Num;
mod parts;
#[device]
fn root<T: Num>(a: T) -> T { a.sqrt() }
#[device]
fn unasked() -> u8 { 300 }
#[device]
fn bits() -> u8 { 256 as u8 }
#[kernel(block = 64)]
pub fn k(y: &mut Global<f32>) { let a: f32; y[0] = a + root(1.0f32); }
";
    let folder = Folder::new("rustc", &[("k.rs", source)]);
    for command in ["check", "emit", "simulate"] {
        let refused = folder.run(&[command, "k.rs"]);
        refused.refuses(1, &["error: the module `parts` has no file: there is neither `parts.rs` nor `parts/mod.rs`\n --> k.rs:3:5"]);
    }
    let folder = Folder::new("rustc_types", &[("k.rs", source), ("parts.rs", b"")]);
    folder.run(&["check", "k.rs"]).refuses(
        1,
        &[
            "error: `i32` has no method `sqrt` in a kernel, and `T: Num` may be `i32`\n --> k.rs:5:32",
            "error: `300` does not fit `u8`, whose numbers are 0 to 255\n --> k.rs:7:22",
            "error: `256` does not fit `u8`, whose numbers are 0 to 255\n --> k.rs:9:19",
            "error: `a` has no value here\n  --> k.rs:11:52",
            "4 errors",
        ],
    );
}

/// What is wrong with a file may be why it has no kernels; and what follows from one mistake is said with it alone.
#[test]
fn each_mistake_is_said_once() {
    let within: &[u8] = b"use warpwright::prelude::*;\nstruct S;\nimpl S {\n    #[kernel(block = 32)]\n    pub fn k(y: &mut Global<f32>) { y[0] = 1.0; }\n}\n";
    let step: &[u8] = b"use warpwright::prelude::*;\n#[kernel(block = 32)]\npub fn k(y: &mut Global<f32>) {\n    for i in (0..8).step_by(0) { y[i] = 1.0; }\n}\n";
    let map: &[u8] = b"use warpwright::prelude::*;\n#[kernel(block = 32)]\npub fn k(y: &mut Global<f32>) {\n    let a = [1.0, 2.0].map(|v| v * 2.0);\n    y[0] = a[0];\n}\n";
    let some: &[u8] = b"use warpwright::prelude::*;\n#[kernel(block = 32)]\npub fn k(y: &mut Global<f32>) {\n    let a = Some(1.0);\n    if let Some(b) = a { y[0] = b; }\n}\n";
    let alias: &[u8] =
        b"use warpwright::prelude::*;\n#[kernel(block = 32)]\npub fn k(y: &mut Global<f32>) {\n    let a = y;\n    a[0] = 1.0;\n}\n";
    let folder = Folder::new("once", &[("within.rs", within), ("step.rs", step), ("map.rs", map), ("some.rs", some), ("alias.rs", alias)]);
    for (file, message) in [
        ("within.rs", "error: the kernel `k` stands in an `impl`, where nothing can launch it\n --> within.rs:5:12"),
        ("step.rs", "error: a range cannot have a step of 0\n --> step.rs:4:29"),
        ("map.rs", "error: closures are not in the kernel language\n --> map.rs:4:28"),
        ("some.rs", "error: `Some` is an enum with fields, which the kernel language does not have\n --> some.rs:4:13"),
        ("alias.rs", "error: `y` is a `&mut Global<f32>`, which has one name in a kernel: `a` would be a second\n --> alias.rs:4:13"),
    ] {
        folder.run(&["check", "-q", file]).refuses(1, &[message, "\n1 error\n"]);
    }
}

#[test]
fn all_errors_of_all_files() {
    let brackets = b"#[kernel]\nfn a(y: &mut Global<f32>) {\n    y[0] = (1.0;\n}\n";
    let syntax = b"#[kernel]\nfn a(y: &mut Global<f32>) { y[0] = ; }\n#[kernel]\nfn b(y: &mut Global<f32>) { let = 3; }\n";
    let types = b"#[kernel(blok = 32)]\r\nfn a(x: &Global<f32>, y: &mut Global<f32>) {\r\n    x[0] = 1;\r\n    y[0] = z;\r\n}\r\n";
    let marked = [b"\xef\xbb\xbf".as_slice(), b"#[kernel(block = 0)] fn a(y: &mut Global<f32>) {}"].concat();
    let files: &[(&str, &[u8])] =
        &[("brackets.rs", brackets), ("syntax.rs", syntax), ("types.rs", types), ("marked.rs", &marked), ("ok.rs", SAXPY)];
    let folder = Folder::new("errors", files);
    let outcome = folder.run(&["check", "brackets.rs", "syntax.rs", "types.rs", "marked.rs"]);
    outcome.refuses(
        1,
        &[
            "error: this `}` does not close the bracket that is open here, or there is none\n --> brackets.rs:4:1",
            "--> syntax.rs:2:36",
            "--> syntax.rs:4:33",
            "error: unknown argument `blok` of `#[kernel]`\n --> types.rs:1:10",
            "error: `x` is `&Global<f32>`, which is only read\n --> types.rs:3:5",
            "error: expected `f32`, found an integer\n --> types.rs:3:12",
            "error: `z` is not known here\n --> types.rs:4:12",
            "--> marked.rs:1:18",
            "4 errors",
        ],
    );
    // One bad file hides no other, and the worst decides.
    let mixed = folder.run(&["check", "missing.rs", "types.rs", "ok.rs"]);
    assert_eq!(mixed.code, Some(2));
    assert!(mixed.err.contains("types.rs:4:12") && mixed.out.contains("ok.rs: 1 kernel without errors"), "{}{}", mixed.out, mixed.err);
    folder.run(&["emit", "types.rs"]).refuses(1, &["unknown argument `blok`", "which is only read", "`z` is not known here", "4 errors"]);
    // One kernel is wrong: nothing of the others is printed.
    let half = [SAXPY, b"#[kernel] fn bad(y: &mut Global<f32>) { y[0] = z; }"].concat();
    let folder = Folder::new("half", &[("half.rs", &half)]);
    folder.run(&["emit", "half.rs"]).refuses(1, &["`z` is not known here"]);
}

#[test]
fn hostile_source_ends_in_an_error() {
    let deep = format!("#[kernel] fn a(y: &mut Global<f32>) {{ y[0] = {}1.0{}; }}", "(".repeat(100_000), ")".repeat(100_000));
    let folder = Folder::new("deep", &[("deep.rs", deep.as_bytes())]);
    folder.run(&["check", "deep.rs"]).refuses(1, &["this nests too deep: at most 128 brackets", "deep.rs:1:"]);
}

#[test]
fn what_siblings_define() {
    let helpers = b"use warpwright::prelude::*;
#[device]
pub fn twice(a: f32) -> f32 { a + crate::deeper::inner::ONE * a }
#[device]
pub fn wrong(a: f32) -> f32 { a + unheard_of }
";
    let deeper = b"pub mod inner { pub const ONE: f32 = 1.0; }";
    let main = b"mod helpers; mod deeper;
use warpwright::prelude::*;
use crate::helpers::twice;
#[kernel] pub fn good(y: &mut Global<f32>) { y[0] = twice(y[1]) + helpers::twice(y[2]); }
#[kernel] pub fn bad(y: &mut Global<f32>) { y[0] = helpers::wrong(y[1]); }
use other_crate::thing;
#[kernel] pub fn foreign(y: &mut Global<f32>) { y[0] = thing(y[1]); }
";
    let folder = Folder::new("siblings", &[("main.rs", main), ("helpers.rs", helpers), ("deeper.rs", deeper)]);
    folder.run(&["emit", "main.rs::good", "--format", "ir"]).prints("kernel \"good\"");
    folder.run(&["check", "main.rs::bad"]).refuses(1, &["`unheard_of` is not known here\n --> helpers.rs:5:35"]);
    let foreign = "`thing` comes from the crate `other_crate`";
    folder.run(&["emit", "main.rs::foreign"]).refuses(1, &["the function `thing` is not known to the kernel", foreign]);
    let checked = folder.run(&["check", "main.rs::foreign"]);
    assert!(checked.code == Some(0) && checked.out.contains("foreign (not checked)"), "{}{}", checked.out, checked.err);
    assert!(
        checked.err.contains(&format!("warning[unchecked]: this kernel is not checked: {foreign}\n --> main.rs:7:56")),
        "{}",
        checked.err
    );
}

#[test]
fn every_kernel_of_the_library_in_every_format() {
    let folder = Folder::new("formats", &[]);
    let kernels = root().join("kernels/src");
    let older = ["aat", "dot", "histogram", "life", "mandelbrot", "matmul", "saxpy", "stencil"];
    let families = ["ab", "access", "copy", "functions", "reduce", "shortcut", "throughput", "transpose"];
    for name in older.into_iter().chain(families) {
        let file = kernels.join(format!("{name}.rs"));
        let file = file.to_str().expect("a path in UTF-8");
        for (arguments, text) in [
            (&["--format", "ptx", "--target", "sm_90"] as &[&str], ".target sm_90"),
            (&["--format", "opencl"], "__kernel"),
            (&["--format", "ir"], " legal\n"),
            (&["--format", "rust"], "fn "),
            (&["--after", "built"], " built\n"),
            (&["--after", "scheduled"], " scheduled\n"),
            (&["--after", "cse.2"], "kernel \""),
        ] {
            let emitted = folder.run(&[&["emit", file], arguments].concat());
            assert!(emitted.code == Some(0) && emitted.out.contains(text), "{}", emitted.err);
            // Of variants the first is printed, and that is said.
            assert!(emitted.err.lines().all(|line| line.starts_with("note: `") && line.contains("` is printed as ")), "{}", emitted.err);
        }
        let timed = folder.run(&["emit", file, "--timings"]);
        assert!(timed.code == Some(0) && timed.err.contains("total"), "{}", timed.err);
    }
}

#[test]
fn findings_are_shown_by_whatever_path_a_file_is_named() {
    let slow = b"#[kernel(block = 64)] fn a(w: &Constant<[f32; 64]>, y: &mut Global<f32>) { y[global_id().x] = w[thread_idx().x]; }";
    let folder = Folder::new("paths", &[("slow.rs", slow)]);
    std::fs::create_dir(folder.0.join("other")).expect("a folder beside it");
    for path in ["slow.rs", "./slow.rs", "other/../slow.rs"] {
        let checked = folder.run(&["check", path]);
        assert_eq!(checked.code, Some(0), "{path}: {}", checked.err);
        assert!(checked.err.contains("warning[constant_divergence]") && checked.err.contains("slow.rs:1:"), "{path}: {}", checked.err);
    }
}

#[test]
fn nothing_is_found_in_the_library() {
    let folder = Folder::new("library", &[]);
    let files = warpwright_tests::corpus::library().into_iter();
    let files: Vec<String> = files.map(|path| path.to_str().expect("a path in UTF-8").to_owned()).collect();
    let checked = folder.run(&[&["check"], &files.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
    // Kernels that are bad on purpose say which findings they know of.
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""), "{}", checked.out);
    assert!(checked.out.lines().count() >= 15, "{}", checked.out);
}

#[test]
fn readers_that_go_away_and_disks_that_are_full() {
    let folder = Folder::new("pipes", &[("ok.rs", SAXPY), ("bad.rs", b"#[kernel] fn a(y: &mut Global<f32>) { y[0] = z; }")]);
    for (file, code) in [("ok.rs", 0), ("bad.rs", 1)] {
        let mut command = Command::new(binary());
        command.args(["emit", file]).current_dir(&folder.0).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command runs");
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().expect("the command ends").code(), Some(code), "{file}");
    }
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        println!("skipped: disks that are full (no /dev/full)");
        return;
    };
    let mut command = Command::new(binary());
    let mut child = command.args(["emit", "ok.rs"]).current_dir(&folder.0).stdout(full).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert_eq!(child.wait().expect("the command ends").code(), Some(2));
    assert!(said.starts_with("error: the output cannot be written"), "{said}");
}

#[test]
fn help_and_devices() {
    let folder = Folder::new("help", &[]);
    folder.run(&["--help"]).prints("Print what a kernel compiles to");
    folder.run(&["emit", "--help"]).prints("warpwright emit src/main.rs::copy -D B=256 -D ILP=4 --target sm_80");
    folder.run(&["check", "--help"]).prints("warpwright check src/*.rs");
    folder.run(&["emti"]).refuses(2, &["unrecognized subcommand 'emti'", "a similar subcommand exists: 'emit'"]);
    let devices = folder.run(&["devices"]);
    assert!(devices.code == Some(0) && devices.out.contains("simulator") && devices.out.contains("host"), "{}", devices.out);
}

/// An assembler that is there and fails is said to; what is estimated stands.
#[cfg(unix)]
#[test]
fn an_assembler_that_fails() {
    use std::os::unix::fs::PermissionsExt;
    const SCRIPT: &[u8] = b"#!/bin/sh
case \"$1\" in
    --version) echo 'release 99.1, V99.1.0' ;;
    --help) echo \"'sm_80','sm_90'\" ;;
    *) cat > /dev/null; echo 'out of luck' >&2; exit 3 ;;
esac
";
    let folder = Folder::new("ptxas", &[("ok.rs", SAXPY), ("ptxas", SCRIPT)]);
    let script = folder.0.join("ptxas");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("the script can be run");
    let check = |assembler: &Path| {
        let mut command = Command::new(binary());
        command.args(["check", "ok.rs", "--targets", "sm_80,sm_90"]).current_dir(&folder.0).env("WARPWRIGHT_PTXAS", assembler);
        let output = command.output().expect("the command runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, out, err) = check(&script);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("note: ptxas 99.1 is of a release that its figures were never compared with"), "{err}");
    assert_eq!(err.matches("out of luck").count(), 2, "once for each target: {err}");
    assert!(out.contains("sm_90") && out.contains("100 %"), "the estimate stands: {out}");
    let (code, _, err) = check(Path::new("/bin/false"));
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("note: registers are estimated only: `/bin/false` does not say which release"), "{err}");
}
