//! Where figures stand in a drawing.

/// A scale from figures to places, even or by powers of ten.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    from: (f64, f64),
    to: (f64, f64),
    is_log: bool,
}

impl Scale {
    pub(super) fn even(from: (f64, f64), to: (f64, f64)) -> Scale {
        Scale { from, to, is_log: false }
    }

    pub(super) fn log(from: (f64, f64), to: (f64, f64)) -> Scale {
        Scale { from: (from.0.log10(), from.1.log10()), to, is_log: true }
    }

    /// The place of a figure.
    pub(super) fn at(&self, figure: f64) -> f64 {
        let figure = if self.is_log { figure.log10() } else { figure };
        let width = self.from.1 - self.from.0;
        let share = if width == 0.0 { 0.0 } else { (figure - self.from.0) / width };
        self.to.0 + share * (self.to.1 - self.to.0)
    }
}

/// A place as drawings have it: tenths are finer than anything seen.
pub(super) fn place(figure: f64) -> String {
    let text = format!("{figure:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Round figures from 0 up to the first that is not less than `most`: 1, 2 or 5 times a power of ten apart.
pub(super) fn ticks(most: f64, about: usize) -> Vec<f64> {
    if most.is_nan() || most <= 0.0 || !most.is_finite() {
        return vec![0.0];
    }
    let rough = most / about as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|round| round * power).into_iter().find(|step| *step >= rough * 0.999).unwrap_or(rough);
    let count = (most / step * 0.999).ceil().max(1.0) as usize;
    (0..=count).map(|n| n as f64 * step).collect()
}

/// Round figures between two: powers of ten, or 1, 2 and 5 times those, or others between, where so few of them fit that there is room.
pub(super) fn log_ticks(least: f64, most: f64, room: usize) -> Vec<f64> {
    let (first, last) = (least.log10().floor() as i32, most.log10().ceil() as i32);
    let among = |rounds: &[f64]| -> Vec<f64> {
        let all = (first..=last).flat_map(|power| {
            rounds.iter().map(move |round| if power < 0 { round / 10f64.powi(-power) } else { round * 10f64.powi(power) })
        });
        all.filter(|figure| (least * 0.999..=most * 1.001).contains(figure)).collect()
    };
    let fine = [&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0][..], &[1.0, 2.0, 5.0][..], &[1.0, 3.0][..]].map(among);
    fine.into_iter().find(|ticks| ticks.len() <= room).unwrap_or_else(|| among(&[1.0]))
}

/// The unit in which the longest of some times has a figure before the point, and how many seconds it is.
pub(super) fn unit_of_time(most: f64) -> (&'static str, f64) {
    [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)].into_iter().find(|(_, size)| most >= *size).unwrap_or(("ns", 1e-9))
}

/// A figure with so many digits, or all of them before the point.
pub(super) fn digits(figure: f64, count: i32) -> String {
    let before = if figure == 0.0 { 0 } else { figure.abs().log10().floor() as i32 + 1 };
    format!("{figure:.0$}", (count - before).clamp(0, 9) as usize)
}

/// `4.8 T`, `640 G`, `0.25`: three digits and what they are multiplied by.
pub(super) fn short(figure: f64) -> String {
    let (size, suffix) = match figure.abs() {
        size if size >= 1e12 => (1e12, " T"),
        size if size >= 1e9 => (1e9, " G"),
        size if size >= 1e6 => (1e6, " M"),
        size if size >= 1e4 => (1e3, " k"),
        _ => (1.0, ""),
    };
    let figure = figure / size;
    let digits = if figure == 0.0 { 0 } else { (2 - figure.abs().log10().floor() as i32).clamp(0, 4) as usize };
    let text = format!("{figure:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_the_end() {
        assert_eq!(ticks(64.0, 4), [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert_eq!(ticks(100.0, 4), [0.0, 50.0, 100.0]);
        assert_eq!(ticks(0.0, 4), [0.0]);
        assert_eq!(log_ticks(0.3, 20.0, 7), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(log_ticks(0.22, 1.5, 5), [0.3, 0.5, 0.7, 1.0, 1.5]);
        assert_eq!(log_ticks(0.3, 20.0, 5), [0.3, 1.0, 3.0, 10.0]);
        assert_eq!(log_ticks(0.3, 2000.0, 5), [1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn figures_are_short() {
        let shown = [4.8e12, 6.4e11, 0.25, 0.0625, 1000.0, 0.0, 66.9e12].map(short);
        assert_eq!(shown, ["4.8 T", "640 G", "0.25", "0.0625", "1000", "0", "66.9 T"]);
        assert_eq!([12.0, 12.34].map(place), ["12", "12.3"]);
    }

    #[test]
    fn times_have_one_unit_and_so_many_digits() {
        assert_eq!([2.0, 1.3e-3, 2.5e-4, 3e-8].map(|most| unit_of_time(most).0), ["s", "ms", "µs", "ns"]);
        assert_eq!(
            [1.30412, 0.252849, 56.8, 12345.6, 0.0].map(|figure| digits(figure, 4)),
            ["1.304", "0.2528", "56.80", "12346", "0.0000"]
        );
    }

    #[test]
    fn scales_meet_their_ends() {
        let even = Scale::even((0.0, 10.0), (100.0, 0.0));
        assert_eq!([0.0, 5.0, 10.0].map(|figure| even.at(figure)), [100.0, 50.0, 0.0]);
        let log = Scale::log((0.1, 10.0), (0.0, 100.0));
        assert_eq!([0.1, 1.0, 10.0].map(|figure| log.at(figure)), [0.0, 50.0, 100.0]);
    }
}
