#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Identity plus low rank: a transition I + a b^T, with a and b free.
//     S_t = S_{t-1} + (S_{t-1} a_t) b_t^T + v_t k_t^T,   o_t = S_t q_t
// The rule of the `iplr` operator of flash-linear-attention. Bounded where |1 + a . b| <= 1.
inline constexpr auto iplr = rule("iplr", S <<= S + (S * a) * T(b) + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
