//! A fluid's input, and what it becomes on a processor: in double precision, and as fast as one core can.

use super::{Error, Q, Result};

/// Velocities of the model, in the order of [`super::Lattice::sources`].
pub const VELOCITIES: [[i32; 3]; Q] = [
    [0, 0, 0],
    [1, 0, 0],
    [-1, 0, 0],
    [0, 1, 0],
    [0, -1, 0],
    [0, 0, 1],
    [0, 0, -1],
    [1, 1, 0],
    [-1, -1, 0],
    [1, -1, 0],
    [-1, 1, 0],
    [1, 0, 1],
    [-1, 0, -1],
    [1, 0, -1],
    [-1, 0, 1],
    [0, 1, 1],
    [0, -1, -1],
    [0, 1, -1],
    [0, -1, 1],
];

/// The share of each velocity at rest.
fn weight(i: usize) -> f64 {
    match i {
        0 => 1.0 / 3.0,
        1..=6 => 1.0 / 18.0,
        _ => 1.0 / 36.0,
    }
}

/// What of density 1 has a velocity when all of it moves by `u` on average.
fn equilibrium(i: usize, u: [f64; 3]) -> f64 {
    let along: f64 = VELOCITIES[i].iter().zip(u).map(|(c, u)| f64::from(*c) * u).sum();
    let square: f64 = u.iter().map(|u| u * u).sum();
    weight(i) * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square)
}

/// Density and momentum of a cell's distribution.
pub fn moments(f: [f64; Q]) -> (f64, [f64; 3]) {
    let momentum = |axis: usize| f.iter().zip(&VELOCITIES).map(|(f, c)| f * f64::from(c[axis])).sum();
    (f.iter().sum(), [momentum(0), momentum(1), momentum(2)])
}

/// A box with obstacles, a fluid, and what drives it. Cells are numbered x first, then y, then z.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Cells in x.
    pub nx: usize,
    /// Cells in y.
    pub ny: usize,
    /// Cells in z.
    pub nz: usize,
    /// The time in which the fluid relaxes, in steps: above ½. Its viscosity is (τ - ½)/3.
    pub tau: f32,
    /// The acceleration that drives the fluid, in cells a step².
    pub force: [f32; 3],
    /// Whether a cell is an obstacle.
    pub solid: Vec<bool>,
    /// The velocity of the fluid in each cell at the start, in cells a step: well below 1/√3. Its density is 1.
    pub velocity: Vec<[f32; 3]>,
}

impl Input {
    /// A channel along x between two plates, with balls in it, the fluid in it pushed along and stirred a little.
    pub fn new(seed: u64, nx: usize, ny: usize, nz: usize) -> Input {
        let mut random = fastrand::Rng::with_seed(seed);
        let n = nx * ny * nz;
        let radius = 0.12 * (nx.min(ny).min(nz).max(4) as f32);
        let extents = [nx, ny, nz].map(|extent| extent as f32);
        let balls: Vec<[f32; 3]> = (0..6).map(|_| extents.map(|extent| extent * random.f32())).collect();
        let place = |cell: usize| [cell % nx, cell / nx % ny, cell / nx / ny];
        let within = |cell: usize, ball: &[f32; 3]| {
            place(cell).iter().zip(ball).map(|(p, b)| (*p as f32 - b).powi(2)).sum::<f32>() < radius * radius
        };
        let plate = |cell: usize| ny > 2 && (place(cell)[1] == 0 || place(cell)[1] == ny - 1);
        let solid = (0..n).map(|cell| plate(cell) || balls.iter().any(|ball| within(cell, ball))).collect();
        let velocity = (0..n).map(|_| [0.05, 0.0, 0.0].map(|u| u + 0.02 * (random.f32() - 0.5))).collect();
        Input { nx, ny, nz, tau: 0.8, force: [1e-4, 0.0, 0.0], solid, velocity }
    }

    /// Where the flow to a cell with velocity `i` comes from.
    fn source(&self, cell: usize, i: usize) -> usize {
        let back = |place: usize, step: i32, extent: usize| (place as i64 - i64::from(step)).rem_euclid(extent as i64) as usize;
        let [cx, cy, cz] = VELOCITIES[i];
        let (x, y, z) = (cell % self.nx, cell / self.nx % self.ny, cell / self.nx / self.ny);
        (back(z, cz, self.nz) * self.ny + back(y, cy, self.ny)) * self.nx + back(x, cx, self.nx)
    }

    /// The start: the distributions of velocity 0 in all cells, then those of velocity 1, and so on; 0 in obstacles.
    pub fn start(&self) -> Vec<f32> {
        let one = |i: usize, cell: usize| if self.solid[cell] { 0.0 } else { equilibrium(i, self.velocity[cell].map(f64::from)) as f32 };
        (0..Q).flat_map(|i| (0..self.solid.len()).map(move |cell| one(i, cell))).collect()
    }

    /// Which of the velocities come to a cell from obstacles, a bit each; bit 0 if it is one.
    pub fn walls(&self) -> Vec<u32> {
        let bit = |cell: usize, i: usize| u32::from(self.solid[self.source(cell, i)]) << i;
        (0..self.solid.len()).map(|cell| (0..Q).fold(0, |bits, i| bits | bit(cell, i))).collect()
    }

    /// The distributions after `steps` steps in double precision, in the order of `start`.
    pub fn reference(&self, steps: usize) -> Vec<f64> {
        let n = self.solid.len();
        let mut before: Vec<f64> = self.start().iter().map(|f| f64::from(*f)).collect();
        let tau = f64::from(self.tau);
        for _ in 0..steps {
            let mut after = vec![0.0; Q * n];
            for cell in (0..n).filter(|cell| !self.solid[*cell]) {
                let pulled = |i: usize| {
                    let from = self.source(cell, i);
                    let opposite = || VELOCITIES.iter().position(|c| *c == VELOCITIES[i].map(|c| -c)).unwrap_or(0);
                    if self.solid[from] { before[opposite() * n + cell] } else { before[i * n + from] }
                };
                let f: [f64; Q] = std::array::from_fn(pulled);
                let (density, momentum) = moments(f);
                let u: [f64; 3] = std::array::from_fn(|axis| momentum[axis] / density + tau * f64::from(self.force[axis]));
                for i in 0..Q {
                    after[i * n + cell] = f[i] + (density * equilibrium(i, u) - f[i]) / tau;
                }
            }
            before = after;
        }
        before
    }

    /// What one core does in `steps` steps: a structure of arrays, sixteen cells of a row at a time so that the compiler makes vectors of them.
    pub fn one_core(&self, steps: usize) -> Vec<f32> {
        let mut now = self.start();
        let mut other = now.clone();
        self.one_core_from(&self.walls(), &mut now, &mut other, steps);
        now
    }

    /// The same with [`Input::walls`] known: brings the distributions `now` forward, with room for as many in `other`.
    pub fn one_core_from(&self, walls: &[u32], now: &mut Vec<f32>, other: &mut Vec<f32>, steps: usize) {
        const LANES: usize = 16;
        let (n, nx) = (self.solid.len(), self.nx);
        let omega = 1.0 / self.tau;
        let push = self.force.map(|g| self.tau * g);
        for _ in 0..steps {
            for row in (0..n).step_by(nx) {
                // Where rows of velocity i come from: x is column 0 there, round the box.
                let rows: [usize; Q] = std::array::from_fn(|i| i * n + self.source(row, i) / nx * nx);
                for x in (0..nx).step_by(LANES) {
                    let count = LANES.min(nx - x);
                    let mut f = [[0.0f32; LANES]; Q];
                    for (i, f) in f.iter_mut().enumerate() {
                        let first = x as i64 - i64::from(VELOCITIES[i][0]);
                        if first >= 0 && first as usize + count <= nx {
                            f[..count].copy_from_slice(&now[rows[i] + first as usize..][..count]);
                        } else {
                            for (lane, f) in f[..count].iter_mut().enumerate() {
                                *f = now[rows[i] + (first + lane as i64).rem_euclid(nx as i64) as usize];
                            }
                        }
                    }
                    let walls = &walls[row + x..][..count];
                    for (lane, wall) in walls.iter().enumerate().filter(|(_, wall)| **wall != 0) {
                        for i in (1..Q).filter(|i| wall >> i & 1 == 1) {
                            f[i][lane] = now[(((i - 1) ^ 1) + 1) * n + row + x + lane];
                        }
                    }
                    let mut density = [0.0f32; LANES];
                    let mut u = [[0.0f32; LANES]; 3];
                    for (i, f) in f.iter().enumerate() {
                        for lane in 0..LANES {
                            density[lane] += f[lane];
                        }
                        for axis in 0..3 {
                            match VELOCITIES[i][axis] {
                                0 => {}
                                c => (0..LANES).for_each(|lane| u[axis][lane] += c as f32 * f[lane]),
                            }
                        }
                    }
                    let mut base = [1.0f32; LANES];
                    for axis in 0..3 {
                        for lane in 0..LANES {
                            u[axis][lane] = u[axis][lane] / density[lane] + push[axis];
                            base[lane] -= 1.5 * u[axis][lane] * u[axis][lane];
                        }
                    }
                    for (i, f) in f.iter().enumerate() {
                        let c = VELOCITIES[i].map(|c| c as f32);
                        let share = omega * weight(i) as f32;
                        let mut out = [0.0f32; LANES];
                        for lane in 0..LANES {
                            let along = c[0] * u[0][lane] + c[1] * u[1][lane] + c[2] * u[2][lane];
                            out[lane] = (1.0 - omega) * f[lane] + share * density[lane] * (base[lane] + along * (3.0 + 4.5 * along));
                        }
                        let place = &mut other[i * n + row + x..][..count];
                        for (lane, place) in place.iter_mut().enumerate() {
                            *place = if walls[lane] & 1 == 0 { out[lane] } else { 0.0 };
                        }
                    }
                }
            }
            std::mem::swap(now, other);
        }
    }

    /// By how much a distribution may be off in single precision after `steps` steps. Sums of 19 numbers, which are 1 together, are off by 18 roundings of 1 at most;
    /// what follows from three such sums, by at most three times that and a few more. A collision draws a cell to its equilibrium, so errors of steps add up.
    pub fn error_bound(&self, steps: usize) -> f64 {
        (3 * 18 + 10) as f64 * steps as f64 * f64::from(f32::EPSILON) / 2.0
    }

    pub(super) fn check(&self) -> Result<()> {
        let Input { nx, ny, nz, tau, .. } = *self;
        let refuse = |why: String| Err(Error::Input(why));
        if nx == 0 || ny == 0 || nz == 0 {
            return refuse(format!("the box has {nx} × {ny} × {nz} cells: it needs one at least"));
        }
        let cells = nx.checked_mul(ny).and_then(|n| n.checked_mul(nz));
        for (name, n) in [("solid", self.solid.len()), ("velocity", self.velocity.len())] {
            if cells != Some(n) {
                return refuse(format!("`{name}` has {n} elements, the box {nx} × {ny} × {nz} cells: make them as many"));
            }
        }
        if !tau.is_finite() || tau <= 0.5 {
            return refuse(format!("`tau` is {tau}: it must be above 0.5, where the viscosity is 0"));
        }
        if let Some(cell) = self.velocity.iter().position(|u| u.iter().any(|u| !u.is_finite())) {
            return refuse(format!("the velocity of cell {cell} is {:?}: it must be finite", self.velocity[cell]));
        }
        if self.force.iter().any(|g| !g.is_finite()) {
            return refuse(format!("the force is {:?}: it must be finite", self.force));
        }
        Ok(())
    }
}
