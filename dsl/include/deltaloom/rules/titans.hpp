#pragma once
#include <deltaloom/rules/layer_norm.hpp>

namespace deltaloom::rules {

// Titans' linear memory with a layer norm inside, momentum and forgetting. Recurrent forms only.
//     M_t = mu_t M_{t-1} - beta_t grad,   S_t = alpha_t S_{t-1} + M_t,   o_t = S_t q_t
//     grad = gradient by S of 1/2 |LN(S k_t) - v_t|^2 at S_{t-1}
// Behrouz et al. 2025, Titans: learning to memorize at test time, eq. 9 to 10 and 13. mu, alpha, beta in (0, 1).
inline constexpr auto titans =
    rule("titans", M <<= mu * M - beta * layer_norm_gradient(S * k, v) * T(k), S <<= alpha * S + M, o <<= S * q);

} // namespace deltaloom::rules
