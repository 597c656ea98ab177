//! The model of time asked about chains of additions: what a multiprocessor's warps do that wait for nothing but arithmetic.

use warpwright_review::estimate::model::{Work, rate};
use warpwright_review::machine::{Machine, PIPES, Pipe};

/// Additions in a round of the loop.
const ROUND: f64 = 32.0;

/// Rounds.
const ROUNDS: f64 = 4096.0;

/// Additions a second of a device, `warps` on each multiprocessor with `ilp` independent chains each; *estimated*, from bare figures.
pub fn additions(machine: &Machine, warps: u32, ilp: u32) -> f64 {
    // A round: chains of 32 / ILP additions, or as long as 32 take to issue; the counter, its comparison, the branch.
    let chain = (ROUND / f64::from(ilp) * machine.cycles.single).max(ROUND) + 3.0 + machine.cycles.branch;
    let mut pipes = [0.0; PIPES];
    pipes[Pipe::Single as usize] = ROUNDS * ROUND;
    pipes[Pipe::Integer as usize] = ROUNDS;
    pipes[Pipe::Logic as usize] = ROUNDS;
    pipes[Pipe::Control as usize] = ROUNDS;
    let work = Work { warps: f64::from(warps), cycles: ROUNDS * chain, pipes, ..Work::none() };
    f64::from(warps) * 32.0 * ROUNDS * ROUND * f64::from(machine.multiprocessors) / rate(&work, machine).block
}
