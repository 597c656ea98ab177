//! An entry of the page, and how it is written.

use std::fmt::Write;

/// Something that was done, and what was said of it.
#[derive(Debug)]
pub(super) struct Entry {
    /// What it shows.
    pub(super) title: String,
    /// What was written: a block of Markdown.
    pub(super) shown: String,
    /// The variant of the error, or the kind of the fault; empty for the command.
    pub(super) kind: String,
    /// The message.
    pub(super) said: String,
}

/// Entries about one thing.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) title: &'static str,
    /// Kernels and types that its examples share; may be empty.
    pub(super) items: String,
    /// The files that its examples are about: each with its name.
    pub(super) files: Vec<(&'static str, &'static str)>,
    pub(super) entries: Vec<Entry>,
}

/// Sections as Markdown.
pub(super) fn text(sections: &[Section]) -> String {
    let mut page = String::new();
    for Section { title, items, files, entries } in sections {
        let _ = write!(page, "\n### {title}\n");
        for (name, text) in files {
            let _ = write!(page, "\n`{name}`:\n\n```rust,ignore\n{text}```\n");
        }
        if !items.is_empty() {
            let _ = write!(page, "\n```rust,ignore\n{items}\n```\n");
        }
        for Entry { title, shown, kind, said } in entries {
            let kind = if kind.is_empty() { String::new() } else { format!(": `{kind}`") };
            let _ = write!(page, "\n#### {title}{kind}\n\n{shown}\n\n```text\n{said}\n```\n");
        }
    }
    page
}
