/* Asks NVIDIA's occupancy header about points: rows of devices and points come in, what the header says of each point goes out; all of
   them 32-bit integers of this machine. The header is the toolkit's own and is found when this is compiled. */

#include <cuda_occupancy.h>
#include <stdio.h>

enum { ROW = 11, POINT = 11, ANSWER = 8 };

static int read_ints(int *into, size_t n) { return fread(into, sizeof(int), n, stdin) == n; }

static cudaOccDeviceProp device(const int *row) {
    cudaOccDeviceProp device;
    memset(&device, 0, sizeof device);
    device.computeMajor = row[0];
    device.computeMinor = row[1];
    device.maxThreadsPerBlock = row[2];
    device.maxThreadsPerMultiprocessor = row[3];
    device.regsPerBlock = row[4];
    device.regsPerMultiprocessor = row[5];
    device.warpSize = row[6];
    device.sharedMemPerBlock = (size_t)row[7];
    device.sharedMemPerMultiprocessor = (size_t)row[8];
    device.sharedMemPerBlockOptin = (size_t)row[9];
    device.reservedSharedMemPerBlock = (size_t)row[10];
    device.numSms = 1;
    return device;
}

static void answer(const cudaOccDeviceProp *device, const int *point, int *answer) {
    cudaOccFuncAttributes kernel;
    cudaOccDeviceState state;
    cudaOccResult result;
    memset(&kernel, 0, sizeof kernel);
    memset(&state, 0, sizeof state);
    memset(&result, 0, sizeof result);
    kernel.maxThreadsPerBlock = INT_MAX;
    kernel.numRegs = point[2];
    kernel.sharedSizeBytes = (size_t)point[3];
    kernel.maxDynamicSharedSizeBytes = (size_t)point[4];
    kernel.numBlockBarriers = point[5];
    kernel.virtualResourceCount = point[6];
    kernel.shmemLimitConfig = point[7] ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
    kernel.partitionedGCConfig = point[8] ? PARTITIONED_GC_ON : PARTITIONED_GC_OFF;
    state.cacheConfig = (cudaOccCacheConfig)point[9];
    state.carveoutConfig = point[10];
    answer[0] = cudaOccMaxActiveBlocksPerMultiprocessor(&result, device, &kernel, &state, point[1], (size_t)point[4]);
    answer[1] = result.activeBlocksPerMultiprocessor;
    answer[2] = result.blockLimitWarps;
    answer[3] = result.blockLimitBlocks;
    answer[4] = result.blockLimitRegs;
    answer[5] = result.blockLimitSharedMem;
    answer[6] = result.blockLimitBarriers;
    answer[7] = result.blockLimitVirtual;
}

int main(void) {
    static cudaOccDeviceProp devices[64];
    int rows, row[ROW], point[POINT], said[ANSWER];
    if (!read_ints(&rows, 1) || rows > 64) return 1;
    for (int i = 0; i < rows; i++) {
        if (!read_ints(row, ROW)) return 1;
        devices[i] = device(row);
    }
    while (read_ints(point, POINT)) {
        answer(&devices[point[0]], point, said);
        if (fwrite(said, sizeof(int), ANSWER, stdout) != ANSWER) return 1;
    }
    return fflush(stdout) != 0;
}
