//! The `warpwright` command: one file per subcommand. Works straight from `.rs` files; nothing of theirs is built.

mod axes;
mod check;
mod compare;
mod devices;
mod emit;
mod explain;
mod files;
mod launch;
mod manifest;
mod occupancy;
mod render;
mod simulate;
mod source;
mod style;
mod table;
mod tune;
mod units;

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
    Compare(compare::Compare),
    Occupancy(occupancy::Occupancy),
    Devices(devices::Devices),
    Explain(explain::Explain),
    Simulate(simulate::Simulate),
    Tune(tune::Tune),
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

    /// The work was done and something was found that is said here.
    fn found(message: &str) -> Stop {
        Stop { message: message.to_owned(), code: FINDINGS }
    }

    /// The findings were printed already.
    fn findings() -> Stop {
        Stop { message: String::new(), code: FINDINGS }
    }
}

/// The compiler walks what it reads by recursion: this much stack is more than the deepest source that it takes needs.
const STACK: usize = 64 << 20;

/// Runs the command line.
pub(crate) fn run() -> ExitCode {
    let command = Arguments::parse().command;
    let work = move || match command {
        Command::Emit(emit) => emit.run(),
        Command::Check(check) => check.run(),
        Command::Compare(compare) => compare.run(),
        Command::Occupancy(occupancy) => occupancy.run(),
        Command::Devices(devices) => devices.run(),
        Command::Explain(explain) => explain.run(),
        Command::Simulate(simulate) => simulate.run(),
        Command::Tune(tune) => tune.run(),
    };
    let result = match std::thread::Builder::new().stack_size(STACK).spawn(work) {
        Ok(thread) => thread.join().unwrap_or_else(|_| Err(Stop::usage("this is a mistake of warpwright's own; please report it"))),
        Err(error) => Err(Stop::usage(format!("no thread can be started: {error}"))),
    };
    match result {
        Ok(()) => ExitCode::from(FINE),
        Err(stop) => {
            if !stop.message.is_empty() {
                complain(&format!("error: {}", stop.message));
            }
            ExitCode::from(stop.code)
        }
    }
}

/// Writes to standard output, all of it or an error; a reader that went away (`| head`) is none.
fn print(text: &str) -> Result<(), Stop> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Stop::usage(format!("the output cannot be written: {error}"))),
        _ => Ok(()),
    }
}

/// Writes a line to standard error, if anyone is there to read it.
fn complain(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
