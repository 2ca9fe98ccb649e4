#pragma once
// The elementwise functions and their derivatives, over float, double, the field and dual numbers.
// Over the field a function is a pseudo-random function of (function, order of the derivative, argument), except the
// three whose laws the derivation uses: exp (every derivative is the value), neg, inv (the true inverse). At the corner
// 0: relu' = abs' = 0.
#include "deltaloom/runtime/isa.hpp"
#include "deltaloom/runtime/scalar/dual.hpp"
#include "deltaloom/runtime/scalar/field.hpp"
#include "deltaloom/runtime/scalar/function.hpp"

#include <type_traits>

namespace deltaloom::runtime {

template<class K> inline constexpr bool is_dual = false;
template<class K> inline constexpr bool is_dual<dual<K>> = true;
template<class K> inline constexpr bool is_float = std::is_floating_point_v<K>;
template<class K> inline constexpr bool is_field = std::is_same_v<K, field>;

// A pseudo-random element for (key, x): two rounds of multiplication and folding.
constexpr field opaque(std::uint64_t key, field x) {
    std::uint64_t z = x.element + (key + 1) * 0x9e3779b97f4a7c15u;
    for (int round = 0; round < 2; ++round) {
        z = (z ^ z >> 31) * 0xd6e8feb86659fd93u;
        z = (z ^ z >> 29) * 0xa0761d6478bd642fu;
    }
    return field::from_element(z ^ z >> 32);
}

inline namespace DELTALOOM_ISA {

// The C library by its own symbols, not std's inline overloads.
template<class K> K libm_exp(K x) {
    if constexpr (std::is_same_v<K, float>)
        return __builtin_expf(x);
    else
        return __builtin_exp(x);
}
template<class K> K libm_log(K x) {
    if constexpr (std::is_same_v<K, float>)
        return __builtin_logf(x);
    else
        return __builtin_log(x);
}
template<class K> K libm_log1p(K x) {
    if constexpr (std::is_same_v<K, float>)
        return __builtin_log1pf(x);
    else
        return __builtin_log1p(x);
}
template<class K> K libm_sqrt(K x) {
    if constexpr (std::is_same_v<K, float>)
        return __builtin_sqrtf(x);
    else
        return __builtin_sqrt(x);
}
template<class K> K libm_tanh(K x) {
    if constexpr (std::is_same_v<K, float>)
        return __builtin_tanhf(x);
    else
        return __builtin_tanh(x);
}
// 1 / (1 + e^-x) through e^-|x|, which cannot overflow.
template<class K> K logistic(K x) {
    K const e = libm_exp(x < 0 ? x : -x);
    return (x < 0 ? e : K(1)) / (1 + e);
}

template<function f, int order, class K> K float_derivative(K x) {
    static_assert(order >= 0 && order <= 2, "derivatives of floats up to the second");
    if constexpr (f == function::exp)
        return libm_exp(x);
    else if constexpr (f == function::log)
        return order == 0 ? libm_log(x) : order == 1 ? 1 / x : -1 / (x * x);
    else if constexpr (f == function::abs)
        return order == 0 ? (x < 0 ? -x : x) : order == 1 ? K(x > 0) - K(x < 0) : K(0);
    else if constexpr (f == function::neg)
        return order == 0 ? -x : order == 1 ? K(-1) : K(0);
    else if constexpr (f == function::sqrt) {
        K const root = libm_sqrt(x);
        return order == 0 ? root : order == 1 ? K(0.5) / root : K(-0.25) / (x * root);
    } else if constexpr (f == function::tanh) {
        if constexpr (order == 0) return libm_tanh(x);
        K const slope = 4 * logistic(2 * x) * logistic(-2 * x);
        return order == 1 ? slope : -2 * libm_tanh(x) * slope;
    } else if constexpr (f == function::sigmoid) {
        K const s = logistic(x);
        if constexpr (order == 0) return s;
        K const c = logistic(-x);
        return order == 1 ? s * c : s * c * (c - s);
    } else if constexpr (f == function::softplus) {
        if constexpr (order == 0) return (x > 0 ? x : K(0)) + libm_log1p(libm_exp(x < 0 ? x : -x));
        K const s = logistic(x);
        return order == 1 ? s : s * logistic(-x);
    } else if constexpr (f == function::relu)
        return order == 0 ? (x > 0 ? x : K(0)) : order == 1 ? K(x > 0) : K(0);
    else if constexpr (f == function::elu1) {
        if (x > 0) return order == 0 ? x + 1 : order == 1 ? K(1) : K(0);
        return libm_exp(x);
    } else if constexpr (f == function::silu) {
        K const s = logistic(x);
        if constexpr (order == 0) return x * s;
        K const c = logistic(-x);
        return order == 1 ? s + x * (s * c) : s * c * (2 + x * (c - s));
    } else
        return order == 0 ? 1 / x : order == 1 ? -1 / (x * x) : 2 / (x * x * x);
}

// The derivative of that order: 0 is the value itself.
template<function f, int order, class K> constexpr K nth_derivative(K x) {
    if constexpr (is_dual<K>)
        return {nth_derivative<f, order>(x.value), nth_derivative<f, order + 1>(x.value) * x.tangent};
    else if constexpr (!is_field<K>)
        return float_derivative<f, order>(x);
    else if constexpr (f == function::exp)
        return opaque(std::uint64_t(f) * 8, x);
    else if constexpr (f == function::neg)
        return order == 0 ? -x : order == 1 ? K(-1.0) : K(0.0);
    else if constexpr (f == function::inv) {
        K r = inverse(x);
        for (int i = 1; i <= order; ++i) r = r * K(-double(i)) * inverse(x);
        return r;
    } else
        return opaque(std::uint64_t(f) * 8 + order, x);
}
template<function f, class K> constexpr K map_value(K x) { return nth_derivative<f, 0>(x); }
template<function f, class K> constexpr K map_derivative(K x) { return nth_derivative<f, 1>(x); }

template<int order, class K> constexpr K nth_derivative(function f, K x) {
    switch (f) {
    case function::exp: return nth_derivative<function::exp, order>(x);
    case function::log: return nth_derivative<function::log, order>(x);
    case function::abs: return nth_derivative<function::abs, order>(x);
    case function::neg: return nth_derivative<function::neg, order>(x);
    case function::sqrt: return nth_derivative<function::sqrt, order>(x);
    case function::tanh: return nth_derivative<function::tanh, order>(x);
    case function::sigmoid: return nth_derivative<function::sigmoid, order>(x);
    case function::softplus: return nth_derivative<function::softplus, order>(x);
    case function::relu: return nth_derivative<function::relu, order>(x);
    case function::elu1: return nth_derivative<function::elu1, order>(x);
    case function::silu: return nth_derivative<function::silu, order>(x);
    case function::inv: return nth_derivative<function::inv, order>(x);
    }
    return x;
}
template<class K> constexpr K map_value(function f, K x) { return nth_derivative<0>(f, x); }
template<class K> constexpr K map_derivative(function f, K x) { return nth_derivative<1>(f, x); }

// By name, as emitted text calls them.
template<class K> constexpr K map_exp(K x) { return map_value<function::exp>(x); }
template<class K> constexpr K map_log(K x) { return map_value<function::log>(x); }
template<class K> constexpr K map_abs(K x) { return map_value<function::abs>(x); }
template<class K> constexpr K map_neg(K x) { return map_value<function::neg>(x); }
template<class K> constexpr K map_sqrt(K x) { return map_value<function::sqrt>(x); }
template<class K> constexpr K map_tanh(K x) { return map_value<function::tanh>(x); }
template<class K> constexpr K map_sigmoid(K x) { return map_value<function::sigmoid>(x); }
template<class K> constexpr K map_softplus(K x) { return map_value<function::softplus>(x); }
template<class K> constexpr K map_relu(K x) { return map_value<function::relu>(x); }
template<class K> constexpr K map_elu1(K x) { return map_value<function::elu1>(x); }
template<class K> constexpr K map_silu(K x) { return map_value<function::silu>(x); }
template<class K> constexpr K map_inv(K x) { return map_value<function::inv>(x); }
template<class K> constexpr K derivative_exp(K x) { return map_derivative<function::exp>(x); }
template<class K> constexpr K derivative_log(K x) { return map_derivative<function::log>(x); }
template<class K> constexpr K derivative_abs(K x) { return map_derivative<function::abs>(x); }
template<class K> constexpr K derivative_neg(K x) { return map_derivative<function::neg>(x); }
template<class K> constexpr K derivative_sqrt(K x) { return map_derivative<function::sqrt>(x); }
template<class K> constexpr K derivative_tanh(K x) { return map_derivative<function::tanh>(x); }
template<class K> constexpr K derivative_sigmoid(K x) { return map_derivative<function::sigmoid>(x); }
template<class K> constexpr K derivative_softplus(K x) { return map_derivative<function::softplus>(x); }
template<class K> constexpr K derivative_relu(K x) { return map_derivative<function::relu>(x); }
template<class K> constexpr K derivative_elu1(K x) { return map_derivative<function::elu1>(x); }
template<class K> constexpr K derivative_silu(K x) { return map_derivative<function::silu>(x); }
template<class K> constexpr K derivative_inv(K x) { return map_derivative<function::inv>(x); }

// larger(a, b) is symmetric. Its derivative along a is is_larger(a, b), along b 1 - is_larger(a, b); at a tie both are
// 1/2. Over the field it is y + relu(x - y), x being the one with the larger representative.
template<class K> constexpr bool is_first(K a, K b) {
    if constexpr (is_field<K>)
        return a.element >= b.element;
    else
        return a >= b;
}
template<class K> constexpr K is_larger(K a, K b) {
    if constexpr (is_dual<K>) {
        bool const first = is_first(a.value, b.value);
        auto const bend = nth_derivative<function::relu, 2>(first ? a.value - b.value : b.value - a.value);
        return {is_larger(a.value, b.value), bend * (a.tangent - b.tangent)};
    } else if (a == b)
        return K(0.5);
    else if constexpr (is_field<K>)
        return is_first(a, b) ? map_derivative<function::relu>(a - b) : K(1.0) - map_derivative<function::relu>(b - a);
    else
        return a > b ? K(1) : K(0);
}
template<class K> constexpr K larger(K a, K b) {
    if constexpr (is_dual<K>) {
        auto const along = is_larger(a.value, b.value);
        return {larger(a.value, b.value), along * a.tangent + (decltype(along)(1.0) - along) * b.tangent};
    } else if constexpr (is_field<K>)
        return is_first(a, b) ? b + map_value<function::relu>(a - b) : a + map_value<function::relu>(b - a);
    else
        return a > b ? a : b;
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
