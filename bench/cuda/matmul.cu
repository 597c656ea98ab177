// The twins of kernels/src/matmul.rs: Ryoo et al.'s multiply of square matrices, not tiled and tiled, with the inner product rolled or
// unrolled, with the next tiles fetched early or not.
#include "timing.cuh"

namespace {

constexpr int SIDE = 16;

template <int UNROLL>
__global__ void __launch_bounds__(SIDE * SIDE)
    matmul_direct(unsigned n, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
    unsigned row = blockIdx.y * SIDE + threadIdx.y;
    unsigned column = blockIdx.x * SIDE + threadIdx.x;
    if (row < n && column < n) {
        float sum = 0.0f;
#pragma unroll UNROLL
        for (unsigned k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
        c[row * n + column] = sum;
    }
}

template <int T, int UNROLL, bool PREFETCH>
__global__ void __launch_bounds__(T * T)
    matmul_tiled(unsigned n, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
    __shared__ float a_tile[T][T];
    __shared__ float b_tile[T][T];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned row = blockIdx.y * T + ty;
    unsigned column = blockIdx.x * T + tx;
    const float* a_next = a + row * n + tx;
    const float* b_next = b + ty * n + column;
    float sum = 0.0f;
    if (PREFETCH) {
        float a_value = *a_next, b_value = *b_next;
        unsigned tiles = n / T;
        for (unsigned tile = 0; tile < tiles; tile++) {
            a_tile[ty][tx] = a_value;
            b_tile[ty][tx] = b_value;
            __syncthreads();
            if (tile + 1 < tiles) {
                a_next += T;
                b_next += T * n;
                a_value = *a_next;
                b_value = *b_next;
            }
#pragma unroll UNROLL
            for (int k = 0; k < T; k++) sum += a_tile[ty][k] * b_tile[k][tx];
            __syncthreads();
        }
    } else {
        for (unsigned tile = 0; tile < n / T; tile++) {
            a_tile[ty][tx] = *a_next;
            b_tile[ty][tx] = *b_next;
            a_next += T;
            b_next += T * n;
            __syncthreads();
#pragma unroll UNROLL
            for (int k = 0; k < T; k++) sum += a_tile[ty][k] * b_tile[k][tx];
            __syncthreads();
        }
    }
    c[row * n + column] = sum;
}

template <int T>
float tiled(bool unrolled, bool prefetch, unsigned n, const float* a, const float* b, float* c) {
    dim3 grid(n / T, n / T), block(T, T);
    if (unrolled && prefetch) return twins::timed_kernel(matmul_tiled<T, T, true>, grid, block, 0, n, a, b, c);
    if (unrolled) return twins::timed_kernel(matmul_tiled<T, T, false>, grid, block, 0, n, a, b, c);
    if (prefetch) return twins::timed_kernel(matmul_tiled<T, 1, true>, grid, block, 0, n, a, b, c);
    return twins::timed_kernel(matmul_tiled<T, 1, false>, grid, block, 0, n, a, b, c);
}

}  // namespace

extern "C" float twin_matmul_direct(unsigned unroll, unsigned n, const float* a, const float* b, float* c) {
    dim3 grid(twins::blocks(n, SIDE), twins::blocks(n, SIDE)), block(SIDE, SIDE);
    if (unroll == 1) return twins::timed_kernel(matmul_direct<1>, grid, block, 0, n, a, b, c);
    if (unroll == 4) return twins::timed_kernel(matmul_direct<4>, grid, block, 0, n, a, b, c);
    return twins::NO_SUCH_VARIANT;
}

extern "C" float twin_matmul_tiled(unsigned tile, unsigned unrolled, unsigned prefetch, unsigned n, const float* a, const float* b,
                                   float* c) {
    switch (tile) {
        case 4: return tiled<4>(unrolled, prefetch, n, a, b, c);
        case 8: return tiled<8>(unrolled, prefetch, n, a, b, c);
        case 12: return tiled<12>(unrolled, prefetch, n, a, b, c);
        case 16: return tiled<16>(unrolled, prefetch, n, a, b, c);
        default: return twins::NO_SUCH_VARIANT;
    }
}
