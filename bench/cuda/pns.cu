// The twins of kernels/src/apps/pns: rings of 8 dining philosophers as Petri nets, a net to a thread, with MT19937 in global memory.
#include "timing.cuh"

namespace {

constexpr unsigned N = 8, PLACES = 4 * N + 2, WORDS = 624, MIDDLE = 397, SEEDERS = 128, COUNTERS = 256;

template <bool INTERLEAVED>
__device__ __forceinline__ unsigned at(unsigned length, unsigned nets, unsigned k, unsigned net) {
    return INTERLEAVED ? k * nets + net : net * length + k;
}

__device__ __forceinline__ unsigned wrapped(unsigned k) { return k < WORDS ? k : k - WORDS; }

__device__ __forceinline__ unsigned twisted(unsigned word, unsigned following, unsigned middle) {
    unsigned mixed = (word & 0x80000000u) | (following & 0x7fffffffu);
    return middle ^ (mixed >> 1) ^ ((mixed & 1u) ? 0x9908b0dfu : 0u);
}

__device__ __forceinline__ unsigned tempered(unsigned y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

template <bool INTERLEAVED>
__device__ __forceinline__ unsigned drawn(unsigned nets, unsigned net, unsigned k, unsigned* state) {
    unsigned here = at<INTERLEAVED>(WORDS, nets, k, net);
    unsigned following = state[at<INTERLEAVED>(WORDS, nets, wrapped(k + 1), net)];
    unsigned middle = state[at<INTERLEAVED>(WORDS, nets, wrapped(k + MIDDLE), net)];
    unsigned word = twisted(state[here], following, middle);
    state[here] = word;
    return tempered(word);
}

template <bool INTERLEAVED>
__global__ void __launch_bounds__(SEEDERS) seed_nets(unsigned nets, unsigned seed, unsigned* __restrict__ state) {
    unsigned net = blockIdx.x * SEEDERS + threadIdx.x;
    if (net >= nets) return;
    unsigned word = seed + net;
    state[at<INTERLEAVED>(WORDS, nets, 0, net)] = word;
    for (unsigned k = 1; k < WORDS; k++) {
        word = 1812433253u * (word ^ (word >> 30)) + k;
        state[at<INTERLEAVED>(WORDS, nets, k, net)] = word;
    }
}

// The marking in global memory.
template <int B, bool INTERLEAVED>
__global__ void __launch_bounds__(B) simulate(unsigned nets, unsigned steps, unsigned seats, unsigned* __restrict__ state,
                                              unsigned* __restrict__ tokens, unsigned* __restrict__ fired) {
    unsigned net = blockIdx.x * B + threadIdx.x;
    if (net >= nets) return;
    auto place = [&](unsigned k) { return at<INTERLEAVED>(PLACES, nets, k, net); };
    for (unsigned k = 0; k < PLACES; k++) tokens[place(k)] = k < N || (k >= 3 * N && k < 4 * N);
    tokens[place(4 * N)] = seats;
    unsigned k = 0, step = 0;
    for (; step < steps; step++) {
        unsigned enabled = 0;
        bool seat = tokens[place(4 * N)] > 0;
#pragma unroll
        for (unsigned i = 0; i < N; i++) {
            bool fork = tokens[place(3 * N + i)] > 0, other = tokens[place(3 * N + (i + 1) % N)] > 0;
            enabled |= unsigned(seat && fork && tokens[place(i)] > 0) << i;
            enabled |= unsigned(other && tokens[place(N + i)] > 0) << (N + i);
            enabled |= unsigned(tokens[place(2 * N + i)] > 0) << (2 * N + i);
        }
        if (enabled == 0) break;
        unsigned below = __umulhi(drawn<INTERLEAVED>(nets, net, k, state), __popc(enabled));
        for (; below > 0; below--) enabled &= enabled - 1;
        unsigned transition = __ffs(enabled) - 1, i = transition % N, right = (i + 1) % N;
        if (transition < N) {
            tokens[place(4 * N)]--;
            tokens[place(i)]--;
            tokens[place(3 * N + i)]--;
            tokens[place(N + i)]++;
        } else if (transition < 2 * N) {
            tokens[place(N + i)]--;
            tokens[place(3 * N + right)]--;
            tokens[place(2 * N + i)]++;
        } else {
            tokens[place(2 * N + i)]--;
            tokens[place(4 * N)]++;
            tokens[place(i)]++;
            tokens[place(3 * N + i)]++;
            tokens[place(3 * N + right)]++;
            tokens[place(4 * N + 1)]++;
        }
        k = wrapped(k + 1);
    }
    fired[net] = step;
}

struct Marking {
    unsigned thinking, holding, eating, forks, seats, meals, fired;
};

__device__ __forceinline__ void advance(Marking& m, unsigned random) {
    constexpr unsigned ALL = (1u << N) - 1;
    unsigned others = (m.forks >> 1) | ((m.forks & 1) << (N - 1));
    unsigned seated = m.seats > 0 ? m.thinking & m.forks : 0;
    unsigned enabled = seated | ((m.holding & others) << N) | (m.eating << (2 * N));
    unsigned below = __umulhi(random, __popc(enabled)), transition = 0;
#pragma unroll
    for (unsigned width = 16; width > 0; width /= 2) {
        unsigned low = __popc((enabled >> transition) & ((1u << width) - 1));
        if (below >= low) {
            below -= low;
            transition += width;
        }
    }
    unsigned bit = enabled == 0 ? 0 : 1u << transition;
    unsigned takes = bit & ALL, begins = (bit >> N) & ALL, ends = bit >> (2 * N), both = begins | ends;
    unsigned right = ((both << 1) & ALL) | (both >> (N - 1));
    m.thinking ^= takes ^ ends;
    m.holding ^= takes ^ begins;
    m.eating ^= begins ^ ends;
    m.forks ^= takes ^ ends ^ right;
    m.seats += (ends != 0) - (takes != 0);
    m.meals += ends != 0;
    m.fired += bit != 0;
}

// The marking in registers, AHEAD random numbers at a time.
template <int B, int AHEAD>
__global__ void __launch_bounds__(B) simulate_in_registers(unsigned nets, unsigned steps, unsigned seats, unsigned* __restrict__ state,
                                                           unsigned* __restrict__ tokens, unsigned* __restrict__ fired) {
    unsigned net = blockIdx.x * B + threadIdx.x;
    if (net >= nets) return;
    Marking m = {(1u << N) - 1, 0, 0, (1u << N) - 1, seats, 0, 0};
    unsigned k = 0, step = 0, first = state[net];
    bool stuck = false;
    for (; step + AHEAD <= steps && !stuck; step += AHEAD) {
        unsigned words[AHEAD], middles[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; j++) {
            words[j] = state[wrapped(k + j + 1) * nets + net];
            middles[j] = state[wrapped(k + j + MIDDLE) * nets + net];
        }
#pragma unroll
        for (int j = 0; j < AHEAD; j++) {
            unsigned word = twisted(first, words[j], middles[j]);
            state[wrapped(k + j) * nets + net] = word;
            first = words[j];
            advance(m, tempered(word));
        }
        k = wrapped(k + AHEAD);
        stuck = m.fired < step + AHEAD;
    }
    for (; step < steps && !stuck; step++) {
        advance(m, tempered(drawn<true>(nets, net, k, state)));
        k = wrapped(k + 1);
        stuck = m.fired < step + 1;
    }
#pragma unroll
    for (unsigned i = 0; i < N; i++) {
        tokens[i * nets + net] = (m.thinking >> i) & 1;
        tokens[(N + i) * nets + net] = (m.holding >> i) & 1;
        tokens[(2 * N + i) * nets + net] = (m.eating >> i) & 1;
        tokens[(3 * N + i) * nets + net] = (m.forks >> i) & 1;
    }
    tokens[4 * N * nets + net] = m.seats;
    tokens[(4 * N + 1) * nets + net] = m.meals;
    fired[net] = m.fired;
}

template <bool INTERLEAVED>
__global__ void __launch_bounds__(COUNTERS)
    count(unsigned nets, unsigned steps, const unsigned* __restrict__ tokens, const unsigned* __restrict__ fired,
          unsigned long long* __restrict__ sums, unsigned long long* __restrict__ squares) {
    __shared__ unsigned long long parts[2][COUNTERS / 32];
    unsigned place = blockIdx.x;
    unsigned long long sum = 0, square = 0;
    for (unsigned net = threadIdx.x; net < nets; net += COUNTERS) {
        unsigned long long found = place < PLACES ? tokens[at<INTERLEAVED>(PLACES, nets, place, net)] : fired[net] < steps;
        sum += found;
        square += found * found;
    }
    for (int apart = 16; apart > 0; apart /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        square += __shfl_xor_sync(0xffffffffu, square, apart);
    }
    if (threadIdx.x % 32 == 0) {
        parts[0][threadIdx.x / 32] = sum;
        parts[1][threadIdx.x / 32] = square;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < COUNTERS / 32; warp++) {
            sum += parts[0][warp];
            square += parts[1][warp];
        }
        sums[place] = sum;
        squares[place] = square;
    }
}

template <bool INTERLEAVED, int B, class Kernel>
float run(Kernel kernel, unsigned nets, unsigned steps, unsigned seats, unsigned seed, unsigned* state, unsigned* tokens, unsigned* fired,
          unsigned long long* sums, unsigned long long* squares) {
    return twins::timed([&] {
        seed_nets<INTERLEAVED><<<twins::blocks(nets, SEEDERS), SEEDERS>>>(nets, seed, state);
        kernel<<<twins::blocks(nets, B), B>>>(nets, steps, seats, state, tokens, fired);
        count<INTERLEAVED><<<PLACES + 1, COUNTERS>>>(nets, steps, tokens, fired, sums, squares);
    });
}

}  // namespace

// All launches of a run. Variants: 0 a net's numbers together, 1 all nets' numbers together; 101, 104 and 108 the marking in registers, so many numbers ahead.
extern "C" float twin_pns(unsigned variant, unsigned nets, unsigned steps, unsigned seats, unsigned seed, unsigned* state, unsigned* tokens,
                          unsigned* fired, unsigned long long* sums, unsigned long long* squares) {
    constexpr int B = 128;
    switch (variant) {
        case 0: return run<false, B>(simulate<B, false>, nets, steps, seats, seed, state, tokens, fired, sums, squares);
        case 1: return run<true, B>(simulate<B, true>, nets, steps, seats, seed, state, tokens, fired, sums, squares);
        case 101: return run<true, B>(simulate_in_registers<B, 1>, nets, steps, seats, seed, state, tokens, fired, sums, squares);
        case 104: return run<true, B>(simulate_in_registers<B, 4>, nets, steps, seats, seed, state, tokens, fired, sums, squares);
        case 108: return run<true, B>(simulate_in_registers<B, 8>, nets, steps, seats, seed, state, tokens, fired, sums, squares);
        default: return twins::NO_SUCH_VARIANT;
    }
}
