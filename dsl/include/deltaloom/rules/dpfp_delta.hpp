#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_STATE(P, dv, dpfp_dim<2, dk>); // a memory over features of the keys

// The delta rule over the features of DPFP: 4 dk places for keys of dk entries, and keys of other signs do not meet.
//     P_t = P_{t-1} + beta_t (v_t - P_{t-1} phi(k_t)) phi(k_t)^T,   o_t = P_t phi(q_t),   phi = dpfp<2>
// Schlag, Irie, Schmidhuber 2021, Linear transformers are secretly fast weight programmers; there phi(k)
// and phi(q) are divided by their sums: sum_norm(dpfp<2>(k)). beta in (0, 1).
inline constexpr auto dpfp_delta =
    rule("dpfp_delta", P <<= P + beta * (v - P * dpfp<2>(k)) * T(dpfp<2>(k)), o <<= P * dpfp<2>(q));

} // namespace deltaloom::rules
