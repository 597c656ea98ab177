// The twins of kernels/src/transpose.rs: a transpose without a tile, through one, through one with padded rows, through a swizzled one.
#include "timing.cuh"

namespace {

constexpr int SIDE = 32, ROWS = 8;

__global__ void __launch_bounds__(SIDE * ROWS)
    transpose_direct(unsigned width, unsigned height, const float* __restrict__ inp, float* __restrict__ out) {
    unsigned row = blockIdx.y * ROWS + threadIdx.y;
    unsigned column = blockIdx.x * SIDE + threadIdx.x;
    if (row < height && column < width) out[column * height + row] = inp[row * width + column];
}

template <bool SWIZZLE>
__device__ unsigned place(unsigned row, unsigned column) {
    return SWIZZLE ? column ^ row : column;
}

template <int PAD, bool SWIZZLE>
__global__ void __launch_bounds__(SIDE * ROWS)
    transpose_tiled(unsigned width, unsigned height, const float* __restrict__ inp, float* __restrict__ out) {
    __shared__ float tile[SIDE][SIDE + PAD];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned left = blockIdx.x * SIDE, top = blockIdx.y * SIDE;
    if (left + SIDE <= width && top + SIDE <= height) {
        // Whole tiles ask no further questions, and their loads are issued before the first store.
        float values[SIDE / ROWS];
#pragma unroll
        for (int step = 0; step < SIDE / ROWS; step++) values[step] = inp[(top + ty + step * ROWS) * width + left + tx];
#pragma unroll
        for (int step = 0; step < SIDE / ROWS; step++) tile[ty + step * ROWS][place<SWIZZLE>(ty + step * ROWS, tx)] = values[step];
        __syncthreads();
#pragma unroll
        for (int step = 0; step < SIDE / ROWS; step++) {
            unsigned y = ty + step * ROWS;
            out[(left + y) * height + top + tx] = tile[tx][place<SWIZZLE>(tx, y)];
        }
        return;
    }
    for (unsigned y = ty; y < SIDE; y += ROWS) {
        if (left + tx < width && top + y < height) tile[y][place<SWIZZLE>(y, tx)] = inp[(top + y) * width + left + tx];
    }
    __syncthreads();
    for (unsigned y = ty; y < SIDE; y += ROWS) {
        if (top + tx < height && left + y < width) out[(left + y) * height + top + tx] = tile[tx][place<SWIZZLE>(tx, y)];
    }
}

}  // namespace

// Variants: 0 without a tile, 1 through a tile, 2 padded, 3 swizzled.
extern "C" float twin_transpose(unsigned variant, unsigned width, unsigned height, const float* inp, float* out) {
    dim3 block(SIDE, ROWS);
    dim3 tiles(twins::blocks(width, SIDE), twins::blocks(height, SIDE));
    dim3 strips(twins::blocks(width, SIDE), twins::blocks(height, ROWS));
    switch (variant) {
        case 0: return twins::timed_kernel(transpose_direct, strips, block, 0, width, height, inp, out);
        case 1: return twins::timed_kernel(transpose_tiled<0, false>, tiles, block, 0, width, height, inp, out);
        case 2: return twins::timed_kernel(transpose_tiled<1, false>, tiles, block, 0, width, height, inp, out);
        case 3: return twins::timed_kernel(transpose_tiled<0, true>, tiles, block, 0, width, height, inp, out);
        default: return twins::NO_SUCH_VARIANT;
    }
}
