#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Gated linear attention: every key channel fades by a gate of its own.
//     S_t = S_{t-1} diag(exp(gk_t)) + v_t k_t^T,   o_t = S_t q_t
// Yang et al. 2024, Gated linear attention transformers, eq. 3. gk in [-inf, 0].
inline constexpr auto gla = rule("gla", S <<= S * diag(exp(gk)) + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
