#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_INPUT(a2, dk);
DELTALOOM_INPUT(b2, dk);

// Diagonal plus rank two: two low-rank terms in one statement, both reading the state before the token.
//     S_t = S_{t-1} diag(w_t) + (S_{t-1} a_t) b_t^T + (S_{t-1} a2_t) b2_t^T + v_t k_t^T,   o_t = S_t q_t
// The kind of transition of hybrid linear attention with two Householder factors. w in (0, 1).
inline constexpr auto rank2 =
    rule("rank2", S <<= S * diag(w) + (S * a) * T(b) + (S * a2) * T(b2) + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
