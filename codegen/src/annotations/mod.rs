//! Annotations: what a source may ask of loops, of a whole kernel and of shared arrays. A row for each, and the map from rows to what is asked.
//!
//! The map is the same from the source to the schedule: `syntax` fills it with expressions, `hir` with their values for one instance, the
//! IR keeps it beside its loops, and `schedule` has a pass for each row that may stand on a loop. What reads, checks, prints and parses
//! annotations asks the rows, so that nothing else knows their names.

mod table;

pub use table::*;

use std::fmt;

/// A row: all that is known of an annotation but its pass.
#[derive(Debug)]
pub struct Annotation {
    /// Its name in the source and in the text form of the IR.
    pub name: &'static str,
    /// Its argument.
    pub takes: Takes,
    /// The modifiers that mean something to it.
    pub modifiers: &'static [Modifier],
    /// Where it may stand.
    pub on: &'static [On],
    /// On which loops it may stand.
    pub loops: Loops,
    /// What its number is as an argument of `#[kernel(…)]`. `None`: the outermost loop over a thread's elements has it.
    pub elements: Option<Elements>,
    /// Whether it makes as many iterations one as its number says: such a loop does not stay rolled, and is unrolled only afterwards.
    pub joins: bool,
    /// Whether one with the number 1, which asks for nothing, is still told from none: loops with larger numbers may share arrays with it.
    pub keeps_one: bool,
}

/// An annotation's argument. `false`, and the least of numbers that must be given, ask for nothing.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// `true`, `false` or nothing, which means `true`.
    Switch,
    /// A number.
    Number(Numbers),
    /// A number, where 1 keeps a loop rolled; or `true`, `false` or nothing: for every iteration, or what the annotation is without one.
    All(Numbers),
}

/// The numbers that an annotation takes.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The word that the number is written behind, `stages = 3`. `None`: it is written alone.
    pub word: Option<&'static str>,
    /// The smallest.
    pub least: i128,
    /// The largest.
    pub most: i128,
    /// Whether they are powers of two.
    pub are_powers: bool,
    /// Why there are no others.
    pub limit: &'static str,
    /// What to write instead of another one.
    pub instead: &'static str,
    /// One that makes a good example.
    pub example: u32,
}

/// Where an annotation may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Before a loop: `#[ilp(4)]`.
    Loop,
    /// Among the arguments of `#[kernel(…)]`: `ilp = 4`.
    Kernel,
    /// Among the arguments of `#[shared(…)]`: `pad = 1`.
    Shared,
}

/// The loops that an annotation may stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loops {
    /// Every loop.
    All,
    /// A `for`: iterations are counted.
    Counted,
    /// A `for`; with the number 1 every loop.
    CountedUnlessOne,
}

/// What an annotation's number is on a kernel: so many elements for each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// A block's threads apart.
    Groups,
    /// Consecutive ones.
    Lanes,
}

/// A modifier behind an annotation's argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modifier {
    /// What cannot be kept is a warning.
    BestEffort,
    /// The person promises that no access of another iteration (or, to `batch_loads`, no store before it) touches the element that a
    /// load reads.
    AssumeDisjoint,
    /// The person promises that a group's first element is a multiple of its length.
    AssumeAligned,
    /// Copies go through registers, on every target.
    ByRegisters,
    /// Copies are `cp.async` (sm_80 on); a target without is refused.
    ByCpAsync,
    /// Copies are `cp.async.bulk` (sm_90 on), which one thread issues; a target without is refused.
    ByBulk,
    /// Copies of matrices' tiles are tensor copies (sm_90 on), which one thread issues; a target without is refused.
    ByTma,
    /// Copies are issued by threads of their own, which the launch adds to the block, where there is a copy engine (sm_90 on). Takes a `bool`.
    Producer,
}

impl Modifier {
    /// Every modifier, as it is written.
    pub const ALL: [(Modifier, &'static str); 8] = [
        (Modifier::BestEffort, "best_effort"),
        (Modifier::AssumeDisjoint, "assume_disjoint"),
        (Modifier::AssumeAligned, "assume_aligned"),
        (Modifier::ByRegisters, "by = registers"),
        (Modifier::ByCpAsync, "by = cp_async"),
        (Modifier::ByBulk, "by = bulk"),
        (Modifier::ByTma, "by = tma"),
        (Modifier::Producer, "producer"),
    ];

    /// Those that say what copies are made by. One at most is given.
    pub const BY: [Modifier; 4] = [Modifier::ByRegisters, Modifier::ByCpAsync, Modifier::ByBulk, Modifier::ByTma];

    /// As it is written.
    pub fn name(self) -> &'static str {
        Modifier::ALL.into_iter().find(|(modifier, _)| *modifier == self).map_or("", |(_, name)| name)
    }

    /// The modifier that is written so.
    pub fn named(text: &str) -> Option<Modifier> {
        Modifier::ALL.into_iter().find(|(_, name)| *name == text).map(|(modifier, _)| modifier)
    }
}

/// A set of modifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers(u8);

impl Modifiers {
    /// Whether it is among them.
    pub fn has(self, modifier: Modifier) -> bool {
        self.0 & (1 << modifier as u8) != 0
    }

    /// Adds a modifier. Whether it was not among them.
    pub fn add(&mut self, modifier: Modifier) -> bool {
        let before = self.0;
        self.0 |= 1 << modifier as u8;
        self.0 != before
    }

    /// The others.
    #[must_use]
    pub fn without(self, modifier: Modifier) -> Modifiers {
        Modifiers(self.0 & !(1 << modifier as u8))
    }
}

impl PartialEq for Annotation {
    fn eq(&self, other: &Annotation) -> bool {
        self.name == other.name
    }
}

impl Eq for Annotation {}

impl Annotation {
    /// The annotation of this name.
    pub fn named(name: &str) -> Option<&'static Annotation> {
        ANNOTATIONS.iter().copied().find(|annotation| annotation.name == name)
    }

    /// Those that may stand there, in the order of the table.
    pub fn all_on(on: On) -> impl Iterator<Item = &'static Annotation> {
        ANNOTATIONS.iter().copied().filter(move |annotation| annotation.on.contains(&on))
    }

    /// The numbers that it takes, if it takes any.
    pub fn numbers(&self) -> Option<&Numbers> {
        match &self.takes {
            Takes::Switch => None,
            Takes::Number(numbers) | Takes::All(numbers) => Some(numbers),
        }
    }

    /// Whether an argument must be given.
    pub fn needs_number(&self) -> bool {
        matches!(self.takes, Takes::Number(_))
    }

    /// What is wrong with a number as its argument, and the way out.
    pub fn refuse_number(&self, value: i128) -> Option<(String, String)> {
        let numbers = self.numbers()?;
        let asked = match (numbers.word, self.on.contains(&On::Shared)) {
            (Some(word), _) => format!("`{word} = {value}`"),
            (None, true) => format!("`{} = {value}`", self.name),
            (None, false) => format!("`{}` by {value}", self.name),
        };
        let refused = |why: String| format!("{asked} is not possible: {why}");
        // What is less than a number that asks for nothing.
        if value < numbers.least && numbers.least <= 1 {
            let least = numbers.least;
            let means = if self.needs_number() { "for no change" } else { "to keep the loop rolled" };
            return Some((refused(format!("it must be at least {least}")), format!("use {least} {means}")));
        }
        let is_good = (numbers.least..=numbers.most).contains(&value) && !(numbers.are_powers && value.count_ones() != 1);
        (!is_good).then(|| (refused(numbers.limit.to_owned()), numbers.instead.to_owned()))
    }

    /// How it is written there.
    pub fn example(&self, on: On) -> String {
        let name = self.name;
        let word = self.numbers().and_then(|numbers| numbers.word).map_or(String::new(), |word| format!("{word} = "));
        match (on, self.numbers().map(|numbers| numbers.example)) {
            (On::Loop, Some(n)) => format!("#[{name}({word}{n})]"),
            (On::Loop, None) => format!("#[{name}]"),
            (On::Kernel, Some(n)) => format!("{name} = {n}"),
            (On::Kernel, None) => format!("{name} = true"),
            (On::Shared, Some(n)) if self.needs_number() => format!("#[shared({name} = {n})]"),
            (On::Shared, _) => format!("#[shared({name})]"),
        }
    }
}

/// One annotation that stands somewhere. `P` tells the place: a span of the source, or a location of a kernel. `A` is the argument: an
/// expression, or its value; `true` and what is left out are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked<P, A = Option<u32>> {
    /// Which.
    pub annotation: &'static Annotation,
    /// Its name in the source: where errors are shown.
    pub place: P,
    /// Its argument.
    pub argument: A,
    /// The modifiers behind it.
    pub modifiers: Modifiers,
    /// The `bool` that [`Modifier::Producer`] is given, as it is written: an evaluated one that is `false` is no modifier.
    pub condition: A,
}

impl<P, A> Asked<P, A> {
    /// What copies are to be made by, if it says so.
    pub fn by(&self) -> Option<Modifier> {
        Modifier::BY.into_iter().find(|by| self.says(*by))
    }

    /// Whether it has this modifier.
    pub fn says(&self, modifier: Modifier) -> bool {
        self.modifiers.has(modifier)
    }
}

impl<P> Asked<P> {
    /// Its number: how many iterations or elements.
    pub fn count(&self) -> u32 {
        self.argument.unwrap_or(1)
    }

    /// Whether it is `unroll(1)`: the loop stays as it is. Of all others 1 asks for nothing.
    pub fn keeps_rolled(&self) -> bool {
        self.argument == Some(1) && !self.annotation.needs_number()
    }
}

/// The annotations of one loop, kernel or array: each at most once, in the order of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotations<P, A = Option<u32>> {
    asked: Vec<Asked<P, A>>,
    /// Whether they are arguments of `#[kernel]`; in the IR, whether the loop is one over the elements of a thread that they imply.
    pub of_kernel: bool,
}

impl<P, A> Default for Annotations<P, A> {
    fn default() -> Annotations<P, A> {
        Annotations { asked: Vec::new(), of_kernel: false }
    }
}

impl<P, A> Annotations<P, A> {
    /// What is asked of this annotation.
    pub fn get(&self, annotation: &Annotation) -> Option<&Asked<P, A>> {
        self.iter().find(|asked| asked.annotation == annotation)
    }

    /// Whether this annotation is among them.
    pub fn has(&self, annotation: &Annotation) -> bool {
        self.get(annotation).is_some()
    }

    /// Adds one, or replaces it.
    pub fn insert(&mut self, asked: Asked<P, A>) {
        self.take(asked.annotation);
        self.asked.push(asked);
        self.asked.sort_by_key(|asked| ANNOTATIONS.iter().position(|annotation| *annotation == asked.annotation));
    }

    /// Takes one out.
    pub fn take(&mut self, annotation: &Annotation) -> Option<Asked<P, A>> {
        let at = self.asked.iter().position(|asked| asked.annotation == annotation)?;
        Some(self.asked.remove(at))
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Asked<P, A>> {
        self.asked.iter()
    }

    /// Adds a modifier to each.
    pub fn say(&mut self, modifier: Modifier) {
        for asked in &mut self.asked {
            asked.modifiers.add(modifier);
        }
    }

    /// Those for which `f` gives something.
    pub fn filter_map<Q, B>(&self, f: impl FnMut(&Asked<P, A>) -> Option<Asked<Q, B>>) -> Annotations<Q, B> {
        Annotations { asked: self.asked.iter().filter_map(f).collect(), of_kernel: self.of_kernel }
    }
}

impl<P: Clone> Annotations<P> {
    /// Those of them that are wanted.
    #[must_use]
    pub fn filter(&self, wanted: impl Fn(&Asked<P>) -> bool) -> Annotations<P> {
        self.filter_map(|asked| wanted(asked).then(|| asked.clone()))
    }
}

/// The text form: ` unroll(4) ilp(2) batch_loads`, each with a space before it; modifiers follow in the parentheses.
impl<P> fmt::Display for Annotations<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for asked in self.iter() {
            let modifiers = Modifier::ALL.into_iter().filter(|(modifier, _)| asked.says(*modifier)).map(|(_, name)| name.to_owned());
            let arguments: Vec<String> = asked.argument.map(|n| n.to_string()).into_iter().chain(modifiers).collect();
            write!(f, " {}", asked.annotation.name)?;
            if !arguments.is_empty() {
                write!(f, "({})", arguments.join(", "))?;
            }
        }
        f.write_str(if self.of_kernel { " of_kernel" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::{Annotation, Modifier, On};

    const PAGE: &str = include_str!("../../../docs/language.md");

    /// The rows of the first table behind a mark of the manual, each as its cells.
    fn table(mark: &str) -> Vec<Vec<&'static str>> {
        let (_, behind) = PAGE.split_once(mark).unwrap_or_else(|| panic!("{mark} is in docs/language.md"));
        let lines = behind.lines().skip_while(|line| !line.starts_with("|---")).skip(1).take_while(|line| line.starts_with('|'));
        lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
    }

    /// The words between backticks.
    fn names(text: &str) -> Vec<&str> {
        text.split('`').skip(1).step_by(2).collect()
    }

    #[test]
    fn the_manual_has_every_annotation_and_its_limit() {
        for (mark, on, prefix) in
            [("**On a loop**", On::Loop, "#["), ("**On a kernel**", On::Kernel, ""), ("**On a shared", On::Shared, "#[shared(")]
        {
            let rows = table(mark);
            let name = |row: &Vec<&'static str>| {
                let form = names(row[0])[0].strip_prefix(prefix).unwrap_or_else(|| panic!("{row:?}"));
                form.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default()
            };
            let mut listed: Vec<&str> = rows.iter().map(name).collect();
            listed.dedup();
            let mut known: Vec<&str> = Annotation::all_on(on).map(|annotation| annotation.name).collect();
            listed.sort_unstable();
            known.sort_unstable();
            assert_eq!(listed, known, "{mark}");
            for annotation in Annotation::all_on(on).filter(|annotation| annotation.on[0] == on) {
                let Some(most) = annotation.numbers().map(|numbers| numbers.most) else { continue };
                let most = if most < 1000 { most.to_string() } else { format!("{},{:03}", most / 1000, most % 1000) };
                let says = |row: &&Vec<&'static str>| name(row) == annotation.name && row[1].contains(&most);
                assert!(rows.iter().any(|row| says(&row)), "{}: {most}", annotation.name);
            }
        }
    }

    #[test]
    fn the_manual_says_what_each_modifier_is_for() {
        let rows = table("**Modifiers**");
        let listed: Vec<(&str, Vec<&str>)> = rows.iter().map(|row| (names(row[0])[0], names(row[1]))).collect();
        for ((modifier, name), (listed, on)) in Modifier::ALL.into_iter().zip(&listed) {
            assert_eq!(name, *listed);
            let takes = |annotation: &&Annotation| annotation.modifiers.contains(&modifier);
            let mut known: Vec<&str> = Annotation::all_on(On::Loop).filter(takes).map(|annotation| annotation.name).collect();
            let mut on: Vec<&str> =
                if on.is_empty() { Annotation::all_on(On::Loop).map(|annotation| annotation.name).collect() } else { on.clone() };
            known.sort_unstable();
            on.sort_unstable();
            assert_eq!(known, on, "{name}");
        }
        assert_eq!(listed.len(), Modifier::ALL.len());
    }

    #[test]
    fn refusals_name_the_limit() {
        for annotation in super::ANNOTATIONS {
            let Some(numbers) = annotation.numbers() else { continue };
            assert!(numbers.limit.contains(&numbers.most.to_string()), "{}", annotation.name);
            assert_eq!(annotation.refuse_number(numbers.most), None);
            assert!(annotation.refuse_number(numbers.most + 1).is_some_and(|(message, _)| message.ends_with(numbers.limit)));
            assert!(annotation.refuse_number(numbers.least - 1).is_some());
        }
    }
}
