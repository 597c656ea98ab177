//! `==` and `!=` of structs, tuples, arrays and enums, as `PartialEq` derives them.

use crate::bench::{Bench, cases, floats, words};
use warpwright::prelude::*;

cases!(structs_and_tuples, floats_and_nan, arrays_of_structs);

#[warpwright::module]
mod shapes {
    use warpwright::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(u32)]
    pub enum Kind {
        Plain = 1,
        Round = 5,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    pub struct Point {
        pub x: f32,
        pub y: f32,
    }

    #[derive(PartialEq, Clone, Copy, Debug)]
    #[repr(C)]
    pub struct Shape {
        pub at: [Point; 2],
        pub kind: Kind,
        pub id: u32,
    }

    impl Shape {
        fn is_same(&self, other: Shape) -> bool {
            *self == other
        }
    }

    fn shape(w: u32) -> Shape {
        let p = Point { x: (w % 3) as f32, y: (w % 2) as f32 };
        Shape { at: [p, Point { y: 0.0, ..p }], kind: if w % 2 == 0 { Kind::Plain } else { Kind::Round }, id: w % 2 }
    }

    #[kernel(block = 32)]
    pub fn compare(x: &Global<u32>, y: &mut Global<u32>) {
        let i = global_id().x;
        let (a, b) = (x[i], x[(i + 1) % x.len()]);
        let (p, q) = (shape(a), shape(b));
        let mut s = (p == q) as u32;
        s = s * 2 + (p != q) as u32;
        s = s * 2 + p.is_same(shape(a)) as u32;
        s = s * 2 + (p.at == q.at) as u32;
        s = s * 2 + (p.at[1] != q.at[0]) as u32;
        s = s * 2 + (p.kind == q.kind) as u32;
        s = s * 2 + ((a % 4, a > b, (p.kind, 1.5f32)) == (b % 4, a > b, (q.kind, 1.5))) as u32;
        s = s * 2 + ([a % 2, b % 2, 1] != [b % 2, a % 2, 1]) as u32;
        s = s * 2 + (() == ()) as u32;
        assert_eq!(p, p, "a shape is itself");
        while shape(s) == q {
            s += 1;
        }
        y[i] = s;
    }

    #[kernel(block = 32)]
    pub fn buffers(x: &Global<Shape>, y: &mut Global<u32>) {
        #[shared]
        let mut tile: [Shape; 32];
        let t = thread_idx().x;
        let i = global_id().x;
        tile[t] = x[i];
        sync_threads();
        let mut same = 0;
        for k in 0..32 {
            if tile[k] == x[i] && tile[k].at != [Point { x: 1.0, y: 1.0 }; 2] {
                same += 1;
            }
        }
        y[i] = same;
    }
}

fn structs_and_tuples(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(shapes::compare, &words(96), 1).map(drop)
}

/// A NaN is not equal to itself, nor is what holds one; −0 is equal to 0.
#[kernel(block = 32)]
fn of_floats(x: &Global<f32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    let w = x[(i + 1) % x.len()];
    let (a, b) = ((v, 1u32, [w; 3]), (v, 1u32, [w; 3]));
    let mut s = (a == b) as u32;
    s = s * 2 + (a != b) as u32;
    s = s * 2 + !(a == b) as u32;
    s = s * 2 + ([v, w] == [w, v]) as u32;
    s = s * 2 + ([v, w] != [w, v]) as u32;
    s = s * 2 + ((0.0 * v, 1) == (-0.0, 1)) as u32;
    y[i] = s;
}

fn floats_and_nan(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(of_floats, &floats(96), 1).map(drop)
}

fn arrays_of_structs(b: &mut Bench<'_>) -> warpwright::Result<()> {
    use shapes::{Kind, Point, Shape, buffers};
    let shape = |w: u32| {
        let p = Point { x: (w % 2) as f32, y: if w % 7 == 0 { f32::NAN } else { 1.0 } };
        Shape { at: [p; 2], kind: if w % 2 == 0 { Kind::Plain } else { Kind::Round }, id: w % 3 }
    };
    b.map(buffers, &words(64).into_iter().map(shape).collect::<Vec<_>>(), 1).map(drop)
}
