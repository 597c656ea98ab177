//! The attributes of warpwright: `#[kernel]`, `#[device]`, `#[warpwright::module]`.
//!
//! A shim: what they read and refuse is `warpwright_codegen::syntax`, what they write is `expand`. On an error the item is emitted
//! all the same, so that the rest of the crate and the IDE go on working.

mod diagnostics;
mod expand;
mod manifest;
mod review;

use proc_macro::TokenStream;
use std::sync::{Mutex, PoisonError};

/// Makes a function a GPU kernel: on the host its name becomes a function that returns a `Launch`.
///
/// The arguments are in the language's manual: `block`, `min_blocks`, `max_registers`, `index`, `math`, `contract`, `bounds`,
/// `raster`, `persistent`, `overlap`, `tensor`, `cluster`, `targets`, `variants`, `ilp`, `vectorize`, `batch_loads`, `best_effort`, `allow`, `warn`, `deny`.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    alone(|| expand::kernel(arguments.into(), item.into()).into())
}

/// Makes a function, struct, enum or `impl` known to kernels, in this crate and in others.
#[proc_macro_attribute]
pub fn device(arguments: TokenStream, item: TokenStream) -> TokenStream {
    alone(|| expand::device(arguments.into(), item.into()).into())
}

/// Makes a module one unit of device code: kernels, device functions, constants, structs with their methods, C-like enums.
#[proc_macro_attribute]
pub fn module(arguments: TokenStream, item: TokenStream) -> TokenStream {
    alone(|| expand::module(arguments.into(), item.into()).into())
}

/// Runs one macro at a time: an editor expands several at once in one process, and how proc-macro2 reads tokens is a process's (`review`).
fn alone<R>(expand: impl FnOnce() -> R) -> R {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    expand()
}
