#pragma OPENCL FP_CONTRACT OFF

// PoCL's vectoriser may move an access over a store to the same place.
#ifdef POCL_DEVICE_ADDRESS_BITS
#define ww_in_order volatile
#else
#define ww_in_order
#endif

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void swizzle_dynamic(
    __global const float *restrict x,
    __global float *y,
    __local ww_in_order float (*slabs)[8][16],
    const uint slabs_len) {
    const uint t = (uint)get_local_id(0);
    const uint v78 = t >> 4;
    const uint v80 = t & 15u;
    const uint v70 = v80 ^ v78;
    const uint v60 = v78 + 4u;
    const uint v73 = v80 ^ v60;
    for (uint slab = 0u; slab < slabs_len; slab++) {
        const uint v85 = t + slab * 128u;
        slabs[slab][v78][v70] = x[v85];
        slabs[slab][v60][v73] = x[v85 + 64u];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint v82 = t & 7u;
    y[t] = slabs[t % slabs_len][v82][(t >> 2) ^ v82];
}
