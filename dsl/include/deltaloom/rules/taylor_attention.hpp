#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_STATE(F, dv, taylor2_dim<dk>); // what is remembered
DELTALOOM_STATE(zf, taylor2_dim<dk>);    // and how much

// Linear attention of BASED: softmax's weights exp(q . k) by the Taylor series up to the second term.
//     F_t = F_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t),   o_t = F_t phi(q_t) / (z_t . phi(q_t))
//     phi(q) . phi(k) = 1 + q . k + (q . k)^2 / 2, which is at least 1/2
// Arora et al. 2024, Simple linear attention language models balance the recall-throughput tradeoff. Small keys
// (dk = 16), q and k divided by dk^(1/4); the sliding window of that model is another layer's.
inline constexpr auto taylor_attention = rule("taylor_attention", F <<= F + v * T(taylor2(k)), zf <<= zf + taylor2(k),
                                              o <<= (F * taylor2(q)) / dot(zf, taylor2(q)));

} // namespace deltaloom::rules
