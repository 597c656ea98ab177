//! `warpwright explain`: what a lint is about, why, and what mends it.

use super::{Stop, print};
use warpwright_codegen::lint::{self, LINTS};

/// Say what a lint finds and why: its page. Without a name, list the lints.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  warpwright explain\n  warpwright explain bank_conflict")]
pub(super) struct Explain {
    /// The lint's name.
    #[arg(value_name = "LINT")]
    name: Option<String>,
}

impl Explain {
    pub(super) fn run(self) -> Result<(), Stop> {
        let Some(name) = self.name else { return print(&list()) };
        match lint::find(&name) {
            Ok(lint) => print(lint.page),
            Err(nearest) => {
                let hint = match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => "`warpwright explain` lists them".to_owned(),
                };
                Err(Stop::usage(format!("there is no lint `{name}`; {hint}")))
            }
        }
    }
}

fn list() -> String {
    let width = LINTS.iter().map(|lint| lint.name.len()).max().unwrap_or(0);
    LINTS.iter().map(|lint| format!("{:width$}  {}\n", lint.name, lint.summary)).collect()
}
