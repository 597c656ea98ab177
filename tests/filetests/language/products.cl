#pragma OPENCL FP_CONTRACT OFF

// PoCL's vectoriser may move an access over a store to the same place.
#ifdef POCL_DEVICE_ADDRESS_BITS
#define ww_in_order volatile
#else
#define ww_in_order
#endif

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void products(
    __global const ushort *restrict a_data,
    const uint a_rows,
    const uint a_columns,
    const uint a_pitch,
    __global const ushort *restrict b_data,
    const uint b_rows,
    const uint b_columns,
    const uint b_pitch,
    __global ww_in_order float *c_data,
    const uint c_rows,
    const uint c_columns,
    const uint c_pitch) {
    __local ushort x[64][16] __attribute__((aligned(16)));
    __local ushort y[16][16] __attribute__((aligned(16)));
    __local float z[64][8] __attribute__((aligned(16)));
    const uint v74 = (uint)get_local_id(0);
    const uint v78 = a_rows > 0u ? a_rows : 0u;
    const uint v82 = a_columns > 0u ? a_columns : 0u;
    if ((a_pitch & 7u) == 0u && ((v82 & 7u) == 0u || v82 >= 16u)) {
        const uint v718 = v74 >> 1;
        const uint v100 = (v74 & 1u) * 8u;
        const uint v103 = v100 + v718 * a_pitch;
        ushort v123 = 0x0000;
        ushort v124 = 0x0000;
        ushort v125 = 0x0000;
        ushort v126 = 0x0000;
        ushort v127 = 0x0000;
        ushort v128 = 0x0000;
        ushort v129 = 0x0000;
        ushort v130 = 0x0000;
        if (v718 < v78 && v100 < v82) {
            const ushort8 v107 = *(__global const ushort8 *)&a_data[v103];
            v123 = v107.s0;
            v124 = v107.s1;
            v125 = v107.s2;
            v126 = v107.s3;
            v127 = v107.s4;
            v128 = v107.s5;
            v129 = v107.s6;
            v130 = v107.s7;
        }
        *(__local ushort8 *)&x[v718][v100 ^ ((v718 & 4u) * 2u)] = (ushort8)(v123, v124, v125, v126, v127, v128, v129, v130);
    } else {
        const uint v722 = v74 >> 4;
        const uint v724 = v74 & 15u;
        const uint v136 = v724 + v722 * a_pitch;
        const bool v138 = v724 < v82;
        ushort v142 = 0x0000;
        if (v722 < v78 && v138) {
            v142 = a_data[v136];
        }
        const uint v582 = v724 ^ ((v722 & 4u) * 2u);
        x[v722][v582] = v142;
        const uint v147 = v722 + 8u;
        const uint v152 = v136 + a_pitch * 8u;
        ushort v158 = 0x0000;
        if (v147 < v78 && v138) {
            v158 = a_data[v152];
        }
        x[v147][v582] = v158;
        const uint v163 = v722 + 16u;
        const uint v168 = v136 + a_pitch * 16u;
        ushort v174 = 0x0000;
        if (v163 < v78 && v138) {
            v174 = a_data[v168];
        }
        x[v163][v582] = v174;
        const uint v179 = v722 + 24u;
        const uint v184 = v136 + a_pitch * 24u;
        ushort v190 = 0x0000;
        if (v179 < v78 && v138) {
            v190 = a_data[v184];
        }
        x[v179][v582] = v190;
        const uint v195 = v722 + 32u;
        const uint v200 = v136 + a_pitch * 32u;
        ushort v206 = 0x0000;
        if (v195 < v78 && v138) {
            v206 = a_data[v200];
        }
        x[v195][v582] = v206;
        const uint v211 = v722 + 40u;
        const uint v216 = v136 + a_pitch * 40u;
        ushort v222 = 0x0000;
        if (v211 < v78 && v138) {
            v222 = a_data[v216];
        }
        x[v211][v582] = v222;
        const uint v227 = v722 + 48u;
        const uint v232 = v136 + a_pitch * 48u;
        ushort v238 = 0x0000;
        if (v227 < v78 && v138) {
            v238 = a_data[v232];
        }
        x[v227][v582] = v238;
        const uint v243 = v722 + 56u;
        const uint v248 = v136 + a_pitch * 56u;
        ushort v254 = 0x0000;
        if (v243 < v78 && v138) {
            v254 = a_data[v248];
        }
        x[v243][v582] = v254;
    }
    const uint v260 = b_rows > 0u ? b_rows : 0u;
    const uint v264 = b_columns > 0u ? b_columns : 0u;
    if ((b_pitch & 7u) == 0u && ((v264 & 7u) == 0u || v264 >= 16u)) {
        if (v74 < 32u) {
            const uint v726 = v74 >> 1;
            const uint v284 = (v74 & 1u) * 8u;
            const uint v287 = v284 + v726 * b_pitch;
            ushort v307 = 0x0000;
            ushort v308 = 0x0000;
            ushort v309 = 0x0000;
            ushort v310 = 0x0000;
            ushort v311 = 0x0000;
            ushort v312 = 0x0000;
            ushort v313 = 0x0000;
            ushort v314 = 0x0000;
            if (v726 < v260 && v284 < v264) {
                const ushort8 v291 = *(__global const ushort8 *)&b_data[v287];
                v307 = v291.s0;
                v308 = v291.s1;
                v309 = v291.s2;
                v310 = v291.s3;
                v311 = v291.s4;
                v312 = v291.s5;
                v313 = v291.s6;
                v314 = v291.s7;
            }
            *(__local ushort8 *)&y[v726][v284 ^ ((v726 & 4u) * 2u)] = (ushort8)(v307, v308, v309, v310, v311, v312, v313, v314);
        }
    } else {
        const uint v730 = v74 >> 4;
        const uint v732 = v74 & 15u;
        const uint v320 = v732 + v730 * b_pitch;
        const bool v322 = v732 < v264;
        ushort v326 = 0x0000;
        if (v730 < v260 && v322) {
            v326 = b_data[v320];
        }
        const uint v647 = v732 ^ ((v730 & 4u) * 2u);
        y[v730][v647] = v326;
        const uint v331 = v730 + 8u;
        const uint v336 = v320 + b_pitch * 8u;
        ushort v342 = 0x0000;
        if (v331 < v260 && v322) {
            v342 = b_data[v336];
        }
        y[v331][v647] = v342;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint v734 = v74 & 7u;
    const uint v736 = v74 >> 3;
    const uint v439 = v734 * 2u;
    const uint v621 = (v736 & 4u) * 2u;
    const uint v464 = v736 + 16u;
    const uint v474 = v736 + 32u;
    const uint v484 = v736 + 48u;
    const uint v656 = (v439 & 4u) * 2u;
    const uint v502 = v439 + 1u;
    const uint v661 = (v502 & 4u) * 2u;
    float v447 = 0.0f;
    float v448 = 0.0f;
    float v449 = 0.0f;
    float v450 = 0.0f;
    float v451 = 0.0f;
    float v452 = 0.0f;
    float v453 = 0.0f;
    float v454 = 0.0f;
    for (uint v446 = 0u; v446 < 16u; v446 += 4u) {
        const uint v622 = v446 ^ v621;
        const ushort4 v455 = *(__local ushort4 *)&x[v736][v622];
        const float v459 = as_float((uint)v455.s0 << 16);
        const float v460 = as_float((uint)v455.s1 << 16);
        const float v461 = as_float((uint)v455.s2 << 16);
        const float v462 = as_float((uint)v455.s3 << 16);
        const ushort4 v465 = *(__local ushort4 *)&x[v464][v622];
        const float v469 = as_float((uint)v465.s0 << 16);
        const float v470 = as_float((uint)v465.s1 << 16);
        const float v471 = as_float((uint)v465.s2 << 16);
        const float v472 = as_float((uint)v465.s3 << 16);
        const ushort4 v475 = *(__local ushort4 *)&x[v474][v622];
        const float v479 = as_float((uint)v475.s0 << 16);
        const float v480 = as_float((uint)v475.s1 << 16);
        const float v481 = as_float((uint)v475.s2 << 16);
        const float v482 = as_float((uint)v475.s3 << 16);
        const ushort4 v485 = *(__local ushort4 *)&x[v484][v622];
        const float v489 = as_float((uint)v485.s0 << 16);
        const float v490 = as_float((uint)v485.s1 << 16);
        const float v491 = as_float((uint)v485.s2 << 16);
        const float v492 = as_float((uint)v485.s3 << 16);
        const ushort4 v493 = *(__local ushort4 *)&y[v439][v446 ^ v656];
        const float v497 = as_float((uint)v493.s0 << 16);
        const float v498 = as_float((uint)v493.s1 << 16);
        const float v499 = as_float((uint)v493.s2 << 16);
        const float v500 = as_float((uint)v493.s3 << 16);
        const ushort4 v503 = *(__local ushort4 *)&y[v502][v446 ^ v661];
        const float v507 = as_float((uint)v503.s0 << 16);
        const float v508 = as_float((uint)v503.s1 << 16);
        const float v509 = as_float((uint)v503.s2 << 16);
        const float v510 = as_float((uint)v503.s3 << 16);
        v447 = fma(v462, v500, fma(v461, v499, fma(v460, v498, fma(v459, v497, v447))));
        v448 = fma(v462, v510, fma(v461, v509, fma(v460, v508, fma(v459, v507, v448))));
        v449 = fma(v472, v500, fma(v471, v499, fma(v470, v498, fma(v469, v497, v449))));
        v450 = fma(v472, v510, fma(v471, v509, fma(v470, v508, fma(v469, v507, v450))));
        v451 = fma(v482, v500, fma(v481, v499, fma(v480, v498, fma(v479, v497, v451))));
        v452 = fma(v482, v510, fma(v481, v509, fma(v480, v508, fma(v479, v507, v452))));
        v453 = fma(v492, v500, fma(v491, v499, fma(v490, v498, fma(v489, v497, v453))));
        v454 = fma(v492, v510, fma(v491, v509, fma(v490, v508, fma(v489, v507, v454))));
    }
    const uint v562 = v439 - 8u;
    if (v562 < 8u) {
        *(__local float2 *)&z[v736][v562] = (float2)(v447, v448);
        *(__local float2 *)&z[v464][v562] = (float2)(v449, v450);
        *(__local float2 *)&z[v474][v562] = (float2)(v451, v452);
        *(__local float2 *)&z[v484][v562] = (float2)(v453, v454);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint v348 = c_rows > 0u ? c_rows : 0u;
    const uint v352 = c_columns > 8u ? c_columns - 8u : 0u;
    if (((c_pitch | 8u) & 3u) == 0u && ((v352 & 3u) == 0u || v352 >= 8u)) {
        const uint v738 = v74 >> 1;
        const uint v370 = (v74 & 1u) * 4u;
        const uint v743 = v370 + v738 * c_pitch + 8u;
        if (v738 < v348 && v370 < v352) {
            const float4 v377 = *(__local float4 *)&z[v738][v370];
            *(__global ww_in_order float4 *)&c_data[v743] = (float4)(v377.s0, v377.s1, v377.s2, v377.s3);
        }
    } else {
        const uint v746 = v734 + v736 * c_pitch + 8u;
        const bool v388 = v734 < v352;
        if (v736 < v348 && v388) {
            c_data[v746] = z[v736][v734];
        }
        const uint v400 = v746 + c_pitch * 16u;
        if (v464 < v348 && v388) {
            c_data[v400] = z[v464][v734];
        }
        const uint v414 = v746 + c_pitch * 32u;
        if (v474 < v348 && v388) {
            c_data[v414] = z[v474][v734];
        }
        const uint v428 = v746 + c_pitch * 48u;
        if (v484 < v348 && v388) {
            c_data[v428] = z[v484][v734];
        }
    }
}
