//! `[package.metadata.warpwright]` of a crate's `Cargo.toml`: what its kernels are checked for, and what their findings are.

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use warpwright_codegen::nearest::nearest;
use warpwright_codegen::syntax::Setting;
use warpwright_codegen::target::Targets;

/// What a manifest says of kernels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// The targets; `None` if it names none.
    pub targets: Option<Targets>,
    /// What findings are of which the kernel itself says nothing.
    pub findings: Option<Setting>,
}

/// What is wrong with `[package.metadata.warpwright]`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of `Cargo.toml`: {message}")]
pub struct ManifestError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// The edit that mends it.
    pub help: String,
}

const KEYS: [&str; 2] = ["targets", "findings"];
const TARGETS: &str = "write `targets = [\"sm_80\", \"sm_90\"]`";
const WORDS: [(&str, Setting); 3] = [("off", Setting::Allow), ("warn", Setting::Warn), ("deny", Setting::Deny)];

/// The variable that says what findings are, whatever the manifest says.
pub const FINDINGS: &str = "WARPWRIGHT_FINDINGS";

/// The word for what findings are to be: `off`, `warn` or `deny`.
///
/// # Errors
/// It is none; what it may be.
pub fn findings(word: &str) -> Result<Setting, String> {
    let found = WORDS.iter().find(|(known, _)| *known == word).map(|(_, setting)| *setting);
    found.ok_or_else(|| match nearest(word, WORDS.iter().map(|(known, _)| *known)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write `off`, `warn` or `deny`".to_owned(),
    })
}

impl Manifest {
    /// What the text of a `Cargo.toml` says.
    ///
    /// # Errors
    /// An unknown target, an unknown key, another type of value. A manifest that is no TOML is cargo's to report, and says nothing.
    pub fn parse(text: &str) -> Result<Manifest, ManifestError> {
        let Ok(manifest) = DeTable::parse(text) else { return Ok(Manifest::default()) };
        let error = |at: usize, message: String, help: String| {
            let line = 1 + text.get(..at).map_or(0, |before| before.matches('\n').count());
            ManifestError { line, message, help }
        };
        let section =
            ["package", "metadata", "warpwright"].iter().try_fold(manifest.get_ref(), |table, key| match table.get(*key)?.get_ref() {
                DeValue::Table(table) => Some(table),
                _ => None,
            });
        let Some(section) = section else { return Ok(Manifest::default()) };
        if let Some((key, _)) = section.iter().find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
            let message = format!("unknown key `{}` in `[package.metadata.warpwright]`", key.get_ref());
            let help = match nearest(key.get_ref(), KEYS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "there are `targets` and `findings`".to_owned(),
            };
            return Err(error(key.span().start, message, help));
        }
        let findings = match section.get("findings") {
            None => None,
            Some(value) => {
                let wrong = |help: String| error(value.span().start, "`findings` is `\"off\"`, `\"warn\"` or `\"deny\"`".to_owned(), help);
                match value.get_ref() {
                    DeValue::String(word) => Some(findings(word).map_err(wrong)?),
                    _ => return Err(wrong("write `findings = \"warn\"`".to_owned())),
                }
            }
        };
        let targets = section.get("targets").map(|list| targets(list, &error)).transpose()?;
        Ok(Manifest { targets, findings })
    }
}

/// The targets of a list of names.
fn targets(list: &Spanned<DeValue<'_>>, error: &dyn Fn(usize, String, String) -> ManifestError) -> Result<Targets, ManifestError> {
    let DeValue::Array(names) = list.get_ref() else {
        return Err(error(list.span().start, "`targets` takes a list of names".to_owned(), TARGETS.to_owned()));
    };
    if names.is_empty() {
        return Err(error(list.span().start, "`targets` is empty: kernels would be checked for nothing".to_owned(), TARGETS.to_owned()));
    }
    let mut targets = Targets::default();
    for value in names {
        let DeValue::String(name) = value.get_ref() else {
            return Err(error(value.span().start, "a target is a name in quotes".to_owned(), TARGETS.to_owned()));
        };
        let unknown = targets.add(name).err();
        unknown.map_or(Ok(()), |unknown| Err(error(value.span().start, format!("unknown target `{name}`"), unknown.help())))?;
    }
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwright_codegen::target::OPENCL;

    fn names(manifest: &str) -> Option<Vec<&'static str>> {
        Manifest::parse(manifest).expect("a manifest").targets.map(|targets| targets.gpus.iter().map(|target| target.name).collect())
    }

    #[test]
    fn manifests_name_targets() {
        let manifest = "[package]\nname = \"a\"\n\n[package.metadata.warpwright]\ntargets = [\"sm_75\",\n  \"sm_120\"]\n";
        assert_eq!(names(manifest), Some(vec!["sm_75", "sm_120"]));
        for none in
            ["", "[package]\nname = \"a\"", "[package.metadata.other]\ntargets = [3]", "[package.metadata]\nwarpwright = {}", "not [toml"]
        {
            assert_eq!(Manifest::parse(none), Ok(Manifest::default()), "{none}");
        }
        let opencl = Manifest::parse("[package.metadata.warpwright]\ntargets = [\"opencl\"]").unwrap().targets;
        assert_eq!(opencl, Some(Targets { gpus: Vec::new(), families: vec![&OPENCL] }));
        assert_eq!(names("package = { metadata = { warpwright = { targets = [\"9.0\"] } } }"), Some(vec!["sm_90"]));
    }

    #[test]
    fn manifests_say_what_findings_are() {
        for (word, setting) in WORDS {
            let text = format!("[package.metadata.warpwright]\nfindings = \"{word}\"\ntargets = [\"sm_90\"]");
            let manifest = Manifest::parse(&text).unwrap();
            assert_eq!((manifest.findings, manifest.targets.map(|targets| targets.gpus.len())), (Some(setting), Some(1)));
        }
    }

    #[test]
    fn what_a_manifest_gets_wrong_is_at_its_line() {
        let refused = |body: &str, line: usize, message: &str, help: &str| {
            let text = format!("[package]\nname = \"a\"\n[package.metadata.warpwright]\n{body}");
            let expected = ManifestError { line, message: message.to_owned(), help: help.to_owned() };
            assert_eq!(Manifest::parse(&text), Err(expected), "{body}");
        };
        refused("targets = [\n\"sm_80\",\n\"sm_91\"]", 6, "unknown target `sm_91`", "did you mean `sm_90`?");
        refused("targets = [\"open_cl\"]", 4, "unknown target `open_cl`", "did you mean `opencl`?");
        refused("targets = \"sm_80\"", 4, "`targets` takes a list of names", TARGETS);
        refused("targets = [80]", 4, "a target is a name in quotes", TARGETS);
        refused("targets = []", 4, "`targets` is empty: kernels would be checked for nothing", TARGETS);
        refused("target = [\"sm_80\"]", 4, "unknown key `target` in `[package.metadata.warpwright]`", "did you mean `targets`?");
        refused("lints = 3", 4, "unknown key `lints` in `[package.metadata.warpwright]`", "there are `targets` and `findings`");
        let findings = "`findings` is `\"off\"`, `\"warn\"` or `\"deny\"`";
        refused("findings = \"warm\"", 4, findings, "did you mean `warn`?");
        refused("findings = \"error\"", 4, findings, "write `off`, `warn` or `deny`");
        refused("findings = false", 4, findings, "write `findings = \"warn\"`");
    }
}
