#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_INPUT(p, dk); // erase key
DELTALOOM_PARAMETER(d); // output correction

// Comba, as written: erases with a key p of its own, read from the state before its decay; the query is corrected by d
// k.
//     S_t = exp(g_t) S_{t-1} + beta_t (v_t - S_{t-1} p_t) k_t^T,   o_t = S_t (q_t - d k_t)
// Hu et al. 2025, Comba: improving bilinear RNNs with closed-loop control. Public references disagree about which state
// the erase reads, by 5e-2 on their own test data: `comba` reads before the decay, `comba_decayed` after it. g in
// [-inf, 0], beta and d in (0, 1), p = b k with b in (0, 1) as the host computes it; keys of unit length.
inline constexpr auto comba = rule("comba", S <<= exp(g) * S + beta * (v - S * p) * T(k), o <<= S * (q - d * k));

} // namespace deltaloom::rules
