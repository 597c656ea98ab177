//! Barriers of a block (PTX ISA, "bar, barrier").

use super::state::{BARRIERS, Barrier, LANES, State};
use super::{Machine, Who};
use crate::error::{Step, Stumble};
use crate::program::{BarrierKind, BarrierOp, Op, Reg};

impl Machine<'_> {
    pub(super) fn at_barrier(&mut self, who: Who, op: &BarrierOp) -> Step {
        let (view, _) = self.view(who);
        let (number, threads) = (view.get(op.number), op.threads.map(|threads| view.get(threads) as u32));
        let vote = match op.kind {
            BarrierKind::Popc(_, p, is_negated) | BarrierKind::And(_, p, is_negated) | BarrierKind::Or(_, p, is_negated) => {
                (view.get(p) & 1 == 1) != is_negated
            }
            BarrierKind::Sync | BarrierKind::Arrive => false,
        };
        if number >= BARRIERS as u64 {
            return Err(Stumble::undefined(format!("barrier {number}: there are {BARRIERS}")));
        }
        if threads.is_some_and(|threads| threads == 0 || !(threads as usize).is_multiple_of(LANES)) {
            return Err(Stumble::undefined(format!("a barrier of {} threads: only whole warps come", threads.unwrap_or(0))));
        }
        let block = &mut self.resident[who.cluster].blocks[who.block];
        let barrier = &mut block.barriers[number as usize];
        if barrier.arrived > 0 && barrier.threads != threads {
            let told = |threads: Option<u32>| threads.map_or("all".to_owned(), |threads| threads.to_string());
            let what = format!("barrier {number} is of {} threads here and of {} elsewhere", told(threads), told(barrier.threads));
            return Err(Stumble::undefined(what));
        }
        barrier.threads = threads;
        barrier.arrived += 1;
        barrier.votes += u32::from(vote);
        if op.kind == BarrierKind::Arrive {
            block.threads[who.thread].pc += 1;
        } else {
            barrier.waiting.push(who.thread as u32);
            block.set_state(who.thread, State::AtBarrier);
        }
        self.look_at_barrier(who, number as usize)
    }

    /// All of a block, when one of its threads has exited.
    pub(super) fn look_at_barriers(&mut self, who: Who) -> Step {
        let is_waited = |barrier: &Barrier| barrier.arrived > 0 && barrier.threads.is_none();
        for number in 0..BARRIERS {
            if is_waited(&self.resident[who.cluster].blocks[who.block].barriers[number]) {
                self.look_at_barrier(who, number)?;
            }
        }
        Ok(())
    }

    /// Lets the threads of a barrier go if all have come.
    fn look_at_barrier(&mut self, who: Who, number: usize) -> Step {
        let program = self.program;
        let registers = program.registers as usize;
        let block = &mut self.resident[who.cluster].blocks[who.block];
        let wanted = block.barriers[number].threads.unwrap_or(block.live);
        let barrier = &block.barriers[number];
        if barrier.arrived < wanted || barrier.arrived == 0 {
            return Ok(());
        }
        if barrier.arrived > wanted {
            return Err(Stumble::undefined(format!("{} threads came to barrier {number}, which is of {wanted}", barrier.arrived)));
        }
        let Barrier { arrived, votes, waiting, .. } = std::mem::take(&mut block.barriers[number]);
        // Of an aligned barrier, the threads of a warp stand at the same instruction.
        let mut places = vec![None; block.warps.len()];
        for thread in waiting {
            let pc = block.threads[thread as usize].pc;
            let Op::Barrier(op) = &program.code[pc as usize].op else { continue };
            let place = places[thread as usize / LANES].get_or_insert(pc);
            if op.is_aligned && *place != pc {
                let lines = [*place, pc].map(|pc| program.code[pc as usize].line);
                let what =
                    format!("threads of one warp came to barrier {number} at lines {} and {}, and it is aligned", lines[0], lines[1]);
                return Err(Stumble::undefined(what));
            }
            let mut set = |reg: Reg, value: u32| block.registers[thread as usize * registers + reg.0 as usize] = value.into();
            match op.kind {
                BarrierKind::Popc(d, ..) => set(d, votes),
                BarrierKind::And(d, ..) => set(d, u32::from(votes == arrived)),
                BarrierKind::Or(d, ..) => set(d, u32::from(votes > 0)),
                BarrierKind::Sync | BarrierKind::Arrive => {}
            }
            block.go_on(thread as usize);
        }
        Ok(())
    }
}
