//! Types of this workspace's sources that a message must not name: who reads it does not know them.

use crate::command::root;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The types that some folders' sources declare, without those that users know.
pub struct OwnTypes {
    types: BTreeSet<String>,
}

/// Files that say what users name: what is exported, and what the language has.
const OF_USERS: &[&str] = &["src/lib.rs", "runtime/src/lib.rs", "runtime/src/prelude/mod.rs", "kernels/src/staples/mod.rs"];
const LANGUAGE: &str = "docs/language.md";

impl OwnTypes {
    /// The types that these folders declare.
    ///
    /// # Panics
    /// A folder or a file is not there.
    pub fn of(folders: &[&str]) -> OwnTypes {
        let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut known: BTreeSet<String> =
            OF_USERS.iter().flat_map(|file| words(&read(file)).map(str::to_owned).collect::<Vec<_>>()).collect();
        known.extend(code(&read(LANGUAGE)).flat_map(words).map(str::to_owned));
        let mut types = BTreeSet::new();
        let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    types.extend(std::fs::read_to_string(&path).unwrap_or_default().lines().filter_map(declared));
                }
            }
        }
        OwnTypes { types: types.into_iter().filter(|name| !known.contains(name)).collect() }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.types.len()
    }

    /// Those that a text names and `shown`, the user's own source, does not. A name of one word may be anybody's, `Region` at the beginning of a sentence: it counts in backquotes, and before `::`.
    pub fn in_text<'t>(&self, text: &'t str, shown: &str) -> Vec<&'t str> {
        let is_own = |word: &&str| self.types.contains(*word) && words(shown).all(|known| known != *word);
        let anywhere = words(text).filter(|word| capitals(word) > 1);
        let in_code = code(text).flat_map(words);
        let paths = text.match_indices("::").filter_map(|(at, _)| words(&text[..at]).last().filter(|word| text[..at].ends_with(word)));
        let all: BTreeSet<&str> = anywhere.chain(in_code).chain(paths).filter(is_own).collect();
        all.into_iter().collect()
    }
}

/// The names in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// What stands in backquotes, blocks of code among it.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn capitals(name: &str) -> usize {
    name.chars().filter(|c| c.is_uppercase()).count()
}

/// The type that a line declares.
fn declared(line: &str) -> Option<String> {
    let mut rest = line.trim_start();
    for visibility in ["pub(crate) ", "pub(super) ", "pub "] {
        rest = rest.trim_start_matches(visibility);
    }
    let rest = ["struct ", "enum "].iter().find_map(|word| rest.strip_prefix(word))?;
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
    (name.len() > 1 && capitals(&name) > 0).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_word_count_where_they_are_code() {
        let own = OwnTypes { types: ["Region", "MemoryObject"].map(str::to_owned).into() };
        assert_eq!(own.in_text("Region of a kernel, no MemoryObject", ""), ["MemoryObject"]);
        assert_eq!(own.in_text("a `Region` is expected", ""), ["Region"]);
        assert_eq!(own.in_text("a `&[Region]` is expected", ""), ["Region"]);
        assert_eq!(own.in_text("Region::Body is empty", ""), ["Region"]);
        assert_eq!(own.in_text("a `Region` is expected", "struct Region;"), Vec::<&str>::new());
        assert_eq!(own.in_text("`a` and Region and `b`", ""), Vec::<&str>::new());
    }

    #[test]
    fn what_users_name_is_known() {
        let own = OwnTypes::of(&["runtime/src"]);
        for known in ["Buffer", "Device", "Stream", "Launch", "Dim3"] {
            assert!(!own.types.contains(known), "{known}");
        }
        assert!(own.types.contains("Allocation"));
    }
}
