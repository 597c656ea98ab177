#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void tile(__global const float *restrict a, __global float *c, const uint n) {
    __local float rows[16][16];
    __local float columns[16][16];
    const uint x = (uint)get_local_id(0);
    const uint y = (uint)get_local_id(1);
    const uint v15 = (((uint)get_group_id(1) << 4) + y) * n;
    const uint v58 = (uint)get_group_id(0) << 4;
    const uint v25 = (v58 + y) * n;
    const uint step__end = n >> 4;
    float v9 = 0.0f;
    for (uint step_ = 0u; step_ < step__end; step_++) {
        const uint v56 = step_ << 4;
        rows[y][x] = a[v15 + v56 + x];
        columns[x][y] = a[v25 + v56 + x];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint k = 0u; k < 16u; k++) {
            v9 = fma(rows[y][k], columns[k][x], v9);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    c[v15 + v58 + x] = v9;
}
