//! Triangle meshes, and the equations that linear elements make of them.

use super::super::{Error, Result};
use super::Matrix;

/// Triangles over nodes in the plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// Where each node is.
    pub nodes: Vec<[f64; 2]>,
    /// The three nodes of each triangle, either way round.
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// A unit square with a round hole in its middle, finer towards the left and the bottom: `width` × `height` nodes on a graded grid, each moved by up to a fifth
    /// of the way to its neighbours, each cell cut along either diagonal, numbered at random. Nodes within the hole are in no triangle, and keep their numbers.
    pub fn new(seed: u64, width: usize, height: usize) -> Mesh {
        let mut random = fastrand::Rng::with_seed(seed);
        // Lines of the grid, the last ones some three times as far apart as the first.
        let lines =
            |n: usize| -> Vec<f64> { (0..n).map(|i| i as f64 / n.max(2).saturating_sub(1) as f64).map(|t| t * (1.0 + t) / 2.0).collect() };
        let (across, along) = (lines(width), lines(height));
        let room = |lines: &[f64], i: usize| {
            let left = if i > 0 { lines[i] - lines[i - 1] } else { f64::INFINITY };
            let right = if i + 1 < lines.len() { lines[i + 1] - lines[i] } else { f64::INFINITY };
            let least = left.min(right);
            if least.is_finite() { 0.2 * least } else { 0.0 }
        };
        let mut numbers: Vec<u32> = (0..(width * height) as u32).collect();
        random.shuffle(&mut numbers);
        let mut nodes = vec![[0.0; 2]; width * height];
        for j in 0..height {
            for i in 0..width {
                let mut moved = |lines: &[f64], k: usize| lines[k] + (2.0 * random.f64() - 1.0) * room(lines, k);
                nodes[numbers[j * width + i] as usize] = [moved(&across, i), moved(&along, j)];
            }
        }
        let mut triangles = Vec::new();
        for j in 1..height {
            for i in 1..width {
                let (x, y) = ((across[i - 1] + across[i]) / 2.0 - 0.5, (along[j - 1] + along[j]) / 2.0 - 0.5);
                if x * x + y * y < 0.04 {
                    continue;
                }
                let corner = |i: usize, j: usize| numbers[j * width + i];
                let [a, b, c, d] = [corner(i - 1, j - 1), corner(i, j - 1), corner(i, j), corner(i - 1, j)];
                triangles.extend(if random.bool() { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
            }
        }
        random.shuffle(&mut triangles);
        Mesh { nodes, triangles }
    }

    /// The matrix `stiffness · K + mass · M` and the right side M·f, of linear elements: K the integrals of ∇φᵢ·∇φⱼ, M those of φᵢ·φⱼ. A node of no triangle has
    /// an empty row. An `Err` where a triangle has a node that there is not, or no area.
    pub fn assemble(&self, stiffness: f64, mass: f64, f: impl Fn([f64; 2]) -> f64) -> Result<(Matrix, Vec<f32>)> {
        let n = self.nodes.len();
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
        let mut right = vec![0.0f64; n];
        for (number, corners) in self.triangles.iter().enumerate() {
            if let Some(node) = corners.iter().find(|node| **node as usize >= n) {
                return Err(Error::Input(format!("triangle {number} has node {node}: there are {n} nodes")));
            }
            let at = corners.map(|node| self.nodes[node as usize]);
            // Each corner's opposite edge, whose normal is the gradient of the corner's function, but for twice the area.
            let edge = |k: usize| [at[(k + 2) % 3][0] - at[(k + 1) % 3][0], at[(k + 2) % 3][1] - at[(k + 1) % 3][1]];
            let edges = [edge(0), edge(1), edge(2)];
            let area = (edges[0][0] * edges[1][1] - edges[0][1] * edges[1][0]).abs() / 2.0;
            if !(area > 0.0 && area.is_finite()) {
                return Err(Error::Input(format!("triangle {number} has the area {area}: it must be a number above 0")));
            }
            for i in 0..3 {
                for j in 0..3 {
                    let slopes = (edges[i][0] * edges[j][0] + edges[i][1] * edges[j][1]) / (4.0 * area);
                    let overlap = if i == j { area / 6.0 } else { area / 12.0 };
                    right[corners[i] as usize] += overlap * f(at[j]);
                    let value = stiffness * slopes + mass * overlap;
                    let row = &mut rows[corners[i] as usize];
                    match row.iter_mut().find(|(column, _)| *column == corners[j]) {
                        Some((_, sum)) => *sum += value,
                        None => row.push((corners[j], value)),
                    }
                }
            }
        }
        let mut matrix = Matrix { starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for mut row in rows {
            row.sort_unstable_by_key(|(column, _)| *column);
            matrix.columns.extend(row.iter().map(|(column, _)| *column));
            matrix.values.extend(row.iter().map(|(_, value)| *value as f32));
            let end = u32::try_from(matrix.columns.len())
                .map_err(|_| Error::Input("the matrix has 2³² elements or more: rows begin at 32-bit numbers".into()))?;
            matrix.starts.push(end);
        }
        Ok((matrix, right.into_iter().map(|value| value as f32).collect()))
    }
}
