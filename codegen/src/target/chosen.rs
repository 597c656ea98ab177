//! Which targets a kernel is checked for: those of its attribute, else those of its crate's manifest, else three that stand for what is in use.

use super::Target;
use crate::syntax::KernelAttributes;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What kernels are checked for where nothing is said: data centre cards of two generations, and what desktops have.
pub const DEFAULT_TARGETS: [&str; 3] = ["sm_80", "sm_89", "sm_90"];

/// The targets of a kernel, whose crate asks for `of_crate`. Unknown names are left out: they are errors already.
pub fn chosen(attributes: &KernelAttributes, of_crate: Option<&[&'static Target]>) -> Vec<&'static Target> {
    let own: Vec<_> = attributes.targets.iter().filter_map(|name| Target::find(&name.to_string()).ok()).collect();
    match of_crate {
        _ if !own.is_empty() => own,
        Some(targets) => targets.to_vec(),
        None => DEFAULT_TARGETS.iter().filter_map(|name| Target::find(name).ok()).collect(),
    }
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

const EXAMPLE: &str = "write `targets = [\"sm_80\", \"sm_90\"]`";

/// The targets that the text of a `Cargo.toml` asks for in `[package.metadata.warpwright]`; `None` if it asks for none.
///
/// # Errors
/// An unknown target, an unknown key, another type of value. A manifest that is no TOML is cargo's to report, and asks for none.
pub fn of_manifest(text: &str) -> Result<Option<Vec<&'static Target>>, ManifestError> {
    let Ok(manifest) = DeTable::parse(text) else { return Ok(None) };
    let error = |at: usize, message: String, help: String| {
        let line = 1 + text.get(..at).map_or(0, |before| before.matches('\n').count());
        ManifestError { line, message, help }
    };
    let section =
        ["package", "metadata", "warpwright"].iter().try_fold(manifest.get_ref(), |table, key| match table.get(*key)?.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => None,
        });
    let Some(section) = section else { return Ok(None) };
    if let Some((key, _)) = section.iter().find(|(key, _)| key.get_ref() != "targets") {
        let message = format!("unknown key `{}` in `[package.metadata.warpwright]`", key.get_ref());
        return Err(error(key.span().start, message, "there is `targets`".to_owned()));
    }
    let Some(list) = section.get("targets") else { return Ok(None) };
    let DeValue::Array(names) = list.get_ref() else {
        return Err(error(list.span().start, "`targets` takes a list of names".to_owned(), EXAMPLE.to_owned()));
    };
    if names.is_empty() {
        return Err(error(list.span().start, "`targets` is empty: kernels would be checked for nothing".to_owned(), EXAMPLE.to_owned()));
    }
    let one = |value: &Spanned<DeValue<'_>>| {
        let DeValue::String(name) = value.get_ref() else {
            return Err(error(value.span().start, "a target is a name in quotes".to_owned(), EXAMPLE.to_owned()));
        };
        Target::find(name).map_err(|unknown| error(value.span().start, format!("unknown target `{name}`"), unknown.help()))
    };
    names.iter().map(one).collect::<Result<Vec<_>, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostics;

    fn names(targets: &[&'static Target]) -> Vec<&'static str> {
        targets.iter().map(|target| target.name).collect()
    }

    #[test]
    fn the_nearest_list_counts() {
        let attributes = |text: &str| KernelAttributes::parse(text.parse().unwrap(), &mut Diagnostics::new());
        let of_crate = [Target::find("sm_75").unwrap()];
        assert_eq!(names(&chosen(&attributes("targets = [sm_90]"), Some(&of_crate))), ["sm_90"]);
        assert_eq!(names(&chosen(&attributes(""), Some(&of_crate))), ["sm_75"]);
        assert_eq!(names(&chosen(&attributes(""), None)), DEFAULT_TARGETS);
    }

    #[test]
    fn manifests_name_targets() {
        let manifest = "[package]\nname = \"a\"\n\n[package.metadata.warpwright]\ntargets = [\"sm_75\",\n  \"sm_120\"]\n";
        assert_eq!(of_manifest(manifest).unwrap().as_deref().map(names), Some(vec!["sm_75", "sm_120"]));
        for none in
            ["", "[package]\nname = \"a\"", "[package.metadata.other]\ntargets = [3]", "[package.metadata]\nwarpwright = {}", "not [toml"]
        {
            assert_eq!(of_manifest(none), Ok(None), "{none}");
        }
        let inline = "package = { metadata = { warpwright = { targets = [\"9.0\"] } } }";
        assert_eq!(of_manifest(inline).unwrap().as_deref().map(names), Some(vec!["sm_90"]));
    }

    #[test]
    fn what_a_manifest_gets_wrong_is_at_its_line() {
        let refused = |body: &str, line: usize, message: &str, help: &str| {
            let text = format!("[package]\nname = \"a\"\n[package.metadata.warpwright]\n{body}");
            let expected = ManifestError { line, message: message.to_owned(), help: help.to_owned() };
            assert_eq!(of_manifest(&text), Err(expected), "{body}");
        };
        refused("targets = [\n\"sm_80\",\n\"sm_91\"]", 6, "unknown target `sm_91`", "did you mean `sm_90`?");
        refused("targets = \"sm_80\"", 4, "`targets` takes a list of names", EXAMPLE);
        refused("targets = [80]", 4, "a target is a name in quotes", EXAMPLE);
        refused("targets = []", 4, "`targets` is empty: kernels would be checked for nothing", EXAMPLE);
        refused("target = [\"sm_80\"]", 4, "unknown key `target` in `[package.metadata.warpwright]`", "there is `targets`");
    }
}
