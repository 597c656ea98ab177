// The twins of kernels/src/reduce.rs: the two reductions of VSCSE 2009, lecture 5.
#include "timing.cuh"

namespace {

template <int B, bool CONTIGUOUS>
__global__ void __launch_bounds__(B) reduce(const float* __restrict__ x, float* __restrict__ sums, unsigned n) {
    __shared__ float partial[B];
    unsigned t = threadIdx.x;
    unsigned i = blockIdx.x * B + t;
    partial[t] = i < n ? x[i] : 0.0f;
    if (CONTIGUOUS) {
#pragma unroll
        for (unsigned stride = B / 2; stride > 0; stride /= 2) {
            __syncthreads();
            if (t < stride) partial[t] += partial[t + stride];
        }
    } else {
#pragma unroll
        for (unsigned stride = 1; stride < B; stride *= 2) {
            __syncthreads();
            if (t % (2 * stride) == 0) partial[t] += partial[t + stride];
        }
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}

template <int B>
float reduce_of_block(bool contiguous, const float* x, float* sums, unsigned n) {
    unsigned grid = twins::blocks(n, B);
    if (contiguous) return twins::timed_kernel(reduce<B, true>, grid, B, 0, x, sums, n);
    return twins::timed_kernel(reduce<B, false>, grid, B, 0, x, sums, n);
}

}  // namespace

extern "C" float twin_reduce(unsigned block, unsigned contiguous, const float* x, float* sums, unsigned n) {
    switch (block) {
        case 128: return reduce_of_block<128>(contiguous, x, sums, n);
        case 256: return reduce_of_block<256>(contiguous, x, sums, n);
        case 512: return reduce_of_block<512>(contiguous, x, sums, n);
        default: return twins::NO_SUCH_VARIANT;
    }
}
