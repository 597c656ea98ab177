// ---- A tuple of tuples of tuples
#[kernel(block = 256)]
fn copies(x: &Global<f32>, y: &mut Global<f32>) {
    let a = x[global_id().x];
    let b = (a, a, a, a, a, a, a, a);
    let c = (b, b, b, b, b, b, b, b);
    let d = (c, c, c, c, c, c, c, c);
    let e = (d, d, d);
    y[global_id().x] = e.0.0.0.0;
}

// ---- An `unsafe` block
#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    unsafe {
        y[i] = x[i];
    }
}

// ---- An integer of more than 64 bits
#[kernel(block = 256)]
fn masked(x: &Global<u64>, y: &mut Global<u64>) {
    let i = global_id().x;
    y[i] = x[i] & 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_ffff;
}

// ---- A character as a value
#[kernel(block = 256)]
fn letters(y: &mut Global<u8>) {
    let i = global_id().x;
    y[i] = 'a';
}

// ---- A text as a constant
const NAME: u8 = "copy";

#[kernel(block = 256)]
fn letters(y: &mut Global<u8>) {
    let i = global_id().x;
    y[i] = NAME;
}

// ---- Dereferencing a value
#[kernel(block = 256)]
fn scale(factor: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = *factor * x[i];
}

// ---- Assigning a whole buffer
#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    y = x;
}

// ---- Assigning a whole matrix
#[kernel(block = 256)]
fn copy(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    c = a;
}

// ---- Changing how many rows a matrix has
#[kernel(block = 256)]
fn grow(c: &mut Matrix<f32>) {
    c.rows() += 1;
    c[(c.rows() - 1, global_id().x)] = 0.0;
}

// ---- Assigning a thread's index
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    global_id().x = 0;
    y[global_id().x] = 1.0;
}

// ---- Assigning a sum
#[kernel(block = 256)]
fn add(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] + 1.0 = x[i];
}

// ---- Writing to constant memory
#[kernel(block = 256)]
fn fill(table: &Constant<[f32; 256]>, y: &mut Global<f32>) {
    let i = thread_idx().x;
    table[i] = 0.0;
    y[i] = table[i];
}

// ---- Writing to a buffer that is only read
#[kernel(block = 256)]
fn swap(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let value = y[i];
    y[i] = x[i];
    x[i] = value;
}

// ---- A method that changes its struct and takes it to be read
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Random { state: u32 }

#[device]
impl Random {
    fn next(&self) -> u32 {
        self.state = self.state * 1664525 + 1013904223;
        self.state
    }
}

#[kernel(block = 256)]
fn fill(y: &mut Global<u32>) {
    let i = global_id().x;
    let mut random = Random { state: i as u32 };
    y[i] = random.next();
}

// ---- A device function that writes to a shared array it takes to be read
#[device]
fn clear(tile: &[f32; 256]) {
    tile[thread_idx().x] = 0.0;
}

#[kernel(block = 256)]
fn zeros(y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    clear(&tile);
    sync_threads();
    y[global_id().x] = tile[255 - thread_idx().x];
}

// ---- Writing to a matrix that is only read
#[kernel(block = 256)]
fn scale(a: &Matrix<f32>) {
    let i = global_id().x;
    a[(0, i)] = a[(0, i)] * 2.0;
}

// ---- Changing a variable that is not `mut`
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let sum = 0.0;
    for k in 0..x.len() {
        sum += x[k];
    }
    y[global_id().x] = sum;
}

// ---- Writing to a buffer that a group of parameters only reads
#[device]
struct Particles<'a> {
    x: &'a Global<f32>,
    v: &'a Global<f32>,
}

#[kernel(block = 256)]
fn step(p: Particles<'_>) {
    let i = global_id().x;
    p.x[i] = p.x[i] + p.v[i];
}

// ---- Writing to constant memory of a group of parameters
#[device]
struct Filter<'a> {
    weights: &'a Constant<[f32; 8]>,
    y: &'a mut Global<f32>,
}

#[kernel(block = 256)]
fn apply(f: Filter<'_>) {
    f.weights[0] = 1.0;
    f.y[global_id().x] = f.weights[0];
}

// ---- Changing a number of a group of parameters
#[device]
struct Particles<'a> {
    x: &'a mut Global<f32>,
    dt: f32,
}

#[kernel(block = 256)]
fn step(mut p: Particles<'_>) {
    p.dt = p.dt * 0.5;
    p.x[global_id().x] += p.dt;
}

// ---- A buffer's length without parentheses
#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < x.len {
        y[i] = x[i];
    }
}

// ---- A matrix's rows without parentheses
#[kernel(block = 256)]
fn clear(c: &mut Matrix<f32>) {
    for row in 0..c.rows {
        c[(row, global_id().x)] = 0.0;
    }
}

// ---- A fourth axis
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    y[thread_idx().w] = 1.0;
}

// ---- A field that a struct does not have
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Point { x: f32, y: f32 }

#[kernel(block = 256)]
fn heights(points: &Global<Point>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = points[i].z;
}

// ---- An element of a batch of matrices without the matrix
#[kernel(block = 256)]
fn first_rows(a: &MatrixBatch<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = a[(0, i)];
}

// ---- Indexing a number
#[kernel(block = 256)]
fn copy(x: f32, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i];
}

// ---- Indexing a texture
#[kernel(block = 256)]
fn first_row(photo: &Texture2d<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = photo[i];
}

// ---- A group of parameters that a kernel makes
#[device]
struct Pair<'a> {
    x: &'a Global<f32>,
    y: &'a mut Global<f32>,
}

#[device]
fn copy(p: Pair<'_>, i: usize) {
    p.y[i] = p.x[i];
}

#[kernel(block = 256)]
fn run(x: &Global<f32>, y: &mut Global<f32>) {
    copy(Pair { x, y }, global_id().x);
}

// ---- A `Dim3` that a kernel makes
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    let size = Dim3 { x: 16, y: 16, z: 1 };
    y[global_id().x] = size.x as f32;
}

// ---- An enum made like a struct
#[device]
#[derive(Clone, Copy)]
#[repr(u32)]
enum Mode { Add, Multiply }

#[kernel(block = 256)]
fn fill(y: &mut Global<Mode>) {
    y[global_id().x] = Mode { value: 1 };
}

// ---- A struct made with a field that it does not have
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Point { x: f32, y: f32 }

#[kernel(block = 256)]
fn fill(y: &mut Global<Point>) {
    y[global_id().x] = Point { x: 0.0, y: 0.0, z: 0.0 };
}

// ---- A struct made without one of its fields
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Point { x: f32, y: f32 }

#[kernel(block = 256)]
fn fill(y: &mut Global<Point>) {
    y[global_id().x] = Point { x: 0.0 };
}

// ---- A reference to a variable
#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let value = x[i];
    let reference = &value;
    y[i] = *reference;
}

// ---- A constant by reference
const TABLE: [f32; 4] = [1.0, 2.0, 4.0, 8.0];

#[device]
fn look_up(table: &[f32; 4], at: usize) -> f32 { table[at % 4] }

#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = look_up(&TABLE, i);
}

// ---- A suffix of C
#[kernel(block = 256)]
fn scale(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = 2.0f * x[i];
}

// ---- A suffix of integers behind a number with a point
#[kernel(block = 256)]
fn double(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = x[i] * 2.0u32;
}
