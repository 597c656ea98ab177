//! The libraries of drivers, which are loaded when they are first asked for: what each is called, and what to do where it is missing, by system.
//!
//! A system is named as in [`std::env::consts::OS`]. All of it is data, so that each system's part is tested on every other.

/// What a library has the functions of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Api {
    /// The CUDA driver.
    Cuda,
    /// The loader of OpenCL, which finds the drivers.
    OpenCl,
    /// NCCL.
    Nccl,
}

impl Api {
    /// What it may be called; the first that can be loaded is taken.
    pub(crate) fn names(self, system: &str) -> &'static [&'static str] {
        match (self, system) {
            (Api::Cuda, "windows") => &["nvcuda.dll"],
            (Api::Cuda, _) => &["libcuda.so.1", "libcuda.so"],
            (Api::OpenCl, "windows") => &["OpenCL.dll"],
            // A part of the system.
            (Api::OpenCl, "macos") => &["/System/Library/Frameworks/OpenCL.framework/OpenCL"],
            (Api::OpenCl, _) => &["libOpenCL.so.1", "libOpenCL.so"],
            (Api::Nccl, _) => &["libnccl.so.2", "libnccl.so"],
        }
    }

    /// The way out where it is missing.
    pub(crate) fn way_out(self, system: &str) -> &'static str {
        // Sources: NVIDIA's installation guides of CUDA, which are for Linux and Windows, and of NCCL, for Linux alone.
        match (self, system) {
            (Api::Cuda, "macos") => "NVIDIA has no driver for macOS: use `Device::simulator()` here, and a GPU under Linux or Windows",
            (Api::Cuda, _) => "install NVIDIA's driver, or use `Device::simulator()`",
            (Api::OpenCl, _) => {
                "install it with an OpenCL driver (on Windows a GPU's driver brings it; on Debian `apt install ocl-icd-libopencl1 pocl-opencl-icd` runs \
                 kernels on the CPU), or use `Device::simulator()`"
            }
            (Api::Nccl, "macos") => {
                "NVIDIA has no NCCL for macOS: use `Device::simulators(2)` here, which needs none, and GPUs under Linux"
            }
            (Api::Nccl, "windows") => {
                "NVIDIA has no NCCL for Windows: run the program under Linux, which may be that of WSL 2, or use `Device::simulators(2)`, which needs none"
            }
            (Api::Nccl, _) => {
                "install NVIDIA's NCCL (package `libnccl2`), or name the folder of a `libnccl.so.2` in LD_LIBRARY_PATH, as PyTorch brings one; `Device::simulators(2)` needs none"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Api::{Cuda, Nccl, OpenCl};
    use super::*;

    const SYSTEMS: [&str; 3] = ["linux", "windows", "macos"];

    /// Nobody is told to install what does not exist, nor to set a variable that the system's loader does not read.
    #[test]
    fn each_system_is_told_of_what_exists_for_it() {
        // What is missing, where; what is said; what is not.
        let table: [(Api, &str, &[&str], &[&str]); 7] = [
            (Cuda, "linux", &["install NVIDIA's driver"], &["no driver for"]),
            (Cuda, "windows", &["install NVIDIA's driver"], &["no driver for"]),
            (Cuda, "macos", &["no driver for macOS"], &["install"]),
            (OpenCl, "linux", &["apt install"], &[]),
            (Nccl, "linux", &["libnccl2", "libnccl.so.2", "LD_LIBRARY_PATH"], &["no NCCL for"]),
            (Nccl, "windows", &["no NCCL for Windows", "WSL 2"], &["install", "LD_LIBRARY_PATH", "libnccl", "macOS"]),
            (Nccl, "macos", &["no NCCL for macOS"], &["install", "LD_LIBRARY_PATH", "libnccl", "WSL"]),
        ];
        for (missing, system, said, unsaid) in table {
            let text = missing.way_out(system);
            for part in said {
                assert!(text.contains(part), "{missing:?} on {system} does not say `{part}`: {text}");
            }
            for part in unsaid {
                assert!(!text.contains(part), "{missing:?} on {system} says `{part}`: {text}");
            }
        }
        for system in SYSTEMS {
            let simulators = [(Cuda, "`Device::simulator()`"), (OpenCl, "`Device::simulator()`"), (Nccl, "`Device::simulators(2)`")];
            for (missing, simulator) in simulators {
                assert!(missing.way_out(system).contains(simulator), "{missing:?} on {system} leaves no way out");
            }
        }
        assert_eq!(Nccl.way_out("freebsd"), Nccl.way_out("linux"), "a system of which nothing is said here");
    }

    /// Drivers install these: NVIDIA's "CUDA Driver API" names `nvcuda.dll` and `libcuda.so`, Khronos's loader `OpenCL.dll` and `libOpenCL.so`.
    #[test]
    fn each_system_has_its_own_names() {
        for (api, windows, linux) in [(Cuda, "nvcuda.dll", "libcuda.so.1"), (OpenCl, "OpenCL.dll", "libOpenCL.so.1")] {
            assert_eq!(api.names("windows"), [windows]);
            assert_eq!(api.names("linux")[0], linux);
        }
        assert!(OpenCl.names("macos")[0].starts_with("/System/Library/Frameworks/"));
        for api in [Cuda, OpenCl, Nccl] {
            assert!(SYSTEMS.iter().all(|system| !api.names(system).is_empty()), "{api:?}");
        }
    }
}
