#pragma once
// gated_delta, chunked forward: a chunk of tokens at a time.
//     S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k)
//     o <<= S * q
#include <deltaloom/runtime/ops/ops.hpp>

namespace memory::gated_delta_kernels {
inline namespace DELTALOOM_ISA {
using namespace ::deltaloom::runtime;

template<class K> index chunk_forward_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    index const n = smaller(s.chunk, s.tokens);
    return 4 * scratch_size<K>(n, 1) + 2 * scratch_size<K>(n, dk) + 2 * scratch_size<K>(n, dv) +
           2 * scratch_size<K>(n, n) + scratch_size<K>(1, 1) + scratch_size<K>(1, n);
}

// One chunk: the tokens first .. first + n.
template<class K> void chunk_forward(sequence const& s, index first, index n, matrix<K> S, scratch<K> room) {
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
    auto const v = room.matrix(n, dv);
    load(v, s.operand[4], first);
    auto const q = room.matrix(n, dk);
    load(q, s.operand[6], first);

    // alpha_beta = alpha . beta
    auto const alpha_beta = room.matrix(n, 1);
    for (index i = 0; i < n; ++i) alpha_beta(i, 0) = alpha(i, 0) * beta(i, 0);

    // reads[i] = S k[i]
    auto const reads = room.matrix(n, dv);
    multiply_nt(reads, k, S);

    // from_start[i] = product of alpha before write i
    auto const from_start = room.matrix(n, 1);
    decay(from_start, start_to_reads, n, {alpha}, domain::linear);

    // rhs = beta v + (-alpha beta) from_start reads
    auto const rhs = v; // in place of v
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j)
            rhs(i, j) = beta(i, 0) * v(i, j) - alpha_beta(i, 0) * (from_start(i, 0) * reads(i, j));

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

    // u = (I - M)^-1 rhs
    auto const u = reads; // in place of reads
    solve(u, M, rhs);

    // from_state[i] = S q[i]
    auto const from_state = rhs; // in place of rhs
    multiply_nt(from_state, q, S);

    // read_from_start[i] = product of alpha up to token i's read
    auto const read_from_start = beta; // in place of beta
    decay(read_from_start, start_to_reads_2, n, {alpha}, domain::linear);

    // qk[i,e] = <q[i], k[e]>
    auto const qk = decay_; // in place of decay_
    multiply_nt(qk, q, k);

    // read_decay[i,e] = product of alpha after write e, up to token i's read; 0 unless e is before i
    auto const read_decay = M; // in place of M
    decay(read_decay, writes_to_reads_2, n, {alpha}, domain::linear);

    // scores[i,e] = read_decay[i,e] <q[i], k[e]>, 0 unless e is before i
    auto const scores = qk; // in place of qk
    for (index i = 0; i < n; ++i)
        for (index e = 0; e < n; ++e) scores(i, e) = read_decay(i, e) * qk(i, e);

    // o <<= S * q
    auto const o = from_state; // in place of from_state
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) o(i, j) = read_from_start(i, 0) * from_state(i, j);
    multiply_add(o, scores, u);
    store(o, s.operand[5], first);

    // whole_decay = product of alpha over the chunk
    auto const whole_decay = room.matrix(1, 1);
    decay(whole_decay, whole_chunk, n, {alpha}, domain::linear);

    // to_end[e] = product of alpha after write e
    auto const to_end = room.matrix(1, n);
    decay(to_end, writes_to_end, n, {alpha}, domain::linear);

    // keys_at_end[e] = D(e,end) k[e]
    auto const keys_at_end = k; // in place of k
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dk; ++j) keys_at_end(i, j) = to_end(0, i) * k(i, j);

    // S after the chunk = S, decayed, + sum_e u[e] T(keys_at_end[e])
    for (index i = 0; i < dv; ++i)
        for (index j = 0; j < dk; ++j) S(i, j) = whole_decay(0, 0) * S(i, j);
    multiply_tn_add(S, u, keys_at_end);
}

template<class K> index chunked_forward_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    return scratch_size<K>(dv, dk) + chunk_forward_scratch<K>(s);
}

template<class K> void chunked_forward(sequence const& s, scratch<K> room) {
    index const dv = s.dim[0], dk = s.dim[1];
    auto const S = room.matrix(dv, dk);
    load_state(S, s.state_in[0]);
    for (index first = 0; first < s.tokens; first += s.chunk) {
        chunk_forward(s, first, smaller(s.chunk, s.tokens - first), S, room);
    }
    store_state(S, s.state_out[0]);
}

} // namespace DELTALOOM_ISA
} // namespace memory::gated_delta_kernels
