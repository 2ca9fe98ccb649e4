#pragma once
#include <deltaloom/dsl.hpp>

namespace deltaloom::rules {
using namespace deltaloom::dsl;

// The sum rule: linear attention without normaliser, the fast-weight programmer of 1991 with v = a, k = b, q = x.
//     S_t = S_{t-1} + v_t k_t^T,   o_t = S_t q_t
// Schmidhuber 1992, Learning to control fast-weight memories; Katharopoulos et al. 2020, Transformers are RNNs (their
// feature map is applied to k and q beforehand). Any finite k, q, v.
inline constexpr auto sum = rule("sum", S <<= S + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
