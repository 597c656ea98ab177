//! The chart: how many times as fast as the fastest incumbent each function is, by size, on a logarithmic scale.

use super::Line;
use crate::Outcome;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A function's bars, in the order of its sizes.
struct Bars {
    work: &'static str,
    ratios: Vec<f64>,
}

const COLOURS: [RGBColor; 4] = [RGBColor(158, 202, 225), RGBColor(66, 146, 198), RGBColor(8, 81, 156), RGBColor(8, 48, 107)];
const NAMES: [&str; 4] = ["smallest size", "second", "third", "fourth"];

const SIZE: (u32, u32) = (1_200, 560);

/// Draws the functions that were timed beside an incumbent. An `Err` where none was.
pub(super) fn svg(lines: &[Line]) -> Outcome<String> {
    let mut all: Vec<Bars> = Vec::new();
    for line in lines {
        let Some(ratio) = line.ratio() else { continue };
        match all.iter_mut().find(|bars| bars.work == line.work) {
            Some(bars) => bars.ratios.push(ratio),
            None => all.push(Bars { work: line.work, ratios: vec![ratio] }),
        }
    }
    if all.is_empty() {
        return Err("`--chart`: nothing was timed beside an incumbent".into());
    }
    let mut text = String::new();
    draw(&all, &SVGBackend::with_string(&mut text, SIZE).into_drawing_area()).map_err(|error| format!("`--chart`: {error}"))?;
    Ok(text)
}

fn draw(all: &[Bars], area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>) -> Outcome<()> {
    let greatest = all.iter().flat_map(|bars| &bars.ratios).copied().fold(2.0, f64::max);
    let least = all.iter().flat_map(|bars| &bars.ratios).copied().fold(0.8, f64::min);
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(area)
        .caption("Speed over the fastest incumbent (CUB, cuBLAS, cudaMemcpy, torch)", ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(130)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..all.len() as f64, (least * 0.9..greatest * 1.4).log_scale())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .y_desc("times as fast")
        .y_label_formatter(&|y| format!("{y}"))
        .label_style(("sans-serif", 13))
        .draw()?;
    for (k, (name, colour)) in NAMES.iter().zip(COLOURS).enumerate() {
        let bar = |(i, bars): (usize, &Bars)| {
            let (ratio, width) = (*bars.ratios.get(k)?, 0.8 / bars.ratios.len() as f64);
            let left = i as f64 + 0.1 + width * k as f64;
            Some(Rectangle::new([(left, ratio.min(1.0)), (left + width * 0.9, ratio.max(1.0))], colour.filled()))
        };
        let drawn = chart.draw_series(all.iter().enumerate().filter_map(bar))?;
        if all.iter().any(|bars| bars.ratios.len() > k) {
            drawn.label(*name).legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
        }
    }
    chart.draw_series([PathElement::new([(0.0, 1.0), (all.len() as f64, 1.0)], BLACK)])?;
    let bottom = i32::try_from(SIZE.1).unwrap_or(0) - 136;
    for (i, bars) in all.iter().enumerate() {
        let (x, _) = chart.backend_coord(&(i as f64 + 0.5, 1.0));
        let style = ("sans-serif", 13).into_font().transform(FontTransform::Rotate90).color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(bars.work, (x, bottom), style))?;
        let width = 0.8 / bars.ratios.len() as f64;
        for (k, ratio) in bars.ratios.iter().enumerate() {
            let (x, y) = chart.backend_coord(&(i as f64 + 0.1 + width * (k as f64 + 0.45), ratio.max(1.0)));
            let style = ("sans-serif", 10).into_font().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Bottom));
            area.draw(&Text::new(format!("{ratio:.2}"), (x, y - 2), style))?;
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .label_font(("sans-serif", 13))
        .draw()?;
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::lines;
    use super::*;

    #[test]
    fn each_size_has_a_bar_and_its_figure() {
        let text = svg(&lines()).expect("some were timed");
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{text}");
        for expected in ["sum f32", ">\n2.00\n<", ">\n0.80\n<", "smallest size", "second"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(!text.contains("third"), "there are two sizes");
        assert!(svg(&lines()[2..]).is_err(), "nothing was timed");
    }
}
