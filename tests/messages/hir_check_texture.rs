// ---- A texture read at one coordinate
#[kernel(block = (32, 8))]
fn show(photo: &Texture2d<f32>, y: &mut Global<f32>) {
    let at = global_id();
    y[at.y * photo.width() + at.x] = photo.fetch(at.x as i32);
}
// ---- A texture of bytes that is filtered
#[kernel(block = (32, 8))]
fn show(photo: &Texture2d<u8>, y: &mut Global<u8>) {
    let at = global_id();
    y[at.y * photo.width() + at.x] = photo.sample(at.x as f32, at.y as f32);
}
// ---- A texture of doubles
#[kernel(block = (32, 8))]
fn show(photo: &Texture2d<f64>, y: &mut Global<f64>) {
    let at = global_id();
    y[at.y * photo.width() + at.x] = photo.fetch(at.x as i32, at.y as i32);
}
