#pragma once
// Functions of every element: of one argument, and max and min of two.
#include <deltaloom/dsl/operators.hpp>

namespace deltaloom::ast {

// What a function does to shapes; the struct that derives from it is the function's name.
struct same_shape {
    using otherwise = cure::write_exp_of_the_log_gate;
    template<class A> static constexpr auto result() { return negative_of::result<A>(); }
};
struct with_a_bound {
    using otherwise = cure::give_both_sides_one_shape;
    template<class A, class B> static constexpr auto result() {
        if constexpr (Linear<A> && (same<A, B> || is_number<B>))
            return A{};
        else if constexpr (is_number<A> && Linear<B>)
            return B{};
        else
            return shape::misfit{};
    }
};

// exp alone takes a log gate, and leaves the log domain.
template<class A> constexpr A without_log(shape::log<A>) { return {}; }
struct exp_name {
    static constexpr char const* text = "exp";
    template<class A> static constexpr auto result() {
        if constexpr (is_log<A>)
            return without_log(A{});
        else
            return same_shape::result<A>();
    }
};
template<Expr X>
    requires Fits<exp_name, type_t<X>>
constexpr auto exp(X x) {
    return build::call<exp_name>(x);
}

} // namespace deltaloom::ast

// clang-format off
// One function of one linear argument, with its refusal.
#define DELTALOOM_ELEMENTWISE(NAME)                                                                                    \
    struct NAME##_name : same_shape { static constexpr char const* text = #NAME; };                                    \
    template<Expr X> requires Fits<NAME##_name, type_t<X>>                                                             \
    constexpr auto NAME(X x) { return build::call<NAME##_name>(x); }                                                          \
    template<class A>                                                                                                  \
    __attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, true)))                                                \
    constexpr refusal<NAME##_name, A> NAME(shaped<A> const&) DELTALOOM_REFUSED

// One function of an expression and a bound. Two arguments of one type are taken by reference: by value std::max and
// std::min would be the closer match wherever they are visible.
#define DELTALOOM_BOUND(NAME)                                                                                          \
    struct NAME##_name : with_a_bound { static constexpr char const* text = #NAME; };                                  \
    template<class X, class Y> requires Terms<X, Y> && Fits<NAME##_name, type_t<X>, type_t<Y>>                         \
    constexpr auto NAME(X x, Y y) { return build::call<NAME##_name>(x, y); }                                                  \
    template<Expr X> requires Fits<NAME##_name, type_t<X>, type_t<X>>                                                  \
    constexpr auto NAME(X const& x, X const& y) { return build::call<NAME##_name>(x, y); }                                    \
    template<class A, class B>                                                                                         \
    __attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, any_log<A, B>),                                        \
        diagnose_if DELTALOOM_IF("max and min take a number or two expressions of one shape", !any_log<A, B>)))        \
    constexpr refusal<NAME##_name, A, B> NAME(shaped<A> const&, shaped<B> const&) DELTALOOM_REFUSED;                   \
    template<class A, Number N>                                                                                        \
    __attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, true)))                                                \
    constexpr refusal<NAME##_name, A> NAME(shaped<A> const&, N) DELTALOOM_REFUSED;                                     \
    template<class A, Number N>                                                                                        \
    __attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, true)))                                                \
    constexpr refusal<NAME##_name, A> NAME(N, shaped<A> const&) DELTALOOM_REFUSED
// clang-format on

DELTALOOM_REFUSALS_BEGIN
namespace deltaloom::ast {
DELTALOOM_ELEMENTWISE(log);
DELTALOOM_ELEMENTWISE(abs);
DELTALOOM_ELEMENTWISE(neg);
DELTALOOM_ELEMENTWISE(sqrt);
DELTALOOM_ELEMENTWISE(tanh);
DELTALOOM_ELEMENTWISE(sigmoid);
DELTALOOM_ELEMENTWISE(softplus);
DELTALOOM_ELEMENTWISE(relu);
DELTALOOM_ELEMENTWISE(elu1);
DELTALOOM_ELEMENTWISE(silu);
DELTALOOM_BOUND(max);
DELTALOOM_BOUND(min);
} // namespace deltaloom::ast
DELTALOOM_REFUSALS_END
#undef DELTALOOM_ELEMENTWISE
#undef DELTALOOM_BOUND
