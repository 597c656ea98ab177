//! What the compiler says of accesses and branches before anything runs, against what the simulator counts, on kernels that nobody wrote:
//! random indices (sums, products, quotients, remainders, masks and exclusive ors of threads, blocks, counters and parameters) under random
//! conditions and loops, in blocks of every shape.
//!
//! `WARPWRIGHT_STATIC_KERNELS` runs more of them, `WARPWRIGHT_STATIC_SEED` others.

use std::collections::BTreeMap;
use warpwright_codegen::analysis::access::{self, AccessFact, Pattern, Range, Uncertainty};
use warpwright_codegen::ir::{Kernel, Space};
use warpwright_codegen::pipeline::{Legal, compile_text};
use warpwright_codegen::syntax::Instance;
use warpwright_runtime::sim::{Counters, SimArgument, SimLaunch, SimProgram};
use warpwright_tests::random::{Failure, Random, check_all};

/// Elements of the buffer that is read.
const ELEMENTS: u64 = 1 << 12;
const GRID: [u32; 3] = [3, 2, 1];
/// The parameters.
const N: u32 = 37;
const M: u32 = 8;

struct Generator<'r> {
    random: &'r mut Random,
    text: String,
    /// What indices may name, each with a number it is below.
    names: Vec<(String, u64)>,
    depth: u32,
    count: u32,
}

impl Generator<'_> {
    fn below(&mut self, n: u64) -> u64 {
        self.random.below(n as usize) as u64
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// An expression and a number it is below.
    fn index(&mut self, depth: u32) -> (String, u64) {
        if depth == 0 || self.below(5) == 0 {
            let at = self.below(self.names.len() as u64) as usize;
            return self.names[at].clone();
        }
        let (a, most) = self.index(depth - 1);
        let c = [2, 3, 4, 5, 7, 8, 16, 24, 31, 32, 33, 64][self.below(12) as usize];
        match self.below(9) {
            0 | 1 => {
                let (b, other) = self.index(depth - 1);
                (format!("({a} + {b})"), most + other)
            }
            2 => (format!("({a} * {c})"), (most - 1) * c + 1),
            3 => (format!("({a} / {c})"), (most - 1) / c + 1),
            4 => (format!("({a} % {c})"), most.min(c)),
            5 => {
                let mask = [1, 3, 7, 15, 31][self.below(5) as usize];
                (format!("({a} ^ {mask})"), (most - 1).next_power_of_two().max(mask + 1) * 2)
            }
            6 => {
                let mask = [1, 6, 15, 24, 31, 60][self.below(6) as usize];
                (format!("({a} & {mask})"), most.min(mask + 1))
            }
            7 if most > 1 => (format!("({} - {a})", most - 1), most),
            _ => {
                let (b, other) = self.index(depth - 1);
                (format!("({a}).max({b})"), most.max(other))
            }
        }
    }

    fn condition(&mut self) -> String {
        let (a, most) = self.index(1);
        let c = self.below(most.min(70)) + 1;
        match self.below(6) {
            0 => format!("{a} < {c}"),
            1 => format!("{a} % {} == 0", 1 << self.below(6)),
            2 => format!("{a} / {} % 2 == 0", 1 << self.below(7)),
            3 => format!("{a} == {c}"),
            4 => format!("{a} % {} == 0 && tx < {c}", 1 << self.below(6)),
            _ => {
                let (b, _) = self.index(1);
                format!("{a} > {b}")
            }
        }
    }

    fn statement(&mut self) {
        self.count += 1;
        match self.below(if self.depth < 3 { 9 } else { 4 }) {
            0 | 1 => {
                let (index, most) = self.index(3);
                let index = if most > ELEMENTS { format!("({index}) % {ELEMENTS}") } else { index };
                self.line(&format!("a += x[{index}];"));
            }
            2 => {
                let (row, column) = (self.index(2).0, self.index(2).0);
                self.line(&format!("a += s[({row}) % 32][({column}) % 32];"));
            }
            3 => {
                let row = self.index(2).0;
                self.line(&format!("a += d[({row}) % 64] as u32;"));
            }
            4 | 5 => {
                let condition = self.condition();
                self.line(&format!("if {condition} {{"));
                self.inside(None);
                if self.below(2) == 0 {
                    self.line("} else {");
                    self.inside(None);
                }
                self.line("}");
            }
            6 => {
                let (name, trips) = (format!("k{}", self.count), 1 + self.below(6));
                self.line(&format!("for {name} in 0..{trips}usize {{"));
                self.inside(Some((name, trips)));
                self.line("}");
            }
            7 => {
                let name = format!("k{}", self.count);
                self.line(&format!("for {name} in 0..m {{"));
                self.inside(Some((name, u64::from(M))));
                self.line("}");
            }
            _ => {
                let name = format!("w{}", self.count);
                let (start, condition, step, most) = match self.below(3) {
                    0 => (1, "< 32", "*= 2", 32),
                    1 => (16, "> 0", "/= 2", 17),
                    _ => (0, "< 10", "+= 3", 10),
                };
                self.line(&format!("let mut {name} = {start}usize; while {name} {condition} {{"));
                self.inside(Some((name.clone(), most)));
                self.line(&format!("{name} {step}; }}"));
            }
        }
    }

    fn inside(&mut self, name: Option<(String, u64)>) {
        let names = self.names.len();
        self.names.extend(name);
        self.depth += 1;
        for _ in 0..1 + self.below(2) {
            self.statement();
        }
        self.depth -= 1;
        self.names.truncate(names);
    }
}

/// A kernel and its block.
fn kernel(random: &mut Random) -> (String, [u32; 3]) {
    let shapes = [[64, 1, 1], [256, 1, 1], [16, 16, 1], [8, 8, 1], [32, 4, 1], [24, 8, 1], [4, 4, 4], [48, 2, 1], [32, 1, 1], [96, 1, 1]];
    let block = random.pick(&shapes);
    let [bx, by, bz] = block.map(u64::from);
    let names = [
        ("tx", bx),
        ("ty", by),
        ("tz", bz),
        ("i", bx * 3),
        ("j", by * 2),
        ("thread_idx().x", bx),
        ("block_idx().x", 3),
        ("n", u64::from(N) + 1),
        ("m", u64::from(M) + 1),
        ("lane_id()", 32),
        ("warp_id()", 8),
    ];
    let names = names.map(|(name, most)| (name.to_owned(), most)).to_vec();
    let mut generator = Generator { random, text: String::new(), names, depth: 0, count: 0 };
    generator.line(&format!("#[kernel(block = ({bx}, {by}, {bz}))] fn k(n: usize, m: usize, x: &Global<u32>, y: &mut Global<u32>) {{"));
    generator.line("#[shared] let mut s: [[u32; 32]; 32]; #[shared] let mut d: [u64; 64];");
    generator.line("let (tx, ty, tz) = (thread_idx().x, thread_idx().y, thread_idx().z); let (i, j) = (global_id().x, global_id().y);");
    generator.line(&format!("let t = (tz * {by} + ty) * {bx} + tx; let mut a = 0u32;"));
    generator.line(&format!("for e in (t..1024).step_by({}) {{", bx * by * bz));
    generator.line("s[e / 32][e % 32] = 1; }");
    generator.line("if t < 32 {");
    generator.line("d[t] = 1; d[t + 32] = 2; } sync_threads();");
    for _ in 0..4 {
        generator.statement();
    }
    generator.line(&format!("y[(block_idx().y * {} + block_idx().x) * {} + t] = a; }}", GRID[0], bx * by * bz));
    (generator.text, block)
}

fn compile(text: &str) -> Result<Legal, String> {
    let messages = |found: warpwright_codegen::diagnostic::Diagnostics| found.iter().map(|one| one.message.clone()).collect::<String>();
    let lowered = compile_text("k.rs", text, "k", &Instance::default()).map_err(messages)?;
    Ok(lowered.kernel.legal().clone())
}

fn simulate(kernel: &Kernel, block: [u32; 3]) -> Result<Counters, String> {
    let threads = block.iter().product::<u32>() * GRID.iter().product::<u32>();
    let program = SimProgram::compile(kernel).map_err(|error| error.to_string())?;
    let x: Vec<u8> = (0..ELEMENTS as u32).flat_map(u32::to_le_bytes).collect();
    let mut y = vec![0; threads as usize * 4];
    let (n, m) = (N.to_le_bytes(), M.to_le_bytes());
    let mut arguments =
        [SimArgument::Value(&n), SimArgument::Value(&m), SimArgument::GlobalReadOnly { bytes: &x }, SimArgument::Global { bytes: &mut y }];
    program.run(&SimLaunch { grid: GRID, block, shared_bytes: 0 }, &mut arguments).map_err(|error| error.to_string())
}

/// How many figures were held against the simulator.
#[derive(Default)]
struct Census {
    exact: u32,
    ranged: u32,
    unknown: u32,
    branches: u32,
}

fn check(text: &str, block: [u32; 3]) -> Result<Census, Failure> {
    let mut census = Census::default();
    let kernel = compile(text).map_err(Failure::NoCase)?;
    let counters = simulate(&kernel, block).map_err(Failure::NoCase)?;
    let patterns = access::analyse(&kernel);
    let line = |loc| kernel.locations[loc].line;
    let mut accesses: BTreeMap<(u32, Space), Vec<&AccessFact>> = BTreeMap::new();
    patterns.accesses.iter().for_each(|fact| accesses.entry((line(fact.loc), fact.space)).or_default().push(fact));
    for ((line, space), facts) in accesses {
        let tally = counters.line(line).copied().unwrap_or_default();
        let (requests, found) = match space {
            Space::Shared => (tally.shared_requests, tally.shared_replays),
            _ => (tally.global_requests, tally.global_sectors),
        };
        if facts.iter().any(|fact| !fact.is_certain() || fact.uncertainty > Uncertainty::Uniform) {
            census.unknown += 1;
            continue;
        }
        let seen: u64 = facts.iter().map(|fact| u64::from(fact.total.requests)).sum();
        let total = |of: fn(&Range) -> u32| facts.iter().map(|fact| u64::from(of(&fact.total.figure))).sum::<u64>() * requests;
        let (mut least, mut most) = (total(|range| range.least), total(|range| range.most));
        if facts.iter().any(|fact| fact.uncertainty == Uncertainty::Uniform) {
            // Which warps come by is not known: a request is one of those that were looked at.
            let Some([low, high]) = of_one_request(&facts) else { continue };
            (least, most) = (least.min(low * requests * seen), most.max(high * requests * seen));
        }
        *(if least == most { &mut census.exact } else { &mut census.ranged }) += 1;
        if found * seen < least || found * seen > most {
            let patterns: Vec<&Pattern> = facts.iter().map(|fact| &fact.pattern).collect();
            return Err(Failure::Wrong(format!(
                "line {line}: {requests} requests, simulated {found}, said {least} to {most} over {seen}: {patterns:?}"
            )));
        }
    }
    for fact in patterns.branches.iter().filter(|fact| fact.uncertainty <= Uncertainty::Uniform) {
        census.branches += 1;
        let found = counters.line(line(fact.loc)).map_or(0, |tally| tally.divergent_branches);
        let splits = u64::from(fact.splits.0) * counters.blocks;
        // Not all warps may come by.
        let holds = if splits == 0 { found == 0 } else { fact.uncertainty == Uncertainty::Uniform || found % splits == 0 };
        if !holds {
            return Err(Failure::Wrong(format!("line {}: {splits} splits, simulated {found}", line(fact.loc))));
        }
    }
    Ok(census)
}

/// The least and the most sectors or passes beyond the least of one request.
fn of_one_request(facts: &[&AccessFact]) -> Option<[u64; 2]> {
    let range = |fact: &&AccessFact| match fact.pattern {
        Pattern::Global { sectors, .. } => Some([1, sectors.most]),
        Pattern::Shared { degree: Range { least: 1, most: 1 }, .. } => Some([0, 0]),
        _ => None,
    };
    let ranges: Option<Vec<[u32; 2]>> = facts.iter().map(range).collect();
    let ranges = ranges?;
    Some([ranges.iter().map(|range| range[0]).min()?.into(), ranges.iter().map(|range| range[1]).max()?.into()])
}

#[test]
fn figures_of_random_kernels_are_the_simulators() {
    let number = |name: &str, otherwise| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise);
    let (first, rounds) = (number("WARPWRIGHT_STATIC_SEED", 1), number("WARPWRIGHT_STATIC_KERNELS", 150));
    let found = check_all(first..first + rounds, kernel, |(text, _)| text.clone(), |(text, block)| check(text, *block));
    let add = |a: Census, b: Census| Census {
        exact: a.exact + b.exact,
        ranged: a.ranged + b.ranged,
        unknown: a.unknown + b.unknown,
        branches: a.branches + b.branches,
    };
    let census = found.into_iter().fold(Census::default(), add);
    let Census { exact, ranged, unknown, branches } = census;
    println!(
        "{rounds} kernels: lines with {exact} exact figures, {ranged} in a range, {unknown} of which nothing is said; {branches} branches"
    );
    assert!(exact > ranged && exact > unknown, "{exact} exact, {ranged} ranged, {unknown} unknown");
}
