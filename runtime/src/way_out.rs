//! What to do where a library of NVIDIA's cannot be loaded: to install it, where it exists for the system at all.

/// What could not be loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Missing {
    /// The CUDA driver.
    Cuda,
    /// NCCL.
    Nccl,
}

/// The way out of a program on this system, by its name in [`std::env::consts::OS`].
pub(crate) fn way_out(missing: Missing, system: &str) -> &'static str {
    // Sources: NVIDIA's installation guides of CUDA, which are for Linux and Windows, and of NCCL, for Linux alone.
    match (missing, system) {
        (Missing::Cuda, "macos") => "NVIDIA has no driver for macOS: use `Device::simulator()` here, and a GPU under Linux or Windows",
        (Missing::Cuda, _) => "install NVIDIA's driver, or use `Device::simulator()`",
        (Missing::Nccl, "macos") => {
            "NVIDIA has no NCCL for macOS: use `Device::simulators(2)` here, which needs none, and GPUs under Linux"
        }
        (Missing::Nccl, "windows") => {
            "NVIDIA has no NCCL for Windows: run the program under Linux, which may be that of WSL 2, or use `Device::simulators(2)`, which needs none"
        }
        (Missing::Nccl, _) => {
            "install NVIDIA's NCCL (package `libnccl2`), or name the folder of a `libnccl.so.2` in LD_LIBRARY_PATH, as PyTorch brings one; `Device::simulators(2)` needs none"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody is told to install what does not exist, nor to set a variable that the system's loader does not read.
    #[test]
    fn each_system_is_told_of_what_exists_for_it() {
        // What is missing, where; what is said; what is not.
        let table: [(Missing, &str, &[&str], &[&str]); 6] = [
            (Missing::Cuda, "linux", &["install NVIDIA's driver"], &["no driver for"]),
            (Missing::Cuda, "windows", &["install NVIDIA's driver"], &["no driver for"]),
            (Missing::Cuda, "macos", &["no driver for macOS"], &["install"]),
            (Missing::Nccl, "linux", &["libnccl2", "libnccl.so.2", "LD_LIBRARY_PATH"], &["no NCCL for"]),
            (Missing::Nccl, "windows", &["no NCCL for Windows", "WSL 2"], &["install", "LD_LIBRARY_PATH", "libnccl", "macOS"]),
            (Missing::Nccl, "macos", &["no NCCL for macOS"], &["install", "LD_LIBRARY_PATH", "libnccl", "WSL"]),
        ];
        for (missing, system, said, unsaid) in table {
            let text = way_out(missing, system);
            for part in said {
                assert!(text.contains(part), "{missing:?} on {system} does not say `{part}`: {text}");
            }
            for part in unsaid {
                assert!(!text.contains(part), "{missing:?} on {system} says `{part}`: {text}");
            }
            let simulator = if matches!(missing, Missing::Cuda) { "`Device::simulator()`" } else { "`Device::simulators(2)`" };
            assert!(text.contains(simulator), "{missing:?} on {system} leaves no way out: {text}");
        }
        assert_eq!(way_out(Missing::Nccl, "freebsd"), way_out(Missing::Nccl, "linux"), "a system of which nothing is said here");
    }
}
