// The twins of kernels/src/apps/rc5.rs: a key a thread with the schedule in local memory, and several keys a thread with all loops written out.
#include "timing.cuh"

namespace {

constexpr int ROUNDS = 12, TABLE = 2 + 2 * ROUNDS, STEPS = 3 * TABLE, WORDS = 3;
constexpr unsigned BLOCK = 128, FIRST = 0xB7E15163u, NEXT = 0x9E3779B9u;

struct Window {
    unsigned head[2], last, count, plain[2], cipher[2];
};

__device__ __forceinline__ unsigned rotated(unsigned word, unsigned by) { return __funnelshift_l(word, word, by); }

__device__ __forceinline__ unsigned swapped(unsigned word) { return __byte_perm(word, 0, 0x0123); }

// Whether the key of these words fits. Written out, all of the table and the key are registers.
template <bool UNROLL>
__device__ __forceinline__ bool fits(const Window& window, unsigned k0, unsigned k1, unsigned k2) {
    unsigned table[TABLE], key[WORDS] = {k0, k1, k2};
    unsigned a = 0, b = 0;
#pragma unroll(UNROLL ? TABLE : 1)
    for (int i = 0; i < TABLE; i++) table[i] = FIRST + NEXT * i;
#pragma unroll(UNROLL ? STEPS : 1)
    for (int step = 0; step < STEPS; step++) {
        a = rotated(table[step % TABLE] + a + b, 3);
        table[step % TABLE] = a;
        b = rotated(key[step % WORDS] + (a + b), a + b);
        key[step % WORDS] = b;
    }
    a = window.plain[0] + table[0];
    b = window.plain[1] + table[1];
#pragma unroll(UNROLL ? ROUNDS : 1)
    for (int round = 1; round <= ROUNDS; round++) {
        a = rotated(a ^ b, b) + table[2 * round];
        b = rotated(b ^ a, a) + table[2 * round + 1];
    }
    return a == window.cipher[0] && b == window.cipher[1];
}

// The key's first two words, this many after the window's.
__device__ __forceinline__ void head(const Window& window, unsigned after, unsigned* k0, unsigned* k1) {
    unsigned low = window.head[1] + after;
    *k0 = swapped(window.head[0] + (low < after));
    *k1 = swapped(low);
}

__global__ void __launch_bounds__(BLOCK) search_direct(Window window, unsigned* found) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= window.count) return;
    unsigned number = window.last + i, k0, k1;
    head(window, number >> 8, &k0, &k1);
    if (fits<false>(window, k0, k1, number & 0xFF)) atomicMin(found, i);
}

template <unsigned KEYS>
__global__ void __launch_bounds__(BLOCK) search(Window window, unsigned threads, unsigned* found) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= threads) return;
    unsigned number = window.last / KEYS * KEYS + i * KEYS, k0, k1;
    head(window, number >> 8, &k0, &k1);
#pragma unroll 1
    for (unsigned k = 0; k < KEYS; k++) {
        if (fits<true>(window, k0, k1, (number & 0xFF) + k)) {
            unsigned at = number + k - window.last;
            if (at < window.count) atomicMin(found, at);
        }
    }
}

template <unsigned KEYS>
float timed_search(Window window, unsigned* found) {
    unsigned threads = twins::blocks(size_t(window.last % KEYS) + window.count, KEYS);
    return twins::timed_kernel(search<KEYS>, twins::blocks(threads, BLOCK), BLOCK, 0, window, threads, found);
}

}  // namespace

// Variants: 0 plain, 1 written out with 32 or 256 keys a thread. `found` holds the least number of a key that fits, or what it was before.
extern "C" float twin_rc5(
    unsigned variant, unsigned keys, unsigned head0, unsigned head1, unsigned last, unsigned count, unsigned plain0, unsigned plain1, unsigned cipher0, unsigned cipher1, unsigned* found) {
    Window window = {{head0, head1}, last, count, {plain0, plain1}, {cipher0, cipher1}};
    if (variant == 0) return twins::timed_kernel(search_direct, twins::blocks(count, BLOCK), BLOCK, 0, window, found);
    if (variant == 1 && keys == 32) return timed_search<32>(window, found);
    if (variant == 1 && keys == 256) return timed_search<256>(window, found);
    return twins::NO_SUCH_VARIANT;
}
