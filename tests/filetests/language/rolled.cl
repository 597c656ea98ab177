#pragma OPENCL FP_CONTRACT OFF

// PoCL's vectoriser may move an access over a store to the same place.
#ifdef POCL_DEVICE_ADDRESS_BITS
#define ww_in_order volatile
#else
#define ww_in_order
#endif

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void rolled(__global const float *restrict x, __global ww_in_order float *y) {
    const uint i = (uint)get_group_id(0) * 32u + (uint)get_local_id(0);
    const uint v13 = i * 8u;
    float sum = 0.0f;
    #pragma unroll 1
    for (uint k = 0u; k < 8u; k++) {
        sum = sum + x[v13 + k];
    }
    #pragma unroll 1
    while (sum > 1.0f) {
        sum = sum * 0.5f;
    }
    const float v25 = x[i];
    float sum_1 = sum;
    #pragma unroll 1
    while (1) {
        const float sum_2 = sum_1 + v25;
        y[i] = sum_2;
        if (sum_2 > 2.0f) {
            break;
        }
        sum_1 = sum_2;
    }
}
