//! `--html`: a comparison as one page that needs nothing else: no network, no fonts, no other file.
//!
//! | file | what it has |
//! |---|---|
//! | `figures.rs`, `cells.rs` | the table, and how figures read in it |
//! | `bars.rs`, `roofline.rs`, `scale.rs` | times or speeds, and what bounds them; where things stand in a drawing |
//! | `occupancy.rs` | limits, curves, the next step |
//! | `texts.rs`, `sass.rs` | what a variant becomes: Rust, PTX, OpenCL C, SASS; each line once |
//! | `diff.rs` | the first pair side by side, for readers without JavaScript |
//! | `lines.rs` | the source by line, with what is live and what the simulator counted |
//! | `page.html`, `page.css`, `page.js` | what it looks like and does |
//! | `bars.html`, `roofline.html`, `occupancy.html` | panels |
//!
//! Templates escape what they are given. Whatever a script chooses among is in the page already: texts as numbers of lines, panels as they
//! are drawn here. Without scripts the first pair is there to read.

mod bars;
mod cells;
mod diff;
mod figures;
mod lines;
mod occupancy;
mod roofline;
mod sass;
mod scale;
mod texts;

use super::Comparison;
use super::columns::{COLUMNS, Cell};
use super::variant::Variant;
use crate::cli::Stop;
use crate::cli::source::Source;
pub(super) use bars::is_of;
use minijinja::Environment;
use serde_json::{Value as Json, json};
use std::path::Path;
use texts::Texts;
use warpwright_codegen::backend::rust::Rust;

/// Writes the page of all comparisons of a run: whole, or not at all.
pub(super) fn write(path: &Path, comparisons: &[Comparison], sources: [Option<&Source>; 2]) -> Result<(), Stop> {
    let page = render(comparisons, sources);
    let wrong = |error| Stop::usage(format!("`{}` cannot be written: {error}; name another file with `--html`", path.display()));
    replace(path, page.as_bytes()).map_err(wrong)
}

/// The page's templates.
const TEMPLATES: [(&str, &str); 4] = [
    ("page.html", include_str!("page.html")),
    ("bars.html", include_str!("bars.html")),
    ("roofline.html", include_str!("roofline.html")),
    ("occupancy.html", include_str!("occupancy.html")),
];

/// What a template gives. One that is wrong is a mistake of warpwright's own, whatever is compared.
fn ours<T>(given: Result<T, minijinja::Error>) -> T {
    given.unwrap_or_else(|error| panic!("a template of the page is wrong: {error:#}"))
}

fn render(comparisons: &[Comparison], sources: [Option<&Source>; 2]) -> String {
    let mut templates = Environment::new();
    templates.set_trim_blocks(true);
    TEMPLATES.iter().for_each(|(name, text)| ours(templates.add_template(name, text)));
    let draw = |name: &str, facts: Json| ours(templates.get_template(name).and_then(|template| template.render(facts)));
    let mut texts = Texts::default();
    let mut kernels = Vec::new();
    for (n, comparison) in comparisons.iter().enumerate() {
        kernels.push(kernel(n, comparison, sources, &mut texts, &draw));
    }
    let context = json!({
        "kernels": kernels,
        "css": include_str!("page.css"),
        "js": include_str!("page.js"),
        "strings": in_script(&json!(texts.strings())),
        "version": env!("CARGO_PKG_VERSION"),
        "columns": COLUMNS.iter().filter(|column| column.counts).map(|column| column.title).collect::<Vec<_>>(),
    });
    draw("page.html", context)
}

/// A value as JSON that may stand in a script: nothing in it can end the script or begin a comment.
fn in_script(value: &Json) -> String {
    value.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Everything about one kernel: what stands in the page, and what its script chooses among.
fn kernel(
    n: usize,
    comparison: &Comparison,
    sources: [Option<&Source>; 2],
    texts: &mut Texts,
    draw: &dyn Fn(&str, Json) -> String,
) -> Json {
    let newest = comparison.foremost();
    let (a, b) = pair(&comparison.variants, newest);
    let sass = sass::Sass::of(comparison);
    let of_variants = texts::Set::of(comparison, &sass, texts);
    let listing = lines::Listing::of(comparison, sources, &of_variants, texts);
    let mut panels: Vec<String> = Vec::new();
    let mut panel_of: Vec<Vec<Option<usize>>> = Vec::new();
    for variant in &comparison.variants {
        let mut row = Vec::new();
        for target in 0..comparison.targets.len() {
            let Some(compiled) = variant.compiled() else {
                row.push(None);
                continue;
            };
            let drawn = draw("occupancy.html", occupancy::panel(Cell { compiled, target }));
            let known = panels.iter().position(|panel| *panel == drawn);
            row.push(Some(known.unwrap_or(panels.len())));
            if known.is_none() {
                panels.push(drawn);
            }
        }
        panel_of.push(row);
    }
    let panel = |variant: usize| panel_of.get(variant).and_then(|row| panels.get((*row.get(newest)?)?));
    let names: Vec<&str> = comparison.variants.iter().map(|variant| variant.name(&comparison.kernel)).collect();
    let targets: Vec<&str> = comparison.targets.iter().map(|target| target.name).collect();
    let compiles: Vec<bool> = comparison.variants.iter().map(|variant| variant.compiled().is_some()).collect();
    let mut notes = comparison.notes.clone();
    notes.extend(of_variants.notes(&sass));
    let data = json!({
        "a": a, "b": b, "target": newest,
        "names": names, "targets": targets,
        "kinds": of_variants.kinds(), "texts": of_variants.by_variant(), "bodies": of_variants.bodies(),
        "panels": panels, "panelOf": panel_of,
        "listing": listing.data(),
    });
    let diff = of_variants.text(&Rust, a, newest).zip(of_variants.text(&Rust, b, newest)).map(|(a, b)| diff::rows(texts, a, b));
    let mut tables = Vec::new();
    for target in 0..comparison.targets.len() {
        let mut table = figures::table(comparison, target);
        table["bars"] = json!(bars::chart(comparison, target).map(|facts| draw("bars.html", facts)));
        table["roofline"] = json!(roofline::roofline(comparison, target).map(|facts| draw("roofline.html", facts)));
        tables.push(table);
    }
    json!({
        "n": n,
        "file": comparison.file,
        "kernel": comparison.kernel,
        "targets": targets,
        "newest": newest,
        "names": names,
        "a": a, "b": b,
        "tables": tables,
        "deltas": figures::deltas(comparison, a, b, newest),
        "compiles": compiles,
        "notes": notes,
        "kinds": of_variants.kinds(),
        "diff": diff,
        "listing": listing.first(b, newest, &of_variants, texts),
        "panels": [panel(a), panel(b)],
        "data": in_script(&data),
    })
}

/// The pair that is seen first: the first variant, and of the others the one that is fastest, if that is known. Against another revision: the
/// first variant that has changed, as it was and as it is.
fn pair(variants: &[Variant], target: usize) -> (usize, usize) {
    let ptx = |n: usize| Some(variants[n].compiled()?.ptx.get(target)?.clone()?.without_places());
    let mut revised = (1..variants.len()).filter(|n| variants[*n].is_earlier && ptx(*n).is_some() && ptx(n - 1).is_some());
    let unchanged = revised.clone().next();
    if let Some(earlier) = revised.find(|n| ptx(*n) != ptx(n - 1)).or(unchanged) {
        return (earlier, earlier - 1);
    }
    let timed = |variant: &Variant| {
        let column = COLUMNS.iter().find(|column| column.title == "time")?;
        (column.value)(Cell { compiled: variant.compiled()?, target })
    };
    let predicted = |variant: &Variant| variant.compiled().and_then(|compiled| compiled.yardstick.speed(compiled, target));
    let gain = |variant: &Variant| timed(variant).map(|time| -time).or_else(|| predicted(variant));
    let compiling: Vec<usize> = (0..variants.len()).filter(|n| variants[*n].compiled().is_some()).collect();
    let Some((first, others)) = compiling.split_first() else { return (0, 0) };
    let mut best = others.first().copied();
    for other in others {
        if let Some(known) = best
            && gain(&variants[*other]) > gain(&variants[known])
        {
            best = Some(*other);
        }
    }
    (*first, best.unwrap_or(*first))
}

/// Puts a file in the place of another in one step: a reader sees the old one or the new one.
fn replace(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    if path.is_dir() {
        return Err(std::io::Error::from(std::io::ErrorKind::IsADirectory));
    }
    // What is no file, `/dev/stdout` for one, is written to as it is.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, contents);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = std::fs::write(&part, contents).and_then(|()| std::fs::rename(&part, path));
    if written.is_err() {
        // It may not have come to be.
        let _ = std::fs::remove_file(&part);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_script_early() {
        let text = in_script(&json!(["</script><!--", "a\u{2028}b"]));
        assert_eq!(text, "[\"\\u003c/script>\\u003c!--\",\"a\\u2028b\"]");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).expect("JSON"), ["</script><!--", "a\u{2028}b"]);
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("warpwright-page-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("a.html");
        replace(&file, b"one").and_then(|()| replace(&file, b"two")).expect("written");
        assert_eq!(std::fs::read(&file).expect("the file"), b"two");
        assert!(replace(&folder, b"x").is_err() && replace(&folder.join("no/b.html"), b"x").is_err());
        assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 1, "nothing else is left there");
        let _ = std::fs::remove_dir_all(&folder);
    }
}
