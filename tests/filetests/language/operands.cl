#pragma OPENCL FP_CONTRACT OFF

// PoCL's vectoriser may move an access over a store to the same place.
#ifdef POCL_DEVICE_ADDRESS_BITS
#define ww_in_order volatile
#else
#define ww_in_order
#endif

ushort ww_f32_to_bf16(float x) {
    const uint bits = as_uint(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (ushort)(bits >> 16) | 0x40;
    }
    return (ushort)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

#ifdef WARPWRIGHT_SUB_GROUPS
// For devices whose sub-groups are the warps: 32 threads, in order of their number in the block.

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
__attribute__((intel_reqd_sub_group_size(32)))
void operands(
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
    __local float z[64][16] __attribute__((aligned(16)));
    const uint v130 = (uint)get_local_id(0);
    const uint v134 = a_rows > 0u ? a_rows : 0u;
    const uint v138 = a_columns > 0u ? a_columns : 0u;
    if ((a_pitch & 7u) == 0u && ((v138 & 7u) == 0u || v138 >= 16u)) {
        const uint v1799 = v130 >> 1;
        const uint v156 = (v130 & 1u) * 8u;
        const uint v159 = v156 + v1799 * a_pitch;
        ushort v179 = 0x0000;
        ushort v180 = 0x0000;
        ushort v181 = 0x0000;
        ushort v182 = 0x0000;
        ushort v183 = 0x0000;
        ushort v184 = 0x0000;
        ushort v185 = 0x0000;
        ushort v186 = 0x0000;
        if (v1799 < v134 && v156 < v138) {
            const ushort8 v163 = *(__global const ushort8 *)&a_data[v159];
            v179 = v163.s0;
            v180 = v163.s1;
            v181 = v163.s2;
            v182 = v163.s3;
            v183 = v163.s4;
            v184 = v163.s5;
            v185 = v163.s6;
            v186 = v163.s7;
        }
        *(__local ushort8 *)&x[v1799][v156 ^ ((v1799 & 4u) * 2u)] = (ushort8)(v179, v180, v181, v182, v183, v184, v185, v186);
    } else {
        const uint v1803 = v130 >> 4;
        const uint v1805 = v130 & 15u;
        const uint v192 = v1805 + v1803 * a_pitch;
        const bool v194 = v1805 < v138;
        ushort v198 = 0x0000;
        if (v1803 < v134 && v194) {
            v198 = a_data[v192];
        }
        const uint v1239 = v1805 ^ ((v1803 & 4u) * 2u);
        x[v1803][v1239] = v198;
        const uint v203 = v1803 + 8u;
        const uint v208 = v192 + a_pitch * 8u;
        ushort v214 = 0x0000;
        if (v203 < v134 && v194) {
            v214 = a_data[v208];
        }
        x[v203][v1239] = v214;
        const uint v219 = v1803 + 16u;
        const uint v224 = v192 + a_pitch * 16u;
        ushort v230 = 0x0000;
        if (v219 < v134 && v194) {
            v230 = a_data[v224];
        }
        x[v219][v1239] = v230;
        const uint v235 = v1803 + 24u;
        const uint v240 = v192 + a_pitch * 24u;
        ushort v246 = 0x0000;
        if (v235 < v134 && v194) {
            v246 = a_data[v240];
        }
        x[v235][v1239] = v246;
        const uint v251 = v1803 + 32u;
        const uint v256 = v192 + a_pitch * 32u;
        ushort v262 = 0x0000;
        if (v251 < v134 && v194) {
            v262 = a_data[v256];
        }
        x[v251][v1239] = v262;
        const uint v267 = v1803 + 40u;
        const uint v272 = v192 + a_pitch * 40u;
        ushort v278 = 0x0000;
        if (v267 < v134 && v194) {
            v278 = a_data[v272];
        }
        x[v267][v1239] = v278;
        const uint v283 = v1803 + 48u;
        const uint v288 = v192 + a_pitch * 48u;
        ushort v294 = 0x0000;
        if (v283 < v134 && v194) {
            v294 = a_data[v288];
        }
        x[v283][v1239] = v294;
        const uint v299 = v1803 + 56u;
        const uint v304 = v192 + a_pitch * 56u;
        ushort v310 = 0x0000;
        if (v299 < v134 && v194) {
            v310 = a_data[v304];
        }
        x[v299][v1239] = v310;
    }
    const uint v316 = b_rows > 0u ? b_rows : 0u;
    const uint v320 = b_columns > 0u ? b_columns : 0u;
    if ((b_pitch & 7u) == 0u && ((v320 & 7u) == 0u || v320 >= 16u)) {
        if (v130 < 32u) {
            const uint v1807 = v130 >> 1;
            const uint v340 = (v130 & 1u) * 8u;
            const uint v343 = v340 + v1807 * b_pitch;
            ushort v363 = 0x0000;
            ushort v364 = 0x0000;
            ushort v365 = 0x0000;
            ushort v366 = 0x0000;
            ushort v367 = 0x0000;
            ushort v368 = 0x0000;
            ushort v369 = 0x0000;
            ushort v370 = 0x0000;
            if (v1807 < v316 && v340 < v320) {
                const ushort8 v347 = *(__global const ushort8 *)&b_data[v343];
                v363 = v347.s0;
                v364 = v347.s1;
                v365 = v347.s2;
                v366 = v347.s3;
                v367 = v347.s4;
                v368 = v347.s5;
                v369 = v347.s6;
                v370 = v347.s7;
            }
            *(__local ushort8 *)&y[v1807][v340 ^ ((v1807 & 4u) * 2u)] = (ushort8)(v363, v364, v365, v366, v367, v368, v369, v370);
        }
    } else {
        const uint v1811 = v130 >> 4;
        const uint v1813 = v130 & 15u;
        const uint v376 = v1813 + v1811 * b_pitch;
        const bool v378 = v1813 < v320;
        ushort v382 = 0x0000;
        if (v1811 < v316 && v378) {
            v382 = b_data[v376];
        }
        const uint v1294 = v1813 ^ ((v1811 & 4u) * 2u);
        y[v1811][v1294] = v382;
        const uint v387 = v1811 + 8u;
        const uint v392 = v376 + b_pitch * 8u;
        ushort v398 = 0x0000;
        if (v387 < v316 && v378) {
            v398 = b_data[v392];
        }
        y[v387][v1294] = v398;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint v1815 = v130 & 3u;
    const uint v1817 = v130 >> 2;
    const uint v570 = v1815 * 2u;
    const uint v579 = (v1817 & 7u) + (v1817 >> 3) * 16u;
    const uint v1278 = (v579 & 4u) * 2u;
    const uint v601 = v579 + 8u;
    const uint v1303 = (v570 & 4u) * 2u;
    const uint v619 = v570 + 1u;
    const uint v1308 = (v619 & 4u) * 2u;
    const uint v629 = v570 + 8u;
    const uint v639 = v570 + 9u;
    const uint v1318 = (v639 & 4u) * 2u;
    float v584 = 0.0f;
    float v585 = 0.0f;
    float v586 = 0.0f;
    float v587 = 0.0f;
    float v588 = 0.0f;
    float v589 = 0.0f;
    float v590 = 0.0f;
    float v591 = 0.0f;
    for (uint v583 = 0u; v583 < 16u; v583 += 4u) {
        const uint v1279 = v583 ^ v1278;
        const ushort4 v592 = *(__local ushort4 *)&x[v579][v1279];
        const float v596 = as_float((uint)v592.s0 << 16);
        const float v597 = as_float((uint)v592.s1 << 16);
        const float v598 = as_float((uint)v592.s2 << 16);
        const float v599 = as_float((uint)v592.s3 << 16);
        const ushort4 v602 = *(__local ushort4 *)&x[v601][v1279];
        const float v606 = as_float((uint)v602.s0 << 16);
        const float v607 = as_float((uint)v602.s1 << 16);
        const float v608 = as_float((uint)v602.s2 << 16);
        const float v609 = as_float((uint)v602.s3 << 16);
        const uint v1304 = v583 ^ v1303;
        const ushort4 v610 = *(__local ushort4 *)&y[v570][v1304];
        const float v614 = as_float((uint)v610.s0 << 16);
        const float v615 = as_float((uint)v610.s1 << 16);
        const float v616 = as_float((uint)v610.s2 << 16);
        const float v617 = as_float((uint)v610.s3 << 16);
        const ushort4 v620 = *(__local ushort4 *)&y[v619][v583 ^ v1308];
        const float v624 = as_float((uint)v620.s0 << 16);
        const float v625 = as_float((uint)v620.s1 << 16);
        const float v626 = as_float((uint)v620.s2 << 16);
        const float v627 = as_float((uint)v620.s3 << 16);
        const ushort4 v630 = *(__local ushort4 *)&y[v629][v1304];
        const float v634 = as_float((uint)v630.s0 << 16);
        const float v635 = as_float((uint)v630.s1 << 16);
        const float v636 = as_float((uint)v630.s2 << 16);
        const float v637 = as_float((uint)v630.s3 << 16);
        const ushort4 v640 = *(__local ushort4 *)&y[v639][v583 ^ v1318];
        const float v644 = as_float((uint)v640.s0 << 16);
        const float v645 = as_float((uint)v640.s1 << 16);
        const float v646 = as_float((uint)v640.s2 << 16);
        const float v647 = as_float((uint)v640.s3 << 16);
        v584 = fma(v599, v617, fma(v598, v616, fma(v597, v615, fma(v596, v614, v584))));
        v585 = fma(v599, v627, fma(v598, v626, fma(v597, v625, fma(v596, v624, v585))));
        v586 = fma(v609, v617, fma(v608, v616, fma(v607, v615, fma(v606, v614, v586))));
        v587 = fma(v609, v627, fma(v608, v626, fma(v607, v625, fma(v606, v624, v587))));
        v588 = fma(v599, v637, fma(v598, v636, fma(v597, v635, fma(v596, v634, v588))));
        v589 = fma(v599, v647, fma(v598, v646, fma(v597, v645, fma(v596, v644, v589))));
        v590 = fma(v609, v637, fma(v608, v636, fma(v607, v635, fma(v606, v634, v590))));
        v591 = fma(v609, v647, fma(v608, v646, fma(v607, v645, fma(v606, v644, v591))));
    }
    const uint v710 = (v130 & 31u) - v1815;
    const float v713 = as_float((uint)y[v570][v1303] << 16);
    const float v717 = as_float((uint)y[v619][v1308] << 16);
    const float v721 = as_float((uint)y[v629][v1303] << 16);
    const float v725 = as_float((uint)y[v639][v1318] << 16);
    const float v727 = as_float((uint)ww_f32_to_bf16(v584) << 16);
    const float v730 = sub_group_shuffle(v727, v710 & 31u);
    const float v732 = as_float((uint)ww_f32_to_bf16(v586) << 16);
    const float v735 = sub_group_shuffle(v732, v710 & 31u);
    const uint v1686 = v1303 ^ 1u;
    const float v747 = as_float((uint)y[v570][v1686] << 16);
    const float v751 = as_float((uint)y[v619][v1308 ^ 1u] << 16);
    const float v755 = as_float((uint)y[v629][v1686] << 16);
    const float v759 = as_float((uint)y[v639][v1318 ^ 1u] << 16);
    const float v761 = as_float((uint)ww_f32_to_bf16(v585) << 16);
    const float v764 = sub_group_shuffle(v761, v710 & 31u);
    const float v766 = as_float((uint)ww_f32_to_bf16(v587) << 16);
    const float v769 = sub_group_shuffle(v766, v710 & 31u);
    const uint v1692 = v1303 ^ 2u;
    const float v781 = as_float((uint)y[v570][v1692] << 16);
    const float v785 = as_float((uint)y[v619][v1308 ^ 2u] << 16);
    const float v789 = as_float((uint)y[v629][v1692] << 16);
    const float v793 = as_float((uint)y[v639][v1318 ^ 2u] << 16);
    const uint v795 = v710 + 1u;
    const float v796 = sub_group_shuffle(v727, v795 & 31u);
    const float v799 = sub_group_shuffle(v732, v795 & 31u);
    const uint v1698 = v1303 ^ 3u;
    const float v811 = as_float((uint)y[v570][v1698] << 16);
    const float v815 = as_float((uint)y[v619][v1308 ^ 3u] << 16);
    const float v819 = as_float((uint)y[v629][v1698] << 16);
    const float v823 = as_float((uint)y[v639][v1318 ^ 3u] << 16);
    const float v826 = sub_group_shuffle(v761, v795 & 31u);
    const float v829 = sub_group_shuffle(v766, v795 & 31u);
    const uint v1704 = v1303 ^ 4u;
    const float v841 = as_float((uint)y[v570][v1704] << 16);
    const float v845 = as_float((uint)y[v619][v1308 ^ 4u] << 16);
    const float v849 = as_float((uint)y[v629][v1704] << 16);
    const float v853 = as_float((uint)y[v639][v1318 ^ 4u] << 16);
    const uint v855 = v710 + 2u;
    const float v856 = sub_group_shuffle(v727, v855 & 31u);
    const float v859 = sub_group_shuffle(v732, v855 & 31u);
    const uint v1710 = v1303 ^ 5u;
    const float v871 = as_float((uint)y[v570][v1710] << 16);
    const float v875 = as_float((uint)y[v619][v1308 ^ 5u] << 16);
    const float v879 = as_float((uint)y[v629][v1710] << 16);
    const float v883 = as_float((uint)y[v639][v1318 ^ 5u] << 16);
    const float v886 = sub_group_shuffle(v761, v855 & 31u);
    const float v889 = sub_group_shuffle(v766, v855 & 31u);
    const float v890 = fma(v886, v871, fma(v856, v841, fma(v826, v811, fma(v796, v781, fma(v764, v747, fma(v730, v713, 0.0f))))));
    const float v891 = fma(v886, v875, fma(v856, v845, fma(v826, v815, fma(v796, v785, fma(v764, v751, fma(v730, v717, 0.0f))))));
    const float v892 = fma(v889, v871, fma(v859, v841, fma(v829, v811, fma(v799, v781, fma(v769, v747, fma(v735, v713, 0.0f))))));
    const float v893 = fma(v889, v875, fma(v859, v845, fma(v829, v815, fma(v799, v785, fma(v769, v751, fma(v735, v717, 0.0f))))));
    const float v894 = fma(v886, v879, fma(v856, v849, fma(v826, v819, fma(v796, v789, fma(v764, v755, fma(v730, v721, 0.0f))))));
    const float v895 = fma(v886, v883, fma(v856, v853, fma(v826, v823, fma(v796, v793, fma(v764, v759, fma(v730, v725, 0.0f))))));
    const float v896 = fma(v889, v879, fma(v859, v849, fma(v829, v819, fma(v799, v789, fma(v769, v755, fma(v735, v721, 0.0f))))));
    const float v897 = fma(v889, v883, fma(v859, v853, fma(v829, v823, fma(v799, v793, fma(v769, v759, fma(v735, v725, 0.0f))))));
    const uint v1716 = v1303 ^ 6u;
    const float v901 = as_float((uint)y[v570][v1716] << 16);
    const float v905 = as_float((uint)y[v619][v1308 ^ 6u] << 16);
    const float v909 = as_float((uint)y[v629][v1716] << 16);
    const float v913 = as_float((uint)y[v639][v1318 ^ 6u] << 16);
    const uint v915 = v710 + 3u;
    const float v916 = sub_group_shuffle(v727, v915 & 31u);
    const float v919 = sub_group_shuffle(v732, v915 & 31u);
    const uint v1722 = v1303 ^ 7u;
    const float v931 = as_float((uint)y[v570][v1722] << 16);
    const float v935 = as_float((uint)y[v619][v1308 ^ 7u] << 16);
    const float v939 = as_float((uint)y[v629][v1722] << 16);
    const float v943 = as_float((uint)y[v639][v1318 ^ 7u] << 16);
    const float v946 = sub_group_shuffle(v761, v915 & 31u);
    const float v949 = sub_group_shuffle(v766, v915 & 31u);
    const uint v1728 = v1303 ^ 8u;
    const float v961 = as_float((uint)y[v570][v1728] << 16);
    const float v965 = as_float((uint)y[v619][v1308 ^ 8u] << 16);
    const float v969 = as_float((uint)y[v629][v1728] << 16);
    const float v973 = as_float((uint)y[v639][v1318 ^ 8u] << 16);
    const float v975 = as_float((uint)ww_f32_to_bf16(v588) << 16);
    const float v978 = sub_group_shuffle(v975, v710 & 31u);
    const float v980 = as_float((uint)ww_f32_to_bf16(v590) << 16);
    const float v983 = sub_group_shuffle(v980, v710 & 31u);
    const uint v1734 = v1303 ^ 9u;
    const float v995 = as_float((uint)y[v570][v1734] << 16);
    const float v999 = as_float((uint)y[v619][v1308 ^ 9u] << 16);
    const float v1003 = as_float((uint)y[v629][v1734] << 16);
    const float v1007 = as_float((uint)y[v639][v1318 ^ 9u] << 16);
    const float v1009 = as_float((uint)ww_f32_to_bf16(v589) << 16);
    const float v1012 = sub_group_shuffle(v1009, v710 & 31u);
    const float v1014 = as_float((uint)ww_f32_to_bf16(v591) << 16);
    const float v1017 = sub_group_shuffle(v1014, v710 & 31u);
    const uint v1740 = v1303 ^ 10u;
    const float v1029 = as_float((uint)y[v570][v1740] << 16);
    const float v1033 = as_float((uint)y[v619][v1308 ^ 10u] << 16);
    const float v1037 = as_float((uint)y[v629][v1740] << 16);
    const float v1041 = as_float((uint)y[v639][v1318 ^ 10u] << 16);
    const float v1044 = sub_group_shuffle(v975, v795 & 31u);
    const float v1047 = sub_group_shuffle(v980, v795 & 31u);
    const uint v1746 = v1303 ^ 11u;
    const float v1059 = as_float((uint)y[v570][v1746] << 16);
    const float v1063 = as_float((uint)y[v619][v1308 ^ 11u] << 16);
    const float v1067 = as_float((uint)y[v629][v1746] << 16);
    const float v1071 = as_float((uint)y[v639][v1318 ^ 11u] << 16);
    const float v1074 = sub_group_shuffle(v1009, v795 & 31u);
    const float v1077 = sub_group_shuffle(v1014, v795 & 31u);
    const float v1078 = fma(v1074, v1059, fma(v1044, v1029, fma(v1012, v995, fma(v978, v961, fma(v946, v931, fma(v916, v901, v890))))));
    const float v1079 = fma(v1074, v1063, fma(v1044, v1033, fma(v1012, v999, fma(v978, v965, fma(v946, v935, fma(v916, v905, v891))))));
    const float v1080 = fma(v1077, v1059, fma(v1047, v1029, fma(v1017, v995, fma(v983, v961, fma(v949, v931, fma(v919, v901, v892))))));
    const float v1081 = fma(v1077, v1063, fma(v1047, v1033, fma(v1017, v999, fma(v983, v965, fma(v949, v935, fma(v919, v905, v893))))));
    const float v1082 = fma(v1074, v1067, fma(v1044, v1037, fma(v1012, v1003, fma(v978, v969, fma(v946, v939, fma(v916, v909, v894))))));
    const float v1083 = fma(v1074, v1071, fma(v1044, v1041, fma(v1012, v1007, fma(v978, v973, fma(v946, v943, fma(v916, v913, v895))))));
    const float v1084 = fma(v1077, v1067, fma(v1047, v1037, fma(v1017, v1003, fma(v983, v969, fma(v949, v939, fma(v919, v909, v896))))));
    const float v1085 = fma(v1077, v1071, fma(v1047, v1041, fma(v1017, v1007, fma(v983, v973, fma(v949, v943, fma(v919, v913, v897))))));
    const uint v1752 = v1303 ^ 12u;
    const float v1089 = as_float((uint)y[v570][v1752] << 16);
    const float v1093 = as_float((uint)y[v619][v1308 ^ 12u] << 16);
    const float v1097 = as_float((uint)y[v629][v1752] << 16);
    const float v1101 = as_float((uint)y[v639][v1318 ^ 12u] << 16);
    const float v1104 = sub_group_shuffle(v975, v855 & 31u);
    const float v1107 = sub_group_shuffle(v980, v855 & 31u);
    const uint v1758 = v1303 ^ 13u;
    const float v1119 = as_float((uint)y[v570][v1758] << 16);
    const float v1123 = as_float((uint)y[v619][v1308 ^ 13u] << 16);
    const float v1127 = as_float((uint)y[v629][v1758] << 16);
    const float v1131 = as_float((uint)y[v639][v1318 ^ 13u] << 16);
    const float v1134 = sub_group_shuffle(v1009, v855 & 31u);
    const float v1137 = sub_group_shuffle(v1014, v855 & 31u);
    const uint v1764 = v1303 ^ 14u;
    const float v1149 = as_float((uint)y[v570][v1764] << 16);
    const float v1153 = as_float((uint)y[v619][v1308 ^ 14u] << 16);
    const float v1157 = as_float((uint)y[v629][v1764] << 16);
    const float v1161 = as_float((uint)y[v639][v1318 ^ 14u] << 16);
    const float v1164 = sub_group_shuffle(v975, v915 & 31u);
    const float v1167 = sub_group_shuffle(v980, v915 & 31u);
    const uint v1770 = v1303 ^ 15u;
    const float v1179 = as_float((uint)y[v570][v1770] << 16);
    const float v1183 = as_float((uint)y[v619][v1308 ^ 15u] << 16);
    const float v1187 = as_float((uint)y[v629][v1770] << 16);
    const float v1191 = as_float((uint)y[v639][v1318 ^ 15u] << 16);
    const float v1194 = sub_group_shuffle(v1009, v915 & 31u);
    const float v1197 = sub_group_shuffle(v1014, v915 & 31u);
    *(__local float2 *)&z[v579][v570] = (float2)(fma(v1194, v1179, fma(v1164, v1149, fma(v1134, v1119, fma(v1104, v1089, v1078)))), fma(v1194, v1183, fma(v1164, v1153, fma(v1134, v1123, fma(v1104, v1093, v1079)))));
    *(__local float2 *)&z[v601][v570] = (float2)(fma(v1197, v1179, fma(v1167, v1149, fma(v1137, v1119, fma(v1107, v1089, v1080)))), fma(v1197, v1183, fma(v1167, v1153, fma(v1137, v1123, fma(v1107, v1093, v1081)))));
    *(__local float2 *)&z[v579][v629] = (float2)(fma(v1194, v1187, fma(v1164, v1157, fma(v1134, v1127, fma(v1104, v1097, v1082)))), fma(v1194, v1191, fma(v1164, v1161, fma(v1134, v1131, fma(v1104, v1101, v1083)))));
    *(__local float2 *)&z[v601][v629] = (float2)(fma(v1197, v1187, fma(v1167, v1157, fma(v1137, v1127, fma(v1107, v1097, v1084)))), fma(v1197, v1191, fma(v1167, v1161, fma(v1137, v1131, fma(v1107, v1101, v1085)))));
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint v404 = c_rows > 0u ? c_rows : 0u;
    const uint v408 = c_columns > 0u ? c_columns : 0u;
    if ((c_pitch & 3u) == 0u && ((v408 & 3u) == 0u || v408 >= 16u)) {
        const uint v426 = v1815 * 4u;
        const uint v429 = v426 + v1817 * c_pitch;
        const bool v431 = v426 < v408;
        if (v1817 < v404 && v431) {
            const float4 v433 = *(__local float4 *)&z[v1817][v426];
            *(__global ww_in_order float4 *)&c_data[v429] = (float4)(v433.s0, v433.s1, v433.s2, v433.s3);
        }
        const uint v443 = v1817 + 32u;
        const uint v448 = v429 + c_pitch * 32u;
        if (v443 < v404 && v431) {
            const float4 v452 = *(__local float4 *)&z[v443][v426];
            *(__global ww_in_order float4 *)&c_data[v448] = (float4)(v452.s0, v452.s1, v452.s2, v452.s3);
        }
    } else {
        const uint v1827 = v130 >> 4;
        const uint v1829 = v130 & 15u;
        const uint v461 = v1829 + v1827 * c_pitch;
        const bool v463 = v1829 < v408;
        if (v1827 < v404 && v463) {
            c_data[v461] = z[v1827][v1829];
        }
        const uint v470 = v1827 + 8u;
        const uint v475 = v461 + c_pitch * 8u;
        if (v470 < v404 && v463) {
            c_data[v475] = z[v470][v1829];
        }
        const uint v484 = v1827 + 16u;
        const uint v489 = v461 + c_pitch * 16u;
        if (v484 < v404 && v463) {
            c_data[v489] = z[v484][v1829];
        }
        const uint v498 = v1827 + 24u;
        const uint v503 = v461 + c_pitch * 24u;
        if (v498 < v404 && v463) {
            c_data[v503] = z[v498][v1829];
        }
        const uint v512 = v1827 + 32u;
        const uint v517 = v461 + c_pitch * 32u;
        if (v512 < v404 && v463) {
            c_data[v517] = z[v512][v1829];
        }
        const uint v526 = v1827 + 40u;
        const uint v531 = v461 + c_pitch * 40u;
        if (v526 < v404 && v463) {
            c_data[v531] = z[v526][v1829];
        }
        const uint v540 = v1827 + 48u;
        const uint v545 = v461 + c_pitch * 48u;
        if (v540 < v404 && v463) {
            c_data[v545] = z[v540][v1829];
        }
        const uint v554 = v1827 + 56u;
        const uint v559 = v461 + c_pitch * 56u;
        if (v554 < v404 && v463) {
            c_data[v559] = z[v554][v1829];
        }
    }
}

#else
// For any device.

uint ww_linear_thread(void) {
    return ((uint)get_local_id(2) * (uint)get_local_size(1) + (uint)get_local_id(1)) * (uint)get_local_size(0)
           + (uint)get_local_id(0);
}

uint ww_threads(void) {
    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}

uint ww_shuffle(__local uint *exchange, uint word, uint second) {
    const uint thread = ww_linear_thread();
    const uint lane = thread & 31u;
    const uint first = thread - lane;
    const uint threads = ww_threads();
    exchange[thread] = word;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint source = first + (second & 31u);
    const uint found = source < threads ? exchange[source] : word;
    barrier(CLK_LOCAL_MEM_FENCE);
    return found;
}

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void operands(
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
    __local float z[64][16] __attribute__((aligned(16)));
    __local uint exchange[128];
    const uint v130 = (uint)get_local_id(0);
    const uint v134 = a_rows > 0u ? a_rows : 0u;
    const uint v138 = a_columns > 0u ? a_columns : 0u;
    if ((a_pitch & 7u) == 0u && ((v138 & 7u) == 0u || v138 >= 16u)) {
        const uint v1799 = v130 >> 1;
        const uint v156 = (v130 & 1u) * 8u;
        const uint v159 = v156 + v1799 * a_pitch;
        ushort v179 = 0x0000;
        ushort v180 = 0x0000;
        ushort v181 = 0x0000;
        ushort v182 = 0x0000;
        ushort v183 = 0x0000;
        ushort v184 = 0x0000;
        ushort v185 = 0x0000;
        ushort v186 = 0x0000;
        if (v1799 < v134 && v156 < v138) {
            const ushort8 v163 = *(__global const ushort8 *)&a_data[v159];
            v179 = v163.s0;
            v180 = v163.s1;
            v181 = v163.s2;
            v182 = v163.s3;
            v183 = v163.s4;
            v184 = v163.s5;
            v185 = v163.s6;
            v186 = v163.s7;
        }
        *(__local ushort8 *)&x[v1799][v156 ^ ((v1799 & 4u) * 2u)] = (ushort8)(v179, v180, v181, v182, v183, v184, v185, v186);
    } else {
        const uint v1803 = v130 >> 4;
        const uint v1805 = v130 & 15u;
        const uint v192 = v1805 + v1803 * a_pitch;
        const bool v194 = v1805 < v138;
        ushort v198 = 0x0000;
        if (v1803 < v134 && v194) {
            v198 = a_data[v192];
        }
        const uint v1239 = v1805 ^ ((v1803 & 4u) * 2u);
        x[v1803][v1239] = v198;
        const uint v203 = v1803 + 8u;
        const uint v208 = v192 + a_pitch * 8u;
        ushort v214 = 0x0000;
        if (v203 < v134 && v194) {
            v214 = a_data[v208];
        }
        x[v203][v1239] = v214;
        const uint v219 = v1803 + 16u;
        const uint v224 = v192 + a_pitch * 16u;
        ushort v230 = 0x0000;
        if (v219 < v134 && v194) {
            v230 = a_data[v224];
        }
        x[v219][v1239] = v230;
        const uint v235 = v1803 + 24u;
        const uint v240 = v192 + a_pitch * 24u;
        ushort v246 = 0x0000;
        if (v235 < v134 && v194) {
            v246 = a_data[v240];
        }
        x[v235][v1239] = v246;
        const uint v251 = v1803 + 32u;
        const uint v256 = v192 + a_pitch * 32u;
        ushort v262 = 0x0000;
        if (v251 < v134 && v194) {
            v262 = a_data[v256];
        }
        x[v251][v1239] = v262;
        const uint v267 = v1803 + 40u;
        const uint v272 = v192 + a_pitch * 40u;
        ushort v278 = 0x0000;
        if (v267 < v134 && v194) {
            v278 = a_data[v272];
        }
        x[v267][v1239] = v278;
        const uint v283 = v1803 + 48u;
        const uint v288 = v192 + a_pitch * 48u;
        ushort v294 = 0x0000;
        if (v283 < v134 && v194) {
            v294 = a_data[v288];
        }
        x[v283][v1239] = v294;
        const uint v299 = v1803 + 56u;
        const uint v304 = v192 + a_pitch * 56u;
        ushort v310 = 0x0000;
        if (v299 < v134 && v194) {
            v310 = a_data[v304];
        }
        x[v299][v1239] = v310;
    }
    const uint v316 = b_rows > 0u ? b_rows : 0u;
    const uint v320 = b_columns > 0u ? b_columns : 0u;
    if ((b_pitch & 7u) == 0u && ((v320 & 7u) == 0u || v320 >= 16u)) {
        if (v130 < 32u) {
            const uint v1807 = v130 >> 1;
            const uint v340 = (v130 & 1u) * 8u;
            const uint v343 = v340 + v1807 * b_pitch;
            ushort v363 = 0x0000;
            ushort v364 = 0x0000;
            ushort v365 = 0x0000;
            ushort v366 = 0x0000;
            ushort v367 = 0x0000;
            ushort v368 = 0x0000;
            ushort v369 = 0x0000;
            ushort v370 = 0x0000;
            if (v1807 < v316 && v340 < v320) {
                const ushort8 v347 = *(__global const ushort8 *)&b_data[v343];
                v363 = v347.s0;
                v364 = v347.s1;
                v365 = v347.s2;
                v366 = v347.s3;
                v367 = v347.s4;
                v368 = v347.s5;
                v369 = v347.s6;
                v370 = v347.s7;
            }
            *(__local ushort8 *)&y[v1807][v340 ^ ((v1807 & 4u) * 2u)] = (ushort8)(v363, v364, v365, v366, v367, v368, v369, v370);
        }
    } else {
        const uint v1811 = v130 >> 4;
        const uint v1813 = v130 & 15u;
        const uint v376 = v1813 + v1811 * b_pitch;
        const bool v378 = v1813 < v320;
        ushort v382 = 0x0000;
        if (v1811 < v316 && v378) {
            v382 = b_data[v376];
        }
        const uint v1294 = v1813 ^ ((v1811 & 4u) * 2u);
        y[v1811][v1294] = v382;
        const uint v387 = v1811 + 8u;
        const uint v392 = v376 + b_pitch * 8u;
        ushort v398 = 0x0000;
        if (v387 < v316 && v378) {
            v398 = b_data[v392];
        }
        y[v387][v1294] = v398;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint v1815 = v130 & 3u;
    const uint v1817 = v130 >> 2;
    const uint v570 = v1815 * 2u;
    const uint v579 = (v1817 & 7u) + (v1817 >> 3) * 16u;
    const uint v1278 = (v579 & 4u) * 2u;
    const uint v601 = v579 + 8u;
    const uint v1303 = (v570 & 4u) * 2u;
    const uint v619 = v570 + 1u;
    const uint v1308 = (v619 & 4u) * 2u;
    const uint v629 = v570 + 8u;
    const uint v639 = v570 + 9u;
    const uint v1318 = (v639 & 4u) * 2u;
    float v584 = 0.0f;
    float v585 = 0.0f;
    float v586 = 0.0f;
    float v587 = 0.0f;
    float v588 = 0.0f;
    float v589 = 0.0f;
    float v590 = 0.0f;
    float v591 = 0.0f;
    for (uint v583 = 0u; v583 < 16u; v583 += 4u) {
        const uint v1279 = v583 ^ v1278;
        const ushort4 v592 = *(__local ushort4 *)&x[v579][v1279];
        const float v596 = as_float((uint)v592.s0 << 16);
        const float v597 = as_float((uint)v592.s1 << 16);
        const float v598 = as_float((uint)v592.s2 << 16);
        const float v599 = as_float((uint)v592.s3 << 16);
        const ushort4 v602 = *(__local ushort4 *)&x[v601][v1279];
        const float v606 = as_float((uint)v602.s0 << 16);
        const float v607 = as_float((uint)v602.s1 << 16);
        const float v608 = as_float((uint)v602.s2 << 16);
        const float v609 = as_float((uint)v602.s3 << 16);
        const uint v1304 = v583 ^ v1303;
        const ushort4 v610 = *(__local ushort4 *)&y[v570][v1304];
        const float v614 = as_float((uint)v610.s0 << 16);
        const float v615 = as_float((uint)v610.s1 << 16);
        const float v616 = as_float((uint)v610.s2 << 16);
        const float v617 = as_float((uint)v610.s3 << 16);
        const ushort4 v620 = *(__local ushort4 *)&y[v619][v583 ^ v1308];
        const float v624 = as_float((uint)v620.s0 << 16);
        const float v625 = as_float((uint)v620.s1 << 16);
        const float v626 = as_float((uint)v620.s2 << 16);
        const float v627 = as_float((uint)v620.s3 << 16);
        const ushort4 v630 = *(__local ushort4 *)&y[v629][v1304];
        const float v634 = as_float((uint)v630.s0 << 16);
        const float v635 = as_float((uint)v630.s1 << 16);
        const float v636 = as_float((uint)v630.s2 << 16);
        const float v637 = as_float((uint)v630.s3 << 16);
        const ushort4 v640 = *(__local ushort4 *)&y[v639][v583 ^ v1318];
        const float v644 = as_float((uint)v640.s0 << 16);
        const float v645 = as_float((uint)v640.s1 << 16);
        const float v646 = as_float((uint)v640.s2 << 16);
        const float v647 = as_float((uint)v640.s3 << 16);
        v584 = fma(v599, v617, fma(v598, v616, fma(v597, v615, fma(v596, v614, v584))));
        v585 = fma(v599, v627, fma(v598, v626, fma(v597, v625, fma(v596, v624, v585))));
        v586 = fma(v609, v617, fma(v608, v616, fma(v607, v615, fma(v606, v614, v586))));
        v587 = fma(v609, v627, fma(v608, v626, fma(v607, v625, fma(v606, v624, v587))));
        v588 = fma(v599, v637, fma(v598, v636, fma(v597, v635, fma(v596, v634, v588))));
        v589 = fma(v599, v647, fma(v598, v646, fma(v597, v645, fma(v596, v644, v589))));
        v590 = fma(v609, v637, fma(v608, v636, fma(v607, v635, fma(v606, v634, v590))));
        v591 = fma(v609, v647, fma(v608, v646, fma(v607, v645, fma(v606, v644, v591))));
    }
    const uint v710 = (v130 & 31u) - v1815;
    const float v713 = as_float((uint)y[v570][v1303] << 16);
    const float v717 = as_float((uint)y[v619][v1308] << 16);
    const float v721 = as_float((uint)y[v629][v1303] << 16);
    const float v725 = as_float((uint)y[v639][v1318] << 16);
    const float v727 = as_float((uint)ww_f32_to_bf16(v584) << 16);
    const float v730 = as_float(ww_shuffle(exchange, as_uint(v727), v710));
    const float v732 = as_float((uint)ww_f32_to_bf16(v586) << 16);
    const float v735 = as_float(ww_shuffle(exchange, as_uint(v732), v710));
    const uint v1686 = v1303 ^ 1u;
    const float v747 = as_float((uint)y[v570][v1686] << 16);
    const float v751 = as_float((uint)y[v619][v1308 ^ 1u] << 16);
    const float v755 = as_float((uint)y[v629][v1686] << 16);
    const float v759 = as_float((uint)y[v639][v1318 ^ 1u] << 16);
    const float v761 = as_float((uint)ww_f32_to_bf16(v585) << 16);
    const float v764 = as_float(ww_shuffle(exchange, as_uint(v761), v710));
    const float v766 = as_float((uint)ww_f32_to_bf16(v587) << 16);
    const float v769 = as_float(ww_shuffle(exchange, as_uint(v766), v710));
    const uint v1692 = v1303 ^ 2u;
    const float v781 = as_float((uint)y[v570][v1692] << 16);
    const float v785 = as_float((uint)y[v619][v1308 ^ 2u] << 16);
    const float v789 = as_float((uint)y[v629][v1692] << 16);
    const float v793 = as_float((uint)y[v639][v1318 ^ 2u] << 16);
    const uint v795 = v710 + 1u;
    const float v796 = as_float(ww_shuffle(exchange, as_uint(v727), v795));
    const float v799 = as_float(ww_shuffle(exchange, as_uint(v732), v795));
    const uint v1698 = v1303 ^ 3u;
    const float v811 = as_float((uint)y[v570][v1698] << 16);
    const float v815 = as_float((uint)y[v619][v1308 ^ 3u] << 16);
    const float v819 = as_float((uint)y[v629][v1698] << 16);
    const float v823 = as_float((uint)y[v639][v1318 ^ 3u] << 16);
    const float v826 = as_float(ww_shuffle(exchange, as_uint(v761), v795));
    const float v829 = as_float(ww_shuffle(exchange, as_uint(v766), v795));
    const uint v1704 = v1303 ^ 4u;
    const float v841 = as_float((uint)y[v570][v1704] << 16);
    const float v845 = as_float((uint)y[v619][v1308 ^ 4u] << 16);
    const float v849 = as_float((uint)y[v629][v1704] << 16);
    const float v853 = as_float((uint)y[v639][v1318 ^ 4u] << 16);
    const uint v855 = v710 + 2u;
    const float v856 = as_float(ww_shuffle(exchange, as_uint(v727), v855));
    const float v859 = as_float(ww_shuffle(exchange, as_uint(v732), v855));
    const uint v1710 = v1303 ^ 5u;
    const float v871 = as_float((uint)y[v570][v1710] << 16);
    const float v875 = as_float((uint)y[v619][v1308 ^ 5u] << 16);
    const float v879 = as_float((uint)y[v629][v1710] << 16);
    const float v883 = as_float((uint)y[v639][v1318 ^ 5u] << 16);
    const float v886 = as_float(ww_shuffle(exchange, as_uint(v761), v855));
    const float v889 = as_float(ww_shuffle(exchange, as_uint(v766), v855));
    const float v890 = fma(v886, v871, fma(v856, v841, fma(v826, v811, fma(v796, v781, fma(v764, v747, fma(v730, v713, 0.0f))))));
    const float v891 = fma(v886, v875, fma(v856, v845, fma(v826, v815, fma(v796, v785, fma(v764, v751, fma(v730, v717, 0.0f))))));
    const float v892 = fma(v889, v871, fma(v859, v841, fma(v829, v811, fma(v799, v781, fma(v769, v747, fma(v735, v713, 0.0f))))));
    const float v893 = fma(v889, v875, fma(v859, v845, fma(v829, v815, fma(v799, v785, fma(v769, v751, fma(v735, v717, 0.0f))))));
    const float v894 = fma(v886, v879, fma(v856, v849, fma(v826, v819, fma(v796, v789, fma(v764, v755, fma(v730, v721, 0.0f))))));
    const float v895 = fma(v886, v883, fma(v856, v853, fma(v826, v823, fma(v796, v793, fma(v764, v759, fma(v730, v725, 0.0f))))));
    const float v896 = fma(v889, v879, fma(v859, v849, fma(v829, v819, fma(v799, v789, fma(v769, v755, fma(v735, v721, 0.0f))))));
    const float v897 = fma(v889, v883, fma(v859, v853, fma(v829, v823, fma(v799, v793, fma(v769, v759, fma(v735, v725, 0.0f))))));
    const uint v1716 = v1303 ^ 6u;
    const float v901 = as_float((uint)y[v570][v1716] << 16);
    const float v905 = as_float((uint)y[v619][v1308 ^ 6u] << 16);
    const float v909 = as_float((uint)y[v629][v1716] << 16);
    const float v913 = as_float((uint)y[v639][v1318 ^ 6u] << 16);
    const uint v915 = v710 + 3u;
    const float v916 = as_float(ww_shuffle(exchange, as_uint(v727), v915));
    const float v919 = as_float(ww_shuffle(exchange, as_uint(v732), v915));
    const uint v1722 = v1303 ^ 7u;
    const float v931 = as_float((uint)y[v570][v1722] << 16);
    const float v935 = as_float((uint)y[v619][v1308 ^ 7u] << 16);
    const float v939 = as_float((uint)y[v629][v1722] << 16);
    const float v943 = as_float((uint)y[v639][v1318 ^ 7u] << 16);
    const float v946 = as_float(ww_shuffle(exchange, as_uint(v761), v915));
    const float v949 = as_float(ww_shuffle(exchange, as_uint(v766), v915));
    const uint v1728 = v1303 ^ 8u;
    const float v961 = as_float((uint)y[v570][v1728] << 16);
    const float v965 = as_float((uint)y[v619][v1308 ^ 8u] << 16);
    const float v969 = as_float((uint)y[v629][v1728] << 16);
    const float v973 = as_float((uint)y[v639][v1318 ^ 8u] << 16);
    const float v975 = as_float((uint)ww_f32_to_bf16(v588) << 16);
    const float v978 = as_float(ww_shuffle(exchange, as_uint(v975), v710));
    const float v980 = as_float((uint)ww_f32_to_bf16(v590) << 16);
    const float v983 = as_float(ww_shuffle(exchange, as_uint(v980), v710));
    const uint v1734 = v1303 ^ 9u;
    const float v995 = as_float((uint)y[v570][v1734] << 16);
    const float v999 = as_float((uint)y[v619][v1308 ^ 9u] << 16);
    const float v1003 = as_float((uint)y[v629][v1734] << 16);
    const float v1007 = as_float((uint)y[v639][v1318 ^ 9u] << 16);
    const float v1009 = as_float((uint)ww_f32_to_bf16(v589) << 16);
    const float v1012 = as_float(ww_shuffle(exchange, as_uint(v1009), v710));
    const float v1014 = as_float((uint)ww_f32_to_bf16(v591) << 16);
    const float v1017 = as_float(ww_shuffle(exchange, as_uint(v1014), v710));
    const uint v1740 = v1303 ^ 10u;
    const float v1029 = as_float((uint)y[v570][v1740] << 16);
    const float v1033 = as_float((uint)y[v619][v1308 ^ 10u] << 16);
    const float v1037 = as_float((uint)y[v629][v1740] << 16);
    const float v1041 = as_float((uint)y[v639][v1318 ^ 10u] << 16);
    const float v1044 = as_float(ww_shuffle(exchange, as_uint(v975), v795));
    const float v1047 = as_float(ww_shuffle(exchange, as_uint(v980), v795));
    const uint v1746 = v1303 ^ 11u;
    const float v1059 = as_float((uint)y[v570][v1746] << 16);
    const float v1063 = as_float((uint)y[v619][v1308 ^ 11u] << 16);
    const float v1067 = as_float((uint)y[v629][v1746] << 16);
    const float v1071 = as_float((uint)y[v639][v1318 ^ 11u] << 16);
    const float v1074 = as_float(ww_shuffle(exchange, as_uint(v1009), v795));
    const float v1077 = as_float(ww_shuffle(exchange, as_uint(v1014), v795));
    const float v1078 = fma(v1074, v1059, fma(v1044, v1029, fma(v1012, v995, fma(v978, v961, fma(v946, v931, fma(v916, v901, v890))))));
    const float v1079 = fma(v1074, v1063, fma(v1044, v1033, fma(v1012, v999, fma(v978, v965, fma(v946, v935, fma(v916, v905, v891))))));
    const float v1080 = fma(v1077, v1059, fma(v1047, v1029, fma(v1017, v995, fma(v983, v961, fma(v949, v931, fma(v919, v901, v892))))));
    const float v1081 = fma(v1077, v1063, fma(v1047, v1033, fma(v1017, v999, fma(v983, v965, fma(v949, v935, fma(v919, v905, v893))))));
    const float v1082 = fma(v1074, v1067, fma(v1044, v1037, fma(v1012, v1003, fma(v978, v969, fma(v946, v939, fma(v916, v909, v894))))));
    const float v1083 = fma(v1074, v1071, fma(v1044, v1041, fma(v1012, v1007, fma(v978, v973, fma(v946, v943, fma(v916, v913, v895))))));
    const float v1084 = fma(v1077, v1067, fma(v1047, v1037, fma(v1017, v1003, fma(v983, v969, fma(v949, v939, fma(v919, v909, v896))))));
    const float v1085 = fma(v1077, v1071, fma(v1047, v1041, fma(v1017, v1007, fma(v983, v973, fma(v949, v943, fma(v919, v913, v897))))));
    const uint v1752 = v1303 ^ 12u;
    const float v1089 = as_float((uint)y[v570][v1752] << 16);
    const float v1093 = as_float((uint)y[v619][v1308 ^ 12u] << 16);
    const float v1097 = as_float((uint)y[v629][v1752] << 16);
    const float v1101 = as_float((uint)y[v639][v1318 ^ 12u] << 16);
    const float v1104 = as_float(ww_shuffle(exchange, as_uint(v975), v855));
    const float v1107 = as_float(ww_shuffle(exchange, as_uint(v980), v855));
    const uint v1758 = v1303 ^ 13u;
    const float v1119 = as_float((uint)y[v570][v1758] << 16);
    const float v1123 = as_float((uint)y[v619][v1308 ^ 13u] << 16);
    const float v1127 = as_float((uint)y[v629][v1758] << 16);
    const float v1131 = as_float((uint)y[v639][v1318 ^ 13u] << 16);
    const float v1134 = as_float(ww_shuffle(exchange, as_uint(v1009), v855));
    const float v1137 = as_float(ww_shuffle(exchange, as_uint(v1014), v855));
    const uint v1764 = v1303 ^ 14u;
    const float v1149 = as_float((uint)y[v570][v1764] << 16);
    const float v1153 = as_float((uint)y[v619][v1308 ^ 14u] << 16);
    const float v1157 = as_float((uint)y[v629][v1764] << 16);
    const float v1161 = as_float((uint)y[v639][v1318 ^ 14u] << 16);
    const float v1164 = as_float(ww_shuffle(exchange, as_uint(v975), v915));
    const float v1167 = as_float(ww_shuffle(exchange, as_uint(v980), v915));
    const uint v1770 = v1303 ^ 15u;
    const float v1179 = as_float((uint)y[v570][v1770] << 16);
    const float v1183 = as_float((uint)y[v619][v1308 ^ 15u] << 16);
    const float v1187 = as_float((uint)y[v629][v1770] << 16);
    const float v1191 = as_float((uint)y[v639][v1318 ^ 15u] << 16);
    const float v1194 = as_float(ww_shuffle(exchange, as_uint(v1009), v915));
    const float v1197 = as_float(ww_shuffle(exchange, as_uint(v1014), v915));
    *(__local float2 *)&z[v579][v570] = (float2)(fma(v1194, v1179, fma(v1164, v1149, fma(v1134, v1119, fma(v1104, v1089, v1078)))), fma(v1194, v1183, fma(v1164, v1153, fma(v1134, v1123, fma(v1104, v1093, v1079)))));
    *(__local float2 *)&z[v601][v570] = (float2)(fma(v1197, v1179, fma(v1167, v1149, fma(v1137, v1119, fma(v1107, v1089, v1080)))), fma(v1197, v1183, fma(v1167, v1153, fma(v1137, v1123, fma(v1107, v1093, v1081)))));
    *(__local float2 *)&z[v579][v629] = (float2)(fma(v1194, v1187, fma(v1164, v1157, fma(v1134, v1127, fma(v1104, v1097, v1082)))), fma(v1194, v1191, fma(v1164, v1161, fma(v1134, v1131, fma(v1104, v1101, v1083)))));
    *(__local float2 *)&z[v601][v629] = (float2)(fma(v1197, v1187, fma(v1167, v1157, fma(v1137, v1127, fma(v1107, v1097, v1084)))), fma(v1197, v1191, fma(v1167, v1161, fma(v1137, v1131, fma(v1107, v1101, v1085)))));
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint v404 = c_rows > 0u ? c_rows : 0u;
    const uint v408 = c_columns > 0u ? c_columns : 0u;
    if ((c_pitch & 3u) == 0u && ((v408 & 3u) == 0u || v408 >= 16u)) {
        const uint v426 = v1815 * 4u;
        const uint v429 = v426 + v1817 * c_pitch;
        const bool v431 = v426 < v408;
        if (v1817 < v404 && v431) {
            const float4 v433 = *(__local float4 *)&z[v1817][v426];
            *(__global ww_in_order float4 *)&c_data[v429] = (float4)(v433.s0, v433.s1, v433.s2, v433.s3);
        }
        const uint v443 = v1817 + 32u;
        const uint v448 = v429 + c_pitch * 32u;
        if (v443 < v404 && v431) {
            const float4 v452 = *(__local float4 *)&z[v443][v426];
            *(__global ww_in_order float4 *)&c_data[v448] = (float4)(v452.s0, v452.s1, v452.s2, v452.s3);
        }
    } else {
        const uint v1827 = v130 >> 4;
        const uint v1829 = v130 & 15u;
        const uint v461 = v1829 + v1827 * c_pitch;
        const bool v463 = v1829 < v408;
        if (v1827 < v404 && v463) {
            c_data[v461] = z[v1827][v1829];
        }
        const uint v470 = v1827 + 8u;
        const uint v475 = v461 + c_pitch * 8u;
        if (v470 < v404 && v463) {
            c_data[v475] = z[v470][v1829];
        }
        const uint v484 = v1827 + 16u;
        const uint v489 = v461 + c_pitch * 16u;
        if (v484 < v404 && v463) {
            c_data[v489] = z[v484][v1829];
        }
        const uint v498 = v1827 + 24u;
        const uint v503 = v461 + c_pitch * 24u;
        if (v498 < v404 && v463) {
            c_data[v503] = z[v498][v1829];
        }
        const uint v512 = v1827 + 32u;
        const uint v517 = v461 + c_pitch * 32u;
        if (v512 < v404 && v463) {
            c_data[v517] = z[v512][v1829];
        }
        const uint v526 = v1827 + 40u;
        const uint v531 = v461 + c_pitch * 40u;
        if (v526 < v404 && v463) {
            c_data[v531] = z[v526][v1829];
        }
        const uint v540 = v1827 + 48u;
        const uint v545 = v461 + c_pitch * 48u;
        if (v540 < v404 && v463) {
            c_data[v545] = z[v540][v1829];
        }
        const uint v554 = v1827 + 56u;
        const uint v559 = v461 + c_pitch * 56u;
        if (v554 < v404 && v463) {
            c_data[v559] = z[v554][v1829];
        }
    }
}

#endif
