//! The generated kernels in a crate of their own, through the macro: the host twin, which `rustc` compiles, computes what the simulator does.
//!
//! `WARPWRIGHT_TWIN_KERNELS` asks for more of them, [`BATCH`] to a crate.

use super::generate::Generator;
use super::run::{Inputs, Made, make};
use super::text::Form;
use super::variable;
use std::fmt::Write;
use std::path::Path;
use warpwright_tests::command::{outside_cargo, outside_target};
use warpwright_tests::random::Random;

/// Kernels of a crate: so many that its build is mostly theirs, so few that it fits memory.
const BATCH: usize = 100;

/// The program: each module's kernel on both devices. Zeros of both signs count as one, and every NaN as one.
const MAIN: &str = r#"#![allow(warnings)]

use warpwright::{Buffer, Device, Launch};

type Run = fn(&Inputs, &Device) -> warpwright::Result<Vec<Vec<u32>>>;

pub struct Inputs {
    grid: [u32; 2],
    values: [u32; 4],
    bytes: [&'static [u8]; 7],
}

fn words(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    words(bytes).into_iter().map(|word| f32::from_bits(word as u32)).collect()
}

fn canonical(x: f32) -> u32 {
    if x.is_nan() { f32::NAN.to_bits() } else { (x + 0.0).to_bits() }
}

macro_rules! kernels {
    ($($name:ident)*) => {
        $(mod $name;)*
        const ALL: &[(&str, fn() -> Inputs, Run)] = &[$((stringify!($name), $name::inputs, $name::run)),*];
    };
}

fn main() {
    let [host, simulator] = [Device::host(), Device::simulator()];
    let mut wrong = 0;
    for (name, inputs, run) in ALL {
        let inputs = inputs();
        let shown = |device: &Device| run(&inputs, device).map_err(|error| error.to_string());
        let (found, expected) = (shown(&host), shown(&simulator));
        if found != expected || found.is_err() {
            wrong += 1;
            let text = |result: Result<Vec<Vec<u32>>, String>| result.map_or_else(|error| error, |_| "a result".to_owned());
            println!("{name}: host {}, simulator {}", text(found), text(expected));
        }
    }
    println!("{} kernels, {wrong} differ", ALL.len());
}

"#;

/// What each module has beside its kernel.
const RUN: &str = r#"
pub fn run(inputs: &crate::Inputs, device: &warpwright::Device) -> warpwright::Result<Vec<Vec<u32>>> {
    let [x, f, b, y, z, a, c] = inputs.bytes;
    let [n, m, o, w] = inputs.values;
    let (x, f, b) = (device.upload(&crate::words(x))?, device.upload(&crate::floats(f))?, device.upload(b)?);
    let (mut y, mut z) = (device.upload(&crate::words(y))?, device.upload(&crate::floats(z))?);
    let (mut a, mut c) = (device.upload(&crate::words(a))?, device.upload(c)?);
    k(n, m, o as i32, w, &x, &f, &b, &mut y, &mut z, &mut a, &mut c).grid((inputs.grid[0], inputs.grid[1])).launch(device)?;
    let plain = |words: Vec<i32>| words.into_iter().map(|word| word as u32).collect();
    let bytes = c.download()?.into_iter().map(u32::from).collect();
    Ok(vec![plain(y.download()?), z.download()?.into_iter().map(crate::canonical).collect(), plain(a.download()?), bytes])
}
"#;

const MANIFEST: &str = r#"[package]
name = "random-twins"
edition = "2024"
publish = false

[package.metadata.warpwright]
findings = "off"

[dependencies]
warpwright = { path = "ROOT" }

# The kernels' integers wrap, as a device's do. Only here, so that the rest is the workspace's own build.
[profile.dev.package.random-twins]
overflow-checks = false
debug = false

[workspace]
"#;

/// A module: the kernel with what it can keep of its annotations, and its inputs, whose bytes stand in a file beside it.
fn module(name: &str, text: &str, each: u32, inputs: &Inputs) -> (String, Vec<u8>) {
    let bytes: Vec<u8> = inputs.buffers.iter().flat_map(|buffer| buffer.bytes.iter().copied()).collect();
    let mut code =
        format!("{text}{RUN}\npub fn inputs() -> crate::Inputs {{\n    let bytes: &'static [u8] = include_bytes!(\"{name}.bin\");\n");
    let (mut first, mut ranges) = (0, String::new());
    for buffer in &inputs.buffers {
        let end = first + buffer.bytes.len();
        // A string takes it without fail.
        let _ = write!(ranges, "&bytes[{first}..{end}], ");
        first = end;
    }
    let values: Vec<u32> = inputs.values.iter().map(|value| u32::from_le_bytes(*value)).collect();
    let grid = [inputs.grid[0] / each, inputs.grid[1]];
    let _ = write!(code, "    crate::Inputs {{ grid: {grid:?}, values: {values:?}, bytes: [{ranges}] }}\n}}\n");
    (code, bytes)
}

/// Builds a crate of the first `count` kernels from `seed` on that compile, runs it, and gives the seed after them and what it printed.
fn run_batch(seed: u64, count: usize, root: &Path) -> (u64, String) {
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random_twins");
    let src = work.join("src");
    let _ = std::fs::remove_dir_all(&src);
    std::fs::create_dir_all(&src).expect("the folder can be made");
    let (mut next, mut names) = (seed, Vec::new());
    while names.len() < count {
        let (source, inputs) = Generator::kernel(&mut Random::new(next));
        let text = source.print(Form::BestEffort);
        if let Ok(Made::Compiled(_)) = make(&text) {
            let name = format!("seed_{next}");
            let (code, bytes) = module(&name, &text, source.elements.each(), &inputs[0]);
            std::fs::write(src.join(format!("{name}.rs")), code).expect("the module can be written");
            std::fs::write(src.join(format!("{name}.bin")), bytes).expect("the inputs can be written");
            names.push(name);
        }
        next += 1;
    }
    std::fs::write(src.join("main.rs"), format!("{MAIN}kernels!({});\n", names.join(" "))).expect("the program can be written");
    std::fs::write(work.join("Cargo.toml"), MANIFEST.replace("ROOT", &root.display().to_string())).expect("the manifest can be written");
    std::fs::copy(root.join("Cargo.lock"), work.join("Cargo.lock")).expect("the workspace has a lock file");
    let output = outside_cargo(env!("CARGO_TARGET_TMPDIR"))
        .args(["run", "--offline", "--quiet", "--manifest-path"])
        .arg(work.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(outside_target(env!("CARGO_TARGET_TMPDIR")))
        .output()
        .expect("cargo runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "kernels of seeds {seed} to {next}:\n{stdout}\n{stderr}");
    (next, stdout.into_owned())
}

#[test]
fn the_host_twin_computes_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above its tests");
    let count = variable("WARPWRIGHT_TWIN_KERNELS").unwrap_or(40) as usize;
    let (mut seed, mut done, mut wrong) = (variable("WARPWRIGHT_ANNOTATION_SEED").unwrap_or(1), 0, String::new());
    while done < count {
        let batch = BATCH.min(count - done);
        let (next, printed) = run_batch(seed, batch, root);
        let is_good = printed.trim() == format!("{batch} kernels, 0 differ");
        if !is_good {
            wrong += &printed;
        }
        (seed, done) = (next, done + batch);
    }
    println!("ran: annotations_keep_results ({done} kernels on the host twin and the simulator)");
    assert!(wrong.is_empty(), "{wrong}");
}
