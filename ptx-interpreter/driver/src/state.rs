//! What the driver has: devices, each with its memory, its primary context and others, and what was made in them.

use crate::codes::{Code, INVALID_CONTEXT, INVALID_HANDLE, INVALID_VALUE};
use crate::graphs::Graph;
use crate::queues::{Place, Queue};
use crate::streams::Event;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use warpwright_ptx_interpreter::{LoadedModule, MOST_DEVICES, Memory};

/// What objects are called by.
pub(crate) type Handle = usize;

/// The primary context of a device; all other handles are larger.
pub(crate) const fn primary_context(device: usize) -> Handle {
    0x10 * (device + 1)
}

const _: () = assert!(primary_context(MOST_DEVICES - 1) < FIRST_HANDLE);

/// What other objects are called from here on.
const FIRST_HANDLE: Handle = 0x1000;

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

/// A device.
pub(crate) struct Gpu {
    pub(crate) memory: Memory,
    /// The code of what made its contexts lost.
    pub(crate) lost: Option<Code>,
}

/// All of it.
pub(crate) struct State {
    gpus: Vec<Gpu>,
    made: Handle,
    /// The device of each context, those besides the primary ones among them.
    pub(crate) contexts: HashMap<Handle, usize>,
    /// The context of each module, and the module.
    pub(crate) modules: HashMap<Handle, (Handle, Arc<LoadedModule>)>,
    pub(crate) functions: HashMap<Handle, Function>,
    /// The context of each stream.
    pub(crate) streams: HashMap<Handle, Handle>,
    /// Those of them that the legacy default stream does not wait for, nor they for it.
    pub(crate) non_blocking: HashSet<Handle>,
    /// What streams have to do.
    pub(crate) queues: HashMap<Place, Queue>,
    pub(crate) events: HashMap<Handle, Event>,
    pub(crate) arrays: HashMap<Handle, Array>,
    pub(crate) graphs: HashMap<Handle, Graph>,
    /// Forms that run.
    pub(crate) execs: HashMap<Handle, Graph>,
    /// Contexts that reach the memory of others, with those.
    pub(crate) peers: HashSet<(Handle, Handle)>,
    /// The primary context of each pool's device.
    pub(crate) pools: HashMap<Handle, Handle>,
    /// Bytes of page-locked memory by address.
    pub(crate) pinned: HashMap<usize, usize>,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::new(crate::device::count())));

/// All of it, also where the calling thread has no context, or one that is lost.
pub(crate) fn any_state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All of it, if the calling thread has a context and that is not lost.
pub(crate) fn state() -> Result<MutexGuard<'static, State>, Code> {
    let mut state = any_state();
    match state.gpu()?.lost {
        Some(code) => Err(code),
        None => Ok(state),
    }
}

/// All of it, if the calling thread has no context that is lost.
pub(crate) fn state_of_all() -> Result<MutexGuard<'static, State>, Code> {
    let mut state = any_state();
    match state.gpu().ok().and_then(|gpu| gpu.lost) {
        Some(code) => Err(code),
        None => Ok(state),
    }
}

impl State {
    fn new(devices: usize) -> State {
        State {
            gpus: (0..devices).map(|device| Gpu { memory: Memory::of_device(device), lost: None }).collect(),
            made: 0,
            contexts: (0..devices).map(|device| (primary_context(device), device)).collect(),
            modules: HashMap::new(),
            functions: HashMap::new(),
            streams: HashMap::new(),
            non_blocking: HashSet::new(),
            queues: HashMap::new(),
            events: HashMap::new(),
            arrays: HashMap::new(),
            graphs: HashMap::new(),
            execs: HashMap::new(),
            peers: HashSet::new(),
            pools: HashMap::new(),
            pinned: HashMap::new(),
        }
    }

    /// What a new object is called by.
    pub(crate) fn new_handle(&mut self) -> Handle {
        self.made += 1;
        FIRST_HANDLE + 0x10 * self.made
    }

    /// The device of the calling thread's context.
    pub(crate) fn gpu(&mut self) -> Result<&mut Gpu, Code> {
        self.gpu_of(current()?)
    }

    /// The device of a context.
    pub(crate) fn gpu_of(&mut self, context: Handle) -> Result<&mut Gpu, Code> {
        let device = *self.contexts.get(&context).ok_or(INVALID_CONTEXT)?;
        self.gpus.get_mut(device).ok_or(INVALID_CONTEXT)
    }

    /// The memory that an address is in.
    pub(crate) fn memory_at(&mut self, address: u64) -> Result<&mut Memory, Code> {
        self.gpus.get_mut(Memory::device_of(address)).map(|gpu| &mut gpu.memory).ok_or(INVALID_VALUE)
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
