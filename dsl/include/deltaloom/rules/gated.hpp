#pragma once
#include <deltaloom/dsl.hpp>

namespace deltaloom::rules {
using namespace deltaloom::dsl;

// The gated rule: what is written displaces what was there, everywhere alike.
//     S_t = (1 - beta_t) S_{t-1} + beta_t v_t k_t^T,   o_t = S_t q_t
// Schlag, Irie, Schmidhuber 2021, Linear transformers are secretly fast weight programmers, eq. 52; Peng et al. 2021,
// Random feature attention. beta in [0, 1] (a sigmoid); any finite beta is computed as written, 1 - beta < 0 included.
inline constexpr auto gated = rule("gated", S <<= (1 - beta) * S + beta * v * T(k), o <<= S * q);

} // namespace deltaloom::rules
