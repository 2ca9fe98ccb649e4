#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// The gated delta rule with a gate of every value channel, read after the decay.
//     S' = diag(exp(gv_t)) S_{t-1},   S_t = S' + beta_t (v_t - S' k_t) k_t^T,   o_t = S_t q_t
// Its chunked form solves one triangular system per value channel. gv in [-inf, 0], beta in (0, 1), keys of unit
// length.
inline constexpr auto value_gated_delta =
    rule("value_gated_delta", S <<= diag(exp(gv)) * S, S <<= S + beta * (v - S * k) * T(k), o <<= S * q);

} // namespace deltaloom::rules
