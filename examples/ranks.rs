//! A program for each GPU: heat spreads over a plate whose rows they share, and each sends the rows at its borders to its neighbours.
//! `cargo run --example ranks` starts a program for each GPU, which find each other by a file. Without two GPUs the ranks are threads, each with a simulator, and run the same code.

use std::process::{Command, ExitStatus};
use std::time::Duration;
use warpwright::prelude::*;
use warpwright::{Communicator, Error, Reduction, Rendezvous, launch_together};

const ROWS: usize = 90;
const COLUMNS: usize = 120;
const STEPS: usize = 200;

/// Longest that a rank waits for the others.
const LIMIT: Duration = Duration::from_secs(60);

/// A step of the rows between the first and the last of a buffer, which are the neighbours'.
#[kernel(block = (32, 8))]
pub fn spread(columns: usize, old: &Global<f32>, new: &mut Global<f32>) {
    let (x, y) = (global_id().x, global_id().y + 1);
    let at = y * columns + x;
    if x > 0 && x + 1 < columns && at + columns < new.len() {
        let around = old[at - 1] + old[at + 1] + old[at - columns] + old[at + columns];
        new[at] = old[at] + 0.2 * (around - 4.0 * old[at]);
    }
}

/// Sends the first and the last row of a rank's own to its neighbours, and receives theirs beside them. All of it is launched as one, so that no rank waits for another in a circle.
fn exchange(rank: &Communicator, plate: &mut Buffer<f32>) -> Result<(), Error> {
    let own = plate.len() - 2 * COLUMNS;
    let (above, rest) = plate.split_at_mut(COLUMNS)?;
    let (own, below) = rest.split_at_mut(own)?;
    let mut all = Vec::new();
    if let Some(neighbour) = rank.rank().checked_sub(1) {
        all.push(rank.send(own.range(..COLUMNS)?, neighbour));
        all.push(rank.receive(above, neighbour));
    }
    let neighbour = rank.rank() + 1;
    if neighbour < rank.ranks() {
        all.push(rank.send(own.range(own.len() - COLUMNS..)?, neighbour));
        all.push(rank.receive(below, neighbour));
    }
    launch_together(all)
}

/// What one rank does. Rank 0 gets the whole plate, the others zeros.
fn run(rank: &Communicator) -> Result<Vec<f32>, Error> {
    let device = rank.device();
    let first = |rank_or_end: usize| rank_or_end * ROWS / rank.ranks();
    let rows = first(rank.rank())..first(rank.rank() + 1);
    // A hot square in the middle; the rows above and below the plate are cold.
    let heat = |row: usize, column: usize| if row.abs_diff(ROWS / 2) < 12 && column.abs_diff(COLUMNS / 2) < 12 { 1.0 } else { 0.0 };
    let mut start = vec![0.0; (rows.len() + 2) * COLUMNS];
    for (i, value) in start[COLUMNS..(rows.len() + 1) * COLUMNS].iter_mut().enumerate() {
        *value = heat(rows.start + i / COLUMNS, i % COLUMNS);
    }
    let (mut old, mut new) = (device.upload(&start)?, device.upload(&start)?);
    for _ in 0..STEPS {
        exchange(rank, &mut old)?;
        spread(COLUMNS, &old, &mut new).cover((COLUMNS, rows.len())).launch(device)?;
        std::mem::swap(&mut old, &mut new);
    }
    // The others' rows are zeros, so that the sum of all is the plate.
    let mut plate = device.zeros(ROWS * COLUMNS)?;
    plate.copy_range_from(rows.start * COLUMNS, &old, COLUMNS..(rows.len() + 1) * COLUMNS)?;
    rank.reduce(&mut plate, Reduction::Sum, 0).launch()?;
    if rank.rank() == 0 { plate.download() } else { device.synchronize().map(|()| Vec::new()) }
}

/// Shows what rank 0 has, and holds it to what one device computes.
fn show(rank: &Communicator, plate: &[f32], what: &str) -> Result<(), Error> {
    println!("{STEPS} steps by {} ranks, {what}: {}", rank.ranks(), rank.device());
    let shade = |value: f32| b" .:-=+*#%@"[((value * 10.0) as usize).min(9)] as char;
    for row in plate.chunks(COLUMNS).step_by(6) {
        println!("{}", row.iter().step_by(3).map(|value| shade(*value)).collect::<String>());
    }
    let alone = Communicator::all(std::slice::from_ref(rank.device()), LIMIT)?;
    assert!(run(&alone[0])? == plate, "heat depends on how many ranks there are");
    println!("one rank computes the same bits");
    Ok(())
}

/// One of several programs.
fn one_of_several(rank: usize, ranks: usize, file: &str) -> Result<(), Error> {
    let rank = Communicator::join(&Device::cuda(rank)?, rank, ranks, &Rendezvous::File(file.into()), LIMIT)?;
    let plate = run(&rank)?;
    if rank.rank() == 0 { show(&rank, &plate, "each a program with a GPU of its own") } else { Ok(()) }
}

/// Starts a program for each GPU, and waits for all.
fn programs(count: usize) -> std::io::Result<Vec<ExitStatus>> {
    let file = std::env::temp_dir().join(format!("warpwright-ranks-{}", std::process::id()));
    let start = |rank: usize| Command::new(std::env::current_exe()?).args([rank.to_string(), count.to_string()]).arg(&file).spawn();
    let mut started = (0..count).map(start).collect::<std::io::Result<Vec<_>>>()?;
    started.iter_mut().map(std::process::Child::wait).collect()
}

fn threads(devices: &[Device]) -> Result<(), Error> {
    let ranks = Communicator::all(devices, LIMIT)?;
    let plates: Vec<Result<Vec<f32>, Error>> = std::thread::scope(|scope| {
        let started: Vec<_> = ranks.iter().map(|rank| scope.spawn(move || run(rank))).collect();
        started.into_iter().map(|thread| thread.join().expect("a rank's thread")).collect()
    });
    let plates = plates.into_iter().collect::<Result<Vec<_>, Error>>()?;
    show(&ranks[0], &plates[0], "each a thread with a simulator of its own")
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [rank, ranks, file] = &arguments[..] {
        return one_of_several(rank.parse().expect("a rank"), ranks.parse().expect("how many there are"), file);
    }
    let gpus = Device::gpus();
    if gpus.len() > 1 {
        match Communicator::all(&gpus[..1], LIMIT) {
            Ok(_) => {
                let ended = programs(gpus.len()).expect("this program can be started");
                assert!(ended.iter().all(ExitStatus::success), "a rank has failed: {ended:?}");
                return Ok(());
            }
            // NCCL is a library of its own, which the driver does not bring.
            Err(error @ Error::NoDriver { .. }) => println!("on simulators: {error}"),
            Err(error) => return Err(error),
        }
    }
    threads(&Device::simulators(3))
}
