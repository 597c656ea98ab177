//! What `warpwright tune` found, read by a program: `scale.tuned.toml` has the lines that are shown.

use std::fmt::Display;
use warpwright::prelude::*;
use warpwright::tuned::COMPILER;
use warpwright::{Tuned, TunedError};
use warpwright_tests::command::Folder;

#[kernel(block = B, variants(B in [64, 128]))]
pub fn scale<const B: usize>(y: &mut Global<f32>) {
    y[global_id().x] *= 2.0;
}

/// The result in a file of these lines.
fn load(lines: &str, device: &Device) -> Result<Tuned, TunedError> {
    let folder = Folder::new("errors-tuned", &[("scale.tuned.toml", lines.as_bytes())]);
    Tuned::load(folder.0.join("scale.tuned.toml"), device).map_err(|error| match error {
        TunedError::Malformed { reason, .. } => TunedError::Malformed { path: "scale.tuned.toml".to_owned(), reason },
        error => error,
    })
}

/// The lines of a result for this version of the compiler.
fn lines(device: impl Display, target: &str, best: &str) -> String {
    format!(
        "schema = \"1\"\nkernel = \"scale\"\ndevice = \"{device}\"\ncompiler = \"{COMPILER}\"\ntarget = \"{target}\"\nfingerprint = \"0\"\n[best]\n{best}\n"
    )
}

super::examples! {
    TunedError, "TunedError::";

    /// A file that is not there
    fn unreadable(device) {
        Tuned::load("missing.tuned.toml", device).map(drop)
    }

    /// A file that is no TOML
    fn no_toml(device) {
        load("kernel: scale", device).map(drop)
    }

    /// A file without a field
    fn no_schema(device) {
        load("kernel = \"scale\"", device).map(drop)
    }

    /// A file of another schema
    fn other_schema(device) {
        load("schema = \"2\"", device).map(drop)
    }

    /// A run that was not finished
    fn unfinished(device) {
        load(&lines(device, "sm_90", "").replace("[best]", ""), device).map(drop)
    }

    /// A result of another device
    fn other_device(device) {
        load(&lines("NVIDIA H100", "sm_90", "B = 64"), device).map(drop)
    }

    /// A result of another version of the compiler
    fn other_compiler(device) {
        load(&lines(device, "sm_90", "B = 64").replace(COMPILER, "0.0.1"), device).map(drop)
    }

    /// A kernel that has changed
    fn changed(device) {
        let tuned = load(&lines(device, "sm_90", "B = 64"), device)?;
        tuned.check(&scale::<64>(&mut device.zeros::<f32>(64).expect("there is room")))
    }

    /// A target that the compiler does not have
    fn no_target(device) {
        let tuned = load(&lines(device, "sm_91", "B = 64"), device)?;
        tuned.check(&scale::<64>(&mut device.zeros::<f32>(64).expect("there is room")))
    }

    /// A best variant that the program does not declare
    fn no_variant(device) {
        let tuned = load(&lines(device, "sm_90", "B = 256"), device)?;
        scale_variants().tuned(&tuned).map(drop)
    }

    /// A generic that the kernel does not have
    fn no_generic(device) {
        load(&lines(device, "sm_90", "B = 64"), device)?.int("T").map(drop)
    }

    /// A generic of another type
    fn other_type(device) {
        load(&lines(device, "sm_90", "B = 64"), device)?.bool("B").map(drop)
    }
}
