#pragma once
// gated_delta, summary backward: what the outputs of a segment owe to the states before it.
//     S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k)
//     o <<= S * q
#include <deltaloom/runtime/ops/ops.hpp>

namespace memory::gated_delta_kernels {
inline namespace DELTALOOM_ISA {
using namespace ::deltaloom::runtime;

template<class K> index chunk_adjoint_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    index const n = smaller(s.chunk, s.tokens);
    return 4 * scratch_size<K>(n, 1) + 3 * scratch_size<K>(n, dk) + 3 * scratch_size<K>(n, dv) +
           3 * scratch_size<K>(n, n) + scratch_size<K>(1, 1) + scratch_size<K>(1, n);
}

// One chunk in reverse: the tokens first .. first + n.
template<class K> void chunk_adjoint(sequence const& s, index first, index n, matrix<K> d_S, scratch<K> room) {
    static constexpr int at_0[] = {0};
    // reads at 0, writes at start, decays at 0
    static constexpr span start_to_reads{
        1, {at_0, 1}, {event_rows::tokens, {at_0, 1}, {}}, {event_rows::start, {}, {}}, true};
    // reads at 0, writes at 0, decays at 0
    static constexpr span writes_to_reads{
        1, {at_0, 1}, {event_rows::tokens, {at_0, 1}, {}}, {event_rows::tokens, {at_0, 1}, {}}, true};
    static constexpr int at_1[] = {1};
    // reads at 1, writes at start, decays at 0
    static constexpr span start_to_reads_2{
        1, {at_0, 1}, {event_rows::tokens, {at_1, 1}, {}}, {event_rows::start, {}, {}}, true};
    // reads at 1, writes at 0, decays at 0
    static constexpr span writes_to_reads_2{
        1, {at_0, 1}, {event_rows::tokens, {at_1, 1}, {}}, {event_rows::tokens, {at_0, 1}, {}}, true};
    // reads at end, writes at start, decays at 0
    static constexpr span whole_chunk{1, {at_0, 1}, {event_rows::end, {}, {}}, {event_rows::start, {}, {}}, true};
    // reads at end, writes at 0, decays at 0
    static constexpr span writes_to_end{
        1, {at_0, 1}, {event_rows::end, {}, {}}, {event_rows::tokens, {at_0, 1}, {}}, true};
    index const dv = s.dim[0], dk = s.dim[1];
    auto const alpha = room.matrix(n, 1);
    load(alpha, s.operand[1], first);
    auto const beta = room.matrix(n, 1);
    load(beta, s.operand[2], first);
    auto const k = room.matrix(n, dk);
    load(k, s.operand[3], first);
    auto const q = room.matrix(n, dk);
    load(q, s.operand[6], first);
    auto const d_o = room.matrix(n, dv);
    load(d_o, s.gradient[5], first);

    // alpha_beta = alpha . beta
    auto const alpha_beta = beta; // in place of beta
    for (index i = 0; i < n; ++i) alpha_beta(i, 0) = alpha(i, 0) * beta(i, 0);

    // from_start[i] = product of alpha before write i
    auto const from_start = room.matrix(n, 1);
    decay(from_start, start_to_reads, n, {alpha}, domain::linear);

    // kk[i,e] = <k[i], k[e]>
    auto const kk = room.matrix(n, n);
    multiply_nt(kk, k, k);

    // decay[i,e] = product of alpha after write e, before write i; 0 unless e is before i
    auto const decay_ = room.matrix(n, n);
    decay(decay_, writes_to_reads, n, {alpha}, domain::linear);

    // M[i,e] = (-alpha beta) decay[i,e] <k[i], k[e]>, 0 unless e is before i
    auto const M = kk; // in place of kk
    for (index i = 0; i < n; ++i)
        for (index e = 0; e < n; ++e) M(i, e) = -(alpha_beta(i, 0) * (decay_(i, e) * kk(i, e)));

    // read_from_start[i] = product of alpha up to token i's read
    auto const read_from_start = room.matrix(n, 1);
    decay(read_from_start, start_to_reads_2, n, {alpha}, domain::linear);

    // qk[i,e] = <q[i], k[e]>
    auto const qk = decay_; // in place of decay_
    multiply_nt(qk, q, k);

    // read_decay[i,e] = product of alpha after write e, up to token i's read; 0 unless e is before i
    auto const read_decay = room.matrix(n, n);
    decay(read_decay, writes_to_reads_2, n, {alpha}, domain::linear);

    // scores[i,e] = read_decay[i,e] <q[i], k[e]>, 0 unless e is before i
    auto const scores = qk; // in place of qk
    for (index i = 0; i < n; ++i)
        for (index e = 0; e < n; ++e) scores(i, e) = read_decay(i, e) * qk(i, e);

    // whole_decay = product of alpha over the chunk
    auto const whole_decay = room.matrix(1, 1);
    decay(whole_decay, whole_chunk, n, {alpha}, domain::linear);

    // to_end[e] = product of alpha after write e
    auto const to_end = room.matrix(1, n);
    decay(to_end, writes_to_end, n, {alpha}, domain::linear);

    // keys_at_end[e] = D(e,end) k[e]
    auto const keys_at_end = room.matrix(n, dk);
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dk; ++j) keys_at_end(i, j) = to_end(0, i) * k(i, j);

    // d_u = keys_at_end d_S^T + scores^T d_o
    auto const d_u = room.matrix(n, dv);
    multiply_nt(d_u, keys_at_end, d_S);
    multiply_tn_add(d_u, scores, d_o);

    // d_from_state = d_o . read_from_start
    auto const d_from_state = d_o; // in place of d_o
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) d_from_state(i, j) = d_o(i, j) * read_from_start(i, 0);

    // (I - M)^-T d_u
    auto const d_rhs = room.matrix(n, dv);
    solve_transposed(d_rhs, M, d_u);

    // d_reads = d_rhs . (-alpha_beta) . from_start
    auto const d_reads = d_rhs; // in place of d_rhs
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) d_reads(i, j) = -(d_rhs(i, j) * alpha_beta(i, 0) * from_start(i, 0));

    // d_S = d_S . whole_decay + (q^T d_from_state + k^T d_reads)^T
    for (index i = 0; i < dv; ++i)
        for (index j = 0; j < dk; ++j) d_S(i, j) = d_S(i, j) * whole_decay(0, 0);
    multiply_tn_add(d_S, d_from_state, q);
    multiply_tn_add(d_S, d_reads, k);
}

template<class K> index summary_backward_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    return scratch_size<K>(dv, dk) + chunk_adjoint_scratch<K>(s);
}

// What the outputs of s owe to the states before it, and what the gradients of the states after s do.
template<class K> void summary_backward(sequence const& s, scratch<K> room) {
    index const dv = s.dim[0], dk = s.dim[1];
    auto const d_S = room.matrix(dv, dk);
    load_state(d_S, s.state_out_gradient[0]);
    index const chunks = (s.tokens + s.chunk - 1) / s.chunk;
    for (index c = chunks; c-- > 0;) {
        chunk_adjoint(s, c * s.chunk, smaller(s.chunk, s.tokens - c * s.chunk), d_S, room);
    }
    store_state(d_S, s.state_in_gradient[0]);
}

} // namespace DELTALOOM_ISA
} // namespace memory::gated_delta_kernels
