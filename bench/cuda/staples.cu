// What a CUDA user calls for the staples of kernels/src/staples: CUB, cuBLAS, cudaMemcpyAsync. Temporary storage is allocated before the timed call, as a program does
// that calls more than once.
#include <cub/cub.cuh>
#include <cublas_v2.h>

#include "timing.cuh"

namespace {

// Calls a function of CUB as it wants to be called: once for the size of its storage, then with it.
template <class Call>
float with_storage(unsigned calls, Call call) {
    static void* storage = nullptr;
    static size_t has = 0;
    size_t bytes = 0;
    cudaError_t error = call(nullptr, bytes);
    if (error == cudaSuccess && bytes > has) {
        cudaFree(storage);
        storage = nullptr;
        has = 0;
        error = cudaMalloc(&storage, bytes);
        if (error == cudaSuccess) has = bytes;
    }
    if (error != cudaSuccess) return -static_cast<float>(error);
    return twins::timed_calls(calls, [&] { call(storage, bytes); });
}

cublasHandle_t blas() {
    static cublasHandle_t handle = [] {
        cublasHandle_t made = nullptr;
        cublasCreate(&made);
        return made;
    }();
    return handle;
}

struct Odd {
    __host__ __device__ bool operator()(unsigned v) const { return v & 1u; }
};

}  // namespace

extern "C" float twin_staple_copy(unsigned calls, float* out, const float* inp, unsigned n) {
    return twins::timed_calls(calls, [&] { cudaMemcpyAsync(out, inp, size_t(n) * 4, cudaMemcpyDeviceToDevice); });
}

extern "C" float twin_staple_sum(unsigned calls, const float* x, float* out, unsigned n) {
    return with_storage(calls, [&](void* s, size_t& b) { return cub::DeviceReduce::Sum(s, b, x, out, int(n)); });
}

extern "C" float twin_staple_max(unsigned calls, const unsigned* x, unsigned* out, unsigned n) {
    return with_storage(calls, [&](void* s, size_t& b) { return cub::DeviceReduce::Max(s, b, x, out, int(n)); });
}

extern "C" float twin_staple_scan_inclusive(unsigned calls, const float* x, float* y, unsigned n) {
    return with_storage(calls, [&](void* s, size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, x, y, int(n)); });
}

extern "C" float twin_staple_scan_exclusive(unsigned calls, const unsigned* x, unsigned* y, unsigned n) {
    return with_storage(calls, [&](void* s, size_t& b) { return cub::DeviceScan::ExclusiveSum(s, b, x, y, int(n)); });
}

extern "C" float twin_staple_sort_keys(unsigned calls, const unsigned* keys, unsigned* sorted, unsigned n) {
    return with_storage(calls, [&](void* s, size_t& b) { return cub::DeviceRadixSort::SortKeys(s, b, keys, sorted, int(n)); });
}

extern "C" float twin_staple_sort_pairs(unsigned calls, const unsigned* keys, unsigned* sorted, const unsigned* values, unsigned* moved, unsigned n) {
    return with_storage(calls, [&](void* s, size_t& b) { return cub::DeviceRadixSort::SortPairs(s, b, keys, sorted, values, moved, int(n)); });
}

extern "C" float twin_staple_select(unsigned calls, const unsigned* x, unsigned* y, unsigned* count, unsigned n) {
    return with_storage(calls, [&](void* s, size_t& b) { return cub::DeviceSelect::If(s, b, x, y, count, int(n), Odd()); });
}

extern "C" float twin_staple_unique(unsigned calls, const unsigned* x, unsigned* y, unsigned* count, unsigned n) {
    return with_storage(calls, [&](void* s, size_t& b) { return cub::DeviceSelect::Unique(s, b, x, y, count, int(n)); });
}

extern "C" float twin_staple_histogram_bytes(unsigned calls, const unsigned* x, unsigned* bins, unsigned n) {
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(x);
    return with_storage(calls, [&](void* s, size_t& b) { return cub::DeviceHistogram::HistogramEven(s, b, bytes, bins, 257, 0, 256, int(n)); });
}

extern "C" float twin_staple_histogram_words(unsigned calls, const unsigned* x, unsigned* bins, unsigned n) {
    return with_storage(calls, [&](void* s, size_t& b) { return cub::DeviceHistogram::HistogramEven(s, b, x, bins, 65537, 0u, 65536u, int(n)); });
}

extern "C" float twin_staple_transpose(unsigned calls, const float* inp, float* out, unsigned height, unsigned width) {
    float one = 1.0f, zero = 0.0f;
    // cuBLAS counts along columns: `inp` is a matrix of `width` rows to it.
    return twins::timed_calls(calls, [&] {
        cublasSgeam(blas(), CUBLAS_OP_T, CUBLAS_OP_N, int(height), int(width), &one, inp, int(width), &zero, out, int(height), out, int(height));
    });
}

extern "C" float twin_staple_gemm(unsigned calls, const float* a, const float* b, float* c, unsigned n) {
    float one = 1.0f, zero = 0.0f;
    // Rows are columns to cuBLAS, and (A B)^T = B^T A^T.
    return twins::timed_calls(calls, [&] {
        cublasSgemm(blas(), CUBLAS_OP_N, CUBLAS_OP_N, int(n), int(n), int(n), &one, b, int(n), a, int(n), &zero, c, int(n));
    });
}

// bf16, f16 (both written as they are read), tf32, i8 into i32; `transposed`: 1 for a, 2 for b.
extern "C" float twin_staple_product(unsigned calls, unsigned kind, unsigned transposed, const void* a, const void* b, void* c, unsigned n) {
    static const cudaDataType factors[] = {CUDA_R_16BF, CUDA_R_16F, CUDA_R_32F, CUDA_R_8I, CUDA_R_64F};
    static const cudaDataType results[] = {CUDA_R_16BF, CUDA_R_16F, CUDA_R_32F, CUDA_R_32I, CUDA_R_64F};
    static const cublasComputeType_t sums[] = {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32I,
                                                CUBLAS_COMPUTE_64F};
    static const float one = 1.0f, zero = 0.0f;
    static const int whole_one = 1, whole_zero = 0;
    static const double double_one = 1.0, double_zero = 0.0;
    const void* alpha = kind == 3 ? static_cast<const void*>(&whole_one) : kind == 4 ? static_cast<const void*>(&double_one) : &one;
    const void* beta = kind == 3 ? static_cast<const void*>(&whole_zero) : kind == 4 ? static_cast<const void*>(&double_zero) : &zero;
    cublasOperation_t of_a = transposed & 1 ? CUBLAS_OP_T : CUBLAS_OP_N, of_b = transposed & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    // Rows are columns to cuBLAS.
    float ms = twins::timed_calls(calls, [&] {
        status = cublasGemmEx(blas(), of_b, of_a, int(n), int(n), int(n), alpha, b, factors[kind], int(n), a, factors[kind], int(n), beta, c,
                              results[kind], int(n), sums[kind], CUBLAS_GEMM_DEFAULT);
    });
    return status == CUBLAS_STATUS_SUCCESS ? ms : twins::NO_SUCH_VARIANT;
}

extern "C" float twin_staple_gemv(unsigned calls, const float* a, const float* x, float* y, unsigned n) {
    float one = 1.0f, zero = 0.0f;
    return twins::timed_calls(calls, [&] { cublasSgemv(blas(), CUBLAS_OP_T, int(n), int(n), &one, a, int(n), x, 1, &zero, y, 1); });
}
