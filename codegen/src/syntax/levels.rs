//! `allow(…)`, `warn(…)`, `deny(…)`: what a kernel says about lints.
//!
//! Single lints by name, as in Rust. There is no word for all of them: `#[allow(deprecated)]` on the item is that, and so is
//! `#![deny(deprecated)]` of a crate.

use super::attributes::{skip_to_comma, with_nearest};
use crate::diagnostic::{Diagnostic, Diagnostics, Level};
use proc_macro2::Ident;
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::token;

/// The name of every lint (docs/check.md); last those that are about what the kernel asks for. Each warns unless a kernel or its
/// crate says otherwise. What lints look for is no matter of syntax: the crate `warpwright-review` has a file for each.
pub const LINT_NAMES: &[&str] = &[
    "low_occupancy",
    "register_cliff",
    "register_spill",
    "partial_warp",
    "small_block",
    "uncoalesced_access",
    "bank_conflict",
    "divergent_branch",
    "missing_barrier",
    "divergent_barrier",
    "divergent_exchange",
    "unwritten_shared",
    "serial_loads",
    "costly_batch",
    "local_memory",
    "slow_integer_division",
    "double_in_single",
    "constant_divergence",
    "rolled_loop",
    "redundant_global_loads",
    "scalar_pieces",
    "shared_traffic",
    "shallow_pipeline",
    "half_tensor_rate",
    "narrow_product",
    "operand_conflict",
    "cluster_unplaceable",
    "wave_tail",
    "undone_by_assembler",
    "register_banks",
    "best_effort",
    "unchecked",
];

/// What is said of a lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Its findings are not shown.
    Allow,
    /// They are warnings.
    Warn,
    /// They are errors.
    Deny,
}

impl Setting {
    /// The level that findings then have; `None`: they are not shown.
    pub fn level(self) -> Option<Level> {
        match self {
            Setting::Allow => None,
            Setting::Warn => Some(Level::Warning),
            Setting::Deny => Some(Level::Error),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Setting::Allow => "allow",
            Setting::Warn => "warn",
            Setting::Deny => "deny",
        }
    }
}

/// What a kernel says about lints, each once.
#[derive(Clone, Default)]
pub struct Levels {
    list: Vec<(Ident, Setting)>,
    /// What the crate says of lints of which the kernel says nothing.
    of_crate: Option<Setting>,
}

impl Levels {
    /// What is said of the lint of this name, if anything is: by the kernel, else by its crate.
    pub fn of(&self, name: &str) -> Option<Setting> {
        let own = self.list.iter().find(|(known, _)| known == name).map(|(_, setting)| *setting);
        own.or(self.of_crate)
    }

    /// The same within a crate that says this of all lints.
    #[must_use]
    pub fn within(self, of_crate: Option<Setting>) -> Levels {
        Levels { of_crate, ..self }
    }

    /// Whether a lint may find anything.
    pub fn are_any(&self) -> bool {
        LINT_NAMES.iter().any(|lint| self.of(lint) != Some(Setting::Allow))
    }

    /// Applies what is said to a finding that has a lint's name; `None`: it is not shown. Errors of the kernel stay errors.
    pub fn apply(&self, finding: Diagnostic) -> Option<Diagnostic> {
        let setting = finding.lint.and_then(|name| self.of(name));
        match setting {
            Some(setting) if finding.level == Level::Warning => setting.level().map(|level| Diagnostic { level, ..finding }),
            _ => Some(finding),
        }
    }

    /// Parses `(name, …)` behind one of the three words.
    pub(super) fn parse(
        &mut self,
        setting: Setting,
        word: &Ident,
        input: ParseStream<'_>,
        diagnostics: &mut Diagnostics,
    ) -> syn::Result<()> {
        let example = format!("write `{}(bank_conflict)`", setting.name());
        if !input.peek(token::Paren) {
            diagnostics.push(Diagnostic::error(word.span(), format!("`{word}` takes names of lints in parentheses")).help(example));
            return skip_to_comma(input);
        }
        let group: proc_macro2::Group = input.parse()?;
        if group.stream().is_empty() {
            diagnostics.push(Diagnostic::error(word.span(), format!("`{word}` names no lint")).help(&example));
        }
        let names = |content: ParseStream<'_>| {
            while !content.is_empty() {
                let Ok(name) = content.call(Ident::parse_any) else {
                    let error = Diagnostic::error(content.span(), "a lint is called by its name, without anything else");
                    diagnostics.push(error.help(example.as_str()));
                    skip_to_comma(content)?;
                    content.parse::<Option<Token![,]>>()?;
                    continue;
                };
                self.add(setting, name, diagnostics);
                if !content.is_empty() {
                    content.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        names.parse2(group.stream())
    }

    fn add(&mut self, setting: Setting, name: Ident, diagnostics: &mut Diagnostics) {
        if !LINT_NAMES.iter().any(|lint| name == lint) {
            diagnostics.push(refuse_name(setting, &name));
        } else if let Some((first, other)) = self.list.iter().find(|(known, _)| *known == name) {
            let message = if *other == setting {
                format!("`{}({name})` is given twice", setting.name())
            } else {
                format!("`{name}` cannot be both `{}` and `{}`", other.name(), setting.name())
            };
            diagnostics.push(Diagnostic::error(name.span(), message).label(first.span(), "first given here").help("remove one of them"));
        } else {
            self.list.push((name, setting));
        }
    }
}

fn refuse_name(setting: Setting, name: &Ident) -> Diagnostic {
    let error = Diagnostic::error(name.span(), format!("there is no lint `{name}`"));
    if ["all", "warnings", "deprecated"].iter().any(|word| name == word) {
        let word = setting.name();
        return error.help(format!("name them one by one, or write `#[{word}(deprecated)]` on the function for all"));
    }
    with_nearest(error, &name.to_string(), LINT_NAMES.iter().copied(), LINT_NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::KernelAttributes;
    use crate::syntax::tests::render;

    fn parse(arguments: &str) -> (Levels, Vec<String>) {
        let mut diagnostics = Diagnostics::new();
        let attributes = KernelAttributes::parse(arguments.parse().unwrap(), &mut diagnostics);
        (attributes.levels, render(&diagnostics))
    }

    #[test]
    fn names_get_their_level_and_words_may_come_again() {
        let (levels, found) = parse("block = 64, allow(best_effort), deny(unchecked,), ilp = 2");
        assert_eq!(found, [""; 0]);
        assert_eq!((levels.of("best_effort"), levels.of("unchecked")), (Some(Setting::Allow), Some(Setting::Deny)));
        let (levels, found) = parse("allow(best_effort), allow(unchecked)");
        assert_eq!((levels.of("unchecked"), found.len()), (Some(Setting::Allow), 0));
        assert_eq!(levels.of("other"), None);
    }

    #[test]
    fn findings_take_their_level_and_errors_stay() {
        let finding = || Diagnostic::warning(proc_macro2::Span::call_site(), "text").of_lint("best_effort");
        let level = |arguments: &str, finding| parse(arguments).0.apply(finding).map(|finding| finding.level);
        assert_eq!(level("", finding()), Some(Level::Warning));
        assert_eq!(level("allow(best_effort)", finding()), None);
        assert_eq!(level("deny(best_effort)", finding()), Some(Level::Error));
        assert_eq!(level("allow(best_effort)", Diagnostic { level: Level::Error, ..finding() }), Some(Level::Error));
        assert_eq!(level("allow(best_effort)", Diagnostic { lint: None, ..finding() }), Some(Level::Warning));
    }

    #[test]
    fn the_crate_speaks_where_the_kernel_says_nothing() {
        let levels = |arguments: &str, of_crate| parse(arguments).0.within(Some(of_crate));
        let off = levels("deny(unchecked)", Setting::Allow);
        assert_eq!((off.of("unchecked"), off.of("bank_conflict"), off.are_any()), (Some(Setting::Deny), Some(Setting::Allow), true));
        assert!(!levels("", Setting::Allow).are_any());
        let deny = levels("allow(bank_conflict)", Setting::Deny);
        assert_eq!((deny.of("bank_conflict"), deny.of("small_block")), (Some(Setting::Allow), Some(Setting::Deny)));
    }

    #[test]
    fn names_are_checked() {
        let refused = |arguments: &str, expected: &[&str]| assert_eq!(parse(arguments).1, expected, "{arguments}");
        refused("allow(best_efort)", &["best_efort: there is no lint `best_efort`; write `best_effort`"]);
        refused(
            "deny(all)",
            &["all: there is no lint `all`; name them one by one, or write `#[deny(deprecated)]` on the function for all"],
        );
        refused("allow(unchecked), deny(unchecked)", &["unchecked: `unchecked` cannot be both `allow` and `deny`; remove one of them"]);
        refused("warn(unchecked, unchecked)", &["unchecked: `warn(unchecked)` is given twice; remove one of them"]);
        let example = "write `allow(bank_conflict)`";
        refused("allow", &[&format!("allow: `allow` takes names of lints in parentheses; {example}")]);
        refused("allow = unchecked", &[&format!("allow: `allow` takes names of lints in parentheses; {example}")]);
        refused("allow()", &[&format!("allow: `allow` names no lint; {example}")]);
        refused("allow(3, unchecked)", &[&format!("3: a lint is called by its name, without anything else; {example}")]);
    }
}
