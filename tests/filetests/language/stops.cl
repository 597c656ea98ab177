#pragma OPENCL FP_CONTRACT OFF

void ww_fault(volatile __global uint *fault, uint message, uint line) {
    const ulong thread = ((ulong)get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
    if (atomic_cmpxchg(fault, 0u, message) == 0u) {
        fault[1] = line;
        fault[2] = (uint)thread;
        fault[3] = (uint)(thread >> 32);
    }
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void stops(
    const uint limit,
    __global const uint *restrict x,
    __global uint *y,
    const uint x_len,
    const uint y_len,
    __global uint *fault) {
    __local uint tile[64];
    const uint t = (uint)get_local_id(0);
    const uint v6 = (uint)get_group_id(0) * 64u + t;
    const bool v8 = v6 < x_len;
    if (v6 >= x_len) {
        ww_fault(fault, 1u, 10u);
    }
    uint v = 0u;
    if (v8) {
        v = x[v6];
    }
    const bool active = v8 & (v < limit);
    const bool active_1 = v8 & (v >= limit);
    if (active_1) {
        ww_fault(fault, 2u, 11u);
    }
    if (active) {
        tile[t] = v;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (active) {
        if ((t & 3u) == 1u) {
            const uint v18 = 63u - t;
            if (v18 >= 64u) {
                ww_fault(fault, 3u, 15u);
                return;
            }
            const uint v21 = tile[v18];
            const bool v23 = t < y_len;
            if (!v23) {
                ww_fault(fault, 4u, 15u);
                return;
            }
            y[t] = v21;
            if (!v23) {
                ww_fault(fault, 4u, 16u);
                return;
            }
            if (v21 <= 0u) {
                ww_fault(fault, 5u, 16u);
                return;
            }
        }
    }
}
