//! Where a group's ranks send what they have: a thread of the program that asked for the group's identity takes it together and sends it back.

use super::reduction;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::Builder;

/// What threads here need: a size of the program's own may be one that a test chose to fail.
const STACK: usize = 256 << 10;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    AllReduce,
    AllGather,
    ReduceScatter,
    Reduce,
    Broadcast,
    Send,
    Receive,
}

const KINDS: [Kind; 7] = [Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter, Kind::Reduce, Kind::Broadcast, Kind::Send, Kind::Receive];

/// A rank's part of it: in NCCL's numbers, `count` as NCCL's functions take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) kind: Kind,
    pub(super) ty: u8,
    pub(super) by: u8,
    pub(super) peer: u32,
    pub(super) count: u64,
}

impl Task {
    /// Bytes of it.
    const BYTES: usize = 15;

    pub(super) fn encode(&self) -> [u8; Task::BYTES] {
        let mut bytes = [0; Task::BYTES];
        bytes[..3].copy_from_slice(&[self.kind as u8, self.ty, self.by]);
        bytes[3..7].copy_from_slice(&self.peer.to_le_bytes());
        bytes[7..].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; Task::BYTES]) -> Option<Task> {
        let (first, count) = bytes.split_last_chunk()?;
        let (first, peer) = first.split_last_chunk()?;
        let [kind, ty, by] = *first else { return None };
        let kind = *KINDS.get(usize::from(kind))?;
        Some(Task { kind, ty, by, peer: u32::from_le_bytes(*peer), count: u64::from_le_bytes(*count) })
    }

    /// Elements that a rank of so many sends.
    pub(super) fn sends(&self, rank: usize, ranks: usize) -> u64 {
        match self.kind {
            Kind::ReduceScatter => self.count * ranks as u64,
            Kind::Broadcast if self.peer as usize != rank => 0,
            Kind::Receive => 0,
            _ => self.count,
        }
    }
}

/// What a rank has sent: the number by which it knows it, what is to be done, and its bytes.
struct Sent {
    number: u64,
    task: Task,
    content: Vec<u8>,
    /// It waits for nobody.
    is_answered: bool,
}

/// Whether who sends, or is the root of a broadcast, has ended at once, as with NCCL where what it sends has room on the other GPU: `PTX_INTERPRETER_NCCL=early`.
static IS_EARLY: LazyLock<bool> = LazyLock::new(|| std::env::var("PTX_INTERPRETER_NCCL").is_ok_and(|when| when == "early"));

/// An answer on its way.
struct Answer {
    bytes: Vec<u8>,
    /// What is to be on its way before it.
    after: Vec<Receiver<()>>,
    /// Told when it is.
    done: Sender<()>,
}

/// A rank: where answers to it go, what it has sent of collectives, and to and from whom.
struct Member {
    answers: Sender<Answer>,
    collectives: VecDeque<Sent>,
    pairs: VecDeque<Sent>,
}

#[derive(Default)]
struct Group {
    members: Vec<Option<Member>>,
}

/// Bytes with their length before them.
pub(super) fn framed(number: u64, content: &[u8]) -> Vec<u8> {
    [&number.to_le_bytes(), &(content.len() as u64).to_le_bytes(), content].concat()
}

/// The number and the bytes of what was framed.
pub(super) fn unframed(from: &mut impl Read) -> std::io::Result<(u64, Vec<u8>)> {
    let mut numbers = [[0; 8]; 2];
    from.read_exact(numbers.as_flattened_mut())?;
    let [number, len] = numbers.map(u64::from_le_bytes);
    let mut content = vec![0; usize::try_from(len).map_err(std::io::Error::other)?];
    from.read_exact(&mut content)?;
    Ok((number, content))
}

impl Group {
    /// Answers ranks. The first one, whose program has the hub and may end, is the last to be answered.
    fn answer(&self, mut answers: Vec<(usize, u64, &[u8])>) {
        answers.sort_unstable_by_key(|(rank, ..)| std::cmp::Reverse(*rank));
        let mut before = Vec::new();
        for (rank, number, content) in answers {
            let (done, is_done) = channel();
            let after = if rank == 0 { std::mem::take(&mut before) } else { Vec::new() };
            if let Some(Some(member)) = self.members.get(rank) {
                // A rank that is gone needs none.
                let _ = member.answers.send(Answer { bytes: framed(number, content), after, done });
            }
            before.push(is_done);
        }
    }

    /// Does what all ranks have come to. Ranks that do not agree wait.
    fn do_collectives(&mut self) {
        let first = self.members.iter().flatten().filter_map(|member| member.collectives.front());
        let tasks: Vec<Task> = first.map(|sent| sent.task).collect();
        if tasks.len() < self.members.len() || tasks.iter().any(|task| *task != tasks[0]) {
            return;
        }
        let sent: Vec<Sent> = self.members.iter_mut().flatten().filter_map(|member| member.collectives.pop_front()).collect();
        let Task { kind, ty, by, peer, .. } = tasks[0];
        let together = match kind {
            Kind::AllReduce | Kind::ReduceScatter | Kind::Reduce => {
                reduction::reduce_all(ty, by, sent.iter().map(|sent| sent.content.clone()).collect())
            }
            Kind::Broadcast => sent[peer as usize].content.clone(),
            _ => sent.iter().flat_map(|sent| &sent.content).copied().collect(),
        };
        let part = together.len() / sent.len();
        let own = |rank: usize| match kind {
            Kind::ReduceScatter => &together[rank * part..(rank + 1) * part],
            Kind::Reduce if peer as usize != rank => &[],
            _ => &together[..],
        };
        let waiting = sent.iter().enumerate().filter(|(_, sent)| !sent.is_answered);
        self.answer(waiting.map(|(rank, sent)| (rank, sent.number, own(rank))).collect());
    }

    /// Hands over what one rank sends and another receives, the first of them first.
    fn do_pairs(&mut self, rank: usize) {
        for (from, to) in (0..self.members.len()).flat_map(|other| [(rank, other), (other, rank)]) {
            let at = |of: usize, kind: Kind, peer: usize| {
                let pairs = &self.members[of].as_ref()?.pairs;
                pairs.iter().position(|sent| sent.task.kind == kind && sent.task.peer as usize == peer)
            };
            let (Some(sent), Some(wanted)) = (at(from, Kind::Send, to), at(to, Kind::Receive, from)) else { continue };
            let mut take = |of: usize, at: usize| self.members[of].as_mut()?.pairs.remove(at);
            let (Some(sent), Some(wanted)) = (take(from, sent), take(to, wanted)) else { continue };
            if (sent.task.ty, sent.task.count) == (wanted.task.ty, wanted.task.count) {
                let sender = (!sent.is_answered).then_some((from, sent.number, &[][..]));
                self.answer(sender.into_iter().chain([(to, wanted.number, &sent.content[..])]).collect());
            }
        }
    }

    fn take(&mut self, rank: usize, mut sent: Sent) {
        let Task { kind, peer, .. } = sent.task;
        if *IS_EARLY && (kind == Kind::Send || kind == Kind::Broadcast && peer as usize == rank) {
            sent.is_answered = true;
            let own = if kind == Kind::Broadcast { &sent.content[..] } else { &[] };
            self.answer(vec![(rank, sent.number, own)]);
        }
        let Some(Some(member)) = self.members.get_mut(rank) else { return };
        if matches!(sent.task.kind, Kind::Send | Kind::Receive) {
            member.pairs.push_back(sent);
            self.do_pairs(rank);
        } else {
            member.collectives.push_back(sent);
            self.do_collectives();
        }
    }
}

/// A connection's side: what comes is taken until it ends. A rank that is gone leaves the others waiting, as one whose GPU they reach themselves does.
fn listen(group: &Mutex<Group>, rank: usize, mut from: TcpStream) {
    let mut task = [0; Task::BYTES];
    while from.read_exact(&mut task).is_ok() {
        let (Some(task), Ok((number, content))) = (Task::decode(&task), unframed(&mut from)) else { return };
        group.lock().unwrap_or_else(PoisonError::into_inner).take(rank, Sent { number, task, content, is_answered: false });
    }
}

/// Takes in one that has come. Gives whether all have.
fn welcome(group: &Arc<Mutex<Group>>, mut from: TcpStream) -> std::io::Result<bool> {
    let (rank, ranks) = unframed(&mut from)?;
    let (rank, ranks) = (rank as usize, ranks.len());
    if group.lock().unwrap_or_else(PoisonError::into_inner).members.len().max(ranks) != ranks {
        return Err(std::io::Error::other("another number of ranks"));
    }
    // Several answers in a row are not to wait for each other.
    from.set_nodelay(true)?;
    let mut to = from.try_clone()?;
    let (answers, told) = channel::<Answer>();
    let shared = Arc::clone(group);
    let mut group = group.lock().unwrap_or_else(PoisonError::into_inner);
    group.members.resize_with(ranks, || None);
    match group.members.get_mut(rank) {
        Some(place @ None) => *place = Some(Member { answers, collectives: VecDeque::new(), pairs: VecDeque::new() }),
        _ => return Err(std::io::Error::other("no such rank, or it is there")),
    }
    Builder::new().stack_size(STACK).spawn(move || {
        for Answer { bytes, after, done } in told {
            // Where a rank is gone, what it was to be told is, too.
            for before in &after {
                let _ = before.recv();
            }
            if to.write_all(&bytes).is_err() {
                return;
            }
            let _ = done.send(());
        }
    })?;
    Builder::new().stack_size(STACK).spawn(move || listen(&shared, rank, from))?;
    let are_all_here = group.members.iter().all(Option::is_some);
    if are_all_here {
        group.answer((0..ranks).map(|rank| (rank, 0, &[][..])).collect());
    }
    Ok(are_all_here)
}

/// Starts one; gives its port.
pub(super) fn start() -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    Builder::new().stack_size(STACK).spawn(move || {
        let group = Arc::default();
        // Who is no rank is sent away.
        while listener.accept().is_ok_and(|(from, _)| !welcome(&group, from).unwrap_or(false)) {}
    })?;
    Ok(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_as_they_were_written() {
        for kind in KINDS {
            let task = Task { kind, ty: 7, by: 2, peer: 3, count: 1 << 40 };
            assert_eq!(Task::decode(&task.encode()), Some(task));
        }
        assert_eq!(Task::decode(&[7; Task::BYTES]), None);
    }
}
