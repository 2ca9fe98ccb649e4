#pragma once
#include <deltaloom/rules/comba.hpp>

namespace deltaloom::rules {

// Comba whose erase reads the state after its decay.
//     S' = exp(g_t) S_{t-1},   S_t = S' + beta_t (v_t - S' p_t) k_t^T,   o_t = S_t (q_t - d k_t)
// Hu et al. 2025, Comba: improving bilinear RNNs with closed-loop control. Public references disagree about which state
// the erase reads, by 5e-2 on their own test data: `comba` reads before the decay, `comba_decayed` after it. g in
// [-inf, 0], beta and d in (0, 1), p = b k with b in (0, 1) as the host computes it; keys of unit length.
inline constexpr auto comba_decayed =
    rule("comba_decayed", S <<= exp(g) * S, S <<= S + beta * (v - S * p) * T(k), o <<= S * (q - d * k));

} // namespace deltaloom::rules
