//! NVIDIA's assembler, where there is one: what it makes of PTX, and the figures that it *measures*.
//!
//! Nothing here is needed to compile or to run a kernel. What `ptxas` says stands beside what `codegen`'s `estimate` says, never in its
//! place: [`Measured`] is a type of its own.
//!
//! It is looked for in this order, and the first that is there is taken: the variable `WARPWRIGHT_PTXAS` (a full path), `ptxas` in the
//! folders of `PATH`, `bin/ptxas` below `CUDA_HOME` or `CUDA_PATH`. One that is there and does not answer as expected is an error and not
//! passed over: somebody meant it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The variable that names an assembler.
pub const VARIABLE: &str = "WARPWRIGHT_PTXAS";

/// The releases whose PTX versions are known, by major number.
const KNOWN_MAJORS: std::ops::RangeInclusive<u16> = 11..=13;

/// An assembler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptxas {
    /// Its release, `12.9`.
    pub release: String,
    /// Targets that it knows, as 10·major + minor, in order.
    pub targets: Vec<u16>,
    /// Where it is.
    pub path: PathBuf,
}

/// What an assembler measured of a kernel: figures *measured by ptxas*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that a thread stores because registers did not suffice.
    pub spill_stores: u32,
    /// Bytes that it loads again.
    pub spill_loads: u32,
    /// Bytes of a thread's stack: local arrays, spills, frames of calls.
    pub stack: u32,
    /// Bytes of shared arrays of a block that are variables: all of them, or none where they take more than 48 KiB.
    pub shared: u32,
    /// Named barriers of a block; `None` where the release does not say.
    pub barriers: Option<u32>,
    /// Whether it lets each product of a warpgroup end before the next begins, though the text leaves them running: "wgmma.mma_async instructions are serialized".
    pub serialized: bool,
}

/// Why there are no figures.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PtxasError {
    /// It could not be started, or talked to.
    #[error("`{path}` cannot be run: {reason}")]
    NotRun {
        /// Where it is.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// It runs, but what it says of itself is not what a `ptxas` says.
    #[error("`{path}` does not say which release of `ptxas` it is; name the one to use in `{VARIABLE}`")]
    UnknownRelease {
        /// Where it is.
        path: String,
    },
    /// It does not know the target.
    #[error("`ptxas` {release} does not know `sm_{target}`: it knows {known}; name another in `{VARIABLE}`")]
    UnknownTarget {
        /// Its release.
        release: String,
        /// The target asked for, 10·major + minor.
        target: u16,
        /// The first and the last that it knows.
        known: String,
    },
    /// The text's version is newer than what it reads.
    #[error("`ptxas` {release} reads PTX up to {}.{}, and the kernel needs {}.{}; name a newer one in `{VARIABLE}`", reads / 10, reads % 10, needs / 10, needs % 10)]
    OldRelease {
        /// Its release.
        release: String,
        /// The newest version it reads, 10·major + minor.
        reads: u16,
        /// The text's version, 10·major + minor.
        needs: u16,
    },
    /// It refused the text.
    #[error("`ptxas` {release} refused the kernel for `sm_{target}`: {message}; please report the kernel with this")]
    Refused {
        /// Its release.
        release: String,
        /// The target, 10·major + minor.
        target: u16,
        /// What it said.
        message: String,
    },
    /// It took the text, but did not say how many registers it gave it.
    #[error("`ptxas` {release} does not say what it measured; figures of 11.0 to 13.x are understood; name one of these in `{VARIABLE}`")]
    NoFigures {
        /// Its release.
        release: String,
    },
}

impl Ptxas {
    /// The assembler to use, if there is one.
    ///
    /// # Errors
    ///
    /// If there is one that does not answer as a `ptxas` does.
    pub fn find() -> Result<Option<Ptxas>, PtxasError> {
        let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        named.into_iter().chain(searched()).next().map(|path| Ptxas::at(&path)).transpose()
    }

    /// Every `ptxas` in the folders of `PATH` and below `CUDA_HOME` and `CUDA_PATH`.
    pub fn everywhere() -> Vec<PathBuf> {
        searched().collect()
    }

    /// The assembler at a path.
    ///
    /// # Errors
    ///
    /// If it cannot be run, or says nothing of its release.
    pub fn at(path: &Path) -> Result<Ptxas, PtxasError> {
        let said = |argument: &str| {
            let output = Command::new(path).arg(argument).stdin(Stdio::null()).output();
            output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).map_err(|error| not_run(path, &error))
        };
        let version = said("--version")?;
        let release = release(&version).ok_or_else(|| PtxasError::UnknownRelease { path: path.display().to_string() })?;
        let targets = targets(&said("--help")?);
        Ok(Ptxas { release, targets, path: path.to_owned() })
    }

    /// The newest PTX version that it reads, 10·major + minor; `None` for releases that came after this was written, which read all that
    /// is emitted here. PTX ISA, "Release Notes": CUDA 11.x has 7.x, 12.x has 8.x up to 12.5 and falls one behind in 12.6, 13.x has 9.x.
    pub fn ptx_version(&self) -> Option<u16> {
        let (major, minor) = self.numbers()?;
        match major {
            11 => Some(70 + minor.min(8)),
            12 => Some(80 + if minor > 5 { minor - 1 } else { minor }),
            13 => Some(90 + minor.min(9)),
            _ => None,
        }
    }

    /// Whether figures of this release have been compared with what is parsed here.
    pub fn is_known_release(&self) -> bool {
        self.numbers().is_some_and(|(major, _)| KNOWN_MAJORS.contains(&major))
    }

    fn numbers(&self) -> Option<(u16, u16)> {
        let (major, minor) = self.release.split_once('.').unwrap_or((&self.release, "0"));
        Some((major.parse().ok()?, minor.parse().ok()?))
    }

    /// Assembles a text for a target, 10·major + minor, and says what it measured. A text for a variant of that capability (`sm_90a`) is assembled for it.
    ///
    /// # Errors
    ///
    /// If it cannot: the target or the text's version is not known to it, or it refuses the text.
    pub fn measure(&self, ptx: &str, target: u16) -> Result<Measured, PtxasError> {
        let said = self.assemble(ptx, target, Path::new(if cfg!(windows) { "NUL" } else { "/dev/null" }), false)?;
        measured(&said).ok_or_else(|| PtxasError::NoFigures { release: self.release.clone() })
    }

    /// What it makes of a text for a target, 10·major + minor: machine code.
    ///
    /// # Errors
    ///
    /// As [`Ptxas::measure`].
    pub fn cubin(&self, ptx: &str, target: u16) -> Result<Vec<u8>, PtxasError> {
        self.machine_code(ptx, target, false)
    }

    /// The same, and which source line each instruction comes from: what [`Nvdisasm`](crate::nvdisasm::Nvdisasm) shows.
    ///
    /// # Errors
    ///
    /// As [`Ptxas::measure`].
    pub fn cubin_with_lines(&self, ptx: &str, target: u16) -> Result<Vec<u8>, PtxasError> {
        self.machine_code(ptx, target, true)
    }

    fn machine_code(&self, ptx: &str, target: u16, with_lines: bool) -> Result<Vec<u8>, PtxasError> {
        let cubin = Scratch::new();
        self.assemble(ptx, target, &cubin.0, with_lines)?;
        std::fs::read(&cubin.0).map_err(|error| not_run(&self.path, &error))
    }

    /// Assembles a text into `to`; what it said.
    fn assemble(&self, ptx: &str, target: u16, to: &Path, with_lines: bool) -> Result<String, PtxasError> {
        let release = || self.release.clone();
        if !self.targets.is_empty() && !self.targets.contains(&target) {
            return Err(PtxasError::UnknownTarget { release: release(), target, known: self.known_targets() });
        }
        let needs = version_of(ptx);
        if let Some(reads) = self.ptx_version().filter(|reads| *reads < needs) {
            return Err(PtxasError::OldRelease { release: release(), reads, needs });
        }
        let mut command = Command::new(&self.path);
        command
            .arg("-v")
            .arg(format!("-arch=sm_{target}{}", variant_of(ptx, target)))
            .args(with_lines.then_some("-lineinfo"))
            .arg("-o")
            .arg(to)
            .arg("-");
        let output = talk(command, ptx).map_err(|why| match why {
            NoTalk::NotRun(error) => not_run(&self.path, &error),
            NoTalk::NoThread(error) => {
                let reason = format!(
                    "no thread can be started that writes to it: {error}; help: raise the limit of threads, `ulimit -u`, or start fewer"
                );
                PtxasError::NotRun { path: self.path.display().to_string(), reason }
            }
        })?;
        let said = [output.stderr, output.stdout].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        if !output.status.success() {
            return Err(PtxasError::Refused { release: release(), target, message: said.trim().to_owned() });
        }
        Ok(said)
    }

    fn known_targets(&self) -> String {
        match (self.targets.first(), self.targets.last()) {
            (Some(first), Some(last)) => format!("`sm_{first}` to `sm_{last}`"),
            _ => "none".into(),
        }
    }
}

/// Every file called `ptxas` where one is looked for.
fn searched() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(|home| PathBuf::from(home).join("bin"));
    let file = if cfg!(windows) { "ptxas.exe" } else { "ptxas" };
    folders.into_iter().chain(homes).map(move |folder| folder.join(file)).filter(|path| path.is_file())
}

/// Runs a command that reads a text.
fn talk(mut command: Command, text: &str) -> Result<Output, NoTalk> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(NoTalk::NotRun)?;
    let input = child.stdin.take();
    // On a thread of its own: a child that writes before it has read everything would otherwise wait for us, and we for it.
    std::thread::scope(|scope| {
        let begun = std::thread::Builder::new().spawn_scoped(scope, move || {
            // One that stops reading has failed, and says so by its status.
            input.map(|mut input| input.write_all(text.as_bytes()))
        });
        if let Err(error) = begun {
            // It has no input any more, and ends by itself if it is not there to be killed.
            let _ = child.kill().and_then(|()| child.wait());
            return Err(NoTalk::NoThread(error));
        }
        child.wait_with_output().map_err(NoTalk::NotRun)
    })
}

/// Why a command could not be talked to.
enum NoTalk {
    NotRun(std::io::Error),
    NoThread(std::io::Error),
}

fn not_run(path: &Path, error: &std::io::Error) -> PtxasError {
    PtxasError::NotRun { path: path.display().to_string(), reason: format!("{error}; name another in `{VARIABLE}`") }
}

/// `Cuda compilation tools, release 12.9, V12.9.86`.
fn release(version: &str) -> Option<String> {
    let release = version.split_once("release ")?.1.split(',').next()?.trim();
    release.starts_with(|c: char| c.is_ascii_digit()).then(|| release.to_owned())
}

/// The targets in its help: `'sm_75','sm_80'`. Those with a letter behind them take no portable code, and are left out.
fn targets(help: &str) -> Vec<u16> {
    let mut targets: Vec<u16> = help.split('\'').filter_map(|word| word.strip_prefix("sm_")?.parse().ok()).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// The text's version: `.version 7.8` as 78.
pub fn version_of(ptx: &str) -> u16 {
    let word = ptx.lines().find_map(|line| line.strip_prefix(".version ")).unwrap_or("0.0");
    let (major, minor) = word.trim().split_once('.').unwrap_or(("0", "0"));
    major.parse().unwrap_or(0u16) * 10 + minor.parse().unwrap_or(0u16)
}

/// The letter of a text for a variant of a target: `a` of `.target sm_90a` for 90.
fn variant_of(ptx: &str, target: u16) -> &str {
    let word = ptx.lines().find_map(|line| line.strip_prefix(".target ")).unwrap_or("");
    let letter = word.trim().strip_prefix(&format!("sm_{target}")).unwrap_or("");
    if matches!(letter, "a" | "f") { letter } else { "" }
}

/// What `-v` says of the only kernel of a module.
///
/// ```text
///     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
/// ptxas info    : Used 10 registers, used 1 barriers, 8192 bytes smem, 344 bytes cmem[0]
/// ```
fn measured(said: &str) -> Option<Measured> {
    let used = said.lines().find(|line| line.contains("Used ") && line.contains(" registers"))?;
    let frame = said.lines().find(|line| line.contains(" bytes stack frame")).unwrap_or("");
    let before = |line: &str, mark: &str| -> Option<u32> {
        let (head, _) = line.split_once(mark)?;
        head.rsplit(|c: char| !c.is_ascii_digit()).find(|word| !word.is_empty())?.parse().ok()
    };
    Some(Measured {
        registers: before(used, " registers")?,
        spill_stores: before(frame, " bytes spill stores").unwrap_or(0),
        spill_loads: before(frame, " bytes spill loads").unwrap_or(0),
        stack: before(frame, " bytes stack frame").unwrap_or(0),
        shared: before(used, " bytes smem").unwrap_or(0),
        barriers: before(used, " barriers"),
        serialized: said.contains("instructions are serialized"),
    })
}

/// A file of one call, removed afterwards.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("warpwright-{}-{}.cubin", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Scratch(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_releases_say_is_understood() {
        let old = "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function 'k' for 'sm_75'\n\
                   ptxas info    : Function properties for k\n    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n\
                   ptxas info    : Used 32 registers, 8192 bytes smem, 352 bytes cmem[0]\n";
        let expected =
            Measured { registers: 32, spill_stores: 12, spill_loads: 8, stack: 16, shared: 8192, barriers: None, serialized: false };
        assert_eq!(measured(old), Some(expected));
        let new = old.replace("32 registers,", "32 registers, used 1 barriers,").replace("ptxas info", "ptxas-13 info");
        assert_eq!(measured(&new), Some(Measured { barriers: Some(1), ..expected }));
        let lost = "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to …\n".to_owned();
        assert_eq!(measured(&(lost + old)), Some(Measured { serialized: true, ..expected }));
        assert_eq!(measured("ptxas info    : 0 bytes gmem\n"), None);
    }

    #[test]
    fn releases_and_versions_are_read() {
        let with = |release: &str| Ptxas { release: release.into(), targets: vec![80, 90], path: PathBuf::new() };
        assert_eq!(release("Cuda compilation tools, release 12.9, V12.9.86\n").as_deref(), Some("12.9"));
        assert_eq!(release("cat (GNU coreutils) 9.1"), None);
        for (release, version) in [("11.8", 78), ("12.4", 84), ("12.5", 85), ("12.6", 85), ("12.9", 88), ("13.5", 95)] {
            assert_eq!(with(release).ptx_version(), Some(version), "{release}");
        }
        assert_eq!(with("14.0").ptx_version(), None);
        assert!(with("13.5").is_known_release() && !with("14.0").is_known_release());
        assert_eq!(targets("'lto_90','sm_75','sm_90a','sm_90'."), [75, 90]);
        assert_eq!(version_of("//\n.version 8.6\n.target sm_100\n"), 86);
        let variants = [90, 100].map(|target| variant_of(".version 8.0\n.target sm_90a\n", target));
        assert_eq!((variants, variant_of(".target sm_90\n", 90)), (["a", ""], ""));
    }

    #[test]
    fn what_it_cannot_assemble_is_said_before_it_is_asked() {
        let ptxas = Ptxas { release: "11.8".into(), targets: vec![80, 90], path: PathBuf::from("nowhere/ptxas") };
        let error = ptxas.measure(".version 7.0\n", 120).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`ptxas` 11.8 does not know `sm_120`: it knows `sm_80` to `sm_90`; name another in `WARPWRIGHT_PTXAS`"
        );
        let error = ptxas.measure(".version 8.6\n", 90).unwrap_err();
        assert_eq!(error.to_string(), "`ptxas` 11.8 reads PTX up to 7.8, and the kernel needs 8.6; name a newer one in `WARPWRIGHT_PTXAS`");
        let error = ptxas.measure(".version 7.0\n", 90).unwrap_err();
        assert!(error.to_string().starts_with("`nowhere/ptxas` cannot be run: "), "{error}");
    }

    #[test]
    fn what_is_no_assembler_is_said_so() {
        // `cargo` answers `--version`, and has no release of CUDA.
        let cargo = PathBuf::from(std::env::var_os("CARGO").expect("cargo runs the tests"));
        assert!(matches!(Ptxas::at(&cargo), Err(PtxasError::UnknownRelease { .. })));
    }
}
