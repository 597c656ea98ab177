// The twins of kernels/src/apps/sad.rs: for each macroblock of 16 × 16 pixels the least sum of absolute differences over a window of ± 16, and that of each of
// the 41 blocks it can be cut into. Keys as there: the sum shifted by 16 bits, plus the number of the displacement.
#include "timing.cuh"

namespace {

constexpr int RANGE = 16, ACROSS = 2 * RANGE + 1, BLOCKS = 41, WIDE = 13, HIGH = 16 + 2 * RANGE;

__device__ int clamped(int v, int n) { return min(max(v, 0), n - 1); }

// s holds the shifted sums of the 4 × 4 blocks first; the others are made of these.
__device__ __forceinline__ void merge(unsigned (&best)[BLOCKS], unsigned (&s)[BLOCKS], unsigned n) {
#pragma unroll
    for (int p = 0; p < 8; p++) {
        s[16 + p] = s[2 * p] + s[2 * p + 1];
        s[24 + p] = s[p / 4 * 8 + p % 4] + s[p / 4 * 8 + p % 4 + 4];
    }
#pragma unroll
    for (int p = 0; p < 4; p++) s[32 + p] = s[16 + p / 2 * 4 + p % 2] + s[16 + p / 2 * 4 + p % 2 + 2];
#pragma unroll
    for (int p = 0; p < 2; p++) {
        s[36 + p] = s[32 + 2 * p] + s[33 + 2 * p];
        s[38 + p] = s[32 + p] + s[34 + p];
    }
    s[40] = s[36] + s[37];
#pragma unroll
    for (int p = 0; p < BLOCKS; p++) best[p] = min(best[p], s[p] + n);
}

__global__ void __launch_bounds__(128) sad_global(int width, int height, int pitch, const unsigned char* __restrict__ current,
                                                  const unsigned char* __restrict__ previous, unsigned* __restrict__ out) {
    __shared__ unsigned least[BLOCKS];
    unsigned t = threadIdx.x;
    if (t < BLOCKS) least[t] = ~0u;
    __syncthreads();
    int left = blockIdx.x * 16, top = blockIdx.y * 16;
    unsigned best[BLOCKS];
#pragma unroll
    for (int p = 0; p < BLOCKS; p++) best[p] = ~0u;
    for (unsigned n = t; n < ACROSS * ACROSS; n += 128) {
        int dx = static_cast<int>(n % ACROSS) - RANGE, dy = static_cast<int>(n / ACROSS) - RANGE;
        unsigned s[BLOCKS];
#pragma unroll
        for (int p = 0; p < 16; p++) {
            unsigned sum = 0;
#pragma unroll 1
            for (int y = 0; y < 4; y++) {
                int row = top + p / 4 * 4 + y;
                const unsigned char* here = current + clamped(row, height) * pitch;
                const unsigned char* there = previous + clamped(row + dy, height) * pitch;
#pragma unroll
                for (int x = 0; x < 4; x++) {
                    int column = left + p % 4 * 4 + x;
                    sum = __usad(here[clamped(column, width)], there[clamped(column + dx, width)], sum);
                }
            }
            s[p] = sum << 16;
        }
        merge(best, s, n);
    }
#pragma unroll
    for (int p = 0; p < BLOCKS; p++) atomicMin(&least[p], best[p]);
    __syncthreads();
    if (t < BLOCKS) out[(blockIdx.y * gridDim.x + blockIdx.x) * BLOCKS + t] = least[t];
}

__device__ unsigned word_of(const unsigned* __restrict__ frame, int row, int word, int words) {
    unsigned at = frame[row * words + clamped(word, words)];
    if (word < 0) return (at & 0xff) * 0x01010101u;
    return word >= words ? (at >> 24) * 0x01010101u : at;
}

// The sum of the distances of four bytes, added to a third operand, by one instruction.
__device__ unsigned sad4(unsigned a, unsigned b, unsigned sum) {
    unsigned result;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

template <int B>
__global__ void __launch_bounds__(B) sad_shared(int words, int height, const unsigned* __restrict__ current, const unsigned* __restrict__ previous,
                                                unsigned* __restrict__ out) {
    __shared__ uint4 block[16];
    __shared__ unsigned window[HIGH][WIDE];
    __shared__ unsigned least[BLOCKS];
    unsigned t = threadIdx.x;
    if (t < BLOCKS) least[t] = ~0u;
    int left = blockIdx.x * 4, top = blockIdx.y * 16;
    for (unsigned k = t; k < 64; k += B) {
        reinterpret_cast<unsigned*>(block)[k] = word_of(current, clamped(top + static_cast<int>(k / 4), height), left + k % 4, words);
    }
    for (unsigned k = t; k < WIDE * HIGH; k += B) {
        int row = k / WIDE, column = k % WIDE;
        window[row][column] = word_of(previous, clamped(top + row - RANGE, height), left + column - RANGE / 4, words);
    }
    __syncthreads();
    unsigned best[BLOCKS];
#pragma unroll
    for (int p = 0; p < BLOCKS; p++) best[p] = ~0u;
    for (unsigned item = t; item < (RANGE / 2 + 1) * ACROSS; item += B) {
        unsigned dy = item % ACROSS, first = item / ACROSS;
        unsigned s[4][BLOCKS] = {};
#pragma unroll
        for (int y = 0; y < 16; y++) {
            uint4 row = block[y];
            unsigned own[4] = {row.x, row.y, row.z, row.w}, there[5];
#pragma unroll
            for (int x = 0; x < 5; x++) there[x] = window[dy + y][first + x];
#pragma unroll
            for (int x = 0; x < 4; x++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    unsigned& sum = s[j][y / 4 * 4 + x];
                    sum = sad4(__funnelshift_r(there[x], there[x + 1], 8 * j), own[x], sum);
                }
            }
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (4 * first + j < ACROSS) {
#pragma unroll
                for (int p = 0; p < 16; p++) s[j][p] <<= 16;
                merge(best, s[j], dy * ACROSS + 4 * first + j);
            }
        }
    }
    unsigned low = ~0u, high = ~0u, lane = t % 32;
#pragma unroll
    for (int p = 0; p < BLOCKS; p++) {
        unsigned key = __reduce_min_sync(~0u, best[p]);
        if (lane == p % 32) (p < 32 ? low : high) = key;
    }
    atomicMin(&least[lane], low);
    if (lane < BLOCKS - 32) atomicMin(&least[32 + lane], high);
    __syncthreads();
    if (t < BLOCKS) out[(blockIdx.y * gridDim.x + blockIdx.x) * BLOCKS + t] = least[t];
}

// Four pixels from column x on, as a word; the texture clamps.
__device__ unsigned four(cudaTextureObject_t frame, int x, int y) {
    unsigned a = tex2D<unsigned char>(frame, x + 0.5f, y + 0.5f), b = tex2D<unsigned char>(frame, x + 1.5f, y + 0.5f);
    unsigned c = tex2D<unsigned char>(frame, x + 2.5f, y + 0.5f), d = tex2D<unsigned char>(frame, x + 3.5f, y + 0.5f);
    return a | b << 8 | c << 16 | d << 24;
}

template <int B>
__global__ void __launch_bounds__(B) sad_texture(cudaTextureObject_t current, cudaTextureObject_t previous, unsigned* __restrict__ out) {
    __shared__ uint4 block[16];
    __shared__ unsigned least[BLOCKS];
    unsigned t = threadIdx.x;
    if (t < BLOCKS) least[t] = ~0u;
    int left = blockIdx.x * 16, top = blockIdx.y * 16;
    for (unsigned k = t; k < 64; k += B) reinterpret_cast<unsigned*>(block)[k] = four(current, left + k % 4 * 4, top + k / 4);
    __syncthreads();
    unsigned best[BLOCKS];
#pragma unroll
    for (int p = 0; p < BLOCKS; p++) best[p] = ~0u;
    for (unsigned item = t; item < (RANGE / 2 + 1) * ACROSS; item += B) {
        unsigned dy = item / (RANGE / 2 + 1), first = item % (RANGE / 2 + 1);
        int x0 = left + static_cast<int>(4 * first) - RANGE, y0 = top + static_cast<int>(dy) - RANGE;
        unsigned s[4][BLOCKS] = {};
#pragma unroll
        for (int y = 0; y < 16; y++) {
            uint4 row = block[y];
            unsigned own[4] = {row.x, row.y, row.z, row.w}, low = four(previous, x0, y0 + y);
#pragma unroll
            for (int x = 0; x < 4; x++) {
                unsigned high = four(previous, x0 + 4 * x + 4, y0 + y);
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    unsigned& sum = s[j][y / 4 * 4 + x];
                    sum = sad4(__funnelshift_r(low, high, 8 * j), own[x], sum);
                }
                low = high;
            }
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (4 * first + j < ACROSS) {
#pragma unroll
                for (int p = 0; p < 16; p++) s[j][p] <<= 16;
                merge(best, s[j], dy * ACROSS + 4 * first + j);
            }
        }
    }
    unsigned low = ~0u, high = ~0u, lane = t % 32;
#pragma unroll
    for (int p = 0; p < BLOCKS; p++) {
        unsigned key = __reduce_min_sync(~0u, best[p]);
        if (lane == p % 32) (p < 32 ? low : high) = key;
    }
    atomicMin(&least[lane], low);
    if (lane < BLOCKS - 32) atomicMin(&least[32 + lane], high);
    __syncthreads();
    if (t < BLOCKS) out[(blockIdx.y * gridDim.x + blockIdx.x) * BLOCKS + t] = least[t];
}

// A frame as a texture that clamps: an array, and an object that reads it.
struct Frame {
    cudaArray_t array = nullptr;
    cudaTextureObject_t texture = 0;

    Frame(const unsigned char* pixels, unsigned width, unsigned height) {
        cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
        cudaMallocArray(&array, &format, width, height);
        cudaMemcpy2DToArray(array, 0, 0, pixels, width, width, height, cudaMemcpyDeviceToDevice);
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        cudaTextureDesc texture_description = {};
        texture_description.addressMode[0] = texture_description.addressMode[1] = cudaAddressModeClamp;
        cudaCreateTextureObject(&texture, &resource, &texture_description, nullptr);
    }

    ~Frame() {
        cudaDestroyTextureObject(texture);
        cudaFreeArray(array);
    }
};

template <int B>
float textures(dim3 grid, unsigned pitch, unsigned height, const unsigned char* current, const unsigned char* previous, unsigned* best) {
    Frame own(current, pitch, height), other(previous, pitch, height);
    return twins::timed_kernel(sad_texture<B>, grid, dim3(B), 0, own.texture, other.texture, best);
}

}  // namespace

// Variants: 0 bytes from global memory; 64, 160, 320 words through shared memory, by blocks of so many threads; 1 and 2 textures, by 64 and
// 128 threads. Rows of the frames are filled up to whole words.
extern "C" float twin_sad(unsigned variant, unsigned width, unsigned height, const unsigned char* current, const unsigned char* previous, unsigned* best) {
    dim3 grid(twins::blocks(width, 16), twins::blocks(height, 16));
    unsigned words = twins::blocks(width, 4);
    auto* current4 = reinterpret_cast<const unsigned*>(current);
    auto* previous4 = reinterpret_cast<const unsigned*>(previous);
    switch (variant) {
        case 0: return twins::timed_kernel(sad_global, grid, dim3(128), 0, width, height, 4 * words, current, previous, best);
        case 1: return textures<64>(grid, 4 * words, height, current, previous, best);
        case 2: return textures<128>(grid, 4 * words, height, current, previous, best);
        case 64: return twins::timed_kernel(sad_shared<64>, grid, dim3(64), 0, words, height, current4, previous4, best);
        case 160: return twins::timed_kernel(sad_shared<160>, grid, dim3(160), 0, words, height, current4, previous4, best);
        case 320: return twins::timed_kernel(sad_shared<320>, grid, dim3(320), 0, words, height, current4, previous4, best);
        default: return twins::NO_SUCH_VARIANT;
    }
}
