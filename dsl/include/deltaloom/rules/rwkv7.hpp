#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_INPUT(kappa, dk); // removal key, of unit length
DELTALOOM_INPUT(eta, dk);   // in-context learning rate

// RWKV-7 (Goose): a vector-valued learning rate replaces along kappa what the state holds there.
//     S_t = S_{t-1} diag(w_t) - (S_{t-1} kappa_t) (kappa_t . eta_t)^T + v_t k_t^T,   o_t = S_t q_t
// Peng et al. 2025, RWKV-7 "Goose", eq. 16 to 17 (r is q). w in (0, 1), eta in (0, 1), kappa of unit length.
inline constexpr auto rwkv7 = rule("rwkv7", S <<= S * diag(w) + (S * -kappa) * T(kappa % eta) + v * T(k), o <<= S * q);

} // namespace deltaloom::rules
