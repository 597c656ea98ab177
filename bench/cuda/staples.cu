// What a CUDA user calls for the staples of kernels/src/staples: CUB, cuBLAS, cudaMemcpyAsync. Temporary storage is allocated before the timed call, as a program does
// that calls more than once.
#include <cub/cub.cuh>
#include <cublasLt.h>
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

// e4m3 into bf16, a by its rows and b by its columns: the only layout that there is on sm_90. The heuristic's first choice, with the fast sums that others are measured with, too.
static float float8_product(unsigned calls, const void* a, const void* b, void* c, unsigned n) {
    static cublasLtHandle_t handle = [] {
        cublasLtHandle_t made = nullptr;
        cublasLtCreate(&made);
        return made;
    }();
    static const size_t room = 64 << 20;
    static void* workspace = [] {
        void* made = nullptr;
        cudaMalloc(&made, room);
        return made;
    }();
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t factor = nullptr, result = nullptr;
    cublasLtMatmulPreference_t wish = nullptr;
    const cublasOperation_t turned = CUBLAS_OP_T;
    const int8_t fast = 1;
    cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast);
    cublasLtMatrixLayoutCreate(&factor, CUDA_R_8F_E4M3, n, n, n);
    cublasLtMatrixLayoutCreate(&result, CUDA_R_16BF, n, n, n);
    cublasLtMatmulPreferenceCreate(&wish);
    cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room);
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle, product, factor, factor, result, result, wish, 1, &found, &count);
    if (status != CUBLAS_STATUS_SUCCESS || count == 0) return twins::NO_SUCH_VARIANT;
    static const float one = 1.0f, zero = 0.0f;
    float ms = twins::timed_calls(calls, [&] {
        status = cublasLtMatmul(handle, product, &one, b, factor, a, factor, &zero, c, result, c, result, &found.algo, workspace, room, nullptr);
    });
    cublasLtMatmulPreferenceDestroy(wish);
    cublasLtMatrixLayoutDestroy(result);
    cublasLtMatrixLayoutDestroy(factor);
    cublasLtMatmulDescDestroy(product);
    return status == CUBLAS_STATUS_SUCCESS ? ms : twins::NO_SUCH_VARIANT;
}

// bf16, f16 (both written as they are read), tf32, i8 into i32, f64, e4m3 into bf16; `transposed`: 1 for a, 2 for b. `count` products of square matrices, one behind the other.
extern "C" float twin_staple_product(unsigned calls, unsigned kind, unsigned transposed, const void* a, const void* b, void* c, unsigned n, unsigned count) {
    if (kind == 5 && count > 1) return twins::NO_SUCH_VARIANT;
    if (kind == 5) return float8_product(calls, a, b, c, n);
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
        if (count > 1) {
            const long long stride = (long long)n * n;
            status = cublasGemmStridedBatchedEx(blas(), of_b, of_a, int(n), int(n), int(n), alpha, b, factors[kind], int(n), stride, a, factors[kind],
                                                int(n), stride, beta, c, results[kind], int(n), stride, int(count), sums[kind], CUBLAS_GEMM_DEFAULT);
            return;
        }
        status = cublasGemmEx(blas(), of_b, of_a, int(n), int(n), int(n), alpha, b, factors[kind], int(n), a, factors[kind], int(n), beta, c,
                              results[kind], int(n), sums[kind], CUBLAS_GEMM_DEFAULT);
    });
    return status == CUBLAS_STATUS_SUCCESS ? ms : twins::NO_SUCH_VARIANT;
}

extern "C" float twin_staple_gemv(unsigned calls, const float* a, const float* x, float* y, unsigned n) {
    float one = 1.0f, zero = 0.0f;
    return twins::timed_calls(calls, [&] { cublasSgemv(blas(), CUBLAS_OP_T, int(n), int(n), &one, a, int(n), x, 1, &zero, y, 1); });
}
