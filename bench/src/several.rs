//! What several GPUs do together: collectives and copies beside torch's, and how work that grows with them scales.

#[path = "../../examples/data_parallel.rs"]
#[expect(unreachable_pub, reason = "an example, which is a program")]
mod data_parallel;
#[path = "../../examples/wave.rs"]
#[expect(unreachable_pub, reason = "an example, which is a program")]
mod wave;

use crate::Outcome;
use data_parallel::{FEATURES, Part};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};
use warpwright::{Buffer, Communicator, Device, Reduction, Rendezvous};
use wave::Plate;

const SCRIPT: &str = include_str!("../torch_distributed.py");

/// Bytes that all ranks add up.
const SIZES: [usize; 6] = [1 << 10, 1 << 14, 1 << 20, 1 << 24, 1 << 28, 1 << 30];

/// Bytes that are copied from GPU to GPU.
const COPIED: usize = 1 << 28;

const ROUNDS: usize = 20;

/// The line above rows of times.
const HEAD: &str = "work,bytes,us";

/// Microseconds of a run, the best of some rounds of `times` runs and the wait for all.
fn best(devices: &[Device], times: usize, mut run: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let wait = || devices.iter().try_for_each(Device::synchronize);
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        wait()?;
        let start = Instant::now();
        (0..times).try_for_each(|_| run())?;
        wait()?;
        best = best.min(start.elapsed() / times as u32);
    }
    Ok(best.as_secs_f64() * 1e6)
}

/// Prints all of it. `torch`: a Python that has torch.
pub(crate) fn print(torch: Option<&str>) -> Outcome<()> {
    let devices = Device::gpus();
    let [first, second, ..] = &devices[..] else { return Err(format!("there are {} GPUs, and this takes two", devices.len()).into()) };
    let devices = [first.clone(), second.clone()];
    let ranks = Communicator::all(&devices, Duration::from_secs(60))?;
    println!("two GPUs: {first}");
    let mut ours = collectives(&devices, &ranks)?;
    if let Some(python) = torch {
        let theirs = by_torch(python)?;
        // Again, behind torch's: the machine is as warm.
        for (own, again) in ours.iter_mut().zip(collectives(&devices, &ranks)?) {
            own.2 = own.2.min(again.2);
        }
        for (work, bytes, time) in &ours {
            let work_of_torch = work.replace(", threads", "");
            let other = theirs.iter().find(|(name, size, _)| *name == work_of_torch && size == bytes).map(|(.., time)| *time);
            print_line(work, *bytes, *time, other);
        }
    } else {
        ours.iter().for_each(|(work, bytes, time)| print_line(work, *bytes, *time, None));
    }
    scaling(&devices)
}

type Row = (String, usize, f64);

fn print_line(work: &str, bytes: usize, time: f64, torch: Option<f64>) {
    let rate = |time: f64| bytes as f64 / time / 1e3;
    print!("{work:24} {bytes:11} bytes {time:10.2} us {:8.1} GB/s", rate(time));
    match torch {
        Some(torch) => println!("; torch {torch:10.2} us {:8.1} GB/s, ratio {:.3}", rate(torch), torch / time),
        None => println!(),
    }
}

/// Microseconds of an `all_reduce` of so many bytes, when several follow each other and when each is waited for: the best of some rounds. `start` is called before each.
fn all_reduced(rank: &Communicator, bytes: usize, start: impl Fn()) -> warpwright::Result<[f64; 2]> {
    let times = if bytes <= 1 << 24 { 20 } else { 5 };
    let device = rank.device();
    let mut buffer: Buffer<f32> = device.zeros(bytes / 4)?;
    rank.all_reduce(&mut buffer, Reduction::Sum).launch()?;
    let mut found = [f64::INFINITY; 2];
    for (found, times) in found.iter_mut().zip([times, 1]) {
        for _ in 0..ROUNDS {
            device.synchronize()?;
            start();
            let begun = Instant::now();
            (0..times).try_for_each(|_| rank.all_reduce(&mut buffer, Reduction::Sum).launch())?;
            device.synchronize()?;
            *found = found.min(begun.elapsed().as_secs_f64() * 1e6 / times as f64);
        }
    }
    Ok(found)
}

/// Of two GPUs each sends and receives as many bytes as it has: the rate is the bus's. By a process for each, as torch does it, and by a thread for each.
fn collectives(devices: &[Device; 2], ranks: &[Communicator]) -> Outcome<Vec<Row>> {
    let mut rows = by_processes()?;
    for bytes in SIZES {
        let start = Barrier::new(ranks.len());
        let of_rank = |rank: &Communicator| all_reduced(rank, bytes, || _ = start.wait());
        let found: Vec<Result<_, &str>> = std::thread::scope(|scope| {
            let threads: Vec<_> = ranks.iter().map(|rank| scope.spawn(|| of_rank(rank))).collect();
            threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread of a rank panicked")).collect()
        });
        let first = found.into_iter().next().ok_or("there is no rank")???;
        for (work, time) in ["all_reduce, threads", "all_reduce, threads, waited for"].into_iter().zip(first) {
            rows.push((work.to_owned(), bytes, time));
        }
    }
    let (from, mut to) = (devices[0].zeros::<f32>(COPIED / 4)?, devices[1].zeros::<f32>(COPIED / 4)?);
    to.copy_from(&from)?;
    rows.push(("copy".to_owned(), COPIED, best(devices, 20, || Ok(to.copy_from(&from)?))?));
    Ok(rows)
}

/// This program twice, a rank each.
fn by_processes() -> Outcome<Vec<Row>> {
    let meeting = std::env::temp_dir().join(format!("warpwright-bench-ranks-{}", std::process::id()));
    let program = std::env::current_exe()?;
    let start = |rank: usize| {
        let mut command = Command::new(&program);
        command.args(["--several", "--rank", &rank.to_string(), "--meeting"]).arg(&meeting);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    };
    let processes = [start(0)?, start(1)?];
    let outputs = processes.map(std::process::Child::wait_with_output);
    let mut rows = Vec::new();
    for output in outputs {
        let output = output?;
        if !output.status.success() {
            return Err(format!("a rank ended: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        rows.extend(parse(&String::from_utf8_lossy(&output.stdout))?);
    }
    Ok(rows)
}

/// One of two ranks, in a program of its own; the first prints rows as torch's program does.
pub(crate) fn print_rank(rank: usize, meeting: &Path) -> Outcome<()> {
    let device = Device::cuda(rank)?;
    let rank = Communicator::join(&device, rank, 2, &Rendezvous::File(meeting.to_owned()), Duration::from_secs(60))?;
    println!("{HEAD}");
    for bytes in SIZES {
        let found = all_reduced(&rank, bytes, || ())?;
        if rank.rank() == 0 {
            for (work, time) in ["all_reduce", "all_reduce, waited for"].into_iter().zip(found) {
                println!("{work},{bytes},{time:.3}");
            }
        }
    }
    Ok(())
}

fn by_torch(python: &str) -> Outcome<Vec<Row>> {
    // A file: each of its processes reads it.
    let path = std::env::temp_dir().join(format!("torch_distributed_{}.py", std::process::id()));
    std::fs::write(&path, SCRIPT)?;
    let output = Command::new(python).arg(&path).args(SIZES.map(|size| size.to_string())).output();
    std::fs::remove_file(&path)?;
    let output = output.map_err(|error| format!("`--torch {python}` cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("`--torch {python}`: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// `work,bytes,us`, behind a line of names. A work's name may hold a comma.
fn parse(text: &str) -> Outcome<Vec<Row>> {
    let row = |line: &str| {
        let mut values = line.rsplitn(3, ',');
        let (time, bytes, work) = (values.next(), values.next(), values.next());
        let time = time.and_then(|time| time.parse().ok());
        match (work, bytes.and_then(|bytes| bytes.parse().ok()), time) {
            (Some(work), Some(bytes), Some(time)) => Ok((work.to_owned(), bytes, time)),
            _ => Err(format!("torch said `{line}`, which is no row of times").into()),
        }
    };
    text.lines().skip_while(|line| *line != HEAD).skip(1).filter(|line| !line.is_empty()).map(row).collect()
}

/// Twice the work on two GPUs against one, and against half of it on each.
fn scaling(devices: &[Device; 2]) -> Outcome<()> {
    const ROWS: usize = 16384;
    let step_of = |devices: &[Device]| -> Outcome<f64> {
        let mut plate = Plate::new(devices, ROWS * devices.len(), ROWS)?;
        plate.step()?;
        best(devices, 20, || Ok(plate.step()?))
    };
    let (one, two) = (step_of(&devices[..1])?, step_of(devices)?);
    println!(
        "a wave, {ROWS} x {ROWS} points a GPU: a step takes {one:.1} us on one, {two:.1} us on two: {:.3} times the work in the time",
        2.0 * one / two
    );
    const SAMPLES: usize = 1 << 22;
    let step_of = |devices: &[Device]| -> Outcome<f64> {
        let ranks = Communicator::all(devices, Duration::from_secs(60))?;
        let mut parts = devices.iter().map(|device| repeated(device, SAMPLES)).collect::<Outcome<Vec<_>>>()?;
        let rate = 1.0 / (SAMPLES * devices.len()) as f32;
        data_parallel::step(&ranks, &mut parts, rate)?;
        best(devices, 20, || Ok(data_parallel::step(&ranks, &mut parts, rate)?))
    };
    let (one, two) = (step_of(&devices[..1])?, step_of(devices)?);
    println!(
        "training, {SAMPLES} samples of {FEATURES} features a GPU: a step takes {one:.1} us on one, {two:.1} us on two: {:.3} times the work in the time",
        2.0 * one / two
    );
    Ok(())
}

/// Samples that come again and again: making all of them takes the host too long.
fn repeated(device: &Device, count: usize) -> Outcome<Part> {
    const ONES: usize = 1 << 14;
    let ones = Part::new(device, 0, ONES)?;
    let (samples, targets) = (device.zeros(count * FEATURES)?, device.zeros(count)?);
    let mut part = Part { samples, targets, ..ones };
    let ones = Part::new(device, 0, ONES)?;
    for at in (0..count).step_by(ONES) {
        part.samples.copy_range_from(at * FEATURES, &ones.samples, 0..ONES * FEATURES)?;
        part.targets.copy_range_from(at, &ones.targets, 0..ONES)?;
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_torch_are_read_and_others_refused() {
        let rows = parse("a warning\nwork,bytes,us\nall_reduce, waited for,1024,12.5\n").expect("rows");
        assert_eq!(rows, [("all_reduce, waited for".to_owned(), 1024, 12.5)]);
        assert!(parse("work,bytes,us\nall_reduce,many,1\n").is_err());
    }
}
