#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// A step that grows with the agreement of memory and value: a product of two reads. Recurrent forms only.
//     S_t = S_{t-1} - beta_t (v_t . S_{t-1} k_t) (S_{t-1} k_t) k_t^T + v_t k_t^T,   o_t = S_t q_t
inline constexpr auto confident_delta =
    rule("confident_delta", S <<= S - beta * dot(S * k, v) * (S * k) * T(k) + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
