//! The chosen variants on the device, with progress; each result is written down at once.

use super::prune::Plan;
use super::record::{About, Record, fingerprint};
use super::search::Search;
use crate::cli::Stop;
use crate::cli::compare::{Failures, Variant};
use crate::cli::launch::{Agreement, Runner};
use crate::cli::progress::Progress;
use crate::cli::source::Source;
use warpwright::tuned::MeasuredVariant;

/// Measures what the search asks for and the record does not have yet: times that are there lead the search as if they had just been measured. A
/// variant that fails leaves the others what they have; so does a device that is lost half-way, which fails all that are left.
pub(super) fn all(
    variants: &[Variant],
    plan: &Plan,
    record: &mut Record,
    mut measure: impl FnMut(&Variant) -> Result<MeasuredVariant, Stop>,
) -> Result<Failures, Stop> {
    let mut search = Search::new(variants, plan);
    let progress = Progress::new(search.left(), "measured");
    let mut failures = Failures::default();
    while let Some(n) = search.next() {
        let variant = &variants[n];
        progress.begin(&variant.words);
        if record.get(variant).is_none() {
            match measure(variant) {
                Ok(measured) => record.add(measured)?,
                Err(stop) => failures.add(&variant.words, stop),
            }
        }
        search.add(n, record.get(variant).filter(|measured| !measured.differs).map(|measured| measured.median));
        progress.advance();
    }
    Ok(failures)
}

/// Measures a variant; the results of the first that ran are what the others' are held against.
pub(super) fn one(
    source: &Source,
    about: &About<'_>,
    runs: u32,
    runner: &mut Runner<'_>,
    variant: &Variant,
) -> Result<MeasuredVariant, Stop> {
    let (compiled, agreement) = runner.run_first(source, about.kernel, &variant.instance)?;
    let timing = runner.time(&compiled, true, runs as usize)?;
    Ok(MeasuredVariant {
        variant: variant.words.clone(),
        median: timing.median.as_secs_f64(),
        least: timing.min.as_secs_f64(),
        most: timing.max.as_secs_f64(),
        runs: timing.runs,
        differs: agreement == Agreement::Differs,
        fingerprint: fingerprint(variant),
    })
}

#[cfg(test)]
mod tests {
    use super::super::prune::plan;
    use super::*;
    use crate::cli::axes::{AxisArguments, Chosen};
    use crate::cli::launch::LaunchArguments;
    use clap::Parser;
    use warpwright::Device;
    use warpwright_codegen::target::Targets;

    const KERNEL: &str = "use warpwright::prelude::*;
#[kernel(block = B, ilp = ILP, variants(B in [64, 128], ILP in [1, 2, 4]))]
pub fn copy<const B: usize, const ILP: usize>(out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}
";

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        axes: AxisArguments,
        #[command(flatten)]
        launch: LaunchArguments,
    }

    fn measured(variant: &Variant, median: f64) -> MeasuredVariant {
        let fingerprint = fingerprint(variant);
        MeasuredVariant { variant: variant.words.clone(), median, least: median, most: median, runs: 1, differs: false, fingerprint }
    }

    /// A device that is lost after two variants, as an interrupted run is: what was measured is in the file, and the next run goes on with the
    /// others.
    #[test]
    fn what_was_measured_before_a_device_was_lost_is_kept() {
        let folder = std::env::temp_dir().join(format!("warpwright-lost-device-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("k.rs");
        std::fs::write(&file, KERNEL).expect("a file");
        let arguments = Arguments::parse_from(["test", "--grid", "1024/(B*ILP)"]);
        let source = Source::read(file.to_str().expect("a path in UTF-8"), &[]).expect("source");
        let mut chosen = arguments.axes.choose(&source, &["copy".to_owned()]).expect("variants");
        let Chosen { axes, instances, .. } = chosen.remove(0);
        let targets = Targets::named(["sm_90"]);
        let variants: Vec<Variant> =
            instances.iter().map(|instance| Variant::compile(&source, "copy", &axes, instance, &targets, 0)).collect();
        let plan = plan(&variants, 100);
        let (device, out) = (Device::simulator(), folder.join("copy.tuned.toml"));
        let about = About { file: "k.rs", kernel: "copy", device: &device, target: targets.gpus[0], launch: &arguments.launch };
        let open = || Record::open(&out, &about, false).expect("a record");

        let mut record = open();
        let mut tries = 0;
        let failures = all(&variants, &plan, &mut record, |variant| {
            tries += 1;
            if tries > 2 { Err(Stop::usage("the device is lost")) } else { Ok(measured(variant, f64::from(tries))) }
        });
        let stop = failures.expect("the record can be written").outcome().expect_err("the device was lost");
        assert!(
            stop.code == 2 && stop.message.starts_with("the device is lost (of `") && stop.message.ends_with("and 3 more)"),
            "{stop:?}"
        );
        assert_eq!((tries, record.measured.len(), record.best().map(|best| best.median)), (6, 2, Some(1.0)));
        let written = std::fs::read_to_string(&out).expect("the record");
        assert!(!written.contains("[best]"), "no program takes it for finished");
        assert!(written.contains("launch = \"grid 1024/(B*ILP) args  seed 1\"\n"), "what the times are of: {written}");

        let mut record = open();
        assert_eq!(record.kept, 2);
        let mut left = Vec::new();
        let failures = all(&variants, &plan, &mut record, |variant| {
            left.push(variant.words.clone());
            Ok(measured(variant, 0.5))
        });
        failures.expect("the record can be written").outcome().expect("nothing failed");
        assert_eq!((left.len(), record.measured.len()), (4, 6));
        record.finish(&axes, &variants).expect("the record can be written");
        assert!(std::fs::read_to_string(&out).expect("the record").contains("[best]\n"));
        std::fs::remove_dir_all(&folder).expect("the folder goes");
    }
}
