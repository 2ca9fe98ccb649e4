#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// A state that is squashed to (0, 1) at every token. Recurrent forms only.
//     S_t = sigmoid(alpha_t S_{t-1} + v_t k_t^T),   o_t = S_t q_t
inline constexpr auto sigmoid_memory = rule("sigmoid_memory", S <<= sigmoid(alpha * S + v * T(k)), o <<= S * q);

} // namespace deltaloom::rules
