//! `warpwright explain`: what a lint is about, why, and what mends it.

use super::json::document;
use super::{OUTPUT, Stop, print, style};
use serde_json::{Value, json};
use warpwright_review::lint::{self, LINTS, Lint};

/// Say what a lint finds and why: its page. Without a name, list the lints.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  warpwright explain\n  warpwright explain bank_conflict\n  warpwright explain --json")]
pub(super) struct Explain {
    /// The lint's name.
    #[arg(value_name = "LINT")]
    name: Option<String>,
    /// Print the lint, or all of them, as JSON.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Explain {
    pub(super) fn run(self) -> Result<(), Stop> {
        let chosen = match &self.name {
            None => LINTS.to_vec(),
            Some(name) => vec![lint::find(name).map_err(|nearest| {
                let hint = match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => "write one that `warpwright explain` lists".to_owned(),
                };
                Stop::usage(format!("there is no lint `{name}`; {hint}"))
            })?],
        };
        match &chosen[..] {
            lints if self.json => document(json!({ "lints": lints.iter().map(|lint| as_json(lint)).collect::<Vec<_>>() })),
            [lint] if self.name.is_some() => print(lint.page),
            _ => print(&list()),
        }
    }
}

fn as_json(lint: &Lint) -> Value {
    json!({ "lint": lint.name, "level": "warn", "summary": lint.summary, "page": lint.page })
}

fn list() -> String {
    let width = LINTS.iter().map(|lint| lint.name.len()).max().unwrap_or(0);
    let line = |lint: &&Lint| style::wrap(&format!("{:width$}  {}", lint.name, lint.summary), width + 2, style::width()) + "\n";
    LINTS.iter().map(line).collect()
}
