#pragma once
// gated_delta, recurrent backward: a state is kept every s.segment tokens, those between are computed again, then
// tokens go in reverse.
//     S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k)
//     o <<= S * q
#include "gated_delta_step_backward.hpp"

#include <deltaloom/runtime/ops/ops.hpp>

namespace memory::gated_delta_kernels {
inline namespace DELTALOOM_ISA {
using namespace ::deltaloom::runtime;

template<class K> index token_states_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    return 2 * scratch_size<K>(1, 1) + scratch_size<K>(dk, 1) + 2 * scratch_size<K>(dv, 1);
}

// One token.
template<class K> void token_states(sequence const& s, index token, matrix<K> S, scratch<K> room) {
    index const dv = s.dim[0], dk = s.dim[1];
    auto const alpha = room.matrix(1, 1);
    load_token(alpha, s.operand[1], token);
    auto const beta = room.matrix(1, 1);
    load_token(beta, s.operand[2], token);
    auto const k = room.matrix(dk, 1);
    load_token(k, s.operand[3], token);
    auto const v = room.matrix(dv, 1);
    load_token(v, s.operand[4], token);

    // S * k
    auto const S_k = room.matrix(dv, 1);
    multiply(S_k, S, k);

    // S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k)
    for (index i = 0; i < dv; ++i)
        for (index j = 0; j < dk; ++j)
            S(i, j) = alpha(0, 0) * (S(i, j) - beta(0, 0) * S_k(i, 0) * k(j, 0)) + beta(0, 0) * v(i, 0) * k(j, 0);
}

template<class K> index recurrent_backward_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    index const chunks = s.tokens;
    index const segments = (chunks + s.segment - 1) / s.segment;
    return 2 * scratch_size<K>(dv, dk) + scratch_size<K>(segments * dv, dk) +
           scratch_size<K>(smaller(s.segment, chunks) * dv, dk) +
           larger(token_states_scratch<K>(s), token_backward_scratch<K>(s));
}

template<class K> void recurrent_backward(sequence const& s, scratch<K> room) {
    index const dv = s.dim[0], dk = s.dim[1];
    index const chunks = s.tokens;
    index const segments = (chunks + s.segment - 1) / s.segment;
    index const last = (segments - 1) * s.segment;
    auto const S = room.matrix(dv, dk);
    load_state(S, s.state_in[0]);
    auto const d_S = room.matrix(dv, dk);
    load_state(d_S, s.state_out_gradient[0]);
    auto const marks_S = room.matrix(segments * dv, dk);
    auto const states_S = room.matrix(smaller(s.segment, chunks) * dv, dk);

    // The state before every segment of s.segment tokens.
    for (index segment = 0; segment < segments; ++segment) {
        matrix<K> const mark_S{marks_S.row(segment * dv), dv, dk};
        copy(mark_S, S);
        for (index c = segment * s.segment; c < smaller((segment + 1) * s.segment, last); ++c) {
            token_states(s, c, S, room);
        }
    }

    // Segments in reverse.
    for (index segment = segments; segment-- > 0;) {
        index const begin = segment * s.segment;
        index const end = smaller(begin + s.segment, chunks);
        matrix<K> const first_S{states_S.row(0), dv, dk};
        matrix<K> const kept_S{marks_S.row(segment * dv), dv, dk};
        copy(first_S, kept_S);

        // The states before its tokens.
        for (index c = begin; c < end - 1; ++c) {
            matrix<K> const before_S{states_S.row((c - begin) * dv), dv, dk};
            matrix<K> const after_S{states_S.row((c + 1 - begin) * dv), dv, dk};
            copy(after_S, before_S);
            token_states(s, c, after_S, room);
        }

        // Their gradients.
        for (index c = end; c-- > begin;) {
            matrix<K> const S_before{states_S.row((c - begin) * dv), dv, dk};
            token_backward(s, c, S_before, d_S, room);
        }
    }
    store_state(d_S, s.state_in_gradient[0]);
}

} // namespace DELTALOOM_ISA
} // namespace memory::gated_delta_kernels
