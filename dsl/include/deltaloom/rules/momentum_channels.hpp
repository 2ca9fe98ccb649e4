#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Momentum with a decay of every key channel in each memory: coupled states with channel decays. Recurrent forms only.
//     M_t = M_{t-1} diag(w_t) + beta_t (v_t - S_{t-1} k_t) k_t^T,   S_t = S_{t-1} diag(exp(gk_t)) + M_t,   o_t = S_t
//     q_t
// w in (0, 1), gk in [-inf, 0], beta in (0, 1); keys of unit length.
inline constexpr auto momentum_channels =
    rule("momentum_channels", M <<= M * diag(w) + beta * (v - S * k) * T(k), S <<= S * diag(exp(gk)) + M, o <<= S * q);

} // namespace deltaloom::rules
