//! The register cliff, VSCSE 2009, lecture 5: with blocks of 16 × 16 threads on a G80 (8,192 registers, 768 threads) ten registers a thread let three blocks run at
//! once, eleven only two. One value more costs a third of the warps.
//!
//! Today's multiprocessors have 65,536 registers, and the cliffs are elsewhere: on 9.0 blocks of 256 threads run eight at a time with up to 32 registers, then six
//! (to 40), five (48), four (64), three (80), two (128), one. [`held`] keeps as many values as its generic says, so that its variants go down
//! these steps; `max_registers` asks the assembler to stay above one of them, at the price of what it then moves to memory.
//!
//! On an H200 the steps themselves cost nothing here: with 16 values or 64, a round takes the same time for each value, since more values are more independent work in a thread,
//! which does what the warps did that are gone. What costs is to force registers: 64 values in 64 registers take twice the time of 70, in 32 twelve times.

use warpwright::occupancy::{Demand, Limits, Occupancy, Options, occupancy};
use warpwright::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;

/// `y[i]` ← the exclusive or of `LIVE` values that each thread makes of `x[i]` and mixes for `steps` rounds: all are live in all rounds. The work of a round is `LIVE`
/// multiply-adds. `MOST` is the limit of registers; 255 is none.
///
/// Some variants are asked to do with fewer registers than they have values: that is the experiment, and what the lint would say.
#[kernel(block = (16, 16), max_registers = MOST, allow(register_spill), variants(LIVE in [16, 24, 32, 48, 64], MOST in [32, 64, 255]))]
pub fn held<const LIVE: usize, const MOST: usize>(steps: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = block_idx().x * 256 + thread_idx().y * 16 + thread_idx().x;
    if i < y.len() {
        let mut values = [0u32; LIVE];
        #[unroll]
        for k in 0..LIVE {
            values[k] = x[i].wrapping_mul(2 * k as u32 + 1);
        }
        #[unroll(1)]
        for _ in 0..steps {
            #[unroll]
            for k in 0..LIVE {
                values[k] = values[k].wrapping_mul(0x9e37_79b9).wrapping_add(k as u32);
            }
        }
        let mut mixed = 0;
        #[unroll]
        for k in 0..LIVE {
            mixed ^= values[k];
        }
        y[i] = mixed;
    }
}

/// Reference of [`held`].
pub fn reference(live: usize, steps: usize, x: &[u32]) -> Vec<u32> {
    let one = |x: &u32| {
        let mut values: Vec<u32> = (0..live).map(|k| x.wrapping_mul(2 * k as u32 + 1)).collect();
        for _ in 0..steps {
            for (k, value) in values.iter_mut().enumerate() {
                *value = (u64::from(*value) * 0x9e37_79b9 + k as u64) as u32;
            }
        }
        values.iter().fold(0, |mixed, value| mixed ^ value)
    };
    x.iter().map(one).collect()
}

/// What blocks of 256 threads with so many registers each find on a compute capability, `"1.0"` say; `None` where it is unknown.
pub fn with_registers(capability: &str, registers: u32) -> Option<Occupancy> {
    let demand = Demand { threads: THREADS as u32, registers, ..Demand::default() };
    Some(occupancy(Limits::find(capability).ok()?, &demand, &Options::default()))
}

#[cfg(test)]
mod tests {
    use super::with_registers;

    fn blocks(capability: &str, registers: u32) -> u32 {
        with_registers(capability, registers).expect("a capability").blocks
    }

    #[test]
    fn one_register_more_costs_a_block_of_g80() {
        assert_eq!((blocks("1.0", 10), blocks("1.0", 11)), (3, 2));
        let (ten, eleven) = (with_registers("1.0", 10).expect("known"), with_registers("1.0", 11).expect("known"));
        assert_eq!((ten.threads(), eleven.threads()), (768, 512));
    }

    #[test]
    fn the_cliffs_of_today_are_where_the_head_says() {
        let last = [(32, 8), (40, 6), (48, 5), (64, 4), (80, 3), (128, 2), (255, 1)];
        for (i, (registers, expected)) in last.into_iter().enumerate() {
            assert_eq!(blocks("9.0", registers), expected, "{registers} registers");
            if let Some((_, next)) = last.get(i + 1) {
                assert_eq!(blocks("9.0", registers + 1), *next, "{} registers", registers + 1);
            }
        }
    }
}
