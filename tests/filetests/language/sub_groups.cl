#pragma OPENCL FP_CONTRACT OFF

// PoCL's vectoriser may move an access over a store to the same place.
#ifdef POCL_DEVICE_ADDRESS_BITS
#define ww_in_order volatile
#else
#define ww_in_order
#endif

uint ww_linear_thread(void) {
    return ((uint)get_local_id(2) * (uint)get_local_size(1) + (uint)get_local_id(1)) * (uint)get_local_size(0)
           + (uint)get_local_id(0);
}

uint ww_sync_threads_count(__local uint *exchange, uint word) {
    if (ww_linear_thread() == 0u) {
        exchange[0] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (word != 0u) {
        atomic_inc(exchange);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint count = exchange[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return count;
}

#ifdef WARPWRIGHT_SUB_GROUPS
// For devices whose sub-groups are the warps: 32 threads, in order of their number in the block.

uint ww_lane_below(uint distance) {
    const uint lane = get_sub_group_local_id();
    return lane >= distance ? lane - distance : lane;
}

uint ww_match_any(ulong word, uint bits) {
    uint same = sub_group_ballot(1).x;
    for (uint i = 0u; i < bits; i++) {
        const int bit = (int)(word >> i) & 1;
        const uint votes = sub_group_ballot(bit).x;
        same &= bit != 0 ? votes : ~votes;
    }
    return same;
}

__kernel __attribute__((intel_reqd_sub_group_size(32)))
void sub_groups(const uint n, __global const uint *restrict x, __global uint *y, __local uint *exchange) {
    const uint i = (uint)get_group_id(0) * (uint)get_local_size(0) + (uint)get_local_id(0);
    const uint v6 = x[i];
    const uint count = ww_sync_threads_count(exchange, (uint)(v6 > 3u));
    if (i >= n) {
        return;
    }
    const uint v13 = sub_group_shuffle(v6, ww_lane_below(1u));
    const uint v34 = mul_hi(v13, 613566757u);
    const uint v17 = sub_group_shuffle(v6, n & 31u);
    const uint v = ((v34 + ((v13 - v34) >> 1)) >> 2) + v17;
    const uint v21 = ww_match_any(as_ulong((ulong)v6), 64u);
    const uint v22 = ww_match_any(as_uint(v), 32u);
    const uint same = v21 ^ v22;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const bool v26 = (sub_group_ballot(!(v < 9u)).x == 0u);
    if (v26) {
        const uint v31 = sub_group_ballot((v & 1u) == 0u).x;
        y[i] = v31 + count;
    } else {
        y[i] = same;
    }
}

#else
// For any device.

uint ww_threads(void) {
    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}

uint ww_shuffle_up(__local uint *exchange, uint word, uint second) {
    const uint thread = ww_linear_thread();
    const uint lane = thread & 31u;
    exchange[thread] = word;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint distance = second & 31u;
    const uint source = lane >= distance ? thread - distance : thread;
    const uint found = exchange[source];
    barrier(CLK_LOCAL_MEM_FENCE);
    return found;
}

uint ww_shuffle(__local uint *exchange, uint word, uint second) {
    const uint thread = ww_linear_thread();
    const uint lane = thread & 31u;
    const uint first = thread - lane;
    const uint threads = ww_threads();
    exchange[thread] = word;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint source = first + (second & 31u);
    const uint found = source < threads ? exchange[source] : word;
    barrier(CLK_LOCAL_MEM_FENCE);
    return found;
}

uint ww_match_any(__local uint *exchange, uint word) {
    const uint thread = ww_linear_thread();
    const uint lane = thread & 31u;
    const uint first = thread - lane;
    const uint threads = ww_threads();
    exchange[thread] = word;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint same = 0u;
    for (uint i = 0u; i < 32u && first + i < threads; i++) {
        same |= (exchange[first + i] == word ? 1u : 0u) << i;
    }
    const uint found = same;
    barrier(CLK_LOCAL_MEM_FENCE);
    return found;
}

uint ww_ballot(__local uint *exchange, uint word) {
    const uint thread = ww_linear_thread();
    const uint lane = thread & 31u;
    const uint first = thread - lane;
    const uint threads = ww_threads();
    exchange[thread] = word;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint votes = 0u;
    for (uint i = 0u; i < 32u && first + i < threads; i++) {
        votes |= exchange[first + i] << i;
    }
    const uint found = votes;
    barrier(CLK_LOCAL_MEM_FENCE);
    return found;
}

bool ww_all(__local uint *exchange, uint word) {
    return ww_ballot(exchange, word ^ 1u) == 0u;
}

__kernel void sub_groups(const uint n, __global const uint *restrict x, __global ww_in_order uint *y, __local uint *exchange) {
    const uint i = (uint)get_group_id(0) * (uint)get_local_size(0) + (uint)get_local_id(0);
    const uint v6 = x[i];
    const uint count = ww_sync_threads_count(exchange, (uint)(v6 > 3u));
    const bool v56 = i < n;
    const uint v13 = ww_shuffle_up(exchange, v6, 1u);
    const uint v34 = mul_hi(v13, 613566757u);
    const uint v17 = ww_shuffle(exchange, v6, n);
    const uint v = ((v34 + ((v13 - v34) >> 1)) >> 2) + v17;
    const ulong wide = (ulong)v6;
    const uint v21 = ww_match_any(exchange, (uint)wide) & ww_match_any(exchange, (uint)(wide >> 32));
    const uint v46 = ww_ballot(exchange, (uint)(v56));
    const uint v22 = ww_match_any(exchange, v);
    const uint v48 = ww_ballot(exchange, (uint)(v56));
    const uint same = (v21 & v46) ^ (v22 & v48);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const bool active = (i >= n) | (v < 9u);
    const bool v26 = ww_all(exchange, (uint)(active));
    const bool active_1 = v56 & v26;
    const bool active_2 = v56 & !v26;
    const bool active_3 = active_1 & ((v & 1u) == 0u);
    const uint v31 = ww_ballot(exchange, (uint)(active_3));
    if (active_1) {
        y[i] = v31 + count;
    }
    if (active_2) {
        y[i] = same;
    }
}

#endif
