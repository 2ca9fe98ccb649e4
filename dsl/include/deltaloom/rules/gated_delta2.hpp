#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_INPUT(e, dk); // erase gate
DELTALOOM_INPUT(y, dv); // write gate

// Gated DeltaNet-2: what is erased and what is written have gates of their own, per key and per value channel.
//     S' = S_{t-1} diag(exp(gk_t)),   S_t = S' + (y_t . v_t - S' (e_t . k_t)) k_t^T,   o_t = S_t q_t
// The rule of the `gdn2` operator of flash-linear-attention. gk in [-inf, 0]; e and y in (0, 1).
inline constexpr auto gated_delta2 =
    rule("gated_delta2", S <<= S * diag(exp(gk)), S <<= S + (y % v - S * (e % k)) * T(k), o <<= S * q);

} // namespace deltaloom::rules
