//! Reductions by an operator of one's own: [`reduction!`](crate::reduction) defines the kernel and the function that calls it.

use super::checks::Call;
use super::workspace::{Slot, seen};
use super::{Result, Workspace};
use warpwright::Launch;
use warpwright::prelude::*;

/// What a launch of a kernel that [`reduction!`](crate::reduction) defines takes.
#[doc(hidden)]
#[derive(Debug)]
pub struct Operands<'a, T: Element> {
    /// Tickets before its first.
    pub before: u32,
    /// Elements.
    pub x: &'a Buffer<T>,
    /// Blocks' results.
    pub partials: &'a mut Buffer<T>,
    /// Tickets.
    pub tickets: &'a mut Buffer<u32>,
    /// The result.
    pub out: &'a mut Buffer<T>,
}

/// Calls a kernel that [`reduction!`](crate::reduction) defines.
#[doc(hidden)]
pub fn run<T: Element>(
    name: &'static str,
    stream: &Stream,
    x: &Buffer<T>,
    out: &mut Buffer<T>,
    workspace: &mut Workspace,
    launch: impl for<'a> Fn(Operands<'a, T>) -> Launch<'a>,
) -> Result<()> {
    let call = Call::new(name, stream).takes("x", x)?.fits("out", out, 1)?.workspace(workspace)?;
    let grid = x.len().max(1).div_ceil(256).min(8 * call.multiprocessors());
    // Whole words, however large an element is.
    let bytes = (grid * size_of::<T>()).next_multiple_of(8 * size_of::<T>().max(1));
    let mut run = workspace.begin(name, &[(Slot::Elements, bytes)])?;
    run.launch(grid, |before, _, parts| {
        let operands = Operands { before, x, partials: seen(parts.elements)?, tickets: parts.tickets, out };
        Ok(launch(operands).grid(grid).launch_on(stream)?)
    })
}

/// Defines a function that reduces a buffer by an operator of one's own, which is associative and commutative, from a value that changes nothing.
///
/// ```
/// use warpwright::Device;
/// use warpwright_kernels::staples::Workspace;
///
/// warpwright_kernels::reduction! {
///     /// The greatest common divisor of all elements.
///     fn divisor(a: u32, b: u32) -> u32 from 0 {
///         let (mut m, mut n) = (a, b);
///         while n != 0 {
///             (m, n) = (n, m % n);
///         }
///         m
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::simulator();
/// let (stream, mut workspace) = (device.default_stream(), Workspace::new(&device)?);
/// let (x, mut out) = (device.upload(&[84u32, 126, 210])?, device.zeros(1)?);
/// divisor(&stream, &x, &mut out, &mut workspace)?;
/// assert_eq!(out.download()?, [42]);
/// # Ok(())
/// # }
/// ```
///
/// Elements are scalars that warps exchange: integers of any width, floats. The order of the operations depends on the length and the device's number of multiprocessors only: a device gives
/// the same bits on every run. Errors are those of [`reduce::sum`](crate::staples::reduce::sum).
#[macro_export]
macro_rules! reduction {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($a:ident: $t:ident, $b:ident: $u:ident) -> $r:ident from $first:tt $body:block) => {
        $(#[$meta])*
        $vis fn $name(
            stream: &$crate::warpwright::Stream,
            x: &$crate::warpwright::Buffer<$t>,
            out: &mut $crate::warpwright::Buffer<$t>,
            workspace: &mut $crate::staples::Workspace,
        ) -> $crate::staples::Result<()> {
            #[allow(unused_imports)]
            use $crate::warpwright::prelude::*;
            use $crate::warpwright::warp::shuffle_xor;

            #[$crate::warpwright::device]
            fn combine($a: $t, $b: $u) -> $r $body

            #[$crate::warpwright::kernel(block = 256, allow(unchecked))]
            fn reduce(before: u32, x: &Global<$t>, partials: &mut Global<$t>, tickets: &mut Global<u32>, out: &mut Global<$t>) {
                #[shared]
                let mut room: [$t; 8];
                #[shared]
                let mut is_last: [bool; 1];
                let t = thread_idx().x;
                let blocks = grid_dim().x;
                let mut own: $t = $first;
                for i in (global_id().x..x.len()).step_by(blocks * 256) {
                    own = combine(own, x[i]);
                }
                for round in 0..2u32 {
                    for level in 0..5u32 {
                        own = combine(own, shuffle_xor(own, 16u32 >> level));
                    }
                    if lane_id() == 0 {
                        room[warp_id()] = own;
                    }
                    sync_threads();
                    if t == 0 {
                        for w in 1..8usize {
                            own = combine(own, room[w]);
                        }
                        if round == 0 {
                            partials[block_idx().x] = own;
                            fence_device();
                            let ticket = tickets.atomic_add(0, 1u32);
                            fence_device();
                            is_last[0] = ticket.wrapping_sub(before) as usize + 1 == blocks;
                        } else {
                            out[0] = own;
                        }
                    }
                    sync_threads();
                    if !is_last[0] {
                        break;
                    }
                    if round == 0 {
                        own = $first;
                        for b in (t..blocks).step_by(256) {
                            own = combine(own, partials[b]);
                        }
                    }
                }
            }

            $crate::staples::operator::run(stringify!($name), stream, x, out, workspace, |operands| {
                let $crate::staples::operator::Operands { before, x, partials, tickets, out } = operands;
                reduce(before, x, partials, tickets, out)
            })
        }
    };
}
