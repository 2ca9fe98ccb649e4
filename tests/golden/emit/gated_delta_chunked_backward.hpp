#pragma once
// gated_delta, chunked backward: a state is kept every s.segment chunks, those between are computed again, then chunks
// go in reverse.
//     S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k)
//     o <<= S * q
#include <deltaloom/runtime/ops/ops.hpp>

namespace memory::gated_delta_kernels {
inline namespace DELTALOOM_ISA {
using namespace ::deltaloom::runtime;

template<class K> index chunk_backward_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    index const n = smaller(s.chunk, s.tokens);
    return 11 * scratch_size<K>(n, 1) + 5 * scratch_size<K>(n, dk) + 7 * scratch_size<K>(n, dv) +
           3 * scratch_size<K>(1, 1) + 8 * scratch_size<K>(n, n) + scratch_size<K>(1, n) + scratch_size<K>(1, dk);
}

// One chunk: the tokens first .. first + n.
template<class K>
void chunk_backward(sequence const& s, index first, index n, matrix<K> S, matrix<K> d_S, scratch<K> room) {
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
    auto const d_o = room.matrix(n, dv);
    load(d_o, s.gradient[5], first);

    // ones = 1
    auto const ones = room.matrix(1, 1);
    ones(0, 0) = number<K>(1.0);

    // ones_2 = 1
    auto const ones_2 = room.matrix(n, 1);
    for (index i = 0; i < n; ++i) ones_2(i, 0) = number<K>(1.0);

    // alpha_beta = alpha . beta
    auto const alpha_beta = room.matrix(n, 1);
    for (index i = 0; i < n; ++i) alpha_beta(i, 0) = alpha(i, 0) * beta(i, 0);

    // reads[i] = S k[i]
    auto const reads = room.matrix(n, dv);
    multiply_nt(reads, k, S);

    // from_start[i] = product of alpha before write i
    auto const from_start = room.matrix(n, 1);
    decay(from_start, start_to_reads, n, {alpha}, domain::linear);

    // scaled = from_start . reads
    auto const scaled = room.matrix(n, dv);
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) scaled(i, j) = from_start(i, 0) * reads(i, j);

    // rhs = beta v + (-alpha beta) from_start reads
    auto const rhs = room.matrix(n, dv);
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) rhs(i, j) = beta(i, 0) * v(i, j) - alpha_beta(i, 0) * scaled(i, j);

    // kk[i,e] = <k[i], k[e]>
    auto const kk = room.matrix(n, n);
    multiply_nt(kk, k, k);

    // decay[i,e] = product of alpha after write e, before write i; 0 unless e is before i
    auto const decay_ = room.matrix(n, n);
    decay(decay_, writes_to_reads, n, {alpha}, domain::linear);

    // decay_kk = decay_ . kk
    auto const decay_kk = room.matrix(n, n);
    for (index i = 0; i < n; ++i)
        for (index e = 0; e < n; ++e) decay_kk(i, e) = decay_(i, e) * kk(i, e);

    // M[i,e] = (-alpha beta) decay[i,e] <k[i], k[e]>, 0 unless e is before i
    auto const M = room.matrix(n, n);
    for (index i = 0; i < n; ++i)
        for (index e = 0; e < n; ++e) M(i, e) = -(alpha_beta(i, 0) * decay_kk(i, e));

    // u = (I - M)^-1 rhs
    auto const u = room.matrix(n, dv);
    solve(u, M, rhs);

    // from_state[i] = S q[i]
    auto const from_state = rhs; // in place of rhs
    multiply_nt(from_state, q, S);

    // read_from_start[i] = product of alpha up to token i's read
    auto const read_from_start = room.matrix(n, 1);
    decay(read_from_start, start_to_reads_2, n, {alpha}, domain::linear);

    // qk[i,e] = <q[i], k[e]>
    auto const qk = room.matrix(n, n);
    multiply_nt(qk, q, k);

    // read_decay[i,e] = product of alpha after write e, up to token i's read; 0 unless e is before i
    auto const read_decay = room.matrix(n, n);
    decay(read_decay, writes_to_reads_2, n, {alpha}, domain::linear);

    // scores[i,e] = read_decay[i,e] <q[i], k[e]>, 0 unless e is before i
    auto const scores = room.matrix(n, n);
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

    // d_keys_at_end = u d_S
    auto const d_keys_at_end = room.matrix(n, dk);
    multiply(d_keys_at_end, u, d_S);

    // scaled_2 = d_keys_at_end . k
    auto const scaled_2 = room.matrix(n, dk);
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dk; ++j) scaled_2(i, j) = d_keys_at_end(i, j) * k(i, j);

    // total = sum over columns of scaled_2
    auto const total = room.matrix(n, 1);
    sum_cols(total, scaled_2);

    // sum over e before s before i of d_to_end[i,e] D(e,i) without its factor s
    auto const d_alpha = room.matrix(n, 1);
    spread(d_alpha, writes_to_end, n, matrix<K>{total.data, total.cols, total.rows}, ones, ones_2, alpha,
           domain::linear);

    // total_2 = sum over rows of (d_S . S)
    auto const total_2 = room.matrix(1, dk);
    clear(total_2);
    for (index i = 0; i < dv; ++i)
        for (index j = 0; j < dk; ++j) total_2(0, j) = total_2(0, j) + d_S(i, j) * S(i, j);

    // d_whole_decay = sum over columns of total_2
    auto const d_whole_decay = room.matrix(1, 1);
    sum_cols(d_whole_decay, total_2);

    // sum over e before s before i of d_whole_decay[i,e] D(e,i) without its factor s
    auto const d_alpha_2 = total; // in place of total
    spread(d_alpha_2, whole_chunk, n, d_whole_decay, ones, ones, alpha, domain::linear);

    // d_scores = d_o u^T
    auto const d_scores = room.matrix(n, n);
    multiply_nt(d_scores, d_o, u);

    // d_u = keys_at_end d_S^T + scores^T d_o
    auto const d_u = room.matrix(n, dv);
    multiply_nt(d_u, keys_at_end, d_S);
    multiply_tn_add(d_u, scores, d_o);

    // d_read_decay = d_scores . qk
    auto const d_read_decay = qk; // in place of qk
    for (index i = 0; i < n; ++i)
        for (index e = 0; e < n; ++e) d_read_decay(i, e) = d_scores(i, e) * qk(i, e);

    // d_qk = d_scores . read_decay
    auto const d_qk = read_decay; // in place of read_decay
    for (index i = 0; i < n; ++i)
        for (index e = 0; e < n; ++e) d_qk(i, e) = d_scores(i, e) * read_decay(i, e);

    // sum over e before s before i of d_read_decay[i,e] D(e,i) without its factor s
    auto const d_alpha_3 = room.matrix(n, 1);
    spread(d_alpha_3, writes_to_reads_2, n, d_read_decay, ones_2, ones_2, alpha, domain::linear);

    // scaled_3 = d_o . from_state
    auto const scaled_3 = from_state; // in place of from_state
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) scaled_3(i, j) = d_o(i, j) * from_state(i, j);

    // d_from_state = d_o . read_from_start
    auto const d_from_state = d_o; // in place of d_o
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) d_from_state(i, j) = d_o(i, j) * read_from_start(i, 0);

    // d_read_from_start = sum over columns of scaled_3
    auto const d_read_from_start = read_from_start; // in place of read_from_start
    sum_cols(d_read_from_start, scaled_3);

    // sum over e before s before i of d_read_from_start[i,e] D(e,i) without its factor s
    auto const d_alpha_4 = room.matrix(n, 1);
    spread(d_alpha_4, start_to_reads_2, n, d_read_from_start, ones_2, ones, alpha, domain::linear);

    // d_q = d_qk k + d_from_state S
    auto const d_q = scaled_2; // in place of scaled_2
    multiply(d_q, d_qk, k);
    multiply_add(d_q, d_from_state, S);
    store(d_q, s.gradient[6], first);

    // (I - M)^-T d_u
    auto const d_rhs = scaled_3; // in place of scaled_3
    solve_transposed(d_rhs, M, d_u);

    // d_M = d_rhs u^T
    auto const d_M = scores; // in place of scores
    multiply_nt(d_M, d_rhs, u);

    // d_M_decay_kk = d_M . decay_kk
    auto const d_M_decay_kk = decay_kk; // in place of decay_kk
    for (index i = 0; i < n; ++i)
        for (index e = 0; e < n; ++e) d_M_decay_kk(i, e) = d_M(i, e) * decay_kk(i, e);

    // d_M_x = d_M . (-alpha_beta)
    auto const d_M_x = d_M; // in place of d_M
    for (index i = 0; i < n; ++i)
        for (index e = 0; e < n; ++e) d_M_x(i, e) = -(d_M(i, e) * alpha_beta(i, 0));

    // total_3 = sum over columns of d_M_decay_kk
    auto const total_3 = d_read_from_start; // in place of d_read_from_start
    sum_cols(total_3, d_M_decay_kk);

    // d_decay = d_M_x . kk
    auto const d_decay = kk; // in place of kk
    for (index i = 0; i < n; ++i)
        for (index e = 0; e < n; ++e) d_decay(i, e) = d_M_x(i, e) * kk(i, e);

    // d_kk = d_M_x . decay_
    auto const d_kk = decay_; // in place of decay_
    for (index i = 0; i < n; ++i)
        for (index e = 0; e < n; ++e) d_kk(i, e) = d_M_x(i, e) * decay_(i, e);

    // sum over e before s before i of d_decay[i,e] D(e,i) without its factor s
    auto const d_alpha_5 = room.matrix(n, 1);
    spread(d_alpha_5, writes_to_reads, n, d_decay, ones_2, ones_2, alpha, domain::linear);

    // d_rhs_scaled = d_rhs . scaled
    auto const d_rhs_scaled = scaled; // in place of scaled
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) d_rhs_scaled(i, j) = d_rhs(i, j) * scaled(i, j);

    // d_rhs_x = d_rhs . (-alpha_beta)
    auto const d_rhs_x = d_u; // in place of d_u
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) d_rhs_x(i, j) = -(d_rhs(i, j) * alpha_beta(i, 0));

    // total_4 = sum over columns of d_rhs_scaled
    auto const total_4 = alpha_beta; // in place of alpha_beta
    sum_cols(total_4, d_rhs_scaled);

    // x = total_3 + total_4
    auto const x = total_3; // in place of total_3
    for (index i = 0; i < n; ++i) x(i, 0) = total_3(i, 0) + total_4(i, 0);

    // scaled_4 = d_rhs_x . reads
    auto const scaled_4 = reads; // in place of reads
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) scaled_4(i, j) = d_rhs_x(i, j) * reads(i, j);

    // d_reads = d_rhs_x . from_start
    auto const d_reads = d_rhs_x; // in place of d_rhs_x
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) d_reads(i, j) = d_rhs_x(i, j) * from_start(i, 0);

    // d_from_start = sum over columns of scaled_4
    auto const d_from_start = total_4; // in place of total_4
    sum_cols(d_from_start, scaled_4);

    // sum over e before s before i of d_from_start[i,e] D(e,i) without its factor s
    auto const d_alpha_6 = from_start; // in place of from_start
    spread(d_alpha_6, start_to_reads, n, d_from_start, ones_2, ones, alpha, domain::linear);

    // d_k = d_keys_at_end . to_end^T + d_kk k + (q^T d_qk + k^T d_kk)^T + d_reads S
    auto const d_k = d_keys_at_end; // in place of d_keys_at_end
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dk; ++j) d_k(i, j) = d_keys_at_end(i, j) * to_end(0, i);
    multiply_add(d_k, d_kk, k);
    multiply_tn_add(d_k, d_qk, q);
    multiply_tn_add(d_k, d_kk, k);
    multiply_add(d_k, d_reads, S);
    store(d_k, s.gradient[3], first);

    // d_S = d_S . whole_decay + (q^T d_from_state + k^T d_reads)^T
    for (index i = 0; i < dv; ++i)
        for (index j = 0; j < dk; ++j) d_S(i, j) = d_S(i, j) * whole_decay(0, 0);
    multiply_tn_add(d_S, d_from_state, q);
    multiply_tn_add(d_S, d_reads, k);

    // d_alpha_7 = d_alpha + d_alpha_2 + d_alpha_3 + d_alpha_4 + d_alpha_5 + d_alpha_6 + -x . beta
    auto const d_alpha_7 = d_alpha; // in place of d_alpha
    for (index i = 0; i < n; ++i)
        d_alpha_7(i, 0) = d_alpha(i, 0) + d_alpha_2(i, 0) + d_alpha_3(i, 0) + d_alpha_4(i, 0) + d_alpha_5(i, 0) +
                          d_alpha_6(i, 0) - x(i, 0) * beta(i, 0);
    store(d_alpha_7, s.gradient[1], first);

    // d_rhs_v = d_rhs . v
    auto const d_rhs_v = v; // in place of v
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) d_rhs_v(i, j) = d_rhs(i, j) * v(i, j);

    // d_v = d_rhs . beta
    auto const d_v = d_rhs; // in place of d_rhs
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < dv; ++j) d_v(i, j) = d_rhs(i, j) * beta(i, 0);
    store(d_v, s.gradient[4], first);

    // total_5 = sum over columns of d_rhs_v
    auto const total_5 = ones_2; // in place of ones_2
    sum_cols(total_5, d_rhs_v);

    // d_beta = -x . alpha + total_5
    auto const d_beta = alpha; // in place of alpha
    for (index i = 0; i < n; ++i) d_beta(i, 0) = total_5(i, 0) - x(i, 0) * alpha(i, 0);
    store(d_beta, s.gradient[2], first);
}

template<class K> index chunk_states_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    index const n = smaller(s.chunk, s.tokens);
    return 4 * scratch_size<K>(n, 1) + scratch_size<K>(n, dk) + 2 * scratch_size<K>(n, dv) + 2 * scratch_size<K>(n, n) +
           scratch_size<K>(1, 1) + scratch_size<K>(1, n);
}

// One chunk: the tokens first .. first + n.
template<class K> void chunk_states(sequence const& s, index first, index n, matrix<K> S, scratch<K> room) {
    static constexpr int at_0[] = {0};
    // reads at 0, writes at start, decays at 0
    static constexpr span start_to_reads{
        1, {at_0, 1}, {event_rows::tokens, {at_0, 1}, {}}, {event_rows::start, {}, {}}, true};
    // reads at 0, writes at 0, decays at 0
    static constexpr span writes_to_reads{
        1, {at_0, 1}, {event_rows::tokens, {at_0, 1}, {}}, {event_rows::tokens, {at_0, 1}, {}}, true};
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

template<class K> index chunked_backward_scratch(sequence const& s) {
    index const dv = s.dim[0], dk = s.dim[1];
    index const chunks = (s.tokens + s.chunk - 1) / s.chunk;
    index const segments = (chunks + s.segment - 1) / s.segment;
    return 2 * scratch_size<K>(dv, dk) + scratch_size<K>(segments * dv, dk) +
           scratch_size<K>(smaller(s.segment, chunks) * dv, dk) +
           larger(chunk_states_scratch<K>(s), chunk_backward_scratch<K>(s));
}

template<class K> void chunked_backward(sequence const& s, scratch<K> room) {
    index const dv = s.dim[0], dk = s.dim[1];
    index const chunks = (s.tokens + s.chunk - 1) / s.chunk;
    index const segments = (chunks + s.segment - 1) / s.segment;
    index const last = (segments - 1) * s.segment;
    auto const S = room.matrix(dv, dk);
    load_state(S, s.state_in[0]);
    auto const d_S = room.matrix(dv, dk);
    load_state(d_S, s.state_out_gradient[0]);
    auto const marks_S = room.matrix(segments * dv, dk);
    auto const states_S = room.matrix(smaller(s.segment, chunks) * dv, dk);

    // The state before every segment of s.segment chunks.
    for (index segment = 0; segment < segments; ++segment) {
        matrix<K> const mark_S{marks_S.row(segment * dv), dv, dk};
        copy(mark_S, S);
        for (index c = segment * s.segment; c < smaller((segment + 1) * s.segment, last); ++c) {
            chunk_states(s, c * s.chunk, s.chunk, S, room);
        }
    }

    // Segments in reverse.
    for (index segment = segments; segment-- > 0;) {
        index const begin = segment * s.segment;
        index const end = smaller(begin + s.segment, chunks);
        matrix<K> const first_S{states_S.row(0), dv, dk};
        matrix<K> const kept_S{marks_S.row(segment * dv), dv, dk};
        copy(first_S, kept_S);

        // The states before its chunks.
        for (index c = begin; c < end - 1; ++c) {
            matrix<K> const before_S{states_S.row((c - begin) * dv), dv, dk};
            matrix<K> const after_S{states_S.row((c + 1 - begin) * dv), dv, dk};
            copy(after_S, before_S);
            chunk_states(s, c * s.chunk, s.chunk, after_S, room);
        }

        // Their gradients.
        for (index c = end; c-- > begin;) {
            matrix<K> const S_before{states_S.row((c - begin) * dv), dv, dk};
            chunk_backward(s, c * s.chunk, smaller(s.chunk, s.tokens - c * s.chunk), S_before, d_S, room);
        }
    }
    store_state(d_S, s.state_in_gradient[0]);
}

} // namespace DELTALOOM_ISA
} // namespace memory::gated_delta_kernels
