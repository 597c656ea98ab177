//! Buffers and values that a kernel takes as one parameter: structures of arrays.

use warpwright::Num;
use warpwright::prelude::*;
use warpwright::{Error, Variants};

/// Mutable and shared buffers, constants and values, side by side.
#[device]
struct Particles<'a> {
    pub x: &'a mut Global<f32>,
    pub v: &'a mut Global<f32>,
    pub mass: &'a Global<f32>,
    pub forces: &'a Constant<[f32; 4]>,
    pub dt: f32,
    pub wrap: [u32; 2],
}

#[device]
impl Particles<'_> {
    fn energy(&self, i: usize) -> f32 {
        0.5 * self.mass[i] * self.v[i] * self.v[i]
    }

    fn push(&mut self, i: usize, force: f32) {
        self.v[i] += force / self.mass[i] * self.dt;
        self.x[i] += self.v[i] * self.dt;
    }
}

#[device]
fn total(p: &Particles<'_>, scale: f32, i: usize) -> f32 {
    p.energy(i) * scale + first(p.mass)
}

#[device]
fn first(mass: &Global<f32>) -> f32 {
    mass[0]
}

#[kernel(block = 64)]
fn step(rounds: u32, mut p: Particles<'_>, energy: &mut Global<f32>) {
    let i = global_id().x;
    if i < p.x.len() {
        for round in 0..rounds as usize {
            p.push(i, p.forces[(i + round) % 4]);
        }
        if p.wrap[1] > 7 {
            p.x[i] -= 1.0;
        }
        energy[i] = total(&p, 2.0, i);
    }
}

/// Two groups of one type, generic, with a kernel's own options.
#[device]
struct Pair<'a, T: Num> {
    pub a: &'a Global<T>,
    pub b: &'a mut Global<T>,
    pub factor: T,
}

#[kernel(block = B, ilp = 4, batch_loads, variants(B in [64, 128], T in [f32, u32]))]
fn scale_both<const B: usize, T: Num>(n: u32, first: Pair<'_, T>, second: Pair<'_, T>) {
    let i = global_id().x;
    if i < n as usize {
        first.b[i] = first.a[i] * first.factor;
        second.b[i] = second.a[i] * second.factor;
    }
}

#[warpwright::module]
mod grid {
    use warpwright::prelude::*;

    pub(super) struct Grid<'a> {
        pub cells: &'a Global<u32>,
        pub next: &'a mut Global<u32>,
        pub width: usize,
    }

    impl Grid<'_> {
        fn at(&self, x: usize, y: usize) -> u32 {
            self.cells[y * self.width + x]
        }
    }

    #[kernel(block = (8, 8))]
    pub(super) fn blur(grid: Grid<'_>) {
        let (x, y) = (global_id().x, global_id().y);
        let rows = grid.cells.len() / grid.width;
        if x < grid.width && y < rows {
            let left = if x > 0 { grid.at(x - 1, y) } else { 0 };
            let up = if y > 0 { grid.at(x, y - 1) } else { 0 };
            grid.next[y * grid.width + x] = grid.at(x, y) + left + up;
        }
    }

    #[kernel(block = 64)]
    pub(super) fn histogram(grid: Grid<'_>) {
        let i = global_id().x;
        if i < grid.cells.len() {
            grid.next.atomic_add(grid.cells[i] as usize % grid.width, 1);
        }
    }
}

use grid::GridBuffers;

/// What `step` does, on the host.
fn expected(rounds: usize, x: &[f32], v: &[f32], mass: &[f32], forces: [f32; 4], dt: f32) -> (Vec<f32>, Vec<f32>) {
    let (mut xs, mut energies) = (Vec::new(), Vec::new());
    for i in 0..x.len() {
        let (mut xi, mut vi) = (x[i], v[i]);
        for round in 0..rounds {
            vi += forces[(i + round) % 4] / mass[i] * dt;
            xi += vi * dt;
        }
        xs.push(xi - 1.0);
        energies.push(0.5 * mass[i] * vi * vi * 2.0 + mass[0]);
    }
    (xs, energies)
}

#[test]
fn a_group_is_one_parameter_on_every_device() {
    let n = 300;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let (v, mass) = (vec![1.0f32; n], (0..n).map(|i| (1 + i % 8) as f32).collect::<Vec<_>>());
    // Powers of two: contracted or not, every result is exact.
    let forces = [1.0, 2.0, -4.0, 0.5];
    let mass: Vec<f32> = mass.iter().map(|m| if *m > 3.0 { 4.0 } else { 2.0 }).collect();
    let (xs, energies) = expected(3, &x, &v, &mass, forces, 0.5);
    for device in Device::all() {
        let (mut bx, mut bv, bm) = (device.upload(&x).unwrap(), device.upload(&v).unwrap(), device.upload(&mass).unwrap());
        let constants = device.constant(forces).unwrap();
        let mut energy = device.zeros::<f32>(n).unwrap();
        for _ in 0..2 {
            bx.write(&x).unwrap();
            bv.write(&v).unwrap();
            let group = ParticlesBuffers { x: &mut bx, v: &mut bv, mass: &bm, forces: &constants, dt: 0.5, wrap: [0, 8] };
            step(3, group, &mut energy).cover(n).launch(&device).unwrap();
        }
        assert_eq!(bx.download().unwrap(), xs, "{device}");
        assert_eq!(energy.download().unwrap(), energies, "{device}");
    }
}

#[test]
fn groups_are_generic_and_several() {
    for device in Device::all() {
        let a = device.upload(&(0..500u32).collect::<Vec<_>>()).unwrap();
        let (mut b, mut c) = (device.zeros::<u32>(500).unwrap(), device.zeros::<u32>(500).unwrap());
        let variants: Variants<_> = scale_both_variants::<u32>();
        assert_eq!(variants.len(), 2);
        for variant in variants {
            let groups = (PairBuffers { a: &a, b: &mut b, factor: 2 }, PairBuffers { a: &a, b: &mut c, factor: 3 });
            variant.kernel()(500, groups.0, groups.1).cover(500).launch(&device).unwrap();
            assert_eq!(b.download().unwrap(), (0..500).map(|i| i * 2).collect::<Vec<u32>>(), "{device}, {variant}");
            assert_eq!(c.download().unwrap(), (0..500).map(|i| i * 3).collect::<Vec<u32>>(), "{device}, {variant}");
            b.clear().unwrap();
        }
    }
}

#[test]
fn groups_of_modules_have_methods_and_atomics() {
    for device in Device::all() {
        let cells: Vec<u32> = (0..20 * 10).map(|i| i * 7 % 13).collect();
        let (bc, mut next) = (device.upload(&cells).unwrap(), device.zeros::<u32>(200).unwrap());
        grid::blur(GridBuffers { cells: &bc, next: &mut next, width: 20 }).cover((20, 10)).launch(&device).unwrap();
        let at = |x: usize, y: usize| cells[y * 20 + x];
        let sum = |i: usize| {
            let (x, y) = (i % 20, i / 20);
            at(x, y) + if x > 0 { at(x - 1, y) } else { 0 } + if y > 0 { at(x, y - 1) } else { 0 }
        };
        assert_eq!(next.download().unwrap(), (0..200).map(sum).collect::<Vec<_>>(), "{device}");
        let mut counts = device.zeros::<u32>(5).unwrap();
        grid::histogram(GridBuffers { cells: &bc, next: &mut counts, width: 5 }).cover(200).launch(&device).unwrap();
        let expected: Vec<u32> = (0..5).map(|rest| cells.iter().filter(|cell| **cell % 5 == rest).count() as u32).collect();
        assert_eq!(counts.download().unwrap(), expected, "{device}");
    }
}

#[test]
fn buffers_of_a_group_are_parameters_to_the_compiler() {
    let device = Device::simulator();
    let (mut x, mut v, mass) = (device.zeros::<f32>(4).unwrap(), device.zeros(4).unwrap(), device.zeros(4).unwrap());
    let forces = device.constant([0.0; 4]).unwrap();
    let mut energy = device.zeros::<f32>(4).unwrap();
    let group = ParticlesBuffers { x: &mut x, v: &mut v, mass: &mass, forces: &forces, dt: 1.0, wrap: [0; 2] };
    let launch = step(1, group, &mut energy).cover(4);
    let ir = launch.ir().unwrap();
    for part in ["\"p.x\": global", "\"p.mass\": global", "\"p.forces\": constant", "\"p.dt\": value", "\"energy\": global"] {
        assert!(ir.contains(part.split(": ").next().unwrap()), "{part}: {ir}");
    }
    // What is only read is read as such, group or not.
    let ptx = launch.ptx("sm_90").unwrap();
    assert!(ptx.contains("ld.global.nc"), "{ptx}");
    assert!(launch.opencl_c().unwrap().contains("__global const float *restrict p_mass"), "{}", launch.opencl_c().unwrap());
}

#[test]
fn what_is_wrong_with_a_field_names_it() {
    let (device, host) = (Device::simulator(), Device::host());
    let (mut x, mut v, mass) = (device.zeros::<f32>(4).unwrap(), device.zeros(4).unwrap(), host.upload(&[1.0f32; 4]).unwrap());
    let forces = device.constant([0.0; 4]).unwrap();
    let mut energy = device.zeros::<f32>(4).unwrap();
    let group = ParticlesBuffers { x: &mut x, v: &mut v, mass: &mass, forces: &forces, dt: 1.0, wrap: [0; 2] };
    let error = step(1, group, &mut energy).cover(4).launch(&device).unwrap_err();
    assert!(matches!(error, Error::OtherDevice { parameter: "p.mass", .. }), "{error}");
    // The simulator names it, too: three elements of `mass` for four threads.
    let short = device.upload(&[1.0f32; 3]).unwrap();
    let group = ParticlesBuffers { x: &mut x, v: &mut v, mass: &short, forces: &forces, dt: 1.0, wrap: [0; 2] };
    let error = step(1, group, &mut energy).cover(4).launch(&device).unwrap_err().to_string();
    assert!(error.contains("index 3 is out of bounds of `p.mass`, which has 3 elements"), "{error}");
}
