// test errors
//! Tiles into what is no shared array of rows, of other types, from and to what is no matrix, or only read.
#[kernel(block = 64)]
pub fn refused_load_tile(a: &Matrix<f32>, x: &Global<f32>, c: &mut Matrix<f32>) {
    #[shared(dynamic)]
    let mut long: [[f32; 8]];
    #[shared]
    let mut flat: [f32; 64];
    #[shared]
    let mut halves: [[f16; 8]; 8];
    #[shared]
    let mut tile: [[f32; 8]; 8];
    let mut own = [[0.0f32; 8]; 8];
    load_tile(&mut long, a, 0, 0);
    load_tile(&mut flat, a, 0, 0);
    load_tile(&mut halves, a, 0, 0);
    load_tile(&mut own, a, 0, 0);
    load_tile(&mut tile, x, 0, 0);
    load_tile(&mut tile, a, 0);
    load_tile(&mut tile, a, 0u32, 0);
    store_tile(c, 0, 0, &flat);
    store_tile(c, 0, 0, &halves);
    store_tile(x, 0, 0, &tile);
    store_tile(a, 0, 0, &tile);
    store_tile(c, 0, 0);
    store_tile(c, (0, 0), 0, &tile);
    load_rows(&mut tile, a, 0, 0);
}
