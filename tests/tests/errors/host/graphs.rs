//! Graphs: what they are recorded with, replayed with, and what their steps are replaced by.

use super::several::doubled;
use warpwright::Graph;
use warpwright::prelude::*;

#[kernel(block = 64)]
pub fn tripled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 3.0 * x[i];
    }
}

super::examples! {
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

    /// A buffer that is to be cleared, and was not given
    fn cleared_without(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        let graph: warpwright::Result<Graph> = device.record(&x, |steps, _| steps.clear(&mut y).map(drop));
        graph.map(drop)
    }

    /// A buffer that is to be copied to, and was not given
    fn copied_to_without(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        let graph: warpwright::Result<Graph> = device.record(&x, |steps, x| steps.copy(&mut y, x).map(drop));
        graph.map(drop)
    }

    /// A buffer that is to be copied, and was not given
    fn copied_from_without(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        let graph: warpwright::Result<Graph> = device.record(&mut y, |steps, y| steps.copy(y, &x).map(drop));
        graph.map(drop)
    }

    /// A buffer of another device
    fn of_another_device(device) {
        let x = Device::host().zeros::<f32>(64)?;
        let graph: warpwright::Result<Graph> = device.record(&x, |_, _| Ok(()));
        graph.map(drop)
    }

    /// A graph that is replayed in a stream of another device
    fn stream_of_another_device(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        let graph: warpwright::Result<Graph> = device.record((&x, &mut y), |steps, (x, y)| steps.launch(doubled(x, y).cover(64)).map(drop));
        graph?.launch_on(&Device::host().default_stream(), (&x, &mut y))
    }

    /// A buffer to read where the graph writes one
    fn read_for_written(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        let graph: warpwright::Result<Graph> = device.record((&x, &mut y), |steps, (x, y)| steps.launch(doubled(x, y).cover(64)).map(drop));
        graph?.launch((&x, &device.zeros::<f32>(64)?))
    }

    /// A copy that is to become a launch
    fn copy_replaced(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        let mut step = None;
        let graph: warpwright::Result<Graph> = device.record((&x, &mut y), |steps, (x, y)| {
            step = Some(steps.copy(y, x)?);
            Ok(())
        });
        let mut graph = graph?;
        step.map_or(Ok(()), |step| graph.replace(step, doubled(&x, &mut y).cover(64)))
    }

    /// A launch that is to become one of another kernel
    fn other_kernel(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        let mut step = None;
        let graph: warpwright::Result<Graph> = device.record((&x, &mut y), |steps, (x, y)| {
            step = Some(steps.launch(doubled(x, y).cover(64))?);
            Ok(())
        });
        let mut graph = graph?;
        step.map_or(Ok(()), |step| graph.replace(step, tripled(&x, &mut y).cover(64)))
    }

    /// A launch that is to become one with other buffers
    fn other_buffers(device) {
        let (x, mut y, mut z) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        let mut step = None;
        let graph: warpwright::Result<Graph> = device.record((&x, &mut y, &mut z), |steps, (x, y, _)| {
            step = Some(steps.launch(doubled(x, y).cover(64))?);
            Ok(())
        });
        let mut graph = graph?;
        step.map_or(Ok(()), |step| graph.replace(step, doubled(&x, &mut z).cover(64)))
    }
}
