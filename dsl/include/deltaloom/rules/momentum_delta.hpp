#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// The delta rule with momentum: the correction is gathered in a memory of its own, which is added to the state.
//     M_t = mu_t M_{t-1} + beta_t (v_t - S_{t-1} k_t) k_t^T,   S_t = alpha_t S_{t-1} + M_t,   o_t = S_t q_t
// The linear case of Behrouz et al. 2025, Titans: learning to memorize at test time, eq. 9 to 10 and 13. mu, alpha and
// beta in (0, 1); keys of unit length.
inline constexpr auto momentum_delta =
    rule("momentum_delta", M <<= mu * M + beta * (v - S * k) * T(k), S <<= alpha * S + M, o <<= S * q);

} // namespace deltaloom::rules
