//! `warpwright simulate`: what each source line of a kernel did, counted by the simulator.

use super::json::{document, generics, words};
use super::launch::{Agreement, LaunchArguments, Launchable, Runner};
use super::source::{Define, InstanceError, Source, check_defines, split};
use super::style;
use super::table::{Cell, Heading, Table};
use super::{LAUNCH, OUTPUT, Stop, VARIANTS, complain, print};
use anstyle::Style;
use clap::ValueHint;
use serde_json::{Value as Json, json};
use std::fmt::Write;
use warpwright::Device;
use warpwright::sim::{Counters, InstructionClass, Tally, WEAK_MEMORY};

/// Run a kernel on the simulator and count what each source line did. Needs no GPU.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright simulate src/main.rs::saxpy --cover 4096 --args a=2.0\n  warpwright simulate src/main.rs::transpose -D TILE=32 --cover 256x256 --args n=256 'x=random(65536)' 'y=zeros(65536)'\n\nEvery figure is simulated: none is measured on a device."
)]
pub(super) struct Simulate {
    /// `FILE.rs::kernel`.
    #[arg(value_name = "FILE::kernel", value_hint = ValueHint::FilePath)]
    file: String,
    /// Set a const generic, a type generic or an outside constant.
    #[arg(short = 'D', value_name = "NAME=VALUE", help_heading = VARIANTS)]
    define: Vec<Define>,
    #[command(flatten)]
    pub(super) launch: LaunchArguments,
    /// Run it so many times more on a weak memory: atomics then see what the memory model of PTX lets them, as on a GPU, chosen anew for each run. A fault, or results that differ, are findings.
    #[arg(long, value_name = "RUNS", default_value_t = 0, help_heading = LAUNCH)]
    weak_memory: u64,
    /// Print the counters as JSON.
    #[arg(long, help_heading = OUTPUT)]
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
        source.refuse_syntax(&kernels, &self.define)?;
        let instance = source.instance(name, &self.define).map_err(|error| match error {
            InstanceError::Usage(message) => Stop::usage(message),
            InstanceError::Source(found) => source.findings(&found),
        })?;
        source.name_first(name, &source.words(name, &instance), &self.define, "simulated");
        self.launch.check_names(&source, name)?;
        let device = Device::simulator();
        let variant = Launchable::compile(&source, name, &instance, &device)?;
        let mut runner = Runner::new(&device, &self.launch);
        let (counters, _) = runner.run(&variant)?;
        let counters = counters.unwrap_or_default();
        self.on_weak_memory(runner, name, &|device| Launchable::compile(&source, name, &instance, device))?;
        if self.json {
            return document(as_json(path, &source.words(name, &instance), &counters, self.weak_memory));
        }
        print(&view(&counters, |file, line| source.line_of(file, line)))?;
        if self.weak_memory > 0 {
            complain(&format!("note: {} more runs on a weak memory have the same results", self.weak_memory));
        }
        Ok(())
    }

    /// The runs of `--weak-memory`; their results are held to those of the run before.
    fn on_weak_memory(&self, runner: Runner<'_>, name: &str, compile: &dyn Fn(&Device) -> Result<Launchable, Stop>) -> Result<(), Stop> {
        let devices: Vec<Device> = (1..=self.weak_memory).map(Device::weak_simulator).collect();
        // Of devices that do not live as long.
        let mut runner = runner;
        for (seed, device) in (1..).zip(&devices) {
            runner = runner.on(device);
            let of_seed = format!("note: run {seed} on a weak memory; `{WEAK_MEMORY}={seed}` gives it again");
            match compile(device).and_then(|variant| runner.run(&variant)) {
                Ok((_, Agreement::Same | Agreement::Close(_))) => {}
                Ok((_, Agreement::Differs)) => {
                    return Err(Stop::found(&format!(
                        "the results of `{name}` differ where memory is weak, as a GPU's is: some atomic accesses are not ordered with those of other threads\n  \
                         help: if only one result is right, release what is to be seen and acquire what sees it: `Ordering::Release` and `Ordering::Acquire`, or fences\n{of_seed}"
                    )));
                }
                Err(stop) => {
                    complain(&of_seed);
                    return Err(stop);
                }
            }
        }
        Ok(())
    }
}

/// A column of the table.
struct Column {
    /// In two lines.
    title: [&'static str; 2],
    /// What goes first where a terminal is narrow.
    rank: u8,
    cell: fn(&Tally) -> Option<String>,
    /// Whether it says anything, of all lines together.
    tells: fn(&Tally) -> bool,
}

/// `None` where a line has nothing of it.
const COLUMNS: &[Column] = &[
    Column { title: ["warp", "instr"], rank: 0, cell: |t| some(t.total_warp_instructions()), tells: |_| true },
    Column {
        title: ["lanes", "active"],
        rank: 3,
        cell: lanes,
        tells: |t| t.total_thread_instructions() < 32 * t.total_warp_instructions(),
    },
    Column { title: ["global", "requests"], rank: 4, cell: |t| some(t.global_requests), tells: |t| t.global_requests > 0 },
    Column { title: ["sectors", "each"], rank: 1, cell: sectors, tells: |t| t.global_requests > 0 },
    Column { title: ["bytes", "used"], rank: 2, cell: used, tells: |t| t.global_requests > 0 },
    Column { title: ["shared", "requests"], rank: 5, cell: |t| some(t.shared_requests), tells: |t| t.shared_requests > 0 },
    Column { title: ["shared", "passes"], rank: 4, cell: |t| some(t.shared_passes), tells: |t| t.shared_passes > t.shared_requests },
    Column { title: ["bank", "replays"], rank: 0, cell: |t| some(t.shared_replays), tells: |t| t.shared_replays > 0 },
    Column { title: ["split", "branches"], rank: 2, cell: |t| some(t.divergent_branches), tells: |t| t.divergent_branches > 0 },
    Column { title: ["atomic", "operations"], rank: 3, cell: |t| some(t.atomics), tells: |t| t.atomics > 0 },
];

/// The least of a source line that is shown.
const SOURCE: usize = 32;
/// So many lines without counters between two with some are shown; of more, none.
const GAP: u32 = 4;
/// A line that takes this share of all warp instructions stands out.
const HOT: f64 = 10.0;

fn some(count: u64) -> Option<String> {
    (count > 0).then(|| count.to_string())
}

fn per_cent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 }
}

/// Active lanes, as a share of all.
fn lanes(tally: &Tally) -> Option<String> {
    let (warps, threads) = (tally.total_warp_instructions(), tally.total_thread_instructions());
    (warps > 0).then(|| format!("{:.0} %", per_cent(threads, warps * 32)))
}

fn sectors(tally: &Tally) -> Option<String> {
    (tally.global_requests > 0).then(|| format!("{:.2}", tally.sectors_per_request()))
}

fn used(tally: &Tally) -> Option<String> {
    (tally.global_requests > 0).then(|| format!("{:.0} %", tally.global_efficiency() * 100.0))
}

/// The counters beside the source, like a profiler's source view. Columns that no line has anything of are left out.
fn view(counters: &Counters, source: impl Fn(&str, u32) -> Option<String>) -> String {
    let used: Vec<&Column> = COLUMNS.iter().filter(|column| (column.tells)(&counters.total)).collect();
    let all = counters.total.total_warp_instructions();
    let figures = used.iter().map(|column| Heading::figures(column.title[0]).second(column.title[1]).rank(column.rank).stays());
    let share = Heading::figures("").second("of all").stays();
    let mut headings: Vec<Heading> = vec![Heading::figures("line").stays()];
    headings.extend(figures);
    headings.insert(2, share);
    headings.push(Heading::words("source").cut(SOURCE));
    let mut table = Table::new(headings);
    let row = |number: String, tally: &Tally, source: String| {
        let mut cells: Vec<Cell> = used.iter().map(|column| Cell::new((column.cell)(tally).unwrap_or_default())).collect();
        let share = per_cent(tally.total_warp_instructions(), all);
        let style = if (HOT..100.0).contains(&share) { style::HOT } else { Style::new() };
        cells.insert(1, Cell::new(if share > 0.0 { format!("{share:.1} %") } else { String::new() }).style(style));
        cells.insert(0, Cell::new(number));
        cells.push(Cell::new(source).style(style));
        cells
    };
    for of_file in counters.lines.chunk_by(|a, b| a.file == b.file) {
        let text = |number: u32| source(&of_file[0].file, number);
        let numbers = || of_file.iter().map(|line| line.line).filter(|number| *number > 0);
        let (first, last) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
        let indent =
            (first..=last).filter_map(text).filter(|text| !text.trim().is_empty()).map(|text| text.len() - text.trim_start().len());
        let indent = indent.min().unwrap_or(0);
        let shown =
            |number: u32| text(number).and_then(|text| text.get(indent..).map(|text| text.trim_end().to_owned())).unwrap_or_default();
        table.row_instead([], Cell::new(of_file[0].file.as_str()).style(style::ASIDE));
        let mut before: Option<u32> = None;
        for line in of_file {
            let gap = before.map_or(0, |before| line.line.saturating_sub(before + 1));
            if let (Some(before), 1..=GAP) = (before, gap) {
                (before + 1..line.line).for_each(|number| table.row(row(number.to_string(), &Tally::default(), shown(number))));
            } else if gap > GAP {
                table.row(row("⋮".to_owned(), &Tally::default(), String::new()));
            }
            let number = if line.line == 0 { "?".to_owned() } else { line.line.to_string() };
            table.row(row(number, &line.tally, shown(line.line)));
            before = Some(line.line);
        }
    }
    table.row(row("total".to_owned(), &counters.total, String::new()));
    let mut text = format!("simulated: `{}`, {} blocks, {} threads\n", counters.kernel, counters.blocks, counters.threads);
    text.push_str(&table.print());
    let classes = InstructionClass::ALL.into_iter().filter(|(class, _)| counters.total.warp_instructions[*class as usize] > 0);
    let mix: Vec<String> = classes.map(|(class, name)| format!("{name} {}", counters.total.warp_instructions[class as usize])).collect();
    let lanes = if used.iter().any(|column| column.title[0] == "lanes") { "" } else { "; all lanes active" };
    let mix = format!("warp instructions: {}; barriers: {}{lanes}", mix.join(", "), counters.total.barriers);
    let _ = writeln!(text, "{}", style::wrap(&mix, 2, style::width()));
    text
}

fn as_json(file: &str, values: &[(String, String)], counters: &Counters, weak_runs: u64) -> Json {
    let lines: Vec<Json> =
        counters.lines.iter().map(|line| json!({"file": line.file, "line": line.line, "counters": tally(&line.tally)})).collect();
    json!({
        "file": file,
        "kernel": counters.kernel,
        "variant": words(values),
        "generics": generics(values),
        "kind": "simulated",
        "blocks": counters.blocks,
        "threads": counters.threads,
        "total": tally(&counters.total),
        "lines": lines,
        "weak_memory_runs": weak_runs,
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
        "shared_passes": tally.shared_passes,
        "shared_replays": tally.shared_replays,
        "divergent_branches": tally.divergent_branches,
        "barriers": tally.barriers,
        "atomics": tally.atomics,
    })
}
