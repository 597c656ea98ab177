//! Collectives over several devices: simulators always, stand-ins for GPUs and NCCL on Linux, GPUs and NCCL where there are two, several programs too.

#[path = "communicators/programs.rs"]
mod programs;

use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use warpwright::prelude::*;
use warpwright::{CollectiveLaunch, Communicator, Error, Reducible, Reduction, Rendezvous, launch_together};
use warpwright_tests::ptx_interpreter::{IS_POSSIBLE, executed_on_several, is_here, put_before};

const LIMIT: Duration = Duration::from_secs(30);

/// Held by whoever launches on GPUs: one thread for each rank is a test's own order, and two tests have none between them.
static GPUS: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    GPUS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Three simulators, and all GPUs if there are several and NCCL is there.
fn groups() -> Vec<Vec<Communicator>> {
    let mut groups = vec![Communicator::all(&Device::simulators(3), LIMIT).unwrap()];
    let gpus = Device::gpus();
    if gpus.len() < 2 {
        println!("skipped: NCCL: {} GPUs", gpus.len());
        return groups;
    }
    match Communicator::all(&gpus, LIMIT) {
        Ok(group) => groups.push(group),
        Err(error @ Error::NoDriver { .. }) => println!("skipped: NCCL: {error}"),
        Err(error) => panic!("{error}"),
    }
    groups
}

fn values<T>(rank: usize, len: usize, of: fn(i32) -> T) -> Vec<T> {
    (0..len).map(|i| of(((i * 7 + rank * 13) % 11) as i32 - 5)).collect()
}

/// All collectives with elements of a type, whose sums are exact.
fn all_kinds<T: Reducible + PartialEq + std::fmt::Debug>(ranks: &[Communicator], of: fn(i32) -> T) {
    let count = ranks.len();
    let inputs: Vec<Vec<i32>> = (0..count).map(|rank| values(rank, 1000 * count, |v| v)).collect();
    let typed = |values: &[i32]| values.iter().map(|v| of(*v)).collect::<Vec<T>>();
    let upload = |rank: &Communicator, values: &[i32]| rank.device().upload(&typed(values)).unwrap();
    let together = |reduce: fn(i32, i32) -> i32| -> Vec<i32> {
        (0..1000 * count).map(|i| inputs.iter().map(|input| input[i]).reduce(reduce).unwrap()).collect()
    };
    for (by, reduce) in [(Reduction::Sum, (|a, b| a + b) as fn(i32, i32) -> i32), (Reduction::Min, i32::min), (Reduction::Max, i32::max)] {
        let mut buffers: Vec<_> = ranks.iter().zip(&inputs).map(|(rank, input)| upload(rank, input)).collect();
        launch_together(ranks.iter().zip(&mut buffers).map(|(rank, buffer)| rank.all_reduce(buffer, by))).unwrap();
        for buffer in &buffers {
            assert_eq!(buffer.download().unwrap(), typed(&together(reduce)), "{by:?} {}", buffer.device());
        }
    }
    let from: Vec<_> = ranks.iter().zip(&inputs).map(|(rank, input)| upload(rank, input)).collect();
    let mut parts: Vec<_> = ranks.iter().map(|rank| upload(rank, &[0; 1000])).collect();
    launch_together(ranks.iter().zip(&from).zip(&mut parts).map(|((rank, from), to)| rank.reduce_scatter(from, to, Reduction::Sum)))
        .unwrap();
    for (rank, part) in parts.iter().enumerate() {
        assert_eq!(part.download().unwrap(), typed(&together(|a, b| a + b)[rank * 1000..(rank + 1) * 1000]));
    }
    let mut all: Vec<_> = ranks.iter().map(|rank| upload(rank, &vec![0; 1000 * count])).collect();
    launch_together(ranks.iter().zip(&parts).zip(&mut all).map(|((rank, from), to)| rank.all_gather(from, to))).unwrap();
    for buffer in &all {
        assert_eq!(buffer.download().unwrap(), typed(&together(|a, b| a + b)));
    }
    let mut buffers: Vec<_> = ranks.iter().zip(&inputs).map(|(rank, input)| upload(rank, input)).collect();
    launch_together(ranks.iter().zip(&mut buffers).map(|(rank, buffer)| rank.broadcast(buffer, count - 1))).unwrap();
    for buffer in &buffers {
        assert_eq!(buffer.download().unwrap(), typed(&inputs[count - 1]));
    }
    // Round in a circle: every rank sends to the next and receives from the one before.
    let mut received: Vec<_> = ranks.iter().map(|rank| upload(rank, &vec![0; 1000 * count])).collect();
    let sends = ranks.iter().zip(&from).map(|(rank, from)| rank.send(from, (rank.rank() + 1) % count));
    let receives = ranks.iter().zip(&mut received).map(|(rank, to)| rank.receive(to, (rank.rank() + count - 1) % count));
    launch_together(sends.chain(receives)).unwrap();
    for (rank, buffer) in received.iter().enumerate() {
        assert_eq!(buffer.download().unwrap(), typed(&inputs[(rank + count - 1) % count]));
    }
}

#[test]
fn every_collective_does_what_it_says_with_every_type() {
    let _alone = alone();
    for group in groups() {
        all_kinds(&group, |v| v as f32);
        all_kinds(&group, |v| v as f64);
        all_kinds(&group, |v| f16::from_f32(v as f32));
        all_kinds(&group, |v| bf16::from_f32(v as f32));
        all_kinds(&group, |v| v as i8);
        all_kinds(&group, |v| v);
        all_kinds(&group, |v| v as i64);
        let mut buffers: Vec<_> = group.iter().map(|rank| rank.device().upload(&[3u64 + rank.rank() as u64; 10]).unwrap()).collect();
        launch_together(group.iter().zip(&mut buffers).map(|(rank, buffer)| rank.all_reduce(buffer, Reduction::Product))).unwrap();
        let product: u64 = (0..group.len() as u64).map(|rank| 3 + rank).product();
        buffers.iter().for_each(|buffer| assert_eq!(buffer.download().unwrap(), [product; 10]));
        let mut buffers: Vec<_> = group.iter().map(|rank| rank.device().upload(&[250u8 + rank.rank() as u8; 10]).unwrap()).collect();
        launch_together(group.iter().zip(&mut buffers).map(|(rank, buffer)| rank.all_reduce(buffer, Reduction::Max))).unwrap();
        buffers.iter().for_each(|buffer| assert_eq!(buffer.download().unwrap(), [249 + group.len() as u8; 10]));
    }
}

/// Averages of all ranks, and of a part of the elements; and a sum that one rank alone gets.
fn averaged<T: Reducible + PartialEq + std::fmt::Debug>(ranks: &[Communicator], of: fn(i32) -> T, to: fn(T) -> f64, within: f64) {
    let count = ranks.len();
    let inputs: Vec<Vec<i32>> = (0..count).map(|rank| values(rank, 100, |v| v)).collect();
    let sums: Vec<i32> = (0..100).map(|i| inputs.iter().map(|input| input[i]).sum()).collect();
    let upload = |rank: &Communicator| rank.device().upload(&inputs[rank.rank()].iter().map(|v| of(*v)).collect::<Vec<T>>()).unwrap();
    let mut buffers: Vec<_> = ranks.iter().map(upload).collect();
    launch_together(ranks.iter().zip(&mut buffers).map(|(rank, buffer)| rank.all_reduce(buffer, Reduction::Average))).unwrap();
    for buffer in &buffers {
        for (found, sum) in buffer.download().unwrap().into_iter().map(to).zip(&sums) {
            // Integers are divided towards zero.
            let exact = f64::from(*sum) / count as f64;
            let expected = if within == 0.0 { exact.trunc() } else { exact };
            assert!((found - expected).abs() <= within, "{found} is not {expected}: {}", std::any::type_name::<T>());
        }
    }
    for root in 0..count {
        let mut buffers: Vec<_> = ranks.iter().map(upload).collect();
        launch_together(ranks.iter().zip(&mut buffers).map(|(rank, buffer)| rank.reduce(buffer, Reduction::Sum, root))).unwrap();
        for (rank, buffer) in buffers.iter().enumerate() {
            let expected = if rank == root { &sums } else { &inputs[rank] };
            assert_eq!(buffer.download().unwrap(), expected.iter().map(|v| of(*v)).collect::<Vec<T>>(), "rank {rank}, on {root}");
        }
    }
}

#[test]
fn averages_are_taken_and_one_rank_alone_gets_a_sum() {
    let _alone = alone();
    for group in groups() {
        averaged(&group, |v| v, f64::from, 0.0);
        averaged(&group, |v| v as i8, f64::from, 0.0);
        averaged(&group, |v| v as i64, |v| v as f64, 0.0);
        averaged(&group, |v| v as f32, f64::from, 1e-5);
        averaged(&group, |v| v as f64, |v| v, 1e-12);
        averaged(&group, |v| f16::from_f32(v as f32), f16::to_f64, 0.02);
        averaged(&group, |v| bf16::from_f32(v as f32), bf16::to_f64, 0.15);
        // Without a sign.
        let mut buffers: Vec<_> = group.iter().map(|rank| rank.device().upload(&[7u32 + rank.rank() as u32; 10]).unwrap()).collect();
        launch_together(group.iter().zip(&mut buffers).map(|(rank, buffer)| rank.all_reduce(buffer, Reduction::Average))).unwrap();
        let sum: usize = (0..group.len()).map(|rank| 7 + rank).sum();
        buffers.iter().for_each(|buffer| assert_eq!(buffer.download().unwrap(), [(sum / group.len()) as u32; 10]));
    }
}

#[test]
fn parts_of_buffers_take_part_and_the_rest_stays() {
    let _alone = alone();
    for group in groups() {
        let count = group.len();
        let filled = |rank: &Communicator| (0..40).map(|i| (100 * (rank.rank() + 1) + i) as u32).collect::<Vec<u32>>();
        let uploaded = || group.iter().map(|rank| rank.device().upload(&filled(rank)).unwrap()).collect::<Vec<_>>();
        let sum = |i: usize| group.iter().map(|rank| filled(rank)[i]).sum::<u32>();
        let check = |buffers: &[Buffer<u32>], expected: &dyn Fn(usize, usize) -> u32| {
            for (rank, buffer) in buffers.iter().enumerate() {
                assert_eq!(buffer.download().unwrap(), (0..40).map(|i| expected(rank, i)).collect::<Vec<u32>>(), "rank {rank}");
            }
        };
        let own = |rank: usize, i: usize| filled(&group[rank])[i];

        let mut buffers = uploaded();
        let parts = group.iter().zip(&mut buffers);
        launch_together(parts.map(|(rank, buffer)| rank.all_reduce(buffer.range_mut(3..8).unwrap(), Reduction::Sum))).unwrap();
        check(&buffers, &|rank, i| if (3..8).contains(&i) { sum(i) } else { own(rank, i) });

        let mut buffers = uploaded();
        let parts = group.iter().zip(&mut buffers);
        launch_together(parts.map(|(rank, buffer)| rank.broadcast(buffer.range_mut(30..).unwrap(), 1))).unwrap();
        check(&buffers, &|rank, i| if i >= 30 { own(1, i) } else { own(rank, i) });

        let mut buffers = uploaded();
        let parts = group.iter().zip(&mut buffers);
        launch_together(parts.map(|(rank, buffer)| rank.reduce(buffer.range_mut(..=4).unwrap(), Reduction::Max, 1))).unwrap();
        check(&buffers, &|rank, i| if rank == 1 && i <= 4 { own(count - 1, i) } else { own(rank, i) });

        // From one part of a buffer to another: two elements of each rank behind each other from the sixth on.
        let mut buffers = uploaded();
        let gathered = |(rank, buffer): (&Communicator, &mut Buffer<u32>)| {
            let (from, mut to) = buffer.split_at_mut(5).unwrap();
            rank.all_gather(from.range(2..4).unwrap(), to.range_mut(..2 * count).unwrap()).launch()
        };
        std::thread::scope(|scope| {
            let gathered = &gathered;
            let threads: Vec<_> = group.iter().zip(&mut buffers).map(|pair| scope.spawn(move || gathered(pair).unwrap())).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        check(&buffers, &|rank, i| {
            let gathered = i.checked_sub(5).filter(|i| *i < 2 * count);
            gathered.map_or(own(rank, i), |i| own(i / 2, 2 + i % 2))
        });

        let mut buffers = uploaded();
        let scattered = |(rank, buffer): (&Communicator, &mut Buffer<u32>)| {
            let (mut to, from) = buffer.split_at_mut(10).unwrap();
            rank.reduce_scatter(from.range(1..1 + 3 * count).unwrap(), to.range_mut(7..).unwrap(), Reduction::Sum).launch()
        };
        std::thread::scope(|scope| {
            let scattered = &scattered;
            let threads: Vec<_> = group.iter().zip(&mut buffers).map(|pair| scope.spawn(move || scattered(pair).unwrap())).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        check(&buffers, &|rank, i| if (7..10).contains(&i) { sum(11 + 3 * rank + i - 7) } else { own(rank, i) });
    }
}

/// Rows at the borders go to the neighbours' halos, all in one buffer of each rank: sent and received by one call, some in streams of their own.
#[test]
fn halos_are_sent_and_received_within_one_buffer() {
    let _alone = alone();
    for group in groups() {
        let (count, columns, rows) = (group.len(), 8, 5);
        for by_streams in [false, true] {
            let streams: Vec<_> = group.iter().map(|rank| rank.device().stream().unwrap()).collect();
            let filled = |rank: usize| (0..columns * (rows + 2)).map(|i| (1000 * (rank + 1) + i) as u32).collect::<Vec<u32>>();
            let mut buffers: Vec<_> = group.iter().map(|rank| rank.device().upload(&filled(rank.rank())).unwrap()).collect();
            let mut collectives = Vec::new();
            let parts: Vec<_> = buffers
                .iter_mut()
                .map(|buffer| {
                    let (above, rest) = buffer.split_at_mut(columns).unwrap();
                    let (own, below) = rest.split_at_mut(rows * columns).unwrap();
                    (above, own, below)
                })
                .collect();
            let mut lent: Vec<_> = parts.into_iter().map(|(above, own, below)| (Some(above), own, Some(below))).collect();
            for ((rank, stream), (above, own, below)) in group.iter().zip(&streams).zip(&mut lent) {
                let index = rank.rank();
                let own = &*own;
                if index > 0 {
                    collectives.push(rank.send(own.range(..columns).unwrap(), index - 1));
                    let received = rank.receive(above.take().unwrap(), index - 1);
                    collectives.push(if by_streams { received.on(stream) } else { received });
                }
                if index + 1 < count {
                    collectives.push(rank.send(own.range((rows - 1) * columns..).unwrap(), index + 1));
                    collectives.push(rank.receive(below.take().unwrap(), index + 1));
                }
            }
            launch_together(collectives).unwrap();
            drop(lent);
            for (rank, buffer) in buffers.iter_mut().enumerate() {
                // In order behind all of them.
                let mut expected = filled(rank);
                if rank > 0 {
                    expected[..columns].copy_from_slice(&filled(rank - 1)[rows * columns..(rows + 1) * columns]);
                }
                if rank + 1 < count {
                    expected[(rows + 1) * columns..].copy_from_slice(&filled(rank + 1)[columns..2 * columns]);
                }
                assert_eq!(buffer.download().unwrap(), expected, "rank {rank}");
            }
        }
    }
}

#[kernel(block = 256)]
fn increased(by: f32, x: &mut Global<f32>) {
    let i = global_id().x;
    if i < x.len() {
        x[i] += by;
    }
}

#[test]
fn threads_launch_each_for_its_rank_in_order_with_kernels() {
    let _alone = alone();
    for group in groups() {
        let count = group.len() as f32;
        std::thread::scope(|scope| {
            for rank in &group {
                scope.spawn(move || {
                    let device = rank.device();
                    let stream = device.stream().unwrap();
                    let mut x = device.zeros::<f32>(10_000).unwrap();
                    let mut expected = 0.0;
                    for round in 0..10 {
                        increased(1.0, &mut x).cover(10_000).launch(device).unwrap();
                        let sum = rank.all_reduce(&mut x, Reduction::Sum);
                        if round % 2 == 0 {
                            sum.on(&stream).launch().unwrap();
                        } else {
                            sum.launch().unwrap();
                        }
                        increased(-1.0, &mut x).cover(10_000).launch(device).unwrap();
                        expected = (expected + 1.0) * count - 1.0;
                    }
                    assert_eq!(x.download().unwrap(), vec![expected; 10_000], "{device}");
                });
            }
        });
    }
}

fn text(outcome: Result<(), Error>) -> String {
    let error = outcome.unwrap_err();
    assert!(matches!(error, Error::Collective { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn what_does_not_fit_is_an_error_that_names_both_sides() {
    let _alone = alone();
    for group in groups() {
        let [first, second, ..] = &group[..] else { panic!("two ranks at least") };
        let (mut a, mut b) = (first.device().zeros::<f32>(10).unwrap(), second.device().zeros::<f32>(12).unwrap());
        // Sizes that ranks of this program do not agree on.
        let error = text(launch_together([first.all_reduce(&mut a, Reduction::Sum), second.all_reduce(&mut b, Reduction::Sum)]));
        assert_eq!(
            error,
            "ranks do not agree: rank 0 launches all_reduce(Sum) of 10 `f32`, rank 1 all_reduce(Sum) of 12 `f32`; help: all ranks launch the same, with as many elements"
        );
        let mut all = first.device().zeros::<f32>(11).unwrap();
        let error = text(first.all_gather(&a, &mut all).launch());
        let (ranks, device) = (group.len(), first.device());
        let wanted = 10 * ranks;
        assert_eq!(
            error,
            format!(
                "all_gather of 10 `f32` on rank 0 of {ranks} ({device}): `to` has 11 elements, but {ranks} ranks with the 10 of `from` make {wanted}; give `to` {wanted}"
            )
        );
        assert!(
            text(first.broadcast(&mut a, 7).launch())
                .ends_with(&format!("there is no rank 7 of {ranks}: they are counted from 0; give one below {ranks}"))
        );
        assert!(text(first.send(&a, 0).launch()).ends_with("rank 0 is this one; help: `copy_from` copies a buffer"));
        // A buffer of another device.
        let error = first.all_reduce(&mut b, Reduction::Sum).launch().unwrap_err();
        assert!(matches!(error, Error::ForeignObject { .. }), "{error:?}");
        // None of it hurts the group.
        let mut buffers: Vec<_> = group.iter().map(|rank| rank.device().upload(&[1.0f32; 5]).unwrap()).collect();
        launch_together(group.iter().zip(&mut buffers).map(|(rank, buffer)| rank.all_reduce(buffer, Reduction::Sum))).unwrap();
        assert_eq!(buffers[1].download().unwrap(), [ranks as f32; 5]);
    }
    let simulators = Device::simulators(2);
    let refused = |devices: &[Device]| text(Communicator::all(devices, LIMIT).map(|_| ()));
    assert!(refused(&[]).starts_with("a communicator of no device; help: pass `Device::gpus()`"));
    let twice = [simulators[0].clone(), simulators[0].clone()];
    assert_eq!(refused(&twice), "Simulator (simulator) is to be two ranks of a communicator; help: pass each device once");
    let error = Communicator::join(&simulators[0], 0, 2, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), LIMIT).unwrap_err();
    assert!(
        matches!(error, Error::Unsupported { .. }) && error.to_string().contains("Communicator::all(&Device::simulators(2), …)"),
        "{error}"
    );
    let none: [CollectiveLaunch<'_>; 0] = [];
    launch_together(none).unwrap();
}

/// What a rank launches, and waits for.
type Launched = fn(&Communicator) -> Result<(), Error>;

fn sum(rank: &Communicator, len: usize, by: Reduction) -> Result<(), Error> {
    let mut x = rank.device().zeros::<f32>(len)?;
    rank.all_reduce(&mut x, by).launch()?;
    x.download().map(|_| ())
}

/// Each thread launches for its rank, and knows nothing of the others.
#[test]
fn threads_that_do_not_agree_are_told_at_once() {
    let _alone = alone();
    let cases: [(&str, &str, [Launched; 2]); 4] = [
        (
            "all_reduce(Sum) of 1000 `f32`",
            "all_reduce(Sum) of 1024 `f32`",
            [|r| sum(r, 1000, Reduction::Sum), |r| sum(r, 1024, Reduction::Sum)],
        ),
        ("all_reduce(Min) of 16 `f32`", "all_reduce(Max) of 16 `f32`", [|r| sum(r, 16, Reduction::Min), |r| sum(r, 16, Reduction::Max)]),
        (
            "broadcast from rank 0 of 16 `u32`",
            "broadcast from rank 0 of 16 `i32`",
            [
                |rank| {
                    let mut x = rank.device().zeros::<u32>(16)?;
                    rank.broadcast(&mut x, 0).launch()?;
                    x.download().map(|_| ())
                },
                |rank| {
                    let mut x = rank.device().zeros::<i32>(16)?;
                    rank.broadcast(&mut x, 0).launch()?;
                    x.download().map(|_| ())
                },
            ],
        ),
        (
            "send to rank 1 of 10 `f32`",
            "receive from rank 0 of 12 `f32`",
            [
                |rank| {
                    let x = rank.device().zeros::<f32>(10)?;
                    rank.send(&x, 1).launch()?;
                    rank.device().synchronize()
                },
                |rank| {
                    let mut x = rank.device().zeros::<f32>(12)?;
                    rank.receive(&mut x, 0).launch()?;
                    rank.device().synchronize()
                },
            ],
        ),
    ];
    for (first, second, launched) in cases {
        let gpus = Device::gpus();
        let mut sets = vec![Device::simulators(2)];
        if let [a, b, ..] = &gpus[..] {
            sets.push(vec![a.clone(), b.clone()]);
        }
        for devices in sets {
            let Ok(group) = Communicator::all(&devices, LIMIT) else { continue };
            // Connections are made, and both agree so far.
            let mut buffers: Vec<_> = group.iter().map(|rank| rank.device().zeros::<f32>(16).unwrap()).collect();
            launch_together(group.iter().zip(&mut buffers).map(|(rank, buffer)| rank.all_reduce(buffer, Reduction::Sum))).unwrap();
            let start = Instant::now();
            let outcomes: Vec<Result<(), Error>> = std::thread::scope(|scope| {
                let threads: Vec<_> = group.iter().zip(launched).map(|(rank, launch)| scope.spawn(move || launch(rank))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(outcomes.iter().any(Result::is_err), "{first}, {second}");
            // Who waits for nobody, as the root of a broadcast, may have ended before the other came: a later wait tells it.
            let later = |rank: &Communicator| loop {
                let outcome = rank.device().synchronize();
                if outcome.is_err() || start.elapsed() > LIMIT / 6 {
                    return outcome;
                }
                std::thread::sleep(Duration::from_millis(1));
            };
            let told = group.iter().zip(outcomes).map(|(rank, outcome)| text(outcome.and_then(|()| later(rank))));
            let told: Vec<String> = told.collect();
            let passed = start.elapsed();
            println!("{} told after {:.1} ms: {}", group[0].device(), passed.as_secs_f64() * 1e3, told[0]);
            assert!(passed < LIMIT / 6, "{passed:?}");
            for told in told {
                // Whichever rank came first.
                let wanted = [format!("rank 0 launches {first}, rank 1 {second};"), format!("rank 1 launches {second}, rank 0 {first};")];
                assert!(wanted.iter().any(|wanted| told.contains(wanted)), "{told}");
            }
            // It stays so for both.
            for (rank, buffer) in group.iter().zip(&mut buffers) {
                let late = text(rank.all_reduce(buffer, Reduction::Sum).launch());
                assert!(late.contains("the communicator failed before: ranks do not agree: "), "{late}");
                let _ = rank.device().synchronize();
            }
        }
    }
}

/// Says to a program that it is the one that copies what does not end.
const COPIES: &str = "WARPWRIGHT_TEST_COPIES";

/// In a program of its own, whose events never happen: the collective is given up when its time is over, and what was copied before is no result.
#[test]
fn role_of_a_program_that_copies_what_fails() {
    if std::env::var_os(COPIES).is_none() {
        return;
    }
    let limit = Duration::from_millis(500);
    let gpus = Device::gpus();
    let rank = Communicator::join(&gpus[0], 0, 1, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), limit).unwrap();
    let mut x = gpus[0].upload(&[1.0f32; 64]).unwrap();
    let [mut y, mut z, other] = [1, 2, 3].map(|gpu: usize| gpus[gpu].zeros::<f32>(64).unwrap());
    rank.all_reduce(&mut x, Reduction::Sum).launch().unwrap();
    // Nobody knows yet that it fails.
    y.copy_from(&x).unwrap();
    z.copy_from(&y).unwrap();
    std::thread::sleep(2 * limit);
    let downloaded = |buffer: &Buffer<f32>| buffer.download().map(|_| ());
    let told = [downloaded(&x), downloaded(&y), gpus[1].synchronize(), downloaded(&z), gpus[2].synchronize()];
    for outcome in told {
        let told = text(outcome);
        assert!(told.starts_with("all_reduce(Sum) of 64 `f32` on rank 0 of 1") && told.contains("has not ended"), "{told}");
        println!("was told: {told}");
    }
    // Once, and only where it went.
    gpus[1].synchronize().unwrap();
    gpus[2].synchronize().unwrap();
    assert_eq!(other.download().unwrap(), [0.0; 64]);
    gpus[3].synchronize().unwrap();
}

/// Runs a test of this program in one of its own, with so many stand-ins for GPUs that do as the variables ask; it passes, and says so much.
fn passes_in_a_program(test: &str, gpus: usize, variables: &[(&str, &str)], what: &str) {
    if !IS_POSSIBLE {
        println!("skipped: {test} with {variables:?} (no PTX interpreter: this is not Linux)");
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]);
    put_before(&mut command, "9.0", gpus);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && said.contains("1 passed") && said.contains(what), "{said}");
}

#[test]
fn a_failure_follows_a_copy_to_a_device_outside_of_the_group() {
    let variables = [(COPIES, "yes"), ("PTX_INTERPRETER_FAILS", "cuEventQuery=600")];
    passes_in_a_program("role_of_a_program_that_copies_what_fails", 4, &variables, "was told");
}

#[test]
fn a_rank_that_does_not_come_is_an_error_within_the_limit_and_from_then_on() {
    let _alone = alone();
    let limit = Duration::from_millis(300);
    let mut groups = vec![Communicator::all(&Device::simulators(2), limit).unwrap()];
    let gpus = Device::gpus();
    if let [a, b, ..] = &gpus[..] {
        groups.extend(Communicator::all(&[a.clone(), b.clone()], LIMIT));
    }
    for mut group in groups {
        let is_gpu = group[0].device().as_raw_context().is_some();
        if is_gpu {
            // The first collective makes connections, and takes its time.
            let mut buffers: Vec<_> = group.iter().map(|rank| rank.device().upload(&[1.0f32; 5]).unwrap()).collect();
            launch_together(group.iter().zip(&mut buffers).map(|(rank, buffer)| rank.all_reduce(buffer, Reduction::Sum))).unwrap();
            buffers.iter().for_each(|buffer| assert_eq!(buffer.download().unwrap(), [2.0; 5]));
            group.iter_mut().for_each(|rank| rank.set_time_limit(limit));
        }
        let rank = &group[0];
        let mut x = rank.device().upload(&[1.0f32; 1000]).unwrap();
        let start = Instant::now();
        let error = match rank.all_reduce(&mut x, Reduction::Sum).launch() {
            Ok(()) => x.download().map(|_| ()),
            Err(error) => Err(error),
        };
        let error = text(error);
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        let expected = if is_gpu {
            "all_reduce(Sum) of 1000 `f32` on rank 0 of 2"
        } else {
            "rank 0 in all_reduce(Sum) of 1000 `f32` wait; nothing came from ranks 1"
        };
        assert!(error.contains(expected), "{error}");
        // It stays so, for the rank that comes too late, too.
        let late = text(rank.all_reduce(&mut x, Reduction::Sum).launch());
        assert!(late.contains("the communicator failed before: "), "{late}");
        // The device is as good as before.
        // A GPU's stream told it, and tells it who synchronises; a launch that waited has told it, and so nobody else.
        assert_eq!(rank.device().synchronize().is_err(), is_gpu && !is_here());
        x.write(&[2.0; 1000]).unwrap();
        increased(1.0, &mut x).cover(1000).launch(rank.device()).unwrap();
        assert_eq!(x.download().unwrap(), [3.0; 1000]);
    }
}

#[test]
fn a_rank_that_is_alone_when_connections_are_made_is_told_within_the_limit() {
    let _alone = alone();
    let gpus = Device::gpus();
    let [a, b, ..] = &gpus[..] else {
        println!("skipped: a_rank_that_is_alone_when_connections_are_made_is_told_within_the_limit: {} GPUs", gpus.len());
        return;
    };
    let Ok(mut ranks) = Communicator::all(&[a.clone(), b.clone()], LIMIT) else { return };
    ranks.iter_mut().for_each(|rank| rank.set_time_limit(Duration::from_secs(2)));
    let mut x = a.upload(&[1.0f32; 1000]).unwrap();
    let start = Instant::now();
    // The first collective: NCCL may wait for the other rank before it puts anything into the stream.
    let error = text(ranks[0].all_reduce(&mut x, Reduction::Sum).launch().and_then(|()| x.download().map(|_| ())));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(error.contains("has not ended within the time limit"), "{error}");
    let _ = a.synchronize();
    assert_eq!(a.upload(&[4.0f32; 10]).unwrap().download().unwrap(), [4.0; 10]);
}

/// The same where a root of a broadcast and a sender have ended before the other comes, as they may on GPUs.
#[test]
fn ranks_that_wait_for_nobody_are_told_too() {
    passes_in_a_program("threads_that_do_not_agree_are_told_at_once", 2, &[("PTX_INTERPRETER_NCCL", "early")], "PTX interpreter 9.0");
}

/// All of it where there are no GPUs: three stand-ins, and NCCL's.
#[test]
fn stand_ins_for_gpus_do_the_same() {
    let tests = [
        "every_collective_does_what_it_says_with_every_type",
        "averages_are_taken_and_one_rank_alone_gets_a_sum",
        "parts_of_buffers_take_part_and_the_rest_stays",
        "halos_are_sent_and_received_within_one_buffer",
        "threads_launch_each_for_its_rank_in_order_with_kernels",
        "threads_that_do_not_agree_are_told_at_once",
        "what_does_not_fit_is_an_error_that_names_both_sides",
        "a_rank_that_does_not_come_is_an_error_within_the_limit_and_from_then_on",
        "a_rank_that_is_alone_when_connections_are_made_is_told_within_the_limit",
        "programs::ranks_of_two_programs_meet_by_file_and_by_address",
        "programs::programs_that_do_not_agree_are_told_what_each_of_them_launches",
        "programs::a_program_whose_peer_is_killed_is_told_within_the_limit",
    ];
    executed_on_several("communicators", &tests, "9.0", 3);
}
