// ---- A device function with the name of one of the language
#[device]
fn any(v: f32) -> bool {
    v != 0.0
}

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A struct without `#[repr(C)]`
#[device]
#[derive(Clone, Copy)]
struct Particle {
    at: f32,
    speed: f32,
}

#[kernel(block = 256)]
fn step(p: &Global<Particle>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = p[i].at + p[i].speed;
}

// ---- A packed struct
#[device]
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Particle {
    at: f32,
    speed: f32,
}

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A struct aligned more than the device's accesses
#[device]
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Row {
    elements: [f32; 16],
}

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A group of parameters with two lifetimes
#[device]
struct Particles<'a, 'b> {
    at: &'a mut Global<f32>,
    speed: &'b Global<f32>,
}

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A group of parameters without names
#[device]
struct Particles<'a>(&'a mut Global<f32>, &'a Global<f32>);

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A matrix in a group of parameters
#[device]
struct Layer<'a> {
    weights: &'a Matrix<f32>,
    bias: &'a Global<f32>,
}

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A slice in a group of parameters
#[device]
struct Particles<'a> {
    at: &'a [f32],
    dt: f32,
}

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A group of parameters within another
#[device]
struct Particles<'a> {
    at: &'a Global<f32>,
}

#[device]
struct World<'a> {
    particles: Particles<'a>,
    dt: f32,
}

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- An enum with fields
#[device]
#[derive(Clone, Copy)]
enum Shape {
    Circle(f32),
    Square(f32),
}

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A trait implemented for the device
#[device]
impl Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A type within an `impl`
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Row {
    sum: f32,
}

#[device]
impl Row {
    type Element = f32;
}

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A `static` in a module of device code
#[warpwright::module]
mod filter {
    static WEIGHTS: [f32; 4] = [0.1, 0.4, 0.4, 0.1];

    #[kernel(block = 256)]
    pub fn clear(y: &mut Global<f32>) {
        y[global_id().x] = 0.0;
    }
}

// ---- A trait in a module of device code
#[warpwright::module]
mod filter {
    trait Weight {
        fn weight(self) -> f32;
    }

    #[kernel(block = 256)]
    pub fn clear(y: &mut Global<f32>) {
        y[global_id().x] = 0.0;
    }
}

// ---- A module within a module of device code
#[warpwright::module]
mod filter {
    mod inner {
        pub const SCALE: f32 = 2.0;
    }

    #[kernel(block = 256)]
    pub fn clear(y: &mut Global<f32>) {
        y[global_id().x] = 0.0;
    }
}

// ---- A kernel in an `impl`
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Particle {
    at: f32,
    speed: f32,
}

#[device]
impl Particle {
    #[kernel(block = 256)]
    fn step(particles: &mut Global<Particle>) {
        let i = global_id().x;
        particles[i].at += particles[i].speed;
    }
}
