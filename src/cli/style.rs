//! What the terminal is like.

use std::io::IsTerminal;

/// Columns of the terminal that standard output goes to; none if it goes elsewhere: then nothing is cut or wrapped.
pub(super) fn width() -> Option<u16> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    terminal_size::terminal_size_of(stdout).map(|(width, _)| width.0)
}
