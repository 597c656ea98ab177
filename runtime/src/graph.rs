//! Graphs: many launches, recorded once and replayed by one call.
//!
//! A graph keeps kernels, geometry, values and who comes after whom; memory is lent to each replay, so that borrows say who may touch a buffer, as for
//! launches. What depends on what follows from what each step reads and writes.

#![expect(unsafe_code, reason = "copies and clears memory that is lent to it")]

#[cfg(test)]
mod tests;

use crate::arguments::DetachedArguments;
use crate::buffer::{Allocation, Buffer, ConstantBuffer, bytes_of};
use crate::check::Extents;
use crate::definition::KernelDefinition;
use crate::device::Device;
use crate::driver::{Copied, Executable, GraphDriver, GraphWork, LaunchPlan};
use crate::element::{Element, ElementType};
use crate::error::{Error, Result};
use crate::instance::Instance;
use crate::launch::Launch;
use crate::stream::{Stream, StreamCore};
use crate::texture::{Picture, Texel, Texture};
use crate::twin::TwinEntry;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Most things that are lent to a replay and compared without memory of their own.
const INLINE: usize = 12;

/// Something that a graph works with.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Slot<'s> {
    allocation: &'s Allocation,
    bytes: usize,
    ty: &'static ElementType,
    picture: Option<&'s Picture>,
    is_mutable: bool,
}

impl<'s> Slot<'s> {
    /// The memory, and the texture that it is.
    pub(crate) fn memory(&self) -> (&'s Allocation, Option<&'s Picture>) {
        (self.allocation, self.picture)
    }

    /// What tells it from others: the same memory, used in the same way.
    fn identity(&self) -> Identity {
        (self.allocation.handle(), self.picture.map_or(0, |_| self.allocation.serial()))
    }
}

/// The handle of memory; of a texture also its serial number, for what reads it has handles of its own.
type Identity = (u64, u64);

mod sealed {
    /// Nobody else lends.
    pub trait Sealed {}
}

/// What a graph works with: `&Buffer`, `&mut Buffer`, `&ConstantBuffer` and `&Texture`; one, or a tuple of up to twelve.
pub trait GraphBuffers: sealed::Sealed {
    #[doc(hidden)]
    fn visit<'s>(&'s self, visit: &mut dyn FnMut(Slot<'s>));
}

/// Bytes of so many elements; of elements that have none, how many.
fn extent<T: Element>(len: usize) -> usize {
    if size_of::<T>() == 0 { len } else { len * size_of::<T>() }
}

macro_rules! slots {
    ($([$($generics:tt)*] $ty:ty, $element:ident, $is_mutable:literal, $this:ident => $bytes:expr, $picture:expr;)*) => {$(
        impl<$($generics)*> sealed::Sealed for $ty {}

        impl<$($generics)*> GraphBuffers for $ty {
            fn visit<'s>(&'s self, visit: &mut dyn FnMut(Slot<'s>)) {
                let $this = self;
                let slot = Slot { allocation: $this.allocation(), bytes: $bytes, ty: &$element::TYPE, picture: $picture, is_mutable: $is_mutable };
                visit(slot);
            }
        }
    )*};
}

slots! {
    [T: Element] &Buffer<T>, T, false, this => extent::<T>(this.len()), None;
    [T: Element] &mut Buffer<T>, T, true, this => extent::<T>(this.len()), None;
    [A: Element] &ConstantBuffer<A>, A, false, this => size_of::<A>(), None;
    [T: Texel] &Texture<T>, T, false, this => this.width() * this.height() * size_of::<T>(), Some(this.picture());
}

impl sealed::Sealed for () {}

/// Nothing.
impl GraphBuffers for () {
    fn visit<'s>(&'s self, _visit: &mut dyn FnMut(Slot<'s>)) {}
}

macro_rules! tuples {
    ($($($name:ident)*;)*) => {$(
        impl<$($name: GraphBuffers),*> sealed::Sealed for ($($name,)*) {}

        impl<$($name: GraphBuffers),*> GraphBuffers for ($($name,)*) {
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn visit<'s>(&'s self, visit: &mut dyn FnMut(Slot<'s>)) {
                let ($($name,)*) = self;
                $($name.visit(visit);)*
            }
        }
    )*};
}

tuples! {
    A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; A B C D E F G H I; A B C D E F G H I J; A B C D E F G H I J K;
    A B C D E F G H I J K L;
}

/// All of them.
fn slots_of<B: GraphBuffers>(buffers: &B) -> Vec<Slot<'_>> {
    let mut slots = Vec::with_capacity(INLINE);
    buffers.visit(&mut |slot| slots.push(slot));
    slots
}

/// What a graph knows of something that it works with.
struct Known {
    /// What the last replay was given, as the driver knows it.
    identity: Option<Identity>,
    /// The serial number of what it was given last: of what it is recorded with, at first.
    serial: u64,
    bytes: usize,
    ty: &'static ElementType,
    is_texture: bool,
    is_mutable: bool,
    /// Whether a step writes it.
    is_written: bool,
    /// The step that wrote it last, and those that read it since.
    writer: Option<usize>,
    readers: Vec<usize>,
}

/// A step of a graph.
enum Step {
    Launch(Box<RecordedLaunch>),
    Clear { slot: usize, bytes: usize },
    Copy { to: usize, from: usize, bytes: usize },
}

/// A launch without its memory.
struct RecordedLaunch {
    definition: &'static KernelDefinition,
    twin: TwinEntry,
    instance: Arc<Instance>,
    extents: Extents,
    arguments: DetachedArguments,
}

impl RecordedLaunch {
    /// The launch with what is lent to it.
    fn plan<'s>(&self, slots: &[Slot<'s>]) -> LaunchPlan<'s> {
        LaunchPlan {
            definition: self.definition,
            twin: self.twin,
            extents: self.extents,
            arguments: Cow::Owned(self.arguments.attach(|slot| slots[slot].memory())),
        }
    }
}

impl Step {
    /// What it reads, and what it writes: numbers of slots.
    fn uses(&self, mut each: impl FnMut(usize, bool)) {
        match self {
            Step::Launch(launch) => launch.arguments.slots(each),
            Step::Clear { slot, .. } => each(*slot, true),
            Step::Copy { to, from, .. } => {
                each(*from, false);
                each(*to, true);
            }
        }
    }

    /// Hands it to `work`, with what is lent to it.
    fn with_work<R>(&self, slots: &[Slot<'_>], work: impl FnOnce(&GraphWork<'_>) -> R) -> R {
        let memory = |slot: usize| slots[slot].memory().0.memory();
        match self {
            Step::Launch(launch) => {
                let executable: &dyn Executable = &*launch.instance.executable;
                work(&GraphWork::Launch { executable, plan: &launch.plan(slots) })
            }
            Step::Clear { slot, bytes } => work(&GraphWork::Zero { to: memory(*slot), bytes: *bytes }),
            Step::Copy { to, from, bytes } => work(&GraphWork::Copy { to: memory(*to), from: memory(*from), bytes: *bytes }),
        }
    }
}

/// What [`Device::record`] lends to its closure: steps put into it become a graph, and do not run.
pub struct Recording {
    device: Device,
    known: Vec<Known>,
    steps: Vec<Step>,
    after: Vec<Vec<usize>>,
}

/// A step of a [`Graph`], by which [`Graph::replace`] knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GraphStep(usize);

impl Recording {
    /// Puts a launch into the graph. Its kernel is compiled now.
    ///
    /// # Errors
    /// [`Error::Graph`] if it works with a buffer that was not given to [`Device::record`]; and as [`Launch::launch`].
    pub fn launch(&mut self, launch: Launch<'_>) -> Result<GraphStep> {
        let instance = launch.instance(&self.device)?;
        let known = &self.known;
        let step = recorded(&launch, &self.device, Arc::clone(instance), |allocation| slot_of(known, allocation))?;
        self.push(Step::Launch(Box::new(step)))
    }

    /// Puts [`Buffer::clear`] into the graph.
    ///
    /// # Errors
    /// [`Error::Graph`] if the buffer was not given to [`Device::record`]; [`Error::NoZero`].
    pub fn clear<T: Element>(&mut self, buffer: &mut Buffer<T>) -> Result<GraphStep> {
        T::TYPE.check_zero()?;
        let slot = self.slot("the buffer to clear", buffer)?;
        self.push(Step::Clear { slot, bytes: bytes_of::<T>(buffer.len())? })
    }

    /// Puts [`Buffer::copy_from`] into the graph: replaces all elements of `to` by those of `from`.
    ///
    /// # Errors
    /// [`Error::Graph`] if a buffer was not given to [`Device::record`]; [`Error::LengthMismatch`].
    pub fn copy<T: Element>(&mut self, to: &mut Buffer<T>, from: &Buffer<T>) -> Result<GraphStep> {
        crate::buffer::check_len(to.len(), from.len())?;
        let (to, from, bytes) =
            (self.slot("the buffer to copy to", to)?, self.slot("the buffer to copy from", from)?, bytes_of::<T>(to.len())?);
        self.push(Step::Copy { to, from, bytes })
    }

    fn slot<T: Element>(&self, what: &str, buffer: &Buffer<T>) -> Result<usize> {
        slot_of(&self.known, buffer.allocation()).ok_or_else(|| not_given(what))
    }

    fn push(&mut self, step: Step) -> Result<GraphStep> {
        let number = self.steps.len();
        let mut after = Vec::new();
        step.uses(|slot, writes| {
            let known = &mut self.known[slot];
            // Of its own step nothing needs to wait: a kernel may be given a buffer twice.
            after.extend(known.writer.filter(|step| *step != number));
            if writes {
                after.extend(known.readers.drain(..).filter(|step| *step != number));
                known.writer = Some(number);
                known.is_written = true;
            } else if known.writer != Some(number) {
                known.readers.push(number);
            }
        });
        self.steps.push(step);
        drop_implied(&mut after, &self.after);
        self.after.push(after);
        Ok(GraphStep(number))
    }
}

/// Leaves out what is waited for anyway, since another of these steps waits for it: each edge costs the device time, and a step with one may overlap with what it waits for. `before`: what each step waits for, which
/// are always steps before it.
fn drop_implied(after: &mut Vec<usize>, before: &[Vec<usize>]) {
    after.sort_unstable();
    after.dedup();
    let (Some(&first), Some(&last)) = (after.first(), after.last()) else { return };
    // Whether a later one waits for a step, from the last one down to the first.
    let mut is_implied = vec![false; last - first + 1];
    let mut kept = Vec::new();
    for step in (first..=last).rev() {
        let is_needed = is_implied[step - first] || after.binary_search(&step).is_ok();
        if !is_needed {
            continue;
        }
        if !is_implied[step - first] {
            kept.push(step);
        }
        before[step].iter().filter(|earlier| **earlier >= first).for_each(|earlier| is_implied[*earlier - first] = true);
    }
    kept.reverse();
    *after = kept;
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recording of {} steps on {}", self.steps.len(), self.device)
    }
}

/// Which of them memory is. By its serial number: who records may swap buffers, and an address may be another's by then.
fn slot_of(known: &[Known], allocation: &Allocation) -> Option<usize> {
    known.iter().position(|known| known.serial == allocation.serial())
}

fn not_given(what: &str) -> Error {
    Error::Graph {
        reason: format!(
            "{what} is not among those that the graph was given; help: add it to the tuple that `Device::record` takes, and use what the closure gets"
        ),
    }
}

/// A launch, its memory told by `slot_of`.
fn recorded(
    launch: &Launch<'_>,
    device: &Device,
    instance: Arc<Instance>,
    mut slot_of: impl FnMut(&Allocation) -> Option<usize>,
) -> Result<RecordedLaunch> {
    let (plan, _) = launch.plan(device, &instance, device.own_stream())?;
    let definition = launch.definition;
    let arguments = plan.arguments.detach(|index, allocation| {
        slot_of(allocation)
            .ok_or_else(|| not_given(&format!("parameter `{}` of kernel `{}`", definition.passed_name(index), definition.name)))
    })?;
    Ok(RecordedLaunch { definition, twin: plan.twin, extents: plan.extents, arguments, instance })
}

/// Steps recorded by [`Device::record`], replayed by one call.
///
/// On CUDA it is a graph of the driver's, which the first replay makes: from then on a replay costs the host one call, however many steps there are, and steps that do not depend on each other may run at the same time. On
/// other devices each step is launched in turn. A kernel of a graph begins when the steps that it depends on have ended; one that has `overlap`, no constants, and waits for one kernel only may begin before that one's end, as in a stream
/// (CUDA 12.3 and later).
pub struct Graph {
    device: Device,
    known: Vec<Known>,
    steps: Vec<Step>,
    after: Vec<Vec<usize>>,
    driver: Option<Box<dyn GraphDriver>>,
}

impl Device {
    /// Records what the closure puts into its [`Recording`] as a graph: nothing runs. `buffers` is what the graph works with; the closure gets it back, and each replay is given the same, or others of the same types and lengths.
    ///
    /// ```text
    /// let mut steps = device.record((&mut a, &mut b), |steps, (a, b)| {
    ///     for _ in 0..50 {
    ///         steps.launch(relax(a, b).cover(n))?;
    ///         steps.launch(relax(b, a).cover(n))?;
    ///     }
    ///     Ok::<(), Error>(())
    /// })?;
    /// steps.launch((&mut a, &mut b))?;
    /// ```
    ///
    /// # Errors
    /// [`Error::Graph`] if the same buffer is given twice; [`Error::ForeignObject`] if one is another device's; [`Error::DriverTooOld`]; and what the closure gives.
    pub fn record<B: GraphBuffers, E: From<Error>>(
        &self,
        buffers: B,
        record: impl FnOnce(&mut Recording, B) -> std::result::Result<(), E>,
    ) -> std::result::Result<Graph, E> {
        let mut known: Vec<Known> = Vec::new();
        for (index, slot) in slots_of(&buffers).iter().enumerate() {
            self.check_owner("what the graph is given", slot.allocation.device())?;
            if let Some(first) = slot_of(&known, slot.allocation) {
                let reason =
                    format!("{} and {} that the graph is given are the same buffer; help: give it once", ordinal(first), ordinal(index));
                return Err(Error::Graph { reason }.into());
            }
            known.push(Known::new(slot));
        }
        let mut recording = Recording { device: self.clone(), known, steps: Vec::new(), after: Vec::new() };
        record(&mut recording, buffers)?;
        let Recording { device, known, steps, after, .. } = recording;
        let driver = self.driver().graph()?;
        Ok(Graph { device, known, steps, after, driver })
    }
}

impl Known {
    fn new(slot: &Slot<'_>) -> Known {
        let Slot { bytes, ty, is_mutable, .. } = *slot;
        let is_texture = slot.picture.is_some();
        Known {
            identity: None,
            serial: slot.allocation.serial(),
            bytes,
            ty,
            is_texture,
            is_mutable,
            is_written: false,
            writer: None,
            readers: Vec::new(),
        }
    }

    /// Whether this is what the last replay was given.
    fn is_same(&self, slot: &Slot<'_>) -> bool {
        self.serial == slot.allocation.serial()
            && self.identity == Some(slot.identity())
            && self.bytes == slot.bytes
            && std::ptr::eq(self.ty, slot.ty)
            && self.is_mutable == slot.is_mutable
            && self.is_texture == slot.picture.is_some()
    }

    /// Memory in its place is about to be used in a stream.
    fn used_on(&self, allocation: &Allocation, stream: &Arc<StreamCore>) -> Result<()> {
        if self.is_written { allocation.uses().write_on(stream) } else { allocation.uses().read_on(stream) }
    }

    /// Why something else cannot stand in for it.
    fn misfit(&self, index: usize, other: &Slot<'_>) -> Option<Error> {
        let kind = |is_texture: bool, is_mutable: bool, ty: &ElementType| match (is_texture, is_mutable) {
            (true, _) => format!("a texture of `{ty}`"),
            (false, true) => format!("a buffer of `{ty}` to write"),
            (false, false) => format!("a buffer of `{ty}` to read"),
        };
        let (old, new) = ((self.is_texture, self.is_mutable, self.ty), (other.picture.is_some(), other.is_mutable, other.ty));
        let reason = if old != new {
            format!(
                "{} that the graph was recorded with is {}, but it is given {}; help: give one of the same kind, or record a graph for this one",
                ordinal(index),
                kind(old.0, old.1, old.2),
                kind(new.0, new.1, new.2)
            )
        } else if self.bytes != other.bytes {
            let (was, is) = (self.bytes, other.bytes);
            format!(
                "{} that the graph was recorded with has {was} bytes, but it is given one of {is}; help: record a graph for this size",
                ordinal(index)
            )
        } else {
            return None;
        };
        Some(Error::Graph { reason })
    }
}

/// `the first buffer` …
fn ordinal(index: usize) -> String {
    format!("buffer {}", index + 1)
}

impl Graph {
    /// How many steps it has.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The device it is of.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Replays it in the device's own stream and returns at once, as [`Launch::launch`] does.
    ///
    /// # Errors
    /// [`Error::Graph`] if the buffers are of other types or lengths than those it was recorded with; [`Error::ForeignObject`] if one is another device's; as [`Launch::launch`] on devices that run kernels within the call;
    /// [`Error::Driver`].
    pub fn launch<B: GraphBuffers>(&mut self, buffers: B) -> Result<()> {
        if let Some(driver) = replayed_as_last(&mut self.driver, &self.known, &buffers) {
            return replay_again(driver, &self.known, self.device.own_stream(), &buffers);
        }
        let stream = Arc::clone(self.device.own_stream());
        self.replay(&stream, &buffers)
    }

    /// Replays it in a stream of the device.
    ///
    /// # Errors
    /// As [`Graph::launch`]; [`Error::ForeignObject`] if the stream is another device's.
    pub fn launch_on<B: GraphBuffers>(&mut self, stream: &Stream, buffers: B) -> Result<()> {
        self.device.check_owner("the stream", stream.device())?;
        if let Some(driver) = replayed_as_last(&mut self.driver, &self.known, &buffers) {
            return replay_again(driver, &self.known, stream.core(), &buffers);
        }
        self.replay(stream.core(), &buffers)
    }

    /// Replaces a step, a launch, by another of the same kernel: with other values or another grid, on the buffers that the last replay was given, or, before the first, those that it was recorded with. Replays after it run the new one.
    ///
    /// # Errors
    /// [`Error::Graph`] if the step is no launch of this kernel with these generics; if the launch works with a buffer that the last replay was not given, or writes one that the step only reads,
    /// or the other way round. And as [`Launch::launch`].
    pub fn replace(&mut self, step: GraphStep, launch: Launch<'_>) -> Result<()> {
        let Some(Step::Launch(old)) = self.steps.get(step.0) else {
            let reason = format!(
                "step {} of the graph is no launch, but is to be replaced by one of kernel `{}`; help: record another graph",
                step.0 + 1,
                launch.definition.name
            );
            return Err(Error::Graph { reason });
        };
        let instance = launch.instance(&self.device)?;
        if !Arc::ptr_eq(instance, &old.instance) {
            let (old, new) = (old.definition.name, launch.definition.name);
            let reason = format!(
                "step {} of the graph is a launch of kernel `{old}`, and cannot become one of `{new}` or with other generics; help: record another graph",
                step.0 + 1
            );
            return Err(Error::Graph { reason });
        }
        let known = &self.known;
        let new = recorded(&launch, &self.device, Arc::clone(instance), |allocation| slot_of(known, allocation))?;
        let uses = |launch: &RecordedLaunch| {
            let mut uses = Vec::new();
            launch.arguments.slots(|slot, writes| uses.push((slot, writes)));
            uses.sort_unstable();
            uses
        };
        if uses(old) != uses(&new) {
            let reason = format!(
                "step {} of the graph, a launch of kernel `{}`, is to be replaced by one with other buffers, and who waits for whom follows from them; help: lend other buffers to the replay, or record another graph",
                step.0 + 1,
                new.definition.name
            );
            return Err(Error::Graph { reason });
        }
        self.steps[step.0] = Step::Launch(Box::new(new));
        if let Some(driver) = &mut self.driver {
            driver.forget(step.0);
        }
        Ok(())
    }

    /// Replays it on memory that may be other than the last replay's.
    #[cold]
    fn replay<B: GraphBuffers>(&mut self, stream: &Arc<StreamCore>, buffers: &B) -> Result<()> {
        let slots = slots_of(buffers);
        if slots.len() != self.known.len() {
            let reason = format!(
                "the graph was recorded with {} buffers, but is given {}; help: give as many, in the same order",
                self.known.len(),
                slots.len()
            );
            return Err(Error::Graph { reason });
        }
        for (index, (slot, known)) in slots.iter().zip(&self.known).enumerate() {
            self.device.check_owner("what the graph is given", slot.allocation.device())?;
            if let Some(misfit) = known.misfit(index, slot) {
                return Err(misfit);
            }
        }
        let ready = self
            .put_changes(&slots)
            .and_then(|()| slots.iter().zip(&self.known).try_for_each(|(slot, known)| known.used_on(slot.allocation, stream)));
        if let Err(error) = ready {
            // Some steps may be changed and others not: the next replay puts all of them anew.
            self.known.iter_mut().for_each(|known| known.identity = None);
            return Err(error);
        }
        for (slot, known) in slots.iter().zip(&mut self.known) {
            (known.identity, known.serial) = (Some(slot.identity()), slot.allocation.serial());
        }
        if let Some(driver) = &mut self.driver {
            return driver.replay(stream);
        }
        self.steps.iter().try_for_each(|step| step.with_work(&slots, |work| run(work, stream)))
    }
}

impl Graph {
    /// Puts into the driver's graph what is lent anew, and steps that were replaced.
    fn put_changes(&mut self, slots: &[Slot<'_>]) -> Result<()> {
        let Some(driver) = &mut self.driver else { return Ok(()) };
        let is_changed: Vec<bool> = slots.iter().zip(&self.known).map(|(slot, known)| known.identity != Some(slot.identity())).collect();
        if !driver.is_stale() && !is_changed.contains(&true) {
            return Ok(());
        }
        for (number, step) in self.steps.iter().enumerate() {
            let mut is_touched = driver.needs(number);
            step.uses(|slot, _| is_touched |= is_changed[slot]);
            if is_touched {
                step.with_work(slots, |work| driver.put(number, work, &self.after[number]))?;
            }
        }
        Ok(())
    }
}

/// The driver's graph, if it is as its last replay left it, and was given what it is given now: then all that is checked of that has been.
fn replayed_as_last<'g, B: GraphBuffers>(
    driver: &'g mut Option<Box<dyn GraphDriver>>,
    known: &[Known],
    buffers: &B,
) -> Option<&'g mut dyn GraphDriver> {
    let driver = driver.as_deref_mut().filter(|driver| !driver.is_stale())?;
    let (mut is_same, mut known) = (true, known.iter());
    buffers.visit(&mut |slot| is_same &= known.next().is_some_and(|known| known.is_same(&slot)));
    (is_same && known.next().is_none()).then_some(driver)
}

/// Replays a driver's graph on what it knows.
fn replay_again<B: GraphBuffers>(driver: &mut dyn GraphDriver, known: &[Known], stream: &Arc<StreamCore>, buffers: &B) -> Result<()> {
    let (mut ready, mut known) = (Ok(()), known.iter());
    buffers.visit(&mut |slot| {
        if ready.is_ok()
            && let Some(known) = known.next()
        {
            ready = known.used_on(slot.allocation, stream);
        }
    });
    ready.and_then(|()| driver.replay(stream))
}

/// Runs a step by itself.
fn run(work: &GraphWork<'_>, stream: &Arc<StreamCore>) -> Result<()> {
    match *work {
        GraphWork::Launch { executable, plan } => executable.launch(plan, stream).map(|_| ()),
        // SAFETY: memory of this device, of as many bytes, lent to the replay.
        GraphWork::Zero { to, bytes } => unsafe { stream.queue().zero(to, bytes) },
        // SAFETY: as above; two different ones, since one of them was lent mutably.
        GraphWork::Copy { to, from, bytes } => unsafe { stream.queue().copy(to, from, Copied::of(bytes)) },
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph of {} steps on {}", self.steps.len(), self.device)
    }
}
