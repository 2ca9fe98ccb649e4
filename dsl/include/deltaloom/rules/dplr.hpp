#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Diagonal plus low rank: key channels fade, and a low-rank term reads the state before it fades.
//     S_t = S_{t-1} diag(exp(gk_t)) + (S_{t-1} a_t) b_t^T + v_t k_t^T,   o_t = S_t q_t
// The rule of the `dplr` operator of flash-linear-attention; Gu et al. 2022, Efficiently modeling long sequences with
// structured state spaces, for the form. gk in [-inf, 0].
inline constexpr auto dplr = rule("dplr", S <<= S * diag(exp(gk)) + (S * a) * T(b) + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
