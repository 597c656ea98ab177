//! Ranks in programs of their own: meeting, disagreeing, and one that is killed.

use super::{LIMIT, alone, increased};
use std::process::Command;
use std::time::{Duration, Instant};
use warpwright::prelude::*;
use warpwright::{Communicator, Error, Reduction, Rendezvous};
use warpwright_tests::ptx_interpreter::is_here;

/// What the programs of the next tests do: this program again, with the variable set to rank, ranks, and where to meet.
const ROLE: &str = "WARPWRIGHT_TEST_RANK";

#[test]
fn role_of_a_program() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let [rank, ranks, task, place] = role.splitn(4, ' ').collect::<Vec<_>>().try_into().unwrap();
    let (rank, ranks): (usize, usize) = (rank.parse().unwrap(), ranks.parse().unwrap());
    let device = Device::cuda(rank % Device::gpus().len()).unwrap();
    let meeting = match place.strip_prefix("tcp ") {
        Some(address) => Rendezvous::Tcp(address.to_owned()),
        None => Rendezvous::File(place.into()),
    };
    let mut communicator = Communicator::join(&device, rank, ranks, &meeting, LIMIT).unwrap();
    let mut x = device.upload(&vec![rank as f32 + 1.0; 1 << 20]).unwrap();
    communicator.all_reduce(&mut x, Reduction::Sum).launch().unwrap();
    let sum = (1..=ranks).sum::<usize>() as f32;
    assert_eq!(x.download().unwrap()[77], sum);
    println!("rank {rank} has {sum}");
    if task == "disagrees" {
        communicator.check_agreement(true);
        let sizes = [1000, 1024];
        let mut y = device.zeros::<f64>(sizes[rank]).unwrap();
        let error = communicator.all_reduce(&mut y, Reduction::Max).launch().unwrap_err();
        assert!(matches!(error, Error::Collective { .. }), "{error:?}");
        println!("rank {rank} was told: {error}");
        // Both know, so that nobody waits, and both go on.
        let mut y = device.upload(&[rank as f64; 8]).unwrap();
        communicator.all_reduce(&mut y, Reduction::Max).launch().unwrap();
        assert_eq!(y.download().unwrap(), [1.0; 8]);
        return;
    }
    let Some((when, dies)) = task.split_once('-') else { return };
    let dies: usize = dies.parse().unwrap();
    communicator.set_time_limit(Duration::from_secs(2));
    if when == "before" && rank == dies {
        // The other is in the collective, or will be.
        kill_myself();
    }
    // Long enough that most of the time is spent in it: 256 MiB on GPUs.
    let len = if is_here() { 1 << 20 } else { 64 << 20 };
    let mut y = device.zeros::<f32>(len).unwrap();
    let (begun, is_begun) = std::sync::mpsc::channel();
    if rank == dies {
        std::thread::spawn(move || {
            is_begun.recv().unwrap();
            std::thread::sleep(Duration::from_millis(20));
            kill_myself();
        });
    }
    let (mut start, mut count) = (Instant::now(), 0);
    let error = loop {
        // Put behind each other: on GPUs there is no gap between them.
        match (0..8).try_for_each(|_| communicator.all_reduce(&mut y, Reduction::Sum).launch()).and_then(|()| device.synchronize()) {
            Ok(()) => (start, count) = (Instant::now(), count + 8),
            Err(error) => break error,
        }
        if count == 16 {
            // The other has come to the second eight, and knows it. Nobody listens on the rank that stays.
            let _ = begun.send(());
        }
        assert!(count < 1_000_000, "the other rank is lost");
    };
    let passed = start.elapsed();
    assert!(matches!(error, Error::Collective { .. }), "{error:?}");
    assert!(passed < Duration::from_secs(10), "{passed:?}");
    assert_eq!(count == 0, when == "before", "{count} all-reduces");
    println!("rank {rank} was told after {:.1} s and {count} all-reduces: {error}", passed.as_secs_f64());
    // Who waits is told once; the device is as good as before.
    let _ = device.synchronize();
    let mut x = device.upload(&[2.0f32; 1000]).unwrap();
    increased(1.0, &mut x).cover(1000).launch(&device).unwrap();
    assert_eq!(x.download().unwrap(), [3.0; 1000]);
}

/// Ends this program without a word, as the system does that runs out of memory.
fn kill_myself() -> ! {
    let _ = Command::new("kill").args(["-KILL", &std::process::id().to_string()]).status();
    std::process::abort();
}

/// Starts a program for each of two ranks and gives what they print.
fn two_programs(task: &str, place: &str) -> Option<Vec<(bool, String)>> {
    if Device::gpus().len() < 2 {
        println!("skipped: {task}: {} GPUs", Device::gpus().len());
        return None;
    }
    let start = |rank: usize| {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["programs::role_of_a_program", "--exact", "--nocapture"]).env(ROLE, format!("{rank} 2 {task} {place}"));
        program.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        program.spawn().unwrap()
    };
    let outputs = [start(0), start(1)].map(|program| program.wait_with_output().unwrap());
    Some(
        outputs
            .map(|output| {
                (output.status.success(), [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat())
            })
            .into(),
    )
}

#[test]
fn ranks_of_two_programs_meet_by_file_and_by_address() {
    let _alone = alone();
    let path = std::env::temp_dir().join(format!("warpwright-ranks-{}", std::process::id()));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for place in [path.display().to_string(), format!("tcp 127.0.0.1:{port}")] {
        let Some(outputs) = two_programs("adds", &place) else { return };
        for (rank, (is_success, output)) in outputs.iter().enumerate() {
            assert!(*is_success && output.contains(&format!("rank {rank} has 3")), "{output}");
        }
    }
}

#[test]
fn programs_that_do_not_agree_are_told_what_each_of_them_launches() {
    let _alone = alone();
    let path = std::env::temp_dir().join(format!("warpwright-disagree-{}", std::process::id()));
    let Some(outputs) = two_programs("disagrees", &path.display().to_string()) else { return };
    let tasks = ["all_reduce(Max) of 1000 `f64`", "all_reduce(Max) of 1024 `f64`"];
    for (rank, (is_success, output)) in outputs.iter().enumerate() {
        let told = format!(
            "rank {rank} was told: ranks do not agree: rank {rank} launches {}, rank {} {};",
            tasks[rank],
            1 - rank,
            tasks[1 - rank]
        );
        assert!(*is_success && output.contains(&told), "{output}");
    }
}

#[test]
fn a_program_whose_peer_is_killed_is_told_within_the_limit() {
    let _alone = alone();
    // Before it launches, so that the other waits for it; and in the midst of all-reduces. Either rank: the first one has made the group.
    for (when, dies) in [("before", 1), ("inside", 1), ("inside", 0)] {
        let path = std::env::temp_dir().join(format!("warpwright-killed-{when}-{dies}-{}", std::process::id()));
        let Some(outputs) = two_programs(&format!("{when}-{dies}"), &path.display().to_string()) else { return };
        let (killed, left) = (&outputs[dies], &outputs[1 - dies]);
        assert!(!killed.0 && !killed.1.contains("was told"), "rank {dies} was killed\n{}", killed.1);
        let told = format!("rank {} was told after", 1 - dies);
        let line = left.1.lines().find(|line| line.starts_with(&told));
        assert!(left.0 && line.is_some(), "{}", left.1);
        println!("{when} {dies}: {}", line.unwrap_or_default());
    }
}
