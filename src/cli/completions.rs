//! `warpwright completions`: what a shell needs to complete the command.

use super::{Arguments, Stop, print};
use clap::CommandFactory;
use clap_complete::Shell;

/// Print what a shell needs to complete subcommands, options and files.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright completions bash > ~/.local/share/bash-completion/completions/warpwright\n  warpwright completions zsh > ~/.zfunc/_warpwright\n  warpwright completions fish > ~/.config/fish/completions/warpwright.fish\n  warpwright completions powershell >> $PROFILE\n  warpwright completions elvish >> ~/.config/elvish/rc.elv"
)]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Result<(), Stop> {
        // Into memory first: writing is `print`'s, which knows of readers that go away.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "warpwright", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}
