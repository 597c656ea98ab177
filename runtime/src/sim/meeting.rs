//! Where the threads of a warpgroup meet, without those of others: each warp comes, and waits for the rest.

use super::engine::Told;
use super::machine::{LaneFault, Machine};
use super::registers::lanes;
use super::warp::Warp;
use std::collections::HashMap;
use warpwright_codegen::ir::WARPGROUP;

/// Where the threads of a warpgroup meet.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    /// How often they have.
    number: u32,
    /// Warps that wait, by their first thread: at which meeting.
    waiting: HashMap<u32, u32>,
    /// How many threads have come to the one that runs.
    arrived: u32,
    /// What those who have come to it tell, and what was told at those before.
    told: Told,
    over: Told,
}

impl Machine<'_> {
    /// A warp comes to a meeting of its warpgroup, or waits there. Whether all have come.
    pub(super) fn meet_in_warpgroup(&mut self, warp: &Warp) -> Result<bool, LaneFault> {
        let (first, orders) = (warp.first_thread, self.launch.program.orders);
        let group = first / WARPGROUP as u32;
        let meeting = self.block.engine.meetings.entry(group).or_default();
        let comes = !meeting.waiting.contains_key(&first);
        let number = *meeting.waiting.entry(first).or_insert(meeting.number);
        if comes {
            for lane in lanes(warp.active) {
                let now = self.now(warp, lane, 0);
                let told = if orders { self.what_is_told(&now) } else { Told::default() };
                let meeting = self.block.engine.meetings.entry(group).or_default();
                meeting.told.join(&told);
                meeting.arrived += 1;
                // What is done behind is not told.
                self.next_tick().map_err(|kind| LaneFault { lane, kind })?;
            }
        }
        let meeting = self.block.engine.meetings.entry(group).or_default();
        if u64::from(meeting.arrived) == WARPGROUP {
            (meeting.number, meeting.arrived) = (meeting.number + 1, 0);
            meeting.over.join(&std::mem::take(&mut meeting.told));
            self.version += 1;
        }
        if meeting.number == number {
            return Ok(false);
        }
        meeting.waiting.remove(&first);
        if orders {
            let over = meeting.over.clone();
            for lane in lanes(warp.active) {
                let thread = first + lane as u32;
                self.block.order.learn(thread, &over.accesses);
                self.block.engine.learn(thread, &over);
            }
        }
        Ok(true)
    }
}
