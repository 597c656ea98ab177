// The twin of kernels/src/saxpy.rs in CUDA C++, and what times it. Built with:
//   nvcc -O3 -arch=sm_90 -shared -Xcompiler -fPIC -o libtwins.so bench/cuda/saxpy.cu
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) saxpy(float a, const float* __restrict__ x, float* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

// Milliseconds of one launch by device events, or a negative CUDA error code.
extern "C" float twin_saxpy(float a, const float* x, float* y, unsigned n) {
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    saxpy<<<(n + 255) / 256, 256>>>(a, x, y, n);
    cudaEventRecord(stop);
    cudaError_t error = cudaEventSynchronize(stop);
    float ms = 0.0f;
    cudaEventElapsedTime(&ms, start, stop);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    if (error == cudaSuccess) error = cudaGetLastError();
    return error == cudaSuccess ? ms : -static_cast<float>(error);
}
