#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__constant uint table0[4] = {0x3f000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u};

__constant float table1[2] = {0.5f, 3e38f};

__constant ulong table2[2][2] = {{0x3ff8000000000000ul, 0x7ff0000000000000ul}, {0x8000000000000000ul, 0x4008000000000000ul}};

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void limits(__global const uint *restrict k, __global float *y, __global double *z) {
    const uint i = (uint)get_group_id(0) * 32u + (uint)get_local_id(0);
    const uint n = k[i];
    const uint v23 = n & 1u;
    y[i] = as_float(table0[n & 3u]) + table1[v23];
    z[i] = as_double(table2[(n >> 1) & 1u][v23]);
}
