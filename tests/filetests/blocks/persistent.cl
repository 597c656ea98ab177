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
        const uint v29 = v26 - v26 / v22 * v22;
        const uint v30 = v29 / v19;
        const uint v35 = v30 & 3u;
        const uint v36 = v30 - v35;
        const uint v38 = min(v20 - v36, 4u);
        const uint v39 = v35 * v19 + (v29 - v30 * v19);
        const uint v40 = v39 / v38;
        const uint v43 = v36 + (v39 - v40 * v38);
        do {
            const uint t = (uint)get_local_id(0);
            const uint i = (v43 * v19 + v40) * 64u + t;
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
