#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Forgets along the key in proportion to how much is held there: a product of reads. Recurrent forms only.
//     S_t = S_{t-1} - beta_t min(|S_{t-1} k_t|^2, 1) (S_{t-1} k_t) k_t^T + beta_t v_t k_t^T,   o_t = S_t q_t
// The cubic damping of Oja 1982 on the answer, bounded as a step. beta in (0, 1), keys of unit length.
inline constexpr auto saturating_delta =
    rule("saturating_delta", S <<= S - beta * min(dot(S * k, S* k), 1) * (S * k) * T(k) + beta * v * T(k), o <<= S * q);

} // namespace deltaloom::rules
