#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void dynamic_vectors(__global const float *restrict x, __global float *y, __local uint4 *tile_vectors) {
    __local float (*tile)[20] = (__local float (*)[20])tile_vectors;
    const uint t = (uint)get_local_id(0);
    const uint v28 = t >> 2;
    const uint v6 = (t & 3u) * 4u;
    const uint v8 = t * 4u;
    const float4 v9 = *(__global const float4 *)&x[v8];
    *(__local float4 *)&tile[v28][v6] = (float4)(v9.s0, v9.s1, v9.s2, v9.s3);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const float4 v23 = *(__local float4 *)&tile[3u - v28][v6];
    *(__global float4 *)&y[v8] = (float4)(v23.s0, v23.s1, v23.s2, v23.s3);
}
