//! What the ranks of a group that are in this program launch: those that do not agree are told at once, where NCCL lets them wait for each other, or computes what nobody asked for.
//!
//! Each rank says what it launches, in its order, just before NCCL gets it. The first to come to a collective writes it down, the others compare theirs. A rank that finds another task says so to all: those
//! that wait already are given up by their watches, and those that have ended, since they wait for nobody, are told by their watches, too. A send is compared with the receive that it is for.

use super::watch::Watch;
use super::{Kind, Task, disagreement};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// What a rank has launched that others have not yet.
struct Asked {
    rank: usize,
    task: Task,
    /// How many have not come to it.
    left: usize,
}

#[derive(Default)]
struct State {
    /// The ranks that are here, and how many collectives of all each has launched.
    launched: BTreeMap<usize, u64>,
    /// Those that not all have come to: the first has this number.
    first: u64,
    asked: VecDeque<Asked>,
    /// Sends and receives, by who sends and who receives, that the other has not come to.
    between_two: BTreeMap<[usize; 2], VecDeque<(usize, Task)>>,
}

/// The ranks of one group in this program.
#[derive(Default)]
pub(super) struct Ledger {
    state: Mutex<State>,
    failure: OnceLock<String>,
    /// Who tells each rank.
    watches: Mutex<Vec<(usize, Weak<Watch>)>>,
}

/// Who launches something else in a rank's place, and which ranks have launched that already.
struct Other {
    rank: usize,
    task: Task,
    came: Vec<usize>,
}

/// Those of groups that are known, by what NCCL knows a group by.
type Known = Vec<(Vec<u8>, Weak<Ledger>)>;

static LEDGERS: Mutex<Known> = Mutex::new(Vec::new());

impl Ledger {
    /// That of a group, with more ranks that are here. All are here before the group is made, since each waits for the others then.
    pub(super) fn with_ranks(group: &[u8], ranks: &[usize]) -> Arc<Ledger> {
        let mut known = LEDGERS.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(_, ledger)| ledger.strong_count() != 0);
        let found = known.iter().find(|(id, _)| id == group).and_then(|(_, ledger)| ledger.upgrade());
        let ledger = found.unwrap_or_else(|| {
            let new = Arc::new(Ledger::default());
            known.push((group.to_vec(), Arc::downgrade(&new)));
            new
        });
        ledger.lock().launched.extend(ranks.iter().map(|rank| (*rank, 0)));
        ledger
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which ranks did not agree, if some did not.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Who tells a rank that others do not agree with what it has launched.
    pub(super) fn tells(&self, rank: usize, watch: &Arc<Watch>) {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner).push((rank, Arc::downgrade(watch)));
    }

    /// A rank is about to launch something. Gives who launches something else in its place, and has all told that have come to it.
    pub(super) fn launches(&self, rank: usize, task: Task) -> Result<(), String> {
        let other = self.lock().other(rank, task);
        let Some(Other { rank: other, task: others, came }) = other else { return Ok(()) };
        let why = self.failure.get_or_init(|| disagreement(other, others, rank, task)).clone();
        let watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.iter().filter(|(rank, _)| came.contains(rank)).filter_map(|(_, watch)| watch.upgrade()).for_each(|watch| watch.disagrees());
        Err(why)
    }
}

impl State {
    /// Who launches something else in its place.
    fn other(&mut self, rank: usize, task: Task) -> Option<Other> {
        if self.launched.len() == 1 {
            return None;
        }
        let pair = match task.kind {
            Kind::Send(to) => [rank, to],
            Kind::Receive(from) => [from, rank],
            Kind::AllReduce(_) | Kind::AllGather | Kind::ReduceScatter(_) | Kind::Reduce(..) | Kind::Broadcast(_) => {
                return self.other_of_all(rank, task);
            }
        };
        if !pair.iter().all(|rank| self.launched.contains_key(rank)) {
            return None;
        }
        let waiting = self.between_two.entry(pair).or_default();
        match waiting.front() {
            Some((other, _)) if *other != rank => {
                let (other, others) = waiting.pop_front()?;
                ((others.ty, others.count) != (task.ty, task.count)).then(|| Other { rank: other, task: others, came: vec![other] })
            }
            _ => {
                waiting.push_back((rank, task));
                None
            }
        }
    }

    fn other_of_all(&mut self, rank: usize, task: Task) -> Option<Other> {
        let here = self.launched.len();
        let launched = self.launched.get_mut(&rank)?;
        let number = *launched;
        let place = usize::try_from(number - self.first).ok()?;
        *launched += 1;
        let Some(asked) = self.asked.get_mut(place) else {
            self.asked.push_back(Asked { rank, task, left: here - 1 });
            return None;
        };
        asked.left -= 1;
        let came = || self.launched.iter().filter(|(one, launched)| **one != rank && **launched > number).map(|(one, _)| *one).collect();
        let other = (asked.task != task).then(|| Other { rank: asked.rank, task: asked.task, came: came() });
        while self.asked.front().is_some_and(|asked| asked.left == 0) {
            self.asked.pop_front();
            self.first += 1;
        }
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::reduction::{DataType, Reducible, Reduction};

    fn type_of<T: Reducible>() -> DataType {
        T::DATA_TYPE
    }

    fn sum(count: usize) -> Task {
        Task { kind: Kind::AllReduce(Reduction::Sum), ty: type_of::<f32>(), count }
    }

    #[test]
    fn the_nth_of_each_rank_is_compared() {
        let ledger = Ledger::with_ranks(b"compared", &[0, 1]);
        assert!(Arc::ptr_eq(&ledger, &Ledger::with_ranks(b"compared", &[2])), "ranks of two threads that join one group");
        for count in [1, 2, 3] {
            ledger.launches(0, sum(count)).unwrap();
        }
        ledger.launches(1, sum(1)).unwrap();
        ledger.launches(2, sum(1)).unwrap();
        assert_eq!(ledger.lock().asked.len(), 2, "what all have come to is forgotten");
        ledger.launches(2, sum(2)).unwrap();
        let came = ledger.lock().other(1, sum(5)).map(|other| other.came);
        assert_eq!(came.as_deref(), Some(&[0, 2][..]), "all that have launched something there");
        ledger.launches(2, sum(3)).unwrap();
        let told = ledger.launches(1, sum(5)).unwrap_err();
        assert_eq!(
            told,
            "ranks do not agree: rank 0 launches all_reduce(Sum) of 3 `f32`, rank 1 all_reduce(Sum) of 5 `f32`; help: all ranks launch the same, with as many elements"
        );
        assert_eq!(ledger.failure(), Some(&*told));
    }

    #[test]
    fn a_send_is_compared_with_its_receive() {
        let between = |kind: Kind, count: usize| Task { kind, ..sum(count) };
        let ledger = Ledger::with_ranks(b"sent", &[0, 1]);
        // Two ahead, and one the other way; rank 2 is elsewhere.
        ledger.launches(0, between(Kind::Send(1), 10)).unwrap();
        ledger.launches(0, between(Kind::Send(1), 11)).unwrap();
        ledger.launches(0, between(Kind::Receive(1), 9)).unwrap();
        ledger.launches(0, between(Kind::Send(2), 1)).unwrap();
        ledger.launches(1, between(Kind::Send(0), 9)).unwrap();
        ledger.launches(1, between(Kind::Receive(0), 10)).unwrap();
        let told = ledger.launches(1, between(Kind::Receive(0), 12)).unwrap_err();
        assert!(
            told.starts_with("ranks do not agree: rank 0 launches send to rank 1 of 11 `f32`, rank 1 receive from rank 0 of 12 `f32`"),
            "{told}"
        );
    }
}
