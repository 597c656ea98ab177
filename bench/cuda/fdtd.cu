// The twins of kernels/src/apps/fdtd: steps of a two-dimensional electromagnetic wave, H and E in two launches (threads along columns, along rows, four cells
// a thread), in one, and several steps in one through tiles. The fields lie as `Grid` says: padded rows, a row of zeros above and below.
#include "timing.cuh"

namespace {

constexpr unsigned MOST = 4;

struct Grid {
    unsigned width, height, pitch;
    __device__ unsigned at(unsigned x, unsigned y) const { return (y + 1) * pitch + x; }
};

// What is added to E of one cell: samples[step], while there are such.
struct Source {
    unsigned x, y, step, count;
    const float* samples;
    __device__ float feed(unsigned px, unsigned py, unsigned k) const {
        return px == x && py == y && step + k < count ? samples[step + k] : 0.0f;
    }
};

template <bool BY_COLUMNS>
__device__ uint2 place() {
    unsigned t = threadIdx.y * blockDim.x + threadIdx.x;
    return BY_COLUMNS ? make_uint2(blockIdx.x * 8 + t / 32, blockIdx.y * 32 + t % 32)
                      : make_uint2(blockIdx.x * 32 + threadIdx.x, blockIdx.y * 8 + threadIdx.y);
}

template <bool BY_COLUMNS>
__global__ void __launch_bounds__(256)
    magnetic(Grid grid, float rate, const float* __restrict__ ez, float* __restrict__ hx, float* __restrict__ hy) {
    uint2 p = place<BY_COLUMNS>();
    if (p.x >= grid.width || p.y >= grid.height) return;
    unsigned at = grid.at(p.x, p.y);
    float here = ez[at];
    hx[at] -= rate * (ez[at + grid.pitch] - here);
    hy[at] += rate * (ez[at + 1] - here);
}

template <bool BY_COLUMNS>
__global__ void __launch_bounds__(256) electric(Grid grid, Source source, const float* __restrict__ material, const float* __restrict__ hx,
                                                const float* __restrict__ hy, float* __restrict__ ez) {
    uint2 p = place<BY_COLUMNS>();
    if (p.x >= grid.width || p.y >= grid.height) return;
    unsigned at = grid.at(p.x, p.y);
    ez[at] += material[at] * ((hy[at] - hy[at - 1]) - (hx[at] - hx[at - grid.pitch])) + source.feed(p.x, p.y, 0);
}

// Four cells in a row by vectors. Rows begin at multiples of four elements, and behind them there is room; what is there stays 0, since E and the
// material are 0 there.
__device__ float4 four(const float* p) { return *reinterpret_cast<const float4*>(p); }

__global__ void __launch_bounds__(256)
    magnetic_by_four(Grid grid, float rate, const float* __restrict__ ez, float* __restrict__ hx, float* __restrict__ hy) {
    unsigned x = (blockIdx.x * 32 + threadIdx.x) * 4, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= grid.width || y >= grid.height) return;
    unsigned at = grid.at(x, y);
    float4 e = four(ez + at), below = four(ez + at + grid.pitch), h = four(hx + at), v = four(hy + at);
    float right = ez[at + 4];
    h.x -= rate * (below.x - e.x);
    h.y -= rate * (below.y - e.y);
    h.z -= rate * (below.z - e.z);
    h.w -= rate * (below.w - e.w);
    v.x += rate * (e.y - e.x);
    v.y += rate * (e.z - e.y);
    v.z += rate * (e.w - e.z);
    v.w += rate * (right - e.w);
    *reinterpret_cast<float4*>(hx + at) = h;
    *reinterpret_cast<float4*>(hy + at) = v;
}

__global__ void __launch_bounds__(256) electric_by_four(Grid grid, Source source, const float* __restrict__ material,
                                                        const float* __restrict__ hx, const float* __restrict__ hy, float* __restrict__ ez) {
    unsigned x = (blockIdx.x * 32 + threadIdx.x) * 4, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= grid.width || y >= grid.height) return;
    unsigned at = grid.at(x, y);
    float4 e = four(ez + at), h = four(hx + at), above = four(hx + at - grid.pitch), v = four(hy + at), c = four(material + at);
    float left = hy[at - 1];
    e.x += c.x * ((v.x - left) - (h.x - above.x)) + source.feed(x, y, 0);
    e.y += c.y * ((v.y - v.x) - (h.y - above.y)) + source.feed(x + 1, y, 0);
    e.z += c.z * ((v.z - v.y) - (h.z - above.z)) + source.feed(x + 2, y, 0);
    e.w += c.w * ((v.w - v.z) - (h.w - above.w)) + source.feed(x + 3, y, 0);
    *reinterpret_cast<float4*>(ez + at) = e;
}

__global__ void __launch_bounds__(256)
    fused(Grid grid, float rate, Source source, const float* __restrict__ material, const float* __restrict__ ez, const float* __restrict__ hx,
          const float* __restrict__ hy, float* __restrict__ ez_next, float* __restrict__ hx_next, float* __restrict__ hy_next) {
    uint2 p = place<false>();
    if (p.x >= grid.width || p.y >= grid.height) return;
    unsigned at = grid.at(p.x, p.y);
    float here = ez[at];
    float h = hx[at] - rate * (ez[at + grid.pitch] - here);
    float v = hy[at] + rate * (ez[at + 1] - here);
    float above = hx[at - grid.pitch] - rate * (here - ez[at - grid.pitch]);
    float left = hy[at - 1] + rate * (here - ez[at - 1]);
    hx_next[at] = h;
    hy_next[at] = v;
    ez_next[at] = here + material[at] * ((v - left) - (h - above)) + source.feed(p.x, p.y, 0);
}

constexpr unsigned COLUMNS = 64, BANDS = 8, OWN = 4, ROWS = BANDS * OWN;

template <unsigned STEPS>
__global__ void __launch_bounds__(COLUMNS* BANDS)
    tiled(Grid grid, float rate, Source source, const float* __restrict__ material, const float* __restrict__ ez, const float* __restrict__ hx,
          const float* __restrict__ hy, float* __restrict__ ez_next, float* __restrict__ hx_next, float* __restrict__ hy_next) {
    __shared__ float e_right[ROWS][COLUMNS + 1], e_below[BANDS + 1][COLUMNS], h_left[ROWS][COLUMNS + 1], h_above[BANDS + 1][COLUMNS];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned x = blockIdx.x * (COLUMNS - 2 * STEPS) + tx - STEPS, top = blockIdx.y * (ROWS - 2 * STEPS) + ty * OWN - STEPS;
    float e[OWN], h[OWN], v[OWN], c[OWN];
#pragma unroll
    for (unsigned k = 0; k < OWN; k++) {
        bool inside = x < grid.width && top + k < grid.height;
        unsigned at = grid.at(x, top + k);
        e[k] = inside ? ez[at] : 0.0f;
        h[k] = inside ? hx[at] : 0.0f;
        v[k] = inside ? hy[at] : 0.0f;
        c[k] = inside ? material[at] : 0.0f;
    }
    if (tx == 0) {
#pragma unroll
        for (unsigned k = 0; k < OWN; k++) e_right[ty * OWN + k][COLUMNS] = h_left[ty * OWN + k][0] = 0.0f;
    }
    if (ty == 0) e_below[BANDS][tx] = h_above[0][tx] = 0.0f;
#pragma unroll
    for (unsigned step = 0; step < STEPS; step++) {
#pragma unroll
        for (unsigned k = 0; k < OWN; k++) e_right[ty * OWN + k][tx] = e[k];
        e_below[ty][tx] = e[0];
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < OWN; k++) {
            h[k] -= rate * ((k + 1 < OWN ? e[(k + 1) % OWN] : e_below[ty + 1][tx]) - e[k]);
            v[k] += rate * (e_right[ty * OWN + k][tx + 1] - e[k]);
            h_left[ty * OWN + k][tx + 1] = v[k];
        }
        h_above[ty + 1][tx] = h[OWN - 1];
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < OWN; k++) {
            float up = k > 0 ? h[(k + OWN - 1) % OWN] : h_above[ty][tx];
            e[k] += c[k] * ((v[k] - h_left[ty * OWN + k][tx]) - (h[k] - up)) + source.feed(x, top + k, step);
        }
    }
    bool inner = tx >= STEPS && tx < COLUMNS - STEPS && x < grid.width;
#pragma unroll
    for (unsigned k = 0; k < OWN; k++) {
        unsigned row = ty * OWN + k;
        if (inner && row >= STEPS && row < ROWS - STEPS && top + k < grid.height) {
            unsigned at = grid.at(x, top + k);
            ez_next[at] = e[k];
            hx_next[at] = h[k];
            hy_next[at] = v[k];
        }
    }
}

}  // namespace

// Variants: 0 threads along columns, 1 along rows, 2 four cells a thread by vectors, 3 H and E in one launch, 4, 5, 6 tiles of 1, 2, 4 steps a
// launch. The wave goes on by `steps` steps twice: once to warm up, once timed. `steps` is a multiple of a launch's steps. The result is in ez, hx, hy.
extern "C" float twin_fdtd(unsigned variant, unsigned width, unsigned height, unsigned pitch, float rate, unsigned source_x, unsigned source_y,
                           unsigned steps, unsigned count, const float* samples, const float* material, float* ez, float* hx, float* hy,
                           float* ez_next, float* hx_next, float* hy_next) {
    Grid grid{width, height, pitch};
    Source source{source_x, source_y, 0, count, samples};
    if (variant > 6 || (variant == 5 && steps % 2) || (variant == 6 && steps % MOST)) return twins::NO_SUCH_VARIANT;
    auto in_place = [&](auto magnetic, auto electric, dim3 blocks, dim3 threads) {
        return twins::timed([=]() mutable {
            for (unsigned n = 0; n < steps; n++) {
                magnetic<<<blocks, threads>>>(grid, rate, ez, hx, hy);
                electric<<<blocks, threads>>>(grid, source, material, hx, hy, ez);
                source.step++;
            }
        });
    };
    // Twice as many launches as a run has, an even number: the result is where the wave began.
    auto to_and_fro = [&](auto kernel, unsigned each, dim3 blocks, dim3 threads) {
        float *from[3] = {ez, hx, hy}, *to[3] = {ez_next, hx_next, hy_next};
        return twins::timed([=]() mutable {
            for (unsigned n = 0; n < steps; n += each) {
                kernel<<<blocks, threads>>>(grid, rate, source, material, from[0], from[1], from[2], to[0], to[1], to[2]);
                source.step += each;
                for (int field = 0; field < 3; field++) {
                    float* other = from[field];
                    from[field] = to[field];
                    to[field] = other;
                }
            }
        });
    };
    auto tiles = [&](unsigned n) { return dim3(twins::blocks(width, COLUMNS - 2 * n), twins::blocks(height, ROWS - 2 * n)); };
    dim3 threads(32, 8), rows(twins::blocks(width, 32), twins::blocks(height, 8));
    switch (variant) {
        case 0: return in_place(magnetic<true>, electric<true>, dim3(twins::blocks(width, 8), twins::blocks(height, 32)), dim3(8, 32));
        case 1: return in_place(magnetic<false>, electric<false>, rows, threads);
        case 2: return in_place(magnetic_by_four, electric_by_four, dim3(twins::blocks(width, 128), rows.y), threads);
        case 3: return to_and_fro(fused, 1, rows, threads);
        case 4: return to_and_fro(tiled<1>, 1, tiles(1), dim3(COLUMNS, BANDS));
        case 5: return to_and_fro(tiled<2>, 2, tiles(2), dim3(COLUMNS, BANDS));
        default: return to_and_fro(tiled<4>, 4, tiles(4), dim3(COLUMNS, BANDS));
    }
}
