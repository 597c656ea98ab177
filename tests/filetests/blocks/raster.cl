#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(32, 4, 1)))
void transposed(const uint n, __global const float *restrict x, __global float *y) {
    const uint v23 = (uint)get_group_id(1);
    const uint v27 = v23 % 6u;
    const uint v28 = v23 - v27;
    const uint v30 = min((uint)get_num_groups(1) - v28, 6u);
    const uint v31 = v27 * (uint)get_num_groups(0) + (uint)get_group_id(0);
    const uint v32 = v31 / v30;
    const uint column = v32 * 32u + (uint)get_local_id(0);
    const uint row = (v28 + (v31 - v32 * v30)) * 4u + (uint)get_local_id(1);
    if (column < n && row < n) {
        y[row * n + column] = x[column * n + row] + (float)v32;
    }
}
