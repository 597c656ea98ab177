//! Drivers for children of the tests: the stand-in for NVIDIA's, which executes PTX on the processor, or none at all.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use warpwright_tests::command::Folder;

/// Says to this program that it is a child, and which.
const CHILD: &str = "WARPWRIGHT_ERRORS_CHILD";

/// The names of drivers, and of what takes several GPUs.
const NAMES: [&str; 6] = ["libcuda.so.1", "libcuda.so", "libOpenCL.so.1", "libOpenCL.so", "libnccl.so.2", "libnccl.so"];

/// Variables with which a program finds no driver, and the files that are in a driver's place.
pub(super) struct Without {
    pub(super) variables: Vec<(&'static str, String)>,
    _files: Folder,
}

/// No driver: files that are no libraries have the drivers' names, and are found first.
pub(super) fn without(name: &str) -> Without {
    let files = Folder::new(name, &NAMES.map(|name| (name, &b""[..])));
    let folder = files.0.display().to_string();
    Without { variables: vec![("LD_LIBRARY_PATH", folder.clone()), ("OCL_ICD_VENDORS", folder)], _files: files }
}

/// Libraries that are none of the drivers, under their names: links to the C library, which this program has, and so knows the path of.
pub(super) fn other_libraries(name: &str) -> Without {
    let files = Folder::new(name, &[]);
    let maps = std::fs::read_to_string("/proc/self/maps").expect("a program has a map of its memory");
    let library =
        maps.split_whitespace().find(|word| word.contains("/libc.so") || word.contains("/ld-musl")).expect("there is a C library");
    NAMES.iter().for_each(|name| link(Path::new(library), &files.0.join(name)));
    let folder = files.0.display().to_string();
    Without { variables: vec![("LD_LIBRARY_PATH", folder.clone()), ("OCL_ICD_VENDORS", folder)], _files: files }
}

/// The stand-in as a GPU of compute capability 9.0, and nothing else. The folder is there once a test has been run on it.
pub(super) fn with() -> Vec<(&'static str, String)> {
    let program = std::env::current_exe().expect("a program has a path");
    let folder: PathBuf = program.parent().expect("it is in a folder").join("ptx-driver");
    let folder = folder.display().to_string();
    vec![("LD_LIBRARY_PATH", folder.clone()), ("OCL_ICD_VENDORS", folder), ("PTX_INTERPRETER_CAPABILITY", "9.0".to_owned())]
}

/// The same where no NCCL is found.
pub(super) fn with_gpu_alone(none: &Without) -> Vec<(&'static str, String)> {
    let mut variables = with();
    let nothing = &none.variables[0].1;
    // The stand-in's folder comes first: what it does not have is found in the other, and is no library.
    variables[0].1 += &format!(":{nothing}");
    variables
}

/// The stand-in as the driver of a version of CUDA.
pub(super) fn of_cuda(version: &str) -> Vec<(&'static str, String)> {
    let mut variables = with();
    variables.push(("PTX_INTERPRETER_CUDA", version.to_owned()));
    variables
}

/// The names of what the stand-in has functions of.
const STANDS_FOR: [&str; 3] = ["libcuda.so.1", "libOpenCL.so.1", "libnccl.so.2"];

/// Bytes with a name of a function spoilt wherever it stands: nobody finds the function by its name then.
fn spoilt(mut library: Vec<u8>, name: &str) -> Vec<u8> {
    let wanted: Vec<u8> = [&[0], name.as_bytes(), &[0]].concat();
    let places: Vec<usize> = library.windows(wanted.len()).enumerate().filter(|(_, bytes)| *bytes == wanted).map(|(at, _)| at).collect();
    assert!(!places.is_empty(), "no function `{name}`");
    places.into_iter().for_each(|at| library[at + 1] = b'_');
    library
}

/// The stand-in for CUDA's driver, OpenCL's and NCCL, as an example asks for it: `cuInit=100` is a code that a function gives, `LACKS=cuGraphCreate` a function that is not there, another word in
/// capitals a variable.
pub(super) struct Told {
    pub(super) variables: Vec<(&'static str, String)>,
    _files: Folder,
}

#[cfg(unix)]
fn link(library: &Path, name: &Path) {
    std::os::unix::fs::symlink(library, name).expect("there is room for a link");
}

#[cfg(not(unix))]
fn link(_library: &Path, _name: &Path) {}

pub(super) fn told(conditions: &[(&'static str, &'static str)]) -> Told {
    let library = std::env::current_exe().expect("a program has a path").with_file_name("libwarpwright_ptx_driver.so");
    let lacking = conditions.iter().find(|(name, _)| *name == "LACKS").map(|(_, function)| {
        let all = std::fs::read(&library).unwrap_or_else(|error| panic!("{}: {error}", library.display()));
        spoilt(all, function)
    });
    let named: Vec<(&str, &[u8])> = lacking.iter().map(|bytes| ("libraries", &bytes[..])).collect();
    let files = Folder::new("errors-told", &named);
    let library = if lacking.is_some() { files.0.join("libraries") } else { library };
    STANDS_FOR.iter().for_each(|name| link(&library, &files.0.join(name)));
    let folder = files.0.display().to_string();
    let is_function = |name: &str| name.starts_with(|c: char| c.is_ascii_lowercase());
    let fails: Vec<String> = conditions.iter().filter(|(name, _)| is_function(name)).map(|(name, code)| format!("{name}={code}")).collect();
    let mut variables = vec![
        ("LD_LIBRARY_PATH", folder.clone()),
        ("OCL_ICD_VENDORS", folder),
        ("PTX_INTERPRETER_CAPABILITY", "9.0".to_owned()),
        ("PTX_INTERPRETER_FAILS", fails.join(",")),
        // What a machine's tests add is no part of the page.
        ("WARPWRIGHT_OPENCL_OPTIONS", String::new()),
    ];
    let others = conditions.iter().filter(|(name, _)| !is_function(name) && *name != "LACKS");
    variables.extend(others.map(|(name, value)| (*name, (*value).to_owned())));
    Told { variables, _files: files }
}

/// Which child this is, if it is one.
pub(super) fn child() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// What a test of this program prints as a child, with these variables; all of it, if it fails.
pub(super) fn run(which: &str, test: &str, variables: &[(&str, String)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("a program has a path"));
    command.args(["--exact", "--nocapture", test]).stdin(Stdio::null()).env(CHILD, which);
    command.envs(variables.iter().map(|(name, value)| (*name, value)));
    let output = command.output().expect("this program runs");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        text += &String::from_utf8_lossy(&output.stderr);
    }
    text
}
