#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Linear attention with its normaliser: a weighted mean of the values, with weights that sum to one.
//     S_t = S_{t-1} + v_t f(k_t)^T,   z_t = z_{t-1} + f(k_t),   o_t = S_t f(q_t) / (z_t . f(q_t) + 1e-6),   f = elu + 1
// Katharopoulos et al. 2020, Transformers are RNNs, eq. 16 to 20. The feature map is positive, so that the denominator
// is; any finite q, k, v. Another feature map, or none, is another rule: change it in a copy of this line.
inline constexpr auto sum_normalised =
    rule("sum_normalised", S <<= S + v * T(elu1(k)), z <<= z + elu1(k), o <<= (S * elu1(q)) / (dot(z, elu1(q)) + 1e-6));

} // namespace deltaloom::rules
