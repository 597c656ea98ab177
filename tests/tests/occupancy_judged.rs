//! Occupancy against NVIDIA's own header, `cuda_occupancy.h`: every resource's limit and the resident blocks, over a grid and over random
//! points, with every preference, on every capability that the header knows.
//!
//! The header is named by `WARPWRIGHT_CUDA_OCCUPANCY_H` (a full path) or found in `CUDA_HOME/include`; it is compiled by `CC`, else `cc`.
//! What it knows no more (1.x and 2.x) is held to documents by `codegen`'s own tests. Where the header's most registers of a thread are not
//! the device's (256 from 7.0, 255 for 3.0), points stop at the device's.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use warpwright_codegen::target::limits::{LIMITS, Limits, WARP};
use warpwright_codegen::target::occupancy::{CachePreference, Demand, Options, Resource, occupancy};
use warpwright_tests::random::Random;

const TEST: &str = "occupancy_equals_nvidias_header";

/// Fewest points to be compared.
const FEWEST: usize = 300_000;

/// A point: what is asked of which row.
struct Point {
    row: usize,
    demand: Demand,
    options: Options,
}

/// What the header said of a point.
struct Answer {
    is_known: bool,
    blocks: i32,
    allowed: [i32; 6],
}

#[test]
fn occupancy_equals_nvidias_header() {
    let Some(header) = header() else {
        println!("skipped: {TEST} (no cuda_occupancy.h)");
        return;
    };
    let folder = Folder::new();
    let Some(judge) = folder.compile(&header) else {
        println!("skipped: {TEST} (no C compiler)");
        return;
    };
    let points: Vec<Point> = grid().chain(random_points()).collect();
    let answers = folder.ask(&judge, &points);
    assert_eq!(answers.len(), points.len(), "an answer for each point");
    let (mut compared, mut known, mut differences) = (0, [false; LIMITS.len()], Vec::new());
    for (point, answer) in points.iter().zip(&answers) {
        if answer.is_known {
            compared += 1;
            known[point.row] = true;
            differences.extend(difference(point, answer));
        }
    }
    let known = known.iter().filter(|is_known| **is_known).count();
    println!("ran: {TEST} ({compared} points on cuda_occupancy.h), {known} of {} capabilities", LIMITS.len());
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences[..differences.len().min(20)].join("\n"));
    // The header of any toolkit from 11.8 on knows 3.0 to 9.0 at least.
    assert!(compared >= FEWEST && known >= 18, "{compared} points of {known} capabilities");
}

/// What differs, if anything does.
fn difference(point: &Point, answer: &Answer) -> Option<String> {
    let limits = &LIMITS[point.row];
    let ours = occupancy(limits, &point.demand, &point.options);
    let refused_by_registers = ours.allowed[2].1 == Some(0);
    let same = |((resource, ours), theirs): (&(Resource, Option<u32>), &i32)| {
        let theirs = u32::try_from(*theirs).ok().filter(|blocks| *blocks != i32::MAX.unsigned_abs());
        // Where no block fits the registers, the header still counts warps in halves.
        *ours == theirs || (*resource == Resource::Warps && point.options.partitioned_caching && refused_by_registers)
    };
    let is_same = i64::from(ours.blocks) == i64::from(answer.blocks) && ours.allowed.iter().zip(&answer.allowed).all(same);
    (!is_same).then(|| {
        let (demand, options) = (point.demand, point.options);
        format!(
            "{}: {demand:?} {options:?}\n  ours {} {:?}\n  header {} {:?}",
            limits.name(),
            ours.blocks,
            ours.allowed.map(|(_, n)| n),
            answer.blocks,
            answer.allowed
        )
    })
}

/// Threads × registers × shared memory × barriers of every capability, as launches are by default.
fn grid() -> impl Iterator<Item = Point> {
    const THREADS: [u32; 14] = [1, 32, 33, 64, 65, 96, 128, 192, 256, 288, 320, 512, 768, 1024];
    const REGISTERS: [u32; 24] = [0, 1, 8, 16, 24, 25, 31, 32, 33, 40, 41, 48, 56, 63, 64, 72, 80, 96, 104, 128, 129, 168, 169, 255];
    const SHARED: [u32; 16] = [0, 1, 127, 1024, 2048, 3072, 7168, 8192, 16_384, 16_385, 31_744, 33_000, 49_152, 65_536, 100_000, 232_448];
    let rows = LIMITS.iter().enumerate();
    let launches = rows.flat_map(|(row, limits)| THREADS.iter().map(move |threads| (row, limits, *threads)));
    launches.flat_map(|(row, limits, threads)| {
        let registers = REGISTERS.into_iter().filter(|registers| *registers <= limits.registers_per_thread);
        let memory = registers.flat_map(|registers| SHARED.map(|shared| (registers, shared)));
        memory.flat_map(move |(registers, shared)| {
            [0, 1, 2, 5].map(|barriers| {
                let demand = Demand { threads, registers, shared, barriers, virtual_resources: 0 };
                Point { row, demand, options: Options::default() }
            })
        })
    })
}

/// Anything of anything, with every preference.
fn random_points() -> impl Iterator<Item = Point> {
    let mut random = Random::new(2026);
    (0..400_000).map(move |_| {
        let row = random.length(LIMITS.len()) - 1;
        let limits = &LIMITS[row];
        let mut up_to = |most: u32| random.length(most as usize + 1) as u32 - 1;
        let demand = Demand {
            threads: 1 + up_to(limits.threads_per_block),
            registers: up_to(limits.registers_per_thread),
            shared: if up_to(2) == 0 { 0 } else { up_to(limits.shared_opted_in + 2048) },
            barriers: up_to(16),
            virtual_resources: if up_to(1) == 0 { 0 } else { up_to(32) },
        };
        let cache = match up_to(4) {
            0 => CachePreference::Default,
            1 => CachePreference::Cache,
            2 => CachePreference::Equal,
            3 => CachePreference::Shared,
            _ => CachePreference::Percent(up_to(100) as u8),
        };
        let options = Options { cache, opt_in: up_to(2) > 0, partitioned_caching: up_to(2) == 0 };
        Point { row, demand, options }
    })
}

/// The header, where one is.
fn header() -> Option<PathBuf> {
    let named = std::env::var_os("WARPWRIGHT_CUDA_OCCUPANCY_H").map(PathBuf::from);
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os);
    named.into_iter().chain(homes.map(|home| Path::new(&home).join("include/cuda_occupancy.h"))).find(|file| file.is_file())
}

/// What the header is told of a device.
fn row(limits: &Limits) -> [u32; 11] {
    let (major, minor) = (u32::from(limits.capability / 10), u32::from(limits.capability % 10));
    let registers = [limits.registers_per_block, limits.registers];
    let shared = [limits.shared_per_block, limits.shared, limits.shared_opted_in, limits.shared_reserved];
    let mut row = [0; 11];
    row[..4].copy_from_slice(&[major, minor, limits.threads_per_block, limits.threads()]);
    row[4..6].copy_from_slice(&registers);
    row[6] = WARP;
    row[7..].copy_from_slice(&shared);
    row
}

/// What it is asked. Static shared memory is a third, as long as it may be.
fn question(point: &Point) -> [i32; 11] {
    let demand = point.demand;
    let fixed = (demand.shared / 3).min(48 << 10);
    let (cache, percent) = match point.options.cache {
        CachePreference::Default => (0, -1),
        CachePreference::Shared => (1, -1),
        CachePreference::Cache => (2, -1),
        CachePreference::Equal => (3, -1),
        CachePreference::Percent(percent) => (0, i32::from(percent)),
    };
    let asked = [demand.threads, demand.registers, fixed, demand.shared - fixed, demand.barriers, demand.virtual_resources];
    let mut question = [0; 11];
    question[0] = point.row as i32;
    question[1..7].copy_from_slice(&asked.map(u32::cast_signed));
    question[7..].copy_from_slice(&[i32::from(point.options.opt_in), i32::from(point.options.partitioned_caching), cache, percent]);
    question
}

/// Where the judge is built; gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let folder = std::env::temp_dir().join(format!("warpwright-occupancy-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the judge");
        Folder(folder)
    }

    /// The judge, compiled against the header; none where there is no compiler.
    fn compile(&self, header: &Path) -> Option<PathBuf> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/occupancy_judged/judge.c");
        let judge = self.0.join("judge");
        let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        compiler.args(["-std=c99", "-O2", "-w", "-I"]).arg(header.parent()?).arg("-o").arg(&judge).arg(source);
        let output = compiler.output().ok()?;
        assert!(output.status.success(), "the judge does not compile:\n{}", String::from_utf8_lossy(&output.stderr));
        Some(judge)
    }

    /// Everything at once, through files: a pipe each way would block.
    fn ask(&self, judge: &Path, points: &[Point]) -> Vec<Answer> {
        let mut asked: Vec<u8> = Vec::with_capacity(points.len() * 44);
        asked.extend(u32::try_from(LIMITS.len()).expect("few").to_ne_bytes());
        asked.extend(LIMITS.iter().flat_map(row).flat_map(u32::to_ne_bytes));
        asked.extend(points.iter().flat_map(question).flat_map(i32::to_ne_bytes));
        let questions = self.0.join("questions");
        std::fs::write(&questions, asked).expect("the questions are written");
        let mut command = Command::new(judge);
        command.stdin(std::fs::File::open(&questions).expect("the questions")).stdout(Stdio::piped());
        let output = command.output().expect("the judge runs");
        assert!(output.status.success(), "the judge fails: {}", output.status);
        let int = |bytes: &[u8]| i32::from_ne_bytes(bytes.try_into().expect("four bytes"));
        let answer = |bytes: &[u8]| {
            let ints: Vec<i32> = bytes.chunks_exact(4).map(int).collect();
            Answer { is_known: ints[0] == 0, blocks: ints[1], allowed: ints[2..8].try_into().expect("six limits") }
        };
        output.stdout.chunks_exact(32).map(answer).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
