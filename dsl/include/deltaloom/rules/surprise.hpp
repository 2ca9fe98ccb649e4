#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Writes in proportion to what the memory already answers: a read through a dot product. Recurrent forms only.
//     S_t = alpha_t S_{t-1} + (1 - v_t . S_{t-1} k_t) v_t k_t^T,   o_t = S_t q_t
// The Hebbian rule with the gain of Oja 1982 on the answer itself. alpha in (0, 1); k and v of unit length.
inline constexpr auto surprise = rule("surprise", S <<= alpha * S + (1 - dot(S * k, v)) * v * T(k), o <<= S * q);

} // namespace deltaloom::rules
