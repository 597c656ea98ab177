//! What the `warpwright` command says that stops it: files, command lines, and what is printed.

use super::drivers;
use super::page::{Entry, Section};
use std::process::Command;
#[cfg(unix)]
use warpwright_tests::command::binary;
use warpwright_tests::command::{Folder, Outcome};

/// The files that the command lines are about.
const FILES: &[(&str, &str)] = &[
    (
        "saxpy.rs",
        "#[kernel(block = 64)]
pub fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = a * x[i] + y[i];
}
",
    ),
    (
        "scale.rs",
        "#[kernel(block = B)]
pub fn scale<const B: usize, T: Float>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    y[i] = x[i] * T::from_f32(2.0);
}
",
    ),
    (
        "several.rs",
        "#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Params {
    width: u32,
    gain: f32,
}

#[kernel(block = 64)]
pub fn grown(p: Params, y: &mut Global<f32>) {
    y[global_id().x] += p.gain * p.width as f32;
}

#[kernel]
pub fn open(y: &mut Global<f32>) {
    y[global_id().x] += 1.0;
}

#[kernel(block = 64)]
pub fn pictured(t: &Texture2d<f32>, y: &mut Global<f32>) {
    y[global_id().x] = t.fetch(0, 0);
}

#[kernel(block = 64)]
pub fn paired(v: [u32; 2], x: &Global<[f32; 2]>, y: &mut Global<f32>) {
    y[global_id().x] = x[global_id().x][v[0] as usize];
}

#[kernel(block = 64)]
pub fn idle() {}
",
    ),
    (
        "tiled.rs",
        "#[kernel(block = 64)]
pub fn tiled<const A: usize, const B: usize, const C: usize>(y: &mut Global<f32>) {
    #[shared]
    let mut own: [f32; 64];
    #[shared(dynamic)]
    let mut buf: [f32];
    own[thread_idx().x] = y[global_id().x];
    buf[thread_idx().x] = (A + B * C * crate::WEIGHT) as f32;
    sync_threads();
    y[global_id().x] = own[63 - thread_idx().x] * buf[63 - thread_idx().x];
}
",
    ),
    (
        "queue.rs",
        "use std::sync::atomic::Ordering;
use warpwright::prelude::*;
#[kernel(block = 32)]
pub fn consume(flag: &mut Global<u32>, data: &mut Global<u32>, out: &mut Global<u32>) {
    if thread_idx().x == 0 {
        if block_idx().x == 0 {
            data.atomic_store(0, 7, Ordering::Relaxed, ThreadScope::Device);
            flag.atomic_store(0, 1, Ordering::Relaxed, ThreadScope::Device);
        } else {
            while flag.atomic_load(0, Ordering::Relaxed, ThreadScope::Device) == 0 {}
            out[0] = data.atomic_load(0, Ordering::Relaxed, ThreadScope::Device);
        }
    }
}
",
    ),
    (
        "parted.rs",
        "mod parts;

#[kernel(block = 64)]
pub fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}
",
    ),
    ("empty.rs", ""),
];

/// A command line.
struct Line {
    title: &'static str,
    words: &'static [&'static str],
}

/// What there is about files, kernels and targets.
const SOURCES: &[Line] = &[
    Line { title: "A file that is not there", words: &["emit", "missing.rs"] },
    Line { title: "A misspelt file", words: &["emit", "saxpi.rs"] },
    Line { title: "A folder that is not there", words: &["emit", "nowhere/saxpy.rs"] },
    Line { title: "One colon before a kernel's name", words: &["emit", "saxpy.rs:saxpy"] },
    Line { title: "A folder", words: &["check", "."] },
    Line { title: "A file that is no text", words: &["check", "image.rs"] },
    Line { title: "A file without kernels", words: &["emit", "empty.rs"] },
    Line { title: "A module without a file", words: &["check", "parted.rs"] },
    Line { title: "A misspelt kernel", words: &["emit", "saxpy.rs::saxpi"] },
    Line { title: "A kernel that the file does not have", words: &["check", "saxpy.rs::other"] },
    Line { title: "Several kernels where one is looked at", words: &["simulate", "several.rs", "--cover", "64"] },
    Line { title: "A target that there is not", words: &["emit", "saxpy.rs", "--target", "sm_85"] },
    Line { title: "`opencl` as a target of PTX", words: &["emit", "saxpy.rs", "--target", "opencl"] },
    Line { title: "A target without figures", words: &["compare", "saxpy.rs", "--targets", "opencl"] },
    Line { title: "A pass that there is not", words: &["emit", "saxpy.rs", "--after", "fld"] },
    Line { title: "A text of a kernel that is not finished", words: &["emit", "saxpy.rs", "--after", "fold", "--format", "ptx"] },
    Line { title: "A lint that there is not", words: &["explain", "unchekced"] },
    Line { title: "A lint that is like no other", words: &["explain", "zzzzzzz"] },
];

/// What there is about generics and variants.
const VARIANTS: &[Line] = &[
    Line { title: "A value without a name", words: &["emit", "saxpy.rs", "-D", "B"] },
    Line { title: "A generic that a kernel does not have", words: &["emit", "saxpy.rs", "-D", "B=1"] },
    Line { title: "A misspelt generic", words: &["emit", "scale.rs", "-D", "b=64", "-D", "T=f32"] },
    Line { title: "One among others that is unknown", words: &["emit", "scale.rs", "-D", "WIDTH=64", "-D", "T=f32"] },
    Line { title: "A generic that is given twice", words: &["emit", "scale.rs", "-D", "B=64", "-D", "B=32", "-D", "T=f32"] },
    Line { title: "A value that is none", words: &["emit", "scale.rs", "-D", "B=many", "-D", "T=f32"] },
    Line { title: "A value of a constant from outside that is none", words: &["emit", "tiled.rs", "-D", "WEIGHT=many"] },
    Line { title: "A value of another type", words: &["emit", "scale.rs", "-D", "B=true", "-D", "T=f32"] },
    Line { title: "Generics that are left open", words: &["emit", "scale.rs"] },
    Line { title: "Variants of a kernel that declares none", words: &["compare", "scale.rs"] },
    Line { title: "A value that is listed twice", words: &["compare", "scale.rs", "--set", "B=32,32", "T=f32"] },
    Line { title: "A listed value of another type", words: &["compare", "scale.rs", "--set", "B=32,true", "T=f32"] },
    Line { title: "A list that is given twice", words: &["compare", "scale.rs", "--set", "B=32", "B=64", "T=f32"] },
    Line { title: "A list, and one value beside it", words: &["compare", "scale.rs", "--set", "B=32,64", "T=f32", "-D", "B=32"] },
    Line { title: "A list for a generic that a kernel does not have", words: &["compare", "saxpy.rs", "--set", "B=32,64"] },
    Line {
        title: "More variants than are looked at",
        words: &["compare", "tiled.rs", "-D", "WEIGHT=1", "--set", MANY[0], MANY[1], MANY[2]],
    },
    Line { title: "A list for a misspelt generic", words: &["compare", "scale.rs", "--set", "b=32,64", "T=f32"] },
    Line { title: "A list for a generic like no other", words: &["compare", "scale.rs", "--set", "WIDTH=32,64", "B=32", "T=f32"] },
];

/// 17 values for each of three generics.
const MANY: [&str; 3] = [
    "A=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
    "B=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
    "C=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
];

/// What there is about launches.
const LAUNCHES: &[Line] = &[
    Line { title: "No word about how many threads", words: &["simulate", "saxpy.rs", "--args", "a=2.0", "x=zeros(64)", "y=zeros(64)"] },
    Line { title: "A kernel that fixes no block", words: &["simulate", "several.rs::open", "--cover", "64"] },
    Line { title: "A value that is not given", words: &["simulate", "saxpy.rs", "--cover", "64"] },
    Line { title: "A buffer without a length", words: &["simulate", "saxpy.rs", "--grid", "1", "--args", "a=2.0", "x=zeros(64)"] },
    Line { title: "A texture", words: &["simulate", "several.rs::pictured", "--cover", "64"] },
    Line { title: "An argument without a name", words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "2.0"] },
    Line { title: "An argument that is given twice", words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=1.0", "a=2.0"] },
    Line { title: "A misspelt parameter", words: &["simulate", "several.rs::grown", "--cover", "64", "--args", "q=1"] },
    Line {
        title: "A parameter that a kernel does not have",
        words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "width=1"],
    },
    Line { title: "A parameter where a kernel has none", words: &["simulate", "several.rs::idle", "--grid", "1", "--args", "width=1"] },
    Line { title: "An argument that is nothing known", words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "x=ones(64)"] },
    Line { title: "A length that is none", words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "x=zeros(many)"] },
    Line { title: "An element that is no value", words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "x=[1.0, two]"] },
    Line { title: "An element of another type", words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "x=[1.0, true]"] },
    Line { title: "A value of another type", words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=true"] },
    Line {
        title: "A part of an element of another type",
        words: &["simulate", "several.rs::paired", "--grid", "1", "--args", "v=[0, 1]", "x=[(1.0, 2.0), (3.0, true)]", "y=zeros(64)"],
    },
    Line {
        title: "A field that is no value",
        words: &["simulate", "several.rs::grown", "--cover", "64", "--args", "p=Params { width: wide, gain: 1.0 }"],
    },
    Line { title: "A range that is none", words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "x=random(64, 5)"] },
    Line {
        title: "A range beyond the type",
        words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "x=random(64, 0..1e40)"],
    },
    Line { title: "A number beyond the type", words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=1e40"] },
    Line { title: "A buffer where a value is taken", words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=zeros(4)"] },
    Line { title: "More numbers than a value has", words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=[1.0, 2.0]"] },
    Line {
        title: "Numbers that are no whole elements",
        words: &["simulate", "several.rs::paired", "--grid", "1", "--args", "v=[0, 1]", "x=[1.0, 2.0, 3.0]", "y=zeros(64)"],
    },
    Line {
        title: "A number that its type does not have",
        words: &["simulate", "several.rs::paired", "--cover", "64", "--args", "v=[0, -1]"],
    },
    Line {
        title: "A buffer that is larger than memory",
        words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "x=zeros(1 << 62)"],
    },
    Line {
        title: "A buffer for which too little memory is free",
        words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "x=zeros(1 << 50)"],
    },
    Line { title: "A list that is too long", words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "x=[1.0; 1 << 40]"] },
    Line {
        title: "A struct where a number is taken",
        words: &["simulate", "saxpy.rs", "--cover", "64", "--args", "a=Params { width: 1 }"],
    },
    Line {
        title: "A misspelt field",
        words: &["simulate", "several.rs::grown", "--cover", "64", "--args", "p=Params { widht: 1, gain: 1.0 }"],
    },
    Line {
        title: "A field like no other",
        words: &["simulate", "several.rs::grown", "--cover", "64", "--args", "p=Params { colour: 1, gain: 1.0 }"],
    },
    Line {
        title: "A field that is given twice",
        words: &["simulate", "several.rs::grown", "--cover", "64", "--args", "p=Params { width: 1, width: 2, gain: 1.0 }"],
    },
    Line {
        title: "A field that is left out",
        words: &["simulate", "several.rs::grown", "--cover", "64", "--args", "p=Params { width: 1 }"],
    },
    Line {
        title: "More numbers than a field has",
        words: &["simulate", "several.rs::grown", "--cover", "64", "--args", "p=Params { width: [1, 2], gain: 1.0 }"],
    },
    Line {
        title: "Atomics that order nothing, on a weak memory",
        words: &["simulate", "queue.rs", "--grid", "2", "--args", "flag=zeros(1)", "data=zeros(1)", "out=zeros(1)", "--weak-memory", "40"],
    },
    Line { title: "Extents that are none", words: &["simulate", "saxpy.rs", "--cover", "64x"] },
    Line { title: "More than can be counted", words: &["simulate", "saxpy.rs", "--cover", "99999999999999999999"] },
    Line {
        title: "More elements than can be counted",
        words: &["simulate", "saxpy.rs", "--cover", "4294967296x4294967296x2", "--args", "a=2.0"],
    },
    Line { title: "Four extents", words: &["simulate", "saxpy.rs", "--grid", "B,1,1,1"] },
    Line { title: "Nothing between two commas", words: &["simulate", "saxpy.rs", "--grid", "block,,1"] },
    Line { title: "Arithmetic that is too long", words: &["simulate", "saxpy.rs", "--grid", LONG] },
    Line { title: "Arithmetic that ends too early", words: &["simulate", "saxpy.rs", "--grid", "1024/"] },
    Line { title: "Arithmetic that has more than there is", words: &["simulate", "saxpy.rs", "--grid", "1024 % block"] },
    Line { title: "`x` between extents that are computed", words: &["simulate", "saxpy.rs", "--grid", "64x1024/block"] },
    Line {
        title: "A division by zero",
        words: &["simulate", "saxpy.rs", "--grid", "1024/(block - 64)", "--args", "a=2.0", "x=zeros(64)", "y=zeros(64)"],
    },
    Line {
        title: "Arithmetic that overflows",
        words: &["simulate", "saxpy.rs", "--grid", "block << 125", "--args", "a=2.0", "x=zeros(64)", "y=zeros(64)"],
    },
    Line {
        title: "An extent of zero",
        words: &["simulate", "saxpy.rs", "--grid", "block - 64", "--args", "a=2.0", "x=zeros(64)", "y=zeros(64)"],
    },
    Line {
        title: "An extent that is too large",
        words: &["simulate", "saxpy.rs", "--grid", "block << 100", "--args", "a=2.0", "x=zeros(64)", "y=zeros(64)"],
    },
    Line { title: "A name that stands for a type", words: &["simulate", "scale.rs", "-D", "B=64", "-D", "T=f32", "--grid", "1024/T"] },
    Line { title: "A misspelt name", words: &["simulate", "scale.rs", "-D", "B=64", "-D", "T=f32", "--grid", "1024/blok"] },
    Line { title: "A name like no other", words: &["simulate", "scale.rs", "-D", "B=64", "-D", "T=f32", "--grid", "1024/WIDTH"] },
    Line { title: "A name where a kernel has no generics", words: &["simulate", "saxpy.rs", "--grid", "1024/WIDTH"] },
    Line {
        title: "Buffers that have no length, where the extents depend on the variant",
        words: &["compare", "scale.rs", "--set", "B=32,64", "T=f32", "--simulate", "--cover", "B*16"],
    },
    Line { title: "More threads than a block has", words: &["simulate", "several.rs::open", "--cover", "64", "--block", "2048"] },
    Line { title: "A kernel that is at fault", words: &["simulate", "saxpy.rs", "--cover", "100", "--args", "a=2.0"] },
];

const LONG: &str = "block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block+block";

/// What there is about occupancy.
const OCCUPANCY: &[Line] = &[
    Line { title: "A compute capability that there is not", words: &["occupancy", "--cc", "9.1", "--threads", "256", "--registers", "32"] },
    Line { title: "A block that no multiprocessor holds", words: &["occupancy", "--cc", "9.0", "--threads", "2048", "--registers", "300"] },
    Line { title: "A carve-out that is none", words: &["occupancy", "saxpy.rs", "--carve-out", "half"] },
    Line { title: "Threads for a kernel that fixes its block", words: &["occupancy", "saxpy.rs", "--threads", "128"] },
    Line { title: "No threads for a kernel that fixes none", words: &["occupancy", "several.rs::open"] },
    Line { title: "Shared memory for a kernel that has none of a launch's", words: &["occupancy", "saxpy.rs", "--shared", "1024"] },
    Line {
        title: "More shared memory than a number holds",
        words: &["occupancy", "tiled.rs", "-D", "A=1", "-D", "B=1", "-D", "C=1", "-D", "WEIGHT=1", "--shared", "4294967295"],
    },
];

/// What there is about files that are written, and about what is compared with.
const RESULTS: &[Line] = &[
    Line { title: "A page that cannot be written", words: &["compare", "saxpy.rs", "--html", "nowhere/page.html"] },
    Line { title: "An earlier revision, outside of a repository", words: &["compare", "saxpy.rs", "--against", "HEAD"] },
];

/// The same in a repository that has one commit, of `scale.rs` alone.
const REVISIONS: &[Line] = &[
    Line { title: "A revision that there is not", words: &["compare", "saxpy.rs", "--against", "v9"] },
    Line { title: "A file that the revision does not have", words: &["compare", "saxpy.rs", "--against", "HEAD"] },
];

/// The same where no program is found.
const WITHOUT_PROGRAMS: &[Line] =
    &[Line { title: "A machine without git", words: &["compare", "scale.rs", "-D", "B=64", "-D", "T=f32", "--against", "HEAD"] }];

/// Lines that only a shell can give: each as it takes it.
#[cfg(unix)]
const OF_SHELLS: &[(&str, &str)] = &[
    ("Output that cannot be written", "warpwright emit saxpy.rs > /dev/full"),
    ("Memory that is too little for a thread", "(ulimit -v 65536; warpwright emit saxpy.rs)"),
];

/// The same in a repository: a file stands where the folder of temporary files is to be.
#[cfg(unix)]
const OF_SHELLS_IN_REPOSITORY: &[(&str, &str)] =
    &[("Temporary files that cannot be written", "TMPDIR=queue.rs warpwright compare scale.rs -D B=64 -D T=f32 --against HEAD")];

/// The same where `tar` fails.
const WITHOUT_TAR: &[Line] =
    &[Line { title: "A `tar` that fails", words: &["compare", "scale.rs", "-D", "B=64", "-D", "T=f32", "--against", "HEAD"] }];

/// The same where no device is but the simulator.
const WITHOUT_DEVICES: &[Line] =
    &[Line { title: "Nothing to time on", words: &["compare", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "--time", "3"] }];

/// The same where there is a GPU, and `saxpy.tuned.toml` has what was measured of 64 elements.
const MEASURED: &[Line] = &[
    Line {
        title: "A result that cannot be written",
        words: &["tune", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "--out", "nowhere/saxpy.toml"],
    },
    Line {
        title: "A file in the place of the result",
        words: &["tune", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "--out", "scale.rs"],
    },
    Line { title: "A result of another size", words: &["tune", "saxpy.rs", "--cover", "128", "--args", "a=2.0"] },
];

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    if word.contains([' ', '(', '[', '{', '<', '*', '%']) { format!("'{word}'") } else { word.to_owned() }
}

/// A command line, with what is said of it.
fn entry(folder: &Folder, variables: &[(&str, &str)], line: &Line) -> Entry {
    let words: Vec<String> = line.words.iter().map(|word| quoted(word)).collect();
    refused(line.title, &format!("warpwright {}", words.join(" ")), &folder.run_with(variables, line.words))
}

/// The same of a line that a shell runs, which finds the command by its name.
#[cfg(unix)]
fn entry_of_shell(folder: &Folder, (title, line): &(&str, &str)) -> Entry {
    let programs = binary().parent().expect("the command is in a folder").display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh").args(["-c", line]).current_dir(&folder.0).env("PATH", path).output().expect("a shell runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    refused(title, line, &Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) })
}

/// A line that was refused.
fn refused(title: &str, line: &str, outcome: &Outcome) -> Entry {
    let is_refused = matches!(outcome.code, Some(1 | 2)) && outcome.out.is_empty();
    assert!(is_refused, "{title}: {:?}\n{}{}", outcome.code, outcome.out, outcome.err);
    Entry {
        title: title.to_owned(),
        shown: format!("```console\n$ {line}\n```"),
        kind: String::new(),
        said: without_free_memory(outcome.err.trim_end()),
    }
}

/// With `…` for how much memory is free: the page is the same whatever runs beside the test.
fn without_free_memory(said: &str) -> String {
    let Some((before, behind)) = said.split_once(" GB of memory are free") else { return said.to_owned() };
    let before = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    format!("{before}… GB of memory are free{behind}")
}

/// A folder of the files; gone with it.
fn folder(name: &str) -> Folder {
    let mut files: Vec<(&str, &[u8])> = FILES.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    files.push(("image.rs", b"\xff\xd8\xff"));
    Folder::new(name, &files)
}

/// Where programs are found, a `tar` that fails first.
fn failing_tar(folder: &Folder) -> String {
    let programs = folder.0.join("programs");
    let tar = programs.join("tar");
    std::fs::create_dir(&programs).expect("there is room for a folder");
    std::fs::write(&tar, "#!/bin/sh\ncat >/dev/null\nexit 1\n").expect("there is room for a file");
    #[cfg(unix)]
    std::fs::set_permissions(&tar, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("the file is ours");
    format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default())
}

/// Every command line, with what is said of it, in groups.
pub(super) fn entries() -> Vec<Section> {
    let plain = folder("errors");
    let of = |lines: &[Line]| lines.iter().map(|line| entry(&plain, &[], line)).collect::<Vec<_>>();
    let mut results = of(RESULTS);
    let repository = folder("errors-repository");
    for words in [&["init", "--quiet"][..], &["add", "scale.rs"], &["commit", "--quiet", "-m", "before"]] {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let git = Command::new("git").args(identity).args(words).current_dir(&repository.0).status();
        assert!(git.expect("git runs").success(), "git {words:?}");
    }
    results.extend(REVISIONS.iter().map(|line| entry(&repository, &[], line)));
    #[cfg(unix)]
    {
        results.extend(OF_SHELLS.iter().map(|line| entry_of_shell(&plain, line)));
        results.extend(OF_SHELLS_IN_REPOSITORY.iter().map(|line| entry_of_shell(&repository, line)));
    }
    let no_programs = repository.0.join("no-programs").display().to_string();
    results.extend(WITHOUT_PROGRAMS.iter().map(|line| entry(&repository, &[("PATH", &no_programs)], line)));
    let failing = failing_tar(&repository);
    results.extend(WITHOUT_TAR.iter().map(|line| entry(&repository, &[("PATH", &failing)], line)));
    let nothing = drivers::without("errors-command");
    let without: Vec<(&str, &str)> = nothing.variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    results.extend(WITHOUT_DEVICES.iter().map(|line| entry(&plain, &without, line)));
    let with = drivers::with();
    let with: Vec<(&str, &str)> = with.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let first = plain.run_with(&with, &["tune", "saxpy.rs", "--cover", "64", "--args", "a=2.0", "--runs", "1"]);
    assert_eq!(first.code, Some(0), "{}", first.err);
    results.extend(MEASURED.iter().map(|line| entry(&plain, &with, line)));
    let section = |title, files: &[_], entries| Section { title, files: files.to_vec(), items: String::new(), entries };
    vec![
        section("Files, kernels, targets", FILES, of(SOURCES)),
        section("Generics and variants", &[], of(VARIANTS)),
        section("Launches", &[], of(LAUNCHES)),
        section("Occupancy", &[], of(OCCUPANCY)),
        section("Results, revisions, devices", &[], results),
    ]
}
