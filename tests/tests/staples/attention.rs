//! Attention: random lengths, heads, groups and pitches against double precision; and what is refused.

use super::{Short, benches};
use warpwright::DeviceKind;
use warpwright::prelude::{bf16, f16};
use warpwright_kernels::staples::attention::{Attention, AttentionElement, attention};
use warpwright_tests::random::Random;

/// What a case is of.
#[derive(Clone, Copy, Debug)]
struct Case {
    about: Attention,
    queries: usize,
    keys: usize,
    size: usize,
    /// Elements behind a row.
    room: usize,
}

fn agrees<T: Short + AttentionElement>(b: &mut super::Bench, case: Case) {
    let Case { about: Attention { heads, group, is_causal, scale }, queries, keys, size, room } = case;
    let pitch = size + room;
    let (rows, of_keys) = (heads * queries, heads / group * keys);
    let mut matrix = |rows: usize| -> Vec<T> { (0..rows * pitch).map(|_| T::of(b.random.float() * 4.0 - 2.0)).collect() };
    let (q, k, v) = (matrix(rows), matrix(of_keys), matrix(of_keys));
    let before: Vec<T> = vec![T::of(7.0); rows * pitch];
    let (on_q, on_k, on_v, mut on_o) = (b.upload(&q), b.upload(&k), b.upload(&v), b.upload(&before));
    let view = |buffer, rows| b.device.matrix(buffer, rows, size).and_then(|view| view.pitch(pitch)).expect("fits");
    let matrices = [view(&on_q, rows), view(&on_k, of_keys), view(&on_v, of_keys)];
    let o = b.device.matrix_mut(&mut on_o, rows, size).and_then(|view| view.pitch(pitch)).expect("fits");
    attention(&b.stream, &case.about, matrices, o).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    let found = on_o.download().expect("downloads");
    let scale = scale.map_or(1.0 / (size as f64).sqrt(), f64::from);
    for row in 0..rows {
        let (head, query) = (row / queries, row % queries);
        let first = head / group * keys;
        let visible = if is_causal { query + keys - queries + 1 } else { keys };
        let dot = |key: usize| (0..size).map(|i| q[row * pitch + i].wide() * k[(first + key) * pitch + i].wide()).sum::<f64>() * scale;
        let scores: Vec<f64> = (0..visible).map(dot).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let total: f64 = weights.iter().sum();
        for column in 0..size {
            let of_key = |key: usize| weights[key] / total * v[(first + key) * pitch + column].wide();
            let (sum, magnitude) = (0..visible).map(of_key).fold((0.0, 0.0), |(s, m), v| (s + v, m + v.abs()));
            let bound = 2.0 * T::ROUNDING * magnitude + T::ROUNDING * sum.abs() + 1e-5;
            let one = found[row * pitch + column].wide();
            assert!((one - sum).abs() <= bound, "{case:?} on {}: row {row}, column {column} is {one}, {sum} within {bound}", b.device);
        }
        assert!(found[row * pitch + size..(row + 1) * pitch].iter().all(|v| v.wide() == 7.0), "behind row {row}, {case:?}");
    }
}

#[test]
fn attention_is_that_of_double_precision() {
    for mut b in benches() {
        // PoCL takes seconds to compile a kernel, and the host twin runs threads one by one.
        let (cases, most) = match b.device.kind() {
            DeviceKind::Cuda => (60, 700),
            DeviceKind::Simulator => (10, 140),
            DeviceKind::OpenCl => (1, 100),
            _ => (2, 30),
        };
        for number in 0..cases {
            let mut random = Random::new(number as u64 + 1);
            let is_causal = random.chance(50);
            let keys = 1 + random.below(most);
            let queries = if is_causal { 1 + random.below(keys) } else { 1 + random.below(most) };
            let (group, of_keys) = (random.pick(&[1, 1, 2, 3]), 1 + random.below(2));
            let about = Attention { heads: group * of_keys, group, is_causal, scale: random.pick(&[None, Some(0.3)]) };
            let case = Case { about, queries, keys, size: random.pick(&[64, 128]), room: random.pick(&[0, 8, 3]) };
            if number % 3 == 2 {
                agrees::<f16>(&mut b, case);
            } else {
                agrees::<bf16>(&mut b, case);
            }
        }
        println!("ran: attention ({cases} on {})", b.device.name());
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let benches = benches();
    let [b, ..] = &benches[..] else { panic!("the simulator is always there") };
    let x = b.upload(&[bf16::ONE; 64 * 12]);
    let mut y = b.upload(&[bf16::ONE; 64 * 12]);
    let about = Attention { heads: 2, group: 1, is_causal: false, scale: None };
    let mut refused = |about: Attention, extents: [(usize, usize); 4], text: &str| {
        let [q, k, v] = [0, 1, 2].map(|i| b.device.matrix(&x, extents[i].0, extents[i].1).expect("fits"));
        let o = b.device.matrix_mut(&mut y, extents[3].0, extents[3].1).expect("fits");
        let error = attention(&b.stream, &about, [q, k, v], o).expect_err(text).to_string();
        assert_eq!(error, format!("`attention::attention`: {text}"));
    };
    let right = (6, 64);
    let group = "`group` is 3, and there are 2 heads; give a number of heads, and one that divides it";
    refused(Attention { group: 3, ..about }, [right; 4], group);
    refused(about, [(6, 32); 4], "`q` is a matrix of 32 columns; take heads of 64 or 128 elements; pad others with zeros");
    refused(about, [(5, 64); 4], "`q` is a matrix of 5 × 64, and there are 2 heads; give every head as many rows");
    let keys = "`k` is a matrix of 3 × 64, and there are 2 heads of 64 columns; give every head of keys as many rows, and q's columns";
    refused(about, [right, (3, 64), right, right], keys);
    refused(about, [right, right, (4, 64), right], "`v` is a matrix of 4 × 64, and k is a matrix of 6 × 64; give it k's extents");
    refused(about, [right, right, right, (4, 64)], "`o` is a matrix of 4 × 64, and q is a matrix of 6 × 64; give it q's extents");
    refused(about, [right, (0, 64), (0, 64), right], "`k` is without rows; give every query a key to attend to");
    let scale = "`scale` is 0; give a number greater than zero, or none for 1 / √size";
    refused(Attention { scale: Some(0.0), ..about }, [right; 4], scale);
    let causal = "`q` is of 3 rows a head, and k has 2; give a causal head at least as many keys as queries, or leave `is_causal` out";
    refused(Attention { is_causal: true, ..about }, [right, (4, 64), (4, 64), right], causal);
}
