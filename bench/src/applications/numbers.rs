//! Numbers of different kinds, which are not to be taken for one another: timed, scaled from what was timed, quoted from the document.

use crate::report::Spread;

/// What one core needs for a run's work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CoreTime {
    /// Timed: it did all of it.
    Timed { seconds: f64 },
    /// Scaled by the work's count: it was timed doing this share of it.
    Scaled { timed: f64, share: f64 },
}

impl CoreTime {
    /// Of so many seconds for a share of a run's work.
    pub(crate) fn of(seconds: f64, share: f64) -> CoreTime {
        if share == 1.0 { CoreTime::Timed { seconds } } else { CoreTime::Scaled { timed: seconds, share } }
    }

    /// Seconds of all of the work.
    pub(crate) fn seconds(&self) -> f64 {
        match self {
            CoreTime::Timed { seconds } => *seconds,
            CoreTime::Scaled { timed, share } => timed / share,
        }
    }

    /// How many times as long as this it takes.
    pub(crate) fn over(&self, device: &Spread) -> f64 {
        self.seconds() / device.median
    }
}

/// A figure of the document, not of this device: how many times faster than one core its kernel was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quoted(pub(crate) f64);

/// Ryoo et al., "Optimization Principles and Application Performance Evaluation of a Multithreaded GPU Using CUDA", PPoPP 2008: the program's name here and there, and
/// the speed-up of its kernels on a GeForce 8800 GTX over one core of an Opteron 248.
pub(crate) const DOCUMENT: &[(&str, &str, Quoted)] = &[
    ("sad", "H.264", Quoted(20.2)),
    ("lbm", "LBM", Quoted(12.5)),
    ("rc5", "RC5-72", Quoted(17.1)),
    ("fem", "FEM", Quoted(11.0)),
    ("rpes", "RPES", Quoted(210.0)),
    ("pns", "PNS", Quoted(24.0)),
    ("saxpy", "SAXPY", Quoted(19.4)),
    ("tpacf", "TPACF", Quoted(60.2)),
    ("fdtd", "FDTD", Quoted(10.5)),
    ("mri_q", "MRI-Q", Quoted(457.0)),
    ("mri_fhd", "MRI-FHD", Quoted(316.0)),
    ("coulomb", "CP", Quoted(102.0)),
];

/// What the document calls a program, and says of it.
pub(crate) fn document(name: &str) -> Option<(&'static str, Quoted)> {
    DOCUMENT.iter().find(|(ours, ..)| *ours == name).map(|(_, theirs, speed_up)| (*theirs, *speed_up))
}

/// The mean of ratios: the root of their product. None of none.
pub(crate) fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_a_ratio_and_its_inverse_is_1() {
        assert_eq!(geometric_mean(&[]), None);
        let near = |ratios: &[f64], expected: f64| (geometric_mean(ratios).expect("there are some") - expected).abs() < 1e-12;
        assert!(near(&[4.0, 0.25], 1.0) && near(&[1.1], 1.1) && near(&[1.0, 2.0, 4.0], 2.0));
    }

    #[test]
    fn a_share_is_scaled_and_the_whole_is_not() {
        let device = Spread::of(&[0.5, 0.25, 1.0]);
        assert_eq!(CoreTime::of(3.0, 1.0), CoreTime::Timed { seconds: 3.0 });
        let scaled = CoreTime::of(3.0, 0.125);
        assert_eq!((scaled, scaled.seconds(), scaled.over(&device)), (CoreTime::Scaled { timed: 3.0, share: 0.125 }, 24.0, 48.0));
    }

    #[test]
    fn the_documents_figures_are_found_by_our_names() {
        assert_eq!(document("coulomb"), Some(("CP", Quoted(102.0))));
        assert_eq!(document("CP"), None);
    }
}
