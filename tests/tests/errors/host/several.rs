//! Several launches, devices, ranks: what is timed, recorded, spread, and done together.

use std::time::Duration;
use warpwright::prelude::*;
use warpwright::{Communicator, Graph, Reduction, Rendezvous, Sharded, launch_sharded, launch_together};

#[kernel(block = 64)]
pub fn doubled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

super::examples! {
    /// No runs to time
    fn no_runs(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        device.time(0, |run| run.launch(doubled(&x, &mut y).cover(64))).map(drop)
    }

    /// A launch that the clock does not see
    fn unseen_launch(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        device.time(3, |_| doubled(&x, &mut y).cover(64).launch(device)).map(drop)
    }

    /// A buffer that a graph was not given
    fn not_given(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        let graph: warpwright::Result<Graph> = device.record(&mut y, |steps, y| steps.launch(doubled(&x, y).cover(64)).map(drop));
        graph.map(drop)
    }

    /// A buffer that a graph is given twice
    fn given_twice(device) {
        let x = device.zeros::<f32>(64)?;
        let graph: warpwright::Result<Graph> = device.record((&x, &x), |_, _| Ok(()));
        graph.map(drop)
    }

    /// A graph that is replayed with fewer buffers
    fn fewer_buffers(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        let graph: warpwright::Result<Graph> = device.record((&x, &mut y), |steps, (x, y)| steps.launch(doubled(x, y).cover(64)).map(drop));
        graph?.launch(&mut y)
    }

    /// A graph that is replayed with a buffer of other elements
    fn other_elements(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        let graph: warpwright::Result<Graph> = device.record((&x, &mut y), |steps, (x, y)| steps.launch(doubled(x, y).cover(64)).map(drop));
        graph?.launch((&device.zeros::<u32>(64)?, &mut y))
    }

    /// A graph that is replayed with a buffer of another length
    fn other_size(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        let graph: warpwright::Result<Graph> = device.record((&x, &mut y), |steps, (x, y)| steps.launch(doubled(x, y).cover(64)).map(drop));
        graph?.launch((&device.zeros::<f32>(100)?, &mut y))
    }

    /// A matrix over no device
    fn no_device(device) {
        device.synchronize()?;
        Sharded::scatter(&[], &[1.0f32; 8], 4, 0).map(drop)
    }

    /// Elements that are no whole rows
    fn no_whole_rows(device) {
        Sharded::scatter(std::slice::from_ref(device), &[1.0f32; 9], 4, 0).map(drop)
    }

    /// A halo that is wider than a device's rows
    fn wide_halo(device) {
        device.synchronize()?;
        Sharded::<f32>::zeros(&Device::simulators(3), 8, 4, 3).map(drop)
    }

    /// Matrices of one launch that are spread differently
    fn other_spread(device) {
        device.synchronize()?;
        let devices = Device::simulators(3);
        let (x, mut y) = (Sharded::<f32>::zeros(&devices, 9, 4, 0)?, Sharded::<f32>::zeros(&devices[..2], 9, 4, 0)?);
        launch_sharded((&x, &mut y), |_, (x, y)| Ok(doubled(x, y).cover(36)))
    }

    /// A communicator of no device
    fn no_rank(device) {
        device.synchronize()?;
        Communicator::all(&[], Duration::from_secs(10)).map(drop)
    }

    /// A device that is to be two ranks
    fn one_device_twice(device) {
        Communicator::all(&[device.clone(), device.clone()], Duration::from_secs(10)).map(drop)
    }

    /// Ranks that do not agree on the size
    fn ranks_disagree(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let (mut a, mut b) = (devices[0].zeros::<f32>(10)?, devices[1].zeros::<f32>(12)?);
        let mut ranks = Communicator::all(&devices, Duration::from_secs(10))?;
        let [first, second] = &mut ranks[..] else { return Ok(()) };
        launch_together([first.all_reduce(&mut a, Reduction::Sum), second.all_reduce(&mut b, Reduction::Sum)])
    }

    /// A rank that there is not
    fn no_such_rank(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let mut a = devices[0].zeros::<f32>(10)?;
        let ranks = Communicator::all(&devices, Duration::from_secs(10))?;
        ranks[0].broadcast(&mut a, 7).launch()
    }

    /// Ranks of several programs where there is no GPU
    fn no_gpu_to_join(device) {
        let meeting = Rendezvous::Tcp("127.0.0.1:4000".to_owned());
        Communicator::join(device, 0, 2, &meeting, Duration::from_secs(10)).map(drop)
    }
}
