// ---- No comma between arguments
#[kernel(block = 256 index = 64)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- The size of the block without its name
#[kernel(256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- An argument given twice
#[kernel(block = 128, block = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- An argument without its value
#[kernel(block)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A loop's annotation among the kernel's arguments
#[kernel(block = 256, unroll = 4)]
fn sum(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    for k in 0..16 {
        sum += x[k * y.len() + i];
    }
    y[i] = sum;
}

// ---- A misspelt argument
#[kernel(blok = 256)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- An argument that there is not, as of `__launch_bounds__`
#[kernel(block = 256, launch_bounds = 2)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- No resident block at all
#[kernel(block = 256, min_blocks = 0)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- More registers than a thread has
#[kernel(block = 256, max_registers = 512)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A number of registers that is not whole
#[kernel(block = 256, max_registers = 64.0)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A block of four dimensions
#[kernel(block = (4, 4, 4, 4))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A block of too many threads in one dimension
#[kernel(block = 2048)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A block of no threads
#[kernel(block = (256, 0))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A block whose dimensions make too many threads
#[kernel(block = (64, 32))]
fn clear(width: u32, y: &mut Global<f32>) {
    let at = global_id();
    y[at.y * width as usize + at.x] = 0.0;
}

// ---- An index of 16 bits
#[kernel(block = 256, index = 16)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- `contract` with a number
#[kernel(block = 256, contract = 0)]
fn axpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = a * x[i] + y[i];
}

// ---- `best_effort` with a value
#[kernel(block = 256, ilp = 4, best_effort = true)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- One target without brackets
#[kernel(block = 256, targets = sm_80)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- No target at all
#[kernel(block = 256, targets = [])]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A target in quotes
#[kernel(block = 256, targets = ["sm_80"])]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A target listed twice
#[kernel(block = 256, targets = [sm_80, sm_90, sm_80])]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A target that there is not
#[kernel(block = 256, targets = [sm_85])]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- The rows of a raster behind `=`
#[kernel(block = 256, raster = 8)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A raster without its rows
#[kernel(block = 256, raster())]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A raster's number without its name
#[kernel(block = 256, raster(8))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A raster of columns
#[kernel(block = 256, raster(columns = 8))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A raster whose rows have no number
#[kernel(block = 256, raster(rows =))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A raster with a second number
#[kernel(block = 256, raster(rows = 8, 4))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A cluster of four dimensions
#[kernel(block = 256, cluster = (2, 1, 1, 1))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A cluster of no blocks
#[kernel(block = 256, cluster = (2, 0))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- `persistent` with its value in parentheses
#[kernel(block = 256, persistent(2))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- `persistent` with a number of blocks
#[kernel(block = 256, persistent = 2)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- `tensor` with a number
#[kernel(block = 256, tensor = 1)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- Variants behind `=`
#[kernel(block = 256, variants = [1, 2, 4])]
fn scale<const N: i32>(y: &mut Global<i32>) {
    y[global_id().x] = N;
}

// ---- An empty list of variants
#[kernel(block = 256, variants())]
fn scale<const N: i32>(y: &mut Global<i32>) {
    y[global_id().x] = N;
}

// ---- One generic as a tuple
#[kernel(block = 256, variants((N) in [1, 2]))]
fn scale<const N: i32>(y: &mut Global<i32>) {
    y[global_id().x] = N;
}

// ---- Variants of two generics with three values
#[kernel(block = 256, variants((N, M) in [(1, 2), (3, 4, 5)]))]
fn scale<const N: i32, const M: i32>(y: &mut Global<i32>) {
    y[global_id().x] = N * 10 + M;
}

// ---- A generic of variants without values
#[kernel(block = 256, variants(N in []))]
fn scale<const N: i32>(y: &mut Global<i32>) {
    y[global_id().x] = N;
}

// ---- A generic of variants given twice
#[kernel(block = 256, variants(N in [1, 2], N in [4, 8]))]
fn scale<const N: i32>(y: &mut Global<i32>) {
    y[global_id().x] = N;
}

// ---- The size of the block in parentheses, as of a function
#[kernel(block(16, 16))]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

// ---- The sides of the block in brackets
#[kernel(block = [16, 16])]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

// ---- An index that is named by its type
#[kernel(block = 256, index = u64)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

// ---- `contract` with a word of other compilers
#[kernel(block = 256, contract = fast)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i] * x[i] + y[i];
}
