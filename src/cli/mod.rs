//! The `warpwright` command: one file per subcommand. Works straight from `.rs` files; nothing of theirs is built.

mod axes;
mod check;
mod compare;
mod completions;
mod devices;
mod emit;
mod explain;
mod json;
mod launch;
mod occupancy;
mod progress;
mod render;
mod simulate;
mod source;
mod style;
mod table;
mod targets;
mod tune;
mod units;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;
use style::Stream;

/// The work was done.
const FINE: u8 = 0;
/// The source has errors.
const FINDINGS: u8 = 1;
/// The command could not be carried out as given.
const USAGE: u8 = 2;

/// Headings of `--help`: options that several subcommands have stand under them, in one order.
const VARIANTS: &str = "Variants";
const LAUNCH: &str = "Launch";
const OUTPUT: &str = "Output";

/// GPU kernels in Rust syntax: compiled, checked and shown straight from the source file.
#[derive(Parser)]
#[command(
    name = "warpwright",
    version,
    max_term_width = 100,
    after_help = "Examples:\n  warpwright compare src/main.rs::copy --set ILP=1,4,8\n  warpwright check src/*.rs\n  warpwright emit src/main.rs::saxpy --target sm_90\n\n`warpwright SUBCOMMAND --help` has examples of each. Exit code: 0 fine, 1 errors and denied findings in the source, 2 usage and input."
)]
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
    Completions(completions::Completions),
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

/// The options of a command line. A negative number is the value of the option before it, which says then what it takes; it is no option itself.
fn parse<W: Into<OsString> + Clone>(words: impl IntoIterator<Item = W>) -> Result<Arguments, clap::Error> {
    let takes_numbers = |arg: clap::Arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg };
    let mut command = Arguments::command().mut_subcommands(|subcommand| subcommand.mut_args(takes_numbers));
    let matches = command.try_get_matches_from_mut(words)?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Reads a command line, its first word the program's name, as far as it is read before a file is: options, targets, extents, and what `--args` gives. Nothing is run.
///
/// # Errors
/// What would be said of a wrong one, as long as the terminal would get it.
pub fn read(words: &[String]) -> Result<(), String> {
    let arguments = parse(words).map_err(|error| error.render().ansi().to_string())?;
    match &arguments.command {
        Command::Check(check) => check.read(),
        Command::Compare(compare) => compare.read(),
        Command::Simulate(simulate) => simulate.launch.read(),
        Command::Tune(tune) => tune.launch.read(),
        Command::Emit(_) | Command::Occupancy(_) | Command::Devices(_) | Command::Explain(_) | Command::Completions(_) => Ok(()),
    }
}

/// Runs the command line.
pub fn run() -> ExitCode {
    let command = match parse(std::env::args_os()) {
        Ok(arguments) => arguments.command,
        Err(error) => return refuse(&error),
    };
    let work = move || match command {
        Command::Emit(emit) => emit.run(),
        Command::Check(check) => check.run(),
        Command::Compare(compare) => compare.run(),
        Command::Occupancy(occupancy) => occupancy.run(),
        Command::Devices(devices) => devices.run(),
        Command::Explain(explain) => explain.run(),
        Command::Simulate(simulate) => simulate.run(),
        Command::Tune(tune) => tune.run(),
        Command::Completions(completions) => completions.run(),
    };
    match outcome(STACK, work) {
        Ok(()) => ExitCode::from(FINE),
        Err(stop) => {
            if !stop.message.is_empty() {
                complain(&format!("error: {}", stop.message));
            }
            ExitCode::from(stop.code)
        }
    }
}

/// Does the work on a thread with that much stack. What panics there has said where on standard error.
fn outcome(stack: usize, work: impl FnOnce() -> Result<(), Stop> + Send + 'static) -> Result<(), Stop> {
    let started = std::thread::Builder::new().stack_size(stack).spawn(work);
    let thread = started.map_err(|error| {
        let stack = stack >> 20;
        Stop::usage(format!(
            "no thread can be started: {error}; allow more threads and memory: its stack takes {stack} MiB (`ulimit -u`, `ulimit -v`)"
        ))
    })?;
    thread.join().unwrap_or_else(|_| Err(Stop::usage("this is a mistake of warpwright's own: please report it with what stands above")))
}

/// Says what is wrong with the command line; or what `--help` and `--version` ask for, which comes the same way.
fn refuse(error: &clap::Error) -> ExitCode {
    let stream = if error.use_stderr() { Stream::Err } else { Stream::Out };
    let styled = error.render();
    let text = if style::colour(stream) { styled.ansi().to_string() } else { styled.to_string() };
    let written = match stream {
        Stream::Out => print(&text),
        Stream::Err => {
            complain(text.trim_end());
            Ok(())
        }
    };
    match written {
        Ok(()) => ExitCode::from(if stream == Stream::Err { USAGE } else { FINE }),
        Err(stop) => {
            complain(&format!("error: {}", stop.message));
            ExitCode::from(stop.code)
        }
    }
}

/// Writes to standard output, all of it or an error; a reader that went away (`| head`) is none.
fn print(text: &str) -> Result<(), Stop> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Stop::usage(format!("the output cannot be written: {error}; make room there, or send it elsewhere")))
        }
        _ => Ok(()),
    }
}

/// Writes lines to standard error, if anyone is there to read them.
fn complain(lines: &str) {
    use std::io::Write;
    let colour = style::colour(Stream::Err);
    let painted = lines.split('\n').map(|line| match line.split_once(": ") {
        Some(("error", rest)) => format!("{}: {rest}", style::paint(colour, style::WRONG, "error")),
        Some(("note", rest)) => format!("{}: {rest}", style::paint(colour, style::HEADING, "note")),
        _ => line.to_owned(),
    });
    let _ = writeln!(std::io::stderr().lock(), "{}", painted.collect::<Vec<_>>().join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_panics_is_a_mistake_of_our_own() {
        let stop = outcome(1 << 20, || panic!("of a test")).expect_err("it panics");
        assert_eq!(stop.message, "this is a mistake of warpwright's own: please report it with what stands above");
        assert_eq!(stop.code, USAGE);
        assert!(outcome(1 << 20, || Ok(())).is_ok());
    }
}
