// The twins of kernels/src/access.rs: copies that are not aligned, and copies that are not dense.
#include "timing.cuh"

namespace {

constexpr int B = 256;

__global__ void __launch_bounds__(B) offset_copy(unsigned offset, float* __restrict__ out, const float* __restrict__ inp, unsigned n) {
    unsigned i = blockIdx.x * B + threadIdx.x + offset;
    if (i < n) out[i] = inp[i];
}

__global__ void __launch_bounds__(B) stride_copy(unsigned stride, float* __restrict__ out, const float* __restrict__ inp, unsigned n) {
    unsigned i = (blockIdx.x * B + threadIdx.x) * stride;
    if (i < n) out[i] = inp[i];
}

}  // namespace

// Both copy `count` elements of buffers that have `n`.
extern "C" float twin_offset_copy(unsigned offset, float* out, const float* inp, unsigned n, unsigned count) {
    return twins::timed_kernel(offset_copy, twins::blocks(count, B), B, 0, offset, out, inp, n);
}

extern "C" float twin_stride_copy(unsigned stride, float* out, const float* inp, unsigned n, unsigned count) {
    return twins::timed_kernel(stride_copy, twins::blocks(count, B), B, 0, stride, out, inp, n);
}
