#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// Linear attention with its normaliser: a weighted mean of the values, with weights that sum to one.
//     S_t = S_{t-1} + v_t k_t^T,   z_t = z_{t-1} + k_t,   o_t = S_t q_t / (z_t . q_t)
// Katharopoulos et al. 2020, Transformers are RNNs, eq. 16 to 20. k and q come from a positive feature map, so that the
// denominator is positive; nothing is added to it (eps = 0).
inline constexpr auto sum_normalised =
    rule("sum_normalised", S <<= S + v * T(k), z <<= z + k, o <<= (S * q) / dot(z, q));

} // namespace deltaloom::rules
