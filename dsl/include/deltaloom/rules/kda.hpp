#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Kimi Delta Attention: every key channel fades, then the delta rule corrects what is left.
//     S' = S_{t-1} diag(exp(gk_t)),   S_t = S' + beta_t (v_t - S' k_t) k_t^T,   o_t = S_t q_t
// Kimi Team 2025, Kimi linear, eq. 1. gk in [-inf, 0], beta in (0, 1); keys of unit length keep the state bounded.
inline constexpr auto kda = rule("kda", S <<= S * diag(exp(gk)), S <<= S + beta * (v - S * k) * T(k), o <<= S * q);

} // namespace deltaloom::rules
