//! A program checked and timed: ours and the twin's alternately, one core beside them.

use super::Bench;
use super::application::{Application, TimedVariant};
use super::check::Expected;
use super::numbers::{CoreTime, Quoted, document};
use super::work::{Limits, Nearest};
use crate::Outcome;
use crate::contest::rounds;
use crate::report::Spread;
use warpwright::Launch;

/// Fewest rounds of a variant, however long one takes.
const FEWEST_ROUNDS: usize = 3;

/// What came of a program.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// What the document calls it, and the speed-up it gives.
    pub(crate) document: (&'static str, Quoted),
    /// Its input's size in words.
    pub(crate) input: String,
    /// What one core needs for a run; none on the simulator.
    pub(crate) core: Option<CoreTime>,
    pub(crate) rows: Vec<Row>,
}

/// What came of a variant.
pub(crate) struct Row {
    pub(crate) variant: String,
    /// What its run is limited by, where that is known.
    pub(crate) nearest: Option<Nearest>,
    pub(crate) outcome: Result<Passed, String>,
}

/// A variant whose results are right.
pub(crate) struct Passed {
    /// What they were compared with.
    pub(crate) checked: String,
    /// None on the simulator.
    pub(crate) times: Option<Times>,
}

/// Seconds of a run, timed by device events.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) ours: Spread,
    pub(crate) theirs: Option<Spread>,
}

impl Times {
    /// Theirs over ours: 1 is equal, more is faster.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.theirs.map(|theirs| theirs.median / self.ours.median)
    }
}

impl Row {
    pub(crate) fn times(&self) -> Option<&Times> {
        self.outcome.as_ref().ok()?.times.as_ref()
    }
}

impl Program {
    /// What went wrong, with where.
    pub(crate) fn complaints(&self) -> impl Iterator<Item = String> + '_ {
        self.rows.iter().filter_map(|row| Some(format!("{}, {}: {}", self.name, row.variant, row.outcome.as_ref().err()?)))
    }

    /// The variant with the least median time of ours, or of the twins'.
    pub(crate) fn best(&self, of: impl Fn(&Times) -> Option<Spread>) -> Option<(&Row, Spread)> {
        let timed = self.rows.iter().filter_map(|row| Some((row, of(row.times()?)?)));
        timed.min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
    }

    /// Our best variant.
    pub(crate) fn best_of_ours(&self) -> Option<(&Row, Spread)> {
        self.best(|times| Some(times.ours))
    }

    /// The best twin.
    pub(crate) fn best_of_theirs(&self) -> Option<(&Row, Spread)> {
        self.best(|times| times.theirs)
    }

    /// The best twin's time over our best variant's.
    pub(crate) fn ratio(&self) -> Option<f64> {
        Some(self.best_of_theirs()?.1.median / self.best_of_ours()?.1.median)
    }
}

/// Checks and times all variants of a program. One that fails is a row that says so.
pub(crate) fn run<A: Application>(bench: &Bench) -> Outcome<Program> {
    let document = document(A::NAME).ok_or("the document has no such program")?;
    let (program, expected) = A::new(bench.size)?;
    let core = program.one_core().time();
    let limits = Limits::of_device(&bench.device);
    let row = |variant: &TimedVariant<A>| Row {
        variant: variant.name.clone(),
        nearest: program.work(variant.form).nearest(&limits),
        outcome: one(bench, &program, &expected, variant).map_err(|error| error.to_string()),
    };
    let variants = if bench.declared { TimedVariant::declared(A::DECLARED(&program)) } else { A::variants() };
    let rows = variants.iter().map(row).collect();
    Ok(Program { name: A::NAME, document, input: program.input(), core: bench.is_timed().then_some(core), rows })
}

/// A variant's two sides.
struct Sides<'b, A: Application> {
    bench: &'b Bench,
    program: &'b A,
    variant: &'b TimedVariant<A>,
    ours: A::Ours,
    theirs: Option<A::Theirs>,
}

impl<A: Application> Sides<'_, A> {
    fn run_ours(&mut self) -> Outcome<()> {
        let device = &self.bench.device;
        (self.variant.ours)(self.program, &mut self.ours, &mut |launch: Launch<'_>| launch.launch(device))?;
        Ok(())
    }

    /// Two runs of ours: the seconds of the second, which waits behind the first, so that the host is ahead of the device.
    fn time_ours(&mut self) -> Outcome<f64> {
        let stream = self.bench.device.default_stream();
        self.run_ours()?;
        let start = stream.record()?;
        self.run_ours()?;
        let seconds = stream.record()?.since(&start)?.as_secs_f64();
        self.bench.device.synchronize()?;
        Ok(seconds)
    }

    /// Two runs of the twin: the seconds of the second.
    fn time_theirs(&self) -> Outcome<Option<f64>> {
        let both = self.bench.twin_of(self.variant).zip(self.theirs.as_ref());
        both.map(|((twins, twin), theirs)| twin(self.program, twins, theirs)).transpose()
    }

    fn rounds(&mut self) -> Outcome<Times> {
        let Bench { runs, seconds_per_variant, .. } = *self.bench;
        let (ours, theirs) = rounds(runs, FEWEST_ROUNDS, seconds_per_variant, || Ok((self.time_ours()?, self.time_theirs()?)))?;
        Ok(Times { ours, theirs })
    }
}

fn one<A: Application>(bench: &Bench, program: &A, expected: &Expected, variant: &TimedVariant<A>) -> Outcome<Passed> {
    let theirs = bench.twin_of(variant).map(|_| program.theirs(&bench.device, variant.form)).transpose()?;
    let mut sides = Sides { bench, program, variant, ours: program.ours(&bench.device, variant.form)?, theirs };
    sides.run_ours()?;
    sides.run_ours()?;
    let found = program.results(&sides.ours)?;
    let of_form = program.bound(variant.form);
    let bound = of_form.as_ref().unwrap_or(&expected.bound);
    let checked = expected.describe(expected.check(&found, bound)?);
    if let (Some(_), Some(theirs)) = (sides.time_theirs()?, &sides.theirs) {
        let other = program.twin_results(theirs)?;
        expected.check(&other, bound).map_err(|error| format!("the twin: {error}"))?;
        found.agree(&other, bound)?;
    }
    drop(found);
    let times = if bench.is_timed() { Some(sides.rounds()?) } else { None };
    Ok(Passed { checked, times })
}
