// The twins of kernels/src/apps/rpes: two-electron integrals over contracted Gaussians of type s, from functions, and from pairs in constant memory.
#include "timing.cuh"

namespace {

constexpr int PRIMITIVES = 3, PRODUCTS = 9, CHUNK = 256, CELLS = 128, BLOCK = 128;
constexpr float FACTOR = 34.986836f, HALF_ROOT_OF_PI = 0.88622695f;

struct Function {
    float centre[3], exponents[PRIMITIVES], weights[PRIMITIVES];
};

struct Product {
    float x, y, z, p, factor;
};

__constant__ Product kets[CHUNK * PRODUCTS];

__device__ __forceinline__ float boys(float t) {
    if (t < 1e-5f) return 1.0f - t * (1.0f / 3.0f);
    float root = sqrtf(t);
    return HALF_ROOT_OF_PI / root * erff(root);
}

__device__ __forceinline__ float boys_of_cells(float t, const float4* cells) {
    int cell = min(static_cast<int>(t * 8.0f), CELLS - 1);
    float d = t - (cell + 0.5f) * 0.125f;
    float4 c = cells[cell];
    float near = fmaf(d, fmaf(d, fmaf(d, c.w, c.z), c.y), c.x);
    return t < 16.0f ? near : HALF_ROOT_OF_PI * rsqrtf(t);
}

__device__ __forceinline__ Product product(const Function& f, int a, const Function& g, int b) {
    float alpha = f.exponents[a], beta = g.exponents[b], p = alpha + beta;
    float dx = f.centre[0] - g.centre[0], dy = f.centre[1] - g.centre[1], dz = f.centre[2] - g.centre[2];
    float left = expf(-(alpha * beta / p) * (dx * dx + dy * dy + dz * dz));
    return {(alpha * f.centre[0] + beta * g.centre[0]) / p, (alpha * f.centre[1] + beta * g.centre[1]) / p,
            (alpha * f.centre[2] + beta * g.centre[2]) / p, p, f.weights[a] * g.weights[b] * left / p};
}

__device__ __forceinline__ float apart(float4 p, const Product& q) {
    float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
    return fmaf(dx, dx, fmaf(dy, dy, dz * dz));
}

__global__ void __launch_bounds__(BLOCK) integrals_direct(unsigned pairs, const Function* __restrict__ functions, const unsigned* __restrict__ firsts,
                                                          const unsigned* __restrict__ seconds, float* __restrict__ out) {
    unsigned bra = blockIdx.x * BLOCK + threadIdx.x, ket = blockIdx.y;
    if (bra >= pairs || bra < ket) return;
    const Function &i = functions[firsts[bra]], &j = functions[seconds[bra]], &k = functions[firsts[ket]], &l = functions[seconds[ket]];
    float sum = 0.0f;
    for (int ab = 0; ab < PRODUCTS; ab++) {
        Product p = product(i, ab / PRIMITIVES, j, ab % PRIMITIVES);
        for (int cd = 0; cd < PRODUCTS; cd++) {
            Product q = product(k, cd / PRIMITIVES, l, cd % PRIMITIVES);
            float both = p.p + q.p;
            float t = p.p * q.p / both * apart(make_float4(p.x, p.y, p.z, p.p), q);
            sum += p.factor * q.factor / sqrtf(both) * boys(t);
        }
    }
    out[size_t(ket) * pairs + bra] = FACTOR * sum;
}

template <int KETS, bool TABLE>
__global__ void __launch_bounds__(BLOCK)
    integrals_of_pairs(unsigned pairs, unsigned first, const float4* __restrict__ places, const float* __restrict__ factors,
                       const float4* __restrict__ table, float* __restrict__ out) {
    __shared__ float4 cells[CELLS];
    if (TABLE) {
        for (int cell = threadIdx.x; cell < CELLS; cell += BLOCK) cells[cell] = table[cell];
        __syncthreads();
    }
    unsigned bra = blockIdx.x * BLOCK + threadIdx.x, ket = blockIdx.y * KETS;
    if (bra >= pairs || bra < first + ket) return;
    float sums[KETS] = {};
    for (int a = 0; a < PRODUCTS; a++) {
        float4 p = places[a * pairs + bra];
        float factor = factors[a * pairs + bra], shares[KETS] = {};
#pragma unroll
        for (int b = 0; b < PRODUCTS; b++) {
#pragma unroll
            for (int j = 0; j < KETS; j++) {
                const Product& q = kets[(ket + j) * PRODUCTS + b];
                float both = p.w + q.p;
                if (TABLE) {
                    float root = rsqrtf(both);
                    shares[j] = fmaf(q.factor * root, boys_of_cells(p.w * q.p * (root * root) * apart(p, q), cells), shares[j]);
                } else {
                    shares[j] = fmaf(q.factor / sqrtf(both), boys(p.w * q.p / both * apart(p, q)), shares[j]);
                }
            }
        }
#pragma unroll
        for (int j = 0; j < KETS; j++) sums[j] = fmaf(factor, shares[j], sums[j]);
    }
#pragma unroll
    for (int j = 0; j < KETS; j++) {
        if (first + ket + j <= bra) out[size_t(first + ket + j) * pairs + bra] = FACTOR * sums[j];
    }
}

// What constant memory has room for at a time, launch by launch. Products of few pairs stay where they are.
template <int KETS, bool TABLE>
float of_pairs(unsigned pairs, const float* all, const float4* places, const float* factors, const float4* table, float* out) {
    auto fill = [=](unsigned first) {
        cudaMemcpyToSymbolAsync(kets, all + size_t(first) * PRODUCTS * 5, sizeof(Product) * CHUNK * PRODUCTS, 0, cudaMemcpyDeviceToDevice);
    };
    if (pairs <= CHUNK) fill(0);
    return twins::timed([=] {
        for (unsigned first = 0; first < pairs; first += CHUNK) {
            unsigned many = pairs - first < CHUNK ? pairs - first : CHUNK;
            if (pairs > CHUNK) fill(first);
            dim3 grid(twins::blocks(pairs, BLOCK), twins::blocks(many, KETS));
            integrals_of_pairs<KETS, TABLE><<<grid, BLOCK>>>(pairs, first, places, factors, table, out);
        }
    });
}

}  // namespace

// Variants: 0 from functions; else from pairs, a launch for as many kets as constant memory has room for: 1, 2 and 4 so many kets a thread, 101, 102 and 104 the
// same with the table. `kets` has the products of all pairs, and room up to a whole launch's.
extern "C" float twin_rpes(unsigned variant, unsigned pairs, const float* functions, const unsigned* firsts, const unsigned* seconds,
                           const float* kets, const float* places, const float* factors, const float* table, float* out) {
    auto* at = reinterpret_cast<const float4*>(places);
    auto* of = reinterpret_cast<const float4*>(table);
    switch (variant) {
        case 0: {
            auto* all = reinterpret_cast<const Function*>(functions);
            return twins::timed_kernel(integrals_direct, dim3(twins::blocks(pairs, BLOCK), pairs), BLOCK, 0, pairs, all, firsts, seconds, out);
        }
        case 1: return of_pairs<1, false>(pairs, kets, at, factors, of, out);
        case 2: return of_pairs<2, false>(pairs, kets, at, factors, of, out);
        case 4: return of_pairs<4, false>(pairs, kets, at, factors, of, out);
        case 101: return of_pairs<1, true>(pairs, kets, at, factors, of, out);
        case 102: return of_pairs<2, true>(pairs, kets, at, factors, of, out);
        case 104: return of_pairs<4, true>(pairs, kets, at, factors, of, out);
        default: return twins::NO_SUCH_VARIANT;
    }
}
