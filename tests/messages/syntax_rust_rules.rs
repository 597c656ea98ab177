// ---- Two kernels of one name
#[kernel(block = 256)]
fn scale(x: &Global<f32>, y: &mut Global<f32>) {
    y[global_id().x] = 2.0 * x[global_id().x];
}

#[kernel(block = 256)]
fn scale(x: &Global<f64>, y: &mut Global<f64>) {
    y[global_id().x] = 2.0 * x[global_id().x];
}

// ---- Two parameters of one name
#[kernel(block = 256)]
fn add(x: &Global<f32>, x: &Global<f32>, y: &mut Global<f32>) {
    y[global_id().x] = x[global_id().x];
}

// ---- A field given twice
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

#[kernel(block = 256)]
fn points(out: &mut Global<Point>) {
    out[global_id().x] = Point { x: 1.0, x: 2.0, y: 0.0 };
}

// ---- Alternatives that bind different names
#[kernel(block = 256)]
fn choose(n: u32, y: &mut Global<u32>) {
    match (n, n) {
        (a, 1) | (1, b) => y[global_id().x] = 1,
        _ => y[global_id().x] = 2,
    }
}

// ---- NaN as a pattern
#[kernel(block = 256)]
fn clean(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = match x[i] {
        f32::NAN => 0.0,
        v => v,
    };
}

// ---- A pattern that leaves out a field
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

#[kernel(block = 256)]
fn abscissas(points: &Global<Point>, out: &mut Global<f32>) {
    let Point { x } = points[global_id().x];
    out[global_id().x] = x;
}

// ---- A pattern with `..` twice
#[kernel(block = 256)]
fn first(y: &mut Global<f32>) {
    let (a, .., b, ..) = (1.0f32, 2.0, 3.0, 4.0);
    y[global_id().x] = a + b;
}

// ---- A constant beyond its type
const MOST: u8 = 256;

#[kernel(block = 256)]
fn copy(x: &Global<u8>, y: &mut Global<u8>) {
    y[global_id().x] = x[global_id().x];
}

// ---- A constant that calls a function
const SCALE: f32 = scale();

#[device]
fn scale() -> f32 {
    2.0
}

#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    y[global_id().x] = x[global_id().x];
}

// ---- A struct that is not `Copy`
#[device]
#[repr(C)]
struct Point {
    x: f32,
}

#[kernel(block = 256)]
fn copy(x: &Global<Point>, y: &mut Global<Point>) {
    y[global_id().x] = x[global_id().x];
}

// ---- A derive that there is not
use warpwright::prelude::*;

#[device]
#[derive(Clone, Copy, Partialeq)]
#[repr(C)]
struct Point {
    x: f32,
}

// ---- A derive that needs another
#[device]
#[derive(Clone, Copy, Eq)]
#[repr(C)]
struct Cell {
    column: u32,
}

// ---- A derive that a field has not
#[device]
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
struct Point {
    x: f32,
}

// ---- A buffer of nothing
#[kernel(block = 256)]
fn copy(x: &Global<()>, y: &mut Global<()>) {
    y[global_id().x] = x[global_id().x];
}

// ---- A buffer of places
#[kernel(block = 256)]
fn places(y: &mut Global<Dim3>) {
    y[0] = thread_idx();
}

// ---- A representation that there is not
#[device]
#[derive(Clone, Copy)]
#[repr(f32)]
enum Mode {
    Fast,
}

// ---- Two representations
#[device]
#[derive(Clone, Copy)]
#[repr(u8, u16)]
enum Mode {
    Fast,
}

// ---- An enum without variants
#[device]
#[derive(Clone, Copy)]
#[repr(u8)]
enum Mode {}

// ---- Two variants of one value
#[device]
#[derive(Clone, Copy)]
#[repr(u8)]
enum Mode {
    Fast = 1,
    Precise = 0,
    Both,
}

// ---- A name of the language that nothing imports
use warpwright::prelude::*;

#[kernel(block = 256)]
fn neighbours(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = shuffle_down(x[i], 1);
}

// ---- Names of the prelude without it
use warpwright::{device, kernel};

#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    y[global_id().x] = x[global_id().x];
}

// ---- The attribute without the prelude
use std::f32::consts::PI;

#[kernel(block = 256)]
fn turn(y: &mut Global<f32>) {
    y[global_id().x] = PI;
}

// ---- The host's half of the prelude alone
use warpwright::host_prelude::*;

#[kernel(block = 256)]
fn twice(y: &mut Global<f32>) {
    y[global_id().x] *= 2.0;
}

// ---- Bounds that nothing imports
use warpwright::prelude::*;

#[device]
fn half<T: Float, U: Scale>(a: T, b: U) -> T {
    a
}

// ---- A generic of a function with a default
#[device]
fn times<const N: usize = 2>(a: f32) -> f32 {
    a * N as f32
}

// ---- A type parameter that no field has
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Point<T> {
    x: f32,
}

// ---- Two `impl`s of a type for the device
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Point {
    x: f32,
}

#[device]
impl Point {
    fn left(self) -> f32 {
        self.x - 1.0
    }
}

#[device]
impl Point {
    fn right(self) -> f32 {
        self.x + 1.0
    }
}

// ---- A name that a module has not, and one that is its own
mod shapes {
    use warpwright::prelude::*;

    #[device]
    fn area(side: f32) -> f32 {
        side * side
    }
}

mod limits {
    pub const MOST: u32 = 4;
}

#[kernel(block = 256)]
fn areas(x: &Global<f32>, y: &mut Global<f32>) {
    y[global_id().x] = shapes::area(x[global_id().x]) + limits::LEAST as f32;
}

// ---- `==` of an enum without it
#[device]
#[derive(Clone, Copy)]
#[repr(u8)]
enum Mode {
    Fast,
    Precise,
}

#[kernel(block = 256)]
fn modes(modes: &Global<Mode>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = if modes[i] == Mode::Fast { 1.0 } else { 2.0 };
}

// ---- An attribute that there is not
#[kernal(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    y[global_id().x] = x[global_id().x];
}

// ---- `#[kernel]` on a struct
#[kernel(block = 256)]
struct Copy {
    x: f32,
}

// ---- A kernel in a trait
trait Run {
    #[kernel(block = 256)]
    fn run(y: &mut Global<f32>);
}

// ---- A function without a body, and a constant without a value
#[device]
fn area(side: f32) -> f32;

// ---- A mark on a constant
#[device]
const SIDE: f32 = 2.0;

// ---- Methods of a type of Rust's own
#[device]
impl f32 {
    fn twice(self) -> f32 {
        self + self
    }
}

// ---- Methods of a type that there is not
use warpwright::prelude::*;

#[device]
impl Point {
    fn left(self) -> f32 {
        1.0
    }
}

// ---- A generic of an `impl` that its type has not
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Point {
    x: f32,
}

#[device]
impl<const N: usize> Point {
    fn times(self) -> f32 {
        self.x * N as f32
    }
}

// ---- A variable with the name of a const generic
#[kernel(block = 256, variants(N in [1, 2]))]
fn times<const N: usize>(y: &mut Global<f32>) {
    let N = 4;
    y[global_id().x] = N as f32;
}

// ---- A `let` under `||`
#[kernel(block = 256)]
fn either(n: u32, y: &mut Global<f32>) {
    if let 1 = n || n > 3 {
        y[global_id().x] = 1.0;
    }
}
