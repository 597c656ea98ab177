//! Rows over several devices: simulators where there are no GPUs, with the same kernels; stand-ins for GPUs, some of which reach each other's memory.

use std::time::{Duration, Instant};
use warpwright::prelude::*;
use warpwright::{Communicator, Error, Reduction, Replicated, Sharded, launch_sharded, launch_together};
use warpwright_tests::ptx_interpreter::{IS_POSSIBLE, executed_on_several, is_here, put_before};

/// A step of heat conduction on rows `above` to `above + rows` of a buffer: the edges of the plate stay.
#[kernel(block = (32, 4))]
fn conducted(old: &Global<f32>, new: &mut Global<f32>, columns: usize, above: usize, rows: usize, is_first: bool, is_last: bool) {
    let (x, y) = (global_id().x, global_id().y);
    if x < columns && y < rows {
        let at = (above + y) * columns + x;
        let is_edge = x == 0 || x + 1 == columns || (is_first && y == 0) || (is_last && y + 1 == rows);
        if is_edge {
            new[at] = old[at];
        } else {
            new[at] = 0.25 * (old[at - 1] + old[at + 1]) + 0.25 * (old[at - columns] + old[at + columns]);
        }
    }
}

fn plate(rows: usize, columns: usize) -> Vec<f32> {
    (0..rows * columns).map(|i| ((i * 193) % 701) as f32).collect()
}

fn reference(mut old: Vec<f32>, rows: usize, columns: usize, steps: usize) -> Vec<f32> {
    let mut new = old.clone();
    for _ in 0..steps {
        for y in 1..rows - 1 {
            for x in 1..columns - 1 {
                let at = y * columns + x;
                new[at] = 0.25 * (old[at - 1] + old[at + 1]) + 0.25 * (old[at - columns] + old[at + columns]);
            }
        }
        std::mem::swap(&mut old, &mut new);
    }
    old
}

/// Several simulators, and all GPUs if there are several.
fn sets() -> Vec<Vec<Device>> {
    let mut sets: Vec<_> = [1, 2, 3].map(Device::simulators).into();
    let gpus = Device::gpus();
    println!("GPUs: {}", gpus.len());
    if !gpus.is_empty() {
        sets.push(gpus);
    }
    sets
}

#[test]
fn a_stencil_over_several_devices_is_that_over_one() {
    let (columns, steps) = (70, 6);
    for devices in sets() {
        // One device has a row more than the others.
        let rows = 16 * devices.len() + 1;
        let mut old = Sharded::scatter(&devices, &plate(rows, columns), columns, 1).unwrap();
        let mut new = Sharded::zeros(&devices, rows, columns, 1).unwrap();
        for _ in 0..steps {
            launch_sharded((&old, &mut new), |place, (old, new)| {
                let (is_first, is_last) = (place.rows.start == 0, place.rows.end == rows);
                Ok(conducted(old, new, columns, place.above, place.rows.len(), is_first, is_last).cover((columns, place.rows.len())))
            })
            .unwrap();
            new.exchange_halos().unwrap();
            std::mem::swap(&mut old, &mut new);
        }
        assert_eq!(old.gather().unwrap(), reference(plate(rows, columns), rows, columns, steps), "{} devices", devices.len());
    }
}

#[test]
fn wider_halos_are_the_neighbours_rows() {
    for devices in sets() {
        // Two rows for each device, which are its neighbours' halos, and one more.
        let elements = 4 * (2 * devices.len() as u32 + 1);
        let mut plate = Sharded::scatter(&devices, &(0..elements).collect::<Vec<_>>(), 4, 2).unwrap();
        for shard in plate.shards_mut() {
            let (place, len) = (shard.place().clone(), shard.buffer.len());
            let mut own = vec![0; len];
            place.own().for_each(|i| own[i] = 1000 * (place.index as u32 + 1) + i as u32);
            shard.buffer.write(&own).unwrap();
        }
        plate.exchange_halos().unwrap();
        let shards = plate.shards();
        for (above, below) in shards.iter().zip(&shards[1..]) {
            let (first, second) = (above.buffer.download().unwrap(), below.buffer.download().unwrap());
            assert_eq!(first[above.place().own().end..], second[below.place().own().start..][..8]);
            assert_eq!(second[..8], first[above.place().own().end - 8..above.place().own().end]);
        }
    }
}

/// Seen where the second border fails: the third, which shares a device with it, has been exchanged by then.
#[test]
fn borders_that_share_no_device_are_exchanged_first() {
    let devices = Device::simulators(5);
    let mut plate = Sharded::zeros(&devices, 10, 4, 1).unwrap();
    for shard in plate.shards_mut() {
        let index = shard.place().index as u32;
        shard.buffer.write(&vec![index + 1; shard.buffer.len()]).unwrap();
    }
    // The first row of its own is there, for the border above it, and the last is not.
    plate.shards_mut()[1].buffer = devices[1].upload(&[2u32; 8]).unwrap();
    let error = plate.exchange_halos().unwrap_err();
    assert!(matches!(error, Error::OutOfRange { .. }), "{error:?}");
    let halos: Vec<(Option<u32>, Option<u32>)> = plate
        .shards()
        .iter()
        .map(|shard| {
            let (buffer, place) = (shard.buffer.download().unwrap(), shard.place());
            let (above, below) = (buffer[..4 * place.above].first(), buffer.get(place.own().end..).and_then(<[u32]>::first));
            (above.copied(), below.copied())
        })
        .collect();
    // Borders 0|1 and 2|3 are exchanged, 1|2 has failed, and 3|4 is as it was.
    assert_eq!(halos, [(None, Some(2)), (Some(1), None), (Some(3), Some(4)), (Some(3), Some(4)), (Some(5), None)]);
}

/// Two steps of one exchange: the first of them makes a row of each neighbour, too.
#[test]
fn halos_of_two_rows_are_exchanged_every_other_step() {
    let (columns, steps) = (40, 6);
    for devices in sets() {
        let rows = 4 * devices.len() + 1;
        let mut old = Sharded::scatter(&devices, &plate(rows, columns), columns, 2).unwrap();
        let mut new = Sharded::zeros(&devices, rows, columns, 2).unwrap();
        for step in 0..steps {
            let more = 1 - step % 2;
            launch_sharded((&old, &mut new), |place, (old, new)| {
                let (is_first, is_last) = (place.rows.start == 0, place.rows.end == rows);
                let (above, below) = (place.above.min(more), place.below.min(more));
                let made = above + place.rows.len() + below;
                Ok(conducted(old, new, columns, place.above - above, made, is_first, is_last).cover((columns, made)))
            })
            .unwrap();
            std::mem::swap(&mut old, &mut new);
            if step % 2 == 1 {
                old.exchange_halos().unwrap();
            }
        }
        assert_eq!(old.gather().unwrap(), reference(plate(rows, columns), rows, columns, steps), "{} devices", devices.len());
    }
}

#[test]
fn what_cannot_be_spread_is_an_error_with_its_figures() {
    let devices = Device::simulators(3);
    let text = |error: Error| {
        assert!(matches!(error, Error::Shards { .. }), "{error:?}");
        error.to_string()
    };
    let error = text(Sharded::scatter(&[], &[1.0f32; 8], 4, 0).unwrap_err());
    assert_eq!(error, "rows were to be spread over no device; help: pass `Device::gpus()`, or `Device::simulators(2)` where there is none");
    let error = text(Sharded::scatter(&devices, &[1.0f32; 9], 4, 0).unwrap_err());
    assert_eq!(error, "9 elements are no whole number of rows of 4; help: fill the last row up, or give other columns");
    let error = text(Sharded::<f32>::zeros(&devices, 8, 4, 3).unwrap_err());
    assert_eq!(error, "8 rows over 3 devices are 2 for some, and a halo has 3; help: use at most 2 devices, or a smaller halo");
    let (a, mut b) = (Sharded::<f32>::zeros(&devices, 9, 4, 0).unwrap(), Sharded::<f32>::zeros(&devices[..2], 9, 4, 0).unwrap());
    let error = text(launch_sharded((&a, &mut b), |_, (a, b)| Ok(conducted(a, b, 4, 0, 1, true, true).cover(4))).unwrap_err());
    assert_eq!(
        error,
        "matrix 1 is spread as rows 0..3 on Simulator (simulator), rows 3..6 on Simulator 1 (simulator), rows 6..9 on Simulator 2 (simulator), but matrix 2 as rows 0..5 on Simulator (simulator), rows 5..9 on Simulator 1 (simulator); help: spread matrices of one launch over the same devices, with as many rows"
    );
}

#[test]
fn another_halo_is_refused_before_anything_runs() {
    for devices in [Device::simulators(3), Device::simulators(1)] {
        let (a, mut b) = (Sharded::<f32>::zeros(&devices, 9, 4, 1).unwrap(), Sharded::<f32>::zeros(&devices, 9, 4, 2).unwrap());
        let error = launch_sharded((&a, &mut b), |_, _| panic!("nothing is launched")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "matrix 1 has a halo of 1, but matrix 2 of 2, and a launch has one place for all matrices; help: pass 2 as the halo of both to `Sharded::scatter` or `Sharded::zeros`"
        );
    }
}

#[test]
fn a_buffer_that_is_too_short_is_refused_before_anything_runs() {
    let devices = Device::simulators(3);
    let (a, mut b) = (Sharded::<f32>::zeros(&devices, 9, 4, 1).unwrap(), Sharded::<f32>::zeros(&devices, 9, 4, 1).unwrap());
    // It has the device's own rows, and none below them.
    b.shards_mut()[1].buffer = devices[1].zeros::<f32>(16).unwrap();
    let error = launch_sharded((&a, &mut b), |_, _| panic!("nothing is launched")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the buffer of matrix 2 on Simulator 1 (simulator) has 16 elements, and its rows with the halo are 20; help: leave each device the buffer that it was given"
    );
}

/// The sum of each of a device's rows.
#[kernel(block = 64, allow(uncoalesced_access))]
fn row_sums(columns: usize, matrix: &Global<u32>, sums: &mut Global<u32>) {
    let row = global_id().x;
    if row < sums.len() {
        let mut sum = 0;
        for column in 0..columns {
            sum += matrix[row * columns + column];
        }
        sums[row] = sum;
    }
}

#[test]
fn matrices_of_one_launch_may_have_other_columns() {
    for devices in sets() {
        let (rows, columns) = (4 * devices.len() + 1, 5);
        let elements: Vec<u32> = (0..rows * columns).map(|i| i as u32).collect();
        let matrix = Sharded::scatter(&devices, &elements, columns, 0).unwrap();
        let mut sums = Sharded::zeros(&devices, rows, 1, 0).unwrap();
        launch_sharded((&matrix, &mut sums), |place, (matrix, sums)| Ok(row_sums(place.columns, matrix, sums).cover(place.rows.len())))
            .unwrap();
        let expected: Vec<u32> = elements.chunks(columns).map(|row| row.iter().sum()).collect();
        assert_eq!(sums.gather().unwrap(), expected, "{} devices", devices.len());
    }
}

/// How many of a device's own elements have each value, once `table` has replaced it; weighted.
#[kernel(block = 64, allow(uncoalesced_access))]
fn counted(weights: &Constant<[u32; 4]>, first: usize, count: usize, from: &Global<u32>, table: &Global<u32>, counts: &mut Global<u32>) {
    let i = global_id().x;
    if i < count {
        let value = table[from[first + i] as usize];
        counts.atomic_add(value as usize, weights[value as usize % 4]);
    }
}

/// A table that all need, constants from outside of the closure, and counts that each makes for itself.
#[test]
fn devices_have_tables_whole_and_write_what_is_their_own() {
    let (table, weights): (Vec<u32>, [u32; 4]) = ((0..16).map(|i| (i * 5 + 3) % 8).collect(), [1, 10, 100, 1000]);
    for devices in sets() {
        let (rows, columns) = (6 * devices.len() + 1, 24);
        let elements: Vec<u32> = (0..rows * columns).map(|i| (i * 7 % 16) as u32).collect();
        // With a halo, which is not to be counted twice.
        let from = Sharded::scatter(&devices, &elements, columns, 1).unwrap();
        let on_each = Replicated::upload(&devices, &table).unwrap();
        let mut counts = Replicated::<u32>::zeros(&devices, 8).unwrap();
        let constants: Vec<_> = devices.iter().map(|device| device.constant(weights).unwrap()).collect();
        launch_sharded((&on_each, &from, &mut counts), |place, (table, from, counts)| {
            let own = place.own();
            Ok(counted(&constants[place.index], own.start, own.len(), from, table, counts).cover(own.len()))
        })
        .unwrap();
        let found: Vec<Vec<u32>> = counts.buffers().iter().map(|buffer| buffer.download().unwrap()).collect();
        let mut expected = vec![vec![0u32; 8]; devices.len()];
        for shard in from.shards() {
            let place = shard.place();
            for value in &elements[place.rows.start * columns..place.rows.end * columns] {
                let value = table[*value as usize] as usize;
                expected[place.index][value] += weights[value % 4];
            }
        }
        assert_eq!(found, expected);
        // All of them together are those of the whole.
        let ranks = Communicator::all(&devices, Duration::from_secs(20)).unwrap();
        launch_together(ranks.iter().zip(counts.buffers_mut()).map(|(rank, counts)| rank.all_reduce(counts, Reduction::Sum))).unwrap();
        let sum: Vec<u32> = (0..8).map(|value| expected.iter().map(|counts| counts[value]).sum()).collect();
        counts.buffers().iter().for_each(|buffer| assert_eq!(buffer.download().unwrap(), sum));
    }
}

#[test]
fn what_devices_have_whole_is_refused_where_the_rows_are_not() {
    let devices = Device::simulators(3);
    let from = Sharded::<u32>::zeros(&devices, 9, 4, 0).unwrap();
    let mut counts = Replicated::<u32>::zeros(&devices[..2], 8).unwrap();
    let error = launch_sharded((&from, &mut counts), |_, _| panic!("nothing is launched")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "matrix 1 is spread over Simulator (simulator), Simulator 1 (simulator), Simulator 2 (simulator), but argument 2 has its buffers on Simulator (simulator), Simulator 1 (simulator); help: make a `Replicated` of the devices that the matrix is spread over, in the same order"
    );
    let error = launch_sharded(&counts, |_, _| panic!("nothing is launched")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a launch on several devices has no matrix whose rows say what each of them does; help: pass a `&Sharded`, or a `&mut Sharded`, too"
    );
    // A buffer from outside of the closure is one device's.
    let table = devices[0].zeros::<u32>(16).unwrap();
    let mut counts = Replicated::<u32>::zeros(&devices, 8).unwrap();
    let constants: Vec<_> = devices.iter().map(|device| device.constant([1u32; 4]).unwrap()).collect();
    let error = launch_sharded((&from, &mut counts), |place, (from, counts)| {
        Ok(counted(&constants[place.index], 0, 12, from, &table, counts).cover(12))
    });
    let error = error.unwrap_err();
    assert!(matches!(error, Error::OtherDevice { .. }), "{error:?}");
}

#[test]
fn launches_from_many_threads_reach_every_device() {
    let gpus = Device::gpus();
    let devices = if gpus.is_empty() { Device::simulators(3) } else { gpus };
    std::thread::scope(|scope| {
        for thread in 0..8usize {
            let devices = &devices;
            scope.spawn(move || {
                for round in 0..10 {
                    let device = &devices[(thread + round) % devices.len()];
                    let (old, mut new) = (device.upload(&plate(8, 16)).unwrap(), device.zeros::<f32>(128).unwrap());
                    conducted(&old, &mut new, 16, 0, 8, true, true).cover((16, 8)).launch(device).unwrap();
                    assert_eq!(new.download().unwrap(), reference(plate(8, 16), 8, 16, 1));
                }
            });
        }
    });
}

#[kernel(block = 64)]
fn looked_up(from: usize, x: &Global<f32>, y: &mut Global<f32>) {
    y[thread_idx().x] = x[from];
}

/// By itself: the first device is of no use to this program afterwards.
#[test]
fn a_device_whose_context_is_lost_leaves_the_others() {
    let name = "a_device_whose_context_is_lost_leaves_the_others";
    if !is_here() || std::env::args().all(|argument| argument != name) {
        executed_on_several("several_devices: lost", &[name], "9.0", 3);
        return;
    }
    let gpus = Device::gpus();
    let ranks = Communicator::all(&gpus, Duration::from_secs(2)).unwrap();
    let (x, mut y) = (gpus[0].zeros::<f32>(64).unwrap(), gpus[0].zeros::<f32>(64).unwrap());
    // An address far from the buffer, which no check of the launch can know.
    looked_up(1 << 30, &x, &mut y).cover(64).launch(&gpus[0]).unwrap();
    let lost = gpus[0].synchronize().unwrap_err().to_string();
    assert!(
        lost.starts_with("kernel `looked_up` faulted on PTX interpreter 9.0, GPU 0: CUDA_ERROR_ILLEGAL_ADDRESS (700)")
            && lost.contains("context is lost"),
        "{lost}"
    );
    for gpu in &gpus[1..] {
        let (old, mut new) = (gpu.upload(&plate(8, 16)).unwrap(), gpu.zeros::<f32>(128).unwrap());
        conducted(&old, &mut new, 16, 0, 8, true, true).cover((16, 8)).launch(gpu).unwrap();
        assert_eq!(new.download().unwrap(), reference(plate(8, 16), 8, 16, 1));
        // Copies to and from it are errors, and hurt nobody else.
        let mut to = gpu.zeros::<f32>(64).unwrap();
        assert!(to.copy_from(&y).is_err() && y.copy_from(&to).is_err());
        assert_eq!(to.download().unwrap(), [0.0; 64]);
    }
    // The ranks that are left wait for the lost one no longer than the limit.
    let start = Instant::now();
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let reduced = |rank: &Communicator| {
            let mut z = rank.device().zeros::<f32>(64)?;
            rank.all_reduce(&mut z, Reduction::Sum).launch()?;
            z.download()
        };
        let threads: Vec<_> = ranks.iter().map(|rank| scope.spawn(move || reduced(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(matches!(outcomes[0], Err(Error::Driver { .. })), "{:?}", outcomes[0]);
    assert!(outcomes[1..].iter().all(|outcome| matches!(outcome, Err(Error::Collective { .. }))), "{outcomes:?}");
    // Without it they make a group of their own.
    let ranks = Communicator::all(&gpus[1..], Duration::from_secs(20)).unwrap();
    let mut buffers: Vec<_> = ranks.iter().map(|rank| rank.device().upload(&[1.0f32; 64]).unwrap()).collect();
    launch_together(ranks.iter().zip(&mut buffers).map(|(rank, buffer)| rank.all_reduce(buffer, Reduction::Sum))).unwrap();
    buffers.iter().for_each(|buffer| assert_eq!(buffer.download().unwrap(), [ranks.len() as f32; 64]));
}

/// Stand-ins run nothing before somebody waits for it, so what lacks a wait between streams has wrong results there: seen where no stream waits for another.
#[test]
fn a_missing_wait_between_devices_shows_on_stand_ins() {
    if !IS_POSSIBLE || is_here() {
        return;
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    put_before(&mut command, "9.0", 3);
    command.args(["a_stencil_over_several_devices_is_that_over_one", "--exact"]).env("PTX_INTERPRETER_FAILS", "cuStreamWaitEvent=0");
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(!output.status.success() && said.contains("GPUs: 3") && said.contains(": 3 devices"), "{said}");
}

#[test]
fn stand_ins_for_gpus_do_the_same() {
    let tests = [
        "a_stencil_over_several_devices_is_that_over_one",
        "wider_halos_are_the_neighbours_rows",
        "halos_of_two_rows_are_exchanged_every_other_step",
        "matrices_of_one_launch_may_have_other_columns",
        "devices_have_tables_whole_and_write_what_is_their_own",
        "launches_from_many_threads_reach_every_device",
    ];
    executed_on_several("several_devices", &tests, "9.0", 3);
}
