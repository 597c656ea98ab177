// The twins of kernels/src/copy.rs: the kernels of "Thread- and Instruction-Level Parallelism in CUDA Fortran" (2012) in CUDA C++, and
// `cudaMemcpy`. Each works for every length; vectors need a length of whole vectors.
#include "timing.cuh"

namespace {

// ILP elements per thread, a load and a store at a time; whole groups are copied without further questions. No `__restrict__` here: with
// it nvcc batches the loads by itself, and this would be the kernel below.
template <int B, int ILP>
__global__ void __launch_bounds__(B) copy_in_a_loop(double* out, const double* inp, unsigned n) {
    unsigned first = blockIdx.x * (B * ILP) + threadIdx.x;
    if (first + (ILP - 1) * B < n) {
        double* to = out + first;
        const double* from = inp + first;
#pragma unroll
        for (int j = 0; j < ILP; j++) to[j * B] = from[j * B];
    } else {
        for (unsigned i = first; i < n; i += B) out[i] = inp[i];
    }
}

// ILP elements per thread, all loads before the first store; n counts elements of V.
template <class V, int B, int ILP>
__global__ void __launch_bounds__(B) copy_batched(V* __restrict__ out, const V* __restrict__ inp, unsigned n) {
    unsigned first = blockIdx.x * (B * ILP) + threadIdx.x;
    if (first + (ILP - 1) * B < n) {
        V* to = out + first;
        const V* from = inp + first;
        V values[ILP];
#pragma unroll
        for (int j = 0; j < ILP; j++) values[j] = from[j * B];
#pragma unroll
        for (int j = 0; j < ILP; j++) to[j * B] = values[j];
    } else {
        for (unsigned i = first; i < n; i += B) out[i] = inp[i];
    }
}

template <int B>
float copy_of_block(unsigned ilp, bool batched, unsigned vector, unsigned shared, double* out, const double* inp, unsigned n) {
    auto* out2 = reinterpret_cast<double2*>(out);
    auto* inp2 = reinterpret_cast<const double2*>(inp);
    unsigned grid = twins::blocks(n, size_t(B) * ilp * vector);
    if (vector == 2 && n % 2 == 0) {
        if (ilp == 1) return twins::timed_kernel(copy_batched<double2, B, 1>, grid, B, shared, out2, inp2, n / 2);
        if (ilp == 4 && batched) return twins::timed_kernel(copy_batched<double2, B, 4>, grid, B, shared, out2, inp2, n / 2);
    } else if (vector == 1 && !batched) {
        if (ilp == 1) return twins::timed_kernel(copy_in_a_loop<B, 1>, grid, B, shared, out, inp, n);
        if (ilp == 4) return twins::timed_kernel(copy_in_a_loop<B, 4>, grid, B, shared, out, inp, n);
    } else if (vector == 1) {
        if (ilp == 4) return twins::timed_kernel(copy_batched<double, B, 4>, grid, B, shared, out, inp, n);
        if (ilp == 8) return twins::timed_kernel(copy_batched<double, B, 8>, grid, B, shared, out, inp, n);
    }
    return twins::NO_SUCH_VARIANT;
}

}  // namespace

extern "C" float twin_copy(unsigned block, unsigned ilp, unsigned batched, unsigned vector, unsigned shared, double* out, const double* inp,
                           unsigned n) {
    switch (block) {
        case 32: return copy_of_block<32>(ilp, batched, vector, shared, out, inp, n);
        case 64: return copy_of_block<64>(ilp, batched, vector, shared, out, inp, n);
        case 128: return copy_of_block<128>(ilp, batched, vector, shared, out, inp, n);
        case 256: return copy_of_block<256>(ilp, batched, vector, shared, out, inp, n);
        case 512: return copy_of_block<512>(ilp, batched, vector, shared, out, inp, n);
        case 1024: return copy_of_block<1024>(ilp, batched, vector, shared, out, inp, n);
        default: return twins::NO_SUCH_VARIANT;
    }
}

extern "C" float twin_memcpy(double* out, const double* inp, unsigned n) {
    return twins::timed([&] { cudaMemcpyAsync(out, inp, size_t(n) * sizeof(double), cudaMemcpyDeviceToDevice, 0); });
}

// Bytes of shared memory of a multiprocessor, and how many multiprocessors there are.
extern "C" unsigned twin_shared_memory() {
    int bytes = 0;
    cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0);
    return static_cast<unsigned>(bytes);
}

extern "C" unsigned twin_multiprocessors() {
    int count = 0;
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
    return static_cast<unsigned>(count);
}
