//! Launches on all devices that matrices are spread over.

use super::lend::Parts;
use super::{ShardPlace, ShardedBuffers};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::launch::Launch;
use std::marker::PhantomData;
use std::ops::Deref;

/// Where one device's part of a launch lies: the [`ShardPlace`] of its rows. It says, too, that what the closure of [`launch_sharded`] borrows outlives the launch, `'e`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchPlace<'e> {
    place: ShardPlace,
    borrowed: PhantomData<&'e ()>,
}

impl Deref for LaunchPlace<'_> {
    type Target = ShardPlace;

    fn deref(&self) -> &ShardPlace {
        &self.place
    }
}

fn refuse<T>(reason: String) -> Result<T> {
    Err(Error::Shards { reason })
}

/// The first matrix of a launch.
struct First {
    /// The how manieth argument it is.
    number: usize,
    halo: usize,
    parts: Vec<(Device, ShardPlace)>,
}

/// The devices that the matrices of one launch are spread over, and what each has of the first of them.
fn common_parts(arguments: &impl ShardedBuffers) -> Result<Vec<(Device, ShardPlace)>> {
    let tell = |parts: &mut dyn Iterator<Item = (&Device, &ShardPlace)>| {
        let parts: Vec<_> = parts.map(|(device, place)| format!("rows {:?} on {device}", place.rows)).collect();
        parts.join(", ")
    };
    let mut first: Option<First> = None;
    let mut number = 0;
    arguments.visit(&mut |parts| {
        number += 1;
        let Parts::Rows(halo, parts) = parts else { return Ok(()) };
        // A kernel indexes by the place, whatever the buffer is.
        for (device, place, len) in &parts {
            let needed = place.buffer_rows() * place.columns;
            if *len < needed {
                return refuse(format!(
                    "the buffer of matrix {number} on {device} has {len} elements, and its rows with the halo are {needed}; help: leave each device the buffer that it was given"
                ));
            }
        }
        let Some(First { number: first_number, halo: first_halo, parts: first }) = &first else {
            let parts = parts.into_iter().map(|(device, place, _)| (device.clone(), place.clone())).collect();
            first = Some(First { number, halo, parts });
            return Ok(());
        };
        let is_same = parts.len() == first.len() && parts.iter().zip(first).all(|(a, b)| *a.0 == b.0 && a.1.rows == b.1.rows);
        if !is_same {
            let this = tell(&mut parts.iter().map(|(device, place, _)| (*device, *place)));
            let first = tell(&mut first.iter().map(|(device, place)| (device, place)));
            return refuse(format!(
                "matrix {first_number} is spread as {first}, but matrix {number} as {this}; help: spread matrices of one launch over the same devices, with as many rows"
            ));
        }
        // Asked of one device, too, which has no neighbours: what runs there is to run on several.
        if halo != *first_halo {
            let wider = halo.max(*first_halo);
            return refuse(format!(
                "matrix {first_number} has a halo of {first_halo}, but matrix {number} of {halo}, and a launch has one place for all matrices; help: pass {wider} as the halo of both to `Sharded::scatter` or `Sharded::zeros`"
            ));
        }
        Ok(())
    })?;
    let Some(First { number: matrix, parts: places, .. }) = first else {
        return refuse(
            "a launch on several devices has no matrix whose rows say what each of them does; help: pass a `&Sharded`, or a `&mut Sharded`, too".to_owned(),
        );
    };
    check_replicas(arguments, matrix, &places)?;
    Ok(places)
}

/// Errors unless what devices have whole is on those of a matrix, in their order.
fn check_replicas(arguments: &impl ShardedBuffers, matrix: usize, places: &[(Device, ShardPlace)]) -> Result<()> {
    let mut number = 0;
    arguments.visit(&mut |parts| {
        number += 1;
        let Parts::Whole(devices) = parts else { return Ok(()) };
        if devices.iter().copied().eq(places.iter().map(|(device, _)| device)) {
            return Ok(());
        }
        let tell = |devices: &mut dyn Iterator<Item = &Device>| devices.map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let (has, wanted) = (tell(&mut devices.into_iter()), tell(&mut places.iter().map(|(device, _)| device)));
        refuse(format!(
            "matrix {matrix} is spread over {wanted}, but argument {number} has its buffers on {has}; help: make a `Replicated` of the devices that the matrix is spread over, in the same order"
        ))
    })
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
/// What each device needs whole, or writes for itself, is a [`Replicated`](super::Replicated): `(&pixels, &curve, &mut counts)`, say. The closure may use what it borrows besides: `&constants[place.index]`, of constants or textures that
/// were made for each device.
///
/// # Errors
/// [`Error::Shards`] if the matrices are spread otherwise: over other devices, with other rows to each, or with another halo; if a buffer was replaced by one that is too short; if a `Replicated` is on other devices, or nothing is a `Sharded`;
/// what the closure gives; as [`Launch::launch`].
pub fn launch_sharded<'e, S: ShardedBuffers>(
    arguments: S,
    mut launch: impl for<'s> FnMut(&'s LaunchPlace<'e>, S::Buffers<'s>) -> Result<Launch<'s>>,
) -> Result<()> {
    let parts = common_parts(&arguments)?;
    let mut lent = arguments.lend();
    for (index, (device, place)) in parts.into_iter().enumerate() {
        let place = LaunchPlace { place, borrowed: PhantomData };
        launch(&place, S::buffers(&mut lent, index))?.launch(&device)?;
    }
    Ok(())
}
