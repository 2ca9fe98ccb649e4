#pragma once
// Small numbers at which two rules with the same operands differ, found by interpreting the derivation and confirmed by
// the declarations themselves.
#include "codegen/check/drive.hpp"

namespace deltaloom::codegen {

struct ComparedRule {
    Declaration const& declaration;
    Derived const& derived;
};

struct Counterexample {
    int tokens = 0;
    std::vector<std::pair<std::string, int>> dims;
    OracleData<double> data;      // of log gates and log parameters exp(g) instead of g
    std::vector<std::string> log; // the operands of which that is so
    std::string operand;          // where they differ: an output, or a state after the last token
    int token = -1;               // of an output
    int row = 0, column = 0;
    bool vector = false;  // a column: no second index
    std::string one, two; // both values there: whole numbers, fractions, or what a double holds
};

// A function that the field knows by name only.
bool has_functions(TypedRule const&);
// Outputs and final states by the recurrent form, one token after the other.
template<class K> OracleRun<K> evaluate(ComparedRule const&, Dims const&, OracleData<K> const&);
extern template OracleRun<double> evaluate(ComparedRule const&, Dims const&, OracleData<double> const&);
extern template OracleRun<runtime::field> evaluate(ComparedRule const&, Dims const&, OracleData<runtime::field> const&);

// The smallest that was found; nothing where all that was tried agree on real numbers.
std::optional<Counterexample> counterexample(ComparedRule const&, ComparedRule const&, std::uint64_t seed);

// "3", "-1/2" for an element that is a small fraction and near the given number; else the number.
std::string number_text(double);
std::string number_text(runtime::field, double near);

} // namespace deltaloom::codegen
