#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Erases on both sides: along the key from the right, along the value from the left. Recurrent forms only.
//     S_t = S_{t-1} - beta_t (S_{t-1} k_t) k_t^T - mu_t v_t (S_{t-1}^T v_t)^T + v_t k_t^T,   o_t = S_t q_t
// Oja's rule and the delta rule at once. beta, mu in (0, 1); k and v of unit length.
inline constexpr auto two_sided_delta =
    rule("two_sided_delta", S <<= S - beta * (S * k) * T(k) - mu * v * T(T(S) * v) + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
