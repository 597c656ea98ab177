// ---- A function that is chosen by a value
#[device]
fn half(a: f32) -> f32 { a * 0.5 }

#[device]
fn twice(a: f32) -> f32 { a * 2.0 }

#[kernel(block = 256)]
fn apply(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = (if i < n { half } else { twice })(x[i]);
}

// ---- `Self` where there is no type of its own
#[kernel(block = 256)]
fn wrap(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let value = Self(x[i]);
    y[i] = value.0;
}

// ---- A function that is nowhere
#[kernel(block = 256)]
fn eased(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = smoothstep(x[i]);
}

// ---- A misspelt function
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_thread();
    y[t] = tile[255 - t];
}

// ---- A method that is called like a function of C
#[kernel(block = 256)]
fn lengths(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = hypot(x[i], 1.0);
}

// ---- A function of the standard library that kernels have not
#[kernel(block = 256)]
fn padded(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = x[i] * std::mem::size_of::<f32>() as u32;
}

// ---- A tuple struct made without one of its fields
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Pair(f32, f32);

#[kernel(block = 256)]
fn pairs(x: &Global<f32>, y: &mut Global<Pair>) {
    let i = global_id().x;
    y[i] = Pair(x[i]);
}

// ---- An axis as an argument, as in OpenCL C
#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id(0);
    y[i] = x[i];
}

// ---- A function that a struct does not have
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Point { x: f32, y: f32 }

#[kernel(block = 256)]
fn points(x: &Global<f32>, y: &mut Global<Point>) {
    let i = global_id().x;
    y[i] = Point::new(x[i], 0.0);
}

// ---- A function of `u32` that kernels have not
#[kernel(block = 256)]
fn words(x: &Global<u8>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = u32::from_le_bytes([x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]]);
}

// ---- A misspelt function of `f16`
#[kernel(block = 256)]
fn narrowed(x: &Global<f64>, y: &mut Global<f16>) {
    let i = global_id().x;
    y[i] = f16::from_f65(x[i]);
}

// ---- A method with too few arguments
#[kernel(block = 256)]
fn unit(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i].clamp(0.0);
}

// ---- The hardware's sine of a double
#[kernel(block = 256)]
fn waves(x: &Global<f64>, y: &mut Global<f64>) {
    let i = global_id().x;
    y[i] = native_sin(x[i]);
}

// ---- A kernel called by a kernel
#[kernel(block = 256)]
fn double(y: &mut Global<f32>) {
    y[global_id().x] *= 2.0;
}

#[kernel(block = 256)]
fn fourfold(y: &mut Global<f32>) {
    double(y);
    double(y);
}

// ---- More generic arguments than a function has
#[device]
fn power<const N: usize>(a: f32) -> f32 { a.powi(N as i32) }

#[kernel(block = 256)]
fn cubes(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = power::<3, f32>(x[i]);
}

// ---- A number where a function is generic over a type
#[device]
fn twice<T: Num>(a: T) -> T { a + a }

#[kernel(block = 256)]
fn doubled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = twice::<32>(x[i]);
}

// ---- A type where a function is generic over a number
#[device]
fn power<const N: usize>(a: f32) -> f32 { a.powi(N as i32) }

#[kernel(block = 256)]
fn cubes(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = power::<f32>(x[i]);
}

// ---- A device function with too many arguments
#[device]
fn square(a: f32) -> f32 { a * a }

#[kernel(block = 256)]
fn squares(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = square(x[i], 2.0);
}

// ---- A thread's own array where a function takes one by reference
#[device]
fn sum(v: &[f32; 4]) -> f32 { v[0] + v[1] + v[2] + v[3] }

#[kernel(block = 256)]
fn sums(x: &Global<[f32; 4]>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x[i];
    y[i] = sum(v);
}

// ---- A buffer that is called like a function
#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x(i);
}

// ---- A misspelt function that is nearest to a kernel
#[device]
fn scaled(a: f32) -> f32 { 2.0 * a }

#[kernel(block = 256)]
fn scale(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = scales(x[i]);
}

// ---- A `Dim3` that is made by hand
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    let at = Dim3::new(1, 2, 3);
    y[at.x] = 1.0;
}

// ---- A function of `Self` where there is no type of its own
#[kernel(block = 256)]
fn wrap(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = Self::wrapped(x[i]);
}

// ---- A function of a type that is nowhere
#[kernel(block = 256)]
fn points(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = Length::new(x[i]);
}

// ---- Values without the names of their fields
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

#[kernel(block = 256)]
fn points(out: &mut Global<Point>) {
    out[global_id().x] = Point(1.0, 2.0);
}

// ---- A macro without its `!`
#[kernel(block = 256)]
fn show(y: &mut Global<f32>) {
    println("{}", y[global_id().x]);
}
