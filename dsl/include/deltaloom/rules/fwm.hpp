#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Fast weight memory: the delta rule, then the state is scaled down to a norm of at most one. Recurrent forms only.
//     S' = S_{t-1} + beta_t (v_t - S_{t-1} k_t) k_t^T,   S_t = S' / max(1, |S'|_F),   o_t = S_t q_t
// Schlag, Munkhdalai, Schmidhuber 2021, Learning associative inference using fast weight memory, eq. 4 to 6.
inline constexpr auto fwm = rule("fwm", S <<= S + beta * (v - S * k) * T(k), S <<= S / max(norm(S), 1), o <<= S * q);

} // namespace deltaloom::rules
