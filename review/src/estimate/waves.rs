//! How the blocks of a launch go onto a device: in waves, of which the last has what blocks are left.
//!
//! A device runs as many blocks at once as its multiprocessors hold, a wave. Of 352 blocks on 132 multiprocessors that hold one each, the third wave has 88: a third of the device
//! waits for as long as a block takes. Where a multiprocessor holds several blocks, those that are left may go faster, and the figure is the most that is lost.

use super::Estimate;
use crate::machine::Machine;

/// A last wave that is at least so full is none to speak of: of two waves the device is busy for 90 % of the time then, of three for 93 %.
const FULL: f64 = 0.8;

/// Of so many waves or more nothing is said: a nearly empty last one is an eighth of the time at most, and by then blocks no longer end at the same time.
const MANY_WAVES: u64 = 8;

/// The waves of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waves {
    /// Blocks of the grid.
    pub blocks: u64,
    /// Multiprocessors of the device that stands for the target.
    pub multiprocessors: u32,
    /// Resident blocks of a multiprocessor.
    pub each: u32,
}

impl Waves {
    /// Of so many blocks of a variant on a target: where the occupancy and the device are known.
    pub fn of(estimate: &Estimate, blocks: u64) -> Option<Waves> {
        let machine = Machine::of(estimate.target.capability)?;
        let waves = Waves { blocks, multiprocessors: machine.multiprocessors, each: estimate.occupancy.as_ref()?.blocks };
        (waves.of_one() > 0 && waves.blocks > 0).then_some(waves)
    }

    /// Blocks of a full wave.
    pub fn of_one(&self) -> u64 {
        u64::from(self.multiprocessors) * u64::from(self.each)
    }

    /// How many there are.
    pub fn number(&self) -> u64 {
        self.blocks.div_ceil(self.of_one())
    }

    /// How full the last wave is, above 0 to 1.
    pub fn last(&self) -> f64 {
        let before = (self.number() - 1) * self.of_one();
        (self.blocks - before) as f64 / self.of_one() as f64
    }

    /// The share of the blocks' places that are taken, over all waves: how much of the time the device is busy, if all blocks take as long.
    pub fn busy(&self) -> f64 {
        self.blocks as f64 / (self.number() * self.of_one()) as f64
    }

    /// Whether it is worth saying. One wave has no tail: its blocks stand beside each other from the start.
    pub fn has_tail(&self) -> bool {
        (2..MANY_WAVES).contains(&self.number()) && self.last() < FULL
    }

    /// `352 blocks on 132 multiprocessors, 1 a multiprocessor: 3 waves, the last 67 % full`
    pub fn text(&self) -> String {
        let Waves { blocks, multiprocessors, each } = self;
        format!(
            "{blocks} blocks on {multiprocessors} multiprocessors, {each} a multiprocessor: {} waves, the last {} full",
            self.number(),
            percent(self.last())
        )
    }

    /// `2 waves, the last 97 % full`, of a variant that is better.
    pub fn short(&self) -> String {
        match self.number() {
            1 => "one wave".to_owned(),
            number => format!("{number} waves, the last {} full", percent(self.last())),
        }
    }
}

/// Whole percents; never 100 of what is not full, nor 0.
fn percent(share: f64) -> String {
    let most = if share < 1.0 { 99.0 } else { 100.0 };
    format!("{:.0} %", (share * 100.0).round().clamp(1.0, most))
}

#[cfg(test)]
mod tests {
    use super::Waves;

    fn waves(blocks: u64, multiprocessors: u32, each: u32) -> Waves {
        Waves { blocks, multiprocessors, each }
    }

    #[test]
    fn the_last_wave_has_what_is_left() {
        let three = waves(352, 132, 1);
        assert!(three.has_tail());
        assert_eq!(three.text(), "352 blocks on 132 multiprocessors, 1 a multiprocessor: 3 waves, the last 67 % full");
        assert_eq!(waves(260, 132, 1).short(), "2 waves, the last 97 % full");
        assert_eq!((waves(264, 132, 2).number(), waves(265, 132, 2).number()), (1, 2));
        assert_eq!(waves(265, 132, 2).short(), "2 waves, the last 1 % full");
        assert_eq!(waves(132 * 4 - 1, 132, 2).short(), "2 waves, the last 99 % full");
        assert_eq!(waves(264, 132, 1).short(), "2 waves, the last 100 % full");
    }

    #[test]
    fn tails_of_many_waves_full_ones_and_a_single_wave_are_none() {
        assert!(waves(132 * 7 - 66, 132, 1).has_tail());
        assert!(!waves(132 * 8 - 66, 132, 1).has_tail(), "eight waves");
        assert!(!waves(132 + 106, 132, 1).has_tail() && waves(132 + 105, 132, 1).has_tail(), "80 %");
        assert!(!waves(20, 132, 1).has_tail() && waves(133, 132, 1).has_tail());
    }
}
