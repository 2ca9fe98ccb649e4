#pragma once
// Sums along an axis, transposes, and the rows of several micro-steps in the order of their events.
#include "deltaloom/runtime/ops/matrix.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// out (1 x c): the sum over the rows of x.
template<class K> void sum_rows(matrix<K> out, matrix<K> x) {
    clear(out);
    for (index i = 0; i < x.rows; ++i)
        for (index j = 0; j < x.cols; ++j) out.data[j] = out.data[j] + x(i, j);
}
// out (r x 1): the sum over the columns of x.
template<class K> void sum_cols(matrix<K> out, matrix<K> x) {
    for (index i = 0; i < x.rows; ++i) {
        K sum(0.0);
        for (index j = 0; j < x.cols; ++j) sum = sum + x(i, j);
        out.data[i] = sum;
    }
}
// Blocks of 16 x 16, so that both sides stay in the nearest cache.
template<class K> void transpose(matrix<K> out, matrix<K> x) {
    constexpr index block = 16;
    for (index i0 = 0; i0 < x.rows; i0 += block)
        for (index j0 = 0; j0 < x.cols; j0 += block)
            for (index j = j0; j < smaller(j0 + block, x.cols); ++j)
                for (index i = i0; i < smaller(i0 + block, x.rows); ++i) out(j, i) = x(i, j);
}
// Row t * m + j of out is row t of part.
template<class K> void interleave(matrix<K> out, index j, index m, matrix<K> part) {
    for (index t = 0; t < part.rows; ++t)
        for (index c = 0; c < part.cols; ++c) out(t * m + j, c) = part(t, c);
}
// Row t of out is row t * m + j of x.
template<class K> void pick(matrix<K> out, matrix<K> x, index j, index m) {
    for (index t = 0; t < out.rows; ++t)
        for (index c = 0; c < out.cols; ++c) out(t, c) = x(t * m + j, c);
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
