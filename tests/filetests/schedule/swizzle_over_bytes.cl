#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void swizzle_over_bytes(
    __global const float *restrict a_data,
    const uint a_rows,
    const uint a_columns,
    const uint a_pitch,
    __global float *y) {
    __local float tile[2][8][16] __attribute__((aligned(16)));
    __local double narrow[8][4];
    const uint t = (uint)get_local_id(0);
    const uint v45 = a_rows > 0u ? a_rows : 0u;
    const uint v49 = a_columns > 0u ? a_columns : 0u;
    if ((a_pitch & 3u) == 0u && ((v49 & 3u) == 0u || v49 >= 32u)) {
        const uint v369 = t >> 3;
        const uint v67 = (t & 7u) * 4u;
        const uint v70 = v67 + v369 * a_pitch;
        const bool v72 = v67 < v49;
        float v82 = 0.0f;
        float v83 = 0.0f;
        float v84 = 0.0f;
        float v85 = 0.0f;
        if (v369 < v45 && v72) {
            const float4 v74 = *(__global const float4 *)&a_data[v70];
            v82 = v74.s0;
            v83 = v74.s1;
            v84 = v74.s2;
            v85 = v74.s3;
        }
        const uint v373 = v67 >> 4;
        const uint v375 = v67 & 15u;
        *(__local float4 *)&tile[v373][v369][v375 ^ ((v369 & 6u) * 2u)] = (float4)(v82, v83, v84, v85);
        const uint v92 = v369 + 4u;
        const uint v97 = v70 + a_pitch * 4u;
        float v109 = 0.0f;
        float v110 = 0.0f;
        float v111 = 0.0f;
        float v112 = 0.0f;
        if (v92 < v45 && v72) {
            const float4 v101 = *(__global const float4 *)&a_data[v97];
            v109 = v101.s0;
            v110 = v101.s1;
            v111 = v101.s2;
            v112 = v101.s3;
        }
        *(__local float4 *)&tile[v373][v92][v375 ^ ((v92 & 6u) * 2u)] = (float4)(v109, v110, v111, v112);
    } else {
        const uint v377 = t >> 5;
        const uint v118 = t + v377 * a_pitch;
        const bool v120 = t < v49;
        float v124 = 0.0f;
        if (v377 < v45 && v120) {
            v124 = a_data[v118];
        }
        const uint v379 = t >> 4;
        const uint v381 = t & 15u;
        tile[v379][v377][v381 ^ ((v377 & 6u) * 2u)] = v124;
        const uint v129 = v377 + 1u;
        const uint v134 = v118 + a_pitch;
        float v140 = 0.0f;
        if (v129 < v45 && v120) {
            v140 = a_data[v134];
        }
        tile[v379][v129][v381 ^ ((v129 & 6u) * 2u)] = v140;
        const uint v145 = v377 + 2u;
        const uint v150 = v118 + a_pitch * 2u;
        float v156 = 0.0f;
        if (v145 < v45 && v120) {
            v156 = a_data[v150];
        }
        tile[v379][v145][v381 ^ ((v145 & 6u) * 2u)] = v156;
        const uint v161 = v377 + 3u;
        const uint v166 = v118 + a_pitch * 3u;
        float v172 = 0.0f;
        if (v161 < v45 && v120) {
            v172 = a_data[v166];
        }
        tile[v379][v161][v381 ^ ((v161 & 6u) * 2u)] = v172;
        const uint v177 = v377 + 4u;
        const uint v182 = v118 + a_pitch * 4u;
        float v188 = 0.0f;
        if (v177 < v45 && v120) {
            v188 = a_data[v182];
        }
        tile[v379][v177][v381 ^ ((v177 & 6u) * 2u)] = v188;
        const uint v193 = v377 + 5u;
        const uint v198 = v118 + a_pitch * 5u;
        float v204 = 0.0f;
        if (v193 < v45 && v120) {
            v204 = a_data[v198];
        }
        tile[v379][v193][v381 ^ ((v193 & 6u) * 2u)] = v204;
        const uint v209 = v377 + 6u;
        const uint v214 = v118 + a_pitch * 6u;
        float v220 = 0.0f;
        if (v209 < v45 && v120) {
            v220 = a_data[v214];
        }
        tile[v379][v209][v381 ^ ((v209 & 6u) * 2u)] = v220;
        const uint v225 = v377 + 7u;
        const uint v230 = v118 + a_pitch * 7u;
        float v236 = 0.0f;
        if (v225 < v45 && v120) {
            v236 = a_data[v230];
        }
        tile[v379][v225][v381 ^ ((v225 & 6u) * 2u)] = v236;
    }
    const uint v383 = t >> 2;
    const uint v385 = t & 3u;
    narrow[v383][v385 ^ ((v383 & 4u) >> 1)] = (double)t;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint v16 = v385 * 4u;
    const float4 v17 = *(__local float4 *)&tile[v16 >> 4][v383][v16 ^ ((v383 & 6u) * 2u)];
    const float v39 = v17.s0 + v17.s3 + tile[t >> 4][5][(t & 15u) ^ 8u] + (float)narrow[t & 7u][(t >> 3) ^ ((t & 4u) >> 1)];
    y[t] = v39;
}
