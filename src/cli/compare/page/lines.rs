//! The source by line: what is live there on a target, where the peak is, what the simulator counted. PTX and SASS point at these lines.

use super::super::Comparison;
use super::super::variant::{Compiled, Variant};
use super::texts::{Body, LineRef, Set, Texts};
use crate::cli::source::Source;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_review::estimate::registers::live_by_line;

/// Registers live at a line, and whether values made there are live where the most are.
type Live = BTreeMap<LineRef, (u32, bool)>;

/// A file: its number, its name, and the number and text of each line.
type File = (usize, String, Vec<(u32, String)>);

/// The lines that matter, and what is known of them.
pub(super) struct Listing {
    files: Vec<File>,
    /// Each once; by variant and target which of them it is.
    lives: Vec<Live>,
    live_of: Vec<Vec<Option<usize>>>,
    /// By variant: warp instructions and sectors per request of a line, simulated.
    counters: Vec<Option<BTreeMap<LineRef, (u64, f64)>>>,
}

impl Listing {
    pub(super) fn of(comparison: &Comparison, sources: [Option<&Source>; 2], set: &Set, texts: &mut Texts) -> Listing {
        let mut listing = Listing { files: Vec::new(), lives: Vec::new(), live_of: Vec::new(), counters: Vec::new() };
        for variant in &comparison.variants {
            let mut row = Vec::new();
            for target in 0..comparison.targets.len() {
                let live = variant.compiled().map(|compiled| live(compiled, target, variant, texts));
                row.push(live.map(|live| {
                    let known = listing.lives.iter().position(|known| *known == live);
                    known.unwrap_or_else(|| {
                        listing.lives.push(live);
                        listing.lives.len() - 1
                    })
                }));
            }
            listing.live_of.push(row);
            listing.counters.push(counters(variant, texts));
        }
        let mut wanted: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        let places = set.places().chain(listing.lives.iter().flat_map(|live| live.keys().copied()));
        for (file, line) in places {
            wanted.entry(file).or_default().insert(line);
        }
        for (n, source) in sources.iter().enumerate() {
            let Some(source) = source else { continue };
            if let Some((path, first, last)) = kernel_lines(source, &comparison.kernel) {
                wanted.entry(texts.file(&path, n == 1)).or_default().extend(first..=last);
            }
        }
        for (file, lines) in wanted {
            let known = &texts.files()[file];
            let Some(source) = sources[usize::from(known.is_earlier)] else { continue };
            let lines: Vec<(u32, String)> =
                lines.into_iter().filter_map(|line| Some((line, source.line_of(&known.path, line)?.trim_end().to_owned()))).collect();
            let name = if known.is_earlier { format!("{} (earlier)", end_of(&known.path)) } else { known.path.clone() };
            listing.files.push((file, name, lines));
        }
        listing
    }

    /// For the script: files; live registers in fours (file, line, how many, whether at the peak); counters in fours.
    pub(super) fn data(&self) -> Json {
        let live = |live: &Live| -> Vec<u32> {
            live.iter().flat_map(|((file, line), (live, is_peak))| [*file as u32, *line, *live, u32::from(*is_peak)]).collect()
        };
        let counters = |counters: &Option<BTreeMap<LineRef, (u64, f64)>>| {
            counters.as_ref().map(|counters| {
                let four =
                    |((file, line), (count, sectors)): (&LineRef, &(u64, f64))| [json!(file), json!(line), json!(count), json!(sectors)];
                counters.iter().flat_map(four).collect::<Vec<_>>()
            })
        };
        json!({
            "files": self.files,
            "lives": self.lives.iter().map(live).collect::<Vec<_>>(),
            "liveOf": self.live_of,
            "counters": self.counters.iter().map(counters).collect::<Vec<_>>(),
        })
    }

    /// What stands in the page of a variant on a target: the source's lines, PTX and SASS.
    pub(super) fn first(&self, variant: usize, target: usize, set: &Set, texts: &Texts) -> Json {
        let none = Live::new();
        let live = self.live_of.get(variant).and_then(|row| self.lives.get((*row.get(target)?)?)).unwrap_or(&none);
        let counters = self.counters.get(variant).and_then(Option::as_ref);
        let most = live.values().map(|(live, _)| *live).max().unwrap_or(1).max(1);
        let files = self.files.iter().map(|(file, name, lines)| {
            let mut before = None;
            let rows = lines.iter().map(|(number, text)| {
                let is_gap = before.is_some_and(|before: u32| before + 1 != *number);
                before = Some(*number);
                let here = live.get(&(*file, *number));
                json!({
                    "place": format!("{file}:{number}"),
                    "number": number,
                    "text": text,
                    "is_gap": is_gap,
                    "live": here.map(|(live, _)| live),
                    "share": here.map(|(live, _)| live * 100 / most),
                    "is_peak": here.is_some_and(|(_, is_peak)| *is_peak),
                    "counted": counters.and_then(|counters| counters.get(&(*file, *number))).map(|(count, sectors)| {
                        if *sectors > 0.0 { format!("{count} warp instr, {sectors} sectors/req") } else { format!("{count} warp instr") }
                    }),
                })
            });
            json!({ "name": name, "rows": rows.collect::<Vec<_>>() })
        });
        let body = |body: Option<&Body>| {
            let line = |(line, place): (&usize, &Option<LineRef>)| {
                let place = place.map(|(file, line)| (format!("{file}:{line}"), line));
                json!({ "text": texts.line(*line), "place": place.as_ref().map(|(place, _)| place), "line": place.as_ref().map(|(_, line)| line) })
            };
            body.map(|body| body.lines.iter().zip(&body.places).map(line).collect::<Vec<_>>())
        };
        json!({
            "files": files.collect::<Vec<_>>(),
            "ptx": body(set.text(&Ptx, variant, target)),
            "sass": body(set.sass(variant, target)),
        })
    }
}

fn live(compiled: &Compiled, target: usize, variant: &Variant, texts: &mut Texts) -> Live {
    let kernel = compiled.known.legal.addressed();
    let estimate = &compiled.known.targets[target];
    let peak: Vec<(u16, u32)> =
        estimate.registers.peak.iter().map(|loc| &kernel.locations[*loc]).map(|place| (place.file, place.line)).collect();
    let lines = live_by_line(kernel, estimate.target);
    let known = lines.into_iter().filter_map(|found| {
        let path = kernel.files.get(usize::from(found.file))?;
        Some(((texts.file(path, variant.is_earlier), found.line), (found.live, peak.contains(&(found.file, found.line)))))
    });
    known.collect()
}

fn counters(variant: &Variant, texts: &mut Texts) -> Option<BTreeMap<LineRef, (u64, f64)>> {
    let counters = variant.compiled()?.counters.as_ref()?;
    let lines = counters.lines.iter().filter(|line| line.line > 0).map(|line| {
        let sectors = if line.tally.global_requests > 0 { line.tally.sectors_per_request() } else { 0.0 };
        let place = (texts.file(&line.file, variant.is_earlier), line.line);
        (place, (line.tally.total_warp_instructions(), (sectors * 100.0).round() / 100.0))
    });
    Some(lines.collect())
}

/// The file of a kernel and its lines, attributes included, documentation not.
fn kernel_lines(source: &Source, kernel: &str) -> Option<(String, u32, u32)> {
    let item = source.item(kernel)?;
    // What is written about it stands in front of it, and is left there.
    let attributes = item.attrs.iter().filter(|attribute| !attribute.path().is_ident("doc")).map(Spanned::span);
    let first = attributes.chain([item.vis.span(), item.sig.span()]).map(|span| span.start().line).filter(|line| *line > 0).min()?;
    Some((source.place(item.span())?.file, u32::try_from(first).ok()?, u32::try_from(item.span().end().line).ok()?))
}

fn end_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
