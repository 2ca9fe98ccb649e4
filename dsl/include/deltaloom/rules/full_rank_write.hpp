#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_INPUT(B, dv, dk); // what is written

// A write of full rank. Recurrent forms only.
//     S_t = alpha_t S_{t-1} + B_t,   o_t = S_t q_t
inline constexpr auto full_rank_write = rule("full_rank_write", S <<= alpha * S + B, o <<= S * q);

} // namespace deltaloom::rules
