#pragma once
// Matrix products of any extents. An entry of the result sums its terms in the order of the contracted index
// (multiply_nt: lane by lane, then the lanes by halves), whatever the other extents are: a row does not depend on how
// many rows there are.
#include "deltaloom/runtime/ops/lanes.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// A part of a matrix, or its transpose: entry (i, j) at data[i * down + j * across].
template<class K> struct part {
    K* data;
    index down, across;
    K* at(index i, index j) const { return data + i * down + j * across; }
};
template<class K> part<K> whole(matrix<K> x) { return {x.data, x.cols, 1}; }
template<class K> part<K> transposed(matrix<K> x) { return {x.data, 1, x.cols}; }

// rows x (vectors of count lanes) of out, kept in registers over the contraction.
template<int rows, int vectors, int count, class K>
DELTALOOM_INLINE void product_tile(part<K> out, part<K> a, part<K> b, index depth, bool add) {
    lanes<K, count> sum[rows][vectors];
    DELTALOOM_UNROLL
    for (int i = 0; i < rows; ++i) {
        DELTALOOM_UNROLL
        for (int v = 0; v < vectors; ++v) {
            sum[i][v] = lanes<K, count>{};
            if (add) sum[i][v] = read_lanes<count>(out.at(i, v * count));
        }
    }
    for (index e = 0; e < depth; ++e) {
        lanes<K, count> row[vectors];
        DELTALOOM_UNROLL
        for (int v = 0; v < vectors; ++v) row[v] = read_lanes<count>(b.at(e, v * count));
        DELTALOOM_UNROLL
        for (int i = 0; i < rows; ++i) {
            K const x = *a.at(i, e);
            DELTALOOM_UNROLL
            for (int v = 0; v < vectors; ++v) sum[i][v] = multiply_add_lanes<count, K>(sum[i][v], x, row[v]);
        }
    }
    DELTALOOM_UNROLL
    for (int i = 0; i < rows; ++i) {
        DELTALOOM_UNROLL
        for (int v = 0; v < vectors; ++v) write_lanes<count>(out.at(i, v * count), sum[i][v]);
    }
}
template<int rows, class K> void product_rows(part<K> out, index cols, part<K> a, part<K> b, index depth, bool add) {
    constexpr int full = vector_lanes<K>;
    index j = 0;
    for (; j + 2 * full <= cols; j += 2 * full)
        product_tile<rows, 2, full, K>({out.at(0, j), out.down, 1}, a, {b.at(0, j), b.down, is_float<K> ? 1 : b.across},
                                       depth, add);
    in_lanes<K>(j, cols, [&](index at, auto count) {
        product_tile<rows, 1, count.value, K>({out.at(0, at), out.down, 1}, a,
                                              {b.at(0, at), b.down, is_float<K> ? 1 : b.across}, depth, add);
    });
}
// out (rows x cols) = a (rows x depth) b (depth x cols), or added to it. out and b hold their rows without gaps. Never
// inlined: a compiler that sees through a small product contracts its rounding with the caller's.
template<class K>
DELTALOOM_CALL void product(part<K> out, index rows, index cols, part<K> a, part<K> b, index depth, bool add) {
    constexpr int most = !is_float<K> ? 1 : DELTALOOM_VECTOR_BYTES == 64 ? 8 : 4;
    index i = 0;
    auto const run = [&](auto height) {
        for (; i + height.value <= rows; i += height.value)
            product_rows<height.value>({out.at(i, 0), out.down, 1}, cols, {a.at(i, 0), a.down, a.across}, b, depth,
                                       add);
    };
    run(lane_count<most>{});
    if constexpr (most > 4) run(lane_count<4>{});
    if constexpr (most > 1) run(lane_count<1>{});
}

template<class K> void multiply(matrix<K> out, matrix<K> a, matrix<K> b) {
    product(whole(out), out.rows, out.cols, whole(a), whole(b), a.cols, false);
}
template<class K> void multiply_add(matrix<K> out, matrix<K> a, matrix<K> b) {
    product(whole(out), out.rows, out.cols, whole(a), whole(b), a.cols, true);
}
// a^T b
template<class K> void multiply_tn(matrix<K> out, matrix<K> a, matrix<K> b) {
    product(whole(out), out.rows, out.cols, transposed(a), whole(b), a.rows, false);
}
template<class K> void multiply_tn_add(matrix<K> out, matrix<K> a, matrix<K> b) {
    product(whole(out), out.rows, out.cols, transposed(a), whole(b), a.rows, true);
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
