#pragma OPENCL FP_CONTRACT OFF

// PoCL's vectoriser may move an access over a store to the same place.
#ifdef POCL_DEVICE_ADDRESS_BITS
#define ww_in_order volatile
#else
#define ww_in_order
#endif

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void columns(
    __global const float *restrict x,
    __global float *y,
    __local ww_in_order float (*rows)[33],
    const uint rows_len) {
    __local ww_in_order float wide[128][128];
    const uint t = (uint)get_local_id(0);
    for (uint i = 0u; i < 128u; i++) {
        wide[i][t] = x[t + i * 128u];
    }
    const uint at_end = rows_len * 32u;
    for (uint at = t; at < at_end; at += min(128u, at_end - at)) {
        rows[at >> 5][at & 31u] = x[at];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    float sum = wide[127u - t][t];
    for (uint k = 0u; k < 32u; k++) {
        sum = sum + rows[t % rows_len][k];
    }
    y[t] = sum;
}
