//! How the compiler's time grows with what it is given: `cargo run --release -p warpwright-tests --bin sizes -- [NAME…]`.
//!
//! Each dimension (`warpwright_tests::sizes`) at n, 2n, 4n and 8n of its size, or from `--from N` on, `--times K` of them; `--steps` shows the steps, too.

use std::time::Instant;
use warpwright_tests::sizes::{DIMENSIONS, steps};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value =
        |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1)).and_then(|text| text.parse().ok());
    let shows_steps = arguments.iter().any(|a| a == "--steps");
    if arguments.iter().any(|a| a == "--print") {
        let dimension = DIMENSIONS.iter().find(|d| arguments.iter().any(|a| a == d.name)).expect("a name");
        println!("use warpwright::prelude::*;\n{}", (dimension.source)(value("--from").unwrap_or(dimension.n)));
        return;
    }
    let names: Vec<&String> = arguments.iter().filter(|a| DIMENSIONS.iter().any(|d| d.name == **a)).collect();
    for dimension in DIMENSIONS.iter().filter(|d| names.is_empty() || names.iter().any(|name| *name == d.name)) {
        let mut n = value("--from").unwrap_or(dimension.n);
        for _ in 0..value("--times").unwrap_or(4) {
            let source = (dimension.source)(n);
            let start = Instant::now();
            let found = steps::run(&source);
            let time = start.elapsed();
            println!(
                "{:26} {n:7} {:9.1} ms {:8} insts {:7.2} us/inst {:9} ptx {:4} found {}",
                dimension.name,
                time.as_secs_f64() * 1e3,
                found.instructions,
                time.as_secs_f64() * 1e6 / found.instructions.max(1) as f64,
                found.ptx,
                found.findings,
                found.errors.first().map_or("", |e| e.as_str()),
            );
            if shows_steps {
                let steps: Vec<String> = found.times.iter().map(|(name, time)| format!("{name} {:.1}", time.as_secs_f64() * 1e3)).collect();
                println!("      {}", steps.join(", "));
            }
            if time.as_secs_f64() > 8.0 {
                break;
            }
            n *= 2;
        }
    }
}
