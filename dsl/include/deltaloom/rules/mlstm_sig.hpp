#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_INPUT(f);     // forget gate before its sigmoid
DELTALOOM_INPUT(i);     // input gate before its sigmoid
DELTALOOM_STATE(n, dk); // normaliser

// The matrix LSTM with a sigmoid input gate: a gated sum with a normaliser that is never below one.
//     S_t = f S_{t-1} + i v_t k_t^T,   n_t = f n_{t-1} + i k_t,   o_t = S_t q_t / max(|n_t . q_t|, 1)
//     f = sigmoid(f~_t),  i = sigmoid(i~_t)
// Beck et al. 2024, xLSTM, eq. 19 to 24; Beck et al. 2025, Tiled flash linear attention, for the sigmoid. Any finite
// gates.
inline constexpr auto mlstm_sig = rule("mlstm_sig", S <<= sigmoid(f) * S + sigmoid(i) * v * T(k),
                                       n <<= sigmoid(f) * n + sigmoid(i) * k, o <<= (S * q) / max(abs(dot(n, q)), 1));

} // namespace deltaloom::rules
