// The twins of kernels/src/apps/lbm: lattice Boltzmann steps with 19 velocities, one relaxation rate, obstacles and a force, on an array of structures, on a
// structure of arrays, and with the shifts along x through shared memory. Memory lies as `Lattice` says.
#include "timing.cuh"

namespace {

constexpr unsigned Q = 19;

struct Lattice {
    unsigned nx, ny, nz, pitch;
    float omega, push_x, push_y, push_z;

    __device__ unsigned at(unsigned x, unsigned y, unsigned z) const { return (z * ny + y) * pitch + x; }
    __device__ unsigned cells() const { return nz * ny * pitch; }
    __device__ unsigned left(unsigned x) const { return x == 0 ? nx - 1 : x - 1; }
    __device__ unsigned right(unsigned x) const { return x + 1 == nx ? 0 : x + 1; }

    __device__ void sources(unsigned l, unsigned x, unsigned r, unsigned y, unsigned z, unsigned (&from)[Q]) const {
        unsigned d = y == 0 ? ny - 1 : y - 1, u = y + 1 == ny ? 0 : y + 1;
        unsigned b = z == 0 ? nz - 1 : z - 1, f = z + 1 == nz ? 0 : z + 1;
        unsigned all[Q] = {at(x, y, z), at(l, y, z), at(r, y, z), at(x, d, z), at(x, u, z), at(x, y, b), at(x, y, f),
                           at(l, d, z), at(r, u, z), at(l, u, z), at(r, d, z), at(l, y, b), at(r, y, f), at(l, y, f),
                           at(r, y, b), at(x, d, b), at(x, u, f), at(x, d, f), at(x, u, b)};
#pragma unroll
        for (unsigned i = 0; i < Q; i++) from[i] = all[i];
    }

    __device__ void collide(float (&f)[Q]) const {
        float east = f[1] + f[7] + f[9] + f[11] + f[13], west = f[2] + f[8] + f[10] + f[12] + f[14];
        float density = f[0] + f[3] + f[4] + f[5] + f[6] + f[15] + f[16] + f[17] + f[18] + east + west;
        float part = 1.0f / density;
        float ux = (east - west) * part + push_x;
        float uy = (f[3] - f[4] + f[7] - f[8] + f[10] - f[9] + f[15] - f[16] + f[17] - f[18]) * part + push_y;
        float uz = (f[5] - f[6] + f[11] - f[12] + f[14] - f[13] + f[15] - f[16] + f[18] - f[17]) * part + push_z;
        float base = 1.0f - 1.5f * (ux * ux + uy * uy + uz * uz);
        float along[9] = {ux, uy, uz, ux + uy, ux - uy, ux + uz, ux - uz, uy + uz, uy - uz};
        float share = omega * density, keep = 1.0f - omega;
        f[0] = keep * f[0] + share * (1.0f / 3.0f) * base;
#pragma unroll
        for (unsigned pair = 0; pair < 9; pair++) {
            float weight = share * (pair < 3 ? 1.0f / 18.0f : 1.0f / 36.0f);
            float even = weight * (base + 4.5f * (along[pair] * along[pair])), odd = weight * (3.0f * along[pair]);
            f[2 * pair + 1] = keep * f[2 * pair + 1] + (even + odd);
            f[2 * pair + 2] = keep * f[2 * pair + 2] + (even - odd);
        }
    }
};

__device__ constexpr unsigned back(unsigned i) { return i == 0 ? 0 : ((i - 1) ^ 1) + 1; }

__global__ void __launch_bounds__(128)
    structures(Lattice lattice, const unsigned* __restrict__ walls, const float* __restrict__ before, float* __restrict__ after) {
    unsigned x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x >= lattice.nx) return;
    unsigned here = lattice.at(x, y, z), wall = walls[here], from[Q];
    if (wall & 1) return;
    lattice.sources(lattice.left(x), x, lattice.right(x), y, z, from);
    float f[Q];
#pragma unroll
    for (unsigned i = 0; i < Q; i++) f[i] = before[wall >> i & 1 ? here * Q + back(i) : from[i] * Q + i];
    lattice.collide(f);
#pragma unroll
    for (unsigned i = 0; i < Q; i++) after[here * Q + i] = f[i];
}

template <unsigned B, bool EAGER>
__global__ void __launch_bounds__(B)
    arrays(Lattice lattice, const unsigned* __restrict__ walls, const float* __restrict__ before, float* __restrict__ after) {
    unsigned x = blockIdx.x * B + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x >= lattice.nx) return;
    unsigned n = lattice.cells(), here = lattice.at(x, y, z), wall = walls[here], from[Q];
    lattice.sources(lattice.left(x), x, lattice.right(x), y, z, from);
    float f[Q];
    if (EAGER) {
#pragma unroll
        for (unsigned i = 0; i < Q; i++) f[i] = before[i * n + from[i]];
        if (wall != 0) {
#pragma unroll
            for (unsigned i = 1; i < Q; i++) {
                if (wall >> i & 1) f[i] = before[back(i) * n + here];
            }
        }
    } else {
#pragma unroll
        for (unsigned i = 0; i < Q; i++) f[i] = before[wall >> i & 1 ? back(i) * n + here : i * n + from[i]];
    }
    if (wall & 1) return;
    lattice.collide(f);
#pragma unroll
    for (unsigned i = 0; i < Q; i++) after[i * n + here] = f[i];
}

template <unsigned B>
__global__ void __launch_bounds__(B)
    staged(Lattice lattice, const unsigned* __restrict__ walls, const float* __restrict__ before, float* __restrict__ after) {
    __shared__ float rows[10][B];
    unsigned t = threadIdx.x, first = blockIdx.x * B, x = first + t, y = blockIdx.y, z = blockIdx.z;
    unsigned last = min(lattice.nx - first, B) - 1, n = lattice.cells(), here = lattice.at(x, y, z), wall = 1;
    float f[Q];
    if (t <= last) {
        wall = walls[here];
        unsigned from[Q];
        lattice.sources(t == last ? lattice.left(first) : x, x, t == 0 ? lattice.right(first + last) : x, y, z, from);
#pragma unroll
        for (unsigned i = 0; i < Q; i++) f[i] = before[i * n + from[i]];
        unsigned right = t == last ? 0 : t + 1, left = t == 0 ? last : t - 1;
#pragma unroll
        for (unsigned k = 0; k < 10; k++) rows[k][k % 2 == 0 ? right : left] = f[k < 2 ? k + 1 : k + 5];
    }
    __syncthreads();
    if (wall & 1) return;
#pragma unroll
    for (unsigned k = 0; k < 10; k++) f[k < 2 ? k + 1 : k + 5] = rows[k][t];
    if (wall != 0) {
#pragma unroll
        for (unsigned i = 1; i < Q; i++) {
            if (wall >> i & 1) f[i] = before[back(i) * n + here];
        }
    }
    lattice.collide(f);
#pragma unroll
    for (unsigned i = 0; i < Q; i++) after[i * n + here] = f[i];
}

using Kernel = void (*)(Lattice, const unsigned*, const float*, float*);

template <unsigned B>
Kernel of_block(unsigned variant) {
    switch (variant) {
        case 1: return arrays<B, false>;
        case 2: return arrays<B, true>;
        case 3: return staged<B>;
        default: return nullptr;
    }
}

}  // namespace

// Variants: 0 an array of structures (blocks of 128), 1 a structure of arrays, 2 with all loads at once, 3 through shared memory. The fluid goes on by `steps` steps
// twice: once to warm up, once timed. So the result is in `before`.
extern "C" float twin_lbm(unsigned variant, unsigned block, unsigned nx, unsigned ny, unsigned nz, unsigned pitch, float omega, float push_x,
                          float push_y, float push_z, unsigned steps, const unsigned* walls, float* before, float* after) {
    Lattice lattice{nx, ny, nz, pitch, omega, push_x, push_y, push_z};
    Kernel kernel = nullptr;
    if (variant == 0 && block == 128) kernel = structures;
    if (block == 64) kernel = of_block<64>(variant);
    if (block == 128 && variant > 0) kernel = of_block<128>(variant);
    if (block == 256) kernel = of_block<256>(variant);
    if (kernel == nullptr) return twins::NO_SUCH_VARIANT;
    dim3 grid(twins::blocks(nx, block), ny, nz);
    float *from = before, *to = after;
    return twins::timed([=]() mutable {
        for (unsigned n = 0; n < steps; n++) {
            kernel<<<grid, block>>>(lattice, walls, from, to);
            float* other = from;
            from = to;
            to = other;
        }
    });
}
