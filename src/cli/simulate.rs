//! `warpwright simulate`: what each source line of a kernel did, counted by the simulator.

use super::launch::{LaunchArguments, Runner, stop};
use super::source::{Define, InstanceError, Source, check_defines, split};
use super::{Stop, print};
use serde_json::{Value as Json, json};
use std::fmt::Write;
use warpwright::Device;
use warpwright::sim::{Counters, InstructionClass, Tally};
use warpwright_codegen::{hir, schedule};
use warpwright_runtime::dynamic::DynamicKernel;

/// Run a kernel on the simulator and count what each source line did. Needs no GPU.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright simulate src/main.rs::saxpy --cover 4096 --args a=2.0\n  warpwright simulate src/main.rs::transpose -D TILE=32 --cover 256x256 --args n=256 'x=random(65536)' 'y=zeros(65536)'\n\nEvery figure is simulated: none is measured on a device."
)]
pub(super) struct Simulate {
    /// `FILE.rs::kernel`.
    #[arg(value_name = "FILE::kernel")]
    file: String,
    /// Give a const generic, a type generic or an outside constant its value.
    #[arg(short = 'D', value_name = "NAME=VALUE")]
    define: Vec<Define>,
    #[command(flatten)]
    launch: LaunchArguments,
    /// Print the counters as JSON.
    #[arg(long)]
    json: bool,
}

impl Simulate {
    pub(super) fn run(self) -> Result<(), Stop> {
        let (path, chosen) = split(&self.file);
        let source = Source::read(path, &self.define)?;
        let kernels = source.kernels(chosen)?;
        let [name] = &kernels[..] else {
            return Err(match kernels.len() {
                0 => source.no_kernels(),
                _ => Stop::usage(format!("`{path}` has several kernels: name one, `{path}::{}`", kernels[0])),
            });
        };
        check_defines(&source.definable(&kernels), &self.define)?;
        let instance = source.instance(name, &self.define).map_err(|error| match error {
            InstanceError::Usage(message) => Stop::usage(message),
            InstanceError::Source(found) => source.findings(&found),
        })?;
        let lowered = hir::lower_kernel(source.program(), source.unit, name, &instance).and_then(|mut lowered| {
            schedule::schedule(&mut lowered)?;
            Ok(lowered)
        });
        let lowered = lowered.map_err(|found| source.findings(&found))?;
        let device = Device::simulator();
        let kernel = DynamicKernel::compile(&device, source.program(), lowered).map_err(stop)?;
        let (counters, _) = Runner::new(&device, &self.launch).run(&kernel)?;
        let counters = counters.unwrap_or_default();
        if self.json {
            return print(&format!("{:#}\n", as_json(&counters)));
        }
        print(&table(&counters, |file, line| source.line_of(file, line)))
    }
}

/// A column of the table.
struct Column {
    title: &'static str,
    cell: fn(&Tally) -> Option<String>,
}

/// `None` where a line has nothing of it.
const COLUMNS: &[Column] = &[
    Column { title: "warp instr", cell: |t| some(t.total_warp_instructions()) },
    Column { title: "lanes %", cell: lanes },
    Column { title: "requests", cell: |t| some(t.global_requests) },
    Column { title: "sectors/req", cell: |t| (t.global_requests > 0).then(|| format!("{:.2}", t.sectors_per_request())) },
    Column { title: "used %", cell: |t| (t.global_requests > 0).then(|| format!("{:.0}", t.global_efficiency() * 100.0)) },
    Column { title: "shared", cell: |t| some(t.shared_requests) },
    Column { title: "replays", cell: |t| some(t.shared_replays) },
    Column { title: "divergent", cell: |t| some(t.divergent_branches) },
    Column { title: "atomics", cell: |t| some(t.atomics) },
];

fn some(count: u64) -> Option<String> {
    (count > 0).then(|| count.to_string())
}

/// Active lanes, as a share of all.
fn lanes(tally: &Tally) -> Option<String> {
    let (warps, threads) = (tally.total_warp_instructions(), tally.total_thread_instructions());
    (warps > 0).then(|| format!("{:.0}", threads as f64 / (warps * 32) as f64 * 100.0))
}

/// A line of the source in front of each row's end, like a profiler's source view. Columns that no line has anything of are left out.
fn table(counters: &Counters, source: impl Fn(&str, u32) -> Option<String>) -> String {
    let used: Vec<&Column> = COLUMNS.iter().filter(|column| (column.cell)(&counters.total).is_some()).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let cells = |tally: &Tally| used.iter().map(|column| (column.cell)(tally).unwrap_or_default()).collect::<Vec<_>>();
    rows.push([vec!["line".to_owned()], used.iter().map(|column| column.title.to_owned()).collect()].concat());
    for line in &counters.lines {
        let number = if line.line == 0 { "?".to_owned() } else { line.line.to_string() };
        rows.push([vec![number], cells(&line.tally)].concat());
    }
    rows.push([vec!["total".to_owned()], cells(&counters.total)].concat());
    let widths: Vec<usize> = (0..=used.len()).map(|k| rows.iter().map(|row| row[k].len()).max().unwrap_or(0)).collect();
    let mut text = format!("simulated: `{}`, {} blocks, {} threads\n", counters.kernel, counters.blocks, counters.threads);
    let mut file = None;
    for (n, row) in rows.iter().enumerate() {
        let line = n.checked_sub(1).and_then(|n| counters.lines.get(n));
        if let Some(line) = line
            && file != Some(&line.file)
        {
            let _ = writeln!(text, "{}", line.file);
            file = Some(&line.file);
        }
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        let behind = line.and_then(|line| source(&line.file, line.line)).map_or(String::new(), |line| format!("  | {}", line.trim_end()));
        let _ = writeln!(text, "{}{behind}", cells.join("  ").trim_end());
    }
    let classes = InstructionClass::ALL.into_iter().filter(|(class, _)| counters.total.warp_instructions[*class as usize] > 0);
    let mix: Vec<String> = classes.map(|(class, name)| format!("{name} {}", counters.total.warp_instructions[class as usize])).collect();
    let _ = writeln!(text, "warp instructions: {}; barriers: {}", mix.join(", "), counters.total.barriers);
    text
}

fn as_json(counters: &Counters) -> Json {
    let lines: Vec<Json> =
        counters.lines.iter().map(|line| json!({"file": line.file, "line": line.line, "counters": tally(&line.tally)})).collect();
    json!({
        "kernel": counters.kernel,
        "kind": "simulated",
        "blocks": counters.blocks,
        "threads": counters.threads,
        "total": tally(&counters.total),
        "lines": lines,
    })
}

fn tally(tally: &Tally) -> Json {
    let by_class = |counts: &[u64]| -> Json {
        InstructionClass::ALL
            .into_iter()
            .map(|(class, name)| (name.to_owned(), json!(counts[class as usize])))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    json!({
        "warp_instructions": by_class(&tally.warp_instructions),
        "thread_instructions": by_class(&tally.thread_instructions),
        "global_requests": tally.global_requests,
        "global_sectors": tally.global_sectors,
        "global_bytes": tally.global_bytes,
        "shared_requests": tally.shared_requests,
        "shared_replays": tally.shared_replays,
        "divergent_branches": tally.divergent_branches,
        "barriers": tally.barriers,
        "atomics": tally.atomics,
    })
}
