//! Modules, device functions across them, kernels with attributes of every kind.

use crate::bench::{Bench, cases, tame, words};

cases!(within_a_module, across_modules, imported, aliases, private_helpers, plain_functions);

/// Shared code.
#[warpwright::module]
pub(crate) mod shapes {
    use warpwright::prelude::*;

    pub(crate) const SIDES: usize = 3;
    const WEIGHTS: [f32; SIDES] = [0.5, 0.25, 0.125];
    type Real = f32;

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    pub(crate) struct Triangle {
        pub(crate) sides: [Real; SIDES],
        pub(crate) kind: Kind,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(i32)]
    pub(crate) enum Kind {
        Flat = -1,
        Plain,
        Equal,
    }

    impl Triangle {
        pub(crate) const UNIT: Triangle = Triangle { sides: [1.0; SIDES], kind: Kind::Equal };

        pub(crate) fn perimeter(&self) -> Real {
            let mut sum = 0.0;
            for k in 0..SIDES {
                sum += self.sides[k];
            }
            sum
        }

        pub(crate) fn grow(&mut self, by: Real) {
            for k in 0..SIDES {
                self.sides[k] *= by + WEIGHTS[k];
            }
            self.kind = self.judge();
        }

        fn judge(self) -> Kind {
            let [a, b, c] = self.sides;
            if a == b && b == c {
                return Kind::Equal;
            }
            if a + b <= c || b + c <= a || c + a <= b { Kind::Flat } else { Kind::Plain }
        }
    }

    #[device]
    pub(crate) fn area(t: Triangle) -> f32 {
        let s = t.perimeter() / 2.0;
        let [a, b, c] = t.sides;
        (s * (s - a) * (s - b) * (s - c)).max(0.0).sqrt()
    }

    #[kernel(block = 32, contract = false)]
    pub(crate) fn triangles(x: &Global<Triangle>, y: &mut Global<f32>) {
        let i = global_id().x;
        let mut t = x[i];
        t.grow(1.5);
        let rank = match t.kind {
            Kind::Flat => -100.0,
            Kind::Plain => 1.0,
            Kind::Equal => area(Triangle::UNIT),
        };
        y[i] = area(t) + rank + (t.kind as i32) as f32;
    }

    #[kernel(block = 32)]
    pub(crate) fn kinds(x: &Global<Triangle>, y: &mut Global<i32>) {
        let i = global_id().x;
        y[i] = x[i].kind as i32 * 10 + x[i].judge() as i32;
    }

    /// A function of the host.
    pub(crate) fn some(sides: &[f32]) -> Vec<Triangle> {
        sides.windows(3).map(|w| Triangle { sides: [w[0].abs(), w[1].abs(), w[2].abs()], kind: Kind::Plain }).collect()
    }
}

fn within_a_module(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let all = shapes::some(&tame(66));
    b.map(shapes::triangles, &all, 1)?;
    let found = b.map(shapes::kinds, &all, 1)?;
    let flat = |t: &shapes::Triangle| t.sides.iter().any(|&a| 2.0 * a >= t.perimeter());
    b.check("kinds", found.iter().zip(&all).filter(|(_, t)| flat(t)).all(|(k, _)| *k < 0));
    Ok(())
}

mod plain {
    use warpwright::prelude::*;

    #[device]
    pub(crate) fn mix(a: u32, b: u32) -> u32 {
        scramble(a ^ b.rotate_left(ROUNDS)) + inner::deeper(b)
    }

    const ROUNDS: u32 = 9;

    #[device]
    fn scramble(mut v: u32) -> u32 {
        for _ in 0..ROUNDS % 4 {
            v ^= v << 13;
            v ^= v >> 17;
            v ^= v << 5;
        }
        v
    }

    pub(crate) mod inner {
        use super::super::shapes::{SIDES, Triangle, area};
        use warpwright::Num;
        use warpwright::prelude::*;

        #[device]
        pub(crate) fn deeper(v: u32) -> u32 {
            let t = Triangle { sides: [3.0, 4.0, 5.0], ..Triangle::UNIT };
            v + area(t) as u32 + SIDES as u32
        }

        #[device]
        pub(crate) fn generic<T: Num, const N: usize>(v: T) -> T {
            let mut r = v;
            for _ in 0..N {
                r = r + v;
            }
            r
        }
    }
}

mod user {
    use super::plain::inner::generic;
    use super::plain::{self, mix as blend};
    use warpwright::prelude::*;

    #[kernel(block = 32)]
    pub(super) fn mixing(x: &Global<u32>, y: &mut Global<u32>) {
        let i = global_id().x;
        let v = x[i];
        y[i] = blend(v, 3) ^ plain::mix(v, 5) ^ crate::modules::plain::inner::deeper(v) ^ generic::<u32, 2>(v);
        y[i] += generic::<_, 3>(1.5f64) as u32 + super::plain::inner::generic::<i8, 1>(-1) as u32;
    }
}

fn across_modules(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(64);
    let found = b.map(user::mixing, &xs, 1)?;
    let expected = xs.iter().map(|&v| {
        let m = plain::mix(v, 3) ^ plain::mix(v, 5) ^ v.wrapping_add(9) ^ v.wrapping_mul(3);
        m.wrapping_add(6).wrapping_sub(2)
    });
    b.expect("mixes", &found, expected);
    Ok(())
}

#[warpwright::module]
mod importer {
    use super::plain::inner::*;
    use super::shapes::{Kind, Triangle, area as surface};
    use warpwright::prelude::*;
    use warpwright_kernels::complex::Complex;

    #[kernel(block = 32, contract = false)]
    pub(super) fn imports(x: &Global<f32>, y: &mut Global<f32>) {
        let i = global_id().x;
        let mut t = Triangle { sides: [x[i].abs(), 2.0, 3.0], kind: Kind::Flat };
        t.grow(0.5);
        let mut c = Complex { re: x[i], im: 1.0 };
        c = step(c);
        y[i] = surface(t) + deeper(i as u32) as f32 + if t.kind == Kind::Plain { 5.0 } else { c.re + c.im };
    }

    #[device]
    fn step(c: Complex) -> Complex {
        Complex { re: c.re * c.re - c.im, ..c }
    }
}

fn imported(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(importer::imports, &tame(64), 1).map(drop)
}

#[warpwright::module]
mod aliased {
    use warpwright::prelude::*;

    type Row = [u16; 4];
    type Number = u32;
    const TABLE: [Row; 2] = [[1, 2, 3, 4], [50, 60, 70, 80]];
    const LAST: Number = TABLE[1][3] as Number * 2 + FIRST;
    const FIRST: Number = 1 << 4;
    const fn square(v: Number) -> Number {
        v * v
    }

    #[kernel(block = THREADS)]
    pub(super) fn tables(x: &Global<Number>, y: &mut Global<Number>) {
        let i = global_id().x;
        let v = x[i] as usize;
        let row: Row = TABLE[v % 2];
        y[i] = row[v % 4] as Number + LAST + TABLE[(v / 2) % 2][3] as Number;
    }

    const THREADS: usize = 16 * 2;

    pub(super) fn host() -> Number {
        square(LAST)
    }
}

fn aliases(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.check("constants", aliased::host() == 176 * 176);
    b.map(aliased::tables, &words(64), 1).map(drop)
}

#[warpwright::module]
mod two_kernels {
    use warpwright::prelude::*;

    #[device]
    fn weigh(x: &Global<f32>, i: usize, radius: usize) -> f32 {
        let from = if i < radius { 0 } else { i - radius };
        let to = (i + radius + 1).min(x.len());
        let mut s = 0.0;
        for k in from..to {
            s += x[k];
        }
        s / (to - from) as f32
    }

    #[kernel(block = 32, contract = false)]
    pub(super) fn narrow(x: &Global<f32>, y: &mut Global<f32>) {
        let i = global_id().x;
        if i < x.len() {
            y[i] = weigh(x, i, 1);
        }
    }

    #[kernel(block = 64, contract = false)]
    pub(super) fn broad(x: &Global<f32>, y: &mut Global<f32>) {
        let i = global_id().x;
        if i < x.len() {
            y[i] = weigh(x, i, 5) - weigh(x, x.len() - 1 - i, 2);
        }
    }
}

fn private_helpers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(two_kernels::narrow, &tame(75), 1)?;
    b.map(two_kernels::broad, &tame(75), 1).map(drop)
}

/// Functions without a mark: what kernels call is device code, the rest is the host's.
#[warpwright::module]
mod unmarked {
    use warpwright::Int;
    use warpwright::prelude::*;

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Pair {
        low: u32,
        high: u32,
    }

    impl Pair {
        fn folded(self) -> u32 {
            twice(self.low) ^ self.high
        }
    }

    fn twice(a: u32) -> u32 {
        shifted::<u32, 1>(a)
    }

    fn shifted<T: Int, const N: u32>(a: T) -> T {
        (a << N).max(T::ONE)
    }

    fn fill(tile: &mut [u32; 32], v: u32) {
        tile[thread_idx().x] = v;
        sync_threads();
    }

    fn above(a: u32) -> u32 {
        twice(a) + 1
    }

    /// The host's: it is nothing that a device has.
    pub(super) fn reference(xs: &[u32]) -> Vec<u32> {
        let mut all: Vec<u32> = xs.iter().map(|x| twice(*x)).collect();
        all.reverse();
        all
    }

    #[kernel(block = 32)]
    pub(super) fn folds(x: &Global<u32>, y: &mut Global<u32>) {
        let i = global_id().x;
        #[shared]
        let mut tile: [u32; 32];
        fill(&mut tile, above(x[i]));
        let pair = Pair { low: tile[31 - thread_idx().x], high: twice(x[i]) };
        y[i] = pair.folded();
    }
}

fn plain_functions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(96);
    let found = b.map(unmarked::folds, &xs, 1)?;
    let doubled = unmarked::reference(&xs);
    let expected = (0..96).map(|i| {
        let above = |x: u32| (x << 1).max(1).wrapping_add(1);
        let other = above(xs[i / 32 * 32 + 31 - i % 32]);
        (other << 1).max(1) ^ doubled[95 - i]
    });
    b.expect("folds", &found, expected);
    Ok(())
}
