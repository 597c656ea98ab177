// What times a twin: one launch to warm up, one between two events, as `Launch::time(device, 1)` does.
//
// Every entry point gives the milliseconds of the timed launch, or a negative CUDA error code. All twins are built into one library:
//   nvcc -O3 -std=c++17 -arch=sm_90 -shared -Xcompiler -fPIC -o libtwins.so bench/cuda/*.cu -lcublasLt -lcublas
#pragma once
#include <cuda_runtime.h>

namespace twins {

// An entry point's answer where it has no such variant.
constexpr float NO_SUCH_VARIANT = -static_cast<float>(cudaErrorInvalidValue);

// The milliseconds of a call, of so many one after the other between two events, behind one that is not counted.
template <class Launch>
float timed_calls(unsigned calls, Launch launch) {
    static cudaEvent_t start = nullptr, stop = nullptr;
    if (start == nullptr) {
        cudaEventCreate(&start);
        cudaEventCreate(&stop);
    }
    launch();
    cudaEventRecord(start);
    for (unsigned call = 0; call < calls; ++call) launch();
    cudaEventRecord(stop);
    cudaError_t error = cudaEventSynchronize(stop);
    float ms = 0.0f;
    if (error == cudaSuccess) error = cudaEventElapsedTime(&ms, start, stop);
    cudaError_t launched = cudaGetLastError();
    if (error == cudaSuccess) error = launched;
    return error == cudaSuccess ? ms / static_cast<float>(calls) : -static_cast<float>(error);
}

template <class Launch>
float timed(Launch launch) {
    return timed_calls(1, launch);
}

// The same for a kernel that is given dynamic shared memory it does not use: a brake on how many blocks run at once.
template <class... Parameters, class... Arguments>
float timed_kernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, unsigned shared, Arguments... arguments) {
    if (shared > 0) {
        cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
        if (error != cudaSuccess) return -static_cast<float>(error);
    }
    return timed([&] { kernel<<<grid, block, shared>>>(arguments...); });
}

inline unsigned blocks(size_t work, size_t each) { return static_cast<unsigned>((work + each - 1) / each); }

}  // namespace twins
