#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Linear attention with a scalar gate per head and token (the state-space dual of Mamba-2, gates and step left to the
// host).
//     S_t = exp(g_t) S_{t-1} + v_t k_t^T,   o_t = S_t q_t
// Dao and Gu 2024, Transformers are SSMs; Yang et al. 2024, Gated linear attention. g in [-inf, 0].
inline constexpr auto simple_gla = rule("simple_gla", S <<= exp(g) * S + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
