#pragma once
// gated_delta, step forward: one token.
//     S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k)
//     o <<= S * q
#include <deltaloom/runtime/ops/ops.hpp>

namespace memory::gated_delta_kernels {
inline namespace DELTALOOM_ISA {
using namespace ::deltaloom::runtime;

template<class K> index token_forward_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    return 2 * scratch_size<K>(1, 1) + 2 * scratch_size<K>(dk, 1) + 2 * scratch_size<K>(dv, 1);
}

// One token.
template<class K> void token_forward(sequence const& s, index token, matrix<K> S, scratch<K> room) {
    index const dv = s.dim[0], dk = s.dim[1];
    auto const alpha = room.matrix(1, 1);
    load_token(alpha, s.operand[1], token);
    auto const beta = room.matrix(1, 1);
    load_token(beta, s.operand[2], token);
    auto const k = room.matrix(dk, 1);
    load_token(k, s.operand[3], token);
    auto const v = room.matrix(dv, 1);
    load_token(v, s.operand[4], token);
    auto const q = room.matrix(dk, 1);
    load_token(q, s.operand[6], token);

    // S * k
    auto const S_k = room.matrix(dv, 1);
    multiply(S_k, S, k);

    // S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k)
    for (index i = 0; i < dv; ++i)
        for (index j = 0; j < dk; ++j)
            S(i, j) = alpha(0, 0) * (S(i, j) - beta(0, 0) * S_k(i, 0) * k(j, 0)) + beta(0, 0) * v(i, 0) * k(j, 0);

    // o <<= S * q
    auto const o = v; // in place of v
    multiply(o, S, q);
    store_token(o, s.operand[5], token);
}

template<class K> index step_forward_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    return scratch_size<K>(dv, dk) + token_forward_scratch<K>(s);
}

template<class K> void step_forward(sequence const& s, scratch<K> room) {
    index const dv = s.dim[0], dk = s.dim[1];
    auto const S = room.matrix(dv, dk);
    load_state(S, s.state_in[0]);
    token_forward(s, 0, S, room);
    store_state(S, s.state_out[0]);
}

} // namespace DELTALOOM_ISA
} // namespace memory::gated_delta_kernels
