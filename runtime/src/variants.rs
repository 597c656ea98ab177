//! The variants that a kernel declares, as values: to go through, to choose from, to launch.

use crate::cache::Generics;
use crate::definition::{GenericArgument, ScalarKind};
use crate::tuned::{Tuned, TunedError};
use std::fmt::{self, Write};
use std::ops::Deref;

/// The variants that a kernel declares, in the order of its `variants(…)`, the last generic fastest: what `copy_variants()` gives for the kernel
/// `copy`. A slice of them, in effect.
///
/// `F` is the type of the kernel's host function with all generics filled in: they differ in nothing else.
#[derive(Clone)]
pub struct Variants<F> {
    kernel: &'static str,
    generics: &'static [&'static str],
    list: Vec<Variant<F>>,
}

/// One of them.
#[derive(Clone)]
pub struct Variant<F> {
    kernel: &'static str,
    names: &'static [&'static str],
    generics: Generics,
    function: F,
}

/// What the macro's code calls.
#[doc(hidden)]
impl<F: Copy> Variants<F> {
    pub fn new(kernel: &'static str, generics: &'static [&'static str]) -> Variants<F> {
        Variants { kernel, generics, list: Vec::new() }
    }

    pub fn push(&mut self, generics: &[GenericArgument], function: F) {
        let generics = Generics::Owned(generics.to_vec());
        self.list.push(Variant { kernel: self.kernel, names: self.generics, generics, function });
    }
}

impl<F: Copy> Variants<F> {
    /// The first variant with these values, as its `Display` has them: `"B = 64, ILP = 4"`. What is not named may have any.
    pub fn find(&self, values: &str) -> Option<Variant<F>> {
        let wanted: Option<Vec<(&str, &str)>> =
            values.split(',').filter(|part| !part.trim().is_empty()).map(|part| part.split_once('=')).collect();
        let wanted: Vec<_> = wanted?.into_iter().map(|(name, value)| (name.trim(), value.trim())).collect();
        self.list.iter().find(|variant| variant.has(wanted.iter().copied())).cloned()
    }

    /// The variant that a tuning run found best.
    ///
    /// # Errors
    /// [`TunedError::NoVariant`] if the run was of another kernel, or its best variant is not among these: `tune` was given values that the kernel
    /// does not declare, or the declaration has changed.
    pub fn tuned(&self, tuned: &Tuned) -> Result<Variant<F>, TunedError> {
        // A run names a kernel by its path in the file, where that has modules.
        let is_kernel = tuned.kernel().rsplit("::").next() == Some(self.kernel);
        let found = self.list.iter().find(|variant| is_kernel && variant.has(tuned.best()));
        found.cloned().ok_or_else(|| TunedError::NoVariant {
            kernel: tuned.kernel().to_owned(),
            best: tuned.best().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", "),
            kernels: self.kernel,
            declares: self.list.len(),
        })
    }
}

impl<F> Deref for Variants<F> {
    type Target = [Variant<F>];

    fn deref(&self) -> &[Variant<F>] {
        &self.list
    }
}

impl<F> IntoIterator for Variants<F> {
    type Item = Variant<F>;
    type IntoIter = std::vec::IntoIter<Variant<F>>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'v, F> IntoIterator for &'v Variants<F> {
    type Item = &'v Variant<F>;
    type IntoIter = std::slice::Iter<'v, Variant<F>>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl<F> fmt::Debug for Variants<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.list).finish()
    }
}

impl<F: Copy> Variant<F> {
    /// The kernel's host function with this variant's generics: what `copy::<64, 4, true>` names. To be called with the kernel's arguments:
    /// `variant.kernel()(&mut out, &inp).cover(n).launch(&device)?`. Nothing is compiled before the first launch.
    pub fn kernel(&self) -> F {
        self.function
    }
}

impl<F> Variant<F> {
    /// The name of the kernel.
    pub fn name(&self) -> &'static str {
        self.kernel
    }

    /// The generics and their values, in the order of the kernel.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.names.iter().zip(self.generics.iter()).map(|(name, value)| (*name, value.to_string()))
    }

    /// The value of a generic that is an integer; `None` if there is none of this name.
    pub fn int(&self, generic: &str) -> Option<i128> {
        match self.value(generic)? {
            GenericArgument::Const(ScalarKind::Bool, _) | GenericArgument::Type(_) => None,
            value => value.to_string().parse().ok(),
        }
    }

    /// The value of a generic that is a `bool`; `None` if there is none of this name.
    pub fn bool(&self, generic: &str) -> Option<bool> {
        match self.value(generic)? {
            GenericArgument::Const(ScalarKind::Bool, bits) => Some(bits != 0),
            _ => None,
        }
    }

    /// The name of the type that a generic stands for; `None` if there is none of this name.
    pub fn ty(&self, generic: &str) -> Option<String> {
        match self.value(generic)? {
            GenericArgument::Type(ty) => Some(ty.to_string()),
            GenericArgument::Const(..) => None,
        }
    }

    fn value(&self, generic: &str) -> Option<GenericArgument> {
        self.names.iter().zip(self.generics.iter()).find(|(name, _)| **name == generic).map(|(_, value)| *value)
    }

    /// Whether each of these generics has this value.
    fn has<'w>(&self, mut wanted: impl Iterator<Item = (&'w str, &'w str)>) -> bool {
        wanted.all(|(name, value)| self.value(name).is_some_and(|own| own.to_string() == value))
    }
}

impl<F> fmt::Display for Variant<F> {
    /// `B = 64, ILP = 4`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&words(self.names, &self.generics))
    }
}

impl<F> fmt::Debug for Variant<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({self})", self.kernel)
    }
}

/// What tells an instance of a kernel from others: `B = 64, ILP = 4`.
pub(crate) fn words(names: &[&str], generics: &Generics) -> String {
    let mut text = String::new();
    for (name, value) in names.iter().zip(generics.iter()) {
        let separator = if text.is_empty() { "" } else { ", " };
        // A String takes all.
        let _ = write!(text, "{separator}{name} = {value}");
    }
    text
}

impl fmt::Display for GenericArgument {
    /// As Rust writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            GenericArgument::Type(ty) => write!(f, "{ty}"),
            GenericArgument::Const(ScalarKind::Bool, bits) => write!(f, "{}", bits != 0),
            GenericArgument::Const(ScalarKind::U64 | ScalarKind::Usize, bits) => write!(f, "{bits}"),
            // Narrower integers come sign-extended.
            GenericArgument::Const(_, bits) => write!(f, "{}", bits as i64),
        }
    }
}
