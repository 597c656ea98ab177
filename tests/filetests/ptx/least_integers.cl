#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void least(__global const short *restrict x, __global const char *restrict z, __global long *y) {
    const uint i = (uint)get_group_id(0) * 32u + (uint)get_local_id(0);
    const short v5 = x[i];
    const long v7 = (long)(short)mad24((int)v5, -1, 0);
    const uint v9 = i * 4u;
    y[v9] = v7;
    y[v9 + 1u] = (long)(short)abs((int)v5);
    y[v9 + 2u] = v7;
    y[v9 + 3u] = (long)(char)-z[i];
}
