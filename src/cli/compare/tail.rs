//! The wave tail: what the last blocks of a launch leave idle.
//!
//! A device runs as many blocks at once as its multiprocessors hold, a wave, and the last wave has what blocks are left. Of 352 blocks on 132 multiprocessors that hold one
//! each, the third wave has 88: a third of the device waits for as long as a block takes. Where a multiprocessor holds several blocks, those that are left
//! may go faster, and the figure is the most that is lost.

use super::Comparison;
use super::variant::Compiled;
use std::collections::BTreeMap;
use warpwright_review::machine::Machine;

/// A last wave that is at least so full is none to speak of: of two waves the device is busy for 90 % of the time then, of three for 93 %.
const FULL: f64 = 0.8;

/// Of so many waves or more nothing is said: a nearly empty last one is an eighth of the time at most, and by then blocks no longer end at the same time.
const MANY_WAVES: u64 = 8;

/// Another variant is named if it keeps the device busy for so much more of the time.
const BETTER: f64 = 0.02;

/// More tails than these are not told.
const MOST: usize = 3;

/// How the blocks of a launch go onto a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waves {
    blocks: u64,
    multiprocessors: u32,
    /// Resident blocks of a multiprocessor.
    each: u32,
}

impl Waves {
    /// Of a variant on a target: where the grid, the occupancy and the device are known.
    fn of(compiled: &Compiled, target: usize) -> Option<Waves> {
        let estimate = compiled.known.targets.get(target)?;
        let machine = Machine::of(estimate.target.capability)?;
        let waves = Waves { blocks: compiled.blocks?, multiprocessors: machine.multiprocessors, each: estimate.occupancy.as_ref()?.blocks };
        (waves.of_one() > 0 && waves.blocks > 0).then_some(waves)
    }

    /// Blocks of a full wave.
    fn of_one(&self) -> u64 {
        u64::from(self.multiprocessors) * u64::from(self.each)
    }

    fn number(&self) -> u64 {
        self.blocks.div_ceil(self.of_one())
    }

    /// How full the last wave is, above 0 to 1.
    fn last(&self) -> f64 {
        let before = (self.number() - 1) * self.of_one();
        (self.blocks - before) as f64 / self.of_one() as f64
    }

    /// The share of the blocks' places that are taken, over all waves: how much of the time the device is busy, if all blocks take as long.
    fn busy(&self) -> f64 {
        self.blocks as f64 / (self.number() * self.of_one()) as f64
    }

    /// Whether it is worth saying. One wave has no tail: its blocks stand beside each other from the start.
    fn has_tail(&self) -> bool {
        (2..MANY_WAVES).contains(&self.number()) && self.last() < FULL
    }

    /// `352 blocks on 132 multiprocessors, 1 a multiprocessor: 3 waves, the last 67 % full`
    fn text(&self) -> String {
        let Waves { blocks, multiprocessors, each } = self;
        format!(
            "{blocks} blocks on {multiprocessors} multiprocessors, {each} a multiprocessor: {} waves, the last {} full",
            self.number(),
            percent(self.last())
        )
    }

    /// `2 waves, the last 97 % full`, of the variant that is better.
    fn short(&self) -> String {
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

impl Comparison {
    /// Notes the variants whose last wave is far from full, on the foremost target, and the variant that does best.
    pub(super) fn note_tails(&mut self) {
        let target = self.foremost();
        let known: Vec<(&str, Waves)> = self
            .variants
            .iter()
            .filter_map(|variant| Some((variant.name(&self.kernel), Waves::of(variant.compiled()?, target)?)))
            .collect();
        let best = known.iter().max_by(|a, b| a.1.busy().total_cmp(&b.1.busy()).then(b.0.cmp(a.0)));
        let mut tails: BTreeMap<Waves, Vec<&str>> = BTreeMap::new();
        known.iter().filter(|(_, waves)| waves.has_tail()).for_each(|(name, waves)| tails.entry(*waves).or_default().push(name));
        let mut tails: Vec<_> = tails.into_iter().collect();
        tails.sort_by(|(a, _), (b, _)| a.busy().total_cmp(&b.busy()));
        let (left, target) = (tails.len().saturating_sub(MOST), self.targets.get(target).map_or("", |target| target.name));
        tails.truncate(MOST);
        let note = |(waves, names): (Waves, Vec<&str>)| {
            let others = match names.len() - 1 {
                0 => String::new(),
                1 => format!(" and {}", names[1]),
                n => format!(" and {n} others"),
            };
            let better = best.filter(|(_, best)| best.busy() > waves.busy() + BETTER);
            let better = better.map_or_else(String::new, |(name, best)| format!("; {name} has {}", best.short()));
            format!("wave tail on {target}: {}{others}: {}{better}", names[0], waves.text())
        };
        let mut notes: Vec<String> = tails.into_iter().map(note).collect();
        notes.extend((left > 0).then(|| format!("wave tail on {target}: {left} more launches whose last wave is far from full")));
        self.notes.extend(notes);
    }
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
