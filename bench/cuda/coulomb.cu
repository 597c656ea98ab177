// The twins of kernels/src/apps/coulomb.rs: the potential with atoms in global memory, and with several points a thread from constant memory in chunks and through the
// L1 cache.
#include "timing.cuh"

namespace {

constexpr unsigned CHUNK = 4000, WIDE = 32, HIGH = 4, DIRECT_HIGH = 8;

__constant__ float4 atoms_of_chunk[CHUNK];

__global__ void __launch_bounds__(WIDE * DIRECT_HIGH) potential_direct(
    unsigned width, unsigned height, float spacing, const float4* __restrict__ atoms, unsigned count, float* __restrict__ potential) {
    unsigned x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * DIRECT_HIGH + threadIdx.y;
    if (x >= width || y >= height) return;
    float px = x * spacing, py = y * spacing, sum = 0.0f;
    for (unsigned a = 0; a < count; a++) {
        float4 atom = atoms[a];
        float dx = atom.x - px, dy = atom.y - py;
        sum += atom.w / sqrtf(dx * dx + dy * dy + atom.z);
    }
    potential[y * width + x] = sum;
}

template <int POINTS>
__global__ void __launch_bounds__(WIDE * HIGH)
    potential_constant(unsigned width, unsigned height, float spacing, unsigned count, bool add, float* __restrict__ potential) {
    unsigned first = blockIdx.x * WIDE * POINTS + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    if (first >= width || y >= height) return;
    float px[POINTS], sum[POINTS], py = y * spacing;
#pragma unroll
    for (int p = 0; p < POINTS; p++) {
        unsigned x = first + p * WIDE;
        px[p] = x * spacing;
        sum[p] = add && x < width ? potential[y * width + x] : 0.0f;
    }
#pragma unroll 4
    for (unsigned a = 0; a < count; a++) {
        float4 atom = atoms_of_chunk[a];
        float dy = atom.y - py, rest = dy * dy + atom.z;
#pragma unroll
        for (int p = 0; p < POINTS; p++) {
            float dx = atom.x - px[p];
            sum[p] += atom.w * rsqrtf(dx * dx + rest);
        }
    }
#pragma unroll
    for (int p = 0; p < POINTS; p++) {
        unsigned x = first + p * WIDE;
        if (x < width) potential[y * width + x] = sum[p];
    }
}

template <int POINTS>
__global__ void __launch_bounds__(WIDE * HIGH)
    potential_cached(unsigned width, unsigned height, float spacing, const float4* __restrict__ atoms, unsigned count, float* __restrict__ potential) {
    unsigned first = blockIdx.x * WIDE * POINTS + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    if (first >= width || y >= height) return;
    float px[POINTS], sum[POINTS], py = y * spacing;
#pragma unroll
    for (int p = 0; p < POINTS; p++) {
        px[p] = (first + p * WIDE) * spacing;
        sum[p] = 0.0f;
    }
#pragma unroll 4
    for (unsigned a = 0; a < count; a++) {
        float4 atom = atoms[a];
        float dy = atom.y - py, rest = dy * dy + atom.z;
#pragma unroll
        for (int p = 0; p < POINTS; p++) {
            float dx = atom.x - px[p];
            sum[p] += atom.w * rsqrtf(dx * dx + rest);
        }
    }
#pragma unroll
    for (int p = 0; p < POINTS; p++) {
        unsigned x = first + p * WIDE;
        if (x < width) potential[y * width + x] = sum[p];
    }
}

void fill(const float4* atoms, unsigned count) {
    cudaMemcpyToSymbolAsync(atoms_of_chunk, atoms, count * sizeof(float4), 0, cudaMemcpyDeviceToDevice);
}

template <int POINTS>
float timed_points(unsigned width, unsigned height, float spacing, const float4* atoms, unsigned count, float* potential) {
    dim3 block(WIDE, HIGH), grid(twins::blocks(width, WIDE * POINTS), twins::blocks(height, HIGH));
    // Atoms of one chunk stay where they are.
    if (count <= CHUNK) fill(atoms, count);
    return twins::timed([&] {
        unsigned at = 0;
        do {
            unsigned here = count - at < CHUNK ? count - at : CHUNK;
            if (count > CHUNK) fill(atoms + at, here);
            potential_constant<POINTS><<<grid, block>>>(width, height, spacing, here, at > 0, potential);
            at += here;
        } while (at < count);
    });
}

template <int POINTS>
float timed_cached(unsigned width, unsigned height, float spacing, const float4* atoms, unsigned count, float* potential) {
    dim3 block(WIDE, HIGH), grid(twins::blocks(width, WIDE * POINTS), twins::blocks(height, HIGH));
    return twins::timed_kernel(potential_cached<POINTS>, grid, block, 0, width, height, spacing, atoms, count, potential);
}

}  // namespace

// Variants: 0 from global memory, 1 from constant memory with 1, 4 or 8 points a thread, 2 through the L1 cache with 4 or 8. Atoms are x, y, (z - z of the slice) squared, charge.
extern "C" float twin_coulomb(unsigned variant, unsigned points, unsigned width, unsigned height, float spacing, const float* atoms, unsigned count, float* potential) {
    const float4* quads = reinterpret_cast<const float4*>(atoms);
    if (variant == 0) {
        dim3 block(WIDE, DIRECT_HIGH), grid(twins::blocks(width, WIDE), twins::blocks(height, DIRECT_HIGH));
        return twins::timed_kernel(potential_direct, grid, block, 0, width, height, spacing, quads, count, potential);
    }
    if (variant == 2 && points == 4) return timed_cached<4>(width, height, spacing, quads, count, potential);
    if (variant == 2 && points == 8) return timed_cached<8>(width, height, spacing, quads, count, potential);
    if (variant != 1) return twins::NO_SUCH_VARIANT;
    switch (points) {
        case 1: return timed_points<1>(width, height, spacing, quads, count, potential);
        case 4: return timed_points<4>(width, height, spacing, quads, count, potential);
        case 8: return timed_points<8>(width, height, spacing, quads, count, potential);
        default: return twins::NO_SUCH_VARIANT;
    }
}
