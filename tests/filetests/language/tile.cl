#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void tile(__global const float *restrict a, __global float *c, const uint n) {
    __local float rows[16][16];
    __local float columns[16][16];
    const uint x = (uint)get_local_id(0);
    const uint y = (uint)get_local_id(1);
    const uint v15 = ((uint)get_group_id(1) * 16u + y) * n;
    const uint v53 = v15 + x;
    const uint v23 = (uint)get_group_id(0) * 16u;
    const uint v55 = (v23 + y) * n + x;
    const uint step__end = n >> 4;
    float sum = 0.0f;
    for (uint step_ = 0u; step_ < step__end; step_++) {
        const uint v17 = step_ * 16u;
        rows[y][x] = a[v53 + v17];
        columns[x][y] = a[v55 + v17];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint k = 0u; k < 16u; k++) {
            sum = fma(rows[y][k], columns[k][x], sum);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    c[v15 + v23 + x] = sum;
}
