#pragma once
// The gradient of a squared error behind a layer norm, of which rules that learn at test time take a step.
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

template<class X> constexpr auto ones_like(X x) { return 0 * x + 1; }
template<class X> constexpr auto mean(X x) { return dsl::sum(x) / dsl::sum(ones_like(x)); }

// Of 1/2 |LN(x) - target|^2 by x, where LN(x) = (x - mean(x)) / sqrt(var(x) + 1e-6); x and target are columns of one
// dimension.
template<class X, class Target> constexpr auto layer_norm_gradient(X x, Target target) {
    auto const ones = ones_like(target);
    auto const centred = x - mean(x) * ones;
    auto const deviation = sqrt(mean(centred % centred) + 1e-6);
    auto const normed = centred / deviation;
    auto const error = normed - target;
    return (error - mean(error) * ones - mean(error % normed) * normed) / deviation;
}

} // namespace deltaloom::rules
