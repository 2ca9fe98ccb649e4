#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Retention: linear attention whose memory fades by one factor per head.
//     S_t = a S_{t-1} + v_t k_t^T,   o_t = S_t q_t,   a = exp(log_a)
// Sun et al. 2023, Retentive network, eq. 6. Default of head h: a = 1 - 2^(-5-h); 0 < a <= 1.
inline constexpr auto retention = rule("retention", S <<= exp(log_a) * S + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
