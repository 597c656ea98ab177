//! NCCL's functions: each succeeds at once and moves nothing, so that a test sees what is said when one of them fails (`PTX_INTERPRETER_FAILS`).

use crate::failing::told;
use std::ffi::{c_char, c_int, c_void};

/// `ncclUniqueId`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct UniqueId([u8; 128]);

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

/// What a code means; nothing of one that NCCL does not have.
#[unsafe(no_mangle)]
pub extern "C" fn ncclGetErrorString(code: c_int) -> *const c_char {
    usize::try_from(code).ok().and_then(|code| TEXTS.get(code)).map_or(std::ptr::null(), |text| text.as_ptr())
}

exported! {
    /// What a group is known by.
    fn ncclGetUniqueId(id: *mut UniqueId) {
        put!(id, UniqueId([0; 128]));
        Ok(())
    }

    /// A rank, which waits for no other.
    fn ncclCommInitRank(comm: *mut usize, _ranks: c_int, _id: UniqueId, rank: c_int) {
        put!(comm, 1 + rank.unsigned_abs() as usize);
        Ok(())
    }

    /// Its end.
    fn ncclCommDestroy(_comm: usize) {
        Ok(())
    }

    /// Its end, whatever is under way.
    fn ncclCommAbort(_comm: usize) {
        Ok(())
    }

    /// What has gone wrong: what a test says of `asynchronous`.
    fn ncclCommGetAsyncError(_comm: usize, code: *mut c_int) {
        put!(code, told("asynchronous").unwrap_or(0));
        Ok(())
    }

    /// What follows is one.
    fn ncclGroupStart() {
        Ok(())
    }

    /// Its end.
    fn ncclGroupEnd() {
        Ok(())
    }

    /// Moves nothing, as all below.
    fn ncclAllReduce(_from: *const c_void, _to: *mut c_void, _count: usize, _ty: c_int, _by: c_int, _comm: usize, _stream: usize) {
        Ok(())
    }

    /// See above.
    fn ncclAllGather(_from: *const c_void, _to: *mut c_void, _count: usize, _ty: c_int, _comm: usize, _stream: usize) {
        Ok(())
    }

    /// See above.
    fn ncclReduceScatter(_from: *const c_void, _to: *mut c_void, _count: usize, _ty: c_int, _by: c_int, _comm: usize, _stream: usize) {
        Ok(())
    }

    /// See above.
    fn ncclBroadcast(_from: *const c_void, _to: *mut c_void, _count: usize, _ty: c_int, _root: c_int, _comm: usize, _stream: usize) {
        Ok(())
    }

    /// See above.
    fn ncclSend(_from: *const c_void, _count: usize, _ty: c_int, _peer: c_int, _comm: usize, _stream: usize) {
        Ok(())
    }

    /// See above.
    fn ncclRecv(_to: *mut c_void, _count: usize, _ty: c_int, _peer: c_int, _comm: usize, _stream: usize) {
        Ok(())
    }
}
