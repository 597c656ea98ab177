//! NCCL, loaded when it is first asked for.
//!
//! A table of its functions like that of the CUDA driver's, and not `cudarc`'s: that panics where the library or a function is missing, and is fixed to one version of NCCL when the program is built.
//! Communicators block the thread that launches, which costs least; so they are made in a thread of their own that can be given up, and watched from then on.

#![expect(unsafe_code, reason = "calls NCCL")]

use super::ledger::Ledger;
use super::meeting::{ID_BYTES, Left, Rendezvous};
use super::watch::Watch;
use super::{CollectiveLaunch, Kind, Task, address};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::libraries::Api;
use libloading::Library;
use std::env::consts::OS;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

type Comm = *mut c_void;
type Stream = *mut c_void;
type Code = c_int;

const SUCCESS: Code = 0;
const IN_PROGRESS: Code = 7;

/// `ncclUniqueId`.
#[derive(Clone, Copy)]
#[repr(C)]
struct UniqueId([u8; ID_BYTES]);

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($arg:ty),*) -> $result:ty;)*) => {
        /// The functions that are called here.
        struct Nccl {
            $($name: unsafe extern "C" fn($($arg),*) -> $result,)*
        }

        impl Nccl {
            fn load() -> Result<Nccl, String> {
                // SAFETY: loads a library; its initialisers are the vendor's.
                let found = Api::Nccl.names(OS).iter().find_map(|name| unsafe { Library::new(*name) }.ok());
                // It stays for good: what is found in it is called until the process ends.
                let library: &Library = Box::leak(Box::new(found.ok_or("no library `nccl` (libnccl.so.2) can be loaded")?));
                Ok(Nccl {
                    $($name: {
                        // SAFETY: the symbol has this signature since NCCL 2.7: NCCL's documentation, "NCCL API".
                        let found = unsafe { library.get::<unsafe extern "C" fn($($arg),*) -> $result>($symbol.as_bytes()) };
                        *found.map_err(|_| format!("the library lacks the function `{}`: it is older than NCCL 2.7", $symbol))?
                    },)*
                })
            }
        }
    };
}

functions! {
    unique_id = "ncclGetUniqueId" (*mut UniqueId) -> Code;
    init_rank = "ncclCommInitRank" (*mut Comm, c_int, UniqueId, c_int) -> Code;
    destroy = "ncclCommDestroy" (Comm) -> Code;
    abort = "ncclCommAbort" (Comm) -> Code;
    async_error = "ncclCommGetAsyncError" (Comm, *mut Code) -> Code;
    error_text = "ncclGetErrorString" (Code) -> *const c_char;
    group_start = "ncclGroupStart" () -> Code;
    group_end = "ncclGroupEnd" () -> Code;
    all_reduce = "ncclAllReduce" (*const c_void, *mut c_void, usize, c_int, c_int, Comm, Stream) -> Code;
    all_gather = "ncclAllGather" (*const c_void, *mut c_void, usize, c_int, Comm, Stream) -> Code;
    reduce_scatter = "ncclReduceScatter" (*const c_void, *mut c_void, usize, c_int, c_int, Comm, Stream) -> Code;
    reduce = "ncclReduce" (*const c_void, *mut c_void, usize, c_int, c_int, c_int, Comm, Stream) -> Code;
    broadcast = "ncclBroadcast" (*const c_void, *mut c_void, usize, c_int, c_int, Comm, Stream) -> Code;
    send = "ncclSend" (*const c_void, usize, c_int, c_int, Comm, Stream) -> Code;
    receive = "ncclRecv" (*mut c_void, usize, c_int, c_int, Comm, Stream) -> Code;
}

impl Nccl {
    fn get() -> Result<&'static Nccl> {
        static NCCL: OnceLock<Result<Nccl, String>> = OnceLock::new();
        let loaded = NCCL.get_or_init(Nccl::load).as_ref();
        loaded.map_err(|reason| Error::NoDriver { api: "NCCL", reason: reason.clone(), help: Api::Nccl.way_out(OS) })
    }

    fn text(&self, code: Code) -> String {
        // SAFETY: a static string for every code.
        let text = unsafe { (self.error_text)(code) };
        if text.is_null() {
            return format!("code {code}");
        }
        // SAFETY: a C string.
        format!("{} ({code})", unsafe { CStr::from_ptr(text) }.to_string_lossy())
    }

    fn check(&self, code: Code, call: &str) -> Result<()> {
        match code {
            SUCCESS | IN_PROGRESS => Ok(()),
            code => Err(Error::Driver { call: call.to_owned(), code: self.text(code), context: String::new() }),
        }
    }

    fn new_id(&self) -> Result<[u8; ID_BYTES]> {
        let mut id = UniqueId([0; ID_BYTES]);
        // SAFETY: writes one identity.
        self.check(unsafe { (self.unique_id)(&mut id) }, "ncclGetUniqueId").map(|()| id.0)
    }
}

/// A communicator of NCCL's.
pub(super) struct Handle {
    nccl: &'static Nccl,
    comm: Comm,
    /// Whether it is aborted or destroyed: held while its errors are asked for, which need it.
    is_gone: Mutex<bool>,
}

// SAFETY: one thread at a time launches with it, under a lock; errors are asked for and it is aborted from any, as NCCL allows, also while another waits in a launch.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    fn is_gone(&self) -> MutexGuard<'_, bool> {
        self.is_gone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What went wrong in what is under way, if something did.
    pub(super) fn async_error(&self) -> Option<String> {
        let is_gone = self.is_gone();
        if *is_gone {
            return None;
        }
        let mut code = SUCCESS;
        // SAFETY: writes one code; the communicator is there as long as the lock is held.
        let asked = unsafe { (self.nccl.async_error)(self.comm, &mut code) };
        [asked, code].into_iter().find(|code| ![SUCCESS, IN_PROGRESS].contains(code)).map(|code| self.nccl.text(code))
    }

    /// Ends what is under way and frees it.
    pub(super) fn abort(&self) {
        let mut is_gone = self.is_gone();
        if !std::mem::replace(&mut *is_gone, true) {
            // SAFETY: made by NCCL, not freed before; its failure is told first, so nobody begins to launch with it.
            let _ = unsafe { (self.nccl.abort)(self.comm) };
        }
    }

    fn destroy(&self) {
        let mut is_gone = self.is_gone();
        if !std::mem::replace(&mut *is_gone, true) {
            // SAFETY: as above, and nothing is under way.
            let _ = unsafe { (self.nccl.destroy)(self.comm) };
        }
    }
}

/// One rank.
pub(super) struct Rank {
    handle: Arc<Handle>,
    watch: Arc<Watch>,
    /// Held from the look at its failure until a launch is in its stream.
    launching: Mutex<()>,
    /// What all ranks of its group launch that are here.
    ledger: Arc<Ledger>,
    group: u64,
}

impl Rank {
    fn new(handle: Handle, ledger: &Arc<Ledger>, group: u64, rank: usize, device: &Device) -> Result<Rank> {
        let (handle, ledger) = (Arc::new(handle), Arc::clone(ledger));
        let watch = Watch::start(&handle, &ledger, rank, device).map_err(|error| no_thread(&error))?;
        Ok(Rank { handle, watch, launching: Mutex::new(()), ledger, group })
    }

    /// Why it is of no use any more, if it is.
    fn failure(&self) -> Option<String> {
        self.watch.failure().or_else(|| self.ledger.failure().map(str::to_owned))
    }

    /// Which group it belongs to.
    pub(super) fn group(&self) -> u64 {
        self.group
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        if !self.watch.close() {
            return self.handle.abort();
        }
        // In a thread that can be given up: NCCL may wait for ranks that are gone.
        let (handle, (tell, told)) = (Arc::clone(&self.handle), channel());
        let ended = std::thread::Builder::new().name("warpwright-nccl-end".to_owned()).spawn(move || {
            handle.destroy();
            // Nobody listens if the time was over.
            let _ = tell.send(());
        });
        match ended {
            Ok(_) => drop(told.recv_timeout(END)),
            Err(_) => self.handle.destroy(),
        }
    }
}

/// How long the end of a communicator is waited for.
const END: Duration = Duration::from_secs(10);

impl Drop for Handle {
    fn drop(&mut self) {
        // One that was not handed over, or not ended: nobody launches with it.
        self.abort();
    }
}

/// Numbers of groups, in this program.
static GROUPS: AtomicU64 = AtomicU64::new(0);

/// A rank for each of some GPUs of this program.
pub(super) fn all(devices: &[Device], limit: Duration) -> Result<Vec<Rank>> {
    let nccl = Nccl::get()?;
    let id = nccl.new_id()?;
    let ranks: Vec<usize> = (0..devices.len()).collect();
    made(nccl, devices, &ranks, devices.len(), id, limit, limit)
}

/// One rank, where the others are elsewhere.
pub(super) fn join(device: &Device, rank: usize, ranks: usize, meeting: &Rendezvous, limit: Duration) -> Result<Rank> {
    let nccl = Nccl::get()?;
    let end = Instant::now().checked_add(limit);
    let (id, _left): (_, Left) = meeting.meet(rank, ranks, || nccl.new_id(), end)?;
    let left = end.map_or(limit, |end| end.saturating_duration_since(Instant::now()));
    let mut made = made(nccl, std::slice::from_ref(device), &[rank], ranks, id, left, limit)?;
    made.pop().ok_or_else(|| Error::internal("NCCL"))
}

fn no_thread(error: &std::io::Error) -> Error {
    Error::Collective {
        reason: format!("no thread can be started: {error}; help: raise the limit of threads, `ulimit -u`, or start fewer"),
    }
}

/// Says of a failed call which rank it was of, and where NCCL says more.
fn not_begun(error: Error, device: &Device, rank: usize, ranks: usize) -> Error {
    match error {
        Error::Driver { call, code, .. } => {
            let context = format!(" on {device}, rank {rank} of {ranks}; help: with NCCL_DEBUG=INFO in the environment NCCL prints why");
            Error::Driver { call, code, context }
        }
        other => other,
    }
}

/// The communicators of ranks that are here, made in a thread that is given up when the time is over.
fn made(
    nccl: &'static Nccl,
    devices: &[Device],
    ranks: &[usize],
    of: usize,
    id: [u8; ID_BYTES],
    left: Duration,
    limit: Duration,
) -> Result<Vec<Rank>> {
    let ledger = Ledger::with_ranks(&id, ranks);
    let (tell, told) = channel();
    let (devices_here, ranks_here) = (devices.to_vec(), ranks.to_vec());
    let make = move || -> Result<Vec<Handle>> {
        let mut comms: Vec<Comm> = vec![null_mut(); devices_here.len()];
        // SAFETY: takes nothing.
        nccl.check(unsafe { (nccl.group_start)() }, "ncclGroupStart")?;
        let mut outcome = Ok(());
        for ((device, rank), comm) in devices_here.iter().zip(&ranks_here).zip(&mut comms) {
            let begun = device.driver().make_current().and_then(|()| {
                // SAFETY: writes one communicator, of the GPU whose context is current.
                let code = unsafe { (nccl.init_rank)(comm, of as c_int, UniqueId(id), *rank as c_int) };
                nccl.check(code, "ncclCommInitRank")
            });
            outcome = outcome.and(begun.map_err(|error| not_begun(error, device, *rank, of)));
        }
        // SAFETY: ends what was begun.
        let ended = nccl.check(unsafe { (nccl.group_end)() }, "ncclCommInitRank");
        outcome.and(ended.map_err(|error| not_begun(error, &devices_here[0], ranks_here[0], of)))?;
        Ok(comms.into_iter().map(|comm| Handle { nccl, comm, is_gone: Mutex::new(false) }).collect())
    };
    let spawned = std::thread::Builder::new().name("warpwright-nccl-init".to_owned()).spawn(move || {
        // Nobody listens if the time was over.
        let _ = tell.send(make());
    });
    spawned.map_err(|error| no_thread(&error))?;
    match told.recv_timeout(left) {
        Ok(comms) => {
            let group = GROUPS.fetch_add(1, Ordering::Relaxed);
            let here = ranks.iter().zip(devices);
            comms?.into_iter().zip(here).map(|(comm, (rank, device))| Rank::new(comm, &ledger, group, *rank, device)).collect()
        }
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            let here: Vec<_> = ranks.iter().map(ToString::to_string).collect();
            let reason = format!(
                "of {of} ranks not all have come within {limit:?}: rank {} of this program waited; help: start all of them, each with the same number of ranks",
                here.join(", ")
            );
            Err(Error::Collective { reason })
        }
    }
}

/// A failure without the help that was told with it.
fn why(failure: &str) -> &str {
    failure.split_once("; help: ").map_or(failure, |(why, _)| why)
}

/// Launches collectives as one.
pub(super) fn launch(collectives: &[(&Rank, &CollectiveLaunch<'_>)]) -> Result<()> {
    let Some((first, _)) = collectives.first() else { return Ok(()) };
    let nccl = first.handle.nccl;
    // In one order, and each once: threads that launch with several ranks do not wait for each other in a circle.
    let mut ranks: Vec<(&Rank, &Device)> = collectives.iter().map(|(rank, collective)| (*rank, &collective.communicator.device)).collect();
    ranks.sort_unstable_by_key(|(rank, _)| std::ptr::from_ref(*rank));
    ranks.dedup_by_key(|(rank, _)| std::ptr::from_ref(*rank));
    // What two threads launch for several GPUs goes into all of them in the same order, or they would wait for each other for ever.
    let mut devices: Vec<&Device> = if ranks.len() > 1 { ranks.iter().map(|(_, device)| *device).collect() } else { Vec::new() };
    devices.sort_unstable_by_key(|device| device.order());
    devices.dedup();
    let _ordered: Vec<_> = devices.iter().map(|device| device.lock_collectives()).collect();
    let _launching: Vec<_> = ranks.iter().map(|(rank, _)| rank.launching.lock().unwrap_or_else(PoisonError::into_inner)).collect();
    for (rank, collective) in collectives {
        if let Some(failure) = rank.failure() {
            return Err(collective.refuse(format_args!(
                "the communicator failed before: {}; help: make a new one with the ranks that are left",
                why(&failure)
            )));
        }
    }
    let agreed = collectives.iter().try_for_each(|(rank, collective)| rank.ledger.launches(collective.communicator.rank, collective.task));
    if let Err(reason) = agreed {
        // NCCL has none of it, and what it has is of no use: the ranks that wait for these are given up by their watches.
        ranks.iter().for_each(|(rank, _)| rank.watch.give_up(&rank.handle, &reason));
        return Err(Error::Collective { reason });
    }
    // Watched before: NCCL makes connections when they are first needed, and waits for the others.
    let begin = |(rank, collective): &(&Rank, &CollectiveLaunch<'_>)| {
        let CollectiveLaunch { communicator, task, .. } = collective;
        collective.core().may_hang();
        let of = [communicator.rank, communicator.ranks];
        rank.watch.begin(*task, of, &communicator.device, communicator.limit)
    };
    let numbers: Vec<u64> = collectives.iter().map(begin).collect();
    let outcome = put_all(nccl, collectives);
    // One that was given up meanwhile says why; NCCL only that it failed.
    let outcome = match ranks.iter().find_map(|(rank, _)| rank.watch.failure()) {
        Some(reason) => Err(Error::Collective { reason }),
        None => outcome,
    };
    let launched = outcome.and_then(|()| {
        let passed: Vec<_> = collectives.iter().map(|(_, collective)| collective.core().queue().mark()).collect::<Result<_>>()?;
        let mut all = collectives.iter().zip(&numbers).zip(passed);
        all.try_for_each(|(((rank, _), number), passed)| rank.watch.launched(*number, passed))
    });
    launched.inspect_err(|error| {
        // This is told here, and by no stream.
        collectives.iter().zip(&numbers).for_each(|((rank, _), number)| rank.watch.withdraw(*number));
        // Some ranks may have begun, and wait for others.
        ranks.iter().for_each(|(rank, _)| rank.watch.give_up(&rank.handle, &error.to_string()));
    })
}

/// Puts all into their streams, as one.
fn put_all(nccl: &Nccl, collectives: &[(&Rank, &CollectiveLaunch<'_>)]) -> Result<()> {
    let refuse = |of: &CollectiveLaunch<'_>, error: Error| {
        of.refuse(format_args!(
            "{error}; help: look at what the programs of the other ranks say; make a new communicator with the ranks that are left"
        ))
    };
    // SAFETY: takes nothing.
    nccl.check(unsafe { (nccl.group_start)() }, "ncclGroupStart").map_err(|error| refuse(collectives[0].1, error))?;
    let put = collectives.iter().try_for_each(|(rank, of)| put(nccl, rank, of).map_err(|error| refuse(of, error)));
    // SAFETY: ends what was begun.
    let ended = nccl.check(unsafe { (nccl.group_end)() }, "ncclGroupEnd");
    // NCCL does not say whose call has failed: one that it says something of, or whose device takes nothing any more.
    let is_lost = |rank: &Rank, of: &CollectiveLaunch<'_>| rank.handle.async_error().is_some() || of.core().queue().mark().is_err();
    put.and_then(|()| {
        ended.map_err(|error| {
            let lost = collectives.iter().find(|(rank, of)| is_lost(rank, of));
            refuse(lost.unwrap_or(&collectives[0]).1, error)
        })
    })
}

/// Puts one into its stream.
fn put(nccl: &Nccl, rank: &Rank, collective: &CollectiveLaunch<'_>) -> Result<()> {
    collective.communicator.device.driver().make_current()?;
    let (comm, stream) = (rank.handle.comm, collective.core().handle() as Stream);
    let (from, to) = (address(collective.from) as *const c_void, address(collective.to) as *mut c_void);
    let Task { kind, ty, count } = collective.task;
    let ty = ty.of_nccl();
    // SAFETY: so many elements of this type are at both addresses, times the ranks where parts are gathered or scattered; the buffers are the device's and are kept by their uses until the stream is done with them.
    let code = unsafe {
        match kind {
            Kind::AllReduce(by) => (nccl.all_reduce)(from, to, count, ty, by.of_nccl(), comm, stream),
            Kind::AllGather => (nccl.all_gather)(from, to, count, ty, comm, stream),
            Kind::ReduceScatter(by) => (nccl.reduce_scatter)(from, to, count, ty, by.of_nccl(), comm, stream),
            Kind::Reduce(by, root) => (nccl.reduce)(from, to, count, ty, by.of_nccl(), root as c_int, comm, stream),
            Kind::Broadcast(root) => (nccl.broadcast)(from, to, count, ty, root as c_int, comm, stream),
            Kind::Send(peer) => (nccl.send)(from, count, ty, peer as c_int, comm, stream),
            Kind::Receive(peer) => (nccl.receive)(to, count, ty, peer as c_int, comm, stream),
        }
    };
    nccl.check(code, collective.task.kind.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_library_there_is_an_error_that_says_where_it_is_looked_for() {
        match Nccl::get() {
            Ok(nccl) => assert!(nccl.text(1).contains("(1)")),
            Err(error @ Error::NoDriver { .. }) => {
                let text = error.to_string();
                assert!(text.starts_with("no NCCL driver: ") && text.contains(Api::Nccl.names(OS)[0]), "{text}");
                assert!(text.ends_with(Api::Nccl.way_out(OS)), "{text}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}
