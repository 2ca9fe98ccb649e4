#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_INPUT(dt);          // step size before its softplus
DELTALOOM_PARAMETER(dt_bias); // added to it
DELTALOOM_PARAMETER(A_log);   // log of the decay rate

// Mamba-2, with its step size and decay inside: C is q, B is k, x is v.
//     D_t = softplus(dt_t + dt_bias),   S_t = exp(-exp(A_log) D_t) S_{t-1} + D_t v_t k_t^T,   o_t = S_t q_t
// Dao and Gu 2024, Transformers are SSMs, section 7. A_log and dt_bias are any finite numbers, one per head.
inline constexpr auto mamba2_step = softplus(dt + dt_bias);
inline constexpr auto mamba2 =
    rule("mamba2", S <<= exp(-exp(A_log) * mamba2_step) * S + mamba2_step * v * T(k), o <<= S * q);

} // namespace deltaloom::rules
