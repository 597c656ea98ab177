// The twin of kernels/src/shortcut.rs: 8 × 8 results of every thread in registers.
#include "timing.cuh"

namespace {

constexpr int TILE = 8, SIDE = 8, REACH = TILE * SIDE;

__global__ void __launch_bounds__(SIDE * SIDE)
    shortcut(unsigned n, unsigned padded, const float* __restrict__ rows, const float* __restrict__ columns, float* __restrict__ r) {
    unsigned top = blockIdx.y * REACH + threadIdx.y;
    unsigned left = blockIdx.x * REACH + threadIdx.x;
    const float* down_from = rows + top;
    const float* across_from = columns + left;
    float best[TILE][TILE];
#pragma unroll
    for (int i = 0; i < TILE; i++) {
#pragma unroll
        for (int j = 0; j < TILE; j++) best[i][j] = INFINITY;
    }
    for (unsigned k = 0; k < n; k++) {
        float down[TILE], across[TILE];
#pragma unroll
        for (int t = 0; t < TILE; t++) {
            down[t] = down_from[t * SIDE];
            across[t] = across_from[t * SIDE];
        }
        down_from += padded;
        across_from += padded;
#pragma unroll
        for (int i = 0; i < TILE; i++) {
#pragma unroll
            for (int j = 0; j < TILE; j++) best[i][j] = fminf(best[i][j], down[i] + across[j]);
        }
    }
#pragma unroll
    for (int i = 0; i < TILE; i++) {
#pragma unroll
        for (int j = 0; j < TILE; j++) {
            unsigned row = top + i * SIDE, column = left + j * SIDE;
            if (row < n && column < n) r[row * n + column] = best[i][j];
        }
    }
}

}  // namespace

extern "C" float twin_shortcut(unsigned n, unsigned padded, const float* rows, const float* columns, float* r) {
    dim3 grid(padded / REACH, padded / REACH), block(SIDE, SIDE);
    return twins::timed_kernel(shortcut, grid, block, 0, n, padded, rows, columns, r);
}
