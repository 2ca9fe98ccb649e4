#pragma once
// Functions of a whole vector, along axis 0 (every column) or 1 (every row), and their vector-Jacobian products: the
// cotangent of x under y.
//     l2norm    x / sqrt(sum x^2 + eps)          sum_norm  x / (sum x + eps)          softmax  exp(x) / sum exp(x)
// Over the field they are made of the maps sqrt, inv and exp, so that they agree with a declaration evaluated there.
#include "deltaloom/runtime/ops/matrix.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// One row or column of a matrix.
template<class K> struct line {
    K* data;
    index size, step;
    K& operator[](index i) const { return data[i * step]; }
};
template<class K> index line_count(matrix<K> x, int axis) { return axis == 0 ? x.cols : x.rows; }
template<class K> line<K> line_of(matrix<K> x, int axis, index which) {
    if (axis == 0) return {x.data + which, x.rows, x.cols};
    return {x.data + which * x.cols, x.cols, 1};
}
// Sums of floats run in double: they neither overflow nor depend on the magnitude's place in the range.
template<class K> struct sum_of {
    using type = K;
};
template<> struct sum_of<float> {
    using type = double;
};
template<class K, class Term> K summed(index size, Term term) {
    typename sum_of<K>::type sum(0.0);
    for (index i = 0; i < size; ++i) sum = sum + term(i);
    return K(sum);
}
template<class K> K dot(line<K> x, line<K> y) {
    using S = typename sum_of<K>::type;
    return summed<K>(x.size, [&](index i) { return S(x[i]) * S(y[i]); });
}

template<class K, class E> void l2norm(matrix<K> out, matrix<K> x, int axis, E eps) {
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const from = line_of(x, axis, l), to = line_of(out, axis, l);
        K const scale = map_inv(map_sqrt(dot(from, from) + K(eps)));
        for (index i = 0; i < from.size; ++i) to[i] = from[i] * scale;
    }
}
template<class K, class E> void l2norm_vjp(matrix<K> out, matrix<K> x, matrix<K> y, int axis, E eps) {
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const from = line_of(x, axis, l), by = line_of(y, axis, l), to = line_of(out, axis, l);
        K const square = dot(from, from) + K(eps), root = map_sqrt(square);
        K const along = K(2.0) * dot(from, by) * (derivative_inv(root) * derivative_sqrt(square));
        for (index i = 0; i < from.size; ++i) to[i] = by[i] * map_inv(root) + from[i] * along;
    }
}
template<class K, class E> void sum_norm(matrix<K> out, matrix<K> x, int axis, E eps) {
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const from = line_of(x, axis, l), to = line_of(out, axis, l);
        K const scale = map_inv(summed<K>(from.size, [&](index i) { return from[i]; }) + K(eps));
        for (index i = 0; i < from.size; ++i) to[i] = from[i] * scale;
    }
}
template<class K, class E> void sum_norm_vjp(matrix<K> out, matrix<K> x, matrix<K> y, int axis, E eps) {
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const from = line_of(x, axis, l), by = line_of(y, axis, l), to = line_of(out, axis, l);
        K const sum = summed<K>(from.size, [&](index i) { return from[i]; }) + K(eps);
        K const along = dot(from, by) * derivative_inv(sum);
        for (index i = 0; i < from.size; ++i) to[i] = by[i] * map_inv(sum) + along;
    }
}
template<class K> void softmax(line<K> to, line<K> from) {
    K shift(0.0);
    if constexpr (is_float<K>)
        for (index i = 0; i < from.size; ++i) shift = i == 0 ? from[i] : larger(shift, from[i]);
    for (index i = 0; i < from.size; ++i) to[i] = map_exp(from[i] - shift);
    K const scale = map_inv(summed<K>(from.size, [&](index i) { return to[i]; }));
    for (index i = 0; i < from.size; ++i) to[i] = to[i] * scale;
}
// eps has no meaning here; all vector functions are called alike.
template<class K, class E = double> void softmax(matrix<K> out, matrix<K> x, int axis, E = {}) {
    for (index l = 0; l < line_count(x, axis); ++l) softmax(line_of(out, axis, l), line_of(x, axis, l));
}
// out may not be y.
template<class K, class E = double> void softmax_vjp(matrix<K> out, matrix<K> x, matrix<K> y, int axis, E = {}) {
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const by = line_of(y, axis, l), to = line_of(out, axis, l);
        softmax(to, line_of(x, axis, l));
        K const mean = dot(to, by);
        for (index i = 0; i < to.size; ++i) to[i] = to[i] * (by[i] - mean);
    }
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
