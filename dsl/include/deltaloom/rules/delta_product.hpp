#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// DeltaProduct: n steps of the delta rule a token, each with a key, a value and a beta of its own, after one decay.
//     S' = alpha_t S_{t-1};   n times:  S' = S' + beta_tj (v_tj - S' k_tj) k_tj^T;   o_t = S'_t q_t
// Siems et al. 2025, DeltaProduct: improving state-tracking in linear RNNs via Householder products, eq. 4. alpha in
// (0, 1), beta in (0, 2), keys of unit length.
template<int n>
inline constexpr auto delta_product =
    rule("delta_product", S <<= alpha * S, repeat<n>(S <<= S + beta * (v - S * k) * T(k)), o <<= S * q);
inline constexpr auto delta_product_2 = delta_product<2>;
inline constexpr auto delta_product_3 = delta_product<3>;

} // namespace deltaloom::rules
