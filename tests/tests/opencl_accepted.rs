//! OpenCL C of hand-built and of Rust kernels, compiled and run by PoCL and Oclgrind: no complaints, and the results that
//! [`warpwright_codegen::ir::eval`] gives, on edge values.

#[path = "opencl_accepted/arithmetic.rs"]
mod arithmetic;
#[path = "opencl_accepted/build.rs"]
mod build;

#[path = "opencl_accepted/control.rs"]
mod control;
#[path = "opencl_accepted/intrinsics.rs"]
mod intrinsics;
#[path = "opencl_accepted/sources.rs"]
mod sources;
#[path = "opencl_accepted/table.rs"]
mod table;
#[path = "opencl_accepted/warps.rs"]
mod warps;

/// The program that talks to OpenCL, if it was built. (Cargo tells its path whether or not it was.)
const CHILD: &str = env!("CARGO_BIN_EXE_opencl-child");

/// How many random kernels a test takes: `WARPWRIGHT_PROGRAMS`, or as many as it names itself.
fn programs(usual: u64) -> u64 {
    std::env::var("WARPWRIGHT_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}
