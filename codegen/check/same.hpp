#pragma once
// Are two rules the same maths? Equal recurrences are; so are equal token maps; what neither says is asked of random
// points of the field, and a difference is shown on numbers that a person can follow.
#include "codegen/check/counterexample.hpp"

namespace deltaloom::codegen {

enum class Sameness {
    recurrence, // the same: statement by statement
    token_map,  // the same: one token as a whole, however it is split into statements
    points,     // the same at every random point of the field
    operands,   // they do not take the same operands
    differs,    // with a counterexample
    undecided,  // the field, which knows nothing of functions but their names, tells them apart; no real numbers do
};
char const* name(Sameness); // "recurrence", "token map", ...
constexpr bool same(Sameness v) {
    return v == Sameness::recurrence || v == Sameness::token_map || v == Sameness::points;
}

struct OperandMismatch {
    std::string name, one, two; // "input of dk", "log gate of dk"; empty: there is none
};
struct RuleComparison {
    Sameness verdict = Sameness::undecided;
    std::vector<OperandMismatch> operands;
    std::string canonical;  // of equal recurrences or token maps: what both are
    bool functions = false; // some are known to the field by name only: sigmoid, sqrt, softmax
    int points = 0;         // of the field at which both were evaluated,
    long degree = 1;        // the largest formal degree of what was compared there,
    double bound_log2 = 0;  // and log2 of the chance that different rules agree at one of them
    std::optional<Counterexample> counterexample;
};
RuleComparison compare_rules(ComparedRule const&, ComparedRule const&, std::uint64_t seed);

} // namespace deltaloom::codegen
