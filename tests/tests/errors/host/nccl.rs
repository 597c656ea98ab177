//! What is said of ranks on GPUs: each example has a child of its own, with stand-ins for the driver and for NCCL. They do what the line `where` says.

use std::time::Duration;
use warpwright::prelude::*;
use warpwright::{Communicator, Reduction, Rendezvous};

/// Shorter than anybody has to wait.
const LIMIT: Duration = Duration::from_millis(100);

super::examples! {
    /// An NCCL that is too old
    fn old_nccl(_device) {
        // where LACKS=ncclSend
        Communicator::join(&Device::cuda(0)?, 0, 1, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), LIMIT).map(drop)
    }

    /// A call of NCCL's that fails
    fn failed_call(_device) {
        // where ncclCommInitRank=2
        Communicator::join(&Device::cuda(0)?, 0, 1, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), LIMIT).map(drop)
    }

    /// A file that is there already
    fn file_is_there(_device) {
        Communicator::join(&Device::cuda(0)?, 0, 2, &Rendezvous::File("Cargo.toml".into()), LIMIT).map(drop)
    }

    /// A file that is not rank 0's
    fn other_file(_device) {
        Communicator::join(&Device::cuda(0)?, 1, 2, &Rendezvous::File("Cargo.toml".into()), LIMIT).map(drop)
    }

    /// A file that nobody has written
    fn no_file(_device) {
        Communicator::join(&Device::cuda(0)?, 1, 2, &Rendezvous::File("group".into()), LIMIT).map(drop)
    }

    /// Rank 0 alone
    fn rank_alone(_device) {
        Communicator::join(&Device::cuda(0)?, 0, 2, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), LIMIT).map(drop)
    }

    /// Nobody at the address
    fn nobody(_device) {
        Communicator::join(&Device::cuda(0)?, 1, 2, &Rendezvous::Tcp("127.0.0.1:1".to_owned()), LIMIT).map(drop)
    }

    /// Ranks that NCCL waits for
    fn too_few(_device) {
        // where ncclCommInitRank=hang
        Communicator::join(&Device::cuda(0)?, 0, 1, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), LIMIT).map(drop)
    }

    /// No room for a thread
    fn no_thread(_device) {
        // where RUST_MIN_STACK=1152921504606846976, RUST_TEST_THREADS=1
        Communicator::join(&Device::cuda(0)?, 0, 1, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), LIMIT).map(drop)
    }

    /// A collective that does not end
    fn endless(_device) {
        // where cuEventQuery=600
        let gpu = Device::cuda(0)?;
        let rank = Communicator::join(&gpu, 0, 1, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), 10 * LIMIT)?;
        let mut x = gpu.zeros::<f32>(64)?;
        rank.all_reduce(&mut x, Reduction::Sum).launch()?;
        std::thread::sleep(15 * LIMIT);
        gpu.synchronize()
    }

    /// A collective behind one that did not end
    fn behind_it(_device) {
        // where cuEventQuery=600
        let gpu = Device::cuda(0)?;
        let rank = Communicator::join(&gpu, 0, 1, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), LIMIT)?;
        let mut x = gpu.zeros::<f32>(64)?;
        let _ = rank.all_reduce(&mut x, Reduction::Sum).launch();
        std::thread::sleep(10 * LIMIT);
        rank.all_reduce(&mut x, Reduction::Sum).launch()
    }

    /// A rank whose program has ended
    fn ended(_device) {
        // where ncclAllReduce=6
        let gpu = Device::cuda(0)?;
        let rank = Communicator::join(&gpu, 0, 1, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), 100 * LIMIT)?;
        let mut x = gpu.zeros::<f32>(64)?;
        rank.all_reduce(&mut x, Reduction::Sum).launch()
    }

    /// A rank that is lost meanwhile
    fn lost(_device) {
        // where cuEventQuery=600, asynchronous=6
        let gpu = Device::cuda(0)?;
        let rank = Communicator::join(&gpu, 0, 1, &Rendezvous::Tcp("127.0.0.1:0".to_owned()), 100 * LIMIT)?;
        let mut x = gpu.zeros::<f32>(64)?;
        let _ = rank.all_reduce(&mut x, Reduction::Sum).launch();
        std::thread::sleep(10 * LIMIT);
        rank.all_reduce(&mut x, Reduction::Sum).launch()
    }
}
