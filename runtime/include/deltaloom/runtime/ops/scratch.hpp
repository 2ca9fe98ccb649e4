#pragma once
// Working memory of one kernel: a range from which matrices are taken in order. Passed by value, so that what a callee
// or an inner block takes is free again when it ends.
#include "deltaloom/runtime/ops/matrix.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// Elements that a matrix of that size takes: whole lines of 64 bytes.
template<class K> constexpr index scratch_size(index rows, index cols) {
    constexpr index line = 64 / index(sizeof(K));
    return (rows * cols + line - 1) / line * line;
}

template<class K> struct scratch {
    K *next = nullptr, *end = nullptr;

    // Uninitialised; the caller has asked for enough.
    runtime::matrix<K> matrix(index rows, index cols) {
        runtime::matrix<K> const taken{next, rows, cols};
        next += scratch_size<K>(rows, cols);
        return taken;
    }
    index left() const { return end - next; }
};

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
