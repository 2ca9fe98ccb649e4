#pragma once
// The functions of the language, on values. A number arrives as a double; eps does.
// Over the field an elementwise function is a pseudo-random function of itself and its argument, so that what holds for
// it holds for every function: max and min are therefore only what larger makes of them, min(a, b) = -max(-a, -b).
#include <deltaloom/dsl/functions.hpp>
#include <deltaloom/evaluate/matrix.hpp>
#include <utility>

namespace deltaloom::oracle {
using namespace deltaloom::ast;
using runtime::function_named, runtime::larger, runtime::map_value;

template<class M> constexpr auto apply(T_name, M const& a) { return transpose(a); }
template<class M> constexpr auto apply(diag_name, M const& a) { return diagonal(a); }
template<class M> constexpr auto apply(dot_name, M const& a, M const& b) { return product(transpose(a), b); }

template<class F, class M>
    requires(function_named(F::text).has_value())
constexpr M apply(F, M const& a) {
    return each(a, [](auto x) { return map_value<*function_named(F::text)>(x); });
}

template<class K> constexpr K smaller(K a, K b) { return K{} - larger(K{} - a, K{} - b); }
inline constexpr auto take_larger = [](auto a, auto b) { return larger(a, b); };
inline constexpr auto take_smaller = [](auto a, auto b) { return smaller(a, b); };
template<class M> constexpr M apply(max_name, M const& a, M const& b) { return both(a, b, take_larger); }
template<class M> constexpr M apply(max_name, M const& a, double b) { return with_number(a, b, take_larger); }
template<class M> constexpr M apply(max_name, double a, M const& b) { return with_number(a, b, take_larger); }
template<class M> constexpr M apply(min_name, M const& a, M const& b) { return both(a, b, take_smaller); }
template<class M> constexpr M apply(min_name, M const& a, double b) { return with_number(a, b, take_smaller); }
template<class M> constexpr M apply(min_name, double a, M const& b) { return with_number(a, b, take_smaller); }

template<class M> constexpr M divided(M const& a, scalar_of<M> s) {
    return each(a, [s](auto x) { return x / s; });
}
template<class M> constexpr scalar_of<M> total_of_squares(M const& a) {
    return total(each(a, [](auto x) { return x * x; }));
}
template<class K> constexpr K root(K x) { return map_value<runtime::function::sqrt>(x); }

// norm(x) = sqrt(sum x^2), l2norm(x) = x / sqrt(sum x^2 + eps), sum_norm(x) = x / (sum x + eps), softmax(x) = e^x / sum
// e^x.
template<class M> constexpr auto apply(sum_name, M const& a) { return scalar_matrix(a, total(a)); }
template<class M> constexpr auto apply(norm_name, M const& a) { return scalar_matrix(a, root(total_of_squares(a))); }
template<class M> constexpr M apply(l2norm_name, M const& a, double eps) {
    return divided(a, root(total_of_squares(a) + scalar_of<M>(eps)));
}
template<class M> constexpr M apply(sum_norm_name, M const& a, double eps) {
    return divided(a, total(a) + scalar_of<M>(eps));
}
template<class M> constexpr M apply(softmax_name, M const& a) {
    scalar_of<M> most{}; // floats subtract the largest element, so that nothing overflows
    if constexpr (runtime::is_float<scalar_of<M>>)
        for (bool first = true; auto const& x : a.e) most = std::exchange(first, false) ? x : larger(most, x);
    M const powers = each(a, [most](auto x) { return map_value<runtime::function::exp>(x - most); });
    return divided(powers, total(powers));
}

// Log values: see runtime/scalar/gate.hpp. Over floats a log gate is bound to its value g, in [-inf, 0]; over the
// field, which has no logarithm, to the element exp(g). exp of a sum is the product of the exps over both.
template<class M> constexpr M exp_of_log(M const& a) {
    return each(a, [](auto x) { return runtime::unlog(x); });
}
template<class M> constexpr M add_logs(M const& a, M const& b) {
    return both(a, b, [](auto x, auto y) { return runtime::addlog(x, y); });
}
template<class M> constexpr M multiple_of_log(M const& a, double times) {
    return each(a, [times](auto x) {
        auto r = runtime::log_one<scalar_of<M>>();
        for (int i = 0; i < int(times); ++i) r = runtime::addlog(r, x);
        return r;
    });
}

} // namespace deltaloom::oracle
