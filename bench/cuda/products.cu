// The twins of kernels/src/ab.rs and kernels/src/aat.rs: the products of NVIDIA's OpenCL best practices guide 1.0, of matrices with 16
// columns or rows.
#include "timing.cuh"

namespace {

constexpr int T = 16;

template <bool A_SHARED, bool B_SHARED>
__global__ void __launch_bounds__(T * T)
    ab(unsigned n, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
    __shared__ float a_tile[T][T];
    __shared__ float b_tile[T][T];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned row = blockIdx.y * T + ty;
    unsigned column = blockIdx.x * T + tx;
    if (A_SHARED) a_tile[ty][tx] = a[row * T + tx];
    if (B_SHARED) b_tile[ty][tx] = b[ty * n + column];
    if (A_SHARED || B_SHARED) __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < T; k++) {
        float left = A_SHARED ? a_tile[ty][k] : a[row * T + k];
        float right = B_SHARED ? b_tile[k][tx] : b[k * n + column];
        sum += left * right;
    }
    c[row * n + column] = sum;
}

__global__ void __launch_bounds__(T * T) aat_direct(unsigned n, const float* __restrict__ a, float* __restrict__ c) {
    unsigned row = blockIdx.y * T + threadIdx.y;
    unsigned column = blockIdx.x * T + threadIdx.x;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < T; k++) sum += a[row * T + k] * a[column * T + k];
    c[row * n + column] = sum;
}

// The column at which element (row, column) of a tile lies.
template <bool SWIZZLE>
__device__ unsigned place(unsigned row, unsigned column) {
    return SWIZZLE ? column ^ (row % T) : column;
}

template <int PAD, bool SWIZZLE>
__global__ void __launch_bounds__(T * T) aat(unsigned n, const float* __restrict__ a, float* __restrict__ c) {
    __shared__ float rows[T][T];
    __shared__ float columns[T][T + PAD];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned row = blockIdx.y * T + ty;
    unsigned column = blockIdx.x * T + tx;
    rows[ty][tx] = a[row * T + tx];
    columns[tx][place<SWIZZLE>(tx, ty)] = a[(blockIdx.x * T + ty) * T + tx];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < T; k++) sum += rows[ty][k] * columns[k][place<SWIZZLE>(k, tx)];
    c[row * n + column] = sum;
}

}  // namespace

// How many operands are in shared memory: 0, 1 (A) or 2. C has `m` rows and `n` columns.
extern "C" float twin_ab(unsigned operands, unsigned m, unsigned n, const float* a, const float* b, float* c) {
    dim3 grid(n / T, m / T), block(T, T);
    switch (operands) {
        case 0: return twins::timed_kernel(ab<false, false>, grid, block, 0, n, a, b, c);
        case 1: return twins::timed_kernel(ab<true, false>, grid, block, 0, n, a, b, c);
        case 2: return twins::timed_kernel(ab<true, true>, grid, block, 0, n, a, b, c);
        default: return twins::NO_SUCH_VARIANT;
    }
}

// Variants: 0 from global memory, 1 through shared memory, 2 padded, 3 swizzled.
extern "C" float twin_aat(unsigned variant, unsigned n, const float* a, float* c) {
    dim3 grid(n / T, n / T), block(T, T);
    switch (variant) {
        case 0: return twins::timed_kernel(aat_direct, grid, block, 0, n, a, c);
        case 1: return twins::timed_kernel(aat<0, false>, grid, block, 0, n, a, c);
        case 2: return twins::timed_kernel(aat<1, false>, grid, block, 0, n, a, c);
        case 3: return twins::timed_kernel(aat<0, true>, grid, block, 0, n, a, c);
        default: return twins::NO_SUCH_VARIANT;
    }
}
