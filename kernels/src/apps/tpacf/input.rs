//! Galaxies and random points, and their pairs counted on a processor: one by one, and as fast as one core can.

use super::{BINS, EDGES};
use std::ops::Range;

/// Points on the unit sphere, a coordinate each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sphere {
    /// Their first coordinates.
    pub x: Vec<f32>,
    /// Their second coordinates.
    pub y: Vec<f32>,
    /// Their third coordinates.
    pub z: Vec<f32>,
}

impl Sphere {
    fn push(&mut self, [x, y, z]: [f64; 3]) {
        let length = (x * x + y * y + z * z).sqrt();
        self.x.push((x / length) as f32);
        self.y.push((y / length) as f32);
        self.z.push((z / length) as f32);
    }

    pub(super) fn at(&self, i: usize) -> [f32; 3] {
        [self.x[i], self.y[i], self.z[i]]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }
}

/// Galaxies, random points to compare them with, and bins.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// The galaxies.
    pub galaxies: Sphere,
    /// Points that do not crowd, mostly several times as many.
    pub random: Sphere,
    /// The cosines of the angles between the bins, falling: at most [`EDGES`]. Before the first and behind the last is a bin, too.
    pub edges: Vec<f32>,
}

/// How many pairs are in each bin, from close ones to distant ones: a bin more than there are edges.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// Pairs of galaxies.
    pub galaxies: Vec<u64>,
    /// Pairs of a galaxy and a random point.
    pub mixed: Vec<u64>,
    /// Pairs of random points.
    pub random: Vec<u64>,
}

impl Counts {
    /// How much more often than by chance two galaxies are that far apart, by Landy and Szalay's estimate (DD - 2·DR + RR) / RR; NaN in a bin without pairs of
    /// random points.
    pub fn correlation(&self, galaxies: usize, random: usize) -> Vec<f64> {
        let (d, r) = (galaxies as f64, random as f64);
        let bin = |((dd, dr), rr): ((&u64, &u64), &u64)| {
            let rr = *rr as f64 / (r * (r - 1.0) / 2.0);
            (*dd as f64 / (d * (d - 1.0) / 2.0) - 2.0 * *dr as f64 / (d * r) + rr) / rr
        };
        self.galaxies.iter().zip(&self.mixed).zip(&self.random).map(bin).collect()
    }
}

impl Input {
    /// `galaxies` galaxies, most of them in clusters a degree or so wide, and `random` random points; bins of a sixth of a decade from 10 to 10,000 minutes of arc.
    pub fn new(seed: u64, galaxies: usize, random: usize) -> Input {
        let mut draw = fastrand::Rng::with_seed(seed);
        let mut normal = || (-2.0 * (1.0 - draw.f64()).ln()).sqrt() * (std::f64::consts::TAU * draw.f64()).cos();
        let mut clustered = Sphere::default();
        let mut centre = [0.0; 3];
        for i in 0..galaxies {
            // Three in the field for each cluster of 21.
            if i % 24 < 4 {
                let place = [normal(), normal(), normal()];
                let length = place.iter().map(|v| v * v).sum::<f64>().sqrt();
                centre = place.map(|v| v / length);
                clustered.push(centre);
            } else {
                clustered.push(centre.map(|v| v + 0.02 * normal()));
            }
        }
        let mut free = Sphere::default();
        (0..random).for_each(|_| free.push([normal(), normal(), normal()]));
        let edge = |k: i32| (10.0 * 10f64.powf(f64::from(k) / 6.0) / 60.0).to_radians().cos() as f32;
        Input { galaxies: clustered, random: free, edges: (0..=18).map(edge).collect() }
    }

    /// The counts, each pair's bin by asking edge after edge. The cosine is rounded as the kernels round it, since a count has no tolerance: in double precision
    /// a pair at an edge may fall on its other side.
    pub fn reference(&self) -> Counts {
        let count = |a: &Sphere, b: &Sphere, same: bool| {
            let mut bins = vec![0; self.edges.len() + 1];
            for i in 0..a.len() {
                for j in if same { i + 1 } else { 0 }..b.len() {
                    let cosine = a.x[i] * b.x[j] + a.y[i] * b.y[j] + a.z[i] * b.z[j];
                    bins[self.edges.iter().filter(|edge| cosine < **edge).count()] += 1;
                }
            }
            bins
        };
        Counts {
            galaxies: count(&self.galaxies, &self.galaxies, true),
            mixed: count(&self.galaxies, &self.random, false),
            random: count(&self.random, &self.random, true),
        }
    }

    /// What one core does: cosines by the dozen, which the compiler makes vectors of, and a search by halves. `part` are the points to begin pairs with, the galaxies before
    /// the random points; all counts together are the pairs that were looked at.
    pub fn one_core(&self, part: Range<usize>) -> Counts {
        let mut edges = [f32::NEG_INFINITY; EDGES];
        edges[..self.edges.len()].copy_from_slice(&self.edges);
        let count = |bins: &mut [u64; BINS], own: [f32; 3], others: &Sphere, from: usize| {
            let (x, y, z) = (&others.x[from..], &others.y[from..], &others.z[from..]);
            for ((x, y), z) in x.chunks(64).zip(y.chunks(64)).zip(z.chunks(64)) {
                let mut cosines = [0.0f32; 64];
                for (c, ((x, y), z)) in cosines.iter_mut().zip(x.iter().zip(y).zip(z)) {
                    *c = own[0] * x + own[1] * y + own[2] * z;
                }
                for c in &cosines[..x.len()] {
                    let mut bin = 0;
                    for half in [16, 8, 4, 2, 1] {
                        bin += if *c < edges[bin + half - 1] { half } else { 0 };
                    }
                    bins[bin] += 1;
                }
            }
        };
        let (mut dd, mut dr, mut rr) = ([0; BINS], [0; BINS], [0; BINS]);
        for i in part {
            match i.checked_sub(self.galaxies.len()) {
                None => {
                    count(&mut dd, self.galaxies.at(i), &self.galaxies, i + 1);
                    count(&mut dr, self.galaxies.at(i), &self.random, 0);
                }
                Some(i) => count(&mut rr, self.random.at(i), &self.random, i + 1),
            }
        }
        let used = self.edges.len() + 1;
        Counts { galaxies: dd[..used].to_vec(), mixed: dr[..used].to_vec(), random: rr[..used].to_vec() }
    }
}
