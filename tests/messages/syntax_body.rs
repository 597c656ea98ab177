// ---- The index written as in CUDA C++
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2.0 * x[i];
}

// ---- `threadIdx` of CUDA C++
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = block_idx().x * 256 + threadIdx.x;
    y[i] = 2.0 * x[i];
}

// ---- A type of CUDA C++
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v: float = x[i];
    y[i] = 2.0 * v;
}

// ---- A barrier of CUDA C++
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    tile[thread_idx().x] = x[global_id().x];
    __syncthreads();
    y[global_id().x] = tile[255 - thread_idx().x];
}

// ---- `printf` of C
#[kernel(block = 256)]
fn show(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = 2.0 * x[i];
    printf("%d: %5.2f\n", i, y[i]);
}

// ---- An atomic as a function, as in CUDA C++
#[kernel(block = 256)]
fn count(x: &Global<f32>, counts: &mut Global<u32>) {
    let i = global_id().x;
    if x[i] > 0.0 {
        atomicAdd(&mut counts[0], 1);
    }
}

// ---- A function of the language without its parentheses
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id.x;
    y[i] = 2.0 * x[i];
}

// ---- A function of the standard library
#[kernel(block = 256)]
fn positive(y: &mut Global<i32>) {
    let i = global_id().x;
    y[i] = std::cmp::max(0, y[i]);
}

// ---- A `Vec` in a kernel
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut v = Vec::new();
    v.push(x[i]);
    y[i] = v[0];
}

// ---- An `Option` in a kernel
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v: Option<f32> = Some(x[i]);
    y[i] = 2.0 * x[i];
}

// ---- An integer of 128 bits
#[kernel(block = 256)]
fn double(y: &mut Global<u64>) {
    let i = global_id().x;
    let wide = y[i] as u128;
    y[i] = 2 * y[i];
}

// ---- The macro `vec!`
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = vec![x[i], 2.0];
    y[i] = v[0] * v[1];
}

// ---- The macro `format!`
#[kernel(block = 256)]
fn show(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let text = format!("{}", x[i]);
    y[i] = 2.0 * x[i];
}

// ---- A misspelt macro
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    asert!(i < y.len());
    y[i] = 2.0 * x[i];
}

// ---- A macro of one's own
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = twice!(x[i]);
}

// ---- A closure
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let twice = |v: f32| 2.0 * v;
    let i = global_id().x;
    y[i] = twice(x[i]);
}

// ---- A reference to a variable
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut v = x[i];
    let r = &mut v;
    *r *= 2.0;
    y[i] = v;
}

// ---- A reference in a tuple
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x[i];
    let both = (&v, 2.0);
    y[i] = v * both.1;
}

// ---- A variable passed by reference
#[device]
fn twice(v: f32) -> f32 {
    2.0 * v
}

#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x[i];
    y[i] = twice(&v);
}

// ---- A result passed by reference
#[device]
fn twice(v: f32) -> f32 {
    2.0 * v
}

#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = twice(&twice(x[i]));
}

// ---- A slice of a buffer
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let four = &x[4..8];
    y[i] = four[0];
}

// ---- A slice as an operand
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[4..8].len() as f32;
}

// ---- A pattern with `&`
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let &v = x[i];
    y[i] = 2.0 * v;
}

// ---- A binding with `ref`
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let ref v = x[i];
    y[i] = 2.0 * v;
}

// ---- A variable of a reference's type
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v: &f32 = x[i];
    y[i] = 2.0 * v;
}

// ---- A variable of a slice's type
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v: [f32] = x;
    y[i] = 2.0 * x[i];
}

// ---- A raw pointer to an element
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let p = &raw const x[i];
    y[i] = 2.0 * x[i];
}

// ---- A variable of a pointer's type
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let p: *const f32 = x;
    y[i] = 2.0 * x[i];
}

// ---- A function in a variable
#[device]
fn twice(v: f32) -> f32 {
    2.0 * v
}

#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let f: fn(f32) -> f32 = twice;
    y[i] = f(x[i]);
}

// ---- A device function that takes any type of a trait
#[device]
fn twice(v: impl Float) -> f32 {
    2.0 * v
}

#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = twice(x[i]);
}

// ---- A device function that takes a trait object
#[device]
fn twice(v: Box<dyn Scale>) -> f32 {
    2.0
}

#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = 2.0 * x[i];
}

// ---- A call of a function of the host
fn twice(v: f32) -> f32 {
    2.0 * v
}

#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = twice(x[i]);
}

// ---- A loop over a buffer's elements
#[kernel(block = 256)]
fn sum(x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    for v in x {
        sum += v;
    }
    y[global_id().x] = sum;
}

// ---- A range without an end
#[kernel(block = 256)]
fn sum(x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    for k in 0.. {
        if k >= x.len() {
            break;
        }
        sum += x[k];
    }
    y[global_id().x] = sum;
}

// ---- A loop in steps of 0
#[kernel(block = 256)]
fn sum(x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    for k in (0..x.len()).step_by(0) {
        sum += x[k];
    }
    y[global_id().x] = sum;
}

// ---- A range in a variable
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let all = 0..y.len();
    y[i] = 2.0 * x[i];
}

// ---- An `unsafe` block
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    unsafe {
        y[i] = 2.0 * x[i];
    }
}

// ---- `async` in a kernel
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let later = async { 2.0 };
    y[i] = 2.0 * x[i];
}

// ---- `await` in a kernel
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y.ready().await;
    y[i] = 2.0 * x[i];
}

// ---- `?` in a kernel
#[device]
fn checked(v: f32) -> f32 {
    v
}

#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = checked(x[i])?;
    y[i] = 2.0 * v;
}

// ---- A `const` block
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = const { 1.0 + 1.0 } * x[i];
}

// ---- A text in a variable
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let name = "x";
    y[i] = 2.0 * x[i];
}

// ---- A character
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let letter = 'a';
    y[i] = 2.0 * x[i];
}

// ---- A function within a kernel
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    fn twice(v: f32) -> f32 {
        2.0 * v
    }
    let i = global_id().x;
    y[i] = twice(x[i]);
}

// ---- The length of an array calculated with a generic
#[kernel(block = 256, variants(N in [2, 4]))]
fn sums<const N: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut v = [0.0; N + 1];
    for k in 0..N {
        v[k + 1] = v[k] + x[k * y.len() + i];
    }
    y[i] = v[N];
}

// ---- A shared array as a `static`
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    static mut tile: [f32; 256];
    let t = thread_idx().x;
    tile[t] = x[t];
    sync_threads();
    y[t] = tile[255 - t];
}

// ---- A macro without its `!`
#[kernel(block = 256)]
fn check(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    assert(i < y.len());
    y[i] = x[i];
}
