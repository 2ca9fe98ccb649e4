#pragma once
// A rule: its name and its statements, run in order once per token.
#include <cstddef>
#include <deltaloom/dsl/features.hpp>

DELTALOOM_REFUSALS_BEGIN
namespace deltaloom::ast {

template<std::size_t N> struct fixed_string {
    char text[N]{};
    constexpr fixed_string(char const (&s)[N]) {
        for (std::size_t i = 0; i < N; ++i) text[i] = s[i];
    }
};
template<std::size_t N, class... Statements> struct rule_t {
    fixed_string<N> name;
    hana::tuple<Statements...> statements;
};

struct refused_rule : shaped<shape::misfit> {}; // poison too: what uses a refused rule is not refused again

template<std::size_t N, Item... X>
    requires(sizeof...(X) > 0)
constexpr auto rule(char const (&name)[N], X... x) {
    if constexpr ((is_misfit<type_t<X>> || ...))
        return refused_rule{};
    else
        return rule_t<N, X...>{fixed_string<N>{name}, hana::tuple<X...>{x...}};
}
// clang-format off
template<std::size_t N, class... A>
__attribute__((diagnose_if DELTALOOM_IF(DELTALOOM_ITEMS, true)))
constexpr cure::write_statements_state_or_output_then_update rule(char const (&)[N], shaped<A> const&...) DELTALOOM_REFUSED;
// clang-format on

} // namespace deltaloom::ast
DELTALOOM_REFUSALS_END
