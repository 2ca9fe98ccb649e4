#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

// HGRN2: gated linear attention whose key is what the gate forgets.
//     S_t = S_{t-1} diag(exp(gk_t)) + v_t (1 - exp(gk_t))^T,   o_t = S_t q_t
// Qin et al. 2024, HGRN2: gated linear RNNs with state expansion, eq. 8. gk in [-inf, 0].
inline constexpr auto hgrn2 = rule("hgrn2", S <<= S * diag(exp(gk)) + v * T(1 - exp(gk)), o <<= S * q);

} // namespace deltaloom::rules
