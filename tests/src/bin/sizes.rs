//! How time and memory grow with what the compiler is given: `cargo run --release -p warpwright-tests --bin sizes -- [NAME…]`.
//!
//! Each dimension (`warpwright_tests::sizes`) at n, 2n, 4n and 8n of its size, or from `--from N` on, `--times K` of them; `--steps` shows the steps, too,
//! `--table` writes the table of docs/check.md, `--print` a source. `--grown COUNT` compiles random sources from seed `--from` on and shows those that
//! take longest for what they are. Each point is a process of its own, so that its peak of memory is its own.

use std::process::Command;
use warpwright_tests::random::Random;
use warpwright_tests::sizes::{DIMENSIONS, Dimension, grow::grow, steps};

/// What one source took.
struct Point {
    n: u64,
    milliseconds: f64,
    /// The most memory that the process held, in MiB; 0 where the system does not tell.
    mebibytes: f64,
    instructions: f64,
    rest: String,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|a| a == name);
    let value = |name: &str| {
        arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1)).and_then(|text| text.parse::<u64>().ok())
    };
    let is_named = |dimension: &&Dimension| arguments.iter().any(|a| a == dimension.name);
    let named: Vec<&Dimension> = DIMENSIONS.iter().filter(is_named).collect();
    if let Some(n) = value("--one") {
        let source = named.first().map_or_else(|| grow(&mut Random::new(n)), |dimension| (dimension.source)(n as usize));
        return one(&source, has("--steps"));
    }
    if has("--print") {
        let source = named.first().map(|d| (d.source)(value("--from").map_or(d.n, |n| n as usize)));
        return println!("use warpwright::prelude::*;\n{}", source.unwrap_or_else(|| grow(&mut Random::new(value("--from").unwrap_or(0)))));
    }
    if let Some(count) = value("--grown") {
        let first = value("--from").unwrap_or(0);
        let mut points: Vec<Point> = (first..first + count).filter_map(|seed| point(None, seed, has("--steps"))).collect();
        points.sort_by(|a, b| (b.milliseconds / b.instructions.max(1000.0)).total_cmp(&(a.milliseconds / a.instructions.max(1000.0))));
        return points.iter().take(10).for_each(|found| show("seed", found));
    }
    for dimension in DIMENSIONS.iter().filter(|d| named.is_empty() || is_named(d)) {
        let mut n = value("--from").unwrap_or(dimension.n as u64);
        let mut cells = Vec::new();
        for _ in 0..value("--times").unwrap_or(4) {
            let Some(found) = point(Some(dimension.name), n, has("--steps")) else { break };
            match has("--table") {
                true => cells.push(format!("{:.0} ms, {:.0} MiB", found.milliseconds, found.mebibytes)),
                false => show(dimension.name, &found),
            }
            n *= 2;
        }
        if has("--table") {
            println!("| {} | {} | {} |", dimension.name.replace('_', " "), dimension.n, cells.join(" | "));
        }
    }
}

fn show(name: &str, found: &Point) {
    println!(
        "{name:26} {:7} {:9.1} ms {:7.1} MiB {:8} instructions {:7.1} µs each {}",
        found.n,
        found.milliseconds,
        found.mebibytes,
        found.instructions,
        found.milliseconds * 1e3 / found.instructions.max(1.0),
        found.rest,
    );
}

/// Has a process of its own compile a source.
fn point(dimension: Option<&str>, n: u64, shows_steps: bool) -> Option<Point> {
    let program = std::env::current_exe().expect("a program has a path");
    let mut command = Command::new(program);
    command.args(["--one", &n.to_string()]).args(dimension).args(shows_steps.then_some("--steps"));
    let output = command.output().expect("a process");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut fields = text.splitn(4, ' ').map(str::to_owned);
    let mut number = || fields.next().and_then(|field| field.parse::<f64>().ok());
    let found = (number(), number(), number());
    let (Some(milliseconds), Some(mebibytes), Some(instructions)) = found else {
        eprintln!("{} {n}: {}", dimension.unwrap_or("seed"), String::from_utf8_lossy(&output.stderr));
        return None;
    };
    Some(Point { n, milliseconds, mebibytes, instructions, rest: fields.next().unwrap_or_default().trim_end().to_owned() })
}

/// Compiles a source, and writes what that took.
fn one(source: &str, shows_steps: bool) {
    let found = steps::run(source);
    let peak = peak_of_memory().unwrap_or(0.0);
    let error = found.errors.first().map_or("", |error| error.as_str());
    print!("{} {peak} {} {} found {error}", found.cpu.as_secs_f64() * 1e3, found.instructions, found.findings);
    if shows_steps {
        let steps: Vec<String> = found.times.iter().map(|(name, time)| format!("{name} {:.1}", time.as_secs_f64() * 1e3)).collect();
        print!("\n      {}", steps.join(", "));
    }
    println!();
}

/// The most memory that this process held so far, in MiB, if the system tells (Linux does).
fn peak_of_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib / 1024.0)
}
