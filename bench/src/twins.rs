//! The CUDA C++ twins: the shared library built from `bench/cuda`, behind safe calls.

use crate::Outcome;
use warpwright::{Buffer, Element};

/// Where a buffer lies in the device's memory.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Address(u64);

/// The address of a buffer, which must be on a CUDA device.
pub(crate) fn at<T: Element>(buffer: &Buffer<T>) -> Address {
    // No device has memory there: a twin would fail, and say so.
    Address(buffer.as_raw().unwrap_or(0))
}

/// The library.
pub(crate) struct Twins {
    library: libloading::Library,
}

impl Twins {
    /// Loads the library at `path`.
    pub(crate) fn load(path: &str) -> Outcome<Twins> {
        // SAFETY: the library is the one built from bench/cuda; loading it runs the CUDA runtime's constructors only.
        let library = unsafe { libloading::Library::new(path) }?;
        Ok(Twins { library })
    }

    /// Bytes of shared memory of a multiprocessor.
    pub(crate) fn shared_memory(&self) -> Outcome<u32> {
        // SAFETY: bench/cuda/copy.cu declares it so.
        unsafe { Ok(self.library.get::<unsafe extern "C" fn() -> u32>(b"twin_shared_memory")?()) }
    }

    /// How many multiprocessors the device has.
    pub(crate) fn multiprocessors(&self) -> Outcome<u32> {
        // SAFETY: bench/cuda/copy.cu declares it so.
        unsafe { Ok(self.library.get::<unsafe extern "C" fn() -> u32>(b"twin_multiprocessors")?()) }
    }
}

/// Declares entry points as methods that give the seconds of the timed launch. Lengths are those of the buffers, which the callers see to.
macro_rules! twins {
    ($($name:ident($($argument:ident: $ty:ty),*);)*) => {
        /// Each entry point's name, and the names and types of its parameters.
        #[cfg(test)]
        const DECLARED: &[(&str, &[(&str, &str)])] =
            &[$((concat!("twin_", stringify!($name)), &[$((stringify!($argument), stringify!($ty))),*])),*];

        impl Twins {
            $(
                #[allow(clippy::too_many_arguments, reason = "as many as the C function has")]
                pub(crate) fn $name(&self, $($argument: $ty),*) -> Outcome<f64> {
                    // SAFETY: bench/cuda declares the function with these parameters; addresses are those of living buffers on the
                    // device, and the function returns when its kernels have run.
                    let ms = unsafe {
                        let symbol = concat!("twin_", stringify!($name));
                        self.library.get::<unsafe extern "C" fn($($ty),*) -> f32>(symbol.as_bytes())?($($argument),*)
                    };
                    if ms < 0.0 { Err(format!("the twin failed: CUDA error {}", -ms).into()) } else { Ok(f64::from(ms) / 1e3) }
                }
            )*
        }
    };
}

twins! {
    copy(block: u32, ilp: u32, batched: u32, vector: u32, shared: u32, out: Address, inp: Address, n: u32);
    memcpy(out: Address, inp: Address, n: u32);
    saxpy(block: u32, ilp: u32, vector: u32, a: f32, x: Address, y: Address, n: u32);
    offset_copy(offset: u32, out: Address, inp: Address, n: u32, count: u32);
    stride_copy(stride: u32, out: Address, inp: Address, n: u32, count: u32);
    matmul_direct(unroll: u32, n: u32, a: Address, b: Address, c: Address);
    matmul_tiled(tile: u32, unrolled: u32, prefetch: u32, n: u32, a: Address, b: Address, c: Address);
    ab(operands: u32, m: u32, n: u32, a: Address, b: Address, c: Address);
    aat(variant: u32, n: u32, a: Address, c: Address);
    transpose(variant: u32, width: u32, height: u32, inp: Address, out: Address);
    reduce(block: u32, contiguous: u32, x: Address, sums: Address, n: u32);
    additions(chains: u32, warps: u32, grid: u32, shared: u32, steps: u32, x: f32, out: Address, n: u32);
    function_single(function: u32, step: f32, x: Address, out: Address, n: u32);
    function_double(function: u32, step: f64, x: Address, out: Address, n: u32);
    coulomb(variant: u32, points: u32, width: u32, height: u32, spacing: f32, atoms: Address, count: u32, potential: Address);
    fem(variant: u32, steps: u32, omega: f32, starts: Address, columns: Address, values: Address, entries: Address, slices: Address, sliced: Address, inverse: Address, b: Address, x: Address, next: Address, n: u32);
    pns(variant: u32, nets: u32, steps: u32, seats: u32, seed: u32, state: Address, tokens: Address, fired: Address, sums: Address, squares: Address);
    rc5(
        variant: u32,
        keys: u32,
        head0: u32,
        head1: u32,
        last: u32,
        count: u32,
        plain0: u32,
        plain1: u32,
        cipher0: u32,
        cipher1: u32,
        found: Address
    );
    mri_q(variant: u32, voxels: u32, samples: Address, count: u32, x: Address, y: Address, z: Address, re: Address, im: Address, n: u32);
    mri_fhd(
        variant: u32,
        voxels: u32,
        samples: Address,
        imaginary: Address,
        count: u32,
        x: Address,
        y: Address,
        z: Address,
        re: Address,
        im: Address,
        n: u32
    );
    rpes(variant: u32, pairs: u32, functions: Address, firsts: Address, seconds: Address, kets: Address, places: Address, factors: Address, table: Address, out: Address);
    sad(variant: u32, width: u32, height: u32, current: Address, previous: Address, best: Address);
    shortcut(n: u32, padded: u32, rows: Address, columns: Address, r: Address);
    fdtd(variant: u32, width: u32, height: u32, pitch: u32, rate: f32, source_x: u32, source_y: u32, steps: u32, count: u32,
        samples: Address, material: Address, ez: Address, hx: Address, hy: Address, ez_next: Address, hx_next: Address, hy_next: Address);
    tpacf_direct(galaxies: u32, random: u32, gx: Address, gy: Address, gz: Address, rx: Address, ry: Address, rz: Address, edges: Address,
        dd: Address, dr: Address, rr: Address);
    tpacf(block: u32, own: u32, sets: u32, lanes: u32, galaxies: u32, random: u32, gx: Address, gy: Address, gz: Address, rx: Address,
        ry: Address, rz: Address, edges: Address, dd: Address, dr: Address, rr: Address);
    lbm(variant: u32, block: u32, nx: u32, ny: u32, nz: u32, pitch: u32, omega: f32, push_x: f32, push_y: f32, push_z: f32, steps: u32,
        walls: Address, before: Address, after: Address);
    staple_copy(calls: u32, out: Address, inp: Address, n: u32);
    staple_sum(calls: u32, x: Address, out: Address, n: u32);
    staple_max(calls: u32, x: Address, out: Address, n: u32);
    staple_scan_inclusive(calls: u32, x: Address, y: Address, n: u32);
    staple_scan_exclusive(calls: u32, x: Address, y: Address, n: u32);
    staple_sort_keys(calls: u32, keys: Address, sorted: Address, n: u32);
    staple_sort_pairs(calls: u32, keys: Address, sorted: Address, values: Address, moved: Address, n: u32);
    staple_select(calls: u32, x: Address, y: Address, count: Address, n: u32);
    staple_unique(calls: u32, x: Address, y: Address, count: Address, n: u32);
    staple_histogram_bytes(calls: u32, x: Address, bins: Address, n: u32);
    staple_histogram_words(calls: u32, x: Address, bins: Address, n: u32);
    staple_transpose(calls: u32, inp: Address, out: Address, height: u32, width: u32);
    staple_gemm(calls: u32, a: Address, b: Address, c: Address, n: u32);
    staple_product(calls: u32, kind: u32, transposed: u32, a: Address, b: Address, c: Address, n: u32, count: u32);
    staple_gemv(calls: u32, a: Address, x: Address, y: Address, n: u32);
}

#[cfg(test)]
mod tests {
    use super::DECLARED;

    /// The entry points of `bench/cuda` that time something: name, and each parameter's name and type as they are declared here.
    fn defined() -> Vec<(String, Vec<(String, String)>)> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda");
        let files = std::fs::read_dir(folder).expect("bench/cuda").map(|entry| entry.expect("an entry").path());
        let mut found = Vec::new();
        for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "cu")) {
            let text = std::fs::read_to_string(&file).expect("UTF-8");
            for definition in text.split("extern \"C\" float ").skip(1) {
                let (name, rest) = definition.split_once('(').expect("parameters");
                let (parameters, _) = rest.split_once(')').expect("their end");
                let parameter = |text: &str| {
                    let (ty, name) = text.trim().rsplit_once(' ').expect("a type and a name");
                    let ty = match ty {
                        "unsigned" => "u32",
                        "float" => "f32",
                        "double" => "f64",
                        pointer if pointer.ends_with('*') => "Address",
                        other => other,
                    };
                    (name.to_owned(), ty.to_owned())
                };
                found.push((name.to_owned(), parameters.split(',').map(parameter).collect()));
            }
        }
        found.sort();
        found
    }

    #[test]
    fn the_functions_called_are_those_of_the_library() {
        let owned = |pair: &(&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        let mut declared: Vec<_> = DECLARED.iter().map(|(name, ps)| (name.to_string(), ps.iter().map(owned).collect::<Vec<_>>())).collect();
        declared.sort();
        assert_eq!(declared, defined());
    }
}
