#pragma once
// Feature maps: functions of a column that change its dimension. The new dimension is named after the old one, so that
// a state can be declared over it: DELTALOOM_STATE(P, dv, dpfp_dim<2, dk>).
#include <deltaloom/dsl/functions.hpp>

namespace deltaloom::ast {

template<int Nu, class D> struct dpfp_dim { // 2 Nu D
    static constexpr char const* text = "dpfp_dim";
};
template<class D> struct taylor2_dim { // 1 + D + D D
    static constexpr char const* text = "taylor2_dim";
};

// Deterministic parameter-free projection: with r = (relu(x), relu(-x)), of 2 d entries, the nu blocks r % roll(r, j),
// j = 1 .. nu, one below the other; roll moves entries down by j, the last ones to the front. Entry by entry
//     dpfp<nu>(x)[(j - 1) 2 d + i] = r[i] r[(i - j) mod 2 d],   0 <= i < 2 d
// Schlag, Irie, Schmidhuber 2021, Linear transformers are secretly fast weight programmers.
template<int Nu> struct dpfp_name {
    using otherwise =
        std::conditional_t<(Nu > 0), cure::give_it_a_column_vector, cure::give_dpfp_a_count_of_at_least_1>;
    static constexpr char const* text = "dpfp";
    static constexpr int count = Nu;
    template<class A> static constexpr auto result() {
        if constexpr (Nu > 0 && Column<A>)
            return shape::vector<dpfp_dim<Nu, typename A::rows>>{};
        else
            return shape::misfit{};
    }
};
// The Taylor series of exp(<q, k>) up to its second term is an inner product of
//     taylor2(x) = (1, x, vec(x x^T) / sqrt 2),   x_i x_j at 1 + d + i d + j
// of dimension 1 + d + d d: <taylor2(q), taylor2(k)> = 1 + <q, k> + <q, k>^2 / 2. 1 / sqrt 2 is its nearest double.
// Arora et al. 2024, Simple linear attention language models balance the recall-throughput tradeoff.
struct taylor2_name {
    using otherwise = cure::give_it_a_column_vector;
    static constexpr char const* text = "taylor2";
    template<class A> static constexpr auto result() {
        if constexpr (Column<A>)
            return shape::vector<taylor2_dim<typename A::rows>>{};
        else
            return shape::misfit{};
    }
};
// Positive random features, W of r rows drawn from N(0, I):
//     random_features(x, W) = exp(W x - |x|^2 / 2) / sqrt(r)
// over the rows of W; the expectation of <random_features(q, W), random_features(k, W)> is exp(<q, k>).
// Choromanski et al. 2021, Rethinking attention with performers, lemma 1.
struct random_features_name {
    using otherwise = cure::give_it_a_column_and_a_matrix_of_as_many_columns;
    static constexpr char const* text = "random_features";
    template<class A, class B> static constexpr auto result() {
        if constexpr (Column<A> && Linear<B>) {
            if constexpr (!Vector<B> && !Scalar<B> && same<typename B::cols, typename A::rows>)
                return shape::vector<typename B::rows>{};
            else
                return shape::misfit{};
        } else
            return shape::misfit{};
    }
};

template<int Nu, Expr X>
    requires Fits<dpfp_name<Nu>, type_t<X>>
constexpr auto dpfp(X x) {
    return build::call<dpfp_name<Nu>>(x);
}
template<Expr X>
    requires Fits<taylor2_name, type_t<X>>
constexpr auto taylor2(X x) {
    return build::call<taylor2_name>(x);
}
template<Expr X, Expr W>
    requires Fits<random_features_name, type_t<X>, type_t<W>>
constexpr auto random_features(X x, W w) {
    return build::call<random_features_name>(x, w);
}

} // namespace deltaloom::ast

DELTALOOM_REFUSALS_BEGIN
namespace deltaloom::ast {
// clang-format off
template<int Nu, class A>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, is_log<A>),
    diagnose_if DELTALOOM_IF("dpfp<nu> needs nu of at least 1", !is_log<A> && Nu < 1),
    diagnose_if DELTALOOM_IF("dpfp takes a column vector", !is_log<A> && Nu > 0)))
constexpr refusal<dpfp_name<Nu>, A> dpfp(shaped<A> const&) DELTALOOM_REFUSED;
template<class A>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, is_log<A>),
    diagnose_if DELTALOOM_IF("taylor2 takes a column vector", !is_log<A>)))
constexpr refusal<taylor2_name, A> taylor2(shaped<A> const&) DELTALOOM_REFUSED;
template<class A, class B>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_LOG_GATE, any_log<A, B>),
    diagnose_if DELTALOOM_IF("random_features takes a column and a matrix of as many columns: transpose one side with T", turns<random_features_name, A, B>),
    diagnose_if DELTALOOM_IF("random_features takes a column vector and a matrix of as many columns as it has entries", clashes<random_features_name, A, B>)))
constexpr refusal<random_features_name, A, B> random_features(shaped<A> const&, shaped<B> const&) DELTALOOM_REFUSED;
// clang-format on
} // namespace deltaloom::ast
DELTALOOM_REFUSALS_END
