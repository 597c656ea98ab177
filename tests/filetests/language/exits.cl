#pragma OPENCL FP_CONTRACT OFF

__kernel void exits(const uint n, __global uint *y, const uint y_len) {
    const uint i = (uint)get_group_id(0) * (uint)get_local_size(0) + (uint)get_local_id(0);
    if (i >= y_len) {
        return;
    }
    uint steps = 0u;
    for (uint j = 0u; j < n; j++) {
        for (uint k = 0u; k < j; k++) {
            if (j * k == i) {
                goto done;
            }
            if (k > 7u) {
                goto next;
            }
            steps = steps + 1u;
        }
        next:;
    }
    done:;
    uint found;
    while (1) {
        const uint steps_1 = (steps & 1u) == 0u ? steps >> 1 : steps * 3u + 1u;
        if (steps_1 < 4u) {
            found = steps_1;
            break;
        }
        steps = steps_1;
    }
    y[i] = found == 0u ? n : (found != 0u && found <= 2u && n > 3u ? 7u : found + 1u);
}
