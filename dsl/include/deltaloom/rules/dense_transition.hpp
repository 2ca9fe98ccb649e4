#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_INPUT(A, dk, dk); // transition

// A dense transition of the token: the state is multiplied by a whole matrix. Recurrent forms only.
//     S_t = S_{t-1} A_t + v_t k_t^T,   o_t = S_t q_t
// A of a spectral norm of at most one keeps the state bounded.
inline constexpr auto dense_transition = rule("dense_transition", S <<= S * A + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
