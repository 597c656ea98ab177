//! Runs that are made of declared variants.

use super::Go;
use std::fmt::{self, Debug};
use warpwright::{Variant, Variants};

/// A declared variant of an application's kernels, or one of each where a run has several, as a run of what is on a device.
///
/// `F` is what such runs differ in beside their launches: how close they come, what they move. `()` where that is nothing.
pub struct Declared<R, F = ()> {
    name: String,
    /// What such runs differ in.
    pub form: F,
    run: Box<Run<R>>,
}

/// Makes the launches of a run.
type Run<R> = dyn Fn(&mut R, &mut Go<'_>) -> warpwright::Result<()>;

impl<R, F> Declared<R, F> {
    /// A run that is called as `variants` print themselves.
    pub(super) fn new(
        variants: impl Debug,
        form: F,
        run: impl Fn(&mut R, &mut Go<'_>) -> warpwright::Result<()> + 'static,
    ) -> Declared<R, F> {
        Declared { name: format!("{variants:?}"), form, run: Box::new(run) }
    }

    /// One run for each of a kernel's variants.
    pub(super) fn each<K: 'static>(
        variants: Variants<K>,
        form: fn(&Variant<K>) -> F,
        run: impl Fn(&mut R, &Variant<K>, &mut Go<'_>) -> warpwright::Result<()> + Copy + 'static,
    ) -> impl Iterator<Item = Declared<R, F>> {
        let each = move |variant: Variant<K>| {
            let (name, form) = (format!("{variant:?}"), form(&variant));
            Declared { name, form, run: Box::new(move |resident: &mut R, go: &mut Go<'_>| run(resident, &variant, go)) }
        };
        variants.into_iter().map(each)
    }

    /// Makes the launches.
    ///
    /// # Errors
    /// What a launch gives.
    pub fn run(&self, resident: &mut R, go: &mut Go<'_>) -> warpwright::Result<()> {
        (self.run)(resident, go)
    }
}

impl<R, F> fmt::Display for Declared<R, F> {
    /// The kernel with its generics: `saxpy_grouped (B = 256, ILP = 1)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// An axis that a kernel is known to have.
pub(super) fn axis<K>(variant: &Variant<K>, name: &str) -> usize {
    match variant.int(name).map(usize::try_from) {
        Some(Ok(value)) => value,
        _ => panic!("`{name}` is no axis of {variant:?}"),
    }
}
