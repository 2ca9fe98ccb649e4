#pragma once
#include <deltaloom/dsl.hpp>

namespace deltaloom::rules {
using namespace deltaloom::dsl;

// The gated delta rule (Gated DeltaNet): the state fades by alpha, then the delta rule corrects what it still holds.
//     S_t = alpha_t S_{t-1} (I - beta_t k_t k_t^T) + beta_t v_t k_t^T,   o_t = S_t q_t
// Yang, Kautz, Hatamizadeh 2025, Gated delta networks, eq. 8. alpha in (0, 1), beta in (0, 1) or (0, 2); keys of unit
// length keep the state bounded; alpha = 1 gives the delta rule.
inline constexpr auto gated_delta =
    rule("gated_delta", S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k), o <<= S * q);

} // namespace deltaloom::rules
