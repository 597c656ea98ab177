//! Communicators and what their ranks do together.

use std::time::Duration;
use warpwright::prelude::*;
use warpwright::{Communicator, Reduction, Rendezvous, launch_together};

/// A limit that nothing here comes near.
const LIMIT: Duration = Duration::from_secs(10);

super::examples! {
    /// A communicator of no device
    fn no_rank(device) {
        device.synchronize()?;
        Communicator::all(&[], LIMIT).map(drop)
    }

    /// A device that is to be two ranks
    fn one_device_twice(device) {
        Communicator::all(&[device.clone(), device.clone()], LIMIT).map(drop)
    }

    /// Ranks that do not agree on the size
    fn ranks_disagree(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let (mut a, mut b) = (devices[0].zeros::<f32>(10)?, devices[1].zeros::<f32>(12)?);
        let mut ranks = Communicator::all(&devices, LIMIT)?;
        let [first, second] = &mut ranks[..] else { return Ok(()) };
        launch_together([first.all_reduce(&mut a, Reduction::Sum), second.all_reduce(&mut b, Reduction::Sum)])
    }

    /// A part that a buffer does not have
    fn no_such_part(device) {
        let ranks = Communicator::all(std::slice::from_ref(device), LIMIT)?;
        let mut x = device.zeros::<f32>(10)?;
        ranks[0].all_reduce(x.range_mut(8..12)?, Reduction::Sum).launch()
    }

    /// A rank that there is not
    fn no_such_rank(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let mut a = devices[0].zeros::<f32>(10)?;
        let ranks = Communicator::all(&devices, LIMIT)?;
        ranks[0].broadcast(&mut a, 7).launch()
    }

    /// Ranks of several programs where there is no GPU
    fn no_gpu_to_join(device) {
        let meeting = Rendezvous::Tcp("127.0.0.1:4000".to_owned());
        Communicator::join(device, 0, 2, &meeting, LIMIT).map(drop)
    }

    /// A rank that there is not, of several programs
    fn no_such_rank_to_join(device) {
        let meeting = Rendezvous::Tcp("127.0.0.1:4000".to_owned());
        Communicator::join(device, 2, 2, &meeting, LIMIT).map(drop)
    }

    /// A buffer that has no room for the parts of all ranks
    fn no_room_for_all(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let (a, mut all) = (devices[0].zeros::<f32>(10)?, devices[0].zeros::<f32>(10)?);
        Communicator::all(&devices, LIMIT)?[0].all_gather(&a, &mut all).launch()
    }

    /// A rank that sends to itself
    fn sent_to_itself(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let a = devices[1].zeros::<f32>(10)?;
        Communicator::all(&devices, LIMIT)?[1].send(&a, 1).launch()
    }

    /// A buffer of another rank's device
    fn buffer_of_another_rank(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let mut a = devices[1].zeros::<f32>(10)?;
        Communicator::all(&devices, LIMIT)?[0].all_reduce(&mut a, Reduction::Sum).launch()
    }

    /// A stream of another rank's device
    fn stream_of_another_rank(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let mut a = devices[0].zeros::<f32>(10)?;
        let stream = devices[1].default_stream();
        Communicator::all(&devices, LIMIT)?[0].all_reduce(&mut a, Reduction::Sum).on(&stream).launch()
    }

    /// Collectives of two groups, launched as one
    fn two_groups(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let (mut a, mut b) = (devices[0].zeros::<f32>(10)?, devices[1].zeros::<f32>(10)?);
        let (one, other) = (Communicator::all(&devices[..1], LIMIT)?, Communicator::all(&devices[1..], LIMIT)?);
        launch_together([one[0].all_reduce(&mut a, Reduction::Sum), other[0].all_reduce(&mut b, Reduction::Sum)])
    }

    /// A send that nobody receives
    fn nobody_receives(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let a = devices[0].zeros::<f32>(10)?;
        Communicator::all(&devices, Duration::from_millis(10))?[0].send(&a, 1).launch()
    }

    /// Two ranks that both send
    fn both_send(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let (a, b) = (devices[0].zeros::<f32>(10)?, devices[1].zeros::<f32>(10)?);
        let ranks = Communicator::all(&devices, Duration::from_millis(10))?;
        launch_together([ranks[0].send(&a, 1), ranks[1].send(&b, 0)])
    }

    /// A rank that never comes
    fn never_came(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let mut a = devices[0].zeros::<f32>(10)?;
        Communicator::all(&devices, Duration::from_millis(10))?[0].all_reduce(&mut a, Reduction::Sum).launch()
    }

    /// A receive of fewer elements than are sent
    fn fewer_received(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let (mut a, b) = (devices[0].zeros::<f32>(10)?, devices[1].zeros::<f32>(12)?);
        let ranks = Communicator::all(&devices, LIMIT)?;
        launch_together([ranks[0].receive(&mut a, 1), ranks[1].send(&b, 0)])
    }

    /// Anything after a rank did not come
    fn after_one_never_came(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let mut a = devices[0].zeros::<f32>(10)?;
        let ranks = Communicator::all(&devices, Duration::from_millis(10))?;
        let _never_came = ranks[0].all_reduce(&mut a, Reduction::Sum).launch();
        ranks[0].all_reduce(&mut a, Reduction::Sum).launch()
    }
}
