//! Memory that functions need beside their arguments, kept between calls.

use super::{Error, Result};
use warpwright::{Buffer, Device, Element};

/// The parts of a workspace: each is a buffer of its own, since a kernel takes each as a parameter of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// What tiles tell those behind them: a value low, a flag of this run's epoch high.
    States,
    /// Values beside states, where a value fills a word.
    Sums,
    /// Elements on their way: blocks' results, keys between two passes.
    Elements,
    /// Elements on their way beside them: values between two passes.
    Values,
    /// What tiles of a sort tell those behind them. All zero between runs.
    Digits,
    /// Counts of digits. All zero between runs.
    Counts,
}

const NAMES: [&str; 6] = ["`states`", "`sums`", "`elements`", "`values`", "`digits`", "`counts`"];

/// Memory that functions of the library need beside their arguments: blocks' results, what tiles tell each other, elements between two passes.
///
/// One workspace serves all functions, one call after another, on any stream of its device. It grows when a call needs more than it has, and never
/// shrinks: a repeated call allocates nothing. [`Workspace::freeze`] makes growing an error instead.
#[derive(Debug)]
pub struct Workspace {
    device: Device,
    slots: [Option<Buffer<u64>>; 6],
    tickets: Buffer<u32>,
    /// Tickets that launches so far have taken, modulo 2³².
    taken: u32,
    epoch: u32,
    frozen: bool,
    /// The candidate that calls take, whatever the tables say.
    forced: Option<usize>,
    /// The last candidate that was chosen by computing, and what it was chosen for: calls often repeat.
    chosen: Option<(Question, usize)>,
    /// A launch failed on the way: nobody knows what the slots hold.
    dirty: bool,
    allocations: usize,
}

/// What a candidate is chosen for: the numbers that the choice depends on, of which the first says who chooses.
pub(super) type Question = [usize; 6];

/// The last epoch: states hold 2 · epoch + 2 and a bit in 32 bits.
const LAST_EPOCH: u32 = (1 << 30) - 2;

impl Workspace {
    /// A workspace with room for tickets, and nothing else yet.
    ///
    /// # Errors
    /// [`Error::Device`] if the device has no memory.
    pub fn new(device: &Device) -> Result<Workspace> {
        let tickets = device.zeros(32)?;
        Ok(Workspace {
            device: device.clone(),
            slots: [const { None }; 6],
            tickets,
            taken: 0,
            epoch: 0,
            frozen: false,
            forced: None,
            chosen: None,
            dirty: false,
            allocations: 0,
        })
    }

    /// The device it is on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> usize {
        self.slots.iter().flatten().map(|slot| slot.len() * 8).sum::<usize>() + self.tickets.len() * 4
    }

    /// How often it has grown: as often as it has asked the device for memory since it was made.
    pub fn growths(&self) -> usize {
        self.allocations
    }

    /// From now on a call that needs more than there is gives [`Error::WorkspaceTooSmall`].
    pub fn freeze(&mut self) {
        self.frozen = true;
    }

    /// Calls take this candidate of their table from now on: to find which is best.
    #[doc(hidden)]
    pub fn force(&mut self, candidate: Option<usize>) {
        self.forced = candidate;
    }

    /// The candidate that is asked for.
    pub(super) fn forced(&self) -> Option<usize> {
        self.forced
    }

    /// The last choice.
    pub(super) fn chosen(&self) -> Option<(Question, usize)> {
        self.chosen
    }

    /// Keeps a choice for the next call.
    pub(super) fn keep_chosen(&mut self, chosen: Option<(Question, usize)>) {
        self.chosen = chosen;
    }

    /// Makes room for so many bytes in each of these slots, and begins a run that takes `tickets` tickets.
    pub(super) fn begin(&mut self, function: &'static str, needs: &[(Slot, usize)]) -> Result<Run<'_>> {
        for (slot, bytes) in needs {
            let has = self.slots[*slot as usize].as_ref().map_or(0, |slot| slot.len() * 8);
            if has < *bytes && self.frozen {
                return Err(Error::WorkspaceTooSmall { function, slot: NAMES[*slot as usize], needed: *bytes, has });
            }
        }
        if self.dirty || self.epoch >= LAST_EPOCH {
            self.slots.iter_mut().flatten().try_for_each(|slot| slot.clear())?;
            self.tickets.clear()?;
            (self.taken, self.epoch, self.dirty) = (0, 0, false);
        }
        for (slot, bytes) in needs {
            let words = bytes.div_ceil(8).max(1);
            let slot = &mut self.slots[*slot as usize];
            if slot.as_ref().is_none_or(|slot| slot.len() < words) {
                // The old one first: there may be no room for both.
                *slot = None;
                *slot = Some(self.device.zeros(words)?);
                self.allocations += 1;
            }
        }
        self.epoch += 1;
        Ok(Run { workspace: self })
    }
}

/// A run of a function: what it needs of a workspace.
pub(super) struct Run<'w> {
    workspace: &'w mut Workspace,
}

/// The buffers of a run, all at once.
pub(super) struct Parts<'r> {
    pub(super) states: &'r mut Buffer<u64>,
    pub(super) sums: &'r mut Buffer<u64>,
    pub(super) elements: &'r mut Buffer<u64>,
    pub(super) values: &'r mut Buffer<u64>,
    pub(super) digits: &'r mut Buffer<u64>,
    pub(super) counts: &'r mut Buffer<u64>,
    pub(super) tickets: &'r mut Buffer<u32>,
}

impl Run<'_> {
    /// The ticket before the first of a launch that takes so many, and the buffers. Slots that the run asked for nothing in are empty or those of other
    /// runs: parameters that the kernel leaves alone.
    pub(super) fn launch(&mut self, tickets: usize, work: impl FnOnce(u32, u32, Parts<'_>) -> Result<()>) -> Result<()> {
        let workspace = &mut *self.workspace;
        for slot in &mut workspace.slots {
            if slot.is_none() {
                *slot = Some(workspace.device.zeros(1)?);
            }
        }
        let (before, epoch) = (workspace.taken, workspace.epoch);
        let [Some(states), Some(sums), Some(elements), Some(values), Some(digits), Some(counts)] = &mut workspace.slots else {
            unreachable!("all were filled just now")
        };
        let parts = Parts { states, sums, elements, values, digits, counts, tickets: &mut workspace.tickets };
        let result = work(before, epoch, parts);
        workspace.taken = before.wrapping_add(tickets as u32);
        workspace.dirty |= result.is_err();
        result
    }
}

/// A slot as elements of another type.
pub(super) fn seen<T: Element>(slot: &mut Buffer<u64>) -> Result<&mut Buffer<T>> {
    Ok(slot.view_mut()?)
}
