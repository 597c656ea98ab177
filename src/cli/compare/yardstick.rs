//! What the predicted speeds of a kernel's variants are compared by: variants do the same, but need neither the same operations for it nor the
//! same bytes.

use super::variant::{Compiled, Variant};
use warpwright_review::estimate::time::Prediction;

/// What is the same in all variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Yardstick {
    /// The launch: how long it takes is known of every variant.
    Launch,
    /// Floating-point operations.
    Operations,
    /// Bytes of global memory that are used: where there are no operations to speak of, or where variants compute their functions in other ways,
    /// `math = fast` in fewer operations than `precise`.
    Bytes,
}

impl Yardstick {
    /// For columns that are compared by whatever there is.
    pub(in crate::cli) const ANY: &'static [Yardstick] = &[Yardstick::Launch, Yardstick::Operations, Yardstick::Bytes];
    /// For those that are compared where the launch is not known.
    pub(in crate::cli) const RATES: &'static [Yardstick] = &[Yardstick::Operations, Yardstick::Bytes];

    /// Without a launch.
    pub(in crate::cli) fn of_rates<'c>(compiled: impl Iterator<Item = &'c Compiled> + Clone) -> Yardstick {
        let mut modes = compiled.clone().map(|compiled| compiled.known.legal.options.math);
        let first = modes.next();
        let has_one_mode = modes.all(|mode| Some(mode) == first);
        let computes = predictions(compiled).all(|prediction| prediction.operations > 0.0);
        if computes && has_one_mode { Yardstick::Operations } else { Yardstick::Bytes }
    }

    fn of<'c>(compiled: impl Iterator<Item = &'c Compiled> + Clone) -> Yardstick {
        let is_launched = compiled.clone().all(|compiled| compiled.blocks.is_some());
        if is_launched && predictions(compiled.clone()).all(|prediction| prediction.is_of_launch()) {
            Yardstick::Launch
        } else {
            Yardstick::of_rates(compiled)
        }
    }

    /// What a prediction is by it: more is faster.
    pub(in crate::cli) fn speed(self, compiled: &Compiled, target: usize) -> Option<f64> {
        let prediction = compiled.known.targets[target].prediction.as_ref()?;
        match self {
            Yardstick::Launch => Some(1.0 / prediction.seconds(compiled.blocks?)),
            _ => Some(self.rate(prediction)),
        }
    }

    /// A prediction's operations or bytes a second.
    pub(in crate::cli) fn rate(self, prediction: &Prediction) -> f64 {
        if self == Yardstick::Bytes { prediction.bandwidth } else { prediction.operations }
    }
}

fn predictions<'c>(compiled: impl Iterator<Item = &'c Compiled>) -> impl Iterator<Item = &'c Prediction> {
    compiled.flat_map(|compiled| &compiled.known.targets).filter_map(|estimate| estimate.prediction.as_ref())
}

/// Gives variants the one that they are compared by, once all is known of them.
pub(in crate::cli) fn agree(variants: &mut [Variant]) {
    let yardstick = Yardstick::of(variants.iter().filter_map(Variant::compiled));
    variants.iter_mut().filter_map(|variant| variant.outcome.as_mut().ok()).for_each(|compiled| compiled.yardstick = yardstick);
}
