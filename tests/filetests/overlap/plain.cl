#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void added(__global const float *restrict x, __global float *y) {
    const uint i = (uint)get_group_id(0) * 64u + (uint)get_local_id(0);
    y[i] = fma(x[i], 2.0f, y[i]);
}
