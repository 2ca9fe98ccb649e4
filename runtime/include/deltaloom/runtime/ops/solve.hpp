#pragma once
// Unit triangular systems (I - M) U = B and (I - M)^T U = B with M strictly lower, by substitution: only what lies
// below M's diagonal is read.
#include "deltaloom/runtime/ops/multiply.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// Rows first .. first + rows of U, columns of the vectors, from the rows that are solved already: those before, or with
// backward those behind.
template<int rows, int vectors, int count, bool backward, class K>
DELTALOOM_INLINE void solve_tile(part<K> u, part<K> m, part<K> b, index first, index total) {
    lanes<K, count> sum[rows][vectors];
    DELTALOOM_UNROLL
    for (int i = 0; i < rows; ++i) {
        DELTALOOM_UNROLL
        for (int v = 0; v < vectors; ++v) sum[i][v] = read_lanes<count>(b.at(first + i, v * count));
    }
    auto const add = [&](int i, K factor, lanes<K, count> const(&row)[vectors]) __attribute__((always_inline)) {
        DELTALOOM_UNROLL
        for (int v = 0; v < vectors; ++v) sum[i][v] = multiply_add_lanes<count, K>(sum[i][v], factor, row[v]);
    };
    for (index e = backward ? first + rows : 0; e < (backward ? total : first); ++e) {
        lanes<K, count> row[vectors];
        DELTALOOM_UNROLL
        for (int v = 0; v < vectors; ++v) row[v] = read_lanes<count>(u.at(e, v * count));
        DELTALOOM_UNROLL
        for (int i = 0; i < rows; ++i) add(i, backward ? *m.at(e, first + i) : *m.at(first + i, e), row);
    }
    DELTALOOM_UNROLL
    for (int step = 0; step < rows; ++step) {
        int const e = backward ? rows - 1 - step : step;
        DELTALOOM_UNROLL
        for (int ahead = step + 1; ahead < rows; ++ahead) {
            int const i = backward ? rows - 1 - ahead : ahead;
            add(i, backward ? *m.at(first + e, first + i) : *m.at(first + i, first + e), sum[e]);
        }
    }
    DELTALOOM_UNROLL
    for (int i = 0; i < rows; ++i) {
        DELTALOOM_UNROLL
        for (int v = 0; v < vectors; ++v) write_lanes<count>(u.at(first + i, v * count), sum[i][v]);
    }
}
template<bool backward, class K> void substitute(matrix<K> u, matrix<K> m, matrix<K> b) {
    constexpr int most = is_float<K> ? DELTALOOM_VECTOR_BYTES == 64 ? 8 : 4 : 1, full = vector_lanes<K>;
    auto const columns = [&](index j, auto vectors, auto count) {
        index done = 0;
        auto const run = [&](auto height) {
            for (; done + height.value <= u.rows; done += height.value) {
                index const first = backward ? u.rows - done - height.value : done;
                solve_tile<height.value, vectors.value, count.value, backward, K>(
                    {u.data + j, u.cols, 1}, whole(m), {b.data + j, b.cols, 1}, first, u.rows);
            }
        };
        run(lane_count<most>{});
        if constexpr (most > 4) run(lane_count<4>{});
        if constexpr (most > 1) run(lane_count<1>{});
    };
    index j = 0;
    for (; j + 2 * full <= u.cols; j += 2 * full) columns(j, lane_count<2>{}, lane_count<full>{});
    in_lanes<K>(j, u.cols, [&](index at, auto count) { columns(at, lane_count<1>{}, count); });
}

// U = (I - M)^-1 B; U may be B.
template<class K> void solve(matrix<K> u, matrix<K> m, matrix<K> b) { substitute<false>(u, m, b); }
// U = (I - M)^-T B; U may be B.
template<class K> void solve_transposed(matrix<K> u, matrix<K> m, matrix<K> b) { substitute<true>(u, m, b); }

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
