#pragma OPENCL FP_CONTRACT OFF

__kernel void exits(const uint n, __global uint *y, const uint y_len) {
    const uint i = (uint)get_group_id(0) * (uint)get_local_size(0) + (uint)get_local_id(0);
    if (i >= y_len) {
        return;
    }
    uint v12 = 0u;
    for (uint j = 0u; j < n; j++) {
        for (uint k = 0u; k < j; k++) {
            if (j * k == i) {
                goto done;
            }
            if (k > 7u) {
                goto next;
            }
            v12 = v12 + 1u;
        }
        next:;
    }
    done:;
    uint found;
    while (1) {
        const uint v62 = (v12 & 1u) == 0u ? v12 >> 1 : v12 * 3u + 1u;
        if (v62 < 4u) {
            found = v62;
            break;
        }
        v12 = v62;
    }
    y[i] = found == 0u ? n : (found >= 1u && found <= 2u && n > 3u ? 7u : found + 1u);
}
