//! Panics of a kernel's body: caught, kept quiet, and told as an error.

use super::TwinError;
use crate::Dim3;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether panics on this OS thread are a kernel's.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// Where the last of them began.
    static LOCATION: RefCell<Option<(String, u32, u32)>> = const { RefCell::new(None) };
}

/// While it lives, the panic hook says nothing about panics of this OS thread.
pub(super) struct Quiet {
    before: bool,
}

/// Keeps panics of this OS thread quiet. The hook is wrapped once per process; one that the program sets later says what it likes, and
/// then errors lack the place.
pub(super) fn catch_quietly() -> Quiet {
    static WRAP: Once = Once::new();
    // A hook cannot be set while panicking (a launch in a destructor): then another launch will do it.
    if !std::thread::panicking() {
        WRAP.call_once(|| {
            let previous = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                if QUIET.try_with(Cell::get).unwrap_or(false) {
                    let location = info.location().map(|at| (at.file().to_owned(), at.line(), at.column()));
                    LOCATION.set(location);
                } else {
                    previous(info);
                }
            }));
        });
    }
    Quiet { before: QUIET.replace(true) }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(self.before);
        LOCATION.take();
    }
}

/// What a panic said, and where.
pub(super) struct Panic {
    message: String,
    location: Option<(String, u32, u32)>,
}

/// Runs `body`; a panic in it becomes an `Err`.
pub(super) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, Panic> {
    // Whatever the body leaves half done is in buffers and shared memory, where a fault leaves it on a device too.
    panic::catch_unwind(AssertUnwindSafe(body)).map_err(|payload| Panic { message: message(&*payload), location: LOCATION.take() })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("panicked");
    if text.starts_with("attempt to ") && text.ends_with(" with overflow") {
        let way_out = "the device wraps here; write `wrapping_…` if that is meant, or build without overflow checks";
        format!("{text} ({way_out})")
    } else {
        format!("{text}{}", way_out(text))
    }
}

/// The way out of what std says of an operation, or nothing.
fn way_out(text: &str) -> String {
    if let Some(length) = text.strip_prefix("index out of bounds: the len is ").and_then(|rest| rest.split(' ').next()) {
        return format!("; help: guard it, `if i < {length}` where `i` is the index");
    }
    let is_division = text.starts_with("attempt to ") && text.ends_with(" zero");
    if is_division { "; help: divide only where the divisor is not 0".to_owned() } else { String::new() }
}

impl Panic {
    /// As the error of a thread.
    pub(super) fn into_error(self, block: Dim3, thread: Dim3) -> TwinError {
        TwinError { message: self.message, location: self.location, thread: Some((block, thread)) }
    }
}
