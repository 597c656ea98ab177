#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void reversed(
    const uint n,
    __global const float *restrict x,
    __global float *y,
    const uint grid_x,
    const uint grid_y,
    const uint grid_z) {
    __local float tile[64];
    const uint v19 = grid_x;
    const uint v20 = grid_y;
    const uint v22 = v19 * v20;
    const uint v26_end = v22 * grid_z;
    const uint v26_step = (uint)get_num_groups(0);
    #pragma unroll 1
    for (uint v26 = (uint)get_group_id(0); v26 < v26_end; v26 += min(v26_step, v26_end - v26)) {
        uint v30 = 0u;
        if (v26 >= v22) {
            v30 = v26 / v22;
        }
        const uint v32 = v26 - v30 * v22;
        const uint v33 = v32 / v19;
        const uint v38 = v33 & 3u;
        const uint v39 = v33 - v38;
        const uint v41 = min(v20 - v39, 4u);
        const uint v42 = v38 * v19 + (v32 - v33 * v19);
        uint v47;
        if (v41 == 4u) {
            v47 = v42 >> 2;
        } else {
            v47 = v42 / v41;
        }
        const uint v50 = v39 + (v42 - v47 * v41);
        do {
            const uint t = (uint)get_local_id(0);
            const uint i = (v50 * v19 + v47) * 64u + t;
            float v14 = 0.0f;
            if (i < n) {
                v14 = x[i];
            }
            tile[t] = v14;
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            if (i >= n) {
                break;
            }
            y[i] = tile[63u - t];
        } while (0);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
