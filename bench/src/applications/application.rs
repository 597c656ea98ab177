//! What a program has to say of itself to be checked and timed.

use super::Bench;
use super::check::{Expected, Results, Tolerance};
use super::one_core::Task;
use super::work::Work;
use crate::twins::Twins;
use crate::{Outcome, Size};
use warpwright::Device;
use warpwright_kernels::apps::{Declared, Go};

/// A program: an input of one size, and what is expected of it.
pub(crate) trait Application: Sized + 'static {
    /// What it is called, as its kernels' file is.
    const NAME: &'static str;
    /// What variants differ in beside their launches: what work they do, or how close they come. `()` where that is nothing.
    type Form: Copy;
    /// The input on a device.
    type Ours;
    /// The same for twins, in memory of their own.
    type Theirs;

    /// Draws an input, and works out what two runs give.
    fn new(size: Size) -> Outcome<(Self, Expected)>;
    /// The input's size in words.
    fn input(&self) -> String;
    /// Its variants: the naive form first.
    fn variants() -> Vec<TimedVariant<Self>>;
    /// A variant with its twin.
    fn variant(
        name: &'static str,
        form: Self::Form,
        ours: impl Fn(&Self, &mut Self::Ours, &mut Go<'_>) -> warpwright::Result<()> + 'static,
        twin: RunTwin<Self>,
    ) -> TimedVariant<Self> {
        TimedVariant { name: name.to_owned(), form, ours: Box::new(ours), twin: Some(twin) }
    }
    /// Every variant that the kernels declare.
    const DECLARED: Declaring<Self>;
    /// What one run moves and computes.
    fn work(&self, form: Self::Form) -> Work;
    /// How far results of a form may be off, if that is another for each form.
    fn bound(&self, _: Self::Form) -> Option<Tolerance> {
        None
    }
    /// What one core does of a run's work.
    fn one_core(&self) -> Task<'_>;

    fn ours(&self, device: &Device, form: Self::Form) -> Outcome<Self::Ours>;
    fn results(&self, ours: &Self::Ours) -> Outcome<Results>;
    fn theirs(&self, device: &Device, form: Self::Form) -> Outcome<Self::Theirs>;
    fn twin_results(&self, theirs: &Self::Theirs) -> Outcome<Results>;
}

/// What a program's kernels declare.
pub(crate) type Declaring<A> = fn(&A) -> Vec<Declared<<A as Application>::Ours, <A as Application>::Form>>;

/// Makes the launches of a run.
type Run<A> = dyn Fn(&A, &mut <A as Application>::Ours, &mut Go<'_>) -> warpwright::Result<()>;

/// Runs the twin twice; gives the seconds of the second run.
type RunTwin<A> = fn(&A, &Twins, &<A as Application>::Theirs) -> Outcome<f64>;

/// One way to run a program.
pub(crate) struct TimedVariant<A: Application> {
    pub(crate) name: String,
    pub(crate) form: A::Form,
    pub(crate) ours: Box<Run<A>>,
    /// The same algorithm in CUDA C++, if somebody wrote it.
    pub(crate) twin: Option<RunTwin<A>>,
}

impl<A: Application> TimedVariant<A> {
    /// Those that the kernels declare. No twin is told which it is.
    pub(crate) fn declared(all: Vec<Declared<A::Ours, A::Form>>) -> Vec<TimedVariant<A>> {
        let variant = |declared: Declared<A::Ours, A::Form>| {
            let (name, form) = (declared.to_string(), declared.form);
            TimedVariant {
                name,
                form,
                ours: Box::new(move |_: &A, ours: &mut A::Ours, go: &mut Go<'_>| declared.run(ours, go)),
                twin: None,
            }
        };
        all.into_iter().map(variant).collect()
    }
}

impl Bench {
    /// The twins, and a variant's, if there are both.
    pub(crate) fn twin_of<A: Application>(&self, variant: &TimedVariant<A>) -> Option<(&Twins, RunTwin<A>)> {
        self.twins.as_ref().zip(variant.twin)
    }
}
