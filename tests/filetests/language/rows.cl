#pragma OPENCL FP_CONTRACT OFF

#ifdef WARPWRIGHT_SUB_GROUPS
// For devices whose sub-groups are the warps: 32 threads, in order of their number in the block.

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
__attribute__((intel_reqd_sub_group_size(32)))
void rows(const uint rows_1, const uint width, __global const float *restrict x, __global float *y) {
    const uint row = ((uint)get_group_id(0) * 64u + (uint)get_local_id(0)) >> 5;
    if (row < rows_1) {
        const uint v11 = (uint)get_local_id(0) & 31u;
        const uint v16 = row * width;
        float sum = 0.0f;
        for (uint k = v11; k < width; k += min(32u, width - k)) {
            sum = sum + x[v16 + k];
        }
        const float v21 = sub_group_shuffle_xor(sum, 16u);
        const float v22 = sum + v21;
        const float v24 = sub_group_shuffle_xor(v22, 8u);
        const float v25 = v22 + v24;
        const float v27 = sub_group_shuffle_xor(v25, 4u);
        const float v28 = v25 + v27;
        const float v30 = sub_group_shuffle_xor(v28, 2u);
        const float v31 = v28 + v30;
        const float v33 = sub_group_shuffle_xor(v31, 1u);
        const float sum_1 = v31 + v33;
        if (v11 == 0u) {
            y[row] = sum_1;
        }
    }
}

#else
// For any device.

uint ww_linear_thread(void) {
    return ((uint)get_local_id(2) * (uint)get_local_size(1) + (uint)get_local_id(1)) * (uint)get_local_size(0)
           + (uint)get_local_id(0);
}

uint ww_threads(void) {
    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}

uint ww_shuffle_xor(__local uint *exchange, uint word, uint second) {
    const uint thread = ww_linear_thread();
    const uint lane = thread & 31u;
    const uint first = thread - lane;
    const uint threads = ww_threads();
    exchange[thread] = word;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint source = first + (lane ^ (second & 31u));
    const uint found = source < threads ? exchange[source] : word;
    barrier(CLK_LOCAL_MEM_FENCE);
    return found;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void rows(const uint rows_1, const uint width, __global const float *restrict x, __global float *y) {
    __local uint exchange[64];
    const uint row = ((uint)get_group_id(0) * 64u + (uint)get_local_id(0)) >> 5;
    const bool v9 = row < rows_1;
    const uint v11 = (uint)get_local_id(0) & 31u;
    float sum = 0.0f;
    if (v9) {
        const uint v16 = row * width;
        float sum_1 = 0.0f;
        for (uint k = v11; k < width; k += min(32u, width - k)) {
            sum_1 = sum_1 + x[v16 + k];
        }
        sum = sum_1;
    }
    const float v21 = as_float(ww_shuffle_xor(exchange, as_uint(sum), 16u));
    const float v22 = sum + v21;
    const float v24 = as_float(ww_shuffle_xor(exchange, as_uint(v22), 8u));
    const float v25 = v22 + v24;
    const float v27 = as_float(ww_shuffle_xor(exchange, as_uint(v25), 4u));
    const float v28 = v25 + v27;
    const float v30 = as_float(ww_shuffle_xor(exchange, as_uint(v28), 2u));
    const float v31 = v28 + v30;
    const float v33 = as_float(ww_shuffle_xor(exchange, as_uint(v31), 1u));
    if (v9) {
        const float sum_2 = v31 + v33;
        if (v11 == 0u) {
            y[row] = sum_2;
        }
    }
}

#endif
