// test errors
//! Vector accesses and atomics of parts of elements, which may be outside; a matrix in a variable.
#[kernel(block = 64)]
pub fn refused_matrix_parts(quads: &mut Matrix<[u32; 4]>, tiles: &mut Matrix<[u32; 64]>, x: &Global<u32>) {
    let t = thread_idx().x;
    let pair = quads[(0, t)].load::<2>(0);
    quads[(1, t)].store(0, pair);
    quads[(2, t)].atomic_add(1, 1);
    load_run(&mut tiles[(0, 0)], x, 0);
    let kept = quads;
}
