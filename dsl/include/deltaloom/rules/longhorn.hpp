#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Longhorn: the delta rule with the step of an implicit update, which no key length can make unstable.
//     S_t = S_{t-1} + beta_t / (1 + beta_t |k_t|^2) (v_t - S_{t-1} k_t) k_t^T,   o_t = S_t q_t
// Liu et al. 2024, Longhorn: state space models are amortized online learners, theorem 3.1. beta > 0, any finite k.
inline constexpr auto longhorn =
    rule("longhorn", S <<= S + beta / (1 + beta * dot(k, k)) * (v - S * k) * T(k), o <<= S * q);

} // namespace deltaloom::rules
