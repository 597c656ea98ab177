//! NCCL's functions: ranks of one program or of several, which a hub (`hub.rs`) takes together. As on GPUs, ranks that do not come, or do not agree, leave the others waiting until they are aborted.
//!
//! A call returns when its collective is done, and not before, behind what its stream has to do: streams are in order by that.

mod hub;
mod rank;
mod reduction;

use crate::failing::told;
use crate::state::any_state;
use hub::{Kind, Task};
use rank::{Rank, Request};
use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What went wrong (`ncclResult_t`).
pub(crate) type Code = u32;

pub(crate) const UNHANDLED_CUDA_ERROR: Code = 1;
pub(crate) const SYSTEM_ERROR: Code = 2;
pub(crate) const INTERNAL_ERROR: Code = 3;
pub(crate) const INVALID_ARGUMENT: Code = 4;
pub(crate) const INVALID_USAGE: Code = 5;
pub(crate) const REMOTE_ERROR: Code = 6;

/// What the codes mean, in NCCL's words (`ncclGetErrorString`).
const TEXTS: [&std::ffi::CStr; 8] = [
    c"no error",
    c"unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
    c"unhandled system error (run with NCCL_DEBUG=INFO for details)",
    c"internal error - please report this issue to the NCCL developers",
    c"invalid argument (run with NCCL_DEBUG=WARN for details)",
    c"invalid usage (run with NCCL_DEBUG=WARN for details)",
    c"remote process exited or there was a network error",
    c"NCCL operation in progress",
];

/// `ncclUniqueId`: the port of the group's hub; and who asked for it, the how manieth time, so that no two groups have the same.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct UniqueId([u8; 128]);

/// How many were asked for.
static ASKED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// How many groups of calls have begun in the calling thread and not ended.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// What is done together when the last of them ends.
    static GROUP: RefCell<Vec<(Arc<Rank>, Request)>> = const { RefCell::new(Vec::new()) };
}

/// Does something at once, or when the group that has begun ends.
fn put(rank: Arc<Rank>, request: Request) -> Result<(), Code> {
    GROUP.with_borrow_mut(|group| group.push((rank, request)));
    if DEPTH.get() == 0 { rank::answer(&GROUP.take()) } else { Ok(()) }
}

fn collective(
    (comm, stream): (usize, usize),
    kind: Kind,
    by: c_int,
    ty: c_int,
    peer: c_int,
    count: usize,
    from: u64,
    to: u64,
) -> Result<(), Code> {
    let rank = rank::known(comm)?;
    let peer = u32::try_from(peer).ok().filter(|peer| (*peer as usize) < rank.ranks()).ok_or(INVALID_ARGUMENT)?;
    let task = Task {
        kind,
        ty: u8::try_from(ty).map_err(|_| INVALID_ARGUMENT)?,
        by: u8::try_from(by).ok().filter(|by| *by <= reduction::AVERAGE).ok_or(INVALID_ARGUMENT)?,
        peer,
        count: count as u64,
    };
    let after = any_state().place_of(stream).map_err(|_| INVALID_ARGUMENT)?;
    put(rank, Request::Collective { task, from, to, after })
}

/// What a code means; nothing of one that NCCL does not have.
#[unsafe(no_mangle)]
pub extern "C" fn ncclGetErrorString(code: c_int) -> *const c_char {
    usize::try_from(code).ok().and_then(|code| TEXTS.get(code)).map_or(std::ptr::null(), |text| text.as_ptr())
}

exported! {
    /// What a group is known by: its hub is in the program that asks.
    fn ncclGetUniqueId(id: *mut UniqueId) {
        let port = hub::start().map_err(|_| SYSTEM_ERROR)?;
        let asked = ASKED.fetch_add(1, Ordering::Relaxed);
        let mut bytes = [0; 128];
        bytes[..2].copy_from_slice(&port.to_le_bytes());
        bytes[2..6].copy_from_slice(&std::process::id().to_le_bytes());
        bytes[6..14].copy_from_slice(&asked.to_le_bytes());
        put!(id, UniqueId(bytes));
        Ok(())
    }

    /// A rank, on the device of the calling thread's context. It waits for the others at once, or when the group of calls ends.
    fn ncclCommInitRank(comm: *mut usize, ranks: c_int, id: UniqueId, rank: c_int) {
        let port = u16::from_le_bytes([id.0[0], id.0[1]]);
        let (ranks, rank) = (usize::try_from(ranks), usize::try_from(rank));
        let (Ok(ranks), Ok(rank)) = (ranks, rank) else { return Err(INVALID_ARGUMENT) };
        let (handle, new) = rank::join(port, rank, ranks)?;
        put!(comm, handle);
        put(new, Request::Begin)
    }

    /// Its end.
    fn ncclCommDestroy(comm: usize) {
        rank::forget(comm)
    }

    /// Its end, whatever is under way: who waits for it goes on.
    fn ncclCommAbort(comm: usize) {
        rank::forget(comm)
    }

    /// What has gone wrong: what a test says of `asynchronous`, or that a rank's program is gone.
    fn ncclCommGetAsyncError(comm: usize, code: *mut c_int) {
        let found = rank::known(comm).map_or(0, |rank| rank.failure());
        put!(code, told("asynchronous").unwrap_or(found as c_int));
        Ok(())
    }

    /// What follows is one.
    fn ncclGroupStart() {
        DEPTH.set(DEPTH.get() + 1);
        Ok(())
    }

    /// Its end.
    fn ncclGroupEnd() {
        let left = DEPTH.get().checked_sub(1).ok_or(INVALID_USAGE)?;
        DEPTH.set(left);
        if left == 0 { rank::answer(&GROUP.take()) } else { Ok(()) }
    }

    /// Elements of all ranks taken together, on all of them.
    fn ncclAllReduce(from: *const c_void, to: *mut c_void, count: usize, ty: c_int, by: c_int, comm: usize, stream: usize) {
        collective((comm, stream), Kind::AllReduce, by, ty, 0, count, from as u64, to as u64)
    }

    /// Those of all ranks one behind the other.
    fn ncclAllGather(from: *const c_void, to: *mut c_void, count: usize, ty: c_int, comm: usize, stream: usize) {
        collective((comm, stream), Kind::AllGather, 0, ty, 0, count, from as u64, to as u64)
    }

    /// Those of all ranks taken together, and a part for each.
    fn ncclReduceScatter(from: *const c_void, to: *mut c_void, count: usize, ty: c_int, by: c_int, comm: usize, stream: usize) {
        collective((comm, stream), Kind::ReduceScatter, by, ty, 0, count, from as u64, to as u64)
    }

    /// Elements of all ranks taken together, on one of them.
    fn ncclReduce(from: *const c_void, to: *mut c_void, count: usize, ty: c_int, by: c_int, root: c_int, comm: usize, stream: usize) {
        collective((comm, stream), Kind::Reduce, by, ty, root, count, from as u64, to as u64)
    }

    /// Those of one rank.
    fn ncclBroadcast(from: *const c_void, to: *mut c_void, count: usize, ty: c_int, root: c_int, comm: usize, stream: usize) {
        collective((comm, stream), Kind::Broadcast, 0, ty, root, count, from as u64, to as u64)
    }

    /// To another rank.
    fn ncclSend(from: *const c_void, count: usize, ty: c_int, peer: c_int, comm: usize, stream: usize) {
        collective((comm, stream), Kind::Send, 0, ty, peer, count, from as u64, 0)
    }

    /// From another rank.
    fn ncclRecv(to: *mut c_void, count: usize, ty: c_int, peer: c_int, comm: usize, stream: usize) {
        collective((comm, stream), Kind::Receive, 0, ty, peer, count, 0, to as u64)
    }
}
