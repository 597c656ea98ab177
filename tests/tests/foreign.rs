//! Contexts, streams and memory of others: plain handles on all devices that have them, and `cudarc`'s types on a GPU.

#![expect(unsafe_code, reason = "handles of others say nothing of what they are")]

#[path = "foreign/modules.rs"]
mod modules;

use cudarc::cublas::{CudaBlas, Gemv, GemvConfig, sys::cublasOperation_t};
use cudarc::driver::{CudaContext, CudaStream, CudaView};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use warpwright::cudarc::{as_cudarc, buffer_of, device_of, stream_of, with_buffers, with_slices};
use warpwright::prelude::*;
use warpwright::{Communicator, DeviceKind, Error, Reduction, Rendezvous};
use warpwright_tests::ptx_interpreter::{executed, is_here};

#[kernel(block = 256)]
fn scaled(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i];
    }
}

#[kernel(block = 256)]
fn increased(by: f32, x: &mut Global<f32>) {
    let i = global_id().x;
    if i < x.len() {
        x[i] += by;
    }
}

/// Sets a flag when it is dropped.
struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[repr(align(64))]
struct Aligned([f32; 1000]);

#[test]
fn memory_of_this_program_is_a_buffer_of_the_simulator_and_the_twin() {
    for device in [Device::simulator(), Device::host()] {
        let (x, mut y) = (Box::new(Aligned(std::array::from_fn(|i| i as f32))), Box::new(Aligned([0.0; 1000])));
        let is_dropped = Arc::new(AtomicBool::new(false));
        let addresses = [x.0.as_ptr() as u64, y.0.as_mut_ptr() as u64];
        // SAFETY: both arrays outlive the buffers, and nobody else uses the second.
        let buffer = |n: usize, keep| unsafe { Buffer::<f32>::from_raw_parts(&device, addresses[n], 1000, keep) };
        let from = buffer(0, Box::new(())).unwrap();
        let mut to = buffer(1, Box::new(Flag(Arc::clone(&is_dropped)))).unwrap();
        assert_eq!((from.as_raw(), to.as_raw()), (Some(addresses[0]), Some(addresses[1])));
        scaled(3.0, &from, &mut to).cover(1000).launch(&device).unwrap();
        device.synchronize().unwrap();
        assert!(!is_dropped.load(Ordering::Relaxed));
        drop(to);
        assert!(is_dropped.load(Ordering::Relaxed), "the owner is dropped with the buffer");
        assert!((0..1000).all(|i| y.0[i] == 3.0 * i as f32), "{device}");
        assert_eq!(device.as_raw_context(), None);
    }
}

#[test]
fn what_is_no_memory_for_kernels_is_an_error_with_its_figure() {
    for device in Device::all() {
        // SAFETY: nothing is read or written, since each is refused or empty.
        let refused = |address: u64, len: usize| unsafe { Buffer::<f32>::from_raw_parts(&device, address, len, Box::new(())) };
        if device.kind() == DeviceKind::OpenCl {
            let error = refused(64, 0).unwrap_err().to_string();
            assert!(error.contains("has no addresses") && error.contains("use `upload`"), "{error}");
            continue;
        }
        let error = refused(0x1004, 10).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{error:?}");
        let error = error.to_string();
        for part in ["10 elements at 0x1004 begin 4 bytes behind a multiple of 16", "help: begin at an element", &device.to_string()] {
            assert!(error.contains(part), "`{part}` is not in `{error}`");
        }
        let error = refused(0, 10).unwrap_err().to_string();
        assert!(error.contains("the address of 10 elements is null"), "{error}");
        assert!(matches!(refused(64, usize::MAX / 2), Err(Error::TooLarge { .. })));
        assert!(refused(0, 0).unwrap().is_empty());
        if device.kind() != DeviceKind::Cuda {
            // SAFETY: refused.
            let error = unsafe { Stream::from_raw(&device, std::ptr::null_mut(), Box::new(())) }.unwrap_err().to_string();
            assert!(error.contains("has no streams of other libraries") && error.contains("`device.stream()`"), "{error}");
        }
    }
}

/// A context of `cudarc` and two streams; nothing without a GPU, which is printed.
fn cudarc_or_skip(test: &str) -> Option<(Arc<CudaContext>, [Arc<CudaStream>; 2])> {
    if Device::cuda(0).is_err() {
        println!("skipped: {test}: no CUDA device");
        return None;
    }
    let context = CudaContext::new(0).unwrap();
    let streams = [(); 2].map(|()| context.new_stream().unwrap());
    println!("ran: {test}");
    Some((context, streams))
}

/// How many elements: fewer where an interpreter runs the kernels.
fn elements(on_a_gpu: usize) -> usize {
    if is_here() { on_a_gpu >> 10 } else { on_a_gpu }
}

/// All but cuBLAS, which wants a GPU.
#[test]
fn others_share_the_ptx_interpreter_too() {
    if is_here() {
        return;
    }
    let tests = [
        "contexts_and_streams_are_the_same_ones_and_stay_their_owners",
        "a_context_that_is_not_the_primary_one_is_a_device_as_long_as_somebody_has_it",
        "kernels_and_graphs_run_in_their_own_context_whichever_is_current",
        "kernels_run_on_slices_in_order_with_what_others_do_in_other_streams",
        "a_call_keeps_the_stream_it_lends_in_no_longer_than_somebody_needs_it",
        "the_per_thread_default_stream_lends_in_each_thread_s_own_order",
        "a_per_thread_default_stream_is_in_order_with_what_others_do_in_it",
        "slices_come_back_in_order_to_streams_that_the_driver_does_not_order",
        "a_thread_that_has_lent_in_its_default_stream_comes_to_its_end",
        "a_device_waits_for_default_streams_that_threads_have_lent_in",
        "modules::of_others_go_on_before_beside_and_after_kernels_of_ours",
    ];
    executed("foreign", &tests, "8.0");
}

#[test]
fn contexts_and_streams_are_the_same_ones_and_stay_their_owners() {
    let Some((context, [stream, other])) = cudarc_or_skip("contexts_and_streams_are_the_same_ones_and_stay_their_owners") else { return };
    let device = device_of(&context).unwrap();
    assert_eq!(device, Device::cuda(0).unwrap(), "both have the primary context");
    assert_eq!(device.as_raw_context(), Some(context.cu_ctx().cast()));
    let ours = stream_of(&stream).unwrap();
    assert_eq!(ours.as_raw(), Some(stream.cu_stream().cast()));
    assert_eq!(ours.device(), &device);
    let holders = Arc::strong_count(&stream);
    let again = stream_of(&stream).unwrap();
    assert_eq!(Arc::strong_count(&stream), holders, "the same stream is wrapped once");
    drop((ours, again));
    assert_eq!(Arc::strong_count(&stream), 1, "nobody has it any more");
    stream.synchronize().unwrap();
    other.synchronize().unwrap();
    // A stream of ours is one of cudarc's as long as it lives.
    let own = device.default_stream();
    // SAFETY: the device's own stream always stays.
    let theirs = unsafe { as_cudarc(&own, &context) }.unwrap();
    assert_eq!(own.as_raw(), Some(theirs.cu_stream().cast()));
    let y = theirs.clone_htod(&[1.0f32; 64]).unwrap();
    assert_eq!(theirs.clone_dtoh(&y).unwrap(), [1.0; 64]);
    let error = stream_of(&context.per_thread_stream()).unwrap_err().to_string();
    assert!(error.contains("the per-thread default stream is another one in each thread; help: pass a stream"), "{error}");
    assert_eq!(stream_of(&context.default_stream()).unwrap().as_raw(), Some(std::ptr::null_mut()));
    // SAFETY: refused.
    let error = unsafe { as_cudarc(&Device::simulator().default_stream(), &context) }.unwrap_err().to_string();
    assert!(error.contains("the stream belongs to Simulator") && error.contains("of GPU 0"), "{error}");
}

#[test]
fn a_context_that_is_not_the_primary_one_is_a_device_as_long_as_somebody_has_it() {
    let Some((primary, [stream, _])) = cudarc_or_skip("a_context_that_is_not_the_primary_one_is_a_device_as_long_as_somebody_has_it")
    else {
        return;
    };
    let context = CudaContext::new_non_primary(0, 0).unwrap();
    let device = device_of(&context).unwrap();
    assert_ne!(device, Device::cuda(0).unwrap());
    assert_eq!(device, device_of(&context).unwrap());
    let own = context.new_stream().unwrap();
    let x = own.clone_htod(&[2.0f32; 500]).unwrap();
    let mut y = own.alloc_zeros::<f32>(500).unwrap();
    with_buffers((&x, &mut y), &own, |(x, y), stream| scaled(4.0, x, y).cover(500).launch_on(stream)).unwrap();
    assert_eq!(own.clone_dtoh(&y).unwrap(), [8.0; 500]);
    // A slice of it in a stream of the primary context.
    let error = with_buffers(&x, &stream, |_, _| Ok::<(), Error>(())).unwrap_err();
    assert!(matches!(error, Error::ForeignObject { .. }), "{error:?}");
    let error = error.to_string();
    for part in ["the slice belongs to", "used on context", "of GPU 0", &format!("{:#x}", primary.cu_ctx() as usize)] {
        assert!(error.contains(part), "`{part}` is not in `{error}`");
    }
    // A buffer of the primary context in a stream of this one.
    let buffer = Device::cuda(0).unwrap().upload(&[1.0f32; 4]).unwrap();
    let error = with_slices(&buffer, &own, |_: CudaView<'_, f32>| Ok::<(), Error>(())).unwrap_err().to_string();
    assert!(error.contains("the buffer belongs to") && error.contains("used on context"), "{error}");
    let holders = Arc::strong_count(&context);
    drop((device, x, y, own));
    assert!(Arc::strong_count(&context) < holders);
    assert_eq!(Arc::strong_count(&context), 1, "nothing of it is left");
}

/// A launch binds its context only where the driver asks for it, or the stream is a default one.
#[test]
fn kernels_and_graphs_run_in_their_own_context_whichever_is_current() {
    let Some((primary, _)) = cudarc_or_skip("kernels_and_graphs_run_in_their_own_context_whichever_is_current") else { return };
    let other = CudaContext::new_non_primary(0, 0).unwrap();
    let mut each = Vec::new();
    for context in [&primary, &other] {
        let device = device_of(context).unwrap();
        // One of cudarc's, the context's default stream, and one of ours. Each has a buffer of its own: nothing waits for another stream, which would bind.
        for stream in [stream_of(&context.new_stream().unwrap()), stream_of(&context.default_stream()), device.stream()] {
            let mut buffer = device.upload(&[0.0f32; 300]).unwrap();
            let graph = device.record(&mut buffer, |steps, buffer| steps.launch(increased(1.0, buffer).cover(300)).map(|_| ())).unwrap();
            each.push((stream.unwrap(), buffer, graph));
        }
    }
    for current in [None, Some(&primary), Some(&other)] {
        let launches = || {
            if let Some(context) = current {
                context.bind_to_thread().unwrap();
            }
            for (stream, buffer, graph) in &mut each {
                (0..3).for_each(|_| increased(1.0, &mut *buffer).cover(300).launch_on(stream).unwrap());
                (0..3).for_each(|_| graph.launch_on(stream, &mut *buffer).unwrap());
            }
        };
        std::thread::scope(|scope| scope.spawn(launches).join().unwrap());
    }
    for (stream, buffer, _) in each {
        stream.synchronize().unwrap();
        assert_eq!(buffer.download().unwrap(), [18.0; 300]);
    }
}

#[test]
fn kernels_run_on_slices_in_order_with_what_others_do_in_other_streams() {
    let Some((_, [stream, other])) = cudarc_or_skip("kernels_run_on_slices_in_order_with_what_others_do_in_other_streams") else { return };
    let n = elements(1 << 22);
    let beside = device_of(stream.context()).unwrap().stream().unwrap();
    let mut x = stream.alloc_zeros::<f32>(n).unwrap();
    for round in 0..20 {
        let base = round as f32;
        // Written in one stream of cudarc's, read and written by kernels in another and in one of ours, read in the first.
        other.memcpy_htod(&vec![base; n], &mut x).unwrap();
        with_buffers(&mut x, &stream, |x, stream| {
            increased(1.0, x).cover(n).launch_on(stream)?;
            increased(2.0, x).cover(n).launch_on(&beside)?;
            increased(4.0, x).cover(n).launch_on(stream)?;
            increased(8.0, x).cover(n).launch_on(&beside)
        })
        .unwrap();
        let found = other.clone_dtoh(&x).unwrap();
        assert!(found.iter().all(|v| *v == base + 15.0), "round {round}: {:?}", found.iter().find(|v| **v != base + 15.0));
    }
    // Parts of a slice, one read and one written.
    let (from, mut to) = x.split_at_mut(n / 2);
    with_buffers((&from, &mut to), &stream, |(from, to), stream| scaled(2.0, from, to).cover(n / 2).launch_on(stream)).unwrap();
    let found = other.clone_dtoh(&x).unwrap();
    assert!(found[n / 2..].iter().all(|v| *v == 2.0 * found[0]));
    // One that begins where kernels cannot.
    let part = x.slice(1..100);
    let error = with_buffers(&part, &stream, |_, _| Ok::<(), Error>(())).unwrap_err().to_string();
    assert!(error.contains("99 elements at") && error.contains("4 bytes behind a multiple of 16"), "{error}");
    // A slice that becomes a buffer.
    let mut buffer = buffer_of(x).unwrap();
    let device = buffer.device().clone();
    increased(1.0, &mut buffer).cover(n).launch(&device).unwrap();
    assert_eq!(buffer.download().unwrap()[0], found[0] + 1.0);
}

/// So many have the stream, in the end: a test beside this one that waits for the whole device has all of its streams meanwhile.
#[track_caller]
fn is_let_go(stream: &Arc<CudaStream>, holders: usize) {
    let start = std::time::Instant::now();
    while Arc::strong_count(stream) != holders {
        assert!(start.elapsed().as_secs() < 20, "{} have it, and not {holders}", Arc::strong_count(stream));
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A thread knows the stream it lent in last, and does not keep it.
#[test]
fn a_call_keeps_the_stream_it_lends_in_no_longer_than_somebody_needs_it() {
    let Some((context, [stream, other])) = cudarc_or_skip("a_call_keeps_the_stream_it_lends_in_no_longer_than_somebody_needs_it") else {
        return;
    };
    let device = device_of(&context).unwrap();
    let mut x = stream.clone_htod(&[1.0f32; 64]).unwrap();
    // The slice has it as well.
    assert_eq!(Arc::strong_count(&stream), 2);
    let handle = |on: &Stream| on.as_raw().map(|raw| raw as usize);
    for by in [1.0, 2.0, 3.0] {
        with_buffers(&mut x, &stream, |x, on| {
            assert_eq!(handle(on), Some(stream.cu_stream() as usize));
            increased(by, x).cover(64).launch_on(on)
        })
        .unwrap();
        is_let_go(&stream, 2);
    }
    // A buffer that it worked with, and whoever took it along, need it longer; and both know the same one.
    let mut own = device.zeros::<f32>(64).unwrap();
    let kept = with_buffers(&x, &stream, |x, on| scaled(2.0, x, &mut own).cover(64).launch_on(on).map(|()| on.clone())).unwrap();
    let holders = Arc::strong_count(&stream);
    assert_eq!(holders, 3, "wrapped once");
    increased(1.0, &mut own).cover(64).launch_on(&kept).unwrap();
    with_buffers(&mut x, &stream, |x, on| increased(1.0, x).cover(64).launch_on(on)).unwrap();
    assert_eq!(Arc::strong_count(&stream), holders);
    let again = stream_of(&stream).unwrap();
    assert_eq!(Arc::strong_count(&stream), holders, "the same stream is wrapped once");
    drop((kept, again));
    assert_eq!(own.download().unwrap(), [15.0; 64]);
    drop(own);
    is_let_go(&stream, 2);
    // What others take up after that is theirs: this thread keeps it no longer than they do, and then has the same.
    with_buffers(&mut x, &stream, |x, on| increased(1.0, x).cover(64).launch_on(on)).unwrap();
    drop(stream_of(&stream).unwrap());
    is_let_go(&stream, 2);
    let theirs = std::thread::scope(|scope| scope.spawn(|| stream_of(&stream).unwrap()).join().unwrap());
    assert_eq!(Arc::strong_count(&stream), 3);
    with_buffers(&mut x, &stream, |x, on| increased(1.0, x).cover(64).launch_on(on)).unwrap();
    assert_eq!(Arc::strong_count(&stream), 3, "wrapped once");
    drop(theirs);
    is_let_go(&stream, 2);
    // Two threads that lend in turn, of which both know it.
    let (to_other, turns) = std::sync::mpsc::channel::<()>();
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let (stream, device) = (&stream, &device);
        scope.spawn(move || {
            for () in turns {
                let mut own = device.zeros::<f32>(64).unwrap();
                with_slices(&mut own, stream, |_| Ok::<(), Error>(())).unwrap();
                drop(own);
                done.send(()).unwrap();
            }
        });
        for _ in 0..3 {
            to_other.send(()).unwrap();
            is_done.recv().unwrap();
            is_let_go(stream, 2);
            with_buffers(&x, stream, |_, _| Ok::<(), Error>(())).unwrap();
            is_let_go(stream, 2);
        }
        drop(to_other);
    });
    // A stream that is gone is another by its handle, if the driver gives that once more.
    assert_eq!(stream.clone_dtoh(&x).unwrap(), [10.0; 64]);
    with_buffers(&mut x, &other, |x, on| increased(1.0, x).cover(64).launch_on(on)).unwrap();
    assert_eq!(other.clone_dtoh(&x).unwrap(), [11.0; 64]);
    drop(other);
    let mut ours: Vec<_> = (0..4).map(|_| device.stream().unwrap()).collect();
    for own in ours.drain(..) {
        // SAFETY: it lives until the loop's next turn, and what was put into it has run by then.
        let wrapped = unsafe { as_cudarc(&own, &context) }.unwrap();
        with_buffers(&mut x, &wrapped, |x, on| {
            assert_eq!(handle(on), handle(&own));
            increased(1.0, x).cover(64).launch_on(on)
        })
        .unwrap();
        own.synchronize().unwrap();
    }
    assert_eq!(stream.clone_dtoh(&x).unwrap(), [15.0; 64]);
    device.synchronize().unwrap();
}

#[test]
fn the_per_thread_default_stream_lends_in_each_thread_s_own_order() {
    if cudarc_or_skip("the_per_thread_default_stream_lends_in_each_thread_s_own_order").is_none() {
        return;
    }
    // Copies take long enough that who does not wait for them is seen.
    let n = elements(1 << 24);
    let in_one_thread = |context: &Arc<CudaContext>, salt: f32| {
        let stream = context.per_thread_stream();
        let device = device_of(context).unwrap();
        let beside = device.stream().unwrap();
        let sources = [0, 1].map(|round| stream.clone_htod(&vec![salt + round as f32; n]).unwrap());
        let (mut x, mut y) = (stream.alloc_zeros::<f32>(n).unwrap(), stream.alloc_zeros::<f32>(n).unwrap());
        let mut buffer = device.zeros::<f32>(n).unwrap();
        for round in 0..10 {
            let source = &sources[round % 2];
            let base = salt + (round % 2) as f32;
            // Slices: a copy there, kernels in the stream that was lent and in another, a copy there.
            stream.memcpy_dtod(source, &mut x).unwrap();
            with_buffers(&mut x, &stream, |x, stream| {
                increased(1.0, x).cover(n).launch_on(stream)?;
                increased(2.0, x).cover(n).launch_on(&beside)
            })
            .unwrap();
            stream.memcpy_dtod(&x, &mut y).unwrap();
            let found = stream.clone_dtoh(&y).unwrap();
            assert!(found.iter().all(|v| *v == base + 3.0), "round {round}: {:?}", found.iter().find(|v| **v != base + 3.0));
            // Buffers: the same the other way round.
            increased(1.0, &mut buffer).cover(n).launch_on(&beside).unwrap();
            with_slices(&mut buffer, &stream, |mut to| {
                stream.memcpy_dtod(source, &mut to).unwrap();
                Ok::<(), Error>(())
            })
            .unwrap();
            increased(4.0, &mut buffer).cover(n).launch_on(&beside).unwrap();
            with_slices(&buffer, &stream, |from| {
                stream.memcpy_dtod(&from, &mut y).unwrap();
                Ok::<(), Error>(())
            })
            .unwrap();
            let found = stream.clone_dtoh(&y).unwrap();
            assert!(found.iter().all(|v| *v == base + 4.0), "round {round}: {:?}", found.iter().find(|v| **v != base + 4.0));
        }
        stream.memcpy_dtod(&sources[0], &mut x).unwrap();
        let mut buffer = buffer_of(x).unwrap();
        increased(1.0, &mut buffer).cover(n).launch_on(&beside).unwrap();
        assert!(buffer.download().unwrap().iter().all(|v| *v == salt + 1.0));
    };
    // A context of one stream, where `cudarc` keeps no order, and one where it does.
    let alone = CudaContext::new(0).unwrap();
    let several = CudaContext::new(0).unwrap();
    let _other = several.new_stream().unwrap();
    assert!(!alone.is_managing_stream_synchronization() && several.is_managing_stream_synchronization());
    for context in [&alone, &several] {
        std::thread::scope(|threads| {
            let both = [10.0, 20.0].map(|salt| threads.spawn(move || in_one_thread(context, salt)));
            both.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }
}

/// What a `CUstream` stands for that the driver knows without making it.
fn default_stream(stream: &Stream) -> usize {
    stream.as_raw().unwrap() as usize
}

const LEGACY: usize = 1;
const PER_THREAD: usize = 2;

/// A per-thread default stream is the thread's own while it lends in it; for all others, and later, it is the legacy default stream, which is in order with it.
#[test]
fn a_per_thread_default_stream_is_in_order_with_what_others_do_in_it() {
    let Some((several, _)) = cudarc_or_skip("a_per_thread_default_stream_is_in_order_with_what_others_do_in_it") else { return };
    // Kernels take long enough that who does not wait for them is seen.
    let n = elements(1 << 24);
    let alone = CudaContext::new(0).unwrap();
    let elsewhere = CudaContext::new_non_primary(0, 0).unwrap();
    let device = Device::cuda(0).unwrap();
    let beside = device.stream().unwrap();
    for context in [&alone, &several] {
        let in_a_thread = |own: &mut Buffer<f32>| {
            let stream = context.per_thread_stream();
            let mut x = stream.alloc_zeros::<f32>(n).unwrap();
            // Of the other default stream of the context, which the driver keeps in order with this.
            let mut y = context.default_stream().alloc_zeros::<f32>(n).unwrap();
            let mut kept = None;
            for _ in 0..10 {
                // Whichever context is current.
                elsewhere.bind_to_thread().unwrap();
                let lent = with_buffers((&mut x, &mut y), &stream, |(x, y), on| {
                    assert_eq!(default_stream(on), PER_THREAD);
                    increased(1.0, x).cover(n).launch_on(on)?;
                    std::thread::scope(|threads| {
                        let other = || {
                            assert_eq!(default_stream(on), LEGACY);
                            increased(1.0, &mut *x).cover(n).launch_on(on).unwrap();
                            scaled(1.0, &*x, &mut *y).cover(n).launch_on(&beside).unwrap();
                        };
                        threads.spawn(other).join().unwrap();
                    });
                    increased(1.0, x).cover(n).launch_on(on)?;
                    // A call within the call.
                    let inner = context.per_thread_stream();
                    with_slices(&mut *own, &inner, |mut own| {
                        inner.memset_zeros(&mut own).unwrap();
                        Ok::<(), Error>(())
                    })?;
                    scaled(1.0, x, own).cover(n).launch_on(on)?;
                    increased(1.0, x).cover(n).launch_on(on)?;
                    on.synchronize()?;
                    increased(1.0, own).cover(n).launch_on(on)?;
                    Ok::<_, Error>(on.clone())
                });
                kept = Some(lent.unwrap());
            }
            let kept = kept.unwrap();
            assert_eq!(default_stream(&kept), LEGACY);
            let (found, others) = (stream.clone_dtoh(&x).unwrap(), stream.clone_dtoh(&y).unwrap());
            assert!(found.iter().all(|v| *v == 40.0), "{:?}", found.iter().find(|v| **v != 40.0));
            assert!(others.iter().all(|v| *v == 38.0), "{:?}", others.iter().find(|v| **v != 38.0));
            // Whoever waits for the thread's stream waits for what another has put into it.
            let passed = with_buffers(&mut x, &stream, |x, on| {
                let other = || {
                    (0..20).for_each(|_| increased(1.0, &mut *x).cover(n).launch_on(on).unwrap());
                    on.record().unwrap()
                };
                Ok::<_, Error>(std::thread::scope(|threads| threads.spawn(other).join().unwrap()))
            });
            stream.synchronize().unwrap();
            assert!(passed.unwrap().is_complete().unwrap());
            increased(1.0, own).cover(n).launch_on(&kept).unwrap();
            kept
        };
        let mut own = device.zeros::<f32>(n).unwrap();
        // The thread has ended before anybody asks for what it did.
        let kept = std::thread::scope(|threads| threads.spawn(|| in_a_thread(&mut own)).join().unwrap());
        increased(1.0, &mut own).cover(n).launch_on(&beside).unwrap();
        increased(1.0, &mut own).cover(n).launch_on(&kept).unwrap();
        let found = own.download().unwrap();
        assert!(found.iter().all(|v| *v == 43.0), "{:?}", found.iter().find(|v| **v != 43.0));
        kept.synchronize().unwrap();
        device.synchronize().unwrap();
    }
}

/// A stream of one object of `cudarc`'s for a context, default streams of another object for it, which has made no stream and so keeps no order itself; and the other way round.
#[test]
fn slices_come_back_in_order_to_streams_that_the_driver_does_not_order() {
    let Some((several, [made, _])) = cudarc_or_skip("slices_come_back_in_order_to_streams_that_the_driver_does_not_order") else { return };
    let n = elements(1 << 24);
    let alone = CudaContext::new(0).unwrap();
    let mut x = made.alloc_zeros::<f32>(n).unwrap();
    let mut expected = 0.0;
    for stream in [alone.per_thread_stream(), alone.default_stream(), several.per_thread_stream(), several.default_stream()] {
        for is_by_another in [false, true] {
            with_buffers(&mut x, &stream, |x, on| {
                let mut work = || (0..20).for_each(|_| increased(1.0, &mut *x).cover(n).launch_on(on).unwrap());
                if is_by_another {
                    // Nothing follows in the thread's own stream.
                    std::thread::scope(|threads| threads.spawn(work).join().unwrap());
                } else {
                    work();
                }
                Ok::<(), Error>(())
            })
            .unwrap();
            expected += 20.0;
            let found = made.clone_dtoh(&x).unwrap();
            assert!(found.iter().all(|v| *v == expected), "{expected}: {:?}", found.iter().find(|v| **v != expected));
        }
    }
}

/// The driver does not end a thread whose default stream still runs a kernel on a slice (580.159, on an H200).
#[test]
fn a_thread_that_has_lent_in_its_default_stream_comes_to_its_end() {
    let Some((context, _)) = cudarc_or_skip("a_thread_that_has_lent_in_its_default_stream_comes_to_its_end") else { return };
    let n = elements(1 << 24);
    let in_a_thread = || {
        let stream = context.per_thread_stream();
        let mut x = stream.alloc_zeros::<f32>(n).unwrap();
        let last = with_buffers(&mut x, &stream, |x, on| {
            (0..20).try_for_each(|_| increased(1.0, x).cover(n).launch_on(on))?;
            on.record()
        });
        (last.unwrap(), x)
    };
    let (last, x) = std::thread::scope(|threads| threads.spawn(in_a_thread).join().unwrap());
    assert!(last.is_complete().unwrap(), "it waited before it ended");
    assert!(context.default_stream().clone_dtoh(&x).unwrap().iter().all(|v| *v == 20.0));
}

/// Of threads that lend no more, and have not ended.
#[test]
fn a_device_waits_for_default_streams_that_threads_have_lent_in() {
    let Some((context, _)) = cudarc_or_skip("a_device_waits_for_default_streams_that_threads_have_lent_in") else { return };
    let n = elements(1 << 24);
    let ((lends_no_more, has_lent), (is_waited_for, may_end)) = (std::sync::mpsc::channel(), std::sync::mpsc::channel::<()>());
    let in_a_thread = move || {
        let stream = context.per_thread_stream();
        let mut x = stream.alloc_zeros::<f32>(n).unwrap();
        let last = with_buffers(&mut x, &stream, |x, on| {
            (0..20).try_for_each(|_| increased(1.0, x).cover(n).launch_on(on))?;
            on.record()
        });
        lends_no_more.send(last.unwrap()).unwrap();
        may_end.recv().unwrap();
    };
    std::thread::scope(|threads| {
        threads.spawn(in_a_thread);
        let last = has_lent.recv().unwrap();
        Device::cuda(0).unwrap().synchronize().unwrap();
        assert!(last.is_complete().unwrap());
        is_waited_for.send(()).unwrap();
    });
}

#[test]
fn buffers_are_slices_of_cublas_between_kernels() {
    let Some((_, [stream, _])) = cudarc_or_skip("buffers_are_slices_of_cublas_between_kernels") else { return };
    if !std::panic::catch_unwind(|| CudaBlas::new(Arc::clone(&stream))).is_ok_and(|blas| blas.is_ok()) {
        println!("skipped: buffers_are_slices_of_cublas_between_kernels: no cuBLAS");
        return;
    }
    let blas = CudaBlas::new(Arc::clone(&stream)).unwrap();
    let device = device_of(stream.context()).unwrap();
    const N: usize = 300;
    let matrix: Vec<f32> = (0..N * N).map(|i| ((i * 7919) % 13) as f32).collect();
    let x: Vec<f32> = (0..N).map(|i| (i % 5) as f32).collect();
    let (a, x_there) = (device.upload(&matrix).unwrap(), device.upload(&x).unwrap());
    let (mut y, mut z) = (device.zeros::<f32>(N).unwrap(), device.zeros::<f32>(N).unwrap());
    let config = GemvConfig {
        trans: cublasOperation_t::CUBLAS_OP_T,
        m: N as i32,
        n: N as i32,
        alpha: 1.0f32,
        lda: N as i32,
        incx: 1,
        beta: 0.0f32,
        incy: 1,
    };
    let product = |a: &Buffer<f32>, x: &Buffer<f32>, y: &mut Buffer<f32>| {
        with_slices((a, x, y), &stream, |(a, x, mut y)| {
            // SAFETY: N × N elements times N, into N.
            unsafe { blas.gemv(config, &a, &x, &mut y) }.map_err(|error| Error::Driver {
                call: "gemv".into(),
                code: error.to_string(),
                context: String::new(),
            })
        })
        .unwrap();
    };
    // cuBLAS, a kernel of ours in the device's own stream, cuBLAS.
    product(&a, &x_there, &mut y);
    increased(1.0, &mut y).cover(N).launch(&device).unwrap();
    product(&a, &y, &mut z);
    let times = |v: &[f64]| (0..N).map(|r| (0..N).map(|c| f64::from(matrix[r * N + c]) * v[c]).sum()).collect::<Vec<f64>>();
    let first: Vec<f64> = times(&x.iter().map(|v| f64::from(*v)).collect::<Vec<_>>()).iter().map(|v| v + 1.0).collect();
    let second = times(&first);
    for (found, expected) in z.download().unwrap().iter().zip(second) {
        // Sums of 300 products of whole numbers, rounded where they need more than 24 bits.
        assert!((f64::from(*found) - expected).abs() <= expected * 300.0 * f64::from(f32::EPSILON), "{found} {expected}");
    }
}

/// Says to a program that it is the one whose collectives do not end, and lends or not.
const ENDLESS: &str = "WARPWRIGHT_TEST_ENDLESS";

/// In a program of its own, whose events never happen: a collective is given up there when its time is over.
#[test]
fn role_of_a_program_whose_collective_fails() {
    let Ok(role) = std::env::var(ENDLESS) else { return };
    let limit = Duration::from_millis(500);
    let gpu = Device::cuda(0).unwrap();
    let rank = Communicator::join(&gpu, 0, 1, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), limit).unwrap();
    let context = CudaContext::new(0).unwrap();
    let [stream, _other] = [context.new_stream().unwrap(), context.new_stream().unwrap()];
    let told = |what: &str, outcome: Result<(), Error>| {
        let error = outcome.map_err(|error| error.to_string()).expect_err(what);
        assert!(error.starts_with("all_reduce(Sum) of 64 `f32` on rank 0 of 1") && error.contains("has not ended"), "{what}: {error}");
    };
    let streams: Vec<Arc<CudaStream>> = vec![stream, context.default_stream(), context.per_thread_stream()];
    let of_each = if role == "lent" { &streams[..] } else { &streams[..1] };
    for stream in of_each {
        let rank = Communicator::join(&gpu, 0, 1, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), limit).unwrap();
        let holders = Arc::strong_count(stream);
        let mut x = stream.clone_htod(&[1.0f32; 64]).unwrap();
        with_buffers(&mut x, stream, |x, on| rank.all_reduce(x, Reduction::Sum).on(on).launch()).unwrap();
        // Another stream is lent in meanwhile: the thread knows the first one no more.
        let y = streams[0].clone_htod(&[1.0f32; 64]).unwrap();
        with_buffers(&y, &streams[0], |_, _| Ok::<(), Error>(())).unwrap();
        std::thread::sleep(2 * limit);
        // Only who waits by our means is told, once.
        stream.synchronize().unwrap();
        if stream.cu_stream() as u64 <= 2 {
            told("the device", gpu.synchronize());
        } else {
            told("the next call", with_buffers(&mut x, stream, |_, _| Ok(())));
            with_buffers(&mut x, stream, |_, _| Ok::<(), Error>(())).unwrap();
            let _ = gpu.synchronize();
        }
        gpu.synchronize().unwrap();
        drop((x, y));
        assert!(Arc::strong_count(stream) <= holders + 1, "{} holders", Arc::strong_count(stream));
    }
    if role == "lent" {
        return;
    }
    let mut x = gpu.upload(&[1.0f32; 64]).unwrap();
    let own = gpu.stream().unwrap();
    rank.all_reduce(&mut x, Reduction::Sum).on(&own).launch().unwrap();
    let event = own.record().unwrap();
    let mut pinned = gpu.pinned::<f32>(64).unwrap();
    x.read_async(&mut pinned, &own).unwrap();
    std::thread::sleep(2 * limit);
    told("an event", event.synchronize());
    told("page-locked memory", pinned.as_slice().map(|_| ()));
    told("slices", with_slices(&x, &streams[0], |_: CudaView<'_, f32>| Ok(())));
    told("a download", x.download().map(|_| ()));
    told("the stream", own.synchronize());
    own.synchronize().unwrap();
}

#[test]
fn a_collective_that_fails_is_told_to_whoever_uses_what_it_wrote() {
    if !warpwright_tests::ptx_interpreter::IS_POSSIBLE {
        println!("skipped: a_collective_that_fails_is_told_to_whoever_uses_what_it_wrote (no PTX interpreter: this is not Linux)");
        return;
    }
    for role in ["lent", "own"] {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["role_of_a_program_whose_collective_fails", "--exact", "--nocapture"]);
        warpwright_tests::ptx_interpreter::put_before(&mut command, "9.0", 2);
        let output = command.env(ENDLESS, role).env("PTX_INTERPRETER_FAILS", "cuEventQuery=600").output().unwrap();
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(output.status.success() && said.contains("1 passed"), "{role}: {said}");
    }
}
