// The twins of kernels/src/apps/mri: Q and FHd with samples in global memory, and with several voxels a thread from constant memory in chunks and through the L1 cache.
#include "timing.cuh"

namespace {

constexpr unsigned BLOCK = 256, Q_CHUNK = 4000, FHD_CHUNK = 3200;
constexpr float TWO_PI = 6.28318530717958648f;

// All of constant memory. A chunk of FHd is its samples, and behind them their imaginary parts.
__constant__ float4 chunk[Q_CHUNK];
static_assert(FHD_CHUNK + FHD_CHUNK / 4 == Q_CHUNK, "both sums fill it");

struct Samples {
    const float4* samples;
    const float* imaginary;
};

struct Voxels {
    const float *x, *y, *z;
    float *re, *im;
    unsigned n;
};

template <bool FAST, bool TURNS>
__device__ __forceinline__ void wave(float turns, float* sine, float* cosine) {
    if (TURNS) {
        // What is left of it is the nearest whole number.
        constexpr float WHOLE = 12582912.0f;
        turns -= (turns + WHOLE) - WHOLE;
    }
    if (FAST) {
        __sincosf(turns * TWO_PI, sine, cosine);
    } else {
        sincosf(turns * TWO_PI, sine, cosine);
    }
}

// Adds a sample's wave, weighted by its fourth component and, for FHd, the imaginary part b.
template <bool FHD>
__device__ __forceinline__ void add(float4 sample, float b, float sine, float cosine, float* re, float* im) {
    if (FHD) {
        *re += sample.w * cosine - b * sine;
        *im += sample.w * sine + b * cosine;
    } else {
        *re += sample.w * cosine;
        *im += sample.w * sine;
    }
}

template <bool FHD>
__global__ void __launch_bounds__(BLOCK) direct(
    const float4* __restrict__ samples, const float* __restrict__ imaginary, unsigned count, const float* __restrict__ xs,
    const float* __restrict__ ys, const float* __restrict__ zs, float* __restrict__ res, float* __restrict__ ims, unsigned n) {
    unsigned v = blockIdx.x * BLOCK + threadIdx.x;
    if (v >= n) return;
    float x = xs[v], y = ys[v], z = zs[v], re = 0.0f, im = 0.0f;
    for (unsigned s = 0; s < count; s++) {
        float4 sample = samples[s];
        float b = FHD ? imaginary[s] : 0.0f, sine, cosine;
        wave<false, false>(sample.x * x + sample.y * y + sample.z * z, &sine, &cosine);
        add<FHD>(sample, b, sine, cosine, &re, &im);
    }
    res[v] = re;
    ims[v] = im;
}

template <bool FHD, int VOXELS, bool FAST, bool TURNS>
__global__ void __launch_bounds__(BLOCK) constant(
    unsigned count, bool adds, const float* __restrict__ xs, const float* __restrict__ ys, const float* __restrict__ zs,
    float* __restrict__ res, float* __restrict__ ims, unsigned n) {
    unsigned first = blockIdx.x * BLOCK * VOXELS + threadIdx.x;
    const float* imaginary = reinterpret_cast<const float*>(chunk + FHD_CHUNK);
    float x[VOXELS], y[VOXELS], z[VOXELS], re[VOXELS], im[VOXELS];
#pragma unroll
    for (int i = 0; i < VOXELS; i++) {
        unsigned v = first + i * BLOCK;
        bool is = v < n;
        x[i] = is ? xs[v] : 0.0f;
        y[i] = is ? ys[v] : 0.0f;
        z[i] = is ? zs[v] : 0.0f;
        re[i] = is && adds ? res[v] : 0.0f;
        im[i] = is && adds ? ims[v] : 0.0f;
    }
#pragma unroll 4
    for (unsigned s = 0; s < count; s++) {
        float4 sample = chunk[s];
        float b = FHD ? imaginary[s] : 0.0f;
#pragma unroll
        for (int i = 0; i < VOXELS; i++) {
            float sine, cosine;
            wave<FAST, TURNS>(sample.x * x[i] + sample.y * y[i] + sample.z * z[i], &sine, &cosine);
            add<FHD>(sample, b, sine, cosine, &re[i], &im[i]);
        }
    }
#pragma unroll
    for (int i = 0; i < VOXELS; i++) {
        unsigned v = first + i * BLOCK;
        if (v < n) {
            res[v] = re[i];
            ims[v] = im[i];
        }
    }
}

template <bool FHD, int VOXELS, bool FAST, bool TURNS>
__global__ void __launch_bounds__(BLOCK) cached(
    const float4* __restrict__ samples, const float* __restrict__ imaginary, unsigned count, const float* __restrict__ xs,
    const float* __restrict__ ys, const float* __restrict__ zs, float* __restrict__ res, float* __restrict__ ims, unsigned n) {
    unsigned first = blockIdx.x * BLOCK * VOXELS + threadIdx.x;
    float x[VOXELS], y[VOXELS], z[VOXELS], re[VOXELS], im[VOXELS];
#pragma unroll
    for (int i = 0; i < VOXELS; i++) {
        unsigned v = first + i * BLOCK;
        bool is = v < n;
        x[i] = is ? xs[v] : 0.0f;
        y[i] = is ? ys[v] : 0.0f;
        z[i] = is ? zs[v] : 0.0f;
        re[i] = 0.0f;
        im[i] = 0.0f;
    }
#pragma unroll 4
    for (unsigned s = 0; s < count; s++) {
        float4 sample = samples[s];
        float b = FHD ? imaginary[s] : 0.0f;
#pragma unroll
        for (int i = 0; i < VOXELS; i++) {
            float sine, cosine;
            wave<FAST, TURNS>(sample.x * x[i] + sample.y * y[i] + sample.z * z[i], &sine, &cosine);
            add<FHD>(sample, b, sine, cosine, &re[i], &im[i]);
        }
    }
#pragma unroll
    for (int i = 0; i < VOXELS; i++) {
        unsigned v = first + i * BLOCK;
        if (v < n) {
            res[v] = re[i];
            ims[v] = im[i];
        }
    }
}

template <bool FHD>
void fill(Samples from, unsigned at, unsigned count) {
    cudaMemcpyToSymbolAsync(chunk, from.samples + at, count * sizeof(float4), 0, cudaMemcpyDeviceToDevice);
    if (FHD) {
        cudaMemcpyToSymbolAsync(
            chunk, from.imaginary + at, count * sizeof(float), FHD_CHUNK * sizeof(float4), cudaMemcpyDeviceToDevice);
    }
}

template <bool FHD, int VOXELS, bool FAST, bool TURNS>
float timed_chunks(Samples samples, unsigned count, Voxels to) {
    constexpr unsigned CHUNK = FHD ? FHD_CHUNK : Q_CHUNK;
    unsigned grid = twins::blocks(to.n, BLOCK * VOXELS);
    // Samples of one chunk stay where they are.
    if (count <= CHUNK) fill<FHD>(samples, 0, count);
    return twins::timed([&] {
        unsigned at = 0;
        do {
            unsigned here = count - at < CHUNK ? count - at : CHUNK;
            if (count > CHUNK) fill<FHD>(samples, at, here);
            constant<FHD, VOXELS, FAST, TURNS><<<grid, BLOCK>>>(here, at > 0, to.x, to.y, to.z, to.re, to.im, to.n);
            at += here;
        } while (at < count);
    });
}

template <bool FHD, int VOXELS, bool FAST, bool TURNS>
float timed_cached(Samples samples, unsigned count, Voxels to) {
    return twins::timed_kernel(
        cached<FHD, VOXELS, FAST, TURNS>, twins::blocks(to.n, BLOCK * VOXELS), BLOCK, 0, samples.samples, samples.imaginary, count, to.x, to.y, to.z,
        to.re, to.im, to.n);
}

template <bool FHD, int VOXELS>
float chosen(unsigned variant, Samples samples, unsigned count, Voxels to) {
    switch (variant) {
        case 1: return timed_chunks<FHD, VOXELS, false, false>(samples, count, to);
        case 2: return timed_chunks<FHD, VOXELS, true, false>(samples, count, to);
        case 3: return timed_chunks<FHD, VOXELS, true, true>(samples, count, to);
        case 11: return timed_cached<FHD, VOXELS, false, false>(samples, count, to);
        case 12: return timed_cached<FHD, VOXELS, true, false>(samples, count, to);
        case 13: return timed_cached<FHD, VOXELS, true, true>(samples, count, to);
        default: return twins::NO_SUCH_VARIANT;
    }
}

template <bool FHD>
float timed_sum(unsigned variant, unsigned voxels, Samples samples, unsigned count, Voxels to) {
    if (variant == 0) {
        return twins::timed_kernel(
            direct<FHD>, twins::blocks(to.n, BLOCK), BLOCK, 0, samples.samples, samples.imaginary, count, to.x, to.y, to.z, to.re, to.im, to.n);
    }
    switch (voxels) {
        case 1: return chosen<FHD, 1>(variant, samples, count, to);
        case 2: return chosen<FHD, 2>(variant, samples, count, to);
        case 4: return chosen<FHD, 4>(variant, samples, count, to);
        default: return twins::NO_SUCH_VARIANT;
    }
}

}  // namespace

// Variants of both: 0 from global memory; from constant memory with 1, 2 or 4 voxels a thread 1 with precise functions, 2 with fast ones, 3 with fast ones less whole turns;
// 11, 12 and 13 the same through the L1 cache.
extern "C" float twin_mri_q(
    unsigned variant, unsigned voxels, const float* samples, unsigned count, const float* x, const float* y, const float* z, float* re, float* im, unsigned n) {
    return timed_sum<false>(variant, voxels, {reinterpret_cast<const float4*>(samples), nullptr}, count, {x, y, z, re, im, n});
}

extern "C" float twin_mri_fhd(
    unsigned variant, unsigned voxels, const float* samples, const float* imaginary, unsigned count, const float* x, const float* y, const float* z, float* re, float* im, unsigned n) {
    return timed_sum<true>(variant, voxels, {reinterpret_cast<const float4*>(samples), imaginary}, count, {x, y, z, re, im, n});
}
