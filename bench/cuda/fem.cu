// The twins of kernels/src/apps/fem: a step of weighted Jacobi on a sparse matrix, a thread to a row, several lanes to a row, and on slices of 32 rows.
#include "timing.cuh"

namespace {

constexpr int BLOCK = 128;

__device__ __forceinline__ float relaxed(float omega, float inverse, float x, float residual) {
    return inverse == 0.0f ? x : fmaf(omega * inverse, residual, x);
}

__global__ void __launch_bounds__(BLOCK)
    by_thread(float omega, const unsigned* __restrict__ starts, const unsigned* __restrict__ columns, const float* __restrict__ values,
              const float* __restrict__ inverse, const float* __restrict__ b, const float* __restrict__ x, float* __restrict__ next, unsigned n) {
    unsigned row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= n) return;
    float sum = 0.0f;
    unsigned end = starts[row + 1];
    for (unsigned k = starts[row]; k < end; k++) sum = fmaf(values[k], __ldg(x + columns[k]), sum);
    next[row] = relaxed(omega, inverse[row], x[row], b[row] - sum);
}

// An entry is a column and the bits of a value.
template <int LANES>
__global__ void __launch_bounds__(BLOCK)
    by_lanes(float omega, const unsigned* __restrict__ starts, const uint2* __restrict__ entries, const float* __restrict__ inverse,
             const float* __restrict__ b, const float* __restrict__ x, float* __restrict__ next, unsigned n) {
    unsigned row = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
    unsigned lane = threadIdx.x % LANES;
    float sum = 0.0f;
    if (row < n) {
        unsigned end = starts[row + 1];
        for (unsigned k = starts[row] + lane; k < end; k += LANES) {
            uint2 entry = __ldg(entries + k);
            sum = fmaf(__uint_as_float(entry.y), __ldg(x + entry.x), sum);
        }
    }
#pragma unroll
    for (int apart = LANES / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    if (row < n && lane == 0) next[row] = relaxed(omega, inverse[row], x[row], b[row] - sum);
}

// AHEAD entries of a row are read at once, then what they name.
template <int AHEAD>
__global__ void __launch_bounds__(BLOCK)
    by_slices(float omega, const unsigned* __restrict__ slices, const uint2* __restrict__ entries, const float* __restrict__ inverse,
              const float* __restrict__ b, const float* __restrict__ x, float* __restrict__ next, unsigned n) {
    unsigned row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= n) return;
    unsigned k = slices[row / 32] + row % 32, end = slices[row / 32 + 1];
    float own = x[row], scale = inverse[row], right = b[row], sum = 0.0f;
    for (; k + 32 * (AHEAD - 1) < end; k += 32 * AHEAD) {
        uint2 entry[AHEAD];
        float at[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; j++) entry[j] = __ldg(entries + k + 32 * j);
#pragma unroll
        for (int j = 0; j < AHEAD; j++) at[j] = __ldg(x + entry[j].x);
#pragma unroll
        for (int j = 0; j < AHEAD; j++) sum = fmaf(__uint_as_float(entry[j].y), at[j], sum);
    }
    for (; k < end; k += 32) {
        uint2 entry = __ldg(entries + k);
        sum = fmaf(__uint_as_float(entry.y), __ldg(x + entry.x), sum);
    }
    next[row] = relaxed(omega, scale, own, right - sum);
}

}  // namespace

// Variants: 0 a thread to a row; 4, 8 and 32 so many lanes to a row; 101, 102, 104 and 108 slices, so many entries ahead. `steps` steps, a launch each, are made
// twice: once to warm up, once timed. They go from x to next and back; so the result is in x.
extern "C" float twin_fem(unsigned variant, unsigned steps, float omega, const unsigned* starts, const unsigned* columns, const float* values,
                          const unsigned* entries, const unsigned* slices, const unsigned* sliced, const float* inverse, const float* b,
                          float* x, float* next, unsigned n) {
    auto* rows = reinterpret_cast<const uint2*>(entries);
    auto* cut = reinterpret_cast<const uint2*>(sliced);
    unsigned threads = twins::blocks(n, BLOCK);
    auto all_steps = [&](auto step) {
        float *from = x, *to = next;
        return twins::timed([=]() mutable {
            for (unsigned k = 0; k < steps; k++) {
                step(from, to);
                float* other = from;
                from = to;
                to = other;
            }
        });
    };
    auto in_rows = [&] {
        return all_steps([=](const float* from, float* to) { by_thread<<<threads, BLOCK>>>(omega, starts, columns, values, inverse, b, from, to, n); });
    };
    auto lanes = [&](auto kernel, unsigned each) {
        unsigned grid = twins::blocks(size_t(n) * each, BLOCK);
        return all_steps([=](const float* from, float* to) { kernel<<<grid, BLOCK>>>(omega, starts, rows, inverse, b, from, to, n); });
    };
    auto in_slices = [&](auto kernel) {
        return all_steps([=](const float* from, float* to) { kernel<<<threads, BLOCK>>>(omega, slices, cut, inverse, b, from, to, n); });
    };
    switch (variant) {
        case 0: return in_rows();
        case 4: return lanes(by_lanes<4>, 4);
        case 8: return lanes(by_lanes<8>, 8);
        case 32: return lanes(by_lanes<32>, 32);
        case 101: return in_slices(by_slices<1>);
        case 102: return in_slices(by_slices<2>);
        case 104: return in_slices(by_slices<4>);
        case 108: return in_slices(by_slices<8>);
        default: return twins::NO_SUCH_VARIANT;
    }
}
