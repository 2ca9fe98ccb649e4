#pragma once
// Shapes live in types and print as one word each. Below them: what every operator does to shapes, as functions that
// are never called, only their return types are read; and the cure where shapes do not fit and no transpose helps.
#include <type_traits>

namespace deltaloom::ast {

namespace cure { // what a refusal tells the user to write: refuse.hpp
struct columns_of_the_left_must_be_rows_of_the_right;
struct give_both_sides_one_shape;
struct divide_by_a_scalar_or_a_number;
struct write_exp_of_the_log_gate;
} // namespace cure

struct one {
    static constexpr char const* text = "1";
};

namespace shape {
struct scalar {
    using rows = one;
    using cols = one;
};
template<class D> struct vector {
    using rows = D;
    using cols = one;
};
template<class D> struct row {
    using rows = one;
    using cols = D;
};
template<class R, class C> struct matrix {
    using rows = R;
    using cols = C;
};
template<class Shape> struct log {}; // of the log domain: +, integer multiples and exp, nothing else
struct number {};                    // a literal: fits a scalar and every element of a vector
struct integer : number {};
struct statement {};
struct micro_steps {}; // a repeat: part of a rule, not of another repeat
struct misfit {};      // poison: whatever touches it fits, so one fault gives one error
} // namespace shape

template<class A, class B> inline constexpr bool same = std::is_same_v<A, B>;
template<class A> inline constexpr bool is_log = false;
template<class A> inline constexpr bool is_log<shape::log<A>> = true;
template<class A> inline constexpr bool is_misfit = same<A, shape::misfit>;
template<class A> inline constexpr bool is_number = std::is_base_of_v<shape::number, A>;
template<class A>
concept Linear = requires { typename A::rows; };
template<class A>
concept Scalar = same<A, shape::scalar>;
template<class A>
concept Vector = Linear<A> && (same<typename A::cols, one> != same<typename A::rows, one>);
template<class A>
concept Column = Vector<A> && same<typename A::cols, one>;
template<class A>
concept Factor = is_number<A> || Scalar<A>; // multiplies anything

template<class R, class C> constexpr auto shape_from() {
    if constexpr (same<R, one> && same<C, one>)
        return shape::scalar{};
    else if constexpr (same<C, one>)
        return shape::vector<R>{};
    else if constexpr (same<R, one>)
        return shape::row<C>{};
    else
        return shape::matrix<R, C>{};
}
template<class A> constexpr auto transposed() {
    if constexpr (Linear<A>)
        return shape_from<typename A::cols, typename A::rows>();
    else
        return shape::misfit{};
}

struct product_of {
    using otherwise = cure::columns_of_the_left_must_be_rows_of_the_right;
    template<class A, class B> static constexpr auto result() {
        if constexpr (is_log<A> && same<B, shape::integer>)
            return A{};
        else if constexpr (is_log<B> && same<A, shape::integer>)
            return B{};
        else if constexpr (Factor<A> && Linear<B>)
            return B{};
        else if constexpr (Linear<A> && Factor<B>)
            return A{};
        else if constexpr (Linear<A> && Linear<B>) {
            if constexpr (same<typename A::cols, typename B::rows>)
                return shape_from<typename A::rows, typename B::cols>();
            else
                return shape::misfit{};
        } else
            return shape::misfit{};
    }
};
struct difference_of {
    using otherwise = cure::give_both_sides_one_shape;
    template<class A, class B> static constexpr auto result() {
        if constexpr (Linear<A> && same<A, B>)
            return A{};
        else if constexpr (is_number<A> && (Scalar<B> || Vector<B>))
            return B{};
        else if constexpr (is_number<B> && (Scalar<A> || Vector<A>))
            return A{};
        else
            return shape::misfit{};
    }
};
struct sum_of {
    using otherwise = cure::give_both_sides_one_shape;
    template<class A, class B> static constexpr auto result() {
        if constexpr (is_log<A> && same<A, B>)
            return A{};
        else
            return difference_of::result<A, B>();
    }
};
struct quotient_of {
    using otherwise = cure::divide_by_a_scalar_or_a_number;
    template<class A, class B> static constexpr auto result() {
        if constexpr (Linear<A> && Factor<B>)
            return A{};
        else if constexpr (is_number<A> && Scalar<B>)
            return B{};
        else
            return shape::misfit{};
    }
};
struct elementwise_product_of {
    using otherwise = cure::give_both_sides_one_shape;
    template<class A, class B> static constexpr auto result() {
        if constexpr (Linear<A> && same<A, B>)
            return A{};
        else
            return shape::misfit{};
    }
};
struct update_of {
    using otherwise = cure::give_both_sides_one_shape;
    template<class A, class B> static constexpr auto result() {
        if constexpr (Linear<A> && same<A, B>)
            return shape::statement{};
        else
            return shape::misfit{};
    }
};
struct negative_of {
    using otherwise = cure::write_exp_of_the_log_gate;
    template<class A> static constexpr auto result() {
        if constexpr (Linear<A>)
            return A{};
        else
            return shape::misfit{};
    }
};

template<class Rule, class... A> using result_of = decltype(Rule::template result<A...>());
template<class Rule, class... A>
concept Fits = (is_misfit<A> || ...) || !is_misfit<result_of<Rule, A...>>;
template<class A> using transpose_of = decltype(transposed<A>());
template<class Rule, class A, class B>
concept TransposeHelps =
    !is_misfit<result_of<Rule, transpose_of<A>, B>> || !is_misfit<result_of<Rule, A, transpose_of<B>>>;

} // namespace deltaloom::ast
