#pragma once
// The oracle: a rule's own tree, walked by boost::yap::transform over an environment, one token at a time.
//     using namespace deltaloom::oracle;
//     auto after = evaluate(rule, environment(bind(S, state), bind(k, key), ...));   after[name(S)], after[name(o)]
//     named = evaluate(rule, std::move(named));                                      named.values["S"]
// The environment after the token: states advanced, outputs set, previous(x) passed on. Scalars: float, double, the
// field, dual numbers over any of them; a constant expression wherever the scalar's functions are.
#include <boost/hana/drop_front.hpp>
#include <deltaloom/dsl/rule.hpp>
#include <deltaloom/evaluate/apply.hpp>
#include <deltaloom/evaluate/environment.hpp>
#include <functional>

namespace deltaloom::oracle {

template<class E> inline constexpr bool is_factor = Factor<type_t<E>>;
template<class E> inline constexpr bool is_a_number = is_number<type_t<E>>;

template<class Env> struct evaluator {
    Env const& env;
    int step;

    template<class E> constexpr decltype(auto) value(E const& e) const { return yap::transform(e, *this); }
    // A scalar factor or summand as a K, like the elements of `other`.
    template<class K, class E> constexpr K factor(E const& e) const {
        if constexpr (is_a_number<E>)
            return K(value(e));
        else
            return value(e)(0, 0);
    }

    template<class N, class R, class S> constexpr auto const& operator()(terminal<operand<N, R, S>> const&) const {
        return value_of<N>(env, step);
    }
    template<class S> constexpr double operator()(terminal<literal<S>> const& e) const {
        return e.elements[hana::size_c<0>].value;
    }
    template<class L, class R> constexpr auto operator()(node<expr_kind::multiplies, L, R> const& e) const {
        auto const& l = left(e);
        auto const& r = right(e);
        if constexpr (is_log<type_t<L>>)
            return multiple_of_log(value(l), value(r));
        else if constexpr (is_log<type_t<R>>)
            return multiple_of_log(value(r), value(l));
        else if constexpr (is_factor<L>)
            return scaled_by(l, value(r));
        else if constexpr (is_factor<R>)
            return scaled_by(r, value(l));
        else
            return product(value(l), value(r));
    }
    template<class L, class R> constexpr auto operator()(node<expr_kind::plus, L, R> const& e) const {
        if constexpr (is_log<type_t<L>>)
            return add_logs(value(left(e)), value(right(e)));
        else
            return combined(left(e), right(e), std::plus<>{});
    }
    template<class L, class R> constexpr auto operator()(node<expr_kind::minus, L, R> const& e) const {
        return combined(left(e), right(e), std::minus<>{});
    }
    template<class L, class R> constexpr auto operator()(node<expr_kind::modulus, L, R> const& e) const {
        return combined(left(e), right(e), std::multiplies<>{});
    }
    template<class L, class R> constexpr auto operator()(node<expr_kind::divides, L, R> const& e) const {
        if constexpr (is_a_number<L>)
            return with_number(value(left(e)), value(right(e)), std::divides<>{});
        else
            return divided_by(value(left(e)), right(e));
    }
    template<class X> constexpr auto operator()(node<expr_kind::negate, X> const& e) const {
        return apply(neg_name{}, value(left(e)));
    }
    template<class F, class X>
    constexpr auto operator()(node<expr_kind::call, terminal<function<F>>, X> const& e) const {
        return apply(F{}, value(right(e)));
    }
    template<class F, class X, class Y>
    constexpr auto operator()(node<expr_kind::call, terminal<function<F>>, X, Y> const& e) const {
        return apply(F{}, value(right(e)), value(e.elements[hana::size_c<2>]));
    }
    template<class X> constexpr auto operator()(node<expr_kind::call, terminal<function<exp_name>>, X> const& e) const {
        if constexpr (is_log<type_t<X>>)
            return exp_of_log(value(right(e)));
        else
            return apply(exp_name{}, value(right(e)));
    }
    template<class N, class R, class S>
    constexpr auto
    operator()(node<expr_kind::call, terminal<function<previous_name>>, terminal<operand<N, R, S>>> const&) const {
        return value_before<N>(env);
    }

private:
    template<class E> static constexpr auto const& left(E const& e) { return e.elements[hana::size_c<0>]; }
    template<class E> static constexpr auto const& right(E const& e) { return e.elements[hana::size_c<1>]; }

    template<class E, class M> constexpr M scaled_by(E const& e, M const& a) const {
        return scaled(a, factor<scalar_of<M>>(e));
    }
    template<class M, class E> constexpr M divided_by(M const& a, E const& e) const {
        return divided(a, factor<scalar_of<M>>(e));
    }
    template<class L, class R, class F> constexpr auto combined(L const& l, R const& r, F f) const {
        if constexpr (is_a_number<L>)
            return with_number(value(l), value(r), f);
        else if constexpr (is_a_number<R>)
            return with_number(value(l), value(r), f);
        else
            return both(value(l), value(r), f);
    }
};

template<class N, class Role, class S, class R, class Env>
constexpr auto run(node<expr_kind::shift_left_assign, terminal<operand<N, Role, S>>, R> const& statement, Env env,
                   int step) {
    auto value = yap::transform(statement.elements[hana::size_c<1>], evaluator<Env>{env, step});
    return assigned<N>(std::move(env), std::move(value));
}
template<int I, int N, class Repeat, class Env> constexpr auto run_steps(Repeat const& repeat, Env env) {
    if constexpr (I == N)
        return env;
    else
        return run_steps<I + 1, N>(repeat,
                                   hana::fold_left(hana::drop_front(repeat.elements), std::move(env),
                                                   [](auto e, auto const& s) { return run(s, std::move(e), I); }));
}
template<int N, class... X, class Env>
constexpr auto run(node<expr_kind::call, terminal<function<repeat_name<N>>>, X...> const& repeat, Env env, int) {
    return run_steps<0, N>(repeat, std::move(env));
}

template<std::size_t N, class... X, class Env> constexpr auto evaluate(rule_t<N, X...> const& rule, Env env) {
    return token_passed(hana::fold_left(rule.statements, std::move(env),
                                        [](auto e, auto const& s) { return run(s, std::move(e), 0); }));
}
// States and inputs apart, as Hana maps.
template<std::size_t N, class... X, HanaMap State, HanaMap Inputs>
constexpr auto evaluate(rule_t<N, X...> const& rule, State const& state, Inputs const& inputs) {
    return evaluate(rule, hana::union_(inputs, state));
}
template<class Env> constexpr Env evaluate(refused_rule const&, Env env) { return env; }

} // namespace deltaloom::oracle

// Found beside the nodes, and through a rule by its argument. Nothing else of the oracle is: what a user's helper
// function is called must not depend on whether the rule is evaluated.
namespace deltaloom::ast {
using oracle::evaluate, oracle::mat, oracle::dynamic_matrix, oracle::steps, oracle::named_environment;
} // namespace deltaloom::ast
