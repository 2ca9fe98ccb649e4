#pragma once
// The functions of the language, on values. A number arrives as a double; eps does.
// Over the field an elementwise function is a pseudo-random function of itself and its argument, so that what holds for
// it holds for every function: max and min are therefore only what larger makes of them, min(a, b) = -max(-a, -b).
#include <deltaloom/dsl/features.hpp>
#include <deltaloom/evaluate/matrix.hpp>
#include <numbers>
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

// Feature maps (dsl/features.hpp has the formulas): a column of another length.
template<int Nu, class M> constexpr auto apply(dpfp_name<Nu>, M const& a) {
    auto r = blank_column<2>(a);
    int const d = a.rows();
    for (int i = 0; i < d; ++i) {
        r(i, 0) = map_value<runtime::function::relu>(a(i, 0));
        r(d + i, 0) = map_value<runtime::function::relu>(scalar_of<M>{} - a(i, 0));
    }
    auto y = blank_column<2 * Nu>(a);
    for (int j = 1; j <= Nu; ++j)
        for (int i = 0; i < 2 * d; ++i) y((j - 1) * 2 * d + i, 0) = r(i, 0) * r((i + j * (2 * d - 1)) % (2 * d), 0);
    return y;
}
template<class M> constexpr auto apply(taylor2_name, M const& a) {
    auto y = blank_column<1, 1, 1>(a);
    int const d = a.rows();
    scalar_of<M> const share(std::numbers::sqrt2 / 2);
    y(0, 0) = scalar_of<M>(1.0);
    for (int i = 0; i < d; ++i) {
        y(1 + i, 0) = a(i, 0);
        for (int j = 0; j < d; ++j) y(1 + d + i * d + j, 0) = share * (a(i, 0) * a(j, 0));
    }
    return y;
}
template<class M, class W> constexpr auto apply(random_features_name, M const& a, W const& w) {
    using K = scalar_of<M>;
    K const half_square = total_of_squares(a) * K(0.5), count = K(double(w.rows()));
    auto const powers = each(product(w, a), [&](auto x) { return map_value<runtime::function::exp>(x - half_square); });
    return divided(powers, root(count));
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
