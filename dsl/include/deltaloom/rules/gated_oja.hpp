#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Gated Oja: the dual of Kimi Delta Attention. Value channels fade, then the key is corrected by what the value
// recalls.
//     S' = diag(exp(gv_t)) S_{t-1},   S_t = S' + beta_t v_t (k_t - S'^T v_t)^T,   o_t = S_t q_t
// Oja 1982, Simplified neuron model as a principal component analyzer; the `gated_oja_rule` operator of
// flash-linear-attention. gv in [-inf, 0], beta in (0, 1), values of unit length keep the state bounded.
inline constexpr auto gated_oja =
    rule("gated_oja", S <<= diag(exp(gv)) * S, S <<= S + beta * v * T(k - T(S) * v), o <<= S * q);

} // namespace deltaloom::rules
