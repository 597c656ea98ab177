//! What the compiler says of accesses and branches before anything runs, against what the simulator counts: every kernel of `kernels`, on
//! launches of whole warps, source line by source line. An exact figure must be met exactly, a range must hold the figure.

use std::collections::BTreeMap;
use warpwright::{Device, Launch, Result};
use warpwright_codegen::analysis::access::{self, AccessFact, AccessPatterns, BranchFact, Divergence, Pattern};
use warpwright_codegen::ir::{Kernel, Space};
use warpwright_codegen::text::parse_kernel;
use warpwright_kernels::complex::Complex;
use warpwright_kernels::life::particles::{self, Particle};
use warpwright_kernels::{
    aat, ab, access as strided, copy, dot, histogram, mandelbrot, matmul, reduce, saxpy, shortcut, stencil, throughput, transpose,
};
use warpwright_tests::random::Random;

/// How many figures of each kind were compared.
#[derive(Default)]
struct Census {
    exact: usize,
    ranged: usize,
    unknown: usize,
    branches: usize,
    open_branches: usize,
    wrong: Vec<String>,
    /// What nothing is said of.
    silent: Vec<String>,
}

impl Census {
    fn check(&mut self, name: &str, launch: Launch<'_>) -> Result<()> {
        let kernel = parse_kernel(&launch.ir()?).unwrap_or_else(|error| panic!("{name}: {error}"));
        let patterns = access::analyse(&kernel);
        let simulation = launch.simulate()?;
        let counters = simulation.counters();
        let line = |loc| kernel.locations[loc].line;
        let mut accesses: BTreeMap<(u32, Space), Vec<&AccessFact>> = BTreeMap::new();
        // What lies beyond boundaries does not run where a launch has whole warps.
        patterns
            .accesses
            .iter()
            .filter(|fact| !fact.is_rare)
            .for_each(|fact| accesses.entry((line(fact.loc), fact.space)).or_default().push(fact));
        for ((line, space), facts) in accesses {
            if space == Space::Constant {
                continue;
            }
            let tally = counters.line(line).copied().unwrap_or_default();
            let (requests, found) = match space {
                Space::Shared => (tally.shared_requests, tally.shared_replays),
                _ => (tally.global_requests, tally.global_sectors),
            };
            self.compare(&format!("{name}, line {line}, {space}"), &kernel, &facts, requests, found);
            if space == Space::Global {
                let bytes = facts.iter().map(|fact| fact.total.bytes);
                let is_known = facts.iter().all(|fact| fact.is_certain());
                self.hold(is_known, &format!("{name}, line {line}, bytes"), &facts, bytes, requests, tally.global_bytes);
            }
        }
        let splits = |line| counters.line(line).map_or(0, |tally| tally.divergent_branches);
        self.compare_branches(name, &kernel, &patterns, counters.blocks, &splits);
        Ok(())
    }

    fn compare(&mut self, place: &str, kernel: &Kernel, facts: &[&AccessFact], requests: u64, found: u64) {
        for fact in facts {
            match fact.pattern {
                Pattern::Unknown => self.unknown += 1,
                _ if fact.total.figure.exact().is_some() => self.exact += 1,
                _ => self.ranged += 1,
            }
            if !fact.is_certain() {
                let object = &kernel.objects[fact.object].name;
                self.silent.push(format!("{place}: {:?} of `{object}`, {:?}", fact.kind, fact.uncertainty));
            }
        }
        let is_known = facts.iter().all(|fact| fact.is_certain());
        self.hold(is_known, place, facts, facts.iter().map(|fact| fact.total.figure), requests, found);
    }

    /// The figure per request of these accesses together, times the requests there were.
    fn hold(
        &mut self,
        is_known: bool,
        place: &str,
        facts: &[&AccessFact],
        figures: impl Iterator<Item = access::Range> + Clone,
        requests: u64,
        found: u64,
    ) {
        let seen: u64 = facts.iter().map(|fact| u64::from(fact.total.requests)).sum();
        if !is_known || seen == 0 || requests == 0 {
            return;
        }
        let least = figures.clone().map(|range| u64::from(range.least)).sum::<u64>() * requests;
        let most = figures.map(|range| u64::from(range.most)).sum::<u64>() * requests;
        if found * seen < least || found * seen > most {
            let [least, most] = [least, most].map(|n| n as f64 / seen as f64);
            self.wrong.push(format!("{place}: {least} to {most} in {requests} requests, simulated {found}"));
        }
    }

    fn compare_branches(&mut self, name: &str, kernel: &Kernel, patterns: &AccessPatterns, blocks: u64, found: &dyn Fn(u32) -> u64) {
        let mut branches: BTreeMap<u32, Vec<&BranchFact>> = BTreeMap::new();
        patterns
            .branches
            .iter()
            .filter(|fact| !fact.is_rare)
            .for_each(|fact| branches.entry(kernel.locations[fact.loc].line).or_default().push(fact));
        for (line, facts) in branches {
            let found = found(line);
            self.branches += facts.iter().filter(|fact| fact.is_certain()).count();
            self.open_branches += facts.iter().filter(|fact| !fact.is_certain()).count();
            if facts.iter().any(|fact| !fact.is_certain()) {
                continue;
            }
            let splits = facts.iter().map(|fact| u64::from(fact.splits.0)).sum::<u64>() * blocks;
            debug_assert_eq!(splits > 0, facts.iter().any(|fact| fact.divergence == Divergence::Splits));
            // A loop round it makes it so many times more.
            let holds = if splits == 0 { found == 0 } else { found > 0 && found.is_multiple_of(splits) };
            if !holds {
                self.wrong.push(format!("{name}, line {line}: {splits} divergent branches, simulated {found}"));
            }
        }
    }
}

fn floats(n: usize) -> Vec<f32> {
    Random::new(n as u64).floats(n)
}

/// Passes over vectors; 4096 elements are whole blocks of every size here.
fn streams(census: &mut Census, device: &Device) -> Result<()> {
    const N: usize = 4096;
    let x = device.upload(&floats(N))?;
    let mut y = device.upload(&floats(N))?;
    let ints = device.upload(&vec![3i32; N])?;
    let doubles = device.upload(&vec![0.5f64; N])?;
    let mut out = device.zeros::<f64>(N)?;
    let mut sums = device.zeros::<f32>(N)?;
    let mut long = device.zeros::<i64>(1)?;
    census.check("saxpy", saxpy::saxpy(2.0, &x, &mut y).cover(N))?;
    census.check("saxpy_exact", saxpy::saxpy_exact(2.0, &x, &mut y).cover(N))?;
    census.check("saxpy_grouped: ilp 4", saxpy::saxpy_grouped::<128, 4, true, 1>(2.0, &x, &mut y).cover(N))?;
    census.check("saxpy_grouped: vectors", saxpy::saxpy_grouped::<64, 2, true, 4>(2.0, &x, &mut y).cover(N))?;
    census.check("copy", copy::copy::<f64, 32, 1, false, 1>(&mut out, &doubles).cover(N))?;
    census.check("copy: ilp 8", copy::copy::<f64, 128, 8, true, 1>(&mut out, &doubles).cover(N))?;
    census.check("copy: vectors", copy::copy::<f64, 256, 4, true, 2>(&mut out, &doubles).cover(N))?;
    census.check("dot", dot::dot(&x, &y, &mut sums).grid(4))?;
    census.check("dot_tree", dot::dot_tree(&x, &y, &mut sums).grid(4))?;
    census.check("dot_integer", dot::dot_integer(&ints, &ints, &mut long).cover(N))?;
    census.check("offset_copy", strided::offset_copy(0, &mut y, &x).cover(N))?;
    census.check("offset_copy: 1", strided::offset_copy(1, &mut y, &x).cover(N - 256))?;
    census.check("stride_copy: 1", strided::stride_copy(1, &mut y, &x).cover(N))?;
    census.check("stride_copy: 4", strided::stride_copy(4, &mut y, &x).cover(N / 4))?;
    census.check("reduce_interleaved", reduce::reduce_interleaved::<64>(&x, &mut sums).cover(N))?;
    census.check("reduce_contiguous", reduce::reduce_contiguous::<256>(&x, &mut sums).cover(N))?;
    census.check("additions", throughput::additions::<4, 4>(100, 3.0, &mut sums).grid(2).block(64))?;
    let bytes: Vec<u8> = (0..N).map(|n| (n * 31 % 97) as u8).collect();
    let bytes = device.upload(&bytes)?;
    let mut bins = device.zeros::<u32>(histogram::BINS)?;
    census.check("histogram", histogram::histogram(&bytes, &mut bins).grid(4))?;
    let particle = Particle { motion: [40.0, 3.0], age: 1, bounce: 2, state: 1 };
    let mut all = device.upload(&vec![particle; N])?;
    census.check("live", particles::live(20, &mut all).cover(N))
}

/// Over matrices; sides are multiples of 96, and so of every tile's.
fn matrices(census: &mut Census, device: &Device) -> Result<()> {
    const N: usize = 96;
    let a = device.upload(&floats(N * N))?;
    let b = device.upload(&floats(N * N))?;
    let mut c = device.zeros::<f32>(N * N)?;
    census.check("matmul_direct", matmul::matmul_direct::<1>(N, &a, &b, &mut c).cover((N, N)))?;
    census.check("matmul_direct: 4", matmul::matmul_direct::<4>(N, &a, &b, &mut c).cover((N, N)))?;
    census.check("matmul_tiled: 4", matmul::matmul_tiled::<4, 1, false>(N, &a, &b, &mut c).cover((N, N)))?;
    census.check("matmul_tiled: 8", matmul::matmul_tiled::<8, 8, false>(N, &a, &b, &mut c).cover((N, N)))?;
    census.check("matmul_tiled: 16", matmul::matmul_tiled::<16, 4, true>(N, &a, &b, &mut c).cover((N, N)))?;
    census.check("ab", ab::ab::<false, false>(N, &a, &b, &mut c).cover((N, N)))?;
    census.check("ab: A", ab::ab::<true, false>(N, &a, &b, &mut c).cover((N, N)))?;
    census.check("ab: A, B", ab::ab::<true, true>(N, &a, &b, &mut c).cover((N, N)))?;
    census.check("aat_direct", aat::aat_direct(N, &a, &mut c).cover((N, N)))?;
    census.check("aat", aat::aat::<0, false>(N, &a, &mut c).cover((N, N)))?;
    census.check("aat: padded", aat::aat::<1, false>(N, &a, &mut c).cover((N, N)))?;
    census.check("aat: padded by 2", aat::aat::<2, false>(N, &a, &mut c).cover((N, N)))?;
    census.check("aat: swizzled", aat::aat::<0, true>(N, &a, &mut c).cover((N, N)))?;
    let tiles = (N / transpose::SIDE, N / transpose::SIDE);
    census.check("transpose_direct", transpose::transpose_direct(N, N, &a, &mut c).cover((N, N)))?;
    census.check("transpose_tiled", transpose::transpose_tiled::<0, false>(N, N, &a, &mut c).grid(tiles))?;
    census.check("transpose_tiled: padded", transpose::transpose_tiled::<1, false>(N, N, &a, &mut c).grid(tiles))?;
    census.check("transpose_tiled: swizzled", transpose::transpose_tiled::<0, true>(N, N, &a, &mut c).grid(tiles))?;
    let blocks = (1, 1);
    census.check("shortcut", shortcut::shortcut(64, 64, &a, &b, &mut c).grid(blocks))?;
    census.check("stencil3d", stencil::stencil3d(32, 16, 8, 0.4, 0.1, &a, &mut c).cover((32, 16, 8)))?;
    let mut counts = device.zeros::<u32>(N * N)?;
    let corner = Complex { re: -2.0, im: 1.2 };
    census.check("mandelbrot", mandelbrot::mandelbrot(N, N, corner, 0.03, 30, &mut counts).cover((N, N)))
}

#[test]
fn figures_are_the_simulators() {
    let mut census = Census::default();
    let device = Device::simulator();
    streams(&mut census, &device).unwrap();
    matrices(&mut census, &device).unwrap();
    println!("accesses: {} exact, {} in a range, {} unknown", census.exact, census.ranged, census.unknown);
    println!("branches: {} known, {} not", census.branches, census.open_branches);
    println!("{}", census.silent.join("\n"));
    assert!(census.wrong.is_empty(), "{} figures differ:\n{}", census.wrong.len(), census.wrong.join("\n"));
    // Of `kernels`, only what goes where data says is unknown: one in twenty.
    assert!(census.unknown * 20 <= census.exact + census.ranged, "{} unknown", census.unknown);
    assert!(census.exact * 2 >= census.ranged, "{} exact, {} in a range", census.exact, census.ranged);
}
