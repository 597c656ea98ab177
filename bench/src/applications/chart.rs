//! The chart: how many times as fast as one core each program is, ours and the twin's at their best, and the document's, on a logarithmic scale.

use super::rounds::Program;
use crate::Outcome;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A program's three bars.
struct Bars {
    name: String,
    heights: [Option<f64>; 3],
    ratio: Option<f64>,
}

const SERIES: [(&str, RGBColor); 3] = [
    ("ours, best variant", RGBColor(31, 96, 170)),
    ("CUDA C++, best twin", RGBColor(118, 183, 42)),
    ("the document, 2008", RGBColor(160, 160, 160)),
];

const SIZE: (u32, u32) = (1_100, 520);

fn bars(program: &Program) -> Option<Bars> {
    let core = program.core?;
    let best = [program.best_of_ours(), program.best_of_theirs()].map(|best| best.map(|(_, time)| core.over(&time)));
    let heights = [best[0], best[1], Some(program.document.1.0)];
    Some(Bars { name: program.document.0.to_owned(), heights, ratio: program.ratio() })
}

/// Draws the programs that were timed. An `Err` where none was.
pub(super) fn svg(programs: &[Program]) -> Outcome<String> {
    let all: Vec<Bars> = programs.iter().filter_map(bars).collect();
    if all.is_empty() {
        return Err("`--chart`: nothing was timed".into());
    }
    let mut text = String::new();
    draw(&all, &SVGBackend::with_string(&mut text, SIZE).into_drawing_area()).map_err(|error| format!("`--chart`: {error}"))?;
    Ok(text)
}

fn draw(all: &[Bars], area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>) -> Outcome<()> {
    let greatest = all.iter().flat_map(|bars| bars.heights).flatten().fold(10.0, f64::max);
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(area)
        .caption("Speed-up over one core (× the twin's speed below the names)", ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..all.len() as f64, (1.0..greatest * 4.0).log_scale())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .y_desc("times as fast as one core")
        .y_label_formatter(&|y| format!("{y:.0}"))
        .label_style(("sans-serif", 13))
        .draw()?;
    for (k, (name, colour)) in SERIES.iter().enumerate() {
        let bar = |(i, bars): (usize, &Bars)| {
            let left = i as f64 + 0.1 + 0.27 * k as f64;
            // Below 1 there is no bar.
            Some(Rectangle::new([(left, 1.0), (left + 0.25, bars.heights[k]?.max(1.0))], colour.filled()))
        };
        let drawn = chart.draw_series(all.iter().enumerate().filter_map(bar))?;
        drawn.label(*name).legend(|(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
    }
    let centred = |size: i32, vertical| ("sans-serif", size).into_font().color(&BLACK).pos(Pos::new(HPos::Center, vertical));
    for (i, bars) in all.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(i as f64 + 0.5, 1.0));
        area.draw(&Text::new(bars.name.clone(), (x, y + 6), centred(14, VPos::Top)))?;
        if let Some(ratio) = bars.ratio {
            area.draw(&Text::new(format!("{ratio:.2}×"), (x, y + 24), centred(13, VPos::Top)))?;
        }
        for (k, height) in bars.heights.iter().enumerate().filter_map(|(k, height)| Some((k, (*height)?))) {
            let (x, y) = chart.backend_coord(&(i as f64 + 0.225 + 0.27 * k as f64, height.max(1.0)));
            area.draw(&Text::new(format!("{height:.0}"), (x, y - 3), centred(10, VPos::Bottom)))?;
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .label_font(("sans-serif", 13))
        .draw()?;
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::programs;
    use super::*;

    #[test]
    fn a_timed_program_has_its_bars_and_figures() {
        let text = svg(&programs()).expect("one was timed");
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{text}");
        for expected in ["SAXPY", "0.80×", ">\n200\n<", ">\n250\n<", ">\n19\n<", "CUDA C++, best twin"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(!text.contains("H.264"), "it was not timed");
        // Bars stand on one line, and the greater is the higher: a rectangle's y is its top.
        let tops: Vec<f64> = bar_tops(&text);
        assert!(tops.len() == 3 && tops[1] < tops[0] && tops[0] < tops[2], "{tops:?}");
    }

    /// The tops of the bars, which are the rectangles in a series' colour that are wider than those of the legend.
    fn bar_tops(text: &str) -> Vec<f64> {
        let attribute = |element: &str, name: &str| -> Option<f64> {
            let (_, rest) = element.split_once(&format!(" {name}=\""))?;
            rest.split('"').next()?.parse().ok()
        };
        let of = |colour: &RGBColor| {
            let fill = format!("fill=\"#{:02X}{:02X}{:02X}\"", colour.0, colour.1, colour.2);
            let bars = text.split("<rect").filter(move |element| element.contains(&fill));
            bars.filter(|element| attribute(element, "width").is_some_and(|width| width > 12.0)).find_map(|element| attribute(element, "y"))
        };
        SERIES.iter().filter_map(|(_, colour)| of(colour)).collect()
    }

    #[test]
    fn without_times_there_is_no_chart() {
        let [_, sad] = programs();
        assert!(svg(&[sad]).err().is_some_and(|error| error.to_string().contains("nothing was timed")));
    }
}
