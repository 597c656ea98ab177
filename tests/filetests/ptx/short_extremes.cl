#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void extremes(__global const uint *restrict x, __global uint *y) {
    const uint i = (uint)get_group_id(0) * 32u + (uint)get_local_id(0);
    const uint v5 = x[i];
    const short a = (short)v5;
    if ((short)min((int)a, (int)1) == 1) {
        y[i * 2u] = 5u;
    }
    y[i * 2u + 1u] = (uint)(uchar)max((int)(uchar)v5, (int)7);
}
