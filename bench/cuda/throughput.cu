// The twin of kernels/src/throughput.rs: I chains of dependent additions in each thread.
#include "timing.cuh"

namespace {

// 32 additions in a round of the loop, whatever the number of chains.
template <int I>
__global__ void additions(unsigned steps, float x, float* __restrict__ out, unsigned n) {
    float sums[I];
#pragma unroll
    for (int j = 0; j < I; j++) sums[j] = 0.0f;
    unsigned groups = steps / I;
#pragma unroll(32 / I)
    for (unsigned group = 0; group < groups; group++) {
#pragma unroll
        for (int j = 0; j < I; j++) sums[j] += x;
    }
    float sum = sums[0];
#pragma unroll
    for (int j = 1; j < I; j++) sum += sums[j];
    for (unsigned rest = groups * I; rest < steps; rest++) sum += x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sum;
}

}  // namespace

// One block on each multiprocessor, by dynamic shared memory that leaves no room for a second.
extern "C" float twin_additions(unsigned chains, unsigned warps, unsigned grid, unsigned shared, unsigned steps, float x, float* out,
                                unsigned n) {
    unsigned block = 32 * warps;
    switch (chains) {
        case 1: return twins::timed_kernel(additions<1>, grid, block, shared, steps, x, out, n);
        case 2: return twins::timed_kernel(additions<2>, grid, block, shared, steps, x, out, n);
        case 4: return twins::timed_kernel(additions<4>, grid, block, shared, steps, x, out, n);
        case 8: return twins::timed_kernel(additions<8>, grid, block, shared, steps, x, out, n);
        default: return twins::NO_SUCH_VARIANT;
    }
}
