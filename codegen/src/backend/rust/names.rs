//! Names. While the text is made, a variable is one private character; at the end each becomes the source's name, with `_0`, `_1` … where
//! several of one name are visible together (the copies that an annotation made).

use std::collections::{BTreeMap, HashSet};

/// The first character that stands for a variable: a plane for private use.
const FIRST: u32 = 0xF_0000;

/// A variable, and where in the text it is visible.
struct Variable {
    hint: String,
    from: usize,
    to: usize,
}

/// All variables.
#[derive(Default)]
pub(super) struct Names {
    variables: Vec<Variable>,
    /// Variables visible where the text is now, by block.
    open: Vec<Vec<usize>>,
    /// Names of parameters, arrays, structs.
    pub(super) taken: HashSet<String>,
}

impl Names {
    /// A new variable, visible from `at` to the end of the innermost block.
    pub(super) fn declare(&mut self, hint: &str, at: usize) -> String {
        let n = self.variables.len();
        self.variables.push(Variable { hint: identifier(hint), from: at, to: usize::MAX });
        if let Some(open) = self.open.last_mut() {
            open.push(n);
        }
        char::from_u32(FIRST + n as u32).unwrap_or('_').to_string()
    }

    pub(super) fn enter(&mut self) {
        self.open.push(Vec::new());
    }

    pub(super) fn leave(&mut self, at: usize) {
        for n in self.open.pop().unwrap_or_default() {
            self.variables[n].to = at;
        }
    }

    /// The text with every variable's name.
    pub(super) fn fill_in(&self, text: &str) -> String {
        let names = self.choose();
        let mut out = String::with_capacity(text.len() * 2);
        for c in text.chars() {
            match (c as u32).checked_sub(FIRST).and_then(|n| names.get(n as usize)) {
                Some(name) => out.push_str(name),
                None => out.push(c),
            }
        }
        out
    }

    fn choose(&self) -> Vec<String> {
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (n, variable) in self.variables.iter().enumerate() {
            groups.entry(&variable.hint).or_default().push(n);
        }
        let hints: HashSet<String> = groups.keys().map(|hint| (*hint).to_owned()).collect();
        let mut names = vec![String::new(); self.variables.len()];
        for (hint, members) in groups {
            let meet = |a: usize, b: usize| self.variables[a].from < self.variables[b].to && self.variables[b].from < self.variables[a].to;
            let alone = members.windows(2).all(|pair| !meet(pair[0], pair[1])) && self.disjoint(&members, &meet);
            if alone && !self.taken.contains(hint) {
                members.iter().for_each(|n| names[*n] = hint.to_owned());
                continue;
            }
            let mut number = 0;
            for n in members {
                let mut name = format!("{hint}_{number}");
                while hints.contains(&name) || self.taken.contains(&name) {
                    number += 1;
                    name = format!("{hint}_{number}");
                }
                number += 1;
                names[n] = name;
            }
        }
        names
    }

    fn disjoint(&self, members: &[usize], meet: &impl Fn(usize, usize) -> bool) -> bool {
        // In order of their beginnings, the last to end decides.
        let mut last: Option<usize> = None;
        for n in members {
            if last.is_some_and(|last| meet(last, *n)) {
                return false;
            }
            if last.is_none_or(|last| self.variables[last].to < self.variables[*n].to) {
                last = Some(*n);
            }
        }
        true
    }
}

/// `hint` as a name of Rust.
fn identifier(hint: &str) -> String {
    let hint = hint.strip_prefix("r#").unwrap_or(hint);
    let mut name: String = hint.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_numeric()) {
        name.insert(0, 'v');
    }
    if syn::parse_str::<syn::Ident>(&name).is_err() {
        name.push('_');
    }
    name
}
