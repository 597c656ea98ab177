//! Barriers in shared memory (PTX ISA, "mbarrier"). One is 64 bits, whose layout is nobody's business but this file's.

use super::view::{Spaces, number};
use super::{Machine, Who};
use crate::error::{Step, Stumble};
use crate::program::{AccessSpace, MbarrierOp};

/// Bits that a barrier has and that other contents hardly have.
const MARK: u64 = 0b10;
const MOST_ARRIVALS: u64 = (1 << 20) - 1;
const MOST_BYTES: i64 = (1 << 20) - 1;

/// A barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mbarrier {
    phase: bool,
    /// Arrivals of each phase, and those that are missing in this one.
    expected: u64,
    pending: u64,
    /// Bytes that are expected and have not come.
    bytes: i64,
}

impl Mbarrier {
    fn of(word: u64) -> Option<Mbarrier> {
        (word & 3 == MARK).then_some(Mbarrier {
            phase: word >> 2 & 1 == 1,
            expected: word >> 3 & MOST_ARRIVALS,
            pending: word >> 23 & MOST_ARRIVALS,
            bytes: word as i64 >> 43,
        })
    }

    fn word(self) -> u64 {
        MARK | u64::from(self.phase) << 2 | self.expected << 3 | self.pending << 23 | (self.bytes as u64) << 43
    }

    /// The next phase, if nothing is missing.
    fn next(mut self) -> Mbarrier {
        if self.pending == 0 && self.bytes == 0 {
            self.phase = !self.phase;
            self.pending = self.expected;
        }
        self
    }

    fn expect(mut self, bytes: i64) -> Step<Mbarrier> {
        self.bytes += bytes;
        if self.bytes.abs() > MOST_BYTES {
            return Err(Stumble::undefined(format!("a barrier counts {} bytes, and at most {MOST_BYTES}", self.bytes)));
        }
        Ok(self)
    }

    fn arrive(mut self, count: u64) -> Step<Mbarrier> {
        if count > self.pending {
            return Err(Stumble::undefined(format!("{count} arrive at a barrier that waits for {}", self.pending)));
        }
        self.pending -= count;
        Ok(self.next())
    }
}

/// Changes the barrier at an address, and gives it as it was.
pub(crate) fn change(
    spaces: &mut Spaces<'_>,
    (space, address): (AccessSpace, u64),
    f: impl FnOnce(Mbarrier) -> Step<Mbarrier>,
) -> Step<Mbarrier> {
    let bytes = spaces.write(space, address, 8)?;
    let Some(before) = Mbarrier::of(number(bytes)) else {
        return Err(Stumble::undefined(format!("there is no initialised barrier at {address:#x}")));
    };
    bytes.copy_from_slice(&f(before)?.word().to_le_bytes());
    Ok(before)
}

/// So many bytes have come.
pub(crate) fn complete(spaces: &mut Spaces<'_>, address: u64, bytes: u32) -> Step {
    change(spaces, (AccessSpace::SharedCluster, address), |barrier| Ok(barrier.expect(-i64::from(bytes))?.next())).map(|_| ())
}

/// One arrival more or less than the barrier was told of.
pub(crate) fn arrive_of_copies(spaces: &mut Spaces<'_>, at: (AccessSpace, u64), adds: bool) -> Step {
    let arrive = |mut barrier: Mbarrier| {
        barrier.pending += u64::from(adds);
        barrier.arrive(1)
    };
    change(spaces, at, arrive).map(|_| ())
}

impl Machine<'_> {
    /// Whether the instruction is done; a wait may not be.
    pub(super) fn mbarrier(&mut self, who: Who, op: &MbarrierOp) -> Step<bool> {
        let (mut view, _) = self.view(who);
        match op {
            MbarrierOp::Init(at, count) => {
                let count = view.get(*count);
                if count == 0 || count > MOST_ARRIVALS {
                    return Err(Stumble::undefined(format!("a barrier of {count} arrivals")));
                }
                let barrier = Mbarrier { phase: false, expected: count, pending: count, bytes: 0 };
                let address = view.address(&at.at);
                view.spaces.write(at.space, address, 8)?.copy_from_slice(&barrier.word().to_le_bytes());
            }
            MbarrierOp::Inval(at) => {
                let address = view.address(&at.at);
                view.spaces.write(at.space, address, 8)?.fill(0);
            }
            MbarrierOp::ExpectTx(at, bytes) => {
                let (place, bytes) = ((at.space, view.address(&at.at)), view.get(*bytes) as i64);
                change(&mut view.spaces, place, |barrier| barrier.expect(bytes))?;
            }
            MbarrierOp::Arrive { at, state, count, expects } => {
                let place = (at.space, view.address(&at.at));
                let count = count.map_or(1, |count| view.get(count));
                let bytes = expects.map_or(0, |bytes| view.get(bytes) as i64);
                let before = change(&mut view.spaces, place, |barrier| barrier.expect(bytes)?.arrive(count))?;
                if let Some(reg) = state {
                    view.set(*reg, before.word());
                }
            }
            MbarrierOp::Test { at, d, phase, is_parity, waits } => {
                let place = (at.space, view.address(&at.at));
                let asked = view.get(*phase);
                let barrier = change(&mut view.spaces, place, Ok)?;
                let asked = if *is_parity { asked & 1 == 1 } else { asked >> 2 & 1 == 1 };
                let is_over = barrier.phase != asked;
                if *waits && !is_over {
                    return Ok(false);
                }
                view.set(*d, is_over.into());
            }
        }
        Ok(true)
    }
}
