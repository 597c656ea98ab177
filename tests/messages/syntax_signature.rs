// ---- A kernel that returns something
#[kernel(block = 256)]
fn first(x: &Global<f32>) -> f32 {
    x[0]
}

// ---- A `const` kernel
#[kernel(block = 256)]
const fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A kernel written as a method
#[kernel(block = 256)]
fn scale(self, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * y[i];
    }
}

// ---- An `unsafe` kernel
#[kernel(block = 256)]
unsafe fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A kernel that is `extern "C"`, as CUDA's are without mangled names
#[kernel(block = 256)]
extern "C" fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- An `async` device function
#[device]
async fn twice(v: f32) -> f32 {
    2.0 * v
}

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 0.0;
    }
}

// ---- A lifetime among a kernel's generics
#[kernel(block = 256)]
fn double<'a>(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A lifetime of a buffer
#[kernel(block = 256)]
fn double(x: &'static Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A const generic that is a float
#[kernel(block = 256)]
fn fill<const VALUE: f32>(y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = VALUE;
    }
}

// ---- A bound that the device does not know
#[kernel(block = 256)]
fn double<T: Add>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i] + x[i];
    }
}

// ---- A misspelt bound
#[kernel(block = 256)]
fn double<T: Floats>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i] + x[i];
    }
}

// ---- A type parameter without a bound
#[kernel(block = 256)]
fn copy<T>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i];
    }
}

// ---- Variants of a generic that the kernel does not have
#[kernel(block = 256, variants(SCALE in [1, 2], TILE in [4, 8]))]
fn scale<const SCALE: i32>(y: &mut Global<i32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = SCALE * y[i];
    }
}

// ---- Variants that leave out a generic
#[kernel(block = 256, variants(SCALE in [1, 2]))]
fn scale<const SCALE: i32, const SHIFT: i32>(y: &mut Global<i32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = SCALE * y[i] + SHIFT;
    }
}

// ---- A number as the value of a `bool` generic
#[kernel(block = 256, variants(NEGATE in [0, 1]))]
fn scale<const NEGATE: bool>(y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = if NEGATE { -y[i] } else { 2.0 * y[i] };
    }
}

// ---- A parameter taken apart in the list
#[kernel(block = 256)]
fn scale((a, b): (f32, f32), y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * y[i] + b;
    }
}

// ---- A raw pointer, as CUDA's kernels take
#[kernel(block = 256)]
fn double(x: *const f32, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * y[i];
    }
}

// ---- A slice as a parameter
#[kernel(block = 256)]
fn double(x: &[f32], y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A slice as a parameter, without the `&`
#[kernel(block = 256)]
fn double(x: [f32], y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- `impl Trait` as a parameter
#[kernel(block = 256)]
fn scale(a: impl Float, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * y[i];
    }
}

// ---- A function as a parameter
#[kernel(block = 256)]
fn apply(f: fn(f32) -> f32, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * y[i];
    }
}

// ---- A reference to a trait object
#[kernel(block = 256)]
fn apply(f: &dyn Fn(f32) -> f32, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * y[i];
    }
}

// ---- A buffer without `&`
#[kernel(block = 256)]
fn double(x: Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A `Vec` as a parameter
#[kernel(block = 256)]
fn double(x: Vec<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- An `Option` as a parameter
#[kernel(block = 256)]
fn scale(a: Option<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * y[i];
    }
}

// ---- A reference to an array
#[kernel(block = 256)]
fn filter(weights: &[f32; 4], y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = weights[0] * y[i];
    }
}

// ---- A buffer without the type of its elements
#[kernel(block = 256)]
fn clear(y: &mut Global) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 0.0;
    }
}

// ---- Constant memory that is to be written
#[kernel(block = 256)]
fn fill(table: &mut Constant<[f32; 256]>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = table[7];
    }
}

// ---- A texture that is to be written
#[kernel(block = 256)]
fn draw(image: &mut Texture2d<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = image.fetch(i as i32, 0);
    }
}

// ---- A group of parameters by reference
#[device]
struct Particles<'a> {
    x: &'a mut Global<f32>,
    dt: f32,
}

#[kernel(block = 256)]
fn step(p: &mut Particles<'_>) {
    let i = global_id().x;
    if i < p.x.len() {
        p.x[i] += p.dt;
    }
}

// ---- A misspelt `Global`
#[kernel(block = 256)]
fn double(x: &Gobal<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- One number to be written, by `&mut`
#[kernel(block = 256)]
fn count(x: &Global<f32>, n: &mut u32) {
    let i = global_id().x;
    if i < x.len() && x[i] > 0.0 {
        n += 1;
    }
}

// ---- One number by reference
#[kernel(block = 256)]
fn scale(a: &f32, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * y[i];
    }
}

// ---- A device function that takes a number by reference
#[device]
fn grow(v: &mut f32) {
    v += 1.0;
}

#[kernel(block = 256)]
fn clear(y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 0.0;
    }
}

// ---- A reference to a reference to a buffer
#[kernel(block = 256)]
fn double(x: &&Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}
