#pragma once
#include <deltaloom/dsl.hpp>

// A rule of one's own, for --rules: linear attention with its normaliser.
//     S_t = S_{t-1} + v_t f(k_t)^T,   z_t = z_{t-1} + f(k_t),   o_t = S_t f(q_t) / <z_t, f(q_t)>,   f = elu + 1
// Katharopoulos et al. 2020, Transformers are RNNs. f is positive, so the sum that divides cannot vanish.
namespace language_model {
using namespace deltaloom::dsl;

inline constexpr auto sum_normalised =
    rule("sum_normalised", S <<= S + v * T(elu1(k)), z <<= z + elu1(k), o <<= S * elu1(q) / dot(z, elu1(q)));
} // namespace language_model
