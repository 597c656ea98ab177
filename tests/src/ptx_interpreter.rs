//! PTX that is executed: tests run once more with the stand-in for the CUDA driver, and kernels run in the process.

use crate::opencl_tools::output;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use warpwright_codegen::backend::AbiArgument;
use warpwright_codegen::backend::ptx::code;
use warpwright_ptx_interpreter::{Fault, Launch, LoadedModule, Memory, Module};

/// Says to the stand-in which compute capability it has; to a test, that it runs on it.
const CAPABILITY: &str = "PTX_INTERPRETER_CAPABILITY";

/// Says to it how many devices it has.
const DEVICES: &str = "PTX_INTERPRETER_DEVICES";

/// Says to it that streams do nothing before somebody waits for it: then a wait between streams that is missing shows.
const STREAMS: [&str; 2] = ["PTX_INTERPRETER_STREAMS", "late"];

/// Longest that a test may take there.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Whether this program runs on the stand-in.
pub fn is_here() -> bool {
    std::env::var_os(CAPABILITY).is_some()
}

/// Whether a program can be given the stand-in in the place of the driver.
pub const IS_POSSIBLE: bool = cfg!(target_os = "linux");

/// A folder that has the stand-in under the driver's names, and under NCCL's where there are several devices: `cudarc` looks for `libcuda.so` first, which a machine with a GPU may have. Cargo has built it beside this
/// program, which depends on it.
fn folder(devices: usize) -> PathBuf {
    let program = std::env::current_exe().expect("a program has a path");
    let built = program.parent().expect("it is in a folder");
    let library = built.join("libwarpwright_ptx_driver.so");
    assert!(library.is_file(), "{} is not there", library.display());
    let (name, libraries): (_, &[&str]) = if devices == 1 {
        ("ptx-driver", &["libcuda.so.1", "libcuda.so"])
    } else {
        ("ptx-drivers", &["libcuda.so.1", "libcuda.so", "libnccl.so.2"])
    };
    let folder = built.join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    libraries.iter().for_each(|name| link(&library, &folder.join(name)));
    folder
}

#[cfg(unix)]
fn link(library: &Path, name: &Path) {
    // Another test may have been faster.
    let _ = std::os::unix::fs::symlink(library, name);
    assert!(name.is_file(), "{} is not there", name.display());
}

#[cfg(not(unix))]
fn link(_library: &Path, _name: &Path) {}

/// Puts stand-ins before the drivers that a program would find: so many GPUs of a compute capability, `8.0`; none of OpenCL. Gives the folder where they are.
///
/// # Panics
///
/// If Cargo has not built the stand-in beside this program.
pub fn put_before(command: &mut Command, capability: &str, devices: usize) -> PathBuf {
    let folder = folder(devices);
    let libraries = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let paths = std::env::join_paths([folder.clone()].into_iter().chain(std::env::split_paths(&libraries))).expect("a list of folders");
    command.env("LD_LIBRARY_PATH", paths).env(CAPABILITY, capability).env(DEVICES, devices.to_string()).env("OCL_ICD_VENDORS", &folder);
    command.env(STREAMS[0], STREAMS[1]);
    folder
}

/// Runs tests of this program once more, on the stand-in for the driver, as a GPU of a compute capability, `8.0`. Gives what they printed; `None` where it cannot
/// be. OpenCL devices, which there may be, too, are left out.
///
/// # Panics
///
/// If a test fails there, or does not end in time.
pub fn again(test: &str, names: &[&str], capability: &str) -> Option<String> {
    again_on(test, names, capability, 1)
}

fn again_on(test: &str, names: &[&str], capability: &str, devices: usize) -> Option<String> {
    if !IS_POSSIBLE {
        println!("skipped: {test} (no PTX interpreter: this is not Linux)");
        return None;
    }
    let mut command = Command::new(std::env::current_exe().expect("a program has a path"));
    command.args(["--exact", "--nocapture"]).args(names).stdin(Stdio::null());
    let folder = put_before(&mut command, capability, devices);
    let what = format!("{test} on the PTX interpreter {capability}");
    let (status, answer) = output(command, &what, TIME_LIMIT);
    assert_eq!(
        status,
        Some(0),
        "{what}: run `LD_LIBRARY_PATH={} {CAPABILITY}={capability} {DEVICES}={devices}` with it to see more\n{answer}",
        folder.display()
    );
    let all = format!("{} passed", names.len());
    assert!(answer.contains(&all), "{what}: {all}?\n{answer}");
    Some(answer)
}

/// The same, and says so.
pub fn executed(test: &str, names: &[&str], capability: &str) {
    if again(test, names, capability).is_some() {
        println!("ran: {test} ({} tests on PTX interpreter sm_{})", names.len(), capability.replace('.', ""));
    }
}

/// The same on several GPUs, which NCCL knows, too.
///
/// # Panics
///
/// As [`again`], and if a test skips something.
pub fn executed_on_several(test: &str, names: &[&str], capability: &str, devices: usize) {
    if let Some(answer) = again_on(test, names, capability, devices) {
        assert!(!answer.contains("skipped"), "{test} has {devices} GPUs, and skips something\n{answer}");
        println!("ran: {test} ({} tests on {devices} PTX interpreters sm_{})", names.len(), capability.replace('.', ""));
    }
}

/// An argument of a kernel that runs in the process.
#[derive(Clone, Debug)]
pub enum Passed {
    /// The contents of a buffer, and how many elements that is.
    Buffer(Vec<u8>, u64),
    /// A value's bytes.
    Value(Vec<u8>),
}

/// Runs a kernel in the process; gives what its buffers hold afterwards, or what stopped it.
///
/// # Panics
///
/// If the text is no PTX, or the arguments are not the kernel's.
pub fn run(module: &code::Module, text: &str, passed: &[Passed], launch: &Launch) -> Result<Vec<Vec<u8>>, Fault> {
    let mut memory = Memory::new();
    let read = Module::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let loaded: LoadedModule = read.load(&mut memory).expect("there is memory");
    let mut addresses = Vec::new();
    for one in passed {
        if let Passed::Buffer(content, _) = one {
            let address = memory.allocate(content.len() as u64).expect("there is memory");
            memory.write(address, content).expect("it is there");
            addresses.push((address, content.len() as u64));
        } else {
            addresses.push((0, 0));
        }
    }
    let entry = loaded.entry(&module.entry.name).expect("the kernel is in its module");
    let mut params = vec![0; entry.parameter_bytes()];
    for (argument, parameter) in module.abi.iter().zip(entry.parameters()) {
        let bytes = match argument {
            AbiArgument::Buffer { param } => addresses[*param].0.to_le_bytes().to_vec(),
            AbiArgument::Length { param, .. } => match &passed[*param] {
                Passed::Buffer(_, length) => length.to_le_bytes().to_vec(),
                Passed::Value(_) => panic!("a value has no length"),
            },
            AbiArgument::Value { param, .. } => match &passed[*param] {
                Passed::Value(bytes) => bytes.clone(),
                Passed::Buffer(..) => panic!("a buffer is no value"),
            },
            other => panic!("{other:?} is not passed here"),
        };
        params[parameter.offset..parameter.offset + parameter.bytes].copy_from_slice(&bytes[..parameter.bytes]);
    }
    entry.launch(launch, &mut memory, &params)?;
    let content = |(address, bytes): &(u64, u64)| memory.read(*address, *bytes).expect("it is there").to_vec();
    Ok(addresses.iter().filter(|(address, _)| *address != 0).map(content).collect())
}
