#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Lightning attention: retention whose decay depends on the head and on the layer.
//     S_t = a S_{t-1} + v_t k_t^T,   o_t = S_t q_t,   log a = -(8 / H) (1 - l / L) h  for head h of H, layer l of L
// Qin et al. 2024, Lightning attention-2; the slopes are those of MiniMax-01.
inline constexpr auto lightning = rule("lightning", S <<= exp(log_a) * S + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
