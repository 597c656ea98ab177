//! Pages with tables that tests compute: what stands between `<!-- NAME -->` and `<!-- end of NAME -->`.

use std::path::Path;

/// The page with these sections between their marks; `name` is what the page is called where a mark is missing.
///
/// # Panics
///
/// If the page lacks a mark.
pub fn with_sections(name: &str, page: &str, sections: &[(&str, String)]) -> String {
    let mut text = page.to_owned();
    for (section, lines) in sections {
        let (begin, end) = (format!("<!-- {section} -->\n"), format!("<!-- end of {section} -->"));
        let from = text.find(&begin).unwrap_or_else(|| panic!("{name} has no `{}`", begin.trim_end())) + begin.len();
        let to = from + text[from..].find(&end).unwrap_or_else(|| panic!("{name} has no `{end}`"));
        text.replace_range(from..to, &format!("{lines}\n"));
    }
    text
}

/// Whether `WARPWRIGHT_BLESS=1` asks for what is expected to be written.
///
/// # Panics
///
/// If it does where `CI` is set.
pub fn is_blessing() -> bool {
    let is_asked = std::env::var("WARPWRIGHT_BLESS").is_ok_and(|value| value == "1");
    assert!(!is_asked || std::env::var("CI").is_err(), "what is expected is not written where `CI` is set");
    is_asked
}

/// Holds a page's sections to these, or writes them if that is asked for.
///
/// # Panics
///
/// If the page cannot be read or written, or says something else: with what it should say.
pub fn hold(page: &Path, sections: &[(&str, String)]) {
    let name = page.display().to_string();
    let found = std::fs::read_to_string(page).unwrap_or_else(|error| panic!("{name}: {error}"));
    let expected = with_sections(&name, &found, sections);
    if is_blessing() {
        std::fs::write(page, expected).unwrap_or_else(|error| panic!("{name}: {error}"));
        return;
    }
    let differs = |(found, expected): &(&str, &str)| found != expected;
    if let Some((found, expected)) = found.lines().zip(expected.lines()).find(differs) {
        panic!("{name} says\n  {found}\nwhere it is now\n  {expected}\n(WARPWRIGHT_BLESS=1 writes it)");
    }
    assert!(found == expected, "{name} is longer or shorter than it is now (WARPWRIGHT_BLESS=1 writes it)");
}
