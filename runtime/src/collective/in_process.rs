//! Collectives of devices whose memory is the host's, all in one program: the last rank to come does the work of all.

#![expect(unsafe_code, reason = "reaches buffers of several ranks by their addresses")]

use super::reduction::Reduction;
use super::{CollectiveLaunch, Kind, Task, address, disagreement};
use crate::device::{Device, DeviceKind};
use crate::error::{Error, Result};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The ranks of one program.
pub(super) struct World {
    ranks: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What each rank has launched and is not done: collectives of all, in order; and sends and receives.
    of_all: Vec<VecDeque<Part>>,
    between_two: Vec<Part>,
    next: u64,
    done: Vec<u64>,
    failure: Option<String>,
}

/// One rank's part. Its memory is borrowed until it is done or taken back.
#[derive(Clone, Copy)]
struct Part {
    id: u64,
    rank: usize,
    task: Task,
    from: *mut u8,
    to: *mut u8,
}

// SAFETY: the memory is borrowed by a launch that waits until nobody uses the part any more.
unsafe impl Send for Part {}

/// Whether a device's memory can be reached so.
pub(super) fn check(device: &Device) -> Result<()> {
    match device.kind() {
        DeviceKind::Simulator | DeviceKind::Host => Ok(()),
        DeviceKind::OpenCl | DeviceKind::Cuda => {
            let what = "has no collectives; help: use GPUs of the CUDA driver, or simulators".to_owned();
            Err(Error::Unsupported { device: device.to_string(), what })
        }
    }
}

impl World {
    pub(super) fn new(ranks: usize) -> World {
        let state = State { of_all: (0..ranks).map(|_| VecDeque::new()).collect(), ..State::default() };
        World { ranks, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is missing.
    fn missing(&self, state: &State) -> String {
        let waiting = || state.of_all.iter().filter_map(VecDeque::front).chain(&state.between_two);
        let absent = (0..self.ranks).filter(|rank| waiting().all(|part| part.rank != *rank));
        let absent: Vec<_> = absent.map(|rank| rank.to_string()).collect();
        let waiting: Vec<_> = waiting().map(|part| format!("rank {} in {}", part.rank, part.task)).collect();
        let waiting = waiting.join(", ");
        match absent.is_empty() {
            true => format!("{waiting} wait for each other"),
            false => format!("{waiting} wait; nothing came from ranks {}", absent.join(", ")),
        }
    }
}

impl State {
    /// Does what can be done.
    fn proceed(&mut self) {
        while self.of_all.iter().all(|parts| !parts.is_empty()) {
            let parts: Vec<Part> = self.of_all.iter_mut().filter_map(VecDeque::pop_front).collect();
            let (first, others) = (&parts[0], &parts[1..]);
            match others.iter().find(|part| part.task != first.task) {
                Some(other) => self.fail(first, other),
                None => {
                    together(&parts);
                    self.done.extend(parts.iter().map(|part| part.id));
                }
            }
        }
        while let Some((send, receive)) = self.pair() {
            // The later one first: the other stays where it is.
            let (sent, received) = (self.between_two[send], self.between_two[receive]);
            self.between_two.remove(send.max(receive));
            self.between_two.remove(send.min(receive));
            if (sent.task.count, sent.task.ty) == (received.task.count, received.task.ty) {
                let bytes = sent.task.count * sent.task.ty.bytes();
                // SAFETY: two buffers of so many bytes, borrowed until the launches that wait for this return.
                unsafe { std::ptr::copy_nonoverlapping(sent.from, received.to, bytes) };
                self.done.extend([sent.id, received.id]);
            } else {
                self.fail(&sent, &received);
            }
        }
    }

    /// A send and the first receive that it is for.
    fn pair(&self) -> Option<(usize, usize)> {
        self.between_two.iter().enumerate().find_map(|(send, part)| {
            let Kind::Send(to) = part.task.kind else { return None };
            let fits = |other: &Part| other.rank == to && other.task.kind == Kind::Receive(part.rank);
            self.between_two.iter().position(fits).map(|receive| (send, receive))
        })
    }

    fn fail(&mut self, one: &Part, other: &Part) {
        self.failure.get_or_insert_with(|| disagreement(one.rank, one.task, other.rank, other.task));
    }
}

/// A collective of all ranks, whose parts are the same.
fn together(parts: &[Part]) {
    let Task { kind, ty, count } = parts[0].task;
    let (bytes, ranks) = (count * ty.bytes(), parts.len());
    // SAFETY: every part has as many bytes as the kind asks for: `count` elements, or that many of each rank where parts are gathered or scattered; all are borrowed until the launches that wait for
    // this return, and all that is read is copied before anything is written.
    unsafe {
        let read = |from: *mut u8, bytes: usize| std::slice::from_raw_parts(from.cast_const(), bytes).to_vec();
        let write = |to: *mut u8, what: &[u8]| std::ptr::copy_nonoverlapping(what.as_ptr(), to, what.len());
        let reduced = |by: Reduction, bytes: usize| {
            let all: Vec<Vec<u8>> = parts.iter().map(|part| read(part.from, bytes)).collect();
            ty.reduce_all(by, all)
        };
        match kind {
            Kind::AllReduce(by) => {
                let sum = reduced(by, bytes);
                parts.iter().for_each(|part| write(part.to, &sum));
            }
            Kind::Reduce(by, root) => write(parts[root].to, &reduced(by, bytes)),
            Kind::AllGather => {
                let all: Vec<u8> = parts.iter().flat_map(|part| read(part.from, bytes)).collect();
                parts.iter().for_each(|part| write(part.to, &all));
            }
            Kind::ReduceScatter(by) => {
                let sum = reduced(by, bytes * ranks);
                parts.iter().enumerate().for_each(|(rank, part)| write(part.to, &sum[rank * bytes..(rank + 1) * bytes]));
            }
            Kind::Broadcast(root) => {
                let all = read(parts[root].from, bytes);
                parts.iter().for_each(|part| write(part.to, &all));
            }
            // Between two ranks.
            Kind::Send(_) | Kind::Receive(_) => {}
        }
    }
}

/// Launches collectives as one, and waits until other ranks have launched theirs.
pub(super) fn launch(collectives: &[(&Arc<World>, &CollectiveLaunch<'_>)]) -> Result<()> {
    let Some((world, first)) = collectives.first() else { return Ok(()) };
    if collectives.iter().any(|(other, _)| !Arc::ptr_eq(other, world)) {
        let reason =
            "collectives of two groups of communicators were launched as one; help: launch those of each group together".to_owned();
        return Err(Error::Collective { reason });
    }
    let limit = first.communicator.limit;
    let end = Instant::now().checked_add(limit);
    let mut state = world.lock();
    if let Some(failure) = &state.failure {
        return Err(first.refuse(format_args!("the communicator failed before: {failure}; help: make a new one")));
    }
    let mut own = Vec::new();
    for (_, collective) in collectives {
        let (rank, task, id) = (collective.communicator.rank, collective.task, state.next);
        state.next += 1;
        let part = Part { id, rank, task, from: address(collective.from) as *mut u8, to: address(collective.to) as *mut u8 };
        own.push(id);
        if task.kind.is_of_two() { state.between_two.push(part) } else { state.of_all[rank].push_back(part) }
    }
    state.proceed();
    world.changed.notify_all();
    loop {
        let is_done = own.iter().all(|id| state.done.contains(id));
        if is_done || state.failure.is_some() {
            break;
        }
        let left = end.map_or(limit, |end| end.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            let reason = format!(
                "not all ranks came within {limit:?}: {}; launch it on every rank, each in a thread of its own, or all by `launch_together`",
                world.missing(&state)
            );
            state.failure = Some(reason);
            break;
        }
        state = world.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
    }
    // Nobody reaches the memory of this launch any more.
    state.of_all.iter_mut().for_each(|parts| parts.retain(|part| !own.contains(&part.id)));
    state.between_two.retain(|part| !own.contains(&part.id));
    let is_done = own.iter().all(|id| state.done.contains(id));
    state.done.retain(|id| !own.contains(id));
    world.changed.notify_all();
    match &state.failure {
        Some(failure) if !is_done => Err(first.refuse(failure)),
        // Nobody leaves the loop above for another reason than that it is done, or has failed.
        _ => Ok(()),
    }
}
