//! One kernel against its twin: both checked once, then timed alternately.

use crate::memory::{Number, apart, samples, set};
use crate::report::{Row, Spread, Unit};
use crate::twins::Twins;
use crate::{Outcome, Runner};
use warpwright::{Buffer, Device, DeviceKind, Launch};

/// Results checked against the host, per case.
const SAMPLES: usize = 512;

/// Fewest rounds of a case, however long one takes.
const FEWEST_ROUNDS: usize = 5;

/// What the cases of a family share: inputs, and an output for each side.
pub(crate) struct Arena<T: Number, I> {
    pub(crate) inputs: I,
    pub(crate) ours: Buffer<T>,
    /// None where there are no twins.
    theirs: Option<Buffer<T>>,
    /// What the outputs hold before a check: the inputs of this sequence, or else no numbers at all.
    initial: Option<u32>,
}

impl<T: Number, I> Arena<T, I> {
    /// Outputs of `n` elements.
    pub(crate) fn new(runner: &Runner, inputs: I, n: usize) -> Outcome<Arena<T, I>> {
        let theirs = if runner.twins.is_some() { Some(runner.device.zeros::<T>(n)?) } else { None };
        Ok(Arena { inputs, ours: runner.device.zeros::<T>(n)?, theirs, initial: None })
    }

    /// Outputs that are read, too, or not written everywhere: before a check they hold the inputs of this sequence.
    pub(crate) fn updated_from(mut self, seed: u32) -> Self {
        self.initial = Some(seed);
        self
    }

    /// Where the twin is to write.
    pub(crate) fn theirs(&self) -> &Buffer<T> {
        // Twins are called only where there are twins.
        self.theirs.as_ref().unwrap_or(&self.ours)
    }

    fn prepare(&mut self, device: &Device) -> Outcome<()> {
        for buffer in [Some(&mut self.ours), self.theirs.as_mut()].into_iter().flatten() {
            match self.initial {
                Some(seed) => T::fill(seed, buffer).launch(device)?,
                None => set(device, T::UNWRITTEN, buffer)?,
            }
        }
        device.synchronize()?;
        Ok(())
    }
}

/// Makes a launch of ours.
type Ours<'c, T, I> = &'c dyn for<'m> Fn(&'m mut Arena<T, I>) -> Launch<'m>;

/// Launches the twin; gives seconds.
type Theirs<'c, T, I> = &'c dyn Fn(&Twins, &Arena<T, I>) -> Outcome<f64>;

/// A kernel, its twin, and what both must compute.
pub(crate) struct Case<'c, T: Number, I> {
    /// What distinguishes it within its family.
    pub(crate) variant: String,
    /// Threads of a block.
    pub(crate) threads: usize,
    /// Dynamic shared memory, bytes.
    pub(crate) shared: u32,
    /// What one launch moves or computes.
    pub(crate) work: f64,
    pub(crate) unit: Unit,
    pub(crate) ours: Ours<'c, T, I>,
    pub(crate) theirs: Theirs<'c, T, I>,
    /// What two launches leave in an element. (Each side is launched twice, the second time timed.)
    pub(crate) expected: &'c dyn Fn(usize) -> f64,
    /// How far results may be from what is expected, and from each other. 0: equal.
    pub(crate) bound: f64,
}

/// What is in the arena at some places.
type Found<'c, A> = &'c dyn Fn(&A, &[u32]) -> Outcome<Vec<f64>>;

/// A kernel that nothing is held against but what it must compute.
pub(crate) struct Alone<'c, A> {
    pub(crate) variant: &'static str,
    /// Threads of a block.
    pub(crate) threads: usize,
    /// What one launch moves or computes.
    pub(crate) work: f64,
    pub(crate) unit: Unit,
    pub(crate) launch: &'c dyn for<'m> Fn(&'m mut A) -> Launch<'m>,
    /// How many results there are, and those at some places.
    pub(crate) results: usize,
    pub(crate) found: Found<'c, A>,
    /// What the first launch leaves in an element.
    pub(crate) expected: &'c dyn Fn(usize) -> f64,
    /// How far results may be from that. 0: equal.
    pub(crate) bound: f64,
}

impl Runner {
    /// Checks and times a case of a family, and keeps the row. A case that fails is a row that says so.
    pub(crate) fn contest<T: Number, I>(&mut self, family: &'static str, arena: &mut Arena<T, I>, case: &Case<'_, T, I>) {
        let row = Row::new(family, &case.variant, case.threads, case.shared, case.work, case.unit);
        let row = match self.check(arena, case).and_then(|()| self.rounds(arena, case)) {
            Ok(Some((ours, theirs))) => row.timed(ours, theirs),
            Ok(None) => row.checked(),
            Err(error) => row.failed(error.to_string()),
        };
        println!("{row}");
        self.rows.push(row);
    }

    fn check<T: Number, I>(&mut self, arena: &mut Arena<T, I>, case: &Case<'_, T, I>) -> Outcome<()> {
        let device = self.device.clone();
        arena.prepare(&device)?;
        (case.ours)(arena).time(&device, 1)?;
        device.synchronize()?;
        if let Some(twins) = &self.twins {
            (case.theirs)(twins, arena)?;
            let apart = apart(&device, case.bound, &arena.ours, arena.theirs())?;
            if apart != 0 {
                return Err(format!("{apart} of {} results differ from the twin's", arena.ours.len()).into());
            }
        }
        let places = self.places(arena.ours.len());
        let found = samples(&device, &places, &arena.ours)?;
        are_near(&places, found.into_iter().map(T::wide), case.expected, case.bound)
    }

    /// Seconds of each round, ours and the twin's; `None` where nobody's speed says anything: that it was checked is what counts there.
    fn rounds<T: Number, I>(&mut self, arena: &mut Arena<T, I>, case: &Case<'_, T, I>) -> Outcome<Option<(Spread, Option<Spread>)>> {
        let device = self.device.clone();
        if device.kind() == DeviceKind::Simulator {
            return Ok(None);
        }
        let twins = self.twins.as_ref();
        let times = rounds(self.runs, FEWEST_ROUNDS, self.seconds_per_case, || {
            let ours = (case.ours)(arena).time(&device, 1)?.median.as_secs_f64();
            device.synchronize()?;
            Ok((ours, twins.map(|twins| (case.theirs)(twins, arena)).transpose()?))
        });
        times.map(Some)
    }

    /// Checks and times a kernel that has no twin, and keeps the row.
    pub(crate) fn alone<A>(&mut self, family: &'static str, arena: &mut A, case: &Alone<'_, A>) {
        let row = Row::new(family, case.variant, case.threads, 0, case.work, case.unit);
        let row = match self.time_alone(arena, case) {
            Ok(Some(ours)) => row.timed(ours, None),
            Ok(None) => row.checked(),
            Err(error) => row.failed(error.to_string()),
        };
        println!("{row}");
        self.rows.push(row);
    }

    fn time_alone<A>(&self, arena: &mut A, case: &Alone<'_, A>) -> Outcome<Option<Spread>> {
        (case.launch)(arena).launch(&self.device)?;
        let n = case.results;
        let places = self.places(n);
        are_near(&places, (case.found)(arena, &places)?, case.expected, case.bound)?;
        if self.device.kind() == DeviceKind::Simulator {
            return Ok(None);
        }
        let times = rounds(self.runs, FEWEST_ROUNDS, self.seconds_per_case, || {
            Ok(((case.launch)(arena).time(&self.device, 1)?.median.as_secs_f64(), None))
        });
        times.map(|(ours, _)| Some(ours))
    }

    /// Elements that are checked: all of few, a sample and the ends of many.
    fn places(&self, n: usize) -> Vec<u32> {
        if n <= SAMPLES * 8 {
            (0..n as u32).collect()
        } else {
            (0..SAMPLES as u64).map(|i| (self.random(i) % n as u64) as u32).chain([0, n as u32 - 1]).collect()
        }
    }
}

/// An `Err` where what was found at a place is not within the bound of what is expected there.
fn are_near(places: &[u32], found: impl IntoIterator<Item = f64>, expected: &dyn Fn(usize) -> f64, bound: f64) -> Outcome<()> {
    for (place, found) in places.iter().zip(found) {
        let expected = expected(*place as usize);
        // What is not a number is within no bound.
        let near = (found - expected).abs() <= bound;
        if !near {
            return Err(format!("element {place} is {found}, expected {expected} within {bound}").into());
        }
    }
    Ok(())
}

/// Rounds, each of which gives the seconds of ours and of the twin, if there is one, until there were enough or, after a few, until they have taken long enough.
pub(crate) fn rounds(
    most: usize,
    fewest: usize,
    seconds: f64,
    mut one: impl FnMut() -> Outcome<(f64, Option<f64>)>,
) -> Outcome<(Spread, Option<Spread>)> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    while ours.len() < most {
        let (own, other) = one()?;
        ours.push(own);
        theirs.extend(other);
        // Every side runs twice a round.
        let spent = 2.0 * (ours.iter().sum::<f64>() + theirs.iter().sum::<f64>());
        if spent > seconds && ours.len() >= fewest {
            break;
        }
    }
    Ok((Spread::of(&ours), (!theirs.is_empty()).then(|| Spread::of(&theirs))))
}
