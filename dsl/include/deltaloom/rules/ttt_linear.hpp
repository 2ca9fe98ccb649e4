#pragma once
#include <deltaloom/rules/layer_norm.hpp>

namespace deltaloom::rules {

// Test-time training of a linear layer under a layer norm: one step down the gradient of 1/2 |LN(S k) - v|^2. Recurrent
// forms only.
//     x = S_{t-1} k_t,   r = 1 / sqrt(var(x) + 1e-6),   y = r (x - mean(x)),   e = y - v_t,
//     S_t = S_{t-1} - beta_t r (e - mean(e) - y mean(e . y)) k_t^T,   o_t = S_t q_t
// Sun et al. 2024, Learning to (learn at test time), section 2.7 and appendix A; the norm's gain and bias are the
// host's. beta in (0, 1), keys of unit length.
inline constexpr auto ttt_linear =
    rule("ttt_linear", S <<= S - beta * layer_norm_gradient(S * k, v) * T(k), o <<= S * q);

} // namespace deltaloom::rules
