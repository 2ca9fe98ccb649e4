#pragma once
// Products with a transposed right side: every entry is a dot product of two rows.
#include "deltaloom/runtime/ops/multiply.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// Halves of width / 2 lanes added within every group of width lanes; of two vectors the groups alternate, so that
// output keeps the order of input.
template<int width, int count, bool upper, std::size_t... at>
DELTALOOM_INLINE auto halves(auto a, auto b, std::index_sequence<at...>) {
    constexpr auto from = [](int i) { // lane i of the result, half by half from a's groups and b's
        int const half = width / 2, group = i / half, inside = i % half;
        return group / 2 * width + inside + (upper ? half : 0) + (group % 2 ? count : 0);
    };
    return __builtin_shufflevector(a, b, from(int(at))...);
}
// Lane i: the sum of all lanes of v[i]; with fewer vectors than lanes the sums stand apart by lanes / vectors.
template<int vectors, int width, int count, class K>
DELTALOOM_INLINE lanes<K, count> lane_sums(lanes<K, count> const (&v)[vectors]) {
    constexpr auto all = std::make_index_sequence<count>{};
    if constexpr (width == 1)
        return v[0];
    else if constexpr (vectors == 1) {
        lanes<K, count> const next[1] = {halves<width, count, false>(v[0], v[0], all) +
                                         halves<width, count, true>(v[0], v[0], all)};
        return lane_sums<1, width / 2, count, K>(next);
    } else {
        lanes<K, count> next[vectors / 2];
        DELTALOOM_UNROLL
        for (int i = 0; i < vectors / 2; ++i)
            next[i] = halves<width, count, false>(v[i], v[i + vectors / 2], all) +
                      halves<width, count, true>(v[i], v[i + vectors / 2], all);
        return lane_sums<vectors / 2, width / 2, count, K>(next);
    }
}

template<int count, class K, std::size_t... at>
DELTALOOM_INLINE lanes<K, 2 * count> doubled(lanes<K, count> v, std::index_sequence<at...>) {
    return __builtin_shufflevector(v, lanes<K, count>{}, int(at)...);
}
// The lanes of a narrower vector, zeros behind.
template<int narrow, int count, class K> DELTALOOM_INLINE lanes<K, count> extended(lanes<K, narrow> v) {
    if constexpr (narrow == count)
        return v;
    else
        return extended<2 * narrow, count, K>(doubled<narrow, K>(v, std::make_index_sequence<2 * narrow>{}));
}
template<int rows, int cols, class K>
DELTALOOM_INLINE void dots_tile(part<K> out, part<K> a, part<K> b, index depth, bool add) {
    constexpr int count = vector_lanes<K>;
    lanes<K, count> sum[rows * cols] = {};
    auto const step = [&](index e, auto read) __attribute__((always_inline)) {
        lanes<K, count> right[cols];
        DELTALOOM_UNROLL
        for (int j = 0; j < cols; ++j) right[j] = read(b.at(j, e));
        DELTALOOM_UNROLL
        for (int i = 0; i < rows; ++i) {
            lanes<K, count> const left = read(a.at(i, e));
            DELTALOOM_UNROLL
            for (int j = 0; j < cols; ++j)
                sum[i * cols + j] = multiply_add_lanes<count, K>(sum[i * cols + j], left, right[j]);
        }
    };
    index e = 0;
    for (; e + count <= depth; e += count) step(e, [](K const* from) { return read_lanes<count>(from); });
    constexpr int least =
        16 /
        int(sizeof(K)); // what is left: by vectors of half a vector, a quarter, 16 bytes, and the last few one by one
    auto const narrow = [&](auto width) __attribute__((always_inline)) {
        if constexpr (width.value >= least && width.value < count)
            if (e + width.value <= depth) {
                step(e, [&](K const* from) { return extended<width.value, count, K>(read_lanes<width.value>(from)); });
                e += width.value;
            }
    };
    narrow(lane_count<count / 2>{}), narrow(lane_count<count / 4>{});
    if (e < depth)
        step(e, [&](K const* from) {
            lanes<K, least> few{};
            DELTALOOM_UNROLL
            for (int l = 0; l < least - 1; ++l)
                if (e + l < depth) few[l] = from[l];
            return extended<least, count, K>(few);
        });
    auto const sums = lane_sums<rows * cols, count, count, K>(sum);
    DELTALOOM_UNROLL
    for (int i = 0; i < rows; ++i) {
        DELTALOOM_UNROLL
        for (int j = 0; j < cols; ++j) {
            K const x = sums[(i * cols + j) * (count / (rows * cols))];
            *out.at(i, j) = add ? *out.at(i, j) + x : x;
        }
    }
}
// out (rows x cols) = a (rows x depth) b^T (cols x depth), or added to it. All hold their rows without gaps.
template<class K>
DELTALOOM_CALL void dots(part<K> out, index rows, index cols, part<K> a, part<K> b, index depth, bool add) {
    if constexpr (!is_float<K>)
        product(out, rows, cols, a, {b.data, b.across, b.down}, depth, add);
    else {
        constexpr int count = vector_lanes<K>, height = count >= 8 ? 4 : 2,
                      width = count / height < 4 ? count / height : 4;
        auto const columns = [&](index i, auto rows_here) {
            auto const tile = [&](index j, auto cols_here) {
                dots_tile<rows_here.value, cols_here.value>(part<K>{out.at(i, j), out.down, 1},
                                                            part<K>{a.at(i, 0), a.down, 1},
                                                            part<K>{b.at(j, 0), b.down, 1}, depth, add);
            };
            index j = 0;
            for (; j + width <= cols; j += width) tile(j, lane_count<width>{});
            if constexpr (width > 1)
                for (; j < cols; ++j) tile(j, lane_count<1>{});
        };
        index i = 0;
        for (; i + height <= rows; i += height) columns(i, lane_count<height>{});
        for (; i < rows; ++i) columns(i, lane_count<1>{});
    }
}

// a b^T
template<class K> void multiply_nt(matrix<K> out, matrix<K> a, matrix<K> b) {
    dots(whole(out), out.rows, out.cols, whole(a), whole(b), a.cols, false);
}
template<class K> void multiply_nt_add(matrix<K> out, matrix<K> a, matrix<K> b) {
    dots(whole(out), out.rows, out.cols, whole(a), whole(b), a.cols, true);
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
