//! The examples run, with no GPU too, and say something worth reading. `cargo test --workspace` builds them.

use std::path::Path;
use std::process::Command;
use warpwright_tests::ptx_interpreter;

/// Each, and a part of what it says on a machine without a GPU and with one.
const EXAMPLES: [(&str, &str); 13] = [
    ("saxpy", "y[0..4] = [1.0, 3.0, 5.0, 7.0]"),
    ("mandelbrot", "mandelbrot.png"),
    ("image_filter", "wrote image_filter.png"),
    ("n_body", "the energy has drifted by"),
    ("matrix_multiply", "tensor cores  "),
    ("overlap", "both results are right"),
    ("tuned", "    tuned: B = "),
    ("kernel_tests", "greatest of three: [4.0, 4.0, 5.0"),
    ("wave", "on one device it has the same bits"),
    ("data_parallel", "all devices have the same weights"),
    ("ranks", "one rank computes the same bits"),
    ("simulate", "sectors"),
    ("between_cublas", "y[0..3] = ["),
];

/// Those for several GPUs.
const SEVERAL: [&str; 3] = ["wave", "data_parallel", "ranks"];

/// The tests of this example, which `cargo test --example kernel_tests` runs, are tests here, too.
#[path = "../../examples/kernel_tests.rs"]
#[expect(dead_code, reason = "its `main` is run as the other examples are")]
mod kernel_tests;

#[test]
fn examples_run_and_say_what_they_found() {
    // This program lies in `deps`, beside them.
    let own = std::env::current_exe().expect("this program");
    let built = own.parent().and_then(Path::parent).expect("a folder of the build").join("examples");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    for (name, part) in EXAMPLES {
        let program = built.join(name).with_extension(std::env::consts::EXE_EXTENSION);
        assert!(program.exists(), "{} is not there: `cargo build --workspace --examples --features cudarc` builds it", program.display());
        run(Command::new(&program).current_dir(&folder), name, part);
        if SEVERAL.contains(&name) && ptx_interpreter::IS_POSSIBLE {
            // On stand-ins for three GPUs and for NCCL.
            let mut command = Command::new(&program);
            ptx_interpreter::put_before(&mut command, "9.0", 3);
            let said = run(command.current_dir(&folder), name, part);
            assert!(said.contains("PTX interpreter"), "{said}");
        }
    }
}

/// Runs it; gives what it says.
fn run(command: &mut Command, name: &str, part: &str) -> String {
    let output = command.output().expect("it runs");
    let (said, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains(part), "{name}: {said}\n{error}");
    said.into_owned()
}

#[test]
fn all_examples_are_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join("examples");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the examples")
        .map(|entry| entry.expect("a file"))
        // A folder is a package, whose own tests run it: one that needs a library which takes long to compile.
        .filter(|entry| !entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let mut names: Vec<String> = EXAMPLES.iter().map(|(name, _)| format!("{name}.rs")).collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
}
