//! The application suite of Ryoo et al. (PPoPP 2008), one file each: what the program does, its kernel as one would write it first, its variants,
//! a reference in plain Rust that shares nothing with the kernel, and a generator of inputs like those that the application sees.
//!
//! Every application has the same four parts, so that tests, benchmarks and readers find them:
//!
//! * `Input`: what the host knows. `Input::new(seed, …)` draws one; the fields are public, so a program may bring its own.
//! * `Resident`: the same on a device. `Resident::new(&device, &input)` checks and uploads it, `run::<…>(go)` makes the launches of a variant, `result()` downloads.
//! * `declared()`: the declared variants, each as a run of `Resident`.
//! * `Input::reference()`, in double precision where the kernel computes in single, and `Input::one_core(…)`: the same work as a good programmer
//!   writes it for one core of a processor, in the kernel's precision, which is what the document's speed-ups are over.

pub mod coulomb;
mod declared;
pub mod fdtd;
pub mod fem;
pub mod lbm;
pub mod mri;
pub mod pns;
pub mod rc5;
pub mod rpes;
pub mod sad;
pub mod saxpy;
pub mod tpacf;

pub use declared::Declared;

use warpwright::Launch;

/// Why an application did not run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The input is none that the application is defined for: what, the figure, the limit.
    #[error("{0}")]
    Input(String),
    /// The device failed, or a launch was refused.
    #[error(transparent)]
    Device(#[from] warpwright::Error),
}

/// What an application gives.
pub type Result<T> = std::result::Result<T, Error>;

/// What is done with each launch of a run, in order: launched on a device, timed, looked at.
pub type Go<'g> = dyn FnMut(Launch<'_>) -> warpwright::Result<()> + 'g;

/// Where tests run all that is declared: on the simulator and the host twin; on every device there is, with `WARPWRIGHT_EVERY_DEVICE` set.
#[cfg(test)]
fn devices() -> Vec<warpwright::Device> {
    use warpwright::Device;
    if std::env::var_os("WARPWRIGHT_EVERY_DEVICE").is_some() { Device::all() } else { vec![Device::simulator(), Device::host()] }
}
