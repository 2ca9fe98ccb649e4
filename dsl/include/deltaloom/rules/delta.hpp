#pragma once
#include <deltaloom/dsl.hpp>

namespace deltaloom::rules {
using namespace deltaloom::dsl;

// The delta rule (DeltaNet): one step of size beta down the gradient of 1/2 |S k - v|^2.
//     S_t = S_{t-1} + beta_t (v_t - S_{t-1} k_t) k_t^T,   o_t = S_t q_t
// Widrow and Hoff 1960; Schlag, Irie, Schmidhuber 2021; Yang et al. 2024, Parallelizing linear transformers
// with the delta rule. beta in (0, 1), or (0, 2) for negative eigenvalues; keys of unit length keep the state
// bounded.
inline constexpr auto delta = rule("delta", S <<= S + beta * (v - S * k) * T(k), o <<= S * q);

} // namespace deltaloom::rules
