#pragma once
// A row-major matrix without gaps, somewhere in memory that a caller owns. A view: a const matrix may be written
// through.
#include "deltaloom/runtime/isa.hpp"
#include "deltaloom/runtime/scalar/scalar.hpp"
#include "deltaloom/runtime/sequence.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

template<class K> struct matrix {
    K* data = nullptr;
    index rows = 0, cols = 0;

    K& operator()(index i, index j) const { return data[i * cols + j]; }
    K* row(index i) const { return data + i * cols; }
    index size() const { return rows * cols; }
};

constexpr index smaller(index a, index b) { return a < b ? a : b; }

template<class K> void clear(matrix<K> x) {
    for (index i = 0; i < x.size(); ++i) x.data[i] = K(0.0);
}
// Every entry the same.
template<class K> void fill(matrix<K> x, K value) {
    for (index i = 0; i < x.size(); ++i) x.data[i] = value;
}
template<class K> void copy(matrix<K> to, matrix<K> from) {
    for (index i = 0; i < to.size(); ++i) to.data[i] = from.data[i];
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
