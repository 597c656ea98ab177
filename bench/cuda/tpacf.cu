// The twins of kernels/src/apps/tpacf: pairs of points on the sphere counted by the cosine of their angle, directly in global memory, and by tiles into
// histograms in shared memory. Products and sums are rounded one by one, as in ours, so that counts are the same.
#include "timing.cuh"

namespace {

constexpr unsigned BINS = 32, EDGES = BINS - 1, SPAN = 2048;
using Count = unsigned long long;

__constant__ float constant_edges[EDGES];

struct Points {
    unsigned n;
    const float *x, *y, *z;
};

__device__ float cosine(float ax, float ay, float az, float bx, float by, float bz) {
    return __fadd_rn(__fadd_rn(__fmul_rn(ax, bx), __fmul_rn(ay, by)), __fmul_rn(az, bz));
}

__global__ void __launch_bounds__(128) pairs_direct(bool same, Points first, Points second, Count* __restrict__ counts) {
    unsigned i = blockIdx.x * 128 + threadIdx.x;
    if (i >= first.n) return;
    float x = __ldg(first.x + i), y = __ldg(first.y + i), z = __ldg(first.z + i);
    for (unsigned j = same ? i + 1 : 0; j < second.n; j++) {
        float c = cosine(x, y, z, __ldg(second.x + j), __ldg(second.y + j), __ldg(second.z + j));
        unsigned bin = 0;
#pragma unroll
        for (unsigned half = BINS / 2; half > 0; half /= 2) {
            if (c < constant_edges[bin + half - 1]) bin += half;
        }
        atomicAdd(counts + bin, Count(1));
    }
}

template <unsigned B, unsigned OWN, unsigned SETS, unsigned LANES>
__global__ void __launch_bounds__(B)
    pairs(bool same, Points first, Points second, const float* __restrict__ edges, Count* __restrict__ counts) {
    __shared__ float near[EDGES];
    __shared__ float4 tile[B];
    __shared__ unsigned local[SETS * BINS * LANES];
    unsigned t = threadIdx.x, from = blockIdx.x * (B * OWN), start = blockIdx.y * SPAN, end = min(start + SPAN, second.n);
    if (same && end <= from + 1) return;
    if (t < EDGES) near[t] = edges[t];
    for (unsigned n = t; n < SETS * BINS * LANES; n += B) local[n] = 0;
    float x[OWN], y[OWN], z[OWN];
    unsigned partner[OWN];
#pragma unroll
    for (unsigned k = 0; k < OWN; k++) {
        unsigned i = from + k * B + t;
        bool inside = i < first.n;
        x[k] = inside ? __ldg(first.x + i) : 0.0f;
        y[k] = inside ? __ldg(first.y + i) : 0.0f;
        z[k] = inside ? __ldg(first.z + i) : 0.0f;
        partner[k] = inside ? (same ? i + 1 : 0) : 0xffffffffu;
    }
    __syncthreads();
    float middle = near[15], low = near[7], high = near[23];
    unsigned* own = local + (t / 32 % SETS) * (BINS * LANES) + t % LANES;
    for (unsigned base = start; base < end; base += B) {
        unsigned j = base + t;
        if (j < end) tile[t] = make_float4(__ldg(second.x + j), __ldg(second.y + j), __ldg(second.z + j), 0.0f);
        __syncthreads();
        unsigned last = min(end - base, B);
        for (unsigned n = 0; n < last; n++) {
            float4 other = tile[n];
#pragma unroll
            for (unsigned k = 0; k < OWN; k++) {
                float c = cosine(x[k], y[k], z[k], other.x, other.y, other.z);
                bool upper = c < middle;
                unsigned bin = upper ? 16 : 0;
                if (c < (upper ? high : low)) bin += 8;
                if (c < near[bin + 3]) bin += 4;
                if (c < near[bin + 1]) bin += 2;
                if (c < near[bin]) bin += 1;
                if (base + n >= partner[k]) atomicAdd(own + bin * LANES, 1u);
            }
        }
        __syncthreads();
    }
    if (t < BINS) {
        unsigned sum = 0;
        for (unsigned n = 0; n < SETS * LANES; n++) sum += local[(n / LANES * BINS + t) * LANES + (n + t) % LANES];
        if (sum > 0) atomicAdd(counts + t, Count(sum));
    }
}

// All pairs of galaxies, of galaxies and random points, of random points.
template <class Launch>
float all_pairs(Points galaxies, Points random, Count* dd, Count* dr, Count* rr, Launch launch) {
    return twins::timed([&] {
        if (galaxies.n > 0) launch(true, galaxies, galaxies, dd);
        if (galaxies.n > 0 && random.n > 0) launch(false, galaxies, random, dr);
        if (random.n > 0) launch(true, random, random, rr);
    });
}

template <unsigned B, unsigned OWN, unsigned SETS, unsigned LANES>
float by_tiles(Points galaxies, Points random, const float* edges, Count* dd, Count* dr, Count* rr) {
    return all_pairs(galaxies, random, dd, dr, rr, [&](bool same, Points first, Points second, Count* counts) {
        dim3 grid(twins::blocks(first.n, B * OWN), twins::blocks(second.n, SPAN));
        pairs<B, OWN, SETS, LANES><<<grid, B>>>(same, first, second, edges, counts);
    });
}

template <unsigned B, unsigned OWN>
float of_block(unsigned sets, unsigned lanes, Points galaxies, Points random, const float* edges, Count* dd, Count* dr, Count* rr) {
    if (sets == 1 && lanes == 1) return by_tiles<B, OWN, 1, 1>(galaxies, random, edges, dd, dr, rr);
    if (sets == 4 && lanes == 1) return by_tiles<B, OWN, 4, 1>(galaxies, random, edges, dd, dr, rr);
    if (sets == 1 && lanes == 32) return by_tiles<B, OWN, 1, 32>(galaxies, random, edges, dd, dr, rr);
    if (sets == 4 && lanes == 32) return by_tiles<B, OWN, 4, 32>(galaxies, random, edges, dd, dr, rr);
    return twins::NO_SUCH_VARIANT;
}

}  // namespace

// The kernel without tiles. Pairs are added to the counts twice, by a launch that warms up and by the timed one; here and below.
extern "C" float twin_tpacf_direct(unsigned galaxies, unsigned random, const float* gx, const float* gy, const float* gz, const float* rx,
                                   const float* ry, const float* rz, const float* edges, unsigned long long* dd, unsigned long long* dr,
                                   unsigned long long* rr) {
    cudaError_t error = cudaMemcpyToSymbol(constant_edges, edges, sizeof constant_edges, 0, cudaMemcpyDeviceToDevice);
    if (error != cudaSuccess) return -static_cast<float>(error);
    return all_pairs({galaxies, gx, gy, gz}, {random, rx, ry, rz}, dd, dr, rr, [&](bool same, Points first, Points second, Count* counts) {
        pairs_direct<<<twins::blocks(first.n, 128), 128>>>(same, first, second, counts);
    });
}

// Tiles: `own` points a thread, `sets` histograms for the warps of a block, `lanes` in each for the lanes of a warp.
extern "C" float twin_tpacf(unsigned block, unsigned own, unsigned sets, unsigned lanes, unsigned galaxies, unsigned random, const float* gx,
                            const float* gy, const float* gz, const float* rx, const float* ry, const float* rz, const float* edges,
                            unsigned long long* dd, unsigned long long* dr, unsigned long long* rr) {
    Points g{galaxies, gx, gy, gz}, r{random, rx, ry, rz};
    switch (block * 8 + own) {
        case 128 * 8 + 1: return of_block<128, 1>(sets, lanes, g, r, edges, dd, dr, rr);
        case 128 * 8 + 2: return of_block<128, 2>(sets, lanes, g, r, edges, dd, dr, rr);
        case 128 * 8 + 4: return of_block<128, 4>(sets, lanes, g, r, edges, dd, dr, rr);
        case 256 * 8 + 1: return of_block<256, 1>(sets, lanes, g, r, edges, dd, dr, rr);
        case 256 * 8 + 2: return of_block<256, 2>(sets, lanes, g, r, edges, dd, dr, rr);
        case 256 * 8 + 4: return of_block<256, 4>(sets, lanes, g, r, edges, dd, dr, rr);
        default: return twins::NO_SUCH_VARIANT;
    }
}
