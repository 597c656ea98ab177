//! The chosen variants on the device, with progress; each result is written down at once.

use super::prune::{Fate, Plan};
use super::record::{About, Measured, Record, fingerprint};
use crate::cli::Stop;
use crate::cli::compare::{Variant, lower};
use crate::cli::launch::{Agreement, Runner, stop};
use crate::cli::source::Source;
use crate::cli::style;
use indicatif::{ProgressBar, ProgressStyle};
use warpwright_runtime::dynamic::DynamicKernel;

/// Measures what the plan says and the record does not have yet. A device that is lost half-way leaves what was measured in the record.
pub(super) fn all(
    source: &Source,
    variants: &[Variant],
    plan: &Plan,
    about: &About<'_>,
    runs: u32,
    record: &mut Record,
) -> Result<(), Stop> {
    let About { kernel, device, launch, .. } = *about;
    let chosen: Vec<usize> = plan.ranked.iter().map(|(n, _)| *n).filter(|n| plan.fates[*n] == Fate::Measured).collect();
    let bar = if style::shows_progress() { ProgressBar::new(chosen.len() as u64) } else { ProgressBar::hidden() };
    bar.set_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} measured, {eta} left: {msg}").unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    // What all others are held against is what the first variant of this run has written.
    let mut runner = Runner::new(device, launch);
    for n in chosen {
        let variant = &variants[n];
        bar.set_message(variant.words.clone());
        if record.get(variant).is_none() {
            let kept =
                |stop: Stop| Stop { message: format!("{}: {}; what was measured so far is kept", variant.words, stop.message), ..stop };
            let lowered = lower(source, kernel, &variant.instance).map_err(|found| source.findings(&found))?;
            let compiled = DynamicKernel::compile(device, source.program(), lowered).map_err(stop).map_err(kept)?;
            let (_, agreement) = runner.run(&compiled).map_err(kept)?;
            let timing = runner.time(&compiled, true, runs as usize).map_err(kept)?;
            record.add(Measured {
                variant: variant.words.clone(),
                median: timing.median.as_secs_f64(),
                least: timing.min.as_secs_f64(),
                most: timing.max.as_secs_f64(),
                runs: timing.runs,
                differs: agreement == Agreement::Differs,
                fingerprint: fingerprint(variant),
            })?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}
