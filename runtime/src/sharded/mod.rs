//! Rows of a matrix over several devices, with halos.
//!
//! `launch` launches on all of them, `lend` says what each gets, `replicated` is what each has whole.

mod launch;
mod lend;
mod replicated;

use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use std::fmt;
use std::ops::Range;

pub use launch::{LaunchPlace, launch_sharded};
pub use lend::ShardedBuffers;
pub use replicated::Replicated;

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

    /// The buffer of one device.
    fn buffer(&self, index: usize) -> &Buffer<T> {
        &self.shards[index].buffer
    }

    /// The same, to be changed.
    fn buffer_mut(&mut self, index: usize) -> &mut Buffer<T> {
        &mut self.shards[index].buffer
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
