#pragma once
// The gradient of a squared error behind a layer norm, of which rules that learn at test time take a step.
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

template<class X> constexpr auto ones_like(X x) { return 0 * x + 1; }
template<class X> constexpr auto mean(X x) { return dsl::sum(x) / dsl::sum(ones_like(x)); }

// Of 1/2 |LN(x) - target|^2 by x, where LN(x) = y = (x - mean(x)) / sqrt(variance + 1e-6), x and target columns of one
// dimension: (e - mean(e) - mean(e . y) y) / sqrt(variance + 1e-6) with the error e = y - target. What y itself gives
// of it is nearly nothing, since mean(y . y) = variance / (variance + 1e-6); written so, nothing large cancels.
template<class X, class Target> constexpr auto layer_norm_gradient(X x, Target target) {
    auto const ones = ones_like(target);
    auto const centred = x - mean(x) * ones;
    auto const spread = dot(centred, centred) / dsl::sum(ones) + 1e-6;
    auto const normed = centred / sqrt(spread);
    return (1e-6 / spread * normed - target + mean(target) * ones + mean(target % normed) * normed) / sqrt(spread);
}

} // namespace deltaloom::rules
