//! Collectives: what several devices do together with buffers of each.
//!
//! GPUs do it by NCCL (`nccl`), which is loaded when it is first asked for; simulators and host twins of one program by copying (`in_process`), so that what is
//! meant for several GPUs runs without one. `meeting` lets the ranks of several programs find each other, `watch` sees to it that a rank that is lost is an error, and `ledger` that ranks of one program that do not agree
//! are one at once.

mod agreement;
mod in_process;
mod ledger;
mod meeting;
mod nccl;
mod reduction;
mod watch;

use crate::buffer::Allocation;
use crate::buffer_range::{BufferRange, BufferRangeMut};
use crate::device::{Device, DeviceKind};
use crate::error::{Error, Result};
use crate::stream::{Stream, StreamCore};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use meeting::Rendezvous;
use reduction::DataType;
pub use reduction::{Reducible, Reduction};

/// What one rank takes part in collectives with: one of as many communicators, each of a device of its own.
///
/// ```text
/// let ranks = Communicator::all(&Device::gpus(), Duration::from_secs(60))?;
/// launch_together(ranks.iter().zip(&mut gradients).map(|(rank, gradient)| rank.all_reduce(gradient, Reduction::Sum)))?;
/// ```
///
/// A collective that has not ended within the time limit of its launch, with what is ahead of it in its stream, because a rank is lost, never came, or calls another one, is an error: of the call, or of whoever waits for its stream next. The communicator is of no use then, and says so.
pub struct Communicator {
    device: Device,
    rank: usize,
    ranks: usize,
    limit: Duration,
    /// Whether ranks tell each other what they launch before they do.
    is_checked: bool,
    way: Way,
}

/// How ranks reach each other.
enum Way {
    Nccl(nccl::Rank),
    InProcess(Arc<in_process::World>),
}

/// The kinds of collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    AllReduce(Reduction),
    AllGather,
    ReduceScatter(Reduction),
    /// On this rank.
    Reduce(Reduction, usize),
    /// From this rank.
    Broadcast(usize),
    /// To this rank.
    Send(usize),
    /// From this rank.
    Receive(usize),
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::AllReduce(_) => "all_reduce",
            Kind::AllGather => "all_gather",
            Kind::ReduceScatter(_) => "reduce_scatter",
            Kind::Reduce(..) => "reduce",
            Kind::Broadcast(_) => "broadcast",
            Kind::Send(_) => "send",
            Kind::Receive(_) => "receive",
        }
    }

    /// The rank it names.
    fn peer(self) -> Option<usize> {
        match self {
            Kind::Reduce(_, rank) | Kind::Broadcast(rank) | Kind::Send(rank) | Kind::Receive(rank) => Some(rank),
            Kind::AllReduce(_) | Kind::AllGather | Kind::ReduceScatter(_) => None,
        }
    }

    /// Whether it is between two ranks, and not of all.
    fn is_of_two(self) -> bool {
        matches!(self, Kind::Send(_) | Kind::Receive(_))
    }
}

/// What is done, without the memory it is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Task {
    kind: Kind,
    ty: DataType,
    /// Elements: of what is reduced, broadcast, sent or received; of one rank's part of what is gathered or scattered.
    count: usize,
}

impl fmt::Display for Task {
    /// `all_reduce(Sum) of 1000 f32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.name())?;
        match self.kind {
            Kind::AllReduce(by) | Kind::ReduceScatter(by) => write!(f, "({by:?})")?,
            Kind::Reduce(by, rank) => write!(f, "({by:?})").and_then(|()| write!(f, " to rank {rank}"))?,
            Kind::Broadcast(rank) | Kind::Receive(rank) => write!(f, " from rank {rank}")?,
            Kind::Send(rank) => write!(f, " to rank {rank}")?,
            Kind::AllGather => {}
        }
        write!(f, " of {} `{}`", self.count, self.ty.name())
    }
}

/// What is said of two ranks that do not launch the same.
fn disagreement(one: usize, task: impl fmt::Display, other: usize, others: impl fmt::Display) -> String {
    format!("ranks do not agree: rank {one} launches {task}, rank {other} {others}; help: all ranks launch the same, with as many elements")
}

/// Elements of a buffer: its memory, and at which of its bytes they begin.
type Place<'b> = (&'b Allocation, usize);

/// The address of the first, or none.
fn address(place: Option<Place<'_>>) -> u64 {
    place.map_or(0, |(allocation, at)| allocation.handle() + at as u64)
}

/// One rank's part of a collective. It does nothing until it is launched: alone, where other ranks launch theirs in other threads or programs, or by [`launch_together`].
#[must_use = "a collective does nothing until `.launch()`, or `launch_together`"]
pub struct CollectiveLaunch<'b> {
    communicator: &'b Communicator,
    stream: Option<&'b Stream>,
    task: Task,
    /// What fits not, to be told when it is launched.
    misfit: Option<String>,
    /// What is read: also where it is the same as what is written.
    from: Option<Place<'b>>,
    to: Option<Place<'b>>,
}

impl Communicator {
    /// A communicator for each of some devices of this program, in their order: GPUs, each once; or simulators and host twins.
    ///
    /// # Errors
    /// [`Error::NoDriver`] if the devices are GPUs and NCCL cannot be loaded; [`Error::Collective`] if there is no device, if one is there twice, if they are of different kinds, or if NCCL takes longer than `limit`; [`Error::Driver`] if it fails; [`Error::Unsupported`] on OpenCL.
    pub fn all(devices: &[Device], limit: Duration) -> Result<Vec<Communicator>> {
        let refuse = |reason: String| Err(Error::Collective { reason });
        let Some(first) = devices.first() else {
            return refuse(
                "a communicator of no device; help: pass `Device::gpus()`, or `Device::simulators(2)` where there is none".to_owned(),
            );
        };
        for (index, device) in devices.iter().enumerate() {
            if devices[..index].contains(device) {
                return refuse(format!("{device} is to be two ranks of a communicator; help: pass each device once"));
            }
            let is_gpu = |device: &Device| device.kind() == DeviceKind::Cuda;
            if is_gpu(device) != is_gpu(first) {
                return refuse(format!("{first} and {device} are to be ranks of one communicator; help: pass GPUs, or simulators"));
            }
        }
        let ranks = devices.len();
        let ways: Vec<Way> = if first.kind() == DeviceKind::Cuda {
            // NCCL may have one GPU read the buffers of another.
            for (index, device) in devices.iter().enumerate() {
                devices[..index].iter().try_for_each(|peer| device.driver().connect(peer.driver()).map(|_| ()))?;
            }
            nccl::all(devices, limit)?.into_iter().map(Way::Nccl).collect()
        } else {
            devices.iter().try_for_each(in_process::check)?;
            let world = Arc::new(in_process::World::new(ranks));
            devices.iter().map(|_| Way::InProcess(Arc::clone(&world))).collect()
        };
        let make = |(rank, (device, way)): (usize, (&Device, Way))| Communicator {
            device: device.clone(),
            rank,
            ranks,
            limit,
            is_checked: false,
            way,
        };
        Ok(devices.iter().zip(ways).enumerate().map(make).collect())
    }

    /// The communicator of one rank of `ranks`, each in a program or thread of its own with a GPU of its own, that find each other at a [`Rendezvous`].
    ///
    /// # Errors
    /// [`Error::NoDriver`] if NCCL cannot be loaded; [`Error::Collective`] if there is no such rank, or if not all have come within `limit`; [`Error::Driver`] if NCCL fails; [`Error::Unsupported`] if the device is no GPU of the CUDA driver.
    pub fn join(device: &Device, rank: usize, ranks: usize, meeting: &Rendezvous, limit: Duration) -> Result<Communicator> {
        if rank >= ranks {
            let reason = format!("there is no rank {rank} of {ranks}: they are counted from 0; give one below {ranks}");
            return Err(Error::Collective { reason });
        }
        if device.kind() != DeviceKind::Cuda {
            let what =
                "cannot be a rank beside those of other programs; help: `Communicator::all(&Device::simulators(2), …)` has several in one";
            return Err(Error::Unsupported { device: device.to_string(), what: what.to_owned() });
        }
        let way = Way::Nccl(nccl::join(device, rank, ranks, meeting, limit)?);
        Ok(Communicator { device: device.clone(), rank, ranks, limit, is_checked: false, way })
    }

    /// Lets collectives that are launched from now on take so long at most: less than making the communicator takes, as a rule, for the first one makes connections.
    pub fn set_time_limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Has the ranks tell each other what they launch before they do, and wait for that: ranks of several programs that do not agree, on sizes, say, are an error at once that names both, where otherwise the time limit
    /// passes, or results are wrong. For looking for mistakes: it costs several times what a small collective does. All ranks must have it.
    pub fn check_agreement(&mut self, is_checked: bool) {
        self.is_checked = is_checked;
    }

    /// Which of the ranks it is, from 0 on.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many there are.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Replaces the elements of a buffer, on every rank, by those of all ranks taken together. Here and below a buffer may be a [part](crate::Buffer::range_mut) of one.
    pub fn all_reduce<'b, T: Reducible>(&'b self, buffer: impl Into<BufferRangeMut<'b, T>>, by: Reduction) -> CollectiveLaunch<'b> {
        let buffer = buffer.into();
        let (count, place) = (buffer.len(), buffer.place());
        self.collective::<T>(Kind::AllReduce(by), count, Some(place), Some(place), None)
    }

    /// Replaces the elements of a buffer on rank `root` by those of all ranks taken together. The buffers of the others stay as they are.
    pub fn reduce<'b, T: Reducible>(
        &'b self,
        buffer: impl Into<BufferRangeMut<'b, T>>,
        by: Reduction,
        root: usize,
    ) -> CollectiveLaunch<'b> {
        let buffer = buffer.into();
        let (count, place) = (buffer.len(), buffer.place());
        self.collective::<T>(Kind::Reduce(by, root), count, Some(place), (root == self.rank).then_some(place), None)
    }

    /// Puts the elements of all ranks one after the other, on every rank: `to` has as many elements as `from` times the number of ranks.
    pub fn all_gather<'b, T: Reducible>(
        &'b self,
        from: impl Into<BufferRange<'b, T>>,
        to: impl Into<BufferRangeMut<'b, T>>,
    ) -> CollectiveLaunch<'b> {
        let (from, to) = (from.into(), to.into());
        let (count, misfit) = (from.len(), self.misfit("to", to.len(), "from", from.len()));
        self.collective::<T>(Kind::AllGather, count, Some(from.place()), Some(to.place()), misfit)
    }

    /// Takes the elements of all ranks together and gives each rank its part: `from` has as many elements as `to` times the number of ranks.
    pub fn reduce_scatter<'b, T: Reducible>(
        &'b self,
        from: impl Into<BufferRange<'b, T>>,
        to: impl Into<BufferRangeMut<'b, T>>,
        by: Reduction,
    ) -> CollectiveLaunch<'b> {
        let (from, to) = (from.into(), to.into());
        let (count, misfit) = (to.len(), self.misfit("from", from.len(), "to", to.len()));
        self.collective::<T>(Kind::ReduceScatter(by), count, Some(from.place()), Some(to.place()), misfit)
    }

    /// Replaces the elements of a buffer, on every rank, by those of rank `root`.
    pub fn broadcast<'b, T: Reducible>(&'b self, buffer: impl Into<BufferRangeMut<'b, T>>, root: usize) -> CollectiveLaunch<'b> {
        let buffer = buffer.into();
        let (count, place) = (buffer.len(), buffer.place());
        self.collective::<T>(Kind::Broadcast(root), count, Some(place), Some(place), None)
    }

    /// Sends the elements of a buffer to another rank, which [receives](Communicator::receive) as many.
    pub fn send<'b, T: Reducible>(&'b self, buffer: impl Into<BufferRange<'b, T>>, to: usize) -> CollectiveLaunch<'b> {
        let buffer = buffer.into();
        self.collective::<T>(Kind::Send(to), buffer.len(), Some(buffer.place()), None, None)
    }

    /// Replaces the elements of a buffer by those that another rank [sends](Communicator::send).
    pub fn receive<'b, T: Reducible>(&'b self, buffer: impl Into<BufferRangeMut<'b, T>>, from: usize) -> CollectiveLaunch<'b> {
        let buffer = buffer.into();
        let (count, place) = (buffer.len(), buffer.place());
        self.collective::<T>(Kind::Receive(from), count, None, Some(place), None)
    }

    fn misfit(&self, whole: &str, len: usize, part: &str, part_len: usize) -> Option<String> {
        let wanted = part_len.saturating_mul(self.ranks);
        (len != wanted).then(|| {
            let ranks = self.ranks;
            format!(
                "`{whole}` has {len} elements, but {ranks} ranks with the {part_len} of `{part}` make {wanted}; give `{whole}` {wanted}"
            )
        })
    }

    fn collective<'b, T: Reducible>(
        &'b self,
        kind: Kind,
        count: usize,
        from: Option<Place<'b>>,
        to: Option<Place<'b>>,
        misfit: Option<String>,
    ) -> CollectiveLaunch<'b> {
        let task = Task { kind, ty: T::DATA_TYPE, count };
        let misfit = misfit.or_else(|| match kind.peer() {
            Some(peer) if peer >= self.ranks => {
                Some(format!("there is no rank {peer} of {0}: they are counted from 0; give one below {0}", self.ranks))
            }
            Some(peer) if peer == self.rank && kind.is_of_two() => {
                Some(format!("rank {peer} is this one; help: `copy_from` copies a buffer"))
            }
            _ => None,
        });
        CollectiveLaunch { communicator: self, stream: None, task, misfit, from, to }
    }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Communicator of rank {} of {} on {}", self.rank, self.ranks, self.device)
    }
}

impl<'b> CollectiveLaunch<'b> {
    /// Runs it in this stream instead of the device's own.
    pub fn on(self, stream: &'b Stream) -> CollectiveLaunch<'b> {
        CollectiveLaunch { stream: Some(stream), ..self }
    }

    /// Puts it into its stream. On GPUs it returns at once; on simulators when the other ranks have launched theirs.
    ///
    /// # Errors
    /// [`Error::Collective`] if buffers do not fit each other, if there is no such rank, if ranks do not agree on what is done, if not all have come within the time limit, if the communicator failed before, or if NCCL
    /// failed; [`Error::ForeignObject`] if a buffer or the stream is another device's; [`Error::Driver`].
    pub fn launch(self) -> Result<()> {
        launch_together([self])
    }

    fn core(&self) -> &Arc<StreamCore> {
        self.stream.map_or(self.communicator.device.own_stream(), Stream::core)
    }

    /// Lets its stream come behind all that use its buffers.
    fn order(&self) -> Result<()> {
        let stream = self.core();
        self.from.iter().try_for_each(|(from, _)| from.uses().read_on(stream))?;
        self.to.iter().try_for_each(|(to, _)| to.uses().write_on(stream))
    }

    fn refuse(&self, reason: impl fmt::Display) -> Error {
        let Communicator { rank, ranks, device, .. } = self.communicator;
        Error::Collective { reason: format!("{} on rank {rank} of {ranks} ({device}): {reason}", self.task) }
    }

    /// Everything that one rank can know.
    fn check(&self) -> Result<()> {
        if let Some(misfit) = &self.misfit {
            return Err(self.refuse(misfit));
        }
        let device = &self.communicator.device;
        if let Some(stream) = self.stream {
            device.check_owner("the stream", stream.device())?;
        }
        self.from.iter().chain(&self.to).try_for_each(|(allocation, _)| device.check_owner("the buffer", allocation.device()))
    }
}

impl fmt::Debug for CollectiveLaunch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on rank {} of {}", self.task, self.communicator.rank, self.communicator.ranks)
    }
}

/// Launches collectives as one: those of several ranks of this program, which one thread can only launch so, or several sends and receives of one rank, which then cannot wait for each other in a circle.
///
/// # Errors
/// As [`CollectiveLaunch::launch`].
pub fn launch_together<'b>(collectives: impl IntoIterator<Item = CollectiveLaunch<'b>>) -> Result<()> {
    let collectives: Vec<_> = collectives.into_iter().collect();
    collectives.iter().try_for_each(CollectiveLaunch::check)?;
    agree(&collectives)?;
    let (mut of_gpus, mut in_process) = (Vec::new(), Vec::new());
    for collective in &collectives {
        match &collective.communicator.way {
            Way::Nccl(rank) => of_gpus.push((rank, collective)),
            Way::InProcess(world) => in_process.push((world, collective)),
        }
    }
    collectives.iter().try_for_each(CollectiveLaunch::order)?;
    if collectives.iter().any(|collective| collective.communicator.is_checked) {
        agreement::confer(&of_gpus)?;
    }
    nccl::launch(&of_gpus)?;
    in_process::launch(&in_process)?;
    order_parts(&collectives)
}

/// Orders streams that work with parts of one buffer, of which who uses it next knows the last that writes.
fn order_parts(collectives: &[CollectiveLaunch<'_>]) -> Result<()> {
    if collectives.iter().all(|collective| collective.stream.is_none()) {
        return Ok(());
    }
    for (index, later) in collectives.iter().enumerate() {
        let Some((written, _)) = later.to else { continue };
        for earlier in &collectives[..index] {
            let is_shared = earlier.from.iter().chain(&earlier.to).any(|(allocation, _)| std::ptr::eq(*allocation, written));
            if is_shared && !Arc::ptr_eq(earlier.core(), later.core()) {
                later.core().order_after(earlier.core())?;
            }
        }
    }
    Ok(())
}

/// Whether ranks that are here do the same: others cannot be seen.
fn agree(collectives: &[CollectiveLaunch<'_>]) -> Result<()> {
    let is_of_all = |collective: &&CollectiveLaunch<'_>| !collective.task.kind.is_of_two();
    for (index, collective) in collectives.iter().enumerate().filter(|(_, collective)| is_of_all(collective)) {
        // The how manieth of its rank it is: the first meets the first of another.
        let of_rank = |other: &CollectiveLaunch<'_>, rank: &Communicator| std::ptr::eq(other.communicator, rank);
        let turn = collectives[..index].iter().filter(is_of_all).filter(|other| of_rank(other, collective.communicator)).count();
        for other in
            collectives[..index].iter().filter(is_of_all).filter(|other| is_same_group(other.communicator, collective.communicator))
        {
            let others_turn = collectives
                .iter()
                .take_while(|each| !std::ptr::eq(*each, other))
                .filter(is_of_all)
                .filter(|each| of_rank(each, other.communicator))
                .count();
            if others_turn == turn && other.task != collective.task {
                let (a, b) = (other.communicator.rank, collective.communicator.rank);
                return Err(Error::Collective { reason: disagreement(a, other.task, b, collective.task) });
            }
        }
    }
    Ok(())
}

/// Whether two ranks belong together.
fn is_same_group(one: &Communicator, other: &Communicator) -> bool {
    match (&one.way, &other.way) {
        (Way::Nccl(one), Way::Nccl(other)) => one.group() == other.group(),
        (Way::InProcess(one), Way::InProcess(other)) => Arc::ptr_eq(one, other),
        (Way::Nccl(_), Way::InProcess(_)) | (Way::InProcess(_), Way::Nccl(_)) => false,
    }
}
