#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Gated linear attention with the gate on the value channels.
//     S_t = diag(exp(gv_t)) S_{t-1} + v_t k_t^T,   o_t = S_t q_t
// Yang et al. 2024, Gated linear attention transformers, section 4 (the gate beta). gv in [-inf, 0].
inline constexpr auto gla_value = rule("gla_value", S <<= diag(exp(gv)) * S + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
