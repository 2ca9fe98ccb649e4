#pragma once
// Functions of whole matrices and vectors, and of time.
#include <deltaloom/dsl/elementwise.hpp>

DELTALOOM_REFUSALS_BEGIN
namespace deltaloom::ast {

struct T_name {
    using otherwise = cure::write_exp_of_the_log_gate;
    static constexpr char const* text = "T";
    template<class A> static constexpr auto result() { return transposed<A>(); }
};
struct diag_name {
    using otherwise = cure::give_it_a_column_vector;
    static constexpr char const* text = "diag";
    template<class A> static constexpr auto result() {
        if constexpr (Column<A>)
            return shape::matrix<typename A::rows, typename A::rows>{};
        else
            return shape::misfit{};
    }
};
struct dot_name {
    using otherwise = cure::give_it_two_columns_of_one_dimension;
    static constexpr char const* text = "dot";
    template<class A, class B> static constexpr auto result() {
        if constexpr (Column<A> && same<A, B>)
            return shape::scalar{};
        else
            return shape::misfit{};
    }
};
template<Expr X>
    requires Fits<T_name, type_t<X>>
constexpr auto T(X x) {
    return build::call<T_name>(x);
}
template<Expr X>
    requires Fits<diag_name, type_t<X>>
constexpr auto diag(X x) {
    return build::call<diag_name>(x);
}
template<Expr X, Expr Y>
    requires Fits<dot_name, type_t<X>, type_t<Y>>
constexpr auto dot(X x, Y y) {
    return build::call<dot_name>(x, y);
}
// clang-format off
template<class A>
__attribute__((diagnose_if DELTALOOM_IF("a log gate occurs only inside exp: write T(exp(gate))", true)))
constexpr refusal<T_name, A> T(shaped<A> const&) DELTALOOM_REFUSED;
template<class A>
__attribute__((diagnose_if DELTALOOM_IF("a log gate occurs only inside exp: write diag(exp(gate))", is_log<A>),
    diagnose_if DELTALOOM_IF("diag takes a column vector", !is_log<A>)))
constexpr refusal<diag_name, A> diag(shaped<A> const&) DELTALOOM_REFUSED;
template<class A, class B>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, any_log<A, B>),
    diagnose_if DELTALOOM_IF("dot takes two columns of one dimension: transpose one side with T", turns<dot_name, A, B>),
    diagnose_if DELTALOOM_IF("dot takes two column vectors of one dimension", clashes<dot_name, A, B>)))
constexpr refusal<dot_name, A, B> dot(shaped<A> const&, shaped<B> const&) DELTALOOM_REFUSED;
// clang-format on

// Over a vector, a column or a row; eps inside the root (l2norm) or added to the sum (sum_norm). A call holds eps
// too.
struct over_a_vector {
    using otherwise = cure::give_it_a_vector;
    template<class A> static constexpr auto result() {
        if constexpr (Vector<A>)
            return A{};
        else
            return shape::misfit{};
    }
    template<class A, class Eps> static constexpr auto result() { return result<A>(); }
};
struct l2norm_name : over_a_vector {
    static constexpr char const* text = "l2norm";
};
struct sum_norm_name : over_a_vector {
    static constexpr char const* text = "sum_norm";
};
struct softmax_name : over_a_vector {
    static constexpr char const* text = "softmax";
};
template<Expr X>
    requires Fits<l2norm_name, type_t<X>>
constexpr auto l2norm(X x, double eps = 1e-6) {
    return build::call<l2norm_name>(x, eps);
}
template<Expr X>
    requires Fits<sum_norm_name, type_t<X>>
constexpr auto sum_norm(X x, double eps = 0) {
    return build::call<sum_norm_name>(x, eps);
}
template<Expr X>
    requires Fits<softmax_name, type_t<X>>
constexpr auto softmax(X x) {
    return build::call<softmax_name>(x);
}
// clang-format off
template<class A>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, is_log<A>),
    diagnose_if DELTALOOM_IF("l2norm takes a vector: a column or a row", !is_log<A>)))
constexpr refusal<l2norm_name, A> l2norm(shaped<A> const&, double = 0) DELTALOOM_REFUSED;
template<class A>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, is_log<A>),
    diagnose_if DELTALOOM_IF("sum_norm takes a vector: a column or a row", !is_log<A>)))
constexpr refusal<sum_norm_name, A> sum_norm(shaped<A> const&, double = 0) DELTALOOM_REFUSED;
template<class A>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, is_log<A>),
    diagnose_if DELTALOOM_IF("softmax takes a vector: a column or a row", !is_log<A>)))
constexpr refusal<softmax_name, A> softmax(shaped<A> const&) DELTALOOM_REFUSED;
// clang-format on

// Of all elements: norm(x) = sqrt(sum x^2), sum(x).
struct to_a_scalar {
    using otherwise = cure::give_it_a_vector_or_a_matrix;
    template<class A> static constexpr auto result() {
        if constexpr (Linear<A> && !Scalar<A>)
            return shape::scalar{};
        else
            return shape::misfit{};
    }
};
struct norm_name : to_a_scalar {
    static constexpr char const* text = "norm";
};
struct sum_name : to_a_scalar {
    static constexpr char const* text = "sum";
};
template<Expr X>
    requires Fits<norm_name, type_t<X>>
constexpr auto norm(X x) {
    return build::call<norm_name>(x);
}
template<Expr X>
    requires Fits<sum_name, type_t<X>>
constexpr auto sum(X x) {
    return build::call<sum_name>(x);
}
// clang-format off
template<class A>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, is_log<A>),
    diagnose_if DELTALOOM_IF("norm takes a vector or a matrix; of a scalar write abs", !is_log<A>)))
constexpr refusal<norm_name, A> norm(shaped<A> const&) DELTALOOM_REFUSED;
template<class A>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, is_log<A>),
    diagnose_if DELTALOOM_IF("sum takes a vector or a matrix", !is_log<A>)))
constexpr refusal<sum_name, A> sum(shaped<A> const&) DELTALOOM_REFUSED;
// clang-format on

// Time: the token before, and micro-steps.
struct previous_name : same_shape {
    static constexpr char const* text = "previous";
};
template<int N> struct repeat_name {
    static constexpr char const* text = "repeat";
    static constexpr int count = N;
    template<class... A> static constexpr auto result() { return shape::micro_steps{}; }
};
template<Expr X>
    requires is_per_token<X>
constexpr auto previous(X x) {
    return build::call<previous_name>(x);
}
template<int N, Statement... X>
    requires(N > 0 && sizeof...(X) > 0)
constexpr auto repeat(X... x) {
    return build::call<repeat_name<N>>(x...);
}
// clang-format off
template<class A>
__attribute__((diagnose_if DELTALOOM_IF("previous takes an input or a linear gate, by name", true)))
constexpr cure::give_previous_an_input_or_a_linear_gate previous(shaped<A> const&) DELTALOOM_REFUSED;
template<int N, class... A> requires(N < 1)
__attribute__((diagnose_if DELTALOOM_IF("repeat<n> needs n of at least 1", true)))
constexpr cure::repeat_at_least_once repeat(shaped<A> const&...) DELTALOOM_REFUSED;
template<int N, class... A> requires(N > 0)
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_ITEMS, true)))
constexpr cure::write_statements_state_or_output_then_update repeat(shaped<A> const&...) DELTALOOM_REFUSED;
// clang-format on

} // namespace deltaloom::ast
DELTALOOM_REFUSALS_END
