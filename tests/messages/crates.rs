// ---- A function of another file that is not marked
// file src/lib.rs
mod other;
use other::twice;
#[kernel(block = 64)]
fn scale(y: &mut Global<f32>) {
    y[global_id().x] = twice(y[global_id().x]);
}
// file src/other.rs
pub fn twice(x: f32) -> f32 {
    2.0 * x
}
// ---- A function of a type of another file whose `impl` is not marked
// file src/lib.rs
mod other;
use other::Pair;
#[kernel(block = 64)]
fn scale(p: Pair, y: &mut Global<f32>) {
    y[global_id().x] *= p.sum();
}
// file src/other.rs
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pair {
    a: f32,
    b: f32,
}
impl Pair {
    pub fn sum(self) -> f32 {
        self.a + self.b
    }
}
// ---- A type of another file that is not marked
// file src/lib.rs
mod other;
use other::Pair;
#[kernel(block = 64)]
fn scale(p: Pair, y: &mut Global<f32>) {
    y[global_id().x] *= p.a;
}
// file src/other.rs
#[derive(Clone, Copy)]
pub struct Pair {
    pub a: f32,
    pub b: f32,
}
// ---- A name of another crate
// file src/lib.rs
use physics::GRAVITY;
#[kernel(block = 64)]
fn fallen(y: &mut Global<f32>) {
    y[global_id().x] -= GRAVITY;
}
