#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// The gated delta rule with a gate of every value channel, whose erase reads the state before its decay.
//     S_t = diag(exp(gv_t)) S_{t-1} + beta_t (v_t - S_{t-1} k_t) k_t^T,   o_t = S_t q_t
// gv in [-inf, 0], beta in (0, 1), keys of unit length; unlike value_gated_delta it can grow where gv is far below 0.
inline constexpr auto value_gated_delta_undecayed =
    rule("value_gated_delta_undecayed", S <<= diag(exp(gv)) * S + beta * (v - S * k) * T(k), o <<= S * q);

} // namespace deltaloom::rules
