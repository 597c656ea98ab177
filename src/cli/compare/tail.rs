//! The wave tail: what the last blocks of a launch leave idle. The lint `wave_tail` says it of one variant; this note has the variant that does better, too.

use super::Comparison;
use std::collections::BTreeMap;
use warpwright_review::estimate::Waves;

/// Another variant is named if it keeps the device busy for so much more of the time.
const BETTER: f64 = 0.02;

/// More tails than these are not told.
const MOST: usize = 3;

impl Comparison {
    /// Notes the variants whose last wave is far from full, on the foremost target, and the variant that does best; nothing if the kernel allows it.
    pub(super) fn note_tails(&mut self) {
        if !self.tells_tails {
            return;
        }
        let target = self.foremost();
        let known: Vec<(&str, Waves)> = self
            .variants
            .iter()
            .filter_map(|variant| {
                let compiled = variant.compiled()?;
                Some((variant.name(&self.kernel), Waves::of(compiled.known.targets.get(target)?, compiled.blocks?)?))
            })
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
