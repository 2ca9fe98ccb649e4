#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_PARAMETER(u, dk); // bonus of the present token

// RWKV-6 (Finch): reads before the token is written, and adds the token itself with a bonus.
//     o_t = S_{t-1} q_t + (u . k_t . q_t) v_t,   S_t = S_{t-1} diag(w_t) + v_t k_t^T
// Peng et al. 2024, Eagle and Finch, eq. 19 to 21 (r is q). w in (0, 1), per head and key channel; u any finite number.
inline constexpr auto rwkv6 = rule("rwkv6", o <<= S * q + dot(u % k, q) * v, S <<= S * diag(w) + v * T(k));

} // namespace deltaloom::rules
