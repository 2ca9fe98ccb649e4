#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_INPUT(lambda); // how much of a token is written when it comes
DELTALOOM_INPUT(step);   // dt, after its softplus

// The trapezoidal rule of Mamba-3: a token is written twice, half when it comes and half, already decayed, at the next.
//     S_t = exp(g_t) (S_{t-1} + (1 - lambda_t) dt_t v_{t-1} k_{t-1}^T) + lambda_t dt_t v_t k_t^T,   o_t = S_t q_t
// Lahoti et al. 2026, Mamba-3, the exponential-trapezoidal recurrence. g in [-inf, 0], lambda in (0, 1), dt > 0;
// lambda = 1 is Mamba-2. The token before is a state: decode and splits carry it.
inline constexpr auto trapezoid = rule(
    "trapezoid", S <<= exp(g) * (S + (1 - lambda) * step * previous(v) * T(previous(k))) + lambda * step * v * T(k),
    o <<= S * q);

} // namespace deltaloom::rules
