//! What the driver has: one device with its primary context and others, and what was made in them.

use crate::codes::{Code, INVALID_CONTEXT, INVALID_HANDLE};
use crate::graphs::Graph;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use warpwright_ptx_interpreter::{LoadedModule, Memory};

/// What objects are called by.
pub(crate) type Handle = usize;

/// The primary context.
pub(crate) const CONTEXT: Handle = 0x10;

/// The default streams: none, the legacy one and the one per thread (CUDA Driver API, "Stream synchronization behavior"). They are of whatever context is current.
const DEFAULT_STREAMS: std::ops::RangeInclusive<Handle> = 0..=2;

thread_local! {
    /// The calling thread's context.
    pub(crate) static CURRENT: Cell<Handle> = const { Cell::new(0) };
}

/// A kernel of a module that is loaded.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) context: Handle,
    pub(crate) module: Handle,
    pub(crate) name: String,
    /// Bytes of dynamic shared memory that launches may ask for.
    pub(crate) dynamic_limit: u32,
}

/// An array for textures.
pub(crate) struct Array {
    pub(crate) address: u64,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) format: u32,
    pub(crate) channels: u32,
}

/// All of it.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) memory: Memory,
    /// The code of what made the context lost.
    pub(crate) lost: Option<Code>,
    made: Handle,
    /// Those besides the primary one.
    pub(crate) contexts: Vec<Handle>,
    /// The context of each module, and the module.
    pub(crate) modules: HashMap<Handle, (Handle, Arc<LoadedModule>)>,
    pub(crate) functions: HashMap<Handle, Function>,
    /// The context of each stream.
    pub(crate) streams: HashMap<Handle, Handle>,
    /// When each event was recorded.
    pub(crate) events: HashMap<Handle, Option<Instant>>,
    pub(crate) arrays: HashMap<Handle, Array>,
    pub(crate) graphs: HashMap<Handle, Graph>,
    /// Forms that run.
    pub(crate) execs: HashMap<Handle, Graph>,
    /// Bytes of page-locked memory by address.
    pub(crate) pinned: HashMap<usize, usize>,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

/// All of it, also where the context is lost.
pub(crate) fn any_state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All of it, if the context is not lost.
pub(crate) fn state() -> Result<MutexGuard<'static, State>, Code> {
    let state = any_state();
    match state.lost {
        Some(code) => Err(code),
        None => Ok(state),
    }
}

impl State {
    /// What a new object is called by.
    pub(crate) fn new_handle(&mut self) -> Handle {
        self.made += 1;
        0x1000 + 0x10 * self.made
    }

    /// The context of a stream.
    pub(crate) fn context_of(&self, stream: Handle) -> Result<Handle, Code> {
        let current = current()?;
        if DEFAULT_STREAMS.contains(&stream) { Ok(current) } else { known(self.streams.get(&stream).copied()) }
    }
}

/// The calling thread's context.
pub(crate) fn current() -> Result<Handle, Code> {
    match CURRENT.get() {
        0 => Err(INVALID_CONTEXT),
        context => Ok(context),
    }
}

/// What a handle is of.
pub(crate) fn known<T>(found: Option<T>) -> Result<T, Code> {
    found.ok_or(INVALID_HANDLE)
}
