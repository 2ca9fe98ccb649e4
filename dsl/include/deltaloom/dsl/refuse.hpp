#pragma once
// A refusal is an overload that is reached only when the real one is out. It takes nodes by their base `shaped<Shape>`,
// so that a message shows two shapes and no trees. g++ and nvcc print the result type, `refusal<...> = cure::...`;
// clang prints the text of the condition that holds. The result is poison: nothing that contains it is refused again.
// A refusal that stands inside a macro costs the reader of its message three lines more: only texts and conditions are
// macros here, not `diagnose_if` itself.
#include <deltaloom/dsl/expression.hpp>

namespace deltaloom::ast {
struct poison {
    using type = shape::misfit;
};
namespace cure {
struct poisoned : terminal<poison> {};
struct transpose_one_side_with_T : poisoned {};
struct columns_of_the_left_must_be_rows_of_the_right : poisoned {};
struct give_both_sides_one_shape : poisoned {};
struct divide_by_a_scalar_or_a_number : poisoned {};
struct add_numbers_only_to_scalars_and_vectors : poisoned {};
struct write_exp_of_the_log_gate : poisoned {};
struct multiply_by_a_number_with_the_plain_product : poisoned {};
struct multiply_the_number_by_something_of_the_targets_shape : poisoned {};
struct update_only_a_state_or_an_output : poisoned {};
struct give_it_a_vector : poisoned {};
struct give_it_a_column_vector : poisoned {};
struct give_it_two_columns_of_one_dimension : poisoned {};
struct give_it_a_vector_or_a_matrix : poisoned {};
struct give_previous_an_input_or_a_linear_gate : poisoned {};
struct repeat_at_least_once : poisoned {};
struct write_statements_state_or_output_then_update : poisoned {};
struct write_the_statement_with_shift_left_assign : poisoned {}; // S <<= ...
} // namespace cure

template<class... A> inline constexpr bool any_log = std::disjunction_v<std::bool_constant<is_log<A>>...>;
template<class Rule, class A, class B> inline constexpr bool turns = !any_log<A, B> && TransposeHelps<Rule, A, B>;
template<class Rule, class A, class B> inline constexpr bool clashes = !any_log<A, B> && !turns<Rule, A, B>;

// Which cure: a log gate's first, then a transpose that would help, then the rule's own.
template<class Rule, class... A>
struct cure_of : std::conditional<any_log<A...>, cure::write_exp_of_the_log_gate, typename Rule::otherwise> {};
template<class Rule, class A, class B>
    requires turns<Rule, A, B>
struct cure_of<Rule, A, B> {
    using type = cure::transpose_one_side_with_T;
};
template<class Rule, class... A> using refusal = typename cure_of<Rule, A...>::type;

// The other operand is a number.
struct number_added {
    using otherwise = cure::add_numbers_only_to_scalars_and_vectors;
};
struct number_multiplied_elementwise {
    using otherwise = cure::multiply_by_a_number_with_the_plain_product;
};

#ifdef __clang__
template<expr_kind K, class Tuple>
template<class R>
constexpr cure::write_the_statement_with_shift_left_assign expr<K, Tuple>::operator=(R const&) const {
    return {};
}
#endif
} // namespace deltaloom::ast

#define DELTALOOM_LOG_GATE "a log gate occurs only inside exp: write exp(gate)"
#define DELTALOOM_LOG_SUM "a log gate takes +, whole multiples and exp: write exp(gate)"
#define DELTALOOM_ITEMS "a rule and a repeat take statements: state <<= update, output <<= expression"
