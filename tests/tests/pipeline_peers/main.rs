//! Patterns that went wrong in pipelined loops of other tile languages and libraries, by the numbers of their trackers. Here each gives what Rust gives, for all counts of
//! iterations on all devices, or is refused where it is written.
//!
//! One waits for what it is about: fragments of matrices whose layout the program must know (CubeCL 799).

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

mod conditions;
mod counts;
mod filled;
mod maps;
mod overwritten;
mod several;
mod threads;

use warpwright_codegen::diagnostic::Diagnostic;
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::Instance;
use warpwright_tests::emitted::ptx;

/// Numbers that sums of a few hundred hold exactly.
fn numbers(len: usize, salt: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7919 + salt * 131 + 7) % 61) as f32 - 30.0).collect()
}

/// `x[i]`, zero beyond its end.
fn at(x: &[f32], i: usize) -> f32 {
    x.get(i).copied().unwrap_or(0.0)
}

/// The PTX of a kernel of a file for sm_90, where the copy engine makes the copies of `load_run`.
fn text(file: &str, kernel: &str, generics: &[&str]) -> String {
    let name = |end| format!("\nfn {kernel}{end}");
    let found = file.find(&name('<')).or_else(|| file.find(&name('(')));
    let start = found.and_then(|at| file[..at].rfind("#[kernel(")).expect("a kernel of this file");
    let end = file[start..].find("\n}\n").expect("its end");
    ptx(&file[start..start + end + 3], kernel, generics, "sm_90").unwrap_or_else(|error| panic!("{error}")).to_string()
}

/// What the compiler says to a body of a kernel with two shared arrays: the message, the lines that it points at behind the annotation, and the edit.
fn refusal(body: &str) -> String {
    let head = "#[kernel(block = 64)]\nfn refused(n: usize, flag: bool, x: &Global<f32>, w: &Global<f32>, y: &mut Global<f32>) {\n";
    let arrays = "#[shared]\nlet mut tile: [f32; 64];\n#[shared]\nlet mut kept: [f32; 64];\nlet t = thread_idx().x;\nlet mut sum = 0.0;\n";
    let source = format!("{head}{arrays}{body}\ny[t] = sum + kept[t];\n}}\n");
    let Err(found) = compile_text("kernel.rs", &source, "refused", &Instance::default()) else { panic!("nothing is refused of\n{body}") };
    let line = |n: usize| source.lines().nth(n - 1).unwrap_or_default().trim();
    let one = |finding: &Diagnostic| {
        let labels: String = finding.labels.iter().map(|(span, label)| format!(" | {}: {label}", line(span.start().line))).collect();
        format!("{}{labels} | {}", finding.message, finding.help.as_deref().unwrap_or("no edit"))
    };
    found.iter().map(one).collect::<Vec<String>>().join("\n")
}
