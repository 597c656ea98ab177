//! Figures with their units, one way everywhere.

/// `512 B`, `16.0 KiB`, `50.0 MiB`, `139.8 GiB`.
pub(super) fn bytes(figure: f64) -> String {
    const UNITS: [&str; 3] = ["KiB", "MiB", "GiB"];
    if figure < 2048.0 {
        return format!("{figure:.0} B");
    }
    let (mut figure, mut unit) = (figure / 1024.0, 0);
    while figure >= 2048.0 && unit + 1 < UNITS.len() {
        (figure, unit) = (figure / 1024.0, unit + 1);
    }
    format!("{figure:.1} {}", UNITS[unit])
}

/// `1980 MHz`.
pub(super) fn megahertz(hertz: u64) -> String {
    format!("{:.0} MHz", hertz as f64 / 1e6)
}

/// `6.003 ms`: four digits, since what variants differ by is often less than a hundredth.
pub(super) fn seconds(figure: f64) -> String {
    let (scale, unit) = unit(figure);
    format!("{} {unit}", digits(figure * scale))
}

/// `254.9 µs [253.8–257.0]`: a time and the interval round it, all in the unit of the time.
pub(super) fn seconds_between(figure: f64, least: f64, most: f64) -> String {
    let (scale, unit) = unit(figure);
    format!("{} {unit} [{}–{}]", digits(figure * scale), digits(least * scale), digits(most * scale))
}

fn unit(seconds: f64) -> (f64, &'static str) {
    match seconds {
        s if s >= 0.999_95 => (1.0, "s"),
        s if s >= 0.999_95e-3 => (1e3, "ms"),
        s if s >= 0.999_95e-6 => (1e6, "µs"),
        _ => (1e9, "ns"),
    }
}

/// Four significant digits, and never an exponent.
fn digits(figure: f64) -> String {
    let decimals = match figure.abs() {
        f if f >= 999.95 => 0,
        f if f >= 99.995 => 1,
        f if f >= 9.9995 => 2,
        _ => 3,
    };
    format!("{figure:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_four_digits_and_a_blank() {
        for (figure, text) in [
            (6.0034e-3, "6.003 ms"),
            (254.94e-6, "254.9 µs"),
            (12.3456, "12.35 s"),
            (1234.5, "1234 s"),
            (999.96e-9, "1.000 µs"),
            (5e-9, "5.000 ns"),
            (0.0, "0.000 ns"),
        ] {
            assert_eq!(seconds(figure), text);
        }
        assert_eq!(seconds_between(1.0e-3, 0.9996e-3, 1.25e-3), "1.000 ms [1.000–1.250]");
        assert_eq!((bytes(512.0), bytes(16384.0)), ("512 B".to_owned(), "16.0 KiB".to_owned()));
        assert_eq!((bytes(50.0 * 1048576.0), bytes(232.0 * 1024.0)), ("50.0 MiB".to_owned(), "232.0 KiB".to_owned()));
        assert_eq!((bytes(139.75 * 1073741824.0), megahertz(1_980_000_000)), ("139.8 GiB".to_owned(), "1980 MHz".to_owned()));
    }
}
