#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void sums(__global const float *restrict x, __global float *y) {
    __local float own[64];
    const uint t = (uint)get_local_id(0);
    const uint v5 = (uint)get_group_id(0) * 64u + t;
    own[t] = x[v5];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    y[v5] = own[63u - t];
}
