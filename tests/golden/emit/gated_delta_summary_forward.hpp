#pragma once
// gated_delta, summary forward: a segment of the sequence as an affine map of the states.
//     S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k)
//     o <<= S * q
#include <deltaloom/runtime/ops/ops.hpp>

namespace memory::gated_delta_kernels {
inline namespace DELTALOOM_ISA {
using namespace ::deltaloom::runtime;

template<class K> index chunk_map_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    index const n = smaller(s.chunk, s.tokens);
    return 4 * scratch_size<K>(n, 1) + 3 * scratch_size<K>(n, dk) + 2 * scratch_size<K>(n, dv) +
           2 * scratch_size<K>(n, n) + scratch_size<K>(1, 1) + scratch_size<K>(1, n) + scratch_size<K>(dk, n);
}

// The map through one more chunk: the tokens first .. first + n.
template<class K>
void chunk_map(sequence const& s, index first, index n, matrix<K> S_right, matrix<K> S_plus, scratch<K> room) {
    static constexpr int at_0[] = {0};
    // reads at 0, writes at 0, decays at 0
    static constexpr span writes_to_reads{
        1, {at_0, 1}, {event_rows::tokens, {at_0, 1}, {}}, {event_rows::tokens, {at_0, 1}, {}}, true};
    // reads at 0, writes at start, decays at 0
    static constexpr span start_to_reads{
        1, {at_0, 1}, {event_rows::tokens, {at_0, 1}, {}}, {event_rows::start, {}, {}}, true};
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
    auto const v = room.matrix(n, dv);
    load(v, s.operand[4], first);

    // alpha_beta = alpha . beta
    auto const alpha_beta = room.matrix(n, 1);
    for (index i = 0; i < n; ++i) alpha_beta(i, 0) = alpha(i, 0) * beta(i, 0);

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

    // from_start[i] = product of alpha before write i
    auto const from_start = room.matrix(n, 1);
    decay(from_start, start_to_reads, n, {alpha}, domain::linear);

    // erase = (-alpha beta) from_start k
    auto const erase = room.matrix(n, dk);
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dk; ++j) erase(i, j) = -(alpha_beta(i, 0) * (from_start(i, 0) * k(i, j)));

    // w = (I - M)^-1 erase
    auto const w = room.matrix(n, dk);
    solve(w, M, erase);

    // whole_decay = product of alpha over the chunk
    auto const whole_decay = room.matrix(1, 1);
    decay(whole_decay, whole_chunk, n, {alpha}, domain::linear);

    // to_end[e] = product of alpha after write e
    auto const to_end = room.matrix(1, n);
    decay(to_end, writes_to_end, n, {alpha}, domain::linear);

    // keys_at_end[e] = D(e,end) k[e]
    auto const keys_at_end = erase; // in place of erase
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dk; ++j) keys_at_end(i, j) = to_end(0, i) * k(i, j);

    // S_right_w = S_right w^T
    auto const S_right_w = room.matrix(dk, n);
    multiply_nt(S_right_w, S_right, w);

    // S_right of S' = S S_right + S_plus, this chunk behind those before
    for (index i = 0; i < dk; ++i)
        for (index j = 0; j < dk; ++j) S_right(i, j) = whole_decay(0, 0) * S_right(i, j);
    multiply_add(S_right, S_right_w, keys_at_end);

    // reads[i] = S k[i]
    auto const reads = room.matrix(n, dv);
    multiply_nt(reads, k, S_plus);

    // rhs = beta v + (-alpha beta) from_start reads
    auto const rhs = v; // in place of v
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j)
            rhs(i, j) = beta(i, 0) * v(i, j) - alpha_beta(i, 0) * (from_start(i, 0) * reads(i, j));

    // u = (I - M)^-1 rhs
    auto const u = reads; // in place of reads
    solve(u, M, rhs);

    // S_plus, with this chunk's own writes
    for (index i = 0; i < dv; ++i)
        for (index j = 0; j < dk; ++j) S_plus(i, j) = whole_decay(0, 0) * S_plus(i, j);
    multiply_tn_add(S_plus, u, keys_at_end);
}

template<class K> index summary_states_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    return 2 * scratch_size<K>(dv, dk) + scratch_size<K>(dk, dk);
}

// The states after a segment, from those before it and its map.
template<class K> void summary_states(sequence const& s, scratch<K> room) {
    index const dv = s.dim[0], dk = s.dim[1];
    auto const S = room.matrix(dv, dk);
    auto const S_right = room.matrix(dk, dk);
    auto const S_plus = room.matrix(dv, dk);
    load_state(S, s.state_in[0]);
    load_all(S_right, s.map[0]);
    load_all(S_plus, s.map[1]);

    // The state after: S S_right + S_plus
    multiply_add(S_plus, S, S_right);
    store_state(S_plus, s.state_out[0]);
}

template<class K> index summary_gradients_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    return 2 * scratch_size<K>(dv, dk) + scratch_size<K>(dk, dk);
}

// The gradient at a segment's start, from what arrives at its end and what its outputs owe.
template<class K> void summary_gradients(sequence const& s, scratch<K> room) {
    index const dv = s.dim[0], dk = s.dim[1];
    auto const d_S = room.matrix(dv, dk);
    auto const S_right = room.matrix(dk, dk);
    auto const owed_S = room.matrix(dv, dk);
    load_state(d_S, s.state_out_gradient[0]);
    load_all(S_right, s.map[0]);
    load_all(owed_S, s.map[1]);

    // Of the state before: d_S S_right^T + owed_S
    multiply_nt_add(owed_S, d_S, S_right);
    store_state(owed_S, s.state_in_gradient[0]);
}

template<class K> index summary_forward_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    return scratch_size<K>(dk, dk) + scratch_size<K>(dv, dk) + chunk_map_scratch<K>(s);
}

// The map of all of s, from the identity on.
template<class K> void summary_forward(sequence const& s, scratch<K> room) {
    index const dv = s.dim[0], dk = s.dim[1];
    auto const S_right = room.matrix(dk, dk);
    auto const S_plus = room.matrix(dv, dk);
    for (index i = 0; i < dk; ++i)
        for (index j = 0; j < dk; ++j) S_right(i, j) = (i == j ? number<K>(1.0) : number<K>(0.0));
    clear(S_plus);
    for (index first = 0; first < s.tokens; first += s.chunk) {
        chunk_map(s, first, smaller(s.chunk, s.tokens - first), S_right, S_plus, room);
    }
    store_all(S_right, s.map[0]);
    store_all(S_plus, s.map[1]);
}

} // namespace DELTALOOM_ISA
} // namespace memory::gated_delta_kernels
