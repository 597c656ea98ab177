//! The host twin: `rustc` on the same text, through the macro, many kernels to a program.

use super::{Output, digest};
use crate::source::{Form, Kernel, Parameter, Passed, Scalar, USES, batch_len};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What makes contents of buffers, in the program as here.
const CONTENTS: &str = include_str!("../source/contents.rs");

/// What runs the kernels: prints for each a number for what its buffers hold, or why it did not end.
const MAIN: &str = r#"
/// # Safety
/// The bytes are those of values of `T`.
pub unsafe fn values<T>(bytes: &[u8]) -> Vec<T> {
    let len = bytes.len() / size_of::<T>();
    assert_eq!(len * size_of::<T>(), bytes.len(), "another size than rustc's");
    let mut values = Vec::with_capacity(len);
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), values.as_mut_ptr() as *mut u8, bytes.len());
        values.set_len(len);
    }
    values
}

pub fn digest(buffers: &[Vec<u8>]) -> u64 {
    buffers.iter().flatten().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn main() {
    let device = warpwright::Device::host();
    let whole = std::env::args().nth(1).is_some_and(|word| word == "whole");
    for (name, run) in ALL {
        match run(&device) {
            Ok(buffers) if whole => {
                let hex: Vec<String> = buffers.iter().map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect()).collect();
                println!("{name} whole {}", hex.join(","));
            }
            Ok(buffers) => println!("{name} {:x}", digest(&buffers)),
            Err(error) => println!("{name} fault {}", error.to_string().replace('\n', " ")),
        }
    }
}
"#;

/// What a twin says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A number for the buffers: [`digest`].
    Digest(u64),
    /// All of them.
    Whole(Output),
    /// Why it did not end.
    Fault(String),
}

/// What has cargo build the library `warpwright` and the command as the test command builds them: with other packages or features, all of the compiler would be built once more.
/// (A test of the root package brings the command with it.)
pub const WORKSPACE_BUILD: [&str; 8] =
    ["test", "--workspace", "--exclude", "warpwright-candle", "--features", "cli", "--no-run", "--test=command_runs"];

/// Where the twins' crates find the compiler's libraries.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The library `warpwright`.
    library: PathBuf,
    /// The folder with all that it depends on.
    dependencies: PathBuf,
    /// Where programs are put.
    work: PathBuf,
}

impl Toolchain {
    /// Builds the library from the workspace at `root`.
    ///
    /// # Errors
    /// There is no cargo, or the library does not build.
    pub fn of_workspace(root: &Path, work: &Path) -> Result<Toolchain, String> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        if cfg!(debug_assertions) {
            command.args(WORKSPACE_BUILD);
        } else {
            // The macro takes most of the time: as fast as this program. Cargo does not optimise macros by itself, whatever the profile.
            command
                .args(["build", "--package", "warpwright", "--lib", "--release"])
                .env("CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_OPT_LEVEL", "3");
        }
        command.args(["--offline", "--quiet", "--message-format=json"]).current_dir(root);
        let output = command.output().map_err(|error| format!("cargo does not run: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let library = text
            .split('"')
            .rfind(|word| word.ends_with(".rlib") && word.contains("libwarpwright-") || word.ends_with("/libwarpwright.rlib"));
        let library = library.ok_or_else(|| format!("cargo builds no library: {}", String::from_utf8_lossy(&output.stderr)))?;
        let library = PathBuf::from(library);
        let folder = library.parent().unwrap_or(root);
        let dependencies = if folder.ends_with("deps") { folder.to_owned() } else { folder.join("deps") };
        std::fs::create_dir_all(work).map_err(|error| error.to_string())?;
        // The macro looks for a manifest: findings of lints are not what is asked for here.
        let manifest = "[package]\nname = \"twins\"\n[package.metadata.warpwright]\nfindings = \"off\"\ntargets = [\"sm_90\"]\n";
        std::fs::write(work.join("Cargo.toml"), manifest).map_err(|error| error.to_string())?;
        Ok(Toolchain { library, dependencies, work: work.to_owned() })
    }

    /// Builds a program of these kernels, and runs it. What it says, in their order.
    ///
    /// # Errors
    /// `rustc` refuses the program, or the program dies.
    pub fn run(&self, name: &str, kernels: &[&Kernel], form: Form, is_whole: bool) -> Result<Vec<Said>, String> {
        let source = self.work.join(format!("{name}.rs"));
        let program = self.work.join(name);
        std::fs::write(&source, text(kernels, form)).map_err(|error| error.to_string())?;
        let mut rustc = Command::new("rustc");
        rustc.args([
            "--edition",
            "2024",
            "--crate-type",
            "bin",
            "-A",
            "warnings",
            "-A",
            "arithmetic_overflow",
            "-A",
            "unconditional_panic",
        ]);
        rustc.args(["-C", "debuginfo=0", "-C", "opt-level=0", "-C", "debug-assertions=off", "-C", "overflow-checks=off"]);
        // A panic ends the program, and so halves of it are asked: without landing pads it builds in a sixth less time.
        rustc.args(["-C", "codegen-units=8", "-C", "panic=abort", "-o"]).arg(&program).arg(&source);
        rustc.arg("--extern").arg(format!("warpwright={}", self.library.display()));
        rustc.arg("-L").arg(format!("dependency={}", self.dependencies.display()));
        rustc.env("CARGO_MANIFEST_DIR", &self.work).env("CARGO_PKG_NAME", "twins");
        let built = rustc.output().map_err(|error| format!("rustc does not run: {error}"))?;
        if !built.status.success() {
            return Err(format!("rustc refuses {}:\n{}", source.display(), String::from_utf8_lossy(&built.stderr)));
        }
        let mut run = Command::new(&program);
        if is_whole {
            run.arg("whole");
        }
        let ran = run.output().map_err(|error| error.to_string())?;
        // Thousands of programs would fill the disk; the source of one that dies stays.
        let _ = std::fs::remove_file(&program);
        // Kernels print lines that begin with `~`.
        let said: Vec<Said> = String::from_utf8_lossy(&ran.stdout).lines().filter(|line| !line.starts_with('~')).map(read).collect();
        if said.len() != kernels.len() {
            let stderr = String::from_utf8_lossy(&ran.stderr);
            return Err(format!("the program of twins ends after {} of {} kernels: {}\n{stderr}", said.len(), kernels.len(), ran.status));
        }
        let _ = std::fs::remove_file(&source);
        Ok(said)
    }
}

fn read(line: &str) -> Said {
    let mut words = line.splitn(3, ' ').skip(1);
    let bytes = |hex: &str| (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap_or(0)).collect::<Vec<u8>>();
    match (words.next(), words.next()) {
        (Some("fault"), rest) => Said::Fault(rest.unwrap_or_default().to_owned()),
        (Some("whole"), rest) => Said::Whole(rest.unwrap_or_default().split(',').map(bytes).collect()),
        (Some(hex), _) => u64::from_str_radix(hex, 16).map_or_else(|error| Said::Fault(error.to_string()), Said::Digest),
        (None, _) => Said::Fault("nothing".to_owned()),
    }
}

impl Said {
    /// Whether it is this output.
    pub fn is(&self, output: &Output) -> bool {
        match self {
            Said::Digest(number) => *number == digest(output),
            Said::Whole(whole) => whole == output,
            Said::Fault(_) => false,
        }
    }
}

/// The program.
fn text(kernels: &[&Kernel], form: Form) -> String {
    let mut text = String::from("#![allow(warnings, arithmetic_overflow, unconditional_panic)]\n");
    text += &CONTENTS.lines().filter(|line| !line.starts_with("//!")).collect::<Vec<_>>().join("\n");
    text += MAIN;
    // Writing to a string does not fail.
    let _ = writeln!(text, "type Run = fn(&warpwright::Device) -> warpwright::Result<Vec<Vec<u8>>>;\nconst ALL: &[(&str, Run)] = &[");
    (0..kernels.len()).for_each(|at| {
        let _ = writeln!(text, "    (\"k{at}\", k{at}::run),");
    });
    text += "];\n";
    for (at, kernel) in kernels.iter().enumerate() {
        let _ = writeln!(text, "mod k{at} {{\n{USES}{}{}}}", kernel.print(form), launch(kernel));
    }
    text
}

/// The host's side of a kernel. Its names have an underscore at the end: none of the kernel's has.
fn launch(kernel: &Kernel) -> String {
    let mut text = String::from("pub fn run(d_: &warpwright::Device) -> warpwright::Result<Vec<Vec<u8>>> {\n");
    let path = if kernel.in_module { "inner::" } else { "" };
    let (mut arguments, mut fields, mut written) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    for (at, parameter) in kernel.parameters.iter().enumerate() {
        let buffer = format!("b{at}_");
        let argument = argument(parameter, &buffer, path, &mut text);
        if parameter.is_written() {
            // Bytes, of structs too: those that are written have no padding.
            let bytes = if matches!(parameter.passed, Passed::Elements { .. }) { ".view::<u8>()?" } else { "" };
            // Those of the group come last, as everywhere.
            written[usize::from(parameter.in_group)].push(format!("{buffer}{bytes}.download()?"));
        }
        if parameter.in_group { fields.push(format!("{}: {argument}", parameter.name)) } else { arguments.push(argument) }
    }
    if !fields.is_empty() {
        arguments.push(format!("{path}InputsBuffers {{ {} }}", fields.join(", ")));
    }
    let each: u32 = kernel.elements;
    let [x, y, z] = kernel.grid;
    let geometry = if each > 1 { format!(".cover({})", kernel.threads()) } else { format!(".grid(({x}, {y}, {z}))") };
    let [x, y, z] = kernel.block;
    let block = if kernel.has_free_block { format!(".block(({x}, {y}, {z}))") } else { String::new() };
    let shared = if kernel.shared_bytes > 0 { format!(".shared_bytes({})", kernel.shared_bytes) } else { String::new() };
    let values: Vec<String> = kernel.generics.iter().map(|generic| generic.value()).collect();
    let generics = if values.is_empty() { String::new() } else { format!("::<{}>", values.join(", ")) };
    let _ = writeln!(
        text,
        "    {}{generics}({}){geometry}{block}{shared}.launch(d_)?;\n    Ok(vec![{}])\n}}",
        kernel.path(),
        arguments.join(", "),
        written.concat().join(", ")
    );
    text
}

fn argument(parameter: &Parameter, buffer: &str, path: &str, text: &mut String) -> String {
    let scalar = parameter.scalar.name();
    let element = if parameter.each == 1 { scalar.to_owned() } else { format!("[{scalar}; {}]", parameter.each) };
    let seed = parameter.seed;
    let upload = |text: &mut String, bytes: &str, mutable: &str| {
        let _ = writeln!(text, "    let {mutable}{buffer} = d_.upload(&{bytes})?;");
    };
    let filled = |len: usize| format!("crate::contents({seed}, {scalar:?}, {len})");
    match &parameter.passed {
        Passed::Value(bits) => value(parameter.scalar, *bits),
        Passed::Whole(layout) => format!("{}[0]", layout.values(seed, 1, path)),
        Passed::Constants { layout, len } => {
            let _ = writeln!(text, "    let {buffer} = d_.constant_from_slice(&{})?;", layout.values(seed, *len, path));
            format!("&{buffer}")
        }
        Passed::Elements { layout, len, is_written } => {
            let mutable = if *is_written { "mut " } else { "" };
            upload(text, &layout.values(seed, *len, path), mutable);
            format!("&{mutable}{buffer}")
        }
        Passed::Global { len, is_written, is_zero } => {
            let bytes = if *is_zero { format!("vec![0u8; {}]", len * parameter.scalar.bytes()) } else { filled(*len) };
            upload(text, &bytes, if *is_written { "mut " } else { "" });
            if *is_written { format!("{buffer}.view_mut::<{element}>()?") } else { format!("{buffer}.view::<{element}>()?") }
        }
        Passed::Constant(len) => {
            upload(text, &filled(*len), "");
            let _ = writeln!(
                text,
                "    let {buffer} = d_.constant(<[{element}; {len}]>::try_from({buffer}.view::<{element}>()?.download()?).unwrap())?;"
            );
            format!("&{buffer}")
        }
        Passed::Matrix { rows, columns, pitch, is_written } => {
            upload(text, &filled(rows * pitch), if *is_written { "mut " } else { "" });
            let (make, view) = if *is_written { ("matrix_mut", "view_mut") } else { ("matrix", "view") };
            format!("d_.{make}({buffer}.{view}::<{element}>()?, {rows}, {columns})?.pitch({pitch})?")
        }
        Passed::Texture { width, height, has_border, is_normalized } => {
            upload(text, &filled(width * height * parameter.each), "");
            let addressing = if *has_border { "Border" } else { "Clamp" };
            let _ = writeln!(
                text,
                "    let sampling_ = warpwright::Sampling {{ addressing: warpwright::Addressing::{addressing}, normalized: {is_normalized}, ..Default::default() }};\n    let {buffer} = d_.texture(({width}, {height}), &{buffer}.view::<{element}>()?.download()?, sampling_)?;"
            );
            format!("&{buffer}")
        }
        Passed::Batch { extents, is_written } => {
            upload(text, &filled(batch_len(*extents)), if *is_written { "mut " } else { "" });
            let (make, view) = if *is_written { ("matrix_mut", "view_mut") } else { ("matrix", "view") };
            let [rows, columns, pitch, count, stride] = extents;
            format!("d_.{make}({buffer}.{view}::<{element}>()?, {rows}, {columns})?.pitch({pitch})?.batch({count}, {stride})?")
        }
    }
}

/// A value of these bits as source.
fn value(scalar: Scalar, bits: u64) -> String {
    let name = scalar.name();
    match scalar {
        Scalar::Bool => (bits & 1 == 1).to_string(),
        _ if scalar.is_float() => {
            let bits = if scalar.bytes() == 8 { bits } else { bits & ((1 << scalar.bits()) - 1) };
            format!("{name}::from_bits({bits})")
        }
        _ => format!("{bits}u64 as {name}"),
    }
}
