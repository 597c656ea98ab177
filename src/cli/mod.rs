//! The `warpwright` command: one file per subcommand. Works straight from `.rs` files; nothing of theirs is built.

mod check;
mod devices;
mod emit;
mod render;
mod source;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The work was done.
const FINE: u8 = 0;
/// The source has errors.
const FINDINGS: u8 = 1;
/// The command could not be carried out as given.
const USAGE: u8 = 2;

/// GPU kernels in Rust syntax: compiled, checked and shown straight from the source file.
#[derive(Parser)]
#[command(name = "warpwright", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Emit(emit::Emit),
    Check(check::Check),
    Devices(devices::Devices),
}

/// Why a command stops: what to say, and the exit code.
#[derive(Debug)]
struct Stop {
    message: String,
    code: u8,
}

impl Stop {
    fn usage(message: impl Into<String>) -> Stop {
        Stop { message: message.into(), code: USAGE }
    }

    /// The findings were printed already.
    fn findings() -> Stop {
        Stop { message: String::new(), code: FINDINGS }
    }
}

/// Runs the command line.
pub(crate) fn run() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Emit(emit) => emit.run(),
        Command::Check(check) => check.run(),
        Command::Devices(devices) => devices.run(),
    };
    match result {
        Ok(()) => ExitCode::from(FINE),
        Err(stop) => {
            if !stop.message.is_empty() {
                eprintln!("error: {}", stop.message);
            }
            ExitCode::from(stop.code)
        }
    }
}

/// Writes to standard output; a reader that went away (`| head`) is no error.
fn print(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}
