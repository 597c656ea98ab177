// The twins of kernels/src/saxpy.rs: y ← a·x + y, plain, and in groups of vectors with the loads batched.
#include "timing.cuh"

namespace {

__device__ float fused(float a, float x, float y) { return fmaf(a, x, y); }

__device__ float4 fused(float a, float4 x, float4 y) {
    return make_float4(fused(a, x.x, y.x), fused(a, x.y, y.y), fused(a, x.z, y.z), fused(a, x.w, y.w));
}

// ILP elements of V per thread, all loads before the first store; n counts elements of V.
template <class V, int B, int ILP>
__global__ void __launch_bounds__(B) saxpy(float a, const V* __restrict__ x, V* __restrict__ y, unsigned n) {
    unsigned first = blockIdx.x * (B * ILP) + threadIdx.x;
    if (first + (ILP - 1) * B < n) {
        const V* x_first = x + first;
        V* y_first = y + first;
        V xs[ILP], ys[ILP];
#pragma unroll
        for (int j = 0; j < ILP; j++) {
            xs[j] = x_first[j * B];
            ys[j] = y_first[j * B];
        }
#pragma unroll
        for (int j = 0; j < ILP; j++) y_first[j * B] = fused(a, xs[j], ys[j]);
    } else {
        for (unsigned i = first; i < n; i += B) y[i] = fused(a, x[i], y[i]);
    }
}

template <int B>
float saxpy_of_block(unsigned ilp, unsigned vector, float a, const float* x, float* y, unsigned n) {
    auto* x4 = reinterpret_cast<const float4*>(x);
    auto* y4 = reinterpret_cast<float4*>(y);
    unsigned grid = twins::blocks(n, size_t(B) * ilp * vector);
    if (vector == 1) {
        if (ilp == 1) return twins::timed_kernel(saxpy<float, B, 1>, grid, B, 0, a, x, y, n);
        if (ilp == 2) return twins::timed_kernel(saxpy<float, B, 2>, grid, B, 0, a, x, y, n);
        if (ilp == 4) return twins::timed_kernel(saxpy<float, B, 4>, grid, B, 0, a, x, y, n);
        if (ilp == 8) return twins::timed_kernel(saxpy<float, B, 8>, grid, B, 0, a, x, y, n);
    } else if (vector == 4 && n % 4 == 0) {
        if (ilp == 1) return twins::timed_kernel(saxpy<float4, B, 1>, grid, B, 0, a, x4, y4, n / 4);
        if (ilp == 2) return twins::timed_kernel(saxpy<float4, B, 2>, grid, B, 0, a, x4, y4, n / 4);
        if (ilp == 4) return twins::timed_kernel(saxpy<float4, B, 4>, grid, B, 0, a, x4, y4, n / 4);
    }
    return twins::NO_SUCH_VARIANT;
}

}  // namespace

extern "C" float twin_saxpy(unsigned block, unsigned ilp, unsigned vector, float a, const float* x, float* y, unsigned n) {
    switch (block) {
        case 128: return saxpy_of_block<128>(ilp, vector, a, x, y, n);
        case 256: return saxpy_of_block<256>(ilp, vector, a, x, y, n);
        case 512: return saxpy_of_block<512>(ilp, vector, a, x, y, n);
        default: return twins::NO_SUCH_VARIANT;
    }
}
