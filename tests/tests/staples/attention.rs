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
    /// Of keys, and how many of queries have one.
    heads: usize,
    group: usize,
    queries: usize,
    keys: usize,
    size: usize,
    /// Elements behind a row.
    room: usize,
    /// Whether heads lie beside each other.
    beside: bool,
    /// Whether the last head of keys is of nothing but NaN: only its own queries see it.
    has_nan: bool,
}

/// How heads lie in a buffer.
#[derive(Clone, Copy)]
struct Layout {
    heads: usize,
    length: usize,
    pitch: usize,
    stride: usize,
}

impl Layout {
    fn of(case: &Case, heads: usize, length: usize) -> Layout {
        let row = case.size + case.room;
        let (pitch, stride) = if case.beside { (heads * row, row) } else { (row, length * row) };
        Layout { heads, length, pitch, stride }
    }

    fn place(self, head: usize, row: usize) -> usize {
        head * self.stride + row * self.pitch
    }
}

fn agrees<T: Short + AttentionElement>(b: &mut super::Bench, case: Case) {
    let Case { about: Attention { is_causal, scale }, heads, group, queries, keys, size, room, has_nan, .. } = case;
    let (of_q, of_k) = (Layout::of(&case, heads * group, queries), Layout::of(&case, heads, keys));
    // What is behind a row is nobody's.
    let mut some = |layout: Layout| -> Vec<T> {
        let mut all = vec![T::of(f32::NAN); layout.heads * layout.length * (size + room)];
        for (head, row) in (0..layout.heads).flat_map(|head| (0..layout.length).map(move |row| (head, row))) {
            all[layout.place(head, row)..][..size].fill_with(|| T::of(b.random.float() * 4.0 - 2.0));
        }
        all
    };
    let (q, mut k, mut v) = (some(of_q), some(of_k), some(of_k));
    if has_nan {
        for row in 0..keys {
            for all in [&mut k, &mut v] {
                all[of_k.place(heads - 1, row)..][..size].fill(T::of(f32::NAN));
            }
        }
    }
    let before: Vec<T> = vec![T::of(7.0); q.len()];
    let (on_q, on_k, on_v, mut on_o) = (b.upload(&q), b.upload(&k), b.upload(&v), b.upload(&before));
    let view = |buffer, layout: Layout| {
        let first = b.device.matrix(buffer, layout.length, size).and_then(|view| view.pitch(layout.pitch)).expect("fits");
        first.batch(layout.heads, layout.stride).expect("fits")
    };
    let o = b.device.matrix_mut(&mut on_o, queries, size).and_then(|view| view.pitch(of_q.pitch)).expect("fits");
    let o = o.batch(of_q.heads, of_q.stride).expect("fits");
    let matrices = [view(&on_q, of_q), view(&on_k, of_k), view(&on_v, of_k)];
    attention(&b.stream, &case.about, matrices, o).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    let found = on_o.download().expect("downloads");
    let scale = scale.map_or(1.0 / (size as f64).sqrt(), f64::from);
    let mut is_result = vec![false; found.len()];
    for (head, query) in (0..heads * group).flat_map(|head| (0..queries).map(move |query| (head, query))) {
        let (row, key) = (of_q.place(head, query), |key: usize| of_k.place(head / group, key));
        is_result[row..row + size].fill(true);
        if has_nan && head / group == heads - 1 {
            continue;
        }
        let visible = if is_causal { query + keys - queries + 1 } else { keys };
        let dot = |at: usize| (0..size).map(|i| q[row + i].wide() * k[key(at) + i].wide()).sum::<f64>() * scale;
        let scores: Vec<f64> = (0..visible).map(dot).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let total: f64 = weights.iter().sum();
        for column in 0..size {
            let of_key = |at: usize| weights[at] / total * v[key(at) + column].wide();
            let (sum, magnitude) = (0..visible).map(of_key).fold((0.0, 0.0), |(s, m), v| (s + v, m + v.abs()));
            let bound = 2.0 * T::ROUNDING * magnitude + T::ROUNDING * sum.abs() + 1e-5;
            let one = found[row + column].wide();
            let is_near = (one - sum).abs() <= bound;
            assert!(is_near, "{case:?} on {}: head {head}, row {query}, column {column} is {one}, {sum} within {bound}", b.device);
        }
    }
    assert!(found.iter().zip(&is_result).all(|(v, is_result)| *is_result || v.wide() == 7.0), "behind a row, {case:?}");
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
            let about = Attention { is_causal, scale: random.pick(&[None, Some(0.3)]) };
            let (heads, group) = (1 + random.below(2), random.pick(&[1, 1, 2, 3]));
            let (size, room) = (random.pick(&[64, 128]), random.pick(&[0, 8, 3]));
            let case = Case { about, heads, group, queries, keys, size, room, beside: random.chance(40), has_nan: random.chance(40) };
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
    let mut refused = |about: Attention, extents: [(usize, usize, usize); 4], text: &str| {
        let [q, k, v] = [0, 1, 2].map(|i| {
            let (heads, rows, columns) = extents[i];
            b.device.matrix(&x, rows, columns).and_then(|first| first.batch(heads, rows * columns)).expect("fits")
        });
        let (heads, rows, columns) = extents[3];
        let o = b.device.matrix_mut(&mut y, rows, columns).and_then(|first| first.batch(heads, rows * columns)).expect("fits");
        let error = attention(&b.stream, &about, [q, k, v], o).expect_err(text).to_string();
        assert_eq!(error, format!("`attention::attention`: {text}"));
    };
    let (about, right) = (Attention::default(), (2, 3, 64));
    refused(about, [(2, 3, 32); 4], "`q` is of heads of 32 columns; take heads of 64 or 128 elements; pad others with zeros");
    let columns = "`k` is 2 heads of 3 × 32, and q is 2 heads of 3 × 64; give it q's columns";
    refused(about, [right, (2, 3, 32), right, right], columns);
    let values = "`v` is 2 heads of 2 × 64, and k is 2 heads of 3 × 64; give it k's heads and their extents";
    refused(about, [right, right, (2, 2, 64), right], values);
    let results = "`o` is 1 head of 3 × 64, and q is 2 heads of 3 × 64; give it q's heads and their extents";
    refused(about, [right, right, right, (1, 3, 64)], results);
    let heads = "`k` is 3 heads of 3 × 64, and q is 2 heads of 3 × 64; give it a number of heads that divides q's";
    refused(about, [right, (3, 3, 64), (3, 3, 64), right], heads);
    refused(about, [right, (2, 0, 64), (2, 0, 64), right], "`k` is without rows; give every query a key to attend to");
    let scale = "`scale` is 0; give a number greater than zero, or none for 1 / √size";
    refused(Attention { scale: Some(0.0), ..about }, [right; 4], scale);
    let causal = "`q` is of 3 rows a head, and k has 2; give a causal head at least as many keys as queries, or leave `is_causal` out";
    refused(Attention { is_causal: true, ..about }, [right, (2, 2, 64), (2, 2, 64), right], causal);
}
