#pragma once
// Feature maps of a vector, along axis 0 (every column) or 1 (every row), whose result has another extent there, and
// their vector-Jacobian products: the cotangent of x under y. With r = (relu(x), relu(-x)), of 2 d entries,
//     dpfp      out[(j - 1) 2 d + i] = r[i] r[(i - j) mod 2 d],  j = 1 .. nu
//     taylor2   out = (1, x, x x^T / sqrt 2), the matrix row by row
// A chunk's kernel calls them on its own tokens, so that no features of a whole sequence are ever stored.
#include "deltaloom/runtime/ops/vector_map.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// r, entry by entry.
template<class K> K relu_half(line<K> x, index i) { return i < x.size ? map_relu(x[i]) : map_relu(-x[i - x.size]); }
inline index rolled(index i, index by, index size) { return i < by ? i - by + size : i - by; } // by < size

template<class K> void dpfp(matrix<K> out, matrix<K> x, int axis, index nu) {
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const from = line_of(x, axis, l), to = line_of(out, axis, l);
        index const size = 2 * from.size;
        for (index j = 1; j <= nu; ++j)
            for (index i = 0; i < size; ++i)
                to[(j - 1) * size + i] = relu_half(from, i) * relu_half(from, rolled(i, j % size, size));
    }
}
// r[i] is a factor at i and, in block j, at i + j.
template<class K> void dpfp_vjp(matrix<K> out, matrix<K> x, matrix<K> y, int axis, index nu) {
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const from = line_of(x, axis, l), by = line_of(y, axis, l), to = line_of(out, axis, l);
        index const d = from.size, size = 2 * d;
        auto const owed = [&](index i) {
            K sum(0.0);
            for (index j = 1; j <= nu; ++j) {
                index const block = (j - 1) * size, shift = j % size;
                index const before = rolled(i, shift, size), after = rolled(i, (size - shift) % size, size);
                sum = sum + (by[block + i] * relu_half(from, before) + by[block + after] * relu_half(from, after));
            }
            return sum;
        };
        for (index i = 0; i < d; ++i)
            to[i] = owed(i) * derivative_relu(from[i]) - owed(d + i) * derivative_relu(-from[i]);
    }
}

template<class K> K taylor2_share() { return K(0.70710678118654752440); } // 1 / sqrt 2
// The last argument has no meaning here; all maps are called alike.
template<class K> void taylor2(matrix<K> out, matrix<K> x, int axis, index = 0) {
    K const share = taylor2_share<K>();
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const from = line_of(x, axis, l), to = line_of(out, axis, l);
        index const d = from.size;
        to[0] = K(1.0);
        for (index i = 0; i < d; ++i) to[1 + i] = from[i];
        for (index i = 0; i < d; ++i)
            for (index j = 0; j < d; ++j) to[1 + d + i * d + j] = share * (from[i] * from[j]);
    }
}
template<class K> void taylor2_vjp(matrix<K> out, matrix<K> x, matrix<K> y, int axis, index = 0) {
    K const share = taylor2_share<K>();
    for (index l = 0; l < line_count(x, axis); ++l) {
        line<K> const from = line_of(x, axis, l), by = line_of(y, axis, l), to = line_of(out, axis, l);
        index const d = from.size, square = 1 + d;
        for (index i = 0; i < d; ++i) {
            K sum(0.0);
            for (index j = 0; j < d; ++j) sum = sum + (by[square + i * d + j] + by[square + j * d + i]) * from[j];
            to[i] = by[1 + i] + share * sum;
        }
    }
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
