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
// What belongs to the whole vector is computed in double where K is float, so that squares do not overflow.
template<class K> struct wide_scalar {
    using type = K;
};
template<> struct wide_scalar<float> {
    using type = double;
};
template<class K> using wide = typename wide_scalar<K>::type;
template<class K, class Term> wide<K> summed(index size, Term term) {
    wide<K> sum(0.0);
    for (index i = 0; i < size; ++i) sum = sum + term(i);
    return sum;
}
template<class K> wide<K> dot(line<K> x, line<K> y) {
    return summed<K>(x.size, [&](index i) { return wide<K>(x[i]) * wide<K>(y[i]); });
}
// to = x * scale + y * other
template<class K> void combine(line<K> to, line<K> x, wide<K> scale, line<K> y, wide<K> other) {
    for (index i = 0; i < to.size; ++i) to[i] = K(wide<K>(x[i]) * scale + wide<K>(y[i]) * other);
}
template<class K> void scale_line(line<K> to, line<K> x, wide<K> scale) {
    for (index i = 0; i < to.size; ++i) to[i] = K(wide<K>(x[i]) * scale);
}

template<class K, class E> void l2norm(matrix<K> out, matrix<K> x, int axis, E eps) {
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const from = line_of(x, axis, l);
        scale_line(line_of(out, axis, l), from, map_inv(map_sqrt(dot(from, from) + wide<K>(eps))));
    }
}
template<class K, class E> void l2norm_vjp(matrix<K> out, matrix<K> x, matrix<K> y, int axis, E eps) {
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const from = line_of(x, axis, l), by = line_of(y, axis, l);
        wide<K> const square = dot(from, from) + wide<K>(eps), root = map_sqrt(square);
        wide<K> const along = wide<K>(2.0) * dot(from, by) * (derivative_inv(root) * derivative_sqrt(square));
        combine(line_of(out, axis, l), by, map_inv(root), from, along);
    }
}
template<class K, class E> void sum_norm(matrix<K> out, matrix<K> x, int axis, E eps) {
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const from = line_of(x, axis, l);
        wide<K> const sum = summed<K>(from.size, [&](index i) { return wide<K>(from[i]); }) + wide<K>(eps);
        scale_line(line_of(out, axis, l), from, map_inv(sum));
    }
}
template<class K, class E> void sum_norm_vjp(matrix<K> out, matrix<K> x, matrix<K> y, int axis, E eps) {
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const from = line_of(x, axis, l), by = line_of(y, axis, l), to = line_of(out, axis, l);
        wide<K> const sum = summed<K>(from.size, [&](index i) { return wide<K>(from[i]); }) + wide<K>(eps);
        wide<K> const scale = map_inv(sum), along = dot(from, by) * derivative_inv(sum);
        for (index i = 0; i < to.size; ++i) to[i] = K(wide<K>(by[i]) * scale + along);
    }
}
template<class K> void softmax(line<K> to, line<K> from) {
    K shift(0.0);
    if constexpr (is_float<K>)
        for (index i = 0; i < from.size; ++i) shift = i == 0 ? from[i] : larger(shift, from[i]);
    for (index i = 0; i < from.size; ++i) to[i] = map_exp(from[i] - shift);
    scale_line(to, to, map_inv(summed<K>(from.size, [&](index i) { return wide<K>(to[i]); })));
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
        wide<K> const mean = dot(to, by);
        for (index i = 0; i < to.size; ++i) to[i] = K(wide<K>(to[i]) * (wide<K>(by[i]) - mean));
    }
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
