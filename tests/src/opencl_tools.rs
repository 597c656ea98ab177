//! OpenCL C handed to real tools: PoCL, which compiles and runs it on the CPU, Oclgrind, which runs it and watches every access, and Intel's
//! driver for CPUs, which has sub-groups: it gets the form for them, where a kernel has one.
//!
//! All run in a child process with a time limit (`bin/opencl_child.rs`). A compiler's warning is an
//! error of the job, and so is anything Oclgrind says. What a missing tool skipped is printed, one line each.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A kernel to build and, if it has an entry, to run.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// What failures call it.
    pub name: String,
    /// OpenCL C.
    pub text: String,
    /// Options for the compiler.
    pub options: String,
    /// Those that choose the form for sub-groups, where there is one (`Emitted::sub_group_options`).
    pub sub_group_options: Option<String>,
    /// The kernel; empty: only build.
    pub entry: String,
    /// Threads in all, x, y, z.
    pub global: [usize; 3],
    /// Threads of a block.
    pub local: [usize; 3],
    /// The arguments in order.
    pub arguments: Vec<Argument>,
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum Argument {
    /// By value: its bytes.
    Value(Vec<u8>),
    /// A buffer with this content; what it holds afterwards is part of the outcome.
    Buffer(Vec<u8>),
    /// Local memory of this many bytes.
    Local(usize),
}

/// What came of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What the compiler said: warnings.
    pub warnings: String,
    /// Why the job failed, and what Oclgrind found. Empty: all is well.
    pub complaints: String,
    /// The buffers' contents after the run, in the order of the arguments.
    pub buffers: Vec<Vec<u8>>,
}

impl Outcome {
    /// Warnings and complaints together.
    pub fn all_complaints(&self) -> String {
        format!("{}{}", self.warnings, self.complaints)
    }
}

/// What runs the jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The system's first OpenCL device, PoCL where the tests set up.
    Pocl,
    /// Oclgrind, with its detectors of data races and uninitialised memory.
    Oclgrind,
    /// Intel's driver for CPUs, the library that `WARPWRIGHT_INTEL_OPENCL` names.
    Intel,
}

/// Names the library of Intel's OpenCL driver for CPUs, `libintelocl.so`.
pub const INTEL: &str = "WARPWRIGHT_INTEL_OPENCL";

/// What the loader of OpenCL takes for its platforms: a folder of them or one library.
const PLATFORMS: &str = "OCL_ICD_VENDORS";

/// The language version that Intel's driver has sub-groups in.
pub const INTEL_STANDARD: &str = "-cl-std=CL3.0";

impl Tool {
    /// All.
    pub const ALL: [Tool; 3] = [Tool::Pocl, Tool::Oclgrind, Tool::Intel];

    /// Those that compile and run kernels as any device does.
    pub const DEVICES: [Tool; 2] = [Tool::Pocl, Tool::Intel];

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Pocl => "PoCL",
            Tool::Oclgrind => "Oclgrind",
            Tool::Intel => "Intel OpenCL",
        }
    }
}

/// Longest that a batch of jobs may take: a divergent barrier hangs a CPU device.
const TIME_LIMIT: Duration = Duration::from_secs(240);

/// The same of a test that runs once more: a whole table of kernels.
const TEST_TIME_LIMIT: Duration = Duration::from_secs(900);

/// How often Intel's driver may crash in a batch of jobs: now and then, whatever the kernel.
const MOST_CRASHES: u32 = 8;

/// Runs jobs on a tool; outcomes in their order. `child` is the child's path as Cargo tells integration tests
/// (`env!("CARGO_BIN_EXE_opencl-child")`). `None` if the tool is absent, which is printed under the name `test`.
///
/// # Panics
///
/// If the child cannot be run, or does not end in time.
pub fn run(test: &str, child: &str, tool: Tool, jobs: &[Job]) -> Option<Vec<Outcome>> {
    if tool == Tool::Oclgrind && !is_in_path("oclgrind") {
        println!("skipped: {test} (no Oclgrind)");
        return None;
    }
    let intel = std::env::var_os(INTEL);
    if tool == Tool::Intel && intel.is_none() {
        println!("skipped: {test} (no {})", tool.name());
        return None;
    }
    let folder = scratch_folder();
    let job_file = folder.join("jobs");
    let log_file = folder.join("log");
    let command = || match tool {
        Tool::Pocl => Command::new(child),
        Tool::Oclgrind => {
            let mut command = Command::new("oclgrind");
            command.args(["--data-races", "--uninitialized", "--max-errors", "20", "--log"]).arg(&log_file).arg(child);
            command
        }
        Tool::Intel => {
            let mut command = Command::new(child);
            command.envs(intel.clone().map(|library| (PLATFORMS, library)));
            command
        }
    };
    let mut outcomes: Vec<Outcome> = Vec::new();
    let (mut crashes, mut at_one) = (0, 0);
    let status = loop {
        let left = &jobs[outcomes.len()..];
        std::fs::write(&job_file, left.iter().map(|job| job_text(job, tool)).collect::<String>()).expect("the jobs can be written");
        let mut command = command();
        command.arg(&job_file).stdin(Stdio::null());
        let (status, answer) = output(command, &format!("{test} on {}", tool.name()), TIME_LIMIT);
        if status == Some(3) {
            println!("skipped: {test} (no {})", tool.name());
            return None;
        }
        let before = outcomes.len();
        outcomes.extend(self::outcomes(&answer));
        // The rest is asked again; a kernel at which it crashes three times in a row is what makes it crash.
        let has_crashed = tool == Tool::Intel && status.is_none() && outcomes.len() < jobs.len();
        at_one = if outcomes.len() > before { 1 } else { at_one + 1 };
        crashes += 1;
        if !has_crashed || at_one == 3 || crashes > MOST_CRASHES {
            break status;
        }
        println!("note: {test}: {} crashed behind {} kernels, and is asked the rest again", tool.name(), outcomes.len());
    };
    if tool == Tool::Intel {
        outcomes.iter_mut().for_each(|outcome| outcome.warnings = diagnostics(&outcome.warnings));
    }
    let log = std::fs::read_to_string(&log_file).unwrap_or_default();
    if let (Some(first), false) = (outcomes.first_mut(), log.trim().is_empty()) {
        // The log is of the whole process; it names kernels.
        first.complaints.push_str(&log);
    }
    // Left behind only where something went wrong above.
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!(outcomes.len(), jobs.len(), "{test} on {}: the child ended early, with status {status:?}", tool.name());
    println!("ran: {test} ({} kernels on {})", jobs.len(), tool.name());
    Some(outcomes)
}

/// What Intel's log says about the source: the rest of it tells how the build went.
fn diagnostics(log: &str) -> String {
    let said = log.lines().skip_while(|line| !line.contains("Compilation started")).skip(1).take_while(|line| *line != "Compilation done");
    said.map(|line| format!("{line}\n")).collect()
}

/// Runs a test of this program once more, on Intel's driver for CPUs instead of the system's devices, with variables set. Gives what it printed; `None` if the driver is
/// absent, which is printed under the name `test`.
///
/// # Panics
///
/// If the test fails there, or does not end in time.
pub fn again_on_intel(test: &str, name: &str, variables: &[(&str, &str)]) -> Option<String> {
    let Some(library) = std::env::var_os(INTEL) else {
        println!("skipped: {test} (no {})", Tool::Intel.name());
        return None;
    };
    let mut command = Command::new(std::env::current_exe().expect("a program has a path"));
    // Without its optimiser its sub-groups are not the warps.
    command.env_remove("WARPWRIGHT_OPENCL_OPTIONS");
    command.args(["--exact", name, "--nocapture"]).env(PLATFORMS, library).envs(variables.iter().copied()).stdin(Stdio::null());
    let (status, answer) = output(command, &format!("{test} on {}", Tool::Intel.name()), TEST_TIME_LIMIT);
    assert_eq!(status, Some(0), "{test} on {}:\n{answer}", Tool::Intel.name());
    // The device is named after the processor; who reads which judges there were wants to know whose driver it was. What else there is ran before.
    let ran = answer.lines().filter_map(|line| line.strip_prefix("ran: ")).filter_map(|line| line.rsplit_once(" on "));
    let ran = ran.filter(|(_, device)| !["Simulator)", "Host twin)"].contains(device));
    ran.for_each(|(line, _)| println!("ran: {line} on {})", Tool::Intel.name()));
    Some(answer)
}

/// Runs jobs on all tools and fails on any complaint.
///
/// # Panics
///
/// With every complaint.
pub fn expect_no_complaints(test: &str, child: &str, jobs: &[Job]) {
    for tool in Tool::ALL {
        let Some(outcomes) = run(test, child, tool, jobs) else { continue };
        let complaints: String = jobs
            .iter()
            .zip(&outcomes)
            .filter(|(_, outcome)| !outcome.all_complaints().is_empty())
            .map(|(job, outcome)| format!("--- {} on {}:\n{}\n{}\n", job.name, tool.name(), outcome.all_complaints(), job.text))
            .collect();
        assert!(complaints.is_empty(), "{test}:\n{complaints}");
    }
}

/// Runs a program that uses OpenCL inside Oclgrind, with a variable set, watching for bad accesses and data races; gives what it
/// printed and what Oclgrind says. (Not for uninitialised memory: Oclgrind does not count `clEnqueueFillBuffer` as writing.) `None`
/// if Oclgrind is absent, which is printed under the name `test`.
///
/// # Panics
///
/// If the program cannot be run, or does not end in time.
pub fn watch(test: &str, program: &Path, arguments: &[&str], variable: (&str, &str)) -> Option<(String, String)> {
    if !is_in_path("oclgrind") {
        println!("skipped: {test} (no Oclgrind)");
        return None;
    }
    let folder = scratch_folder();
    let log_file = folder.join("log");
    let mut command = Command::new("oclgrind");
    command.args(["--data-races", "--max-errors", "20", "--log"]).arg(&log_file).arg(program).args(arguments);
    command.env(variable.0, variable.1).stdin(Stdio::null());
    let (_, answer) = output(command, test, TIME_LIMIT);
    let log = std::fs::read_to_string(&log_file).unwrap_or_default();
    // Left behind only where something went wrong above.
    let _ = std::fs::remove_dir_all(&folder);
    Some((answer, log))
}

fn is_in_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// A folder of this process's own, one for each call.
fn scratch_folder() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("warpwright-opencl-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
    folder
}

fn job_text(job: &Job, tool: Tool) -> String {
    // Oclgrind does not know the `freeze` that LLVM's optimiser puts before a division, and watches best what is as written.
    let more = if tool == Tool::Oclgrind { " -cl-opt-disable" } else { "" };
    let [gx, gy, gz] = job.global;
    let [lx, ly, lz] = job.local;
    // Intel's sub-groups are rows of a block.
    let has_warps = tool == Tool::Intel && (lx % 32 == 0 || ly * lz <= 1);
    let options = job.sub_group_options.as_ref().filter(|_| has_warps).unwrap_or(&job.options);
    let mut text = format!("job\ntext {}\noptions {options}{more}\nentry {}\n", hex(job.text.as_bytes()), job.entry);
    text.push_str(&format!("range {gx} {gy} {gz} {lx} {ly} {lz}\n"));
    for argument in &job.arguments {
        text.push_str(&match argument {
            Argument::Value(bytes) => format!("value {}\n", hex(bytes)),
            Argument::Buffer(bytes) => format!("buffer {}\n", hex(bytes)),
            Argument::Local(size) => format!("local {size}\n"),
        });
    }
    text.push_str("run\n");
    text
}

/// Exit status (none: killed by a signal) and standard output.
pub(crate) fn output(mut command: Command, what: &str, limit: Duration) -> (Option<i32>, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the child can be started");
    let mut stdout = child.stdout.take().expect("standard output is piped");
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        // What arrived before an error is still the answer.
        let _ = stdout.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the child can be waited for") {
            return (status.code(), reader.join().expect("the reader does not panic"));
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{what}: not done after {} s", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn outcomes(answer: &str) -> Vec<Outcome> {
    let mut all = Vec::new();
    let mut outcome = Outcome::default();
    for line in answer.lines() {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("log", text) => outcome.warnings.push_str(&String::from_utf8_lossy(&bytes(text))),
            ("error", text) => outcome.complaints.push_str(&format!("{}\n", String::from_utf8_lossy(&bytes(text)))),
            ("buffer", content) => outcome.buffers.push(bytes(content)),
            ("end", _) => all.push(std::mem::take(&mut outcome)),
            // Output of the kernel's own `printf`.
            _ => {}
        }
    }
    all
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).filter_map(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).ok()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
