//! Graphs: recorded once, replayed with the same memory or other memory, on every device there is.

use warpwright::prelude::*;
use warpwright::{DeviceKind, Error, Event, Filter, Graph, Sampling};
use warpwright_tests::devices;
use warpwright_tests::ptx_interpreter::executed;

#[kernel(block = 256)]
fn scaled(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i];
    }
}

#[kernel(block = 128)]
fn summed(x: &Global<f32>, y: &Global<f32>, z: &mut Global<f32>) {
    let i = global_id().x;
    if i < z.len() {
        z[i] = x[i] + y[i];
    }
}

#[kernel(block = 64)]
fn looked_up(table: &Constant<[f32; 8]>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] += table[block_idx().x % 8];
    }
}

#[kernel(block = 64)]
fn read_texture(texture: &Texture2d<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] += texture.fetch((i % 8) as i32, (i / 8) as i32);
    }
}

const N: usize = 5000;

fn numbers(seed: usize) -> Vec<f32> {
    (0..N).map(|i| ((i * 37 + seed * 101) % 1009) as f32 - 500.0).collect()
}

/// z = 6 · x, by way of two that do not depend on each other.
fn diamond(device: &Device, x: &Buffer<f32>, scratch: [&mut Buffer<f32>; 2], z: &mut Buffer<f32>) -> Graph {
    let [left, right] = scratch;
    let graph = device.record((x, left, right, z), |steps, (x, left, right, z)| {
        steps.clear(z)?;
        steps.launch(scaled(2.0, x, left).cover(N))?;
        steps.launch(scaled(4.0, x, right).cover(N))?;
        steps.launch(summed(left, right, z).cover(N))?;
        Ok::<(), Error>(())
    });
    graph.unwrap()
}

#[test]
fn a_graph_replays_with_the_memory_that_is_lent_to_it() {
    for device in devices::all() {
        let inputs = [numbers(1), numbers(2)];
        let buffers = inputs.each_ref().map(|input| device.upload(input).unwrap());
        let zeros = || device.zeros::<f32>(N).unwrap();
        let (mut left, mut right, mut results) = (zeros(), zeros(), [zeros(), zeros(), zeros()]);
        let [first, second, third] = &mut results;
        let mut graph = diamond(&device, &buffers[0], [&mut left, &mut right], first);
        assert_eq!(graph.len(), 4);
        assert_eq!(first.download().unwrap(), vec![0.0; N], "recording runs nothing");
        let stream = device.stream().unwrap();
        graph.launch((&buffers[0], &mut left, &mut right, &mut *first)).unwrap();
        // Other memory in the same graph, and the first again, in another stream.
        graph.launch_on(&stream, (&buffers[1], &mut left, &mut right, &mut *second)).unwrap();
        graph.launch((&buffers[0], &mut right, &mut left, &mut *third)).unwrap();
        let expected = inputs.map(|input| input.iter().map(|x| 6.0 * x).collect::<Vec<_>>());
        for (n, (result, expected)) in results.iter().zip([&expected[0], &expected[1], &expected[0]]).enumerate() {
            assert_eq!(&result.download().unwrap(), expected, "replay {n} on {device}");
        }
    }
}

#[test]
fn steps_run_in_the_order_that_memory_asks_for() {
    for device in devices::all() {
        let (mut a, mut b) = (device.upload(&vec![1.0f32; N]).unwrap(), device.zeros::<f32>(N).unwrap());
        let graph = device.record((&mut a, &mut b), |steps, (a, b)| {
            for _ in 0..10 {
                steps.launch(scaled(2.0, a, b).cover(N))?;
                steps.launch(scaled(-1.0, b, a).cover(N))?;
            }
            steps.copy(b, a)?;
            steps.launch(scaled(0.5, b, a).cover(N))?;
            Ok::<(), Error>(())
        });
        let mut graph = graph.unwrap();
        graph.launch((&mut a, &mut b)).unwrap();
        assert_eq!(a.download().unwrap(), vec![512.0; N], "{device}");
        assert_eq!(b.download().unwrap(), vec![1024.0; N], "{device}");
        // A thread on which no context is current.
        std::thread::scope(|scope| scope.spawn(|| graph.launch((&mut a, &mut b)).unwrap()).join().unwrap());
        assert_eq!(a.download().unwrap(), vec![512.0 * 512.0; N], "{device}");
    }
}

#[test]
fn steps_are_replaced_by_launches_of_the_same_kernel() {
    for device in devices::all() {
        let (x, mut y) = (device.upload(&numbers(3)).unwrap(), device.zeros::<f32>(N).unwrap());
        let mut step = None;
        let graph = device.record((&x, &mut y), |steps, (x, y)| {
            step = Some(steps.launch(scaled(1.0, x, y).cover(N))?);
            Ok::<(), Error>(())
        });
        let (mut graph, step) = (graph.unwrap(), step.unwrap());
        let strange = device.zeros::<f32>(N).unwrap();
        let error = graph.replace(step, scaled(2.0, &strange, &mut y).cover(N)).unwrap_err().to_string();
        assert!(error.contains("parameter `x` of kernel `scaled` is not among those that the graph was given"), "{error}");
        graph.replace(step, scaled(8.0, &x, &mut y).cover(N)).unwrap();
        graph.launch((&x, &mut y)).unwrap();
        assert_eq!(y.download().unwrap(), numbers(3).iter().map(|x| 8.0 * x).collect::<Vec<_>>(), "{device}");
        for a in [2.0f32, -3.0, 0.25] {
            graph.replace(step, scaled(a, &x, &mut y).cover(N)).unwrap();
            graph.launch((&x, &mut y)).unwrap();
            assert_eq!(y.download().unwrap(), numbers(3).iter().map(|x| a * x).collect::<Vec<_>>(), "{device}");
        }
        // Another grid: of the last block's elements none is written.
        graph.replace(step, scaled(7.0, &x, &mut y).grid(N / 256)).unwrap();
        graph.launch((&x, &mut y)).unwrap();
        let whole = N / 256 * 256;
        let expected: Vec<_> = numbers(3).iter().enumerate().map(|(i, x)| if i < whole { 7.0 * x } else { 0.25 * x }).collect();
        assert_eq!(y.download().unwrap(), expected, "{device}");
        let z = device.zeros::<f32>(N).unwrap();
        let error = graph.replace(step, summed(&x, &z, &mut y).cover(N)).unwrap_err();
        assert!(matches!(error, Error::Graph { .. }), "{error:?}");
        let error = error.to_string();
        assert!(error.contains("step 1 of the graph is a launch of kernel `scaled`, and cannot become one of `summed`"), "{error}");
    }
}

#[test]
fn constants_and_textures_are_those_of_the_replay() {
    for device in devices::all() {
        let tables = [1.0f32, 10.0].map(|n| device.constant([n; 8]).unwrap());
        let texels = |n: f32| (0..64).map(|i| n * i as f32).collect::<Vec<_>>();
        let sampling = Sampling { filter: Filter::Nearest, ..Sampling::default() };
        let textures = [1.0, -1.0].map(|n| device.texture((8, 8), &texels(n), sampling).unwrap());
        let mut y = device.zeros::<f32>(64).unwrap();
        let graph = device.record((&tables[0], &tables[1], &textures[0], &mut y), |steps, (first, second, texture, y)| {
            steps.clear(y)?;
            // The same kernel with two tables: its variable is filled twice.
            steps.launch(looked_up(first, y).cover(64))?;
            steps.launch(looked_up(second, y).cover(64))?;
            steps.launch(looked_up(first, y).cover(64))?;
            steps.launch(read_texture(texture, y).cover(64))?;
            Ok::<(), Error>(())
        });
        let mut graph = graph.unwrap();
        let expected = |table: f32, n: f32| (0..64).map(|i| table + n * i as f32).collect::<Vec<_>>();
        graph.launch((&tables[0], &tables[1], &textures[0], &mut y)).unwrap();
        assert_eq!(y.download().unwrap(), expected(12.0, 1.0), "{device}");
        // A launch beside it fills the variable with something else.
        looked_up(&tables[1], &mut y).cover(64).launch(&device).unwrap();
        assert_eq!(y.download().unwrap(), expected(22.0, 1.0), "{device}");
        graph.launch((&tables[1], &tables[0], &textures[1], &mut y)).unwrap();
        looked_up(&tables[1], &mut y).cover(64).launch(&device).unwrap();
        assert_eq!(y.download().unwrap(), expected(31.0, -1.0), "{device}");
    }
}

#[test]
fn what_a_graph_cannot_work_with_is_an_error_that_names_both_sides() {
    for device in devices::all() {
        let (x, mut y) = (device.upload(&numbers(4)).unwrap(), device.zeros::<f32>(N).unwrap());
        let other = device.zeros::<f32>(N).unwrap();
        let record = |y: &mut Buffer<f32>| device.record((&x, y), |steps, (x, y)| steps.launch(scaled(1.0, x, y).cover(N)).map(|_| ()));
        let mut graph = record(&mut y).unwrap();
        let text = |outcome: Result<(), Error>| {
            let error = outcome.unwrap_err();
            assert!(matches!(error, Error::Graph { .. }), "{error:?}");
            error.to_string()
        };
        // A buffer that was not given.
        let error = text(device.record(&mut y, |steps, y| steps.launch(scaled(1.0, &other, y).cover(N)).map(|_| ())).map(|_: Graph| ()));
        assert_eq!(
            error,
            "parameter `x` of kernel `scaled` is not among those that the graph was given; help: add it to the tuple that `Device::record` takes, and use what the closure gets"
        );
        // The same one twice.
        let error = text(device.record((&x, &x), |_, _| Ok::<(), Error>(())).map(|_: Graph| ()));
        assert_eq!(error, "buffer 1 and buffer 2 that the graph is given are the same buffer; help: give it once");
        // Too few, of another type, of another length, to read instead of to write.
        assert_eq!(
            text(graph.launch(&mut y)),
            "the graph was recorded with 2 buffers, but is given 1; help: give as many, in the same order"
        );
        let integers = device.zeros::<u32>(N).unwrap();
        let error = text(graph.launch((&integers, &mut y)));
        assert_eq!(
            error,
            "buffer 1 that the graph was recorded with is a buffer of `f32` to read, but it is given a buffer of `u32` to read; help: give one of the same kind, or record a graph for this one"
        );
        let error = text(graph.launch((&x, &other)));
        assert_eq!(
            error,
            "buffer 2 that the graph was recorded with is a buffer of `f32` to write, but it is given a buffer of `f32` to read; help: give one of the same kind, or record a graph for this one"
        );
        let short = device.zeros::<f32>(N - 1).unwrap();
        let error = text(graph.launch((&short, &mut y)));
        assert_eq!(
            error,
            "buffer 1 that the graph was recorded with has 20000 bytes, but it is given one of 19996; help: record a graph for this size"
        );
        // A device's buffer on another.
        let elsewhere = if device.kind() == DeviceKind::Simulator { Device::host() } else { Device::simulator() };
        let far = elsewhere.zeros::<f32>(N).unwrap();
        let error = graph.launch((&far, &mut y)).unwrap_err();
        assert!(matches!(error, Error::ForeignObject { .. }), "{error:?}");
        // None of it hurts the graph.
        graph.launch((&x, &mut y)).unwrap();
        assert_eq!(y.download().unwrap(), numbers(4), "{device}");
        // A launch without a grid is refused when it is recorded.
        let error =
            device.record((&x, &mut y), |steps, (x, y)| steps.launch(scaled(1.0, x, y)).map(|_| ())).map(|_: Graph| ()).unwrap_err();
        assert!(matches!(error, Error::NoGrid { .. }), "{error:?}");
        // A graph of nothing does nothing.
        let mut empty = device.record((), |_, ()| Ok::<(), Error>(())).unwrap();
        empty.launch(()).unwrap();
        assert!(empty.is_empty());
    }
}

#[test]
fn buffers_that_come_and_go_in_streams_keep_their_contents() {
    for device in devices::all() {
        let streams = [device.stream().unwrap(), device.stream().unwrap()];
        let mut kept = Vec::new();
        for round in 0..40 {
            let stream = &streams[round % 2];
            let x = stream.upload(&numbers(round)).unwrap();
            let mut y = stream.zeros::<f32>(N).unwrap();
            // Read and written in the other stream, dropped while that may still run.
            scaled(2.0, &x, &mut y).cover(N).launch_on(&streams[(round + 1) % 2]).unwrap();
            drop(x);
            kept.push((round, y));
            if kept.len() > 3 {
                let (round, y) = kept.remove(0);
                assert_eq!(y.download().unwrap(), numbers(round).iter().map(|x| 2.0 * x).collect::<Vec<_>>(), "{device}");
            }
        }
        let before = device.free_memory().unwrap();
        drop(kept);
        device.release_unused_memory().unwrap();
        let after: Option<u64> = device.free_memory().unwrap();
        assert_eq!(before.is_some(), after.is_some());
        let end: Event = streams[0].record().unwrap();
        end.synchronize().unwrap();
    }
}

#[test]
fn buffers_may_be_swapped_while_steps_are_recorded() {
    for device in devices::all() {
        let (mut a, mut b) = (device.upload(&vec![1.0f32; N]).unwrap(), device.zeros::<f32>(N).unwrap());
        let mut short = device.upload(&[5.0f32; 8]).unwrap();
        let graph = device.record((&mut a, &mut b, &mut short), |steps, (a, b, short)| {
            for _ in 0..10 {
                steps.launch(scaled(2.0, a, b).cover(N))?;
                std::mem::swap(a, b);
            }
            // Of another length: what is cleared is the memory, whatever it is called.
            std::mem::swap(a, short);
            steps.clear(a)?;
            std::mem::swap(a, short);
            Ok::<(), Error>(())
        });
        let mut graph = graph.unwrap();
        graph.launch((&mut a, &mut b, &mut short)).unwrap();
        assert_eq!(a.download().unwrap(), vec![1024.0; N], "{device}");
        assert_eq!(short.download().unwrap(), [0.0; 8], "{device}");
        // One that is put in its place is not what the graph was given.
        let error = device.record(&mut a, |steps, a| {
            *a = a.device().zeros::<f32>(2 * N)?;
            steps.clear(a).map(|_| ())
        });
        assert!(matches!(error.map(|_: Graph| ()), Err(Error::Graph { .. })));
    }
}

/// The same once more, as PTX that is executed without a GPU.
#[test]
fn on_the_ptx_interpreter() {
    executed(
        "graphs",
        &[
            "a_graph_replays_with_the_memory_that_is_lent_to_it",
            "buffers_may_be_swapped_while_steps_are_recorded",
            "constants_and_textures_are_those_of_the_replay",
            "steps_are_replaced_by_launches_of_the_same_kernel",
            "steps_run_in_the_order_that_memory_asks_for",
        ],
        "8.0",
    );
}
