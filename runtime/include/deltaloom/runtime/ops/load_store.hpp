#pragma once
// Operands (strided, stored as any scalar) to matrices of K and back. Loading what is absent gives zeros, storing into
// it does nothing. Entry (i, j) of a matrix is element (i, j) of the operand; a vector is a column, d x 1. Only `load`
// and `store` lay a vector along a row, one row per token.
#include "deltaloom/runtime/ops/matrix.hpp"
#include "deltaloom/runtime/ops/storage.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// Entry (i, j) at offset + i * down + j * across.
template<class K> void gather(matrix<K> to, strided const& from, index offset, index down, index across) {
    if (!from.data) return clear(to);
    as_stored<K>(from.data, from.scalar, [&](auto const* data) {
        for (index i = 0; i < to.rows; ++i) {
            auto const* source = data + offset + i * down;
            K* const row = to.row(i);
            if (across == 1)
                for (index j = 0; j < to.cols; ++j) row[j] = widened<K>(source[j]);
            else
                for (index j = 0; j < to.cols; ++j) row[j] = widened<K>(source[j * across]);
        }
    });
}
template<class K> void scatter(matrix<K> from, strided const& to, index offset, index down, index across) {
    if (!to.data) return;
    as_stored<K>(to.data, to.scalar, [&]<class Stored>(Stored* data) {
        for (index i = 0; i < from.rows; ++i) {
            Stored* const target = data + offset + i * down;
            K const* const row = from.row(i);
            if (to.accumulate)
                for (index j = 0; j < from.cols; ++j)
                    target[j * across] = narrowed<Stored>(widened<K>(target[j * across]) + row[j]);
            else if (across == 1)
                for (index j = 0; j < from.cols; ++j) target[j] = narrowed<Stored>(row[j]);
            else
                for (index j = 0; j < from.cols; ++j) target[j * across] = narrowed<Stored>(row[j]);
        }
    });
}

// Tokens first, first + 1, ...: a token's vector or scalar in each row.
template<class K> void load(matrix<K> to, strided const& from, index first) {
    gather(to, from, first * from.token, from.token, from.axis[0]);
}
template<class K> void store(matrix<K> from, strided const& to, index first) {
    scatter(from, to, first * to.token, to.token, to.axis[0]);
}
// One token's scalar, column or matrix.
template<class K> void load_token(matrix<K> to, strided const& from, index token) {
    gather(to, from, token * from.token, from.axis[0], from.axis[1]);
}
template<class K> void store_token(matrix<K> from, strided const& to, index token) {
    scatter(from, to, token * to.token, to.axis[0], to.axis[1]);
}
// A parameter.
template<class K> void load_all(matrix<K> to, strided const& from) { gather(to, from, 0, from.axis[0], from.axis[1]); }
template<class K> void store_all(matrix<K> from, strided const& to) { scatter(from, to, 0, to.axis[0], to.axis[1]); }

template<class K> void load_state(matrix<K> to, strided const& from) { load_all(to, from); }
template<class K> void store_state(matrix<K> from, strided const& to) { store_all(from, to); }

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
