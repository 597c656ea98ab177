//! What variants become, as numbers of lines: variants share most of theirs, and each is in the page once.

use super::super::Comparison;
use super::sass::Sass;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use warpwright_codegen::backend::{BACKENDS, Backend, Line};
use warpwright_runtime::nvdisasm::SassLine;

/// Bytes of texts that a page may have, so that with all else it stays below five million: what comes after that is left out.
const MOST_BYTES: usize = 3_800_000;

/// The lines of a page, each once.
#[derive(Default)]
pub(super) struct Texts {
    strings: Vec<String>,
    known: HashMap<String, usize>,
    files: Vec<SourceFile>,
    bytes: usize,
}

/// A file that lines come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceFile {
    pub(super) path: String,
    /// Whether it is of the other revision.
    pub(super) is_earlier: bool,
}

/// A place in one of the files.
pub(super) type LineRef = (usize, u32);

/// A text: its lines, and the place that each comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Body {
    pub(super) lines: Vec<usize>,
    pub(super) places: Vec<Option<LineRef>>,
}

impl Texts {
    pub(super) fn strings(&self) -> &[String] {
        &self.strings
    }

    pub(super) fn line(&self, n: usize) -> &str {
        &self.strings[n]
    }

    pub(super) fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The number of a file.
    pub(super) fn file(&mut self, path: &str, is_earlier: bool) -> usize {
        let known = self.files.iter().position(|file| file.path == path && file.is_earlier == is_earlier);
        known.unwrap_or_else(|| {
            self.files.push(SourceFile { path: path.to_owned(), is_earlier });
            self.files.len() - 1
        })
    }

    fn add(&mut self, body: &mut Body, line: &str, place: Option<LineRef>) {
        let number = match self.known.get(line) {
            Some(number) => *number,
            None => {
                self.strings.push(line.to_owned());
                self.known.insert(line.to_owned(), self.strings.len() - 1);
                // Quotes, a comma, and what must be escaped.
                self.bytes += line.len() + 3 + line.matches(['\t', '"', '\\']).count();
                self.strings.len() - 1
            }
        };
        body.lines.push(number);
        body.places.push(place);
    }

    fn body(&mut self, lines: &[Line], is_earlier: bool) -> Body {
        let mut body = Body::default();
        for Line { text, origin } in lines {
            let place = origin.as_ref().map(|(file, number)| (self.file(file, is_earlier), *number));
            self.add(&mut body, text.trim_end(), place);
        }
        body
    }

    fn sass(&mut self, lines: &[SassLine], is_earlier: bool) -> Body {
        let mut body = Body::default();
        for line in lines {
            let place = line.place.as_ref().map(|(file, number)| (self.file(file, is_earlier), *number));
            let indented = if line.text.ends_with(':') { line.text.clone() } else { format!("\t{}", line.text) };
            self.add(&mut body, &indented, place);
        }
        body
    }
}

/// The texts of a comparison.
#[derive(Default)]
pub(super) struct Set {
    bodies: Vec<Body>,
    known: HashMap<Body, usize>,
    /// Of each back end, by variant, then target; those whose text is for any device have one.
    texts: Vec<Vec<Vec<Option<usize>>>>,
    /// By variant, then target.
    sass: Vec<Vec<Option<usize>>>,
    left_out: usize,
}

impl Set {
    /// Prints everything; in a page that is full already the least asked for is left out: what is not of the newest target comes last.
    pub(super) fn of(comparison: &Comparison, sass: &Sass, texts: &mut Texts) -> Set {
        let (variants, targets) = (&comparison.variants, comparison.targets.len());
        let of_each = |columns: usize| vec![vec![None; columns]; variants.len()];
        let columns = |backend: &&dyn Backend| of_each(if backend.language().is_per_target { targets } else { 1 });
        let mut set = Set { texts: BACKENDS.iter().map(columns).collect(), sass: of_each(targets), ..Set::default() };
        for target in (0..targets).rev() {
            let is_newest = target + 1 == targets;
            for (at, backend) in BACKENDS.iter().enumerate().filter(|(_, backend)| is_newest || backend.language().is_per_target) {
                let (on, column) = if backend.language().is_per_target { (Some(comparison.targets[target]), target) } else { (None, 0) };
                for (n, variant) in variants.iter().enumerate() {
                    // What a language cannot say is no error of a comparison.
                    let lines = variant.compiled().and_then(|compiled| backend.lines(&compiled.kernel, on).ok());
                    let keep = |lines: Vec<Line>| set.keep(texts, |texts| texts.body(&lines, variant.is_earlier));
                    set.texts[at][n][column] = lines.and_then(keep);
                }
            }
            for (n, variant) in variants.iter().enumerate() {
                let code = sass.get(n, target);
                set.sass[n][target] = code.and_then(|lines| set.keep(texts, |texts| texts.sass(lines, variant.is_earlier)));
            }
        }
        set
    }

    fn keep(&mut self, texts: &mut Texts, make: impl FnOnce(&mut Texts) -> Body) -> Option<usize> {
        if texts.bytes > MOST_BYTES {
            self.left_out += 1;
            return None;
        }
        let body = make(texts);
        if let Some(known) = self.known.get(&body) {
            return Some(*known);
        }
        texts.bytes += as_json(&body).to_string().len();
        self.bodies.push(body.clone());
        self.known.insert(body, self.bodies.len() - 1);
        Some(self.bodies.len() - 1)
    }

    fn body(&self, number: Option<usize>) -> Option<&Body> {
        self.bodies.get(number?)
    }

    /// The text of a back end for a target, or for any device.
    pub(super) fn text(&self, backend: &dyn Backend, variant: usize, target: usize) -> Option<&Body> {
        let at = BACKENDS.iter().position(|known| known.language().name == backend.language().name)?;
        let columns = self.texts.get(at)?.get(variant)?;
        self.body(*columns.get(if backend.language().is_per_target { target } else { 0 })?)
    }

    pub(super) fn sass(&self, variant: usize, target: usize) -> Option<&Body> {
        self.body(*self.sass.get(variant)?.get(target)?)
    }

    /// Places that lines of any text come from.
    pub(super) fn places(&self) -> impl Iterator<Item = LineRef> + '_ {
        self.bodies.iter().flat_map(|body| body.places.iter().flatten().copied())
    }

    /// The kinds of text that there are, with their names.
    pub(super) fn kinds(&self) -> Vec<Json> {
        let has_sass = self.sass.iter().flatten().any(Option::is_some);
        let kinds =
            BACKENDS.iter().map(|backend| (backend.language().name, backend.language().title)).chain(has_sass.then_some(("sass", "SASS")));
        kinds.map(|(key, name)| json!({ "key": key, "name": name })).collect()
    }

    /// By the key of each kind: of each variant its text, or its texts by target.
    pub(super) fn by_variant(&self) -> Json {
        let of_backend = |(backend, texts): (&&dyn Backend, &Vec<Vec<Option<usize>>>)| {
            let texts = if backend.language().is_per_target { json!(texts) } else { json!(texts.concat()) };
            (backend.language().name.to_owned(), texts)
        };
        let all = BACKENDS.iter().zip(&self.texts).map(of_backend);
        Json::Object(all.chain([("sass".to_owned(), json!(self.sass))]).collect())
    }

    pub(super) fn bodies(&self) -> Vec<Json> {
        self.bodies.iter().map(as_json).collect()
    }

    pub(super) fn notes(&self, sass: &Sass) -> Vec<String> {
        let full = match self.left_out {
            0 => None,
            1 => Some("1 text is left out: the page would be too large; choose fewer variants or targets".to_owned()),
            n => Some(format!("{n} texts are left out: the page would be too large; choose fewer variants or targets")),
        };
        sass.notes.iter().cloned().chain(full).collect()
    }
}

/// Numbers of lines; and from which line on they come from which file and line of the source: three numbers each.
fn as_json(body: &Body) -> Json {
    let mut marks: Vec<i64> = Vec::new();
    let mut last = None;
    for (n, place) in body.places.iter().enumerate() {
        if *place != last {
            let (file, line) = place.map_or((-1, 0), |(file, line)| (file as i64, i64::from(line)));
            marks.extend([n as i64, file, line]);
            last = *place;
        }
    }
    json!([body.lines, marks])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_become_places() {
        let mut texts = Texts::default();
        let line = |text: &str, number: u32| Line { text: text.into(), origin: (number > 0).then(|| ("a.rs".into(), number)) };
        let given =
            [line("{", 0), line("\tmov.u32 %r1, 1;", 23), line("\tmov.u32 %r2, 2;", 23), line("$L1:", 0), line("\tret;", 24), line("}", 0)];
        let body = texts.body(&given, false);
        let lines: Vec<&str> = body.lines.iter().map(|line| texts.line(*line)).collect();
        assert_eq!(lines, ["{", "\tmov.u32 %r1, 1;", "\tmov.u32 %r2, 2;", "$L1:", "\tret;", "}"]);
        assert_eq!(body.places, [None, Some((0, 23)), Some((0, 23)), None, Some((0, 24)), None]);
        assert_eq!(as_json(&body).to_string(), "[[0,1,2,3,4,5],[1,0,23,3,-1,0,4,0,24,5,-1,0]]");
        // The same text again costs nothing.
        assert_eq!((texts.body(&given, false), texts.strings().len()), (body, 6));
    }
}
