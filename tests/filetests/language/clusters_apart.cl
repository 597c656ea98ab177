#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void scaled(__global const float *restrict x, __global float *y) {
    const uint v0 = (uint)get_group_id(0);
    const uint i = v0 * 64u + (uint)get_local_id(0);
    y[i] = x[i] * (float)(v0 & 1u);
}
