#pragma once
// Rules of five papers that are not in the catalogue, each declared from the paper's own equations. README.md says what
// became of each.
#include <deltaloom/dsl.hpp>

namespace papers {
using namespace deltaloom::dsl;

// Gated slot attention: keys and values fade into `slots` slots under one gate a slot; a softmax over the slots reads.
//     K_t = diag(f_t) K_{t-1} + (1 - f_t) k_t^T,   V_t = diag(f_t) V_{t-1} + (1 - f_t) v_t^T,
//     o_t = V_t^T softmax(K_t q_t),   f = exp(gs)
// Zhang et al. 2024, Gated slot attention for efficient linear-time sequence modeling, eq. 8 to 10.
DELTALOOM_DIM(slots);
DELTALOOM_STATE(K, slots, dk);
DELTALOOM_STATE(V, slots, dv);
DELTALOOM_GATE(gs, log, slots);
inline constexpr auto slot_attention =
    rule("slot_attention", K <<= diag(exp(gs)) * K + (1 - exp(gs)) * T(k),
         V <<= diag(exp(gs)) * V + (1 - exp(gs)) * T(v), o <<= T(V) * softmax(K * q));

// Higher-order linear attention, second order and causal: attention through the second moment of the keys.
//     A_t = A_{t-1} + k_t k_t^T,   G_t = G_{t-1} + k_t (C_{t-1}^T k_t)^T,   C_t = C_{t-1} + q_t v_t^T,
//     o_t = C_t^T A_t q_t - G_t^T q_t
// Zhang et al. 2025, Higher-order linear attention, section 3.
DELTALOOM_STATE(A, dk, dk);
DELTALOOM_STATE(G, dk, dv);
DELTALOOM_STATE(C, dk, dv);
inline constexpr auto second_order = rule("second_order", A <<= A + k * T(k), G <<= G + k * T(T(C) * k),
                                          C <<= C + q * T(v), o <<= T(C) * (A * q) - T(G) * q);

// The matrix LSTM with an exponential input gate, kept in range by a running maximum of the gates' logarithms.
//     m_t = max(log f_t + m_{t-1}, i_t),   f' = exp(log f_t + m_{t-1} - m_t),   i' = exp(i_t - m_t),   f = sigmoid,
//     S_t = f' S_{t-1} + i' v_t k_t^T,   n_t = f' n_{t-1} + i' k_t,   o_t = S_t q_t / max(|n_t . q_t|, exp(-m_t))
// Beck et al. 2024, xLSTM: extended long short-term memory, eq. 19 to 27.
DELTALOOM_DIM(single);
DELTALOOM_INPUT(f);
DELTALOOM_INPUT(i);
DELTALOOM_STATE(n, dk);
DELTALOOM_STATE(m, single);
inline constexpr auto held = sum(m) - softplus(-f);
inline constexpr auto top = max(held, i);
inline constexpr auto mlstm =
    rule("mlstm", S <<= exp(held - top) * S + exp(i - top) * v * T(k), n <<= exp(held - top) * n + exp(i - top) * k,
         m <<= top * (0 * m + 1), o <<= (S * q) / max(abs(dot(n, q)), exp(-sum(m))));

// Atlas, the Omega rule with a window of two: a step down the error of this token and of the one before.
//     S_t = alpha_t S_{t-1} + beta_t (v_t - S_{t-1} k_t) k_t^T + eta_t (v_{t-1} - S_{t-1} k_{t-1}) k_{t-1}^T
// Behrouz et al. 2025, Atlas: learning to optimally memorize the context at test time, eq. 9.
DELTALOOM_INPUT(eta);
inline constexpr auto atlas =
    rule("atlas", S <<= alpha * S + beta * (v - S * k) * T(k) + eta * (previous(v) - S * previous(k)) * T(previous(k)),
         o <<= S * q);

// Mamba (S6): every entry of the state has a decay of its own. B is k, C is q, x is v.
//     S_t = exp(D_t) . S_{t-1} + (dt_t . v_t) k_t^T,   o_t = S_t q_t + skip . v_t,   D = dt A^T
// Gu and Dao 2023, Mamba: linear-time sequence modeling with selective state spaces, algorithm 2. A < 0 is per channel
// and state, dt > 0 per channel.
DELTALOOM_INPUT(dt, dv);
DELTALOOM_PARAMETER(rate, dv, dk);
DELTALOOM_PARAMETER(skip, dv);
inline constexpr auto s6 = rule("s6", S <<= exp(diag(dt) * rate) % S + (dt % v) * T(k), o <<= S * q + skip % v);

} // namespace papers
