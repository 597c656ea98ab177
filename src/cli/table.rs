//! Tables that are as wide as there is room, and stay readable: what is the same in every row is said once above; where a terminal is narrow,
//! figures are given briefly, then the least important columns are left out, and which ones is said below.
//!
//! Columns are separated by two blanks or more and cells never contain two, so that `awk -F '  +'` takes a table apart; there are no rules and
//! no boxes. Programs had better ask for `--json`.

use super::style::{self, columns, paint};
use anstyle::Style;

/// A table.
#[derive(Default)]
pub(super) struct Table {
    headings: Vec<Heading>,
    rows: Vec<Row>,
}

/// The head of a column.
pub(super) struct Heading {
    title: String,
    /// What it is called elsewhere.
    name: String,
    /// What stands under the title: what kind of figure it is, `estimated`, `measured`; empty where there is nothing to say.
    kind: &'static str,
    /// Figures stand to the right.
    is_figure: bool,
    /// 0 is never left out; of the others, the highest goes first.
    rank: u8,
    /// Whether it is said above the table if all rows have the same.
    can_rise: bool,
    /// The last column may be cut to what room there is, down to so many columns.
    cut: Option<usize>,
}

/// A cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    full: String,
    brief: Option<String>,
    is_best: bool,
    style: Option<Style>,
}

enum Row {
    Cells(Vec<Cell>),
    /// Some cells, and a text where the others would be.
    Instead(Vec<Cell>, Cell),
}

impl Heading {
    /// Of words.
    pub(super) fn words(title: impl Into<String>) -> Heading {
        let title = title.into();
        Heading { name: title.clone(), title, kind: "", is_figure: false, rank: 0, can_rise: false, cut: None }
    }

    /// Of figures.
    pub(super) fn figures(title: impl Into<String>) -> Heading {
        Heading { is_figure: true, can_rise: true, ..Heading::words(title) }
    }

    pub(super) fn kind(mut self, kind: &'static str) -> Heading {
        self.kind = kind;
        self
    }

    /// The second line of its title.
    pub(super) fn second(mut self, line: &'static str) -> Heading {
        self.kind = line;
        self.name = format!("{} {line}", self.title).trim_start().to_owned();
        self
    }

    /// Is left out where there is no room, those of high rank first.
    pub(super) fn rank(mut self, rank: u8) -> Heading {
        self.rank = rank;
        self
    }

    /// Is said above the table if all rows have the same.
    pub(super) fn rises(mut self) -> Heading {
        self.can_rise = true;
        self
    }

    /// Stands in its place even so.
    pub(super) fn stays(mut self) -> Heading {
        self.can_rise = false;
        self
    }

    /// Is cut where there is no room, but not to less than this.
    pub(super) fn cut(mut self, least: usize) -> Heading {
        self.cut = Some(least);
        self
    }
}

impl Cell {
    pub(super) fn new(text: impl Into<String>) -> Cell {
        Cell { full: text.into(), ..Cell::default() }
    }

    /// How it reads where there is little room.
    pub(super) fn brief(mut self, text: Option<String>) -> Cell {
        self.brief = text;
        self
    }

    /// Marks it as the best of its column.
    pub(super) fn best(mut self, is_best: bool) -> Cell {
        self.is_best = is_best;
        self
    }

    pub(super) fn style(mut self, style: Style) -> Cell {
        self.style = Some(style);
        self
    }

    fn text(&self, is_brief: bool) -> &str {
        match &self.brief {
            Some(brief) if is_brief => brief,
            _ => &self.full,
        }
    }
}

/// How a column is printed.
struct Shown {
    /// Its number.
    column: usize,
    is_brief: bool,
    /// Whether one of its figures is marked: then all have room for the mark.
    has_best: bool,
    /// Whether marked figures are coloured: not where most are the best.
    is_rare: bool,
    width: usize,
}

/// What a cell says where there is nothing to say.
pub(super) const NOTHING: &str = "–";
/// Between columns.
const GAP: usize = 2;
/// The best of a column are coloured if they are no more than one in so many.
const RARE: usize = 4;
/// Behind the best figure of a column.
const BEST: &str = " *";

impl Table {
    pub(super) fn new(headings: impl IntoIterator<Item = Heading>) -> Table {
        Table { headings: headings.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row: as many cells as there are headings.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(Row::Cells(cells.into_iter().collect()));
    }

    /// Adds a row that has a text in the place of its figures.
    pub(super) fn row_instead(&mut self, cells: impl IntoIterator<Item = Cell>, text: Cell) {
        self.rows.push(Row::Instead(cells.into_iter().collect(), text));
    }

    /// As standard output has it.
    pub(super) fn print(&self) -> String {
        self.text(style::width(), style::colour(style::Stream::Out))
    }

    /// In so many columns, if that is a question.
    pub(super) fn text(&self, width: Option<usize>, colour: bool) -> String {
        let known = (0..self.headings.len()).filter(|column| !self.is_empty(*column));
        let (same, left): (Vec<usize>, Vec<usize>) = known.partition(|column| self.is_same(*column));
        let mut text = String::new();
        if !same.is_empty() {
            let said: Vec<String> = same.iter().map(|column| self.said_once(*column)).collect();
            text.push_str(&style::wrap(&format!("in every row: {}", said.join("; ")), 2, width));
            text.push('\n');
        }
        let (shown, left_out) = self.fit(&left, width);
        self.print_headings(&shown, colour, &mut text);
        self.rows.iter().for_each(|row| self.print_row(row, &shown, colour, &mut text));
        if let (Some(width), false) = (width, left_out.is_empty()) {
            let names: Vec<&str> = left_out.iter().map(|column| self.headings[*column].name.as_str()).collect();
            let said = format!("left out at {width} columns: {}; a pipe has them (`| less -S`)", names.join(", "));
            text.push_str(&paint(colour, style::ASIDE, &style::wrap(&said, 2, Some(width))));
            text.push('\n');
        }
        text
    }

    /// The cells of a column.
    fn cells(&self, column: usize) -> impl Iterator<Item = &Cell> {
        self.rows.iter().filter_map(move |row| match row {
            Row::Cells(cells) | Row::Instead(cells, _) => cells.get(column),
        })
    }

    /// Whether no row has anything there, where that is nothing to speak of.
    fn is_empty(&self, column: usize) -> bool {
        self.headings[column].can_rise && self.cells(column).all(|cell| cell.full == NOTHING)
    }

    /// Whether every row has the same: of two rows or more.
    fn is_same(&self, column: usize) -> bool {
        let mut cells = self.cells(column);
        let Some(first) = cells.next().filter(|_| self.headings[column].can_rise) else { return false };
        let mut others = cells.peekable();
        others.peek().is_some() && others.all(|cell| cell.full == first.full)
    }

    fn said_once(&self, column: usize) -> String {
        let Heading { title, kind, .. } = &self.headings[column];
        let figure = self.cells(column).next().map_or("", |cell| cell.full.as_str());
        if kind.is_empty() { format!("{title} {figure}") } else { format!("{title} ({kind}) {figure}") }
    }

    fn shown(&self, column: usize, is_brief: bool) -> Shown {
        let best = self.cells(column).filter(|cell| cell.is_best).count();
        let (has_best, is_rare) = (best > 0, best <= (self.rows.len() / RARE).max(1));
        let mark = if has_best { BEST.len() } else { 0 };
        let heading = &self.headings[column];
        let widest = self.cells(column).map(|cell| columns(cell.text(is_brief))).max().unwrap_or(0);
        let widest = heading.cut.filter(|_| is_brief).map_or(widest, |least| widest.min(least));
        let width = columns(&heading.title).max(columns(heading.kind)).max(widest) + mark;
        Shown { column, is_brief, has_best, is_rare, width }
    }

    /// Which columns there is room for, and in which form; and which there is none for.
    fn fit(&self, columns: &[usize], width: Option<usize>) -> (Vec<Shown>, Vec<usize>) {
        let Some(width) = width else { return (columns.iter().map(|column| self.shown(*column, false)).collect(), Vec::new()) };
        let total = |shown: &[Shown]| shown.iter().map(|shown| shown.width + GAP).sum::<usize>().saturating_sub(GAP);
        let mut shown: Vec<Shown> = columns.iter().map(|column| self.shown(*column, true)).collect();
        let mut left_out = Vec::new();
        while total(&shown) > width {
            let last = (0..shown.len()).max_by_key(|at| self.headings[shown[*at].column].rank);
            let Some(at) = last.filter(|at| self.headings[shown[*at].column].rank > 0) else { break };
            left_out.push(shown.remove(at).column);
        }
        left_out.sort_unstable();
        // What room is left goes to the full form, where it matters most.
        let mut order: Vec<usize> = (0..shown.len()).collect();
        order.sort_by_key(|at| self.headings[shown[*at].column].rank);
        for at in order {
            let column = shown[at].column;
            let brief = std::mem::replace(&mut shown[at], self.shown(column, false));
            let excess = total(&shown).saturating_sub(width);
            match self.headings[column].cut {
                Some(least) => shown[at].width = shown[at].width.saturating_sub(excess).max(least),
                None if excess > 0 => shown[at] = brief,
                None => {}
            }
        }
        (shown, left_out)
    }

    fn print_headings(&self, shown: &[Shown], colour: bool, text: &mut String) {
        let line = |word: fn(&Heading) -> &str, style: Style| {
            let cell = |shown: &Shown| {
                let heading = &self.headings[shown.column];
                let mark = if shown.has_best { BEST.len() } else { 0 };
                pad(&paint(colour, style, word(heading)), columns(word(heading)), shown.width - mark, heading.is_figure) + &" ".repeat(mark)
            };
            shown.iter().map(cell).collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned() + "\n"
        };
        text.push_str(&line(|heading| &heading.title, style::HEADING));
        if shown.iter().any(|shown| !self.headings[shown.column].kind.is_empty()) {
            text.push_str(&line(|heading| heading.kind, style::ASIDE));
        }
    }

    fn print_row(&self, row: &Row, shown: &[Shown], colour: bool, text: &mut String) {
        let (cells, instead) = match row {
            Row::Cells(cells) => (cells, None),
            Row::Instead(cells, instead) => (cells, Some(instead)),
        };
        let mut line = Vec::new();
        for shown in shown {
            let Some(cell) = cells.get(shown.column) else { break };
            let (style, mark) = match cell.is_best {
                true => (Some(style::BEST).filter(|_| shown.is_rare), BEST),
                false => (cell.style, if shown.has_best { "  " } else { "" }),
            };
            let is_figure = self.headings[shown.column].is_figure;
            let mut plain = cell.text(shown.is_brief).to_owned();
            if self.headings[shown.column].cut.is_some() {
                plain = cut(&plain, shown.width);
            }
            plain.push_str(mark);
            let wide = columns(&plain);
            line.push(pad(&style.map_or_else(|| plain.clone(), |style| paint(colour, style, &plain)), wide, shown.width, is_figure));
        }
        line.extend(instead.map(|text| paint(colour, text.style.unwrap_or_default(), &text.full)));
        text.push_str(line.join(&" ".repeat(GAP)).trim_end());
        text.push('\n');
    }
}

/// Text that is `wide` columns, in `width` of them.
fn pad(text: &str, wide: usize, width: usize, right: bool) -> String {
    let blanks = " ".repeat(width.saturating_sub(wide));
    if right { blanks + text } else { text.to_owned() + &blanks }
}

/// The beginning of a text that fits.
fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if columns(&short) + unicode_width::UnicodeWidthChar::width(c).unwrap_or(0) + 1 > width {
            break;
        }
        short.push(c);
    }
    short + "…"
}

/// `B = 64, ILP = 4` of several rows as columns: the names, and each row's values. Where rows have other names than the first, one column of
/// all that is said of each; where nothing is said of any, none.
pub(super) fn variants(rows: &[&str]) -> (Vec<String>, Vec<Vec<String>>) {
    if rows.iter().all(|row| row.is_empty()) {
        return (Vec::new(), vec![Vec::new(); rows.len()]);
    }
    generics(rows).unwrap_or_else(|| (vec!["variant".to_owned()], rows.iter().map(|row| vec![(*row).to_owned()]).collect()))
}

fn generics(rows: &[&str]) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    fn split(words: &str) -> Option<Vec<(&str, &str)>> {
        words.split(", ").map(|part| part.split_once(" = ")).collect()
    }
    let rows = rows.iter().map(|row| split(row)).collect::<Option<Vec<_>>>()?;
    let names = |row: &[(&str, &str)]| row.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    let first = names(rows.first()?);
    let values = rows.iter().map(|row| row.iter().map(|(_, value)| (*value).to_owned()).collect()).collect();
    rows.iter().all(|row| names(row) == first).then_some((first, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([
            Heading::figures("B"),
            Heading::figures("registers").kind("estimated").rank(1),
            Heading::figures("shared").kind("exact").rank(2),
            Heading::figures("bound by").rank(3),
        ]);
        for (b, registers, bound) in [("32", 8, "memory bandwidth"), ("1024", 12, "blocks")] {
            table.row([
                Cell::new(b),
                Cell::new(format!("{registers} [1–999]")).brief(Some(registers.to_string())).best(registers == 8),
                Cell::new("4.0 KiB"),
                Cell::new(bound),
            ]);
        }
        table.row_instead([Cell::new("2048")], Cell::new("does not compile: too large"));
        table
    }

    #[test]
    fn everything_where_there_is_room() {
        let expected = "\
in every row: shared (exact) 4.0 KiB
   B   registers            bound by
       estimated
  32   8 [1–999] *  memory bandwidth
1024  12 [1–999]              blocks
2048  does not compile: too large
";
        assert_eq!(table().text(None, false), expected);
        assert_eq!(table().text(Some(40), false), expected);
    }

    #[test]
    fn brief_then_left_out_and_that_is_said() {
        let expected = "\
in every row: shared (exact) 4.0
  KiB
   B  registers            bound by
      estimated
  32          8 *  memory bandwidth
1024         12              blocks
2048  does not compile: too large
";
        assert_eq!(table().text(Some(35), false), expected);
        let narrow = table().text(Some(20), false);
        assert!(narrow.contains("\n  32   8 [1–999] *\n"), "{narrow}");
        assert!(narrow.contains("left out at 20\n  columns: bound by;"), "{narrow}");
        assert!(narrow.lines().all(|line| columns(line) <= 20 || line.starts_with("2048")), "{narrow}");
    }

    #[test]
    fn colour_changes_no_widths() {
        let (plain, coloured) = (table().text(None, false), table().text(None, true));
        assert!(coloured.contains(&format!("{}8 [1–999] *{:#}", style::BEST, style::BEST)), "{coloured}");
        let stripped: String = coloured
            .split('\u{1b}')
            .enumerate()
            .map(|(n, part)| if n == 0 { part } else { part.split_once('m').map_or(part, |(_, rest)| rest) })
            .collect();
        assert_eq!(stripped.lines().map(str::trim_end).collect::<Vec<_>>(), plain.lines().collect::<Vec<_>>());
    }

    #[test]
    fn the_last_column_is_cut() {
        let mut table = Table::new([Heading::figures("line"), Heading::words("source").cut(8)]);
        table.row([Cell::new("1"), Cell::new("let x = something_long;")]);
        assert_eq!(table.text(Some(20), false), "line  source\n   1  let x = somet…\n");
    }

    #[test]
    fn generics_become_columns() {
        let (names, values) = variants(&["B = 64, T = f32", "B = 128, T = f64"]);
        assert_eq!((names.join(" "), values[1].join(" ")), ("B T".to_owned(), "128 f64".to_owned()));
        assert_eq!(variants(&["B = 64", "C = 64"]).0, ["variant"]);
        assert_eq!(variants(&["", ""]), (Vec::new(), vec![Vec::new(), Vec::new()]));
    }
}
