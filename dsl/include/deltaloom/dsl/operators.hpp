#pragma once
#include <deltaloom/dsl/refuse.hpp>

DELTALOOM_REFUSALS_BEGIN
namespace deltaloom::ast {

template<class L, class R>
    requires Terms<L, R> && Fits<product_of, type_t<L>, type_t<R>>
constexpr auto operator*(L l, R r) {
    return build::make<expr_kind::multiplies>(build::lift(l), build::lift(r));
}
template<class L, class R>
    requires Terms<L, R> && Fits<sum_of, type_t<L>, type_t<R>>
constexpr auto operator+(L l, R r) {
    return build::make<expr_kind::plus>(build::lift(l), build::lift(r));
}
template<class L, class R>
    requires Terms<L, R> && Fits<difference_of, type_t<L>, type_t<R>>
constexpr auto operator-(L l, R r) {
    return build::make<expr_kind::minus>(build::lift(l), build::lift(r));
}
template<class L, class R>
    requires Terms<L, R> && Fits<quotient_of, type_t<L>, type_t<R>>
constexpr auto operator/(L l, R r) {
    return build::make<expr_kind::divides>(build::lift(l), build::lift(r));
}
template<Expr L, Expr R>
    requires Fits<elementwise_product_of, type_t<L>, type_t<R>>
constexpr auto operator%(L l, R r) {
    return build::make<expr_kind::modulus>(l, r);
}
template<Expr X>
    requires Fits<negative_of, type_t<X>>
constexpr auto operator-(X x) {
    return build::make<expr_kind::negate>(x);
}
template<Target L, Expr R>
    requires Fits<update_of, type_t<L>, type_t<R>>
constexpr auto operator<<=(L l, R r) {
    return build::make<expr_kind::shift_left_assign>(l, r);
}

// clang-format off: a refusal is its conditions, one a line, and its signature.

// Two expressions.
template<class A, class B>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, any_log<A, B>),
    diagnose_if DELTALOOM_IF("the inner dimensions differ: transpose one side with T", turns<product_of, A, B>),
    diagnose_if DELTALOOM_IF("the inner dimensions differ: the left operand's columns must be the right operand's rows", clashes<product_of, A, B>)))
constexpr refusal<product_of, A, B> operator*(shaped<A> const&, shaped<B> const&) DELTALOOM_REFUSED;
template<class A, class B>
__attribute__((diagnose_if DELTALOOM_IF("a log gate is added only to a log gate of its shape: write exp(gate)", any_log<A, B>),
    diagnose_if DELTALOOM_IF("the terms of a sum need one shape: transpose one side with T", turns<sum_of, A, B>),
    diagnose_if DELTALOOM_IF("the terms of a sum need one shape", clashes<sum_of, A, B>)))
constexpr refusal<sum_of, A, B> operator+(shaped<A> const&, shaped<B> const&) DELTALOOM_REFUSED;
template<class A, class B>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, any_log<A, B>),
    diagnose_if DELTALOOM_IF("the terms of a difference need one shape: transpose one side with T", turns<difference_of, A, B>),
    diagnose_if DELTALOOM_IF("the terms of a difference need one shape", clashes<difference_of, A, B>)))
constexpr refusal<difference_of, A, B> operator-(shaped<A> const&, shaped<B> const&) DELTALOOM_REFUSED;
template<class A, class B>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, any_log<A, B>),
    diagnose_if DELTALOOM_IF("an elementwise product needs one shape: transpose one side with T", turns<elementwise_product_of, A, B>),
    diagnose_if DELTALOOM_IF("an elementwise product needs one shape", clashes<elementwise_product_of, A, B>)))
constexpr refusal<elementwise_product_of, A, B> operator%(shaped<A> const&, shaped<B> const&) DELTALOOM_REFUSED;
template<class A, class B>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, any_log<A, B>),
    diagnose_if DELTALOOM_IF("only a scalar or a number divides", !any_log<A, B>)))
constexpr refusal<quotient_of, A, B> operator/(shaped<A> const&, shaped<B> const&) DELTALOOM_REFUSED;
template<class A>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_SUM, true)))
constexpr refusal<negative_of, A> operator-(shaped<A> const&) DELTALOOM_REFUSED;

// A target is taken as itself, an exact match, so that a refused shape is said before a refused target.
template<Target L, class B>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, is_log<B>),
    diagnose_if DELTALOOM_IF("the update has another shape than its target: transpose it with T", turns<update_of, type_t<L>, B>),
    diagnose_if DELTALOOM_IF("the update has another shape than its target", clashes<update_of, type_t<L>, B>)))
constexpr refusal<update_of, type_t<L>, B> operator<<=(L, shaped<B> const&) DELTALOOM_REFUSED;
template<class A, class B>
__attribute__((diagnose_if DELTALOOM_IF("only a state or an output takes an update", true)))
constexpr cure::update_only_a_state_or_an_output operator<<=(shaped<A> const&, shaped<B> const&) DELTALOOM_REFUSED;

// An expression and a number.
template<class A, Number N>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_SUM, true)))
constexpr refusal<product_of, A> operator*(shaped<A> const&, N) DELTALOOM_REFUSED;
template<class A, Number N>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_SUM, true)))
constexpr refusal<product_of, A> operator*(N, shaped<A> const&) DELTALOOM_REFUSED;
template<class A, Number N>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_SUM, is_log<A>),
    diagnose_if DELTALOOM_IF("a number is added to a scalar or to every element of a vector, not to a matrix", !is_log<A>)))
constexpr refusal<number_added, A> operator+(shaped<A> const&, N) DELTALOOM_REFUSED;
template<class A, Number N>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_SUM, is_log<A>),
    diagnose_if DELTALOOM_IF("a number is added to a scalar or to every element of a vector, not to a matrix", !is_log<A>)))
constexpr refusal<number_added, A> operator+(N, shaped<A> const&) DELTALOOM_REFUSED;
template<class A, Number N>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_SUM, is_log<A>),
    diagnose_if DELTALOOM_IF("a number is subtracted from a scalar or from every element of a vector, not from a matrix", !is_log<A>)))
constexpr refusal<number_added, A> operator-(shaped<A> const&, N) DELTALOOM_REFUSED;
template<class A, Number N>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_SUM, is_log<A>),
    diagnose_if DELTALOOM_IF("a scalar or every element of a vector is subtracted from a number, not a matrix", !is_log<A>)))
constexpr refusal<number_added, A> operator-(N, shaped<A> const&) DELTALOOM_REFUSED;
template<class A, Number N>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_SUM, true)))
constexpr refusal<quotient_of, A> operator/(shaped<A> const&, N) DELTALOOM_REFUSED;
template<class A, Number N>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_SUM, is_log<A>),
    diagnose_if DELTALOOM_IF("only a scalar or a number divides", !is_log<A>)))
constexpr refusal<quotient_of, A> operator/(N, shaped<A> const&) DELTALOOM_REFUSED;
template<class A, Number N>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_SUM, is_log<A>),
    diagnose_if DELTALOOM_IF("an elementwise product needs one shape; a number multiplies with *", !is_log<A>)))
constexpr refusal<number_multiplied_elementwise, A> operator%(shaped<A> const&, N) DELTALOOM_REFUSED;
template<class A, Number N>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_SUM, is_log<A>),
    diagnose_if DELTALOOM_IF("an elementwise product needs one shape; a number multiplies with *", !is_log<A>)))
constexpr refusal<number_multiplied_elementwise, A> operator%(N, shaped<A> const&) DELTALOOM_REFUSED;
template<class A, Number N>
__attribute__((diagnose_if DELTALOOM_IF("a number has no shape: the update needs its target's, such as 0 * S", true)))
constexpr cure::multiply_the_number_by_something_of_the_targets_shape operator<<=(shaped<A> const&, N) DELTALOOM_REFUSED;
// clang-format on

} // namespace deltaloom::ast
DELTALOOM_REFUSALS_END
