#pragma once
// The nodes: YAP expressions held by value in Hana tuples. A node's base names its shape, and refusals deduce only that
// base.
#include <boost/hana/tuple.hpp>
#include <boost/yap/algorithm.hpp>
#include <deltaloom/dsl/refused.hpp>
#include <deltaloom/dsl/shape.hpp>

namespace deltaloom::ast {
namespace yap = boost::yap;
namespace hana = boost::hana;
using yap::expr_kind;

// What an operand is. A linear gate differs from an input by its role, a linear parameter from a plain one too; a gate
// or a parameter of the log domain by its shape, shape::log<...>.
namespace role {
struct state {};
struct input {};
struct gate {};
struct parameter {};
struct linear_parameter {};
struct output {};
} // namespace role

template<class Name, class Role, class Shape> struct operand {}; // leaf: everything is in the type
template<class Shape> struct literal {                           // leaf: a number, its value is in the object
    double value;
};
template<class Function> struct function {}; // leaf: first element of a call

template<expr_kind K, class Tuple> struct shape_of_node {
    using type = shape::misfit;
};
template<class Shape> struct shaped {
    using type = Shape;
};
namespace cure {
struct write_the_statement_with_shift_left_assign;
}
DELTALOOM_REFUSALS_BEGIN
template<expr_kind K, class Tuple> struct expr : shaped<typename shape_of_node<K, Tuple>::type> {
    static constexpr expr_kind kind = K;
    Tuple elements{};
    constexpr expr() = default;
    constexpr expr(Tuple t) : elements(t) {}
    // clang-format off
    template<class R>
    __attribute__((diagnose_if DELTALOOM_IF("a statement is written with <<=, not with =: write S <<= update", true)))
    constexpr cure::write_the_statement_with_shift_left_assign operator=(R const&) const DELTALOOM_REFUSED_BELOW;
    // clang-format on
};
DELTALOOM_REFUSALS_END
template<expr_kind K, class... X> using node = expr<K, hana::tuple<X...>>;
template<class Leaf> using terminal = node<expr_kind::terminal, Leaf>;

template<class E>
concept Expr = yap::is_expr<E>::value && requires { typename E::type; };
template<class N>
concept Number = std::is_arithmetic_v<N>;
template<class L, class R>
concept Terms = (Expr<L> && (Expr<R> || Number<R>)) || (Number<L> && Expr<R>);

template<class X> struct type_of {
    using type = typename X::type;
};
template<Number X> struct type_of<X> {
    using type = std::conditional_t<std::is_integral_v<X>, shape::integer, shape::number>;
};
template<class X> using type_t = typename type_of<X>::type;

// In a namespace of their own, so that no call of a user's helper function finds them.
namespace build {
template<Expr E> constexpr E lift(E e) { return e; }
template<Number N> constexpr terminal<literal<type_t<N>>> lift(N n) {
    return hana::tuple<literal<type_t<N>>>{literal<type_t<N>>{double(n)}};
}
template<expr_kind K, class... X> constexpr node<K, X...> make(X... x) { return hana::tuple<X...>{x...}; }
template<class F, class... X> constexpr auto call(X... x) {
    return make<expr_kind::call>(terminal<function<F>>{}, lift(x)...);
}
} // namespace build

template<class N, class R, class S> struct shape_of_node<expr_kind::terminal, hana::tuple<operand<N, R, S>>> {
    using type = S;
};
template<class S> struct shape_of_node<expr_kind::terminal, hana::tuple<literal<S>>> {
    using type = S;
};
template<class F, class... X> struct shape_of_node<expr_kind::call, hana::tuple<terminal<function<F>>, X...>> {
    using type = result_of<F, type_t<X>...>;
};
template<class Rule, class... X> struct operated {
    using type = result_of<Rule, type_t<X>...>;
};
template<class L, class R>
struct shape_of_node<expr_kind::multiplies, hana::tuple<L, R>> : operated<product_of, L, R> {};
template<class L, class R> struct shape_of_node<expr_kind::plus, hana::tuple<L, R>> : operated<sum_of, L, R> {};
template<class L, class R> struct shape_of_node<expr_kind::minus, hana::tuple<L, R>> : operated<difference_of, L, R> {};
template<class L, class R> struct shape_of_node<expr_kind::divides, hana::tuple<L, R>> : operated<quotient_of, L, R> {};
template<class L, class R>
struct shape_of_node<expr_kind::modulus, hana::tuple<L, R>> : operated<elementwise_product_of, L, R> {};
template<class X> struct shape_of_node<expr_kind::negate, hana::tuple<X>> : operated<negative_of, X> {};
template<class L, class R>
struct shape_of_node<expr_kind::shift_left_assign, hana::tuple<L, R>> : operated<update_of, L, R> {};

template<class E> inline constexpr bool is_target = is_misfit<type_t<E>>;
template<class N, class S> inline constexpr bool is_target<terminal<operand<N, role::state, S>>> = true;
template<class N, class S> inline constexpr bool is_target<terminal<operand<N, role::output, S>>> = true;
template<class E>
concept Target = Expr<E> && is_target<E>;

template<class E> inline constexpr bool is_per_token = is_misfit<type_t<E>>;
template<class N, class S> inline constexpr bool is_per_token<terminal<operand<N, role::input, S>>> = true;
template<class N, class S> inline constexpr bool is_per_token<terminal<operand<N, role::gate, S>>> = !is_log<S>;

template<class E>
concept Statement = Expr<E> && (same<typename E::type, shape::statement> || is_misfit<typename E::type>);
template<class E>
concept Item = Statement<E> || (Expr<E> && same<typename E::type, shape::micro_steps>);

} // namespace deltaloom::ast
