//! The chosen variants on the device, with progress; each result is written down at once.

use super::prune::{Fate, Plan};
use super::record::{About, Measured, Record, fingerprint};
use crate::cli::Stop;
use crate::cli::compare::{Agreement, Variant, agreement, lower};
use crate::cli::source::Source;
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
    let bar = ProgressBar::new(chosen.len() as u64);
    bar.set_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} measured, {eta} left: {msg}").unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    // What all others are held against; of the first variant, whatever the record has.
    let mut first: Option<Vec<Option<Vec<u8>>>> = None;
    for n in chosen {
        let variant = &variants[n];
        bar.set_message(variant.words.clone());
        if record.get(variant).is_none() {
            let stop = |error: warpwright::Error| Stop::usage(format!("{}: {error}; what was measured so far is kept", variant.words));
            let lowered = lower(source, kernel, &variant.instance).map_err(|found| source.findings(&found))?;
            let compiled = DynamicKernel::compile(device, source.program(), lowered).map_err(stop)?;
            let host = launch.prepare(&compiled)?;
            let arguments = host.upload(device).map_err(stop)?;
            compiled.run(host.geometry, &arguments.list()).map_err(stop)?;
            let results = arguments.contents().map_err(stop)?;
            let differs = first.as_ref().is_some_and(|first| agreement(&compiled, first, &results) == Agreement::Differs);
            first.get_or_insert(results);
            let timing = compiled.time(host.geometry, &arguments.list(), runs as usize).map_err(stop)?;
            record.add(Measured {
                variant: variant.words.clone(),
                median: timing.median.as_secs_f64(),
                least: timing.min.as_secs_f64(),
                most: timing.max.as_secs_f64(),
                runs: timing.runs,
                differs,
                fingerprint: fingerprint(variant),
            })?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}
