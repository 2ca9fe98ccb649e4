#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// A state that is squashed at every token. Recurrent forms only.
//     S_t = tanh(alpha_t S_{t-1} + v_t k_t^T),   o_t = S_t q_t
// The matrix form of the fast weights of Ba et al. 2016, Using fast weights to attend to the recent past.
inline constexpr auto tanh_memory = rule("tanh_memory", S <<= tanh(alpha * S + v * T(k)), o <<= S * q);

} // namespace deltaloom::rules
