#pragma OPENCL FP_CONTRACT OFF

// PoCL's vectoriser may move an access over a store to the same place.
#ifdef POCL_DEVICE_ADDRESS_BITS
#define ww_in_order volatile
#else
#define ww_in_order
#endif

typedef struct {
    float scale;
    float taps[5];
} Filter;

typedef struct {
    uint e[3];
} counts_array;

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void filtered(const Filter filter, const counts_array counts, __global const uint *restrict x, __global float *y) {
    ww_in_order uint counts_1[3];
    counts_1[0] = counts.e[0];
    counts_1[1] = counts.e[1];
    counts_1[2] = counts.e[2];
    const uint i = (uint)get_group_id(0) * 32u + (uint)get_local_id(0);
    const uint v14 = x[i];
    const uint k = v14 - (mul_hi(v14, 3435973837u) >> 2) * 5u;
    const uint v44 = k - (mul_hi(k, 2863311531u) >> 1) * 3u;
    counts_1[v44] = counts_1[v44] + 1u;
    const float v32 = fma(filter.scale, filter.taps[k], filter.taps[0]) + (float)counts_1[i - (mul_hi(i, 2863311531u) >> 1) * 3u];
    y[i] = v32;
}
