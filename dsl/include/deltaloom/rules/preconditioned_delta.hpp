#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_STATE(m, dk); // running mean of the squared key

// The delta rule with a preconditioned write key: every channel of the key is scaled by a running mean of its square.
//     m_t = exp(gk_t) . m_{t-1} + (1 - exp(gk_t)) . k_t . k_t,   S_t = S_{t-1} + beta_t (v_t - S_{t-1} k_t) (m_t .
//     k_t)^T, o_t = S_t q_t
// The form of the preconditioned operators of flash-linear-attention: the scale m is a recurrence of its own,
// elementwise. gk in [-inf, 0], beta in (0, 1), keys of unit length.
inline constexpr auto preconditioned_delta = rule("preconditioned_delta", m <<= exp(gk) % m + (1 - exp(gk)) % k % k,
                                                  S <<= S + beta * (v - S * k) * T(m % k), o <<= S * q);

} // namespace deltaloom::rules
