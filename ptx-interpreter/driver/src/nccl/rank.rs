//! One rank's side: its connection with the group's hub.

use super::hub::{Task, framed, unframed};
use super::{Code, INTERNAL_ERROR, INVALID_ARGUMENT, REMOTE_ERROR, SYSTEM_ERROR, UNHANDLED_CUDA_ERROR, reduction};
use crate::memory::{read, write};
use crate::queues::Place;
use crate::state::{Handle, any_state, current};
use std::collections::HashMap;
use std::io::Write;
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// A rank.
pub(super) struct Rank {
    hub: TcpStream,
    context: Handle,
    rank: usize,
    ranks: usize,
    asked: AtomicU64,
    is_forgotten: AtomicBool,
    failure: AtomicU32,
}

/// What is asked of the hub.
pub(super) enum Request {
    /// That all ranks are there.
    Begin,
    /// A part of a collective, with the addresses of its elements, behind what is in this stream.
    Collective { task: Task, from: u64, to: u64, after: Place },
}

static RANKS: LazyLock<Mutex<HashMap<usize, Arc<Rank>>>> = LazyLock::new(Mutex::default);

fn ranks() -> MutexGuard<'static, HashMap<usize, Arc<Rank>>> {
    RANKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rank of a handle.
pub(super) fn known(comm: usize) -> Result<Arc<Rank>, Code> {
    ranks().get(&comm).cloned().ok_or(INVALID_ARGUMENT)
}

/// Its end: who waits for an answer gets none.
pub(super) fn forget(comm: usize) -> Result<(), Code> {
    let rank = ranks().remove(&comm).ok_or(INVALID_ARGUMENT)?;
    rank.is_forgotten.store(true, Ordering::Relaxed);
    // One that is closed already needs no more.
    let _ = rank.hub.shutdown(Shutdown::Both);
    Ok(())
}

/// A new one, whose hub listens at a port.
pub(super) fn join(port: u16, rank: usize, count: usize) -> Result<(usize, Arc<Rank>), Code> {
    let context = current().map_err(|_| UNHANDLED_CUDA_ERROR)?;
    let hub = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(|_| SYSTEM_ERROR)?;
    let is_ready = hub.set_nodelay(true).and_then(|()| (&hub).write_all(&framed(rank as u64, &vec![0; count])));
    is_ready.map_err(|_| SYSTEM_ERROR)?;
    let (asked, is_forgotten, failure) = (AtomicU64::new(0), AtomicBool::new(false), AtomicU32::new(0));
    let new = Arc::new(Rank { hub, context, rank, ranks: count, asked, is_forgotten, failure });
    let handle = any_state().new_handle();
    ranks().insert(handle, Arc::clone(&new));
    Ok((handle, new))
}

impl Rank {
    /// How many its group has.
    pub(super) fn ranks(&self) -> usize {
        self.ranks
    }

    /// What has gone wrong, or 0.
    pub(super) fn failure(&self) -> Code {
        self.failure.load(Ordering::Relaxed)
    }

    fn lost(&self) -> Code {
        let code = if self.is_forgotten.load(Ordering::Relaxed) { INTERNAL_ERROR } else { REMOTE_ERROR };
        self.failure.store(code, Ordering::Relaxed);
        code
    }

    /// Sends what is asked; gives the number that the answer has.
    fn ask(&self, request: &Request) -> Result<u64, Code> {
        let Request::Collective { task, from, after, .. } = request else { return Ok(0) };
        let bytes = task.sends(self.rank, self.ranks) * reduction::bytes(task.ty).ok_or(INVALID_ARGUMENT)? as u64;
        let content = {
            let mut state = any_state();
            state.come_to_end(*after);
            if state.gpu_of(self.context).map_or(true, |gpu| gpu.lost.is_some()) {
                return Err(UNHANDLED_CUDA_ERROR);
            }
            if bytes == 0 { Vec::new() } else { read(&mut state, *from, bytes as usize).map_err(|_| INVALID_ARGUMENT)? }
        };
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let message = [&task.encode()[..], &framed(number, &content)].concat();
        (&self.hub).write_all(&message).map_err(|_| self.lost())?;
        Ok(number)
    }
}

/// Asks the hub for all of it, and waits for the answers.
pub(super) fn answer(requests: &[(Arc<Rank>, Request)]) -> Result<(), Code> {
    let mut places: HashMap<(*const Rank, u64), u64> = HashMap::new();
    for (rank, request) in requests {
        let number = rank.ask(request)?;
        let to = if let Request::Collective { to, .. } = request { *to } else { 0 };
        places.insert((Arc::as_ptr(rank), number), to);
    }
    for (rank, _) in requests {
        let (number, content) = unframed(&mut &rank.hub).map_err(|_| rank.lost())?;
        let to = places.remove(&(Arc::as_ptr(rank), number)).ok_or(INTERNAL_ERROR)?;
        if !content.is_empty() {
            write(&mut any_state(), to, &content).map_err(|_| INVALID_ARGUMENT)?;
        }
    }
    Ok(())
}
