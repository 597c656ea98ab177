//! Rows of a matrix over several devices, with halos.

use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::launch::Launch;
use std::fmt;
use std::ops::Range;

/// A matrix whose rows lie on several devices: each has as many of them, one after the other, as the others, or one less. With a halo, each device also has
/// copies of so many rows of its neighbours above and below, for kernels that read them.
pub struct Sharded<T: Element> {
    shards: Vec<Shard<T>>,
    rows: usize,
    columns: usize,
    halo: usize,
}

/// What one device has of a [`Sharded`].
pub struct Shard<T: Element> {
    /// Its rows, between the rows of its neighbours.
    pub buffer: Buffer<T>,
    place: ShardPlace,
}

/// Which part of a [`Sharded`] a device has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardPlace {
    /// The how manieth device it is, from 0 on.
    pub index: usize,
    /// Its own rows, as rows of the whole matrix.
    pub rows: Range<usize>,
    /// How many rows of the neighbour above its buffer begins with.
    pub above: usize,
    /// How many rows of the neighbour below its buffer ends with.
    pub below: usize,
    /// Elements of a row.
    pub columns: usize,
}

impl ShardPlace {
    /// The elements of its own rows in its buffer.
    pub fn own(&self) -> Range<usize> {
        let first = self.above * self.columns;
        first..first + self.rows.len() * self.columns
    }

    /// Rows of its buffer: its own and its neighbours'.
    pub fn buffer_rows(&self) -> usize {
        self.above + self.rows.len() + self.below
    }

    /// The rows of its buffer, as rows of the whole matrix.
    fn with_halo(&self) -> Range<usize> {
        self.rows.start - self.above..self.rows.end + self.below
    }
}

impl<T: Element> Shard<T> {
    /// Which part of the matrix it is.
    pub fn place(&self) -> &ShardPlace {
        &self.place
    }
}

/// Which rows each of `count` devices has.
fn places(count: usize, rows: usize, columns: usize, halo: usize) -> Result<Vec<ShardPlace>> {
    let refuse = |reason: String| Err(Error::Shards { reason });
    if count == 0 {
        return refuse(
            "rows were to be spread over no device; help: pass `Device::gpus()`, or `Device::simulators(2)` where there is none".to_owned(),
        );
    }
    let (least, more) = (rows / count, rows % count);
    if least < halo.max(1) {
        let help = format!("use at most {} devices, or a smaller halo", (rows / halo.max(1)).max(1));
        return refuse(format!("{rows} rows over {count} devices are {least} for some, and a halo has {halo}; help: {help}"));
    }
    let place = |index: usize| {
        let start = index * least + index.min(more);
        let rows = start..start + least + usize::from(index < more);
        let (above, below) = (if index == 0 { 0 } else { halo }, if index + 1 == count { 0 } else { halo });
        ShardPlace { index, rows, above, below, columns }
    };
    Ok((0..count).map(place).collect())
}

/// The borders of so many devices, each as the device below it, in the order in which their rows are exchanged: those of one half share no device.
fn borders(count: usize) -> impl Iterator<Item = usize> {
    (1..count).step_by(2).chain((2..count).step_by(2))
}

impl<T: Element> Sharded<T> {
    /// Spreads a matrix, given row by row, over devices: of its neighbours each gets `halo` rows, too.
    ///
    /// # Errors
    /// [`Error::Shards`] if there is no device, if a device would have fewer rows than the halo, or if the elements are no whole rows; as [`Device::upload`].
    pub fn scatter(devices: &[Device], elements: &[T], columns: usize, halo: usize) -> Result<Sharded<T>> {
        let Some(rows) = elements.len().checked_div(columns).filter(|rows| rows * columns == elements.len()) else {
            let reason = format!(
                "{} elements are no whole number of rows of {columns}; help: fill the last row up, or give other columns",
                elements.len()
            );
            return Err(Error::Shards { reason });
        };
        let upload = |device: &Device, place: &ShardPlace| {
            let rows = place.with_halo();
            device.upload(&elements[rows.start * columns..rows.end * columns])
        };
        Sharded::made(devices, (rows, columns, halo), upload)
    }

    /// A matrix of zeros over devices.
    ///
    /// # Errors
    /// As [`Sharded::scatter`] and [`Device::zeros`].
    pub fn zeros(devices: &[Device], rows: usize, columns: usize, halo: usize) -> Result<Sharded<T>> {
        Sharded::made(devices, (rows, columns, halo), |device, place| device.zeros(place.buffer_rows().saturating_mul(columns)))
    }

    fn made(
        devices: &[Device],
        (rows, columns, halo): (usize, usize, usize),
        make: impl Fn(&Device, &ShardPlace) -> Result<Buffer<T>>,
    ) -> Result<Sharded<T>> {
        let places = places(devices.len(), rows, columns, halo)?;
        crate::buffer::bytes_of::<T>(rows.saturating_mul(columns))?;
        let shards = devices.iter().zip(places).map(|(device, place)| Ok(Shard { buffer: make(device, &place)?, place }));
        Ok(Sharded { shards: shards.collect::<Result<_>>()?, rows, columns, halo })
    }

    /// All rows, copied to the host: each from the device whose own it is.
    ///
    /// # Errors
    /// As [`Buffer::download`].
    pub fn gather(&self) -> Result<Vec<T>> {
        let mut elements = Vec::with_capacity(self.rows * self.columns);
        for shard in &self.shards {
            let part = shard.buffer.download()?;
            let Some(own) = part.get(shard.place.own()) else {
                let (len, own) = (part.len(), shard.place.own());
                let reason = format!(
                    "the buffer of {} has {len} elements, and its rows are elements {own:?}; help: leave each device the buffer that it was given",
                    shard.buffer.device()
                );
                return Err(Error::Shards { reason });
            };
            elements.extend_from_slice(own);
        }
        Ok(elements)
    }

    /// Copies to every device the rows that it has of its neighbours, as they are there now: in the order of the devices' own streams, from device to device where they can, and nobody waits then.
    ///
    /// Copies between two neighbours are in order in the streams of both. So every other border goes first, all at once, and then those between: a device waits for four copies at most, however many devices there are.
    ///
    /// # Errors
    /// As [`Buffer::copy_from`].
    pub fn exchange_halos(&mut self) -> Result<()> {
        let elements = self.halo * self.columns;
        for index in borders(self.shards.len()) {
            let (above, below) = self.shards.split_at_mut(index);
            let (Some(above), Some(below)) = (above.last_mut(), below.first_mut()) else { continue };
            let (last, first) = (above.place.own(), below.place.own());
            below.buffer.copy_range_from(0, &above.buffer, last.end - elements..last.end)?;
            above.buffer.copy_range_from(last.end, &below.buffer, first.start..first.start + elements)?;
        }
        Ok(())
    }

    /// Rows of the whole matrix.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Elements of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Rows that a device has of each neighbour.
    pub fn halo(&self) -> usize {
        self.halo
    }

    /// What the devices have.
    pub fn shards(&self) -> &[Shard<T>] {
        &self.shards
    }

    /// The same, to be changed.
    pub fn shards_mut(&mut self) -> &mut [Shard<T>] {
        &mut self.shards
    }
}

impl<T: Element> fmt::Debug for Sharded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sharded<{}>({} × {} on {} devices)", T::TYPE, self.rows, self.columns, self.shards.len())
    }
}

impl<T: Element> fmt::Debug for Shard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shard of rows {:?}: {:?}", self.place.rows, self.buffer)
    }
}

/// The halo of a matrix; the devices it is spread over, what each has of it, and how many elements the buffer there has.
type Parts<'p> = (usize, Vec<(&'p Device, &'p ShardPlace, usize)>);

mod sealed {
    /// Nobody else lends.
    pub trait Sealed {}
}

/// What [`launch_sharded`] lends: `&Sharded` as `&Buffer`, `&mut Sharded` as `&mut Buffer`; one, or a tuple of up to eight.
pub trait ShardedBuffers: sealed::Sealed {
    /// What one device has of them.
    type Buffers<'s>;
    #[doc(hidden)]
    type Lent;
    #[doc(hidden)]
    fn lend(self) -> Self::Lent;
    #[doc(hidden)]
    fn buffers<'s>(lent: &'s mut Self::Lent, index: usize) -> Self::Buffers<'s>;
    #[doc(hidden)]
    fn visit(&self, each: &mut dyn FnMut(Parts<'_>) -> Result<()>) -> Result<()>;
}

impl<T: Element> Sharded<T> {
    fn parts(&self) -> Parts<'_> {
        (self.halo, self.shards.iter().map(|shard| (shard.buffer.device(), &shard.place, shard.buffer.len())).collect())
    }
}

impl<T: Element> sealed::Sealed for &Sharded<T> {}

impl<'a, T: Element> ShardedBuffers for &'a Sharded<T> {
    type Buffers<'s> = &'s Buffer<T>;
    type Lent = &'a Sharded<T>;

    fn lend(self) -> &'a Sharded<T> {
        self
    }

    fn buffers<'s>(lent: &'s mut &'a Sharded<T>, index: usize) -> &'s Buffer<T> {
        &lent.shards[index].buffer
    }

    fn visit(&self, each: &mut dyn FnMut(Parts<'_>) -> Result<()>) -> Result<()> {
        each(self.parts())
    }
}

impl<T: Element> sealed::Sealed for &mut Sharded<T> {}

impl<'a, T: Element> ShardedBuffers for &'a mut Sharded<T> {
    type Buffers<'s> = &'s mut Buffer<T>;
    type Lent = &'a mut Sharded<T>;

    fn lend(self) -> &'a mut Sharded<T> {
        self
    }

    fn buffers<'s>(lent: &'s mut &'a mut Sharded<T>, index: usize) -> &'s mut Buffer<T> {
        &mut lent.shards[index].buffer
    }

    fn visit(&self, each: &mut dyn FnMut(Parts<'_>) -> Result<()>) -> Result<()> {
        each(self.parts())
    }
}

macro_rules! tuples {
    ($($($name:ident)*;)*) => {$(
        impl<$($name: ShardedBuffers),*> sealed::Sealed for ($($name,)*) {}

        #[allow(non_snake_case, reason = "a variable for each type")]
        impl<$($name: ShardedBuffers),*> ShardedBuffers for ($($name,)*) {
            type Buffers<'s> = ($($name::Buffers<'s>,)*);
            type Lent = ($($name::Lent,)*);

            fn lend(self) -> Self::Lent {
                let ($($name,)*) = self;
                ($($name.lend(),)*)
            }

            fn buffers<'s>(lent: &'s mut Self::Lent, index: usize) -> Self::Buffers<'s> {
                let ($($name,)*) = lent;
                ($(<$name as ShardedBuffers>::buffers($name, index),)*)
            }

            fn visit(&self, each: &mut dyn FnMut(Parts<'_>) -> Result<()>) -> Result<()> {
                let ($($name,)*) = self;
                $($name.visit(each)?;)*
                Ok(())
            }
        }
    )*};
}

tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; }

/// The devices that the matrices of one launch are spread over, and what each has of the first of them.
fn common_parts(matrices: &impl ShardedBuffers) -> Result<Vec<(Device, ShardPlace)>> {
    let refuse = |reason: String| Err(Error::Shards { reason });
    let tell = |parts: &mut dyn Iterator<Item = (&Device, &ShardPlace)>| {
        let parts: Vec<_> = parts.map(|(device, place)| format!("rows {:?} on {device}", place.rows)).collect();
        parts.join(", ")
    };
    let mut first: Option<(usize, Vec<(Device, ShardPlace)>)> = None;
    let mut number = 0;
    matrices.visit(&mut |(halo, parts)| {
        number += 1;
        // A kernel indexes by the place, whatever the buffer is.
        for (device, place, len) in &parts {
            let needed = place.buffer_rows() * place.columns;
            if *len < needed {
                return refuse(format!(
                    "the buffer of matrix {number} on {device} has {len} elements, and its rows with the halo are {needed}; help: leave each device the buffer that it was given"
                ));
            }
        }
        let Some((first_halo, first)) = &first else {
            first = Some((halo, parts.into_iter().map(|(device, place, _)| (device.clone(), place.clone())).collect()));
            return Ok(());
        };
        let is_same = parts.len() == first.len() && parts.iter().zip(first).all(|(a, b)| *a.0 == b.0 && a.1.rows == b.1.rows);
        if !is_same {
            let this = tell(&mut parts.iter().map(|(device, place, _)| (*device, *place)));
            let first = tell(&mut first.iter().map(|(device, place)| (device, place)));
            return refuse(format!(
                "matrix 1 is spread as {first}, but matrix {number} as {this}; help: spread matrices of one launch over the same devices, with as many rows"
            ));
        }
        // Asked of one device, too, which has no neighbours: what runs there is to run on several.
        if halo != *first_halo {
            let wider = halo.max(*first_halo);
            return refuse(format!(
                "matrix 1 has a halo of {first_halo}, but matrix {number} of {halo}, and a launch has one place for all matrices; help: pass {wider} as the halo of both to `Sharded::scatter` or `Sharded::zeros`"
            ));
        }
        Ok(())
    })?;
    Ok(first.map(|(_, parts)| parts).unwrap_or_default())
}

/// Launches a kernel on every device that some matrices are spread over, on what it has of them, in its own stream: they run at the same time. The closure gets which rows the device has, and its buffers.
///
/// The place goes for all matrices, which have the same rows and the same halo on each device; a matrix that needs no halo is given one all the same. They may have other columns, as a matrix and the sums of
/// its rows: `place.columns`, and what `place.own()` makes of it, are the first matrix's, so pass the kernel the columns of each.
///
/// ```text
/// launch_sharded((&old, &mut new), |place, (old, new)| Ok(relax(old, new, place.above, place.rows.len()).cover((place.columns, place.rows.len()))))?;
/// ```
///
/// # Errors
/// [`Error::Shards`] if the matrices are spread otherwise: over other devices, with other rows to each, or with another halo; or if a buffer was replaced by one that is too short; what the closure gives; as [`Launch::launch`].
pub fn launch_sharded<S: ShardedBuffers>(
    matrices: S,
    mut launch: impl for<'s> FnMut(&'s ShardPlace, S::Buffers<'s>) -> Result<Launch<'s>>,
) -> Result<()> {
    let parts = common_parts(&matrices)?;
    let mut lent = matrices.lend();
    for (index, (device, place)) in parts.iter().enumerate() {
        launch(place, S::buffers(&mut lent, index))?.launch(device)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_spread_evenly_and_halos_end_at_the_edges() {
        let places = places(3, 11, 4, 2).unwrap();
        let found: Vec<_> = places.iter().map(|place| (place.rows.clone(), place.above, place.below, place.own())).collect();
        assert_eq!(found, [(0..4, 0, 2, 0..16), (4..8, 2, 2, 8..24), (8..11, 2, 0, 8..20)]);
        assert_eq!(places[1].buffer_rows(), 8);
        assert_eq!(places[1].with_halo(), 2..10);
    }

    #[test]
    fn a_border_waits_for_those_beside_it_alone() {
        for count in 0..20 {
            // How many borders, one after another, each device's stream has waited for: both devices of a border wait for each other.
            let mut waited = vec![0; count];
            for below in borders(count) {
                let longest = waited[below - 1].max(waited[below]) + 1;
                waited[below - 1..=below].fill(longest);
            }
            assert_eq!(waited.iter().max().copied().unwrap_or(0), count.saturating_sub(1).min(2), "{count} devices");
            let mut all: Vec<_> = borders(count).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(1..count), "{count} devices");
        }
    }
}
