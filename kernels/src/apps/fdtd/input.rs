//! A wave's input, and what it becomes on a processor: in double precision, and as fast as one core can.

use super::{Error, Result};

/// The greatest Courant number with which a wave in a plane stays as large as it is, 1/√2 (Courant, Friedrichs and Lewy). Permittivities of 1 and above only slow it down.
pub const FASTEST: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// A box, what is in it, and what feeds the wave.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Cells in x. Those of the first and the last column are conducting walls.
    pub width: usize,
    /// Cells in y. Those of the first and the last row are conducting walls.
    pub height: usize,
    /// The Courant number c·Δt/Δx: above 0, and up to [`FASTEST`].
    pub rate: f32,
    /// The relative permittivity of each cell, row by row: 1 in a vacuum, more elsewhere.
    pub permittivity: Vec<f32>,
    /// Ez at the start, row by row. Walls count as 0. H is 0 half a step before.
    pub ez: Vec<f32>,
    /// Column and row of the source.
    pub source: (usize, usize),
    /// What it adds to Ez in each step. It is silent afterwards.
    pub samples: Vec<f32>,
}

/// What a wave is after some steps: three fields, row by row. H is half a step behind E.
#[derive(Debug, Clone, PartialEq)]
pub struct Fields<T> {
    /// The electric field.
    pub ez: Vec<T>,
    /// The magnetic field along x, half a cell below its cell.
    pub hx: Vec<T>,
    /// The magnetic field along y, half a cell to the right of its cell.
    pub hy: Vec<T>,
}

impl Input {
    /// A disc of glass (permittivity 2.25) right of the middle, and a pulse of 20 cells' wavelength from the middle.
    pub fn new(seed: u64, width: usize, height: usize) -> Input {
        let mut random = fastrand::Rng::with_seed(seed);
        let rate = 0.5f32;
        let (w, h) = (width as f32, height as f32);
        let (x0, y0, r) = (w * (0.65 + 0.1 * random.f32()), h * (0.45 + 0.1 * random.f32()), w.min(h) * 0.2);
        let place = |i: usize| ((i % width) as f32, (i / width) as f32);
        let glass = |(x, y): (f32, f32)| (x - x0).powi(2) + (y - y0).powi(2) < r * r;
        let permittivity = (0..width * height).map(|i| if glass(place(i)) { 2.25 } else { 1.0 }).collect();
        let phase = random.f32();
        let sample = |n: i32| {
            let t = rate * (n - 80) as f32;
            (-(t / 20.0).powi(2)).exp() * (std::f32::consts::TAU * (t / 20.0 + phase)).sin()
        };
        let samples = (0..160).map(sample).collect();
        Input { width, height, rate, permittivity, ez: vec![0.0; width * height], source: (width / 2, height / 2), samples }
    }

    pub(super) fn is_wall(&self, x: usize, y: usize) -> bool {
        x == 0 || y == 0 || x + 1 == self.width || y + 1 == self.height
    }

    /// The Courant number over the permittivity; 0 in the walls, where E never changes.
    pub fn material(&self) -> Vec<f32> {
        let cell = |i: usize| if self.is_wall(i % self.width, i / self.width) { 0.0 } else { self.rate / self.permittivity[i] };
        (0..self.width * self.height).map(cell).collect()
    }

    /// How much larger the root of the sum of all fields' squares may become. A step keeps a quadratic form of the fields that is between 1 - rate·√2 times that sum
    /// and 1 + rate·√2 times it and the greatest permittivity.
    fn growth(&self) -> f64 {
        let half = f64::from(self.rate) * 2f64.sqrt();
        let slowest = self.permittivity.iter().fold(1.0, |most, p| f64::from(*p).max(most));
        (slowest * (1.0 + half) / (1.0 - half)).sqrt()
    }

    /// By how much the fields in single precision may be off after `steps` steps, as the root of the sum of the squares of all errors; `reference` has the fields as they
    /// are. A step rounds each value 8 times at most, and what that adds grows no more than the fields do.
    pub fn error_bound(&self, steps: usize, reference: &Fields<f64>) -> f64 {
        let squares: f64 = reference.ez.iter().chain(&reference.hx).chain(&reference.hy).map(|v| v * v).sum();
        self.growth() * steps as f64 * 8.0 * f64::from(f32::EPSILON) / 2.0 * squares.sqrt()
    }

    /// An `Err` where the box has no cells, a map is not as large as the box, the source is outside of it or in a wall, a number is not finite or not that of a
    /// wave that stays finite. So fields are finite in every step, and walls, where kernels add 0 times what is round them, stay 0.
    pub(super) fn check(&self) -> Result<()> {
        let Input { width, height, rate, source: (x, y), .. } = *self;
        let refuse = |why: String| Err(Error::Input(why));
        if width == 0 || height == 0 {
            return refuse(format!("the box has {width} × {height} cells: it needs one at least"));
        }
        for (name, map) in [("permittivity", &self.permittivity), ("ez", &self.ez)] {
            if width.checked_mul(height) != Some(map.len()) {
                return refuse(format!("`{name}` has {} elements, the box {width} × {height} cells: make them as many", map.len()));
            }
        }
        if x >= width || y >= height || (self.is_wall(x, y) && !self.samples.is_empty()) {
            return refuse(format!(
                "the source is at ({x}, {y}), in the walls of a box of {width} × {height} cells or beyond: put it inside, or leave `samples` empty"
            ));
        }
        if !(rate > 0.0 && rate <= FASTEST) {
            return refuse(format!("`rate` is {rate}: it must be above 0 and at most {FASTEST}, beyond which waves grow without end"));
        }
        if let Some(cell) = self.permittivity.iter().position(|p| !(p.is_finite() && *p >= 1.0)) {
            let found = self.permittivity[cell];
            return refuse(format!("the permittivity of cell {cell} is {found}: it must be finite and at least 1, a vacuum's"));
        }
        if let Some(cell) = self.ez.iter().position(|e| !e.is_finite()) {
            return refuse(format!("`ez` of cell {cell} is {}: it must be finite", self.ez[cell]));
        }
        if let Some(step) = self.samples.iter().position(|sample| !sample.is_finite()) {
            return refuse(format!("sample {step} of the source is {}: it must be finite", self.samples[step]));
        }
        // What is in the box at the start, and all that the source may add to it.
        let start = self.ez.iter().map(|e| f64::from(*e).powi(2)).sum::<f64>().sqrt();
        let added: f64 = self.samples.iter().map(|sample| f64::from(*sample).abs()).sum();
        let largest = self.growth() * (start + added);
        // A step adds up four fields, and rounds.
        let most = f64::from(f32::MAX) / 8.0;
        if largest > most {
            return refuse(format!(
                "fields may become as large as {largest:e}: make `ez` and `samples` so small that they stay below {most:e}"
            ));
        }
        Ok(())
    }

    /// The fields after `steps` steps in double precision.
    pub fn reference(&self, steps: usize) -> Fields<f64> {
        let (w, h) = (self.width, self.height);
        let rate = f64::from(self.rate);
        let mut ez: Vec<f64> = (0..w * h).map(|i| if self.is_wall(i % w, i / w) { 0.0 } else { f64::from(self.ez[i]) }).collect();
        let (mut hx, mut hy) = (vec![0.0; w * h], vec![0.0; w * h]);
        for step in 0..steps {
            for y in 0..h {
                for x in 0..w {
                    let beyond = |inside: bool, at: usize| if inside { ez[at] } else { 0.0 };
                    hx[y * w + x] -= rate * (beyond(y + 1 < h, (y + 1) * w + x) - ez[y * w + x]);
                    hy[y * w + x] += rate * (beyond(x + 1 < w, y * w + x + 1) - ez[y * w + x]);
                }
            }
            for y in 1..h.saturating_sub(1) {
                for x in 1..w.saturating_sub(1) {
                    let curl = hy[y * w + x] - hy[y * w + x - 1] - hx[y * w + x] + hx[(y - 1) * w + x];
                    ez[y * w + x] += rate / f64::from(self.permittivity[y * w + x]) * curl;
                }
            }
            let (x, y) = self.source;
            ez[y * w + x] += self.samples.get(step).map_or(0.0, |sample| f64::from(*sample));
        }
        Fields { ez, hx, hy }
    }

    /// What one core does in `steps` steps: rows in order, E one row behind H, so that each row passes through the cache once a step.
    pub fn one_core(&self, steps: usize) -> Fields<f32> {
        self.one_core_from(&self.material(), self.start(), steps)
    }

    /// The fields at the start, 0 in the walls.
    pub fn start(&self) -> Fields<f32> {
        let (w, h) = (self.width, self.height);
        let ez = (0..w * h).map(|i| if self.is_wall(i % w, i / w) { 0.0 } else { self.ez[i] }).collect();
        Fields { ez, hx: vec![0.0; w * h], hy: vec![0.0; w * h] }
    }

    /// What one core does in the first `steps` steps of the source with [`Input::material`] known, and from these fields on.
    pub fn one_core_from(&self, material: &[f32], fields: Fields<f32>, steps: usize) -> Fields<f32> {
        let (w, h) = (self.width, self.height);
        let Fields { mut ez, mut hx, mut hy } = fields;
        for step in 0..steps {
            for y in 0..h {
                let (hx_above, hx) = hx.split_at_mut(y * w);
                let (hx, hy) = (&mut hx[..w], &mut hy[y * w..][..w]);
                if y + 1 < h {
                    let (here, below) = (&ez[y * w..][..w], &ez[(y + 1) * w..][..w]);
                    for x in 0..w {
                        hx[x] -= self.rate * (below[x] - here[x]);
                    }
                }
                let here = &mut ez[y * w..][..w];
                for x in 0..w - 1 {
                    hy[x] += self.rate * (here[x + 1] - here[x]);
                }
                if y > 0 && y + 1 < h {
                    let (above, material) = (&hx_above[(y - 1) * w..], &material[y * w..][..w]);
                    for x in 1..w - 1 {
                        here[x] += material[x] * ((hy[x] - hy[x - 1]) - (hx[x] - above[x]));
                    }
                }
            }
            let (x, y) = self.source;
            ez[y * w + x] += self.samples.get(step).copied().unwrap_or(0.0);
        }
        Fields { ez, hx, hy }
    }
}
