// The twin of kernels/src/functions.rs: sums of one function over some points, by the CUDA math library.
#include "timing.cuh"

namespace {

constexpr int POINTS = 64;

// Function F at x, in the order of NAMES.
template <int F, class T>
__device__ T function(T x) {
    if constexpr (F == 0) return exp(x);
    if constexpr (F == 1) return exp2(x);
    if constexpr (F == 2) return expm1(x);
    if constexpr (F == 3) return log(x);
    if constexpr (F == 4) return log1p(x);
    if constexpr (F == 5) return log2(x);
    if constexpr (F == 6) return log10(x);
    if constexpr (F == 7) return sin(x);
    if constexpr (F == 8) return cos(x);
    if constexpr (F == 9) return tan(x);
    if constexpr (F == 10) return asin(x);
    if constexpr (F == 11) return acos(x);
    if constexpr (F == 12) return atan(x);
    if constexpr (F == 13) return sinh(x);
    if constexpr (F == 14) return cosh(x);
    if constexpr (F == 15) return tanh(x);
    if constexpr (F == 16) return cbrt(x);
    if constexpr (F == 17) return erf(x);
    if constexpr (F == 18) return erfc(x);
    if constexpr (F == 19) return atan2(x, x + T(1));
    if constexpr (F == 20) return pow(x, x + T(1));
    if constexpr (F == 21) return hypot(x, x + T(1));
    return T(0);
}

template <int F, class T>
__global__ void __launch_bounds__(256) sums(T step, const T* __restrict__ x, T* __restrict__ out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        T first = x[i], sum = T(0);
#pragma unroll 4
        for (int k = 0; k < POINTS; k++) sum += function<F>(fma(T(k), step, first));
        out[i] = sum;
    }
}

template <class T, int F = 0>
float call(unsigned function, T step, const T* x, T* out, unsigned n) {
    if constexpr (F < 22) {
        if (function == F) return twins::timed_kernel(sums<F, T>, twins::blocks(n, 256), 256, 0, step, x, out, n);
        return call<T, F + 1>(function, step, x, out, n);
    }
    return twins::NO_SUCH_VARIANT;
}

}  // namespace

extern "C" float twin_function_single(unsigned function, float step, const float* x, float* out, unsigned n) {
    return call<float>(function, step, x, out, n);
}

extern "C" float twin_function_double(unsigned function, double step, const double* x, double* out, unsigned n) {
    return call<double>(function, step, x, out, n);
}
